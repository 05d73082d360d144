"""Schedules in their file, and runs that one process makes."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.clocks import Clock
from turnleaf.core.schedules import (
    GRACE,
    Run,
    Schedule,
    claim_run,
    finish_run,
)
from turnleaf.errors import NotFound, StorageError
from turnleaf.store.files.schedules import ScheduleStore
from turnleaf.store.schedules import find_next_due

START = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PROMPT = "早安，今天有什麼事？"


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "schedules.json"


@pytest.fixture
def open_store(path: Path, clock: Clock) -> Callable[[], ScheduleStore]:
    return lambda: ScheduleStore(path, now=clock)


@pytest.fixture
def store(open_store: Callable[[], ScheduleStore]) -> ScheduleStore:
    return open_store()


def states(store: ScheduleStore, schedule_id: str) -> list[str]:
    return [run.state for run in store.get(schedule_id).runs]


def test_a_schedule_is_written_as_json_with_the_time_that_it_is_due(
    store: ScheduleStore, path: Path
) -> None:
    store.add(PROMPT, "0 9 * * *", zone="Asia/Taipei", name="早安")
    (record,) = json.loads(path.read_text("utf-8"))
    assert record["prompt"] == PROMPT
    assert record["timezone"] == "Asia/Taipei"
    assert record["nextRun"] == "2026-11-17T01:00:00.000Z"


def test_a_run_that_somebody_holds_for_ever_is_taken_up(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = store.claim()
    text = path.read_text("utf-8")
    held = json.loads(text)[0]["runs"][0]["heldUntil"]
    path.write_text(text.replace(held, "2999-01-01T00:00:00.000Z"), "utf-8")
    assert not store.get(made.id).is_running(clock.now)
    ((_, again),) = store.claim()
    assert (again.id, again.attempts) == (run.id, 2)


def test_what_is_far_behind_is_marked_without_a_walk_through_all_its_times() -> None:
    asked = []

    def count_calls(schedule: Schedule, after: datetime) -> datetime | None:
        asked.append(after)
        return find_next_due(schedule, after)

    schedule = Schedule("s", PROMPT, "* 8-12 * * *", "UTC", START, START, next_due=START)
    now = datetime(2027, 11, 16, 20, tzinfo=UTC)
    schedule, run = claim_run(schedule, now, count_calls, Run("r", now, "running", holder="one"))
    assert run is None
    assert [(one.state, one.due) for one in schedule.runs] == [("missed", START)]
    assert schedule.next_due == datetime(2027, 11, 17, 8, tzinfo=UTC)
    assert len(asked) == 2


def test_where_there_are_no_schedules_erasing_makes_no_file(
    store: ScheduleStore, path: Path
) -> None:
    assert store.erase("schedule:s") == 0
    assert not path.exists()


def test_a_timing_that_somebody_spoilt_in_the_file_stops_no_other_schedule(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    spoilt = store.add(PROMPT, "0 9 * * *", zone="UTC")
    good = store.add(PROMPT, "0 9 * * *", zone="Asia/Taipei")
    path.write_text(path.read_text("utf-8").replace('"UTC"', '"Mars/Olympus"'), "utf-8")
    clock.now = datetime(2026, 11, 17, 9, tzinfo=UTC)
    store.claim()
    clock.now = datetime(2026, 11, 18, 1, tzinfo=UTC)
    ((schedule, _),) = store.claim()
    assert schedule.id == good.id
    (run,) = store.get(spoilt.id).runs
    assert run.state == "failed"
    assert "Mars/Olympus" in (run.error or "")
    assert store.update(spoilt.id, name="壞了").name == "壞了"
    assert store.update(spoilt.id, zone="UTC").next_due == datetime(2026, 11, 18, 9, tzinfo=UTC)


RECORD = json.dumps(
    {
        "id": "a",
        "prompt": PROMPT,
        "timing": "every 1h",
        "timezone": "UTC",
        "createdAt": "2026-11-16T08:00:00.000Z",
    }
)


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a"',
        '{"id": "a"}',
        "[1]",
        "null",
        f"[{RECORD}, {RECORD}]",
        f"[{RECORD}]".replace("every 1h", "\\ud800"),
        f"[{RECORD}]".replace("2026-11-16", "9999-12-31"),
        f"[{RECORD}]".replace(
            "}",
            ', "runs": [{"id": "r", "due": "2026-11-16T08:00:00Z",'
            ' "state": "done", "attempts": 1e999}]}',
        ),
        "<<<<<<< HEAD\n[]\n",
    ],
)
def test_a_damaged_file_is_moved_aside_and_named(
    store: ScheduleStore, path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(NotFound):
            store.pause("a")
    assert store.get_all() == []
    (aside,) = path.parent.glob("schedules.json.corrupt-*")
    assert aside.read_text("utf-8") == text
    assert aside.name in caplog.text


def test_what_a_person_leaves_out_has_its_default(store: ScheduleStore, path: Path) -> None:
    path.write_text(f"[{RECORD}]", encoding="utf-8")
    (one,) = store.get_all()
    assert (one.name, one.deliver, one.is_paused, one.runs) == (None, "log", False, ())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (RECORD.replace("createdAt", "created"), "schedule number 2 has no 'createdAt'"),
        (RECORD.replace("2026-11-16T", "yesterday "), "schedule number 2 cannot be read"),
    ],
)
def test_what_is_wrong_with_which_schedule_is_said(
    store: ScheduleStore, path: Path, caplog: pytest.LogCaptureFixture, wrong: str, said: str
) -> None:
    path.write_text(f"[{RECORD}, {wrong}]", encoding="utf-8")
    assert store.get_all() == []
    assert said in caplog.text


def test_a_schedule_that_a_person_writes_without_its_next_time_is_run(
    store: ScheduleStore, path: Path, clock: Clock
) -> None:
    path.write_text(f"[{RECORD}]", encoding="utf-8")
    assert store.get("a").next_due == START + timedelta(hours=1)
    clock.pass_time(hours=1)
    assert [one.id for one, _ in store.claim()] == ["a"]


def test_a_timing_that_a_person_misspells_is_on_record_once(
    store: ScheduleStore, path: Path
) -> None:
    path.write_text(f"[{RECORD}]".replace("every 1h", "每小時"), encoding="utf-8")
    for _ in range(2):
        assert store.claim() == []
    (run,) = store.get("a").runs
    assert (run.state, "每小時" in (run.error or "")) == ("failed", True)


def test_where_nothing_can_be_written_the_error_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    store = ScheduleStore(tmp_path / "data" / "schedules.json")
    with pytest.raises(StorageError, match="not a folder"):
        store.add(PROMPT, "every 1h")


def test_nothing_is_written_while_nothing_is_due(store: ScheduleStore, path: Path) -> None:
    store.add(PROMPT, "every 1h", zone="UTC")
    before = path.stat().st_mtime_ns
    assert store.claim() == []
    assert path.stat().st_mtime_ns == before


def test_a_change_by_another_process_is_seen_however_long_nothing_changed(
    open_store: Callable[[], ScheduleStore], clock: Clock, path: Path
) -> None:
    looking, other = open_store(), open_store()
    looking.init()
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago))
    assert looking.claim() == []
    other.add(PROMPT, "every 15m", zone="UTC")
    os.utime(path, (long_ago, long_ago))
    assert looking.claim() == []
    clock.pass_time(minutes=15)
    assert len(looking.claim()) == 1


def test_two_changes_in_one_tick_of_the_disk_are_both_seen(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    store.add(PROMPT, "every 15m", zone="UTC")
    tick = path.stat().st_mtime_ns
    assert store.claim() == []
    path.write_text(path.read_text("utf-8").replace("T08:15", "T08:00"), "utf-8")
    os.utime(path, ns=(tick, tick))
    assert len(store.claim()) == 1


@pytest.mark.parametrize(
    ("zone", "wall"),
    [
        ("Asia/Taipei", (9, 0)),
        ("Europe/Vienna", (2, 15)),
        ("Australia/Lord_Howe", (1, 45)),
        ("Australia/Lord_Howe", (2, 15)),
    ],
)
def test_through_a_whole_year_each_due_time_is_claimed_once(
    zone: str, wall: tuple[int, int]
) -> None:
    place, choice = ZoneInfo(zone), random.Random(1)
    first = datetime(2026, 1, 1, tzinfo=place).astimezone(UTC)
    last = datetime(2027, 1, 1, tzinfo=place).astimezone(UTC)
    timing = f"{wall[1]} {wall[0]} * * *"
    schedule = Schedule("s", PROMPT, timing, zone, first, first)
    schedule = replace(schedule, next_due=find_next_due(schedule, first))
    now, made = first, []
    while now < last + GRACE:
        now += timedelta(minutes=choice.randrange(1, 100))
        new = Run(str(now), now, "running", holder="one")
        schedule, run = claim_run(schedule, now, find_next_due, new)
        if run:
            made.append(run.due)
            assert claim_run(schedule, now, find_next_due, replace(new, id="two"))[1] is None
            schedule = finish_run(schedule, run, now) or schedule
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(365)]
    assert [due for due in made if due < last] == [
        find_first_shown(day, wall, place) for day in days
    ]


def find_first_shown(day: date, wall: tuple[int, int], place: ZoneInfo) -> datetime:
    """Find the first minute of a day at which the clock shows a time, or later than that."""
    shown = datetime(day.year, day.month, day.day, *wall)  # noqa: DTZ001 - as a clock shows it
    moment = shown.replace(tzinfo=place).astimezone(UTC) - timedelta(hours=1)
    while moment.astimezone(place).replace(tzinfo=None) < shown:
        moment += timedelta(minutes=15)
    return moment
