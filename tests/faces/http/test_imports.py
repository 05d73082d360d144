"""A past is sent as a file, counted, imported in the background, and reported."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests import imports as samples
from tests.faces.http.conftest import RunningServer, Serve, calling
from tests.faces.http.listening import Heard, listening
from tests.standins.chat_api import ChatApi
from turnleaf.faces.http.request_reading import RequestLimits

BINARY = {"Content-Type": "application/octet-stream"}
PAST = json.dumps(samples.claude()).encode()
"""One conversation that says what a dog is called."""


@pytest.fixture
def news(server: RunningServer) -> Iterator[Heard]:
    with listening("GET", f"{server.url}/api/events") as heard:
        assert next(heard).name == "hello"
        yield heard


def send(client: httpx2.Client, data: Any, **query: Any) -> dict[str, Any]:  # noqa: ANN401 - parts
    query = {"name": "conversations.json", **query}
    answer = client.post("/api/import", content=data, params=query, headers=BINARY)
    assert answer.status_code == 202, answer.text
    begun: dict[str, Any] = answer.json()
    return begun


def wait_for_state(news: Heard, *states: str) -> None:
    next(told for told in news if told.name == "import" and told.data["state"] in states)


def wait_for_end(news: Heard, client: httpx2.Client, begun: dict[str, Any]) -> dict[str, Any]:
    wait_for_state(news, "done", "failed", "stopped")
    ended: dict[str, Any] = client.get(f"/api/import/{begun['id']}").json()
    return ended


def test_a_file_that_is_sent_becomes_conversations(
    server: RunningServer, client: httpx2.Client, news: Heard
) -> None:
    ended = wait_for_end(news, client, send(client, PAST))
    assert (ended["state"], ended["problem"], ended["size"]) == ("done", None, len(PAST))
    assert ended["imported"]["conversations"] == 1
    assert ended["imported"]["oldest"].startswith("2025-03-01")
    assert {"what": "attachments", "count": 1} in ended["imported"]["leftOut"]
    assert ended["imported"]["toReview"] == len(server.assistant.pending.get_all()) > 0
    assert [one.key for one in server.assistant.conversations.summaries()] == ["import:claude:u1"]
    assert client.get("/api/import").json()["latest"] == ended


def test_a_dry_run_changes_nothing_and_its_file_is_imported_without_sending_it_again(
    server: RunningServer, client: httpx2.Client, news: Heard
) -> None:
    counted = wait_for_end(news, client, send(client, PAST, dryRun=True))
    assert (counted["dryRun"], counted["imported"]["conversations"]) == (True, 1)
    assert server.assistant.conversations.summaries() == []
    assert client.delete(f"/api/import/{counted['id']}").status_code == 204
    assert client.post(f"/api/import/{counted['id']}").status_code == 409
    assert client.get("/api/import").json()["latest"]["state"] == "stopped"
    counted = wait_for_end(news, client, send(client, PAST, dryRun=True))
    assert client.post(f"/api/import/{counted['id']}").status_code == 202
    wait_for_state(news, "running")
    done = wait_for_end(news, client, counted)
    assert (done["dryRun"], done["imported"]["messages"]) == (
        False,
        counted["imported"]["messages"],
    )
    assert len(server.assistant.conversations.summaries()) == 1
    again = client.post(f"/api/import/{counted['id']}")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_facts_that_turnleaf_wrote_are_imported_as_such(
    server: RunningServer, client: httpx2.Client, news: Heard
) -> None:
    page = "# Memory\n\n## 家\n\n- 客廳的燈叫做小明\n".encode()
    ended = wait_for_end(news, client, send(client, page, name="MEMORY.md"))
    assert (ended["state"], ended["imported"]["memories"]) == ("done", 1)
    assert [one.category for one in server.assistant.memory.get_all()] == ["家"]


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "download it again"), ("zh-TW", "請重新下載")]
)
def test_what_cannot_be_read_is_told_in_the_readers_language(
    client: httpx2.Client, news: Heard, language: str, sentence: str
) -> None:
    begun = send(client, b"no archive", name="export.zip")
    wait_for_end(news, client, begun)
    told = client.get(f"/api/import/{begun['id']}", headers={"Accept-Language": language}).json()
    assert told["state"] == "failed"
    assert sentence in told["problem"]


def test_an_import_is_stopped_while_its_file_is_sent(
    client: httpx2.Client, server: RunningServer
) -> None:
    def parts() -> Iterator[bytes]:
        yield b"["
        with calling(server) as other:
            running = None
            while running is None:
                running = other.get("/api/import").json()["latest"]
            assert running["state"] == "receiving"
            busy = other.post("/api/import", content=b"x", params={"name": "a"}, headers=BINARY)
            assert (busy.status_code, busy.json()["code"]) == (409, "conflict")
            assert other.delete(f"/api/import/{running['id']}").status_code == 204
        yield b"]"

    stopped = client.post("/api/import", content=parts(), params={"name": "a"}, headers=BINARY)
    assert stopped.status_code == 409
    assert client.get("/api/import").json()["latest"]["state"] == "stopped"


def test_only_a_file_is_taken_which_no_form_can_send(client: httpx2.Client) -> None:
    refused = client.post("/api/import", content=b"x", params={"name": "a"})
    assert (refused.status_code, refused.json()["code"]) == (415, "wrong-media-type")
    empty = client.post("/api/import", params={"name": "a.json"}, headers=BINARY)
    assert (empty.status_code, empty.json()["detail"]) == (
        422, "a.json is empty; choose another file",
    )  # fmt: skip
    assert client.get("/api/import/none").status_code == 404


def test_a_token_is_needed_as_for_all_that_writes(serve: Serve) -> None:
    server = serve(token="t" * 40)
    with calling(server) as stranger:
        refused = stranger.post(
            "/api/import", content=PAST, params={"name": "a.json"}, headers=BINARY
        )
    assert refused.status_code == 401
    assert server.assistant.conversations.summaries() == []


def test_a_file_that_is_too_large_or_has_no_room_is_refused_before_it_is_read(serve: Serve) -> None:
    server = serve(limits=RequestLimits(upload_bytes=10**18))
    assert "413" in announce(server, 10**18 + 1)
    assert "free bytes" in announce(server, 10**18)


def announce(server: RunningServer, size: int) -> str:
    """Return the answer to the head of an upload of which nothing is sent."""
    address = urlsplit(server.url)
    head = (
        f"POST /api/import?name=a.zip HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Content-Type: application/octet-stream\r\nContent-Length: {size}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(head.encode())
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
            more = line.recv(4096)
            if not more:
                break
            answer += more
    return answer.decode()


def test_a_model_reads_what_was_imported_only_when_it_is_asked_to(
    server: RunningServer, client: httpx2.Client, news: Heard
) -> None:
    without = client.get("/api/import/learning").json()
    assert (without["model"], without["calls"], without["state"]) == (None, 0, "idle")
    refused = client.post("/api/import/learning", json={"maxCalls": 1})
    assert refused.json()["code"] == "invalid"
    wait_for_end(news, client, send(client, PAST))
    with ChatApi() as api:
        api.answer(json.dumps({"facts": []}))
        server.assistant.stores.config.change({"model": "openai:stand-in", "modelUrl": api.url})
        plan = client.get("/api/import/learning").json()
        assert (plan["model"], plan["conversations"], plan["calls"]) == ("openai:stand-in", 1, 1)
        assert plan["tokens"] > 0
        assert client.post("/api/import/learning", json={"maxCalls": 5}).status_code == 202
        done: dict[str, object] = {"state": "running"}
        while done["state"] == "running":
            next(told for told in news if told.name == "reading")
            done = client.get("/api/import/learning").json()
        assert (done["state"], done["made"], done["calls"], done["problem"]) == ("done", 1, 0, None)
    assert client.delete("/api/import/learning").status_code == 204


def test_a_larger_file_than_any_other_body_may_be_arrives_whole(
    client: httpx2.Client, news: Heard
) -> None:
    def parts() -> Iterator[bytes]:
        yield PAST[:-1]
        for _ in range(80):
            yield b" " * 65_536
        yield b"]"

    ended = wait_for_end(news, client, send(client, parts()))
    assert ended["size"] > RequestLimits().body_bytes
    assert ended["imported"]["conversations"] == 1


def test_what_was_sent_has_no_name_that_a_kill_could_leave_behind(
    client: httpx2.Client, news: Heard, data: Path
) -> None:
    wait_for_end(news, client, send(client, b"[" + b" " * 100_000 + PAST[1:], dryRun=True))
    sizes = [path.stat().st_size for path in data.rglob("*") if path.is_file()]
    assert 100_000 not in {size // 1000 * 1000 for size in sizes}
    opened = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
    assert any("(deleted)" in name and str(data) in name for name in opened)
