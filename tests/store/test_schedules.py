"""Schedules in their file, and runs that one process makes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnleaf.core.schedules import GRACE, KEPT_RUNS, LEASE, MOST_ATTEMPTS, Run
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.store.schedules import ScheduleStore

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


def test_a_schedule_can_be_run_at_once_and_not_twice_at_a_time(
    store: ScheduleStore, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    due = made.next_due
    _, run = store.begin(made.id)
    with pytest.raises(InvalidInput, match="running already"):
        store.begin(made.id)
    store.finish(made.id, run, result="now")
    assert store.get(made.id).next_due == due


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
        {"timing": "2020-01-01 09:00"},
    ],
)
def test_what_cannot_be_taken_is_refused_and_changes_nothing(
    store: ScheduleStore, path: Path, change: dict[str, str]
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


def test_a_damaged_file_is_moved_aside_and_named(store: ScheduleStore, path: Path) -> None:
    path.write_text('[{"id": "a"', encoding="utf-8")
    assert store.get_all() == []
    (aside,) = path.parent.glob("schedules.json.corrupt-*")
    assert aside.read_text("utf-8") == '[{"id": "a"'


def test_nothing_is_written_while_nothing_is_due(store: ScheduleStore, path: Path) -> None:
    store.add(PROMPT, "every 1h", zone="UTC")
    before = path.stat().st_mtime_ns
    assert store.claim() == []
    assert path.stat().st_mtime_ns == before


def claims(path: Path, moment: datetime, out: multiprocessing.Queue[list[str]]) -> None:
    store = ScheduleStore(path, now=lambda: moment)
    out.put([run.id for _ in range(20) for _, run in store.claim()])


def test_two_runners_on_one_file_share_the_runs_and_make_none_twice(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    for number in range(20):
        store.add(f"{PROMPT}{number}", "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    context = multiprocessing.get_context("spawn")
    out: multiprocessing.Queue[list[str]] = context.Queue()
    runners = [context.Process(target=claims, args=(path, clock.now, out)) for _ in range(2)]
    for runner in runners:
        runner.start()
    taken = [run for _ in runners for run in out.get(timeout=60)]
    for runner in runners:
        runner.join(60)
    assert len(taken) == len(set(taken)) == 20


def die_in_the_middle(path: Path, moment: datetime, out: multiprocessing.Queue[Run]) -> None:
    ((_, run),) = ScheduleStore(path, now=lambda: moment).claim()
    out.put(run)
    out.close()
    out.join_thread()
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_process_had_begun_is_done_by_another(
    store: ScheduleStore, clock: Clock, path: Path
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    context = multiprocessing.get_context("spawn")
    out: multiprocessing.Queue[Run] = context.Queue()
    runner = context.Process(target=die_in_the_middle, args=(path, clock.now, out))
    runner.start()
    begun = out.get(timeout=60)
    runner.join(60)
    assert runner.exitcode == -signal.SIGKILL
    assert store.claim() == []
    clock.pass_time(seconds=LEASE.total_seconds())
    ((_, again),) = store.claim()
    assert again.id == begun.id
    store.finish(made.id, again, result="done by another")
    assert states(store, made.id) == ["done"]
