"""Past conversations over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx2
import pytest

from tests.faces.http.conftest import RunningServer, serving
from tests.faces.http.listening import ask, find_event, send_message
from turnleaf.assistant import Assistant
from turnleaf.core import conversation_formats as transcripts
from turnleaf.core.messages import Message
from turnleaf.settings import DataFolder

ROOT = "/api/conversations"


def read_everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def talk(server: RunningServer, key: str, *questions: str) -> list[int]:
    """Add exchanges, and return the ids of their messages."""
    ids: list[int] = []
    for question in questions:
        exchange = [Message("user", question), Message("assistant", "Understood.")]
        ids += server.assistant.conversations.add_messages(key, exchange)
    return ids


def list_texts(page: dict[str, Any]) -> list[str]:
    return [each["content"] for each in page["messages"]]


# The list


def test_conversations_are_listed_the_newest_first(
    server: RunningServer, client: httpx2.Client
) -> None:
    assert client.get(ROOT).json() == {"conversations": []}
    send_message(server.url, "客廳的燈叫什麼？", key="web:1")
    send_message(server.url, "What is my cat called?", key="web:2")
    send_message(server.url, "And my dog?", key="web:2")
    listed = client.get(ROOT).json()["conversations"]
    assert [(each["key"], each["title"], each["messages"]) for each in listed] == [
        ("web:2", "What is my cat called?", 4),
        ("web:1", "客廳的燈叫什麼？", 2),
    ]
    assert listed[0]["createdAt"] < listed[0]["updatedAt"]
    assert (listed[0]["audience"], listed[0]["searched"], listed[0]["renamed"]) == ("", True, False)
    assert len(client.get(ROOT, params={"limit": 1}).json()["conversations"]) == 1


def test_conversations_are_found_by_title_and_text(
    server: RunningServer, client: httpx2.Client
) -> None:
    talk(server, "web:1", "客廳的燈叫什麼？")
    talk(server, "web:2", "What is my cat called?")
    client.patch(f"{ROOT}/web:2", json={"title": "Mimi"})

    def find_keys(text: str) -> list[str]:
        answer = client.get(ROOT, params={"q": text}).json()
        return [each["key"] for each in answer["conversations"]]

    assert find_keys("CAT") == ["web:2"]
    assert find_keys("mimi") == ["web:2"]
    assert find_keys("客廳") == ["web:1"]
    assert find_keys("understood") == ["web:2", "web:1"]
    assert find_keys("%") == []
    assert find_keys("") == ["web:2", "web:1"]


# One of them


def test_a_conversation_is_read_with_what_shaped_its_answers(
    server: RunningServer, client: httpx2.Client
) -> None:
    memory = server.assistant.memory
    lamp, cat = memory.add("客廳的燈叫做小明"), memory.add("貓叫做米米")
    server.assistant.daily.append("小明換了燈泡")
    [earlier, _] = talk(server, "web:0", "小明昨天壞了")
    send_message(server.url, "小明怎麼了？", key="web:1")
    memory.delete(cat.id)
    found = client.get(f"{ROOT}/web:1").json()
    assert (found["key"], found["title"]) == ("web:1", "小明怎麼了？")
    assert (found["private"], found["searched"]) == (False, True)
    assert (found["earlier"], found["later"]) == (False, False)
    asked, answered = found["messages"]
    assert (asked["role"], asked["content"]) == ("user", "小明怎麼了？")
    assert asked["timestamp"].endswith("Z")
    assert (asked["shapedBy"], asked["parent"]) == (None, None)
    assert answered["parent"] == asked["id"]
    assert (answered["status"], answered["trust"]) == ("complete", "assistant")
    assert (answered["versions"], answered["hidden"]) == ([], False)
    assert answered["shapedBy"]["memories"] == [
        {"id": lamp.id, "content": "客廳的燈叫做小明", "cited": True},
        {"id": cat.id, "content": None, "cited": False},
    ]
    hits = answered["shapedBy"]["hits"]
    [note] = [each for each in hits if each["source"] == "daily"]
    assert note["file"].startswith("daily/2")
    assert note["score"] > 0
    [message] = [each for each in hits if each["message"] == earlier]
    assert (message["conversation"], message["text"]) == ("web:0", "小明昨天壞了")
    assert message["file"] == "conversations.db"
    assert message["date"].startswith("2")


def test_what_was_found_and_erased_since_is_named_without_its_text(
    server: RunningServer, client: httpx2.Client
) -> None:
    talk(server, "web:0", "小明昨天壞了")
    send_message(server.url, "小明怎麼了？", key="web:1")
    assert client.delete(f"{ROOT}/web:0").status_code == 204
    answer = client.get(f"{ROOT}/web:1").json()["messages"][1]
    hits = answer["shapedBy"]["hits"]
    assert hits
    assert {(hit["conversation"], hit["text"]) for hit in hits} == {(None, None)}


def test_a_message_whose_fact_was_replaced_says_what_holds_now(
    server: RunningServer, client: httpx2.Client
) -> None:
    send_message(server.url, "記住客廳的燈叫做小明", key="web:1")
    (fact,) = server.assistant.memory.get_all()
    assert client.get(f"{ROOT}/web:1").json()["messages"][0]["newer"] is None
    client.patch(f"/api/memory/facts/{fact.id}", json={"content": "客廳的燈叫做小華"})
    question, answer = client.get(f"{ROOT}/web:1").json()["messages"]
    assert question["newer"]["content"] == "客廳的燈叫做小華"
    assert question["newer"]["since"][:2] == "20"
    assert answer["newer"] is None


def test_a_long_conversation_is_read_page_by_page(
    server: RunningServer, client: httpx2.Client
) -> None:
    ids = talk(server, "web:1", *(f"question {number}" for number in range(100)))
    talk(server, "web:2", "something else")
    newest = client.get(f"{ROOT}/web:1", params={"limit": 50}).json()
    assert [each["id"] for each in newest["messages"]] == ids[150:]
    assert (newest["earlier"], newest["later"]) == (True, False)
    first = newest["messages"][0]["id"]
    page = client.get(f"{ROOT}/web:1", params={"limit": 50, "before": first}).json()
    assert [each["id"] for each in page["messages"]] == ids[100:150]
    assert (page["earlier"], page["later"]) == (True, True)
    oldest = client.get(f"{ROOT}/web:1", params={"limit": 50, "before": ids[50]}).json()
    assert [each["id"] for each in oldest["messages"]] == ids[:50]
    assert (oldest["earlier"], oldest["later"]) == (False, True)
    nothing = client.get(f"{ROOT}/web:1", params={"before": ids[0]}).json()
    assert (nothing["messages"], nothing["earlier"], nothing["later"]) == ([], False, True)
    whole = client.get(f"{ROOT}/web:1").json()
    assert [each["id"] for each in whole["messages"]] == ids


@pytest.mark.parametrize(
    ("place", "start", "earlier", "later"),
    [(0, 0, False, True), (30, 25, True, True), (39, 30, True, False)],
)
def test_a_message_is_shown_with_what_stands_around_it(
    server: RunningServer,
    client: httpx2.Client,
    place: int,
    start: int,
    *,
    earlier: bool,
    later: bool,
) -> None:
    ids = talk(server, "web:1", *(f"question {number}" for number in range(20)))
    page = client.get(f"{ROOT}/web:1", params={"limit": 10, "around": ids[place]}).json()
    assert [each["id"] for each in page["messages"]] == ids[start : start + 10]
    assert (page["earlier"], page["later"]) == (earlier, later)


# Changing it


def test_a_conversation_is_renamed_and_kept_out_of_the_search(
    server: RunningServer, client: httpx2.Client
) -> None:
    talk(server, "web:1", "客廳的燈叫什麼？")
    renamed = client.patch(f"{ROOT}/web:1", json={"title": " 燈\n與貓 "})
    assert (renamed.json()["title"], renamed.json()["renamed"]) == ("燈 與貓", True)
    assert client.get("/api/memory/search", params={"q": "客廳"}).json()["results"]
    hidden = client.patch(f"{ROOT}/web:1", json={"searched": False}).json()
    assert (hidden["searched"], hidden["title"]) == (False, "燈 與貓")
    assert client.get("/api/memory/search", params={"q": "客廳"}).json()["results"] == []
    both = client.patch(f"{ROOT}/web:1", json={"searched": True, "title": ""}).json()
    assert (both["searched"], both["title"], both["renamed"]) == (True, "客廳的燈叫什麼？", False)
    [hit] = client.get("/api/memory/search", params={"q": "客廳", "limit": 1}).json()["results"]
    assert (hit["conversation"], hit["trust"], hit["shown"]) == ("web:1", "user", True)
    assert hit["message"] == client.get(f"{ROOT}/web:1").json()["messages"][0]["id"]
    assert hit["time"].endswith("Z")


@pytest.mark.parametrize(
    ("body", "status"),
    [({"title": "x" * 1001}, 422), ({"title": "a\0b"}, 422), ({"titel": "x"}, 422), ({}, 200)],
)
def test_what_cannot_be_changed_is_refused(
    server: RunningServer, client: httpx2.Client, body: dict[str, Any], status: int
) -> None:
    talk(server, "web:1", "燈？")
    assert client.patch(f"{ROOT}/web:1", json=body).status_code == status
    assert client.get(ROOT).json()["conversations"][0]["title"] == "燈？"


def test_another_version_is_shown_when_it_is_chosen(
    server: RunningServer, client: httpx2.Client
) -> None:
    first = find_event(send_message(server.url, "客廳的燈？", key="web:1"), "done")
    send_message(server.url, "And the kitchen?", key="web:1")
    edited = find_event(send_message(server.url, "臥室的燈？", key="web:1", after=0), "done")
    assert isinstance(edited["answer"], int)
    page = client.get(f"{ROOT}/web:1").json()
    assert list_texts(page)[0] == "臥室的燈？"
    assert page["messages"][0]["versions"] == [first["question"], edited["question"]]
    chosen = client.post(f"{ROOT}/web:1/path", json={"message": first["question"]})
    assert (chosen.status_code, chosen.content) == (204, b"")
    assert list_texts(client.get(f"{ROOT}/web:1").json())[::2] == ["客廳的燈？", "And the kitchen?"]
    for wrong in (10**9, 2**63 - 1):
        answer = client.post(f"{ROOT}/web:1/path", json={"message": wrong})
        assert answer.status_code == 404
    assert client.post(f"{ROOT}/web:1/path", json={"message": 2**63}).status_code == 422
    assert client.post(f"{ROOT}/web:9/path", json={"message": 1}).status_code == 404


# Export


def test_a_conversation_is_exported_as_a_file(server: RunningServer, client: httpx2.Client) -> None:
    talk(server, "web:1", "客廳的燈叫什麼？")
    answer = client.get(f"{ROOT}/web:1/export")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    kind, _, name = answer.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert kind == "attachment"
    assert unquote(name).endswith("-客廳的燈叫什麼.md")
    assert answer.text.startswith("# 客廳的燈叫什麼？\n\n對話：web:1")
    assert "> Understood." in answer.text
    exported = client.get(f"{ROOT}/web:1/export", params={"format": "json"})
    assert exported.headers["content-type"] == "application/json"
    assert exported.headers["content-disposition"].endswith(".json")
    read = transcripts.from_json(exported.json())
    assert list(read.messages) == server.assistant.conversations.messages("web:1")
    assert client.get(f"{ROOT}/web:1/export", params={"format": "pdf"}).status_code == 422
    assert client.get(f"{ROOT}/web:9/export").status_code == 404


# Names and ends


def test_messages_of_other_hosts_come_as_they_are(
    server: RunningServer, client: httpx2.Client
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    server.assistant.conversations.add_messages(
        "slack:1",
        [
            Message("user", [{"type": "text", "text": "How warm is it?"}]),
            Message("assistant", None, tool_calls=[call]),
            Message("tool", "72°F", tool_call_id="c1"),
            Message("assistant", "72°F."),
        ],
    )
    messages = client.get(f"{ROOT}/slack:1").json()["messages"]
    assert messages[0]["content"] == [{"type": "text", "text": "How warm is it?"}]
    assert messages[1]["toolCalls"] == [call]
    assert (messages[2]["toolCallId"], messages[2]["content"]) == ("c1", "72°F")


@pytest.mark.parametrize(
    "key", ["客廳/燈 ?#%", "../../etc/passwd", "api:a&b=c", "a/export", "a/path", "export", "/"]
)
def test_any_key_names_its_conversation_and_no_file(
    server: RunningServer, client: httpx2.Client, key: str
) -> None:
    [asked, _] = talk(server, key, "哈囉")
    address = f"{ROOT}/{quote(key, safe='')}"
    assert client.get(address).json()["key"] == key
    assert client.get(f"{address}/export", params={"format": "json"}).json()["key"] == key
    assert client.patch(address, json={"title": "燈"}).json()["key"] == key
    assert client.post(f"{address}/path", json={"message": asked}).status_code == 204
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404


def test_an_erased_conversation_is_gone_to_the_last_byte(data: Path) -> None:
    with Assistant(DataFolder(data, "a test")) as assistant, serving(assistant) as url:
        send_message(url, "昨天我在夜市買了芝麻湯圓", key="web:1")
        send_message(url, "再見", key="web:1")
        send_message(url, "哈囉", key="web:2")
        assert assistant.index.search("芝麻湯圓")
        assert ask("DELETE", f"{url}{ROOT}/web:1").status_code == 204
        assert ask("GET", f"{url}{ROOT}/web:1").status_code == 404
        assert assistant.learning.count_queued("web:1") == 0
        assert ask("GET", f"{url}{ROOT}/web:2").status_code == 200
    assert "芝麻".encode() not in read_everything_in(data)


def test_an_unknown_conversation_is_not_found(client: httpx2.Client) -> None:
    for answer in (
        client.get(f"{ROOT}/web:0"),
        client.delete(f"{ROOT}/web:0"),
        client.patch(f"{ROOT}/web:0", json={"title": "燈"}),
        client.get(f"{ROOT}/web:0/export"),
    ):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert "web:0" in answer.json()["detail"]
    assert client.get(f"{ROOT}/{'k' * 600}").status_code == 422
    assert client.get(f"{ROOT}/a%0Ab").status_code == 404


def test_a_private_conversation_is_there_until_it_ends(
    server: RunningServer, client: httpx2.Client
) -> None:
    key = find_event(send_message(server.url, "暗號是芝麻", private=True), "start")["key"]
    found = client.get(f"{ROOT}/{key}").json()
    assert found["private"] is True
    assert [each["role"] for each in found["messages"]] == ["user", "assistant"]
    assert [each["id"] for each in found["messages"]] == [None, None]
    assert client.get(ROOT).json() == {"conversations": []}
    assert client.delete(f"{ROOT}/{key}").status_code == 204
    assert client.get(f"{ROOT}/{key}").status_code == 404
