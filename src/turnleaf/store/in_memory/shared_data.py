"""What stands for a disk: the data, settings and records of every space, and one lock for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial, wraps
from threading import Condition, RLock, Thread
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from turnleaf.core.diagnosis import Examination, Row
from turnleaf.core.languages import pluralize
from turnleaf.core.opaque_records import Record, check_name, check_value, make_ordinal_key
from turnleaf.core.serialization import to_millisecond
from turnleaf.errors import Conflict
from turnleaf.settings import Settings, check_changes
from turnleaf.store.announcements import Subscribers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from turnleaf.core.diagnosis import Part
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
        # Reentrant, because a step calls the steps of other stores.
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
        # The lock of the place itself, since changes are announced while it is held.
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
            # Outside the lock, so that a callback may use the place.
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


ALL_SPACES = ""


class MemoryConfig(Keeper):
    """The settings of a place, the same for all its spaces."""

    kind = "config"

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._values = place.find(ALL_SPACES, self.kind, dict[str, Any])

    @in_one_step
    def load(self) -> Settings:
        """Return the settings that hold now: environment over these over defaults."""
        return Settings.combine(self._values, "the settings")

    @in_one_step
    def examine(self) -> Examination:
        """Return how many settings were changed."""
        return self.report("settings", pluralize(len(self._values), "setting"))

    @in_one_step
    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; None restores a default."""
        for key, value in check_changes(values).items():
            self._values.pop(key, None)
            self._values |= {} if value is None else {key: value}
        self.announce()


@dataclass
class Shelves:
    """Records by collection and key, and the last version that was given."""

    kept: dict[tuple[str, str], Record] = field(default_factory=dict)
    last_version: int = 0


class MemoryRecords(Keeper):
    """The records of a space."""

    kind = "records"

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._shelves = place.find(space, self.kind, Shelves)

    @in_one_step
    def examine(self) -> Examination:
        """Return how many records there are, expired ones too."""
        return self.report("records", pluralize(len(self._shelves.kept), "record"))

    @in_one_step
    def put(
        self,
        collection: str,
        key: str,
        value: bytes,
        *,
        expected: int | None = None,
        ttl: timedelta | None = None,
    ) -> Record:
        """Store a value in the place of any other; with `expected`, only over that version."""
        known = self.get(collection, key)
        check_value(value)
        if expected is not None and expected != (known.version if known else 0):
            message = f"the record {key!r} was changed meanwhile; read it again"
            raise Conflict(message)
        for one in [one for one in self._shelves.kept.values() if not self._is_there(one)]:
            del self._shelves.kept[one.collection, one.key]
        self._shelves.last_version += 1
        ends = None if ttl is None else self.now() + ttl
        stored = Record(collection, key, bytes(value), self._shelves.last_version, ends)
        self._shelves.kept[collection, key] = stored
        self.announce()
        return stored

    @in_one_step
    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired; None when there is none."""
        names = check_name(collection, "a collection"), check_name(key, "a key")
        found = self._shelves.kept.get(names)
        return found if found and self._is_there(found) else None

    def _is_there(self, record: Record) -> bool:
        return record.expires_at is None or self.now() < record.expires_at

    @in_one_step
    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return, by key, the first `limit` records whose key begins with `prefix`."""
        last = check_name(after or "", "a key", may_be_empty=True)
        found = [one for one in self._find(collection, prefix) if self._is_there(one)]
        following = [one for one in found if after is None or one.key > last]
        return sorted(following, key=lambda one: one.key)[: max(limit, 0)]

    def _find(self, collection: str, prefix: str) -> list[Record]:
        check_name(collection, "a collection")
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        kept = self._shelves.kept.values()
        return [one for one in kept if one.collection == collection and one.key.startswith(begin)]

    @in_one_step
    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key that sorts after all appended to that prefix before."""
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        key = make_ordinal_key(begin, self._shelves.last_version + 1)
        return self.put(collection, key, value, ttl=ttl)

    @in_one_step
    def pop(self, collection: str, key: str) -> Record | None:
        """Remove a record and return it, to one of several who try."""
        found = self.get(collection, key)
        self._shelves.kept.pop((collection, key), None)
        self.announce()
        return found

    @in_one_step
    def erase(self, collection: str, prefix: str = "") -> int:
        """Erase what begins with `prefix`; return how many had not expired."""
        found = self._find(collection, prefix)
        for one in found:
            del self._shelves.kept[one.collection, one.key]
        self.announce()
        return sum(map(self._is_there, found))
