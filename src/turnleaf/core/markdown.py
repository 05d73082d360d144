"""MEMORY.md: which of its lines are facts, and how to change those and nothing else.

Every top-level bullet outside code and HTML is a fact, with its indented continuation lines;
its category is the nearest ``##`` heading above. Facts that we write end in an invisible
comment with id, times, origin and what else is known. All other lines are the user's and stay
byte for byte.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from turnleaf.core.markdown_blocks import (
    BULLET,
    COMMENT,
    LINES,
    TAB,
    decode_bullet,
    encode_bullet,
    find_blocks,
    interrupts,
    is_blank,
    measure_indent,
    strip_ending,
)
from turnleaf.core.memories import Ids, Memory, make_content_id, read_count, read_day, read_slot
from turnleaf.core.pages import Shape, Splice, Tally
from turnleaf.core.serialization import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from turnleaf.core.markdown_blocks import Block

EMPTY = "# Memory\n"
BOM = "\ufeff"
CATEGORY_LEVEL = 2
_NEVER = datetime.min.replace(tzinfo=UTC)

# Possessive, and blanks only where none stand before: a run of blanks, or of what begins a comment,
# is read once.
_COMMENT = re.compile(rf"(?:(?<![ \t])[ \t]*+)?{re.escape(COMMENT)}(?P<fields>[^<>]*+)(?<=--)>")


class MarkdownFact(NamedTuple):
    """A fact and the lines it stands on.

    `below` is the line after whatever Markdown still counts to the same list item.
    """

    memory: Memory
    start: int
    end: int
    below: int
    marker: str
    is_typed: bool = False
    """Whether it has the page's time, having none of its own."""


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """A parsed MEMORY.md: its lines, and what of them is a fact or a category's heading."""

    bom: str
    lines: list[str]
    facts: list[MarkdownFact]
    headings: list[tuple[int, str | None]]
    titles: dict[int, str]
    """The headings of every level, by line."""
    closed: int
    """The line at which code or HTML begins that nothing ends; else the end."""
    empty: frozenset[int]
    """The lines of bullets that say nothing: these are no facts and no prose either."""
    tally: Tally

    @property
    def text(self) -> str:
        """The page as it is written."""
        return self.bom + "".join(self.lines)

    def get_raw(self, fact: MarkdownFact) -> str:
        """Return a fact's lines as they stand."""
        return "".join(self.lines[fact.start : fact.end])

    def group(self, memories: Sequence[Memory]) -> Sequence[Sequence[Memory]]:
        """Return facts in groups that are added at one place: those of one category."""
        groups: dict[str | None, list[Memory]] = {}
        for memory in memories:
            groups.setdefault(memory.category, []).append(memory)
        return list(groups.values())

    def insert(self, *memories: Memory) -> Splice:
        """Return the change that adds facts at the end of their category, made if there is none."""
        category = memories[0].category
        at, heading_is_missing = _find_place(self, category)
        above = None if heading_is_missing else _find_fact_above(self, at)
        marker = above.marker if above else BULLET
        lead = [f"## {category}\n", "\n"] if heading_is_missing else []
        if at > 0 and not above and not is_blank(self.lines[at - 1]):
            lead.insert(0, "\n")
        raws = [render(memory, marker) for memory in memories]
        return _make_splice(self, at, at, raws, lead=lead, tail=_separate(self, at, len(marker)))

    def replace(self, fact: MarkdownFact, memory: Memory) -> Splice:
        """Return the change that replaces a fact, in its place."""
        below = self.lines[fact.end : fact.end + 1]
        # Indented lines below would become a part of the new text's last paragraph.
        would_join = below and measure_indent(below[0]) and not is_blank(below[0])
        tail = ["\n"] if would_join and not interrupts(strip_ending(below[0])) else []
        return _make_splice(self, fact.start, fact.end, [render(memory, fact.marker)], tail=tail)

    def remove(self, fact: MarkdownFact) -> Splice:
        """Return the change that removes a fact's lines."""
        took = self.lines[fact.start : fact.end]
        # The last line of a page without a final line break: the one above must lose its own, or
        # the page would get one.
        if fact.start == 0 or fact.end < len(self.lines) or took[-1].endswith(("\n", "\r")):
            return Splice(fact.start, tuple(took), ())
        before = self.lines[fact.start - 1]
        return Splice(fact.start - 1, (before, *took), tuple(filter(None, [strip_ending(before)])))

    def apply(self, splice: Splice) -> str:
        """Return the text after a change."""
        return self.bom + "".join(splice.make_in(self.lines))

    def with_splice(self, splice: Splice, unknown_time: datetime) -> MarkdownPage:
        """Return the page after a change: what parsing its text would give, with less work."""
        lines = splice.make_in(self.lines)
        seam = lines[max(0, splice.start - 1) : splice.start + len(splice.put) + 1]
        # The first line may begin with a byte order mark; and "\r" beside "\n" would become one
        # line end.
        if lines[:1] != self.lines[:1] or LINES.findall("".join(seam)) != seam:
            return parse(self.bom + "".join(lines), unknown_time)
        return _read_around(self, splice, lines, unknown_time) or _read_all(
            self.bom, lines, unknown_time
        )

    def with_time(self, time: datetime) -> MarkdownPage:
        """Return the page as if it had been saved at another time."""
        if not self.tally.typed:
            return self
        return replace(self, facts=[_with_time(fact, time) for fact in self.facts])

    def shape(self) -> Shape:
        """Return a fingerprint of the lines, whatever their order, and the number of blank ones."""
        return self.shape_of(self.lines)

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Return the fingerprint of lines that need not be on this page."""
        # Editors change line ends and trailing blanks, and that is no edit of a fact.
        lines = [_strip(line) for raw in raws for line in LINES.findall(raw)]
        inked = [line for line in lines if line]
        return Shape.of(inked, blanks=len(lines) - len(inked))


def parse(text: str, unknown_time: datetime) -> MarkdownPage:
    """Return the page of a text; facts typed by hand have no times and get `unknown_time`."""
    bom = BOM if text.startswith(BOM) else ""
    return _read_all(bom, LINES.findall(text.removeprefix(bom)), unknown_time)


@dataclass(slots=True)
class _Reading:
    """What was found from one line of a page to another."""

    closed: int
    facts: list[MarkdownFact] = field(default_factory=list)
    headings: list[tuple[int, str | None]] = field(default_factory=list)
    titles: dict[int, str] = field(default_factory=dict)
    empty: set[int] = field(default_factory=set)
    ids: Ids = field(default_factory=Ids)


def _read_all(bom: str, lines: list[str], unknown_time: datetime) -> MarkdownPage:
    found = _Reading(len(lines))
    _read_on(found, lines, unknown_time)
    tally = Tally.of(found.facts, has_twins=found.ids.has_twins)
    empty = frozenset(found.empty)
    return MarkdownPage(
        bom, lines, found.facts, found.headings, found.titles, found.closed, empty, tally
    )


def _read_on(
    found: _Reading,
    lines: list[str],
    unknown_time: datetime,
    start: int = 0,
    category: str | None = None,
    is_known: Callable[[int, str | None], bool] = lambda _line, _category: False,
) -> int:
    """Read up to a bullet from which the rest is known; return its line."""
    for block in find_blocks(lines, start):
        if block.level:
            found.titles[block.start] = block.heading
        if block.level == CATEGORY_LEVEL:
            category = block.heading or None
            found.headings.append((block.start, category))
        elif block.end > len(lines):
            found.closed = block.start
        elif block.width and is_known(block.start, category):
            return block.start
        elif block.width and (fact := _read_fact(lines, block, category, unknown_time, found.ids)):
            found.facts.append(fact)
        elif block.width:
            found.empty.update(range(block.start, block.end))
    return len(lines)


def _read_around(
    page: MarkdownPage, splice: Splice, lines: list[str], unknown_time: datetime
) -> MarkdownPage | None:
    """Read anew from the fact above a change to the first one below that stands as it did.

    A fact's first line ends whatever is above it, so nothing there depends on what follows, and
    from a fact on nothing but the category depends on what is above. None where facts share an
    id: then it depends on all of them.
    """
    above = max(0, _count_above(page, splice.start) - 1)
    top = page.facts[above] if _count_above(page, splice.start) else None
    moved = len(lines) - len(page.lines)

    def is_known(line: int, category: str | None) -> bool:
        fact = _find_fact_at(page, line - moved)
        is_below = line - moved >= splice.start + len(splice.took)
        return bool(is_below and fact and fact.memory.category == category)

    found = _Reading(len(lines))
    start, category = (top.start, top.memory.category) if top else (0, None)
    end = _read_on(found, lines, unknown_time, start, category, is_known)
    below = _count_above(page, end - moved)
    tally = page.tally.change(page.facts[above:below], found.facts)
    if tally is None or found.ids.has_twins:
        return None
    return _put_together(page, found, lines, (start, end), (above, below), tally)


def _put_together(
    page: MarkdownPage,
    found: _Reading,
    lines: list[str],
    between: tuple[int, int],
    facts: tuple[int, int],
    tally: Tally,
) -> MarkdownPage:
    """Return a page with what was read between two lines in the place of some facts."""
    moved = len(lines) - len(page.lines)
    start, end = between[0], between[1] - moved
    rest = page.facts[facts[1] :]
    if moved:
        rest = [
            MarkdownFact(memory, first + moved, last + moved, below + moved, marker, typed)
            for memory, first, last, below, marker, typed in rest
        ]
    headings = [
        *(heading for heading in page.headings if heading[0] < start),
        *found.headings,
        *((line + moved, name) for line, name in page.headings if line >= end),
    ]
    titles = {line: title for line, title in page.titles.items() if line < start} | found.titles
    titles |= {line + moved: title for line, title in page.titles.items() if line >= end}
    empty = found.empty.union(
        (line for line in page.empty if line < start),
        (line + moved for line in page.empty if line >= end),
    )
    closed = page.closed + moved if end < len(page.lines) else found.closed
    facts_now = [*page.facts[: facts[0]], *found.facts, *rest]
    return MarkdownPage(
        page.bom, lines, facts_now, headings, titles, closed, frozenset(empty), tally
    )


def render(memory: Memory, marker: str = BULLET) -> str:
    """Return the lines of a fact, with our comment at their end."""
    lines = encode_bullet(memory.content, marker)
    if len(lines) == 1:
        return f"{lines[0]} {_write_comment(memory)}\n"
    return "\n".join([*lines, f"{' ' * len(marker)}{_write_comment(memory)}\n"])


def without_comments(text: str) -> str:
    """Return the page without our comments, as a person or a prompt reads it."""
    if COMMENT not in text:
        return text.removeprefix(BOM)
    kept = []
    for line in LINES.findall(text.removeprefix(BOM)):
        shown = _COMMENT.sub("", line)
        # A line that held nothing but our comment goes; an empty line of the user's stays.
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


def join_edits(base: str, edited: str, onto: str, unknown_time: datetime) -> str:
    """Return another version with a person's edit carried over; our own facts stay as there."""
    before, after, there = (parse(text, unknown_time) for text in (base, edited, onto))
    units = carry_over(
        # What differs in our own facts is no edit of the person's.
        [unit for unit in _list_units(before) if COMMENT not in unit],
        [unit for unit in _list_units(after) if COMMENT not in unit],
        list(_list_units(there)),
    )
    newline = _find_newline(there, len(there.lines))
    ended = (unit if unit.endswith(("\n", "\r")) else unit + newline for unit in units)
    return there.bom + "".join(ended)


def carry_over(base: Sequence[str], edited: Sequence[str], onto: Sequence[str]) -> list[str]:
    """Return `onto` with the changes of lines that lead from `base` to `edited`.

    What was added goes below the line that it was added below, or to the end; what was taken
    away is taken away where it still stands.
    """
    lines = list(onto)
    # autojunk would take lines that occur often, such as empty ones, for noise.
    steps = SequenceMatcher(None, base, edited, autojunk=False).get_opcodes()
    for tag, start, end, new_start, new_end in steps:
        if tag == "equal":
            continue
        for line in base[start:end]:
            if line in lines:
                lines.remove(line)
        above = edited[new_start - 1] if new_start else None
        at = lines.index(above) + 1 if above in lines else len(lines)
        lines[at:at] = edited[new_start:new_end]
    return lines


def _list_units(page: MarkdownPage) -> Iterator[str]:
    """Yield a page's lines, each fact in one piece."""
    index = 0
    for fact in [*page.facts, None]:
        yield from page.lines[index : fact.start if fact else len(page.lines)]
        if fact:
            yield page.get_raw(fact)
            index = fact.end


def _read_fact(
    lines: list[str],
    block: Block,
    category: str | None,
    unknown_time: datetime,
    ids: Ids,
) -> MarkdownFact | None:
    text = "".join(lines[block.start : block.end])
    memory = _read_ours(text, block.width, category) if COMMENT in text else None
    is_typed = memory is None
    memory = memory or _read(text, block.width, category, unknown_time)
    if memory is None:
        return None
    marker = _find_marker(text, block.width)
    return MarkdownFact(
        ids.tell_apart(memory), block.start, block.end, block.below, marker, is_typed
    )


def _with_time(fact: MarkdownFact, time: datetime) -> MarkdownFact:
    if not fact.is_typed:
        return fact
    memory = fact.memory
    # A fact that was changed since has a time of its own for that.
    updated = time if memory.updated_at == memory.created_at else memory.updated_at
    return fact._replace(memory=replace(memory, created_at=time, updated_at=updated))


def _find_marker(text: str, width: int) -> str:
    if text.startswith(BULLET) and width == len(BULLET):
        return BULLET
    first = strip_ending(LINES.findall(text)[0])
    # How wide a tab is depends on its column, so a marker is copied with spaces instead.
    return first.expandtabs(TAB)[:width].ljust(width)


@lru_cache(maxsize=16_384)
def _read_ours(text: str, width: int, category: str | None) -> Memory | None:
    """Return a fact that has times of its own; None for one typed by hand."""
    memory = _read(text, width, category, _NEVER)
    return memory if memory and memory.created_at != _NEVER else None


def _read(text: str, width: int, category: str | None, unknown_time: datetime) -> Memory | None:
    comments = list(_COMMENT.finditer(text)) if COMMENT in text else []
    fields = _read_fields(comments[-1]["fields"].removesuffix("--")) if comments else {}
    shown = [strip_ending(line) for line in LINES.findall(without_comments(text))]
    content = decode_bullet(shown, width) if shown else ""
    # A bullet that says nothing could not be found again to be deleted.
    if not content.strip():
        return None
    created = _read_time(fields.get("created"), unknown_time)
    return Memory(
        id=fields.get("id") or make_content_id(content),
        content=content,
        created_at=created,
        updated_at=_read_time(fields.get("updated"), created),
        category=category,
        origin=fields.get("origin"),
        slot=read_slot(fields.get("slot")),
        until=read_day(fields.get("until")),
        said_count=read_count(fields.get("said")),
        pinned=fields.get("pinned") == "yes",
    )


def _write_comment(memory: Memory) -> str:
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
    if memory.pinned:
        fields["pinned"] = "yes"
    written = (f"{name}={_encode_value(value)}" for name, value in fields.items())
    return f"{COMMENT}{' '.join(written)} -->"


def _encode_value(value: str) -> str:
    # Two dashes would end the comment, in which this stands.
    return quote(value, safe=":+.").replace("--", "-%2D")


def _read_fields(text: str) -> dict[str, str]:
    pairs = (field.partition("=") for field in text.split())
    return {name: unquote(value) if "%" in value else value for name, _, value in pairs}


def _read_time(text: str | None, otherwise: datetime) -> datetime:
    try:
        return from_iso(text) if text else otherwise
    # A comment that somebody damaged must not cost the fact.
    except ValueError:
        return otherwise


def _find_place(page: MarkdownPage, category: str | None) -> tuple[int, bool]:
    """Return the line at which a category ends, and whether its heading is missing."""
    sections = _find_sections(page)
    if category not in sections:
        return page.closed, True
    start, end = sections[category]
    last = _count_above(page, end)
    if last and page.facts[last - 1].start >= start:
        # Below all that Markdown counts to the last fact, or that would become a part of the new
        # one.
        return page.facts[last - 1].below, False
    end = min(end, page.closed)
    while end > start and is_blank(page.lines[end - 1]):
        end -= 1
    return end, False


def _find_sections(page: MarkdownPage) -> dict[str | None, tuple[int, int]]:
    """Return the lines of each category; of several with one name, of the first."""
    starts = [(0, None), *page.headings]
    ends = [*(line for line, _ in page.headings), len(page.lines)]
    sections: dict[str | None, tuple[int, int]] = {}
    for (start, name), end in zip(starts, ends, strict=True):
        sections.setdefault(name, (start, end))
    return sections


def _count_above(page: MarkdownPage, line: int) -> int:
    """Count the facts that begin above a line."""
    return bisect_left(page.facts, line, key=lambda fact: fact.start)


def _find_fact_above(page: MarkdownPage, line: int) -> MarkdownFact | None:
    """Return the fact that ends just above a line, if nothing else belongs to it."""
    fact = page.facts[_count_above(page, line) - 1] if page.facts else None
    return fact if fact and fact.end == fact.below == line else None


def _find_fact_at(page: MarkdownPage, line: int) -> MarkdownFact | None:
    above = _count_above(page, line)
    fact = page.facts[above] if above < len(page.facts) else None
    return fact if fact and fact.start == line else None


def _separate(page: MarkdownPage, at: int, width: int) -> list[str]:
    """Return the lines that keep a new fact apart from what stands below it."""
    rest = (page.lines[index] for index in range(at, len(page.lines)))
    below = next((line for line in rest if not is_blank(line)), "")
    if measure_indent(below) >= width:
        # Indented text below would become a part of the new bullet; only something between them
        # that Markdown does not show keeps it apart.
        return ["\n", "<!-- -->\n", "\n"]
    if at < len(page.lines) and not is_blank(below) and not is_blank(page.lines[at]):
        return [] if _find_fact_at(page, at) else ["\n"]
    return []


def _make_splice(
    page: MarkdownPage,
    start: int,
    end: int,
    raws: Sequence[str],
    lead: Sequence[str] = (),
    tail: Sequence[str] = (),
) -> Splice:
    """Return the change that puts facts in the place of lines, in the line ending used there.

    Where the page had no final one, it still has none.
    """
    newline = _find_newline(page, end)
    facts = [[strip_ending(line) + newline for line in LINES.findall(raw)] for raw in raws]
    put = [strip_ending(line) + newline for line in lead]
    put += [line for fact in facts for line in fact]
    put += [strip_ending(line) + newline for line in tail]
    took = page.lines[start:end]
    # A page without a final line break gets none: nothing but the fact may change.
    if end == len(page.lines) and page.lines and not page.lines[-1].endswith(("\n", "\r")):
        put[-1] = strip_ending(put[-1])
        facts[-1][-1] = strip_ending(facts[-1][-1])
        if start > 0 and not took:
            took, put, start = page.lines[-1:], [page.lines[-1] + newline, *put], start - 1
    return Splice(start, tuple(took), tuple(put), tuple(map("".join, facts)))


def _find_newline(page: MarkdownPage, line: int) -> str:
    """Return the line ending used above a line, or else at the top of the page."""
    # A page may mix line ends, when two systems write it; what is added follows its neighbour.
    near = [*page.lines[max(0, line - 1) : line], *page.lines[:1]]
    endings = [text[len(strip_ending(text)) :] for text in near]
    return next(filter(None, endings), "\n")


def _strip(line: str) -> str:
    return line.strip(" \t\r\n")
