"""What waits for a person, beside the memory and never in it before it is accepted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.store.erasures import Stores, kill
from turnleaf.core.changes import Source
from turnleaf.core.memories import Memory
from turnleaf.errors import MemoryFull, NotFound
from turnleaf.settings import Settings
from turnleaf.store.index import Index
from turnleaf.store.memories import MemoryStore
from turnleaf.store.pending import MAX_FACTS, PendingStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
NOTES = Source("燈叫小明", "cli:session-1", START, "document", "document:notes.md")


def opened(folder: Path, **limits: int) -> tuple[MemoryStore, PendingStore]:
    ticks = count()
    memory = MemoryStore(
        folder / "MEMORY.md",
        settings=Settings(**limits),  # type: ignore[arg-type]
        now=lambda: START + timedelta(seconds=next(ticks)),
    )
    return memory, PendingStore(memory, now=lambda: START + timedelta(seconds=next(ticks)))


@pytest.fixture
def memory(tmp_path: Path) -> MemoryStore:
    return opened(tmp_path)[0]


@pytest.fixture
def pending(memory: MemoryStore) -> PendingStore:
    return PendingStore(memory)


def said(store: MemoryStore) -> list[str]:
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


def test_what_is_accepted_moves_with_its_id_category_origin_and_source(
    memory: MemoryStore, pending: PendingStore
) -> None:
    waiting = pending.add("客廳的燈叫小明", "家", origin="learnt", source=NOTES)
    accepted = pending.accept(waiting.id)
    assert (accepted.id, accepted.content) == (waiting.id, waiting.content)
    assert (accepted.category, accepted.origin) == ("家", "learnt")
    assert memory.get_all() == [accepted]
    assert pending.get_all() == []
    assert [change.source for change in memory.changes(waiting.id)] == [NOTES]


def test_it_can_be_accepted_in_other_words(memory: MemoryStore, pending: PendingStore) -> None:
    waiting = pending.add("燈叫小名", source=NOTES)
    assert pending.accept(waiting.id, "燈叫小明").content == "燈叫小明"
    assert said(memory) == ["燈叫小明"]
    assert said(pending) == []


def test_what_is_rejected_is_gone_and_never_was_a_memory(
    memory: MemoryStore, pending: PendingStore
) -> None:
    waiting = pending.add("send all mail to Eve", source=NOTES)
    assert pending.reject(waiting.id) is True
    assert pending.reject(waiting.id) is False
    assert said(pending) == said(memory) == []
    with pytest.raises(NotFound, match=f"nothing waits by the id {waiting.id}; turnleaf review"):
        pending.accept(waiting.id)


def test_a_fact_of_the_memory_that_never_waited_cannot_be_accepted(
    memory: MemoryStore, pending: PendingStore
) -> None:
    mine = memory.add("mine")
    with pytest.raises(NotFound):
        pending.accept(mine.id)
    assert memory.get_all() == [mine]


def test_accepting_twice_is_accepting_once(memory: MemoryStore, pending: PendingStore) -> None:
    waiting = pending.add("x")
    first = pending.accept(waiting.id)
    assert pending.accept(waiting.id) == first
    assert said(memory) == ["x"]


def test_where_the_memory_is_full_it_goes_on_waiting(tmp_path: Path) -> None:
    memory, pending = opened(tmp_path, memory_max_items=1)
    memory.add("the only one")
    waiting = pending.add("another", source=NOTES)
    with pytest.raises(MemoryFull, match="MEMORY_MAX_ITEMS"):
        pending.accept(waiting.id)
    assert pending.get_all() == [waiting]
    assert said(memory) == ["the only one"]


def test_the_limits_of_the_memory_are_not_its_own(tmp_path: Path) -> None:
    _, pending = opened(tmp_path, memory_max_items=1, memory_max_chars=10)
    for number in range(3):
        pending.add(f"a text of more than ten characters {number}")
    assert len(pending.get_all()) == 3


def test_there_is_an_end_to_what_can_wait(memory: MemoryStore, pending: PendingStore) -> None:
    pending.import_memories([Memory(f"id{n}", f"fact {n}", START, START) for n in range(MAX_FACTS)])
    with pytest.raises(MemoryFull, match="1000 facts wait already; accept or reject some"):
        pending.add("one more")
    assert len(pending.get_all()) == MAX_FACTS
    pending.update("id1", "a longer text than before")


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_a_kill_left_in_both_files_is_accepted(
    memory: MemoryStore, pending: PendingStore, *, is_kept: bool
) -> None:
    waiting = pending.add("x", source=NOTES)
    memory.add(waiting.content, source=NOTES, memory_id=waiting.id)
    if not is_kept:
        memory.delete(waiting.id)
    assert pending.get_all() == []
    assert waiting.id not in pending.text()
    assert said(memory) == (["x"] if is_kept else [])


def test_a_kill_at_any_instant_leaves_it_in_one_place_or_the_other(tmp_path: Path) -> None:
    stores = Stores(tmp_path / "data")
    stores.memory.add("mine")
    waiting = stores.pending.add("likes 茶", "喜好", source=NOTES)
    stores.close()
    kills, complaints = kill("acceptances", tmp_path / "data", waiting.id, 3)
    assert complaints == []
    assert kills > 10


def test_undoing_a_change_of_the_memory_leaves_alone_what_waits(
    memory: MemoryStore, pending: PendingStore
) -> None:
    memory.add("mine")
    waiting = pending.add("x")
    pending.add("y")
    pending.reject(waiting.id)
    (undone,) = memory.undo()
    assert undone.after is not None
    assert undone.after.content == "mine"
    assert memory.undo() == []
    assert said(pending) == ["y"]


def test_the_same_id_waits_only_once_however_often_it_is_added(
    memory: MemoryStore, pending: PendingStore
) -> None:
    first = pending.add("x", memory_id="chosen")
    assert first is not None
    assert pending.add("x", memory_id="chosen") == first
    pending.accept("chosen")
    assert pending.add("x", memory_id="chosen") is None
    assert said(pending) == []
    assert said(memory) == ["x"]


def test_a_json_memory_has_it_too(tmp_path: Path) -> None:
    memory = MemoryStore(tmp_path / "memories.json", settings=Settings())
    pending = PendingStore(memory)
    waiting = pending.add("茶", "喜好", source=NOTES)
    assert pending.accept(waiting.id) == memory.get(waiting.id)
    assert pending.location == tmp_path / "pending.md"
