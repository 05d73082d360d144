"""The statements that read and change conversations as trees; each runs in a step of its caller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core import messages
from turnleaf.core.messages import StoredMessage, list_cited, make_title
from turnleaf.core.serialization import dumps, to_text
from turnleaf.core.window import PathRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.messages import Message, NewMessage
    from turnleaf.store.postgres.space_transactions import Row, Transaction

# The usual window of twenty messages is in the first part.
FIRST_PART = 24
QUESTIONS = 20

_COLUMNS = {
    "id": "bigint", "key": "text", "parent": "bigint", "is_resumed": "boolean", "role": "text",
    "said_at": "timestamptz", "body": "text", "status": "text", "trust": "text", "source": "text",
    "shaped_by": "text", "cited": "text", "change": "bigint",
}  # fmt: skip
_STORED = "id, body, status, trust, source, parent, is_hidden, shaped_by"
_PATH = """
WITH RECURSIVE path (id, parent) AS (
    SELECT id, parent FROM turnleaf.messages WHERE key = %(key)s AND id = %(leaf)s
    UNION ALL
    SELECT one.id, one.parent FROM path JOIN turnleaf.messages one
    ON one.id = path.parent AND one.key = %(key)s
)
"""
# Only rows that differ: each one that is touched goes through the feed to the index once more.
_SHOW = f"""
{_PATH}
UPDATE turnleaf.messages one SET is_shown = NOT is_shown, change = %(change)s
WHERE key = %(key)s AND is_shown <> (id IN (SELECT id FROM path))
"""  # noqa: S608 - of constants
_NEWEST_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT %s::bigint
    UNION ALL
    SELECT one.id FROM below JOIN turnleaf.messages one ON one.key = %s AND one.parent = below.id
)
SELECT max(id) FROM below
"""
_SET_LEAF = """
UPDATE turnleaf.conversations SET leaf = %(leaf)s, turns = (
    SELECT count(*) FROM turnleaf.messages WHERE key = %(key)s AND is_shown
) WHERE key = %(key)s
"""
_SAID = """
WITH RECURSIVE found (id) AS (
    SELECT id FROM turnleaf.messages
    WHERE key = %(key)s AND role = 'user' AND said_at = ANY(%(times)s)
    UNION
    SELECT one.id FROM found JOIN turnleaf.messages one
    ON one.key = %(key)s AND one.parent = found.id AND one.role <> 'user'
)
SELECT id FROM found ORDER BY id
"""
_LEFT = """
SELECT count(*), min(said_at), max(said_at), max(id), max(id) FILTER (WHERE is_shown)
FROM turnleaf.messages WHERE key = %s
"""


class MessageRow(NamedTuple):
    """A message to be stored, as its columns have it."""

    message: Message
    said_at: datetime
    body: str
    status: str
    trust: str
    source: str | None
    shaped_by: str | None
    cited: str | None

    @property
    def identity(self) -> tuple[str, str, datetime]:
        """What makes it the same message where it follows the same one."""
        return self.message.role, self.message.text, self.said_at


def make_row(new: NewMessage, message: Message, trust: str) -> MessageRow:
    """Return the columns of a message that has its time; raise InvalidInput for what JSON lacks."""
    body = dumps(messages.to_json(message))
    # Read back, so that what is compared here is what will be read from the database.
    stored = messages.from_json(json.loads(body))
    source = None if new.source is None else to_column(new.source)
    shaped_by = None if new.shaped_by is None else dumps(dict(new.shaped_by))
    said_at = stored.timestamp or message.timestamp
    if said_at is None:  # pragma: no cover - whoever calls this has set it
        raise ValueError(new)
    cited = list_citations(new.shaped_by)
    return MessageRow(stored, said_at, body, new.status, trust, source, shaped_by, cited)


def list_citations(shaped_by: Mapping[str, Any] | None) -> str | None:
    """Return the column of the facts that an answer rests on; None where there are none."""
    cited = list_cited(shaped_by)
    return dumps(cited) if cited else None


def to_column(text: str) -> str:
    """Return a text as a column can hold it: without lone surrogates and NUL."""
    return to_text(text).replace("\0", "\ufffd")


def read_body(body: str) -> Message:
    """Read a message."""
    return messages.from_json(json.loads(body))


def insert(
    step: Transaction,
    key: str,
    rows: Sequence[tuple[int, int, MessageRow]],
    change: int,
    *,
    resumed: bool,
) -> None:
    """Store messages, each with its id and the one that it follows."""
    values = [
        (number, key, parent, resumed and place == 0, one.message.role, *one[1:], change)
        for place, (number, parent, one) in enumerate(rows)
    ]
    step.insert_rows("messages", _COLUMNS, values)


def take_ids(step: Transaction, count: int) -> range:
    """Return so many ids that nobody had before; the kind is locked."""
    query = (
        "UPDATE turnleaf.counters SET last_id = last_id + %s "
        "WHERE kind = 'conversations' AND space <> '' RETURNING last_id"
    )
    ((last,),) = step.rows(query, count)
    return range(last - count + 1, last + 1)


def read_back(step: Transaction, key: str) -> Iterator[PathRow]:
    """Yield the shown path, newest first, in parts that grow."""
    query = (
        "SELECT id, body, is_resumed, is_hidden FROM turnleaf.messages "
        "WHERE key = %s AND is_shown AND id < %s ORDER BY id DESC LIMIT %s"
    )
    before, size = 2**62, FIRST_PART
    while rows := step.rows(query, key, before, size):
        for number, body, is_resumed, is_hidden in rows:
            yield PathRow(number, read_body(body), is_resumed, is_hidden)
        if len(rows) < size:
            return
        before, size = rows[-1][0], 4 * size


def read_stored(step: Transaction, condition: str, *values: object) -> list[Row]:
    """Return the rows of stored messages for `show`, each behind the key of its conversation."""
    query = f"SELECT key, role, {_STORED} FROM turnleaf.messages WHERE {condition}"  # noqa: S608
    return step.rows(query, *values)


def show(step: Transaction, rows: Sequence[Row]) -> list[StoredMessage]:
    """Make stored messages of rows of one conversation."""
    if not rows:
        return []
    versions = _find_versions(step, rows[0][0], {row[7] for row in rows})
    return [
        StoredMessage(
            id=number,
            message=read_body(body),
            status=status,
            trust=trust,
            source=source,
            parent=parent or None,
            versions=versions.get(parent, ()),
            is_hidden=is_hidden,
            shaped_by=None if shaped_by is None else json.loads(shaped_by),
        )
        for _, _, number, body, status, trust, source, parent, is_hidden, shaped_by in rows
    ]


def _find_versions(
    step: Transaction, key: str, parents: Collection[int]
) -> dict[int, tuple[int, ...]]:
    query = (
        "SELECT parent, array_agg(id ORDER BY id) FROM turnleaf.messages "
        "WHERE key = %s AND parent = ANY(%s) GROUP BY parent HAVING count(*) > 1"
    )
    return {parent: tuple(same) for parent, same in step.rows(query, key, [*parents])}


def show_path(step: Transaction, key: str, leaf: int, change: int) -> None:
    """Show the path that ends with a message (0: none)."""
    step.connection.execute(_SHOW, {"key": key, "leaf": leaf, "change": change})


def show_through(step: Transaction, key: str, number: int, change: int) -> None:
    """Show the path through a message to the newest of all that follow it."""
    ((leaf,),) = step.rows(_NEWEST_BELOW, number, key)
    show_path(step, key, leaf, change)
    step.connection.execute(_SET_LEAF, {"key": key, "leaf": leaf})


def take_out(step: Transaction, key: str, number: int, change: int) -> int | None:
    """Remove a message; what followed it follows its parent, which is returned; None: not there."""
    query = "DELETE FROM turnleaf.messages WHERE key = %s AND id = %s RETURNING parent"
    for (parent,) in step.rows(query, key, number):
        note_removed(step, [number], change)
        following = (
            "UPDATE turnleaf.messages SET parent = %s, change = %s WHERE key = %s AND parent = %s"
        )
        step.run(following, parent, change, key, number)
        return int(parent)
    return None


def note_removed(step: Transaction, numbers: Sequence[int], change: int) -> None:
    """Record that messages went, so that who follows the feed removes them."""
    # A row that is gone can tell nobody that it went.
    query = "INSERT INTO turnleaf.removed_messages (id, change) SELECT unnest(%s::bigint[]), %s"
    step.run(query, [*numbers], change)
    step.run("DELETE FROM turnleaf.hidden_messages WHERE message = ANY(%s)", [*numbers])


def note_changed(step: Transaction, key: str, change: int) -> None:
    """Record that a conversation changed, so that who follows the feed reads it again."""
    step.run("UPDATE turnleaf.messages SET change = %s WHERE key = %s", change, key)


def find_said(step: Transaction, key: str, times: Sequence[datetime]) -> list[int]:
    """Return what a user said at these times, and what of others follows it."""
    rows = step.connection.execute(_SAID, {"key": key, "times": [*times]}).fetchall()
    return [number for (number,) in rows]


def retitle(step: Transaction, key: str) -> None:
    """Title a conversation by its first question that is not hidden and says something."""
    query = (
        "SELECT id, body FROM turnleaf.messages WHERE key = %s AND role = 'user' "
        "AND NOT is_hidden AND id > %s ORDER BY id LIMIT %s"
    )
    title, last = "", 0
    while not title and (rows := step.rows(query, key, last, QUESTIONS)):
        last = rows[-1][0]
        title = find_title([read_body(body) for _, body in rows])
    step.run("UPDATE turnleaf.conversations SET question_title = %s WHERE key = %s", title, key)


def find_title(said: Sequence[Message]) -> str:
    """Return the title that the first question gives that says something."""
    titles = (to_column(make_title(one.text)) for one in said if one.role == "user")
    return next(filter(None, titles), "")


def settle_removal(step: Transaction, key: str, change: int) -> bool:
    """Make a conversation right again of which messages went; whether it went with them."""
    ((count, oldest, newest, last, last_shown),) = step.rows(_LEFT, key)
    if not count:
        step.run("DELETE FROM turnleaf.conversations WHERE key = %s", key)
        return True
    query = (
        "UPDATE turnleaf.conversations SET created_at = %s, updated_at = %s WHERE key = %s "
        "RETURNING leaf IN (SELECT id FROM turnleaf.messages WHERE key = %s), leaf"
    )
    ((has_leaf, leaf),) = step.rows(query, oldest, newest, key, key)
    if has_leaf:
        show_path(step, key, leaf, change)
        step.connection.execute(_SET_LEAF, {"key": key, "leaf": leaf})
    else:
        show_through(step, key, last_shown or last, change)
    retitle(step, key)
    return False


def read_texts(step: Transaction) -> Iterator[tuple[str, int, bool, str]]:
    """Yield of each message its conversation, id, whether it is hidden, and its text."""
    query = "SELECT key, id, is_hidden, body FROM turnleaf.messages"
    for key, number, is_hidden, body in step.connection.execute(query):
        yield key, number, is_hidden, read_body(body).text
