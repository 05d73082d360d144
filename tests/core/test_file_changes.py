"""What was changed is on record, and tells an older buffer from a person who deletes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from types import ModuleType
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, recorded_changes, thorough
from turnleaf.core import changes, file_changes, json_facts, markdown
from turnleaf.core.changes import Source
from turnleaf.core.file_changes import FileChange, Repair, record_steps
from turnleaf.core.memories import Memory
from turnleaf.core.page_drafts import Draft
from turnleaf.core.pages import Format


@thorough
@given(recorded_changes())
def test_any_change_comes_back_from_its_line(change: FileChange) -> None:
    line = json.dumps(file_changes.to_json(change), ensure_ascii=False)
    assert "\n" not in line
    assert file_changes.from_json(json.loads(line)) == change


def test_a_change_is_written_with_only_what_says_something() -> None:
    memory = Memory("a", "x", MOMENT, MOMENT)
    source = Source(quote="「x」", conversation="cli:1", message_time=MOMENT, trust="trusted")
    change = FileChange(
        n=1, time=MOMENT, op="add", file="MEMORY.md", id="a", after=memory, source=source
    )
    record = file_changes.to_json(change)
    assert record["after"]["content"] == "x"
    assert [record[key] for key in ("quote", "conversation", "messageTime", "trust")] == [
        "「x」",
        "cli:1",
        "2026-03-01T08:30:00.000Z",
        "trusted",
    ]
    assert not {"before", "undoes", "removed"} & set(record)


def test_a_line_of_the_record_keeps_its_form() -> None:
    line = (
        '{"n": 7, "time": "2026-03-01T08:30:00.000Z", "op": "add", "file": "MEMORY.md", '
        '"id": "abcd", "after": {"id": "abcd", "content": "小明", '
        '"createdAt": "2026-03-01T08:30:00.000Z", "updatedAt": "2026-03-01T08:30:00.000Z"}, '
        '"origin": "user", "trust": "user", "at": 1, "put": ["\\n", "- 小明\\n"], '
        '"fact": "- 小明\\n", "old": "d787", "new": "9e00", "shape": "8203+2"}'
    )
    change = file_changes.from_json(json.loads(line))
    assert json.dumps(file_changes.to_json(change), ensure_ascii=False) == line
    assert changes.to_json(change).keys() == {"n", "time", "op", "id", "after", "origin", "trust"}


@pytest.mark.parametrize(
    "record", [{}, {"n": 1}, {"n": "x", "time": "2026-03-01", "op": "add", "file": "f"}]
)
def test_a_record_that_is_no_change_is_refused(record: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        file_changes.from_json(record)


def test_a_change_concerns_its_fact_and_those_that_a_person_removed() -> None:
    memory = Memory("b", "x", MOMENT, MOMENT)
    change = FileChange(n=1, time=MOMENT, op="seen", file="f", id="a", removed=(memory,))
    assert [change.concerns(each) for each in ("a", "b", "c")] == [True, True, False]


class VirtualFile:
    """A memory file, its record, and an editor's buffers of it, without any file."""

    def __init__(self, kind: ModuleType = markdown) -> None:
        self.kind = cast("Format", kind)
        self.text = self.kind.EMPTY
        self.history: list[FileChange] = []
        self.facts: dict[str, str] = {}

    def add(self, name: str) -> str:
        memory = Memory(name, f"fact {name}", self.now, self.now, None, "user")
        self._commit(lambda draft: draft.insert(memory, "add"))
        self.facts[name] = memory.content
        return self.text

    def update(self, name: str, content: str) -> str:
        def edit(draft: Draft) -> None:
            old = draft.find(name).memory
            new = dataclasses.replace(old, content=content, updated_at=self.now)
            draft.replace(new, "update")

        self._commit(edit)
        self.facts[name] = content
        return self.text

    def delete(self, name: str) -> str:
        self._commit(lambda draft: draft.remove(name, "delete"))
        del self.facts[name]
        return self.text

    def undo(self) -> None:
        change, *_ = changes.find_undoable(self.history)
        self._commit(lambda draft: draft.undo(change, change.reversal()))

    def put(self, text: str) -> str:
        """Save a text through the store, as a person does in our own editor."""
        now = self.now
        self._commit(lambda draft: draft.put(text, now))
        self.facts = self.contents()
        return self.text

    def save(self, text: str) -> Repair:
        """Save a text as an editor does, and mend the file."""
        draft = Draft(self.kind, text, MOMENT)
        found = {memory.id: memory for memory in draft.memories}
        repair = file_changes.repair(found, draft.page, version(text), self.history)
        self.text = text
        self._commit(lambda draft: file_changes.mend(draft, repair), repair.removed)
        return repair

    @property
    def now(self) -> datetime:
        return MOMENT + timedelta(seconds=len(self.history))

    def contents(self) -> dict[str, str]:
        memories = Draft(self.kind, self.text, MOMENT).memories
        assert len({memory.id for memory in memories}) == len(memories)
        return {memory.id: memory.content for memory in memories}

    def without(self, text: str, *names: str) -> str:
        """Delete facts in a buffer, as a person does: their lines and nothing else."""
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not any(f"id={one} " in line for one in names))

    def _commit(self, edit: Callable[[Draft], object], removed: tuple[Memory, ...] = ()) -> None:
        draft = Draft(self.kind, self.text, MOMENT)
        old = version(self.text)
        edit(draft)
        self.text = draft.text
        template = FileChange(
            n=self.history[-1].n + 1 if self.history else 1,
            time=self.now,
            op="seen",
            file="MEMORY.md",
            removed=removed,
            old=old,
            new=version(draft.text),
            shape=draft.shape,
        )
        self.history += record_steps(template, draft.steps)


def version(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def ids(memories: tuple[Memory, ...]) -> list[str]:
    return [memory.id for memory in memories]


def test_what_an_older_buffer_wiped_comes_back() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.add("c")
    repair = desk.save(f"{buffer}\nprose\n")
    assert ids(repair.bring_back) == ["b", "c"]
    assert desk.contents() == desk.facts
    assert "prose" in desk.text


def test_an_older_text_to_the_byte_is_an_older_buffer() -> None:
    desk = VirtualFile()
    desk.add("a")
    repair = desk.save("# Memory\n")
    assert ids(repair.bring_back) == ["a"]


# An older buffer that is saved without any edit is the same text, and so the same case.
@pytest.mark.parametrize("names", [["c"], ["b", "c"], ["a", "b", "c"], ["b"], ["a"]])
def test_facts_deleted_and_nothing_else_stay_deleted(names: list[str]) -> None:
    desk = VirtualFile()
    for name in "abc":
        desk.add(name)
    repair = desk.save(desk.without(desk.text, *names))
    assert ids(repair.removed) == names
    assert desk.contents().keys() == set("abc") - set(names)


def test_a_fact_deleted_with_other_edits_stays_deleted_when_a_newer_one_is_there() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.add("b")
    desk.save(desk.without(desk.text, "a") + "\nprose\n")
    assert desk.contents() == {"b": "fact b"}


def test_a_fact_deleted_from_an_older_buffer_stays_deleted_and_newer_ones_come_back() -> None:
    desk = VirtualFile()
    desk.add("a")
    buffer = desk.add("b")
    desk.add("c")
    desk.save(desk.without(buffer, "a") + "\nprose\n")
    assert desk.contents().keys() == {"b", "c"}


def test_the_newest_fact_deleted_with_other_edits_cannot_be_told_and_comes_back() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.add("b")
    desk.save(desk.without(desk.text, "b") + "\nprose\n")
    assert desk.contents().keys() == {"a", "b"}


def test_what_we_deleted_is_not_brought_back_by_an_older_buffer() -> None:
    desk = VirtualFile()
    desk.add("a")
    buffer = desk.add("b")
    desk.delete("a")
    repair = desk.save(f"{buffer}\nprose\n")
    assert list(repair.delete_again) == ["a"]
    assert desk.contents() == desk.facts


def test_what_we_updated_is_not_turned_back_by_an_older_buffer() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.update("a", "newer")
    repair = desk.save(f"{buffer}\nprose\n")
    assert [memory.content for memory in repair.update_again] == ["newer"]
    assert desk.contents() == {"a": "newer"}


def test_what_we_updated_twice_is_not_turned_back_by_a_buffer_older_than_both() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.update("a", "newer")
    desk.update("a", "newest")
    desk.save(f"{buffer}\nprose\n")
    assert desk.contents() == {"a": "newest"}


def test_what_we_updated_and_deleted_is_not_brought_back_by_a_buffer_older_than_both() -> None:
    desk = VirtualFile()
    desk.add("a")
    buffer = desk.add("b")
    desk.update("a", "newer")
    desk.delete("a")
    desk.save(f"{buffer}\nprose\n")
    assert desk.contents() == {"b": "fact b"}


def test_what_the_person_changed_in_an_older_buffer_is_the_person_s() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.update("a", "ours")
    repair = desk.save(buffer.replace("fact a", "theirs"))
    assert repair.update_again == ()
    assert desk.contents() == {"a": "theirs"}


def test_what_we_brought_back_does_not_prove_that_an_older_buffer_saw_it() -> None:
    desk = VirtualFile()
    oldest = desk.text
    older = desk.add("a")
    desk.add("b")
    desk.save(f"{oldest}\nprose\n")
    assert desk.contents() == desk.facts
    desk.save(f"{older}\nmore prose\n")
    assert desk.contents() == desk.facts


def test_what_was_brought_back_once_can_be_deleted() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.save(f"{buffer}\nprose\n")
    desk.save(desk.without(desk.text, "b"))
    assert desk.contents() == {"a": "fact a"}


def test_what_a_person_put_is_not_turned_back_by_an_older_buffer_however_often() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.put(f"{buffer.replace('fact a', '燈')}- typed\n")
    for number in range(3):
        desk.save(f"{buffer}\nprose {number}\n")
        assert desk.contents() == desk.facts


def test_what_a_person_put_away_is_not_brought_back_by_an_older_buffer() -> None:
    desk = VirtualFile()
    desk.add("a")
    buffer = desk.add("b")
    desk.put(desk.without(buffer, "a"))
    repair = desk.save(f"{buffer}\nprose\n")
    assert list(repair.delete_again) == ["a"]
    assert desk.contents() == {"b": "fact b"}


def test_a_fact_whose_bullet_a_person_put_otherwise_can_be_deleted() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.add("b")
    desk.put(desk.text.replace("- fact b", "* fact b"))
    assert ids(desk.save(desk.without(desk.text, "b")).removed) == ["b"]


def test_words_that_a_person_put_prove_that_a_buffer_saw_them() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.add("b")
    desk.put(desk.text.replace("fact a", "燈"))
    repair = desk.save(desk.without(desk.text, "b") + "\nprose\n")
    assert ids(repair.removed) == ["b"]


def test_words_that_a_fact_had_before_prove_nothing_when_they_are_put_again() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.put(desk.text.replace("fact a", "燈"))
    desk.put(desk.text.replace("燈", "fact a"))
    repair = desk.save(f"{buffer}\nprose\n")
    assert ids(repair.bring_back) == ["b"]


def test_a_fact_that_a_person_only_moved_or_put_back_proves_nothing() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.put(f"## Home\n\n{desk.text}")
    assert ids(desk.save(f"{buffer}\nprose\n").bring_back) == ["b"]
    whole = desk.text
    desk.delete("a")
    desk.add("c")
    desk.put(whole)
    desk.add("d")
    desk.put(f"{desk.text}\nmore prose\n")
    assert ids(desk.save(f"{buffer}\nother prose\n").bring_back) == ["b", "d"]


def test_an_edit_of_an_older_buffer_proves_nothing_of_what_a_person_put() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.put(desk.text.replace("fact a", "燈"))
    desk.save(buffer.replace("fact a", "lamp"))
    assert desk.contents() == {"a": "lamp", "b": "fact b"}


def test_an_update_that_was_undone_is_not_brought_back_by_a_buffer_that_had_it() -> None:
    desk = VirtualFile()
    desk.add("a")
    buffer = desk.update("a", "newer")
    desk.undo()
    desk.save(f"{buffer}\nprose\n")
    assert desk.contents() == {"a": "fact a"}


def test_a_put_is_undone_as_a_whole_and_can_be_told_from_what_stands() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.put(f"{desk.text.replace('fact a', '燈')}- typed\n")
    assert [change.n for change in changes.find_undoable(desk.history)] == [4, 3, 2]
    assert [changes.is_undoable(change, desk.history) for change in desk.history] == [True] * 4
    done = FileChange(n=5, time=MOMENT, op="undo", file="f", undoes=2)
    history = [*desk.history, done]
    assert changes.find_undone(history) == {2, 3, 4}
    assert [change.n for change in changes.find_undoable(history)] == [1]
    assert [changes.is_undoable(change, history) for change in history] == [True, *[False] * 4]
    assert changes.find_undoable_numbers(history) == {history[0].n}


def test_a_fact_typed_again_by_hand_stays() -> None:
    desk = VirtualFile()
    desk.save("# Memory\n\n- typed\n")
    (typed,) = desk.contents()
    desk.facts[typed] = "typed"
    desk.delete(typed)
    repair = desk.save(f"{desk.text}\n- typed\n")
    assert repair.delete_again == ()
    assert list(desk.contents().values()) == ["typed"]


def test_the_first_look_at_a_file_asks_for_nothing() -> None:
    assert VirtualFile().save("# Memory\n\n- typed\n") == Repair()


def test_a_file_that_was_damaged_gets_everything_back() -> None:
    desk = VirtualFile()
    for name in "abc":
        desk.add(name)
    desk.delete("b")
    desk.update("a", "newer")
    repair = file_changes.restore_everything(desk.history)
    assert {one.id: one.content for one in repair.bring_back} == desk.facts


def test_records_of_json_are_judged_likewise() -> None:
    desk = VirtualFile(json_facts)
    buffer = desk.add("a")
    desk.add("b")
    desk.save(buffer.replace("fact a", "theirs"))
    assert desk.contents() == {"a": "theirs", "b": "fact b"}


def test_the_newest_change_is_undone_first() -> None:
    desk = VirtualFile()
    desk.add("a")
    desk.update("a", "newer")
    desk.delete("a")
    assert [change.op for change in changes.find_undoable(desk.history)] == ["delete"]
    done = FileChange(n=4, time=MOMENT, op="undo", file="f", undoes=3)
    assert [change.op for change in changes.find_undoable([*desk.history, done])] == ["update"]


def test_what_a_person_removed_can_be_undone_and_what_we_mended_cannot() -> None:
    desk = VirtualFile()
    buffer = desk.add("a")
    desk.add("b")
    desk.save(f"{buffer}\nprose\n")
    assert [change.id for change in changes.find_undoable(desk.history)] == ["b"]
    desk.save(desk.without(desk.text, "a") + "\nmore prose\n")
    assert [ids(change.removed) for change in changes.find_undoable(desk.history)] == [["a"]]


def test_nothing_on_record_is_nothing_to_undo() -> None:
    assert changes.find_undoable([]) == []


DEEDS = st.lists(st.sampled_from(["add", "add", "add", "update", "delete"]), min_size=1, max_size=8)


@thorough
@given(DEEDS, DEEDS, st.integers(0, 9), st.booleans())
def test_an_older_buffer_with_an_edit_costs_nothing_but_what_the_person_deleted(
    before: list[str],
    after: list[str],
    which: int,
    deletes: bool,  # noqa: FBT001
) -> None:
    desk = VirtualFile()
    work(desk, before)
    buffer, seen = desk.text, [name for name in desk.facts if name in list_added(desk)]
    work(desk, after)
    older = seen[:-1]
    if deletes and older:
        gone = older[which % len(older)]
        buffer = desk.without(buffer, gone)
        desk.facts.pop(gone, None)
    desk.save(f"{buffer}\nprose of the person\n")
    assert desk.contents() == desk.facts
    assert desk.text.count("prose of the person") == 1
    assert desk.save(desk.text) == Repair()


def work(desk: VirtualFile, deeds: list[str]) -> None:
    for deed in deeds:
        name = next(iter(desk.facts), "")
        if deed == "add" or not name:
            desk.add(f"n{len(desk.history)}")
        elif deed == "update":
            desk.update(name, f"updated {len(desk.history)}")
        else:
            desk.delete(name)


def list_added(desk: VirtualFile) -> list[str]:
    return [change.id for change in desk.history if change.op == "add"]
