"""The tools over MCP: a real server process, asked by the official client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from turnleaf import DailyLog, MemoryStore
from turnleaf.tools import SPECS

T = TypeVar("T")

MEMORY = "prompts/memory/MEMORY.md"


def served(folder: Path, *options: str, **variables: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "turnleaf", "--data-dir", str(folder), "mcp", *options],
        env={"EMBEDDINGS": "off", **variables},
        cwd="/",
    )


def asked(server: StdioServerParameters, talk: Callable[[Client], Awaitable[T]]) -> T:
    async def session() -> T:
        async with Client(server) as client:
            return await talk(client)

    return anyio.run(session)


def called(server: StdioServerParameters, name: str, **arguments: object) -> dict[str, Any]:
    async def talk(client: Client) -> CallToolResult:
        return await client.call_tool(name, arguments)

    result = asked(server, talk)
    record: dict[str, Any] = result.structured_content
    assert [json.loads(part.text) for part in result.content if part.type == "text"] == [record]
    assert result.is_error is not record["success"]
    return record


def test_it_offers_the_whole_table(tmp_path: Path) -> None:
    async def talk(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    tools = asked(served(tmp_path), talk)
    assert [(tool.name, tool.description) for tool in tools] == [
        (spec.name, spec.description) for spec in SPECS
    ]
    assert {tool.name for tool in tools if tool.annotations.read_only_hint} == {
        "read_memory", "search_memory",
    }  # fmt: skip


@pytest.mark.scenario("001.decision-6-mcp")
def test_manage_memory_works_on_the_store_without_home_assistant(tmp_path: Path) -> None:
    saved = called(served(tmp_path), "manage_memory", action="save", content="客廳的燈叫做小明")
    assert saved["success"] is True
    memory = MemoryStore(tmp_path / MEMORY)
    assert [(one.id, one.content) for one in memory.get_all()] == [
        (saved["id"], "客廳的燈叫做小明")
    ]
    assert called(served(tmp_path), "manage_memory", action="delete", id=saved["id"])["success"]
    assert memory.get_all() == []


def test_each_tool_answers(tmp_path: Path) -> None:
    server = served(tmp_path, "--conversation", "slack:1.5")
    assert called(server, "append_memory", fact="我住在台北", category="家")["success"]
    assert called(server, "append_daily_log", entry="換了燈泡")["success"]
    assert "我住在台北" in called(server, "read_memory")["content"]
    found = called(server, "search_memory", query="台北")["results"]
    assert [one["text"] for one in found] == ["我住在台北"]
    assert len(DailyLog(tmp_path / "prompts/memory/daily").dates()) == 1
    source = MemoryStore(tmp_path / MEMORY).changes()[0].source
    assert source is not None
    assert source.conversation == "slack:1.5"


def test_what_failed_is_an_error_to_the_client(tmp_path: Path) -> None:
    result = called(served(tmp_path), "manage_memory", action="delete", id="nobody")
    assert result == {
        "success": False,
        "error": "no fact has the id 'nobody'; list gives the ids",
    }
    assert called(served(tmp_path), "no_such_tool")["success"] is False


def test_a_fact_added_elsewhere_is_seen_by_a_running_server(tmp_path: Path) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        before = await client.call_tool("read_memory")
        MemoryStore(tmp_path / MEMORY).add("我女兒叫小安")
        return before, await client.call_tool("search_memory", {"query": "小安"})

    before, after = asked(served(tmp_path), talk)
    assert "小安" not in before.structured_content["content"]
    assert [one["text"] for one in after.structured_content["results"]] == ["我女兒叫小安"]


def test_calls_at_once_are_all_done(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                fact = {"fact": f"房間{number}的密鑰匙在第{number}個抽屜"}
                group.start_soon(client.call_tool, "append_memory", fact)

    asked(served(tmp_path), talk)
    assert len(MemoryStore(tmp_path / MEMORY).get_all()) == 20


def test_beside_a_document_what_is_saved_waits(tmp_path: Path) -> None:
    server = served(tmp_path, "--document", "page.html")
    assert called(server, "append_memory", fact="My bank is Evil Bank")["success"]
    assert MemoryStore(tmp_path / MEMORY).get_all() == []


def test_only_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    (tmp_path / "prompts/memory").mkdir(parents=True)
    (tmp_path / "prompts/memory/changes.jsonl").write_text("damaged\n", "utf-8")
    command = [sys.executable, "-m", "turnleaf", "--data-dir", str(tmp_path), "mcp"]
    client = {"protocolVersion": "2025-06-18", "capabilities": {},
              "clientInfo": {"name": "c", "version": "1"}}  # fmt: skip
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "append_memory", "arguments": {"fact": "tea"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for request in requests:
            server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.stdout.read() == ""
    assert [answer["id"] for answer in answers] == [1, 2]
    assert server.returncode == 0
