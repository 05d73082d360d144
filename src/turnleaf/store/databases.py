"""SQLite databases as plain bytes, and back again while somebody may have them open.

SQLite itself does the copying: the newest pages of a database may be in a log beside it.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from turnleaf.errors import StorageError
from turnleaf.store import files

if TYPE_CHECKING:
    from pathlib import Path

OPENING = b"SQLite format 3\0"
LOGS = ("-wal", "-journal")
COMPANIONS = (*LOGS, "-shm")
PAGES_PER_STEP = 1000
BUSY_MILLISECONDS = 10_000

_DAMAGE = (apsw.CorruptError, apsw.NotADBError)
_TO_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def copied(path: Path) -> bytes | None:
    """Give a database as one file that needs no log; None when it can only be read as it is."""
    # It is not opened otherwise: closing it would take away the locks of whoever has it open.
    try:
        with (
            closing(apsw.Connection(_address(path), flags=_TO_READ)) as source,
            closing(apsw.Connection(":memory:")) as copy,
        ):
            if _pages(source) == 0:
                return None
            _copy(source, copy)
            data = copy.serialize("main")
    except apsw.NotADBError:
        return None
    except apsw.CorruptError:
        files.log.warning("%s is damaged; it is saved as it is, without its log", path)
        return None
    except apsw.Error as error:
        raise _failure("copy", path, error) from error
    # These two bytes say that there is no write-ahead log.
    return data and data[:18] + b"\1\1" + data[20:]


def put_inside(file: files.Held, data: bytes) -> bool:
    """Let SQLite replace what a database holds, for whoever has it open; tell whether it could.

    What is there and cannot be used as a database is set aside.
    """
    try:
        with closing(apsw.Connection(":memory:")) as source:
            return _holds(source, data) and file.path.exists() and _put_inside(file, source)
    except apsw.Error as error:
        raise _failure("restore", file.path, error) from error


def drop_companions(file: files.Held) -> None:
    """Delete the logs of a database that goes away: SQLite would add them to the next one."""
    for suffix in COMPANIONS:
        files.Held(_beside(file.path, suffix)).remove()


def _address(path: Path) -> str:
    """Name a database to SQLite, which wants to make a log even where it may not and need not."""
    is_at_rest = not any(_has_bytes(_beside(path, suffix)) for suffix in LOGS)
    is_fixed = is_at_rest and not os.access(path.parent, os.W_OK)
    return f"file:{quote(os.fsencode(path))}{'?immutable=1' if is_fixed else ''}"


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    target.set_busy_timeout(BUSY_MILLISECONDS)
    with target.backup("main", source, "main") as copy:
        while not copy.done:
            copy.step(PAGES_PER_STEP)


def _holds(source: apsw.Connection, data: bytes) -> bool:
    """Make a connection hold a database that was saved; tell whether it is one."""
    if not data.startswith(OPENING):
        return False
    try:
        source.deserialize("main", data)
        return _pages(source) > 0
    except (*_DAMAGE, apsw.CantOpenError):
        return False


def _put_inside(file: files.Held, source: apsw.Connection) -> bool:
    try:
        with closing(apsw.Connection(str(file.path), flags=apsw.SQLITE_OPEN_READWRITE)) as target:
            target.set_busy_timeout(BUSY_MILLISECONDS)
            # The size of its pages is fixed while a database has a write-ahead log.
            if _pages(target) == 0 or _page_size(target) != _page_size(source):
                return False
            _copy(source, target)
            return True
    except _DAMAGE as error:
        file.set_aside(f"it is no sound database: {type(error).__name__}", COMPANIONS)
        return False


def _pages(database: apsw.Connection) -> int:
    count: int = database.pragma("page_count")
    return count


def _page_size(database: apsw.Connection) -> int:
    size: int = database.pragma("page_size")
    return size


def _failure(doing: str, path: Path, error: apsw.Error) -> StorageError:
    # The text of what SQLite raises while it copies is always "not an error".
    message = (
        f"cannot {doing} the database {path} ({type(error).__name__}); close what uses it, "
        "check its permissions and the room on the disk, and try again"
    )
    return StorageError(message)
