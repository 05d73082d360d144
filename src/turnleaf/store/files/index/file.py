"""The file of an index, and what may be wrong with it.

It can be deleted at any moment and is not made durable; whatever is wrong with it is cured by
building it anew, in memory where no file can be written.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import apsw

from turnleaf.errors import StorageError
from turnleaf.store.files import atomic
from turnleaf.store.files.index import database as index_rows
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index.database import (
    COMPANIONS,
    Outdated,
    connect,
    find_vectors_path,
    refuse_stranger,
    set_mark,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

USUAL_NAME = "index.db"
# First a new index, then new vectors as well, and after that it is kept in memory.
ATTEMPTS = 3
REPLACEMENTS = 100

_BROKEN = (
    apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError, apsw.MismatchError,
    UnicodeDecodeError, Outdated,
)  # fmt: skip
_DAMAGED_PAGES = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ}


class _Replacement(Exception):
    """Somebody else has begun the index anew."""


class IndexFile:
    """A database that anybody may delete, with its vectors beside it."""

    def __init__(self, location: Path) -> None:
        self.location = location
        self.one_at_a_time = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._identities: tuple[object, object] = (None, None)
        self._process = 0
        self._is_in_memory = False

    def attempt(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work; what cannot be used is built anew, where nothing can be kept in memory."""
        with self.one_at_a_time:
            for attempt in range(ATTEMPTS):
                try:
                    return self._do_on_the_newest(work)
                except (*_BROKEN, apsw.Error, StorageError) as error:
                    # All of it can be made again, so there is one repair: begin anew.
                    self._recover(error, attempt)
            return self._do_on_the_newest(work)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep the other processes from writing, and from building the file anew."""
        if self._is_in_memory:
            yield
            return
        with atomic.lock(self.location):
            # The lock belongs to the name; the file under it may be another by now.
            if not self._is_current():
                raise _Replacement
            yield

    def give_way(self) -> None:
        """Yield to who waits for the lock, before taking it again."""
        if not self._is_in_memory:
            atomic.give_way(self.location)

    def discard(self, *, vectors: bool = False) -> None:
        """Delete the file, unless somebody else has begun anew already."""
        self.close()
        if self._is_in_memory:
            return
        with atomic.lock(self.location) as file:
            # What another program has begun anew meanwhile is not what was found to be damaged.
            if self._identities == self._find_identities():
                file.discard(COMPANIONS)
                if vectors:
                    atomic.Held(find_vectors_path(self.location)).discard(COMPANIONS)

    def apart(self) -> IndexFile:
        """Return another connection to the same file; what is in memory has only one."""
        return self if self._is_in_memory else IndexFile(self.location)

    def write_anew(self, database: apsw.Connection, until: float) -> None:
        """Put a copy in which nothing is unused in the place of the index.

        It does not have the mark of an erasure that began until then. Others can write while it
        is made: what they write is taken in again, because the copy knows how far it has got.
        """
        if self._is_in_memory:
            unmark = "UPDATE totals SET erased_at = NULL WHERE erased_at <= ?"
            database.execute(unmark, (until,))
            return
        place = self.location.with_name(f"{self.location.name}-anew")
        with atomic.lock(place) as copy:
            copy.discard(COMPANIONS)
            copy.replace(b"")  # SQLite itself would let everybody read it.
            # Not under the index's lock: VACUUM in place would keep everybody waiting.
            database.execute("VACUUM main INTO ?", (str(place),))
            with self.lock():
                later = "SELECT erased_at FROM totals WHERE erased_at > ?"
                # Another erasure may have begun; whoever is at it begins again on this copy.
                set_mark(place, database.execute(later, (until,)).get)
                atomic.Held(self.location).make_way(place, COMPANIONS)

    def exists(self) -> bool:
        """Whether there is anything of an index."""
        return self.location.exists() or find_vectors_path(self.location).exists()

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        with self.one_at_a_time:
            # In a forked child too: SQLite would take its parent's locks there for its own.
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _do_on_the_newest(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work, again whenever somebody else has begun the index anew meanwhile."""
        # Bounded, because a program that deletes the index again and again would else keep this one
        # for ever.
        for _ in range(REPLACEMENTS):
            with suppress(_Replacement):
                return work(self._open())
        message = f"another program keeps replacing {self.location}; stop that program"
        raise StorageError(message)

    def _recover(self, error: Exception, attempt: int) -> None:
        """Begin anew where a file is damaged, and in memory where there can be none."""
        is_last = attempt == ATTEMPTS - 1
        if is_last or not (isinstance(error, _BROKEN) or _is_damage(error)):
            self._give_up_the_file(error)
            return
        try:
            # If a new index is no better, it is the vectors that cannot be used.
            self.discard(vectors=attempt > 0)
        except StorageError as refusal:
            self._give_up_the_file(refusal)

    def _open(self) -> apsw.Connection:
        if self._connection is not None and self._is_current():
            return self._connection
        self.close()
        self._process = os.getpid()
        if self._is_in_memory:
            self._connection = connect(None)
            return self._connection
        atomic.make_folder(self.location.parent)
        # Only a file that is surely an index may be deleted when it is damaged, and a damaged file
        # cannot tell itself.
        if self.location.name != USUAL_NAME and not atomic.was_locked(self.location):
            refuse_stranger(self.location)
        with atomic.lock(self.location) as index:
            for file in (index, atomic.Held(find_vectors_path(self.location))):
                if not file.path.exists():
                    file.replace(b"")  # SQLite itself would let everybody read it.
            # Before connecting, too: if that fails, `discard`
            # must know which file was found damaged.
            self._identities = self._find_identities()
            self._connection = connect(self.location)
            self._identities = self._find_identities()
        return self._connection

    def _is_current(self) -> bool:
        is_ours = self._process == os.getpid()
        return is_ours and (self._is_in_memory or self._identities == self._find_identities())

    def _find_identities(self) -> tuple[object, object]:
        places = (self.location, find_vectors_path(self.location))
        return tuple(map(atomic.read_identity_if_any, places))  # type: ignore[return-value]

    def _give_up_the_file(self, error: Exception) -> None:
        if self._is_in_memory:
            message = f"the index cannot be used: {error}; free some memory and try again"
            raise StorageError(message) from error
        self.close()
        # A read-only folder or a full disk makes the search slower and does not end it.
        self._is_in_memory = True
        atomic.log.info("%s; the index is kept in memory", error)


def _is_damage(error: Exception) -> bool:
    return getattr(error, "extendedresult", 0) in _DAMAGED_PAGES


PAGES_PER_STEP = 500
NO_PROGRESS = 2
"""As many changes of the database, or more, does each step of a merge make that did something."""
SCRUB_SECONDS = 86_400.0
ABANDONED_SECONDS = 600.0
"""After so long, whoever began an erasure is not at it any more."""


def mark(database: apsw.Connection, file: IndexFile) -> float:
    """Put on record, durably, that something is being erased; return when that was."""
    now = time.time()
    with file.lock():
        # Nothing else in an index is durable, but without the mark the text would stay.
        database.pragma("synchronous", "FULL", schema="main")
        with database:
            database.execute("UPDATE totals SET erased_at = ?", (now,))
        database.pragma("synchronous", "OFF", schema="main")
    return now


def is_marked(database: apsw.Connection) -> bool:
    """Whether an erasure has begun and is not complete."""
    return database.execute("SELECT erased_at FROM totals").get is not None


def note_removal(database: apsw.Connection) -> None:
    """Put on record that words of messages that are gone, having expired, are still in the file."""
    database.execute("UPDATE totals SET removed_at = coalesce(removed_at, ?)", (time.time(),))


def scrub_daily(database: apsw.Connection, file: IndexFile) -> None:
    """Leave no byte of messages that are gone, once a day at most: it costs a pass over all."""
    now = time.time()
    # A time that lies ahead, by a clock that was wrong, does not put it off.
    due = (
        "SELECT 1 FROM totals WHERE removed_at IS NOT NULL AND (scrubbed_at IS NULL "
        "OR scrubbed_at NOT BETWEEN ? AND ?)"
    )
    if database.execute(due, (now - SCRUB_SECONDS, now)).get:
        finish(database, file, mark(database, file))


def finish(database: apsw.Connection, file: IndexFile, marked: float | None = None) -> None:
    """Leave no byte of anything that was deleted; then take the mark off.

    Without the mark of one's own it may be that of a program that is still at it.
    """
    with file.lock(), database:
        index_vectors.sweep(database)
        index_rows.forget_empty_circles(database)
        scrubbed = "UPDATE totals SET removed_at = NULL, scrubbed_at = ?"
        database.execute(scrubbed, (time.time(),))
    with file.lock():
        with database:
            index_vectors.rewrite_slots(database)
        # The log holds the list as it was before.
        database.wal_checkpoint("vectors", apsw.SQLITE_CHECKPOINT_TRUNCATE)
    # FTS5 keeps deleted terms until its lists are merged, and SQLite leaves copies of cells that
    # it moved: only merging and then copying leaves no byte.
    _merge_words(database, file)
    file.write_anew(database, marked or time.time() - ABANDONED_SECONDS)


def _merge_words(database: apsw.Connection, file: IndexFile) -> None:
    """Write the lists of words anew, without what was deleted."""
    step = -PAGES_PER_STEP
    while True:
        before = database.total_changes()
        with file.lock(), database:
            database.execute("INSERT INTO words(words, rank) VALUES ('merge', ?)", (step,))
        # FTS5 tells only by this whether a step found something to merge.
        if database.total_changes() - before < NO_PROGRESS:
            return
        # Negative only in the first step: FTS5 then begins a merge of all lists, also of those that
        # it would leave alone; each positive step goes on with it.
        step = PAGES_PER_STEP
        # Else this loop has the lock again before anybody who waits for it is awake.
        file.give_way()
