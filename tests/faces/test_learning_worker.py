"""Learning in a process of its own: a command does not wait for it, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import SECONDS
from tests.standins.chat_api import ChatApi
from tests.standins.scripted_model import ScriptedModel, make_fact
from turnleaf import Assistant

TOMATOES = "陽台的番茄是阿嬤種的"
PIANO = "The piano in the hall belongs to the school"


@pytest.fixture(autouse=True)
def api(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatApi]:
    with ChatApi() as api:
        monkeypatch.setenv("TURNLEAF_MODEL", "openai:test")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1")
        yield api
        for pid in find_workers(cli):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)


def facts(*texts: str) -> str:
    return json.dumps({"facts": [make_fact(text) for text in texts]}, ensure_ascii=False)


def find_workers(cli: Cli) -> list[int]:
    """Return the processes that learn for this data folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        if b"turnleaf.faces.learning_worker" in words and os.fsencode(cli.data) in words:
            found.append(int(place.parent.name))
    return found


def test_the_answer_ends_the_command_and_the_fact_follows(cli: Cli, api: ChatApi) -> None:
    api.answer("Lovely.")
    extraction = api.hold(facts(TOMATOES))
    # It reads to the end of the pipes, which the worker must not keep open.
    asked = cli.process("ask", TOMATOES)
    assert (asked.code, asked.out, asked.err) == (0, "Lovely.\n", "")
    assert extraction.asked.wait(SECONDS)
    assert cli.contents() == []
    extraction.released.set()
    cli.wait_for_worker()
    assert cli.contents() == [TOMATOES]


def test_the_worker_is_in_a_session_of_its_own_and_keeps_no_stream(cli: Cli, api: ChatApi) -> None:
    api.answer("Lovely.")
    extraction = api.hold(facts(TOMATOES))
    cli.fork("ask", TOMATOES)
    assert extraction.asked.wait(SECONDS)
    (pid,) = find_workers(cli)
    assert os.getsid(pid) == pid
    streams = Path(f"/proc/{pid}/fd")
    assert {(streams / number).readlink() for number in "12"} == {Path(os.devnull)}


def test_what_rules_learn_is_there_at_once(cli: Cli, api: ChatApi) -> None:
    api.answer("Hello Alice.")
    extraction = api.hold(facts())
    cli.fork("ask", "My name is Alice")
    assert cli.contents() == ["My name is Alice"]
    assert extraction.asked.wait(SECONDS)


def test_two_commands_start_one_worker_which_learns_from_both(cli: Cli, api: ChatApi) -> None:
    api.answer("Lovely.")
    first = api.hold(facts(TOMATOES))
    cli.fork("ask", TOMATOES)
    assert first.asked.wait(SECONDS)
    workers = find_workers(cli)
    api.answer("Good.")
    assert cli.fork("ask", "--new", PIANO).out == "Good.\n"
    assert (len(workers), find_workers(cli)) == (1, workers)
    api.answer(facts(PIANO))
    first.released.set()
    cli.wait_for_worker()
    assert cli.contents() == [TOMATOES, PIANO]


def test_what_a_killed_worker_was_at_is_learned_by_the_next_program(cli: Cli, api: ChatApi) -> None:
    api.answer("Lovely.")
    extraction = api.hold(facts(TOMATOES))
    cli.fork("ask", TOMATOES)
    assert extraction.asked.wait(SECONDS)
    (pid,) = find_workers(cli)
    os.kill(pid, signal.SIGKILL)
    cli.wait_for_worker()
    assert cli.contents() == []
    model, later = ScriptedModel(), datetime.now(UTC) + timedelta(hours=1)
    model.facts = [[make_fact(TOMATOES)], [make_fact(TOMATOES)]]
    with Assistant(cli.data, model=model, now=lambda: later):
        pass
    assert cli.contents() == [TOMATOES]
