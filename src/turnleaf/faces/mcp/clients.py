"""What a client has to be told so that it finds the memory, in the form that each one takes."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NAME = "turnleaf"
PATH = "mcp"
TOKEN_VARIABLE = "TURNLEAF_HTTP_TOKEN"  # noqa: S105 - the name of it
TOKEN_INPUT = "turnleaf-token"  # noqa: S105
_ADDRESS = re.compile(
    r"(?P<server>https?://(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?P<path>/[^?#\s\"]*)?(?:[?#].*)?",
    re.IGNORECASE,
)
LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Address:
    """A server over HTTP, and whether it asks for its token."""

    url: str
    needs_token: bool


@dataclass(frozen=True, slots=True)
class Client:
    """A program that speaks MCP: where its settings go, and what they look like."""

    place: str
    by_command: Callable[[Sequence[str]], str]
    by_address: Callable[[Address], str] | None


def address_of(text: str, *, has_token: bool = False) -> Address:
    """Read the address of a server, as it was printed or with the path of MCP.

    One that has a token may ask for it on this machine, too: that depends on how it was started.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or int(found["port"] or 1) not in range(1, LARGEST_PORT + 1):
        message = f"{text!r:.80} is no address of a server; write it as http://127.0.0.1:8793"
        raise InvalidInput(message)
    path = (found["path"] or "").rstrip("/").removesuffix(f"/{PATH}")
    host = found["host"].lower().strip("[]")
    needs_token = has_token or not _is_local(host)
    return Address(f"{found['server'].lower()}{path}/{PATH}", needs_token)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _claude_command(command: Sequence[str]) -> str:
    return _claude({"type": "stdio", **_started(command)})


def _claude_address(server: Address) -> str:
    headers = _headers(server, f"${{{TOKEN_VARIABLE}}}")
    return _claude({"type": "http", "url": server.url, **headers})


def _claude(server: Mapping[str, Any]) -> str:
    """Give the command that adds a server whose tools are there from the first turn on."""
    told = json.dumps({**server, "alwaysLoad": True}, ensure_ascii=False)
    return shlex.join(["claude", "mcp", "add-json", "--scope", "user", NAME, told])


def _desktop_command(command: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: _started(command)}})


def _codex_command(command: Sequence[str]) -> str:
    program, *arguments = map(_quoted, command)
    return f"[mcp_servers.{NAME}]\ncommand = {program}\nargs = [{', '.join(arguments)}]"


def _codex_address(server: Address) -> str:
    token = f"\nbearer_token_env_var = {_quoted(TOKEN_VARIABLE)}" if server.needs_token else ""
    return f"[mcp_servers.{NAME}]\nurl = {_quoted(server.url)}{token}"


def _cursor_command(command: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: {"type": "stdio", **_started(command)}}})


def _cursor_address(server: Address) -> str:
    headers = _headers(server, f"${{env:{TOKEN_VARIABLE}}}")
    return _json({"mcpServers": {NAME: {"url": server.url, **headers}}})


def _vscode_command(command: Sequence[str]) -> str:
    return _json({"servers": {NAME: {"type": "stdio", **_started(command)}}})


def _vscode_address(server: Address) -> str:
    asked = {
        "type": "promptString",
        "id": TOKEN_INPUT,
        "description": "Turnleaf's token",
        "password": True,
    }
    headers = _headers(server, f"${{input:{TOKEN_INPUT}}}")
    servers = {NAME: {"type": "http", "url": server.url, **headers}}
    return _json({**({"inputs": [asked]} if server.needs_token else {}), "servers": servers})


def _started(command: Sequence[str]) -> dict[str, Any]:
    program, *arguments = command
    return {"command": program, "args": arguments}


def _headers(server: Address, token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}} if server.needs_token else {}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _quoted(text: str) -> str:
    """Write a text as TOML and JSON both do."""
    return json.dumps(text, ensure_ascii=False)


CLIENTS = {
    "claude": Client("run this", _claude_command, _claude_address),
    "claude-desktop": Client(
        "this goes into claude_desktop_config.json (Settings, Developer, Edit Config)",
        _desktop_command,
        None,
    ),
    "codex": Client("this goes into ~/.codex/config.toml", _codex_command, _codex_address),
    "cursor": Client("this goes into ~/.cursor/mcp.json", _cursor_command, _cursor_address),
    "vscode": Client("this goes into .vscode/mcp.json", _vscode_command, _vscode_address),
}
