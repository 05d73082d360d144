"""Facts as a text with the record of its changes, and older facts beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from turnleaf.core import erasing, markdown
from turnleaf.core.changes import TICK, Change, find_made_with
from turnleaf.core.memories import Memory
from turnleaf.core.memory_limits import (
    LEARNED,
    Room,
    check_capacity,
    check_reserve,
    find_room,
    find_weakest,
)
from turnleaf.core.page_drafts import NOTHING, Draft, record_steps
from turnleaf.core.pages import Splice
from turnleaf.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    from turnleaf.core.changes import Source
    from turnleaf.core.page_drafts import Step

MOVE = "move"
"""The other half of a change, among the older facts: not on record, and undone with it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change with what it takes to undo it."""

    change: Change
    reversal: Splice = NOTHING
    """What takes it back in the text, to the letter, while that is as it left it."""
    version: str | None = None
    """A name for the text as it left it; None where something of it was erased."""
    text: str | None = None
    """The text itself, if a person saved the whole of it."""
    is_older: bool = False
    """Whether it changed an older fact."""
    left: Memory | None = None
    """What it brought back, as that stood among the older facts."""


@dataclass
class Book:
    """All that is kept of facts."""

    text: str = markdown.EMPTY
    older: str = markdown.EMPTY
    written_at: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    """The time of what a person typed, which has none of its own."""
    record: Sequence[Entry] = ()
    last_number: int = 0
    announce: Callable[[], None] = field(default=lambda: None, compare=False)
    """Called when any of it has changed."""

    @property
    def version(self) -> str:
        """A name for the text as it is."""
        return name_text(self.text)

    @property
    def changes(self) -> list[Change]:
        """What was changed, oldest first."""
        return [entry.change for entry in self.record]


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
        self._left: dict[str, Memory] = {}

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

    def bring_back(self, memory: Memory, op: str) -> None:
        """Move an older fact to those of the text, as it stands now."""
        self._left[memory.id] = self.older.find(memory.id).memory
        self.older.remove(memory.id, MOVE)
        self.main.insert(memory, op)

    def make_room(self, content: str, limits: Room) -> tuple[Memory, ...]:
        """Move as few learned facts as needed to the older ones; raise MemoryFull else."""
        new, gone = Room(1, len(content)), list[Memory]()
        weakest = iter(find_weakest(self.main.memories, self.book.changes))
        while not (limits - self.main.used_room).has_place_for(content):
            weak = next(weakest, None)
            if weak is None:
                check_capacity(self.main.used_room + new, limits)
                break
            gone += self.leave([weak.id], "retire")
        return tuple(gone)

    def check_room(self, contents: Sequence[str], origin: str, limits: Room) -> None:
        """Raise MemoryFull where there is no room for so much of an origin."""
        taken = self.main.used_room + Room(len(contents), sum(map(len, contents)))
        check_capacity(taken, limits)
        if origin == LEARNED:
            check_reserve(taken, find_room(origin, limits))

    def change(self, memory: Memory, op: str) -> Memory:
        """Make a fact that is here say something else, later than before; return it."""
        known: Memory = self.main.find(memory.id).memory
        later = replace(memory, updated_at=max(self.now, known.updated_at + TICK))
        self.main.replace(later, op)
        return later

    def undo(self, change: Change) -> list[Change]:
        """Take back a change with all made with it; return those; raise Conflict where it stays."""
        entries = {entry.change.n: entry for entry in self.book.record}
        made = find_made_with(change, self.book.changes)
        if change.op == "put":
            whole = entries[next(one.n for one in made if not one.id)]
            self.main.undo_put(made, whole.reversal, whole.text)
            return made
        # To the letter only if nothing came after: lines may have moved since.
        is_newest = entries[change.n].version == name_text(self.main.text)
        for one in made:
            self._undo_one(entries[one.n], is_newest=is_newest)
        return made

    def _undo_one(self, entry: Entry, *, is_newest: bool) -> None:
        change = entry.change
        if entry.is_older:
            self.older.undo(change)
            return
        if change.op == "retire" and change.before:
            self._take_from_older(change.before)
        self.main.undo(change, entry.reversal if is_newest else None)
        if entry.left:
            self.older.insert(entry.left, MOVE)

    def _take_from_older(self, memory: Memory) -> None:
        place = self.older.find(memory.id)
        if place is None or place.memory.content != memory.content:
            message = (
                f"the older fact {memory.id} was changed again since then, so this change cannot "
                "be undone"
            )
            raise Conflict(message)
        self.older.remove(memory.id, MOVE)

    def erase(self, source: str, elsewhere: Sequence[Change]) -> list[Memory]:
        """Take out all that came from a source; return the facts that are gone."""
        book = self.book
        found = erasing.find_erasure(source, book.changes, elsewhere)
        if not erasing.concerns(book.changes, found):
            return []
        gone = [m for d in (self.main, self.older) for m in erasing.take_out(d, found, self.now)]
        left = [erase_entry(entry, found, is_same=not self.main.steps) for entry in book.record]
        standing = {memory.id: memory for memory in self.main.memories}
        tombs = erasing.make_tombstones(found, standing, replace(self._make_template(), op="erase"))
        self._keep([*filter(None, left), *map(Entry, tombs)])
        return gone

    def keep(self, origin: str, source: Source | None = None) -> list[Change]:
        """Put all on record and keep it; return the changes."""
        template = replace(self._make_template(), origin=origin, source=source)
        older = [step for step in self.older.steps if step.op != MOVE]
        if not (self.main.steps or self.older.steps):
            return []
        steps = [*self.main.steps, *older]
        changes = record_steps(template, steps) if steps else []
        made = [self._make_entry(*pair) for pair in zip(changes, steps, strict=True)]
        made = [replace(one, is_older=at >= len(self.main.steps)) for at, one in enumerate(made)]
        self._keep([*self.book.record, *made])
        return changes

    def _keep(self, record: list[Entry]) -> None:
        book = self.book
        book.record, book.text, book.older = record, self.main.text, self.older.text
        # A number is never given again, also after an erasure took the last entries off.
        book.last_number = max([book.last_number, *(entry.change.n for entry in record)])
        book.announce()

    def _make_entry(self, change: Change, step: Step) -> Entry:
        splice = step.splice
        reversal = Splice(splice.start, splice.put, splice.took)
        left = self._left.get(change.id) if change.op == "revive" else None
        text = self.main.text if change.op == "put" and not change.id else None
        return Entry(change, reversal, name_text(self.main.text), text, left=left)

    def _make_template(self) -> Change:
        number = self.book.last_number + 1
        return Change(n=number, time=self.now, op="", step=number)


def erase_entry(entry: Entry, found: erasing.Erasure, *, is_same: bool) -> Entry | None:
    """Return an entry without what a source brought; `is_same`: the text held nothing of it."""
    change = erasing.without_source(entry.change, found)
    if change is None:
        return None
    lines = "".join(entry.reversal.took + entry.reversal.put)
    reversal = NOTHING if found.mentions(lines) else entry.reversal
    left = entry.left and found.find_replacement(entry.left)
    return replace(
        entry,
        change=change,
        reversal=reversal,
        version=entry.version if is_same else None,
        text=entry.text if is_same else None,
        left=left,
    )
