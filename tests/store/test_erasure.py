"""Erasing a source: nothing of it stays in any file, and nothing else is harmed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import LONG
from tests.store import older
from tests.store.erasures import (
    DOCUMENT,
    SLACK,
    SOURCES,
    TALK,
    TOOL,
    WORDS,
    ErasureStores,
    fill,
    find_traces,
    kill,
    make_source,
    state,
)
from tests.strategies import brief
from turnleaf.core.changes import Source
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.errors import Conflict, InvalidInput
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.schedules import ScheduleStore

FORMATS = (".md", ".json")
LONG_AGO = (0, 0)
MINE = Source("我自己說的", SLACK)


@pytest.fixture(params=FORMATS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> ErasureStores:
    return ErasureStores(tmp_path / "data", suffix=request.param)


@pytest.fixture
def pages(tmp_path: Path) -> ErasureStores:
    return ErasureStores(tmp_path / "data")


def talk(text: str) -> Source:
    return make_source(TALK, text)


def list_contents(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.get_all()]


def save(store: MemoryStore, data: bytes) -> None:
    """Save a file as an editor would, and leave it quiet."""
    store.location.write_bytes(data)
    os.utime(store.location, LONG_AGO)


def record_of(store: MemoryStore) -> str:
    return store.location.with_name("changes.jsonl").read_text("utf-8")


# Not a byte stays


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("suffix", "shelf"), [(".md", ".db"), (".json", ".json")])
def test_no_byte_of_a_source_stays_in_any_file(
    tmp_path: Path, suffix: str, shelf: str, source: str
) -> None:
    stores = ErasureStores(tmp_path, suffix=suffix, shelf=shelf)
    fill(stores)
    held = {left.split(":")[0] for left in find_traces(tmp_path, source)}
    assert {"index.db", f"memory/MEMORY{suffix}", "memory/pending.md"} <= held
    erased = stores.erase(source)
    assert find_traces(tmp_path, source) == []
    has_talked = source in (TALK, SLACK)
    kept = 8 if shelf == ".db" else 4
    assert (erased.facts, erased.notes, erased.messages) == (4, 2, kept if has_talked else 0)
    assert erased.copies == ()


@pytest.mark.parametrize("source", SOURCES)
def test_the_others_are_unharmed(stores: ErasureStores, source: str) -> None:
    fill(stores)
    before = state(stores)
    stores.erase(source)
    after = state(stores)
    words = [*WORDS[source], source]

    def is_other(thing: object) -> bool:
        return not any(word in repr(thing) for word in words)

    for old, new in zip(before[:3], after[:3], strict=True):
        assert isinstance(old, list)
        assert isinstance(new, list)
        kept = [one for one in old if is_other(one)]
        assert [one for one in new if one in kept] == kept
    assert [memory.content for memory in stores.memory.get_all()].count("I typed this") == 1
    for other in SOURCES:
        hits = stores.index.search(WORDS[other][0], source="memory")
        assert bool(hits) is (other != source)
    assert "noted by me" in stores.daily.read("2026-03-01")


def test_nothing_happens_to_anybody_when_a_source_is_unknown(stores: ErasureStores) -> None:
    fill(stores)
    before, record = state(stores), record_of(stores.memory)
    erased = stores.erase("cli:session-404")
    assert (erased.facts, erased.notes, erased.messages) == (0, 0, 0)
    assert state(stores) == before
    assert record_of(stores.memory) == record


def test_all_sources_can_be_erased_one_after_the_other(
    stores: ErasureStores, tmp_path: Path
) -> None:
    fill(stores)
    for source in SOURCES:
        stores.erase(source)
    assert [find_traces(tmp_path, source) for source in SOURCES] == [[], [], [], []]
    assert list_contents(stores.memory) == [
        "I typed this",
        *(f"I had no animal {n}" for n in range(4)),
    ]
    assert list_contents(stores.pending) == []


@pytest.mark.parametrize("source", ["", " ", "\0", "\ud800", None, 5])
def test_what_names_no_source_is_refused(pages: ErasureStores, source: str) -> None:
    with pytest.raises(InvalidInput, match="source"):
        pages.erase(source)


def test_copies_that_were_put_aside_are_named(pages: ErasureStores) -> None:
    pages.memory.add("a zebra", source=talk("zebra"))
    whole = pages.memory.location.read_bytes()
    save(pages.memory, whole + b"\xff")
    assert list_contents(pages.memory) == ["a zebra"]
    (copy,) = pages.memory.location.parent.glob("MEMORY.md.corrupt-*")
    assert pages.erase(TALK).copies == (str(copy),)
    assert find_traces(pages.folder, TALK) == [f"{copy.relative_to(pages.folder)}: b'zebra'"]


def test_what_a_kill_left_of_an_unfinished_write_goes(pages: ErasureStores) -> None:
    fill(pages)
    unfinished = [
        pages.memory.location.with_name(".MEMORY.md.tmp"),
        pages.memory.location.with_name(".changes.jsonl.tmp"),
        pages.daily.location / ".2026-03-01.md.tmp",
        pages.conversations.location.with_name(".conversations.json.tmp"),
    ]
    pages.erase(TALK)
    for path in unfinished:
        path.write_text("a zebra")
    pages.erase(TALK)
    assert find_traces(pages.folder, TALK) == []


def test_a_line_of_the_record_that_cannot_be_read_goes_only_if_it_may_hold_it(
    pages: ErasureStores,
) -> None:
    pages.memory.add("a zebra", source=talk("zebra"))
    record = pages.memory.location.with_name("changes.jsonl")
    with record.open("a", encoding="utf-8") as file:
        file.write('{"damaged": 1\n{"op": "add", "after": {"content": "a zebra\n')
    pages.memory.add("mine")
    pages.erase(TALK)
    assert '{"damaged": 1\n' in record.read_text("utf-8")
    assert find_traces(pages.folder, TALK) == []


def test_a_message_that_a_kill_tore_in_an_older_archive_goes_too(pages: ErasureStores) -> None:
    fill(pages)
    folder = pages.conversations.location.parent
    month = older.archive(folder, "others", older.make_messages("a lamp"))
    with month.open("a", encoding="utf-8") as file:
        file.write(f'{{"conversation": {json.dumps(TALK)}, "role": "user", "content": "a zeb\n')
    pages.erase(TALK)
    kept = b"".join(path.read_bytes() for path in pages.folder.rglob("*") if path.is_file())
    assert b"a zeb" not in kept
    assert [one.message.text for one in pages.conversations.messages("others")] == ["a lamp"]


def test_the_queue_of_what_is_to_be_learned_is_erased_by_key_or_by_source(
    pages: ErasureStores,
) -> None:
    queue = pages.own.learning
    for source in SOURCES:
        of = None if source in (TALK, SLACK) else source
        queue.enqueue(
            source if of is None else "cli:other", [Queued(Message("user", "x"), source=of)]
        )
    for number, source in enumerate(SOURCES, 1):
        pages.erase(source)
        assert sum(queue.backlog().values()) == len(SOURCES) - number


# Whose a fact is


def test_what_it_replaced_stands_again(stores: ErasureStores) -> None:
    mine = stores.memory.add("lives in 台北", "Home", source=MINE)
    stores.memory.update(mine.id, "lives in a zebra", source=talk("zebra"))
    stores.memory.update(mine.id, "lives in 斑馬", source=talk("斑馬"))
    stores.erase(TALK)
    (now,) = stores.memory.get_all()
    assert (now.id, now.content, now.category) == (mine.id, "lives in 台北", "Home")
    assert stores.memory.changes(mine.id)[0].source == MINE
    assert find_traces(stores.folder, TALK) == []


def test_what_a_person_edited_since_stays_without_the_quote(stores: ErasureStores) -> None:
    fact = stores.memory.add("a zebra", source=talk("my zebra"))
    stores.memory.update(fact.id, "a horse")
    assert stores.erase(TALK).facts == 0
    assert list_contents(stores.memory) == ["a horse"]
    story = [(change.op, change.source) for change in stores.memory.changes(fact.id)]
    assert story == [("add", None), ("erase", None)]
    assert find_traces(stores.folder, TALK) == []


def test_what_a_person_edited_in_the_file_stays(stores: ErasureStores) -> None:
    fact = stores.memory.add("a zebra", source=talk("my zebra"))
    save(stores.memory, stores.memory.text().replace("zebra", "馬").encode())
    assert stores.erase(TALK).facts == 0
    assert [(one.id, one.content) for one in stores.memory.get_all()] == [(fact.id, "a 馬")]
    assert find_traces(stores.folder, TALK) == []


def test_what_another_source_said_since_stays(stores: ErasureStores) -> None:
    fact = stores.memory.add("a zebra", source=talk("zebra"))
    stores.memory.update(fact.id, "a 海象", source=MINE)
    stores.erase(TALK)
    assert list_contents(stores.memory) == ["a 海象"]
    assert [one.source for one in stores.memory.changes(fact.id) if one.source] == [MINE]


def test_what_was_edited_when_it_was_accepted_is_the_person_s(stores: ErasureStores) -> None:
    rests_on = make_source(DOCUMENT, "a badger")
    one, other = (stores.pending.add(f"a badger {n}", source=rests_on) for n in range(2))
    stores.pending.accept(one.id, "a cat")
    stores.pending.accept(other.id)
    stores.erase(DOCUMENT)
    assert list_contents(stores.memory) == ["a cat"]
    assert find_traces(stores.folder, DOCUMENT) == []


def test_no_trace_stays_of_the_wish_by_which_it_deleted_a_fact(
    stores: ErasureStores,
) -> None:
    mine = stores.memory.add("mine", source=MINE)
    stores.memory.delete(mine.id, source=talk("forget the zebra"))
    stores.erase(TALK)
    assert list_contents(stores.memory) == []
    assert find_traces(stores.folder, TALK) == []


def test_it_is_not_added_again_under_the_same_id(stores: ErasureStores) -> None:
    stores.memory.add("a zebra", source=talk("zebra"), memory_id="chosen")
    stores.erase(TALK)
    assert stores.memory.add("a zebra", source=talk("zebra"), memory_id="chosen") is None
    assert find_traces(stores.folder, TALK) == []


# What the record is for


def test_the_changes_of_others_can_still_be_undone_in_their_order(stores: ErasureStores) -> None:
    first = stores.memory.add("first", source=MINE)
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.memory.update(first.id, "first, changed")
    stores.memory.add("a 斑馬", source=talk("斑馬"))
    stores.memory.add("last", "Home")
    stores.erase(TALK)
    left = []
    while stores.memory.undo():
        left.append(list_contents(stores.memory))
    assert left == [["first, changed"], ["first"], []]


def test_after_an_erasure_its_last_change_is_undone_to_the_byte(stores: ErasureStores) -> None:
    stores.memory.add("first")
    before = stores.memory.location.read_bytes()
    stores.memory.add("second", "Home")
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.erase(TALK)
    stores.memory.undo()
    assert stores.memory.location.read_bytes() == before


def test_undoing_the_edit_of_an_erased_text_brings_nothing_of_it_back(
    stores: ErasureStores,
) -> None:
    fact = stores.memory.add("a zebra", source=talk("zebra"))
    stores.memory.update(fact.id, "a horse")
    stores.erase(TALK)
    stores.memory.undo()
    assert list_contents(stores.memory) == []
    assert stores.memory.undo() == []
    assert find_traces(stores.folder, TALK) == []


def test_no_fingerprint_of_what_was_erased_stays_on_record(stores: ErasureStores) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.memory.add("mine too")
    stores.erase(TALK)
    *before, last = [json.loads(line)["shape"] for line in record_of(stores.memory).splitlines()]
    assert set(before) == {"0+0"}
    assert last != "0+0"


def test_an_edit_that_was_undone_before_the_erasure_is_not_undone_again(
    stores: ErasureStores,
) -> None:
    fact = stores.memory.add("a zebra", source=talk("zebra"))
    stores.memory.update(fact.id, "a horse")
    stores.memory.undo()
    stores.erase(TALK)
    assert list_contents(stores.memory) == []
    assert stores.memory.undo() == []


def test_what_was_learned_after_an_erasure_is_undone_as_ever(stores: ErasureStores) -> None:
    mine = stores.memory.add("mine")
    stores.memory.update(mine.id, "a zebra", source=talk("zebra"))
    stores.erase(TALK)
    stores.memory.update(mine.id, "mine, changed")
    stores.memory.undo()
    assert list_contents(stores.memory) == ["mine"]
    with pytest.raises(Conflict):
        stores.memory.update(mine.id, "x", expected="a zebra")


@pytest.mark.parametrize("edit", ["as it was", "with an edit"])
def test_an_editor_that_saves_an_older_buffer_brings_nothing_back(
    stores: ErasureStores, edit: str
) -> None:
    mine = stores.memory.add("mine")
    stores.memory.add("a zebra\ncalled 斑馬", "Home", source=talk("zebra"))
    stores.memory.update(mine.id, "mine 斑馬", source=talk("斑馬"))
    buffer = stores.memory.text()
    stores.erase(TALK)
    stores.memory.add("later")
    if edit == "with an edit":
        buffer = type_fact(stores, buffer)
    save(stores.memory, buffer.encode())
    stores.memory.reconcile()
    expected = {"mine", "later"} | ({"typed"} if edit == "with an edit" else set())
    assert set(list_contents(stores.memory)) == expected
    assert find_traces(stores.folder, TALK) == []
    assert stores.memory.needs_mending() is False


def type_fact(stores: ErasureStores, buffer: str) -> str:
    if stores.memory.location.suffix == ".md":
        return f"{buffer}\n- typed\n"
    return json.dumps([*json.loads(buffer), {"content": "typed"}])


def test_an_editor_that_saves_before_anything_else_happens_brings_nothing_back(
    stores: ErasureStores,
) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra", source=talk("zebra"))
    buffer = stores.memory.text()
    stores.erase(TALK)
    save(stores.memory, buffer.encode())
    stores.memory.reconcile()
    assert list_contents(stores.memory) == ["mine"]
    assert find_traces(stores.folder, TALK) == []


def test_an_erased_fact_that_a_person_rewrote_in_an_older_buffer_is_the_person_s(
    stores: ErasureStores,
) -> None:
    stores.memory.add("a zebra", source=talk("zebra"))
    buffer = stores.memory.text()
    stores.erase(TALK)
    save(stores.memory, buffer.replace("zebra", "馬").encode())
    stores.memory.reconcile()
    assert list_contents(stores.memory) == ["a 馬"]


def test_a_fact_added_after_an_erasure_survives_an_older_buffer(stores: ErasureStores) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.erase(TALK)
    buffer = stores.memory.text()
    stores.memory.add("later")
    save(stores.memory, type_fact(stores, buffer).encode())
    stores.memory.reconcile()
    assert set(list_contents(stores.memory)) == {"mine", "later", "typed"}


def test_a_fact_that_a_person_deletes_after_an_erasure_stays_deleted(stores: ErasureStores) -> None:
    stores.memory.add("mine")
    fact = stores.memory.add("doomed")
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.erase(TALK)
    raw = stores.memory.text()
    assert fact.id in raw
    save(stores.memory, drop_facts(raw, "doomed").encode())
    stores.memory.reconcile()
    assert list_contents(stores.memory) == ["mine"]


def drop_facts(text: str, word: str) -> str:
    if text.startswith("["):
        return json.dumps([one for one in json.loads(text) if word not in one["content"]])
    return "".join(line for line in text.splitlines(keepends=True) if word not in line)


def test_a_text_that_a_person_saved_around_it_keeps_nothing_of_it(stores: ErasureStores) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra called 斑馬", source=talk("zebra"))
    text = stores.memory.text()
    stores.memory.write(json.dumps(json.loads(text)) if text.startswith("[") else f"words\n{text}")
    stores.memory.write(stores.memory.text().replace("mine", "my own"))
    stores.memory.write(drop_facts(stores.memory.text(), "zebra"))
    assert list_contents(stores.memory) == ["my own"]
    stores.erase(TALK)
    assert find_traces(stores.folder, TALK) == []
    told = []
    while stores.memory.undo(skip=True):
        assert find_traces(stores.folder, TALK) == []
        told.append(list_contents(stores.memory))
    assert told == [["mine"], []]


def test_what_a_person_saved_back_unchanged_is_still_its_source_s(stores: ErasureStores) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra", source=talk("zebra"))
    text = stores.memory.text()
    stores.memory.write(drop_facts(text, "zebra"))
    stores.memory.write(text)
    assert stores.erase(TALK).facts == 1
    assert list_contents(stores.memory) == ["mine"]
    assert find_traces(stores.folder, TALK) == []


def test_an_array_with_its_letters_escaped_keeps_nothing_of_it(tmp_path: Path) -> None:
    stores = ErasureStores(tmp_path / "data", suffix=".json")
    mine = stores.memory.add("mine")
    stores.memory.add("斑馬", source=talk("斑馬"))
    for indent in (1, 2):
        stores.memory.write(json.dumps(json.loads(stores.memory.text()), indent=indent))
    stores.erase(TALK)
    assert find_traces(stores.folder, TALK) == []
    assert stores.memory.get_all() == [mine]


def test_a_deletion_and_an_edit_saved_at_once_leave_the_edit_to_be_undone(
    stores: ErasureStores,
) -> None:
    stores.memory.add("mine")
    stores.memory.add("a zebra", source=talk("zebra"))
    text = stores.memory.text().replace("mine", "my own")
    stores.memory.write(drop_facts(text, "zebra"))
    stores.erase(TALK)
    stores.memory.undo()
    assert list_contents(stores.memory) == ["mine"]
    assert find_traces(stores.folder, TALK) == []


def test_what_a_person_wrote_first_is_the_person_s_though_a_source_said_it_too(
    stores: ErasureStores,
) -> None:
    fact = stores.memory.add("mine")
    stores.memory.write(stores.memory.text().replace("mine", "my own"))
    stores.memory.update(fact.id, "my own", source=talk("my own"))
    assert stores.erase(TALK).facts == 0
    assert list_contents(stores.memory) == ["my own"]


def test_what_a_person_wrote_in_its_place_stays(stores: ErasureStores) -> None:
    fact = stores.memory.add("a zebra", source=talk("my zebra"))
    stores.memory.write(stores.memory.text().replace("zebra", "馬"))
    assert stores.erase(TALK).facts == 0
    assert [(one.id, one.content) for one in stores.memory.get_all()] == [(fact.id, "a 馬")]
    assert find_traces(stores.folder, TALK) == []
    stores.memory.undo()
    assert list_contents(stores.memory) == []
    assert find_traces(stores.folder, TALK) == []


def test_what_a_person_saved_elsewhere_in_the_file_is_still_undone_to_the_byte(
    stores: ErasureStores,
) -> None:
    stores.memory.add("mine")
    before = stores.memory.location.read_bytes()
    stores.memory.write(stores.memory.text().replace("mine", "my own"))
    stores.memory.add("a zebra", source=talk("zebra"))
    stores.erase(TALK)
    stores.memory.undo()
    assert stores.memory.location.read_bytes() == before


@pytest.mark.parametrize("ending", ["\n", ""])
def test_neighbours_that_stood_beside_it_keep_nothing_of_it(
    pages: ErasureStores, ending: str
) -> None:
    pages.memory.add("a zebra", source=talk("zebra"))
    save(pages.memory, pages.memory.text().rstrip("\n").encode() + ending.encode())
    pages.memory.add("below")
    pages.memory.delete(pages.memory.add("below that").id)
    pages.erase(TALK)
    assert find_traces(pages.folder, TALK) == []
    assert list_contents(pages.memory) == ["below"]
    pages.memory.undo()
    assert list_contents(pages.memory) == ["below", "below that"]


def test_a_damaged_file_is_made_anew_without_what_was_erased(pages: ErasureStores) -> None:
    pages.memory.add("mine")
    pages.memory.add("a zebra", source=talk("zebra"))
    pages.erase(TALK)
    save(pages.memory, b"\xff")
    assert list_contents(pages.memory) == ["mine"]


# Any history

DEEDS = st.tuples(
    st.sampled_from(
        [
            *("add", "add", "update", "update", "delete", "undo", "edit", "remove"),
            *("write", "write without", "write escaped"),
        ]
    ),
    st.sampled_from([talk("zebra"), talk("斑馬"), MINE, None]),
    st.integers(0, 9),
)


def live(store: MemoryStore, deeds: Sequence[tuple[str, Source | None, int]]) -> list[str]:
    """Change a memory as people, a conversation and an editor; return all that it ever was."""
    texts = [store.text()]
    for number, (deed, source, place) in enumerate(deeds):
        content = f"{'zebra 斑馬' if source and source.conversation == TALK else 'mine'} {number}"
        facts = store.get_all()
        fact = facts[place % len(facts)] if facts else None
        if deed == "add":
            store.add(content, ["Home", None][place % 2], source=source)
        elif deed == "undo":
            store.undo(skip=True)
        elif fact and deed == "update":
            store.update(fact.id, content, source=source)
        elif fact and deed == "delete":
            store.delete(fact.id, source=source)
        elif fact and deed.startswith("write"):
            write(store, deed, fact.content, number)
        elif fact:
            is_edit = deed == "edit"
            text = store.text().replace(fact.content, f"typed {number}")
            save(store, (text if is_edit else drop_facts(store.text(), fact.content)).encode())
        texts.append(store.text())
    return texts


def write(store: MemoryStore, deed: str, content: str, number: int) -> None:
    """Save the whole file as a person does in an editor of ours."""
    text = store.text()
    if deed == "write escaped" and text.startswith("["):
        store.write(json.dumps(json.loads(text), indent=number))
    elif deed == "write without":
        store.write(drop_facts(text, content))
    else:
        store.write(text.replace(content, f"written {number}"))


@brief
@given(st.sampled_from(FORMATS), st.lists(DEEDS, max_size=14), st.integers(0, 99))
def test_whatever_happened_nothing_of_the_source_is_left_or_comes_back(
    tmp_path: Path, suffix: str, deeds: list[tuple[str, Source | None, int]], chosen: int
) -> None:
    shutil.rmtree(tmp_path / "data", ignore_errors=True)
    stores = ErasureStores(tmp_path / "data", suffix=suffix)
    store = stores.memory
    texts = live(store, deeds)
    before = {one.id: one.content for one in store.get_all()}
    stores.erase(TALK)
    after = {one.id: one.content for one in store.get_all()}
    kept = {key: text for key, text in before.items() if "zebra" not in text}
    assert {key: after[key] for key in kept} == kept
    assert after.keys() <= before.keys()
    save(store, texts[chosen % len(texts)].encode())
    store.reconcile()
    assert find_traces(stores.folder, TALK) == []
    while store.undo(skip=True):
        assert find_traces(stores.folder, TALK) == []
    assert store.needs_mending() is False


# Kills

KILLED_AT = [
    (source, 5 if LONG else step) for source, step in ((TALK, 61), (DOCUMENT, 71), (TOOL, 97))
]


@pytest.mark.parametrize(("source", "step"), KILLED_AT)
def test_after_a_kill_at_any_instant_the_same_call_finishes_it(
    tmp_path: Path, source: str, step: int
) -> None:
    stores = ErasureStores(tmp_path / "data")
    fill(stores)
    stores.close()
    kills, complaints = kill("erasures", tmp_path / "data", source, step)
    assert complaints == []
    assert kills * step > 100


# Notes


def test_notes_that_a_person_reworked_go_by_their_comment(pages: ErasureStores) -> None:
    pages.daily.append("mine\nand more")
    pages.daily.append("a zebra\n\nwith an empty line", source=TALK)
    pages.daily.append("a walrus", source=SLACK)
    pages.erase(TALK)
    assert "zebra" not in pages.daily.read("2026-03-01")
    assert "mine\n  and more\n" in pages.daily.read("2026-03-01")
    assert "a walrus" in pages.daily.read("2026-03-01")


def test_all_messages_of_a_conversation_are_counted(pages: ErasureStores) -> None:
    said_by: Callable[[int], Message] = lambda n: Message("user", f"zebra {n}")  # noqa: E731
    for number in range(9):
        pages.conversations.add_messages(TALK, [said_by(number)])
    assert pages.erase(TALK).messages == 9
    assert pages.conversations.get_history(TALK) == []


# Schedules


def test_no_byte_of_what_a_schedule_said_stays(pages: ErasureStores) -> None:
    path = pages.folder / "schedules.json"
    store = ScheduleStore(path)
    made = store.add("今天有什麼動物？", "every 1h", zone="UTC")
    _, run = store.begin(made.id)
    store.finish(made.id, run, result="斑馬")
    unfinished, copy = (
        path.with_name(".schedules.json.tmp"),
        "schedules.json.corrupt-20260301T083000Z",
    )
    shutil.copy(path, unfinished)
    shutil.copy(path, path.with_name(copy))
    pages.index.sync()
    erased = pages.erase(f"schedule:{made.id}")
    assert erased.messages == 1
    assert [Path(one).name for one in erased.copies] == [copy]
    assert "斑馬" not in path.read_text("utf-8")
    assert not unfinished.exists()
    assert [one.prompt for one in store.get_all()] == ["今天有什麼動物？"]
