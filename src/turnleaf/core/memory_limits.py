"""Who may take how much of the memory's room, and which facts leave first when it is needed.

What a user asks for may fill it. What is learned without anybody asking leaves some places free,
and is what makes room for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.errors import MemoryFull

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from turnleaf.core.changes import Change
    from turnleaf.core.memories import Memory

LEARNED = "learnt"
"""The origin of what was learned from conversations, spelled as files and the API have it."""
FREE_PLACES = 20
"""How many facts a user can still ask for when learning has taken all that it may."""
LARGEST_SHARE = 1 / 5
"""Of a small memory a fifth is kept free instead."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many facts, and characters of facts."""

    items: int
    chars: int

    @classmethod
    def of(cls, facts: Collection[Memory]) -> Room:
        """Return what facts take."""
        return cls(len(facts), sum(len(fact.content) for fact in facts))

    def __add__(self, other: Room) -> Room:
        """Return both together."""
        return Room(self.items + other.items, self.chars + other.chars)

    def __sub__(self, other: Room) -> Room:
        """Return what is left."""
        return Room(self.items - other.items, self.chars - other.chars)

    def has_place_for(self, content: str) -> bool:
        """Whether one more fact fits."""
        return self.items > 0 and self.chars >= len(content)


def find_room(origin: str, limits: Room) -> Room:
    """Return how much of the memory may be full after something of an origin is added."""
    if origin != LEARNED or limits.items <= 0:
        return limits
    items = limits.items - min(FREE_PLACES, int(limits.items * LARGEST_SHARE))
    # Characters in the same proportion, or a few long facts would take the reserve.
    return Room(items, limits.chars * items // limits.items)


def check_capacity(taken: Room, limits: Room) -> None:
    """Raise MemoryFull for more facts, or characters of facts, than the limits allow."""
    if taken.items > limits.items:
        # Twice as many, so that the next request does not fail again.
        remedy = f"turnleaf config memoryMaxItems {max(2 * limits.items, taken.items)}"
        message = (
            f"the memory is full: it contains {limits.items} facts (MEMORY_MAX_ITEMS); "
            f"forget some or raise the limit: {remedy}"
        )
        raise MemoryFull(message, remedy)
    if taken.chars > limits.chars:
        remedy = f"turnleaf config memoryMaxChars {max(2 * limits.chars, taken.chars)}"
        message = (
            f"the memory is full: it would have {taken.chars} characters, and the limit is "
            f"{limits.chars} (MEMORY_MAX_CHARS); forget or shorten some facts, or raise the "
            f"limit: {remedy}"
        )
        raise MemoryFull(message, remedy)


def check_reserve(taken: Room, room: Room) -> None:
    """Raise MemoryFull for what would take the room that is kept free."""
    if taken.items > room.items or taken.chars > room.chars:
        message = (
            f"learning may use at most {room.items} facts and {room.chars} characters; the "
            "rest is reserved for what you ask to be remembered (MEMORY_MAX_ITEMS, "
            "MEMORY_MAX_CHARS)"
        )
        raise MemoryFull(message)


def find_weakest(facts: Iterable[Memory], history: Iterable[Change]) -> list[Memory]:
    """Return the facts that only learning brought, those said least often first, then the oldest.

    One that a person changed, accepted, pinned or brought back since is theirs.
    """
    theirs: set[str] = set()
    learned: dict[str, str] = {}
    for change in history:
        for fact in change.ids():
            # Repairs have no origin, and make a fact nobody's own.
            if change.origin not in {LEARNED, None} or not _is_users_word(change):
                theirs.add(fact)
        if change.after:
            learned[change.id] = change.after.content
    weak = [
        fact
        for fact in facts
        if fact.origin == LEARNED
        and not fact.pinned
        and fact.id not in theirs
        # What a person edited in the file differs from what was learned, and is theirs.
        and learned.get(fact.id) == fact.content
    ]
    return sorted(weak, key=lambda fact: (fact.said_count, fact.created_at))


def _is_users_word(change: Change) -> bool:
    """Whether a change rests on the user's words alone; any other was accepted by a person."""
    return change.source is None or change.source.trust in {"user", None}
