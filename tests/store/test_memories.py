"""One contract of `MemoryStore`, in JSON and in Markdown."""

from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Barrier, Thread
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clocks import TickingClock
from tests.counting import count_calls
from tests.effort import sample
from tests.store import others
from tests.strategies import brief, contents, facts, tidy_pages
from turnleaf.core.memories import Memory, make_content_id
from turnleaf.errors import Conflict, InvalidInput, MemoryFull, SettingsError, StorageError
from turnleaf.settings import Settings
from turnleaf.store.files import atomic
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.pending import PendingStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
FORMATS = (".json", ".md")
LONG_AGO = (0, 0)


class StoreLocation:
    """A location, and stores opened there as one process after another would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = TickingClock(START)
        self.ids = count(1)

    def open(self, **limits: int) -> MemoryStore:
        store = MemoryStore(
            self.path,
            settings=Settings(**limits),  # type: ignore[arg-type]
            now=self.clock,
            new_id=lambda: f"id{next(self.ids)}",
        )
        store.init()
        return store

    def data(self) -> bytes:
        return self.path.read_bytes()

    def edit(self, data: str | bytes) -> None:
        """Save the file as an editor would, and leave it quiet."""
        self.path.write_bytes(data.encode() if isinstance(data, str) else data)
        os.utime(self.path, LONG_AGO)


@pytest.fixture(params=FORMATS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    return StoreLocation(tmp_path / "deep" / f"memory{request.param}")


@pytest.fixture
def page(tmp_path: Path) -> StoreLocation:
    return StoreLocation(tmp_path / "MEMORY.md")


@pytest.fixture
def array(tmp_path: Path) -> StoreLocation:
    return StoreLocation(tmp_path / "memories.json")


def list_contents(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.get_all()]


# Remembering and forgetting


def test_a_new_memory_is_an_empty_file_in_a_new_folder(place: StoreLocation) -> None:
    store = place.open()
    assert store.get_all() == []
    assert place.path.is_file()
    assert store.location == place.path


def test_a_store_makes_itself_ready_at_the_first_call(place: StoreLocation) -> None:
    store = MemoryStore(place.path, settings=Settings())
    assert store.add("x").content == "x"


def test_undo_goes_past_a_deletion_by_hand_that_was_taken_back_by_hand(
    place: StoreLocation,
) -> None:
    store = place.open()
    store.add("first")
    store.add("second")
    both = store.text()
    lines = [line for line in both.splitlines(keepends=True) if "first" not in line]
    place.edit("".join(lines))
    assert list_contents(store) == ["second"]
    place.edit(both)
    assert list_contents(store) == ["first", "second"]
    (undone,) = store.undo()
    assert undone.op == "add"
    assert list_contents(store) == ["first"]


def test_an_id_that_is_taken_is_not_given_again(place: StoreLocation) -> None:
    store = MemoryStore(place.path, settings=Settings(), new_id=lambda: "same")
    assert [store.add(text).id for text in "abc"] == ["same", "same-2", "same-3"]


# Capacity


def test_what_a_person_typed_is_never_refused(page: StoreLocation) -> None:
    page.edit("- one\n- two\n- three\n")
    store = page.open(memory_max_items=1, memory_max_chars=2)
    assert list_contents(store) == ["one", "two", "three"]


# Undo and the record


def test_undo_leaves_alone_what_somebody_did_meanwhile(page: StoreLocation) -> None:
    store = page.open()
    store.add("ours")
    page.edit(page.data().decode() + "- typed since\n")
    store.undo()
    assert list_contents(store) == ["typed since"]


def test_undo_is_refused_for_what_a_person_changed_since(page: StoreLocation) -> None:
    store = page.open()
    store.add("ours")
    page.edit(page.data().decode().replace("ours", "theirs"))
    with pytest.raises(Conflict, match="was changed again since"):
        store.undo()
    assert list_contents(store) == ["theirs"]


def test_undo_goes_past_what_a_person_changed_where_that_is_wanted(page: StoreLocation) -> None:
    store = page.open()
    store.add("first")
    store.import_memories([Memory(name, name, START, START) for name in ("aa", "bb", "cc")])
    store.add("ours")
    page.edit(page.data().decode().replace("ours", "theirs").replace("bb <", "their bb <"))
    assert [change.id for change in store.undo(skip=True)] == ["cc", "aa"]
    assert sorted(list_contents(store)) == ["first", "their bb", "theirs"]
    assert [change.op for change in store.undo(skip=True)] == ["add"]
    assert sorted(list_contents(store)) == ["their bb", "theirs"]
    assert store.undo(skip=True) == []


def test_a_fact_that_a_person_deleted_comes_back_by_undo(page: StoreLocation) -> None:
    store = page.open()
    store.add("one")
    store.add("two")
    lines = page.data().decode().splitlines(keepends=True)
    page.edit("".join(line for line in lines if "one" not in line))
    assert list_contents(store) == ["two"]
    store.undo()
    assert sorted(list_contents(store)) == ["one", "two"]


@brief
@given(
    tidy_pages(), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), contents), max_size=4)
)
def test_undo_gives_back_every_byte_of_any_page(
    page: StoreLocation, text: str, todo: list[tuple[int, int, str]]
) -> None:
    for path in page.path.parent.iterdir():
        path.unlink()
    page.edit(text)
    store = page.open()
    states = []
    for deed, which, content in todo:
        states.append(page.data())
        known = store.get_all()
        chosen = known[which % len(known)] if known else store.add("x")
        if deed == 0:
            store.add(content, "New" if which % 2 else None)
        elif deed == 1:
            store.update(chosen.id, content)
        else:
            store.delete(chosen.id)
    if not todo or len(states) != len(store.changes()):
        return
    for state in reversed(states):
        assert store.undo()
        assert page.data() == state


def test_the_record_of_one_file_is_not_that_of_its_neighbour(tmp_path: Path) -> None:
    one, other = StoreLocation(tmp_path / "one.md"), StoreLocation(tmp_path / "other.md")
    one.open().add("in one")
    other.open().add("in the other")
    assert [len(place.open().changes()) for place in (one, other)] == [1, 1]
    other.open().undo()
    assert list_contents(one.open()) == ["in one"]
    assert list_contents(other.open()) == []


# Several at once


def test_two_processes_lose_nothing(place: StoreLocation) -> None:
    running = [others.start("add_facts", place.path, name, "25") for name in ("one", "two")]
    ids = [
        identity for process in running for identity in cast("list[str]", others.finish(process))
    ]
    assert len(set(ids)) == 50
    store = place.open()
    assert {memory.id for memory in store.get_all()} == set(ids)
    wanted = [f"{name} {number}" for name in ("one", "two") for number in range(25)]
    assert sorted(list_contents(store)) == sorted(wanted)
    assert len(store.changes()) == 50


OPEN = "~.<built-in method posix.open>"
READ = "~.<method 'readall' of '_io.FileIO' objects>"


def wait_for_rest(*paths: Path) -> None:
    """Wait until whoever saves a file would leave other marks."""
    while not all(
        found is None or atomic.is_at_rest(found) for found in map(atomic.read_marks, paths)
    ):
        pass


def test_a_file_that_nobody_else_touched_is_read_once_for_a_change(place: StoreLocation) -> None:
    store = place.open()
    around = (place.path, atomic.find_previous(place.path), place.path.with_name("changes.jsonl"))
    store.add("one")
    wait_for_rest(*around)
    store.add("two")
    wait_for_rest(*around)
    calls = count_calls(lambda: store.add("three"))
    assert calls["atomic._read"] == 1
    assert not any(calls[name] for name in ("markdown._read_all", "jsonfacts._make_page"))
    wait_for_rest(*around)
    store.get_all()
    calls = count_calls(store.get_all)
    assert not any(calls[name] for name in (READ, "atomic.read_from"))
    assert not any(calls[name] for name in ("markdown._read_all", "jsonfacts._make_page"))


def test_a_save_of_an_editor_right_after_ours_is_seen(place: StoreLocation) -> None:
    store = place.open()
    store.init()
    for number in range(20):
        store.add(f"ours {number}")
        with place.path.open("r+b") as file:
            data = file.read()
            file.seek(0)
            file.write(data.replace(f"ours {number}".encode(), f"mine {number}".encode()))
        wait_for_rest(place.path)
        assert f"mine {number}" in store.text()


def test_one_call_looks_at_the_file_once(place: StoreLocation) -> None:
    store = place.open()
    store.add("one")
    # A file that was saved just now is mended by nobody, so what is beside it is not looked at.
    os.utime(place.path, (START.timestamp(), START.timestamp()))
    wait_for_rest(
        place.path, atomic.find_previous(place.path), place.path.with_name("changes.jsonl")
    )
    store.get_all()
    for call in (store.get_all, store.text, store.prompt_text, store.view, store.older):
        # The file, what it replaced, and the record.
        assert count_calls(call)[OPEN] == 3


def test_changes_of_one_process_parse_the_file_once(place: StoreLocation) -> None:
    place.open().import_memories([Memory(f"f{n}", f"fact {n}", START, START) for n in range(20)])
    store = place.open()

    def work() -> None:
        for number in range(5):
            added = store.add(f"more {number}", "Home")
            store.update(added.id, f"other {number}")
            store.delete(f"f{number}")
            store.get_all()

    store.get_all()
    calls = count_calls(work)
    assert not any(calls[name] for name in ("markdown._read_all", "jsonfacts._make_page"))
    assert store.get_all() == place.open().get_all()


def test_threads_with_one_store_lose_nothing(array: StoreLocation) -> None:
    store = array.open()
    together = Barrier(4)

    def work(name: str) -> None:
        together.wait()
        for number in range(10):
            store.add(f"{name} {number}")

    threads = [Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(list_contents(store)) == sorted(
        f"{name} {n}" for name in "abcd" for n in range(10)
    )


# Files


def test_new_files_are_private(place: StoreLocation) -> None:
    old = os.umask(0)
    try:
        place.open().add("x")
    finally:
        os.umask(old)
    folder = place.path.parent
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_keeps_the_mode_that_its_owner_gave_it(place: StoreLocation) -> None:
    store = place.open()
    place.path.chmod(0o644)
    store.add("x")
    store.undo()
    store.add("y")
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o644


def test_a_link_is_followed(place: StoreLocation, tmp_path: Path) -> None:
    place.open().add("x")
    link = tmp_path / f"link{place.path.suffix}"
    link.symlink_to(place.path)
    store = MemoryStore(link, settings=Settings())
    store.add("through the link")
    assert link.is_symlink()
    assert store.location == place.path
    assert list_contents(place.open()) == ["x", "through the link"]


def test_a_file_that_is_gone_is_not_silently_begun_anew(place: StoreLocation) -> None:
    store = place.open()
    memory = store.add("x")
    kept = place.data()
    place.path.unlink()
    for attempt in (
        lambda: store.add("y"),
        lambda: store.update(memory.id, "y"),
        lambda: store.delete(memory.id),
        store.undo,
    ):
        with pytest.raises(StorageError, match="has been removed since it was opened"):
            attempt()
    assert not place.path.exists()
    place.edit(kept)
    assert list_contents(store) == ["x"]
    assert store.add("y").content == "y"


def test_reading_a_file_that_is_gone_is_an_error_too(place: StoreLocation) -> None:
    store = place.open()
    store.add("x")
    place.path.unlink()
    with pytest.raises(StorageError, match="has been removed"):
        store.get_all()
    assert not place.path.exists()


def test_a_new_start_after_the_file_is_gone_begins_anew_and_keeps_the_record(
    place: StoreLocation,
) -> None:
    place.open().add("x")
    place.path.unlink()
    store = place.open()
    assert [change.op for change in store.changes()][:1] == ["add"]
    assert store.add("y").content == "y"


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_read_only_folder_refuses_writing_and_allows_reading(suffix: str, ground: Path) -> None:
    folder = ground / "memory"
    path = folder / f"memory{suffix}"
    store = MemoryStore(path, settings=Settings())
    store.add("a fact")
    before = path.read_bytes()
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    tried, *left = cast("list[list[str]]", others.run("read_only_memories", path))
    folder.chmod(0o755)
    for said_of_it in tried:
        assert said_of_it.startswith("StorageError: cannot ")
        assert "permission is denied; check who owns the file and its folder" in said_of_it
    assert left == [["a fact"], ["a fact"]]
    assert path.read_bytes() == before


def test_a_folder_in_the_file_s_place_is_an_error_that_says_so(place: StoreLocation) -> None:
    place.path.mkdir(parents=True)
    with pytest.raises(StorageError, match="it is a folder, not a file; choose another path"):
        MemoryStore(place.path, settings=Settings()).init()


def test_a_file_in_the_folder_s_place_is_an_error_that_says_so(place: StoreLocation) -> None:
    place.path.parent.parent.mkdir(exist_ok=True)
    place.path.parent.write_text("not a folder")
    with pytest.raises(StorageError, match="is a file, not a folder; choose another path"):
        MemoryStore(place.path, settings=Settings()).init()


@pytest.mark.parametrize("name", ["memory", "memory.txt", "memory.db", "MEMORY.markdown", ".md"])
def test_a_name_that_does_not_tell_the_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"ending in \.json or \.md"):
        MemoryStore(tmp_path / name)


@pytest.mark.parametrize("url", ["postgresql://me@host/db", "sqlite:///x.db", "https://x/y.md"])
def test_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"use a path ending in \.json or \.md"):
        MemoryStore(url)


def test_a_path_that_no_system_has_is_refused() -> None:
    with pytest.raises((InvalidInput, StorageError), match="path"):
        MemoryStore("a\0b.md").init()


def test_a_bad_number_in_the_environment_is_an_error_that_names_it(
    place: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "many")
    with pytest.raises(SettingsError, match="MEMORY_MAX_ITEMS must be a whole number"):
        MemoryStore(place.path).init()


def test_limits_come_from_the_environment(
    place: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "1")
    store = MemoryStore(place.path)
    store.add("x")
    with pytest.raises(MemoryFull):
        store.add("y")


@pytest.mark.parametrize(
    ("token", "expected"), [("", "data/memories.json"), ("t", "/data/memories/memories.json")]
)
def test_the_default_location_is_the_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPERVISOR_TOKEN", token)
    assert MemoryStore().location == (tmp_path / expected).resolve()


# Damage


def find_corrupt_copies(place: StoreLocation) -> list[Path]:
    return sorted(place.path.parent.glob(f"{place.path.name}.corrupt-*"))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00garbage", b"\x80\x81", "é".encode("latin-1")])
def test_a_file_that_is_not_utf_8_goes_aside_and_what_is_on_record_comes_back(
    place: StoreLocation, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    memory = store.add("on record")
    place.edit(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        (back,) = place.open().get_all()
    assert (back.id, back.content, back.created_at) == (memory.id, "on record", START)
    (aside,) = find_corrupt_copies(place)
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text
    assert store.add("and on it goes").content == "and on it goes"


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[",
        "{}",
        "null",
        "5",
        '[{"content": 5}]',
        '[{"id": "a"}]',
        '"text"',
        "",
        "<<<<<<< HEAD\n[]\n=======\n[]\n>>>>>>> theirs\n",
        '[{"content": "cut off',
    ],
)
def test_json_that_cannot_be_read_goes_aside(
    array: StoreLocation, data: str, caplog: pytest.LogCaptureFixture
) -> None:
    array.open().add("on record")
    array.edit(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        assert list_contents(array.open()) == ["on record"]
    assert [aside.read_text() for aside in find_corrupt_copies(array)] == [data]
    assert str(find_corrupt_copies(array)[0]) in caplog.text


def test_a_file_damaged_while_a_store_is_open_is_found_by_the_next_call(
    array: StoreLocation,
) -> None:
    store = array.open()
    store.add("on record")
    array.edit("[damaged")
    assert list_contents(store) == ["on record"]
    array.edit("[damaged again")
    store.add("more")
    assert list_contents(store) == ["on record", "more"]
    assert {aside.read_text() for aside in find_corrupt_copies(array)} == {
        "[damaged",
        "[damaged again",
    }


def test_a_file_damaged_before_there_was_a_record_goes_aside(array: StoreLocation) -> None:
    array.edit("[damaged")
    assert list_contents(array.open()) == []
    assert [aside.read_text() for aside in find_corrupt_copies(array)] == ["[damaged"]


def test_a_record_that_is_damaged_stops_nothing(
    place: StoreLocation, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.add("one")
    store.add("two")
    record = place.path.with_name("changes.jsonl")
    first, _, rest = record.read_bytes().partition(b"\n")
    record.write_bytes(first[:20] + b"\xff\n" + rest + b'{"torn": ')
    assert list_contents(place.open()) == ["one", "two"]
    assert place.open().add("three").content == "three"
    assert list_contents(place.open()) == ["one", "two", "three"]
    assert first[:20] in record.read_bytes()


def test_without_its_record_a_file_is_as_it_says(place: StoreLocation) -> None:
    place.open().add("x")
    place.path.with_name("changes.jsonl").unlink()
    store = place.open()
    assert list_contents(store) == ["x"]
    store.add("y")
    assert list_contents(store) == ["x", "y"]


def test_keys_that_we_do_not_know_are_kept(array: StoreLocation) -> None:
    array.edit('[{"id": "a", "content": "x", "stars": 5, "nested": {"y": [null]}}]')
    store = array.open()
    store.update("a", "changed")
    store.add("other")
    first = json.loads(array.data())[0]
    assert (first["content"], first["stars"], first["nested"]) == ("changed", 5, {"y": [None]})


# What people do


def test_what_a_person_typed_is_a_fact(page: StoreLocation) -> None:
    page.edit("# Mine\n\n- typed by hand\n")
    store = page.open()
    assert [(memory.id, memory.content) for memory in store.get_all()] == [
        (make_content_id("typed by hand"), "typed by hand")
    ]
    store.update(make_content_id("typed by hand"), "changed")
    assert "# Mine\n\n- changed <!-- turnleaf id=" in page.data().decode()


def test_the_id_of_a_typed_fact_stays_when_we_change_it(page: StoreLocation) -> None:
    page.edit("- typed\n")
    store = page.open()
    before = store.get_all()[0].id
    updated = store.update(before, "changed")
    assert updated
    assert updated.id == before == page.open().get_all()[0].id


def test_ids_stay_when_a_person_sorts_the_file(page: StoreLocation) -> None:
    store = page.open()
    known = {store.add(text).id: text for text in "cab"}
    title, blank, *lines = page.data().decode().splitlines(keepends=True)
    page.edit("".join([title, blank, *sorted(lines)]))
    assert {memory.id: memory.content for memory in page.open().get_all()} == known
    assert list_contents(store) == ["a", "b", "c"]


def test_a_reader_gets_the_file_as_it_is_and_a_prompt_without_our_comments(
    page: StoreLocation,
) -> None:
    store = page.open()
    store.add("one", "Home")
    assert store.text() == page.data().decode()
    assert store.prompt_text() == "# Memory\n\n## Home\n\n- one\n"


def test_a_prompt_gets_the_facts_of_json_as_a_list(array: StoreLocation) -> None:
    store = array.open()
    store.add("one")
    store.add("two")
    assert store.prompt_text() == "- one\n- two\n"


def test_what_an_older_buffer_wiped_comes_back_though_the_next_change_is_refused(
    page: StoreLocation,
) -> None:
    store = page.open(memory_max_items=1)
    buffer = page.data().decode()
    store.add("one")
    page.edit(f"{buffer}\nmine\n")
    with pytest.raises(MemoryFull):
        store.add("two")
    assert list_contents(store) == ["one"]
    assert "\nmine\n" in page.data().decode()


def test_what_an_older_buffer_wiped_comes_back_though_the_next_change_finds_nothing(
    page: StoreLocation,
) -> None:
    store = page.open()
    buffer = page.data().decode()
    store.add("one")
    page.edit(f"{buffer}\nmine\n")
    assert store.update("nobody", "x") is None
    assert list_contents(store) == ["one"]


# Import


@brief
@given(
    st.lists(facts(), max_size=5, unique_by=(lambda one: one.id, lambda one: one.content)),
    st.permutations(FORMATS),
)
def test_facts_go_from_json_to_markdown_and_back_without_a_loss(
    tmp_path: Path, memories: list[Memory], order: list[str]
) -> None:
    folder = tmp_path / "round"
    shutil.rmtree(folder, ignore_errors=True)
    plenty = Settings(memory_max_chars=10**6)
    stores = [MemoryStore(folder / f"{n}{suffix}", settings=plenty) for n, suffix in
              enumerate([*order, order[0]])]  # fmt: skip
    incoming = memories
    for store in stores:
        assert store.import_memories(incoming) == len(memories)
        incoming = store.get_all()
        assert sorted(incoming, key=by_id) == sorted(memories, key=by_id)


def by_id(memory: Memory) -> str:
    return memory.id


def test_a_page_that_is_too_large_is_refused_unread_and_used_again_when_it_is_small(
    place: StoreLocation,
) -> None:
    store = place.open()
    store.add("tea")
    page = place.path.read_bytes()
    os.truncate(place.path, 200_000_000)
    calls: list[Callable[[], object]] = [
        store.get_all,
        store.text,
        store.version,
        store.reconcile,
        lambda: store.add("coffee"),
        lambda: store.write("[]\n"),
        lambda: store.erase("document:notes.md"),
        place.open,
    ]
    for call in calls:
        with pytest.raises(
            StorageError, match=r"200,000,000 bytes; the limit is 8,000,000"
        ) as told:
            call()
        assert str(place.path) in str(told.value)
    assert place.path.stat().st_size == 200_000_000
    place.path.write_bytes(page)
    assert [memory.content for memory in store.get_all()] == ["tea"]
    store.add("coffee")


def test_a_page_never_grows_beyond_what_can_be_read(place: StoreLocation) -> None:
    store = place.open(memory_max_chars=100_000_000)
    store.add("tea")
    before = place.path.read_bytes()
    with pytest.raises(StorageError, match="the limit is 8,000,000"):
        store.add("x" * 8_000_000)
    assert place.path.read_bytes() == before
    assert [memory.content for memory in store.get_all()] == ["tea"]
    assert [change.op for change in store.changes()][-1] == "add"


def test_what_waits_is_refused_unread_when_it_is_too_large(tmp_path: Path) -> None:
    waiting = PendingStore(MemoryStore(tmp_path / "MEMORY.md"))
    waiting.add("tea")
    os.truncate(waiting.location, 200_000_000)
    with pytest.raises(StorageError, match="the limit is 8,000,000"):
        waiting.get_all()


def change_last(store: MemoryStore, how: str) -> None:
    if how == "add":
        store.add("喝咖啡", "家")
    elif how == "update":
        store.update("id1", "綠茶 and more")
    elif how == "delete":
        store.delete("id1")
    elif how == "undo":
        store.undo()
    else:
        store.write(store.text().replace("綠茶", "紅茶"))


@pytest.mark.parametrize("how", ["add", "update", "delete", "undo", "write"])
def test_a_previous_page_that_a_power_cut_cut_short_is_no_save_of_an_editor(
    place: StoreLocation, how: str
) -> None:
    store = place.open()
    store.add("綠茶")
    store.add("住在台北")
    change_last(store, how)
    page, facts = place.data(), store.get_all()
    previous = atomic.find_previous(place.path)
    whole = previous.read_bytes()
    assert whole != page
    for length in sample(range(len(whole)), 60):
        previous.write_bytes(whole[:length])
        os.utime(previous, LONG_AGO)
        assert not store.needs_mending()
    again = place.open()
    assert (place.data(), again.get_all()) == (page, facts)
    assert sorted(place.path.parent.glob("*.corrupt-*")) == []
    again.add("one more")
    assert sorted(list_contents(again)) == sorted([*(fact.content for fact in facts), "one more"])


def test_a_cut_text_of_a_change_that_was_never_made_brings_no_half_fact_in(
    page: StoreLocation,
) -> None:
    page.open().add("綠茶")
    old, record = page.data(), page.path.with_name("changes.jsonl")
    page.open().add("喝咖啡", "家")
    new, recorded = page.data(), record.read_bytes()
    previous = atomic.find_previous(page.path)
    for length in sample(range(len(new) + 1), 60):
        # A store that is open in this process looks after the page meanwhile.
        with atomic.lock(page.path):
            page.edit(old)
            record.write_bytes(recorded)
            previous.write_bytes(new[:length])
            os.utime(previous, LONG_AGO)
        assert list_contents(page.open()) == (
            ["綠茶"] if new[:length] != old else ["綠茶", "喝咖啡"]
        )


def save(path: Path, text: str, seconds: int) -> None:
    """Save a file together with its time: a store that is open may look in between."""
    new = path.with_suffix(".new")
    new.write_text(text, "utf-8")
    os.utime(new, (seconds, seconds))
    new.replace(path)


def test_a_fact_typed_by_hand_was_created_when_it_was_first_seen(page: StoreLocation) -> None:
    page.open()
    save(page.path, "# Memory\n\n- 綠茶\n", 1_000_000_000)
    first = page.open().get_all()[0].created_at
    assert first == datetime.fromtimestamp(1_000_000_000, UTC)
    text = "# Memory\n\n- coffee\n\n## Tea\n\n- 綠茶\n"
    save(page.path, text, 1_200_000_000)
    coffee, tea = page.open().get_all()
    assert (coffee.created_at.year, tea.created_at) == (2008, first)
    assert page.path.read_text("utf-8") == text
    store = page.open()
    store.add("another")
    os.utime(page.path, (1_400_000_000, 1_400_000_000))
    assert {one.content: one.created_at for one in page.open().get_all()}["綠茶"] == first
    changed = store.update(tea.id, "紅茶")
    assert changed
    assert changed.created_at == first
    assert page.open().get(tea.id) == changed


def test_what_was_typed_keeps_its_time_when_our_own_change_is_the_first_to_see_it(
    page: StoreLocation,
) -> None:
    page.open()
    save(page.path, "# Memory\n\n- 綠茶\n", 1_000_000_000)
    page.open().add("another")
    times = {one.content: one.created_at for one in page.open().get_all()}
    assert times["綠茶"] == datetime.fromtimestamp(1_000_000_000, UTC)


def test_when_facts_were_first_seen_is_written_only_when_one_is_new(page: StoreLocation) -> None:
    page.open()
    save(page.path, "# Memory\n\n- 綠茶\n", 1_000_000_000)
    page.open().get_all()
    kept = atomic.find_seen_path(page.path)
    before = kept.stat()
    page.open().get_all()
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    kept.write_text("{damaged", "utf-8")
    assert list_contents(page.open()) == ["綠茶"]


def test_times_that_cannot_be_kept_are_those_of_the_page(page: StoreLocation) -> None:
    store = page.open()
    save(page.path, "# Memory\n\n- 綠茶\n", 1_000_000_000)
    atomic.find_seen_path(page.path).mkdir()
    assert store.get_all()[0].created_at == datetime.fromtimestamp(1_000_000_000, UTC)


def test_a_save_of_the_same_length_that_puts_its_time_back_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "MEMORY.md"
    page.write_text("# Memory\n\n- I like tea\n", "utf-8")
    store = MemoryStore(page)
    saved = page.stat()
    while time.time_ns() - page.stat().st_ctime_ns < 50_000_000:
        assert [memory.content for memory in store.get_all()] == ["I like tea"]
    with page.open("r+b") as file:
        file.write(b"# Memory\n\n- I like fig\n")
    os.utime(page, ns=(saved.st_atime_ns, saved.st_mtime_ns))
    assert [memory.content for memory in store.get_all()] == ["I like fig"]
