"""Removing from a database of conversations: one of them, or what is too old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.times import to_iso
from turnleaf.store import conversations_paths as paths
from turnleaf.store.conversations_reading import read_window
from turnleaf.store.conversations_schema import (
    alter,
    decode,
    find_conversation,
    select,
    set_oldest,
    set_title,
)
from turnleaf.store.limits import days_before

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from turnleaf.store.databases import Connection
    from turnleaf.store.limits import Limits

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
    paths.show_through(database, identity, max(shown or left))
    set_oldest(database, identity)
    set_title(database, identity)
    return False


def _numbers(database: Connection, query: str, *values: object) -> list[int]:
    return [n for (n,) in select(database, query, values)]
