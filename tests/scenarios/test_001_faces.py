"""001: one memory behind every interface, each of them a process that runs all the while."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from playwright.sync_api import expect

from tests.faces.forking import make_program
from tests.page.browsing import chromium, say, visiting
from tests.standins.chat_api import ChatApi
from tests.standins.slack_api import APP_TOKEN, BOT_TOKEN, SlackApi
from turnleaf.settings import KEYS, SETTINGS

LAMP = "客廳的燈叫做小明"
QUESTION = "客廳的燈叫什麼？"
SECONDS = 60.0
LAST_LINE = "Press Ctrl-C to stop."

Ask = Callable[[], str]
"""Asks in one interface; gives what its model was told, or what its client read."""


class Programs:
    """The programs of one installation, all over the same folder."""

    def __init__(self, folder: Path, model: ChatApi, slack: SlackApi) -> None:
        self.python = make_program(folder.parent)
        ours = {setting.variable for setting in SETTINGS} | {name.upper() for name in KEYS}
        self.environ = {name: value for name, value in os.environ.items() if name not in ours} | {
            "TURNLEAF_DATA_DIR": str(folder),
            "TURNLEAF_MODEL": "openai:gpt",
            "TURNLEAF_MODEL_URL": model.url,
            "OPENAI_API_KEY": "nobodys",
            "MEMORY_AUTO_EXTRACT": "off",
            "EMBEDDINGS": "off",
            "SLACK_API_URL": slack.url,
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_ALLOWED_USERS": "U01",
        }
        self.model = model
        self.slack = slack

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run a program until the end, and no longer than anything is waited for."""
        command = [self.python, "-m", "turnleaf", *arguments]
        with subprocess.Popen(
            command,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            guard = threading.Timer(3 * SECONDS, process.kill)
            guard.start()
            try:
                yield process
            finally:
                guard.cancel()
                process.kill()

    def read_memory(self) -> str:
        """Return the memory in the newest prompt: its system message."""
        system = self.model.requests[-1].body["messages"][0]
        assert system["role"] in {"system", "developer"}
        return json.dumps(system, ensure_ascii=False)

    # Each interface.

    @contextmanager
    def in_slack(self) -> Iterator[Callable[[str], None]]:
        with self.running("slack") as process:
            read_until(process.stdout, LAST_LINE)

            def talk(text: str) -> None:
                self.model.answer("好。")
                ts = self.slack.direct(text)
                self.slack.wait_for(lambda: self.slack.list_texts(ts))

            yield talk

    @contextmanager
    def in_chat(self) -> Iterator[Callable[[str], None]]:
        with self.running("chat") as process:

            def talk(text: str) -> None:
                self.model.answer("好，就這樣。")
                assert process.stdin is not None
                process.stdin.write(f"{text}\n")
                process.stdin.flush()
                read_until(process.stdout, "好，就這樣。")

            yield talk

    @contextmanager
    def in_server(self) -> Iterator[str]:
        with self.running("serve", "--port", "0") as process:
            said = read_until(process.stdout, LAST_LINE)
            yield next(word for word in said.split() if word.startswith("http://"))

    @contextmanager
    def in_mcp(self) -> Iterator[Ask]:
        command = ["-m", "turnleaf", "mcp"]
        server = StdioServerParameters(command=self.python, args=command, env=self.environ, cwd="/")
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(server)) as client,
        ):

            def read() -> str:
                result: Any = portal.call(client.call_tool, "read_memory", {})
                return str(result.structured_content["content"])

            yield read

    def by_the_clock(self, address: str) -> Ask:
        """Run a schedule in the server, which is another program than the one that adds it."""
        add = [self.python, "-m", "turnleaf", "schedule", "add", QUESTION, "--when", "@yearly"]
        subprocess.run(add, env=self.environ, check=True, capture_output=True)
        [schedule] = get(f"{address}api/schedules")["schedules"]
        own = f"{address}api/schedules/{schedule['id']}"

        def run() -> str:
            self.model.answer("好。")
            before = len(states(own))
            assert httpx2.post(f"{own}/run", timeout=SECONDS).status_code == 202
            wait_until(lambda: states(own)[: -before or None] == ["done"])
            return self.read_memory()

        return run


def read_until(output: IO[str] | None, wanted: str) -> str:
    """Read a program's output line by line, up to the one with these words."""
    assert output is not None
    said = ""
    while wanted not in said:
        line = output.readline()
        assert line, f"it ended after saying {said!r}"
        said += line
    return said


def get(address: str) -> dict[str, Any]:
    answer: dict[str, Any] = httpx2.get(address, timeout=SECONDS).raise_for_status().json()
    return answer


def states(schedule: str) -> list[str]:
    """Return the states of a schedule's runs, newest first."""
    return [run["state"] for run in get(schedule)["runs"]]


def wait_until(look: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(SECONDS / 0.1)):
        if look():
            return
        pause.wait(0.1)
    message = "it never came"
    raise AssertionError(message)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    with ChatApi() as model, SlackApi() as slack:
        yield Programs(tmp_path / "data", model, slack)


@pytest.mark.scenario("001.goal-shared-by-all-interfaces")
def test_a_fact_saved_in_slack_is_known_everywhere_and_forgotten_once_it_is_forgotten_everywhere(
    programs: Programs,
) -> None:
    with ExitStack() as stack:
        slack = stack.enter_context(programs.in_slack())
        chat = stack.enter_context(programs.in_chat())
        address = stack.enter_context(programs.in_server())
        mcp = stack.enter_context(programs.in_mcp())
        browser = stack.enter_context(chromium())
        visit = stack.enter_context(visiting(browser, address))
        page = visit.open()

        def make_ask(talk: Callable[[str], object]) -> Ask:
            def ask() -> str:
                talk(QUESTION)
                return programs.read_memory()

            return ask

        def in_page(text: str) -> None:
            programs.model.answer("好。")
            say(page, text)

        interfaces: dict[str, Ask] = {
            "slack": make_ask(slack),
            "chat": make_ask(chat),
            "page": make_ask(in_page),
            "schedule": programs.by_the_clock(address),
            "mcp": mcp,
        }
        slack(f"記住{LAMP}")
        assert {name for name, ask in interfaces.items() if LAMP not in ask()} == set()
        chat(f"忘掉{LAMP}")
        assert {name for name, ask in interfaces.items() if LAMP in ask()} == set()
        expect(page.get_by_role("alert")).to_have_count(0)
