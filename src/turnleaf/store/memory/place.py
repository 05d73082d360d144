"""What stands for a disk: the data of every space, and one lock for all who use it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial, wraps
from threading import Condition, RLock, Thread
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from turnleaf.core.examination import Examination, Row
from turnleaf.core.times import to_millisecond
from turnleaf.store.announcements import Subscribers

if TYPE_CHECKING:
    from turnleaf.core.examination import Part
    from turnleaf.store.announcements import Callback, ProblemLog

Now = Callable[[], datetime]
FOR_ALL_SPACES = "config"
"""The kind of which all spaces have the same."""
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class MemoryPlace:
    """Everything that is kept, by space and kind, and who announces changes of it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.announcers: list[Callable[[str, str], None]] = []
        self._kept: dict[tuple[str, str], object] = {}

    def find(self, space: str, kind: str, make: Callable[[], T]) -> T:
        """Return the data of one kind of a space, the same for all who ask; make it if missing."""
        with self.lock:
            return self._kept.setdefault((space, kind), make())  # type: ignore[return-value]

    def list_spaces(self) -> list[str]:
        """Return the spaces of which there is anything."""
        return sorted({space for space, _ in self._kept if space})

    def in_step(self, work: Callable[[], T]) -> T:
        """Do some work while nobody else changes the place."""
        with self.lock:
            return work()

    def locate(self, space: str) -> str:
        """Return where a space is, to be shown to people."""
        return f"memory:{space}"

    def announce(self, space: str, kind: str) -> None:
        """Announce that something of a kind has changed."""
        with self.lock:
            for announce in self.announcers:
                announce(space, kind)


class PlaceOfSpaces(Protocol):
    """Where values are kept; what is done to them in one step is done whole or not at all."""

    def find(self, space: str, kind: str, make: Callable[[], T]) -> T:
        """Return the data of one kind of a space, to be changed within a step."""

    def in_step(self, work: Callable[[], T]) -> T:
        """Do some work in one step; it may be done again from its beginning."""

    def locate(self, space: str) -> str:
        """Return where a space is, to be shown to people."""

    def announce(self, space: str, kind: str) -> None:
        """Announce that something of a kind has changed."""


class Keeper:
    """What every store here has: a place, the name of its space, and a clock."""

    kind = ""

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now) -> None:
        self.place = place
        self.space = space
        self._clock = now

    @property
    def location(self) -> str:
        """Where it is, to be shown to people."""
        return self.place.locate(self.space)

    def init(self) -> None:
        """Do nothing: there is nothing to be made."""

    def close(self) -> None:
        """Do nothing: there is nothing open."""

    def report(self, name: str, holds: str, *parts: Part) -> Examination:
        """Return what is here as the examination of a store."""
        return Examination.of([Row(name, self.location, None, holds), *parts])

    def announce(self) -> None:
        """Announce that something here has changed."""
        self.place.announce(self.space, self.kind)

    def now(self) -> datetime:
        """Return the present time, as it is kept."""
        return to_millisecond(self._clock().astimezone(UTC))


class MemoryAnnouncements(Keeper):
    """Announces the changes of a space on a thread, which runs while somebody subscribes."""

    place: MemoryPlace

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._subscribers = Subscribers()
        self._woken = Condition(place.lock)
        self._kinds: set[str] = set()
        self._thread: Thread | None = None

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` with the kinds that may have changed; return what ends that."""
        with self._woken:
            added = self._subscribers.add(callback)
            if self._thread is None:
                self.place.announcers.append(self._note)
                self._thread = Thread(target=self._run, name="turnleaf-announcing", daemon=True)
                self._thread.start()
        return partial(self._remove, added)

    def _remove(self, added: ProblemLog) -> None:
        with self._woken:
            self._subscribers.remove(added)
            self._woken.notify()

    def close(self) -> None:
        """End all subscriptions."""
        with self._woken:
            self._subscribers.clear()
            self._woken.notify()

    def _note(self, space: str, kind: str) -> None:
        if space == self.space or kind == FOR_ALL_SPACES:
            self._kinds.add(kind)
            self._woken.notify()

    def _run(self) -> None:
        while kinds := self._wait():
            self._subscribers.tell(kinds)

    def _wait(self) -> frozenset[str]:
        """Wait for changes and return their kinds; none when nobody subscribes any more."""
        with self._woken:
            self._woken.wait_for(lambda: self._kinds or not self._subscribers)
            kinds, self._kinds = frozenset(self._kinds), set()
            if self._subscribers:
                return kinds
            self.place.announcers.remove(self._note)
            self._thread = None
            return frozenset()


class Stepwise(Protocol):
    """Something at a place."""

    @property
    def place(self) -> PlaceOfSpaces:
        """Where its values are kept."""


L = TypeVar("L", bound=Stepwise)


def in_one_step(method: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Make a method run while nobody else changes the place."""

    @wraps(method)
    def run(self: L, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.place.in_step(lambda: method(self, *args, **kwargs))

    return run
