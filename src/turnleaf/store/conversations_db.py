"""Conversations in a SQLite file, for thousands of them."""

from __future__ import annotations

import json
import os
import threading
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from turnleaf.core import messages
from turnleaf.core.jsontext import dumps, is_text
from turnleaf.core.times import from_iso, to_iso
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.errors import CorruptFile, StorageError
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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
COLUMNS = "CAST(role AS BLOB), CAST(text AS BLOB), CAST(timestamp AS BLOB), CAST(json AS BLOB)"
OF_CONVERSATION = f"""
    SELECT {COLUMNS} FROM messages WHERE conversation = ? AND n < ? ORDER BY n
"""  # noqa: S608 - of constants
OF_KEY = f"""
    SELECT {COLUMNS} FROM messages
    WHERE conversation = (SELECT id FROM conversations WHERE key = ?) ORDER BY n
"""  # noqa: S608 - of constants
MAX_N = 2**62
LONG_AGO = datetime.fromtimestamp(0, UTC)


ADVICE: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "cannot write {path}: the disk is full; free some space and try again"),
    (apsw.ReadOnlyError, "cannot write {path}: it is read-only; check who owns it and its folder"),
    (
        apsw.BusyError,
        "cannot write {path}: another program keeps it locked; end it or try again",
    ),
    (apsw.CantOpenError, "cannot open {path}: check that its folder is there and belongs to you"),
)
OTHERWISE = "cannot use {path}: {error}; check the disk and keep a backup"


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
        if not self.calls or self.role != "assistant":
            return ()
        try:
            return list(json.loads(self.calls))
        except (TypeError, ValueError):
            return ()


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
        is_removed = self._with_rescue(
            lambda database: _remove(database, [_id(database, key)]) > 0, writing=True
        )
        self._with_rescue(lambda database: database.pragma("wal_checkpoint(TRUNCATE)"))
        return is_removed

    def expire(self, before: datetime, drop: Drop | None) -> int:
        """Remove conversations not added to since; give how many."""

        def remove(database: apsw.Connection) -> int:
            query = "SELECT id, CAST(key AS BLOB) FROM conversations WHERE updated_at < ?"
            old: list[Any] = database.execute(query, (to_iso(before),)).fetchall()
            if drop:
                for identity, key in old:
                    drop(_text(key), _messages(database, identity))
            return _remove(database, [identity for identity, _ in old])

        return self._with_rescue(remove, writing=True)

    def summaries(self) -> list[tuple[str, int, datetime, datetime]]:
        """Give key, messages, creation and last addition of each, newest first."""
        query = """
            SELECT CAST(key AS BLOB), count(n), CAST(created_at AS BLOB), CAST(updated_at AS BLOB)
            FROM conversations LEFT JOIN messages ON conversation = id
            GROUP BY id ORDER BY updated_at DESC
        """
        rows = self._with_rescue(lambda database: list(database.execute(query)))
        return [(_text(key), turns, _time(made), _time(last)) for key, turns, made, last in rows]

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


def examine(path: Path) -> int:
    """Count a database's conversations, changing nothing; raise CorruptFile when it is none."""
    if path.stat().st_size == 0:
        return 0
    # In WAL mode even a reader makes files beside it, unless told that nobody writes.
    is_idle = not path.with_name(f"{path.name}-wal").exists()
    address = f"{path.absolute().as_uri()}?{'immutable=1' if is_idle else 'mode=ro'}"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with _explained(path):
        try:
            with closing(apsw.Connection(address, flags=flags)) as database:
                database.set_busy_timeout(BUSY_MILLISECONDS)
                return _count(database, path)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
            message = f"it is not a database of conversations: {error}"
            raise CorruptFile(message) from error


def _count(database: apsw.Connection, path: Path) -> int:
    _version(database, path)
    problem: str = database.execute("PRAGMA quick_check(1)").get
    if problem != "ok":
        message = f"it is damaged: {problem}"
        raise CorruptFile(message)
    found: int = database.execute("SELECT count(*) FROM conversations").get
    return found


def _connect(path: Path) -> apsw.Connection:
    database = apsw.Connection(str(path))
    try:
        database.set_busy_timeout(BUSY_MILLISECONDS)
        # Else SQLite plans the same statement anew for each conversation.
        database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_writable(database, path)
        _choose_journal(database)
        # What a killed program had not made durable is made so before anything is built on it.
        with suppress(apsw.BusyError):
            database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
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
    except (apsw.Error, UnicodeDecodeError):
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
    rows_before: Any = database.execute(
        "SELECT n, CAST(role AS BLOB), chars, CAST(calls AS BLOB) FROM messages "
        "WHERE conversation = ? ORDER BY n",
        (identity,),
    )
    old = [
        Row(n, _text(role), chars, calls and _text(calls)) for n, role, chars, calls in rows_before
    ]
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


def _remove(database: apsw.Connection, identities: Sequence[int]) -> int:
    removed = 0
    for identity in identities:
        database.execute("DELETE FROM messages WHERE conversation = ?", (identity,))
        database.execute("DELETE FROM conversations WHERE id = ?", (identity,))
        removed += database.changes()
    return removed


def _id(database: apsw.Connection, key: str) -> int:
    found: int | None = database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).get
    return found or 0


def _messages(database: apsw.Connection, identity: int, before: int = MAX_N) -> list[Message]:
    return _read(database, OF_CONVERSATION, (identity, before))


def _read(database: apsw.Connection, query: str, values: tuple[object, ...]) -> list[Message]:
    rows = starmap(_message, database.execute(query, values))
    return [message for message in rows if message is not None]


def _message(role: bytes, text: bytes, timestamp: bytes, full: bytes | None) -> Message | None:
    try:
        if full is None:
            return messages.as_stored(role.decode(), text.decode(), from_iso(timestamp.decode()))
        return messages.from_json(json.loads(full))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        files.log.warning("a stored message cannot be read (%s); it is left alone", error)
        return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _time(data: bytes) -> datetime:
    """Read a time; one that is damaged was long ago."""
    try:
        return from_iso(_text(data))
    except ValueError:
        return LONG_AGO


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
    except apsw.Error as error:
        advice = next((text for kind, text in ADVICE if isinstance(error, kind)), OTHERWISE)
        raise StorageError(advice.format(path=path, error=error)) from error
