"""Where not all facts have room, the nearest to the question come first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.growth import grows_with_its_text
from turnleaf.core.memories import Memory
from turnleaf.core.prompt.builders import FactRanking

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def facts(*contents: str) -> list[Memory]:
    times = [NOON + timedelta(minutes=number) for number in range(len(contents))]
    return [
        Memory(f"id{number}", content, times[number], times[number])
        for number, content in enumerate(contents)
    ]


def first(question: str, *contents: str) -> str:
    return FactRanking(facts(*contents), question).order[0].content


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Where do I keep the keys?", "My key is kept under the mat"),
        ("我住在哪裡?", "我住在台北"),
        ("我女兒幾歲？", "我女儿五岁"),
        ("我的iphone密碼", "我用iPhone"),
        ("Was ist mit Zoë?", "Zoe is my cat"),
    ],
)
def test_the_fact_that_shares_words_with_the_question_comes_first(
    question: str, wanted: str
) -> None:
    assert first(question, "I like tea", wanted, "咖啡要熱的", "The monkey is funny") == wanted


def test_a_rare_word_counts_more_than_common_ones() -> None:
    common = [f"my lamp in the room {number}" for number in range(20)]
    assert first("my lamp, or the piano in my room?", "The piano is old", *common) == (
        "The piano is old"
    )


def test_a_word_inside_another_is_not_shared() -> None:
    assert first("Where is the cat?", "My cat is grey", "My education was long") == "My cat is grey"


def test_where_nothing_is_shared_the_newest_comes_first() -> None:
    order = FactRanking(facts("tea", "coffee", "milk"), "嗨").order
    assert [one.content for one in order] == ["milk", "coffee", "tea"]


def test_how_to_answer_comes_before_all_else() -> None:
    wish = Memory("w", "Short answers please", NOON, NOON, slot="manner")
    assert FactRanking([wish, *facts("the lamp")], "Where is the lamp?").order[0] is wish


def test_a_pinned_fact_comes_first_whatever_is_asked() -> None:
    tea, lamp = facts("tea", "the lamp")
    pinned = replace(tea, pinned=True)
    assert FactRanking([lamp, pinned], "Where is the lamp?").order[0] is pinned


def test_the_scores_of_the_search_decide_where_there_are_any() -> None:
    ranking = FactRanking(facts("the lamp", "tea", "milk"), "Where is the lamp?", {"id1": 0.3})
    assert [one.content for one in ranking.order] == ["tea", "milk", "the lamp"]


def test_of_a_pasted_text_the_end_asks() -> None:
    assert first(f"{'milk ' * 3000}\nWhere is the piano?", "the piano", "tea") == "the piano"


def test_a_fact_with_a_nul_character_moves_no_other() -> None:
    assert first("piano", "a\0b", "the piano", "tea") == "the piano"


@pytest.mark.parametrize("text", ["a" * 20_000, "啊" * 20_000, "ab " * 7_000, "\u0301" * 20_000])
def test_no_long_text_takes_long(text: str) -> None:
    assert grows_with_its_text(lambda part: first(part, *[part, "tea"] * 20), text)


def test_of_ten_thousand_facts_the_one_that_is_asked_for_comes_first() -> None:
    many = facts(*(f"杯子 number {number} stands on the shelf" for number in range(10_000)))
    assert FactRanking(many, "Where is 杯子 9000?").order[0].content == many[9000].content
