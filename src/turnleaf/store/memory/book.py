"""Facts as a text with the record of its changes, and older facts beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.core import erasing, markdown
from turnleaf.core.changes import TICK, Change, made_with, undone
from turnleaf.core.drafts import Draft, Step, recorded
from turnleaf.core.memories import Memory
from turnleaf.core.room import (
    LEARNED,
    Room,
    check_capacity,
    check_reserve,
    find_weakest,
    room_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from turnleaf.core.changes import Source

MAIN, OLDER = "memory", "older"
MOVE = "move"
"""The other half of a change, among the older facts: not told, and undone with it."""


@dataclass
class Book:
    """All that is kept of facts."""

    text: str = markdown.EMPTY
    older: str = markdown.EMPTY
    written_at: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    """The time of what a person typed, which has none of its own."""
    record: list[Change] = field(default_factory=list)
    last_number: int = 0

    @property
    def version(self) -> str:
        """A name for the text as it is."""
        return name_text(self.text)

    def list_facts(self) -> list[Memory]:
        """Return the facts of the text, also those that ended."""
        return [fact.memory for fact in markdown.parse(self.text, self.written_at).facts]

    def list_told(self) -> list[Change]:
        """Return the changes that people are told of."""
        return [change for change in self.record if change.op != MOVE]

    def list_main(self) -> list[Change]:
        """Return the changes of the text."""
        return [change for change in self.record if change.file == MAIN]


def name_text(text: str) -> str:
    """Return a name that only this text has."""
    return hashlib.sha256(text.encode()).hexdigest()


class Edit:
    """One change of a book while it is made; nothing is kept until `keep`."""

    def __init__(self, book: Book, now: datetime) -> None:
        self.book = book
        self.now = now
        self.main = Draft(markdown, book.text, book.written_at)
        self.older = Draft(markdown, book.older, book.written_at)

    def expire(self, today: date) -> None:
        """Move what ended to the older facts."""
        self.leave([one.id for one in self.main.memories if one.has_ended(today)], "expire")

    def leave(self, ids: Iterable[str], op: str) -> list[Memory]:
        """Move facts to the older ones; return those that were there."""
        found = [place.memory for place in map(self.main.find, ids) if place]
        for memory in found:
            self.main.remove(memory.id, op)
            self.older.insert(memory, MOVE)
        return found

    def make_room(self, content: str, limits: Room) -> tuple[Memory, ...]:
        """Move as few learned facts as needed to the older ones; raise MemoryFull else."""
        new, gone = Room(1, len(content)), list[Memory]()
        weakest = iter(find_weakest(self.main.memories, self.book.list_told()))
        while not (limits - self.main.taken).has_place_for(content):
            weak = next(weakest, None)
            if weak is None:
                check_capacity(self.main.taken + new, limits)
                break
            gone += self.leave([weak.id], "retire")
        return tuple(gone)

    def check_room(self, contents: Sequence[str], origin: str, limits: Room) -> None:
        """Raise MemoryFull where there is no room for so much of an origin."""
        taken = self.main.taken + Room(len(contents), sum(map(len, contents)))
        check_capacity(taken, limits)
        if origin == LEARNED:
            check_reserve(taken, room_for(origin, limits))

    def change(self, memory: Memory, op: str) -> Memory:
        """Make a fact that is here say something else, later than before; return it."""
        known: Memory = self.main.find(memory.id).memory
        later = replace(memory, updated_at=max(self.now, known.updated_at + TICK))
        self.main.replace(later, op)
        return later

    def undo(self, change: Change) -> list[Change]:
        """Take back a change with all made with it; return those; raise Conflict where it stays."""
        record = self.book.record
        made = made_with(change, record)
        if change.op == "put":
            self.main.undo_put(made, name_text(self.main.text), self.book.list_main())
            return made
        is_newest = name_text(self.main.text) == change.new
        for one in made:
            draft = self.main if one.file == MAIN else self.older
            draft.undo(one, is_newest=is_newest and one.file == MAIN)
        moves = find_moves(made, record)
        for one in moves:
            self.older.undo(one, is_newest=False)
        numbers = {one.n for one in moves}
        self.older.steps = [_as_move(step, numbers) for step in self.older.steps]
        return made

    def erase(self, source: str, elsewhere: Sequence[Change]) -> list[Memory]:
        """Take out all that came from a source; return the facts that are gone."""
        book = self.book
        found = erasing.erasure(source, book.record, elsewhere)
        if not erasing.concerns(book.record, found):
            return []
        gone = [m for d in (self.main, self.older) for m in erasing.take_out(d, found, self.now)]
        now = self._make_template(MAIN, None, None, name_text(self.main.text))
        now = replace(now, op="erase")
        book.record = erasing.rewritten(book.record, found, self.main.page, now)
        book.last_number = max([book.last_number, *(change.n for change in book.record)])
        book.text, book.older = self.main.text, self.older.text
        return gone

    def keep(self, origin: str, source: Source | None = None) -> list[Change]:
        """Put all on record and keep it; return the changes."""
        if not self.main.steps and not self.older.steps:
            return []
        new = name_text(self.main.text) if self.main.steps else uuid4().hex
        made: list[Change] = []
        for file, draft in ((MAIN, self.main), (OLDER, self.older)):
            template = self._make_template(file, origin, source, new)
            made += recorded(template, draft.steps) if draft.steps else []
            self.book.last_number = max([self.book.last_number, *(one.n for one in made)])
        self.book.record += made
        self.book.text, self.book.older = self.main.text, self.older.text
        return made

    def _make_template(
        self, file: str, origin: str | None, source: Source | None, new: str
    ) -> Change:
        return Change(
            n=self.book.last_number + 1,
            time=self.now,
            op="",
            file=file,
            origin=origin,
            source=source,
            old=self.book.version,
            new=new,
        )


def find_moves(made: Sequence[Change], record: Sequence[Change]) -> list[Change]:
    """Return the other halves of changes, newest first."""
    wanted = {(one.id, one.op == "retire") for one in made if one.op in {"retire", "revive"}}
    gone = undone(record)
    return [
        one
        for one in reversed(record)
        if one.op == MOVE
        and one.undoes is None
        and one.n not in gone
        and (one.id, one.after is not None) in wanted
        and one.is_of_one_step(made[0])
    ]


def _as_move(step: Step, numbers: set[int]) -> Step:
    return replace(step, op=MOVE) if step.undoes in numbers else step
