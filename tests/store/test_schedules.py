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
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from turnleaf.core.schedules import (
    GRACE,
    KEPT_RUNS,
    LEASE,
    MOST_ATTEMPTS,
    Run,
    Schedule,
    claimed,
    finished,
)
from turnleaf.errors import Conflict, InvalidInput, NotFound, StorageError
from turnleaf.store.schedules import MAX_SCHEDULES, ScheduleStore
from turnleaf.store.timing import next_due

START = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PROMPT = "早安，今天有什麼事？"


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **amount: float) -> None:
        self.now += timedelta(**amount)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "schedules.json"


@pytest.fixture
def opened(path: Path, clock: Clock) -> Callable[[], ScheduleStore]:
    return lambda: ScheduleStore(path, now=clock)


@pytest.fixture
def store(opened: Callable[[], ScheduleStore]) -> ScheduleStore:
    return opened()


def states(store: ScheduleStore, schedule_id: str) -> list[str]:
    return [run.state for run in store.get(schedule_id).runs]


def test_a_schedule_is_kept_with_the_time_that_it_is_due(store: ScheduleStore, path: Path) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="Asia/Taipei", name="早安")
    assert store.get_all() == [made]
    assert made.next_due == datetime(2026, 11, 17, 1, tzinfo=UTC)
    (record,) = json.loads(path.read_text("utf-8"))
    assert record["prompt"] == PROMPT
    assert record["timezone"] == "Asia/Taipei"
    assert record["nextRun"] == "2026-11-17T01:00:00.000Z"


def test_nothing_is_due_before_its_time_and_one_run_at_it(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=14, seconds=59)
    assert store.claim() == []
    clock.pass_time(seconds=1)
    ((schedule, run),) = store.claim()
    assert (schedule.id, run.due) == (made.id, clock.now)
    assert store.claim() == []
    assert store.finish(made.id, run, result="沒事")
    (kept,) = store.get(made.id).runs
    assert (kept.state, kept.result, kept.id) == ("done", "沒事", run.id)


def test_a_run_that_is_under_way_is_not_overtaken_by_the_next(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 1m", zone="UTC")
    clock.pass_time(minutes=1)
    ((_, run),) = store.claim()
    for _ in range(5):
        clock.pass_time(minutes=1)
        assert store.hold(made.id, run)
        assert store.claim() == []
    store.finish(made.id, run)
    ((_, following),) = store.claim()
    assert following.due == clock.now


def test_of_several_missed_runs_the_last_is_made_up_for(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(hours=30, minutes=7)
    ((_, run),) = store.claim()
    assert run.due == START + timedelta(hours=30)
    store.finish(made.id, run)
    assert store.claim() == []
    assert store.get(made.id).next_due == START + timedelta(hours=30, minutes=15)


def test_what_was_missed_too_long_ago_is_marked_and_left(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.now = datetime(2026, 11, 16, 9, tzinfo=UTC) + GRACE + timedelta(seconds=1)
    assert store.claim() == []
    assert states(store, made.id) == ["missed"]
    assert store.get(made.id).next_due == datetime(2026, 11, 17, 9, tzinfo=UTC)


def test_a_missed_run_within_the_grace_is_made_once(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.now = datetime(2026, 11, 16, 9, tzinfo=UTC) + GRACE
    ((_, run),) = store.claim()
    store.finish(made.id, run)
    assert store.claim() == []
    assert states(store, made.id) == ["done"]


def test_one_moment_is_run_once_and_stays_on_record(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="Asia/Taipei")
    clock.pass_time(hours=4)
    ((_, run),) = store.claim()
    store.finish(made.id, run, result="ok")
    clock.pass_time(days=400)
    assert store.claim() == []
    assert store.get(made.id).next_due is None
    assert states(store, made.id) == ["done"]


def test_a_run_without_a_sign_of_life_is_tried_again_under_its_id(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    first, second = opened(), opened()
    made = first.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = first.claim()
    clock.pass_time(seconds=LEASE.total_seconds())
    ((_, again),) = second.claim()
    assert (again.id, again.attempts, again.error) == (run.id, 2, "interrupted")
    assert not first.hold(made.id, run)
    assert not first.finish(made.id, run, result="too late")
    assert second.finish(made.id, again, result="好")
    assert [one.result for one in second.get(made.id).runs] == ["好"]


def test_a_run_that_is_interrupted_again_and_again_is_given_up(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    made = opened().add(PROMPT, "every 1d", zone="UTC")
    clock.pass_time(days=1)
    for _ in range(MOST_ATTEMPTS):
        assert len(opened().claim()) == 1
        clock.pass_time(seconds=LEASE.total_seconds())
    assert opened().claim() == []
    (run,) = opened().get(made.id).runs
    assert run.state == "interrupted"
    assert "3 times" in (run.error or "")


def test_who_waited_longest_is_first_where_there_is_no_room_for_all(
    store: ScheduleStore, clock: Clock
) -> None:
    made = [store.add(PROMPT, "every 1m", zone="UTC").id for _ in range(3)]
    order = []
    for _ in range(6):
        clock.pass_time(minutes=1)
        ((schedule, run),) = store.claim(most=1)
        store.finish(schedule.id, run)
        order.append(schedule.id)
    assert order == made * 2


def test_none_is_always_first_of_those_that_wait_equally_long(
    store: ScheduleStore, clock: Clock
) -> None:
    made = [store.add(PROMPT, "every 1m", zone="UTC").id for _ in range(2)]
    first = []
    for _ in range(30):
        clock.pass_time(minutes=1)
        runs = store.claim()
        first.append(runs[0][0].id)
        for schedule, run in runs:
            store.finish(schedule.id, run)
    assert set(first) == set(made)


def test_what_was_missed_is_marked_although_there_is_no_room(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.pass_time(hours=1)
    assert store.claim(most=0) == []
    assert states(store, made.id) == []
    clock.pass_time(seconds=GRACE.total_seconds() + 1)
    assert store.claim(most=0) == []
    assert states(store, made.id) == ["missed"]


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


def test_whoever_read_the_clock_a_little_earlier_takes_no_run_from_its_holder(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    opened().add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1, seconds=1)
    assert len(opened().claim()) == 1
    clock.pass_time(seconds=-1)
    assert opened().claim() == []


def test_what_is_far_behind_is_marked_without_a_walk_through_all_its_times() -> None:
    asked = []

    def counted(schedule: Schedule, after: datetime) -> datetime | None:
        asked.append(after)
        return next_due(schedule, after)

    schedule = Schedule("s", PROMPT, "* 8-12 * * *", "UTC", START, START, next_due=START)
    now = datetime(2027, 11, 16, 20, tzinfo=UTC)
    schedule, run = claimed(schedule, now, counted, Run("r", now, "running", holder="one"))
    assert run is None
    assert [(one.state, one.due) for one in schedule.runs] == [("missed", START)]
    assert schedule.next_due == datetime(2027, 11, 17, 8, tzinfo=UTC)
    assert len(asked) == 2


def test_what_runs_said_can_be_erased_and_that_they_were_made_stays(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    first, second = (store.add(PROMPT, "every 1h", zone="UTC").id for _ in range(2))
    for one in (first, second):
        for said in ({"result": "燈叫做小明"}, {"error": "小明壞了"}):
            store.finish(one, store.begin(one)[1], **said)
    assert store.erase(f"schedule:{second}") == 1
    other, erased = (one.runs for one in store.get_all())
    assert [(run.state, run.result, run.error) for run in erased] == [
        ("done", None, None),
        ("failed", None, None),
    ]
    assert [run.result or run.error for run in other] == ["燈叫做小明", "小明壞了"]
    before = path.read_bytes()
    assert store.erase(f"schedule:{second}") == store.erase("cli:session-1") == 0
    assert path.read_bytes() == before


def test_where_there_are_no_schedules_erasing_makes_no_file(
    store: ScheduleStore, path: Path
) -> None:
    assert store.erase("schedule:s") == 0
    assert not path.exists()


def test_a_run_that_failed_says_why(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = store.claim()
    store.finish(made.id, run, error="the model did not answer")
    (kept,) = store.get(made.id).runs
    assert (kept.state, kept.error) == ("failed", "the model did not answer")


def test_a_paused_schedule_rests_and_makes_up_for_nothing(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    store.pause(made.id)
    clock.pass_time(hours=1)
    assert store.claim() == []
    store.resume(made.id)
    assert store.claim() == []
    clock.pass_time(minutes=15)
    assert len(store.claim()) == 1


def test_a_paused_schedule_tries_nothing_again(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    made = opened().add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=15)
    ((_, run),) = opened().claim()
    opened().pause(made.id)
    clock.pass_time(seconds=LEASE.total_seconds())
    assert opened().claim() == []
    opened().resume(made.id)
    ((_, again),) = opened().claim()
    assert again.id == run.id


def test_to_resume_what_does_not_rest_skips_nothing(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=16)
    store.resume(made.id)
    assert len(store.claim()) == 1


def test_a_moment_that_passed_meanwhile_cannot_be_resumed(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    store.pause(made.id)
    clock.pass_time(days=1)
    with pytest.raises(InvalidInput, match="choose another time"):
        store.resume(made.id)
    store.update(made.id, timing="2026-11-18 20:00")
    assert not store.resume(made.id).is_paused


def test_a_moment_that_is_over_cannot_be_resumed(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    clock.pass_time(hours=12)
    ((_, run),) = store.claim()
    store.finish(made.id, run)
    with pytest.raises(InvalidInput, match="choose another time"):
        store.resume(made.id)
    assert store.update(made.id, name="晚安").name == "晚安"


def test_a_moment_moves_with_its_zone(store: ScheduleStore) -> None:
    made = store.add(PROMPT, "2026-12-24 18:00", zone="Asia/Taipei")
    assert made.next_due == datetime(2026, 12, 24, 10, tzinfo=UTC)
    moved = store.update(made.id, zone="Europe/Vienna")
    assert moved.next_due == datetime(2026, 12, 24, 17, tzinfo=UTC)


def test_a_schedule_can_be_run_at_once_and_not_twice_at_a_time(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    due = made.next_due
    _, run = store.begin(made.id)
    with pytest.raises(Conflict, match="running already"):
        store.begin(made.id)
    store.finish(made.id, run, result="now")
    assert store.get(made.id).next_due == due


def test_to_run_at_once_ends_what_was_interrupted_before(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    made = opened().add(PROMPT, "every 1h", zone="UTC")
    opened().begin(made.id)
    clock.pass_time(seconds=LEASE.total_seconds())
    store = opened()
    _, run = store.begin(made.id)
    store.finish(made.id, run)
    assert states(store, made.id) == ["interrupted", "done"]
    assert store.claim() == []


def test_a_run_that_is_given_back_is_tried_by_another_at_once(
    opened: Callable[[], ScheduleStore], clock: Clock
) -> None:
    first, second = opened(), opened()
    made = first.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = first.claim()
    assert first.give_back(made.id, run)
    assert states(first, made.id) == ["interrupted"]
    ((_, again),) = second.claim()
    assert (again.id, again.attempts, again.started_at) == (run.id, 2, run.started_at)
    assert not first.give_back(made.id, run)
    assert not first.finish(made.id, run, result="too late")


def test_the_same_process_is_not_taken_for_its_own_later_attempt(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, slept),) = store.claim()
    clock.pass_time(seconds=LEASE.total_seconds())
    ((_, again),) = store.claim()
    assert not store.hold(made.id, slept)
    assert not store.finish(made.id, slept, result="late")
    assert store.finish(made.id, again, result="好")


def test_a_run_of_a_removed_schedule_has_no_holder(store: ScheduleStore) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    _, run = store.begin(made.id)
    store.remove(made.id)
    assert not store.hold(made.id, run)
    assert not store.finish(made.id, run, result="ok")
    assert store.get_all() == []


def test_what_cannot_be_delivered_here_is_left_to_others_until_it_is_too_late(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC", deliver="slack:C012AB3CD")
    clock.pass_time(hours=1)
    assert store.claim(["log", "file"]) == []
    assert store.get(made.id).next_due == clock.now
    clock.pass_time(seconds=GRACE.total_seconds() + 1)
    assert store.claim(["log", "file"]) == []
    (run,) = store.get(made.id).runs
    assert (run.state, run.due) == ("missed", START + timedelta(hours=1))
    assert "no program" in (run.error or "")
    assert store.get(made.id).next_due == datetime(2026, 11, 17, 9, tzinfo=UTC)


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


def test_an_edit_that_cannot_be_made_whole_is_not_made_in_part(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    resting = store.pause(made.id)
    clock.pass_time(days=1)
    with pytest.raises(InvalidInput):
        store.update(made.id, name="晚安", is_paused=False)
    assert store.get(made.id) == resting


def test_an_empty_name_takes_the_name_away(store: ScheduleStore) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC", name=" 早  安\n")
    assert made.name == "早 安"
    assert store.update(made.id, prompt="吃什麼？").name == "早 安"
    assert store.update(made.id, name="").name is None


def test_an_edit_changes_what_is_given_and_times_it_anew(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.pass_time(minutes=1)
    edited = store.update(made.id, timing="0 12 * * *", prompt="吃什麼？", deliver="file:lunch.md")
    assert edited.next_due == datetime(2026, 11, 16, 12, tzinfo=UTC)
    assert (edited.prompt, edited.deliver, edited.name) == ("吃什麼？", "file:lunch.md", None)
    assert edited.updated_at == clock.now
    assert store.update(made.id, name="午餐").next_due == edited.next_due
    moved = store.update(made.id, zone="Asia/Taipei")
    assert moved.next_due == datetime(2026, 11, 17, 4, tzinfo=UTC)


def test_a_removed_schedule_is_gone(store: ScheduleStore) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    assert store.remove(made.id) == made
    assert store.get_all() == []
    with pytest.raises(NotFound, match="schedule list"):
        store.remove(made.id)


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "  "},
        {"prompt": "a\0b"},
        {"timing": "soon"},
        {"zone": "Mars/Olympus"},
        {"deliver": "mail"},
        {"deliver": "slack:"},
        {"deliver": "file:../x.md"},
        {"deliver": "file:.x.md"},
        {"deliver": f"file:{'字' * 90}.md"},
        {"timing": "2020-01-01 09:00"},
        {"timing": ""},
        {"zone": ""},
        {"prompt": "長" * 20_001},
        {"name": "長" * 101},
    ],
)
def test_what_cannot_be_taken_is_refused_and_changes_nothing(
    store: ScheduleStore, path: Path, change: dict[str, Any]
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    before = path.read_bytes()
    with pytest.raises(InvalidInput):
        store.update(made.id, **change)
    with pytest.raises(InvalidInput):
        store.add(**({"prompt": PROMPT, "timing": "every 1h", "zone": "UTC"} | change))
    assert path.read_bytes() == before


def test_only_the_newest_runs_are_kept(store: ScheduleStore, clock: Clock) -> None:
    made = store.add(PROMPT, "every 1m", zone="UTC")
    for number in range(KEPT_RUNS + 5):
        clock.pass_time(minutes=1)
        ((_, run),) = store.claim()
        store.finish(made.id, run, result=str(number))
    runs = store.get(made.id).runs
    assert [run.result for run in runs] == [str(number) for number in range(5, KEPT_RUNS + 5)]


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


def test_there_is_room_for_so_many_and_no_more(store: ScheduleStore, path: Path) -> None:
    one = json.loads(RECORD)
    many = [{**one, "id": str(number)} for number in range(MAX_SCHEDULES)]
    path.write_text(json.dumps(many), "utf-8")
    with pytest.raises(InvalidInput, match="remove some first"):
        store.add(PROMPT, "every 1h")


def test_nothing_is_written_while_nothing_is_due(store: ScheduleStore, path: Path) -> None:
    store.add(PROMPT, "every 1h", zone="UTC")
    before = path.stat().st_mtime_ns
    assert store.claim() == []
    assert path.stat().st_mtime_ns == before


def test_a_change_by_another_process_is_seen_however_long_nothing_changed(
    opened: Callable[[], ScheduleStore], clock: Clock, path: Path
) -> None:
    looking, other = opened(), opened()
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
    schedule = replace(schedule, next_due=next_due(schedule, first))
    now, made = first, []
    while now < last + GRACE:
        now += timedelta(minutes=choice.randrange(1, 100))
        new = Run(str(now), now, "running", holder="one")
        schedule, run = claimed(schedule, now, next_due, new)
        if run:
            made.append(run.due)
            assert claimed(schedule, now, next_due, replace(new, id="two"))[1] is None
            schedule = finished(schedule, run, now) or schedule
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(365)]
    assert [due for due in made if due < last] == [first_shown(day, wall, place) for day in days]


def first_shown(day: date, wall: tuple[int, int], place: ZoneInfo) -> datetime:
    """Find the first minute of a day at which the clock shows a time, or later than that."""
    shown = datetime(day.year, day.month, day.day, *wall)  # noqa: DTZ001 - as a clock shows it
    moment = shown.replace(tzinfo=place).astimezone(UTC) - timedelta(hours=1)
    while moment.astimezone(place).replace(tzinfo=None) < shown:
        moment += timedelta(minutes=15)
    return moment
