"""What is said about conversations and messages afterwards: titles, and who may find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.stored_messages import TRUSTED, trust_by_role
from turnleaf.store.conversations_schema import (
    alter,
    alter_all,
    decode,
    find_conversation,
    get_conversation,
    select,
    set_title,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from turnleaf.store.databases import Connection

SAID_WHEN = """
    SELECT n, parent, CAST(role AS BLOB), CAST(timestamp AS BLOB) FROM messages
    WHERE conversation = ? ORDER BY n
"""
NOT_ACCEPTED = """
    SELECT n, CAST(role AS BLOB), CAST(trust AS BLOB), CAST(timestamp AS BLOB)
    FROM messages WHERE conversation = ? AND is_accepted IS NULL
"""


def rename(database: Connection, key: str, title: str) -> None:
    """Give a conversation a title; an empty one brings back that of its first question."""
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
    numbers = [
        n for (n,) in select(database, "SELECT message FROM hidden WHERE reason = ?", (reason,))
    ]
    database.execute("DELETE FROM hidden WHERE reason = ?", (reason,))
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
