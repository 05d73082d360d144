"""Putting the messages of a tree in an order in which each follows what it answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.imports.values import FoundMessage


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
