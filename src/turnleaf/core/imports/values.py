"""What an import finds, whatever program it comes from; messages in the order of their tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.times import from_iso

if TYPE_CHECKING:
    from collections.abc import Mapping


Json: TypeAlias = Any
"""What a JSON file of somebody else holds: it may be anything."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message of a conversation, and the message that it follows.

    `parent` is the place of that message among those of the conversation; None: it is a beginning.
    """

    role: str
    text: str
    time: datetime | None = None
    parent: int | None = None
    trust: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation with every branch; a message stands after the one that it follows."""

    program: str
    id: str
    title: str
    messages: tuple[FoundMessage, ...]
    leaf: int = -1
    """The place of the message that ends the branch that is shown."""

    @property
    def key(self) -> str:
        """The name of the conversation here, the same each time it is imported."""
        return f"import:{self.program}:{self.id}"


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A fact that another program had saved."""

    text: str
    time: datetime | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not taken, and why; no import drops anything in silence."""

    reason: str
    count: int = 1


Found: TypeAlias = FoundConversation | FoundMemory | Skipped


def note(program: str, name: str, text: str, time: datetime | None, trust: str) -> Found:
    """Return a text as a conversation of one message, so that it is found, listed and erased."""
    said = FoundMessage("user", text.strip(), time, trust=trust, source=f"note:{name}")
    return FoundConversation(program, name, name, (said,)) if said.text else Skipped("empty notes")


def read_time(value: Json) -> datetime | None:
    """Return a time that is written as seconds since 1970 or as ISO 8601, if it is one."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC) if value > 0 else None
        return from_iso(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def read_text(value: Json) -> str:
    """Return a value if it is text, and nothing otherwise."""
    return value if isinstance(value, str) else ""


def read_list(value: Json) -> list[Json]:
    """Return a value if it is a list, and an empty one otherwise."""
    return value if isinstance(value, list) else []


def read_dict(value: Json) -> dict[str, Json]:
    """Return a value if it is an object, and an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def order_tree(
    messages: Mapping[str, FoundMessage], parents: Mapping[str, str | None], leaf: str | None
) -> tuple[tuple[FoundMessage, ...], int]:
    """Return the messages with their parents as places, and the place of the shown leaf.

    `parents` may name nodes that are no messages (a system prompt, a tool's call): their message
    follows the nearest one above. Where nodes lead round in a circle, one of them is a beginning.
    """
    above = {node: _find_message(parents.get(node), messages, parents) for node in messages}
    places: dict[str, int] = {}
    for node in messages:
        _place(node, above, places)
    ordered = []
    for node, place in places.items():
        parent = places.get(above[node] or "")
        is_above = parent is not None and parent < place
        ordered.append(replace(messages[node], parent=parent if is_above else None))
    shown = _find_message(leaf, messages, parents)
    return tuple(ordered), places.get(shown or "", len(ordered) - 1)


def _find_message(
    node: str | None, messages: Mapping[str, FoundMessage], parents: Mapping[str, str | None]
) -> str | None:
    """Return a node if it is a message, or else the nearest one above it that is."""
    seen: set[str] = set()
    while node is not None and node not in messages:
        if node in seen:
            return None
        seen.add(node)
        node = parents.get(node)
    return node


def _place(node: str, above: Mapping[str, str | None], places: dict[str, int]) -> None:
    """Assign a node the next place, after all nodes above it."""
    chain: dict[str, None] = {}
    here: str | None = node
    while here is not None and here not in places and here not in chain:
        chain[here] = None
        here = above[here]
    for each in reversed(chain):
        places[each] = len(places)
