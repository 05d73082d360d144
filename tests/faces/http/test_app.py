"""Every error is a problem that helps, and the status tells what doctor finds."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest
from fastapi.testclient import TestClient

from tests.faces.http.conftest import RunningServer, calling
from turnleaf.assistant import Assistant
from turnleaf.doctor_report import make_doctor_report
from turnleaf.errors import (
    Conflict,
    CorruptFile,
    EmbeddingError,
    InvalidInput,
    MemoryFull,
    ModelError,
    NotFound,
    SettingsError,
    StorageError,
    TurnleafError,
)
from turnleaf.faces.http.access import Access, guard_app
from turnleaf.faces.http.app import THREADS, make_app
from turnleaf.faces.http.problems import Code, Problem
from turnleaf.settings import DataFolder
from turnleaf.store.files import atomic
from turnleaf.store.files.facts.journal import MOST_EXAMINED

SAID = "我的銀行密碼是 1234"


def problem(answer: httpx2.Response) -> Problem:
    assert answer.headers["content-type"] == "application/problem+json"
    found = Problem.model_validate(answer.json())
    assert found.status == answer.status_code
    assert found.detail
    return found


def test_an_unknown_address_leads_to_the_list_of_known_ones(visitor: httpx2.Client) -> None:
    found = problem(visitor.get("/api/memory/nothing"))
    assert (found.status, found.title, found.code) == (404, "Not Found", "no-such-address")
    assert "/docs" in found.detail


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/memory/main", "GET, PUT"),
        ("PUT", "/api/memory/facts/abc", "DELETE, GET, PATCH"),
        ("POST", "/healthz", "GET"),
        ("DELETE", "/api/memory/daily/2026-11-15", "GET, PATCH, POST"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    visitor: httpx2.Client, method: str, path: str, allowed: str
) -> None:
    answer = visitor.request(method, path)
    assert problem(answer).code == "wrong-method"
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed


def test_what_is_wrong_with_a_request_is_named_and_not_repeated(visitor: httpx2.Client) -> None:
    answer = visitor.post("/api/memory/facts", json={"content": [SAID], "other": 1})
    assert (answer.status_code, problem(answer).code) == (422, "invalid-request")
    assert {one["where"] for one in answer.json()["errors"]} >= {"body.content"}
    assert "1234" not in answer.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InvalidInput, 422, "invalid"), (SettingsError, 503, "settings"),
        (NotFound, 404, "not-found"), (MemoryFull, 409, "memory-full"),
        (Conflict, 409, "conflict"), (CorruptFile, 503, "corrupt-file"),
        (StorageError, 503, "storage"), (EmbeddingError, 502, "embedding"),
        (ModelError, 502, "model"), (TurnleafError, 500, "unexpected"),
    ],
)  # fmt: skip
def test_each_error_of_ours_has_its_status_and_code_and_keeps_its_sentence(
    data: Path, error: type[TurnleafError], status: int, code: str
) -> None:
    def fail() -> None:
        raise error("it is so; do this")

    app = make_app(Assistant(DataFolder(data, "a test")))
    app.add_api_route("/failing", fail)
    found = problem(TestClient(app).get("/failing"))
    assert (found.status, found.code, found.detail) == (status, code, "it is so; do this")


def test_what_nobody_foresaw_is_told_to_the_log_and_not_to_the_client(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError(SAID)

    app = make_app(Assistant(DataFolder(data, "a test")))
    app.add_api_route("/failing", fail)
    asked = guard_app(app, Access("127.0.0.1", 80))
    client = TestClient(asked, "http://127.0.0.1", raise_server_exceptions=False)
    with caplog.at_level(logging.ERROR, "turnleaf"):
        answer = client.get("/failing")
    assert (answer.status_code, problem(answer).code) == (500, "unexpected")
    assert "1234" not in answer.text
    assert answer.json()["requestId"] == answer.headers["x-request-id"]
    assert f"request {answer.headers['x-request-id']} failed\nTraceback" in caplog.text
    assert SAID in caplog.text


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [("a1-B.2_c", True), ("a" * 64, True), ("a" * 65, False), ("a b", False), ("<b>", False)],
)
def test_an_id_that_a_client_gives_its_request_is_taken_if_it_is_short_and_plain(
    visitor: httpx2.Client, given: str, *, is_taken: bool
) -> None:
    known = [visitor.get("/healthz", headers={"X-Request-ID": given}) for _ in range(2)]
    ids = {answer.headers["x-request-id"] for answer in known}
    assert ids == {given} if is_taken else len(ids - {given}) == 2


def test_a_sign_of_life_is_given_while_every_thread_is_at_work(server: RunningServer) -> None:
    facts = [f"第 {number} 盞燈" for number in range(THREADS + 1)]
    with ThreadPoolExecutor(len(facts)) as pool, calling(server) as client:
        with atomic.lock(server.memory):
            asked = [pool.submit(add_fact, server, fact) for fact in facts]
            while current_threads("AnyIO") < THREADS:
                assert client.get("/healthz").status_code == 200
            assert client.get("/healthz").status_code == 200
        assert {one.result() for one in asked} == {201}


def add_fact(server: RunningServer, content: str) -> int:
    with calling(server) as client:
        return client.post("/api/memory/facts", json={"content": content}).status_code


def current_threads(name: str) -> int:
    return sum(name in one.name for one in threading.enumerate())


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_said_to_be_unreadable(
    visitor: httpx2.Client, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    for method, path in (("POST", "/api/memory/facts"), ("PUT", "/api/memory/main")):
        answer = visitor.request(method, path, content=body, headers=headers)
        assert (answer.status_code, problem(answer).code) == (422, "unreadable-body")


def test_every_code_is_documented(visitor: httpx2.Client) -> None:
    schema = visitor.get("/openapi.json").json()["components"]["schemas"]["Problem"]
    assert set(schema["properties"]["code"]["enum"]) == set(get_args(Code))
    assert "code" in schema["required"]
    page = (Path(__file__).parents[3] / "docs" / "reference" / "api.md").read_text("utf-8")
    assert [code for code in get_args(Code) if f"| `{code}` |" not in page] == []


def test_below_v1_the_sentence_stands_where_openai_puts_it(visitor: httpx2.Client) -> None:
    answer = visitor.post("/v1/chat/completions", json={"messages": []})
    found = problem(answer)
    assert answer.json()["error"]["message"] == found.detail
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_a_sign_of_life(visitor: httpx2.Client) -> None:
    assert visitor.get("/healthz").json() == {"status": "ok"}


def without_sizes(report: dict[str, Any]) -> dict[str, Any]:
    """Leave out what grows meanwhile: the index is brought up to date in the background."""
    names = [(file["name"], file["path"]) for file in report["files"]]
    return {**report, "files": names}


def test_the_status_is_what_doctor_finds(server: RunningServer, client: httpx2.Client) -> None:
    server.memory.with_name("MEMORY.md.conflict-1").write_text("- 小明", encoding="utf-8")
    found = client.get("/api/status").json()
    assert found.pop("index").keys() == {"done", "total"}
    assert found.pop("conversations")["kept"] == "forever"
    assert without_sizes(found) == without_sizes(make_doctor_report(server.assistant.stores))
    message = found["problems"][0]["message"]
    assert "MEMORY.md.conflict-1" in message
    chinese = client.get("/api/status", headers={"Accept-Language": "zh-TW"}).json()
    (problem,) = chinese["problems"]
    assert "MEMORY.md.conflict-1" in problem["message"]
    assert message.isascii() != problem["message"].isascii()


@pytest.mark.parametrize(("days", "kept"), [(None, "forever"), (90, "90 days"), (0, "window")])
def test_the_status_says_how_much_is_kept_and_for_how_long(
    server: RunningServer, client: httpx2.Client, days: int | None, kept: str
) -> None:
    client.put("/api/memory/config", json={"conversationKeepDays": days})
    empty = client.get("/api/status").json()["conversations"]
    assert (empty["messages"], empty["oldest"]) == (0, None)
    server.assistant.conversations.add_exchange("web:1", "客廳的燈？", "小明")
    found = client.get("/api/status").json()["conversations"]
    assert found["kept"] == kept
    assert (found["messages"], found["conversations"]) == (2, 1)
    assert found["bytes"] > 1000
    assert found["oldest"].endswith("Z")


def test_of_a_long_record_the_newest_lines_are_looked_at(server: RunningServer) -> None:
    server.assistant.memory.add("客廳的燈叫做小明")
    record = server.memory.with_name("changes.jsonl")
    good = record.read_bytes()
    record.write_bytes(b"garbage\n" + good * (MOST_EXAMINED - 1) + b"garbage\n" + good[:20])
    (problem,) = make_doctor_report(server.assistant.stores)["problems"]
    said = f"1 line of {record} cannot be read (the first is line {MOST_EXAMINED + 1})"
    assert problem["message"].startswith(said)


def test_a_server_makes_the_folders_of_the_memory_when_it_starts(server: RunningServer) -> None:
    assert server.memory.is_file()
    assert server.assistant.daily.location.is_dir()
