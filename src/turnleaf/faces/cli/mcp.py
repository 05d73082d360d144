"""`mcp`, and the configuration that MCP clients need to find it."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core.keys import EVERYONE
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, pass_workspace
from turnleaf.faces.cli.output import note, say
from turnleaf.faces.mcp import check_installed, offer
from turnleaf.settings import SETTINGS
from turnleaf.store.index_upkeep import IndexUpkeep
from turnleaf.tools import MemoryTools, ToolContext, make_stdio_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


NAME = "turnleaf"
PATH = "mcp"
USUAL_ADDRESS = "http://127.0.0.1:8793"
TOKEN_VARIABLE = "TURNLEAF_HTTP_TOKEN"  # noqa: S105 - the name of it
TOKEN_INPUT = "turnleaf-token"  # noqa: S105
TOKEN_PROMPT = {
    "type": "promptString",
    "id": TOKEN_INPUT,
    "description": "Turnleaf's token",
    "password": True,
}
_ADDRESS = re.compile(
    r"(?P<server>https?://(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?P<path>/[^?#\s\"]*)?(?:[?#].*)?",
    re.IGNORECASE,
)
LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Address:
    """A server over HTTP, and whether it needs its token."""

    url: str
    needs_token: bool


@dataclass(frozen=True, slots=True)
class McpClient:
    """A program that speaks MCP: where its settings go, and what they look like."""

    place: str
    by_command: Callable[[Sequence[str]], str]
    by_address: Callable[[Address], str] | None


def read_address(text: str, *, has_token: bool = False) -> Address:
    """Parse the address of a server, with or without the path of MCP.

    A local server that has a token may need it too, depending on how it was started.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or int(found["port"] or 1) not in range(1, LARGEST_PORT + 1):
        message = f"{text!r:.80} is not a server address; write it as {USUAL_ADDRESS}"
        raise InvalidInput(message)
    path = (found["path"] or "").rstrip("/").removesuffix(f"/{PATH}")
    needs_token = has_token or not _is_local(found["host"].lower().strip("[]"))
    return Address(f"{found['server'].lower()}{path}/{PATH}", needs_token)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _quote(text: str) -> str:
    """Write a text as TOML and JSON both do."""
    return json.dumps(text, ensure_ascii=False)


def _describe_command(command: Sequence[str], **more: str) -> dict[str, Any]:
    program, *arguments = command
    return {**more, "command": program, "args": arguments}


def _describe_address(server: Address, token: str, **more: str) -> dict[str, Any]:
    headers = {"headers": {"Authorization": f"Bearer ${{{token}}}"}} if server.needs_token else {}
    return {**more, "url": server.url, **headers}


def _write_claude(server: Mapping[str, Any]) -> str:
    """Return the command that adds a server whose tools are there from the first turn on."""
    description = json.dumps({**server, "alwaysLoad": True}, ensure_ascii=False)
    return shlex.join(["claude", "mcp", "add-json", "--scope", "user", NAME, description])


def _write_codex(**values: str) -> str:
    return "\n".join([f"[mcp_servers.{NAME}]", *(f"{key} = {values[key]}" for key in values)])


def _write_codex_command(command: Sequence[str]) -> str:
    program, *arguments = map(_quote, command)
    return _write_codex(command=program, args=f"[{', '.join(arguments)}]")


def _write_codex_address(server: Address) -> str:
    token = {"bearer_token_env_var": _quote(TOKEN_VARIABLE)} if server.needs_token else {}
    return _write_codex(url=_quote(server.url), **token)


def _write_vscode_address(server: Address) -> str:
    inputs = {"inputs": [TOKEN_PROMPT]} if server.needs_token else {}
    described = _describe_address(server, f"input:{TOKEN_INPUT}", type="http")
    return _write_json({**inputs, "servers": {NAME: described}})


CLIENTS = {
    "claude": McpClient(
        "Run this:",
        lambda command: _write_claude(_describe_command(command, type="stdio")),
        lambda server: _write_claude(_describe_address(server, TOKEN_VARIABLE, type="http")),
    ),
    "claude-desktop": McpClient(
        "Add this to claude_desktop_config.json (Settings, Developer, Edit Config):",
        lambda command: _write_json({"mcpServers": {NAME: _describe_command(command)}}),
        None,
    ),
    "codex": McpClient(
        "Add this to ~/.codex/config.toml:", _write_codex_command, _write_codex_address
    ),
    "cursor": McpClient(
        "Add this to ~/.cursor/mcp.json:",
        lambda command: _write_json(
            {"mcpServers": {NAME: _describe_command(command, type="stdio")}}
        ),
        lambda server: _write_json(
            {"mcpServers": {NAME: _describe_address(server, f"env:{TOKEN_VARIABLE}")}}
        ),
    ),
    "vscode": McpClient(
        "Add this to .vscode/mcp.json:",
        lambda command: _write_json({"servers": {NAME: _describe_command(command, type="stdio")}}),
        _write_vscode_address,
    ),
}


@click.group(invoke_without_command=True)
@click.option(
    "--conversation", metavar="KEY", type=TEXT, help=("Conversation that the client works in.")
)
@click.option(
    "--saved", metavar="ID", multiple=True, type=TEXT, help="ID of a fact saved in this turn."
)
@click.option(
    "--document", metavar="NAME", multiple=True, type=TEXT, help="Document attached to this turn."
)
@pass_workspace
@click.pass_context
def mcp(
    ctx: click.Context,
    workspace: Workspace,
    conversation: str | None,
    saved: tuple[str, ...],
    document: tuple[str, ...],
) -> None:
    """Serve the memory over MCP, on standard input and output.

    A client such as Claude Code starts it; turnleaf mcp config prints the client's configuration.
    """
    if ctx.invoked_subcommand is None:
        audience = workspace.conversations.audience(conversation) if conversation else EVERYONE
        turn = ToolContext(conversation, saved, document, audience=audience)
        with ExitStack() as parts:
            offer(partial(open_tools, workspace, turn, parts)).serve_stdio()


@mcp.command()
@click.option("--client", type=click.Choice([*CLIENTS]), required=True, help="Client to configure.")
@click.option(
    "--http",
    metavar="[ADDRESS]",
    is_flag=False,
    flag_value=USUAL_ADDRESS,
    type=TEXT,
    help=f"Connect to a running turnleaf serve (by default {USUAL_ADDRESS}).",
)
@pass_workspace
def config(workspace: Workspace, client: str, http: str | None) -> None:
    """Print the configuration that connects a client to this memory."""
    wanted = CLIENTS[client]
    if http is None:
        check_installed()
        note(wanted.place)
        say(wanted.by_command(make_stdio_command(workspace.stores)))
        _mention_variables(workspace)
        return
    if wanted.by_address is None:
        message = f"{client} cannot connect over HTTP; leave out --http"
        raise InvalidInput(message)
    server = read_address(http, has_token=workspace.folder.token.exists())
    note(wanted.place)
    say(wanted.by_address(server))
    if server.needs_token:
        where = "VS Code asks for it" if client == "vscode" else f"set {TOKEN_VARIABLE} to it"
        token = workspace.folder.token
        note(f"the server needs a token: {where}; the server stores it in {token}")


def _mention_variables(workspace: Workspace) -> None:
    """Write a note about settings in the environment, which the client may not have."""
    sources = workspace.settings.sources
    fixed = [one.variable for one in SETTINGS if sources.get(one.field) == "environment"]
    if fixed:
        note(
            f"{', '.join(fixed)}: set in this environment, which the client may not have;"
            " save settings for all programs with turnleaf config KEY VALUE"
        )


def open_tools(workspace: Workspace, turn: ToolContext, parts: ExitStack) -> MemoryTools:
    """Open the memory's tools, and keep the search up to date until `parts` is closed."""
    index, stores = workspace.index, workspace.stores
    # A server of one conversation is started for each of its turns, and ends with it.
    if turn.conversation is None:
        parts.enter_context(IndexUpkeep(index, stores.announcements))
    return MemoryTools(stores, turn)
