"""MEMORY.md: which of its lines are facts, and how to change those and nothing else.

Every top-level bullet outside code and HTML is a fact, with its indented continuation lines;
its category is the nearest ``##`` heading above. Facts that we write end in an invisible
comment with id, times, origin and what else is known. All other lines are the user's and stay
byte for byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from turnleaf.core import bullets
from turnleaf.core.blocks import LINES, TAB, bare, blocks, indent, interrupts, is_blank
from turnleaf.core.memories import Ids, Memory, content_id, read_count, read_day, read_slot
from turnleaf.core.merging import carried_over
from turnleaf.core.pages import Splice
from turnleaf.core.shapes import Shape
from turnleaf.core.times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from turnleaf.core.blocks import Block

EMPTY = "# Memory\n"
BOM = "\ufeff"
CATEGORY_LEVEL = 2
_NEVER = datetime.min.replace(tzinfo=UTC)

_COMMENT = re.compile(
    rf"(?:(?<![ \t])[ \t]*+)?{re.escape(bullets.MARK)}(?P<fields>[^<>]*+)(?<=--)>"
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
    titles: dict[int, str]
    """The headings of every level, by line."""
    closed: int
    """The line at which code or HTML begins that nothing ends; else the end."""
    empty: frozenset[int] = frozenset()
    """The lines of bullets that say nothing: these are no facts and no prose either."""

    def raw(self, fact: Fact) -> str:
        """Give a fact's lines as they stand."""
        return "".join(self.lines[fact.start : fact.end])

    def together(self, memories: Sequence[Memory]) -> Sequence[Sequence[Memory]]:
        """Group facts that are added at one place: those of one category."""
        groups: dict[str | None, list[Memory]] = {}
        for memory in memories:
            groups.setdefault(memory.category, []).append(memory)
        return list(groups.values())

    def insert(self, *memories: Memory) -> Splice:
        """Add facts at the end of their category, which is made when there is none."""
        category = memories[0].category
        at, heading_is_missing = _place(self, category)
        above = None if heading_is_missing else _fact_above(self, at)
        marker = above.marker if above else bullets.MARKER
        lead = [f"## {category}\n", "\n"] if heading_is_missing else []
        if at > 0 and not above and not is_blank(self.lines[at - 1]):
            lead.insert(0, "\n")
        raws = [render(memory, marker) for memory in memories]
        return _splice(self, at, at, raws, lead=lead, tail=_separation(self, at, len(marker)))

    def replace(self, fact: Fact, memory: Memory) -> Splice:
        """Let a fact say something else, in its place."""
        below = self.lines[fact.end : fact.end + 1]
        would_join = below and indent(below[0]) and not is_blank(below[0])
        tail = ["\n"] if would_join and not interrupts(bare(below[0])) else []
        return _splice(self, fact.start, fact.end, [render(memory, fact.marker)], tail=tail)

    def remove(self, fact: Fact) -> Splice:
        """Take a fact's lines away."""
        took = self.lines[fact.start : fact.end]
        if fact.start == 0 or fact.end < len(self.lines) or took[-1].endswith(("\n", "\r")):
            return Splice(fact.start, tuple(took), ())
        before = self.lines[fact.start - 1]
        return Splice(fact.start - 1, (before, *took), tuple(filter(None, [bare(before)])))

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
        lines = [_stripped(line) for raw in raws for line in LINES.findall(raw)]
        inked = [line for line in lines if line]
        return Shape.of(inked, blanks=len(lines) - len(inked))


def parse(text: str, unknown_time: datetime) -> Page:
    """Find the facts; one typed by hand has no times of its own and gets `unknown_time`."""
    bom = BOM if text.startswith(BOM) else ""
    lines = LINES.findall(text.removeprefix(bom))
    facts: list[Fact] = []
    headings: list[tuple[int, str | None]] = []
    titles: dict[int, str] = {}
    closed = len(lines)
    empty: set[int] = set()
    ids = Ids()
    category: str | None = None
    for block in blocks(lines):
        if block.level:
            titles[block.start] = block.heading
        if block.level == CATEGORY_LEVEL:
            category = block.heading or None
            headings.append((block.start, category))
        elif block.end > len(lines):
            closed = block.start
        elif block.width and (fact := _fact(lines, block, category, unknown_time, ids)):
            facts.append(fact)
        elif block.width:
            empty.update(range(block.start, block.end))
    return Page(bom, lines, facts, headings, titles, closed, frozenset(empty))


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
    for line in LINES.findall(text.removeprefix(BOM)):
        shown = _COMMENT.sub("", line)
        if shown == line or shown.strip():
            kept.append(shown)
    return "".join(kept)


def without_facts(text: str, ids: Collection[str]) -> str:
    """Return the page without the lines of some facts."""
    if not ids:
        return text
    page = parse(text, _NEVER)
    gone = {
        line for fact in page.facts if fact.memory.id in ids for line in range(fact.start, fact.end)
    }
    return page.bom + "".join(line for at, line in enumerate(page.lines) if at not in gone)


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


def _fact(
    lines: list[str],
    block: Block,
    category: str | None,
    unknown_time: datetime,
    ids: Ids,
) -> Fact | None:
    text = "".join(lines[block.start : block.end])
    memory = _read_ours(text, block.width, category) if bullets.MARK in text else None
    memory = memory or _read(text, block.width, category, unknown_time)
    if memory is None:
        return None
    return Fact(
        ids.told_apart(memory), block.start, block.end, block.below, _marker(text, block.width)
    )


def _marker(text: str, width: int) -> str:
    if text.startswith(bullets.MARKER) and width == len(bullets.MARKER):
        return bullets.MARKER
    first = bare(LINES.findall(text)[0])
    return first.expandtabs(TAB)[:width].ljust(width)


@lru_cache(maxsize=16_384)
def _read_ours(text: str, width: int, category: str | None) -> Memory | None:
    """Read a fact that has times of its own; from one change to the next most stay the same."""
    memory = _read(text, width, category, _NEVER)
    return memory if memory and memory.created_at != _NEVER else None


def _read(text: str, width: int, category: str | None, unknown_time: datetime) -> Memory | None:
    comments = list(_COMMENT.finditer(text)) if bullets.MARK in text else []
    fields = _fields(comments[-1]["fields"].removesuffix("--")) if comments else {}
    shown = [bare(line) for line in LINES.findall(without_comments(text))]
    content = bullets.decode(shown, width) if shown else ""
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
        slot=read_slot(fields.get("slot")),
        until=read_day(fields.get("until")),
        said_count=read_count(fields.get("said")),
    )


def _comment(memory: Memory) -> str:
    fields = {"id": memory.id, "created": to_iso(memory.created_at)}
    if memory.updated_at != memory.created_at:
        fields["updated"] = to_iso(memory.updated_at)
    if memory.origin is not None:
        fields["origin"] = memory.origin
    if memory.slot is not None:
        fields["slot"] = memory.slot
    if memory.until is not None:
        fields["until"] = memory.until.isoformat()
    if memory.said_count > 1:
        fields["said"] = str(memory.said_count)
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
    while end > start and is_blank(page.lines[end - 1]):
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
    below = next((line for line in page.lines[at:] if not is_blank(line)), "")
    if indent(below) >= width:
        return ["\n", "<!-- -->\n", "\n"]
    if at < len(page.lines) and not is_blank(below) and not is_blank(page.lines[at]):
        return [] if any(fact.start == at for fact in page.facts) else ["\n"]
    return []


def _splice(
    page: Page,
    start: int,
    end: int,
    raws: Sequence[str],
    lead: Sequence[str] = (),
    tail: Sequence[str] = (),
) -> Splice:
    """Put facts in the place of lines, in the line ending used there.

    Where the page had no final one, it still has none.
    """
    newline = _newline(page, end)
    facts = [[bare(line) + newline for line in LINES.findall(raw)] for raw in raws]
    put = [bare(line) + newline for line in lead]
    put += [line for fact in facts for line in fact]
    put += [bare(line) + newline for line in tail]
    took = page.lines[start:end]
    if end == len(page.lines) and page.lines and not page.lines[-1].endswith(("\n", "\r")):
        put[-1] = bare(put[-1])
        facts[-1][-1] = bare(facts[-1][-1])
        if start > 0 and not took:
            took, put, start = page.lines[-1:], [page.lines[-1] + newline, *put], start - 1
    return Splice(start, tuple(took), tuple(put), tuple(map("".join, facts)))


def _newline(page: Page, line: int) -> str:
    """Give the line ending in use above a line, or else anywhere."""
    near = [*page.lines[max(0, line - 1) : line], *page.lines[:1]]
    endings = [text[len(bare(text)) :] for text in near]
    return next(filter(None, endings), "\n")


def _stripped(line: str) -> str:
    return line.strip(" \t\r\n")
