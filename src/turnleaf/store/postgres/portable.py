"""What a space in a database holds, part by part, to be copied from it and to it."""

from __future__ import annotations

import json
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

from turnleaf.core import messages
from turnleaf.core.opaque_records import Record
from turnleaf.core.portable import (
    ConversationImage,
    MessageImage,
    PortablePart,
    is_marker,
    make_day,
    make_record,
    read_number,
    split_record_name,
)
from turnleaf.core.search.message_filters import find_forgotten
from turnleaf.core.serialization import dumps
from turnleaf.store.in_memory.fact_pages import Book
from turnleaf.store.in_memory.portable import (
    PortableFacts,
    PortableLearning,
    PortableSchedules,
    PortableSettings,
)
from turnleaf.store.in_memory.shared_data import in_one_step
from turnleaf.store.postgres import tree_statements
from turnleaf.store.postgres.small_stores import PUT_RECORD, PostgresConfig
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step, name_registration

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from turnleaf.store.contracts import Portable

_CONVERSATIONS = """
SELECT key, leaf, turns, created_at, updated_at,
    coalesce(nullif(title, ''), nullif(imported_title, ''), question_title),
    title <> '', audience, is_searched
FROM turnleaf.conversations WHERE %s OR key > %s ORDER BY key LIMIT %s
"""
_PUT_CONVERSATION = """
INSERT INTO turnleaf.conversations
    (key, leaf, turns, created_at, updated_at, title, imported_title, audience, is_searched)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (space, key) DO UPDATE SET leaf = excluded.leaf, turns = excluded.turns,
    created_at = excluded.created_at, updated_at = excluded.updated_at, title = excluded.title,
    imported_title = excluded.imported_title, audience = excluded.audience,
    is_searched = excluded.is_searched
"""
_MESSAGES = """
SELECT id, key, parent, body, said_at, status, trust, source, shaped_by, is_shown, is_resumed,
    ARRAY(SELECT reason FROM turnleaf.hidden_messages WHERE message = messages.id ORDER BY reason)
FROM turnleaf.messages WHERE id > %s ORDER BY id LIMIT %s
"""
_COLUMNS = {
    "id": "bigint", "key": "text", "parent": "bigint", "body": "text", "said_at": "timestamptz",
    "status": "text", "trust": "text", "source": "text", "shaped_by": "text", "cited": "text",
    "is_shown": "boolean", "is_resumed": "boolean", "is_hidden": "boolean", "role": "text",
    "change": "bigint",
}  # fmt: skip
_RAISE = """
UPDATE turnleaf.counters SET n = greatest(n, %s), last_id = greatest(last_id, %s)
WHERE kind = %s AND space <> ''
"""
_RECORDS = """
SELECT collection, key, value, version, expires_at FROM turnleaf.records
WHERE (collection, key) > (%s, %s) AND (expires_at IS NULL OR expires_at > %s)
ORDER BY collection, key LIMIT %s
"""
_UNTITLED = """
UPDATE turnleaf.conversations SET imported_title = '' WHERE imported_title = question_title
"""
_NUMBERS = "SELECT kind, n, last_id FROM turnleaf.counters WHERE space <> ''"
NOTE_SETTLED = """
INSERT INTO turnleaf.feeds (settled) VALUES (%s)
ON CONFLICT (space) DO UPDATE SET settled = excluded.settled
"""


class _SqlConversations(SqlStore):
    kind = name = "conversations"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return conversations by key."""
        rows = self.rows(_CONVERSATIONS, after is None, after or "", limit)
        return [ConversationImage(*row).to_part() for row in rows]

    @in_writing_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store conversations, and remove others with their messages."""
        change = self.lock()
        if gone:
            query = "DELETE FROM turnleaf.messages WHERE key = ANY(%s) RETURNING id"
            _note_removed(self, [one for (one,) in self.rows(query, [*gone])], change)
            self.run("DELETE FROM turnleaf.conversations WHERE key = ANY(%s)", [*gone])
        self.step.run_many(_PUT_CONVERSATION, [_write_conversation(one.value) for one in parts])
        keys = [one.name for one in parts]
        self.run("UPDATE turnleaf.messages SET change = %s WHERE key = ANY(%s)", change, keys)


def _write_conversation(one: ConversationImage) -> tuple[object, ...]:
    # An imported title until it turns out to be that of the first question.
    titles = (one.title, "") if one.is_renamed else ("", one.title)
    times = (one.created_at, one.updated_at)
    return one.key, one.leaf, one.turns, *times, *titles, one.audience, one.is_searched


def _note_removed(store: SqlStore, numbers: Sequence[int], change: int) -> None:
    store.run("DELETE FROM turnleaf.removed_messages WHERE id = ANY(%s)", [*numbers])
    tree_statements.note_removed(store.step, numbers, change)


class _SqlMessages(SqlStore):
    kind = "conversations"
    name = "messages"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return messages by id."""
        return [_read_message(*row) for row in self.rows(_MESSAGES, read_number(after), limit)]

    @in_writing_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store messages, and remove others."""
        change = self.lock()
        if gone:
            numbers = [*map(read_number, gone)]
            self.run("DELETE FROM turnleaf.messages WHERE id = ANY(%s)", numbers)
            _note_removed(self, numbers, change)
        new = [part.value for part in parts]
        ids = [one.id for one in new]
        for table, column in (
            ("messages", "id"),
            ("hidden_messages", "message"),
            # A message that is there again must not be reported as removed.
            ("removed_messages", "id"),
        ):
            self.run(f"DELETE FROM turnleaf.{table} WHERE {column} = ANY(%s)", ids)  # noqa: S608
        rows = [_write_message(one, change) for one in new]
        self.step.insert_rows("messages", _COLUMNS, rows)
        hidden = [(reason, one.id) for one in new for reason in one.reasons]
        self.step.insert_rows("hidden_messages", {"reason": "text", "message": "bigint"}, hidden)
        # Messages that are added later must have larger ids than those that were copied.
        self.run(_RAISE, 0, max(ids, default=0), self.kind)


def _read_message(  # noqa: PLR0913, PLR0917 - as its columns are
    number: int, key: str, parent: int, body: str, said_at: Any, status: str, trust: str,  # noqa: ANN401
    source: str | None, shaped_by: str | None, is_shown: bool, is_resumed: bool,  # noqa: FBT001
    reasons: Sequence[str],
) -> PortablePart:  # fmt: skip
    message = tree_statements.read_body(body)
    shape = None if shaped_by is None else json.loads(shaped_by)
    return MessageImage(
        number, key, parent, message, said_at, status, trust, source, shape, is_shown, is_resumed,
        tuple(reasons),
    ).to_part()  # fmt: skip


def _write_message(one: MessageImage, change: int) -> tuple[object, ...]:
    source = None if one.source is None else tree_statements.to_column(one.source)
    shaped_by = None if one.shaped_by is None else dumps(dict(one.shaped_by))
    body = dumps(messages.to_json(one.message))
    cited = tree_statements.list_citations(one.shaped_by)
    return (
        one.id, one.key, one.parent, body, one.said_at, one.status, one.trust, source, shaped_by,
        cited, one.is_shown, one.is_resumed, bool(one.reasons), one.message.role, change,
    )  # fmt: skip


class _SqlDaily(SqlStore):
    kind = name = "daily"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return days."""
        first = after or date.min.isoformat()
        query = "SELECT DISTINCT day FROM turnleaf.notes WHERE day > %s ORDER BY 1 LIMIT %s"
        days = [day for (day,) in self.rows(query, first, limit)]
        query = "SELECT day, text, source FROM turnleaf.notes WHERE day = ANY(%s) ORDER BY day, id"
        found = groupby(self.rows(query, days), key=lambda row: row[0])
        return [make_day(day, [(text, source) for _, text, source in rows]) for day, rows in found]

    @in_writing_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Replace days."""
        change = self.lock()
        days = [date.fromisoformat(one) for one in (*gone, *(part.name for part in parts))]
        self.run("DELETE FROM turnleaf.notes WHERE day = ANY(%s)", days)
        rows = [
            (day, change + at, text, source, change)
            for day, notes in (part.value for part in parts)
            for at, (text, source) in enumerate(notes)
        ]
        columns = {
            "day": "date",
            "id": "bigint",
            "text": "text",
            "source": "text",
            "change": "bigint",
        }
        self.step.insert_rows("notes", columns, rows)
        # The next note has the number of its change, which must be larger than these.
        self.run(_RAISE, max((row[1] for row in rows), default=0), 0, self.kind)


class _SqlRecords(SqlStore):
    kind = name = "records"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return records by collection and key."""
        rows = self.rows(_RECORDS, *split_record_name(after), self.now(), limit + 1)
        found = [Record(*row) for row in rows]
        return [make_record(one) for one in found if not is_marker(one.collection, one.key)][:limit]

    @in_writing_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store records with their versions, and remove others."""
        self.lock()
        for collection, key in map(split_record_name, gone):
            query = "DELETE FROM turnleaf.records WHERE collection = %s AND key = %s"
            self.run(query, collection, key)
        new = [part.value for part in parts]
        rows = [(o.collection, o.key, o.value, o.version, o.expires_at) for o in new]
        self.step.run_many(PUT_RECORD, rows)
        self.run(_RAISE, max((one.version for one in new), default=0), 0, self.kind)


class _SqlSettings(PortableSettings, PostgresConfig):
    def __init__(self, config: PostgresConfig) -> None:
        PostgresConfig.__init__(self, config.place, config.space, config.now)
        PortableSettings.__init__(self, config)

    @in_one_step
    def read_values(self) -> Mapping[str, Any]:
        """Return what was set here."""
        rows = self.rows("SELECT key, value FROM turnleaf.settings")
        return {key: json.loads(value) for key, value in rows}


class PostgresPortableSpace(SqlStore):
    """A space of a database, to be copied."""

    def list_stores(self) -> Sequence[Portable]:
        """Return the stores in the order in which they are copied."""
        where = self.place, self.space, self._clock
        return (
            _SqlSettings(PostgresConfig(*where)),
            PortableFacts(*where, "facts"),
            PortableFacts(*where, "pending"),
            _SqlConversations(*where),
            _SqlMessages(*where),
            _SqlDaily(*where),
            PortableSchedules(*where),
            PortableLearning(*where),
            _SqlRecords(*where),
        )

    @in_one_step
    def list_spaces(self) -> list[str]:
        """Return the spaces of the database in which anything was ever stored."""
        query = "SELECT kind FROM turnleaf.counters WHERE space = '' AND starts_with(kind, %s)"
        beginning = name_registration("")
        return sorted(kind.removeprefix(beginning) for (kind,) in self.rows(query, beginning))

    @in_one_step
    def read_numbers(self) -> Mapping[str, int]:
        """Return the last numbers that were given to messages and records."""
        known = {kind: (n, last_id) for kind, n, last_id in self.rows(_NUMBERS)}
        nothing = 0, 0
        return {
            "messages": known.get("conversations", nothing)[1],
            "records": known.get("records", nothing)[0],
        }

    @in_writing_step
    def finish(self, numbers: Mapping[str, int]) -> None:
        """Avoid numbers that were used elsewhere, and make derived values right."""
        # In the order in which everybody takes these locks.
        for kind in ("facts", "conversations", "records"):
            self.step.lock(kind, changes=False)
        self.run(_RAISE, 0, numbers["messages"], "conversations")
        self.run(_RAISE, numbers["records"], 0, "records")
        for (key,) in self.rows("SELECT key FROM turnleaf.conversations WHERE title = ''"):
            tree_statements.retitle(self.step, key)
        self.run(_UNTITLED)
        # Facts that were forgotten before have hidden their messages already, once and for all.
        forgotten = [*find_forgotten(self.place.find(self.space, "facts", Book).changes)]
        self.run("DELETE FROM turnleaf.forgotten_facts")
        query = "INSERT INTO turnleaf.forgotten_facts (fact) SELECT unnest(%s::text[])"
        self.run(query, forgotten)
        self.run(NOTE_SETTLED, "")
