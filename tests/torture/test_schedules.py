"""Programs that run schedules are killed between due and done, and several run the same ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from tests.effort import LONG
from tests.standins.scripted_model import ScriptedModel
from tests.torture.children import start
from tests.torture.editors import wait_until
from turnleaf.assistant import Assistant
from turnleaf.core.keys import schedule_key
from turnleaf.core.schedules import LEASE, Run, Schedule, mark_if_interrupted
from turnleaf.scheduling import Runner
from turnleaf.settings import DataFolder
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.schedules import ScheduleStore

START = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
DUE = START + timedelta(minutes=15)
LATER = DUE + LEASE
PROMPT = "早安，客廳的燈叫什麼？"
EVERY = 1 if LONG else 7
MOST_READINGS = 200
SHARED = 12
DEADLINE_SECONDS = 60


class Mortal:
    """A clock that stands still, and kills whoever reads it so many times."""

    def __init__(self, now: datetime, readings: int) -> None:
        self._now = now
        self._left = readings

    def __call__(self) -> datetime:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._now


@pytest.fixture(autouse=True)
def _without_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS", "off")


def open_assistant(folder: DataFolder, now: Callable[[], datetime]) -> Assistant:
    return Assistant(folder, model=ScriptedModel(), now=now)


def run_what_is_due(folder: DataFolder, now: Callable[[], datetime], pipe: int) -> None:
    """Make the runs that are due, and say so at the end."""
    assistant = open_assistant(folder, now)
    Runner(assistant).make_due()
    os.write(pipe, b"done\n")


def is_survived(folder: DataFolder, readings: int) -> bool:
    """Run what is due in a process; return whether the clock let it come to the end."""
    clock = Mortal(DUE, readings)
    return start(partial(run_what_is_due, folder, clock)).finish() == ["done"]


def add_schedules(folder: DataFolder) -> list[Schedule]:
    store = ScheduleStore(folder.schedules, now=lambda: START)
    return [store.add(PROMPT, "every 15m", deliver=place) for place in ("log", "file:燈.md")]


def check_after_kill(folder: DataFolder) -> set[str]:
    """See that the file is whole and what was begun is marked; return the ids of such runs."""
    runs = [run for one in ScheduleStore(folder.schedules).get_all() for run in one.runs]
    assert {mark_if_interrupted(run, LATER).state for run in runs} <= {"interrupted", "done"}
    return {run.id for run in runs}


def check_in_the_end(folder: DataFolder, begun: set[str]) -> None:
    """See that each run was made under its id, delivered once, and said once."""
    log, file = (one.runs for one in ScheduleStore(folder.schedules).get_all())
    assert [run.state for run in (*log, *file)] == ["done", "done"]
    assert begun <= {log[0].id, file[0].id}
    assert DailyLog(folder.daily).read(DUE.date()).count(log[0].id) == 1
    assert (folder.path / "results" / "燈.md").read_text("utf-8").count(file[0].id) == 1
    kept = ConversationStore(folder.path / "conversations" / "conversations.db")
    for one in ScheduleStore(folder.schedules).get_all():
        history = kept.get_history(schedule_key(one.id))
        assert [message.text for message in history] == [PROMPT, "Fine."]
    assert not list(folder.path.rglob("*.corrupt-*"))


def test_a_run_killed_between_due_and_done_is_made_by_another_and_delivered_once(
    arena: Path,
) -> None:
    attempts: set[int] = set()
    has_ended = False
    for readings in range(1, MOST_READINGS, EVERY):
        folder = DataFolder(arena / str(readings), "a test")
        add_schedules(folder)
        has_ended = is_survived(folder, readings)
        begun = check_after_kill(folder)
        assert start(partial(run_what_is_due, folder, lambda: LATER)).finish() == ["done"]
        check_in_the_end(folder, begun)
        attempts |= {one.runs[0].attempts for one in ScheduleStore(folder.schedules).get_all()}
        if has_ended:
            break
    assert has_ended
    assert attempts == {1, 2}


def take_part(folder: DataFolder, runners: int, pipe: int) -> None:
    """Run schedules beside others until all are done; say which runs were made here."""

    def deliver(_schedule: Schedule, run: Run, _text: str) -> None:
        os.write(pipe, f"{run.id}\n".encode())

    assistant = open_assistant(folder, lambda: DUE)
    # Whoever begins before the others are there finds nobody to compete with.
    folder.path.with_name(f"ready-{os.getpid()}").touch()
    wait_until(lambda: len([*folder.path.parent.glob("ready-*")]) == runners, DEADLINE_SECONDS)
    with Runner(assistant, {"slack": deliver}, every_seconds=0.01):
        wait_until(lambda: is_all_done(folder), DEADLINE_SECONDS)


def is_all_done(folder: DataFolder) -> bool:
    known = ScheduleStore(folder.schedules).get_all()
    return all(one.runs and one.runs[0].state == "done" for one in known)


@pytest.mark.parametrize("runners", [2, 5])
def test_several_programs_at_once_make_each_run_once(arena: Path, runners: int) -> None:
    folder = DataFolder(arena / "data", "a test")
    store = ScheduleStore(folder.schedules, now=lambda: START)
    for number in range(SHARED):
        store.add(f"{PROMPT}{number}", "every 15m", deliver="slack:C012AB3CD")
    children = [start(partial(take_part, folder, runners)) for _ in range(runners)]
    shares = [child.finish() for child in children]
    delivered = [run for share in shares for run in share]
    on_record = [run for one in store.get_all() for run in one.runs]
    assert len(delivered) == len(set(delivered)) == SHARED
    assert set(delivered) == {run.id for run in on_record}
    assert {(run.state, run.attempts) for run in on_record} == {("done", 1)}


def hang(folder: DataFolder, pipe: int) -> None:
    """Begin a run whose delivery never ends."""

    def deliver(_schedule: Schedule, run: Run, _text: str) -> None:
        os.write(pipe, f"{run.id}\n".encode())
        Event().wait()

    Runner(open_assistant(folder, lambda: DUE), {"slack": deliver}).make_due()


def test_what_a_killed_program_holds_is_left_alone_until_it_gave_no_sign_for_long(
    arena: Path,
) -> None:
    folder = DataFolder(arena / "data", "a test")
    store = ScheduleStore(folder.schedules, now=lambda: START)
    store.add(PROMPT, "every 15m", deliver="slack:C012AB3CD")
    child = start(partial(hang, folder))
    assert child.hear()
    held = ScheduleStore(folder.schedules, now=lambda: LATER - timedelta(seconds=1))
    assert held.claim() == []
    child.kill()
    (begun,) = child.finish()
    assert held.claim() == []
    ((_, again),) = ScheduleStore(folder.schedules, now=lambda: LATER).claim()
    assert (again.id, again.attempts) == (begun, 2)
