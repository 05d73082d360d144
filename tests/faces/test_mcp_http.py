"""MCP at `/mcp`: a real server, with the same guard as everything else on it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faces.http.conftest import (
    DEADLINE_SECONDS,
    RunningServer,
    calling,
    make_data_folder,
    serving,
)
from tests.page.proxying import PREFIX, run_proxy
from turnleaf import Assistant
from turnleaf.faces.cli import main
from turnleaf.faces.http.request_reading import MB
from turnleaf.settings import CONFIG_NAME, DataFolder

TOKEN = "t" * 40
FACT = "客廳的燈叫做小明"


def message(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def tool(name: str, **arguments: str) -> dict[str, object]:
    return message("tools/call", name=name, arguments=arguments)


@contextmanager
def run_server(home: Path, token: str | None = None) -> Iterator[RunningServer]:
    with make_data_folder(home) as folder:
        assistant = Assistant(DataFolder(folder, "a test"))
        with serving(assistant, token=token) as url:
            yield RunningServer(url, folder, assistant)
        assistant.close(flush=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[httpx2.Client]:
    with calling(server) as client:
        yield client


def read_result(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def expect_problem(answer: httpx2.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    return problem


def test_a_tool_works_on_the_memory_that_the_server_has(
    server: RunningServer, client: httpx2.Client
) -> None:
    saved = read_result(client.post("/mcp", json=tool("append_memory", fact=FACT)))[
        "structuredContent"
    ]
    assert [one.id for one in server.assistant.memory.get_all()] == [saved["id"]]
    assert FACT in client.get("/api/memory/main").text
    gone = read_result(
        client.post("/mcp", json=tool("manage_memory", action="delete", id=saved["id"]))
    )
    assert gone["isError"] is False
    assert server.assistant.memory.get_all() == []


def test_a_client_of_a_server_that_has_ended_is_answered_by_the_next(client: httpx2.Client) -> None:
    known = {"Mcp-Session-Id": "of-another-server", "MCP-Protocol-Version": "2025-06-18"}
    assert read_result(client.post("/mcp", json=message("tools/list"), headers=known))["tools"]


def test_a_setting_that_somebody_changed_holds_in_the_next_call(
    server: RunningServer, client: httpx2.Client
) -> None:
    path = server.folder / CONFIG_NAME
    before = path.read_text("utf-8")
    path.write_text(json.dumps({**json.loads(before), "memoryMaxItems": 1}), "utf-8")
    facts = [tool("append_memory", fact=fact) for fact in (FACT, "我住在台北")]
    assert [read_result(client.post("/mcp", json=one))["isError"] for one in facts] == [False, True]
    path.write_text(before, "utf-8")
    (fact,) = server.assistant.memory.get_all()
    server.assistant.memory.delete(fact.id)


def test_there_are_no_streams_and_no_sessions_to_end(client: httpx2.Client) -> None:
    for method in ("GET", "DELETE"):
        answer = client.request(method, "/mcp", headers={"Accept": "text/event-stream"})
        expect_problem(answer, 405)
        assert answer.headers["allow"] == "POST"


def test_it_is_no_part_of_the_contract_of_the_api(client: httpx2.Client) -> None:
    assert not [path for path in client.get("/openapi.json").json()["paths"] if "mcp" in path]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_what_may_not_ask_the_server_may_not_ask_here(
    server: RunningServer, client: httpx2.Client, headers: dict[str, str], status: int
) -> None:
    expect_problem(
        client.post("/mcp", json=tool("append_memory", fact=FACT), headers=headers), status
    )
    assert server.assistant.memory.get_all() == []


def test_a_message_may_be_as_long_as_any_other_request(
    server: RunningServer, client: httpx2.Client
) -> None:
    expect_problem(client.post("/mcp", json=tool("append_memory", fact="燈" * 4 * MB)), 413)
    assert server.assistant.memory.get_all() == []


@pytest.mark.parametrize(
    ("body", "status"), [(b"nonsense", 400), (b"[]", 400), (b"\xff", 400), (b"", 400)]
)
def test_what_is_no_message_is_an_error_of_the_protocol(
    client: httpx2.Client, body: bytes, status: int
) -> None:
    answer = client.post("/mcp", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert answer.json()["error"]["code"] in {-32700, -32600, -32602}


@pytest.mark.parametrize("wrong", ["null", "1.5", "1.0", "true", "[1]", "{}", "1e400"])
def test_a_request_whose_id_is_neither_text_nor_a_whole_number_is_an_error_of_the_protocol(
    client: httpx2.Client, wrong: str
) -> None:
    body = json.dumps(message("tools/list")).replace('"id": 1', f'"id": {wrong}')
    answer = client.post("/mcp", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["id"] is None
    assert answer.json()["error"]["code"] == -32600
    assert read_result(client.post("/mcp", json=message("tools/list")))["tools"]


def test_half_a_character_does_not_keep_a_fact_from_being_saved(
    server: RunningServer, client: httpx2.Client
) -> None:
    body = json.dumps(tool("append_memory", fact="小明\ud83d和\U0001f4a1"))
    answer = client.post("/mcp", content=body, headers={"Content-Type": "application/json"})
    saved = read_result(answer)["structuredContent"]
    assert saved["content"] == "小明\ufffd和\U0001f4a1"
    server.assistant.memory.delete(saved["id"])


def test_it_is_reached_below_a_prefix(server: RunningServer) -> None:
    with run_proxy(int(server.url.rpartition(":")[2])) as proxy:
        url = f"http://127.0.0.1:{proxy.server_port}{PREFIX}/mcp"
        host = {"Host": server.url.removeprefix("http://")}
        with calling(server) as client:
            assert read_result(client.post(url, json=message("tools/list"), headers=host))["tools"]


def test_with_a_token_nobody_asks_without_it(tmp_path: Path) -> None:
    with run_server(tmp_path, TOKEN) as server, calling(server) as client:
        answer = client.post("/mcp", json=tool("append_memory", fact=FACT))
        expect_problem(answer, 401)
        assert server.assistant.memory.get_all() == []
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert read_result(client.post("/mcp", json=message("tools/list"), headers=right))["tools"]


def test_a_client_that_hangs_up_in_a_call_does_not_keep_the_server_from_ending(
    tmp_path: Path,
) -> None:
    with run_server(tmp_path) as server:
        port = int(server.url.rpartition(":")[2])
        body = json.dumps(tool("append_memory", fact=FACT)).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Accept: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with closing(socket.create_connection(("127.0.0.1", port), DEADLINE_SECONDS)) as line:
            line.sendall(head.encode() + body)
    assert len(server.assistant.memory.get_all()) <= 1


WITHOUT = """
import sys
sys.modules["mcp"] = None
from pathlib import Path
from tests.faces.test_mcp_http import without_the_package
without_the_package(Path(sys.argv[1]))
"""


def without_the_package(home: Path) -> None:
    with run_server(home) as server, calling(server) as client:
        problem = expect_problem(client.post("/mcp", json=message("tools/list")), 501)
        assert client.get("/healthz").status_code == 200
    sys.stdout.write(f"{problem['detail']}\n")
    assert main(["--data-dir", str(home), "mcp"]) == 1
    config = ["--data-dir", str(home), "mcp", "config", "--client", "codex"]
    assert main(config) == 1
    assert main([*config, "--http"]) == 0


def test_without_the_package_it_is_said_which_one_is_missing_and_the_rest_works(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = "the package mcp is missing; run pip install 'turnleaf[mcp]'"
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{said}\n[mcp_servers.turnleaf]\n")
    assert done.stderr.count(f"error: {said}\n") == 2
