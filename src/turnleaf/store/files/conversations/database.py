"""Conversations in a SQLite file, which keeps every message."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.jsontext import to_text
from turnleaf.core.messages import Cursor, StoredFigures
from turnleaf.core.times import to_iso
from turnleaf.store.files import databases
from turnleaf.store.files.conversations import reading, writing
from turnleaf.store.files.conversations import schema as conversations_schema
from turnleaf.store.files.conversations.schema import FORM, get_conversation
from turnleaf.store.files.conversations.writing import Prepared, read_state, settle
from turnleaf.store.files.databases import Database

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.messages import (
        ConversationSummary,
        Feed,
        Message,
        NewMessage,
        StoredMessage,
        TreeNode,
    )
    from turnleaf.core.search.message_outcomes import MessageOutcomes
    from turnleaf.store.files.databases import Connection
    from turnleaf.store.windows import Addition, Limits


VERSION = "PRAGMA data_version"

Kept: TypeAlias = "tuple[tuple[object, ...], tuple[Message, ...]]"
NOTHING_KEPT: Kept = ((), ())


class DatabaseShelf:
    """A database of conversations."""

    keeps_everything = True

    def __init__(self, path: Path) -> None:
        self._database = Database(path, FORM)
        self._last: dict[str, Kept] = {}

    def open(self) -> None:
        """Make the database where missing."""
        self._database.open()

    def append(
        self,
        key: str,
        new: Sequence[Message | NewMessage],
        limits: Limits,
        now: datetime,
        addition: Addition,
    ) -> list[int]:
        """Add messages to a conversation; return their numbers."""
        rows = Prepared(new)

        def add(database: Connection) -> list[int]:
            numbers = writing.append(database, key, rows, now, addition)
            if limits.keep_days == 0:
                writing.trim(database, key, limits, now)
            return numbers

        return self._database.write(add)

    def read(self, key: str, limits: Limits, now: datetime) -> list[Message]:
        """Return the messages that the window shows.

        A turn asks for the same window several times; it is read again once anybody wrote. Only
        plain messages are kept: nobody to whom they were given can have changed them.
        """

        def look(database: Connection) -> list[Message]:
            version = (database, limits, database.total_changes(), database.execute(VERSION).get)
            known, kept = self._last.get(key, NOTHING_KEPT)
            if known == version and _is_recent(kept, limits, now):
                return list(kept)
            found = reading.read_plain(database, key, limits, now)
            if found is None:
                return [said.message for said in reading.read_window(database, key, limits, now)]
            self._last = {key: (version, tuple(found))}
            return found

        return self._database.read(look)

    def window(
        self, key: str, limits: Limits, now: datetime, *, resumed: bool
    ) -> list[StoredMessage]:
        """Return what the window shows, as stored messages."""
        return self._database.read(
            lambda database: reading.read_stored_window(database, key, limits, now, resumed=resumed)
        )

    def messages(self, key: str, before: int | None, limit: int | None) -> list[StoredMessage]:
        """Return the newest messages of the shown path below a number, oldest first."""
        return self._database.read(
            lambda database: reading.read_messages(database, key, before, limit)
        )

    def find(self, number: int) -> tuple[str, StoredMessage] | None:
        """Return a message with its conversation's key."""
        return self._database.read(lambda database: reading.read_one(database, number))

    def summaries(self, query: str | None, limit: int | None) -> list[ConversationSummary]:
        """Return what is known of each conversation, the newest first."""
        return self._database.read(lambda database: reading.read_summaries(database, query, limit))

    def summary(self, key: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        return self._database.read(lambda database: reading.read_summary(database, key))

    def changes_since(self, cursor: Cursor | None, limit: int) -> Feed:
        """Return what changed since a cursor."""
        start = cursor or Cursor()
        return self._database.read(lambda database: reading.read_feed(database, start, limit))

    def clear(self, key: str) -> bool:
        """Erase a conversation, so that no byte of it stays; False when there is none."""
        return self._database.erase(lambda database: writing.clear(database, key))

    def expire(self, limits: Limits, now: datetime) -> int:
        """Erase messages that are too old; return how many conversations went with them."""
        if not self._database.read(lambda database: writing.is_expired(database, limits, now)):
            return 0
        return self._database.erase(lambda database: writing.expire(database, limits, now))

    def show_version(self, key: str, number: int) -> None:
        """Show the path through a message to the newest of all that follow it."""

        def show(database: Connection) -> None:
            conversations_schema.show_through(database, get_conversation(database, key), number)

        self._database.write(show)

    def rename(self, key: str, title: str) -> None:
        """Set a title; an empty one brings back the title made of the first question."""
        self._database.write(lambda database: writing.rename(database, key, title))

    def set_searched(self, key: str, *, is_searched: bool) -> None:
        """Keep a conversation out of searches, or let it in."""
        self._database.write(
            lambda database: writing.set_searched(database, key, is_searched=is_searched)
        )

    def hide(self, key: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what the user said at some times and what was answered; return the numbers."""
        stamps = set(map(to_iso, times))
        return self._database.write(
            lambda database: writing.hide(database, key, stamps, to_text(reason))
        )

    def settle(self, outcomes: MessageOutcomes, state: str) -> None:
        """Hide and show messages, and trust them, as the record of facts says by now."""
        self._database.write(lambda database: settle(database, outcomes, state))

    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages."""
        return self._database.write(lambda database: writing.show_again(database, to_text(reason)))

    def accept(self, key: str, times: Collection[datetime]) -> int:
        """Trust what others said at some times as the user's own words; return how many."""
        stamps = set(map(to_iso, times))
        return self._database.write(lambda database: writing.accept(database, key, stamps))

    def settled_state(self) -> str:
        """Return how the record of facts looked when that was last done."""
        return self._database.read(read_state)

    def take_over(
        self, key: str, messages: Sequence[Message], now: datetime, title: str | None
    ) -> int:
        """Add messages of another file that are not there; return how many."""
        return self._database.write(
            lambda database: writing.take_over(database, key, messages, now, title)
        )

    def import_tree(self, key: str, nodes: Sequence[TreeNode], leaf: int, title: str | None) -> int:
        """Add a whole conversation, less what is there; return how many messages were new."""
        return self._database.write(
            lambda database: writing.import_tree(database, key, nodes, leaf, title)
        )

    def figures(self) -> tuple[int, int, datetime | None]:
        """Count conversations and messages; find when the oldest message was said."""
        return self._database.read(reading.read_figures)

    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on."""
        return self._database.read(reading.read_cited)

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._database.close()


def _is_recent(messages: Sequence[Message], limits: Limits, now: datetime) -> bool:
    """Whether no silence has ended a window since it was read."""
    last = messages[-1].timestamp if messages else None
    return last is not None and now - last <= limits.max_silence


def examine(path: Path) -> StoredFigures:
    """Count what a database holds, changing nothing; raise CorruptFile when it is none."""
    has_begun = path.stat().st_size > 0
    counts = databases.examine_database(path, FORM, _count) if has_begun else (0, 0, None)
    return StoredFigures(databases.measure(path), *counts)


def _count(database: Connection) -> tuple[int, int, datetime | None]:
    if database.pragma("user_version") == FORM.version:
        return reading.read_figures(database)
    conversations: int = database.execute("SELECT count(*) FROM conversations").get
    messages: int = database.execute("SELECT count(*) FROM messages").get
    return conversations, messages, None
