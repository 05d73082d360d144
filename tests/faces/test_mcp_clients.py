"""Real clients of MCP: the official SDK, the official inspector and the `claude` program.

They ask a real `turnleaf serve` that wants its token, and `turnleaf mcp`, over one data folder.
"""

from __future__ import annotations

import json
import os
import shlex
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextResourceContents

from tests.standins.messages_api import MessagesApi, tool
from turnleaf import DailyLog, MemoryStore, ScheduleStore
from turnleaf.faces.cli.mcp import CLIENTS, read_address
from turnleaf.store.contracts import Stores
from turnleaf.tools import list_specs, make_stdio_command

PROGRAMS = Path(__file__).parents[2] / ".venv"
CLAUDE = PROGRAMS / "claude/node_modules/.bin/claude"
INSPECTOR = PROGRAMS / "mcp-inspector/node_modules/.bin/mcp-inspector"
SECONDS = 120


@dataclass(frozen=True)
class ServedFolder:
    """A data folder that is served, and an environment with nothing of the machine's in it."""

    folder: Path
    url: str
    environ: dict[str, str]

    @property
    def token(self) -> str:
        return self.environ["TURNLEAF_HTTP_TOKEN"]

    @property
    def memory(self) -> MemoryStore:
        return MemoryStore(self.folder / "prompts/memory/MEMORY.md")

    def run(self, *command: str, stdin: str = "", **environ: str) -> str:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=self.environ["HOME"],
            env=self.environ | environ,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    home = tmp_path_factory.mktemp("home")
    folder = home / "資料"
    programs = os.pathsep.join([str(CLAUDE.parent), os.environ["PATH"]])
    environ = {"PATH": programs, "HOME": str(home), "EMBEDDINGS": "off", "TURNLEAF_MODEL": "recall"}
    command = [sys.executable, "-m", "turnleaf", "--data-dir", str(folder), "serve"]
    with subprocess.Popen(
        [*command, "--host", "0.0.0.0", "--port", "0"],  # noqa: S104 - so that a token is needed
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().rstrip("/\n").rpartition(":")[2]
        token = (folder / "http-token").read_text("utf-8").strip()
        url = f"http://0.0.0.0:{port}/mcp"
        yield ServedFolder(folder, url, environ | {"TURNLEAF_HTTP_TOKEN": token})
        server.terminate()
        assert server.wait(SECONDS) == 0


def test_the_official_client_uses_each_tool_over_http(place: ServedFolder) -> None:
    async def session() -> None:
        headers = {"Authorization": f"Bearer {place.token}"}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS, verify=context) as http,
            Client(streamable_http_client(place.url, http_client=http)) as client,
        ):
            await talk(client)

    async def talk(client: Client) -> None:
        async def use_tool(name: str, /, **arguments: str) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            assert result.structured_content["success"], result.structured_content
            return dict(result.structured_content)

        assert [tool.name for tool in (await client.list_tools()).tools] == [
            spec.name for spec in list_specs()
        ]
        saved = await use_tool("append_memory", fact="我女兒叫小安")
        assert saved["id"] in [one.id for one in place.memory.get_all()]
        assert "我女兒叫小安" in (await use_tool("read_memory"))["content"]
        found = await use_tool("search_memory", query="小安")
        assert [one["id"] for one in found["results"]] == [saved["id"]]
        await use_tool("append_daily_log", entry="換了燈泡")
        made = await use_tool("manage_schedule", action="add", prompt="早安", timing="@daily")
        assert ScheduleStore(place.folder / "schedules.json").get(made["id"]).prompt == "早安"
        (content,) = (await client.read_resource("memory://main")).contents
        assert isinstance(content, TextResourceContents)
        assert "我女兒叫小安" in content.text
        await use_tool("manage_memory", action="delete", id=saved["id"])

    anyio.run(session)
    assert place.memory.get_all() == []
    assert len(DailyLog(place.folder / "prompts/memory/daily").dates()) == 1


def test_the_official_inspector_lists_calls_and_reads(place: ServedFolder) -> None:
    assert INSPECTOR.exists(), "run scripts/prepare-tests first"

    def inspect(*arguments: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(place.run(str(INSPECTOR), "--cli", *arguments))
        return answer

    token = f"Authorization: Bearer {place.token}"
    http = (place.url, "--transport", "http", "--header", token, "--method")
    listed = inspect(*make_stdio_command(Stores.open(place.folder)), "--method", "tools/list")[
        "tools"
    ]
    assert [one["name"] for one in listed] == [spec.name for spec in list_specs()]
    call = ("--tool-name", "append_memory", "--tool-arg", "fact=臥室的燈叫做小華")
    saved = inspect(*http, "tools/call", *call)["structuredContent"]
    assert saved["success"] is True
    (read,) = inspect(*http, "resources/read", "--uri", "memory://main")["contents"]
    assert "- 臥室的燈叫做小華 [" in read["text"]
    assert place.memory.delete(saved["id"])


def test_claude_has_the_tools_in_its_first_turn_after_the_command_that_is_printed(
    place: ServedFolder,
) -> None:
    assert CLAUDE.exists(), "run scripts/prepare-tests first"
    client = CLIENTS["claude"]
    assert client.by_address is not None
    place.run("sh", "-c", client.by_command(make_stdio_command(Stores.open(place.folder))))
    # The same for a server over HTTP, which has the same name there.
    *_, server = shlex.split(client.by_address(read_address(place.url)))
    over_http = json.dumps({"mcpServers": {"over-http": json.loads(server)}})
    with MessagesApi() as api:
        api.answer(
            tool("mcp__turnleaf__append_memory", {"fact": "客廳的燈叫做小明"}),
            tool("mcp__over-http__append_memory", {"fact": "我住在台北"}),
            tool("mcp__turnleaf__append_daily_log", {"entry": "種了樹"}),
            tool("mcp__over-http__manage_schedule", {"action": "list"}),
        )
        api.answer(
            tool("mcp__over-http__read_memory", {}),
            tool("mcp__turnleaf__search_memory", {"query": "小明"}),
            tool("mcp__turnleaf__manage_memory", {"action": "list"}),
        )
        api.answer("好的。")
        said = place.run(
            *("claude", "--print", "--mcp-config", over_http),
            *("--allowedTools", "mcp__turnleaf", "mcp__over-http"),
            stdin="記住",
            ANTHROPIC_BASE_URL=api.url,
            ANTHROPIC_API_KEY="dummy",
            CLAUDE_CODE_MAX_RETRIES="0",
            MCP_CONNECT_TIMEOUT_MS="60000",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )
        requests = [one.body for one in api.requests]
    assert said == "好的。\n"
    offered = {one["name"] for one in requests[0]["tools"]}
    for server in ("turnleaf", "over-http"):
        assert {f"mcp__{server}__{spec.name}" for spec in list_specs()} <= offered
    results = [result for body in requests[1:] for result in list_tool_results(body)]
    assert [result["success"] for result in results] == [True] * 7
    assert {one.content for one in place.memory.get_all()} == {"客廳的燈叫做小明", "我住在台北"}


def list_tool_results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tool results that the model received."""
    return [json.loads(part["content"]) for part in body["messages"][-1]["content"]]
