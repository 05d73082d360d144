"""Requests that are sent again with their key: carried out once, on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faces.http.conftest import (
    DEADLINE_SECONDS,
    Serve,
    calling,
    make_data_folder,
    operating,
    serving,
)
from tests.faces.http.listening import NO_TLS, PausingModel
from tests.postgres import empty_database
from tests.torture.editors import wait_until
from turnleaf.assistant import Assistant
from turnleaf.core.model_dialogue import Prompt, Text, Toolbox
from turnleaf.faces.http.idempotency import HEADER, MAX_ANSWER_BYTES, REPLAYED, ROUTES, OnceRequest
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.erasure import ANSWERED_REQUESTS
from turnleaf.store.files.opaque_records import RecordStore
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores

FACTS = "/api/memory/facts"
LAMP = "客廳的燈叫做小明"
KEY = {HEADER: "5f0c1d9a-7be2"}
CHAT = {"message": LAMP, "key": "web:1"}
COMPLETION = {"model": "turnleaf", "messages": [{"role": "user", "content": LAMP}]}
ADDING: dict[str, tuple[str, dict[str, Any], Callable[[Assistant], int]]] = {
    "fact": (FACTS, {"content": LAMP}, lambda one: len(one.memory.get_all())),
    "note": (
        f"/api/memory/daily/{date.today()}",  # noqa: DTZ011 - that of the server
        {"entry": LAMP},
        lambda one: one.daily.read(one.now().date()).count(LAMP),
    ),
    "schedule": (
        "/api/schedules",
        {"prompt": LAMP, "timing": "@daily"},
        lambda one: len(one.schedules.get_all()),
    ),
    "message": ("/api/chat", CHAT, lambda one: one.conversations.figures().messages // 2),
    "completion": (
        "/v1/chat/completions",
        COMPLETION,
        lambda one: one.conversations.figures().messages // 2,
    ),
    "stream": (
        "/v1/chat/completions",
        {**COMPLETION, "stream": True},
        lambda one: one.conversations.figures().messages // 2,
    ),
}
"""What adds something: where, what is sent, and how much of it is there."""


class Servers:
    """Servers over one place, as many as a test needs."""

    def __init__(self, open_stores: Callable[[], Stores], closing: ExitStack) -> None:
        self._open_stores = open_stores
        self._closing = closing

    def start(self) -> tuple[httpx2.Client, Assistant]:
        stores = self._open_stores()
        stores.config.change({"model": "recall", "embeddings": False})
        assistant = self._closing.enter_context(Assistant(stores))
        url = self._closing.enter_context(serving(assistant))
        client = httpx2.Client(
            base_url=url, timeout=DEADLINE_SECONDS, trust_env=False, verify=NO_TLS
        )
        return self._closing.enter_context(client), assistant


@pytest.fixture(params=["files", "memory", "postgres"])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    place = MemoryPlace()
    address = empty_database() if request.param == "postgres" else ""
    with make_data_folder(tmp_path) as folder, ExitStack() as closing:
        backends: dict[str, Callable[[], Stores]] = {
            "files": lambda: Stores.open(folder),
            "memory": lambda: MemoryStores(place, now=local_now),
            "postgres": lambda: Stores.open(address),
        }
        yield Servers(backends[request.param], closing)


@pytest.mark.parametrize("kind", ADDING)
def test_a_request_that_is_sent_again_gets_the_first_answer_from_any_server(
    servers: Servers, kind: str
) -> None:
    path, body, count = ADDING[kind]
    client, assistant = servers.start()
    first = client.post(path, json=body, headers=KEY)
    assert first.is_success, first.text
    assert REPLAYED not in first.headers
    other, _ = servers.start()
    for one in (client, other):
        again = one.post(path, json=body, headers=KEY)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again.headers[REPLAYED] == "true"
        for name in ("content-type", "location"):
            assert again.headers.get(name) == first.headers.get(name)
    assert count(assistant) == 1
    assert client.post(path, json=body, headers={HEADER: "another"}).is_success
    assert count(assistant) == 2


def test_a_key_that_was_used_for_another_request_is_refused(servers: Servers) -> None:
    client, assistant = servers.start()
    assert client.post(FACTS, json={"content": LAMP}, headers=KEY).is_success
    for path, body, _ in (ADDING["note"], (FACTS, {"content": "tea"}, len)):
        refused = client.post(path, json=body, headers=KEY)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assert [one.content for one in assistant.memory.get_all()] == [LAMP]


def test_a_request_that_was_refused_can_be_sent_again(servers: Servers) -> None:
    client, assistant = servers.start()
    assistant.stores.config.change({"memoryMaxItems": 1})
    kept = assistant.memory.add("tea")
    full = client.post(FACTS, json={"content": LAMP}, headers=KEY)
    assert full.json()["code"] == "memory-full"
    assistant.memory.delete(kept.id)
    added = client.post(FACTS, json={"content": LAMP}, headers=KEY)
    assert (added.status_code, REPLAYED in added.headers) == (201, False)


def test_a_request_whose_server_was_killed_is_not_carried_out_again(servers: Servers) -> None:
    client, assistant = servers.start()
    body = b'{"content": "tea"}'
    killed = OnceRequest(assistant.stores.records, KEY[HEADER], f"{FACTS}\n\n", body)
    assert killed.begin() is None
    sent = {**KEY, "Content-Type": "application/json"}
    again = client.post(FACTS, content=body, headers=sent)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert again.headers["retry-after"] == "1"
    assert "check whether it was carried out" in again.json()["detail"]
    assert assistant.memory.get_all() == []


def test_of_a_private_message_and_of_one_that_is_erased_no_answer_is_kept(
    servers: Servers,
) -> None:
    client, assistant = servers.start()
    records = assistant.stores.records
    assert client.post("/api/chat", json={**CHAT, "private": True}, headers=KEY).is_success
    assert records.list_records(ANSWERED_REQUESTS) == []
    assert client.post("/api/chat", json=CHAT, headers=KEY).is_success
    assert len(records.list_records(ANSWERED_REQUESTS)) == 1
    assistant.erase_conversation("web:1")
    assert records.list_records(ANSWERED_REQUESTS) == []


def test_a_client_that_is_gone_finds_the_whole_answer_when_it_asks_again(serve: Serve) -> None:
    model = PausingModel()
    server = serve(model)
    with calling(server) as client:
        with client.stream("POST", "/api/chat", json=CHAT, headers=KEY) as begun:
            assert b"start" in next(begun.iter_bytes())
            busy = client.post("/api/chat", json=CHAT, headers=KEY)
            assert busy.status_code == 409
        model.go.set()
        answers: list[httpx2.Response] = []

        def ask() -> bool:
            answers.append(client.post("/api/chat", json=CHAT, headers=KEY))
            return answers[-1].status_code != 409

        assert wait_until(ask, DEADLINE_SECONDS)
    again = answers[-1]
    assert again.headers[REPLAYED] == "true"
    assert "event: done" in again.text
    assert [one.status for one in server.assistant.conversations.messages("web:1")] == [
        "complete",
        "complete",
    ]


def test_the_same_key_in_another_space_is_another_request(serve: Serve) -> None:
    with operating(serve()) as client:
        for headers in (KEY, {**KEY, "Turnleaf-Space": "bob"}):
            added = client.post(FACTS, json={"content": LAMP}, headers=headers)
            assert (added.status_code, REPLAYED in added.headers) == (201, False)


def test_every_request_that_takes_a_key_says_so_in_the_description(
    visitor: httpx2.Client,
) -> None:
    described = visitor.get("/openapi.json").json()["paths"]
    declared = {
        path
        for path, methods in described.items()
        for one in methods.get("post", {}).get("parameters", [])
        if one["name"] == HEADER
    }
    assert declared == {path for path in described if ROUTES.fullmatch(path)}


def test_an_answer_that_is_erased_while_it_is_given_is_not_kept(serve: Serve) -> None:
    model = PausingModel()
    server = serve(model)
    records = server.assistant.stores.records
    with (
        calling(server) as client,
        client.stream("POST", "/api/chat", json=CHAT, headers=KEY) as begun,
    ):
        parts = begun.iter_bytes()
        assert b"start" in next(parts)
        assert len(records.list_records(ANSWERED_REQUESTS)) == 1
        server.assistant.erase_conversation("web:1")
        model.go.set()
        assert list(parts)
    assert records.list_records(ANSWERED_REQUESTS) == []


def test_an_answer_that_has_expired_is_erased_to_the_last_byte(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 18, tzinfo=UTC)
    later = RecordStore(tmp_path / "records.db", now=lambda: moment + timedelta(days=2))
    with closing(RecordStore(tmp_path / "records.db", now=lambda: moment)) as store:
        store.put(ANSWERED_REQUESTS, "key", b"the secret lamp", ttl=timedelta(days=1))
    with closing(later):
        assert later.list_records(ANSWERED_REQUESTS) == []
        later.erase(ANSWERED_REQUESTS)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"the secret lamp" not in kept


class LongModel:
    name = "long"

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Text]:  # noqa: ARG002
        yield Text("tea " * (MAX_ANSWER_BYTES // 4))

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG002
        return "{}"


def test_what_is_too_long_to_keep_is_not_carried_out_again(serve: Serve) -> None:
    server = serve(LongModel())
    with calling(server) as client:
        assert client.post("/api/chat", json=CHAT, headers=KEY).is_success
        again = client.post("/api/chat", json=CHAT, headers=KEY)
    assert (again.status_code, "retry-after" in again.headers) == (409, False)
    assert "too large to store" in again.json()["detail"]
    assert len(server.assistant.conversations.messages("web:1")) == 2
