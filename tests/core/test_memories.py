"""A fact is a value, and its text has rules."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, facts, texts, thorough
from turnleaf.core import memories
from turnleaf.core.memories import (
    MAX_CATEGORY_CHARS,
    Memory,
    check_category,
    check_content,
    contains,
    make_content_id,
    make_unique_id,
)
from turnleaf.errors import InvalidInput


def fact(content: str) -> Memory:
    return Memory("a", content, MOMENT, MOMENT)


def test_a_fact_is_written_as_the_requirements_say() -> None:
    assert memories.to_json(Memory("a", "x", MOMENT, MOMENT, "Home", "user")) == {
        "id": "a",
        "content": "x",
        "createdAt": "2026-03-01T08:30:00.000Z",
        "updatedAt": "2026-03-01T08:30:00.000Z",
        "category": "Home",
        "origin": "user",
    }
    assert "category" not in memories.to_json(fact("x"))


def test_what_else_is_known_of_a_fact_is_written_only_where_it_says_something() -> None:
    known = Memory("a", "x", MOMENT, MOMENT, slot="home", until=date(2026, 11, 17), said_count=3)
    record = memories.to_json(known)
    assert [record[key] for key in ("slot", "until", "saidCount")] == ["home", "2026-11-17", 3]
    assert not {"slot", "until", "saidCount"} & memories.to_json(fact("x")).keys()


@pytest.mark.parametrize(
    "damage",
    [
        {"slot": 5, "until": 5, "saidCount": "many"},
        {"slot": "", "until": "tomorrow", "saidCount": 0},
        {"slot": "x" * 101, "until": "2026-02-30", "saidCount": -1},
        {"slot": "\ud83d", "until": "20261117", "saidCount": True},
        {"slot": ["home"], "until": None, "saidCount": 1.5},
        {"slot": None, "until": "２０２６-11-17", "saidCount": "9" * 5000},
    ],
)
def test_a_damaged_value_costs_no_fact(damage: dict[str, object]) -> None:
    assert memories.from_json(memories.to_json(fact("x")) | damage, MOMENT) == fact("x")


def test_the_last_day_is_over_when_the_next_begins() -> None:
    ending = Memory("a", "x", MOMENT, MOMENT, until=date(2026, 11, 17))
    assert not ending.has_ended(date(2026, 11, 17))
    assert ending.has_ended(date(2026, 11, 18))
    assert not fact("x").has_ended(date.max)


@thorough
@given(facts())
def test_any_fact_comes_back_from_json(memory: Memory) -> None:
    assert memories.from_json(memories.to_json(memory), MOMENT) == memory


@pytest.mark.parametrize("content", ["x", "../../x", "  x  ", "a\nb", "\ufeff", "🙂", "x" * 10**6])
def test_any_text_can_be_a_fact(content: str) -> None:
    assert check_content(content) == content


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("ab\0c", r"U\+0000 \(at position 2\), which is not text; remove it"),
        ("\ud83d", r"U\+D83D \(at position 0\)"),
        ("x\udfff", r"U\+DFFF"),
        (None, "a memory must be text, not NoneType"),
        (b"x", "a memory must be text, not bytes"),
        (5, "not int"),
    ],
)
def test_what_no_text_file_can_hold_is_refused(content: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        check_content(content)


@pytest.mark.parametrize(
    ("category", "heading"),
    [
        (None, None),
        ("", None),
        ("  ", None),
        ("Home", "Home"),
        ("  the\n house\t", "the house"),
        ("家", "家"),
        ("## Home ##", "Home"),
        ("# ## Home # x # #", "Home # x"),
        ("# #", None),
        ("C#", "C#"),
        ("x" * MAX_CATEGORY_CHARS, "x" * MAX_CATEGORY_CHARS),
    ],
)
def test_a_category_is_what_can_stand_in_a_heading(
    category: str | None, heading: str | None
) -> None:
    assert check_category(category) == heading


@pytest.mark.parametrize("category", ["x" * 101, "a\0", "\ud800"])
def test_what_cannot_stand_in_a_heading_is_refused(category: str) -> None:
    with pytest.raises(InvalidInput, match="a category"):
        check_category(category)


@thorough
@given(texts)
def test_a_category_that_was_checked_stays_as_it_is(text: str) -> None:
    try:
        heading = check_category(text)
    except InvalidInput:
        return
    assert check_category(heading) == heading


@thorough
@given(texts, st.lists(st.sampled_from(["a", "a-2", "a-3", "b"])))
def test_an_id_is_never_taken_twice(wanted: str, taken: list[str]) -> None:
    assert make_unique_id(wanted, taken) not in taken
    assert make_unique_id("a", ["a", "a-2"]) == "a-3"
    assert make_unique_id("c", taken) == "c"


def test_what_says_the_same_has_the_same_name() -> None:
    assert make_content_id("喜歡咖啡") == make_content_id("喜歡咖啡") != make_content_id("喜歡茶")
    assert make_content_id("x").startswith("h")


@pytest.mark.parametrize(
    ("keyword", "content"),
    [
        ("COFFEE", "likes coffee"),
        ("straße", "STRASSE"),
        ("咖啡", "喜歡咖啡"),
        ("", "x"),
        (".*", "a.*b"),
    ],
)
def test_a_keyword_is_found_whatever_the_case(keyword: str, content: str) -> None:
    assert contains(fact(content), keyword)


def test_a_keyword_is_no_pattern() -> None:
    assert not contains(fact("abc"), "a.c")
    assert not contains(fact("abc"), "a*")
