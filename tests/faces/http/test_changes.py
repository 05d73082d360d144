"""Changes are listed and taken back over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import Served
from turnleaf import Assistant, MemoryStore
from turnleaf.core.changes import Change, Source
from turnleaf.faces.http.changes import get_changes
from turnleaf.settings import DataFolder

CHANGES = "/api/memory/changes"
UNDO = "/api/memory/undo"
FACTS = "/api/memory/facts"
MAIN = "/api/memory/main"
LAMP = "客廳的燈叫做小明"
INSIDE = {"at", "took", "put", "old", "new", "shape", "traces"}


class Counted(list[Change]):
    """A history that counts how often it is gone through."""

    readings = 0

    def __iter__(self) -> Iterator[Change]:
        self.readings += 1
        return super().__iter__()


class CountedStore(MemoryStore):
    """A memory that gives such a history."""

    given = Counted()

    def changes(self, memory_id: str | None = None) -> list[Change]:
        self.given = Counted(super().changes(memory_id))
        return self.given


def contents(server: Served) -> list[str]:
    return [memory.content for memory in server.assistant.memory.get_all()]


def test_changes_come_newest_first_without_the_lines_of_the_file(
    server: Served, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    client.patch(f"{FACTS}/{fact['id']}", json={"content": "客廳的燈叫做小美"})
    answer = client.get(CHANGES).json()
    assert answer["more"] is False
    newest, first = answer["changes"]
    assert (newest["op"], first["op"]) == ("update", "add")
    assert newest["n"] > first["n"]
    assert newest["before"]["content"] == LAMP
    assert newest["after"]["content"] == "客廳的燈叫做小美"
    assert (newest["id"], newest["origin"], newest["file"]) == (fact["id"], "user", "MEMORY.md")
    assert (newest["undone"], newest["undoable"]) == (False, True)
    assert not INSIDE & newest.keys()


def test_changes_are_given_page_by_page(server: Served, client: httpx2.Client) -> None:
    for number in range(5):
        server.assistant.memory.add(f"fact {number}")
    first = client.get(CHANGES, params={"limit": 3}).json()
    before = first["changes"][-1]["n"]
    second = client.get(CHANGES, params={"limit": 3, "before": before}).json()
    assert (first["more"], second["more"]) == (True, False)
    found = [one["after"]["content"] for one in [*first["changes"], *second["changes"]]]
    assert found == [f"fact {number}" for number in reversed(range(5))]


def test_the_history_is_not_gone_through_for_each_change_in_it(data: Path) -> None:
    with Assistant(DataFolder(data, "a test")) as assistant:
        assistant.memory = store = CountedStore(assistant.memory.location)
        for number in range(30):
            store.add(f"{LAMP} {number}")
        assert len(get_changes(assistant).changes) == 30
    assert store.given.readings < 10


def test_what_was_learnt_is_given_with_its_quote(server: Served, client: httpx2.Client) -> None:
    source = Source("我家客廳的燈叫做小明", "web:1", datetime(2026, 11, 15, tzinfo=UTC), "user")
    server.assistant.memory.add(LAMP, origin="learnt", source=source)
    client.post(FACTS, json={"content": "tea"})
    (learnt,) = client.get(CHANGES, params={"learnt": True}).json()["changes"]
    assert learnt["after"]["content"] == LAMP
    assert (learnt["quote"], learnt["conversation"]) == ("我家客廳的燈叫做小明", "web:1")
    assert learnt["messageTime"] == "2026-11-15T00:00:00.000Z"


@pytest.mark.parametrize("sent", [{}, {"json": {}}, {"json": {"change": None}}])
def test_without_a_number_the_newest_change_is_taken_back(
    server: Served, client: httpx2.Client, sent: dict[str, object]
) -> None:
    client.post(FACTS, json={"content": LAMP})
    client.post(FACTS, json={"content": "tea"})
    answer = client.post(UNDO, **sent).json()  # type: ignore[arg-type]
    (undone,) = answer["undone"]
    assert undone["after"]["content"] == "tea"
    assert (undone["undone"], undone["undoable"]) == (True, False)
    assert answer["etag"] == client.get(MAIN).headers["etag"]
    assert contents(server) == [LAMP]


def test_one_change_is_taken_back_and_the_later_ones_stay(
    server: Served, client: httpx2.Client
) -> None:
    client.post(FACTS, json={"content": LAMP})
    number = client.get(CHANGES).json()["changes"][0]["n"]
    client.post(FACTS, json={"content": "tea"})
    assert client.post(UNDO, json={"change": number}).status_code == 200
    assert contents(server) == ["tea"]
    again = client.post(UNDO, json={"change": number})
    assert again.status_code == 404
    listed = {one["n"]: one for one in client.get(CHANGES).json()["changes"]}
    assert (listed[number]["undone"], listed[number]["undoable"]) == (True, False)


def test_a_change_of_what_changed_since_is_not_taken_back(
    server: Served, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    number = client.get(CHANGES).json()["changes"][0]["n"]
    client.patch(f"{FACTS}/{fact['id']}", json={"content": "客廳的燈叫做小美"})
    answer = client.post(UNDO, json={"change": number})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert contents(server) == ["客廳的燈叫做小美"]


def test_what_changed_since_is_skipped_on_request(server: Served, client: httpx2.Client) -> None:
    client.post(FACTS, json={"content": "tea"})
    client.post(FACTS, json={"content": LAMP})
    server.memory.write_text(server.memory.read_text("utf-8").replace("小明", "小美"), "utf-8")
    assert client.post(UNDO).status_code == 409
    assert client.post(UNDO, json={"skip": False}).status_code == 409
    (undone,) = client.post(UNDO, json={"skip": True}).json()["undone"]
    assert undone["after"]["content"] == "tea"
    assert contents(server) == ["客廳的燈叫做小美"]
    assert client.post(UNDO, json={"skip": True}).status_code == 404


@pytest.mark.parametrize("body", [{}, {"change": 999}])
def test_where_there_is_nothing_to_undo_nothing_is_found(
    visitor: httpx2.Client, body: object
) -> None:
    answer = visitor.post(UNDO, json=body)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [{"change": 0}, {"change": "x"}, {"skip": "x"}, {"n": 1}, [], 1])
def test_what_is_no_number_of_a_change_is_refused(visitor: httpx2.Client, body: object) -> None:
    assert visitor.post(UNDO, json=body).status_code == 422


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 501}, {"before": 0}, {"before": "x"}, {"learnt": "perhaps"}]
)
def test_a_bad_question_for_changes_is_refused(
    visitor: httpx2.Client, query: dict[str, str]
) -> None:
    answer = visitor.get(CHANGES, params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == f"query.{next(iter(query))}"


def test_the_command_line_takes_back_what_was_done_over_http(
    cli: Cli, server: Served, client: httpx2.Client
) -> None:
    client.post(FACTS, json={"content": LAMP})
    assert cli.process("undo").code == 0
    assert client.get(FACTS).json()["facts"] == []
