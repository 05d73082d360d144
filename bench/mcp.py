"""From the start of `turnleaf mcp` to its answer to `tools/list`, against an empty server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.memory import fill_memory
from bench.scale import Scale
from bench.start import cpu_of_children
from bench.timing import Aim, TimingRow, compare
from turnleaf import Settings
from turnleaf.settings import DataFolder
from turnleaf.store.contracts import Stores
from turnleaf.tools import make_stdio_command

AIM = Aim(cpu=2, wall=2)
FACTS = 100
EMPTY = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("empty", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
CLIENT = {"name": "bench", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
MESSAGES = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure both servers, each restarted for every answer."""
    place = DataFolder(folder / "mcp", "a benchmark")
    fill_memory(place.memory(Settings()), FACTS)
    ours = partial(_ask, make_stdio_command(Stores.open(place)))
    yardstick = partial(_ask, [sys.executable, "-c", EMPTY])
    costs = compare(lambda: [ours], lambda: [yardstick], scale.starts, cpu_of_children)
    yield TimingRow("turnleaf mcp to its list of tools, against an empty server", *costs, AIM)


def _ask(command: Sequence[str]) -> None:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None  # noqa: S101 - they are pipes
        assert server.stdout is not None  # noqa: S101
        server.stdin.writelines(f"{json.dumps(one)}\n" for one in MESSAGES)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.kill()
    if "tools" not in answers[1]["result"]:
        raise ValueError(answers)
