"""The contract of `Facts` and `PendingFacts`: what is remembered, how, and how it is taken back."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.clocks import Clock
from tests.store.contracts.conftest import BACKENDS, WITH_JSON, Backend, open_backend
from tests.store.contracts.together import do_at_once
from tests.strategies import brief, contents
from turnleaf.core import changes
from turnleaf.core.changes import Source
from turnleaf.core.memories import Memory
from turnleaf.errors import Conflict, InvalidInput, MemoryFull, NotFound
from turnleaf.settings import Settings
from turnleaf.store.contracts import Facts, PendingFacts, Stores

START = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
CHAT = Source(quote="q", conversation="web:1", message_time=START, trust="user")
NOTES = Source("燈叫小明", "cli:session-1", START, "document", "document:notes.md")
MAX_PENDING = 1000
NUMBERS = itertools.count()
on_pages = pytest.mark.parametrize("backend", BACKENDS, indirect=True)
"""For what is about a text of Markdown, and not of JSON."""


@pytest.fixture(params=WITH_JSON)
def backend(request: pytest.FixtureRequest, folder: Path) -> Iterator[Backend]:
    yield from open_backend(request.param, folder)


class FactsBackend:
    """A backend whose facts are opened with one limit or another."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.clock = backend.clock

    def open(self, space: str = "default", **limits: int) -> Facts:
        store = self._backend.open(space).facts
        store.use(Settings(**limits))  # type: ignore[arg-type]
        store.init()
        return store

    def open_both(self, **limits: int) -> tuple[Facts, PendingFacts]:
        opened = self._backend.open()
        opened.facts.use(Settings(**limits))  # type: ignore[arg-type]
        return opened.facts, opened.pending

    def data(self) -> str:
        return self.open().text()


@pytest.fixture(autouse=True)
def noon(clock: Clock) -> None:
    clock.now = START


@pytest.fixture
def place(backend: Backend) -> FactsBackend:
    return FactsBackend(backend)


def list_contents(store: Facts) -> list[str]:
    return [memory.content for memory in store.get_all()]


def list_older(store: Facts) -> list[str]:
    return [memory.content for memory in store.older()]


def type_fact(text: str, content: str) -> str:
    """Return a page with a fact that a person typed below."""
    return f"{text}\nabove\n\n- {content}\n"


def drop_facts(text: str, *contents: str) -> str:
    """Return a page without the lines of some facts."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not any(f"- {one}" in line for one in contents))


# Remembering and forgetting


def test_a_fact_is_kept_with_its_id_times_category_and_origin(place: FactsBackend) -> None:
    memory = place.open().add("喜歡咖啡", "Home", origin="tool:save")
    assert memory == Memory(memory.id, "喜歡咖啡", START, START, "Home", "tool:save")
    assert memory.id
    assert place.open().get_all() == [memory]
    assert place.open().get(memory.id) == memory
    assert place.open().get("nobody") is None


def test_an_id_chosen_beforehand_is_added_once(place: FactsBackend) -> None:
    first = place.open().add("茶", "喜好", memory_id="chosen")
    assert first is not None
    assert first.id == "chosen"
    before = place.data()
    assert place.open().add("茶", memory_id="chosen") == first
    assert place.data() == before


def test_an_id_chosen_beforehand_is_not_held_up_by_a_full_memory(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1)
    first = store.add("tea", memory_id="chosen")
    assert store.add("tea", memory_id="chosen") == first
    with pytest.raises(MemoryFull):
        store.add("coffee", memory_id="another")


def test_every_change_tells_what_it_rests_on(place: FactsBackend) -> None:
    store = place.open()
    sources = [
        Source(f"說 {n}", "cli:session-1", START, "document", f"document:筆記 {n}.md")
        for n in range(3)
    ]
    memory = store.add("before", source=sources[0])
    store.update(memory.id, "after", source=sources[1])
    store.delete(memory.id, source=sources[2])
    assert [change.source for change in place.open().changes(memory.id)] == sources


def test_an_update_keeps_the_id_and_the_first_time(place: FactsBackend) -> None:
    store = place.open()
    first = store.add("before", "Home")
    updated = store.update(first.id, "after")
    assert updated is not None
    assert updated == dataclasses.replace(first, content="after", updated_at=updated.updated_at)
    assert updated.updated_at > first.updated_at
    assert place.open().get_all() == [updated]


def test_an_update_is_later_than_the_last_whatever_the_clock_says(place: FactsBackend) -> None:
    store = place.open()
    memory = store.add("1")
    place.clock.pass_time(hours=-1)
    times = [store.update(memory.id, text) for text in "234"]
    stamps = [one.updated_at for one in times if one]
    assert stamps == sorted(set(stamps))
    assert stamps[0] > memory.updated_at


def test_what_is_not_there_is_neither_updated_nor_deleted(place: FactsBackend) -> None:
    store = place.open()
    store.add("x")
    before = place.data()
    assert store.update("nobody", "y") is None
    assert store.delete("nobody") is False
    assert place.data() == before


def test_a_deleted_fact_is_gone_for_everybody(place: FactsBackend) -> None:
    store = place.open()
    first, second = store.add("first"), store.add("second")
    assert store.delete(first.id) is True
    assert store.get_all() == [second]
    assert place.open().get_all() == [second]
    assert store.delete(first.id) is False


def test_an_update_of_what_somebody_changed_meanwhile_is_refused(place: FactsBackend) -> None:
    store = place.open()
    memory = store.add("read")
    place.open().update(memory.id, "changed by another")
    with pytest.raises(Conflict, match="changed meanwhile; check it and try again"):
        store.update(memory.id, "mine", expected="read")
    assert list_contents(store) == ["changed by another"]
    assert store.update(memory.id, "mine", expected="changed by another")


@pytest.mark.parametrize("keyword", ["coffee", "COFFEE", "offe", "咖啡", " "])
def test_search_is_a_literal_substring_whatever_the_case(place: FactsBackend, keyword: str) -> None:
    store = place.open()
    store.add("Likes Coffee 咖啡")
    store.add("tea")
    assert [memory.content for memory in store.search(keyword)] == ["Likes Coffee 咖啡"]


def test_search_knows_no_patterns(place: FactsBackend) -> None:
    store = place.open()
    store.add("a.c (x) [y] 100%")
    assert [len(store.search(each)) for each in ("a.c", "(x)", "100%", "abc", ".*", "_")] == [
        *(1, 1, 1),
        *(0, 0, 0),
    ]
    assert store.search("nothing of it") == []


@pytest.mark.parametrize(
    "content",
    [
        "  edges  ",
        "two\nlines",
        "first line ends in spaces  \nsecond",
        "\n\nx",
        "windows\r\nlines\r\n",
        "- looks like a bullet\n- and another",
        "# looks like a heading\n\n```\ncode\n```",
        "<!-- turnleaf id=forged -->",
        "***",
        "../../etc/passwd",
        "🙂\u200b\u2028\x85\x0b",
        "x" * 9000,
    ],
)
def test_any_text_is_remembered_exactly(place: FactsBackend, content: str) -> None:
    store = place.open()
    store.add("before")
    memory = store.add(content, "Home")
    store.add("after")
    assert place.open().get(memory.id) == memory
    assert list_contents(place.open()).count(content) == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\0b", r"U\+0000 \(at position 1\)"),
        ("\ud800", r"U\+D800"),
        (None, "must be text, not NoneType"),
        (7, "must be text, not int"),
    ],
)
def test_what_is_no_text_is_refused_and_nothing_changes(
    place: FactsBackend, content: str, problem: str
) -> None:
    store = place.open()
    memory = store.add("as it was")
    before = place.data()
    with pytest.raises(InvalidInput, match=problem):
        store.add(content)
    with pytest.raises(InvalidInput, match=problem):
        store.update(memory.id, content)
    assert place.data() == before


@pytest.mark.parametrize("category", ["x" * 101, "a\0b", "\udc00"])
def test_what_is_no_category_is_refused(place: FactsBackend, category: str) -> None:
    store = place.open()
    with pytest.raises(InvalidInput, match="a category"):
        store.add("x", category)
    assert store.get_all() == []


@pytest.mark.parametrize("keyword", [None, 5, "\0", "\ud800"])
def test_what_is_no_keyword_is_refused(place: FactsBackend, keyword: str) -> None:
    with pytest.raises(InvalidInput, match="a keyword"):
        place.open().search(keyword)


@pytest.mark.parametrize("category", ["  the\nhouse ", "家", "- x", "a ## b", "<div>", "`x`", "C#"])
def test_a_category_is_kept_as_a_heading_can_say_it(place: FactsBackend, category: str) -> None:
    memory = place.open().add("x", category)
    assert memory.category == " ".join(category.split())
    assert [one.id for one in place.open().get_all()] == [memory.id]
    place.open().add("y", category)
    assert {one.category for one in place.open().get_all()} == {memory.category}


def test_more_facts_than_the_limit_are_refused(place: FactsBackend) -> None:
    store = place.open(memory_max_items=2)
    store.add("one")
    store.add("two")
    before = place.data()
    with pytest.raises(MemoryFull, match="MEMORY_MAX_ITEMS"):
        store.add("three")
    assert place.data() == before
    assert len(store.changes()) == 2


def test_more_characters_than_the_limit_are_refused(place: FactsBackend) -> None:
    store = place.open(memory_max_chars=10)
    store.add("12345")
    before = place.data()
    with pytest.raises(MemoryFull, match="MEMORY_MAX_CHARS"):
        store.add("123456")
    assert place.data() == before
    assert store.add("67890").content == "67890"


def test_only_an_addition_and_a_growing_update_are_refused(place: FactsBackend) -> None:
    memory = place.open().add("1234567890")
    place.open().add("other")
    full = place.open(memory_max_items=1, memory_max_chars=5)
    with pytest.raises(MemoryFull):
        full.add("x")
    with pytest.raises(MemoryFull, match="MEMORY_MAX_CHARS"):
        full.update(memory.id, "1234567890+")
    assert full.update(memory.id, "0987654321")
    assert full.update(memory.id, "shorter")
    assert len(full.get_all()) == 2
    full.undo()
    assert full.delete(memory.id)
    full.undo()
    assert len(full.get_all()) == 2


def test_a_growing_update_within_the_characters_works_with_too_many_facts(
    place: FactsBackend,
) -> None:
    memory = place.open().add("x")
    place.open().add("y")
    assert place.open(memory_max_items=1).update(memory.id, "longer")


def test_each_kind_of_change_is_undone_to_the_letter(place: FactsBackend) -> None:
    store = place.open()
    memory = store.add("kept", "Home")
    deeds: list[Callable[[], object]] = [
        lambda: store.add("added"),
        lambda: store.add("added", "A new category"),
        lambda: store.update(memory.id, "two\nlines"),
        lambda: store.delete(memory.id),
        lambda: store.import_memories([Memory("x", "imported", START, START, "Far", None)]),
    ]
    for deed in deeds:
        before = place.data()
        deed()
        assert place.data() != before
        assert store.undo()
        assert place.data() == before


def test_the_first_fact_is_undone_to_the_letter(place: FactsBackend) -> None:
    store = place.open()
    before = place.data()
    store.add("first")
    store.undo()
    assert place.data() == before


def test_an_import_is_undone_as_one(place: FactsBackend) -> None:
    store = place.open()
    store.add("here")
    before = place.data()
    store.import_memories([Memory(name, name, START, START, name, None) for name in "abc"])
    assert len(store.undo()) == 3
    assert place.data() == before


def test_undo_goes_back_step_by_step(place: FactsBackend) -> None:
    store = place.open()
    states = [place.data()]
    memory = store.add("1")
    states.append(place.data())
    store.update(memory.id, "2")
    states.append(place.data())
    store.delete(memory.id)
    for state in reversed(states):
        assert store.undo()
        assert place.data() == state
    assert store.undo() == []
    assert place.data() == states[0]


def test_another_who_opened_it_can_undo(place: FactsBackend) -> None:
    added = place.open().add("x")
    (undone,) = place.open().undo()
    assert (undone.op, undone.id) == ("add", added.id)
    assert place.open().get_all() == []


def test_the_record_tells_what_was_changed_by_whom_and_why(place: FactsBackend) -> None:
    store = place.open()
    source = Source("「我喜歡咖啡」", "slack:1.2", START, "trusted")
    memory = store.add("喜歡咖啡", origin="extraction", source=source)
    store.update(memory.id, "喜歡茶", origin="tool:edit")
    store.delete(memory.id)
    store.undo()
    changes = place.open().changes(memory.id)
    assert [change.op for change in changes] == ["add", "update", "delete", "undo"]
    assert [change.n for change in changes] == [1, 2, 3, 4]
    assert [change.origin for change in changes] == ["extraction", "tool:edit", "user", "user"]
    assert changes[0].source == source
    assert (changes[0].before, changes[0].after) == (None, memory)
    assert (changes[1].before, changes[1].after) == (memory, changes[2].before)
    assert changes[2].after is None
    assert changes[3].undoes == 3
    assert store.changes("nobody") == []


def test_a_refused_change_is_not_on_record(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1)
    added = store.add("x")
    with pytest.raises(MemoryFull):
        store.add("y")
    with pytest.raises(Conflict):
        store.update(added.id, "z", expected="something else")
    assert [change.op for change in store.changes()] == ["add"]


def test_a_second_instance_sees_what_the_first_wrote(place: FactsBackend) -> None:
    one, other = place.open(), place.open()
    memory = one.add("written by one")
    assert other.get_all() == [memory]
    other.update(memory.id, "changed by the other")
    assert list_contents(one) == ["changed by the other"]
    one.delete(memory.id)
    assert other.get_all() == []


def test_who_add_at_once_lose_nothing(place: FactsBackend) -> None:
    store = place.open()

    def work(given: tuple[Facts, str]) -> list[str]:
        opened, name = given
        return [opened.add(f"{name} {number}").id for number in range(8)]

    ids = do_at_once(work, [(store, "a"), (store, "b"), (place.open(), "c")])
    assert sorted(list_contents(store)) == sorted(f"{name} {n}" for name in "abc" for n in range(8))
    assert {one.id for one in store.get_all()} == {one for several in ids for one in several}
    assert len(store.changes()) == 24


def test_what_is_imported_keeps_its_ids_and_times(place: FactsBackend) -> None:
    store = place.open()
    later = START + timedelta(days=1)
    memories = [
        Memory("x", "first", START, later, "Home", "user"),
        Memory("y", "second\nline", START, START, None, None),
    ]
    assert store.import_memories(memories) == 2
    assert sorted(store.get_all(), key=lambda one: one.id) == memories
    assert {change.op for change in store.changes()} == {"import"}


def test_what_is_there_already_is_not_imported_again(place: FactsBackend) -> None:
    store = place.open()
    store.add("here")
    known = Memory("other", "here", START, START)
    assert store.import_memories([known, known]) == 0
    assert store.import_memories([dataclasses.replace(known, category="Home")]) == 1


def test_a_taken_id_of_another_fact_is_told_apart(place: FactsBackend) -> None:
    store = place.open()
    taken = store.add("here").id
    assert store.import_memories([Memory(taken, "there", START, START)]) == 1
    assert {memory.content: memory.id for memory in store.get_all()} == {
        "here": taken,
        "there": f"{taken}-2",
    }


def test_an_import_is_all_or_nothing(place: FactsBackend) -> None:
    store = place.open(memory_max_items=2)
    store.add("here")
    before = place.data()
    with pytest.raises(MemoryFull):
        store.import_memories([Memory(name, name, START, START) for name in "ab"])
    with pytest.raises(InvalidInput):
        store.import_memories([Memory("a", "a", START, START), Memory("b", "\0", START, START)])
    assert place.data() == before


def learn(store: Facts, *contents: str) -> list[Memory]:
    return [store.add(content, origin="learnt", source=CHAT) for content in contents]


def test_a_fact_keeps_its_slot_its_last_day_and_how_often_it_was_said(place: FactsBackend) -> None:
    store = place.open()
    exam = store.add("exam on 2026-11-20", slot="plan", until=date(2026, 11, 20))
    counted = store.count_repeat(exam.id)
    assert counted is not None
    assert (counted.slot, counted.until, counted.said_count) == ("plan", date(2026, 11, 20), 2)
    assert counted.updated_at > exam.updated_at
    assert place.open().get_all() == [counted]
    assert store.count_repeat("nobody") is None


def test_one_undo_takes_back_that_a_fact_was_said_again(place: FactsBackend) -> None:
    store = place.open()
    fact = store.add("I live in Taipei")
    before = place.data()
    store.count_repeat(fact.id)
    store.undo()
    assert place.data() == before


def test_an_update_keeps_slot_and_last_day_unless_others_are_given(place: FactsBackend) -> None:
    store = place.open()
    fact = store.add("exam", slot="plan", until=date(2026, 12, 1))
    kept = store.update(fact.id, "the exam")
    assert kept is not None
    assert (kept.slot, kept.until) == ("plan", date(2026, 12, 1))
    store.update(fact.id, "an exam", slot=None, until=None)
    assert [(one.slot, one.until) for one in place.open().get_all()] == [(None, None)]


@pytest.mark.parametrize("slot", ["", "  ", "x" * 101, "a\0b", "\ud83d"])
def test_what_cannot_name_a_slot_is_refused(place: FactsBackend, slot: str) -> None:
    with pytest.raises(InvalidInput, match="a slot must be a name"):
        place.open().add("x", slot=slot)


def test_a_moment_is_no_day(place: FactsBackend) -> None:
    with pytest.raises(InvalidInput, match="must be a date"):
        place.open().add("x", until=START)


def test_one_undo_puts_facts_back_where_they_were(place: FactsBackend) -> None:
    store = place.open()
    facts = [store.add(text) for text in ("one", "two", "three")]
    before = place.data()
    store.retire([facts[0].id, facts[1].id])
    undone = store.undo()
    assert {change.op for change in undone} == {"retire"}
    assert place.data() == before
    assert store.older() == []
    store.undo()
    assert list_contents(store) == ["one", "two"]


def test_several_facts_are_deleted_in_one_change_and_one_undo_brings_them_back(
    place: FactsBackend,
) -> None:
    store = place.open()
    facts = [store.add(text, "家") for text in ("one", "two", "three")]
    before = place.data()
    assert store.delete_all([facts[0].id, facts[2].id, "nobody"]) == [facts[0], facts[2]]
    assert list_contents(store) == ["two"]
    store.undo()
    assert place.data() == before
    assert store.delete_all([]) == []


def test_a_pin_is_kept_with_the_fact_and_leaves_its_day_alone(place: FactsBackend) -> None:
    store = place.open()
    fact = store.add("對花生過敏", slot="allergy", until=date(2026, 12, 1))
    place.clock.pass_time(days=3)
    (pinned,) = store.arrange([fact.id], pinned=True)
    assert pinned.pinned
    assert pinned.updated_at.date() == fact.updated_at.date()
    assert place.open().get(fact.id) == pinned
    assert store.arrange([fact.id], pinned=True) == [pinned]
    assert len(store.changes(fact.id)) == 2
    store.undo()
    assert place.open().get(fact.id) == fact


def test_facts_move_below_another_category_in_one_change(place: FactsBackend) -> None:
    store = place.open()
    facts = [store.add(text, "Home") for text in ("one", "two")]
    other = store.add("three", "家")
    moved = store.arrange([one.id for one in facts], category="家")
    assert {(one.id, one.category) for one in moved} == {(one.id, "家") for one in facts}
    assert {one.category for one in place.open().get_all()} == {"家"}
    store.arrange([other.id], category=None)
    assert [one.category for one in store.get_all() if one.id == other.id] == [None]
    store.undo(), store.undo()
    assert {one.content: one.category for one in store.get_all()} == {
        "one": "Home", "two": "Home", "three": "家",
    }  # fmt: skip
    assert {one.id for one in store.get_all()} == {one.id for one in (*facts, other)}


def test_a_fact_said_again_comes_back_and_one_undo_takes_it_away(place: FactsBackend) -> None:
    store = place.open()
    cat = store.add("I have a cat", slot="pets", until=date(2026, 12, 1))
    store.retire([cat.id], origin="learnt")
    back = store.revive(cat.id, origin="learnt", source=CHAT)
    assert back is not None
    assert (back.memory.id, back.memory.said_count, back.memory.until) == (cat.id, 2, None)
    assert (list_contents(store), list_older(store)) == (["I have a cat"], [])
    assert [change.op for change in store.changes(cat.id)] == ["add", "retire", "revive"]
    store.undo()
    assert (list_contents(store), list_older(store)) == ([], ["I have a cat"])
    (again,) = store.older()
    assert (again.said_count, again.until) == (1, date(2026, 12, 1))
    store.undo()
    assert (list_contents(store), list_older(store)) == (["I have a cat"], [])
    assert store.revive("nobody") is None


def test_what_is_asked_for_comes_back_if_it_is_an_older_fact(place: FactsBackend) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    assert store.remember("I have a cat").memory.id == cat.id
    assert (list_contents(store), list_older(store)) == (["I have a cat"], [])


def test_older_facts_are_not_counted_by_the_limits(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1)
    for number in range(3):
        store.retire([store.add(f"fact {number}").id])
    assert len(store.older()) == 3
    store.add("and one more")


def test_an_older_fact_can_be_forgotten_and_that_undone(place: FactsBackend) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    assert store.delete(cat.id)
    assert store.older() == []
    assert not store.delete(cat.id)
    store.undo()
    assert list_older(store) == ["I have a cat"]
    store.undo()
    assert list_contents(store) == ["I have a cat"]


def test_the_changes_of_facts_and_older_facts_are_one_story(place: FactsBackend) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    store.add("I like tea")
    store.delete(cat.id)
    assert [change.op for change in store.changes()] == ["add", "retire", "add", "delete"]
    numbers = [change.n for change in store.changes()]
    assert numbers == sorted(set(numbers))


def test_a_fact_is_gone_from_the_day_after_its_last(place: FactsBackend) -> None:
    store = place.open()
    store.add("exam on the 18th", until=date(2026, 11, 18))
    store.add("I like tea")
    place.clock.now = START + timedelta(days=1)
    assert list_contents(store) == ["exam on the 18th", "I like tea"]
    place.clock.now = START + timedelta(days=2)
    before = store.text()
    assert (list_contents(store), list_older(store)) == (["I like tea"], ["exam on the 18th"])
    view = store.view()
    assert [one.content for one in view.ended] == ["exam on the 18th"]
    assert (view.facts, view.page) == (store.get_all(), store.prompt_text())
    assert "exam" not in store.prompt_text()
    assert "I like tea" in store.prompt_text()
    assert store.text() == before


def test_the_next_write_moves_what_ended_within_the_same_change(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1)
    exam = store.add("exam", until=date(2026, 11, 17))
    place.clock.now = START + timedelta(days=1)
    tea = store.add("I like tea")
    assert "exam" not in place.data()
    assert store.view().ended == []
    assert [one.id for one in store.older()] == [exam.id]
    last = store.changes()[-2:]
    assert [(one.op, one.id) for one in last] == [("expire", exam.id), ("add", tea.id)]
    assert last[0].step == last[1].step


def test_an_undo_leaves_what_ended_where_it_is(place: FactsBackend) -> None:
    store = place.open()
    store.add("exam", until=date(2026, 11, 17))
    store.add("I like tea")
    place.clock.now = START + timedelta(days=1)
    store.add("I have a cat")
    store.undo()
    assert (list_contents(store), list_older(store)) == (["I like tea"], ["exam"])


def test_what_ended_comes_back_when_it_is_said_again(place: FactsBackend) -> None:
    store = place.open()
    exam = store.add("exam", until=date(2026, 11, 17))
    place.clock.now = START + timedelta(days=1)
    back = store.revive(exam.id, until=date(2026, 12, 24))
    assert back is not None
    assert back.memory.until == date(2026, 12, 24)
    assert (list_contents(store), list_older(store)) == (["exam"], [])


def test_what_ended_can_be_forgotten(place: FactsBackend) -> None:
    store = place.open()
    exam = store.add("exam", until=date(2026, 11, 17))
    place.clock.now = START + timedelta(days=1)
    assert store.delete(exam.id)
    assert store.older() == []


def test_what_is_asked_for_takes_the_place_of_the_weakest_learned_fact(place: FactsBackend) -> None:
    store = place.open(memory_max_items=5)
    twice, weak, newer = learn(store, "said twice", "said once", "said later")
    store.count_repeat(twice.id, origin="learnt")
    store.add("mine"), store.add("also mine")
    before = place.data()
    kept = store.remember("我對青黴素過敏")
    assert [one.id for one in kept.displaced] == [weak.id]
    assert list_contents(store) == [
        "said twice",
        "said later",
        "mine",
        "also mine",
        "我對青黴素過敏",
    ]
    assert list_older(store) == ["said once"]
    store.undo()
    assert place.data() == before
    assert store.older() == []
    assert newer.id in {one.id for one in store.get_all()}


def test_nothing_but_learned_facts_makes_room(place: FactsBackend) -> None:
    store, pending = place.open_both(memory_max_items=5)
    (edited, accepted) = learn(store, "edited", "kept")
    store.update(edited.id, "edited by me")
    store.add("mine"), store.add("a tool's", origin="tool")
    waiting = pending.add("from a document", origin="learnt", source=Source(trust="document"))
    pending.accept(waiting.id)
    assert [one.id for one in store.remember("x").displaced] == [accepted.id]
    with pytest.raises(MemoryFull, match="turnleaf config memoryMaxItems 10"):
        store.remember("y")
    assert list_older(store) == ["kept"]


def test_as_many_learned_facts_leave_as_it_takes(place: FactsBackend) -> None:
    store = place.open(memory_max_chars=100)
    learn(store, "a" * 30, "b" * 30)
    store.add("c" * 30)
    assert len(store.remember("d" * 60).displaced) == 2
    with pytest.raises(MemoryFull, match="turnleaf config memoryMaxChars"):
        store.remember("e" * 60)
    assert len(store.older()) == 2


@pytest.mark.parametrize(("limit", "room"), [(10, 8), (6, 5)])
def test_learning_leaves_places_free(place: FactsBackend, limit: int, room: int) -> None:
    store = place.open(memory_max_items=limit)
    learn(store, *(f"fact {number}" for number in range(room)))
    assert store.room("learnt").items == 0
    with pytest.raises(MemoryFull, match="reserved for what you ask to be remembered"):
        learn(store, "one more")
    for number in range(limit - room):
        store.add(f"mine {number}")
    with pytest.raises(MemoryFull, match="MEMORY_MAX_ITEMS"):
        store.add("one more")


def test_learning_leaves_characters_free(place: FactsBackend) -> None:
    store = place.open(memory_max_items=10, memory_max_chars=100)
    with pytest.raises(MemoryFull, match="80 characters"):
        learn(store, "x" * 81)
    learn(store, "x" * 80)
    assert store.room("learnt").chars == 0


def test_what_was_said_again_elsewhere_stays_when_the_first_source_is_erased(
    place: FactsBackend,
) -> None:
    store = place.open()
    cat = store.add("I have a cat", origin="learnt", source=CHAT)
    store.retire([cat.id])
    store.revive(cat.id, source=Source(conversation="web:2", trust="user"))
    store.erase("web:1")
    assert list_contents(store) == ["I have a cat"]


def test_a_fact_that_leaves_is_older_and_nothing_else(place: FactsBackend) -> None:
    store = place.open()
    cat, tea = store.add("I have a cat", "Home"), store.add("I like tea")
    assert [one.id for one in store.retire([cat.id, "nobody"])] == [cat.id]
    assert (list_contents(store), list_older(store)) == (["I like tea"], ["I have a cat"])
    assert "cat" not in store.prompt_text()
    again = place.open()
    assert [(one.id, one.category, one.created_at) for one in again.older()] == [
        (cat.id, "Home", cat.created_at)
    ]
    assert {cat.id, tea.id} <= again.list_known_ids()


def fill_store(place: FactsBackend, *contents: str) -> Facts:
    store = place.open()
    for content in contents or ("客廳的燈叫做小明", "tea", "coffee"):
        store.add(content)
    return store


@on_pages
def test_with_the_version_that_was_read_it_is_written_and_with_another_it_is_not(
    place: FactsBackend,
) -> None:
    store = fill_store(place)
    text, version = store.snapshot()
    added = place.open().add("meanwhile")
    before = place.data()
    with pytest.raises(Conflict, match=r"changed since it was read.*read it again"):
        store.write(drop_facts(text, "tea"), expected=version)
    assert place.data() == before
    text, version = store.snapshot()
    store.write(drop_facts(text, "tea"), expected=version)
    assert added in store.get_all()
    assert "tea" not in sorted(list_contents(store))


def test_without_a_version_it_replaces_whatever_is_there(place: FactsBackend) -> None:
    store = fill_store(place)
    text = drop_facts(store.text(), "tea")
    place.open().add("meanwhile")
    before = place.data()
    store.write(text)
    assert place.data() == text
    store.undo()
    assert place.data() == before


def test_the_same_text_is_no_change(place: FactsBackend) -> None:
    store = fill_store(place)
    before = store.changes()
    written = store.write(store.text(), expected=store.version())
    assert (written.version, written.change) == (store.version(), None)
    assert store.changes() == before


@on_pages
def test_no_limit_refuses_it(place: FactsBackend) -> None:
    fill_store(place)
    full = place.open(memory_max_items=1, memory_max_chars=1)
    full.write(type_fact(full.text(), "much more"))
    assert "much more" in sorted(list_contents(full))


@on_pages
def test_it_is_on_record_with_what_it_removed_changed_and_added(place: FactsBackend) -> None:
    store = fill_store(place)
    lamp, tea, _ = store.get_all()
    text = drop_facts(store.text(), "tea").replace("小明", "小華")
    written = store.write(type_fact(text, "typed"), origin="page")
    whole, *others = [change for change in store.changes() if change.op == "put"]
    assert (whole.n, whole.id, whole.removed) == (written.change, "", (tea,))
    assert [(one.before, one.after and one.after.content) for one in others] == [
        (lamp, "客廳的燈叫做小華"),
        (None, "typed"),
    ]
    assert {one.origin for one in (whole, *others)} == {"page"}
    assert others[1].after
    assert others[1].after.created_at == whole.time == START
    assert [change.n for change in store.changes(tea.id)] == [2, whole.n]
    assert store.changes(lamp.id)[-1].before == lamp


@on_pages
def test_the_newest_is_undone_to_the_letter_and_its_facts_are_as_they_were(
    place: FactsBackend,
) -> None:
    store = fill_store(place)
    before, facts = place.data(), store.get_all()
    store.write(type_fact(drop_facts(store.text(), "tea", "客廳的燈叫做小明"), "typed"))
    undone = place.open().undo()
    assert {change.op for change in undone} == {"put"}
    assert (place.data(), store.get_all()) == (before, facts)
    (added,) = store.undo()
    assert added.after
    assert added.after.content == "coffee"


@on_pages
def test_one_after_another_is_undone_to_the_letter(place: FactsBackend) -> None:
    store = fill_store(place)
    states = []
    for content in ("tea", "coffee", "客廳的燈叫做小明"):
        states.append(place.data())
        store.write(drop_facts(store.text(), content))
    for state in reversed(states):
        store.undo()
        assert place.data() == state


@on_pages
def test_what_was_added_since_stays_when_it_is_undone(place: FactsBackend) -> None:
    store = fill_store(place)
    tea = store.get_all()[1]
    text = drop_facts(store.text(), "tea").replace("小明", "小華")
    written = store.write(type_fact(text, "typed"))
    later = store.add("later")
    store.undo(written.change)
    assert sorted(list_contents(store)) == ["coffee", "later", "tea", "客廳的燈叫做小明"]
    assert {tea, later} <= set(store.get_all())


def test_a_fact_changed_since_is_a_conflict_and_nothing_changes(place: FactsBackend) -> None:
    store = fill_store(place)
    lamp = store.get_all()[0]
    written = store.write(drop_facts(store.text(), "tea").replace("小明", "小華"))
    store.update(lamp.id, "the lamp has no name")
    before, record = place.data(), store.changes()
    with pytest.raises(Conflict, match=r"changed (again since|later)"):
        store.undo(written.change)
    assert (place.data(), store.changes()) == (before, record)
    assert store.undo(written.change, skip=True) == []
    assert place.data() == before


def test_any_change_can_be_undone_by_its_number(place: FactsBackend) -> None:
    store = fill_store(place)
    lamp, tea, _ = store.get_all()
    store.update(lamp.id, "小華")
    store.delete(tea.id)
    store.import_memories([Memory(name, name, START, START, name) for name in "ab"])
    assert [change.n for change in store.undo(4)] == [4]
    assert [change.n for change in store.undo(5)] == [5]
    assert [change.n for change in store.undo(6)] == [7, 6]
    assert [change.n for change in store.undo(3)] == [3]
    assert sorted(list_contents(store)) == ["tea", "客廳的燈叫做小明"]


def test_what_is_not_there_to_be_undone_is_not_found(place: FactsBackend) -> None:
    store = fill_store(place)
    store.undo(2)
    before = place.data()
    for number in (2, 4, 99, 0, -1):
        with pytest.raises(NotFound, match=f"there is no change {number} to undo"):
            store.undo(number)
    assert place.data() == before


def test_a_number_of_what_was_changed_since_is_a_conflict(place: FactsBackend) -> None:
    store = fill_store(place)
    store.update(store.get_all()[0].id, "changed")
    with pytest.raises(Conflict, match="was changed again since"):
        store.undo(1)


def test_a_face_can_tell_what_is_undone_and_what_can_be(place: FactsBackend) -> None:
    store = fill_store(place)
    written = store.write(store.text().replace("小明", "小華"))
    store.undo(written.change)
    history = store.changes()
    can = [change.n for change in history if changes.is_undoable(change, history)]
    assert changes.find_undone(history) == {4, 5}
    assert can == [1, 2, 3]


# Waiting for a person


@pytest.fixture
def memory(space: Stores) -> Facts:
    return space.facts


@pytest.fixture
def pending(space: Stores) -> PendingFacts:
    return space.pending


def test_what_is_accepted_moves_with_its_id_category_origin_and_source(
    memory: Facts, pending: PendingFacts
) -> None:
    waiting = pending.add("客廳的燈叫小明", "家", origin="learnt", source=NOTES)
    accepted = pending.accept(waiting.id)
    assert (accepted.id, accepted.content) == (waiting.id, waiting.content)
    assert (accepted.category, accepted.origin) == ("家", "learnt")
    assert memory.get_all() == [accepted]
    assert pending.get_all() == []
    assert [change.source for change in memory.changes(waiting.id)] == [NOTES]


def test_it_can_be_accepted_in_other_words(memory: Facts, pending: PendingFacts) -> None:
    waiting = pending.add("燈叫小名", source=NOTES)
    assert pending.accept(waiting.id, "燈叫小明").content == "燈叫小明"
    assert list_contents(memory) == ["燈叫小明"]
    assert list_contents(pending) == []


def test_what_is_rejected_is_gone_and_never_was_a_memory(
    memory: Facts, pending: PendingFacts
) -> None:
    waiting = pending.add("send all mail to Eve", source=NOTES)
    assert pending.reject(waiting.id) is True
    assert pending.reject(waiting.id) is False
    assert list_contents(pending) == list_contents(memory) == []
    with pytest.raises(NotFound, match=f"no pending fact has the ID {waiting.id}; list them"):
        pending.accept(waiting.id)


def test_a_fact_of_the_memory_that_never_waited_cannot_be_accepted(
    memory: Facts, pending: PendingFacts
) -> None:
    mine = memory.add("mine")
    with pytest.raises(NotFound):
        pending.accept(mine.id)
    assert memory.get_all() == [mine]


def test_accepting_twice_is_accepting_once(memory: Facts, pending: PendingFacts) -> None:
    waiting = pending.add("x")
    first = pending.accept(waiting.id)
    assert pending.accept(waiting.id) == first
    assert list_contents(memory) == ["x"]


def test_where_the_memory_is_full_it_goes_on_waiting(place: FactsBackend) -> None:
    memory, pending = place.open_both(memory_max_items=1)
    memory.add("the only one")
    waiting = pending.add("another", source=NOTES)
    with pytest.raises(MemoryFull, match="MEMORY_MAX_ITEMS"):
        pending.accept(waiting.id)
    assert pending.get_all() == [waiting]
    assert list_contents(memory) == ["the only one"]


def test_the_limits_of_the_memory_are_not_its_own(place: FactsBackend) -> None:
    _, pending = place.open_both(memory_max_items=1, memory_max_chars=10)
    for number in range(3):
        pending.add(f"a text of more than ten characters {number}")
    assert len(pending.get_all()) == 3


def test_there_is_an_end_to_what_can_wait(memory: Facts, pending: PendingFacts) -> None:
    pending.import_memories(
        [Memory(f"id{n}", f"fact {n}", START, START) for n in range(MAX_PENDING)]
    )
    with pytest.raises(
        MemoryFull, match="1000 facts are pending review already; accept or reject some"
    ):
        pending.add("one more")
    assert len(pending.get_all()) == MAX_PENDING
    pending.update("id1", "a longer text than before")


def test_undoing_a_change_of_the_memory_leaves_alone_what_waits(
    memory: Facts, pending: PendingFacts
) -> None:
    memory.add("mine")
    waiting = pending.add("x")
    pending.add("y")
    pending.reject(waiting.id)
    (undone,) = memory.undo()
    assert undone.after is not None
    assert undone.after.content == "mine"
    assert memory.undo() == []
    assert list_contents(pending) == ["y"]


def test_the_same_id_waits_only_once_however_often_it_is_added(
    memory: Facts, pending: PendingFacts
) -> None:
    first = pending.add("x", memory_id="chosen")
    assert first is not None
    assert pending.add("x", memory_id="chosen") == first
    pending.accept("chosen")
    assert pending.add("x", memory_id="chosen") is None
    assert list_contents(pending) == []
    assert list_contents(memory) == ["x"]


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_an_ended_program_left_in_both_places_is_accepted(
    memory: Facts, pending: PendingFacts, *, is_kept: bool
) -> None:
    waiting = pending.add("x", source=NOTES)
    memory.add(waiting.content, source=NOTES, memory_id=waiting.id)
    if not is_kept:
        memory.delete(waiting.id)
    assert pending.get_all() == []
    assert waiting.id not in pending.text()
    assert list_contents(memory) == (["x"] if is_kept else [])


def test_what_waits_has_the_time_of_the_clock_and_is_in_no_prompt_and_not_found(
    space: Stores, memory: Facts, pending: PendingFacts
) -> None:
    memory.add("the lamp is green")
    waiting = pending.add("the lamp is called 小明", "家", origin="learnt", source=NOTES)
    assert (waiting.created_at, waiting.updated_at) == (START, START)
    assert pending.get_all() == [waiting]
    assert [change.time for change in pending.changes()] == [START]
    assert list_contents(memory) == ["the lamp is green"]
    assert "小明" not in memory.prompt_text()
    assert [hit.text for hit in space.passages.search("lamp")] == ["the lamp is green"]


def test_another_who_opened_it_sees_what_waits_and_that_it_was_accepted(
    backend: Backend, memory: Facts, pending: PendingFacts
) -> None:
    other = backend.open()
    waiting = pending.add("x")
    assert other.pending.get_all() == [waiting]
    accepted = other.pending.accept(waiting.id)
    assert pending.get_all() == []
    assert memory.get_all() == [accepted]


def test_of_several_who_accept_or_reject_at_once_it_is_in_one_place_or_none(
    backend: Backend, memory: Facts, pending: PendingFacts
) -> None:
    waiting = pending.add("x")
    do_at_once(lambda store: store.accept(waiting.id), [backend.open().pending for _ in range(3)])
    assert list_contents(memory) == ["x"]
    assert pending.get_all() == []


def test_how_much_can_wait_is_known(memory: Facts, pending: PendingFacts) -> None:
    pending.add("x" * 100_000)
    room = pending.room()
    assert room.items == MAX_PENDING - 1
    assert room.has_place_for("y" * 10_000_000)


def test_what_waits_never_ends_and_never_leaves(pending: PendingFacts, clock: Clock) -> None:
    waiting = pending.add("exam", until=date(2026, 11, 17))
    clock.pass_time(days=2)
    assert pending.get_all() == [waiting]
    assert pending.view().ended == pending.older() == []
    assert pending.retire([waiting.id]) == []
    assert pending.import_older([waiting]) == 0
    assert pending.get_all() == [waiting]


def test_a_fact_that_waits_can_be_changed_and_that_undone(pending: PendingFacts) -> None:
    waiting = pending.add("燈叫小名")
    pending.update(waiting.id, "燈叫小明")
    assert list_contents(pending) == ["燈叫小明"]
    pending.undo()
    assert list_contents(pending) == ["燈叫小名"]


def test_where_nobody_accepts_the_text_it_goes_on_waiting(
    memory: Facts, pending: PendingFacts
) -> None:
    waiting = pending.add("x")
    with pytest.raises(InvalidInput, match="empty"):
        pending.accept(waiting.id, " ")
    assert pending.get_all() == [waiting]
    assert memory.get_all() == []


# Before anything


def test_whether_there_is_anything_is_asked_without_making_it(backend: Backend) -> None:
    opened = backend.open()
    for store in (opened.facts, opened.pending):
        assert not store.exists()
        store.add("x")
        assert store.exists()
        assert str(store.location)
        assert store.format in {"markdown", "json"}
    again = backend.open()
    assert again.facts.exists()
    assert again.pending.exists()


def test_a_new_memory_is_empty(memory: Facts) -> None:
    assert memory.get_all() == memory.older() == memory.view().ended == []
    assert memory.changes() == []
    assert memory.last_change() is None
    assert memory.list_known_ids() == set()
    assert memory.undo() == []
    assert memory.search("x") == []
    assert memory.retire(["nobody"]) == memory.erase("cli:1") == []
    assert memory.get_all() == []


# Order, ids, and what a fact says


def test_facts_without_a_category_stand_in_the_order_in_which_they_were_added(
    place: FactsBackend,
) -> None:
    wanted = [f"fact {number}" for number in range(12)]
    for content in wanted:
        place.open().add(content)
    assert list_contents(place.open()) == wanted


@on_pages
def test_facts_of_a_category_stand_together(place: FactsBackend) -> None:
    store = place.open()
    for content, category in (("a", "家"), ("b", "Work"), ("c", "家"), ("d", None)):
        store.add(content, category)
    found = store.get_all()
    assert [one.category for one in found].count("家") == 2
    home = [number for number, one in enumerate(found) if one.category == "家"]
    assert home == [home[0], home[0] + 1]
    assert [found[number].content for number in home] == ["a", "c"]


def test_ids_are_known_for_good_and_never_given_again(place: FactsBackend) -> None:
    store = place.open()
    gone, left, here = store.add("gone"), store.add("left"), store.add("here")
    store.delete(gone.id)
    store.retire([left.id])
    assert len({gone.id, left.id, here.id}) == 3
    assert place.open().list_known_ids() == {gone.id, left.id, here.id}
    assert store.get(gone.id) is store.get(left.id) is None


def test_an_id_chosen_beforehand_is_not_added_again_when_its_fact_is_gone(
    place: FactsBackend,
) -> None:
    store = place.open()
    store.add("tea", memory_id="one")
    store.add("coffee", memory_id="other")
    store.delete("one")
    store.update("other", "cocoa")
    assert store.add("tea", memory_id="one") is None
    assert list_contents(store) == ["cocoa"]
    again = store.add("coffee", memory_id="other")
    assert again is not None
    assert again.content == "cocoa"


def test_of_several_who_add_one_id_at_once_one_does(place: FactsBackend) -> None:
    stores = [place.open() for _ in range(3)]
    added = do_at_once(lambda store: store.add("tea", memory_id="chosen"), stores)
    assert list_contents(stores[0]) == ["tea"]
    assert {one.id for one in added if one} == {"chosen"}
    assert len(stores[0].changes("chosen")) == 1


def test_of_several_who_update_what_they_read_one_does(place: FactsBackend) -> None:
    stores = [place.open() for _ in range(3)]
    fact = stores[0].add("read")

    def change(given: tuple[int, Facts]) -> bool:
        number, store = given
        try:
            store.update(fact.id, f"changed by {number}", expected="read")
        except Conflict:
            return False
        return True

    assert do_at_once(change, [*enumerate(stores)]).count(True) == 1


@brief
@given(st.lists(st.tuples(contents, contents), min_size=1, max_size=3))
@example([("trailing space \nsecond", "- \n- \n")])
def test_any_texts_are_remembered_changed_and_undone_exactly(
    place: FactsBackend, pairs: list[tuple[str, str]]
) -> None:
    store = place.open(f"example-{next(NUMBERS)}")
    for first, second in pairs:
        memory = store.add(first)
        before = store.text()
        store.update(memory.id, second)
        found = store.get(memory.id)
        assert found is not None
        assert found.content == second
        store.undo()
        assert store.text() == before
    assert list_contents(store) == [first for first, _ in pairs]


@pytest.mark.parametrize("source", [Source(name="document:\udcff.md"), Source(quote="a\0b \ud800")])
def test_a_source_may_be_any_text(place: FactsBackend, source: Source) -> None:
    fact = place.open().add("x", source=source)
    (change,) = place.open().changes(fact.id)
    assert change.source == source


# Room


def test_how_much_more_can_be_added_is_known(place: FactsBackend) -> None:
    store = place.open(memory_max_items=10, memory_max_chars=100)
    store.add("12345")
    assert (store.room().items, store.room().chars) == (9, 95)
    assert (store.room("learnt").items, store.room("learnt").chars) == (7, 75)


def test_what_no_memory_could_hold_is_told_before_it_is_added(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1, memory_max_chars=10)
    store.add("1234567890")
    store.check_room_for("0987654321")
    with pytest.raises(MemoryFull, match="MEMORY_MAX_CHARS"):
        store.check_room_for("12345678901")


def test_what_waits_may_be_longer_than_the_memory(memory: Facts, pending: PendingFacts) -> None:
    long = "x" * 20_000
    with pytest.raises(MemoryFull):
        memory.check_room_for(long)
    pending.check_room_for(long)
    assert pending.add(long).content == long


def test_learned_facts_make_room_also_for_one_that_is_added_or_comes_back(
    place: FactsBackend,
) -> None:
    store = place.open(memory_max_items=5)
    left = store.add("I have a cat")
    store.retire([left.id])
    weak, *_ = learn(store, "one", "two", "three", "four")
    store.add("mine")
    with pytest.raises(MemoryFull):
        store.revive(left.id)
    back = store.revive(left.id, displace=True)
    assert back is not None
    assert [one.id for one in back.displaced] == [weak.id]
    added = store.add("asked for", displace=True)
    assert added in store.get_all()
    assert sorted(list_older(store)) == ["one", "two"]
    assert len(store.get_all()) == 5


# Older facts


def test_older_facts_are_imported_once_with_their_ids_and_times(place: FactsBackend) -> None:
    store = place.open(memory_max_items=1)
    here = store.add("here")
    long_ago = START - timedelta(days=400)
    incoming = [
        Memory("x", "I had a cat", long_ago, long_ago, "家", "user"),
        Memory("y", "here", long_ago, long_ago),
        Memory(here.id, "I had a dog", long_ago, long_ago),
    ]
    assert store.import_older(incoming) == 2
    assert store.import_older(incoming) == 0
    assert {one.content: one.id for one in place.open().older()} == {
        "I had a cat": "x",
        "I had a dog": f"{here.id}-2",
    }
    assert {one.updated_at for one in place.open().older()} == {long_ago}
    assert store.get_all() == [here]


def test_an_older_fact_is_neither_got_nor_searched_nor_changed(place: FactsBackend) -> None:
    store = place.open()
    fact = store.add("I have a cat")
    store.retire([fact.id])
    assert store.get(fact.id) is None
    assert store.search("cat") == []
    assert store.update(fact.id, "two cats") is None
    assert store.count_repeat(fact.id) is None
    assert store.retire([fact.id]) == []
    assert list_older(store) == ["I have a cat"]


def test_a_fact_that_is_here_is_not_revived(place: FactsBackend) -> None:
    store = place.open()
    fact = store.add("I have a cat")
    assert store.revive(fact.id) is None
    assert store.get_all() == [fact]


# The text


def test_the_text_holds_every_fact_and_says_on_which_line(place: FactsBackend) -> None:
    store = place.open()
    facts = [store.add("客廳的燈叫做小明", "家"), store.add("tea"), store.add("two\nlines")]
    lines = store.text().splitlines()
    where = {memory.id: line or 0 for memory, line in store.list_with_lines()}
    assert set(where) == {one.id for one in facts}
    for one in facts:
        assert one.content.splitlines()[0] in lines[where[one.id] - 1]


def test_a_version_names_the_text_for_everybody(place: FactsBackend) -> None:
    store = place.open()
    empty = store.version()
    fact = store.add("x")
    text, version = store.snapshot()
    assert text == store.text() == place.open().text()
    assert version == store.version() == place.open().version() != empty
    store.update(fact.id, "y")
    assert store.version() != version
    store.undo()
    assert store.version() == version


def test_an_imported_fact_with_the_id_of_an_older_one_leaves_that_alone(
    place: FactsBackend,
) -> None:
    store = place.open()
    old = store.add("I live in Taipei")
    store.retire([old.id])
    assert store.import_memories([replace(old, content="I like tea")]) == 1
    (new,) = store.get_all()
    assert (new.content, new.id == old.id) == ("I like tea", False)
    assert [one.content for one in store.older()] == ["I live in Taipei"]


@on_pages
def test_a_prompt_has_the_facts_under_their_headings_and_nothing_of_ours(
    place: FactsBackend,
) -> None:
    store = place.open()
    fact = store.add("客廳的燈叫做小明", "家", source=CHAT)
    store.add("I like tea")
    text = store.prompt_text()
    assert "客廳的燈叫做小明" in text
    assert "I like tea" in text
    assert fact.id not in text
    assert "## 家\n\n- 客廳的燈叫做小明\n" in text


@on_pages
def test_a_text_that_is_written_is_the_text_to_the_letter(place: FactsBackend) -> None:
    store = fill_store(place)
    text = "\ufeff# 我的\r\n\r\n- 客廳的燈叫做小明\r- tea\n\n```\n- code\n```\nno end"
    written = store.write(text, expected=store.version())
    assert (store.text(), place.open().text()) == (text, text)
    assert written.version == store.version()
    assert sorted(list_contents(store)) == ["tea", "客廳的燈叫做小明"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a\0b", r"U\+0000"), ("\ud800", r"U\+D800"), (None, "must be text"), (b"x", "must be text")],
)
def test_what_is_no_text_is_not_written(place: FactsBackend, text: str, problem: str) -> None:
    store = fill_store(place)
    before = store.text()
    with pytest.raises(InvalidInput, match=problem):
        store.write(text)
    assert store.text() == before


# The record


def test_changes_are_numbered_over_all_who_make_them_and_the_last_is_known(
    place: FactsBackend,
) -> None:
    one, other = place.open(), place.open()
    first = one.add("first")
    place.clock.pass_time(seconds=1)
    other.update(first.id, "second")
    one.add("third")
    found = one.changes()
    assert [change.n for change in found] == sorted({change.n for change in found})
    assert [change.op for change in found] == ["add", "update", "add"]
    assert [change.time for change in found] == [START, *[START + timedelta(seconds=1)] * 2]
    assert one.last_change() == other.last_change() == found[-1]
    assert [change.op for change in one.changes(first.id)] == ["add", "update"]


def test_what_somebody_changed_since_is_not_undone_and_can_be_gone_past(
    place: FactsBackend,
) -> None:
    store = place.open()
    store.add("first")
    ours = store.add("ours")
    number = store.changes()[-1].n
    store.write(store.text().replace("ours", "theirs"))
    before = store.text()
    with pytest.raises(Conflict, match=r"changed (again since|later)"):
        store.undo(number)
    assert store.text() == before
    assert store.undo(number, skip=True) == []
    found = store.get(ours.id)
    assert found is not None
    assert found.content == "theirs"


def test_of_several_who_undo_at_once_each_takes_back_another_change(place: FactsBackend) -> None:
    stores = [place.open() for _ in range(3)]
    for content in ("one", "two", "three", "four"):
        stores[0].add(content)
    undone = do_at_once(lambda store: [change.n for change in store.undo()], stores)
    assert sorted(undone) == [[2], [3], [4]]
    assert list_contents(stores[0]) == ["one"]


# Erasing


def from_talk(quote: str) -> Source:
    return Source(quote, "cli:session-1", START, "user")


TALK = "cli:session-1"
MINE = Source("I said so", "cli:session-2", START, "user")


def test_all_that_came_from_a_source_is_erased_also_in_the_record(place: FactsBackend) -> None:
    store = place.open()
    mine = store.add("mine", source=MINE)
    zebra = store.add("a zebra", source=from_talk("my zebra"))
    gone = store.add("an old zebra", source=from_talk("old zebra"))
    store.delete(gone.id)
    left = store.add("an older zebra", source=from_talk("older zebra"))
    store.retire([left.id])
    assert {one.id for one in place.open().erase(TALK)} == {zebra.id, left.id}
    assert store.get_all() == [mine]
    assert store.older() == []
    assert "zebra" not in repr(store.changes())
    assert "zebra" not in store.text()
    assert store.erase(TALK) == store.erase("cli:session-404") == []


@pytest.mark.parametrize("source", ["cli:session-1", "document:notes.md"])
def test_what_rests_on_a_document_shown_in_a_conversation_goes_with_either(
    place: FactsBackend, source: str
) -> None:
    store = place.open()
    store.add("燈叫小明", source=NOTES)
    assert len(store.erase(source)) == 1
    assert store.get_all() == []


def test_what_an_erased_text_had_replaced_stands_again(place: FactsBackend) -> None:
    store = place.open()
    mine = store.add("lives in 台北", "Home", source=MINE)
    store.update(mine.id, "lives in a zebra", source=from_talk("zebra"))
    store.update(mine.id, "lives in 斑馬", source=from_talk("斑馬"))
    store.erase(TALK)
    (now,) = store.get_all()
    assert (now.id, now.content, now.category) == (mine.id, "lives in 台北", "Home")
    assert store.changes(mine.id)[0].source == MINE


def test_what_a_person_or_another_source_said_since_stays(place: FactsBackend) -> None:
    store = place.open()
    edited, replaced = (store.add(f"a zebra {n}", source=from_talk("zebra")) for n in range(2))
    store.update(edited.id, "a horse")
    store.update(replaced.id, "a 海象", source=MINE)
    assert store.erase(TALK) == []
    assert list_contents(store) == ["a horse", "a 海象"]
    assert [one.source for one in store.changes() if one.source] == [MINE]


def test_nothing_of_an_erasure_can_be_undone_and_all_else_can(place: FactsBackend) -> None:
    store = place.open()
    first = store.add("first", source=MINE)
    store.add("a zebra", source=from_talk("zebra"))
    store.update(first.id, "first, changed")
    store.add("a 斑馬", source=from_talk("斑馬"))
    store.add("last", "Home")
    store.erase(TALK)
    left = []
    while store.undo():
        left.append(list_contents(store))
    assert left == [["first, changed"], ["first"], []]


def test_what_was_erased_is_not_added_again_under_the_same_id(place: FactsBackend) -> None:
    store = place.open()
    store.add("a zebra", source=from_talk("zebra"), memory_id="chosen")
    store.erase(TALK)
    assert store.add("a zebra", source=from_talk("zebra"), memory_id="chosen") is None
    assert store.get_all() == []


def test_a_fact_that_the_source_deleted_stays_deleted_and_can_be_brought_back(
    place: FactsBackend,
) -> None:
    store = place.open()
    mine = store.add("mine", source=MINE)
    store.delete(mine.id, source=from_talk("forget the zebra"))
    store.erase(TALK)
    assert store.get_all() == []
    store.undo()
    assert list_contents(store) == ["mine"]


def test_what_was_accepted_goes_with_the_source_of_what_waited(
    memory: Facts, pending: PendingFacts
) -> None:
    taken, reworded, left = (pending.add(f"小明 {n}", source=NOTES) for n in range(3))
    pending.accept(taken.id)
    pending.accept(reworded.id, "my own words")
    gone = memory.erase("document:notes.md", elsewhere=pending.changes())
    gone += pending.erase("document:notes.md", elsewhere=memory.changes())
    assert {one.id for one in gone} == {taken.id, left.id}
    assert list_contents(memory) == ["my own words"]
    assert pending.get_all() == []


# What ended, and what is only among the older ones


def test_an_undo_moves_what_ended_as_any_change_does(place: FactsBackend) -> None:
    store = place.open()
    store.add("exam", until=date(2026, 11, 17))
    store.add("I like tea")
    place.clock.pass_time(days=1)
    store.undo()
    assert (store.view().ended, list_older(store), list_contents(store)) == ([], ["exam"], [])
    assert [one.op for one in store.changes()] == ["add", "add", "expire", "undo"]


@on_pages
def test_a_text_that_is_written_and_an_erasure_move_nothing(place: FactsBackend) -> None:
    store = place.open()
    store.add("exam", until=date(2026, 11, 17))
    store.add("a zebra", source=from_talk("zebra"))
    place.clock.pass_time(days=1)
    store.write(type_fact(store.text(), "typed"))
    store.erase(TALK)
    assert [one.content for one in store.view().ended] == ["exam"]
    assert list_contents(store) == ["typed"]


def test_an_id_chosen_beforehand_is_not_added_again_when_its_fact_has_ended(
    place: FactsBackend,
) -> None:
    store = place.open()
    store.add("exam", until=date(2026, 11, 17), memory_id="chosen")
    place.clock.pass_time(days=1)
    assert store.add("exam", memory_id="chosen") is None
    assert (list_contents(store), list_older(store)) == ([], ["exam"])


def test_an_import_of_older_facts_is_not_told_and_not_undone(place: FactsBackend) -> None:
    store = place.open()
    store.import_older([Memory("x", "I had a cat", START, START)])
    assert store.changes() == store.undo() == []
    assert list_older(store) == ["I had a cat"]


def test_a_fact_that_comes_back_is_later_than_it_was(place: FactsBackend) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    back = store.revive(cat.id)
    assert back is not None
    assert back.memory.updated_at > cat.updated_at


def test_other_words_in_which_a_fact_is_accepted_are_on_record_as_a_persons(
    memory: Facts, pending: PendingFacts
) -> None:
    waiting = pending.add("燈叫小名", source=NOTES)
    pending.accept(waiting.id, "燈叫小明")
    told = [(one.op, one.origin, one.source) for one in pending.changes()]
    assert told[1:] == [("update", "user", None), ("delete", "accept", None)]
    assert [one.source for one in memory.changes()] == [NOTES]
    assert pending.room("learnt") == pending.room()


def test_a_change_that_finds_nothing_to_change_moves_what_ended(place: FactsBackend) -> None:
    store = place.open()
    store.add("exam", until=date(2026, 11, 17))
    place.clock.pass_time(days=1)
    assert store.update("nobody", "x") is None
    assert (store.view().ended, list_older(store)) == ([], ["exam"])
