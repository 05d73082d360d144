"""Conversations in a SQLite file, for thousands of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core import messages
from turnleaf.core.jsontext import dumps, is_text
from turnleaf.core.times import from_iso, to_iso
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.store import databases, files
from turnleaf.store.databases import Database, Form
from turnleaf.store.limits import before_again

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from turnleaf.core.messages import Message
    from turnleaf.store.databases import Connection
    from turnleaf.store.limits import Drop, Limits

SCHEMA = """
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
    ON messages (conversation, n, role, chars, calls)
"""
FORM = Form(holds="conversations", version=1, schema=SCHEMA)

BEGINNING_CHARS = 1000
"""How much of a first question is read to make a title."""

# As bytes, because one damaged character must not keep all the others from being read.
COLUMNS = "CAST(role AS BLOB), CAST(text AS BLOB), CAST(timestamp AS BLOB), CAST(json AS BLOB)"
OF_CONVERSATION = f"""
    SELECT {COLUMNS} FROM messages WHERE conversation = ? AND n < ? ORDER BY n
"""  # noqa: S608 - of constants
OF_KEY = f"""
    SELECT {COLUMNS} FROM messages
    WHERE conversation = (SELECT id FROM conversations WHERE key = ?) ORDER BY n
"""  # noqa: S608 - of constants
SUMMARIES = f"""
    SELECT CAST(key AS BLOB), (SELECT count(*) FROM messages WHERE conversation = id),
        CAST(created_at AS BLOB), CAST(updated_at AS BLOB),
        CAST(substr(first.text, 1, {BEGINNING_CHARS}) AS BLOB), CAST(first.json AS BLOB)
    FROM conversations LEFT JOIN messages AS first ON first.n = (
        SELECT n FROM messages WHERE conversation = id AND role = 'user' ORDER BY n LIMIT 1
    )
    ORDER BY updated_at DESC, (SELECT max(n) FROM messages WHERE conversation = id) DESC
"""  # noqa: S608 - of constants
MAX_N = 2**62
LONG_AGO = datetime.fromtimestamp(0, UTC)


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
    """A database of conversations."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, FORM)

    def open(self) -> None:
        """Make the database where missing."""
        self._database.open()

    def append(self, key: str, new: Sequence[Message], limits: Limits) -> None:
        """Add messages to a conversation and trim it, in one step."""
        rows = [_columns(message) for message in new]
        self._database.write(lambda database: _append(database, key, rows, limits))

    def read(self, key: str) -> list[Message]:
        """Give a conversation's messages."""
        return self._database.read(lambda database: _read(database, OF_KEY, (key,)))

    def clear(self, key: str) -> bool:
        """Erase a conversation, so that no byte of it stays; False when there is none."""
        is_removed = self._database.write(
            lambda database: _remove(database, [_id(database, key)]) > 0
        )
        self._database.scrub()
        return is_removed

    def expire(self, before: datetime, drop: Drop | None) -> int:
        """Remove conversations not added to since; give how many."""

        def remove(database: Connection) -> int:
            query = "SELECT id, CAST(key AS BLOB) FROM conversations WHERE updated_at < ?"
            old: list[Any] = database.execute(query, (to_iso(before),)).fetchall()
            if drop:
                for identity, key in old:
                    drop(_text(key), _messages(database, identity))
            return _remove(database, [identity for identity, _ in old])

        return self._database.write(remove)

    def summaries(self) -> list[tuple[str, int, datetime, datetime, str]]:
        """Give key, messages, creation, last addition and first question, newest first."""
        rows = self._database.read(lambda database: list(database.execute(SUMMARIES)))
        return [
            (_text(key), turns, _time(made), _time(last), _question(text, full))
            for key, turns, made, last, text, full in rows
        ]

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._database.close()


def examine(path: Path) -> int:
    """Count a database's conversations, changing nothing; raise CorruptFile when it is none."""
    return databases.examined(path, FORM, _count) if path.stat().st_size else 0


def _count(database: Connection) -> int:
    found: int = database.execute("SELECT count(*) FROM conversations").get
    return found


def _append(
    database: Connection, key: str, rows: Sequence[tuple[object, ...]], limits: Limits
) -> None:
    stamp = to_iso(limits.now)
    identity = _touched(database, key, stamp)
    if limits.again is not None:
        _drop_again(database, identity, limits.again)
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


def _drop_again(database: Connection, identity: int, again: str) -> None:
    messages = _messages(database, identity)
    surplus = len(messages) - len(before_again(messages, again))
    newest = "SELECT n FROM messages WHERE conversation = ? ORDER BY n DESC LIMIT ?"
    database.execute(f"DELETE FROM messages WHERE n IN ({newest})", (identity, surplus))  # noqa: S608


def _touched(database: Connection, key: str, stamp: str) -> int:
    query = """
        INSERT INTO conversations (key, created_at, updated_at) VALUES (?1, ?2, ?2)
        ON CONFLICT (key) DO UPDATE SET updated_at = ?2 RETURNING id
    """
    identity: int = database.execute(query, (key, stamp)).get
    return identity


def _trim(database: Connection, key: str, identity: int, first: int, drop: Drop | None) -> None:
    if drop:
        drop(key, _messages(database, identity, before=first))
    database.execute("DELETE FROM messages WHERE conversation = ? AND n < ?", (identity, first))


def _remove(database: Connection, identities: Sequence[int]) -> int:
    removed = 0
    for identity in identities:
        database.execute("DELETE FROM messages WHERE conversation = ?", (identity,))
        database.execute("DELETE FROM conversations WHERE id = ?", (identity,))
        removed += database.changes()
    return removed


def _id(database: Connection, key: str) -> int:
    found: int | None = database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).get
    return found or 0


def _messages(database: Connection, identity: int, before: int = MAX_N) -> list[Message]:
    return _read(database, OF_CONVERSATION, (identity, before))


def _read(database: Connection, query: str, values: tuple[object, ...]) -> list[Message]:
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


def _question(text: bytes | None, full: bytes | None) -> str:
    if full is None:
        return _text(text or b"")
    message = _message(b"", b"", b"", full)
    return message.text if message else ""


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
