"""What was asked for is marked where it stands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import texts, thorough
from tests.tables import each
from turnleaf.core.search.terms import find_matches, find_places, list_terms, parse_query

SCRAPS = (
    " ",
    "茶",
    "咖啡",
    "客廳的燈",
    "tea",
    "Running",
    "é",
    "ｔｅａ",
    "ｺｰﾋｰ",
    "हिन्दी",
    "🙂",
    "_",
    "。",
)
mixed = st.lists(st.sampled_from(SCRAPS), max_size=8).map("".join) | texts | st.text(max_size=30)


def mark_places(text: str, query: str) -> str:
    """Put brackets around what is marked."""
    for start, end in reversed(find_places(text, parse_query(query).terms)):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@each(
    "text, query, shown",
    [
        ("I like green tea.", "tea", "I like green [tea]."),
        ("Running shoes, she ran", "run", "[Running] shoes, she [ran]"),
        ("A Café in Đà Nẵng", "cafe da nang", "A [Café] in [Đà] [Nẵng]"),
        ("my re\u0301sume\u0301s", "résumé", "my [re\u0301sume\u0301s]"),
        ("שָׁלוֹם", "שלום", "[שָׁלוֹם]"),
        ("ｔｅａ and TEA", "tea", "[ｔｅａ] and [TEA]"),
        ("steam is no tea", "tea", "steam is no [tea]"),
        ("客廳的燈壞了", "客廳", "[客廳]的燈壞了"),
        ("客廳的燈壞了", "客厅", "[客廳]的燈壞了"),
        ("客厅的灯坏了", "客廳", "[客厅]的灯坏了"),
        ("我愛喝咖啡", "咖啡", "我愛喝[咖啡]"),
        ("手沖咖啡機", "咖啡機", "手沖[咖啡機]"),
        ("喝茶", "茶", "喝[茶]"),
        ("我喜歡Latte不加糖", "latte", "我喜歡[Latte]不加糖"),
        ("मैं हिन्दी बोलता हूँ", "हिन्दी", "मैं [हिन्दी] बोलता हूँ"),
        ("ok 🙂 fine", "🙂", "ok [🙂] fine"),
        ("nothing of the kind", "茶", "nothing of the kind"),
        ("", "tea", ""),
    ],
)
def test_what_matches_is_marked(text: str, query: str, shown: str) -> None:
    assert mark_places(text, query) == shown


def test_matches_that_touch_are_one() -> None:
    assert find_places("咖啡咖啡", {"咖啡"}) == [(0, 4)]
    assert find_places("喝咖啡機", {"咖啡", "啡机"}) == [(1, 4)]


def test_single_characters_are_marked_only_where_nothing_longer_is() -> None:
    assert mark_places("咖啡和咖哩", "咖啡") == "[咖啡]和咖哩"
    assert mark_places("我吃咖哩", "咖啡") == "我吃[咖]哩"


def test_nothing_is_marked_where_nothing_was_asked_for() -> None:
    assert find_places("茶 tea", ()) == []


@thorough
@given(mixed, mixed)
def test_marks_are_in_order_apart_and_match(text: str, query: str) -> None:
    wanted = parse_query(query).terms
    last = -1
    for start, end in find_places(text, wanted):
        assert last < start < end <= len(text)
        assert set(list_terms(text[start:end])) & set(wanted)
        last = end


@thorough
@given(mixed)
def test_a_text_that_is_asked_for_by_its_own_words_is_marked(text: str) -> None:
    wanted = {*list_terms(text)}
    plain = re.sub(r"[^a-zA-Z\u4e00-\u9fff]", "", text)
    assert bool(find_places(text, wanted)) or not plain


@pytest.mark.parametrize(
    ("text", "query", "parts"),
    [
        ("客廳的燈叫做小明", "小明", ["小明"]),
        ("客廳的燈叫做小明，小明很亮", "小明", ["小明"]),
        ("Running shoes for running", "run", ["Running", "running"]),
        ("Ming's lamp, 客廳的燈", "lamp 客廳的燈", ["lamp", "客廳的燈"]),
        ("tea", "coffee", []),
    ],
)
def test_the_parts_that_match_are_given_as_they_stand_each_once(
    text: str, query: str, parts: list[str]
) -> None:
    assert find_matches(text, parse_query(query).terms) == parts
