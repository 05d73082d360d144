"""People edit MEMORY.md while programs append to it, and neither loses anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.effort import LONG
from tests.torture.editors import (
    BEGINNING,
    PLENTY,
    Save,
    append_to,
    judge,
    read,
    save,
    settle,
    wait_until,
)
from tests.torture.rig import ENVIRONMENT, ROOT
from turnleaf.store.files.facts.memories import MemoryStore

SAVES = 200 if LONG else 14
HANG_SECONDS = 1200 if LONG else 120
LONG_AGO = (0, 0)
BUFFERED = ("rename", "in place")


def start(program: str, path: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.torture.editors", program, str(path)]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> list[Any]:
    """End a program's input, and return what it said."""
    said, _ = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0
    return [json.loads(line) for line in said.splitlines()]


@pytest.fixture
def path(ground: Path) -> Path:
    return ground / "MEMORY.md"


@pytest.mark.parametrize("appenders", [1, 2])
def test_saves_during_appends_lose_no_fact_and_no_edit(
    path: Path, appenders: int, record_property: Callable[[str, object], None]
) -> None:
    path.write_text(BEGINNING)
    seed = int.from_bytes(os.urandom(3))
    writing = [start("append", path, f"w{n}", seed + n) for n in range(appenders)]
    editing = start("edit", path, SAVES // appenders, seed)
    saves = [Save(**each) for each in finish(editing)]
    acknowledged = [each for process in writing for each in finish(process)]
    figures = judge(path, acknowledged, saves)
    record_property("figures", str(figures))
    assert figures.complaints == [], f"seed {seed}: {figures}"
    assert figures.acknowledged > SAVES // 10, "too little happened to prove anything"
    assert figures.conflicts == 0


# One save at a time


class Desk:
    """A store, and an editor beside it that has nothing to do with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = MemoryStore(path, settings=PLENTY)
        self.store.init()

    def load(self) -> str:
        return read(self.path)

    def save(self, text: str, style: str = "rename") -> None:
        """Save, and let the file have been quiet since long ago."""
        save(self.path, text, style)
        os.utime(self.path, LONG_AGO)

    def contents(self) -> list[str]:
        return sorted(memory.content for memory in settle(self.path).get_all())


@pytest.fixture
def desk(path: Path) -> Desk:
    return Desk(path)


def drop_facts(text: str, *contents: str) -> str:
    lines = text.splitlines(keepends=True)
    marks = [f"- {content} <!--" for content in contents]
    return "".join(line for line in lines if not line.startswith(tuple(marks)))


@pytest.mark.parametrize("style", BUFFERED)
def test_an_older_buffer_with_an_edit_gets_back_what_it_lacks(desk: Desk, style: str) -> None:
    desk.store.add("one")
    buffer = desk.load()
    desk.store.add("two")
    desk.store.add("three")
    desk.save(f"{buffer}\nmine\n", style)
    assert desk.contents() == ["one", "three", "two"]
    assert "\nmine\n" in desk.load()


@contextmanager
def keep_store(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has a store and calls nothing."""
    process = start("keep", path)
    assert process.stdout
    lines: Sequence[str] = [process.stdout.readline() for _ in range(2)]
    assert lines[1] == '"ready"\n'
    yield process
    finish(process)


@pytest.mark.parametrize("style", BUFFERED)
def test_a_fact_comes_back_while_a_process_runs_and_calls_nothing(path: Path, style: str) -> None:
    path.write_text(BEGINNING)
    buffer = read(path)
    with keep_store(path):
        assert "added by the keeper" in read(path)
        save(path, f"{buffer}\nmine\n", style)
        assert wait_until(lambda: "added by the keeper" in read(path), HANG_SECONDS) is not None
    assert "\nmine\n" in read(path)
    assert BEGINNING in read(path)


@pytest.mark.parametrize("style", BUFFERED)
def test_a_fact_is_back_at_the_next_start(path: Path, style: str) -> None:
    path.write_text(BEGINNING)
    finish(start("keep", path))
    save(path, f"{BEGINNING}\nmine\n", style)
    os.utime(path, LONG_AGO)
    (found,) = finish(start("show", path))
    assert found == ["typed before anybody came", "added by the keeper"]
    assert "\nmine\n" in read(path)


@pytest.mark.parametrize("style", BUFFERED)
def test_the_newest_fact_deleted_and_nothing_else_stays_deleted(desk: Desk, style: str) -> None:
    for content in ("one", "two", "three"):
        desk.store.add(content)
    desk.save(drop_facts(desk.load(), "three"), style)
    assert desk.contents() == ["one", "two"]
    desk.store.add("four")
    assert desk.contents() == ["four", "one", "two"]


@pytest.mark.parametrize("style", BUFFERED)
def test_an_older_fact_deleted_with_other_edits_stays_deleted(desk: Desk, style: str) -> None:
    for content in ("one", "two", "three"):
        desk.store.add(content)
    desk.save(drop_facts(desk.load(), "two") + "\nmine\n", style)
    assert desk.contents() == ["one", "three"]


def test_a_fact_deleted_from_an_older_buffer_stays_deleted_and_the_newer_comes_back(
    desk: Desk,
) -> None:
    desk.store.add("one")
    desk.store.add("two")
    buffer = desk.load()
    desk.store.add("three")
    desk.save(drop_facts(buffer, "one") + "\nmine\n")
    assert desk.contents() == ["three", "two"]


def test_every_fact_deleted_and_nothing_else_stays_deleted(desk: Desk) -> None:
    for content in ("one", "two"):
        desk.store.add(content)
    desk.save(drop_facts(desk.load(), "one", "two"))
    assert desk.contents() == []


def test_what_a_program_deleted_is_not_brought_back_by_an_older_buffer(desk: Desk) -> None:
    memory = desk.store.add("one")
    desk.store.add("two")
    buffer = desk.load()
    desk.store.delete(memory.id)
    desk.save(f"{buffer}\nmine\n")
    assert desk.contents() == ["two"]
    assert "\nmine\n" in desk.load()


def test_what_a_program_updated_is_not_turned_back_by_an_older_buffer(desk: Desk) -> None:
    memory = desk.store.add("one")
    buffer = desk.load()
    desk.store.update(memory.id, "newer")
    desk.store.update(memory.id, "newest")
    desk.save(f"{buffer}\nmine\n")
    assert desk.contents() == ["newest"]


def test_what_the_person_changed_is_not_turned_back(desk: Desk) -> None:
    desk.store.add("one")
    desk.store.add("two")
    desk.save(desk.load().replace("- one ", "- mine "))
    assert desk.contents() == ["mine", "two"]


def test_the_file_with_its_title_only_written_over_the_first_fact_loses_nothing(
    desk: Desk,
) -> None:
    buffer = desk.load()
    desk.store.add("one")
    desk.save(buffer)
    assert desk.contents() == ["one"]


def test_an_older_buffer_saved_again_and_again_loses_nothing(desk: Desk) -> None:
    buffer = desk.load()
    for number in range(5):
        desk.store.add(f"fact {number}")
        desk.save(f"{buffer}\nmine {number}\n", BUFFERED[number % 2])
        assert desk.contents() == [f"fact {each}" for each in range(number + 1)]


def test_a_line_appended_with_no_buffer_at_all_loses_nothing(desk: Desk) -> None:
    desk.store.add("one")
    append_to(desk.path, "- typed\n")
    desk.store.add("two")
    assert desk.contents() == ["one", "two", "typed"]


def test_a_save_that_begins_before_our_write_and_ends_after_it_loses_nothing(desk: Desk) -> None:
    desk.store.add("one")
    text = f"{desk.load()}\nmine\n"
    with desk.path.open("wb", buffering=0) as file:
        file.write(text[:20].encode())
        desk.store.add("two")
        file.write(text[20:].encode())
    assert desk.contents() == ["one", "two"]
    assert "\nmine\n" in desk.load()


def test_a_file_opened_before_our_write_and_saved_after_it_loses_nothing(desk: Desk) -> None:
    desk.store.add("one")
    text = f"{desk.load()}\nmine\n"
    with desk.path.open("r+b", buffering=0) as file:
        desk.store.add("two")
        file.truncate(0)
        file.write(text.encode())
    assert desk.contents() == ["one", "two"]
    assert "\nmine\n" in desk.load()


def test_a_line_appended_to_a_file_that_we_replaced_loses_nothing(desk: Desk) -> None:
    desk.store.add("one")
    with desk.path.open("ab", buffering=0) as file:
        desk.store.add("two")
        file.write(b"- typed late\n")
    assert desk.contents() == ["one", "two", "typed late"]


def test_prose_and_every_other_line_stay_byte_for_byte(desk: Desk) -> None:
    prose = "# Mine\r\n\r\n\tindented   \r\n```\r\n- code\r\n```\r\n<!-- note -->\r\n"
    desk.save(prose)
    desk.store.add("one")
    buffer = desk.load()
    desk.store.add("two")
    desk.save(buffer.replace("# Mine", "# Still mine"))
    assert desk.contents() == ["one", "two"]
    assert desk.load().startswith(prose.replace("# Mine", "# Still mine"))


def test_two_editors_with_older_buffers_cost_no_fact(desk: Desk) -> None:
    buffers = []
    for content in ("one", "two", "three"):
        buffers.append(desk.load())
        desk.store.add(content)
    for number, buffer in enumerate(buffers):
        desk.save(f"{buffer}\nmine {number}\n", BUFFERED[number % 2])
        assert desk.contents() == ["one", "three", "two"]


def test_a_file_that_an_editor_has_emptied_to_write_it_anew_is_waited_for(path: Path) -> None:
    store = MemoryStore(path)
    store.init()
    kept = [store.add(f"fact {number}").id for number in range(5)]
    whole = path.read_bytes()
    path.write_bytes(b"")
    writing = Timer(0.4, path.write_bytes, [whole])
    writing.start()
    added = store.add("added meanwhile").id
    writing.join()
    assert [memory.id for memory in store.get_all()] == [*kept, added]
    assert not [change for change in store.changes() if change.removed]
