"""`turnleaf slack`: a real process in a workspace on loopback, ended by real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.faces.conftest import Cli
from tests.faces.forking import make_program
from tests.standins.slack_api import APP_TOKEN, BOT_TOKEN, Body, SlackApi
from turnleaf.faces.slack.socket_mode import EVENTS, SCOPES
from turnleaf.store.files.schedules import ScheduleStore

SECONDS = 120
NEW = (sys.executable, "-W", "error")
"""The interpreter as it is started, where a warning ends the program."""
LAST_LINE = "Press Ctrl-C to stop."
TOKENS = {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_APP_TOKEN": APP_TOKEN}


class SlackProcess:
    """The program, and what it said at its start."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said = ""
        assert process.stdout is not None
        while LAST_LINE not in self.said and (line := process.stdout.readline()):
            self.said += line

    def end(self, by: signal.Signals) -> tuple[int, str, str]:
        """End it, and return its exit code and all that it said after the start."""
        self.process.send_signal(by)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextmanager
def run_slack(slack: SlackApi, *python: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*python, "-m", "turnleaf", "slack"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "SLACK_API_URL": slack.url, **TOKENS, **environ},
        text=True,
    ) as process:
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        try:
            yield process
        finally:
            guard.cancel()
            process.kill()


@contextmanager
def running(slack: SlackApi, *python: str, **environ: str) -> Iterator[SlackProcess]:
    with run_slack(slack, *python, **environ) as process:
        yield SlackProcess(process)


def test_it_answers_delivers_learns_and_ends_in_peace(cli: Cli) -> None:
    earlier = datetime.now(UTC) - timedelta(minutes=20)
    schedules = ScheduleStore(cli.folder.schedules, now=lambda: earlier)
    schedules.add("燈叫什麼？", "every 15m", name="早安", deliver="slack:C05")
    with SlackApi() as slack, running(slack, *NEW, SLACK_ALLOWED_USERS="U01") as bot:
        slack.people["U01"] = {"real_name": "王小安"}
        assert "Turnleaf is running in Slack as @turnleaf (Home)" in bot.said
        assert f"data folder  {cli.data}" in bot.said
        assert "answers      U01" in bot.said
        ts = slack.mention("記住客廳的燈叫做小明")
        assert slack.wait_for(lambda: slack.list_texts(ts)) == ["已記住：客廳的燈叫做小明"]
        other = slack.direct("我住在台北")
        slack.wait_for(lambda: slack.list_texts(other))
        (result,) = slack.wait_for(lambda: [one for one in slack.posts if one.channel == "C05"])
        assert result.text.startswith("早安")
        slack.wait_for(lambda: slack.notes(ts))
        code, out, err = bot.end(signal.SIGINT)
        assert (code, out, err) == (0, "", "")
        (note,) = slack.notes(other)
        assert "台北" in note.lines[0]
        for token in (*TOKENS.values(), "ticket"):
            assert token not in bot.said + out + err
    assert any("小明" in content for content in cli.contents())
    assert any("台北" in content for content in cli.contents())
    (run,) = schedules.get_all()[0].runs
    assert run.state == "done"


def test_with_nobody_on_the_list_it_says_how_to_put_somebody_on_it(
    cli: Cli, tmp_path: Path
) -> None:
    with SlackApi() as slack, running(slack, make_program(tmp_path)) as bot:
        assert "answers      nobody" in bot.said
        refused = slack.direct("Hello")
        (told,) = slack.wait_for(lambda: slack.list_texts(refused))
        assert "U01" in told
        assert cli("config", "slackAllowedUsers", "U01").code == 0
        answered = slack.direct("Hello")
        assert slack.wait_for(lambda: slack.list_texts(answered)) != [told]
        code, _, err = bot.end(signal.SIGTERM)
    assert code == 0
    assert "turnleaf config slackAllowedUsers U012AB3CD" in err
    assert "turnleaf config slackAllowedChannels C012AB3CD" in err


@pytest.mark.usefixtures("cli")
def test_it_can_be_ended_while_it_connects(tmp_path: Path) -> None:
    class Ending(SlackApi):
        bots: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()

        def answer(self, method: str, body: Body, token: str) -> tuple[str, Body]:
            if method == "apps.connections.open":
                self.bots.get(timeout=SECONDS).send_signal(signal.SIGINT)
            return super().answer(method, body, token)

    with Ending() as slack, run_slack(slack, make_program(tmp_path)) as process:
        slack.bots.put(process)
        process.communicate(timeout=SECONDS)
        assert process.returncode == 0


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "SLACK_BOT_TOKEN is not set; copy it from your app's page in Slack, OAuth"),
        (
            {"SLACK_BOT_TOKEN": BOT_TOKEN},
            "SLACK_APP_TOKEN is not set; copy it from your app's page in Slack, Basic",
        ),
        (
            {"SLACK_BOT_TOKEN": APP_TOKEN, "SLACK_APP_TOKEN": BOT_TOKEN},
            "SLACK_BOT_TOKEN must begin with xoxb-; copy it again from Slack",
        ),
        (
            {"SLACK_BOT_TOKEN": "xoxb-wrong", "SLACK_APP_TOKEN": APP_TOKEN},
            "Slack does not accept SLACK_BOT_TOKEN (invalid_auth); copy it again from Slack",
        ),
        (
            {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_APP_TOKEN": "xapp-wrong"},
            "Slack does not accept SLACK_APP_TOKEN (invalid_auth); copy it again from Slack",
        ),
    ],
)
def test_tokens_that_are_missing_or_wrong_are_told_in_one_sentence(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], told: str
) -> None:
    for variable in TOKENS:
        monkeypatch.delenv(variable, raising=False)
    with SlackApi() as slack:
        for variable, value in {"SLACK_API_URL": slack.url, **environ}.items():
            monkeypatch.setenv(variable, value)
        result = cli("slack")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: {told}")
    assert len(result.err.splitlines()) == 1
    assert not any(value in result.err for value in environ.values())


def test_without_its_package_it_says_which_extra_brings_it(cli: Cli) -> None:
    code = (
        "import sys; sys.modules['slack_bolt'] = None\n"
        "from turnleaf.faces.cli import main; sys.exit(main(['slack']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: the package slack_bolt is missing; run pip install 'turnleaf[slack]'\n"
    )


def test_the_manifest_asks_for_no_more_than_it_needs(cli: Cli) -> None:
    manifest = cli("slack", "manifest").json
    assert manifest["oauth_config"]["scopes"] == {"bot": list(SCOPES)}
    assert manifest["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["features"]["app_home"]["messages_tab_read_only_enabled"] is False
