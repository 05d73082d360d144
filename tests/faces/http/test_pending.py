"""What waits is listed, accepted and rejected over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import Served
from turnleaf.core.changes import Source
from turnleaf.core.memories import Memory
from turnleaf.store.config import ConfigFile

PENDING = "/api/memory/pending"
FACTS = "/api/memory/facts"
LAMP = "客廳的燈叫做小明"
SAID = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)


def waits(server: Served, content: str = LAMP) -> Memory:
    source = Source(LAMP, "web:1", SAID, "document", "document:notes.md")
    return server.assistant.pending.add(content, "家", origin="learnt", source=source)


def contents(server: Served) -> list[str]:
    return [memory.content for memory in server.assistant.memory.get_all()]


def test_what_waits_is_listed_with_what_it_rests_on(server: Served, client: httpx2.Client) -> None:
    memory = waits(server)
    (one,) = client.get(PENDING).json()["pending"]
    assert (one["id"], one["content"], one["category"]) == (memory.id, LAMP, "家")
    assert one["quote"] == LAMP
    assert one["conversation"] == "web:1"
    assert one["messageTime"] == "2026-11-15T08:30:00.000Z"
    assert (one["trust"], one["source"]) == ("document", "document:notes.md")
    assert client.get(FACTS).json()["facts"] == []


def test_where_nothing_waits_looking_makes_no_file(shared: Served, visitor: httpx2.Client) -> None:
    assert visitor.get(PENDING).json() == {"pending": []}
    assert not shared.assistant.pending.location.exists()


def test_what_is_accepted_is_a_fact_under_its_id(server: Served, client: httpx2.Client) -> None:
    memory = waits(server)
    decided = client.post(PENDING, json={"id": memory.id, "action": "accept"}).json()
    assert decided["action"] == "accept"
    assert (decided["fact"]["id"], decided["fact"]["content"]) == (memory.id, LAMP)
    assert contents(server) == [LAMP]
    assert client.get(PENDING).json() == {"pending": []}
    assert client.post(PENDING, json={"id": memory.id, "action": "accept"}).status_code == 200


def test_what_is_accepted_may_say_something_else(server: Served, client: httpx2.Client) -> None:
    body = {"id": waits(server).id, "action": "accept", "content": "客廳的燈叫做小美"}
    assert client.post(PENDING, json=body).json()["fact"]["content"] == "客廳的燈叫做小美"
    assert contents(server) == ["客廳的燈叫做小美"]


def test_what_is_rejected_is_gone(server: Served, client: httpx2.Client) -> None:
    body = {"id": waits(server).id, "action": "reject"}
    assert client.post(PENDING, json=body).json() == {"action": "reject", "fact": None}
    assert client.get(PENDING).json() == {"pending": []}
    assert contents(server) == []
    again = client.post(PENDING, json=body)
    assert again.status_code == 404
    assert "list what waits" in again.json()["detail"]


def test_a_full_memory_accepts_nothing_and_it_goes_on_waiting(
    server: Served, client: httpx2.Client
) -> None:
    ConfigFile(server.folder / "memory-config.json").update({"memoryMaxItems": 1})
    client.post(FACTS, json={"content": "tea"})
    memory = waits(server)
    full = client.post(PENDING, json={"id": memory.id, "action": "accept"})
    assert full.status_code == 409
    assert [one["id"] for one in client.get(PENDING).json()["pending"]] == [memory.id]


@pytest.mark.parametrize("action", ["accept", "reject"])
def test_what_does_not_wait_is_not_found(visitor: httpx2.Client, action: str) -> None:
    answer = visitor.post(PENDING, json={"id": "nowhere", "action": action})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"id": "a"},
        {"id": "a", "action": "postpone"},
        {"id": "a", "action": "accept", "contents": LAMP},
        {"action": "accept"},
        [],
    ],
)
def test_what_is_no_decision_is_refused(visitor: httpx2.Client, body: object) -> None:
    assert visitor.post(PENDING, json=body).status_code == 422


def test_an_empty_text_is_not_accepted(server: Served, client: httpx2.Client) -> None:
    memory = waits(server)
    body = {"id": memory.id, "action": "accept", "content": " "}
    assert client.post(PENDING, json=body).status_code == 422
    assert [one["id"] for one in client.get(PENDING).json()["pending"]] == [memory.id]


def test_the_command_line_accepts_what_the_server_lists(
    cli: Cli, server: Served, client: httpx2.Client
) -> None:
    memory = waits(server)
    assert cli.process("review", "--accept", memory.id).code == 0
    assert client.get(PENDING).json() == {"pending": []}
    assert client.get(f"{FACTS}/{memory.id}").json()["content"] == LAMP
