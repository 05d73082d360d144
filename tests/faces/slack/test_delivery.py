"""Results of schedules in a channel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event

import pytest

from tests.standins.slack_api import BOT_TOKEN, Body, SlackApi
from turnleaf.core.schedules import Run, Schedule
from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.answers import make_delivery
from turnleaf.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCHEDULE = Schedule(
    "s1", "天氣如何？", "@daily", "UTC", NOON, NOON, name="早安", deliver="slack:C05"
)
RUN = Run("run-1", NOON, "running")


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlackApi]:
    with SlackApi() as one:
        monkeypatch.setenv("SLACK_API_URL", one.url)
        yield one


def deliver(text: str, schedule: Schedule = SCHEDULE, run: Run = RUN) -> None:
    brings = make_delivery(Settings(slack_bot_token=BOT_TOKEN))
    assert brings is not None
    brings(schedule, run, text)


def test_a_result_begins_with_the_name_and_carries_the_runs_id(slack: SlackApi) -> None:
    deliver("晴天 <!channel>")
    (post,) = slack.posts
    assert (post.channel, post.thread) == ("C05", None)
    assert post.text == "早安\n\n晴天 &lt;!channel&gt;\n\n`run-1`"
    assert post.metadata["event_payload"] == {"schedule": "s1", "run": "run-1", "part": 0}


def test_a_long_result_goes_on_below_its_beginning(slack: SlackApi) -> None:
    deliver("晴天。" * 2000)
    first, *others = slack.posts
    assert len(others) == 2
    assert {post.thread for post in others} == {first.ts}
    assert others[-1].text.endswith("`run-1`")


def test_a_run_that_is_tried_again_comes_once(slack: SlackApi) -> None:
    again = replace(RUN, attempts=2)
    deliver("晴天", run=again)
    deliver("晴天", run=again)
    deliver("晴天", run=replace(again, id="run-2"))
    assert [post.text.split("`")[1] for post in slack.posts] == ["run-1", "run-2"]


def test_of_a_long_result_only_the_missing_parts_come_when_it_is_tried_again(
    slack: SlackApi,
) -> None:
    slack.once("chat.postMessage", "")
    slack.once("chat.postMessage", "no_permission")
    with pytest.raises(TurnleafError, match="no_permission"):
        deliver("晴天。" * 2000)
    assert len(slack.posts) == 1
    again = replace(RUN, attempts=2)
    deliver("晴天。" * 2000, run=again)
    deliver("晴天。" * 2000, run=again)
    first, *others = slack.posts
    assert [post.thread for post in others] == [first.ts] * 2
    assert sum(post.text.count("晴天。") for post in slack.posts) == 2000


def test_a_result_of_which_slack_lost_the_answer_comes_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Losing(SlackApi):
        def answer(self, method: str, body: Body, token: str) -> tuple[str, Body]:
            status, answer = super().answer(method, body, token)
            is_first = len(self.bodies_of("chat.postMessage")) == 1
            return ("gone", {}) if is_first and method == "chat.postMessage" else (status, answer)

    with Losing() as slack:
        monkeypatch.setenv("SLACK_API_URL", slack.url)
        stop = Event()
        stop.set()
        brings = make_delivery(Settings(slack_bot_token=BOT_TOKEN), stop)
        assert brings is not None
        brings(SCHEDULE, RUN, "晴天")
        assert len(slack.posts) == 1
        assert len(slack.bodies_of("conversations.history")) == 1


def test_when_slack_asks_to_wait_it_waits_and_can_be_stopped(slack: SlackApi) -> None:
    waits: list[float | None] = []

    class RecordingEvent(Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return True

    slack.once("chat.postMessage", "429:7")
    brings = make_delivery(Settings(slack_bot_token=BOT_TOKEN), RecordingEvent())
    assert brings is not None
    brings(SCHEDULE, RUN, "晴天")
    assert waits == [7.0]
    assert len(slack.posts) == 1


def test_a_channel_that_it_is_not_in_is_told(slack: SlackApi) -> None:
    with pytest.raises(TurnleafError) as told:
        deliver("晴天", replace(SCHEDULE, deliver="slack:C0NONE"))
    assert str(told.value) == (
        "cannot post to C0NONE (channel_not_found); is the bot in that channel?"
    )


def test_without_a_token_nothing_is_brought_to_slack() -> None:
    assert make_delivery(Settings()) is None


def test_without_the_package_nothing_is_brought_to_slack() -> None:
    code = (
        "import sys; sys.modules['slack_sdk'] = None\n"
        "from turnleaf.faces.outbound import deliveries\n"
        "from turnleaf.settings import Settings\n"
        "sys.exit(deliveries(Settings(slack_bot_token='xoxb-1')) != {})"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
