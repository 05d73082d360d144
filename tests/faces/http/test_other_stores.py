"""The server over stores that have no folder, no file and no path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.faces.http.conftest import make_data_folder, serving
from tests.postgres import empty_database
from turnleaf.assistant import Assistant
from turnleaf.core.messages import Message
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores

LAMP = "客廳的燈叫做小明"
SECRET = "hunter2"  # noqa: S105 - what must not be shown
SAYING = (
    "/api/status",
    "/api/memory/config",
    "/api/memory/main",
    "/api/memory/facts",
    "/api/schedules",
)
"""Addresses whose answers say where things are, and how they are set."""


BACKENDS: dict[str, Callable[[], Stores]] = {
    "memory": lambda: MemoryStores(MemoryPlace(), now=local_now),
    "postgres": lambda: Stores.open(empty_database()),
}


@pytest.fixture(params=BACKENDS)
def assistant(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Assistant]:
    with make_data_folder(tmp_path):
        stores = BACKENDS[request.param]()
        stores.config.change({"model": "recall", "embeddings": False})
        with Assistant(stores) as opened:
            yield opened


@pytest.fixture
def client(assistant: Assistant) -> Iterator[httpx2.Client]:
    with serving(assistant) as url, httpx2.Client(base_url=url) as opened:
        yield opened


def test_the_memory_is_read_and_saved(assistant: Assistant, client: httpx2.Client) -> None:
    assistant.memory.add(LAMP)
    read = client.get("/api/memory/main")
    main = read.json()
    assert LAMP in main["content"]
    assert main["file"] == assistant.stores.redact(str(assistant.memory.location))
    changed = main["content"].replace("小明", "小華")
    headers = {"If-Match": read.headers["ETag"]}
    saved = client.put("/api/memory/main", json={"content": changed}, headers=headers)
    assert saved.status_code == 200, saved.text
    assert "小華" in assistant.memory.get_all()[0].content


def test_what_was_said_is_found_and_an_answer_names_it(
    assistant: Assistant, client: httpx2.Client
) -> None:
    assistant.record("web:1", [Message("user", LAMP), Message("assistant", "好")])
    assistant.erase_conversation("web:none")
    [hit] = client.get("/api/memory/search", params={"q": "小明", "limit": 1}).json()["results"]
    assert hit["text"] == LAMP
    assistant.reply("web:2", "客廳的燈叫什麼名字？")
    shown = client.get("/api/conversations/web:2").json()["messages"]
    assert LAMP in shown[1]["content"]


def test_no_answer_of_the_server_has_the_password_of_the_database(tmp_path: Path) -> None:
    address = empty_database().replace("@/", f":{SECRET}@/")
    with (
        make_data_folder(tmp_path),
        Assistant(Stores.open(address)) as assistant,
        serving(assistant) as url,
        httpx2.Client(base_url=url) as client,
    ):
        assistant.stores.config.change({"model": "recall", "embeddings": False})
        told = {one: client.get(one, timeout=120) for one in SAYING}
    assert {one.status_code for one in told.values()} == {200}
    assert [one for one in told if SECRET in told[one].text + str(told[one].headers)] == []
