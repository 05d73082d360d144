"""The tables of a database of conversations, and its messages as rows.

No change of a message but its erasure makes its row longer or shorter: SQLite then overwrites
the row where it stands, and no copy of its text stays behind in another page.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core import messages
from turnleaf.core.keys import choose_audience
from turnleaf.core.messages import NewMessage, find_trust, make_title
from turnleaf.core.serialization import dumps, from_iso, is_text, to_iso, to_text
from turnleaf.errors import NotFound
from turnleaf.store.files import atomic
from turnleaf.store.files.databases import Form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turnleaf.core.messages import Message
    from turnleaf.store.files.databases import Connection

# What an answer rests on, as a JSON list: below '[]' if there is something in it. Its index has
# all that a reader wants, so that no message is read for it.
CITED = "CASE WHEN json_valid(shaped_by) THEN json_extract(shaped_by, '$.cited') END"

# AUTOINCREMENT, because the index follows messages by numbers that must never come again. What may
# be said of a message later is a flag that is NULL or 1, neither of which takes room in its row, or
# a text as long as the one that it replaces.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS conversations (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    leaf INTEGER NOT NULL DEFAULT 0,
    oldest TEXT,
    title TEXT NOT NULL DEFAULT '',
    is_renamed INTEGER NOT NULL DEFAULT 0,
    audience TEXT NOT NULL DEFAULT '',
    is_searched INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    parent INTEGER,
    is_shown INTEGER NOT NULL DEFAULT 1,
    role TEXT NOT NULL,
    text TEXT,
    timestamp TEXT,
    json TEXT,
    is_resumed INTEGER,
    is_version INTEGER,
    is_hidden INTEGER,
    is_accepted INTEGER,
    status TEXT,
    trust TEXT,
    source TEXT,
    shaped_by TEXT
);
CREATE INDEX IF NOT EXISTS messages_by_conversation ON messages (conversation, is_shown);
CREATE INDEX IF NOT EXISTS versions ON messages (conversation, parent) WHERE is_version;
CREATE INDEX IF NOT EXISTS citing ON messages ({CITED}) WHERE {CITED} < '[]';
CREATE TABLE IF NOT EXISTS alterations (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL UNIQUE ON CONFLICT REPLACE
);
CREATE TABLE IF NOT EXISTS hidden (
    message INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (reason, message)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS identity (name TEXT NOT NULL)
"""

RENAME_VERSION_1 = """
DROP INDEX IF EXISTS messages_by_conversation;
ALTER TABLE conversations RENAME TO conversations_1;
ALTER TABLE messages RENAME TO messages_1
"""
COPY_VERSION_1 = """
INSERT INTO messages (n, conversation, parent, role, text, timestamp, json)
    SELECT n, conversation, lag(n) OVER (PARTITION BY conversation ORDER BY n),
        role, text, timestamp, json
    FROM messages_1 ORDER BY n;
INSERT INTO conversations (id, key, created_at, updated_at, turns, leaf)
    SELECT id, key, created_at, updated_at,
        (SELECT count(*) FROM messages WHERE conversation = id),
        coalesce((SELECT max(n) FROM messages WHERE conversation = id), 0)
    FROM conversations_1 ORDER BY id;
DROP TABLE messages_1;
DROP TABLE conversations_1
"""

# As bytes, where one damaged character must not keep all the others from being read.
PLAIN = "CAST(role AS BLOB), CAST(text AS BLOB), CAST(timestamp AS BLOB), CAST(json AS BLOB)"
MORE = """
    CAST(status AS BLOB), CAST(trust AS BLOB), CAST(source AS BLOB), CAST(shaped_by AS BLOB),
    is_accepted, is_hidden
"""

STATUS_CHARS = 8
"""All are as long as "complete", which one of them may become."""

Row: TypeAlias = tuple[Any, ...]


def select(database: Connection, query: str, values: Row = ()) -> list[Row]:
    """Return the rows that a query finds."""
    rows: list[Any] = database.execute(query, values).fetchall()
    return rows


def upgrade(database: Connection, version: int) -> None:
    """Make the tables, or those of an older version into those of today."""
    if version == 1:
        database.execute(RENAME_VERSION_1)
    database.execute(SCHEMA)
    if version == 1:
        database.execute(COPY_VERSION_1)
        _fill_in(database)
    if database.execute("SELECT count(*) FROM identity").get == 0:
        renew_identity(database)


FORM = Form(holds="conversations", version=2, schema=SCHEMA, upgrade=upgrade)


def renew_identity(database: Connection) -> None:
    """Change the identity of a database: whoever followed it must begin anew."""
    database.execute("DELETE FROM identity")
    # By chance and not counted: two copies of one database must not get the same.
    database.execute("INSERT INTO identity (name) VALUES (?)", (secrets.token_hex(16),))


def _fill_in(database: Connection) -> None:
    """Fill in the columns that conversations of version 1 did not have."""
    query = f"SELECT n, {PLAIN} FROM messages WHERE json IS NOT NULL"  # noqa: S608
    for n, *columns in select(database, query):
        message = read_message(*columns)
        stamp = to_iso(message.timestamp) if message and message.timestamp else None
        database.execute("UPDATE messages SET timestamp = ? WHERE n = ?", (stamp, n))
    for identity, key in select(database, "SELECT id, CAST(key AS BLOB) FROM conversations"):
        audience = choose_audience(decode(key))
        database.execute("UPDATE conversations SET audience = ? WHERE id = ?", (audience, identity))
        set_title(database, identity)
        set_oldest(database, identity)


def set_title(database: Connection, identity: int) -> None:
    """Title a conversation by its first question that is not hidden, unless it was renamed."""
    query = f"""
        SELECT {PLAIN} FROM messages
        WHERE conversation = ? AND role = 'user' AND is_hidden IS NULL ORDER BY n
    """  # noqa: S608 - of constants
    rows: Any = database.execute(query, (identity,))
    questions = (read_message(*row) for row in rows)
    # No further than to the first that gives one: a conversation may have thousands of questions.
    title = next((make_title(one.text) for one in questions if one), "")
    database.execute(
        "UPDATE conversations SET title = ? WHERE id = ? AND NOT is_renamed", (title, identity)
    )


def set_oldest(database: Connection, identity: int) -> None:
    """Note when the oldest message of a conversation was said, which is when it began."""
    query = "SELECT min(timestamp) FROM messages WHERE conversation = ?"
    oldest: str | None = database.execute(query, (identity,)).get
    query = (
        "UPDATE conversations SET oldest = ?1, created_at = coalesce(?1, created_at) WHERE id = ?2"
    )
    database.execute(query, (oldest, identity))


def to_row(message: Message) -> Row:
    """Return role, text, timestamp and JSON; only what is plain text needs no JSON."""
    stamp = to_iso(message.timestamp) if message.timestamp else None
    content = message.content
    is_plain = isinstance(content, str) and message.name is None
    # What UTF-8 cannot hold, such as a lone surrogate, is kept exactly in JSON.
    if is_plain and not message.tool_calls and message.tool_call_id is None and is_text(content):  # type: ignore[arg-type]
        return message.role, content, stamp, None
    return message.role, None, stamp, dumps(messages.to_json(message))


def to_more(new: NewMessage) -> Row:
    """Return status, trust, source and what shaped it; what is usual is NULL."""
    trust = None if new.trust == find_trust(new.message.role) else new.trust
    shaped_by = None if new.shaped_by is None else dumps(dict(new.shaped_by))
    status = None if new.status == "complete" else pad_status(new.status)
    return status, trust, new.source and to_text(new.source), shaped_by


def pad_status(status: str) -> str:
    """Return a status as it is stored."""
    return status.ljust(STATUS_CHARS)


def read_message(
    role: bytes, text: bytes | None, timestamp: bytes | None, full: bytes | None
) -> Message | None:
    """Read a message; one that is damaged is None, and stays where it is."""
    try:
        if full is not None:
            return messages.from_json(json.loads(full))
        stamp = from_iso(timestamp.decode())  # type: ignore[union-attr]
        return messages.make_stored(role.decode(), text.decode(), stamp)  # type: ignore[union-attr]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        atomic.log.warning("a stored message cannot be read (%s); it was left as it is", error)
        return None


def decode(data: bytes | None) -> str:
    """Read text of which a character may be damaged."""
    return (data or b"").decode("utf-8", "replace")


def alter(database: Connection, numbers: Iterable[int]) -> None:
    """Record that messages changed, so that who follows the database reads them again."""
    database.executemany("INSERT INTO alterations (message) VALUES (?)", [(n,) for n in numbers])


def alter_all(database: Connection, identity: int) -> None:
    """Record that a conversation changed, so that who follows the database reads it again."""
    rows = select(database, "SELECT n FROM messages WHERE conversation = ?", (identity,))
    alter(database, [n for (n,) in rows])


def find_conversation(database: Connection, key: str) -> int | None:
    """Return the number of a conversation."""
    found: int | None = database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).get
    return found


def get_conversation(database: Connection, key: str) -> int:
    """Return the number of a conversation; raise NotFound when there is none."""
    found = find_conversation(database, key)
    if found is None:
        message = f"there is no conversation {key!r}; list them with turnleaf history"
        raise NotFound(message)
    return found


SHOWN_AFTER = "SELECT n FROM messages WHERE conversation = ? AND is_shown = 1 AND n > ?"


def branch(database: Connection, identity: int, after: int) -> bool:
    """Show the path that ends with a message (0: none); whether other messages follow it."""
    # Usually the message is on the shown path, and only what follows it changes.
    if not _ends_within(database, identity, after):
        path = _find_path(_read_parents(database, identity), after)
        _show(database, identity, path)
    # IS, because the first message of a conversation follows NULL.
    query = "UPDATE messages SET is_version = 1 WHERE conversation = ? AND parent IS ?"
    database.execute(query, (identity, after or None))
    return database.changes() > 0


def _ends_within(database: Connection, identity: int, after: int) -> bool:
    """End the shown path at a message of it; False when it is not on that path."""
    query = "SELECT is_shown FROM messages WHERE n = ? AND conversation = ?"
    if after and not database.execute(query, (after, identity)).get:
        return False
    rows = select(database, SHOWN_AFTER, (identity, after))
    _mark(database, [n for (n,) in rows], is_shown=False)
    return True


def show_through(database: Connection, identity: int, number: int) -> None:
    """Show the path through a message to the newest of all that follow it."""
    parents = _read_parents(database, identity)
    if number not in parents:
        raise make_no_message_error(number)
    # One pass is enough: a message follows only one that
    # was stored before it, so with a smaller number.
    below = {number}
    for n, parent in parents.items():
        if parent in below:
            below.add(n)
    leaf = max(below)
    path = _find_path(parents, leaf)
    _show(database, identity, path)
    database.execute(
        "UPDATE conversations SET turns = ?, leaf = ? WHERE id = ?", (len(path), leaf, identity)
    )


def take_out(database: Connection, identity: int, number: int) -> None:
    """Remove a message, if it is there; what followed it follows the one before it."""
    query = "SELECT parent FROM messages WHERE n = ? AND conversation = ?"
    for (parent,) in select(database, query, (number, identity)):
        following = "UPDATE messages SET parent = ? WHERE conversation = ? AND parent = ?"
        database.execute(following, (parent, identity, number))
        database.execute("DELETE FROM messages WHERE n = ?", (number,))
        alter(database, [number])


def make_no_message_error(number: int) -> NotFound:
    """Return the error for a message that the conversation does not have."""
    return NotFound(f"there is no message {number} in this conversation; reload it")


def _read_parents(database: Connection, identity: int) -> dict[int, int | None]:
    query = "SELECT n, parent FROM messages WHERE conversation = ? ORDER BY n"
    return dict(select(database, query, (identity,)))


def _find_path(parents: dict[int, int | None], leaf: int) -> set[int]:
    """Return the numbers from the beginning to a message, which may have been removed since."""
    if leaf not in parents and leaf not in parents.values():
        raise make_no_message_error(leaf)
    path = set()
    at: int | None = leaf
    while at is not None and at in parents:
        path.add(at)
        at = parents[at]
    return path


def _show(database: Connection, identity: int, path: set[int]) -> None:
    shown = {n for (n,) in select(database, SHOWN_AFTER, (identity, 0))}
    _mark(database, shown - path, is_shown=False)
    _mark(database, path - shown, is_shown=True)


def _mark(database: Connection, numbers: Iterable[int], *, is_shown: bool) -> None:
    ordered = sorted(numbers)
    rows = [(int(is_shown), n) for n in ordered]
    database.executemany("UPDATE messages SET is_shown = ? WHERE n = ?", rows)
    alter(database, ordered)
