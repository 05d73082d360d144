"""A database of an older version becomes one of today."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.store.timed_place import KEY, TimedPlace, exchange
from turnleaf.core.keys import EVERYONE, make_own_audience

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.db")


VERSION_1 = """
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE messages (
    n INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, role TEXT NOT NULL,
    chars INTEGER NOT NULL, calls TEXT, text TEXT, timestamp TEXT, json TEXT
);
CREATE INDEX messages_by_conversation ON messages (conversation, n, role, chars, calls);
INSERT INTO conversations VALUES
    (1, 'cli:session-1', '2026-03-01T08:00:00.000Z', '2026-03-01T08:30:00.000Z'),
    (2, 'slack:1.2', '2026-02-01T08:00:00.000Z', '2026-02-01T08:30:00.000Z');
INSERT INTO messages VALUES
    (3, 1, 'user', 2, NULL, '客廳', '2026-03-01T08:30:00.000Z', NULL),
    (5, 2, 'user', 1, NULL, NULL, NULL,
     '{"role": "user", "content": [{"type": "text", "text": "x"}],
       "timestamp": "2026-02-01T08:30:00.000Z"}'),
    (6, 1, 'assistant', 1, NULL, 'A', '2026-03-01T08:30:00.000Z', NULL),
    (7, 1, 'user', 1, NULL, NULL, NULL, '{damaged');
PRAGMA user_version = 1;
"""


@pytest.fixture
def older(place: TimedPlace) -> TimedPlace:
    database = apsw.Connection(str(place.path))
    database.execute(VERSION_1)
    database.close()
    return place


def test_a_database_of_version_1_is_upgraded_whole(older: TimedPlace) -> None:
    store = older.open()
    assert [one.message.text for one in store.messages(KEY)] == ["客廳", "A"]
    assert [(one.id, one.parent) for one in store.messages(KEY)] == [(3, None), (6, 3)]
    assert [one.message.text for one in store.messages("slack:1.2")] == ["x"]
    assert [(one.key, one.title, one.audience) for one in store.summaries()] == [
        (KEY, "客廳", EVERYONE),
        ("slack:1.2", "x", make_own_audience("slack:1.2")),
    ]
    assert store.figures().oldest == datetime(2026, 2, 1, 8, 30, tzinfo=UTC)
    assert min(store.add_messages(KEY, exchange("Q", "A"))) > 7
    assert len(store.changes_since(None).found) == 5


def test_an_upgraded_database_is_not_upgraded_again(older: TimedPlace) -> None:
    store = older.open()
    name = store.changes_since(None).database
    store.close()
    assert older.open().changes_since(None).database == name


def test_an_upgrade_that_fails_leaves_version_1_as_it_was(older: TimedPlace) -> None:
    database = apsw.Connection(str(older.path))
    database.execute("CREATE TABLE identity (something_else TEXT)")
    database.close()
    before = older.path.read_bytes()
    with pytest.raises(Exception, match=r"no such column|has no column"):
        older.open()
    assert older.path.read_bytes()[100:] == before[100:]
