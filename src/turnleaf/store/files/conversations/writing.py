"""Changes of a database of conversations: messages, the path shown, titles, who may find them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from turnleaf.core.keys import choose_audience, is_narrower
from turnleaf.core.messages import TRUSTED, Message, find_trust, make_title
from turnleaf.core.search.message_filters import make_reason
from turnleaf.core.serialization import to_iso, to_text
from turnleaf.core.window import PLAIN_ADDITION, Addition, subtract_days
from turnleaf.store.files.conversations import schema as conversations_schema
from turnleaf.store.files.conversations.reading import read_window
from turnleaf.store.files.conversations.schema import (
    PLAIN,
    Row,
    alter,
    alter_all,
    branch,
    decode,
    find_conversation,
    get_conversation,
    pad_status,
    read_message,
    select,
    set_oldest,
    set_title,
    show_through,
    take_out,
    to_more,
    to_row,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from turnleaf.core.messages import NewMessage, TreeNode
    from turnleaf.core.search.message_filters import FactTraces, MessageOutcomes, Place
    from turnleaf.core.window import Limits
    from turnleaf.store.files.databases import Connection


FIND = "SELECT id, leaf, title = '' AND NOT is_renamed FROM conversations WHERE key = ?"
CREATE = """
    INSERT INTO conversations (key, created_at, updated_at, audience) VALUES (?, ?, ?, ?)
    RETURNING id, leaf, 1
"""
ADD = """
    INSERT INTO messages (conversation, parent, role, text, timestamp, json)
    VALUES (?, ?, ?, ?, ?, ?)
"""
ADD_MORE = """
    INSERT INTO messages (
        conversation, parent, role, text, timestamp, json, is_resumed,
        status, trust, source, shaped_by
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
TOUCH = """
    UPDATE conversations SET turns = coalesce(?2, turns + ?3), leaf = ?4,
        oldest = min(coalesce(oldest, ?5), ?5),
        created_at = min(created_at, coalesce(?5, created_at)),
        updated_at = max(updated_at, coalesce(?6, updated_at))
    WHERE id = ?1
"""
LAST_QUESTION = f"""
    SELECT parent, {PLAIN} FROM messages
    WHERE conversation = ? AND is_shown = 1 AND role = 'user' ORDER BY n DESC LIMIT 1
"""  # noqa: S608 - of constants
NOTHING_MORE: Row = (None, None, None, None)


class Prepared:
    """Messages as rows, made before the database is locked."""

    __slots__ = ("more", "newest", "oldest", "question", "rows")

    def __init__(self, new: Sequence[Message | NewMessage]) -> None:
        self.rows: list[Row] = []
        self.more: list[Row] | None = None
        self.question: str | None = None
        self.oldest: str | None = None
        self.newest: str | None = None
        for one in new:
            if isinstance(one, Message):
                self._add(one)
            else:
                self.more = self.more or [NOTHING_MORE] * len(new)
                self.more[len(self.rows)] = to_more(one)
                self._add(one.message)

    def _add(self, message: Message) -> None:
        row = to_row(message)
        self.rows.append(row)
        if self.question is None and message.role == "user":
            self.question = message.text
        if self.oldest is None or (row[2] and row[2] < self.oldest):
            self.oldest = row[2]
        if row[2] and row[2] > (self.newest or ""):
            self.newest = row[2]


def append(
    database: Connection, key: str, new: Prepared, now: datetime, addition: Addition
) -> list[int]:
    """Add messages to a conversation; return their numbers."""
    stamp = to_iso(now)
    found: Any = database.execute(FIND, (key,)).fetchone()
    if found is None:
        audience = choose_audience(key) if addition.audience is None else addition.audience
        times = (new.oldest or stamp, new.newest or stamp)
        found = database.execute(CREATE, (key, *times, to_text(audience))).fetchone()
    identity, leaf, is_untitled = found
    # An audience may only become smaller: what was said to few is not found by many afterwards.
    if addition.audience is not None:
        _narrow(database, identity, to_text(addition.audience))
    numbers, turns, added = _place(database, identity, leaf, new, addition)
    database.execute(TOUCH, (identity, turns, added, numbers[-1], new.oldest, new.newest))
    if addition.opened not in {None, leaf}:
        # The question that gave the title may have been taken out and stored anew.
        set_title(database, identity)
    elif is_untitled and new.question:
        query = "UPDATE conversations SET title = ? WHERE id = ?"
        database.execute(query, (make_title(new.question), identity))
    return numbers


def _place(
    database: Connection, identity: int, leaf: int, new: Prepared, addition: Addition
) -> tuple[list[int], int | None, int]:
    """Put messages where they belong.

    Return their numbers, how long the shown path is if it is another one, and how many are new.
    """
    is_resumed = addition.is_resumed
    if addition.opened is not None and addition.opened == leaf:
        numbers = [leaf, *_complete(database, identity, leaf, new)]
        return numbers, None, len(numbers) - 1
    if addition.opened is not None:
        # Others spoke meanwhile: readers and windows know exchanges, not halves of two.
        take_out(database, identity, addition.opened)
    after = _find_after(database, identity, addition)
    if after is None or after == leaf:
        numbers = _insert(database, identity, leaf, new, is_resumed=is_resumed)
        # A question was taken out above, so the count cannot just be added to.
        turns = None if addition.opened is None else _count_shown(database, identity)
        return numbers, turns, len(numbers)
    has_versions = branch(database, identity, after)
    numbers = _insert(database, identity, after, new, is_resumed=is_resumed)
    # No message has the number 0, so nothing is marked.
    _mark_version(database, numbers[0] if has_versions else 0)
    return numbers, _count_shown(database, identity), len(numbers)


def _complete(database: Connection, identity: int, question: int, new: Prepared) -> list[int]:
    """Add what follows a question that is stored; return its numbers."""
    # Written out, as NULL would make the row shorter, and SQLite move it.
    status = (new.more[0][0] if new.more else None) or pad_status("complete")
    database.execute("UPDATE messages SET status = ? WHERE n = ?", (status, question))
    return _insert(database, identity, question, new, first=1, is_resumed=False)


def _insert(
    database: Connection,
    identity: int,
    parent: int,
    new: Prepared,
    *,
    first: int = 0,
    is_resumed: bool,
) -> list[int]:
    numbers = []
    for place, row in enumerate(new.rows[first:], first):
        above = parent or None
        if new.more is None and not is_resumed:
            database.execute(ADD, (identity, above, *row))
        else:
            more = NOTHING_MORE if new.more is None else new.more[place]
            resumed = 1 if is_resumed and place == 0 else None
            database.execute(ADD_MORE, (identity, above, *row, resumed, *more))
        parent = database.last_insert_rowid()
        numbers.append(parent)
    return numbers


def _find_after(database: Connection, identity: int, addition: Addition) -> int | None:
    """Return what new messages follow; None: the newest."""
    if addition.after is not None or addition.again is None:
        return addition.after
    for parent, *columns in select(database, LAST_QUESTION, (identity,)):
        message = read_message(*columns)
        if message and message.text == addition.again:
            return int(parent or 0)
    return None


def _mark_version(database: Connection, first: int) -> None:
    """Mark the first new message as another version."""
    database.execute("UPDATE messages SET is_version = 1 WHERE n = ?", (first,))


def _count_shown(database: Connection, identity: int) -> int:
    """Return how long the shown path is."""
    query = "SELECT count(*) FROM messages WHERE conversation = ? AND is_shown = 1"
    count: int = database.execute(query, (identity,)).get
    return count


def _narrow(database: Connection, identity: int, audience: str) -> None:
    query = "SELECT CAST(audience AS BLOB) FROM conversations WHERE id = ?"
    if not is_narrower(audience, decode(database.execute(query, (identity,)).get)):
        return
    database.execute("UPDATE conversations SET audience = ? WHERE id = ?", (audience, identity))
    # The index keeps the audience with each message,
    # and would go on showing them to the former one.
    alter_all(database, identity)


def take_over(
    database: Connection, key: str, messages: Sequence[Message], now: datetime, title: str | None
) -> int:
    """Add messages of another file that are not there yet; return how many.

    Time, role and text decide what is there; of what is not plain text, all of it does.
    """
    # By rows, so that what comes twice in the other file is taken once.
    missing = {to_row(message): message for message in _put_in_order(messages, now)}
    query = f"SELECT {PLAIN} FROM messages WHERE conversation = ?"  # noqa: S608 - of constants
    for columns in select(database, query, (find_conversation(database, key),)):
        there = read_message(*columns)
        missing.pop(to_row(there) if there else (), None)
    if missing:
        _add_taken(database, key, list(missing.values()), title)
    return len(missing)


def _add_taken(
    database: Connection, key: str, messages: Sequence[Message], title: str | None
) -> None:
    is_new = find_conversation(database, key) is None
    times = [one.timestamp for one in messages if one.timestamp]
    append(database, key, Prepared(messages), min(times), PLAIN_ADDITION)
    if title and is_new:
        database.execute("UPDATE conversations SET title = ? WHERE key = ?", (title, key))


def import_tree(
    database: Connection, key: str, nodes: Sequence[TreeNode], leaf: int, title: str | None
) -> int:
    """Add a whole conversation, less what is there; return how many messages were new."""
    before: Any = database.execute(FIND, (key,)).fetchone()
    known = _list_known(database, before[0]) if before else {}
    was_known = set(known.values())

    def add(new: NewMessage, above: int | None) -> int:
        said_at = new.message.timestamp or datetime.min.replace(tzinfo=UTC)
        return append(database, key, Prepared([new]), said_at, Addition(after=above or 0))[0]

    numbers = _find_places(nodes, known, add)
    added = set(numbers) - was_known
    if added:
        # What somebody said here since the last import goes on being shown.
        is_left = before is None or before[1] in numbers
        identity = get_conversation(database, key)
        show_through(database, identity, numbers[leaf] if is_left else before[1])
    if title and before is None:
        database.execute("UPDATE conversations SET title = ? WHERE key = ?", (title, key))
    return len(added)


def count_new(database: Connection, key: str, nodes: Sequence[TreeNode]) -> int:
    """Return how many messages `import_tree` would add."""
    before: Any = database.execute(FIND, (key,)).fetchone()
    known = _list_known(database, before[0]) if before else {}
    numbers = _find_places(nodes, known, lambda _new, _above: -1 - len(known))
    return len({number for number in numbers if number < 0})


def _find_places(
    nodes: Sequence[TreeNode],
    known: dict[tuple[int | None, Row], int],
    add: Callable[[NewMessage, int | None], int],
) -> list[int]:
    """Return the numbers of all messages; one that is not known gets its number by `add`."""
    numbers: list[int] = []
    for node in nodes:
        above = None if node.parent is None else numbers[node.parent]
        # The same words may follow different messages, as "yes" does; only both together are one
        # place.
        place = above, to_row(node.new.message)
        if place not in known:
            known[place] = add(node.new, above)
        numbers.append(known[place])
    return numbers


def _list_known(database: Connection, identity: int) -> dict[tuple[int | None, Row], int]:
    """Return the messages of a conversation by what they follow and what they say."""
    query = f"SELECT n, parent, {PLAIN} FROM messages WHERE conversation = ?"  # noqa: S608 - of constants
    known: dict[tuple[int | None, Row], int] = {}
    for number, parent, *columns in select(database, query, (identity,)):
        message = read_message(*columns)
        if message:
            known[parent, to_row(message)] = number
    return known


def _put_in_order(messages: Sequence[Message], now: datetime) -> list[Message]:
    """Sort messages by time; one that has none was said with the one before it."""
    stamped: list[Message] = []
    for message in messages:
        last = stamped[-1].timestamp if stamped else now
        stamped.append(message if message.timestamp else replace(message, timestamp=last))
    return sorted(stamped, key=lambda one: one.timestamp or now)


SAID_WHEN = """
    SELECT n, parent, CAST(role AS BLOB), CAST(timestamp AS BLOB) FROM messages
    WHERE conversation = ? ORDER BY n
"""
NOT_ACCEPTED = """
    SELECT n, CAST(role AS BLOB), CAST(trust AS BLOB), CAST(timestamp AS BLOB)
    FROM messages WHERE conversation = ? AND is_accepted IS NULL
"""


def rename(database: Connection, key: str, title: str) -> None:
    """Set a title; an empty one brings back the title made of the first question."""
    identity = get_conversation(database, key)
    query = "UPDATE conversations SET title = ?, is_renamed = ? WHERE id = ?"
    database.execute(query, (title, bool(title), identity))
    set_title(database, identity)


def set_searched(database: Connection, key: str, *, is_searched: bool) -> None:
    """Keep a conversation out of searches, or let it in."""
    identity = get_conversation(database, key)
    query = "UPDATE conversations SET is_searched = ?1 WHERE id = ?2 AND is_searched != ?1"
    database.execute(query, (is_searched, identity))
    if database.changes():
        alter_all(database, identity)


def hide(database: Connection, key: str, stamps: Collection[str], reason: str) -> list[int]:
    """Hide what the user said at some times and what was answered; return the numbers."""
    identity = find_conversation(database, key)
    hidden: set[int] = set()
    for n, parent, role, stamp in select(database, SAID_WHEN, (identity,)):
        # The answer goes with its question: it mostly says what is to be forgotten as plainly.
        if decode(stamp) in stamps if role == b"user" else parent in hidden:
            hidden.add(n)
    numbers = sorted(hidden)
    hide_numbers(database, numbers, reason)
    return numbers


def hide_numbers(database: Connection, numbers: Sequence[int], reason: str) -> None:
    """Hide messages for a reason."""
    rows = [(n, reason) for n in numbers]
    database.executemany("INSERT OR IGNORE INTO hidden (message, reason) VALUES (?, ?)", rows)
    _mark_hidden(database, numbers, is_hidden=True)


def show_again(database: Connection, reason: str) -> int:
    """Show what was hidden for a reason and for no other; return how many messages."""
    # Of a question that was stored before its answer came, what is hidden may be gone.
    query = "SELECT message FROM hidden JOIN messages ON n = message WHERE reason = ?"
    numbers = [n for (n,) in select(database, query, (reason,))]
    database.execute("DELETE FROM hidden WHERE reason = ?", (reason,))
    # Two facts may have been learned from one message.
    still = {n for (n,) in select(database, "SELECT message FROM hidden")}
    shown = [n for n in numbers if n not in still]
    _mark_hidden(database, shown, is_hidden=False)
    return len(shown)


def _mark_hidden(database: Connection, numbers: Sequence[int], *, is_hidden: bool) -> None:
    """Mark messages; a title that was of one of them is made anew."""
    rows = [(1 if is_hidden else None, n) for n in numbers]
    database.executemany("UPDATE messages SET is_hidden = ? WHERE n = ?", rows)
    alter(database, numbers)
    query = "SELECT DISTINCT conversation FROM messages WHERE n = ?"
    for identity in {select(database, query, (n,))[0][0] for n in numbers}:
        set_title(database, identity)


def accept(database: Connection, key: str, stamps: Collection[str]) -> int:
    """Trust what others said at some times as the user's own words; return how many messages."""
    identity = find_conversation(database, key)
    accepted = [
        n
        for n, role, trust, stamp in select(database, NOT_ACCEPTED, (identity,))
        if decode(stamp) in stamps and (decode(trust) or find_trust(decode(role))) not in TRUSTED
    ]
    database.executemany(
        "UPDATE messages SET is_accepted = 1 WHERE n = ?", [(n,) for n in accepted]
    )
    alter(database, accepted)
    return len(accepted)


# A message that is no plain text is kept as JSON.
CONTAINING = """
    SELECT n FROM messages
    WHERE is_hidden IS NULL AND instr(lower(coalesce(text, json)), lower(?)) > 0
"""


def read_state(database: Connection) -> str:
    """Return how the record of facts looked when messages were last brought in line with it."""
    found: str | None = database.execute("SELECT state FROM record").get
    return found or ""


def settle(database: Connection, outcomes: MessageOutcomes, state: str) -> None:
    """Hide and show messages, and trust them, as the record of facts says by now.

    What is hidden for a fact that is forgotten still is not looked for again: whoever says it
    once more means it.
    """
    known = {reason for (reason,) in select(database, "SELECT DISTINCT reason FROM hidden")}
    forgotten = {make_reason(fact): traces for fact, traces in outcomes.forgotten.items()}
    for reason in known - forgotten.keys():
        show_again(database, reason)
    for reason, traces in forgotten.items():
        if reason not in known:
            _hide_traces(database, traces, reason)
    for key, stamps in _group_by_conversation(outcomes.accepted).items():
        accept(database, key, stamps)
    # In the transaction of the changes: after a kill all of it is done again.
    database.execute("DELETE FROM record")
    database.execute("INSERT INTO record (state) VALUES (?)", (state,))


def _hide_traces(database: Connection, traces: FactTraces, reason: str) -> None:
    for key, stamps in _group_by_conversation(traces.places).items():
        hide(database, key, stamps, reason)
    for text in traces.texts:
        hide_numbers(database, [n for (n,) in select(database, CONTAINING, (text,))], reason)


def _group_by_conversation(places: Iterable[Place]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for key, time in places:
        found[key].add(to_iso(time))
    return found


OLD = "SELECT id FROM conversations WHERE oldest < ?"
OLD_MESSAGES = "SELECT n FROM messages WHERE conversation = ? AND timestamp < ?"
ALL_MESSAGES = "SELECT n FROM messages WHERE conversation = ?"


def clear(database: Connection, key: str) -> bool:
    """Remove a conversation; False when there is none."""
    identity = find_conversation(database, key)
    if identity is None:
        return False
    _remove(database, identity, _select_numbers(database, ALL_MESSAGES, identity))
    return True


def is_expired(database: Connection, limits: Limits, now: datetime) -> bool:
    """Whether something is too old to be kept."""
    if limits.keep_days is None:
        return False
    # No days at all: only what a window shows is kept.
    if limits.keep_days == 0:
        return any(map(len, _find_outside(database, limits, now).values()))
    cutoff = to_iso(subtract_days(now, limits.keep_days))
    return bool(select(database, f"{OLD} LIMIT 1", (cutoff,)))


def expire(database: Connection, limits: Limits, now: datetime) -> int:
    """Remove messages that are too old; return how many conversations went with them."""
    if limits.keep_days is None:
        return 0
    if limits.keep_days == 0:
        return sum(
            _remove(database, *each) for each in _find_outside(database, limits, now).items()
        )
    cutoff = to_iso(subtract_days(now, limits.keep_days))
    old = select(database, OLD, (cutoff,))
    return sum(
        _remove(database, identity, _select_numbers(database, OLD_MESSAGES, identity, cutoff))
        for (identity,) in old
    )


def trim(database: Connection, key: str, limits: Limits, now: datetime) -> None:
    """Remove what the window of a conversation does not show."""
    identity = find_conversation(database, key)
    if identity is not None:
        _remove(database, identity, _list_outside(database, identity, key, limits, now))


def _find_outside(database: Connection, limits: Limits, now: datetime) -> dict[int, Sequence[int]]:
    """Find the messages of every conversation that no window shows any more."""
    rows = select(database, "SELECT id, CAST(key AS BLOB) FROM conversations")
    return {
        identity: _list_outside(database, identity, decode(key), limits, now)
        for identity, key in rows
    }


def _list_outside(
    database: Connection, identity: int, key: str, limits: Limits, now: datetime
) -> list[int]:
    window = {said.n for said in read_window(database, key, limits, now)}
    return [n for n in _select_numbers(database, ALL_MESSAGES, identity) if n not in window]


def _remove(database: Connection, identity: int, numbers: Sequence[int]) -> bool:
    """Remove messages of a conversation; whether it went, having no others."""
    rows = [(n,) for n in numbers]
    database.executemany("DELETE FROM messages WHERE n = ?", rows)
    database.executemany("DELETE FROM hidden WHERE message = ?", rows)
    # By this the index learns that they are gone.
    alter(database, numbers)
    return _settle(database, identity) if numbers else False


def _settle(database: Connection, identity: int) -> bool:
    """Make a conversation's figures right again; remove it when nothing is left of it."""
    left = _select_numbers(database, ALL_MESSAGES, identity)
    if not left:
        database.execute("DELETE FROM conversations WHERE id = ?", (identity,))
        return True
    shown = _select_numbers(database, f"{ALL_MESSAGES} AND is_shown = 1", identity)
    # If the path that was shown is gone, the newest message of another one leads to it.
    conversations_schema.show_through(database, identity, max(shown or left))
    set_oldest(database, identity)
    set_title(database, identity)
    return False


def _select_numbers(database: Connection, query: str, *values: object) -> list[int]:
    return [n for (n,) in select(database, query, values)]
