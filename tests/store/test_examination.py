"""Each store says what it holds and what is wrong with it, and nothing is changed by asking."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import apsw
import pytest

from turnleaf import Message
from turnleaf.core.diagnosis import (
    Diagnosis,
    Examination,
    LearningFigures,
    Retention,
    Row,
    describe_figures,
)
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import StoredFigures
from turnleaf.settings import DataFolder, Settings
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts import journal
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.learning_queue import LearningStore
from turnleaf.store.files.schedules import ScheduleStore
from turnleaf.store.files.stores import FileStores

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
Look = Callable[[Path], Examination]


FILES: dict[str, Look] = {
    "MEMORY.md": lambda path: MemoryStore(path).examine(),
    "facts.json": lambda path: MemoryStore(path).examine(),
    "changes.jsonl": journal.examine,
    "talk.db": lambda path: ConversationStore(path).examine(),
    "talk.json": lambda path: ConversationStore(path).examine(),
    "schedules.json": lambda path: ScheduleStore(path).examine(),
    "learning.db": lambda path: LearningStore(path).examine(),
}
OTHERS: dict[str, Look] = {
    "daily": lambda path: DailyLog(path).examine(),
    "index.db": lambda path: Index(path).examine(),
    "memory-config.json": lambda path: ConfigFile(path).examine(),
}
ONLY_A_WINDOW = "not every message is kept"


def read_everything(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def list_messages(found: Examination, level: str) -> list[str]:
    messages = [one.message for one in found.findings if one.level == level]
    return [one for one in messages if not one.startswith(ONLY_A_WINDOW)]


def fill(folder: Path) -> None:
    MemoryStore(folder / "MEMORY.md").add("客廳的燈叫做小明")
    MemoryStore(folder / "facts.json").add("lamp")
    for name in ("talk.db", "talk.json"):
        with_messages = ConversationStore(folder / name)
        with_messages.add_exchange("cli:a", "b", "c")
        with_messages.close()
    DailyLog(folder / "daily").append("a note")
    ScheduleStore(folder / "schedules.json").add("ask", "every 15m", name="mine")
    queue = LearningStore(folder / "learning.db")
    queue.enqueue("cli:a", [Queued(Message("user", "b"))])
    queue.close()


@pytest.mark.parametrize(("name", "look"), [*FILES.items(), *OTHERS.items()])
def test_what_is_not_there_is_no_problem_and_is_not_made(
    tmp_path: Path, name: str, look: Look
) -> None:
    found = look(tmp_path / name)
    assert list_messages(found, "error") == list_messages(found, "warning") == []
    assert [row.bytes for row in found.rows if row.bytes] == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_counted_and_stays_as_it_is(tmp_path: Path) -> None:
    fill(tmp_path)
    before = read_everything(tmp_path)
    found = {name: look(tmp_path / name) for name, look in {**FILES, **OTHERS}.items()}
    holds = {name: one.rows[0].holds for name, one in found.items() if one.rows}
    assert holds.pop("talk.db").startswith("1 conversation, 2 messages, oldest ")
    assert holds == {
        "MEMORY.md": "1 fact, 8 characters",
        "facts.json": "1 fact, 4 characters",
        "talk.json": "1 conversation",
        "schedules.json": "1 schedule",
        "learning.db": "1 message to learn from",
        "daily": "1 day",
        "index.db": "created by the first search",
        "memory-config.json": "none (optional)",
    }
    assert [one for looked in found.values() for one in list_messages(looked, "error")] == []
    assert read_everything(tmp_path) == before


@pytest.mark.parametrize(("name", "look"), FILES.items())
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_a_problem_and_not_waited_for(
    tmp_path: Path, name: str, look: Look, make: Callable[[Path], None]
) -> None:
    make(tmp_path / name)
    (problem,) = list_messages(look(tmp_path / name), "error")
    assert problem == f"{tmp_path / name} is not a regular file; move it elsewhere"


@pytest.mark.parametrize("name", ["talk.db", "talk.json", "schedules.json", "learning.db"])
@pytest.mark.parametrize("data", [b"garbage\xff" * 999, b"short"])
def test_what_is_damaged_is_a_problem_and_stays_as_it_is(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    before = read_everything(tmp_path)
    found = FILES[name](tmp_path / name)
    (problem,) = list_messages(found, "error")
    assert problem.startswith(f"{tmp_path / name} cannot be used (")
    assert [row.holds for row in found.rows] == ["cannot be used"]
    assert read_everything(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("talk.db", Retention(keeps_everything=True, days=30)),
        ("talk.json", Retention(keeps_everything=False, days=30)),
    ],
)
def test_conversations_say_for_how_long_they_are_kept(
    tmp_path: Path, name: str, kept: Retention
) -> None:
    found = ConversationStore(
        tmp_path / name, settings=Settings(conversation_keep_days=30)
    ).examine()
    assert found.retention == kept
    is_short = any(one.message.startswith(ONLY_A_WINDOW) for one in found.findings)
    assert is_short is not kept.keeps_everything


def test_figures_are_said_with_the_day_of_the_oldest_message() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    said = describe_figures(StoredFigures(40_960, 1, 1_200, noon), find_local_day)
    assert said == "1 conversation, 1,200 messages, oldest 2026-03-01, 40,960 bytes"
    assert (
        describe_figures(StoredFigures(0, 0, 0, None), find_local_day)
        == "0 conversations, 0 messages, 0 bytes"
    )


def test_what_nobody_runs_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "schedules.json"
    ScheduleStore(path, now=lambda: LONG_AGO).add("ask", "every 15m", name="mine")
    (warning,) = list_messages(ScheduleStore(path).examine(), "warning")
    assert warning.startswith(
        "the schedule mine has been due since 2020-01-01T00:15:00.000Z, but no"
    )


def test_learning_tells_how_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "learning.db"
    today = datetime.now().astimezone().date()
    store = LearningStore(path)
    store.spend("openai:tiny", cap=9, day=today)
    store.spend("openai:tiny", cap=9, day=date(2020, 1, 1))
    store.count_skipped(2, today)
    store.keep_json_format("http://here", "openai:tiny", "json_object")
    store.close()
    formats = {("http://here", "openai:tiny"): "json_object"}
    assert LearningStore(path).examine().learning == LearningFigures(1, 2, 0, None, formats)


def test_a_queue_of_an_older_version_is_looked_at_and_not_upgraded(tmp_path: Path) -> None:
    fill(tmp_path)
    path = tmp_path / "learning.db"
    older = apsw.Connection(str(path))
    older.execute("DROP TABLE tallies; DROP TABLE json_formats; PRAGMA user_version = 1")
    older.close()
    before = read_everything(tmp_path)
    found = LearningStore(path).examine()
    assert found.learning == LearningFigures(0, 0, 0, None, {})
    assert [row.holds for row in found.rows] == ["1 message to learn from"]
    assert read_everything(tmp_path) == before


def test_a_queue_in_use_is_counted(tmp_path: Path) -> None:
    store = LearningStore(tmp_path / "learning.db")
    store.enqueue("cli:a", [Queued(Message("user", "b")), Queued(Message("user", "c"))])
    (row,) = store.examine().rows
    assert row.holds == "2 messages to learn from"
    store.close()


def test_a_folder_full_of_problems_has_all_of_them_reported(tmp_path: Path) -> None:
    for name in ("learning.db", "schedules.json"):
        (tmp_path / name).write_bytes(b"garbage" * 999)
    (tmp_path / "schedules.json.corrupt-1").touch()
    (tmp_path / "second" / "conversations").mkdir(parents=True)
    wrong = {"memoryLocation": "facts.txt", "conversationsLocation": "talk.txt"}
    (tmp_path / "memory-config.json").write_text(json.dumps(wrong))
    before = read_everything(tmp_path)
    folder = DataFolder(tmp_path, "a test", others=(tmp_path / "second",))
    stores, problems = FileStores.open_to_examine(folder)
    assert ["location cannot be used" in one.message for one in problems] == [True, True]
    found = stores.examine()
    assert len(list_messages(found, "error")) == 2
    aside, second = list_messages(found, "warning")
    assert "schedules.json.corrupt-1 was set aside" in aside
    assert f"a second data folder at {tmp_path / 'second'}" in second
    assert read_everything(tmp_path) == before


def test_a_problem_that_several_find_is_reported_once() -> None:
    row, problem = Row("a", "/a", 1, "all"), Diagnosis("error", "no room")
    one = Examination.of([problem, row, problem])
    assert one == Examination((row,), (problem,))
    assert Examination.join([one, one]) == Examination((row, row), (problem,))
