"""What stands for a disk: the data of every space, and one lock for all who use it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from turnleaf.core.times import to_millisecond

Now = Callable[[], datetime]
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class MemoryPlace:
    """Everything that is kept, by space and kind."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._kept: dict[tuple[str, str], object] = {}

    def find(self, space: str, kind: str, make: Callable[[], T]) -> T:
        """Return the data of one kind of a space, the same for all who ask; make it if missing."""
        with self.lock:
            return self._kept.setdefault((space, kind), make())  # type: ignore[return-value]


class Keeper:
    """What every store here has: a place, the name of its space, and a clock."""

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        self.lock = place.lock
        self.place = place
        self.space = space
        self._clock = now

    @property
    def location(self) -> str:
        """Where it is, to be shown to people."""
        return f"memory:{self.space}"

    def init(self) -> None:
        """Do nothing: there is nothing to be made."""

    def close(self) -> None:
        """Do nothing: there is nothing open."""

    def now(self) -> datetime:
        """Return the present time, as it is kept."""
        return to_millisecond(self._clock().astimezone(UTC))


class HasLock(Protocol):
    """Something with a lock of its own or of all."""

    lock: RLock


L = TypeVar("L", bound=HasLock)


def in_one_step(method: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Make a method run while nobody else changes the place."""

    @wraps(method)
    def run(self: L, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **kwargs)

    return run
