"""Facts that left the memory: kept beside it, in no prompt, found, forgotten and brought back."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from turnleaf.core.changes import Source
from turnleaf.core.memories import Memory
from turnleaf.errors import Conflict, InvalidInput, MemoryFull
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.older import older_path
from turnleaf.store.files.facts.pending import PendingStore

START = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
LONG_AGO = (0, 0)
CHAT = Source(quote="q", conversation="web:1", message_time=START, trust="user")


class Place:
    """A location, and stores opened there as one process after another would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.older = older_path(path)
        self.time = START
        self.ids = count(1)

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time

    def open(self, **limits: int) -> MemoryStore:
        store = MemoryStore(
            self.path,
            settings=Settings(**limits),  # type: ignore[arg-type]
            now=self.now,
            new_id=lambda: f"id{next(self.ids)}",
        )
        store.init()
        return store

    def files(self) -> dict[Path, bytes | None]:
        paths = (self.path, self.older, self.path.with_name("changes.jsonl"))
        return {path: path.read_bytes() if path.exists() else None for path in paths}

    def put(self, contents: dict[Path, bytes | None]) -> None:
        """Let the files be as a kill left them."""
        for path in self.path.parent.iterdir():
            path.unlink()
        for path, data in contents.items():
            if data is not None:
                path.write_bytes(data)


@pytest.fixture(params=["memories.json", "MEMORY.md"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path / request.param)


@pytest.fixture
def array(tmp_path: Path) -> Place:
    return Place(tmp_path / "memories.json")


@pytest.fixture
def page(tmp_path: Path) -> Place:
    return Place(tmp_path / "MEMORY.md")


def said(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.get_all()]


def older(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.older()]


def learn(store: MemoryStore, *contents: str) -> list[Memory]:
    return [store.add(content, origin="learnt", source=CHAT) for content in contents]


def save(path: Path, text: str) -> None:
    """Save a file as an editor would, and leave it quiet."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, LONG_AGO)


# What a fact says beside its content


def test_a_fact_keeps_its_slot_its_last_day_and_how_often_it_was_said(array: Place) -> None:
    store = array.open()
    exam = store.add("exam on 2026-11-20", slot="plan", until=date(2026, 11, 20))
    counted = store.count_repeat(exam.id)
    assert counted is not None
    assert (counted.slot, counted.until, counted.said_count) == ("plan", date(2026, 11, 20), 2)
    assert counted.updated_at > exam.updated_at
    assert array.open().get_all() == [counted]
    assert store.count_repeat("nobody") is None


def test_one_undo_takes_back_that_a_fact_was_said_again(array: Place) -> None:
    store = array.open()
    fact = store.add("I live in Taipei")
    before = array.files()[array.path]
    store.count_repeat(fact.id)
    store.undo()
    assert array.files()[array.path] == before


def test_an_update_keeps_slot_and_last_day_unless_others_are_given(array: Place) -> None:
    store = array.open()
    fact = store.add("exam", slot="plan", until=date(2026, 12, 1))
    kept = store.update(fact.id, "the exam")
    assert kept is not None
    assert (kept.slot, kept.until) == ("plan", date(2026, 12, 1))
    store.update(fact.id, "an exam", slot=None, until=None)
    assert [(one.slot, one.until) for one in array.open().get_all()] == [(None, None)]


@pytest.mark.parametrize("slot", ["", "  ", "x" * 101, "a\0b", "\ud83d"])
def test_what_cannot_name_a_slot_is_refused(array: Place, slot: str) -> None:
    with pytest.raises(InvalidInput, match="a slot is a name"):
        array.open().add("x", slot=slot)


def test_a_moment_is_no_day(array: Place) -> None:
    with pytest.raises(InvalidInput, match="is a date"):
        array.open().add("x", until=START)


# Leaving and coming back


def test_a_fact_that_leaves_is_older_and_nothing_else(place: Place) -> None:
    store = place.open()
    cat, tea = store.add("I have a cat", "Home"), store.add("I like tea")
    assert [one.id for one in store.retire([cat.id, "nobody"])] == [cat.id]
    assert (said(store), older(store)) == (["I like tea"], ["I have a cat"])
    assert "cat" not in store.prompt_text()
    again = place.open()
    assert [(one.id, one.category, one.created_at) for one in again.older()] == [
        (cat.id, "Home", cat.created_at)
    ]
    assert {cat.id, tea.id} <= again.known_ids()
    assert place.older.name in {"OLDER.md", "older.json"}


def test_there_is_no_file_of_older_facts_before_one_leaves(place: Place) -> None:
    store = place.open()
    store.add("x")
    assert store.older() == []
    assert not place.older.exists()


def test_one_undo_puts_facts_back_where_they_were(array: Place) -> None:
    store = array.open()
    facts = [store.add(text) for text in ("one", "two", "three")]
    before = array.files()[array.path]
    store.retire([facts[0].id, facts[1].id])
    undone = store.undo()
    assert {change.op for change in undone} == {"retire"}
    assert array.files()[array.path] == before
    assert store.older() == []
    store.undo()
    assert said(store) == ["one", "two"]


def test_a_fact_said_again_comes_back_and_one_undo_takes_it_away(array: Place) -> None:
    store = array.open()
    cat = store.add("I have a cat", slot="pets", until=date(2026, 12, 1))
    store.retire([cat.id], origin="learnt")
    back = store.revive(cat.id, origin="learnt", source=CHAT)
    assert back is not None
    assert (back.memory.id, back.memory.said_count, back.memory.until) == (cat.id, 2, None)
    assert (said(store), older(store)) == (["I have a cat"], [])
    assert [change.op for change in store.changes(cat.id)] == ["add", "retire", "revive"]
    store.undo()
    assert (said(store), older(store)) == ([], ["I have a cat"])
    (again,) = store.older()
    assert (again.said_count, again.until) == (1, date(2026, 12, 1))
    store.undo()
    assert (said(store), older(store)) == (["I have a cat"], [])
    assert store.revive("nobody") is None


def test_what_is_asked_for_comes_back_if_it_is_an_older_fact(array: Place) -> None:
    store = array.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    assert store.remember("I have a cat").memory.id == cat.id
    assert (said(store), older(store)) == (["I have a cat"], [])


def test_older_facts_are_not_counted_by_the_limits(array: Place) -> None:
    store = array.open(memory_max_items=1)
    for number in range(3):
        store.retire([store.add(f"fact {number}").id])
    assert len(store.older()) == 3
    store.add("and one more")


def test_an_older_fact_can_be_forgotten_and_that_undone(array: Place) -> None:
    store = array.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    assert store.delete(cat.id)
    assert store.older() == []
    assert not store.delete(cat.id)
    store.undo()
    assert older(store) == ["I have a cat"]
    store.undo()
    assert said(store) == ["I have a cat"]


def test_the_changes_of_both_files_are_one_story(array: Place) -> None:
    store = array.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    store.add("I like tea")
    store.delete(cat.id)
    assert [change.op for change in store.changes()] == ["add", "retire", "add", "delete"]
    numbers = [change.n for change in store.changes()]
    assert numbers == sorted(set(numbers))


def test_what_was_changed_since_among_the_older_facts_is_not_undone(page: Place) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    save(page.older, page.older.read_text(encoding="utf-8").replace("a cat", "two cats"))
    with pytest.raises(Conflict, match="changed since"):
        store.undo()
    assert (said(store), older(store)) == ([], ["I have two cats"])


# Edits by hand


def test_the_file_of_older_facts_can_be_edited(page: Place) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    save(page.older, page.older.read_text(encoding="utf-8") + "\nMy words.\n\n- typed by hand\n")
    assert older(page.open()) == ["I have a cat", "typed by hand"]
    store.retire([store.add("I like tea").id])
    assert "My words.\n" in page.older.read_text(encoding="utf-8")


def test_a_fact_that_an_editor_wiped_from_the_older_ones_comes_back(page: Place) -> None:
    store = page.open()
    store.retire([store.add("one").id])
    buffer = page.older.read_text(encoding="utf-8")
    store.retire([store.add("two").id])
    save(page.older, buffer + "\nMy words.\n")
    assert older(page.open()) == ["one", "two"]


def test_an_older_buffer_of_the_memory_does_not_bring_a_fact_back_that_left(page: Place) -> None:
    store = page.open()
    cat = store.add("I have a cat")
    store.add("I like tea")
    buffer = page.path.read_text(encoding="utf-8")
    store.retire([cat.id])
    save(page.path, buffer + "\nMy words.\n")
    again = page.open()
    assert (said(again), older(again)) == (["I like tea"], ["I have a cat"])


def test_a_line_that_is_moved_back_by_hand_stays_there(page: Place) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    line = page.older.read_text(encoding="utf-8").splitlines()[-1]
    save(page.path, page.path.read_text(encoding="utf-8") + f"\n{line}\n")
    assert (said(page.open()), older(store)) == (["I have a cat"], [])
    save(page.older, "# Older facts\n")
    again = page.open()
    assert (said(again), older(again)) == (["I have a cat"], [])


def test_a_line_that_is_moved_out_by_hand_is_an_older_fact(page: Place) -> None:
    store = page.open()
    cat = store.add("I have a cat")
    store.add("I like tea")
    text = page.path.read_text(encoding="utf-8")
    line = next(one for one in text.splitlines(keepends=True) if "cat" in one)
    save(page.older, f"# Older facts\n\n{line}")
    assert (said(page.open()), older(store)) == (["I have a cat", "I like tea"], [])
    save(page.path, text.replace(line, ""))
    again = page.open()
    assert (said(again), [one.id for one in again.older()]) == (["I like tea"], [cat.id])


# Kills


def test_a_kill_between_the_files_leaves_a_fact_in_just_one(place: Place) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    before = place.files()
    store.retire([cat.id])
    after = place.files()
    journal = place.path.with_name("changes.jsonl")
    lines = (after[journal] or b"").splitlines(keepends=True)
    first = b"".join(lines[:2])
    halves = (
        before | {journal: first},
        before | {journal: first, place.older: after[place.older]},
        before | {journal: after[journal], place.older: after[place.older]},
    )
    for half in halves:
        place.put(half)
        again = place.open()
        assert (said(again), older(again)) == (["I have a cat"], [])
        assert b"cat" not in (place.files()[place.older] or b"")
        again.retire([cat.id])
        again.undo()
        assert (said(again), older(again)) == (["I have a cat"], [])


def test_a_kill_while_a_fact_comes_back_leaves_it_in_just_one(place: Place) -> None:
    store = place.open()
    cat = store.add("I have a cat")
    store.retire([cat.id])
    before = place.files()
    store.revive(cat.id)
    after = place.files()
    journal = place.path.with_name("changes.jsonl")
    lines = (after[journal] or b"").splitlines(keepends=True)
    half = before | {journal: b"".join(lines[:-1]), place.path: after[place.path]}
    place.put(half)
    again = place.open()
    assert (said(again), older(again)) == (["I have a cat"], [])
    assert b"cat" not in (place.files()[place.older] or b"")
    again.undo()
    assert (said(again), older(again)) == ([], ["I have a cat"])


# The last day


def test_a_fact_is_gone_from_the_day_after_its_last(array: Place) -> None:
    store = array.open()
    store.add("exam on the 18th", until=date(2026, 11, 18))
    store.add("I like tea")
    array.time = START + timedelta(days=1)
    assert said(store) == ["exam on the 18th", "I like tea"]
    array.time = START + timedelta(days=2)
    before = array.files()
    assert (said(store), older(store)) == (["I like tea"], ["exam on the 18th"])
    assert "exam" not in store.prompt_text()
    assert "I like tea" in store.prompt_text()
    assert array.files() == before


def test_the_next_write_moves_what_ended_within_the_same_change(array: Place) -> None:
    store = array.open(memory_max_items=1)
    exam = store.add("exam", until=date(2026, 11, 17))
    array.time = START + timedelta(days=1)
    tea = store.add("I like tea")
    assert b"exam" not in (array.files()[array.path] or b"")
    assert [one.id for one in store.older()] == [exam.id]
    last = store.changes()[-2:]
    assert [(one.op, one.id) for one in last] == [("expire", exam.id), ("add", tea.id)]
    assert last[0].step == last[1].step


def test_an_undo_leaves_what_ended_where_it_is(array: Place) -> None:
    store = array.open()
    store.add("exam", until=date(2026, 11, 17))
    store.add("I like tea")
    array.time = START + timedelta(days=1)
    store.add("I have a cat")
    store.undo()
    assert (said(store), older(store)) == (["I like tea"], ["exam"])


def test_what_ended_comes_back_when_it_is_said_again(array: Place) -> None:
    store = array.open()
    exam = store.add("exam", until=date(2026, 11, 17))
    array.time = START + timedelta(days=1)
    back = store.revive(exam.id, until=date(2026, 12, 24))
    assert back is not None
    assert back.memory.until == date(2026, 12, 24)
    assert (said(store), older(store)) == (["exam"], [])


def test_what_ended_can_be_forgotten(array: Place) -> None:
    store = array.open()
    exam = store.add("exam", until=date(2026, 11, 17))
    array.time = START + timedelta(days=1)
    assert store.delete(exam.id)
    assert store.older() == []


# Room


def test_what_is_asked_for_takes_the_place_of_the_weakest_learned_fact(array: Place) -> None:
    store = array.open(memory_max_items=5)
    twice, weak, newer = learn(store, "said twice", "said once", "said later")
    store.count_repeat(twice.id, origin="learnt")
    store.add("mine"), store.add("also mine")
    before = array.files()[array.path]
    kept = store.remember("我對青黴素過敏")
    assert [one.id for one in kept.displaced] == [weak.id]
    assert said(store) == ["said twice", "said later", "mine", "also mine", "我對青黴素過敏"]
    assert older(store) == ["said once"]
    store.undo()
    assert array.files()[array.path] == before
    assert store.older() == []
    assert newer.id in {one.id for one in store.get_all()}


def test_nothing_but_learned_facts_makes_room(array: Place) -> None:
    store = array.open(memory_max_items=5)
    (edited, accepted) = learn(store, "edited", "kept")
    store.update(edited.id, "edited by me")
    store.add("mine"), store.add("a tool's", origin="tool")
    pending = PendingStore(store, now=array.now)
    waiting = pending.add("from a document", origin="learnt", source=Source(trust="document"))
    pending.accept(waiting.id)
    assert [one.id for one in store.remember("x").displaced] == [accepted.id]
    with pytest.raises(MemoryFull, match="turnleaf config memoryMaxItems 10"):
        store.remember("y")
    assert older(store) == ["kept"]


def test_as_many_learned_facts_leave_as_it_takes(array: Place) -> None:
    store = array.open(memory_max_chars=100)
    learn(store, "a" * 30, "b" * 30)
    store.add("c" * 30)
    assert len(store.remember("d" * 60).displaced) == 2
    with pytest.raises(MemoryFull, match="turnleaf config memoryMaxChars"):
        store.remember("e" * 60)
    assert len(store.older()) == 2


@pytest.mark.parametrize(("limit", "room"), [(100, 80), (30, 24), (10, 8), (6, 5)])
def test_learning_leaves_places_free(array: Place, limit: int, room: int) -> None:
    store = array.open(memory_max_items=limit)
    learn(store, *(f"fact {number}" for number in range(room)))
    assert store.room("learnt").items == 0
    with pytest.raises(MemoryFull, match="kept free for what you ask for"):
        learn(store, "one more")
    for number in range(limit - room):
        store.add(f"mine {number}")
    with pytest.raises(MemoryFull, match="MEMORY_MAX_ITEMS"):
        store.add("one more")


def test_learning_leaves_characters_free(array: Place) -> None:
    store = array.open(memory_max_items=10, memory_max_chars=100)
    with pytest.raises(MemoryFull, match="80 characters"):
        learn(store, "x" * 81)
    learn(store, "x" * 80)
    assert store.room("learnt").chars == 0


# Erasing


def test_older_facts_of_a_source_are_erased_to_the_last_byte(place: Place) -> None:
    store = place.open()
    cat = store.add("I have a cat", origin="learnt", source=CHAT)
    tea = store.add("I like tea")
    store.retire([cat.id, tea.id])
    assert [one.id for one in store.erase("web:1")] == [cat.id]
    assert older(store) == ["I like tea"]
    assert all(b"cat" not in (data or b"") for data in place.files().values())
    store.undo()
    assert (said(store), older(store)) == (["I like tea"], [])


def test_an_erasure_that_a_kill_cut_off_is_finished_by_the_next(place: Place) -> None:
    store = place.open()
    cat = store.add("I have a cat", origin="learnt", source=CHAT)
    store.retire([cat.id])
    before = place.files()
    store.erase("web:1")
    place.put(before | {place.older: place.files()[place.older]})
    again = place.open()
    again.erase("web:1")
    assert again.older() == []
    assert all(b"cat" not in (data or b"") for data in place.files().values())


def test_what_was_said_again_elsewhere_stays_when_the_first_source_is_erased(array: Place) -> None:
    store = array.open()
    cat = store.add("I have a cat", origin="learnt", source=CHAT)
    store.retire([cat.id])
    store.revive(cat.id, source=Source(conversation="web:2", trust="user"))
    store.erase("web:1")
    assert said(store) == ["I have a cat"]


def test_the_record_says_where_a_fact_went(page: Place) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    lines = page.path.with_name("changes.jsonl").read_text(encoding="utf-8").splitlines()
    told = [(one["file"], one["op"]) for one in map(json.loads, lines)]
    assert told == [("MEMORY.md", "add"), ("OLDER.md", "move"), ("MEMORY.md", "retire")]
