"""What is searched: texts cut into passages, each with the place it stands at.

A fact, a log entry and a message stay whole. Only prose is cut, at headings and paragraphs.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from turnleaf.core import jsonfacts, markdown, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from turnleaf.core.markdown import Page
    from turnleaf.core.memories import Memory

    DayOf = Callable[[datetime], str]

PROSE_CHARS = 1200
LONGEST = 8000
_SPEAKERS = ("user", "assistant")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and where it stands.

    Passages of one conversation that follow each other are neighbours: what is said before and
    after helps to find what is said between.
    """

    text: str
    line: int
    heading: str | None = None
    date: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    id: str | None = None

    @property
    def fingerprint(self) -> bytes:
        """Name what is said, wherever it stands."""
        return hashlib.blake2b(self.text.encode("utf-8", "replace"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Placed:
    """A passage with its number in its conversation and what is said right before and after."""

    passage: Passage
    place: int | None = None
    before: Passage | None = None
    after: Passage | None = None


def placed(passages: Sequence[Passage]) -> list[Placed]:
    """Find the neighbours of each passage of a file."""
    conversations: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.conversation is not None:
            conversations.setdefault(passage.conversation, []).append(passage)
    among = {id(one): found for said in conversations.values() for one, found in _beside(said)}
    return [among.get(id(passage)) or Placed(passage) for passage in passages]


def _beside(said: list[Passage]) -> Iterator[tuple[Passage, Placed]]:
    around = zip([None, *said], said, [*said[1:], None], strict=False)
    for place, (before, passage, after) in enumerate(around):
        yield passage, Placed(passage, place, before, after)


def of_memory(text: str, name: str, day_of: DayOf) -> list[Passage]:
    """Cut a memory file: its facts, and the prose between them."""
    if name.endswith(".json"):
        facts = jsonfacts.parse(text, _NEVER).facts
        return [_of_fact(fact.memory, fact.start + 2, day_of) for fact in facts]
    page = markdown.parse(text, _NEVER)
    found = [_of_fact(fact.memory, fact.start + 1, day_of) for fact in page.facts]
    return _in_order([*found, *_prose(page, None)])


def of_day(text: str, day: date) -> list[Passage]:
    """Cut a day's log: its entries, and the prose between them."""
    page = markdown.parse(text, _NEVER)
    entries = [
        Passage(fact.memory.content, fact.start + 1, fact.memory.category, day.isoformat())
        for fact in page.facts
    ]
    return _in_order([*entries, *_prose(page, day.isoformat())])


def of_archive(text: str, day_of: DayOf) -> list[Passage]:
    """Cut a month of archived messages; what cannot be read is left out, and what is there twice.

    A kill may have left a message in the archive twice, the same to the letter.
    """
    first: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        first.setdefault(line, number)
    found = (_of_record(line, number, day_of) for line, number in first.items())
    return [passage for passage in found if passage is not None]


def _of_fact(memory: Memory, line: int, day_of: DayOf) -> Passage:
    added = None if memory.created_at == _NEVER else day_of(memory.created_at)
    return Passage(memory.content, line, memory.category, added, id=memory.id)


@lru_cache(maxsize=16_384)
def _of_record(line: str, number: int, day_of: DayOf) -> Passage | None:
    try:
        record = json.loads(line)
        message = messages.from_json(record)
        key = str(record["conversation"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    if message.role not in _SPEAKERS or not message.text.strip():
        return None
    said = day_of(message.timestamp) if message.timestamp else None
    return Passage(message.text, number, None, said, key, str(message.name or message.role))


def _in_order(passages: Iterable[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda passage: passage.line)


def _prose(page: Page, day: str | None) -> Iterator[Passage]:
    """Cut what is no fact at headings, and what is long between paragraphs."""
    facts = {line: line + 1 for line in page.empty}
    facts |= {fact.start: fact.end for fact in page.facts}
    heading: str | None = None
    start = line = 0
    while line < len(page.lines):
        if line in page.titles or line in facts:
            if start < line:
                yield from _paragraphs(page.lines, start, line, heading, day)
            heading = page.titles.get(line, heading) or None
            line = start = facts.get(line, line + 1)
        else:
            line += 1
    yield from _paragraphs(page.lines, start, line, heading, day)


def _paragraphs(
    lines: list[str], start: int, end: int, heading: str | None, day: str | None
) -> Iterator[Passage]:
    """Join paragraphs up to the length of a passage; cut one of monstrous length at a line."""
    piece: list[str] = []
    first = size = 0
    for number, line in enumerate(map(markdown.without_comments, lines[start:end]), start + 1):
        is_empty = not line.strip()
        if size + len(line) > LONGEST or (is_empty and size > PROSE_CHARS):
            yield from _pieces("".join(piece), first, heading, day)
            piece, size = [], 0
        if piece or not is_empty:
            first = first if piece else number
            piece.append(line)
            size += len(line)
    yield from _pieces("".join(piece), first, heading, day)


def _pieces(text: str, line: int, heading: str | None, day: str | None) -> Iterator[Passage]:
    """Cut a line of monstrous length; any other text is one piece."""
    shown = text.strip()
    for begin in range(0, len(shown), LONGEST):
        piece = shown[begin : begin + LONGEST].strip()
        if piece:
            yield Passage(piece, line, heading, day)
