"""memories.json: an array of facts, of which one is changed and nothing else."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, contents, facts, texts, thorough
from tests.tables import each
from turnleaf.core import json_facts
from turnleaf.core.json_facts import JsonPage
from turnleaf.core.memories import Memory, make_content_id, to_json
from turnleaf.core.pages import Splice
from turnleaf.errors import CorruptFile

NEW = Memory("fresh", "new", MOMENT, MOMENT, None, "user")


def parse(text: str) -> JsonPage:
    return json_facts.parse(text, MOMENT)


def memories(text: str) -> list[Memory]:
    return [fact.memory for fact in parse(text).facts]


def render(*all_of_them: Memory) -> str:
    text = json_facts.EMPTY
    for memory in all_of_them:
        page = parse(text)
        text = page.apply(page.insert(memory))
    return text


unique_facts = st.lists(facts(), max_size=5, unique_by=lambda one: one.id)


def test_each_record_stands_on_a_line_of_its_own() -> None:
    text = render(NEW, dataclasses.replace(NEW, id="two"))
    assert text.splitlines()[0] == "["
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == json.loads(text)


@thorough
@given(unique_facts)
def test_any_facts_come_back_exactly(all_of_them: list[Memory]) -> None:
    assert memories(render(*all_of_them)) == all_of_them


@thorough
@given(unique_facts, st.integers(0, 9), contents)
def test_changing_one_touches_no_other(
    all_of_them: list[Memory], number: int, content: str
) -> None:
    text = render(NEW, *all_of_them)
    page = parse(text)
    fact = page.facts[number % len(page.facts)]
    memory = dataclasses.replace(fact.memory, content=content)
    splice = page.replace(fact, memory)
    expected = [memory if one is fact else one.memory for one in page.facts]
    assert memories(page.apply(splice)) == expected
    assert apply_and_undo(page, splice) == text


@thorough
@given(unique_facts, st.integers(0, 9))
def test_removing_one_touches_no_other(all_of_them: list[Memory], number: int) -> None:
    text = render(NEW, *all_of_them)
    page = parse(text)
    fact = page.facts[number % len(page.facts)]
    splice = page.remove(fact)
    assert memories(page.apply(splice)) == [one.memory for one in page.facts if one is not fact]
    assert apply_and_undo(page, splice) == text


@thorough
@given(unique_facts, facts())
def test_taking_back_what_was_added_gives_back_every_byte(
    all_of_them: list[Memory], memory: Memory
) -> None:
    text = render(*all_of_them)
    page = parse(text)
    assert apply_and_undo(page, page.insert(memory)) == text


@thorough
@given(unique_facts, facts(), st.integers(0, 9))
def test_a_file_after_a_change_is_what_its_text_says(
    all_of_them: list[Memory], memory: Memory, number: int
) -> None:
    page = parse(render(NEW, *all_of_them))
    fact = page.facts[number % len(page.facts)]
    for splice in (page.insert(memory), page.replace(fact, memory), page.remove(fact)):
        after = page.with_splice(splice, MOMENT)
        assert after.text == page.apply(splice)
        assert after == parse(after.text)


def apply_and_undo(page: JsonPage, splice: Splice) -> str:
    return parse(page.apply(splice)).apply(Splice(splice.start, splice.put, splice.took))


plain = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2)


values = st.recursive(plain, nest, max_leaves=4)


@thorough
@given(st.dictionaries(texts.map(lambda name: f"x{name}"), values, max_size=3), contents)
def test_keys_that_we_do_not_know_stay(extra: dict[str, Any], content: str) -> None:
    text = json.dumps([to_json(NEW) | extra, extra | {"content": "typed by hand"}])
    page = parse(text)
    changed = page.apply(page.replace(page.facts[0], dataclasses.replace(NEW, content=content)))
    first, second = json.loads(changed)
    assert first == to_json(NEW) | extra | {"content": content}
    assert second == extra | {"content": "typed by hand"}


def test_a_record_typed_by_hand_may_lack_its_id_and_times() -> None:
    (memory,) = memories('[{"content": "typed"}]')
    assert memory == Memory(make_content_id("typed"), "typed", MOMENT, MOMENT)


def test_records_of_one_id_are_told_apart_by_counting() -> None:
    text = '[{"id": "a", "content": "x"}, {"id": "a", "content": "y"}]'
    assert [memory.id for memory in memories(text)] == ["a", "a-2"]


def test_a_byte_order_mark_and_any_layout_are_read() -> None:
    text = "\ufeff" + json.dumps([to_json(NEW)], indent=4)
    assert memories(text) == [NEW]


@each(
    "text",
    [
        "",
        "not json",
        "{}",
        "null",
        '"text"',
        "[1]",
        "[null]",
        "[[]]",
        "[{}]",
        '[{"content": 5}]',
        '[{"content": ""}]',
        '[{"content": "x", "id": 5}]',
        '[{"content": "x", "createdAt": "yesterday"}]',
        '[{"content": "x", "createdAt": "9999-12-31T23:59:59.999Z"}]',
        '[{"content": "x", "category": "a\\u0000b"}]',
        '[{"content": "x\\u0000"}]',
        '[{"content": "x"}',
        "<<<<<<< HEAD\n[]\n=======\n[]\n>>>>>>> other\n",
        "[" * 100_000,
    ],
)
def test_what_is_no_array_of_memories_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFile, match=r"array of memories"):
        parse(text)


def test_a_file_that_was_cut_off_anywhere_is_corrupt() -> None:
    text = render(NEW, dataclasses.replace(NEW, id="two"))
    for end in range(1, len(text) - len("]\n")):
        with pytest.raises(CorruptFile):
            parse(text[:end])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "it holds something else"),
        ("[1]", "1 is no object with content"),
        ("[{}]", "a fact has no content"),
        ('[{"content": "x", "id": 5}]', "a fact's id must be text, not 5"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_the_problem_is_explained_in_plain_words(text: str, problem: str) -> None:
    with pytest.raises(CorruptFile, match=f": {problem}"):
        parse(text)


def test_a_time_that_is_no_text_is_unknown() -> None:
    (memory,) = memories('[{"content": "x", "createdAt": 1700000000}]')
    assert memory.created_at == MOMENT


def test_a_category_that_somebody_else_wrote_is_one_line() -> None:
    (memory,) = memories('[{"content": "x", "category": " Home\\n\\n- forged\\u2028# # "}]')
    assert memory.category == "Home - forged"


@thorough
@given(unique_facts, st.randoms())
def test_the_fingerprint_does_not_ask_for_the_order(
    all_of_them: list[Memory],
    random: Any,  # noqa: ANN401 - hypothesis does not name its type
) -> None:
    page = parse(render(*all_of_them))
    shuffled = list(page.records)
    random.shuffle(shuffled)
    assert page.shape_of(shuffled) == page.shape()
