"""Reading a database of conversations: windows, messages, summaries and the feed."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from turnleaf.core.keys import Reader, can_read
from turnleaf.core.messages import (
    ConversationSummary,
    Cursor,
    Feed,
    FeedMessage,
    StoredMessage,
    find_trust,
    list_cited,
    make_many_stored,
)
from turnleaf.core.serialization import from_iso
from turnleaf.core.window import PathRow, collect_window, stop_at_silence
from turnleaf.store.files.conversations.schema import (
    CITED,
    MORE,
    PLAIN,
    Row,
    decode,
    read_message,
    select,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from turnleaf.core.messages import Message
    from turnleaf.core.window import EarlierMessage, Limits
    from turnleaf.store.files.databases import Connection

OF_KEY = "conversation = (SELECT id FROM conversations WHERE key = ?)"
WINDOW = f"""
    SELECT n, is_resumed, is_hidden, {PLAIN} FROM messages
    WHERE {OF_KEY} AND is_shown = 1 ORDER BY n DESC
"""  # noqa: S608 - of constants
STORED = f"n, conversation, parent, is_version, {MORE}, {PLAIN}"
SHOWN = f"""
    SELECT {STORED} FROM messages
    WHERE {OF_KEY} AND is_shown = 1 AND n < ? ORDER BY n DESC LIMIT ?
"""  # noqa: S608 - of constants
SHOWN_SINCE = f"""
    SELECT {STORED} FROM messages WHERE {OF_KEY} AND is_shown = 1 AND n >= ? ORDER BY n
"""  # noqa: S608 - of constants
BY_NUMBER = f"""
    SELECT (SELECT CAST(key AS BLOB) FROM conversations WHERE id = conversation), {STORED}
    FROM messages WHERE n = ?
"""  # noqa: S608 - of constants
VERSIONS = """
    SELECT n FROM messages WHERE is_version AND conversation = ? AND parent IS ? ORDER BY n
"""
SUMMARY = """
    SELECT id, CAST(key AS BLOB), turns, CAST(created_at AS BLOB), CAST(updated_at AS BLOB),
        CAST(title AS BLOB), CAST(audience AS BLOB), is_searched, is_renamed
    FROM conversations
"""
ALL_TEXTS = """
    SELECT conversation, CAST(text AS BLOB), CAST(json AS BLOB) FROM messages
    WHERE is_hidden IS NULL
"""
FEED = f"""
    n, CAST(key AS BLOB), CAST(trust AS BLOB), CAST(source AS BLOB), parent,
    CAST(audience AS BLOB), is_shown, is_accepted,
    is_searched AND is_hidden IS NULL, {PLAIN}
"""
NEW = f"""
    SELECT {FEED} FROM messages JOIN conversations ON id = conversation
    WHERE n > ? ORDER BY n LIMIT ?
"""  # noqa: S608 - of constants
ALTERED = f"""
    SELECT alterations.n, message, {FEED.replace("n,", "messages.n,", 1)}
    FROM alterations LEFT JOIN messages ON messages.n = message
        LEFT JOIN conversations ON id = conversation
    WHERE alterations.n > ? ORDER BY alterations.n LIMIT ?
"""  # noqa: S608 - of constants
FEED_ROLES = ("user", "assistant", "tool")
NO_LIMIT = -1
MAX_N = 2**62
fromisoformat = datetime.fromisoformat
LONG_AGO = datetime.fromtimestamp(0, UTC)
ANYBODY = Reader()


PLAIN_WINDOW = f"""
    SELECT role, text, timestamp, is_hidden FROM messages
    WHERE {OF_KEY} AND is_shown = 1 ORDER BY n DESC LIMIT ?
"""  # noqa: S608 - of constants
MANY_TURNS = 200


def read_plain(
    database: Connection, key: str, limits: Limits, now: datetime
) -> list[Message] | None:
    """Do what `read_window` does for a window of plain messages without a silence, else nothing.

    A turn reads its window before anything else, and nearly all windows are of this kind.
    """
    try:
        return _read_plain(database, key, limits, now)
    # Something in it is no plain text or is damaged, which the slower way can read.
    except (TypeError, ValueError):
        return None


def _read_plain(
    database: Connection, key: str, limits: Limits, now: datetime
) -> list[Message] | None:
    # Here every row is read before it is cut; with large limits that would be the slower way.
    if limits.max_turns > MANY_TURNS:
        return None
    # One more than fits, which shows whether anything has to be cut.
    rows: Any = list(database.execute(PLAIN_WINDOW, (key, limits.max_turns + 1)))
    if not rows:
        return []
    roles, texts, stamps, hidden = zip(*rows)  # noqa: B905 - they are rows of one query
    times = tuple(map(fromisoformat, stamps))
    oldest, longest = min(times), limits.max_silence
    # Stricter than a silence: whatever spans as long is left to `read_window`, which looks closer.
    has_silence = now - oldest > longest or max(times) - oldest > longest
    if has_silence or hidden.count(None) < len(hidden):
        return None
    last = _count_fitting(texts, limits)
    if last < len(rows):
        # The newest exchange stays whole even if it alone exceeds a limit,
        # and a window never begins with an answer: model APIs refuse that.
        newest = roles.index("user") + 1
        while last > newest and roles[last - 1] == "assistant":
            last -= 1
        last = max(last, newest)
    return make_many_stored(roles[last - 1 :: -1], texts[last - 1 :: -1], times[last - 1 :: -1])


def _count_fitting(texts: Sequence[str], limits: Limits) -> int:
    """Count the newest messages that exceed no limit."""
    newest = texts[: limits.max_turns]
    chars, count = sum(map(len, newest)), len(newest)
    while chars > limits.max_chars:
        count -= 1
        chars -= len(newest[count])
    return count


def read_window(
    database: Connection, key: str, limits: Limits, now: datetime, *, resumed: bool = False
) -> Sequence[EarlierMessage]:
    """Return the newest messages within the limits, reading backwards no further than needed."""
    rows = _read_back(database, key)
    return collect_window(stop_at_silence(rows, limits, now, is_joined=resumed), limits)


def _read_back(database: Connection, key: str) -> Iterator[PathRow]:
    rows: Any = database.execute(WINDOW, (key,))
    for n, is_resumed, is_hidden, *columns in rows:
        message = read_message(*columns)
        if message is not None:
            yield PathRow(n, message, bool(is_resumed), bool(is_hidden))


def read_messages(
    database: Connection, key: str, before: int | None, limit: int | None
) -> list[StoredMessage]:
    """Return the newest messages of the shown path below a number, oldest first."""
    values = (key, MAX_N if before is None else before, NO_LIMIT if limit is None else limit)
    return list(_store(database, reversed(select(database, SHOWN, values))))


def read_one(database: Connection, n: int) -> tuple[str, StoredMessage] | None:
    """Return a message with its conversation's key, also of a path that is not shown."""
    for key, *row in select(database, BY_NUMBER, (n,)):
        for stored in _store(database, [row]):
            return decode(key), stored
    return None


def read_stored_window(
    database: Connection, key: str, limits: Limits, now: datetime, *, resumed: bool
) -> list[StoredMessage]:
    """Return what the window shows, as stored messages."""
    said = read_window(database, key, limits, now, resumed=resumed)
    if not said:
        return []
    rows = select(database, SHOWN_SINCE, (key, said[0].n))
    numbers = {one.n for one in said}
    return [one for one in _store(database, rows) if one.id in numbers]


def _store(database: Connection, rows: Iterable[Sequence[Any]]) -> Iterator[StoredMessage]:
    for n, conversation, parent, is_version, *more in rows:
        status, trust, source, shaped_by, is_accepted, is_hidden, *columns = more
        message = read_message(*columns)
        if message:
            yield StoredMessage(
                id=n,
                message=message,
                status=decode(status).strip() or "complete",
                trust=_find_trust(message.role, trust, is_accepted),
                source=_read_optional(source),
                parent=parent,
                versions=_list_versions(database, conversation, parent) if is_version else (),
                is_hidden=bool(is_hidden),
                shaped_by=_read_shape(shaped_by),
            )


def _list_versions(database: Connection, conversation: int, parent: int | None) -> tuple[int, ...]:
    same = tuple(n for (n,) in select(database, VERSIONS, (conversation, parent)))
    return same if len(same) > 1 else ()


def _find_trust(role: str, trust: bytes | None, is_accepted: object) -> str:
    return "user" if is_accepted else decode(trust) or find_trust(role)


def _read_optional(data: bytes | None) -> str | None:
    return None if data is None else decode(data)


def _read_shape(data: bytes | None) -> dict[str, Any] | None:
    try:
        found = None if data is None else json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def read_summaries(
    database: Connection, query: str | None, limit: int | None
) -> list[ConversationSummary]:
    """Return what is known of each conversation, the newest first.

    With a query, of those that hold it and that anybody on this folder may find.
    """
    # Of two within one millisecond, the one with the larger number was said later.
    rows = select(database, f"{SUMMARY} ORDER BY updated_at DESC, leaf DESC")
    if query is not None:
        holding = find_holding(database, query)
        rows = [row for row in rows if row[0] in holding and can_read(decode(row[6]), ANYBODY)]
    return [_summarize(*row[1:]) for row in rows[:limit]]


def find_holding(database: Connection, query: str) -> set[int]:
    """Return the conversations whose title or messages hold a text, in any case."""
    wanted = query.casefold()
    # Not by LIKE, which folds the case of ASCII letters only.
    titles = select(database, "SELECT id, CAST(title AS BLOB) FROM conversations")
    found = {identity for identity, title in titles if wanted in decode(title).casefold()}
    rows: Any = database.execute(ALL_TEXTS)
    for identity, text, full in rows:
        if identity not in found and wanted in _read_text(text, full).casefold():
            found.add(identity)
    return found


def _read_text(text: bytes | None, full: bytes | None) -> str:
    if full is None:
        return decode(text)
    message = read_message(b"", None, None, full)
    return message.text if message else ""


def read_summary(database: Connection, key: str) -> ConversationSummary | None:
    """Return what is known of one conversation."""
    rows = select(database, f"{SUMMARY} WHERE key = ?", (key,))
    return _summarize(*rows[0][1:]) if rows else None


def _summarize(
    key: bytes, turns: int, created: bytes, updated: bytes, title: bytes, audience: bytes,
    is_searched: int, is_renamed: int,
) -> ConversationSummary:  # fmt: skip
    return ConversationSummary(
        key=decode(key),
        turns=turns,
        created_at=_read_time(created),
        updated_at=_read_time(updated),
        title=decode(title),
        audience=decode(audience),
        is_searched=bool(is_searched),
        is_renamed=bool(is_renamed),
    )


def read_figures(database: Connection) -> tuple[int, int, datetime | None]:
    """Count conversations and messages; find when the oldest message was said."""
    ((conversations, oldest),) = select(
        database, "SELECT count(*), CAST(min(oldest) AS BLOB) FROM conversations"
    )
    messages: int = database.execute("SELECT count(*) FROM messages").get
    return conversations, messages, _read_time(oldest) if oldest else None


def read_cited(database: Connection) -> frozenset[str]:
    """Return the ids of the facts that answers rest on, from their index alone."""
    query = f"SELECT DISTINCT {CITED} FROM messages WHERE {CITED} < '[]'"  # noqa: S608
    found = set[str]()
    for (cited,) in select(database, query):
        with suppress(TypeError, ValueError):
            found.update(list_cited({"cited": json.loads(cited)}))
    return frozenset(found)


def _read_time(data: bytes | None) -> datetime:
    """Read a time; one that is damaged was long ago."""
    try:
        return from_iso(decode(data))
    except ValueError:
        return LONG_AGO


def read_feed(database: Connection, cursor: Cursor, limit: int) -> Feed:
    """Return what is new or was altered since a cursor, as one moment has it."""
    database.execute("BEGIN")
    try:
        name: str = database.execute("SELECT name FROM identity").get
        new = select(database, NEW, (cursor.message, limit))
        altered = select(database, ALTERED, (cursor.change, limit))
    finally:
        database.execute("COMMIT")
    last = new[-1][0] if new else cursor.message
    # A message beyond the last one that is given is new to the reader, and comes as such.
    found, gone = _sort_out(new, (row for row in altered if row[1] <= last))
    change = altered[-1][0] if altered else cursor.change
    is_last = len(new) < limit and len(altered) < limit
    return Feed(name, Cursor(last, change), found, gone, is_last)


def _sort_out(
    new: Sequence[Row], altered: Iterable[Row]
) -> tuple[tuple[FeedMessage, ...], tuple[int, ...]]:
    """Divide rows into what is to be searched and what is not; a message is in one of them."""
    rows: dict[int, Row | None] = {row[0]: row for row in new}
    rows |= {message: None if n is None else (n, *row) for _, message, n, *row in altered}
    found: list[FeedMessage] = []
    gone: list[int] = []
    for number, row in rows.items():
        searched = _read_fed(row) if row and row[8] else None
        if searched:
            found.append(searched)
        elif row is None or not row[8]:
            gone.append(number)
    return tuple(found), tuple(gone)


def _read_fed(row: Row) -> FeedMessage | None:
    n, key, trust, source, parent, audience, is_shown, is_accepted, _, *columns = row
    message = read_message(*columns)
    if message is None or message.role not in FEED_ROLES or not message.text:
        return None
    return FeedMessage(
        id=n,
        key=decode(key),
        message=message,
        trust=_find_trust(message.role, trust, is_accepted),
        source=_read_optional(source),
        parent=parent,
        audience=decode(audience),
        is_shown=bool(is_shown),
    )
