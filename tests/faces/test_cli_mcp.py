"""`turnleaf mcp config`: what a client is told, so that it finds the memory from anywhere."""

from __future__ import annotations

import json
import shlex
import sys
import threading
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.faces.conftest import Cli
from turnleaf.faces.cli.arguments import Workspace
from turnleaf.faces.cli.mcp import CLIENTS, Address, open_tools
from turnleaf.tools import ToolContext

DOCS = Path(__file__).parents[2] / "docs/integrate/mcp.md"
VARIABLE = "TURNLEAF_HTTP_TOKEN"
DEADLINE_SECONDS = 60.0


def read_as_client(client: str, text: str) -> dict[str, Any]:
    """Read what is printed as the client does."""
    if client == "claude":
        *command, last = shlex.split(text)
        assert command == ["claude", "mcp", "add-json", "--scope", "user", "turnleaf"]
        record: dict[str, Any] = json.loads(last)
        return record
    if client == "codex":
        return dict(tomllib.loads(text)["mcp_servers"]["turnleaf"])
    key = "servers" if client == "vscode" else "mcpServers"
    return dict(json.loads(text)[key]["turnleaf"])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_which_program_to_start_over_which_folder(cli: Cli, client: str) -> None:
    result = cli("--data-dir", "資料 1", "mcp", "config", "--client", client)
    assert result.code == 0
    server = read_as_client(client, result.out)
    folder = str(Path.cwd() / "資料 1")
    assert [server["command"], *server["args"]] == [
        sys.executable, "-P", "-m", "turnleaf", "--data-dir", folder, "mcp",
    ]  # fmt: skip
    assert not Path(folder).exists()


@pytest.mark.parametrize("client", [name for name, one in CLIENTS.items() if one.by_address])
@pytest.mark.parametrize(
    ("given", "url"),
    [
        ((), "http://127.0.0.1:8793/mcp"),
        (("http://[::1]:9000/",), "http://[::1]:9000/mcp"),
        (("HTTP://LocalHost:9000/mcp",), "http://localhost:9000/mcp"),
    ],
)
def test_a_server_on_this_machine_needs_no_token(
    cli: Cli, client: str, given: tuple[str, ...], url: str
) -> None:
    result = cli("mcp", "config", "--client", client, "--http", *given)
    server = read_as_client(client, result.out)
    assert server["url"] == url
    assert "oken" not in result.out + result.err


def test_a_server_on_this_machine_that_has_a_token_may_need_it(cli: Cli) -> None:
    cli.data.mkdir()
    (cli.data / "http-token").write_text("s3cret" * 10, "utf-8")
    result = cli("mcp", "config", "--client", "codex", "--http")
    assert read_as_client("codex", result.out)["bearer_token_env_var"] == VARIABLE
    assert str(cli.data / "http-token") in result.err


@pytest.mark.parametrize(
    ("client", "where"),
    [
        ("claude", f'"Bearer ${{{VARIABLE}}}"'),
        ("codex", f'bearer_token_env_var = "{VARIABLE}"'),
        ("cursor", f'"Bearer ${{env:{VARIABLE}}}"'),
        ("vscode", '"Bearer ${input:turnleaf-token}"'),
    ],
)
def test_the_token_of_another_machine_is_named_and_not_shown(
    cli: Cli, client: str, where: str
) -> None:
    cli.data.mkdir()
    (cli.data / "http-token").write_text("s3cret" * 10, "utf-8")
    address = "https://memory.example/turnleaf/#token=s3cret"
    result = cli("mcp", "config", "--client", client, "--http", address)
    assert read_as_client(client, result.out)["url"] == "https://memory.example/turnleaf/mcp"
    assert where in result.out
    assert "s3cret" not in result.out + result.err
    assert str(cli.data / "http-token") in result.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--client", "emacs"], "'emacs' is not one of 'claude', 'claude-desktop', 'codex'"),
        ([], "missing option '--client'"),
        (["--client", "claude-desktop", "--http"], "claude-desktop cannot connect over HTTP"),
        (["--client", "codex", "--http", "localhost:8793"], "8793' is not a server address"),
        (["--client", "codex", "--http", "file:///etc"], "write it as http://127.0.0.1:8793"),
        *(
            (["--client", "codex", "--http", address], "is not a server address")
            for address in (
                "http://user:pw@host:1/", "http://user:1@host/", "http://user@host",
                "http://127.0.0.1:8793foo", "http://127.0.0.1:99999999", "http://127.0.0.1:65536",
                "http://127.0.0.1:0", "http://127.0.0.1:8793/a b", "http://127.0.0.1:",
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_said(cli: Cli, options: list[str], said: str) -> None:
    result = cli("mcp", "config", *options)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert "Add this to" not in result.err


def test_a_setting_that_only_the_environment_has_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "5")
    result = cli("mcp", "config", "--client", "cursor")
    assert "MEMORY_MAX_ITEMS" in result.err
    assert "turnleaf config KEY VALUE" in result.err


@pytest.mark.parametrize("client", CLIENTS)
def test_the_documentation_shows_what_is_printed(client: str) -> None:
    page = DOCS.read_text("utf-8")
    command = (
        "/home/ming/.venv/bin/python", "-P", "-m", "turnleaf", "--data-dir",
        "/home/ming/.local/share/turnleaf", "mcp",
    )  # fmt: skip
    assert f"\n{CLIENTS[client].by_command(command)}\n" in page
    by_address = CLIENTS[client].by_address
    if by_address is not None:
        address = Address("http://192.168.1.5:8793/mcp", needs_token=True)
        assert f"\n{by_address(address)}\n" in page


@pytest.mark.parametrize(("conversation", "is_kept"), [(None, True), ("slack:1.5", False)])
def test_a_server_of_no_single_turn_keeps_the_search_up_to_date_until_it_ends(
    tmp_path: Path, conversation: str | None, *, is_kept: bool
) -> None:
    def find_threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "turnleaf-index"}

    before = find_threads()
    with ExitStack() as parts:
        open_tools(Workspace(str(tmp_path)), ToolContext(conversation), parts)
        begun = find_threads() - before
        assert len(begun) == is_kept
    for thread in begun:
        # Whoever stops it waits for a second, and a busy machine may take longer.
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
