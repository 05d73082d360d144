"""Where the blocks of a Markdown page begin and end, as CommonMark sees them; texts as bullets.

Only what decides which lines are top-level bullets and headings: list items with what belongs to
them, code fences, HTML blocks.

Any text can be a bullet that a person can read, and is read back exactly. Its lines stand below
each other, indented. The few characters that Markdown or an editor would take for something else
are written as numeric entities, which Markdown shows as the characters they stand for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.loading import make_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator


COMMENT = "<!-- turnleaf "

BULLET = "- "

# Exactly these are read back: what else looks like an entity is the user's own text.
_CODES = "9|10|13|32|38|42|45|60|95"
_ENTITY = make_pattern(rf"&#({_CODES});")
_EDGES = " \t\n"
_RULE_LIKE = make_pattern(r"\A[-*_](?>(?:[ \t]*+[-*_])*)[ \t]*+(?:\n|\Z)")


def encode_bullet(text: str, marker: str = BULLET) -> list[str]:
    """Return the lines of a bullet without line endings, indented by the width of its marker."""
    # First of all: the entities that are written below must not be escaped themselves.
    safe = _ENTITY.sub(r"&#38;#\1;", text).replace("\r", "&#13;")
    safe = safe.replace(COMMENT, f"&#60;{COMMENT[1:]}")
    safe = _escape_edges(safe)
    # A bullet of nothing but such signs would be a horizontal rule.
    if _RULE_LIKE.match(safe):
        safe = _write_entity(safe[0]) + safe[1:]
    first, *others = safe.split("\n")
    indent = " " * len(marker)
    return [marker + first, *(indent + line if line else "" for line in others)]


def write_bullet(text: str) -> str:
    """Return a bullet with its line endings."""
    return "".join(f"{line}\n" for line in encode_bullet(text))


def decode_bullet(lines: list[str], width: int) -> str:
    """Return the text of a bullet's lines; `width` is its indentation."""
    first = lines[0].lstrip(" \t")[1:].lstrip(" \t")
    others = [_outdent_text(line, width) for line in lines[1:]]
    # White space that belongs to the text was written as entities, so this is layout.
    text = "\n".join([first, *others]).strip(" \t\n")
    return _ENTITY.sub(lambda entity: chr(int(entity[1])), text)


def _escape_edges(text: str) -> str:
    """Return a text with the white space at its beginning and end as entities."""
    body = text.lstrip(_EDGES)
    start = text[: len(text) - len(body)]
    end = body[len(body.rstrip(_EDGES)) :]
    inner = body[: len(body) - len(end)]
    return "".join((*map(_write_entity, start), inner, *map(_write_entity, end)))


def _write_entity(char: str) -> str:
    return f"&#{ord(char)};"


def _outdent_text(line: str, width: int) -> str:
    # Editors indent by a tab as well.
    if line.startswith("\t"):
        return line[1:]
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, width) :]


CODE_INDENT = 4
TAB = 4

# Not str.splitlines, which also ends lines at characters that Markdown takes for text.
LINES = make_pattern(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_FENCE = make_pattern(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_HEADING = make_pattern(r" {0,3}(?P<mark>#{1,6})(?P<text>[ \t].*)?$")
# Possessive: a long row of dashes that is no rule would else be tried in every division.
_RULE = make_pattern(r" {0,3}([-*_])(?>(?:[ \t]*+\1){2,})[ \t]*+$")
_BULLET = make_pattern(r" {0,3}[-+*](?P<gap>[ \t]+|$)")
_ORDERED = make_pattern(r" {0,3}(?P<number>\d{1,9})[.)](?P<gap>[ \t]+|$)")
_BEGINS_MORE = frozenset(["", " ", "\t", "\r", "\n", "-", "*", "_"])
_QUOTE = make_pattern(r" {0,3}>")
_NESTING = make_pattern(r"^(?:[ ]{0,3}(?:[-+*]|\d{1,9}[.)]|>)(?:[ \t]+|$))+")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|"
    "header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_BLANK_LINE = make_pattern(r"^[ \t]*$")
# How CommonMark's HTML blocks begin, and what ends each.
_HTML = (
    (make_pattern(r" {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)", re.IGNORECASE),
     make_pattern(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (make_pattern(r" {0,3}<!--"), make_pattern(r"-->")),
    (make_pattern(r" {0,3}<\?"), make_pattern(r"\?>")),
    (make_pattern(r" {0,3}<![a-z]", re.IGNORECASE), make_pattern(r">")),
    (make_pattern(r" {0,3}<!\[CDATA\["), make_pattern(r"\]\]>")),
    (make_pattern(rf" {{0,3}}</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.IGNORECASE), _BLANK_LINE),
)  # fmt: skip
_ATTRIBUTE = r"""\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_LONE_TAG = make_pattern(
    rf" {{0,3}}<(?:[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?|/[a-z][a-z0-9-]*\s*)>[ \t]*$",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """A top-level bullet with its width, a heading with its level, or what has no end."""

    start: int
    end: int
    below: int
    width: int = 0
    level: int = 0
    heading: str = ""


def find_blocks(lines: list[str], start: int = 0) -> Iterator[Block]:
    """Yield the top-level bullets and the headings, from the line on at which one begins."""
    index = start
    in_paragraph = False
    while index < len(lines):
        # The quick way for what a memory mostly holds; it gives what the general one below would.
        if _is_one_line_fact(lines, index):
            yield Block(index, index + 1, index + 1, len(BULLET))
            index, in_paragraph = index + 1, False
            continue
        line = strip_ending(lines[index])
        item = _match_item(line, in_paragraph=in_paragraph)
        if item:
            width = _measure_width(item)
            below = _find_item_end(lines, index, width, with_lazy_lines=True)
            if _BULLET.match(line):
                yield Block(index, _find_item_end(lines, index, width), below, width)
            index, in_paragraph = below, False
        elif end := _find_code_or_html_end(lines, index, line, in_paragraph=in_paragraph):
            if end > len(lines):
                yield Block(index, end, end)
            index, in_paragraph = end, False
        else:
            heading = _HEADING.match(line)
            if heading:
                level = len(heading["mark"])
                yield Block(
                    index, index + 1, index + 1, level=level, heading=_read_heading(heading)
                )
            in_paragraph = _continues_paragraph(line, in_paragraph=in_paragraph)
            index += 1


def _read_heading(heading: re.Match[str]) -> str:
    """Return the text of a heading, without closing number signs."""
    text = (heading["text"] or "").strip(" \t")
    unclosed = text.rstrip("#")
    is_closed = not unclosed or unclosed.endswith((" ", "\t"))
    return unclosed.rstrip(" \t") if is_closed else text


def _is_one_line_fact(lines: list[str], index: int) -> bool:
    """Whether a line is a bullet with another one below it, as most lines of a memory are."""
    line = lines[index]
    return (
        line.startswith(BULLET)
        and line[2:3] not in _BEGINS_MORE
        and index + 1 < len(lines)
        and lines[index + 1].startswith(BULLET)
    )


def _match_item(line: str, *, in_paragraph: bool) -> re.Match[str] | None:
    """Return the match of a list item's marker, if a line begins with one.

    Inside a paragraph an empty one begins no list, nor does a number other than 1.
    """
    if _RULE.match(line):
        return None
    item = _BULLET.match(line) or _ORDERED.match(line)
    if item and in_paragraph:
        number = item.groupdict().get("number")
        if item.end() == len(line) or (number and int(number) != 1):
            return None
    return item


def _find_item_end(
    lines: list[str], start: int, width: int, *, with_lazy_lines: bool = False
) -> int:
    """Return the line after a list item: what is indented below it belongs to it.

    Markdown also takes in lines that go on with its last paragraph without any indentation;
    those are no part of a fact, but what is indented below them is no top-level list either.
    """
    first = _outdent(strip_ending(lines[start]), width)
    end = index = start + 1
    # An item that begins with an empty line ends at a second one.
    if is_blank(first) and index < len(lines) and is_blank(lines[index]):
        return end
    inside = _Inside()
    inside.take(first)
    while index < len(lines):
        line = strip_ending(lines[index])
        is_lazy = inside.in_paragraph and not interrupts(line)
        if not is_blank(line):
            if measure_indent(line) < width and not (
                is_lazy and (with_lazy_lines or measure_indent(line))
            ):
                break
            end = index + 1
        inside.take(_outdent(line, width) if measure_indent(line) >= width else line)
        index += 1
    return end


class _Inside:
    """Whether the end of a list item is a paragraph that a line without indentation continues."""

    def __init__(self) -> None:
        self.in_paragraph = False
        self._fence: re.Pattern[str] | None = None

    def take(self, line: str) -> None:
        """Take in the next line of the item."""
        # A list or a quote in the item opens another level, in which a paragraph can go on just the
        # same.
        text = _NESTING.sub("", line)
        fence = _FENCE.match(text)
        if self._fence:
            self._fence = None if self._fence.search(line) else self._fence
            self.in_paragraph = False
        elif fence:
            self._fence = _make_closing(fence)
            self.in_paragraph = False
        else:
            is_html = any(begin.match(text) for begin, _ in _HTML)
            self.in_paragraph = not is_html and _continues_paragraph(
                text, in_paragraph=self.in_paragraph
            )


def _make_closing(fence: re.Match[str]) -> re.Pattern[str]:
    mark = fence["mark"]
    return re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")


def _continues_paragraph(line: str, *, in_paragraph: bool) -> bool:
    if is_blank(line) or _HEADING.match(line) or _RULE.match(line):
        return False
    return in_paragraph or measure_indent(line) < CODE_INDENT


def interrupts(line: str) -> bool:
    """Whether a line ends a paragraph because it begins another block."""
    starts = (_FENCE, _HEADING, _RULE, _QUOTE, *(begin for begin, _ in _HTML))
    return bool(_match_item(line, in_paragraph=False)) or any(start.match(line) for start in starts)


def _find_code_or_html_end(lines: list[str], start: int, line: str, *, in_paragraph: bool) -> int:
    """Return the line after a code fence or HTML block that begins here; 0 where none does.

    For one that nothing ends that is a line after the last.
    """
    fence = _FENCE.match(line)
    if fence:
        return _find_after_match(lines, start + 1, _make_closing(fence))
    for begin, end in _HTML:
        if begin.match(line):
            # A block that a blank line ends cannot end on the line that it begins on.
            return _find_after_match(lines, start + (end is _BLANK_LINE), end)
    if not in_paragraph and _LONE_TAG.match(line):
        return _find_after_match(lines, start + 1, _BLANK_LINE)
    return 0


def _find_after_match(lines: list[str], start: int, pattern: re.Pattern[str]) -> int:
    for index in range(start, len(lines)):
        if pattern.search(strip_ending(lines[index])):
            return index + 1
    # The end of the page is as good as a blank line; other blocks stay open there.
    return len(lines) + (pattern is not _BLANK_LINE)


def _outdent(line: str, width: int) -> str:
    return line.expandtabs(TAB)[width:]


def measure_indent(line: str) -> int:
    """Return how far a line is indented."""
    expanded = line.expandtabs(TAB)
    return len(expanded) - len(expanded.lstrip(" "))


def _measure_width(marker: re.Match[str]) -> int:
    """Return how far a list item's text is indented."""
    before = marker.start("gap")
    gap = len(marker[0].expandtabs(TAB)) - before
    # Further in, the text would be code, which begins one column after the marker.
    return before + (gap if 1 <= gap <= CODE_INDENT else 1)


def strip_ending(line: str) -> str:
    """Return a line without its ending."""
    return line.rstrip("\r\n")


def is_blank(line: str) -> bool:
    """Whether a line holds nothing visible."""
    return not line.strip(" \t\r\n")
