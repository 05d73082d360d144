"""A database of conversations keeps every message and shows the newest."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.store import others
from tests.store.timed_place import KEY, TimedPlace, exchange, list_texts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.db")


OPENED = """
import sys
from turnleaf import ConversationStore
store = ConversationStore(sys.argv[1])
store.add_exchange("k", "Q", "A")
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(args[0]))
for number in range(10):
    store.add_exchange("k", f"Q{number}", "A")
print(opened)
"""


def test_an_exchange_added_to_an_open_database_opens_no_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path / "conversations.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Everything is kept


def test_reading_changes_nothing(place: TimedPlace) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(3):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    watcher = apsw.Connection(str(place.path))
    before = watcher.pragma("data_version")
    store.get_history(KEY)
    store.window(KEY)
    store.messages(KEY)
    store.summaries("q")
    store.changes_since(None)
    assert watcher.pragma("data_version") == before


# Silences


def test_a_long_conversation_is_read_no_further_than_its_window(place: TimedPlace) -> None:
    store = place.open()
    for _ in range(10):
        batch = [one for n in range(5000) for one in exchange(f"Q{n}", f"A{n}")]
        store.add_messages(KEY, batch)
    database = apsw.Connection(str(place.path))
    database.execute("UPDATE messages SET text = x'ff' WHERE n < 99000")
    database.close()
    assert len(list_texts(store)) == 20
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.turns == 100_000
    assert [one.message.text for one in store.messages(KEY, limit=2)] == ["Q4999", "A4999"]


def test_what_another_process_says_is_fed(place: TimedPlace) -> None:
    store = place.open()
    cursor = store.changes_since(None).cursor
    others.run("add_exchanges", place.path, KEY, "there", "3")
    found = [one.message.text for one in store.changes_since(cursor).found]
    assert found[::2] == ["there 0", "there 1", "there 2"]
