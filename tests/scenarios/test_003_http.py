"""003: the memory is read, written, searched and set up over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.faces.http.conftest import RunningServer, calling, make_data_folder, serving
from turnleaf import Assistant

MEMORY = Path("data/prompts/memory/MEMORY.md")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx2.Client]:
    with make_data_folder(tmp_path) as data:
        assistant = Assistant("data")
        with serving(assistant) as url, calling(RunningServer(url, data, assistant)) as client:
            yield client
        assistant.close(flush=False)


@pytest.mark.scenario("003.api-memory")
def test_the_memory_file_is_read_and_written(client: httpx2.Client) -> None:
    text = "# 記憶\n\n- 客廳的燈叫做小明\n"
    assert client.put("/api/memory/main", json={"content": text}).status_code == 200
    assert MEMORY.read_text("utf-8") == text
    MEMORY.write_text(f"{text}- I drink oolong tea\n", "utf-8")
    assert client.get("/api/memory/main").json()["content"] == MEMORY.read_text("utf-8")


@pytest.mark.scenario("003.api-search")
def test_a_search_returns_what_matches(client: httpx2.Client) -> None:
    text = "- 客廳的燈叫做小明\n- 我早上喝烏龍茶\n- The kitchen lamp has no name\n"
    client.put("/api/memory/main", json={"content": text})
    for query, found in (
        ("客廳的燈", "客廳的燈叫做小明"),
        ("lamp", "The kitchen lamp has no name"),
    ):
        results = client.get("/api/memory/search", params={"q": query}).json()["results"]
        assert results[0]["text"] == found
        assert "我早上喝烏龍茶" not in {hit["text"] for hit in results}


@pytest.mark.scenario("003.api-settings")
def test_the_settings_are_read_and_written(client: httpx2.Client) -> None:
    wanted = {"enabled": False, "autoExtract": False, "flushThreshold": 0.6, "minNewMessages": 6}
    before = client.get("/api/memory/config").json()
    assert all(before[key] != value for key, value in wanted.items())
    assert client.put("/api/memory/config", json=wanted).status_code == 200
    assert client.get("/api/memory/config").json() == {**before, **wanted}
    written = json.loads(Path("data/memory-config.json").read_text("utf-8"))
    assert {key: written[key] for key in wanted} == wanted
