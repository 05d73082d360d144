"""What is searched: texts cut into passages, each with its place, and what of them is embedded.

A fact and a log entry stay whole. Prose is cut at headings and paragraphs, and a long message into
parts that are found one by one. One vector cannot mean everything in a long text, and a short
answer means little by itself: pieces of a long one are embedded, a short one with what is said
around it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core import conversation_formats, json_facts, markdown
from turnleaf.core.keys import EVERYONE, choose_audience
from turnleaf.core.loading import make_pattern
from turnleaf.core.messages import ROLES, TRUSTED, FeedMessage, find_trust
from turnleaf.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from turnleaf.core.markdown import MarkdownPage
    from turnleaf.core.memories import Memory

    DayOf = Callable[[datetime], str]


PIECE_COLUMNS = 400
WHOLE_COLUMNS = 600
MOST_PIECES = 64
CONTEXT_COLUMNS = 200
LEAST_CONTEXT_COLUMNS = 80
"""What stands on each side of a text may be as long as the text, or at least so long."""
PART_COLUMNS = 560  # with a name before it no more than is embedded whole
SMALL_PART_COLUMNS = 280
"""What the parts of a paragraph have that is longer than a large one."""
FEW_COLUMNS = 80
"""Paragraphs with fewer are joined, up to twice as many."""

_WIDE = make_pattern("[\u2e80-\U000323af]")
_LINE = make_pattern(r"[^\n]*+(?:\n\s*+|$)")
# Possessive, because a message of nothing but line breaks must not take quadratic time.
_PARAGRAPH = make_pattern(r"(?>(?:[^\n]++|\n(?![^\S\n]*+\n))*)(?:\n\s*+|$)")
_HEADING = make_pattern(r"^\s*+#|[:：][\s*_]*+$")
_SENTENCE = make_pattern(r"[^\n。！？.!?]*+(?:[\n。！？]++|[.!?]++|$)\s*+")


class Part(NamedTuple):
    """A part of a message, and how many of the same paragraph stand before and after it."""

    text: str
    earlier: int = 0
    later: int = 0


def list_texts_to_embed(text: str, before: str = "", after: str = "") -> list[str]:
    """Return the texts to embed for a passage: each gets a vector, and the best one counts."""
    cut = cut_pieces(text)
    if len(cut) > 1:
        return cut
    # An assistant's long answer would drown the short message that it stands beside.
    columns = min(CONTEXT_COLUMNS, max(LEAST_CONTEXT_COLUMNS, _count_columns(text)))
    around = (_take_end(before, columns), text, _take_start(after, columns))
    return ["\n".join(part for part in around if part)]


def cut_pieces(text: str) -> list[str]:
    """Cut a text between sentences into pieces of about equal weight; a short one stays whole.

    A Chinese character counts as two columns, because it says about as much as two letters.
    """
    # No character takes more than two columns, so most texts need not be measured.
    if 2 * len(text) <= WHOLE_COLUMNS or _count_columns(text) <= WHOLE_COLUMNS:
        return [text]
    found = [""]
    columns = 0
    for sentence in _SENTENCE.findall(text):
        added = _count_columns(sentence)
        if found[-1] and columns + added > PIECE_COLUMNS:
            found.append("")
            columns = 0
        found[-1] += sentence
        columns += added
    # Each piece costs a vector, in time and in room, and a pasted book would have thousands.
    return [piece for piece in found if piece.strip()][:MOST_PIECES] or [text]


def cut_message(text: str) -> list[Part]:
    """Cut a long message into parts; a short one stays whole.

    What is not much longer than a part becomes two of about equal weight. What is longer speaks of
    several things: each paragraph is a part of its own.
    """
    if 2 * len(text) <= PART_COLUMNS or _count_columns(text) <= PART_COLUMNS:
        return [Part(text)]
    # A text that is only a little too long would otherwise leave a scrap as its second part.
    if _count_columns(text) <= 2 * PART_COLUMNS:
        return _count_beside(_pack(text, PART_COLUMNS))
    cut = map(_cut_paragraph, _split_paragraphs(text))
    return [part for paragraph in cut for part in _count_beside(paragraph)]


def _count_beside(texts: Iterable[str]) -> list[Part]:
    """Return the texts of one paragraph as parts, without empty ones."""
    said = [text.strip() for text in texts if text.strip()]
    return [Part(text, place, len(said) - 1 - place) for place, text in enumerate(said)]


def _split_paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs: short ones are joined, and a heading goes with what follows it."""
    joined, columns = "", 0
    for paragraph in _PARAGRAPH.findall(text):
        added = _count_columns(paragraph)
        is_short = columns + added <= 2 * FEW_COLUMNS or _HEADING.search(joined)
        if joined and not (columns < FEW_COLUMNS and is_short):
            yield joined
            joined, columns = "", 0
        joined += paragraph
        columns += added
    yield joined


def _cut_paragraph(text: str) -> list[str]:
    return [text] if _count_columns(text) <= PART_COLUMNS else _pack(text, SMALL_PART_COLUMNS)


def _pack(text: str, most: int) -> list[str]:
    """Cut a text into parts of about equal weight.

    It is cut between lines; a long line between sentences, and a sentence that is longer than a
    part anywhere.
    """
    weighed = [(unit, _count_columns(unit)) for unit in _cut_units(text)]
    whole = sum(columns for _, columns in weighed)
    wanted = whole / -(-whole // most)
    parts, part, columns = [], "", 0
    for unit, added in weighed:
        # A part is full when the next unit would take it further from the wanted weight.
        is_full = columns + added > most or columns + added / 2 > wanted
        if part and is_full:
            parts.append(part)
            part, columns = "", 0
        part += unit
        columns += added
    return [*parts, part]


def _cut_units(text: str) -> Iterator[str]:
    """Yield the lines, sentences or slices that parts are made of, none longer than a part."""
    for line in _LINE.findall(text):
        if _count_columns(line) <= PART_COLUMNS:
            yield line
            continue
        for sentence in _SENTENCE.findall(line):
            if _count_columns(sentence) <= PART_COLUMNS:
                yield sentence
            else:
                # A sentence without any stop, such as a blob of base64, is cut wherever its length
                # asks for it.
                for start in range(0, len(sentence), PART_COLUMNS // 2):
                    yield sentence[start : start + PART_COLUMNS // 2]


def _take_start(text: str, columns: int) -> str:
    wide = 0
    for place, char in enumerate(text):
        wide += _count_columns(char)
        if wide > columns:
            return text[:place]
    return text


def _take_end(text: str, columns: int) -> str:
    # A character takes at least one column, so no more than that many have to be looked at.
    return _take_start(text[: -columns - 1 : -1], columns)[::-1]


def _count_columns(text: str) -> int:
    """Return the width of a text, in which a wide character counts twice."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


PROSE_CHARS = 1200
LONGEST = 8000
CLOSE = timedelta(minutes=30)
"""How long after a message the next one is still said beside it."""

_SEARCHED_ROLES = ("user", "assistant", "tool")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and where it stands.

    Passages of one conversation that follow each other closely are neighbours: what is said before
    and after helps to find what is said between. Of a paragraph that was cut, `earlier` parts stand
    before this one and `later` ones after it.
    """

    text: str
    line: int
    heading: str | None = None
    date: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    id: str | None = None
    message: int | None = None
    parent: int | None = None
    part: int = 0
    earlier: int = 0
    later: int = 0
    time: datetime | None = None
    trust: str = "user"
    audience: str = EVERYONE
    is_shown: bool = True
    until: str | None = None
    """The last day on which a fact holds."""

    @property
    def fingerprint(self) -> bytes:
        """The same for the same words, wherever they stand."""
        return hashlib.blake2b(self.text.encode("utf-8", "replace"), digest_size=16).digest()

    @property
    def name(self) -> str:
        """Who said it, by name; empty where only a role is known, which nobody asks for."""
        return self.speaker if self.speaker and self.speaker not in ROLES else ""

    @property
    def spoken_text(self) -> str:
        """The text as its speaker's."""
        return f"{self.name}: {self.text}" if self.name else self.text

    @property
    def has_neighbours(self) -> bool:
        """Whether what is said beside it counts: not beside a stranger's words or an old path."""
        return self.conversation is not None and self.is_shown and self.trust in TRUSTED


@dataclass(frozen=True, slots=True)
class Placed:
    """A passage with what is said right before and after."""

    passage: Passage
    before: Passage | None = None
    after: Passage | None = None


def find_neighbours(passages: Sequence[Passage]) -> list[Placed]:
    """Return each passage with those said right before and after it in its conversation."""
    conversations: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.conversation is not None and passage.has_neighbours:
            conversations.setdefault(passage.conversation, []).append(passage)
    before: dict[int, Passage] = {}
    after: dict[int, Passage] = {}
    for said in conversations.values():
        for one, other in pairwise(said):
            if are_close(one.time, other.time):
                after[id(one)] = other
                before[id(other)] = one
    return [Placed(one, before.get(id(one)), after.get(id(one))) for one in passages]


def are_close(one: datetime | None, other: datetime | None) -> bool:
    """Whether two messages were said at about the same time, or a time is unknown."""
    return one is None or other is None or abs(other - one) <= CLOSE


def cut_memory(text: str, name: str, day_of: DayOf) -> list[Passage]:
    """Return the facts of a memory file, and the prose between them, as passages."""
    if name.endswith(".json"):
        facts = json_facts.parse(text, _NEVER).facts
        # The array opens on the first line, and lines are counted from one.
        return [_make_passage(fact.memory, fact.start + 2, day_of) for fact in facts]
    return cut_page(markdown.parse(text, _NEVER), day_of)


def cut_page(page: MarkdownPage, day_of: DayOf) -> list[Passage]:
    """Return the passages of a MEMORY.md that is already parsed."""
    facts = page.with_time(_NEVER).facts
    found = [_make_passage(fact.memory, fact.start + 1, day_of) for fact in facts]
    return _sort_by_line([*found, *_cut_prose(page, None)])


def cut_day(text: str, day: date) -> list[Passage]:
    """Return the entries of a daily log, and the prose between them, as passages."""
    page = markdown.parse(text, _NEVER)
    entries = [
        Passage(fact.memory.content, fact.start + 1, fact.memory.category, day.isoformat())
        for fact in page.facts
    ]
    return _sort_by_line([*entries, *_cut_prose(page, day.isoformat())])


def cut_conversations(text: str, day_of: DayOf) -> list[Passage]:
    """Return the messages of a conversations.json as passages, without unreadable conversations."""
    found: list[Passage] = []
    for key, body in conversation_formats.parse(text).items():
        try:
            messages = conversation_formats.load(body).messages
        # One damaged conversation must not keep all others from being found.
        except CorruptFile:
            continue
        audience = choose_audience(key)
        for number, message in enumerate(messages, 1):
            trust = find_trust(message.role)
            parent = number - 1 or None
            one = FeedMessage(number, key, message, trust, None, parent, audience, is_shown=True)
            found += cut_feed_message(one, day_of)
    return found


def cut_feed_message(one: FeedMessage, day_of: DayOf) -> list[Passage]:
    """Return a message as passages, one for each part; none where there is no text to search."""
    message = one.message
    text = message.text
    if message.role not in _SEARCHED_ROLES or not text.strip():
        return []
    day = day_of(message.timestamp) if message.timestamp else None
    return [
        Passage(
            text=part.text,
            line=one.id,
            date=day,
            conversation=one.key,
            speaker=message.name or message.role,
            id=str(one.id),
            message=one.id,
            parent=one.parent,
            part=number,
            earlier=part.earlier,
            later=part.later,
            time=message.timestamp,
            trust=one.trust,
            audience=one.audience,
            is_shown=one.is_shown,
        )
        for number, part in enumerate(cut_message(text))
    ]


def _make_passage(memory: Memory, line: int, day_of: DayOf) -> Passage:
    # A bullet that was typed by hand has no date, and a made-up one would be shown.
    added = None if memory.created_at == _NEVER else day_of(memory.created_at)
    until = memory.until.isoformat() if memory.until else None
    return Passage(memory.content, line, memory.category, added, id=memory.id, until=until)


def _sort_by_line(passages: Iterable[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda passage: passage.line)


def _cut_prose(page: MarkdownPage, day: str | None) -> Iterator[Passage]:
    """Cut the prose between facts at headings, and long prose between paragraphs."""
    facts = {line: line + 1 for line in page.empty}
    facts |= {fact.start: fact.end for fact in page.facts}
    heading: str | None = None
    start = line = 0
    while line < len(page.lines):
        if line in page.titles or line in facts:
            if start < line:
                yield from _join_paragraphs(page.lines, start, line, heading, day)
            heading = page.titles.get(line, heading) or None
            line = start = facts.get(line, line + 1)
        else:
            line += 1
    yield from _join_paragraphs(page.lines, start, line, heading, day)


def _join_paragraphs(
    lines: list[str], start: int, end: int, heading: str | None, day: str | None
) -> Iterator[Passage]:
    """Join paragraphs up to the length of a passage; cut an overlong one at a line."""
    piece: list[str] = []
    first = size = 0
    # Our comments are invisible on the page, so nobody may find a passage by them.
    for number, line in enumerate(map(markdown.without_comments, lines[start:end]), start + 1):
        is_empty = not line.strip()
        if size + len(line) > LONGEST or (is_empty and size > PROSE_CHARS):
            yield from _cut_line("".join(piece), first, heading, day)
            piece, size = [], 0
        if piece or not is_empty:
            first = first if piece else number
            piece.append(line)
            size += len(line)
    yield from _cut_line("".join(piece), first, heading, day)


def _cut_line(text: str, line: int, heading: str | None, day: str | None) -> Iterator[Passage]:
    """Cut a text that is too long for one passage; any other is one piece."""
    shown = text.strip()
    for begin in range(0, len(shown), LONGEST):
        piece = shown[begin : begin + LONGEST].strip()
        if piece:
            yield Passage(piece, line, heading, day)
