"""What is said about conversations and messages afterwards: titles, and who may find them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from turnleaf.core.messages import TRUSTED, trust_by_role
from turnleaf.core.search.message_outcomes import reason_of
from turnleaf.core.times import to_iso
from turnleaf.store.files.conversations import schema as conversations_schema
from turnleaf.store.files.conversations.limits import days_before
from turnleaf.store.files.conversations.reading import read_window
from turnleaf.store.files.conversations.schema import (
    alter,
    alter_all,
    decode,
    find_conversation,
    get_conversation,
    select,
    set_oldest,
    set_title,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.search.message_outcomes import FactTraces, MessageOutcomes, Place
    from turnleaf.store.files.conversations.limits import Limits
    from turnleaf.store.files.databases import Connection


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
        if decode(stamp) in stamps and (decode(trust) or trust_by_role(decode(role))) not in TRUSTED
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
    forgotten = {reason_of(fact): traces for fact, traces in outcomes.forgotten.items()}
    for reason in known - forgotten.keys():
        show_again(database, reason)
    for reason, traces in forgotten.items():
        if reason not in known:
            _hide_traces(database, traces, reason)
    for key, stamps in _by_conversation(outcomes.accepted).items():
        accept(database, key, stamps)
    database.execute("DELETE FROM record")
    database.execute("INSERT INTO record (state) VALUES (?)", (state,))


def _hide_traces(database: Connection, traces: FactTraces, reason: str) -> None:
    for key, stamps in _by_conversation(traces.places).items():
        hide(database, key, stamps, reason)
    for text in traces.texts:
        hide_numbers(database, [n for (n,) in select(database, CONTAINING, (text,))], reason)


def _by_conversation(places: Iterable[Place]) -> dict[str, set[str]]:
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
    _remove(database, identity, _numbers(database, ALL_MESSAGES, identity))
    return True


def is_expired(database: Connection, limits: Limits, now: datetime) -> bool:
    """Whether something is too old to be kept."""
    if limits.keep_days is None:
        return False
    if limits.keep_days == 0:
        return any(map(len, _find_outside(database, limits, now).values()))
    cutoff = to_iso(days_before(now, limits.keep_days))
    return bool(select(database, f"{OLD} LIMIT 1", (cutoff,)))


def expire(database: Connection, limits: Limits, now: datetime) -> int:
    """Remove messages that are too old; return how many conversations went with them."""
    if limits.keep_days is None:
        return 0
    if limits.keep_days == 0:
        return sum(
            _remove(database, *each) for each in _find_outside(database, limits, now).items()
        )
    cutoff = to_iso(days_before(now, limits.keep_days))
    old = select(database, OLD, (cutoff,))
    return sum(
        _remove(database, identity, _numbers(database, OLD_MESSAGES, identity, cutoff))
        for (identity,) in old
    )


def trim(database: Connection, key: str, limits: Limits, now: datetime) -> None:
    """Remove what the window of a conversation does not show."""
    identity = find_conversation(database, key)
    if identity is not None:
        _remove(database, identity, _outside(database, identity, key, limits, now))


def _find_outside(database: Connection, limits: Limits, now: datetime) -> dict[int, Sequence[int]]:
    """Find the messages of every conversation that no window shows any more."""
    rows = select(database, "SELECT id, CAST(key AS BLOB) FROM conversations")
    return {
        identity: _outside(database, identity, decode(key), limits, now) for identity, key in rows
    }


def _outside(
    database: Connection, identity: int, key: str, limits: Limits, now: datetime
) -> list[int]:
    window = {said.n for said in read_window(database, key, limits, now)}
    return [n for n in _numbers(database, ALL_MESSAGES, identity) if n not in window]


def _remove(database: Connection, identity: int, numbers: Sequence[int]) -> bool:
    """Remove messages of a conversation; whether it went, having no others."""
    rows = [(n,) for n in numbers]
    database.executemany("DELETE FROM messages WHERE n = ?", rows)
    database.executemany("DELETE FROM hidden WHERE message = ?", rows)
    alter(database, numbers)
    return _settle(database, identity) if numbers else False


def _settle(database: Connection, identity: int) -> bool:
    """Make a conversation's figures right again; remove it when nothing is left of it."""
    left = _numbers(database, ALL_MESSAGES, identity)
    if not left:
        database.execute("DELETE FROM conversations WHERE id = ?", (identity,))
        return True
    shown = _numbers(database, f"{ALL_MESSAGES} AND is_shown = 1", identity)
    # If the path that was shown is gone, the newest message of another one leads to it.
    conversations_schema.show_through(database, identity, max(shown or left))
    set_oldest(database, identity)
    set_title(database, identity)
    return False


def _numbers(database: Connection, query: str, *values: object) -> list[int]:
    return [n for (n,) in select(database, query, values)]
