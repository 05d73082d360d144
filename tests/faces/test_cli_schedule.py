from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.faces.conftest import Cli
from tests.test_scheduling import DEADLINE_SECONDS, Sleeper
from turnleaf.core.keys import schedule_key
from turnleaf.store.files.schedules import ScheduleStore
from turnleaf.store.schedules import find_local_zone

PROMPT = "客廳的燈叫什麼？"
LAMP = "客廳的燈叫做小明"
DAILY = ("--when", "0 8 * * *", "--zone", "Asia/Taipei")


def add(cli: Cli, *options: str, prompt: str = PROMPT) -> dict[str, Any]:
    made: dict[str, Any] = cli("schedule", "add", *(options or DAILY), "--json", prompt).json
    return made


def take_only_schedule(cli: Cli) -> dict[str, Any]:
    (one,) = cli("schedule", "list", "--json").json
    found: dict[str, Any] = one
    return found


def open_earlier(cli: Cli, **ago: float) -> ScheduleStore:
    """Return the store as it was then."""
    moment = datetime.now(UTC) - timedelta(**ago)
    return ScheduleStore(cli.folder.schedules, now=lambda: moment)


def warnings(cli: Cli) -> list[str]:
    found = cli("doctor", "--json").json["problems"]
    assert {one["level"] for one in found} <= {"warning"}
    return [one["message"] for one in found]


# What is asked, and when.


def test_nothing_is_asked_yet_and_how_to_begin_is_said(cli: Cli) -> None:
    listed = cli("schedule", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "turnleaf schedule add" in listed.err
    assert cli("schedule", "list", "--json").json == []
    assert not cli.data.exists()


def test_what_is_added_is_said_and_listed_in_its_time_zone(cli: Cli) -> None:
    added = cli("schedule", "add", *DAILY, "--name", "早安", "客廳的燈", "叫什麼？")
    assert added.code == 0
    assert "at 08:00 every day; next: " in added.out
    assert " 08:00 Asia/Taipei\n" in added.out
    assert "turnleaf serve" in added.err
    one = take_only_schedule(cli)
    assert (one["name"], one["prompt"], one["deliver"]) == ("早安", "客廳的燈 叫什麼？", "log")
    heading, row = cli("schedule", "list").out.splitlines()
    assert heading.split() == ["ID", "Name", "When", "Next", "Prompt"]
    assert row.startswith(one["id"])
    assert "08:00 Asia/Taipei" in row


def test_without_a_zone_it_is_that_of_the_machine(cli: Cli) -> None:
    assert add(cli, "--when", "every 15m")["timezone"] == find_local_zone()
    assert cli("schedule", "add", "--when", "every 15m", PROMPT).out.endswith(
        f" {find_local_zone()}\n"
    )


def test_a_machine_whose_zone_has_no_name_is_asked_for_one(cli: Cli) -> None:
    words = ("schedule", "add", "--when", "0 8 * * *", PROMPT)
    result = cli.process(*words, environ={"TZ": "XYZ-5:17"})
    assert (result.code, "does not use the time zone" in result.err) == (2, True)
    assert cli("schedule", "list", "--json").json == []


def test_what_is_asked_can_be_piped_in(cli: Cli) -> None:
    cli("schedule", "add", "--when", "every 2h", "--to", "file:news.md", "-", stdin="一\n二\n")
    assert (take_only_schedule(cli)["prompt"], take_only_schedule(cli)["deliver"]) == (
        "一\n二",
        "file:news.md",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--when", "soon"], "write it as '0 9 * * 1-5'"),
        (["--when", "2020-01-01 09:00"], "choose another time"),
        (["--when", "every 1h", "--zone", "Taipei"], "Asia/Taipei"),
        (["--when", "every 1h", "--to", "mail"], "file:NAME"),
        ([], "--when"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence(
    cli: Cli, options: list[str], said: str
) -> None:
    result = cli("schedule", "add", *options, PROMPT)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert len(result.err.splitlines()) == 1
    assert cli("schedule", "list", "--json").json == []


def test_the_command_alone_shows_what_it_can_do(cli: Cli) -> None:
    shown = cli("schedule")
    assert (shown.code, shown.err) == (0, "")
    for name in ("add", "list", "show", "edit", "pause", "resume", "run", "remove"):
        assert f"  {name} " in shown.out
    assert "\n  turnleaf schedule add --when 'every 2h'" in shown.out


def test_every_example_has_one_prompt_that_no_shell_takes_for_something_else(cli: Cli) -> None:
    said = cli("schedule").out + cli("schedule", "list").err
    examples = [line for line in said.splitlines() if "turnleaf schedule add" in line]
    assert len(examples) == 4
    for example in examples:
        prompt = shlex.split(example)[-1]
        assert example.endswith(f" '{prompt}'")


# Changing.


def test_an_edit_changes_what_is_given_and_nothing_else(cli: Cli) -> None:
    made = add(cli, *DAILY, "--name", "早安")
    cli("schedule", "edit", made["id"][:4], "--when", "0 9 * * 1-5", "--to", "file:x.md")
    changed = take_only_schedule(cli)
    assert changed["timing"] == "0 9 * * 1-5"
    assert (changed["prompt"], changed["name"]) == (PROMPT, "早安")
    cli("schedule", "edit", "早安", "--name", "", "吃什麼？")
    assert (take_only_schedule(cli)["prompt"], "name" in take_only_schedule(cli)) == (
        "吃什麼？",
        False,
    )
    cli("schedule", "edit", made["id"], "--when", "2036-12-24 6:00", "--zone", "Asia/Taipei")
    moved = cli("schedule", "edit", made["id"], "--zone", "Europe/Vienna").out
    assert "once on 2036-12-24 at 06:00; next: 2036-12-24 06:00 Europe/Vienna\n" in moved
    nothing = cli("schedule", "edit", made["id"])
    assert (nothing.code, "nothing to change" in nothing.err) == (2, True)


def test_a_paused_schedule_is_listed_as_such_until_it_is_resumed(cli: Cli) -> None:
    made = add(cli)
    assert cli("schedule", "pause", made["id"]).code == 0
    assert "paused" in cli("schedule", "list").out
    assert cli("schedule", "resume", made["id"], "--json").json["paused"] is False
    assert "paused" not in cli("schedule", "list").out


def test_what_is_removed_can_be_made_again_as_the_command_says(cli: Cli) -> None:
    made = add(cli, *DAILY, "--name", "早 安", "--to", "file:x.md", prompt="it's '小明'")
    gone = cli("schedule", "remove", "早 安")
    assert gone.out == f"removed {made['id']}: it's '小明'\n"
    assert cli("schedule", "list", "--json").json == []
    _, *words = shlex.split(gone.err.partition(": ")[2])
    assert cli(*words).code == 0
    again = take_only_schedule(cli)
    for key in ("name", "prompt", "timing", "timezone", "deliver", "nextRun"):
        assert again[key] == made[key]


@pytest.mark.parametrize("command", ["show", "edit", "pause", "resume", "run", "remove"])
def test_a_schedule_that_is_not_there_matches_nothing(cli: Cli, command: str) -> None:
    more = ["x"] if command == "edit" else []
    for wanted in ("nobody", ""):
        result = cli("schedule", command, wanted, *more)
        assert (result.code, result.out) == (3, "")
        assert "turnleaf schedule list" in result.err
    assert len(cli("schedule", command, "長" * 1000, *more).err) < 200


def test_two_of_one_name_are_told_apart_by_their_ids(cli: Cli) -> None:
    for _ in range(2):
        add(cli, *DAILY, "--name", "早安")
    result = cli("schedule", "pause", "早安")
    assert (result.code, "type the ID" in result.err) == (2, True)


# Running.


def test_a_run_in_front_prints_the_answer_and_delivers_it(cli: Cli) -> None:
    cli.remember(LAMP)
    made = add(cli, *DAILY, "--name", "燈")
    result = cli("schedule", "run", "燈")
    assert result.code == 0
    assert LAMP in result.out
    (run,) = take_only_schedule(cli)["runs"]
    assert run["id"] in cli("today").out
    assert LAMP in cli("today").out
    assert len(cli.conversations.get_history(schedule_key(made["id"]))) == 2
    shown = cli("schedule", "show", "燈").out
    assert "at 08:00 every day (0 8 * * *, Asia/Taipei)" in shown
    assert f"{run['id']}  " in shown
    assert "done" in cli("schedule", "list").out
    assert cli("schedule", "show", "燈", "--json").json["runs"] == [run]


def test_a_run_that_fails_says_why_and_keeps_the_answer(cli: Cli) -> None:
    cli.remember(LAMP)
    add(cli, *DAILY, "--name", "燈", "--to", "file:x.md")
    (cli.data / "results").write_text("no folder")
    result = cli("schedule", "run", "燈")
    assert (result.code, result.out) == (1, "")
    assert len(result.err.splitlines()) == 1
    (run,) = take_only_schedule(cli)["runs"]
    assert run["state"] == "failed"
    assert LAMP in run["result"]
    assert run["error"] in result.err
    assert run["error"] in cli("schedule", "show", "燈").out
    assert [run["error"] in one for one in warnings(cli)] == [True]


def test_a_channel_that_nobody_set_up_is_no_place_for_a_run(cli: Cli) -> None:
    added = cli("schedule", "add", *DAILY, "--to", "slack:C012AB3CD", PROMPT)
    result = cli("schedule", "run", take_only_schedule(cli)["id"])
    assert (added.code, result.code) == (0, 2)
    for said in (added.err, result.err):
        assert "SLACK_BOT_TOKEN" in said
        assert "turnleaf[slack]" in said
    assert take_only_schedule(cli)["runs"] == []
    assert "SLACK" not in cli("schedule", "edit", take_only_schedule(cli)["id"], "--to", "log").err


def test_a_run_that_somebody_else_makes_is_not_made_twice(cli: Cli) -> None:
    made = add(cli)
    ScheduleStore(cli.folder.schedules).begin(made["id"])
    result = cli("schedule", "run", made["id"])
    assert (result.code, "already running" in result.err) == (1, True)
    assert "running" in cli("schedule", "list").out


def test_a_run_in_front_that_is_terminated_ends_the_model_and_is_left_to_others(
    cli: Cli, tmp_path: Path
) -> None:
    made = add(cli)
    command = [sys.executable, "-m", "turnleaf", "schedule", "run", made["id"]]
    path = f"{tmp_path}:{os.environ['PATH']}"
    environ = {**os.environ, "TURNLEAF_MODEL": "claude-cli", "PATH": path}
    with (
        Sleeper(tmp_path) as claude,
        subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as program,
    ):
        claude.wait_for_start()
        program.terminate()
        _, said = program.communicate(timeout=DEADLINE_SECONDS)
        assert not claude.is_alive()
    assert (program.returncode, "was stopped" in said) == (1, True)
    (run,) = take_only_schedule(cli)["runs"]
    assert (run["state"], "holder" in run) == ("interrupted", False)


def test_what_came_from_a_schedule_is_erased_from_the_record_of_its_runs_too(cli: Cli) -> None:
    cli.remember(LAMP)
    made = add(cli)
    cli("schedule", "run", made["id"])
    assert LAMP in cli.folder.schedules.read_text("utf-8")
    assert cli("forget", "--source", schedule_key(made["id"]), "--yes").code == 0
    assert LAMP not in cli.folder.schedules.read_text("utf-8")
    assert (take_only_schedule(cli)["prompt"], take_only_schedule(cli)["runs"][0]["state"]) == (
        PROMPT,
        "done",
    )


# What the doctor finds.


def test_the_doctor_counts_the_schedules(cli: Cli) -> None:
    add(cli)
    cli("schedule", "pause", add(cli)["id"])
    rows = cli("doctor", "--json").json["files"]
    holds = {one["name"]: one["holds"] for one in rows}
    assert holds["schedules"] == "2 schedules, 1 of them paused"
    assert warnings(cli) == []


def test_the_doctor_names_what_is_due_and_nobody_runs(cli: Cli) -> None:
    open_earlier(cli, minutes=30).add(PROMPT, "every 15m", name="早安")
    open_earlier(cli, minutes=30).add(PROMPT, "every 15m", name="晚安", deliver="slack:C012AB3CD")
    open_earlier(cli, seconds=90).add(PROMPT, "every 1m", name="now")
    first, second = warnings(cli)
    assert "the schedule 早安 has been due since" in first
    assert "turnleaf serve" in first
    assert "turnleaf slack" in second
    assert "due since" in cli("schedule", "list").out


def test_the_doctor_names_what_was_interrupted(cli: Cli) -> None:
    store = open_earlier(cli, minutes=10)
    store.begin(store.add(PROMPT, "every 1h", name="早安").id)
    (said,) = warnings(cli)
    assert "早安" in said
    assert "interrupted" in said
    assert "interrupted" in cli("schedule", "list").out


def test_a_damaged_file_is_named_before_and_after_it_is_set_aside(cli: Cli) -> None:
    cli.data.mkdir()
    cli.folder.schedules.write_text('{"id"', "utf-8")
    (problem,) = cli("doctor", "--json").json["problems"]
    assert (problem["level"], "schedules.json" in problem["message"]) == ("error", True)
    assert cli.folder.schedules.read_text("utf-8") == '{"id"'
    listed = cli("schedule", "list")
    assert (listed.code, "schedules.json.corrupt-" in listed.err) == (0, True)
    (said,) = warnings(cli)
    assert "schedules.json.corrupt-" in said


def test_a_time_zone_that_somebody_spoilt_is_shown_all_the_same(cli: Cli) -> None:
    add(cli)
    text = cli.folder.schedules.read_text("utf-8")
    cli.folder.schedules.write_text(text.replace("Asia/Taipei", "Mars/Olympus"), "utf-8")
    assert "Mars/Olympus" in cli("schedule", "list").out
    assert json.loads(cli("schedule", "list", "--json").out)[0]["timezone"] == "Mars/Olympus"
