"""SQLite databases that hold what nothing else does, and their copies as plain bytes.

SQLite itself does the copying: the newest pages of a database may be in a log beside it.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

import apsw

from turnleaf.errors import CorruptFile, StorageError
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

Connection: TypeAlias = apsw.Connection

OPENING = b"SQLite format 3\0"
LOGS = ("-wal", "-journal")
COMPANIONS = (*LOGS, "-shm")
PAGES_PER_STEP = 1000
BUSY_MILLISECONDS = 30_000
COPY_BUSY_MILLISECONDS = 10_000
ERASING_BUSY_MILLISECONDS = 300
"""How long others may have to wait because somebody else reads what is erased."""
ERASING_TRIES = 20
ERASING_PAUSE_SECONDS = 0.1
UNFINISHED = 0x65726173
"""Stands in a database's header from the moment that something is deleted to be erased."""
SMALLEST = 512
"""SQLite takes a shorter file for an empty one, and writes over it."""

ADVICE: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "cannot write {path}: the disk is full; free some space and try again"),
    (apsw.ReadOnlyError, "cannot write {path}: it is read-only; check who owns it and its folder"),
    (
        apsw.BusyError,
        "cannot write {path}: another program keeps it locked; end that program or try again",
    ),
    (apsw.CantOpenError, "cannot open {path}: check that its folder exists and belongs to you"),
)
OTHERWISE = "cannot use {path}: {error}; check the disk and keep a backup"

_DAMAGE = (apsw.CorruptError, apsw.NotADBError)
# After these the file under the connection may be gone or another one.
_LOST = (*_DAMAGE, apsw.SQLError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError)
_TO_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


@dataclass(frozen=True, slots=True)
class Form:
    """What a database holds, and how it is made."""

    holds: str
    version: int
    schema: str
    upgrade: Callable[[Connection, int], None] | None = None
    """Makes what an older version wrote into this one; its number is 0 for an empty database."""

    def make(self, database: Connection) -> None:
        """Make the tables of this version, all of them or none."""
        database.execute("BEGIN IMMEDIATE")
        try:
            # Another program may have made them meanwhile.
            version: int = database.pragma("user_version")
            if version < self.version and self.upgrade:
                self.upgrade(database, version)
            elif version < self.version:
                database.execute(self.schema)
            database.pragma("user_version", self.version)
            database.execute("COMMIT")
        except BaseException:
            _roll_back(database)
            raise


class Database:
    """A database in WAL mode whose every acknowledged write survives a power cut."""

    def __init__(self, path: Path, form: Form) -> None:
        self._path = path
        self._name = str(path)
        self._lock = atomic.KeptLock(path)
        self._form = form
        self._connection: apsw.Connection | None = None
        self._identity = (0, 0)
        self._process = os.getpid()
        # All threads share one connection; a transaction
        # must not take in the statements of another.
        self._one_at_a_time = threading.RLock()

    def open(self) -> None:
        """Make it where missing."""
        self.read(lambda _: None)

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Look something up, also where nobody may write."""
        with self._one_at_a_time:
            try:
                return self._look(work)
            except StorageError:
                # In a folder that cannot be written, opening as usual fails: SQLite wants to make
                # its log there.
                if _can_be_written(self._path):
                    raise
                return _read_as_it_is(self._path, self._form, work)

    def _look(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            # Without the file's lock: in WAL mode a reader
            # sees the last commit while somebody writes.
            return work(self._open())
        except apsw.Error as problem:
            return self._rescue(problem, work, writing=False)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Change something, in one step that is durable when this returns."""
        with self._one_at_a_time:
            try:
                return self._do(work, writing=True)
            except apsw.Error as problem:
                return self._rescue(problem, work, writing=True)
            except BaseException:
                # An interrupt may come just before the lock is let go of.
                self._lock.close()
                raise

    def erase(self, work: Callable[[apsw.Connection], T]) -> T:
        """Delete something, so that no byte of it stays; a kill in between ends it later.

        Where somebody reads for so long that the log cannot be emptied, the next opening does.
        """

        def mark_and_work(database: apsw.Connection) -> T:
            # In the transaction that deletes: whoever opens the file after a kill finishes it.
            database.pragma("application_id", UNFINISHED)
            return work(database)

        result = self.write(mark_and_work)
        self.finish_erasing()
        return result

    def finish_erasing(self) -> None:
        """Overwrite what deleted rows left behind, if there may be something."""
        for _ in range(ERASING_TRIES):
            if self.read(self._finish_erasing):
                return
            # The lock is free meanwhile; a reader who keeps the log busy must not stop all writers.
            time.sleep(ERASING_PAUSE_SECONDS)
        atomic.log.warning(
            "another program keeps reading %s; erased text stays in the log file until the "
            "file is opened again",
            self._path,
        )

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        with self._one_at_a_time:
            # SQLite forbids a forked child even to close a connection of its parent.
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None
            self._lock.close()

    def _rescue(
        self, problem: apsw.Error, work: Callable[[apsw.Connection], T], *, writing: bool
    ) -> T:
        """Do some work again; a damaged database is set aside first, and a new one made.

        SQLite also calls a database damaged when only the disk failed for a moment.
        """
        with explain_errors(self._path):
            if isinstance(problem, _LOST):
                self.close()
            if not _tells_of_damage(problem):
                raise problem
            with atomic.lock(self._path) as file:
                # Another program may have put a sound one in its place already.
                if _is_sound(self._path, self._form):
                    raise problem
                file.set_aside(str(problem), companions=("-wal", "-shm"))
            return self._do(work, writing=writing)

    def _do(self, work: Callable[[apsw.Connection], T], *, writing: bool) -> T:
        database = self._open()
        if not writing:
            return work(database)
        # SQLite's own waiting is unfair: a writer may starve for seconds.
        with self._lock:
            database.execute("BEGIN IMMEDIATE")
            try:
                result = work(database)
                database.execute("COMMIT")
            except BaseException:
                _roll_back(database)
                raise
        return result

    def _finish_erasing(self, database: apsw.Connection) -> bool:
        with atomic.lock(self._path):
            return _overwrite_deleted(database, self._path)

    def _open(self) -> apsw.Connection:
        if self._connection is not None and self._process == os.getpid():
            # Another program may have set the file aside, and this connection with it.
            if atomic.read_identity(self._name) == self._identity:
                return self._connection
            self.close()
        self._process = os.getpid()
        atomic.make_folder(self._path.parent)
        with atomic.lock(self._path) as file:
            if not self._path.exists():
                # SQLite itself would let everybody read the new file.
                file.replace(b"")
            elif self._path.is_file() and 0 < self._path.stat().st_size < SMALLEST:
                file.set_aside("it is too short for a database")
                file.replace(b"")
            elif not atomic.is_writable(self._path):
                message = f"cannot write {self._path}: it is read-only; check who owns it"
                raise StorageError(message)
            self._connection = _connect(self._path, self._form)
            self._identity = atomic.read_identity(self._path)
            # What a killed program left of an erasure is finished before anything is read.
            _overwrite_deleted(self._connection, self._path)
        return self._connection


def _can_be_written(path: Path) -> bool:
    return not path.exists() or (atomic.is_writable(path) and os.access(path.parent, os.W_OK))


def _read_as_it_is(path: Path, form: Form, look: Callable[[apsw.Connection], T]) -> T:
    # Otherwise SQLite makes logs that may not be written either, and leaves them behind.
    is_at_rest = not any(_has_bytes(_name_beside(path, suffix)) for suffix in LOGS)
    address = f"{path.absolute().as_uri()}?{'immutable=1' if is_at_rest else 'mode=ro'}"
    with explain_errors(path), closing(apsw.Connection(address, flags=_TO_READ)) as database:
        database.set_busy_timeout(BUSY_MILLISECONDS)
        if _read_version(database, path, form) < form.version:
            message = (
                f"{path} was written by an older version; make it writable once, so that it can "
                "be upgraded"
            )
            raise StorageError(message)
        return look(database)


def examine_database(path: Path, form: Form, look: Callable[[apsw.Connection], T]) -> T:
    """Look something up in a database, changing nothing; raise CorruptFile when it is none."""
    # In WAL mode even a reader makes files beside it, unless told that nobody writes.
    is_idle = not _name_beside(path, "-wal").exists()
    address = f"{path.absolute().as_uri()}?{'immutable=1' if is_idle else 'mode=ro'}"
    with explain_errors(path):
        try:
            with closing(apsw.Connection(address, flags=_TO_READ)) as database:
                database.set_busy_timeout(BUSY_MILLISECONDS)
                _check(database, path, form)
                return look(database)
        except (*_DAMAGE, apsw.SQLError) as error:
            message = f"it is not a database of {form.holds}: {error}"
            raise CorruptFile(message) from error


class Untouched(Database):
    """A database that is only looked at: nothing is made, upgraded, set aside or left beside it."""

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Look something up, in a copy where it is of an older version."""

        def look(database: apsw.Connection) -> T:
            # The upgrade is made in memory: examining must
            # not change what an older program still uses.
            if database.pragma("user_version") == self._form.version:
                return work(database)
            with closing(apsw.Connection(":memory:")) as copy:
                _copy(database, copy)
                self._form.make(copy)
                return work(copy)

        if 0 < self._path.stat().st_size < SMALLEST:
            message = "it is too short for a database"
            raise CorruptFile(message)
        return examine_database(self._path, self._form, look)


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a StorageError that says what to do."""
    try:
        yield
    except apsw.Error as error:
        advice = next((text for kind, text in ADVICE if isinstance(error, kind)), OTHERWISE)
        raise StorageError(advice.format(path=path, error=error)) from error


def copy_as_file(path: Path) -> bytes | None:
    """Return a database as one file that needs no log; None when it can only be read as it is."""
    # It is not opened otherwise: closing it would take away the locks of whoever has it open.
    try:
        with (
            closing(apsw.Connection(_address(path), flags=_TO_READ)) as source,
            closing(apsw.Connection(":memory:")) as copy,
        ):
            if _count_pages(source) == 0:
                return None
            _copy(source, copy)
            data = copy.serialize("main")
    except apsw.NotADBError:
        return None
    except apsw.CorruptError:
        atomic.log.warning("%s is damaged; it was backed up as it is, without its log file", path)
        return None
    except apsw.Error as error:
        raise _make_failure("copy", path, error) from error
    # These two bytes say that there is no write-ahead log.
    return data and data[:18] + b"\1\1" + data[20:]


def edit_copy(data: bytes, edit: Callable[[apsw.Connection], None]) -> bytes:
    """Return the bytes of a database after an edit; as they are where it cannot be made."""
    try:
        with closing(apsw.Connection(":memory:")) as copy:
            if not _holds(copy, data):
                return data
            edit(copy)
            return copy.serialize("main")
    # A database that is not one of conversations has no identity to renew.
    except apsw.SQLError:
        return data


def put_inside(file: atomic.Held, data: bytes) -> bool:
    """Replace what a database holds through SQLite, for whoever has it open; whether it could.

    A file that cannot be used as a database is set aside.
    """
    try:
        with closing(apsw.Connection(":memory:")) as source:
            return _holds(source, data) and file.path.exists() and _put_inside(file, source)
    except apsw.Error as error:
        raise _make_failure("restore", file.path, error) from error


def measure(path: Path) -> int:
    """Count the bytes of a file and of what SQLite keeps beside it."""
    beside = [path, *(_name_beside(path, suffix) for suffix in COMPANIONS)]
    return sum(one.stat().st_size for one in beside if one.exists())


def drop_companions(file: atomic.Held) -> None:
    """Delete the logs of a database that goes away: SQLite would add them to the next one."""
    for suffix in COMPANIONS:
        atomic.Held(_name_beside(file.path, suffix)).remove()


def _check(database: apsw.Connection, path: Path, form: Form) -> None:
    _read_version(database, path, form)
    problem: str = database.execute("PRAGMA quick_check(1)").get
    if problem != "ok":
        message = f"it is damaged: {problem}"
        raise CorruptFile(message)


def _connect(path: Path, form: Form) -> apsw.Connection:
    database = apsw.Connection(str(path))
    try:
        database.set_busy_timeout(BUSY_MILLISECONDS)
        # Else SQLite plans the same statement anew for each value.
        database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_writable(database, path)
        _choose_journal(database)
        # What a killed program had not made durable is made so before anything is built on it.
        with suppress(apsw.BusyError):
            database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        # Overwrites deleted rows with zeros. What stays elsewhere in a page, `overwrite_unused`
        # finds.
        database.pragma("secure_delete", "on")
        if _read_version(database, path, form) < form.version:
            form.make(database)
        # SQLite does not mind when the name of its log could not be made durable; we do.
        atomic.sync_folder(path.parent)
    except BaseException:
        database.close()
        raise
    return database


def _overwrite_deleted(database: apsw.Connection, path: Path) -> bool:
    """Overwrite what deleted rows left in the file and its log; False while somebody reads."""
    if database.pragma("application_id") != UNFINISHED:
        return True
    database.set_busy_timeout(ERASING_BUSY_MILLISECONDS)
    try:
        # The log holds the deleted rows, too, and what it holds is not yet in the file.
        database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        if _count_pages(database) < MAX_PAGES:
            # VACUUM would cost as much as the whole database, and everybody would wait for it.
            overwrite_unused(path, _read_page_size(database))
        else:
            database.execute("VACUUM")
            database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        # By another connection, so that this one reads its pages anew, too.
        with closing(apsw.Connection(str(path))) as other:
            other.set_busy_timeout(BUSY_MILLISECONDS)
            other.pragma("synchronous", "full")
            other.pragma("application_id", 0)
    except apsw.BusyError:
        return False
    finally:
        database.set_busy_timeout(BUSY_MILLISECONDS)
    return True


def _check_writable(database: apsw.Connection, path: Path) -> None:
    if database.readonly("main"):
        message = f"cannot write {path}: it is read-only; check who owns it and its folder"
        raise StorageError(message)


def _read_version(database: apsw.Connection, path: Path, form: Form) -> int:
    version: int = database.pragma("user_version")
    if version > form.version:
        message = f"{path} was written by a newer version of Turnleaf; update this one"
        raise StorageError(message)
    return version


def _tells_of_damage(error: apsw.Error) -> bool:
    # Of a file that was cut, SQLite says that reading it failed.
    is_cut = getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHORT_READ
    return is_cut or isinstance(error, (*_DAMAGE, apsw.SQLError))


def _is_sound(path: Path, form: Form) -> bool:
    """Whether a database is whole and ours."""
    try:
        with (
            closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database,
            closing(apsw.Connection(":memory:")) as ours,
        ):
            database.set_busy_timeout(BUSY_MILLISECONDS)
            ours.execute(form.schema)
            # A file that was cut short ends in the middle of a page.
            has_whole_pages = path.stat().st_size % _read_page_size(database) == 0
            # Tables of an older version lack columns of today's and are sound all the same.
            is_older = 0 < database.pragma("user_version") < form.version
            is_ours = is_older or _list_columns(ours) <= _list_columns(database)
            return has_whole_pages and is_ours and database.pragma("integrity_check") == "ok"
    except (apsw.Error, UnicodeDecodeError):
        return False


def _list_columns(database: apsw.Connection) -> set[object]:
    query = """
        SELECT tables.name, columns.name
        FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    """
    return set(database.execute(query))


def _choose_journal(database: apsw.Connection) -> None:
    """Use WAL where it works: on some network and container volumes it only claims to."""
    try:
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "full")
        # Only a lock that is really taken shows whether shared memory works here.
        database.execute("BEGIN IMMEDIATE; ROLLBACK")
    except (apsw.IOError, apsw.CantOpenError, apsw.BusyError):
        database.pragma("journal_mode", "truncate")
        database.pragma("synchronous", "full")


def _roll_back(database: apsw.Connection) -> None:
    if database.in_transaction:
        database.execute("ROLLBACK")


def _address(path: Path) -> str:
    """Return an address for SQLite, which else makes a log even where it may not and need not."""
    is_at_rest = not any(_has_bytes(_name_beside(path, suffix)) for suffix in LOGS)
    is_fixed = is_at_rest and not os.access(path.parent, os.W_OK)
    return f"file:{quote(os.fsencode(path))}{'?immutable=1' if is_fixed else ''}"


def _name_beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    target.set_busy_timeout(COPY_BUSY_MILLISECONDS)
    with target.backup("main", source, "main") as copy:
        while not copy.done:
            # Between two steps SQLite lets writers in.
            copy.step(PAGES_PER_STEP)


def _holds(source: apsw.Connection, data: bytes) -> bool:
    """Make a connection hold a database that was saved; tell whether it is one."""
    if not data.startswith(OPENING):
        return False
    try:
        source.deserialize("main", data)
        return _count_pages(source) > 0
    except (*_DAMAGE, apsw.CantOpenError):
        return False


def _put_inside(file: atomic.Held, source: apsw.Connection) -> bool:
    try:
        with closing(apsw.Connection(str(file.path), flags=apsw.SQLITE_OPEN_READWRITE)) as target:
            target.set_busy_timeout(COPY_BUSY_MILLISECONDS)
            # The size of its pages is fixed while a database has a write-ahead log.
            if _count_pages(target) == 0 or _read_page_size(target) != _read_page_size(source):
                return False
            _copy(source, target)
            return True
    except _DAMAGE as error:
        file.set_aside(f"it is no sound database: {type(error).__name__}", COMPANIONS)
        return False


def _count_pages(database: apsw.Connection) -> int:
    count: int = database.pragma("page_count")
    return count


def _read_page_size(database: apsw.Connection) -> int:
    size: int = database.pragma("page_size")
    return size


def _make_failure(doing: str, path: Path, error: apsw.Error) -> StorageError:
    # The text of what SQLite raises while it copies is always "not an error".
    message = (
        f"cannot {doing} the database {path} ({type(error).__name__}); close the programs "
        "that use it, check its permissions and the free space on the disk, and try again"
    )
    return StorageError(message)


HEADER_BYTES = 100
"""What stands before the page proper in the first page."""
LEAF_BYTES, INTERIOR_BYTES = 8, 12
LEAVES, INTERIORS = (10, 13), (2, 5)
MAX_PAGES = 2**25
"""Below this number a page that is no part of a tree begins with another byte than those."""
PAGES_AT_ONCE = 256
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB


def overwrite_unused(path: Path, page_size: int) -> int:
    """Overwrite the unused bytes of every page; return how many places held something."""
    # Opened by SQLite: closing it in any other way takes away the locks of this process.
    file = apsw.VFSFile("", str(path), [_FLAGS, 0])
    try:
        changed = 0
        for offset, page in _read_pages(file, page_size):
            for start, end in _find_unused(page, HEADER_BYTES if offset == 0 else 0):
                if page[start:end].strip(b"\0"):
                    file.xWrite(bytes(end - start), offset + start)
                    changed += 1
        if changed:
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        return changed
    finally:
        file.xClose()


def _read_pages(file: apsw.VFSFile, page_size: int) -> Iterator[tuple[int, bytes]]:
    size = file.xFileSize()
    step = page_size * PAGES_AT_ONCE
    for begin in range(0, size, step):
        block = file.xRead(min(step, size - begin), begin)
        for place in range(0, len(block), page_size):
            yield begin + place, block[place : place + page_size]


def _find_unused(page: bytes, header: int) -> Iterator[tuple[int, int]]:
    """Find what lies between a page's cell pointers and its cells, and its free blocks."""
    kind = page[header]
    if kind not in LEAVES and kind not in INTERIORS:
        return
    size = LEAF_BYTES if kind in LEAVES else INTERIOR_BYTES
    cells = _read_number(page, header + 3)
    # In these two bytes SQLite writes 65536 as 0.
    content = _read_number(page, header + 5) or 65536
    yield header + size + 2 * cells, min(content, len(page))
    block = _read_number(page, header + 1)
    while 0 < block < len(page) - 3:
        following = _read_number(page, block)
        # Its first four bytes, the link to the next block and its own size, are in use.
        yield block + 4, block + _read_number(page, block + 2)
        # The blocks are in ascending order; in a damaged page they might lead round in a circle.
        if following <= block:
            return
        block = following


def _read_number(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2], "big")
