"""What waits for a person, beside the memory and never in it before it is accepted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.store.erasures import ErasureStores, kill
from turnleaf.core.changes import Source
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.pending import PendingStore
from turnleaf.store.files.index.index import Index

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
NOTES = Source("燈叫小明", "cli:session-1", START, "document", "document:notes.md")


def open_stores(folder: Path, **limits: int) -> tuple[MemoryStore, PendingStore]:
    ticks = count()
    memory = MemoryStore(
        folder / "MEMORY.md",
        settings=Settings(**limits),  # type: ignore[arg-type]
        now=lambda: START + timedelta(seconds=next(ticks)),
    )
    return memory, PendingStore(memory, now=lambda: START + timedelta(seconds=next(ticks)))


@pytest.fixture
def memory(tmp_path: Path) -> MemoryStore:
    return open_stores(tmp_path)[0]


@pytest.fixture
def pending(memory: MemoryStore) -> PendingStore:
    return PendingStore(memory)


def list_contents(store: MemoryStore) -> list[str]:
    return [one.content for one in store.get_all()]


def test_it_is_a_file_of_its_own_beside_the_memory(
    memory: MemoryStore, pending: PendingStore
) -> None:
    waiting = pending.add("客廳的燈叫小明", "家", origin="learnt", source=NOTES)
    assert pending.location == memory.location.with_name("pending.md")
    assert pending.text().startswith("# Waiting to be accepted\n\n## 家\n\n- 客廳的燈叫小明 <!--")
    assert pending.get_all() == [waiting]
    assert memory.get_all() == []
    assert "小明" not in memory.prompt_text()


def test_what_waits_is_not_found_by_a_search(
    tmp_path: Path, memory: MemoryStore, pending: PendingStore
) -> None:
    memory.add("the lamp is green")
    pending.add("the lamp is called Ming")
    hits = Index(tmp_path / "index.db", [tmp_path]).search("lamp")
    assert [hit.text for hit in hits] == ["the lamp is green"]


def test_a_kill_at_any_instant_leaves_it_in_one_place_or_the_other(tmp_path: Path) -> None:
    stores = ErasureStores(tmp_path / "data")
    stores.memory.add("mine")
    waiting = stores.pending.add("likes 茶", "喜好", source=NOTES)
    stores.close()
    step = 1 if LONG else 3
    kills, complaints = kill("acceptances", tmp_path / "data", waiting.id, step)
    assert complaints == []
    assert kills * step > 30


def test_a_json_memory_has_it_too(tmp_path: Path) -> None:
    memory = MemoryStore(tmp_path / "memories.json", settings=Settings())
    pending = PendingStore(memory)
    waiting = pending.add("茶", "喜好", source=NOTES)
    assert pending.accept(waiting.id) == memory.get(waiting.id)
    assert pending.location == tmp_path / "pending.md"
