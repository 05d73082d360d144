"""The tools over MCP: real server processes, asked by the official client."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import TextResourceContents

from tests.effort import LONG
from tests.faces.forking import fork_python, make_program
from turnleaf import DailyLog, MemoryStore, ScheduleStore
from turnleaf.store.contracts import Stores
from turnleaf.store.files import atomic
from turnleaf.tools import list_specs, make_stdio_command

pytestmark = pytest.mark.usefixtures("at_noon")

MEMORY = "prompts/memory/MEMORY.md"
SECONDS = 60
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def make_parameters(folder: Path, *options: str, is_new: bool = False) -> StdioServerParameters:
    """Describe a server that is forked, or has a new interpreter if its start matters."""
    python, *arguments = make_stdio_command(Stores.open(folder))
    command = python if is_new else make_program(folder)
    return StdioServerParameters(
        command=command, args=[*arguments, *options], env={"EMBEDDINGS": "off"}, cwd=folder
    )


@dataclass(frozen=True)
class ConnectedClient:
    """A client that is connected, asked from a test that does not wait by itself."""

    folder: Path
    client: Client
    portal: BlockingPortal

    @property
    def memory(self) -> MemoryStore:
        return MemoryStore(self.folder / MEMORY)

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, name: str, /, **arguments: object) -> dict[str, Any]:
        result = self.portal.call(self.client.call_tool, name, arguments)
        record: dict[str, Any] = result.structured_content
        assert [json.loads(part.text) for part in result.content if part.type == "text"] == [record]
        assert result.is_error is not record["success"]
        return record

    def read(self, uri: str) -> str:
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        assert (content.uri, content.mime_type) == (uri, "text/markdown")
        assert isinstance(content, TextResourceContents)
        return content.text


@contextmanager
def talking(folder: Path, *options: str, is_new: bool = False) -> Iterator[ConnectedClient]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(
            Client(make_parameters(folder, *options, is_new=is_new))
        ) as client,
    ):
        yield ConnectedClient(folder, client, portal)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectedClient]:
    """One server for all tests that leave no fact behind, in a folder with modules of its own."""
    folder = tmp_path_factory.mktemp("talk")
    for name in ("json", "click", "turnleaf"):
        (folder / f"{name}.py").write_text("raise SystemExit('this is another one')\n", "utf-8")
    with talking(folder, "--conversation", "slack:1.5", is_new=True) as talk:
        yield talk


def test_it_starts_in_a_folder_whose_files_are_named_like_its_modules(
    talk: ConnectedClient,
) -> None:
    assert "this is another one" in (talk.folder / "json.py").read_text("utf-8")
    assert talk.call("read_memory")["success"]


def test_it_offers_the_whole_table(talk: ConnectedClient) -> None:
    assert [(tool.name, tool.description) for tool in talk.tools().values()] == [
        (spec.name, spec.description) for spec in list_specs()
    ]


def test_what_each_tool_does_to_the_memory_is_told(talk: ConnectedClient) -> None:
    hints = {name: tool.annotations for name, tool in talk.tools().items()}
    reading = {name for name, hint in hints.items() if hint.read_only_hint}
    assert reading == {"read_memory", "search_memory"}
    destroying = {name for name, hint in hints.items() if hint.destructive_hint}
    assert destroying == {"manage_memory", "manage_schedule"}
    adding = {name for name, hint in hints.items() if hint.idempotent_hint is False}
    assert adding == {"append_daily_log", "manage_schedule"}
    assert {name for name, hint in hints.items() if hint.open_world_hint} == {"manage_schedule"}


@pytest.mark.scenario("001.decision-6-mcp")
def test_manage_memory_works_on_the_store_without_home_assistant(talk: ConnectedClient) -> None:
    saved = talk.call("manage_memory", action="save", content="客廳的燈叫做小明")
    assert [(one.id, one.content) for one in talk.memory.get_all()] == [
        (saved["id"], "客廳的燈叫做小明")
    ]
    assert talk.call("manage_memory", action="delete", id=saved["id"])["success"]
    assert talk.memory.get_all() == []


def test_each_tool_answers_as_its_schema_says(talk: ConnectedClient) -> None:
    schemas = {name: tool.output_schema for name, tool in talk.tools().items()}

    def call_tool(name: str, /, **arguments: object) -> dict[str, Any]:
        # Of what succeeds the client sees to it; of what fails it does not.
        result = talk.call(name, **arguments)
        jsonschema.validate(result, schemas[name])
        return result

    saved = call_tool("append_memory", fact="我住在台北", category="家")
    assert "already" in call_tool("append_memory", fact="我住在台北")["note"]
    assert call_tool("append_daily_log", entry="換了燈泡")["saved"] == "換了燈泡"
    assert "我住在台北" in call_tool("read_memory")["content"]
    assert [one["text"] for one in call_tool("search_memory", query="台北")["results"]] == [
        "我住在台北"
    ]
    assert len(call_tool("search_memory", query="燈泡")["results"]) == 1
    assert [one["id"] for one in call_tool("manage_memory", action="list")["memories"]] == [
        saved["id"]
    ]
    assert call_tool("manage_memory", action="search", search="台北")["memories"]
    assert call_tool("manage_memory", action="update", id=saved["id"], content="我住在高雄")[
        "success"
    ]
    assert call_tool("manage_memory", action="delete", id=saved["id"])["deleted"]
    for name, wrong in (
        ("read_memory", {"x": "y"}),
        ("append_memory", {}),
        ("search_memory", {"query": 7}),
        ("append_daily_log", {"entry": ""}),
        ("manage_memory", {"action": "delete", "id": "nobody"}),
        ("manage_schedule", {"action": "add", "prompt": "x", "timing": "later"}),
    ):
        assert call_tool(name, **wrong)["success"] is False
    source = talk.memory.changes()[-1].source
    assert source is not None
    assert source.conversation == "slack:1.5"


def test_manage_schedule_adds_changes_and_removes(talk: ConnectedClient) -> None:
    def manage(action: str, /, **arguments: object) -> dict[str, Any]:
        return talk.call("manage_schedule", action=action, **arguments)

    made = manage("add", prompt="今天有什麼事？", timing="0 9 * * 1-5", timezone="Asia/Taipei")
    store = ScheduleStore(talk.folder / "schedules.json")
    assert [(one.id, one.prompt) for one in store.get_all()] == [(made["id"], "今天有什麼事？")]
    store.begin(made["id"])
    assert manage("runs", id=made["id"])["runs"][0]["state"] == "running"
    assert manage("pause", id=made["id"])["paused"] is True
    assert manage("resume", id=made["id"])["paused"] is False
    assert manage("update", id=made["id"], name="早報")["name"] == "早報"
    assert [one["name"] for one in manage("list")["schedules"]] == ["早報"]
    assert manage("remove", id=made["id"])["removed"] is True
    assert store.get_all() == []


def test_the_memory_and_the_days_can_be_read_by_their_addresses(talk: ConnectedClient) -> None:
    fact = talk.memory.add("客廳的燈叫做小明", "家")
    daily = DailyLog(
        talk.folder / "prompts/memory/daily", now=lambda: datetime(2026, 1, 2).astimezone()
    )
    daily.append("種了樹")
    assert "## 家\n\n- 客廳的燈叫做小明 [" in talk.read("memory://main")
    assert "種了樹" in talk.read("memory://daily/2026-01-02")
    today = datetime.now().astimezone().date()
    listed = [one.uri for one in talk.portal.call(talk.client.list_resources).resources]
    assert listed == ["memory://main", f"memory://daily/{today}", "memory://daily/2026-01-02"]
    (template,) = talk.portal.call(talk.client.list_resource_templates).resource_templates
    assert template.uri_template == "memory://daily/{date}"
    talk.memory.delete(fact.id)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("memory://daily/2020-02-30", "'2020-02-30' is not a date; write it as 2026-11-15"),
        ("memory://daily/2020-01-01", "there is no note for 2020-01-01"),
        ("memory://daily/../MEMORY", "'../MEMORY' is not a date"),
        ("memory://daily/%2e%2e%2fMEMORY", "is not a date"),
        ("memory://daily/今天", "'今天' is not a date"),
        ("memory://daily/", "'' is not a date"),
        ("memory://main/..", "there is no resource 'memory://main/..'; read memory://main"),
        ("file:///etc/passwd", "there is no resource 'file:///etc/passwd'"),
    ],
)
def test_an_address_with_nothing_at_it_is_told(talk: ConnectedClient, uri: str, said: str) -> None:
    with pytest.raises(MCPError, match=said.replace("(", r"\(")):
        talk.read(uri)


def test_what_failed_is_an_error_to_the_client(talk: ConnectedClient) -> None:
    assert talk.call("manage_memory", action="delete", id="nobody") == {
        "success": False,
        "error": "no fact has the id 'nobody'; list gives the ids",
    }
    assert talk.call("no_such_tool")["success"] is False


def test_a_fact_added_elsewhere_is_seen_by_a_running_server(talk: ConnectedClient) -> None:
    assert "小安" not in talk.call("read_memory")["content"]
    fact = talk.memory.add("我女兒叫小安")
    found = talk.call("search_memory", query="小安")["results"]
    assert [one["text"] for one in found] == ["我女兒叫小安"]
    talk.memory.delete(fact.id)


def test_beside_a_document_what_is_saved_waits(tmp_path: Path) -> None:
    with talking(tmp_path, "--document", "page.html") as talk:
        assert talk.call("append_memory", fact="My bank is Evil Bank")["success"]
        assert not talk.call(
            "manage_schedule", action="add", prompt="Pay Evil Bank", timing="@daily"
        )["success"]
        assert talk.memory.get_all() == []


EACH = 20 if LONG else 5
WRITING = """
from turnleaf import Assistant
with Assistant({folder!r}) as assistant:
    for number in range({each}):
        assistant.reply("cli:session-1", f"記住我的第{{number}}本書叫做書{{number}}")
        assistant.conversations.clear("cli:session-1")
"""


def test_two_servers_and_a_chat_that_write_at_once_lose_nothing(
    talk: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write(client: Client, who: str) -> None:
        async with anyio.create_task_group() as group:
            for number in range(EACH):
                fact = {"fact": f"{who}的第{number}把鑰匙在抽屜{number}"}
                group.start_soon(client.call_tool, "append_memory", fact)

    async def chat() -> None:
        code = WRITING.format(folder=str(talk.folder), each=EACH)
        running = fork_python(code, range(3), os.environ)
        assert await anyio.to_thread.run_sync(running.wait, SECONDS) == 0

    async def all_at_once() -> None:
        async with (
            Client(make_parameters(talk.folder)) as other,
            anyio.create_task_group() as group,
        ):
            group.start_soon(chat)
            group.start_soon(write, talk.client, "小明")
            group.start_soon(write, other, "小華")

    monkeypatch.setenv("EMBEDDINGS", "off")
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    talk.portal.call(all_at_once)
    facts = talk.memory.get_all()
    for who in ("小明的", "小華的", "我的"):
        assert sum(fact.content.startswith(who) for fact in facts) == EACH
    assert len({fact.content for fact in facts}) == 3 * EACH
    for fact in facts:
        talk.memory.delete(fact.id)


# A client that disappears.

LEAVING = """
import json, subprocess, sys
requests, command = json.loads(sys.argv[1]), sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for request in requests:
    server.stdin.write(json.dumps(request).encode() + b"\\n")
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
server.wait()
"""


def make_call(number: int, name: str, **arguments: str) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_a_client_that_disappears_in_the_middle_of_a_call_leaves_the_memory_whole(
    tmp_path: Path,
) -> None:
    memory = MemoryStore(tmp_path / MEMORY)
    memory.add("我住在台北")
    requests = [INITIALIZE, INITIALIZED, make_call(2, "append_memory", fact="客廳的燈叫做小明")]
    command = [
        sys.executable,
        "-c",
        LEAVING,
        json.dumps(requests),
        make_program(tmp_path),
        *make_stdio_command(Stores.open(tmp_path))[1:],
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        # Whoever writes has to wait, so that the call is under way when the client goes.
        with atomic.lock(memory.location):
            assert client.stdout is not None
            server = os.pidfd_open(int(client.stdout.readline()))
            client.kill()
            client.wait(SECONDS)
        ended, _, _ = select.select([server], [], [], SECONDS)
        os.close(server)
    assert ended
    contents = [one.content for one in memory.get_all()]
    assert contents in (["我住在台北"], ["我住在台北", "客廳的燈叫做小明"])
    memory.add("我女兒叫小安")
    assert len(memory.get_all()) == len(contents) + 1


# Standard output.

NOISY = """
import logging, os, sys, warnings
from turnleaf.faces.cli import main

def noisy(event, arguments):
    if event == "open" and str(arguments[0]).endswith("MEMORY.md"):
        print("a library prints")
        os.write(1, b"and one in C\\n")
        warnings.warn("a warning")
        logging.getLogger("some.library").error("a library logs")
        os.write(1, sys.stdin.read().encode())

sys.addaudithook(noisy)
sys.exit(main(["--data-dir", sys.argv[1], "mcp"]))
"""


def test_only_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    (tmp_path / "prompts/memory").mkdir(parents=True)
    (tmp_path / "prompts/memory/changes.jsonl").write_text("damaged\n", "utf-8")
    half = {"fact": "小明\ud83d和\\ud83d\U0001f4a1"}
    requests = [
        INITIALIZE, INITIALIZED, make_call(2, "append_memory", **half), make_call(3, "read_memory"),
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", NOISY, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        guard = threading.Timer(SECONDS, server.kill)
        guard.start()
        wrong = [f'{{"jsonrpc": "2.0", "id": {one}, "method": "ping"}}' for one in ("null", "1.5")]
        lines = [*wrong, *map(json.dumps, requests), "", "garbage", '{"method": 7}', *wrong]
        server.stdin.write("".join(f"{line}\n" for line in lines))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(9)]
        server.stdin.close()
        assert server.stdout.read() == ""
        said = server.stderr.read()
        guard.cancel()
    refused = sorted(answer["error"]["code"] for answer in answers if answer["id"] is None)
    assert refused == [-32700, *[-32600] * 5]
    done = {answer["id"]: answer["result"] for answer in answers if answer["id"]}
    assert done.keys() == {1, 2, 3}
    assert done[2]["structuredContent"]["content"] == "小明\ufffd和\\ud83d\U0001f4a1"
    assert said.count("a line that is not a valid MCP message") == 6
    for noise in ("a library prints", "and one in C", "a warning", "a library logs", "warning: /"):
        assert noise in said
    assert server.returncode == 0
