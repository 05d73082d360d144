"""The settings of a place in memory, and the records of its spaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages import pluralize
from turnleaf.core.records import Record, checked_name, checked_value, ordinal_key
from turnleaf.errors import Conflict
from turnleaf.settings import UNCHANGED, Settings, check_value, find_setting
from turnleaf.store.memory.place import Keeper, MemoryPlace, Now, in_one_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from turnleaf.core.examination import Examination

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
        wanted = {find_setting(name): value for name, value in values.items()}
        new = {
            one.key: check_value(one, value, one.key, UNCHANGED)
            for one, value in wanted.items()
            if value is not None
        }
        for one in wanted:
            self._values.pop(one.key, None)
        self._values.update(new)
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
        checked_value(value)
        if expected is not None and expected != (known.version if known else 0):
            message = f"the record {key!r} was changed meanwhile; read it again"
            raise Conflict(message)
        self._shelves.last_version += 1
        ends = None if ttl is None else self.now() + ttl
        stored = Record(collection, key, bytes(value), self._shelves.last_version, ends)
        self._shelves.kept[collection, key] = stored
        self.announce()
        return stored

    @in_one_step
    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired; None when there is none."""
        names = checked_name(collection, "a collection"), checked_name(key, "a key")
        found = self._shelves.kept.get(names)
        return found if found and self._is_there(found) else None

    def _is_there(self, record: Record) -> bool:
        return record.expires_at is None or self.now() < record.expires_at

    @in_one_step
    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return, by key, the first `limit` records whose key begins with `prefix`."""
        last = checked_name(after or "", "a key", may_be_empty=True)
        found = [one for one in self._find(collection, prefix) if self._is_there(one)]
        following = [one for one in found if after is None or one.key > last]
        return sorted(following, key=lambda one: one.key)[: max(limit, 0)]

    def _find(self, collection: str, prefix: str) -> list[Record]:
        checked_name(collection, "a collection")
        begin = checked_name(prefix, "a prefix", may_be_empty=True)
        kept = self._shelves.kept.values()
        return [one for one in kept if one.collection == collection and one.key.startswith(begin)]

    @in_one_step
    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key that sorts after all appended to that prefix before."""
        begin = checked_name(prefix, "a prefix", may_be_empty=True)
        key = ordinal_key(begin, self._shelves.last_version + 1)
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
