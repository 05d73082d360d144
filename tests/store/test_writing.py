"""A person saves the whole memory file, and one undo gives back what it replaced."""

from __future__ import annotations

import json
import os
import shutil
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, brief, pages, tidy_pages
from turnleaf.core import changes, json_facts, markdown
from turnleaf.core.changes import Change
from turnleaf.core.memories import make_content_id
from turnleaf.errors import Conflict, InvalidInput, NotFound, StorageError
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore

FORMATS = (".json", ".md")
LONG_AGO = (0, 0)


class EditedFile:
    """A location, and stores opened there as one process after another would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds = count()
        self.ids = count(1)

    def open(self, **limits: int) -> MemoryStore:
        store = MemoryStore(
            self.path,
            settings=Settings(**limits),  # type: ignore[arg-type]
            now=lambda: MOMENT + timedelta(seconds=next(self.seconds)),
            new_id=lambda: f"id{next(self.ids)}",
        )
        store.init()
        return store

    def data(self) -> bytes:
        return self.path.read_bytes()

    def edit(self, text: str) -> None:
        """Save the file as an editor would, and leave it quiet."""
        self.path.write_bytes(text.encode())
        os.utime(self.path, LONG_AGO)

    def change(self, text: str, content: str, new: str) -> str:
        return text.replace(content, new)

    def without(self, text: str, *contents: str) -> str:
        """Delete facts as a person does: their lines, or their records."""
        if self.path.suffix == ".json":
            kept = [one for one in json.loads(text) if one["content"] not in contents]
            return json.dumps(kept, ensure_ascii=False, indent=1)
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not any(f"- {one}" in line for one in contents))

    def type_fact(self, text: str, content: str) -> str:
        if self.path.suffix == ".json":
            return json.dumps([*json.loads(text), {"content": content}], ensure_ascii=False)
        return f"{text}\nabove\n\n- {content}\n"


@pytest.fixture(params=FORMATS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> EditedFile:
    return EditedFile(tmp_path / "deep" / f"memory{request.param}")


@pytest.fixture
def page(tmp_path: Path) -> EditedFile:
    return EditedFile(tmp_path / "deep" / "MEMORY.md")


@pytest.fixture
def array(tmp_path: Path) -> EditedFile:
    return EditedFile(tmp_path / "deep" / "memories.json")


def list_contents(store: MemoryStore) -> list[str]:
    return sorted(memory.content for memory in store.get_all())


def fill_store(place: EditedFile, *contents: str) -> MemoryStore:
    store = place.open()
    for content in contents or ("客廳的燈叫做小明", "tea", "coffee"):
        store.add(content)
    return store


# Versions


def test_a_version_names_the_bytes_that_the_file_holds(place: EditedFile) -> None:
    store = fill_store(place)
    text, version = store.snapshot()
    assert text.encode() == place.data()
    assert version == store.version() == place.open().version()
    store.add("another")
    assert store.version() != version
    store.undo()
    assert store.version() == version


def test_a_version_is_there_from_the_first_call_on(place: EditedFile) -> None:
    store = MemoryStore(place.path)
    assert store.version() == store.snapshot()[1]


def test_a_file_that_is_gone_has_no_version(place: EditedFile) -> None:
    store = fill_store(place)
    place.path.unlink()
    with pytest.raises(StorageError, match="has been removed"):
        store.version()


# Writing


def test_a_text_is_written_to_the_byte(page: EditedFile) -> None:
    text = "\ufeff# 我的\r\n\r\n- 客廳的燈叫做小明\r- tea\n\n```\n- code\n```\nno end"
    store = fill_store(page)
    written = store.write(text, expected=store.version())
    assert page.data() == text.encode()
    assert written.version == store.version()
    assert list_contents(store) == ["tea", "客廳的燈叫做小明"]


@pytest.mark.parametrize(
    "text", ["[]", "[ ]\r\n", '[{"content": "茶"}]', '\ufeff[\n{"content":"x"}]']
)
def test_an_array_is_written_as_it_is_laid_out(array: EditedFile, text: str) -> None:
    store = fill_store(array)
    store.write(text)
    assert array.data() == text.encode()
    assert len(store.get_all()) == len(json.loads(text.removeprefix("\ufeff")))


def test_what_stands_there_though_nobody_could_add_it_is_given_back(page: EditedFile) -> None:
    store = page.open()
    page.edit("- a\0b\n- 小明\n")
    before = page.data()
    assert store.write("# Memory\n").change
    store.undo()
    assert page.data() == before


def test_a_page_can_be_emptied_and_given_back(page: EditedFile) -> None:
    store = fill_store(page)
    before = page.data()
    store.write("")
    assert (page.data(), store.get_all()) == (b"", [])
    store.undo()
    assert page.data() == before


def test_an_array_is_written_with_the_version_that_was_read_and_not_with_another(
    array: EditedFile,
) -> None:
    store = fill_store(array)
    text, version = store.snapshot()
    added = array.open().add("meanwhile")
    before = array.data()
    with pytest.raises(Conflict, match=r"changed since it was read.*read it again"):
        store.write(array.without(text, "tea"), expected=version)
    assert array.data() == before
    text, version = store.snapshot()
    store.write(array.without(text, "tea"), expected=version)
    assert added in store.get_all()
    assert "tea" not in list_contents(store)


@pytest.mark.parametrize(
    "text", ["", "{}", "[", '[{"content": ""}]', '[{"id": "a"}]', "[5]", '["x"]', "[" * 10**5]
)
def test_what_is_no_array_of_memories_is_refused_and_nothing_changes(
    array: EditedFile, text: str
) -> None:
    store = fill_store(array)
    before, record = array.data(), store.changes()
    with pytest.raises(InvalidInput, match=r"cannot be saved as memories\.json: it is not a JSON"):
        store.write(text)
    assert (array.data(), store.changes()) == (before, record)
    assert [path.name for path in array.path.parent.glob("*.corrupt-*")] == []


def test_no_limit_refuses_an_array(array: EditedFile) -> None:
    fill_store(array)
    full = array.open(memory_max_items=1, memory_max_chars=1)
    full.write(array.type_fact(full.text(), "much more"))
    assert "much more" in list_contents(full)


def test_what_it_lacks_stays_away_and_what_it_says_stands(place: EditedFile) -> None:
    store = fill_store(place)
    store.write(place.change(place.without(store.text(), "tea", "coffee"), "小明", "小華"))
    assert list_contents(store) == ["客廳的燈叫做小華"]
    assert store.reconcile() == []
    assert store.needs_mending() is False
    assert list_contents(place.open()) == ["客廳的燈叫做小華"]
    store.add("later")
    assert list_contents(store) == ["later", "客廳的燈叫做小華"]


def test_it_does_not_replace_unseen_what_an_editor_s_older_page_had_wiped(page: EditedFile) -> None:
    store = fill_store(page, "first")
    buffer = store.text()
    store.add("second")
    page.path.write_text(f"{buffer}\nmine\n", "utf-8")
    with pytest.raises(Conflict):
        store.write("# Memory\n", expected=store.version())
    assert list_contents(store) == ["first", "second"]


# The record


def test_an_array_is_on_record_with_what_it_removed_changed_and_added(array: EditedFile) -> None:
    store = fill_store(array)
    lamp, tea, _ = store.get_all()
    text = array.change(array.without(store.text(), "tea"), "小明", "小華")
    written = store.write(array.type_fact(text, "typed"), origin="page")
    whole, *others = [change for change in store.changes() if change.op == "put"]
    assert (whole.n, whole.id, whole.removed) == (written.change, "", (tea,))
    assert [(one.before, one.after and one.after.content) for one in others] == [
        (lamp, "客廳的燈叫做小華"),
        (None, "typed"),
    ]
    assert {one.origin for one in (whole, *others)} == {"page"}
    assert others[1].after
    assert MOMENT < others[1].after.created_at <= whole.time
    assert [change.n for change in store.changes(tea.id)] == [2, whole.n]
    assert store.changes(lamp.id)[-1].before == lamp


def test_the_record_does_not_grow_by_the_whole_file(page: EditedFile) -> None:
    store = page.open()
    store.write("# Memory\n\n" + "a line of prose\n" * 2000 + "\nthe last line\n")
    record = page.path.with_name("changes.jsonl")
    before = record.stat().st_size
    for number in range(10):
        store.write(store.text().replace("the last", f"{number} the last"))
    assert record.stat().st_size - before < 10_000


def test_what_a_person_only_moved_is_told_from_what_was_edited(page: EditedFile) -> None:
    store = fill_store(page)
    text = store.text().replace("- tea", "## Drinks\n\n- tea")
    store.write(text)
    moved = [change for change in store.changes() if change.op == "put" and change.id]
    assert [
        (one.after and one.after.content, one.after and one.after.category) for one in moved
    ] == [
        ("tea", "Drinks"),
        ("coffee", "Drinks"),
    ]


def test_another_line_ending_everywhere_changes_no_fact(page: EditedFile) -> None:
    store = fill_store(page)
    store.write(store.text().replace("\n", "\r\n"))
    (put,) = [change for change in store.changes() if change.op == "put"]
    assert (put.id, put.removed) == ("", ())


# Undo


def test_the_newest_array_is_undone_to_the_byte_and_its_facts_are_as_they_were(
    array: EditedFile,
) -> None:
    store = fill_store(array)
    before, facts = array.data(), store.get_all()
    store.write(array.type_fact(array.without(store.text(), "tea", "客廳的燈叫做小明"), "typed"))
    undone = array.open().undo()
    assert {change.op for change in undone} == {"put"}
    assert (array.data(), store.get_all()) == (before, facts)
    (added,) = store.undo()
    assert added.after
    assert added.after.content == "coffee"


def test_one_after_another_is_undone_to_the_byte(array: EditedFile) -> None:
    store = fill_store(array)
    states = []
    for content in ("tea", "coffee", "客廳的燈叫做小明"):
        states.append(array.data())
        store.write(array.without(store.text(), content))
    for state in reversed(states):
        store.undo()
        assert array.data() == state


def test_what_was_added_to_an_array_since_stays_when_it_is_undone(array: EditedFile) -> None:
    store = fill_store(array)
    tea = store.get_all()[1]
    text = array.change(array.without(store.text(), "tea"), "小明", "小華")
    written = store.write(array.type_fact(text, "typed"))
    later = store.add("later")
    store.undo(written.change)
    assert list_contents(store) == ["coffee", "later", "tea", "客廳的燈叫做小明"]
    assert {tea, later} <= set(store.get_all())


def test_the_prose_it_replaced_comes_back_among_what_was_changed_since(page: EditedFile) -> None:
    store = fill_store(page)
    store.write(f"# Mine\n\nfirst words\n\n{store.text()}\nlast words\n")
    before = store.text()
    written = store.write(before.replace("first", "1st").replace("last", "final"))
    fact = store.add("later")
    store.update(fact.id, "much later")
    store.undo(written.change)
    assert "first words" in store.text()
    assert "last words" in store.text()
    assert page.open().get(fact.id) == store.get(fact.id)
    assert store.get(fact.id) is not None


def test_it_is_undone_past_others_that_were_undone(page: EditedFile) -> None:
    store = fill_store(page)
    store.write(f"words\n\n{store.text()}")
    first = store.write(store.text().replace("words", "other words"))
    store.add("later")
    second = store.write(store.text().replace("# Memory", "# Mine"))
    store.add("much later")
    store.undo(second.change)
    store.undo(first.change)
    assert store.text().startswith("words\n\n# Memory\n")
    assert {"later", "much later"} < set(list_contents(store))


def test_facts_are_taken_back_past_others_that_were_undone(place: EditedFile) -> None:
    store = fill_store(place)
    first = store.write(place.change(store.text(), "小明", "小華"))
    store.add("later")
    second = store.write(place.change(store.text(), "tea", "茶"))
    store.add("much later")
    store.undo(second.change)
    store.undo(first.change)
    assert list_contents(store) == ["coffee", "later", "much later", "tea", "客廳的燈叫做小明"]


def test_the_same_line_changed_since_is_a_conflict_and_nothing_changes(page: EditedFile) -> None:
    store = fill_store(page)
    store.write(f"{store.text()}\nwords\n")
    first = store.write(store.text().replace("words", "other words"))
    store.write(store.text().replace("other words", "no words"))
    before, record = page.data(), store.changes()
    with pytest.raises(Conflict, match=r"the same lines were changed later"):
        store.undo(first.change)
    assert (page.data(), store.changes()) == (before, record)


def test_its_facts_are_taken_back_though_another_program_saved_since(place: EditedFile) -> None:
    store = fill_store(place)
    tea = store.get_all()[1]
    text = place.change(place.without(store.text(), "tea"), "小明", "小華")
    written = store.write(text)
    place.edit(place.type_fact(text, "typed since"))
    assert "typed since" in list_contents(store)
    store.undo(written.change)
    assert list_contents(store) == ["coffee", "tea", "typed since", "客廳的燈叫做小明"]
    assert store.get(tea.id) == tea
    assert written.change in changes.find_undone(store.changes())


def test_prose_that_cannot_be_told_after_another_program_s_save_is_a_conflict(
    page: EditedFile,
) -> None:
    store = fill_store(page)
    written = store.write(f"{store.text()}\nwords\n")
    page.edit(f"{store.text()}\nmore\n")
    store.reconcile()
    with pytest.raises(Conflict, match="by another program"):
        store.undo(written.change)
    (undone,) = store.undo(skip=True)
    assert undone.op == "add"


def test_prose_is_not_forgotten_where_only_facts_are_left(page: EditedFile) -> None:
    page.path.parent.mkdir()
    page.edit("- one\nwords\n")
    store = page.open()
    written = store.write("- one\n")
    page.edit("- one\n- two\n")
    store.reconcile()
    with pytest.raises(Conflict, match="by another program"):
        store.undo(written.change)


# Older pages


def type_in_older_page(place: EditedFile, text: str) -> str:
    return place.type_fact(text, "typed in an older page")


def test_an_older_page_takes_nothing_away_that_was_written(place: EditedFile) -> None:
    store = fill_store(place)
    buffer = store.text()
    store.write(place.type_fact(place.change(buffer, "小明", "小華"), "typed"))
    for _ in range(2):
        place.edit(type_in_older_page(place, buffer))
        assert list_contents(store) == [
            "coffee",
            "tea",
            "typed",
            "typed in an older page",
            "客廳的燈叫做小華",
        ]


def test_an_older_page_brings_nothing_back_that_was_taken_away(place: EditedFile) -> None:
    store = fill_store(place)
    buffer = store.text()
    store.write(place.without(buffer, "tea"))
    store.add("later")
    place.edit(type_in_older_page(place, buffer))
    assert list_contents(store) == ["coffee", "later", "typed in an older page", "客廳的燈叫做小明"]


def test_a_text_that_was_undone_is_not_brought_back_by_a_page_that_had_it(
    place: EditedFile,
) -> None:
    store = fill_store(place)
    store.write(place.change(store.text(), "小明", "小華"))
    buffer = store.text()
    store.undo()
    place.edit(type_in_older_page(place, buffer))
    assert list_contents(store) == ["coffee", "tea", "typed in an older page", "客廳的燈叫做小明"]


def test_a_person_who_edits_in_an_older_page_what_was_written_keeps_that_edit(
    place: EditedFile,
) -> None:
    store = fill_store(place)
    buffer = store.text()
    store.add("later")
    store.write(place.change(store.text(), "小明", "小華"))
    place.edit(place.change(buffer, "小明", "阿明"))
    assert list_contents(store) == ["coffee", "later", "tea", "客廳的燈叫做阿明"]


def test_a_fact_that_was_written_can_be_deleted_by_hand(page: EditedFile) -> None:
    store = fill_store(page)
    store.write(page.type_fact(store.text(), "typed"))
    page.edit(page.without(store.text(), "typed"))
    assert list_contents(store) == ["coffee", "tea", "客廳的燈叫做小明"]
    store.write(page.change(store.text(), "小明", "小華"))
    page.edit(page.without(store.text(), "客廳的燈叫做小華"))
    assert list_contents(store) == ["coffee", "tea"]


# Any order

DEEDS = st.tuples(
    st.sampled_from(
        [
            *("add", "update", "delete", "undo", "older", "outside"),
            *("write edit", "write cut", "write typed", "write older", "write all"),
        ]
    ),
    st.integers(0, 9),
)


class Life:
    """A memory, what it must say, and every text that it ever was.

    What is typed outside is not on record: it is not looked at. A fact that was typed may be
    typed again, so one that an older page brings back is no complaint.
    """

    def __init__(self, place: EditedFile) -> None:
        shutil.rmtree(place.path.parent, ignore_errors=True)
        self.place = place
        self.store = place.open()
        self.model: dict[str, str] = {}
        self.typed: set[str] = set()
        self.texts = [self.store.text()]
        self.done: list[tuple[bytes, dict[str, str]]] = []

    def live(self, number: int, deed: str, which: int) -> None:
        if deed == "undo":
            self._undo()
        elif deed in {"older", "outside"}:
            text = self.texts[which % len(self.texts)] if deed == "older" else self.store.text()
            self.place.edit(self.place.type_fact(text, f"outside {number}"))
            self.done.clear()
        else:
            before, model = self.place.data(), dict(self.model)
            self._change(deed, number, which)
            if self.place.data() != before:
                self.done.append((before, model))
        assert self.contents() == self.model
        self.texts.append(self.store.text())

    def _change(self, deed: str, number: int, which: int) -> None:
        content = f"燈{number}號"
        chosen = list(self.model)[which % len(self.model)] if self.model else None
        if deed == "add":
            self.model[self.store.add(content).id] = content
        elif deed == "write older":
            self._write_older(self.texts[which % len(self.texts)])
        elif deed == "write typed":
            self._write(self._type_fact(self.store.text(), number))
        elif chosen and deed == "update":
            self.store.update(chosen, content)
            self.model[chosen] = content
        elif chosen and deed == "delete":
            self.store.delete(chosen)
            del self.model[chosen]
        elif chosen:
            self._write_fact(deed, chosen, number)

    def _write_fact(self, deed: str, chosen: str, number: int) -> None:
        text = self.store.text()
        if deed == "write cut" or chosen in self.typed:
            text = self.place.without(text, self.model.pop(chosen))
        else:
            text = self.place.change(text, self.model[chosen], f"燈{number}號")
            self.model[chosen] = f"燈{number}號"
        self._write(self._type_fact(text, number) if deed == "write all" else text)

    def _type_fact(self, text: str, number: int) -> str:
        content = f"typed {number}."
        self.model[make_content_id(content)] = content
        self.typed.add(make_content_id(content))
        return self.place.type_fact(text, content)

    def _write_older(self, text: str) -> None:
        unrecorded = facts_in(self.place, self.store.text()).keys() - self.model.keys()
        there = facts_in(self.place, text).items()
        self.model = {key: content for key, content in there if key not in unrecorded}
        self._write(text)

    def _write(self, text: str) -> None:
        written = self.store.write(text, expected=self.store.version())
        assert self.place.data() == text.encode()
        assert written.version == self.store.version()

    def _undo(self) -> None:
        if self.done:
            before, self.model = self.done.pop()
            assert self.store.undo()
            assert self.place.data() == before or self.place.path.suffix == ".json"

    def contents(self) -> dict[str, str]:
        """Return what the memory says, without what may have been typed again."""
        may_be = self.typed - self.model.keys()
        there = facts_in(self.place, self.store.text()).items()
        return {key: content for key, content in there if key not in may_be}


def facts_in(place: EditedFile, text: str) -> dict[str, str]:
    """Return what a text says, except for what was typed outside."""
    kind = json_facts if place.path.suffix == ".json" else markdown
    memories = (fact.memory for fact in kind.parse(text, MOMENT).facts)
    return {one.id: one.content for one in memories if not one.content.startswith("outside")}


@brief
@given(st.sampled_from(FORMATS), st.lists(DEEDS, max_size=12))
def test_in_any_order_nothing_is_lost_or_comes_back_and_undo_is_exact(
    tmp_path: Path, suffix: str, deeds: list[tuple[str, int]]
) -> None:
    life = Life(EditedFile(tmp_path / "deep" / f"memory{suffix}"))
    for number, (deed, which) in enumerate(deeds):
        life.live(number, deed, which)
    assert life.store.reconcile() == []


@brief
@given(st.lists(pages() | tidy_pages(), min_size=2, max_size=5))
def test_any_pages_are_written_and_undone_to_the_byte(page: EditedFile, texts: list[str]) -> None:
    shutil.rmtree(page.path.parent, ignore_errors=True)
    store = page.open()
    states = []
    for text in texts:
        states.append((page.data(), store.get_all()))
        store.write(text, expected=store.version())
        assert page.data() == text.encode()
    for before, facts in reversed(states):
        if page.data() != before:
            assert store.undo()
            assert [one.content for one in store.get_all()] == [one.content for one in facts]
        assert page.data() == before


@brief
@given(st.sampled_from(FORMATS), st.lists(DEEDS, max_size=5), st.lists(DEEDS, max_size=5))
def test_one_undone_by_its_number_takes_nothing_else_with_it(
    tmp_path: Path,
    suffix: str,
    before: list[tuple[str, int]],
    after: list[tuple[str, int]],
) -> None:
    life = Life(EditedFile(tmp_path / "deep" / f"memory{suffix}"))
    for number, (deed, which) in enumerate([("add", 0), ("add", 0), *before]):
        life.live(number, deed, which)
    life.live(10, "write all" if life.model else "write typed", 1)
    mine = changes.find_undoable(life.store.changes())
    assert {change.op for change in mine} == {"put"}
    for number, (deed, which) in enumerate(after, 20):
        life.live(number, deed, which)
    others = leave_out_changed(life, mine)
    data = life.place.data()
    try:
        life.store.undo(mine[-1].n)
    except (Conflict, NotFound):
        assert life.place.data() == data
    else:
        found = facts_in(life.place, life.store.text())
        for change in mine:
            assert found.get(change.id) == (change.before and change.before.content)
            assert all(found[memory.id] == memory.content for memory in change.removed)
        assert leave_out_changed(life, mine) == others


def leave_out_changed(life: Life, made: list[Change]) -> dict[str, str]:
    ids = {memory_id for change in made for memory_id in change.ids()}
    return {key: content for key, content in life.contents().items() if key not in ids}
