"""The line to Slack breaks in every way, and comes back by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any

import pytest

from tests.standins.slack_api import APP_TOKEN, BOT, BOT_TOKEN, SECONDS, TEAM, SlackApi
from turnleaf.errors import SettingsError, TurnleafError
from turnleaf.faces.slack.client import Identity, check_token, fetch_identity, make_client
from turnleaf.faces.slack.socket_mode import SocketMode

SOON_SECONDS = 2.0  # Slack's library takes a line for dead that was silent for six times as long
ME = Identity(BOT, "turnleaf", TEAM, "Home")


class Recorder:
    """Whoever listens."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def hear(self, event: Mapping[str, Any]) -> None:
        self.texts.append(event["text"])

    def press(self, body: Mapping[str, Any]) -> None:
        self.texts.append(body["actions"][0]["value"])


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlackApi]:
    with SlackApi() as one:
        monkeypatch.setenv("SLACK_API_URL", one.url)
        yield one


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def line(slack: SlackApi, recorder: Recorder) -> Iterator[SocketMode]:
    one = SocketMode(recorder, make_client(BOT_TOKEN), ME, APP_TOKEN, ping_seconds=SOON_SECONDS)
    one.open()
    yield one
    one.close()


def test_a_line_that_is_cut_is_made_anew(
    slack: SlackApi, line: SocketMode, recorder: Recorder
) -> None:
    slack.say("before")
    slack.drop()
    slack.wait_for(lambda: slack.connections >= 2)
    slack.say("after")
    assert recorder.texts == ["before", "after"]


def test_the_first_event_needs_no_other_answer_of_slack(
    slack: SlackApi, line: SocketMode, recorder: Recorder
) -> None:
    slack.refused["auth.test"] = "fatal_error"
    slack.say("first")
    assert recorder.texts == ["first"]
    assert slack.bodies_of("auth.test") == []


def test_the_end_of_a_line_is_noticed_although_nobody_asks(
    slack: SlackApi, recorder: Recorder
) -> None:
    line = SocketMode(recorder, make_client(BOT_TOKEN), ME, APP_TOKEN, ping_seconds=600)
    ended = Event()
    line.on_error_listeners.append(lambda _: ended.set())
    line.open()
    slack.say("before")
    slack.drop()
    assert ended.wait(SECONDS)
    line.close()


def test_a_line_can_be_closed_at_any_moment(slack: SlackApi, recorder: Recorder) -> None:
    for _ in range(4):
        line = SocketMode(recorder, make_client(BOT_TOKEN), ME, APP_TOKEN)
        line.open()
        line.close()
        assert not line.is_connected()


def test_a_line_that_slack_wants_to_renew_is_renewed(
    slack: SlackApi, line: SocketMode, recorder: Recorder
) -> None:
    slack.ask_to_reconnect()
    slack.wait_for(lambda: slack.connections >= 2)
    slack.say("你好" * 10_000)
    assert recorder.texts == ["你好" * 10_000]


def test_when_the_network_is_gone_it_tries_until_it_is_back(
    slack: SlackApi, line: SocketMode, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    slack.refused["apps.connections.open"] = "internal_error"
    slack.drop()
    slack.wait_for(lambda: len(slack.bodies_of("apps.connections.open")) > 3)
    line.look()
    slack.refused.clear()
    slack.wait_for(lambda: slack.connections >= 2)
    slack.say("after")
    line.look()
    line.look()
    assert recorder.texts == ["after"]
    assert caplog.messages == [
        "the connection to Slack is lost; reconnecting as soon as possible",
        "the connection to Slack is restored",
    ]


def test_wrong_tokens_are_told_in_a_sentence(slack: SlackApi, recorder: Recorder) -> None:
    with pytest.raises(SettingsError) as told:
        fetch_identity(make_client("xoxb-a-wrong-one"))
    assert str(told.value) == (
        "Slack does not accept SLACK_BOT_TOKEN (invalid_auth); copy it again from Slack"
    )
    line = SocketMode(recorder, make_client(BOT_TOKEN), ME, "xapp-a-wrong-one")
    with pytest.raises(SettingsError, match=r"does not accept SLACK_APP_TOKEN \(invalid_auth\)"):
        line.open()
    line.close()


def test_what_else_keeps_it_from_starting_is_told_in_a_sentence(
    slack: SlackApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack.refused["auth.test"] = "team_access_not_granted"
    with pytest.raises(TurnleafError, match="refused SLACK_BOT_TOKEN"):
        fetch_identity(make_client(BOT_TOKEN))
    slack.once("auth.test", "gone")
    with pytest.raises(TurnleafError, match="cannot be reached"):
        fetch_identity(make_client(BOT_TOKEN))
    slack.once("auth.test", "429:61")
    with pytest.raises(TurnleafError, match="ratelimited"):
        fetch_identity(make_client(BOT_TOKEN))
    monkeypatch.setenv("SLACK_API_URL", "slack.example")
    with pytest.raises(SettingsError, match="SLACK_API_URL must be an address"):
        make_client(BOT_TOKEN)


@pytest.mark.parametrize("token", [None, "", "xapp-1-secret", "secret"])
def test_a_token_that_cannot_be_one_is_told_without_showing_it(token: str | None) -> None:
    with pytest.raises(SettingsError) as told:
        check_token("SLACK_BOT_TOKEN", token)
    assert "SLACK_BOT_TOKEN" in str(told.value)
    assert "secret" not in str(told.value)


def test_what_would_make_it_an_app_for_many_workspaces_is_refused(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"):
        monkeypatch.setenv(name, "somebodys")
    with pytest.raises(SettingsError, match="unset them"):
        SocketMode(recorder, make_client(BOT_TOKEN), ME, APP_TOKEN)
