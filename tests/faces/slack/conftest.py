from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient

from tests.standins.scripted_model import ScriptedModel
from tests.standins.slack_api import APP_TOKEN, BOT_TOKEN, SECONDS, SlackApi
from turnleaf import Assistant
from turnleaf.core.model_dialogue import Model
from turnleaf.faces.slack.bot import Bot
from turnleaf.faces.slack.client import fetch_identity, make_client
from turnleaf.faces.slack.socket_mode import SocketMode
from turnleaf.settings import SETTINGS, DataFolder
from turnleaf.spaces import Spaces
from turnleaf.store.clock_and_ids import local_now


class Switch:
    """Lets the bot of the test that runs hear what comes over one line for all tests."""

    bot: Bot

    def hear(self, event: Mapping[str, Any]) -> None:
        self.bot.hear(event)

    def press(self, body: Mapping[str, Any]) -> None:
        self.bot.press(body)


class World:
    """A workspace, and a bot in it over a folder of its own."""

    def __init__(self, slack: SlackApi, client: WebClient, switch: Switch, folder: Path) -> None:
        self.slack = slack
        self.client = client
        self.folder = folder
        self._switch = switch
        self.waits: list[float] = []
        """How long the bot waited, or would have."""
        self.later = timedelta()
        self.model = ScriptedModel()
        self.allow(slackAllowedUsers="U01")
        self.start(self.model)

    def allow(self, **settings: str) -> None:
        """Apply other settings."""
        config = self.folder / "memory-config.json"
        config.write_text(json.dumps(settings), "utf-8")

    def start(self, model: Model) -> None:
        """Start the bot, which knows nothing but what is on disk."""
        self.assistant = Assistant(self.folder, model=model, now=self.now)
        self.assistant.init()
        me = fetch_identity(self.client)
        self.spaces = Spaces(DataFolder(self.folder, "a test"), model=model, now=self.now)
        self.bot = Bot(self.assistant, self.client, me, spaces=self.spaces, wait=self.waits.append)
        self._switch.bot = self.bot

    def now(self) -> datetime:
        return local_now() + self.later

    def restart(self) -> None:
        self.assistant.close(flush=False)
        self.start(self.model)

    def settle(self) -> None:
        """Wait until the bot has nothing left to do."""
        assert self.bot.wait(SECONDS)

    def read_thread(self, ts: str) -> list[str]:
        """Return what a thread shows once all is done."""
        self.settle()
        return self.slack.list_texts(ts)

    def list_questions(self) -> list[str]:
        """Return what the model was asked."""
        self.settle()
        return [prompt.question for prompt in self.model.prompts]

    def list_facts(self) -> list[str]:
        return [memory.content for memory in self.assistant.memory.get_all()]

    def history(self, ts: str) -> list[str]:
        return [one.text for one in self.assistant.conversations.get_history(f"slack:{ts}")]


@pytest.fixture(scope="module")
def slack_link() -> Iterator[tuple[SlackApi, WebClient, Switch]]:
    """Connect once for many tests, with the real library."""
    switch = Switch()
    with SlackApi() as slack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLACK_API_URL", slack.url)
        client = make_client(BOT_TOKEN)
        line = SocketMode(switch, client, fetch_identity(client), APP_TOKEN)
        line.open()
        yield slack, client, switch
        line.close()


@pytest.fixture
def world(
    slack_link: tuple[SlackApi, WebClient, Switch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    slack, client, switch = slack_link
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.setenv("EMBEDDINGS", "off")
    slack.calls.clear()
    slack.refused.clear()
    slack.people.clear()
    slack.channels.clear()
    one = World(slack, client, switch, tmp_path)
    yield one
    one.settle()
    one.spaces.close()
    one.assistant.close(flush=False)
