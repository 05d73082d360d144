"""MEMORY.md: which of its lines are facts, and how to change those and nothing else.

Every top-level bullet outside code and HTML is a fact, with its indented continuation lines;
its category is the nearest ``##`` heading above. Facts that we write end in an invisible
comment with id, times and origin. All other lines are the user's and stay byte for byte.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from turnleaf.core import bullets
from turnleaf.core.memories import Memory, content_id, unique_id
from turnleaf.core.merging import carried_over
from turnleaf.core.pages import Splice
from turnleaf.core.shapes import Shape
from turnleaf.core.times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EMPTY = "# Memory\n"
BOM = "\ufeff"
CODE_INDENT = 4
TAB = 4
_NEVER = datetime.min.replace(tzinfo=UTC)

_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}##(?:[ \t]+(?P<text>.*?))??(?:[ \t]+#+)?[ \t]*$")
_ANY_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_BULLET = re.compile(r" {0,3}[-+*](?P<gap>[ \t]+|$)")
_ORDERED = re.compile(r" {0,3}(?P<number>\d{1,9})[.)](?P<gap>[ \t]+|$)")
_BEGINS_MORE = frozenset(["", " ", "\t", "\r", "\n", "-", "*", "_"])
_QUOTE = re.compile(r" {0,3}>")
_NESTING = re.compile(r"^(?:[ ]{0,3}(?:[-+*]|\d{1,9}[.)]|>)(?:[ \t]+|$))+")
_COMMENT = re.compile(r"[ \t]*" + re.escape(bullets.MARK) + r"(?P<fields>[^>]*?) ?-->")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|"
    "header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_BLANK_LINE = re.compile(r"^[ \t]*$")
# How CommonMark's HTML blocks begin, and what ends each.
_HTML = (
    (re.compile(r" {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)", re.IGNORECASE),
     re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (re.compile(r" {0,3}<!--"), re.compile(r"-->")),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<![a-z]", re.IGNORECASE), re.compile(r">")),
    (re.compile(r" {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf" {{0,3}}</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.IGNORECASE), _BLANK_LINE),
)  # fmt: skip
_ATTRIBUTE = r"""\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_LONE_TAG = re.compile(
    rf" {{0,3}}<(?:[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?|/[a-z][a-z0-9-]*\s*)>[ \t]*$",
    re.IGNORECASE,
)


class Fact(NamedTuple):
    """A fact and the lines it stands on.

    `below` is the line after whatever Markdown still counts to the same list item.
    """

    memory: Memory
    start: int
    end: int
    below: int
    marker: str


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed MEMORY.md: its lines, and what of them is a fact or a category's heading."""

    bom: str
    lines: list[str]
    facts: list[Fact]
    headings: list[tuple[int, str | None]]
    closed: int
    """The line at which code or HTML begins that nothing ends; else the end."""

    def raw(self, fact: Fact) -> str:
        """Give a fact's lines as they stand."""
        return "".join(self.lines[fact.start : fact.end])

    def insert(self, memory: Memory) -> Splice:
        """Add a fact at the end of its category, which is made when there is none."""
        at, heading_is_missing = _place(self, memory.category)
        above = None if heading_is_missing else _fact_above(self, at)
        marker = above.marker if above else bullets.MARKER
        lead = [f"## {memory.category}\n", "\n"] if heading_is_missing else []
        if at > 0 and not above and not _is_blank(self.lines[at - 1]):
            lead.insert(0, "\n")
        raw = render(memory, marker)
        return _splice(self, at, at, raw, lead=lead, tail=_separation(self, at, len(marker)))

    def replace(self, fact: Fact, memory: Memory) -> Splice:
        """Let a fact say something else, in its place."""
        below = self.lines[fact.end : fact.end + 1]
        would_join = below and _indent(below[0]) and not _is_blank(below[0])
        tail = ["\n"] if would_join and not _interrupts(_bare(below[0])) else []
        return _splice(self, fact.start, fact.end, render(memory, fact.marker), tail=tail)

    def remove(self, fact: Fact) -> Splice:
        """Take a fact's lines away."""
        took = self.lines[fact.start : fact.end]
        if fact.start == 0 or fact.end < len(self.lines) or took[-1].endswith(("\n", "\r")):
            return Splice(fact.start, tuple(took), ())
        before = self.lines[fact.start - 1]
        return Splice(fact.start - 1, (before, *took), tuple(filter(None, [_bare(before)])))

    def spliced(self, splice: Splice) -> str:
        """Give the text after a change."""
        end = splice.start + len(splice.took)
        lines = [*self.lines[: splice.start], *splice.put, *self.lines[end:]]
        return self.bom + "".join(lines)

    def shape(self) -> Shape:
        """Fingerprint the lines, whatever their order, and count the blank ones."""
        return self.shape_of(self.lines)

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Fingerprint lines that may stand here no more."""
        lines = [_stripped(line) for raw in raws for line in _LINES.findall(raw)]
        inked = [line for line in lines if line]
        return Shape.of(inked, blanks=len(lines) - len(inked))


def parse(text: str, unknown_time: datetime) -> Page:
    """Find the facts; one typed by hand has no times of its own and gets `unknown_time`."""
    bom = BOM if text.startswith(BOM) else ""
    lines = _LINES.findall(text.removeprefix(bom))
    facts: list[Fact] = []
    headings: list[tuple[int, str | None]] = []
    closed = len(lines)
    taken: set[str] = set()
    category: str | None = None
    for block in _blocks(lines):
        if block.heading is not None:
            category = block.heading or None
            headings.append((block.start, category))
        elif block.end > len(lines):
            closed = block.start
        elif fact := _fact(lines, block, category, unknown_time, taken):
            facts.append(fact)
            taken.add(fact.memory.id)
    return Page(bom, lines, facts, headings, closed)


def render(memory: Memory, marker: str = bullets.MARKER) -> str:
    """Write a fact as we do, ending in our comment."""
    lines = bullets.encode(memory.content, marker)
    if len(lines) == 1:
        return f"{lines[0]} {_comment(memory)}\n"
    return "\n".join([*lines, f"{' ' * len(marker)}{_comment(memory)}\n"])


def without_comments(text: str) -> str:
    """Give the page as a person reads it, for a prompt: our comments are gone."""
    if bullets.MARK not in text:
        return text.removeprefix(BOM)
    kept = []
    for line in _LINES.findall(text.removeprefix(BOM)):
        bare = _COMMENT.sub("", line)
        if bare == line or bare.strip():
            kept.append(bare)
    return "".join(kept)


class _Block(NamedTuple):
    """A top-level bullet, a category's heading, or what has no end."""

    start: int
    end: int
    below: int
    width: int = 0
    heading: str | None = None


def joined(base: str, edited: str, onto: str, unknown_time: datetime) -> str:
    """Carry a person's edit over to another version; our own facts there stay as they are."""
    before, after, there = (parse(text, unknown_time) for text in (base, edited, onto))
    units = carried_over(
        [unit for unit in _units(before) if bullets.MARK not in unit],
        [unit for unit in _units(after) if bullets.MARK not in unit],
        list(_units(there)),
    )
    newline = _newline(there, len(there.lines))
    ended = (unit if unit.endswith(("\n", "\r")) else unit + newline for unit in units)
    return there.bom + "".join(ended)


def _units(page: Page) -> Iterator[str]:
    """Go over a page's lines, each fact in one piece."""
    index = 0
    for fact in [*page.facts, None]:
        yield from page.lines[index : fact.start if fact else len(page.lines)]
        if fact:
            yield page.raw(fact)
            index = fact.end


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """Go over the top-level bullets and the second-level headings, as CommonMark sees them."""
    index = 0
    in_paragraph = False
    while index < len(lines):
        if _is_one_line_fact(lines, index):
            yield _Block(index, index + 1, index + 1, len(bullets.MARKER))
            index, in_paragraph = index + 1, False
            continue
        line = _bare(lines[index])
        item = _item(line, in_paragraph=in_paragraph)
        if item:
            width = _width(item)
            below = _item_end(lines, index, width, with_lazy_lines=True)
            if _BULLET.match(line):
                yield _Block(index, _item_end(lines, index, width), below, width)
            index, in_paragraph = below, False
        elif end := _code_or_html_end(lines, index, line, in_paragraph=in_paragraph):
            if end > len(lines):
                yield _Block(index, end, end)
            index, in_paragraph = end, False
        else:
            heading = _HEADING.match(line)
            if heading:
                yield _Block(index, index + 1, index + 1, heading=heading["text"] or "")
            in_paragraph = _continues_paragraph(line, in_paragraph=in_paragraph)
            index += 1


def _is_one_line_fact(lines: list[str], index: int) -> bool:
    """Tell quickly what most lines of a memory are: a bullet with another one below it."""
    line = lines[index]
    return (
        line.startswith(bullets.MARKER)
        and line[2:3] not in _BEGINS_MORE
        and index + 1 < len(lines)
        and lines[index + 1].startswith(bullets.MARKER)
    )


def _fact(
    lines: list[str],
    block: _Block,
    category: str | None,
    unknown_time: datetime,
    taken: set[str],
) -> Fact | None:
    text = "".join(lines[block.start : block.end])
    memory = _read_ours(text, block.width, category) if bullets.MARK in text else None
    memory = memory or _read(text, block.width, category, unknown_time)
    if memory is None:
        return None
    if memory.id in taken:
        memory = dataclasses.replace(memory, id=unique_id(memory.id, taken))
    return Fact(memory, block.start, block.end, block.below, _marker(text, block.width))


def _marker(text: str, width: int) -> str:
    if text.startswith(bullets.MARKER) and width == len(bullets.MARKER):
        return bullets.MARKER
    first = _bare(_LINES.findall(text)[0])
    return first.expandtabs(TAB)[:width].ljust(width)


@lru_cache(maxsize=16_384)
def _read_ours(text: str, width: int, category: str | None) -> Memory | None:
    """Read a fact that has times of its own; from one change to the next most stay the same."""
    memory = _read(text, width, category, _NEVER)
    return memory if memory and memory.created_at != _NEVER else None


def _item(line: str, *, in_paragraph: bool) -> re.Match[str] | None:
    """Match the marker of a list item.

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


def _item_end(lines: list[str], start: int, width: int, *, with_lazy_lines: bool = False) -> int:
    """Find the line after a list item: what is indented below it belongs to it.

    Markdown also takes in lines that go on with its last paragraph without any indentation;
    those are no part of a fact, but what is indented below them is no top-level list either.
    """
    first = _outdented(_bare(lines[start]), width)
    end = index = start + 1
    if _is_blank(first) and index < len(lines) and _is_blank(lines[index]):
        return end
    inside = _Inside()
    inside.take(first)
    while index < len(lines):
        line = _bare(lines[index])
        is_lazy = inside.in_paragraph and not _interrupts(line)
        if not _is_blank(line):
            if _indent(line) < width and not (is_lazy and (with_lazy_lines or _indent(line))):
                break
            end = index + 1
        inside.take(_outdented(line, width) if _indent(line) >= width else line)
        index += 1
    return end


class _Inside:
    """Whether the end of a list item is a paragraph that a line without indentation continues."""

    def __init__(self) -> None:
        self.in_paragraph = False
        self._fence: re.Pattern[str] | None = None

    def take(self, line: str) -> None:
        """Go on by a line."""
        text = _NESTING.sub("", line)
        fence = _FENCE.match(text)
        if self._fence:
            self._fence = None if self._fence.search(line) else self._fence
            self.in_paragraph = False
        elif fence:
            self._fence = _closing(fence)
            self.in_paragraph = False
        else:
            is_html = any(begin.match(text) for begin, _ in _HTML)
            self.in_paragraph = not is_html and _continues_paragraph(
                text, in_paragraph=self.in_paragraph
            )


def _closing(fence: re.Match[str]) -> re.Pattern[str]:
    mark = fence["mark"]
    return re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")


def _continues_paragraph(line: str, *, in_paragraph: bool) -> bool:
    if _is_blank(line) or _ANY_HEADING.match(line) or _RULE.match(line):
        return False
    return in_paragraph or _indent(line) < CODE_INDENT


def _interrupts(line: str) -> bool:
    """Tell whether a line ends a paragraph by beginning something else."""
    starts = (_FENCE, _ANY_HEADING, _RULE, _QUOTE, *(begin for begin, _ in _HTML))
    return bool(_item(line, in_paragraph=False)) or any(start.match(line) for start in starts)


def _code_or_html_end(lines: list[str], start: int, line: str, *, in_paragraph: bool) -> int:
    """Find the line after a code fence or HTML block that begins here; 0 where none does.

    One that nothing ends is said to end after the end.
    """
    fence = _FENCE.match(line)
    if fence:
        return _after_match(lines, start + 1, _closing(fence))
    for begin, end in _HTML:
        if begin.match(line):
            return _after_match(lines, start + (end is _BLANK_LINE), end)
    if not in_paragraph and _LONE_TAG.match(line):
        return _after_match(lines, start + 1, _BLANK_LINE)
    return 0


def _after_match(lines: list[str], start: int, pattern: re.Pattern[str]) -> int:
    for index in range(start, len(lines)):
        if pattern.search(_bare(lines[index])):
            return index + 1
    return len(lines) + (pattern is not _BLANK_LINE)


def _outdented(line: str, width: int) -> str:
    return line.expandtabs(TAB)[width:]


def _indent(line: str) -> int:
    expanded = line.expandtabs(TAB)
    return len(expanded) - len(expanded.lstrip(" "))


def _width(marker: re.Match[str]) -> int:
    """Tell how far a list item's text is indented."""
    before = marker.start("gap")
    gap = len(marker[0].expandtabs(TAB)) - before
    return before + (gap if 1 <= gap <= CODE_INDENT else 1)


def _read(text: str, width: int, category: str | None, unknown_time: datetime) -> Memory | None:
    comments = list(_COMMENT.finditer(text))
    fields = _fields(comments[-1]["fields"]) if comments else {}
    bare = [_bare(line) for line in _LINES.findall(without_comments(text))]
    content = bullets.decode(bare, width) if bare else ""
    if not content.strip():
        return None
    created = _time(fields.get("created"), unknown_time)
    return Memory(
        id=fields.get("id") or content_id(content),
        content=content,
        created_at=created,
        updated_at=_time(fields.get("updated"), created),
        category=category,
        origin=fields.get("origin"),
    )


def _comment(memory: Memory) -> str:
    fields = {"id": memory.id, "created": to_iso(memory.created_at)}
    if memory.updated_at != memory.created_at:
        fields["updated"] = to_iso(memory.updated_at)
    if memory.origin is not None:
        fields["origin"] = memory.origin
    written = (f"{name}={_quoted(value)}" for name, value in fields.items())
    return f"{bullets.MARK}{' '.join(written)} -->"


def _quoted(value: str) -> str:
    return quote(value, safe=":+.").replace("--", "-%2D")


def _fields(text: str) -> dict[str, str]:
    pairs = (field.partition("=") for field in text.split())
    return {name: unquote(value) if "%" in value else value for name, _, value in pairs}


def _time(text: str | None, otherwise: datetime) -> datetime:
    try:
        return from_iso(text) if text else otherwise
    except ValueError:
        return otherwise


def _place(page: Page, category: str | None) -> tuple[int, bool]:
    """Find the line at which a category ends, and whether its heading is still missing."""
    sections = _sections(page)
    if category not in sections:
        return page.closed, True
    start, end = sections[category]
    inside = [fact.below for fact in page.facts if start <= fact.start < end]
    if inside:
        return inside[-1], False
    end = min(end, page.closed)
    while end > start and _is_blank(page.lines[end - 1]):
        end -= 1
    return end, False


def _sections(page: Page) -> dict[str | None, tuple[int, int]]:
    """Map each category to its lines; the first of several with one name."""
    starts = [(0, None), *page.headings]
    ends = [*(line for line, _ in page.headings), len(page.lines)]
    sections: dict[str | None, tuple[int, int]] = {}
    for (start, name), end in zip(starts, ends, strict=True):
        sections.setdefault(name, (start, end))
    return sections


def _fact_above(page: Page, line: int) -> Fact | None:
    return next((fact for fact in page.facts if fact.end == fact.below == line), None)


def _separation(page: Page, at: int, width: int) -> list[str]:
    """Give the lines that keep a new fact apart from what stands below it."""
    below = next((line for line in page.lines[at:] if not _is_blank(line)), "")
    if _indent(below) >= width:
        return ["\n", "<!-- -->\n", "\n"]
    if at < len(page.lines) and not _is_blank(below) and not _is_blank(page.lines[at]):
        return [] if any(fact.start == at for fact in page.facts) else ["\n"]
    return []


def _splice(
    page: Page, start: int, end: int, raw: str, lead: Sequence[str] = (), tail: Sequence[str] = ()
) -> Splice:
    """Put a fact in the place of lines, in the line ending used there.

    Where the page had no final one, it still has none.
    """
    newline = _newline(page, end)
    fact = [_bare(line) + newline for line in _LINES.findall(raw)]
    put = [*(_bare(line) + newline for line in lead), *fact]
    put += [_bare(line) + newline for line in tail]
    took = page.lines[start:end]
    if end < len(page.lines) or not page.lines or page.lines[-1].endswith(("\n", "\r")):
        return Splice(start, tuple(took), tuple(put), "".join(fact))
    put[-1] = _bare(put[-1])
    if start > 0 and not took:
        took, put, start = page.lines[-1:], [page.lines[-1] + newline, *put], start - 1
    return Splice(start, tuple(took), tuple(put), _bare("".join(fact)))


def _newline(page: Page, line: int) -> str:
    """Give the line ending in use above a line, or else anywhere."""
    near = [*page.lines[max(0, line - 1) : line], *page.lines[:1]]
    endings = [text[len(_bare(text)) :] for text in near]
    return next(filter(None, endings), "\n")


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _stripped(line: str) -> str:
    return line.strip(" \t\r\n")


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r\n")
