"""What became of the facts that messages gave."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnleaf import MemoryStore
from turnleaf.core.changes import Source
from turnleaf.core.search.message_filters import find_forgotten, find_superseded
from turnleaf.core.search.ranking import Newer

SAID = datetime(2026, 10, 1, 9, tzinfo=UTC)
LATER = SAID + timedelta(days=30)
KEY = "cli:session-1"


@pytest.fixture
def memory(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "MEMORY.md", now=lambda: LATER)


def source(time: datetime, quote: str = "the lamp is called Ming, you know") -> Source:
    return Source(quote=quote, conversation=KEY, message_time=time, trust="user")


def test_a_forgotten_fact_is_traced_to_its_messages_and_the_request(memory: MemoryStore) -> None:
    fact = memory.add("客廳的燈叫做小明", source=source(SAID))
    memory.delete(fact.id, source=source(LATER, "忘掉客廳的燈"))
    (traces,) = find_forgotten(memory.changes()).values()
    assert traces.places == {(KEY, SAID), (KEY, LATER)}
    assert traces.texts == {"客廳的燈叫做小明", "the lamp is called Ming, you know"}


def test_a_fact_that_came_back_is_not_forgotten(memory: MemoryStore) -> None:
    fact = memory.add("客廳的燈叫做小明", source=source(SAID))
    memory.delete(fact.id)
    memory.undo()
    assert find_forgotten(memory.changes()) == {}


def test_a_fact_that_was_never_deleted_is_not_forgotten(memory: MemoryStore) -> None:
    fact = memory.add("客廳的燈叫做小明", source=source(SAID))
    memory.update(fact.id, "客廳的燈叫做小華")
    memory.add("The cellar is damp in spring")
    memory.undo()
    assert find_forgotten(memory.changes()) == {}


def test_short_words_are_no_trace_of_a_fact(memory: MemoryStore) -> None:
    fact = memory.add("likes tea", source=source(SAID, "tea"))
    memory.delete(fact.id)
    (traces,) = find_forgotten(memory.changes()).values()
    assert traces.texts == set()


def test_the_messages_of_a_replaced_fact_know_what_holds_now(memory: MemoryStore) -> None:
    fact = memory.add("客廳的燈叫做小明", source=source(SAID))
    memory.update(fact.id, "客廳的燈叫做小華", source=source(LATER))
    assert find_superseded(memory.changes()) == {(KEY, SAID): Newer(LATER, "客廳的燈叫做小華")}


def test_a_fact_that_is_gone_or_says_the_same_again_replaces_nothing(memory: MemoryStore) -> None:
    back = memory.add("客廳的燈叫做小明", source=source(SAID))
    memory.update(back.id, "客廳的燈叫做小華")
    memory.update(back.id, "客廳的燈叫做小明")
    gone = memory.add("The cellar is damp", source=source(LATER))
    memory.update(gone.id, "The cellar is dry")
    memory.delete(gone.id)
    assert find_superseded(memory.changes()) == {}
