"""Which messages of a conversation are shown: one path from its beginning to a leaf.

Each message follows another one that was stored before it, so a path is in order of its numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.errors import NotFound
from turnleaf.store.conversations_schema import alter, select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turnleaf.store.databases import Connection

SHOWN_AFTER = "SELECT n FROM messages WHERE conversation = ? AND is_shown = 1 AND n > ?"


def branch(database: Connection, identity: int, after: int) -> bool:
    """Show the path that ends with a message (0: none); whether other messages follow it."""
    if not _ends_within(database, identity, after):
        path = _path_to(_parents(database, identity), after)
        _show(database, identity, path)
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
    parents = _parents(database, identity)
    if number not in parents:
        raise no_such_message(number)
    below = {number}
    for n, parent in parents.items():
        if parent in below:
            below.add(n)
    leaf = max(below)
    path = _path_to(parents, leaf)
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


def no_such_message(number: int) -> NotFound:
    """Say that a message is not of a conversation."""
    return NotFound(f"there is no message {number} in this conversation; reload it")


def _parents(database: Connection, identity: int) -> dict[int, int | None]:
    query = "SELECT n, parent FROM messages WHERE conversation = ? ORDER BY n"
    return dict(select(database, query, (identity,)))


def _path_to(parents: dict[int, int | None], leaf: int) -> set[int]:
    """Return the numbers from the beginning to a message, which may have been removed since."""
    if leaf not in parents and leaf not in parents.values():
        raise no_such_message(leaf)
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
