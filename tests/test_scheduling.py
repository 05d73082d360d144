"""Runs of schedules: a turn with the memory in it, and a result where it belongs."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select
from threading import Barrier, BrokenBarrierError, Event
from typing import Self

import pytest

from tests.clocks import Clock
from tests.standins.scripted_model import ScriptedModel
from tests.torture.editors import wait_until
from turnleaf.assistant import Assistant
from turnleaf.core import model_dialogue
from turnleaf.core.keys import schedule_key
from turnleaf.core.model_dialogue import Prompt, Text, Toolbox
from turnleaf.core.schedules import Run, Schedule
from turnleaf.errors import Conflict, InvalidInput, ModelError
from turnleaf.llm.claude_cli import ClaudeCli
from turnleaf.llm.recall import RecallModel
from turnleaf.scheduling import MOST_AT_ONCE, Runner, describe_result
from turnleaf.settings import DataFolder
from turnleaf.store.files.backup import backup, restore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.schedules import ScheduleStore

START = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PROMPT = "早安，客廳的燈叫什麼？"
LAMP = "客廳的燈叫做小明"
DEADLINE_SECONDS = 60.0
MEETING_SECONDS = 0.3


class PatientModel:
    """A model that answers when it may."""

    name = "patient"

    def __init__(self) -> None:
        self.asked = Event()
        self.may_answer = Event()
        self.has_answered = Event()

    def stream(
        self, _prompt: Prompt, _tools: Toolbox | None = None
    ) -> Iterator[model_dialogue.Event]:
        self.asked.set()
        assert self.may_answer.wait(DEADLINE_SECONDS)
        yield Text("好的。")
        self.has_answered.set()

    def generate_json(self, *_: object) -> str:
        return '{"facts": []}'


class Sleeper:
    """A `claude` that never answers."""

    def __init__(self, folder: Path) -> None:
        self.program, pipe = folder / "claude", folder / "started"
        os.mkfifo(pipe)
        self.program.write_text(f"#!/bin/sh\necho $$ > '{pipe}'\nexec sleep 237\n")
        self.program.chmod(0o755)
        self._pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._pid = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)
        if self.is_alive():
            os.kill(self._pid, signal.SIGKILL)

    def wait_for_start(self) -> None:
        assert select([self._pipe], [], [], DEADLINE_SECONDS)[0]
        self._pid = int(os.read(self._pipe, 20))

    def is_alive(self) -> bool:
        with suppress(ProcessLookupError):
            os.kill(self._pid or 2**22, 0)
            return True
        return False


class Meeting:
    """A clock at which two who look at once meet; who comes alone goes on after a while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._barrier = Barrier(2)
        self.is_on = False

    def __call__(self) -> datetime:
        with suppress(BrokenBarrierError):
            if self.is_on:
                self._barrier.wait(MEETING_SECONDS)
        return self._clock()


class ResultCollector:
    """A place for results that counts what it gets."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, str]] = []
        self.arrived = Event()

    def __call__(self, schedule: Schedule, run: Run, text: str) -> None:
        self.got.append((schedule.id, run.id, text))
        self.arrived.set()


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("EMBEDDINGS", "off")
    return DataFolder(tmp_path / "data", "a test")


@pytest.fixture
def own(folder: DataFolder, model: ScriptedModel, clock: Clock) -> Iterator[Assistant]:
    assistant = Assistant(folder, model=model, now=clock)
    yield assistant
    assistant.close(flush=False)


def day_of(assistant: Assistant) -> str:
    return assistant.daily.read(assistant.now().date())


def wait_for_runs() -> None:
    for thread in threading.enumerate():
        if thread.name == "turnleaf-run":
            thread.join(DEADLINE_SECONDS)


def only_run(assistant: Assistant) -> Run:
    ((run,),) = [one.runs for one in assistant.schedules.get_all()]
    return run


# What a run is.


def test_a_run_is_a_turn_of_its_own_conversation_with_the_memory_in_its_prompt(
    own: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    own.memory.add(LAMP)
    made = own.schedules.add(PROMPT, "every 15m", name="早安")
    model.turns = [["小明。"]]
    clock.pass_time(minutes=15)
    assert Runner(own).make_due() == 1
    (prompt,) = model.prompts
    assert LAMP in prompt.system + "".join(one.text for one in prompt.messages)
    history = own.conversations.get_history(schedule_key(made.id))
    assert [one.text for one in history] == [PROMPT, "小明。"]
    run = only_run(own)
    assert (run.state, run.result, run.due) == ("done", "小明。", clock.now)
    assert f"- 08:15 早安 ({run.id}): 小明。\n" in day_of(own)


def test_without_a_model_what_is_remembered_is_delivered_to_a_file(
    folder: DataFolder, clock: Clock
) -> None:
    with Assistant(folder, model=RecallModel(), now=clock) as own:
        own.memory.add(LAMP)
        own.schedules.add(PROMPT, "every 15m", name="燈", deliver="file:燈.md")
        runner = Runner(own)
        for _ in range(2):
            clock.pass_time(minutes=15)
            assert runner.make_due() == 1
        ((*runs,),) = [one.runs for one in own.schedules.get_all()]
    text = (folder.path / "results" / "燈.md").read_text("utf-8")
    assert text.count(LAMP) == 2
    assert [text.count(f"燈 ({run.id}): ") for run in runs] == [1, 1]


def test_results_can_be_brought_elsewhere(own: Assistant, clock: Clock) -> None:
    channel = ResultCollector()
    made = own.schedules.add(PROMPT, "every 15m", deliver="slack:C012AB3CD")
    clock.pass_time(minutes=15)
    assert Runner(own).make_due() == 0
    with pytest.raises(InvalidInput, match=r"SLACK_BOT_TOKEN .*turnleaf\[slack\]"):
        Runner(own).begin(made.id)
    assert Runner(own, {"slack": channel}).make_due() == 1
    assert channel.got == [(made.id, only_run(own).id, "Fine.")]
    assert day_of(own) == ""


def test_what_a_schedule_asks_to_remember_is_remembered_once(own: Assistant, clock: Clock) -> None:
    own.schedules.add(f"記住{LAMP}", "every 15m")
    for _ in range(2):
        clock.pass_time(minutes=15)
        assert Runner(own).make_due() == 1
    assert [one.content for one in own.memory.get_all()] == [LAMP]


def test_a_run_that_is_tried_again_replaces_what_it_said_and_is_delivered_once(
    folder: DataFolder, model: ScriptedModel, clock: Clock
) -> None:
    with Assistant(folder, model=model, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 15m")
        clock.pass_time(minutes=15)
        model.turns = [["第一次。"], ["又一次。"], ["昨天。"]]
        runner = Runner(own)
        runner.make_due()
        clock.pass_time(minutes=15)
        ((schedule, run),) = own.schedules.claim()
        own.reply(schedule_key(made.id), PROMPT)
        own.schedules.give_back(schedule.id, run)
        assert runner.make_due() == 1
        said = [one.text for one in own.conversations.get_history(schedule_key(made.id))]
        assert said == [PROMPT, "第一次。", PROMPT, "昨天。"]
        assert day_of(own).count(run.id) == 1
        assert own.schedules.get(made.id).runs[-1].attempts == 2


@pytest.mark.parametrize("place", ["log", "file:燈.md"])
def test_what_was_delivered_before_the_program_ended_is_not_delivered_again(
    own: Assistant, folder: DataFolder, clock: Clock, place: str
) -> None:
    own.schedules.add(PROMPT, "every 15m", deliver=place)
    clock.pass_time(minutes=15)
    ((schedule, run),) = own.schedules.claim()
    own.schedules.add_result("燈.md", run, describe_result(schedule, run, "小明。"))
    own.daily.append(describe_result(schedule, run, "小明。"))
    own.schedules.give_back(schedule.id, run)
    assert Runner(own).make_due() == 1
    assert only_run(own).state == "done"
    assert day_of(own).count(run.id) == 1
    assert (folder.path / "results" / "燈.md").read_text("utf-8").count(run.id) == 1


def test_a_run_that_never_answered_leaves_the_answer_of_the_run_before(
    own: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    made = own.schedules.add(PROMPT, "every 15m")
    model.turns = [["第一次。"], ["第二次。"]]
    clock.pass_time(minutes=15)
    Runner(own).make_due()
    clock.pass_time(minutes=15)
    ((schedule, run),) = own.schedules.claim()
    own.schedules.give_back(schedule.id, run)
    Runner(own).make_due()
    said = [one.text for one in own.conversations.get_history(schedule_key(made.id))]
    assert said == [PROMPT, "第一次。", PROMPT, "第二次。"]


# What goes wrong.


def test_a_model_that_fails_is_on_record_with_its_reason(
    own: Assistant, model: ScriptedModel, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    made = own.schedules.add(PROMPT, "every 15m")
    model.turns = [[ModelError("the model is away; try later")]]
    clock.pass_time(minutes=15)
    assert Runner(own).make_due() == 1
    run = only_run(own)
    assert (run.state, run.error) == ("failed", "the model is away; try later")
    assert f"the schedule {made.id} failed: the model is away" in caplog.text
    clock.pass_time(minutes=15)
    Runner(own).make_due()
    assert own.schedules.get(made.id).runs[-1].state == "done"


def test_what_nobody_foresaw_is_on_record_and_stops_no_other_run(
    own: Assistant, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_schedule: Schedule, _run: Run, _text: str) -> None:
        raise RuntimeError("盒子壞了")

    own.schedules.add(PROMPT, "every 15m", deliver="slack:C012AB3CD")
    own.schedules.add(PROMPT, "every 15m")
    clock.pass_time(minutes=15)
    assert Runner(own, {"slack": fail}).make_due() == 2
    first, second = (one.runs[-1] for one in own.schedules.get_all())
    assert (first.state, second.state) == ("failed", "done")
    assert first.error == "something unexpected: RuntimeError: 盒子壞了"
    assert first.result == "Fine."
    assert "Traceback" in caplog.text


def test_a_schedule_that_is_removed_while_it_runs_delivers_nothing(
    folder: DataFolder, clock: Clock
) -> None:
    model = PatientModel()
    with Assistant(folder, model=model, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 15m")
        runner = Runner(own)
        runner.begin(made.id)
        assert model.asked.wait(DEADLINE_SECONDS)
        own.schedules.remove(made.id)
        model.may_answer.set()
        assert model.has_answered.wait(DEADLINE_SECONDS)
        runner.stop(DEADLINE_SECONDS)
        assert day_of(own) == ""
        assert own.schedules.get_all() == []


def test_a_run_that_takes_too_long_at_the_end_is_given_back(
    folder: DataFolder, clock: Clock
) -> None:
    model, channel = PatientModel(), ResultCollector()
    with Assistant(folder, model=model, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 15m", deliver="slack:C012AB3CD")
        runner = Runner(own, {"slack": channel})
        run = runner.begin(made.id)
        assert model.asked.wait(DEADLINE_SECONDS)
        runner.stop(0)
        assert only_run(own).state == "interrupted"
        with Assistant(folder, model=ScriptedModel(), now=clock) as other:
            assert Runner(other, {"slack": channel}).make_due() == 1
        model.may_answer.set()
        runner.stop(DEADLINE_SECONDS)
        assert channel.got == [(made.id, run.id, "Fine.")]
        assert only_run(own).attempts == 2


def test_a_program_that_is_stopped_ends_the_model_and_gives_the_run_back(
    folder: DataFolder, clock: Clock, tmp_path: Path
) -> None:
    with Sleeper(tmp_path) as claude:
        model = ClaudeCli(None, timeout_seconds=DEADLINE_SECONDS, program=str(claude.program))
        own = Assistant(folder, model=model, now=clock)
        made = own.schedules.add(PROMPT, "every 15m")
        runner = Runner(own)
        run = runner.begin(made.id)
        claude.wait_for_start()
        runner.stop(DEADLINE_SECONDS)
        assert not claude.is_alive()
        own.close(flush=False)
    kept = only_run(own)
    assert (kept.state, kept.holder, kept.held_until) == ("interrupted", None, None)
    assert [again.id for _, again in own.schedules.claim()] == [run.id]


def test_what_was_said_before_a_stop_is_replaced_by_whoever_takes_the_run_up(
    folder: DataFolder, model: ScriptedModel, clock: Clock
) -> None:
    patient = PatientModel()
    with Assistant(folder, model=patient, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 15m")
        runner = Runner(own)
        runner.begin(made.id)
        assert patient.asked.wait(DEADLINE_SECONDS)
        runner.stop(0)
        patient.may_answer.set()
        wait_for_runs()
        key = schedule_key(made.id)
        assert [one.text for one in own.conversations.get_history(key)] == [PROMPT, "好的。"]
        with Assistant(folder, model=model, now=clock) as other:
            assert Runner(other).make_due() == 1
        assert [one.text for one in own.conversations.get_history(key)] == [PROMPT, "Fine."]
        assert day_of(own).count("Fine.") == 1


def test_a_place_outside_that_somebody_wrote_into_the_file_gets_nothing(
    own: Assistant, folder: DataFolder, model: ScriptedModel, clock: Clock
) -> None:
    made = own.schedules.add(PROMPT, "every 15m", deliver="file:x.md")
    text = folder.schedules.read_text("utf-8")
    folder.schedules.write_text(text.replace("file:x.md", "file:../../x.md"), "utf-8")
    with pytest.raises(InvalidInput, match="results cannot be delivered to"):
        Runner(own).run(made.id)
    clock.pass_time(minutes=15)
    Runner(own).make_due()
    run = only_run(own)
    assert (run.state, "results cannot be delivered to" in (run.error or "")) == ("failed", True)
    assert model.prompts == []
    assert not list(folder.path.parent.rglob("x.md"))


def test_a_conversation_that_is_erased_while_it_runs_leaves_nothing(
    folder: DataFolder, clock: Clock
) -> None:
    model = PatientModel()
    with Assistant(folder, model=model, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 15m")
        Runner(own).begin(made.id)
        assert model.asked.wait(DEADLINE_SECONDS)
        assert own.erase_conversation(schedule_key(made.id))
        model.may_answer.set()
        wait_for_runs()
        run = only_run(own)
        assert (run.state, run.result, run.error) == (
            "interrupted",
            None,
            "its conversation was erased",
        )
        assert day_of(own) == ""
        assert own.schedules.claim() == []


def test_what_runs_said_is_erased_with_their_conversation(own: Assistant, clock: Clock) -> None:
    made = own.schedules.add(PROMPT, "every 15m")
    clock.pass_time(minutes=15)
    Runner(own).make_due()
    own.conversations.clear(schedule_key(made.id))
    assert own.erase_conversation(schedule_key(made.id))
    assert (only_run(own).state, only_run(own).result) == ("done", None)
    assert not own.erase_conversation(schedule_key(made.id))


def test_where_the_schedules_cannot_be_read_that_is_said_once_each_time_it_begins(
    own: Assistant, folder: DataFolder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    looks, channel, log = Looks(), ResultCollector(), logging.getLogger("turnleaf")
    folder.schedules.mkdir(parents=True)
    log.addHandler(looks)
    with Runner(own, {"slack": channel}, every_seconds=0.001):
        assert looks.complained.wait(DEADLINE_SECONDS)
        folder.schedules.rmdir()
        own.schedules.add(PROMPT, "every 15m", deliver="slack:C012AB3CD")
        clock.pass_time(minutes=15)
        assert channel.arrived.wait(DEADLINE_SECONDS)
        wait_for_runs()
        assert caplog.text.count("could not be read") == 1
        looks.complained.clear()
        folder.schedules.unlink()
        folder.schedules.mkdir()
        assert looks.complained.wait(DEADLINE_SECONDS)
    log.removeHandler(looks)


class Looks(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.complained = Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "could not be read" in record.getMessage():
            self.complained.set()


# In the background.


def test_what_is_due_is_run_in_the_background_and_never_twice_at_a_time(
    folder: DataFolder, clock: Clock
) -> None:
    model, channel = PatientModel(), ResultCollector()
    with Assistant(folder, model=model, now=clock) as own:
        made = own.schedules.add(PROMPT, "every 1m", deliver="slack:C012AB3CD")
        clock.pass_time(minutes=1)
        with Runner(own, {"slack": channel}, every_seconds=0.001) as runner:
            assert model.asked.wait(DEADLINE_SECONDS)
            clock.pass_time(minutes=1)
            with pytest.raises(Conflict, match="already running"):
                runner.begin(made.id)
            assert own.schedules.claim() == []
            model.may_answer.set()
            assert channel.arrived.wait(DEADLINE_SECONDS)
        runs = own.schedules.get(made.id).runs
        assert runs[0].due == START + timedelta(minutes=1)
        assert len({run.id for run in runs}) == len(runs)


def test_what_another_program_adds_is_run_when_it_is_announced(
    own: Assistant, folder: DataFolder, clock: Clock
) -> None:
    channel = ResultCollector()
    other = ScheduleStore(folder.schedules, now=lambda: clock() - timedelta(minutes=2))
    with Runner(own, {"slack": channel}, every_seconds=3600):
        other.add(PROMPT, "every 1m", deliver="slack:C012AB3CD")
        assert channel.arrived.wait(DEADLINE_SECONDS)


def test_only_so_many_run_at_once(folder: DataFolder, clock: Clock) -> None:
    model = PatientModel()
    with Assistant(folder, model=model, now=clock) as own:
        made = [own.schedules.add(PROMPT, "every 1h") for _ in range(MOST_AT_ONCE + 1)]
        runner = Runner(own)
        for one in made[:-1]:
            runner.begin(one.id)
        with pytest.raises(Conflict, match="wait until one is done"):
            runner.begin(made[-1].id)
        model.may_answer.set()
        wait_for_runs()
        assert [len(one.runs) for one in own.schedules.get_all()] == [1, 1, 1, 1, 0]
        assert day_of(own).count("好的。") == MOST_AT_ONCE


def test_what_was_missed_is_marked_while_others_take_all_the_room(
    folder: DataFolder, clock: Clock
) -> None:
    model = PatientModel()
    with Assistant(folder, model=model, now=clock) as own:
        made = [own.schedules.add(PROMPT, "0 9 * * *", zone="UTC") for _ in range(MOST_AT_ONCE)]
        with Runner(own, every_seconds=0.001) as runner:
            for one in made:
                runner.begin(one.id)
            late = own.schedules.add(PROMPT, "0 9 * * *", zone="UTC").id
            clock.pass_time(hours=3, seconds=1)
            wait_until(lambda: bool(own.schedules.get(late).runs), DEADLINE_SECONDS)
            model.may_answer.set()
        assert [run.state for run in own.schedules.get(late).runs] == ["missed"]


def test_two_who_ask_at_once_do_not_get_the_same_room(folder: DataFolder, clock: Clock) -> None:
    model = PatientModel()
    with Assistant(folder, model=model, now=clock) as own:
        meeting = Meeting(clock)
        own.stores.schedules = ScheduleStore(folder.schedules, now=meeting)
        made = [own.schedules.add(PROMPT, "every 1h").id for _ in range(MOST_AT_ONCE + 1)]
        runner = Runner(own)
        for one in made[2:]:
            runner.begin(one)
        meeting.is_on = True
        with ThreadPoolExecutor() as pool:
            begun = [pool.submit(runner.begin, one) for one in made[:2]]
        assert [type(one.exception()) for one in begun].count(Conflict) == 1
        model.may_answer.set()
        wait_for_runs()


def test_two_who_deliver_the_same_run_at_once_note_it_once(own: Assistant, clock: Clock) -> None:
    own.schedules.add(PROMPT, "every 15m")
    clock.pass_time(minutes=15)
    ((schedule, run),) = own.schedules.claim()
    meeting = Meeting(clock)
    own.stores.daily = DailyLog(own.daily.location, now=meeting)
    runner = Runner(own)
    meeting.is_on = True
    with ThreadPoolExecutor() as pool:
        for _ in range(2):
            pool.submit(runner.make, schedule, run)
    assert day_of(own).count(run.id) == 1


# Keeping.


def test_a_backup_brings_schedules_and_results_back(
    own: Assistant, folder: DataFolder, clock: Clock, tmp_path: Path
) -> None:
    own.schedules.add(PROMPT, "every 15m", name="早安", deliver="file:早安.md")
    clock.pass_time(minutes=15)
    Runner(own).make_due()
    kept = folder.schedules, folder.path / "results" / "早安.md"
    before = [path.read_bytes() for path in kept]
    backup(folder.path, tmp_path / "backup.tar.gz")
    for one in own.schedules.get_all():
        own.schedules.remove(one.id)
    kept[1].unlink()
    restore(folder.path, tmp_path / "backup.tar.gz")
    assert [path.read_bytes() for path in kept] == before
