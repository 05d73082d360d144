"""Everything of one space, in memory; settings and records, which need no module of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from turnleaf.core.examination import Examination, Place
from turnleaf.core.languages import pluralize
from turnleaf.core.records import Record, checked_name, checked_value, ordinal_key
from turnleaf.core.search.message_outcomes import find_accepted, find_forgotten
from turnleaf.errors import Conflict, InvalidInput
from turnleaf.settings import (
    UNCHANGED,
    DataFolder,
    Settings,
    check_value,
    data_folder,
    find_setting,
)
from turnleaf.store import contracts
from turnleaf.store.memory.conversations import MemoryConversations
from turnleaf.store.memory.daily import MemoryDaily
from turnleaf.store.memory.facts import MemoryFacts
from turnleaf.store.memory.learning import MemoryLearning
from turnleaf.store.memory.passages import MemoryPassages
from turnleaf.store.memory.pending import MemoryPending
from turnleaf.store.memory.place import Keeper, MemoryAnnouncements, MemoryPlace, Now, in_one_step
from turnleaf.store.memory.portable import MemoryPortableSpace
from turnleaf.store.memory.schedules import MemorySchedules
from turnleaf.store.work import ScannedWork, look_at_queue, look_at_schedules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import timedelta

    from turnleaf.store.work import SeenWork


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


_NAME = re.compile(r"[^\W_][\w-]{0,63}")


class MemoryStores(contracts.Stores):
    """A space of a place in memory; whoever opens the same one sees the same."""

    def __init__(self, place: MemoryPlace, *, now: Now, space: str = "default") -> None:
        where = place, _check_name(space), now
        self.place = place
        self._space = space
        self._now = now
        self.config: contracts.Config = MemoryConfig(*where)
        self._facts = MemoryFacts(*where)
        self.facts: contracts.Facts = self._facts
        self.pending: contracts.PendingFacts = MemoryPending(*where, self._facts)
        self._messages = MemoryConversations(*where)
        self.conversations: contracts.Conversations = self._messages
        self._notes = MemoryDaily(*where)
        self.daily: contracts.DailyNotes = self._notes
        self.schedules: contracts.Schedules = MemorySchedules(*where)
        self.learning: contracts.LearningQueue = MemoryLearning(*where)
        self.records: contracts.Records = MemoryRecords(*where)
        self.operator_records: contracts.Records = MemoryRecords(place, contracts.OPERATOR, now)
        self.passages: contracts.Passages = MemoryPassages(
            *where, self.settle_messages, self._notes
        )
        self.announcements: contracts.Announcements = MemoryAnnouncements(*where)
        self.work: contracts.Work = ScannedWork(
            now, partial(_look, place, now), partial(_hold, place)
        )
        self._use(self.config.load())

    def open_space(self, space: str) -> MemoryStores:
        """Open another space of the same place."""
        return MemoryStores(self.place, now=self._now, space=space)

    @property
    def folder(self) -> DataFolder:
        """The operator's own folder: the one that the programs would use."""
        folder = data_folder()
        return folder if self._space == folder.space else folder.of_space(self._space)

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._space

    @property
    def location(self) -> str:
        """Where it is, to be shown to people."""
        return self._facts.location

    @property
    def options(self) -> Sequence[str]:
        """Return (): no other program sees what is in memory."""
        return ()

    @property
    def settings(self) -> Settings:
        """The settings that hold now, also where somebody else changed them."""
        with self.place.lock:
            loaded = self.config.load()
            if loaded != self._settings:
                self._use(loaded)
        return loaded

    def _use(self, settings: Settings) -> None:
        self._settings = settings
        self.facts.use(settings)
        self.conversations.use(settings)

    def init(self) -> None:
        """Remove what has expired."""
        self.conversations.init()

    def check_ready(self) -> None:
        """Do nothing: memory is always ready."""

    @in_one_step
    def settle_messages(self) -> None:
        """Bring messages in line with what became of the facts that they gave."""
        self._messages.settle(find_forgotten(self.facts.changes()))
        for key, moment in find_accepted(self.pending.changes()):
            self.conversations.accept(key, [moment])

    def take_over_older(self) -> None:
        """Return None: there is nothing older."""

    def redact(self, text: str) -> str:
        """Return a text as it is: it names no place of this machine."""
        return text

    def examine(self) -> Examination:
        """Return what each store finds when it is examined."""
        place = Examination(place=self.find_place())
        return Examination.join([place, *(one.examine() for one in self.list_examined())])

    def find_place(self) -> Place:
        """Return that it is in memory."""
        return Place(self.location, "kept in memory", exists=True)

    def find_unimported(self) -> None:
        """Return None: there is nothing older."""

    def open_portable(self) -> contracts.PortableSpace:
        """Return the space as it is copied."""
        return MemoryPortableSpace(self.place, self._space, self._now)

    def tidy(self) -> list[str]:
        """Return []: nothing is left of unfinished writes."""
        return []

    def close(self) -> None:
        """Release what is held here."""
        self.learning.close()
        self.work.close()
        self.announcements.close()


def _check_name(space: str) -> str:
    if not _NAME.fullmatch(space) or space != space.casefold():
        message = f"{space!r:.80} cannot be the name of a space; use small letters and digits"
        raise InvalidInput(message)
    return space


def _look(place: MemoryPlace, now: Now) -> Iterator[SeenWork]:
    """Yield what there is to do in all spaces of a place."""
    with place.lock:
        for space in place.list_spaces():
            yield from look_at_schedules(space, MemorySchedules(place, space, now).get_all())
            queue = MemoryLearning(place, space, now)
            yield from look_at_queue(space, queue.backlog(), queue.outbox(), now())


def _hold(place: MemoryPlace, space: str, kind: str) -> Callable[[], None] | None:
    """Keep others from some work; return what ends that, or None where somebody has it."""
    with place.lock:
        held = place.find("", "work", set[tuple[str, str]])
        if (space, kind) in held:
            return None
        held.add((space, kind))
    return lambda: held.discard((space, kind))
