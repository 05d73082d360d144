"""Conversations in a SQLite file, for thousands of them."""

from __future__ import annotations

import json
import os
import threading
from contextlib import closing, contextmanager
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

import apsw

from turnleaf.core import messages
from turnleaf.core.jsontext import dumps, is_text
from turnleaf.core.times import from_iso, to_iso
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.errors import StorageError
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import TypeVar

    from turnleaf.core.messages import Message
    from turnleaf.store.limits import Drop, Limits

    T = TypeVar("T")

SCHEMA_VERSION = 1
BUSY_MILLISECONDS = 30_000
SMALLEST = 512
"""SQLite takes a shorter file for an empty one, and writes over it."""
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS conversations (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    role TEXT NOT NULL,
    chars INTEGER NOT NULL,
    calls TEXT,
    text TEXT,
    timestamp TEXT,
    json TEXT
);
CREATE INDEX IF NOT EXISTS messages_by_conversation
    ON messages (conversation, n, role, chars, calls);
PRAGMA user_version = {SCHEMA_VERSION};
"""


# As bytes, because one damaged character must not keep all the others from being read.
OF_CONVERSATION = """
    SELECT role, CAST(text AS BLOB), timestamp, CAST(json AS BLOB) FROM messages
    WHERE conversation = ? AND n < ? ORDER BY n
"""
OF_KEY = """
    SELECT role, CAST(text AS BLOB), timestamp, CAST(json AS BLOB) FROM messages
    WHERE conversation = (SELECT id FROM conversations WHERE key = ?) ORDER BY n
"""
MAX_N = 2**62


class Row(NamedTuple):
    """All of a stored message that trimming must know."""

    n: int
    role: str
    chars: int
    calls: str | None

    @property
    def tool_call_id(self) -> str | None:
        """The call that it answers."""
        return self.calls if self.role == "tool" else None

    @property
    def call_ids(self) -> Sequence[str]:
        """The calls that it makes."""
        return json.loads(self.calls) if self.calls and self.role == "assistant" else ()


class DatabaseShelf:
    """A database in WAL mode whose every acknowledged write survives a power cut."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None
        self._identity = (0, 0)
        self._process = os.getpid()
        self._one_at_a_time = threading.RLock()

    def open(self) -> None:
        """Make the database where missing."""
        self._with_rescue(lambda _: None)

    def append(self, key: str, new: Sequence[Message], limits: Limits) -> None:
        """Add messages to a conversation and trim it, in one step."""
        rows = [_columns(message) for message in new]
        self._with_rescue(lambda database: _append(database, key, rows, limits), writing=True)

    def read(self, key: str) -> list[Message]:
        """Give a conversation's messages."""
        return self._with_rescue(lambda database: _read(database, OF_KEY, (key,)))

    def clear(self, key: str) -> bool:
        """Erase a conversation, so that no byte of it stays; False when there is none."""
        is_removed = self._with_rescue(lambda database: _remove(database, [key]) > 0, writing=True)
        self._with_rescue(lambda database: database.pragma("wal_checkpoint(TRUNCATE)"))
        return is_removed

    def expire(self, before: datetime, drop: Drop | None) -> int:
        """Remove conversations not added to since; give how many."""

        def remove(database: apsw.Connection) -> int:
            old = "SELECT key FROM conversations WHERE updated_at < ?"
            keys = [key for (key,) in database.execute(old, (to_iso(before),))]
            if drop:
                for key in keys:
                    drop(key, _messages(database, _id(database, key)))
            return _remove(database, keys)

        return self._with_rescue(remove, writing=True)

    def summaries(self) -> list[tuple[str, int, datetime, datetime]]:
        """Give key, messages, creation and last addition of each, newest first."""
        query = """
            SELECT key, count(n), created_at, updated_at
            FROM conversations LEFT JOIN messages ON conversation = id
            GROUP BY id ORDER BY updated_at DESC
        """
        rows = self._with_rescue(lambda database: list(database.execute(query)))
        return [(key, turns, from_iso(made), from_iso(last)) for key, turns, made, last in rows]

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        with self._one_at_a_time:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _with_rescue(self, work: Callable[[apsw.Connection], T], *, writing: bool = False) -> T:
        """Do some work; a damaged database is set aside first, and a new one made.

        SQLite also calls a database damaged when only the disk failed for a moment.
        """
        with self._one_at_a_time, _explained(self._path):
            try:
                return self._do(work, writing=writing)
            except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as problem:
                self.close()
                with files.locked(self._path) as file:
                    if _is_sound(self._path):
                        raise
                    file.set_aside(str(problem), companions=("-wal", "-shm"))
                return self._do(work, writing=writing)
            except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError):
                self.close()
                raise

    def _do(self, work: Callable[[apsw.Connection], T], *, writing: bool) -> T:
        database = self._opened()
        if not writing:
            return work(database)
        # SQLite's own waiting is unfair: a writer may starve for seconds.
        with files.locked(self._path):
            database.execute("BEGIN IMMEDIATE")
            try:
                result = work(database)
                database.execute("COMMIT")
            except BaseException:
                _roll_back(database)
                raise
        return result

    def _opened(self) -> apsw.Connection:
        if self._connection is not None and self._process == os.getpid():
            if files.identity(self._path) == self._identity:
                return self._connection
            self.close()
        self._process = os.getpid()
        with files.locked(self._path) as file:
            if not self._path.exists():
                file.replace(b"")
            elif 0 < self._path.stat().st_size < SMALLEST:
                file.set_aside("it is too short for a database")
                file.replace(b"")
            elif not files.is_writable(self._path):
                message = f"cannot write {self._path}: it is read-only; check who owns it"
                raise StorageError(message)
            self._connection = _connect(self._path)
            self._identity = files.identity(self._path)
        return self._connection


def _connect(path: Path) -> apsw.Connection:
    database = apsw.Connection(str(path))
    try:
        database.set_busy_timeout(BUSY_MILLISECONDS)
        # Else SQLite plans the same statement anew for each conversation.
        database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_writable(database, path)
        _choose_journal(database)
        database.pragma("secure_delete", "on")
        if _version(database, path) < SCHEMA_VERSION:
            database.execute(SCHEMA)
        # SQLite does not mind when the name of its log could not be made durable; we do.
        files.sync_folder(path.parent)
    except BaseException:
        database.close()
        raise
    return database


def _check_writable(database: apsw.Connection, path: Path) -> None:
    if database.readonly("main"):
        message = f"cannot write {path}: it is read-only; check who owns it and its folder"
        raise StorageError(message)


def _version(database: apsw.Connection, path: Path) -> int:
    version: int = database.pragma("user_version")
    if version > SCHEMA_VERSION:
        message = f"{path} was written by a newer version of Turnleaf; update this one"
        raise StorageError(message)
    return version


def _is_sound(path: Path) -> bool:
    """Tell whether a database is whole and ours."""
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database:
            database.set_busy_timeout(BUSY_MILLISECONDS)
            names = {"conversations": {"key", "updated_at"}, "messages": {"n", "json"}}
            has_schema = all(
                columns <= {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
                for table, columns in names.items()
            )
            return has_schema and database.pragma("integrity_check") == "ok"
    except apsw.Error:
        return False


def _choose_journal(database: apsw.Connection) -> None:
    """Use WAL where it works: on some network and container volumes it only claims to."""
    try:
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "full")
        database.execute("BEGIN IMMEDIATE; ROLLBACK")
    except (apsw.IOError, apsw.CantOpenError, apsw.BusyError):
        database.pragma("journal_mode", "truncate")
        database.pragma("synchronous", "full")


def _append(
    database: apsw.Connection, key: str, rows: Sequence[tuple[object, ...]], limits: Limits
) -> None:
    stamp = to_iso(limits.now)
    identity = _touched(database, key, stamp)
    rows_before = database.execute(
        "SELECT n, role, chars, calls FROM messages WHERE conversation = ? ORDER BY n",
        (identity,),
    )
    old = list(map(Row._make, rows_before))
    new = []
    for row in rows:
        database.execute(
            "INSERT INTO messages (conversation, role, chars, calls, text, timestamp, json) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (identity, *row),
        )
        new.append(Row(database.last_insert_rowid(), *row[:3]))  # type: ignore[arg-type]
    both = [*old, *new]
    kept = within_limits(both, limits.max_turns, limits.max_chars, _chars)
    if len(kept) < len(both):
        _trim(database, key, identity, kept[0].n, limits.drop)


def _touched(database: apsw.Connection, key: str, stamp: str) -> int:
    query = """
        INSERT INTO conversations (key, created_at, updated_at) VALUES (?1, ?2, ?2)
        ON CONFLICT (key) DO UPDATE SET updated_at = ?2 RETURNING id
    """
    identity: int = database.execute(query, (key, stamp)).get
    return identity


def _trim(
    database: apsw.Connection, key: str, identity: int, first: int, drop: Drop | None
) -> None:
    if drop:
        drop(key, _messages(database, identity, before=first))
    database.execute("DELETE FROM messages WHERE conversation = ? AND n < ?", (identity, first))


def _remove(database: apsw.Connection, keys: Sequence[str]) -> int:
    for key in keys:
        identity = _id(database, key)
        database.execute("DELETE FROM messages WHERE conversation = ?", (identity,))
    database.executemany("DELETE FROM conversations WHERE key = ?", [(key,) for key in keys])
    return len(keys) if keys and database.changes() else 0


def _id(database: apsw.Connection, key: str) -> int:
    found: int | None = database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).get
    return found or 0


def _messages(database: apsw.Connection, identity: int, before: int = MAX_N) -> list[Message]:
    return _read(database, OF_CONVERSATION, (identity, before))


def _read(database: apsw.Connection, query: str, values: tuple[object, ...]) -> list[Message]:
    rows = starmap(_message, database.execute(query, values))
    return [message for message in rows if message is not None]


def _message(role: str, text: bytes, timestamp: str, full: bytes | None) -> Message | None:
    try:
        if full is None:
            return messages.as_stored(role, text.decode(), from_iso(timestamp))
        return messages.from_json(json.loads(full))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        files.log.warning("a stored message cannot be read (%s); it is left alone", error)
        return None


def _columns(message: Message) -> tuple[object, ...]:
    """Give a message's columns; only what is plain text needs no JSON."""
    chars = content_chars(message.content)
    is_plain = isinstance(message.content, str) and message.name is None
    if is_plain and not message.tool_calls and message.tool_call_id is None:
        stamp = to_iso(message.timestamp) if message.timestamp else None
        if is_text(str(message.content)):
            return message.role, chars, None, message.content, stamp, None
    calls = json.dumps(message.call_ids) if message.call_ids else message.tool_call_id
    return message.role, chars, calls, None, None, dumps(messages.to_json(message))


def _chars(row: Row) -> int:
    return row.chars


def _roll_back(database: apsw.Connection) -> None:
    if database.in_transaction:
        database.execute("ROLLBACK")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.FullError as error:
        message = f"cannot write {path}: the disk is full; free some space and try again"
        raise StorageError(message) from error
    except apsw.ReadOnlyError as error:
        message = f"cannot write {path}: it is read-only; check who owns it and its folder"
        raise StorageError(message) from error
    except apsw.BusyError as error:
        message = f"cannot write {path}: another program keeps it locked; end it or try again"
        raise StorageError(message) from error
    except apsw.CantOpenError as error:
        message = f"cannot open {path}: check that its folder is there and belongs to you"
        raise StorageError(message) from error
    except apsw.Error as error:
        message = f"cannot use {path}: {error}; check the disk and keep a backup"
        raise StorageError(message) from error
