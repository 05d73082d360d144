"""Facts are listed, added, changed and forgotten over HTTP."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from urllib.parse import quote, urljoin

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import Serve, Served, calling
from turnleaf import Assistant, Memory, MemoryStore
from turnleaf.core.changes import Source
from turnleaf.faces.http.facts import get_facts, read_facts
from turnleaf.settings import DataFolder
from turnleaf.store.config import ConfigFile

FACTS = "/api/memory/facts"
LAMP = "客廳的燈叫做小明"
TEA = "I drink oolong tea in the morning"


def contents(server: Served) -> list[str]:
    return [memory.content for memory in MemoryStore(server.memory).get_all()]


def test_a_fact_is_remembered_and_found_at_its_address(
    server: Served, client: httpx2.Client
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


def test_a_fact_tells_the_line_that_it_stands_on(server: Served, client: httpx2.Client) -> None:
    server.memory.parent.mkdir(parents=True, exist_ok=True)
    server.memory.write_text(f"# Memory\n\nprose\n\n- {TEA}\n\n## 家\n\n- {LAMP}\n", "utf-8")
    lines = {one["content"]: one["line"] for one in client.get(FACTS).json()["facts"]}
    assert lines == {TEA: 5, LAMP: 9}


class Edited(MemoryStore):
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
        assistant.memory = Edited(assistant.memory.location)
        assistant.memory.location.write_text(text, "utf-8")
        for known in (get_facts(assistant).facts, read_facts(assistant)):
            (fact,) = known
            assert (fact.category, fact.line) in {("above", 5), ("below", 7)}


def test_a_damaged_file_is_set_aside_and_its_facts_are_given(
    server: Served, client: httpx2.Client
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


def test_a_fact_says_something_else(server: Served, client: httpx2.Client) -> None:
    old = client.post(FACTS, json={"content": LAMP}).json()
    new = client.patch(f"{FACTS}/{old['id']}", json={"content": "客廳的燈叫做小美"}).json()
    assert (new["id"], new["createdAt"]) == (old["id"], old["createdAt"])
    assert new["updatedAt"] > old["updatedAt"]
    assert contents(server) == ["客廳的燈叫做小美"]


def test_a_fact_that_was_changed_meanwhile_is_not_overwritten(
    server: Served, client: httpx2.Client
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
    server: Served, client: httpx2.Client
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
    shared: Served, visitor: httpx2.Client, body: object, said: str
) -> None:
    answer = visitor.post(FACTS, json=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert contents(shared) == []


def test_half_a_character_is_refused(shared: Served, visitor: httpx2.Client) -> None:
    headers = {"content-type": "application/json"}
    answer = visitor.post(FACTS, content=b'{"content": "\\ud83d"}', headers=headers)
    assert answer.status_code == 422
    assert contents(shared) == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_json_is_refused(
    shared: Served, visitor: httpx2.Client, kind: str | None
) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = visitor.post(FACTS, content=json.dumps({"content": LAMP}).encode(), headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]
    assert contents(shared) == []


def test_json_that_is_broken_is_refused(shared: Served, visitor: httpx2.Client) -> None:
    headers = {"content-type": "application/json"}
    answer = visitor.post(FACTS, content=b'{"content": ', headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_a_full_memory_answers_in_the_language_of_the_fact(
    client: httpx2.Client, server: Served
) -> None:
    ConfigFile(server.assistant.folder.config).update({"memoryMaxItems": "1"})
    client.post(FACTS, json={"content": TEA})
    full = client.post(FACTS, json={"content": "我對青黴素過敏"})
    assert full.status_code == 409
    assert full.json()["detail"].startswith("沒辦法記住：記憶已滿")
    assert "turnleaf config memoryMaxItems 2" in full.json()["detail"]


def test_what_makes_room_for_a_fact_is_named(client: httpx2.Client, server: Served) -> None:
    source = Source(quote="q", conversation="web:1", trust="user")
    server.assistant.memory.add("學到的事", origin="learnt", source=source)
    assert client.post(FACTS, json={"content": "我自己說的事"}).json()["displaced"] == []
    ConfigFile(server.assistant.folder.config).update({"memoryMaxItems": "2"})
    added = client.post(FACTS, json={"content": TEA}).json()
    assert [one["content"] for one in added["displaced"]] == ["學到的事"]


def test_a_full_memory_takes_no_more_and_says_what_to_do(
    server: Served, client: httpx2.Client
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


def test_many_clients_at_once_lose_nothing(server: Served, client: httpx2.Client) -> None:
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
    cli: Cli, server: Served, client: httpx2.Client
) -> None:
    fact = client.post(FACTS, json={"content": LAMP}).json()
    listed = cli.process("memories", "--json").json
    assert [one["id"] for one in listed] == [fact["id"]]
    assert cli.process("edit", fact["id"], TEA).code == 0
    assert client.get(f"{FACTS}/{fact['id']}").json()["content"] == TEA
    assert cli.process("forget", fact["id"]).code == 0
    assert client.get(f"{FACTS}/{fact['id']}").status_code == 404
