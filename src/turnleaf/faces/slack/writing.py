"""Markdown as Slack takes it: nothing in it calls anybody, and no message is too long.

Slack reads its own `<…>` marks also in Markdown, and gives the escaped signs back as they were.
"""

from __future__ import annotations

import re

LONGEST = 2900
"""How many characters one message holds; escaped they are four times as many, of Slack's 12000."""
ENOUGH = 2200
"""How many characters it holds at least where an answer goes on in another one."""
_ADDRESS = re.compile(r"<(https?://[!-;=?-{}~]+)>")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,31};)")
_GREATER = re.compile(r"(?P<quote>^(?:[ \t]*>)+)|>", re.MULTILINE)
_CALL = re.compile(
    r"(?<![A-Za-z0-9])@(?=(?:channel|here|everyone)(?!_?[A-Za-z0-9]))", re.IGNORECASE
)
_UNFINISHED = re.compile(r"(?<![!-~])(?P<shown>[!-%'-;=-?A-~]*+)[<@&][!-~]*+\Z")
_FENCE = re.compile(r"([ \t>]{0,40})(`{3,20}(?=[^`]*\Z)|~{3,20}(?!~))(.*)")
"""A line that begins or ends a code block, also in a list or a quote; longer ones are text."""
_INFO_CHARS = 20
_BREAKS = (re.compile(r"\n"), re.compile(r"(?<=[。！？；])|[ \t]+"))
_ZERO_WIDTH = "\u200b"


def escaped(markdown: str) -> str:
    """Give Markdown in which no text is one of Slack's own marks."""
    text = _ADDRESS.sub(r"\1", markdown)
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;")
    text = _GREATER.sub(lambda found: found["quote"] or "&gt;", text)
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def literal(text: str) -> str:
    """Give a text for one of Slack's plain fields, where nothing but its marks would be read."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def settled(text: str) -> str:
    """Give what can be shown already of a text that grows: nothing of it will look different."""
    return _UNFINISHED.sub(r"\g<shown>", text[:ENOUGH])


def messages(text: str) -> list[str]:
    """Give a text as the messages that hold it."""
    held = []
    while len(text) > LONGEST:
        first, text = first_message(text)
        held.append(first)
    return [*held, text]


def first_message(text: str) -> tuple[str, str]:
    """Cut off what one message holds of a longer text, and give both; a code block goes on."""
    at = _place(text)
    head, rest = text[:at], text[at:]
    fence = _open_fence(head)
    if fence is None:
        return head, rest.lstrip("\n")
    indent, mark, info = fence
    begins = f"{indent}{mark}{info[:_INFO_CHARS]}"
    return f"{head}\n{indent}{mark}", f"{begins}\n{rest.removeprefix(chr(10))}"


def _place(text: str) -> int:
    """Find where to cut: between paragraphs, or else lines, or else sentences and words."""
    window = text[:LONGEST]
    for found in reversed([*re.finditer(r"\n\n", window)]):
        if found.start() >= ENOUGH and _open_fence(text[: found.start()]) is None:
            return found.start()
    for kind in _BREAKS:
        places = [found.start() for found in kind.finditer(window, ENOUGH)]
        if places:
            return places[-1]
    return LONGEST


def _open_fence(text: str) -> tuple[str, str, str] | None:
    """Give what stands before, in and after the fence of a code block that is open at the end."""
    opened: tuple[str, str, str] | None = None
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and opened is None:
            opened = found[1], found[2], found[3].strip()
        elif found and opened and found[2].startswith(opened[1]) and not found[3].strip():
            opened = None
    return opened
