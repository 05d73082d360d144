"""003: what is remembered can be searched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.scores import require
from tests.store.contracts.test_announcements import AnnouncementListener
from tests.store.test_index_upkeep import CountedPassages
from turnleaf import DailyLog, Index, MemoryStore
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.store.contracts import Stores
from turnleaf.store.index_upkeep import IndexUpkeep

MEMORY = Path("data/prompts/memory/MEMORY.md")
DEADLINE_SECONDS = 60.0


@pytest.mark.scenario("003.automatic-reindex")
def test_a_changed_memory_file_is_indexed_by_itself() -> None:
    stores = Stores.open("data")
    stores.init()
    counted = CountedPassages(stores)
    with IndexUpkeep(counted, stores.announcements):  # type: ignore[arg-type]  # it counts
        assert counted.synced.wait(DEADLINE_SECONDS)
        MEMORY.write_text("- 客廳的燈叫做小明\n", "utf-8")
        assert counted.has_taken_in.wait(DEADLINE_SECONDS)
    assert stores.passages.sync() == 0, "a search has nothing left to take in"
    assert [hit.text for hit in stores.passages.search("客廳的燈")] == ["客廳的燈叫做小明"]
    stores.close()


@pytest.mark.scenario("003.automatic-reindex")
def test_changes_of_a_memory_file_are_indexed_a_second_and_a_half_after_the_last() -> None:
    stores = Stores.open("data")
    stores.init()
    counted, listener = CountedPassages(stores), AnnouncementListener()
    upkeep = IndexUpkeep(counted, stores.announcements)  # type: ignore[arg-type]  # it counts
    stores.announcements.subscribe(listener)
    for now, fact in ((10.0, "客廳的燈叫做小明"), (11.0, "廚房的燈叫做小美")):
        MEMORY.write_text(f"- {fact}\n", "utf-8")
        listener.wait_for("facts")
        upkeep.work({"facts"}, now)
    assert upkeep.work((), 12.4) == 12.5
    assert counted.syncs == 0
    upkeep.work((), 12.5)
    assert counted.syncs == 1
    assert stores.passages.sync() == 0
    stores.close()


@pytest.mark.scenario("003.search")
def test_a_search_gives_the_memories_that_match_ranked_by_bm25() -> None:
    memory = MemoryStore(MEMORY)
    memory.add("客廳的燈叫做小明，廚房的燈沒有名字，走廊的燈壞了，陽台有很多盆栽和一張舊椅子")
    memory.add("客廳的燈叫做小明")
    memory.add("我早上喝烏龍茶")
    daily = DailyLog("data/prompts/memory/daily")
    daily.append("客廳換了新窗簾")
    hits = Index("data/index.db", [memory, daily]).search("客廳的燈")
    assert hits[0].text == "客廳的燈叫做小明", "the shorter one is more about it"
    assert [hit.score for hit in hits] == sorted((require(hit.bm25) for hit in hits), reverse=True)
    assert {hit.source for hit in hits} == {"memory", "daily"}
    assert "我早上喝烏龍茶" not in {hit.text for hit in hits}


@pytest.mark.scenario("003.hybrid-search")
def test_with_vectors_the_score_is_a_blend_of_both() -> None:
    memory = MemoryStore(MEMORY)
    for content in ("我早上喝烏龍茶", "The lamp is called Ming", "Tea is in the cupboard"):
        memory.add(content)
    index = Index("data/index.db", [memory], LocalEmbedder())
    index.embed()
    hits = index.search("what tea do I drink in the morning", floor=False)
    assert {hit.text for hit in hits} >= {"我早上喝烏龍茶", "Tea is in the cupboard"}
    assert max(require(hit.vector) for hit in hits) > 0
    assert max(require(hit.bm25) for hit in hits) > 0
    for hit in hits:
        assert hit.score == pytest.approx(0.7 * require(hit.vector) + 0.3 * require(hit.bm25))


WITHOUT_EXTENSION = """
import sys
sys.modules["numpy"] = None
from turnleaf import Index
from turnleaf.llm.embeddings import LocalEmbedder
index = Index("data/index.db", [sys.argv[1]], LocalEmbedder())
assert index.embed() == 0
for hit in index.search("客廳的燈"):
    print(hit.text, hit.score == hit.bm25, hit.vector)
"""


@pytest.mark.scenario("003.search-without-vectors")
def test_without_numpy_the_search_goes_by_words_alone() -> None:
    memory = MemoryStore(MEMORY)
    memory.add("客廳的燈叫做小明")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTENSION, str(memory.location)],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("客廳的燈叫做小明 True None\n", "")
