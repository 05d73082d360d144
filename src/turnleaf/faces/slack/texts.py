"""Conversion between our texts and Slack's.

Slack interprets its own `<…>` marks also in Markdown. What we write notifies nobody, and no message
is too long. Names of people, groups and channels come from others: each becomes one token, so that
it cannot request anything.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from turnleaf.memory_commands import find_requests

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 2900
"""The most characters of a message; escaped they are up to four times as many, of Slack's 12000."""
ENOUGH = 2200
"""The fewest characters of a message that another one continues."""
_ADDRESS = re.compile(r"<(https?://[!-;=?-{}~]+)>")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,31};)")
_GREATER = re.compile(r"(?P<quote>^(?:[ \t]*>)+)|>", re.MULTILINE)
_CALL = re.compile(
    r"(?<![A-Za-z0-9])@(?=(?:channel|here|everyone)(?!_?[A-Za-z0-9]))", re.IGNORECASE
)
_UNFINISHED = re.compile(r"(?<![!-~])(?P<shown>[!-%'-;=-?A-~]*+)[<@&][!-~]*+\Z")
_FENCE = re.compile(r"([ \t>]{0,40})(`{3,20}(?=[^`]*\Z)|~{3,20}(?!~))(.*)")
"""A line that begins or ends a code block, also in a list or a quote."""
_INFO_CHARS = 20
_BREAKS = (re.compile(r"\n"), re.compile(r"(?<=[。！？；])|[ \t]+"))
_ZERO_WIDTH = "\u200b"
_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")
_SCHEMES = ("mailto:", "tel:")
_GROUP = "!subteam^"
_NAME_CHARS = 30
_CALLED = re.compile(r"[@#]\S+")


def escape(markdown: str) -> str:
    """Return Markdown in which no text is one of Slack's own marks."""
    text = _ADDRESS.sub(r"\1", markdown)
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;")
    text = _GREATER.sub(lambda found: found["quote"] or "&gt;", text)
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def escape_plain(text: str) -> str:
    """Return a text for one of Slack's plain-text fields."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def cut_unfinished(text: str) -> str:
    """Return the part of a growing text that will not look different later."""
    return _UNFINISHED.sub(r"\g<shown>", text[:ENOUGH])


def split_messages(text: str) -> list[str]:
    """Return a text as the messages that hold it."""
    held = []
    while len(text) > LONGEST:
        first, text = cut_message(text)
        held.append(first)
    return [*held, text]


def cut_message(text: str) -> tuple[str, str]:
    """Split off the first message of a longer text; an open code block continues in the rest."""
    at = _find_cut(text)
    head, rest = text[:at], text[at:]
    fence = _find_open_fence(head)
    if fence is None:
        return head, rest.lstrip("\n")
    indent, mark, info = fence
    begins = f"{indent}{mark}{info[:_INFO_CHARS]}"
    return f"{head}\n{indent}{mark}", f"{begins}\n{rest.removeprefix(chr(10))}"


def _find_cut(text: str) -> int:
    """Return where to cut: between paragraphs, else lines, else sentences or words."""
    window = text[:LONGEST]
    for found in reversed([*re.finditer(r"\n\n", window)]):
        if found.start() >= ENOUGH and _find_open_fence(text[: found.start()]) is None:
            return found.start()
    for kind in _BREAKS:
        places = [found.start() for found in kind.finditer(window, ENOUGH)]
        if places:
            return places[-1]
    return LONGEST


def _find_open_fence(text: str) -> tuple[str, str, str] | None:
    """Return the indent, mark and info of a code block that is open at the end, if any."""
    opened: tuple[str, str, str] | None = None
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and opened is None:
            opened = found[1], found[2], found[3].strip()
        elif found and opened and found[2].startswith(opened[1]) and not found[3].strip():
            opened = None
    return opened


def make_readable(text: str, *, own: str, name_of: Callable[[str], str]) -> str:
    """Return a text as people see it, without mentions of `own`."""
    mention = rf"<@{re.escape(own)}(?:\|[^<>]*)?>"
    text = re.sub(rf"^\s*+{mention}[\s,:，：、]*", "", text)
    text = re.sub(rf"(?:(?<![ \t])[ \t]*+)?{mention}[ \t]*+", " ", text)
    named = _replace_marks(text, lambda one, label: make_name_token(label or name_of(one)) or one)
    bare = _replace_marks(text, lambda one, _: one)
    return named if _find_requests(named) == _find_requests(bare) else bare


def has_mention(text: str, user: str) -> bool:
    """Whether a text mentions a user."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def is_to_another(text: str, user: str) -> bool:
    """Whether a text begins with a mention of somebody else."""
    first = re.match(r"\s*<@[^<>]*>", text)
    return first is not None and not has_mention(first[0], user)


def _replace_marks(text: str, called: Callable[[str, str], str]) -> str:
    """Return a text without marks; `called` returns the name for an ID and its label."""
    return _unescape(_MARK.sub(lambda found: _read_mark(found[1], called), text)).strip()


def _read_mark(mark: str, called: Callable[[str, str], str]) -> str:
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
    return _show_link(body, label)


def make_name_token(name: str) -> str:
    """Return a name as one word of letters, digits, hyphens and underscores."""
    plain = "".join(one if _is_of_word(one) else " " for one in name)
    return "_".join(plain.split())[:_NAME_CHARS]


def _is_of_word(character: str) -> bool:
    return character in "-_" or unicodedata.category(character)[0] in "LMN"


def _find_requests(text: str) -> list[tuple[str, str]]:
    """Return the requests in a text, with all names replaced."""
    return [(one.action, _CALLED.sub("@", one.content)) for one in find_requests(text)]


def _show_link(address: str, label: str) -> str:
    for scheme in _SCHEMES:
        address = address.removeprefix(scheme)
    return f"{label} ({address})" if label and label not in address else address


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
