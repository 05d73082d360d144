"""The queue of learning: nothing is lost, nothing is learned from twice, and erased is erased."""

from __future__ import annotations

import json
import logging
import random
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from tests.decisions import decide
from tests.store import others
from turnleaf.core.learning.queue import LEASE_SECONDS, Batch, Decision, Queued
from turnleaf.core.messages import Message
from turnleaf.errors import StorageError
from turnleaf.store.files.backup import backup, restore
from turnleaf.store.files.learning_queue import LearningStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
KEY = "cli:session-1"
OTHER = "slack:1.2"


class QueueFile:
    """A location, and stores opened there at one moment after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START

    def open(self) -> LearningStore:
        return LearningStore(self.path, now=lambda: self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def bytes(self) -> bytes:
        """All that lies in the folder."""
        return b"".join(path.read_bytes() for path in self.path.parent.iterdir())

    def damage(self, query: str) -> None:
        connection = apsw.Connection(str(self.path))
        connection.execute(query)
        connection.close()


@pytest.fixture
def place(tmp_path: Path) -> QueueFile:
    return QueueFile(tmp_path / "deep" / "learning.db")


@pytest.fixture
def store(place: QueueFile) -> LearningStore:
    return place.open()


def make_queued(*texts: str) -> list[Queued]:
    return [Queued(Message("user", text, START)) for text in texts]


def claim_batch(store: LearningStore, key: str = KEY) -> Batch:
    batch = store.claim(key)
    assert batch is not None
    return batch


def list_texts(batch: Batch) -> list[str]:
    return [one.message.text for one in batch.messages]


def complete(store: LearningStore, *decisions: Decision, key: str = KEY) -> None:
    assert store.complete(claim_batch(store, key), decisions)


# What was cut off


def cut_off(place: QueueFile, key: str = KEY) -> list[str]:
    """Take what waits and come to no end with it; return what that was."""
    taken = list_texts(claim_batch(place.open(), key))
    place.pass_time(LEASE_SECONDS)
    return taken


def test_the_log_names_the_conversation_of_a_message_that_is_set_aside_and_not_its_words(
    place: QueueFile, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二", "三"))
    assert cut_off(place) == ["一", "二", "三"]
    complete(store)
    assert cut_off(place) == ["二"]
    # The guard looks after stores that tests before this one have left open.
    assert [one for one in caplog.records if one.threadName != "turnleaf-watcher"] == []
    assert list_texts(claim_batch(store)) == ["三"]
    assert f"a message of {KEY} was set aside" in caplog.text
    assert "二" not in caplog.text


# Erasing


def fill_store(store: LearningStore, key: str, text: str, source: str | None = None) -> None:
    """Put a text into every place that can hold one, in each state."""
    queued = [Queued(Message("user", f"{text} {number}" * 9), source=source) for number in range(9)]
    store.enqueue(key, queued)
    complete(store, decide(f"{text} settled", key, source=source), key=key)
    store.settle(store.outbox()[-1].id)
    store.enqueue(key, queued)
    complete(store, decide(f"{text} decided", key, source=source), key=key)
    store.postpone(store.outbox()[-1].id, f"{text} postponed")
    store.enqueue(key, queued)
    store.release(claim_batch(store, key), f"{text} released")
    store.begin_flush(key)


@pytest.mark.parametrize("is_held_open", [True, False])
def test_of_an_erased_conversation_no_byte_stays(place: QueueFile, *, is_held_open: bool) -> None:
    store, another = place.open(), place.open()
    fill_store(store, OTHER, "kept")
    fill_store(store, KEY, "祕密")
    assert another.count_queued(KEY) == 9
    if not is_held_open:
        another.close()
    assert "祕密".encode() in place.bytes()
    assert store.erase(KEY) == 9 + 1 + 1
    assert "祕密".encode() not in place.bytes()
    assert KEY.encode() not in place.bytes()
    assert store.backlog() == {OTHER: 9}
    assert [one.decision for one in store.outbox()] == [decide("kept decided", OTHER)]
    assert another.count_queued(OTHER) == 9
    assert store.erase(KEY) == 0


@pytest.mark.parametrize("source", ["document:筆記.md", "tool:fetch"])
def test_of_an_erased_source_no_byte_stays(place: QueueFile, source: str) -> None:
    store = place.open()
    fill_store(store, KEY, "kept")
    fill_store(store, KEY, "kept", "document:other.md")
    fill_store(store, OTHER, "祕密", source)
    store.enqueue(OTHER, make_queued("typed by the user"))
    assert store.erase(source=source) == 9 + 1 + 1
    assert "祕密".encode() not in place.bytes()
    assert source.encode() not in place.bytes()
    assert store.backlog() == {KEY: 9, OTHER: 1}
    assert len(store.outbox()) == 2


@pytest.mark.parametrize("seed", [1, 9, 16, 19])
def test_nothing_erased_stays_where_sqlite_moved_it_from(place: QueueFile, seed: int) -> None:
    store, choice = place.open(), random.Random(seed)
    for number in range(40):
        key, text = f"key {number % 5}", f"祕密-{number % 5}-"
        store.enqueue(key, make_queued("…"))
        decisions = [decide(text + "x" * choice.randrange(900)) for _ in range(5)]
        complete(store, *decisions, key=key)
        for one in choice.sample(store.outbox(), 4):
            store.postpone(one.id, "y" * choice.randrange(300))
    for number in range(5):
        assert f"祕密-{number}-".encode() in place.bytes()
        store.erase(f"key {number}")
        assert f"祕密-{number}-".encode() not in place.bytes()


# Several at once

CLAIMER = """
import sys
from turnleaf.store.files.learning_queue import LearningStore

store = LearningStore(sys.argv[1])
store.count_queued("key")
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(store.claim(f"key {number}") is not None, flush=True)
"""


def test_of_two_processes_that_claim_at_once_exactly_one_gets_it(place: QueueFile) -> None:
    store = LearningStore(place.path)
    for number in range(20):
        store.enqueue(f"key {number}", make_queued("one"))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, str(place.path)],
            cwd=others.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    got = [process.communicate("go\n", timeout=60)[0].split() for process in running]
    assert all(sorted(pair) == ["False", "True"] for pair in zip(*got, strict=True))
    assert len(got[0]) == 20


# Files


def test_new_files_are_private(place: QueueFile) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    assert store.location == place.path
    for path in [place.path.parent, *place.path.parent.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_file_that_is_gone_is_not_silently_begun_anew(place: QueueFile) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    place.path.unlink()
    with pytest.raises(StorageError, match="has been removed since it was opened"):
        store.enqueue(KEY, make_queued("two"))


@pytest.mark.parametrize("data", [b"garbage" * 300, b"short"])
def test_a_damaged_file_goes_aside_and_is_named(
    place: QueueFile, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        place.open().enqueue(KEY, make_queued("one"))
    (aside,) = place.path.parent.glob("learning.db.corrupt-*")
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text
    assert place.open().count_queued(KEY) == 1


def test_a_database_of_something_else_goes_aside(place: QueueFile) -> None:
    place.path.parent.mkdir()
    place.damage("CREATE TABLE queue (lamp TEXT)")
    place.open().enqueue(KEY, make_queued("one"))
    assert len(list(place.path.parent.glob("learning.db.corrupt-*Z"))) == 1


def test_a_file_of_a_newer_version_is_refused(place: QueueFile) -> None:
    place.open().enqueue(KEY, make_queued("one"))
    place.damage("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="newer version of Turnleaf; update this one"):
        place.open().count_queued(KEY)


@pytest.mark.parametrize("damaged", ["'{'", "x'ff'", "'[]'", "'{}'"])
def test_a_record_that_cannot_be_read_costs_none_of_the_others(
    place: QueueFile, damaged: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("gone"))
    complete(store, decide("gone"), decide("good"))
    store.enqueue(KEY, make_queued("gone", "good"))
    store.close()
    for table in ("queue", "outbox"):
        place.damage(f"UPDATE {table} SET record = {damaged} WHERE n = 1")  # noqa: S608
    assert list_texts(claim_batch(place.open())) == ["good"]
    assert decide("good") in [one.decision for one in place.open().outbox()]
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE conversations SET extracted_at = CAST(x'32ff' AS TEXT)",
        "UPDATE conversations SET cycle = 'x', cycle_since = CAST(x'32ff' AS TEXT)",
        "UPDATE queue SET token = 'x', leased_at = CAST(x'32ff' AS TEXT)",
    ],
)
def test_a_damaged_time_keeps_nothing_from_being_learned(place: QueueFile, damage: str) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    complete(store)
    store.enqueue(KEY, make_queued("two"))
    store.close()
    place.damage(damage)
    place.pass_time(3600)
    assert store.is_due(KEY, interval_seconds=60, min_messages=1)
    assert store.begin_flush(KEY)
    assert list_texts(claim_batch(store)) == ["two"]


def test_a_backup_brings_back_what_waited(place: QueueFile, tmp_path: Path) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    backup(place.path.parent, tmp_path / "saved.tar.gz")
    complete(store)
    restore(place.path.parent, tmp_path / "saved.tar.gz")
    assert list_texts(claim_batch(store)) == ["一", "二"]


def test_what_is_stored_is_json_that_can_be_read(place: QueueFile) -> None:
    place.open().enqueue(KEY, make_queued("客廳的燈叫做小明"))
    connection = apsw.Connection(str(place.path))
    record = json.loads(connection.execute("SELECT record FROM queue").get)
    connection.close()
    assert record["message"]["content"] == "客廳的燈叫做小明"
    assert (record["trust"], record["isSettled"]) == ("user", False)
