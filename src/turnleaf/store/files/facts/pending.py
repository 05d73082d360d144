"""`PendingStore`: what was learned from others than the user, until a person has accepted it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from turnleaf.core.memory_limits import Room
from turnleaf.core.search.message_filters import ACCEPTED
from turnleaf.errors import MemoryFull, NotFound, StorageError
from turnleaf.settings import Settings
from turnleaf.store.clock_and_ids import make_id, utc_now
from turnleaf.store.files.facts.memories import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from turnleaf.core.memories import Memory

NAME = "pending.md"
# Only their number is limited: they are in no prompt, so their length costs nothing.
MAX_FACTS = 1000


class PendingStore(MemoryStore):
    """The facts that wait, in a file beside the memory; none of them is in any prompt."""

    title = "# Waiting to be accepted\n"
    examined_as = "pending"
    keeps_older = False

    def __init__(
        self,
        memory: MemoryStore,
        *,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = make_id,
    ) -> None:
        location = memory.location.with_name(NAME)
        super().__init__(location, settings=Settings(), now=now, new_id=new_id)
        self._memory = memory

    def get_all(self) -> list[Memory]:
        """Return what waits, having finished what a kill left half accepted."""
        waiting = super().get_all()
        accepted = self._find_accepted(waiting)
        # Readers come here as well, and may have no right to write.
        with suppress(StorageError):
            if accepted:
                # The record of a killed change is ahead of its file; mending makes the change or
                # takes it back, so only then is it known whether the memory has the fact.
                self._memory.reconcile()
                accepted = self._find_accepted(waiting)
            for memory_id in accepted:
                self.delete(memory_id, origin=ACCEPTED)
        return [memory for memory in waiting if memory.id not in accepted]

    def _find_accepted(self, waiting: list[Memory]) -> set[str]:
        """Return the ids of what waits that the memory ever had, forgotten since or not."""
        return (
            {memory.id for memory in waiting} & self._memory.list_known_ids() if waiting else set()
        )

    def accept(self, memory_id: str, content: str | None = None) -> Memory:
        """Move a fact to the memory under the same id, as it stands or saying something else.

        It leaves this file when it is durable there. Raise MemoryFull when there is no room,
        and NotFound when nothing of that id waits.
        """
        waiting = self.get(memory_id)
        if waiting and content is not None and content != waiting.content:
            # On record here first: whoever repeats this after a kill adds the same words.
            waiting = self.update(memory_id, content)
        if waiting:
            accepted = self._add_to_memory(waiting)
            self.delete(memory_id, origin=ACCEPTED)
        else:
            # Accepted before: whoever lost that answer and asks again gets the same fact.
            accepted = self._memory.get(memory_id) if self.changes(memory_id) else None
        if accepted is None:
            message = f"no pending fact has the ID {memory_id}; list them with turnleaf review"
            raise NotFound(message)
        return accepted

    def reject(self, memory_id: str) -> bool:
        """Forget what waits; False when nothing of that id does."""
        return self.delete(memory_id)

    def _add_to_memory(self, waiting: Memory) -> Memory | None:
        known = (change.source for change in self.changes(waiting.id))
        return self._memory.add(
            waiting.content,
            waiting.category,
            origin=waiting.origin or "user",
            source=next(filter(None, known), None),
            slot=waiting.slot,
            until=waiting.until,
            memory_id=waiting.id,
            # A person wants it, so learned facts make room.
            displace=True,
        )

    def room(self, origin: str = "user") -> Room:  # noqa: ARG002 - whoever brought it, it waits
        """Return how much more can wait; only facts are counted."""
        return Room(MAX_FACTS - len(self.get_all()), sys.maxsize)

    def check_room_for(self, content: str) -> None:
        """Refuse nothing: what waits may have any length."""

    def _check_room(
        self,
        taken: Room,
        *,
        growing: bool = True,
        origin: str = "user",  # noqa: ARG002 - whoever brought it, it waits
    ) -> None:
        if growing and taken.items > MAX_FACTS:
            message = (
                f"{MAX_FACTS} facts are pending review already; accept or reject some (turnleaf "
                "review)"
            )
            raise MemoryFull(message)
