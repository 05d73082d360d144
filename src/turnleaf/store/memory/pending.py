"""Facts in memory that wait for a person to accept them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from turnleaf.core.memories import Memory, checked_content
from turnleaf.core.room import Room
from turnleaf.core.search.message_outcomes import ACCEPTED
from turnleaf.errors import MemoryFull, NotFound
from turnleaf.store.memory.book import Book, Edit
from turnleaf.store.memory.facts import MemoryFacts
from turnleaf.store.memory.place import Now, PlaceOfSpaces, in_one_step

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from turnleaf.core.changes import Source

MAX_PENDING = 1000
_ANY_LENGTH = 10**12


class PendingEdit(Edit):
    """A change of what waits, of which there can be only so much."""

    def check_room(self, contents: Sequence[str], origin: str, limits: Room) -> None:  # noqa: ARG002
        """Raise MemoryFull where more would wait than can."""
        if contents and self.main.used_room.items + len(contents) > limits.items:
            message = f"{limits.items} facts wait already; accept or reject some (turnleaf review)"
            raise MemoryFull(message)

    def make_room(self, content: str, limits: Room) -> tuple[Memory, ...]:
        """Raise MemoryFull where there is no room: nothing leaves for another."""
        self.check_room([content], "", limits)
        return ()


class MemoryPending(MemoryFacts):
    """The facts of a space that wait."""

    kind = "pending"

    examined_as = "pending"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now, memory: MemoryFacts) -> None:
        super().__init__(place, space, now)
        self._memory = memory

    @property
    def _book(self) -> Book:
        self._drop_accepted()
        return self._kept

    @property
    def _limits(self) -> Room:
        return Room(MAX_PENDING, _ANY_LENGTH)

    def _find_today(self) -> date:
        return date.min

    def _edit(self) -> Edit:
        return PendingEdit(self._book, self.now())

    @in_one_step
    def _drop_accepted(self) -> None:
        """Delete what is in the memory, or was: whoever put it there has accepted it."""
        edit = Edit(self._kept, self.now())
        waiting = {one.id for one in edit.main.memories}
        for memory_id in sorted(waiting & self._memory.known_ids() if waiting else ()):
            edit.main.remove(memory_id, "delete")
        edit.keep(ACCEPTED)

    @in_one_step
    def accept(self, memory_id: str, content: str | None = None) -> Memory:
        """Move a fact to the memory under its id, as it is or saying something else; return it."""
        waiting = self.get(memory_id)
        if waiting is None:
            return self._find_accepted(memory_id)
        added = self._memory.add(
            said := waiting.content if content is None else checked_content(content),
            waiting.category,
            origin=waiting.origin or "user",
            source=self._find_first_source(memory_id),
            slot=waiting.slot,
            until=waiting.until,
            memory_id=memory_id,
            displace=True,
        )
        self._note_other_words(waiting, said)
        self._drop_accepted()
        return added or waiting

    def _note_other_words(self, waiting: Memory, said: str) -> None:
        """Put on record that a person said it otherwise: those are no words of its source."""
        if said != waiting.content:
            edit = Edit(self._kept, self.now())
            edit.change(replace(waiting, content=said), "update")
            edit.keep("user")

    def _find_first_source(self, memory_id: str) -> Source | None:
        return next((change.source for change in self.changes(memory_id)), None)

    def _find_accepted(self, memory_id: str) -> Memory:
        was_accepted = any(change.origin == ACCEPTED for change in self.changes(memory_id))
        known = self._memory.get(memory_id) if was_accepted else None
        if known is None:
            message = f"nothing waits by the id {memory_id}; turnleaf review shows what does"
            raise NotFound(message)
        return known

    def room(self, origin: str = "user") -> Room:  # noqa: ARG002 - it is the same for all
        """Return how many more facts can wait."""
        return self._limits - Room.of(self.get_all())

    def reject(self, memory_id: str) -> bool:
        """Delete a pending fact; False when there is none of that id."""
        return self.delete(memory_id)

    def retire(
        self,
        ids: Collection[str],  # noqa: ARG002 - as facts take it
        *,
        origin: str = "user",  # noqa: ARG002
        source: Source | None = None,  # noqa: ARG002
    ) -> list[Memory]:
        """Return []: what waits does not leave."""
        return []

    def import_older(self, incoming: Sequence[Memory]) -> int:  # noqa: ARG002 - as facts take it
        """Return 0: there are no older ones."""
        return 0
