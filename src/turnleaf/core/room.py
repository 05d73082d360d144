"""Who may take how much of the memory's room, and which facts leave first when it is needed.

What a user asks for may fill it. What is learned without anybody asking leaves some places free,
and is what makes room for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.errors import MemoryFull

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.core.changes import Change
    from turnleaf.core.memories import Memory

LEARNED = "learnt"
"""The origin of what was learned from conversations."""
FREE_PLACES = 20
"""How many facts a user can still ask for when learning has taken all that it may."""
LARGEST_SHARE = 5
"""Of a small memory a fifth is kept free instead."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many facts, and characters of facts."""

    items: int
    chars: int

    def has_place_for(self, content: str) -> bool:
        """Whether one more fact fits."""
        return self.items > 0 and self.chars >= len(content)


def room_for(origin: str, max_items: int, max_chars: int) -> Room:
    """Return how much of the memory may be taken when something of an origin is added."""
    if origin != LEARNED or max_items <= 0:
        return Room(max_items, max_chars)
    free = min(FREE_PLACES, max_items // LARGEST_SHARE)
    return Room(max_items - free, max_chars * (max_items - free) // max_items)


def check_reserve(facts: Sequence[str], room: Room) -> None:
    """Refuse what would take the room that is kept free."""
    if len(facts) > room.items or sum(map(len, facts)) > room.chars:
        message = (
            f"{room.items} facts and {room.chars} characters are all that learning may fill; "
            "the rest is kept free for what you ask for (MEMORY_MAX_ITEMS, MEMORY_MAX_CHARS)"
        )
        raise MemoryFull(message)


def find_weakest(facts: Iterable[Memory], history: Iterable[Change]) -> list[Memory]:
    """Return the facts that only learning brought, the weakest first: said least, then oldest.

    One that a person changed, accepted or brought back since is theirs.
    """
    theirs: set[str] = set()
    learned: dict[str, str] = {}
    for change in history:
        for fact in change.ids():
            if change.origin not in {LEARNED, None} or not _is_users_word(change):
                theirs.add(fact)
        if change.after:
            learned[change.id] = change.after.content
    weak = [
        fact
        for fact in facts
        if fact.origin == LEARNED and fact.id not in theirs and learned.get(fact.id) == fact.content
    ]
    return sorted(weak, key=lambda fact: (fact.said_count, fact.created_at))


def _is_users_word(change: Change) -> bool:
    """Whether a change rests on nothing but what the user said; else a person accepted it."""
    return change.source is None or change.source.trust in {"user", None}
