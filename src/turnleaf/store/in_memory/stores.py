"""Everything of one space, in memory."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from turnleaf.core.diagnosis import Examination, Place
from turnleaf.core.search.message_filters import find_accepted, find_forgotten
from turnleaf.errors import InvalidInput
from turnleaf.settings import (
    DataFolder,
    Settings,
    find_data_folder,
)
from turnleaf.store import contracts
from turnleaf.store.due_work import ScannedWork, look_at_queue, look_at_schedules
from turnleaf.store.in_memory.conversations import MemoryConversations
from turnleaf.store.in_memory.daily import MemoryDaily
from turnleaf.store.in_memory.facts import MemoryFacts, MemoryPending
from turnleaf.store.in_memory.learning import MemoryLearning
from turnleaf.store.in_memory.passages import MemoryPassages
from turnleaf.store.in_memory.portable import MemoryPortableSpace
from turnleaf.store.in_memory.schedules import MemorySchedules
from turnleaf.store.in_memory.shared_data import (
    MemoryAnnouncements,
    MemoryConfig,
    MemoryPlace,
    MemoryRecords,
    Now,
    in_one_step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from turnleaf.store.due_work import SeenWork


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
        folder = find_data_folder()
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
        message = f"{space!r:.80} cannot be the name of a space; use lower-case letters and digits"
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
