"""What people write in Slack, as they see it: without Slack's own marks and escapes.

Names of people, groups and channels are words of others: each is one token, and asks for nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from turnleaf.obeying import requests_in

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")
_SCHEMES = ("mailto:", "tel:")
_GROUP = "!subteam^"
_NAME_CHARS = 30
_CALLED = re.compile(r"[@#]\S+")


def readable(text: str, *, own: str, name_of: Callable[[str], str]) -> str:
    """Give a text without mentions of `own`, and names, links and signs as people read them."""
    mention = rf"<@{re.escape(own)}(?:\|[^<>]*)?>"
    text = re.sub(rf"^\s*+{mention}[\s,:，：、]*", "", text)
    text = re.sub(rf"(?:(?<![ \t])[ \t]*+)?{mention}[ \t]*+", " ", text)
    named = _shown(text, lambda one, label: name_token(label or name_of(one)) or one)
    bare = _shown(text, lambda one, _: one)
    return named if _asked(named) == _asked(bare) else bare


def mentions(text: str, user: str) -> bool:
    """Tell whether a text speaks to a user by name."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def speaks_to_another(text: str, user: str) -> bool:
    """Tell whether a text begins with the name of somebody else."""
    first = re.match(r"\s*<@[^<>]*>", text)
    return first is not None and not mentions(first[0], user)


def _shown(text: str, called: Callable[[str, str], str]) -> str:
    """Give a text without marks; `called` names whom an id means, from the label beside it."""
    return _unescaped(_MARK.sub(lambda found: _plain(found[1], called), text)).strip()


def _plain(mark: str, called: Callable[[str, str], str]) -> str:
    body, _, label = mark.partition("|")
    if body.startswith("@"):
        return f"@{called(body[1:], label)}"
    if body.startswith("#"):
        return f"#{called(body[1:], label or body[1:])}"
    if body.startswith(_GROUP):
        group = body.removeprefix(_GROUP)
        return f"@{called(group, label.removeprefix('@') or group)}"
    if body.startswith("!"):
        return label or f"@{body[1:].partition('^')[0]}"
    return _link(body, label)


def name_token(name: str) -> str:
    """Return a name as one word, in which there are only letters, digits and what joins them."""
    plain = "".join(one if _is_of_a_word(one) else " " for one in name)
    return "_".join(plain.split())[:_NAME_CHARS]


def _is_of_a_word(character: str) -> bool:
    return character in "-_" or unicodedata.category(character)[0] in "LMN"


def _asked(text: str) -> list[tuple[str, str]]:
    """Tell what a text asks of the memory, whoever is named in it."""
    return [(one.action, _CALLED.sub("@", one.content)) for one in requests_in(text)]


def _link(address: str, label: str) -> str:
    for scheme in _SCHEMES:
        address = address.removeprefix(scheme)
    return f"{label} ({address})" if label and label not in address else address


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
