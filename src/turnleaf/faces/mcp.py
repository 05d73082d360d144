"""The tools over MCP, on standard input and output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from turnleaf import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import ServerRequestContext

    from turnleaf.core.dialogue import Toolbox, ToolSpec

NAME = "turnleaf"
INSTRUCTIONS = (
    "The user's long-term memory and daily log. Search it before you answer what may have come up "
    "before; save what will still matter in a later conversation."
)
READ_ONLY = {"read_memory", "search_memory"}


def serve(tools: Toolbox) -> None:
    """Serve until the client goes away."""
    anyio.run(_serve, tools)


async def _serve(tools: Toolbox) -> None:
    server = make_server(tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_server(tools: Toolbox) -> Server[Any]:
    """Offer the table's tools; each call runs on a thread of its own."""

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(spec) for spec in tools.specs])

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments: Mapping[str, Any] = params.arguments or {}
        result = await anyio.to_thread.run_sync(tools.call, params.name, arguments)
        return _result(result)

    return Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=dict(spec.parameters),
        annotations=types.ToolAnnotations(
            read_only_hint=spec.name in READ_ONLY, open_world_hint=False
        ),
    )


def _result(text: str) -> types.CallToolResult:
    result = json.loads(text)
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=result,
        is_error=not result["success"],
    )
