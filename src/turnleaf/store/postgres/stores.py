"""Everything of one space, in a database."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.core.diagnosis import Diagnosis, Examination, Place
from turnleaf.core.search.message_filters import find_accepted, find_forgotten
from turnleaf.errors import SettingsError, TurnleafError
from turnleaf.settings import find_space_folder
from turnleaf.store import contracts
from turnleaf.store.announcements import ProblemLog
from turnleaf.store.in_memory.facts import MemoryFacts, MemoryPending
from turnleaf.store.in_memory.learning import MemoryLearning
from turnleaf.store.in_memory.schedules import MemorySchedules
from turnleaf.store.in_memory.shared_data import Now, in_one_step
from turnleaf.store.postgres.conversations import PostgresConversations
from turnleaf.store.postgres.coordination import PostgresAnnouncements, PostgresWork
from turnleaf.store.postgres.database import share_database
from turnleaf.store.postgres.loaded_values import (
    LoadedLessons,
    LoadedSchedules,
    load_facts,
    load_pending,
    load_results,
)
from turnleaf.store.postgres.passages import PostgresPassages
from turnleaf.store.postgres.portable import NOTE_SETTLED, PostgresPortableSpace
from turnleaf.store.postgres.schema import check_database, find_missing
from turnleaf.store.postgres.small_stores import PostgresConfig, PostgresDaily, PostgresRecords
from turnleaf.store.postgres.space_transactions import PostgresPlace, name_registration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from turnleaf.core.diagnosis import Part
    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.postgres.space_transactions import LoadedValue, Transaction

LOADERS: Mapping[str, Callable[[Transaction], LoadedValue]] = {
    "facts": load_facts,
    "pending": load_pending,
    "schedules": LoadedSchedules,
    "results": load_results,
    "learning": LoadedLessons,
}
_TABLES = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = 'turnleaf' AND column_name = 'space' ORDER BY 1
"""
_COUNTERS = """
SELECT coalesce(string_agg(kind || ' ' || n, ' ' ORDER BY kind), ''),
    (SELECT settled FROM turnleaf.feeds)
FROM turnleaf.counters WHERE kind IN ('facts', 'pending') AND space <> ''
"""

_PROBE = """
INSERT INTO turnleaf.records (collection, key, value, version) VALUES ('', %s, '', 0)
"""


class _NothingToKeepError(Exception):
    """Ends a transaction of which nothing shall stay."""


class PostgresStores(contracts.Stores):
    """A space of a database.

    `folder` is on this machine: it has what belongs to whoever runs the programs.
    """

    def __init__(self, folder: DataFolder, *, now: Now) -> None:
        self._folder = folder
        self._now = now
        database = share_database(folder.address or "")
        self.place = PostgresPlace(database, folder.space, now, LOADERS)
        where = self.place, folder.space, now
        self.config: contracts.Config = PostgresConfig(*where)
        memory = MemoryFacts(*where)
        self.facts: contracts.Facts = memory
        self.pending: contracts.PendingFacts = MemoryPending(*where, memory)
        self._messages = PostgresConversations(*where)
        self.conversations: contracts.Conversations = self._messages
        self.daily: contracts.DailyNotes = PostgresDaily(*where)
        self.schedules: contracts.Schedules = MemorySchedules(*where)
        self.learning: contracts.LearningQueue = MemoryLearning(*where)
        self.records: contracts.Records = PostgresRecords(*where)
        self._operator = PostgresPlace(database, contracts.OPERATOR, now, LOADERS)
        self.operator_records: contracts.Records = PostgresRecords(
            self._operator, contracts.OPERATOR, now
        )
        self.passages: contracts.Passages = PostgresPassages(
            *where, self._messages, self.settle_messages
        )
        self.announcements: contracts.Announcements = PostgresAnnouncements(*where)
        self.work: contracts.Work = PostgresWork(*where)
        self._settings: Settings | None = None

    def open_space(self, space: str) -> PostgresStores:
        """Open another space of the same database."""
        return PostgresStores(find_space_folder(self._folder.leave_space(), space), now=self._now)

    @property
    def folder(self) -> DataFolder:
        """The operator's own folder."""
        return self._folder

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._folder.space

    @property
    def location(self) -> str:
        """Where it is, to be shown to people."""
        return self.place.database.address.shown

    @property
    def options(self) -> Sequence[str]:
        """The options with which another program opens the same space."""
        space = ("--space", self.space) if self._folder.root else ()
        return ("--data-dir", self.location, *space)

    @property
    def settings(self) -> Settings:
        """The settings that hold now, also where somebody else changed them."""
        loaded = self.config.load()
        if loaded != self._settings:
            self._settings = loaded
            self.facts.use(loaded)
            self.conversations.use(loaded)
        return loaded

    def init(self) -> None:
        """Remove what has expired."""
        self.conversations.init()

    def check_ready(self) -> None:
        """Raise a TurnleafError where the database is not reachable, writable or of this version.

        What it writes is taken back: a row that is not there afterwards proves as much.
        """
        with suppress(_NothingToKeepError):
            self.place.in_step(self._try_writing, writes=True)

    def _try_writing(self) -> None:
        check_database(self.place.step.connection)
        self.place.step.run(_PROBE, uuid4().hex)
        raise _NothingToKeepError

    def measure_pool(self) -> Mapping[str, float]:
        """Return figures about the connections to the database."""
        return self.place.database.measure()

    @in_one_step
    def settle_messages(self) -> None:
        """Bring messages in line with what became of the facts that they gave."""
        step = self.place.step
        ((state, known),) = step.rows(_COUNTERS)
        if state == (known or ""):
            return
        # Everybody takes the locks in this order: pending, facts, conversations.
        accepted = find_accepted(self.pending.changes())
        self._messages.settle(find_forgotten(self.facts.changes()))
        for key, moment in accepted:
            self.conversations.accept(key, [moment])
        step.run(NOTE_SETTLED, state)

    def take_over_older(self) -> None:
        """Return None: there is nothing older."""

    def find_unimported(self) -> None:
        """Return None: there is nothing older."""

    def redact(self, text: str) -> str:
        """Return a text without the address of the database."""
        return text.replace(self.location, "the database")

    def find_place(self) -> Place:
        """Return the database, and what of the space is not in it."""
        return Place(self.location, self._folder.why, exists=True)

    def examine(self) -> Examination:
        """Return what each store finds, or why the database cannot be used."""
        parts: list[Part] = [self.find_place()]
        if self.place.database.address.is_unverified:
            message = "the identity of the database server is not verified; set sslmode=verify-full"
            parts.append(Diagnosis("warning", message))
        try:
            parts += self._find_missing()
            return Examination.join([Examination.of(parts), *self._examine_all()])
        except TurnleafError as error:
            return Examination.of([*parts, Diagnosis("error", str(error))])

    @in_one_step
    def _find_missing(self) -> list[Part]:
        """Return what is missing in the database, with the statement that mends it."""
        return [
            Diagnosis("error", f"{problem}; run as the role that owns the tables: {statement}")
            for problem, statement in find_missing(self.place.step.connection)
        ]

    @in_one_step
    def _examine_all(self) -> list[Examination]:
        with suppress(SettingsError):  # Whoever examines it reads them as well.
            self.conversations.use(self.settings)
        return [one.examine() for one in self.list_examined()]

    def open_portable(self) -> contracts.PortableSpace:
        """Return the space as it is copied."""
        return PostgresPortableSpace(self.place, self.space, self._now)

    def tidy(self) -> list[str]:
        """Return []: nothing is left of unfinished writes."""
        return []

    def erase_space(self) -> None:
        """Erase all that there is of the space; to open it again begins a new one."""
        self.place.in_step(self._erase_space, writes=True)

    def _erase_space(self) -> None:
        step = self.place.step
        # Named, because everybody also sees the rows of the space ''.
        of_space = "WHERE space = current_setting('turnleaf.space')"
        # All locks before the first deletion, so that nobody adds to what is being erased.
        step.run(f"SELECT 1 FROM turnleaf.counters {of_space} ORDER BY kind FOR UPDATE")  # noqa: S608
        for (table,) in step.rows(_TABLES):
            step.run(f"DELETE FROM turnleaf.{table} {of_space}")  # noqa: S608 - of the catalogue
        query = "DELETE FROM turnleaf.counters WHERE space = '' AND kind = %s"
        step.run(query, name_registration(self.space))

    def close(self) -> None:
        """Release what is open; the next call opens it again."""
        with ExitStack() as closing:
            closing.callback(self.place.close)
            closing.callback(self._operator.close)
            closing.callback(self.announcements.close)
            if self.place.is_open:
                # What cannot be released now waits again when its lease is over.
                for part in (self.conversations, self.learning, self.work):
                    ProblemLog().attempt("what was held was not released", part.close)
