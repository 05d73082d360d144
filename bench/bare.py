"""The yardstick: SQLite with nothing around it, as durable as our own stores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw

from bench.samples import SampleExchange

STAMP = "2026-11-01T09:30:00.000Z"
LAST = 20


class Bare:
    """A table of messages, found by their conversation."""

    def __init__(self, path: Path) -> None:
        self._database = apsw.Connection(str(path))
        # Otherwise SQLite plans a query with ORDER BY anew for each value that is bound to it.
        self._database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._database.pragma("journal_mode", "wal")
        self._database.pragma("synchronous", "full")
        self._database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY,"
            " conversation TEXT, role TEXT, content TEXT, timestamp TEXT);"
            "CREATE INDEX by_conversation ON messages (conversation)"
        )

    def fill(self, conversations: Iterable[tuple[str, list[SampleExchange]]]) -> None:
        """Put in what is there before the measuring begins, and leave no log of it."""
        self._database.execute("BEGIN")
        for key, exchanges in conversations:
            for one in exchanges:
                self._insert(key, one)
        self._database.execute("COMMIT")
        self._database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def add_exchange(self, key: str, one: SampleExchange) -> None:
        """Insert two rows and commit."""
        self._database.execute("BEGIN IMMEDIATE")
        self._insert(key, one)
        self._database.execute("COMMIT")

    def add_row(self, content: str) -> None:
        """Insert one row and commit."""
        self.add_rows([content])

    def add_rows(self, contents: Iterable[str]) -> None:
        """Insert rows and commit."""
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(
            "INSERT INTO messages (conversation, role, content, timestamp) VALUES (?, ?, ?, ?)",
            [("fact", "user", content, STAMP) for content in contents],
        )
        self._database.execute("COMMIT")

    def last_messages(self, key: str) -> list[tuple[object, ...]]:
        """Select the newest rows of a conversation."""
        return list(
            self._database.execute(
                "SELECT role, content, timestamp FROM messages"
                " WHERE conversation = ? ORDER BY id DESC LIMIT ?",
                (key, LAST),
            )
        )

    def conversations(self) -> list[tuple[object, ...]]:
        """Count the rows of each conversation and find the newest."""
        return list(
            self._database.execute(
                "SELECT conversation, count(*), max(id) FROM messages GROUP BY conversation"
            )
        )

    def remove(self, key: str) -> None:
        """Delete the rows of a conversation and commit."""
        self._database.execute("DELETE FROM messages WHERE conversation = ?", (key,))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _insert(self, key: str, one: SampleExchange) -> None:
        self._database.executemany(
            "INSERT INTO messages (conversation, role, content, timestamp) VALUES (?, ?, ?, ?)",
            [(key, "user", one.question, STAMP), (key, "assistant", one.answer, STAMP)],
        )
