"""Schedules over HTTP: made, changed, run and told of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest

from tests.faces.http.conftest import DEADLINE_SECONDS, RunningServer, Serve, calling
from tests.faces.http.listening import ServerEvent, find_event, listening
from turnleaf import __version__
from turnleaf.assistant import Assistant
from turnleaf.core import model_dialogue
from turnleaf.core.languages.replies import translate
from turnleaf.core.model_dialogue import Prompt, Text, Toolbox
from turnleaf.core.schedules import Run
from turnleaf.faces.http.schedules import ScheduleView
from turnleaf.store.files.schedules import ScheduleStore
from turnleaf.store.schedules import find_local_zone

pytestmark = pytest.mark.usefixtures("at_noon")

API = "/api/schedules"
PROMPT = "客廳的燈叫什麼？"
LAMP = "客廳的燈叫做小明"
OPEN = {"state": "running", "attempts": 1, "finishedAt": None, "result": None, "error": None}


class WaitingModel:
    """A model that answers when it may."""

    name = "patient"

    def __init__(self) -> None:
        self.may_answer = Event()

    def stream(
        self, _prompt: Prompt, _tools: Toolbox | None = None
    ) -> Iterator[model_dialogue.Event]:
        assert self.may_answer.wait(DEADLINE_SECONDS)
        yield Text("小明。")

    def generate_json(self, *_: object) -> str:
        return '{"facts": []}'


@pytest.fixture(autouse=True)
def _empty(shared_server: RunningServer) -> Iterator[None]:
    yield
    for each in shared_server.assistant.schedules.get_all():
        shared_server.assistant.schedules.remove(each.id)


def add_schedule(client: httpx2.Client, **more: object) -> dict[str, Any]:
    answer = client.post(API, json={"prompt": PROMPT, "timing": "0 9 * * 1-5", **more})
    assert answer.status_code == 201
    schedule: dict[str, Any] = answer.json()
    return schedule


def problem(answer: httpx2.Response, status: int, code: str) -> str:
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    detail: str = answer.json()["detail"]
    return detail


def test_a_schedule_is_made_listed_and_given(visitor: httpx2.Client) -> None:
    wanted = {"timezone": "Asia/Taipei", "name": "早安", "deliver": "file:早安.md"}
    answer = visitor.post(API, json={"prompt": PROMPT, "timing": "0 9 * * *", **wanted})
    one = answer.json()
    assert answer.headers["location"] == f"schedules/{one['id']}"
    assert {key: one[key] for key in wanted} == wanted
    assert (one["paused"], one["running"], one["lastRun"]) == (False, False, None)
    assert one["nextRun"].endswith("T01:00:00.000Z")
    listed = visitor.get(API).json()
    assert listed == {"schedules": [one], "timezone": find_local_zone(), "channels": False}
    assert visitor.get(f"{API}/{one['id']}").json() == {**one, "runs": []}


def test_without_more_it_goes_to_the_log_in_the_zone_of_the_machine(
    visitor: httpx2.Client,
) -> None:
    one = add_schedule(visitor)
    assert (one["name"], one["timezone"], one["deliver"]) == (None, find_local_zone(), "log")
    assert add_schedule(visitor, timezone="")["timezone"] == find_local_zone()


def test_a_change_changes_what_is_given(visitor: httpx2.Client) -> None:
    one = add_schedule(visitor, name="早安", timezone="UTC")
    path = f"{API}/{one['id']}"
    changed = visitor.patch(path, json={"timing": "every 2h", "prompt": "吃什麼？"}).json()
    assert (changed["timing"], changed["prompt"]) == ("every 2h", "吃什麼？")
    assert (changed["name"], changed["timezone"]) == ("早安", "UTC")
    assert visitor.patch(path, json={"name": None}).json()["name"] is None
    assert visitor.patch(path, json={"timing": None}).json()["timing"] == "every 2h"
    assert visitor.patch(path, json={}).status_code == 200


def test_a_schedule_rests_and_goes_on(visitor: httpx2.Client) -> None:
    path = f"{API}/{add_schedule(visitor)['id']}"
    assert visitor.patch(path, json={"paused": True}).json()["paused"] is True
    assert visitor.get(path).json()["paused"] is True
    assert visitor.patch(path, json={"paused": False}).json()["paused"] is False


def test_what_is_deleted_is_given_once_more_and_gone(visitor: httpx2.Client) -> None:
    one = add_schedule(visitor)
    assert visitor.delete(f"{API}/{one['id']}").json() == {"deleted": one}
    for answer in (
        visitor.get(f"{API}/{one['id']}"),
        visitor.patch(f"{API}/{one['id']}", json={"paused": True}),
        visitor.delete(f"{API}/{one['id']}"),
        visitor.post(f"{API}/{one['id']}/run"),
    ):
        assert one["id"] in problem(answer, 404, "not-found")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"timing": "soon"}, "write it as '0 9 * * 1-5'"),
        ({"timing": "2020-01-01 09:00"}, "choose another time"),
        ({"timezone": "Mars/Olympus"}, "Asia/Taipei"),
        ({"deliver": "file:../x.md"}, "file:NAME"),
        ({"deliver": "mail"}, "file:NAME"),
        ({"prompt": " "}, "empty"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_sentence(
    visitor: httpx2.Client, shared_server: RunningServer, wrong: dict[str, str], said: str
) -> None:
    one = add_schedule(visitor)
    before = shared_server.assistant.schedules.location.read_bytes()
    new = {"prompt": PROMPT, "timing": "every 1h", **wrong}
    assert said in problem(visitor.post(API, json=new), 422, "invalid")
    assert said in problem(visitor.patch(f"{API}/{one['id']}", json=wrong), 422, "invalid")
    problem(visitor.post(API, json={**new, "more": 1}), 422, "invalid-request")
    assert shared_server.assistant.schedules.location.read_bytes() == before


def test_the_next_times_are_told_while_somebody_types(visitor: httpx2.Client) -> None:
    wanted = {"timing": "30 9 * * *", "timezone": "Asia/Taipei"}
    told = visitor.post(f"{API}/preview", json=wanted).json()
    assert told["timezone"] == "Asia/Taipei"
    assert [time[10:] for time in told["times"]] == ["T01:30:00.000Z"] * 5
    assert visitor.post(f"{API}/preview", json={"timing": "every 15m"}).json()["times"]
    answer = visitor.post(f"{API}/preview", json={"timing": "0 9 * *"})
    assert "write it as" in problem(answer, 422, "invalid")
    assert visitor.get(API).json()["schedules"] == []


def test_a_run_begins_at_once_and_is_not_made_twice_at_a_time(serve: Serve) -> None:
    model = WaitingModel()
    server = serve(model)
    with (
        calling(server) as client,
        listening("GET", f"{server.url}/api/events") as heard,
    ):
        assert next(heard) == ServerEvent("hello", {"version": __version__})
        one_made = add_schedule(client)
        path = f"{API}/{one_made['id']}"
        answer = client.post(f"{path}/run")
        assert answer.status_code == 202
        run = answer.json()
        assert OPEN.items() <= run.items()
        assert client.get(path).json()["running"] is True
        assert "already running" in problem(client.post(f"{path}/run"), 409, "conflict")
        model.may_answer.set()
        while client.get(path).json()["running"]:
            assert find_event(heard, "schedules") == {}
        done = client.get(path).json()
    (kept,) = done["runs"]
    assert (kept["id"], kept["state"], kept["result"]) == (run["id"], "done", "小明。")
    assert done["lastRun"] == kept
    assert done["nextRun"] == one_made["nextRun"]
    assert run["id"] in server.assistant.daily.read(server.assistant.now().date())


def test_a_running_server_runs_what_is_due_and_tells_of_it(server: RunningServer) -> None:
    server.assistant.memory.add(LAMP)
    past = datetime.now(UTC) - timedelta(minutes=20)
    with (
        calling(server) as client,
        listening("GET", f"{server.url}/api/events") as heard,
    ):
        assert next(heard) == ServerEvent("hello", {"version": __version__})
        other = ScheduleStore(server.folder / "schedules.json", now=lambda: past)
        path = f"{API}/{other.add(PROMPT, 'every 15m').id}"
        while (client.get(path).json()["lastRun"] or {}).get("state") != "done":
            assert find_event(heard, "schedules") == {}
        (run,) = client.get(path).json()["runs"]
    assert LAMP in run["result"]


def test_what_went_wrong_is_told_without_secrets_and_places(
    visitor: httpx2.Client, shared_server: RunningServer
) -> None:
    store = shared_server.assistant.schedules
    schedule, run = store.begin(add_schedule(visitor)["id"])
    place = shared_server.folder / "results" / "x.md"
    store.finish(schedule.id, run, error=f"cannot write {place}: sk-ant-api03-{'a' * 90}")
    error = visitor.get(f"{API}/{schedule.id}").json()["lastRun"]["error"]
    assert "x.md" in error
    assert str(shared_server.folder) not in error
    assert "a" * 90 not in error


def test_what_went_wrong_is_told_in_the_clients_language(
    visitor: httpx2.Client, shared_server: RunningServer
) -> None:
    store = shared_server.assistant.schedules
    schedule, run = store.begin(add_schedule(visitor)["id"])
    error = "the disk is full; free some space and try again"
    store.finish(schedule.id, run, error=error)
    path, chinese = f"{API}/{schedule.id}", {"Accept-Language": "zh-TW"}
    assert visitor.get(path).json()["lastRun"]["error"] == error
    said = visitor.get(path, headers=chinese).json()["lastRun"]["error"]
    assert said == translate(error, "zh-TW") != error


def test_a_list_of_schedules_takes_no_longer_for_many_runs(tmp_path: Path) -> None:
    readings: list[datetime] = []

    def clock() -> datetime:
        readings.append(datetime.now(UTC))
        return readings[-1]

    with Assistant(tmp_path, now=clock) as own:
        one = own.schedules.add(PROMPT, "every 1h")
        done = [Run(str(number), one.created_at, "done") for number in range(50)]
        one = replace(one, runs=tuple(done))
        readings.clear()
        last = ScheduleView.of(one, own).last_run
        assert last is not None
        assert (last.id, len(readings)) == ("49", 2)


def test_a_run_whose_program_ended_is_told_as_interrupted(
    visitor: httpx2.Client, shared_server: RunningServer
) -> None:
    add_schedule(visitor, deliver="slack:C012AB3CD")
    location = shared_server.assistant.schedules.location
    past = datetime.now(UTC) - timedelta(minutes=10)
    dead = ScheduleStore(location, now=lambda: past)
    dead.begin(json.loads(location.read_text("utf-8"))[0]["id"])
    (one_made,) = visitor.get(API).json()["schedules"]
    assert (one_made["running"], one_made["lastRun"]["state"]) == (False, "interrupted")


def test_results_that_cannot_go_there_are_refused_at_once(visitor: httpx2.Client) -> None:
    path = f"{API}/{add_schedule(visitor, deliver='slack:C012AB3CD')['id']}"
    assert "slack" in problem(visitor.post(f"{path}/run"), 422, "invalid")
    assert visitor.get(path).json()["runs"] == []
