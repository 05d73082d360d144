"""The index's SQLite file: its tables, and how it is opened.

Every page carries a checksum where SQLite's own extension for that is at hand, so that damage is
noticed when it is read and never answered from.
"""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import apsw
import apsw.sqlite_extra

from turnleaf.core.terms import TOKENIZER
from turnleaf.errors import InvalidInput

APPLICATION_ID = 0x7475726E
SCHEMA_VERSION = 2
BUSY_MILLISECONDS = 10_000
PAGE_BYTES = 8192  # three vectors of 512 numbers; on 4,096 one fits, and a scan takes twice as long
CHECKSUM_BYTES = 8
CACHE_KILOBYTES = 65_536
LARGEST_LOG_BYTES = 16 * 1024 * 1024
FREED_PAGES = 1000
CONTEXT_WEIGHT = 0.3

COMPANIONS = ("-wal", "-shm")

SCHEMA = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    signature TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    kind TEXT NOT NULL,
    shape BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    meaning BLOB NOT NULL,
    text TEXT NOT NULL,
    line INTEGER NOT NULL,
    place INTEGER,
    heading TEXT,
    date TEXT,
    conversation TEXT,
    speaker TEXT,
    ref TEXT
);
CREATE TABLE totals (passages INTEGER NOT NULL, boot TEXT);
INSERT INTO totals (passages) VALUES (0);
CREATE INDEX passages_by_file ON passages (file);
CREATE INDEX passages_by_meaning ON passages (meaning);
CREATE INDEX passages_by_place ON passages (conversation, place) WHERE place IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5(
    own, context, content='', contentless_delete=1, tokenize="{TOKENIZER}"
);
INSERT INTO words(words, rank) VALUES ('rank', 'bm25(1.0, {CONTEXT_WEIGHT})');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    meaning BLOB NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX vectors_by_meaning ON vectors (meaning);
CREATE TABLE model (name TEXT NOT NULL, scripts TEXT NOT NULL, floor REAL NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""  # noqa: S608 - of constants

_one_at_a_time = threading.Lock()


class Outdated(Exception):
    """The file is an index of another version, or not whole."""


def connect(path: Path | None) -> apsw.Connection:
    """Open the index, making it where it is missing; without a path it is kept in memory."""
    if path is None:
        return _prepared(apsw.Connection(":memory:"))
    database = apsw.Connection(str(path), vfs=_file_system())
    try:
        return _prepared(database)
    except BaseException:
        database.close()
        raise


def tidy(database: apsw.Connection) -> None:
    """Give back pages that are free, and empty the log, so that no deleted text stays in it.

    While others read, that is left to the next time.
    """
    database.set_busy_timeout(0)
    with suppress(apsw.BusyError):
        database.execute(f"PRAGMA incremental_vacuum({FREED_PAGES})")
        database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    database.set_busy_timeout(BUSY_MILLISECONDS)


def has_vectors() -> bool:
    """Whether sqlite-vec is installed and works here."""
    return _find_extension().path is not None


def find_vector_fault() -> str | None:
    """Return why sqlite-vec, which is installed, does not work here, and what to do."""
    fault = _find_extension().fault
    return fault and (
        f"sqlite-vec cannot be loaded ({fault}); reinstall it with pip install --force-reinstall "
        "'turnleaf[vectors]', into a Python that has the module sqlite3"
    )


def _prepared(database: apsw.Connection) -> apsw.Connection:
    database.set_busy_timeout(BUSY_MILLISECONDS)
    _refuse_another(database)
    # Whoever closes last would delete the log by its name, which may belong to a newer index.
    database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    database.reserve_bytes(reserve=CHECKSUM_BYTES)
    for pragma, value in (
        ("page_size", PAGE_BYTES),
        ("auto_vacuum", "INCREMENTAL"),
        ("journal_mode", "WAL"),
        ("synchronous", "OFF"),
        ("secure_delete", "ON"),
        ("cache_size", -CACHE_KILOBYTES),
        ("journal_size_limit", LARGEST_LOG_BYTES),
        ("temp_store", "MEMORY"),
    ):
        database.pragma(pragma, value)
    _check(database)
    extension = _find_extension().path
    if extension:
        _load(database, extension)
    return database


class _Extension(NamedTuple):
    """Where sqlite-vec is, or what is wrong with it; neither where it is not installed."""

    path: str | None = None
    fault: str | None = None


def _find_extension() -> _Extension:
    try:
        if find_spec("sqlite_vec") is None:
            return _Extension()
        path = str(import_module("sqlite_vec").loadable_path())
    except Exception as fault:  # noqa: BLE001 - it imports sqlite3, which some Pythons lack
        return _Extension(fault=f"{type(fault).__name__}: {fault}")
    return _try_loading(path)


@cache
def _try_loading(path: str) -> _Extension:
    try:
        _load(apsw.Connection(":memory:"), path)
    except (apsw.Error, AttributeError) as fault:  # SQLite may have been built without extensions
        return _Extension(fault=str(fault))
    return _Extension(path)


def _load(database: apsw.Connection, extension: str) -> None:
    database.enable_load_extension(enable=True)
    database.load_extension(extension)
    database.enable_load_extension(enable=False)


def refuse_stranger(path: Path) -> None:
    """Refuse a file that was never an index: what is wrong with one is cured by deleting it."""
    if not path.exists():
        return
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        # Otherwise even a look at somebody's database leaves files beside it.
        address = f"{path.as_uri()}?immutable=1"
        with closing(apsw.Connection(address, flags=flags)) as database:
            _refuse_another(database)
            is_stranger = not database.pragma("page_count") and path.stat().st_size > 0
    except (apsw.CorruptError, apsw.NotADBError):
        is_stranger = True
    if is_stranger:
        message = f"{path} is there and is not an index; choose another name for the index"
        raise InvalidInput(message)


def _refuse_another(database: apsw.Connection) -> None:
    """Refuse a database that is no index, before anything in it is changed."""
    if database.pragma("application_id") != APPLICATION_ID and not _is_empty(database):
        message = f"{database.filename} is a database, but not an index; choose another name for it"
        raise InvalidInput(message)


def _check(database: apsw.Connection) -> None:
    """Make the tables in an empty file; refuse an index of another version."""
    with database:
        if _is_empty(database):
            database.execute(SCHEMA)
        elif database.pragma("user_version") != SCHEMA_VERSION:
            raise Outdated
        boot = _boot()
        if boot and database.execute("SELECT boot FROM totals").get != boot:
            _check_whole(database)
            # What was taken in is compared with the files once more.
            database.execute("UPDATE files SET signature = '', version = ''")
            database.execute("UPDATE totals SET boot = ?", (boot,))


def _check_whole(database: apsw.Connection) -> None:
    """Refuse an index of which a power cut kept some pages and not others.

    It is not made durable, and a page that is missing has no checksum that could be wrong.
    """
    counts = [
        database.execute(f"SELECT {what}").get
        for what in (
            "passages FROM totals",
            "count(*) FROM passages",
            "count(*) FROM words_docsize",
        )
    ]
    if len(set(counts)) > 1 or database.pragma("integrity_check") != "ok":
        raise Outdated
    database.execute("INSERT INTO words(words) VALUES ('integrity-check')")


def _boot() -> str | None:
    """Name the time since the machine was started, where the system does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None


def _is_empty(database: apsw.Connection) -> bool:
    return not database.execute("SELECT count(*) FROM sqlite_schema").get


@cache
def _file_system() -> str | None:
    """Give the name of the file system that adds checksums, if there is one."""
    with _one_at_a_time:
        usual = apsw.vfs_names()[0]
        try:
            with apsw.Connection(":memory:") as carrier:
                apsw.sqlite_extra.load(carrier, "cksumvfs")
        except (apsw.Error, apsw.sqlite_extra.NotAvailable, OSError):
            return None
        finally:
            apsw.set_default_vfs(usual)
        return "cksmvfs"
