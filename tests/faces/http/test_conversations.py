"""Past conversations over HTTP."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.faces.http.conftest import Served, serving
from tests.faces.http.listening import answered, one, said
from turnleaf.assistant import Assistant
from turnleaf.core.messages import Message
from turnleaf.settings import DataFolder

ROOT = "/api/conversations"


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_conversations_are_listed_the_newest_first(server: Served, client: httpx2.Client) -> None:
    assert client.get(ROOT).json() == {"conversations": []}
    said(server.url, "客廳的燈叫什麼？", key="web:1")
    said(server.url, "What is my cat called?", key="web:2")
    said(server.url, "And my dog?", key="web:2")
    listed = client.get(ROOT).json()["conversations"]
    assert [(each["key"], each["title"], each["messages"]) for each in listed] == [
        ("web:2", "What is my cat called?", 4),
        ("web:1", "客廳的燈叫什麼？", 2),
    ]
    assert listed[0]["createdAt"] < listed[0]["updatedAt"]


def test_a_conversation_is_read_with_what_shaped_its_answers(
    server: Served, client: httpx2.Client
) -> None:
    memory = server.assistant.memory
    lamp, cat = memory.add("客廳的燈叫做小明"), memory.add("貓叫做米米")
    server.assistant.daily.append("小明換了燈泡")
    said(server.url, "小明怎麼了？", key="web:1")
    memory.delete(cat.id)
    found = client.get(f"{ROOT}/web:1").json()
    assert (found["key"], found["private"]) == ("web:1", False)
    asked, answered = found["messages"]
    assert (asked["role"], asked["content"]) == ("user", "小明怎麼了？")
    assert asked["timestamp"].endswith("Z")
    assert "小明換了燈泡" in answered["content"]
    [answer] = found["answers"]
    assert (answer["time"], answer["question"]) == (asked["timestamp"], "小明怎麼了？")
    assert answer["memories"] == [
        {"id": lamp.id, "content": "客廳的燈叫做小明"},
        {"id": cat.id, "content": None},
    ]
    [hit] = [each for each in answer["hits"] if each["source"] == "daily"]
    assert hit["file"].startswith("daily/2")
    assert hit["score"] > 0


def test_messages_of_other_hosts_come_as_they_are(server: Served, client: httpx2.Client) -> None:
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


@pytest.mark.parametrize("key", ["客廳/燈 ?#%", "../../etc/passwd", "api:a&b=c"])
def test_any_key_names_its_conversation_and_no_file(
    server: Served, client: httpx2.Client, key: str
) -> None:
    server.assistant.conversations.add_exchange(key, "哈囉", "你好")
    address = f"{ROOT}/{quote(key, safe='')}"
    assert client.get(address).json()["key"] == key
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404


def test_an_erased_conversation_is_gone_to_the_last_byte(data: Path) -> None:
    with Assistant(DataFolder(data, "a test")) as assistant, serving(assistant) as url:
        archived = {"conversationArchive": True, "conversationMaxTurns": 2}
        assert answered("PUT", f"{url}/api/memory/config", json=archived).status_code == 200
        said(url, "昨天我在夜市買了芝麻湯圓", key="web:1")
        said(url, "再見", key="web:1")
        said(url, "哈囉", key="web:2")
        assert assistant.index.search("芝麻湯圓")
        assert answered("DELETE", f"{url}{ROOT}/web:1").status_code == 204
        assert answered("GET", f"{url}{ROOT}/web:1").status_code == 404
        assert assistant.learning.waiting("web:1") == 0
        assert answered("GET", f"{url}{ROOT}/web:2").status_code == 200
    assert "芝麻".encode() not in everything_in(data)


def test_an_unknown_conversation_is_not_found(client: httpx2.Client) -> None:
    for answer in (client.get(f"{ROOT}/web:0"), client.delete(f"{ROOT}/web:0")):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert "web:0" in answer.json()["detail"]
    assert client.get(f"{ROOT}/{'k' * 600}").status_code == 422
    assert client.get(f"{ROOT}/a%0Ab").status_code == 404


def test_a_private_conversation_is_there_until_it_ends(
    server: Served, client: httpx2.Client
) -> None:
    key = one(said(server.url, "暗號是芝麻", private=True), "start")["key"]
    found = client.get(f"{ROOT}/{key}").json()
    assert found["private"] is True
    assert [each["role"] for each in found["messages"]] == ["user", "assistant"]
    assert found["answers"] == []
    assert client.get(ROOT).json() == {"conversations": []}
    assert client.delete(f"{ROOT}/{key}").status_code == 204
    assert client.get(f"{ROOT}/{key}").status_code == 404
