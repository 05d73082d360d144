"""The newest of what came by: enough to know it again, and never too much."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by name; the oldest of very many is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = Lock()
        self._kept: dict[Hashable, V] = {}

    def add(self, name: Hashable, value: V) -> bool:
        """Keep a value as the newest; tell whether there was none of that name."""
        with self._guard:
            was_there = self._kept.pop(name, None) is not None
            self._kept[name] = value
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return not was_there

    def get(self, name: Hashable) -> V | None:
        """Give the value of a name, if it is still known."""
        with self._guard:
            return self._kept.get(name)

    def remove(self, name: Hashable) -> None:
        """Forget a name."""
        with self._guard:
            self._kept.pop(name, None)
