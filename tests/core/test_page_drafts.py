"""A memory file's text while it is being changed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import MOMENT, contents, facts, pages, thorough, tidy_pages
from turnleaf.core import json_facts, markdown
from turnleaf.core.file_changes import FileChange, Repair, TextHistory, mend, record_steps
from turnleaf.core.memories import Memory
from turnleaf.core.page_drafts import Draft
from turnleaf.core.pages import Format
from turnleaf.errors import Conflict

NEW = Memory("fresh", "new", MOMENT, MOMENT, None, "user")
OTHER = Memory("other", "another", MOMENT, MOMENT, "Home", None)
FORMATS = {"md": markdown, "json": json_facts}


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> Format:
    return as_format(FORMATS[request.param])


def as_format(module: ModuleType) -> Format:
    return cast("Format", module)


def make_empty(kind: Format) -> Draft:
    return Draft(kind, kind.EMPTY, MOMENT)


def put_on_record(draft: Draft, first: int = 1) -> list[FileChange]:
    template = FileChange(n=first, time=MOMENT, op="seen", file="f", old="o", new="n")
    return record_steps(template, draft.steps)


def test_every_step_is_seen_by_the_next(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.insert(OTHER, "add")
    draft.replace(dataclasses.replace(NEW, content="changed"), "update")
    draft.remove("other", "delete")
    assert [memory.content for memory in draft.memories] == ["changed"]
    assert [(step.op, step.id) for step in draft.steps] == [
        ("add", "fresh"),
        ("add", "other"),
        ("update", "fresh"),
        ("delete", "other"),
    ]


def test_the_fingerprint_follows_every_step(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.insert(OTHER, "add")
    draft.replace(dataclasses.replace(NEW, content="two\nlines"), "update")
    draft.remove("other", "delete")
    assert draft.shape == kind.parse(draft.text, MOMENT).shape()


def test_every_step_gets_a_number_of_its_own(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.replace(dataclasses.replace(NEW, content="changed"), "update")
    changes = put_on_record(draft, first=7)
    assert [(change.n, change.op, change.id) for change in changes] == [
        (7, "add", "fresh"),
        (8, "update", "fresh"),
    ]
    assert changes[1].before == NEW
    assert (changes[0].old, changes[1].new) == ("o", "n")


def test_what_was_noticed_of_somebody_s_save_comes_first() -> None:
    template = FileChange(n=3, time=MOMENT, op="seen", file="f", removed=(NEW,))
    draft = make_empty(as_format(markdown))
    assert record_steps(template, []) == [template]
    draft.insert(OTHER, "restore")
    assert [(one.n, one.op, one.removed) for one in record_steps(template, draft.steps)] == [
        (3, "seen", (NEW,)),
        (4, "restore", ()),
    ]


def test_mending_deletes_updates_and_brings_back(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.insert(OTHER, "add")
    back = dataclasses.replace(NEW, id="back", content="was lost")
    changed = dataclasses.replace(NEW, content="as we updated it")
    mend(draft, Repair(bring_back=(back,), update_again=(changed,), delete_again=("other",)))
    assert {memory.id: memory.content for memory in draft.memories} == {
        "fresh": "as we updated it",
        "back": "was lost",
    }
    assert [step.op for step in draft.steps[2:]] == ["restore"] * 3


def test_an_older_change_is_undone_where_its_fact_is_as_it_left_it(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.insert(OTHER, "add")
    draft.replace(dataclasses.replace(OTHER, content="changed"), "update")
    first, second, third = put_on_record(draft)
    draft.undo(third)
    assert draft.memories == [NEW, OTHER]
    draft.undo(second)
    draft.undo(first)
    assert draft.memories == []


def test_an_older_deletion_is_undone_too(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.remove("fresh", "delete")
    draft.insert(OTHER, "add")
    deletion = put_on_record(draft)[1]
    draft.undo(deletion)
    assert {memory.id for memory in draft.memories} == {"fresh", "other"}


def test_what_somebody_changed_since_cannot_be_undone(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    addition = put_on_record(draft)[0]
    draft.replace(dataclasses.replace(NEW, content="changed"), "update")
    with pytest.raises(Conflict, match="fresh was changed again since then"):
        draft.undo(addition)
    draft.remove("fresh", "delete")
    with pytest.raises(Conflict, match="fresh was changed again since then"):
        draft.undo(addition)


def test_a_deletion_of_what_is_there_again_cannot_be_undone(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert(NEW, "add")
    draft.remove("fresh", "delete")
    deletion = put_on_record(draft)[1]
    draft.insert(NEW, "add")
    with pytest.raises(Conflict, match="already in the memory"):
        draft.undo(deletion)


def test_what_a_person_removed_comes_back_by_undo(kind: Format) -> None:
    draft = make_empty(kind)
    draft.undo(FileChange(n=4, time=MOMENT, op="seen", file="f", removed=(NEW, OTHER)))
    assert {memory.id for memory in draft.memories} == {"fresh", "other"}
    assert {step.undoes for step in draft.steps} == {4}


# A whole text


def json_pages() -> st.SearchStrategy[str]:
    def render(memories: list[Memory]) -> str:
        draft = make_empty(as_format(json_facts))
        for memory in memories:
            draft.insert(memory, "add")
        return draft.text

    return st.lists(facts(), max_size=3, unique_by=lambda one: one.id).map(render)


def json_texts() -> st.SearchStrategy[str]:
    """Arrays in any layout."""
    indents = st.none() | st.integers(0, 2)
    return st.tuples(json_pages(), indents).map(
        lambda made: json.dumps(json.loads(made[0]), indent=made[1])
    )


def put(draft: Draft, text: str, first: int = 1) -> list[FileChange]:
    """Put a text, and return what is on record of it."""
    old = draft.text
    assert draft.put(text, MOMENT) is (text != old)
    template = FileChange(n=first, time=MOMENT, op="seen", file="f", old=old, new=text)
    return record_steps(template, draft.steps)


def undo_put(draft: Draft, made: list[FileChange], version: str, history: list[FileChange]) -> None:
    """Take a whole text back; versions are named by the texts themselves."""
    texts = TextHistory(draft.kind, history, MOMENT)
    saved = texts.find_as_saved(draft.text, version, made[0])
    draft.undo_put(made[::-1], made[0].reversal(), saved)


def test_a_whole_text_is_told_by_what_it_lacks_and_what_is_new_or_other(kind: Format) -> None:
    draft = make_empty(kind)
    draft.insert_all([NEW, dataclasses.replace(NEW, id="kept", content="kept"), OTHER], "add")
    other = Draft(kind, draft.text, MOMENT)
    other.remove("other", "delete")
    other.replace(dataclasses.replace(NEW, content="客廳的燈"), "update")
    made = put(Draft(kind, draft.text, MOMENT), other.text)
    assert [(one.op, one.id, one.removed) for one in made] == [
        ("put", "", (OTHER,)),
        ("put", "fresh", ()),
    ]
    assert (made[1].before, made[1].after) == (NEW, dataclasses.replace(NEW, content="客廳的燈"))
    assert "客廳的燈" in made[1].fact


def test_only_the_lines_that_differ_are_on_record() -> None:
    draft = Draft(as_format(markdown), "# Memory\n\none\ntwo\nthree\n", MOMENT)
    (whole,) = put(draft, "# Memory\n\none\n2\n2.5\nthree\n")
    assert (whole.at, whole.took, whole.put) == (3, ("two\n",), ("2\n", "2.5\n"))


def test_the_same_text_is_no_step(kind: Format) -> None:
    assert put(make_empty(kind), kind.EMPTY) == [
        FileChange(n=1, time=MOMENT, op="seen", file="f", old=kind.EMPTY, new=kind.EMPTY)
    ]


@thorough
@given(
    st.tuples(st.just(markdown), pages(), pages() | tidy_pages())
    | st.tuples(st.just(json_facts), json_texts(), json_texts())
)
def test_any_whole_text_is_taken_back_to_the_byte(case: tuple[ModuleType, str, str]) -> None:
    kind, before, after = as_format(case[0]), case[1], case[2]
    assume(before != after)
    draft = Draft(kind, before, MOMENT)
    made = put(draft, after)
    assert draft.text == after
    assert draft.shape == kind.parse(after, MOMENT).shape()
    again = Draft(kind, after, MOMENT)
    undo_put(again, made, after, made)
    assert again.text == before
    assert again.shape == kind.parse(before, MOMENT).shape()
    assert {step.undoes for step in again.steps} == {1}


def after_another(before: str, written: str, change: Callable[[Draft], object]) -> str:
    """Put a text, make another change, and take the first back."""
    kind = as_format(markdown)
    made = put(Draft(kind, before, MOMENT), written)
    later = Draft(kind, written, MOMENT)
    change(later)
    template = FileChange(n=9, time=MOMENT, op="seen", file="f", old=written, new=later.text)
    history = [*made, *record_steps(template, later.steps)]
    draft = Draft(kind, later.text, MOMENT)
    undo_put(draft, made, later.text, history)
    return draft.text


LONG_PAGE = [f"line {number}\n" for number in range(1200)]


@pytest.mark.parametrize(
    ("before", "written"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb\nc\n", "A\nb\nC\n"),
        ("# x\n\na\n", "a\n"),
        ("".join(LONG_PAGE), "".join(["first\n", *LONG_PAGE[1:-1], "last\n"])),
    ],
)
def test_only_the_lines_of_a_whole_text_go_back_among_later_ones(before: str, written: str) -> None:
    plain = Draft(as_format(markdown), before, MOMENT)
    plain.insert(NEW, "add")
    assert after_another(before, written, lambda draft: draft.insert(NEW, "add")) == plain.text


def test_lines_that_were_changed_again_do_not_go_back() -> None:
    with pytest.raises(Conflict, match="the same lines were changed later"):
        after_another("a\nb\n", "a\nB\n", lambda draft: draft.put("a\nBB\n", MOMENT))


def test_between_changes_that_lie_very_far_apart_a_later_one_cannot_be_told() -> None:
    before, written = "".join(LONG_PAGE), "".join(["first\n", *LONG_PAGE[1:-1], "last\n"])
    with pytest.raises(Conflict):
        after_another(
            before, written, lambda draft: draft.put(written.replace("line 500\n", "x\n"), MOMENT)
        )


def test_lines_that_would_hide_a_later_fact_do_not_go_back() -> None:
    with pytest.raises(Conflict):
        after_another("```\n- x\n", "```\n```\n- x\n", lambda draft: draft.insert(NEW, "add"))


def test_what_belonged_to_a_fact_goes_back_above_a_later_one() -> None:
    def add(draft: Draft) -> None:
        draft.put("- one\n\n- later\n", MOMENT)

    assert after_another("- one\n  two\n", "- one\n", add) == "- one\n  two\n\n- later\n"


steps = st.tuples(st.sampled_from(["add", "update", "delete"]), facts(), st.integers(0, 9))


@thorough
@given(
    st.tuples(st.just(markdown), tidy_pages()) | st.tuples(st.just(json_facts), json_pages()),
    st.lists(steps, max_size=5),
)
def test_undoing_one_change_after_another_gives_back_every_byte(
    page: tuple[ModuleType, str], todo: list[tuple[str, Memory, int]]
) -> None:
    kind, text = as_format(page[0]), page[1]
    made: list[tuple[str, FileChange]] = []
    for number, (op, memory, which) in enumerate(todo):
        draft = Draft(kind, text, MOMENT)
        perform(draft, op, dataclasses.replace(memory, id=f"new-{number}"), which)
        made += [(text, change) for change in put_on_record(draft)]
        text = draft.text
    assume(made)
    for before, change in reversed(made):
        draft = Draft(kind, text, MOMENT)
        draft.undo(change, change.reversal())
        assert draft.text == before
        assert draft.shape == kind.parse(before, MOMENT).shape()
        text = draft.text


@thorough
@given(
    st.tuples(st.just(markdown), tidy_pages()) | st.tuples(st.just(json_facts), json_pages()),
    st.lists(facts(), max_size=6, unique_by=lambda one: one.id),
)
def test_facts_added_at_once_stand_as_if_added_one_by_one(
    page: tuple[ModuleType, str], memories: list[Memory]
) -> None:
    kind, text = as_format(page[0]), page[1]
    new = [
        dataclasses.replace(memory, id=f"new-{number}") for number, memory in enumerate(memories)
    ]
    one_by_one, at_once = Draft(kind, text, MOMENT), Draft(kind, text, MOMENT)
    for memory in new:
        one_by_one.insert(memory, "import")
    at_once.insert_all(new, "import")
    assert at_once.text == one_by_one.text
    assert at_once.shape == one_by_one.shape
    for change in reversed(put_on_record(at_once)):
        at_once.undo(change, change.reversal())
    assert at_once.text == text


def perform(draft: Draft, op: str, memory: Memory, which: int) -> None:
    places: Any = draft.page.facts
    if op == "add" or not places:
        draft.insert(memory, op)
        return
    present: Memory = places[which % len(places)].memory
    if op == "update":
        draft.replace(dataclasses.replace(present, content=memory.content), op)
    else:
        draft.remove(present.id, op)


@thorough
@given(tidy_pages(), contents)
def test_ids_stay_through_every_edit(text: str, content: str) -> None:
    draft = Draft(as_format(markdown), text, MOMENT)
    ids = [memory.id for memory in draft.memories]
    draft.insert(dataclasses.replace(NEW, content=content), "add")
    draft.replace(dataclasses.replace(NEW, content="changed"), "update")
    draft.remove("fresh", "delete")
    assert [memory.id for memory in draft.memories] == ids
