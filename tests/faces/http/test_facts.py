"""Facts are listed, added, changed, forgotten, accepted and taken back over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urljoin

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import RunningServer, Serve, calling
from turnleaf import Assistant, Memory, MemoryStore
from turnleaf.core.changes import Change, Source
from turnleaf.faces.http.facts import get_changes, get_facts, read_facts
from turnleaf.settings import DataFolder
from turnleaf.store.files.config import ConfigFile

FACTS = "/api/memory/facts"
LAMP = "客廳的燈叫做小明"
TEA = "I drink oolong tea in the morning"


def contents(server: RunningServer) -> list[str]:
    return [memory.content for memory in MemoryStore(server.memory).get_all()]


def test_a_fact_is_remembered_and_found_at_its_address(
    server: RunningServer, client: httpx2.Client
) -> None:
    added = client.post(FACTS, json={"content": LAMP, "category": "家"})
    assert added.status_code == 201
    fact = added.json()
    assert (fact["content"], fact["category"], fact["origin"]) == (LAMP, "家", "user")
    assert fact["createdAt"] == fact["updatedAt"]
    address = urljoin(str(added.url), added.headers["location"])
    assert fact.pop("displaced") == []
    assert client.get(address).json() == fact
    assert contents(server) == [LAMP]


def test_a_fact_tells_the_line_that_it_stands_on(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.memory.parent.mkdir(parents=True, exist_ok=True)
    server.memory.write_text(f"# Memory\n\nprose\n\n- {TEA}\n\n## 家\n\n- {LAMP}\n", "utf-8")
    lines = {one["content"]: one["line"] for one in client.get(FACTS).json()["facts"]}
    assert lines == {TEA: 5, LAMP: 9}


class RestlessMemory(MemoryStore):
    """A memory that somebody edits whenever it was read: another line, and the other way round."""

    def text(self) -> str:
        text = super().text()
        self._edit()
        return text

    def get_all(self) -> list[Memory]:
        known = super().get_all()
        self._edit()
        return known

    def _edit(self) -> None:
        text = self.location.read_text("utf-8")
        self.location.write_text(BELOW if text == ABOVE else ABOVE, "utf-8")


ABOVE = f"# Memory\n\n## above\n\n- {LAMP}\n\n## below\n"
BELOW = f"# Memory\n\n## above\n\n## below\n\n- {LAMP}\n"


@pytest.mark.parametrize("text", [ABOVE, BELOW])
def test_facts_and_their_lines_are_those_of_one_text(data: Path, text: str) -> None:
    with Assistant(DataFolder(data, "a test")) as assistant:
        assistant.init()
        assistant.stores.facts = RestlessMemory(assistant.memory.location)
        assistant.memory.location.write_text(text, "utf-8")
        for known in (get_facts(assistant).facts, read_facts(assistant)):
            (fact,) = known
            assert (fact.category, fact.line) in {("above", 5), ("below", 7)}


def test_a_damaged_file_is_set_aside_and_its_facts_are_given(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add(LAMP)
    server.memory.write_bytes(b"\xff\xfe")
    answer = client.get(FACTS)
    assert [one["content"] for one in answer.json()["facts"]] == [LAMP]
    assert list(server.memory.parent.glob("MEMORY.md.corrupt-*"))


def test_facts_come_in_the_order_of_the_file_with_the_room_that_is_left(
    client: httpx2.Client,
) -> None:
    for content in (LAMP, TEA):
        client.post(FACTS, json={"content": content})
    answer = client.get(FACTS).json()
    assert [one["content"] for one in answer["facts"]] == [LAMP, TEA]
    chars = len(LAMP) + len(TEA)
    assert answer["capacity"] == {"items": 2, "maxItems": 100, "chars": chars, "maxChars": 10000}


@pytest.mark.parametrize(("category", "found"), [("家", [LAMP]), ("", [TEA]), ("work", [])])
def test_facts_can_be_narrowed_to_a_category(
    client: httpx2.Client, category: str, found: list[str]
) -> None:
    client.post(FACTS, json={"content": LAMP, "category": "家"})
    client.post(FACTS, json={"content": TEA})
    answer = client.get(FACTS, params={"category": category}).json()
    assert [one["content"] for one in answer["facts"]] == found
    assert answer["capacity"]["items"] == 2


def test_a_fact_says_something_else(server: RunningServer, client: httpx2.Client) -> None:
    old = client.post(FACTS, json={"content": LAMP}).json()
    new = client.patch(f"{FACTS}/{old['id']}", json={"content": "客廳的燈叫做小美"}).json()
    assert (new["id"], new["createdAt"]) == (old["id"], old["createdAt"])
    assert new["updatedAt"] > old["updatedAt"]
    assert contents(server) == ["客廳的燈叫做小美"]


def test_a_fact_that_was_changed_meanwhile_is_not_overwritten(
    server: RunningServer, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    server.assistant.memory.update(fact["id"], TEA)
    change = {"content": "客廳的燈叫做小美", "expected": LAMP}
    refused = client.patch(f"{FACTS}/{fact['id']}", json=change)
    assert refused.status_code == 409
    assert "changed meanwhile" in refused.json()["detail"]
    assert contents(server) == [TEA]
    accepted = client.patch(f"{FACTS}/{fact['id']}", json={**change, "expected": TEA})
    assert accepted.json()["content"] == "客廳的燈叫做小美"


def test_a_forgotten_fact_is_given_back_by_undoing_that_change(
    server: RunningServer, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    client.post(FACTS, json={"content": TEA})
    gone = client.delete(f"{FACTS}/{fact['id']}").json()
    del fact["displaced"]
    assert gone["deleted"] == {**fact, "line": None}
    assert contents(server) == [TEA]
    undone = client.post("/api/memory/undo", json={"change": gone["change"]})
    assert undone.status_code == 200
    assert set(contents(server)) == {LAMP, TEA}
    assert client.get(f"{FACTS}/{fact['id']}").json()["content"] == LAMP


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_fact_that_there_is_not_is_not_found(visitor: httpx2.Client, method: str) -> None:
    body = {"json": {"content": LAMP}} if method == "PATCH" else {}
    answer = visitor.request(method, f"{FACTS}/nowhere", **body)  # type: ignore[arg-type]
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "list the facts" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "body.content"),
        ({"content": ""}, "empty"),
        ({"content": " \n\t "}, "empty"),
        ({"content": "a\0b"}, "U+0000"),
        ({"content": None}, "body.content"),
        ({"content": 7}, "body.content"),
        ({"content": LAMP, "category": "x" * 101}, "category"),
        ({"content": LAMP, "catgory": "家"}, "body.catgory"),
        ([LAMP], "body"),
        (LAMP, "body"),
    ],
)
def test_what_is_no_fact_is_refused(
    shared_server: RunningServer, visitor: httpx2.Client, body: object, said: str
) -> None:
    answer = visitor.post(FACTS, json=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert contents(shared_server) == []


def test_half_a_character_is_refused(shared_server: RunningServer, visitor: httpx2.Client) -> None:
    headers = {"content-type": "application/json"}
    answer = visitor.post(FACTS, content=b'{"content": "\\ud83d"}', headers=headers)
    assert answer.status_code == 422
    assert contents(shared_server) == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_json_is_refused(
    shared_server: RunningServer, visitor: httpx2.Client, kind: str | None
) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = visitor.post(FACTS, content=json.dumps({"content": LAMP}).encode(), headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]
    assert contents(shared_server) == []


def test_json_that_is_broken_is_refused(
    shared_server: RunningServer, visitor: httpx2.Client
) -> None:
    headers = {"content-type": "application/json"}
    answer = visitor.post(FACTS, content=b'{"content": ', headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_a_full_memory_answers_in_the_language_of_the_fact(
    client: httpx2.Client, server: RunningServer
) -> None:
    ConfigFile(server.assistant.folder.config).update({"memoryMaxItems": "1"})
    client.post(FACTS, json={"content": TEA})
    full = client.post(FACTS, json={"content": "我對青黴素過敏"})
    assert full.status_code == 409
    assert full.json()["detail"].startswith("沒辦法記住：記憶已滿")
    assert "turnleaf config memoryMaxItems 2" in full.json()["detail"]


def test_what_makes_room_for_a_fact_is_named(client: httpx2.Client, server: RunningServer) -> None:
    source = Source(quote="q", conversation="web:1", trust="user")
    server.assistant.memory.add("學到的事", origin="learnt", source=source)
    assert client.post(FACTS, json={"content": "我自己說的事"}).json()["displaced"] == []
    ConfigFile(server.assistant.folder.config).update({"memoryMaxItems": "2"})
    added = client.post(FACTS, json={"content": TEA}).json()
    assert [one["content"] for one in added["displaced"]] == ["學到的事"]


def test_a_full_memory_takes_no_more_and_says_what_to_do(
    server: RunningServer, client: httpx2.Client
) -> None:
    ConfigFile(server.folder / "memory-config.json").update({"memoryMaxItems": 1})
    assert client.post(FACTS, json={"content": LAMP}).status_code == 201
    full = client.post(FACTS, json={"content": TEA})
    assert full.status_code == 409
    assert "forget some" in full.json()["detail"]
    assert contents(server) == [LAMP]


def test_an_id_may_hold_whatever_a_person_wrote(
    data: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = data / "memories.json"
    location.write_text(json.dumps([{"id": "家/燈?#%2F", "content": LAMP}]), "utf-8")
    monkeypatch.setenv("TURNLEAF_MEMORY", str(location))
    path = f"{FACTS}/{quote('家/燈?#%2F', safe='')}"
    with calling(serve()) as client:
        assert client.get(path).json()["content"] == LAMP
        assert client.delete(path).json()["deleted"]["content"] == LAMP


def test_a_json_memory_has_facts_and_lines_as_well(
    data: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_MEMORY", str(data / "memories.json"))
    with calling(serve()) as client:
        for content in (LAMP, TEA):
            client.post(FACTS, json={"content": content})
        facts = client.get(FACTS).json()["facts"]
    lines = (data / "memories.json").read_text("utf-8").split("\n")
    assert [one["content"] in lines[one["line"] - 1] for one in facts] == [True, True]


def test_several_facts_are_pinned_moved_and_forgotten_with_one_undo_each(
    server: RunningServer, client: httpx2.Client
) -> None:
    ids = [client.post(FACTS, json={"content": one}).json()["id"] for one in (LAMP, TEA)]

    def change(action: str, **more: str) -> dict[str, object]:
        sent = {"ids": [*ids, "gone"], "action": action, **more}
        answer = client.post(f"{FACTS}/batch", json=sent)
        changed: dict[str, object] = answer.json()
        return changed

    assert [one["pinned"] for one in change("pin")["facts"]] == [True, True]  # type: ignore[attr-defined]
    assert change("pin")["change"] is None
    assert "pinned=yes" in server.memory.read_text("utf-8")
    change("categorize", category="家")
    assert {one["category"] for one in client.get(FACTS).json()["facts"]} == {"家"}
    forgotten = change("forget")
    assert contents(server) == []
    client.post("/api/memory/undo", json={"change": forgotten["change"]})
    assert {(one["pinned"], one["category"]) for one in client.get(FACTS).json()["facts"]} == {
        (True, "家")
    }


def test_many_clients_at_once_lose_nothing(server: RunningServer, client: httpx2.Client) -> None:
    wanted = {f"房間{number}的燈叫做小明{number}" for number in range(24)}

    def add(content: str) -> None:
        client.post(FACTS, json={"content": content}).raise_for_status()

    threads = [threading.Thread(target=add, args=[content]) for content in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(contents(server)) == wanted


def test_the_command_line_and_the_server_see_what_the_other_does(
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    listed = cli.fork("memories", "--json").json
    assert [one["id"] for one in listed] == [fact["id"]]
    assert cli.fork("edit", fact["id"], TEA).code == 0
    assert client.get(f"{FACTS}/{fact['id']}").json()["content"] == TEA
    assert cli.fork("forget", fact["id"]).code == 0
    assert client.get(f"{FACTS}/{fact['id']}").status_code == 404


# What waits


PENDING = "/api/memory/pending"
SAID = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)


def waits(server: RunningServer, content: str = LAMP) -> Memory:
    source = Source(LAMP, "web:1", SAID, "document", "document:notes.md")
    return server.assistant.pending.add(content, "家", origin="learnt", source=source)


def test_what_waits_is_listed_with_what_it_rests_on(
    server: RunningServer, client: httpx2.Client
) -> None:
    memory = waits(server)
    (one,) = client.get(PENDING).json()["pending"]
    assert (one["id"], one["content"], one["category"]) == (memory.id, LAMP, "家")
    assert one["quote"] == LAMP
    assert one["conversation"] == "web:1"
    assert one["messageTime"] == "2026-11-15T08:30:00.000Z"
    assert (one["trust"], one["source"]) == ("document", "document:notes.md")
    assert client.get(FACTS).json()["facts"] == []


def test_where_nothing_waits_looking_makes_no_file(
    shared_server: RunningServer, visitor: httpx2.Client
) -> None:
    assert visitor.get(PENDING).json() == {"pending": []}
    assert not shared_server.assistant.pending.location.exists()


def test_what_is_accepted_is_a_fact_under_its_id(
    server: RunningServer, client: httpx2.Client
) -> None:
    memory = waits(server)
    decided = client.post(PENDING, json={"id": memory.id, "action": "accept"}).json()
    assert decided["action"] == "accept"
    assert (decided["fact"]["id"], decided["fact"]["content"]) == (memory.id, LAMP)
    assert contents(server) == [LAMP]
    assert client.get(PENDING).json() == {"pending": []}
    assert client.post(PENDING, json={"id": memory.id, "action": "accept"}).status_code == 200


def test_what_is_accepted_may_say_something_else(
    server: RunningServer, client: httpx2.Client
) -> None:
    body = {"id": waits(server).id, "action": "accept", "content": "客廳的燈叫做小美"}
    assert client.post(PENDING, json=body).json()["fact"]["content"] == "客廳的燈叫做小美"
    assert contents(server) == ["客廳的燈叫做小美"]


def test_what_is_rejected_is_gone(server: RunningServer, client: httpx2.Client) -> None:
    body = {"id": waits(server).id, "action": "reject"}
    assert client.post(PENDING, json=body).json() == {"action": "reject", "fact": None}
    assert client.get(PENDING).json() == {"pending": []}
    assert contents(server) == []
    again = client.post(PENDING, json=body)
    assert again.status_code == 404
    assert "no pending fact" in again.json()["detail"]


def test_a_full_memory_accepts_nothing_and_it_goes_on_waiting(
    server: RunningServer, client: httpx2.Client
) -> None:
    ConfigFile(server.folder / "memory-config.json").update({"memoryMaxItems": 1})
    client.post(FACTS, json={"content": "tea"})
    memory = waits(server)
    full = client.post(PENDING, json={"id": memory.id, "action": "accept"})
    assert full.status_code == 409
    assert [one["id"] for one in client.get(PENDING).json()["pending"]] == [memory.id]


def test_several_pending_facts_are_accepted_until_the_memory_is_full_and_rejected(
    server: RunningServer, client: httpx2.Client
) -> None:
    ConfigFile(server.folder / "memory-config.json").update({"memoryMaxItems": 2})
    pending = server.assistant.pending
    ids = [pending.add(f"fact {number}").id for number in range(4)]

    def decide(action: str) -> dict[str, object]:
        sent = {"ids": ["gone", *ids], "action": action}
        answer = client.post("/api/memory/pending/batch", json=sent)
        decided: dict[str, object] = answer.json()
        return decided

    accepted = decide("accept")
    assert accepted["decided"] == ids[:2]
    assert "the memory is full" in str(accepted["problem"])
    assert contents(server) == ["fact 0", "fact 1"]
    assert decide("reject") == {"decided": ids[2:], "problem": None}
    assert pending.get_all() == []


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


def test_an_empty_text_is_not_accepted(server: RunningServer, client: httpx2.Client) -> None:
    memory = waits(server)
    body = {"id": memory.id, "action": "accept", "content": " "}
    assert client.post(PENDING, json=body).status_code == 422
    assert [one["id"] for one in client.get(PENDING).json()["pending"]] == [memory.id]


def test_the_command_line_accepts_what_the_server_lists(
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    memory = waits(server)
    assert cli.fork("review", "--accept", memory.id).code == 0
    assert client.get(PENDING).json() == {"pending": []}
    assert client.get(f"{FACTS}/{memory.id}").json()["content"] == LAMP


# What was changed


CHANGES = "/api/memory/changes"
UNDO = "/api/memory/undo"
MAIN = "/api/memory/main"
INSIDE = {"at", "took", "put", "old", "new", "shape", "traces"}


class CountedHistory(list[Change]):
    """A history that counts how often it is gone through."""

    readings = 0

    def __iter__(self) -> Iterator[Change]:
        self.readings += 1
        return super().__iter__()


class CountedStore(MemoryStore):
    """A memory that gives such a history."""

    given = CountedHistory()

    def changes(self, memory_id: str | None = None) -> list[Change]:
        self.given = CountedHistory(super().changes(memory_id))
        return self.given


def test_changes_come_newest_first_without_the_lines_of_the_file(
    server: RunningServer, client: httpx2.Client
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
    assert (newest["id"], newest["origin"]) == (fact["id"], "user")
    assert (newest["undone"], newest["undoable"]) == (False, True)
    assert not INSIDE & newest.keys()


def test_changes_are_given_page_by_page(server: RunningServer, client: httpx2.Client) -> None:
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
        assistant.stores.facts = store = CountedStore(assistant.memory.location)
        for number in range(30):
            store.add(f"{LAMP} {number}")
        assert len(get_changes(assistant).changes) == 30
    assert store.given.readings < 10


def test_what_was_learned_is_returned_with_its_quote(
    server: RunningServer, client: httpx2.Client
) -> None:
    source = Source("我家客廳的燈叫做小明", "web:1", datetime(2026, 11, 15, tzinfo=UTC), "user")
    server.assistant.memory.add(LAMP, origin="learnt", source=source)
    client.post(FACTS, json={"content": "tea"})
    (learned,) = client.get(CHANGES, params={"learnt": True}).json()["changes"]
    assert learned["after"]["content"] == LAMP
    assert (learned["quote"], learned["conversation"]) == ("我家客廳的燈叫做小明", "web:1")
    assert learned["messageTime"] == "2026-11-15T00:00:00.000Z"


@pytest.mark.parametrize("sent", [{}, {"json": {}}, {"json": {"change": None}}])
def test_without_a_number_the_newest_change_is_taken_back(
    server: RunningServer, client: httpx2.Client, sent: dict[str, object]
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
    server: RunningServer, client: httpx2.Client
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
    server: RunningServer, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    number = client.get(CHANGES).json()["changes"][0]["n"]
    client.patch(f"{FACTS}/{fact['id']}", json={"content": "客廳的燈叫做小美"})
    answer = client.post(UNDO, json={"change": number})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert contents(server) == ["客廳的燈叫做小美"]


def test_what_changed_since_is_skipped_on_request(
    server: RunningServer, client: httpx2.Client
) -> None:
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
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    client.post(FACTS, json={"content": LAMP})
    assert cli.fork("undo").code == 0
    assert client.get(FACTS).json()["facts"] == []


def test_a_fact_leads_to_the_words_it_rests_on(serve: Serve) -> None:
    server = serve()
    said = server.assistant.reply("web:1", f"記住{LAMP}")
    (fact,) = server.assistant.memory.get_all()
    with calling(server) as client:
        story = client.get("/api/memory/why", params={"fact": fact.id}).json()
        assert story["fact"]["content"] == LAMP
        (words,) = story["said"]
        assert LAMP in words["quote"]
        assert (words["conversation"], words["message"]) == ("web:1", said.question_id)
        assert server.assistant.memory.delete(fact.id)
        assert client.get("/api/memory/why", params={"fact": fact.id}).json()["fact"] is None
        assert client.get("/api/memory/why", params={"fact": "nothing"}).status_code == 404
