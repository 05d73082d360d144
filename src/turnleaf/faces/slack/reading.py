"""What people write in Slack, as they see it: without Slack's own marks and escapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")
_SCHEMES = ("mailto:", "tel:")


def readable(text: str, *, own: str, name_of: Callable[[str], str]) -> str:
    """Give a text without mentions of `own`, and names, links and signs as people read them."""
    mention = rf"<@{re.escape(own)}(?:\|[^<>]*)?>"
    text = re.sub(rf"^\s*{mention}[\s,:，：、]*", "", text)
    text = re.sub(rf"[ \t]*{mention}[ \t]*", " ", text)
    return _unescaped(_MARK.sub(lambda found: _plain(found[1], name_of), text)).strip()


def mentions(text: str, user: str) -> bool:
    """Tell whether a text speaks to a user by name."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def speaks_to_another(text: str, user: str) -> bool:
    """Tell whether a text begins with the name of somebody else."""
    first = re.match(r"\s*<@[^<>]*>", text)
    return first is not None and not mentions(first[0], user)


def _plain(mark: str, name_of: Callable[[str], str]) -> str:
    body, _, label = mark.partition("|")
    sign, rest = body[:1], body[1:]
    if sign == "@":
        return f"@{label or name_of(rest)}"
    if sign == "#":
        return f"#{label or rest}"
    if sign == "!":
        return label or f"@{rest.partition('^')[0]}"
    return _link(body, label)


def _link(address: str, label: str) -> str:
    for scheme in _SCHEMES:
        address = address.removeprefix(scheme)
    return f"{label} ({address})" if label and label not in address else address


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
