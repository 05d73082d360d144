"""Facts that left the memory: kept beside it, in no prompt, found, forgotten and brought back."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from turnleaf.core.changes import Source
from turnleaf.errors import Conflict
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.older import find_older_path

START = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
LONG_AGO = (0, 0)
CHAT = Source(quote="q", conversation="web:1", message_time=START, trust="user")


class OlderFile:
    """A location, and stores opened there as one process after another would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.older = find_older_path(path)
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
        """Put the files into the state in which a kill left them."""
        for path in self.path.parent.iterdir():
            path.unlink()
        for path, data in contents.items():
            if data is not None:
                path.write_bytes(data)


@pytest.fixture(params=["memories.json", "MEMORY.md"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> OlderFile:
    return OlderFile(tmp_path / request.param)


@pytest.fixture
def page(tmp_path: Path) -> OlderFile:
    return OlderFile(tmp_path / "MEMORY.md")


def list_contents(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.get_all()]


def list_older(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.older()]


def save(path: Path, text: str) -> None:
    """Save a file as an editor would, and leave it quiet."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, LONG_AGO)


# Leaving and coming back


def test_there_is_no_file_of_older_facts_before_one_leaves(place: OlderFile) -> None:
    store = place.open()
    store.add("x")
    assert store.older() == []
    assert not place.older.exists()


def test_what_was_changed_since_among_the_older_facts_is_not_undone(page: OlderFile) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    save(page.older, page.older.read_text(encoding="utf-8").replace("a cat", "two cats"))
    with pytest.raises(Conflict, match="changed again since"):
        store.undo()
    assert (list_contents(store), list_older(store)) == ([], ["I have two cats"])


def test_undo_with_skip_leaves_an_older_fact_that_was_changed_since(page: OlderFile) -> None:
    store = page.open()
    tea = store.add("I like tea")
    store.retire([store.add("I have a cat").id])
    store.delete(tea.id)
    save(page.older, page.older.read_text(encoding="utf-8").replace("a cat", "two cats"))
    assert [change.op for change in store.undo(skip=True)] == ["delete"]
    assert [change.op for change in store.undo(skip=True)] == ["add"]
    assert (list_contents(store), list_older(store)) == ([], ["I have two cats"])


# Edits by hand


def test_the_file_of_older_facts_can_be_edited(page: OlderFile) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    save(page.older, page.older.read_text(encoding="utf-8") + "\nMy words.\n\n- typed by hand\n")
    assert list_older(page.open()) == ["I have a cat", "typed by hand"]
    store.retire([store.add("I like tea").id])
    assert "My words.\n" in page.older.read_text(encoding="utf-8")


def test_a_fact_that_an_editor_wiped_from_the_older_ones_comes_back(page: OlderFile) -> None:
    store = page.open()
    store.retire([store.add("one").id])
    buffer = page.older.read_text(encoding="utf-8")
    store.retire([store.add("two").id])
    save(page.older, buffer + "\nMy words.\n")
    assert list_older(page.open()) == ["one", "two"]


def test_an_older_buffer_of_the_memory_does_not_bring_a_fact_back_that_left(
    page: OlderFile,
) -> None:
    store = page.open()
    cat = store.add("I have a cat")
    store.add("I like tea")
    buffer = page.path.read_text(encoding="utf-8")
    store.retire([cat.id])
    save(page.path, buffer + "\nMy words.\n")
    again = page.open()
    assert (list_contents(again), list_older(again)) == (["I like tea"], ["I have a cat"])


def test_a_line_that_is_moved_back_by_hand_stays_there(page: OlderFile) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    line = page.older.read_text(encoding="utf-8").splitlines()[-1]
    save(page.path, page.path.read_text(encoding="utf-8") + f"\n{line}\n")
    assert (list_contents(page.open()), list_older(store)) == (["I have a cat"], [])
    save(page.older, "# Older facts\n")
    again = page.open()
    assert (list_contents(again), list_older(again)) == (["I have a cat"], [])


def test_a_line_that_is_moved_out_by_hand_is_an_older_fact(page: OlderFile) -> None:
    store = page.open()
    cat = store.add("I have a cat")
    store.add("I like tea")
    text = page.path.read_text(encoding="utf-8")
    line = next(one for one in text.splitlines(keepends=True) if "cat" in one)
    save(page.older, f"# Older facts\n\n{line}")
    assert (list_contents(page.open()), list_older(store)) == (["I have a cat", "I like tea"], [])
    save(page.path, text.replace(line, ""))
    again = page.open()
    assert (list_contents(again), [one.id for one in again.older()]) == (["I like tea"], [cat.id])


# Kills


def test_a_kill_between_the_files_leaves_a_fact_in_just_one(place: OlderFile) -> None:
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
        assert (list_contents(again), list_older(again)) == (["I have a cat"], [])
        assert b"cat" not in (place.files()[place.older] or b"")
        again.retire([cat.id])
        again.undo()
        assert (list_contents(again), list_older(again)) == (["I have a cat"], [])


def test_a_kill_while_a_fact_comes_back_leaves_it_in_just_one(place: OlderFile) -> None:
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
    assert (list_contents(again), list_older(again)) == (["I have a cat"], [])
    assert b"cat" not in (place.files()[place.older] or b"")
    again.undo()
    assert (list_contents(again), list_older(again)) == ([], ["I have a cat"])


# Erasing


def test_older_facts_of_a_source_are_erased_to_the_last_byte(place: OlderFile) -> None:
    store = place.open()
    cat = store.add("I have a cat", origin="learnt", source=CHAT)
    tea = store.add("I like tea")
    store.retire([cat.id, tea.id])
    assert [one.id for one in store.erase("web:1")] == [cat.id]
    assert list_older(store) == ["I like tea"]
    assert all(b"cat" not in (data or b"") for data in place.files().values())
    store.undo()
    assert (list_contents(store), list_older(store)) == (["I like tea"], [])


def test_an_erasure_that_a_kill_cut_off_is_finished_by_the_next(place: OlderFile) -> None:
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


def test_the_record_says_where_a_fact_went(page: OlderFile) -> None:
    store = page.open()
    store.retire([store.add("I have a cat").id])
    lines = page.path.with_name("changes.jsonl").read_text(encoding="utf-8").splitlines()
    told = [(one["file"], one["op"]) for one in map(json.loads, lines)]
    assert told == [("MEMORY.md", "add"), ("OLDER.md", "move"), ("MEMORY.md", "retire")]
