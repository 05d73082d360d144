"""What words and meaning are worth, whatever the numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import thorough
from turnleaf.core.search.ranking import (
    HeldWords,
    Ranked,
    Unrelated,
    Weights,
    put_repeated_last,
    rank,
    score_by_meaning,
    score_by_words,
    share_with_neighbours,
    weigh_word,
)

UNRELATED = Unrelated(0.1, 0.08)
TYPICAL = 10.0

asked = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 10), max_size=6)
said = st.lists(st.sampled_from("abcdefghij"), max_size=30)
cosines = st.floats(-1, 1)
sides = st.none() | st.floats(0, 1)
levels = st.builds(Unrelated, st.floats(-1, 1), st.floats(0, 1))
helds = st.builds(HeldWords, st.floats(0, 1), st.booleans())
shares = st.builds(Weights.of, st.floats(0, 1), st.floats(0, 1))


# The score


@thorough
@given(helds, st.floats(0, 1), shares)
def test_the_score_is_the_weighted_sum_of_both_sides_shown(
    held: HeldWords, near: float, weights: Weights
) -> None:
    one = rank(1, held, near, weights)
    assert one.words == held.share
    if one.meaning is None:
        assert one.score == held.share
    else:
        assert one.score == weights.vector * near + weights.bm25 * held.share


@thorough
@given(st.floats(0, 1), shares)
def test_where_one_side_does_not_exist_the_other_is_the_score(
    side: float, weights: Weights
) -> None:
    for held in (HeldWords(side), HeldWords(side, is_whole=True)):
        assert rank(1, held, None, weights) == Ranked(1, side, side, None, side)
    assert rank(1, None, side, weights) == Ranked(1, side, None, side, side)


@thorough
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_passage_that_holds_the_whole_question_is_never_below_its_words(
    share: float, near: float
) -> None:
    one = rank(1, HeldWords(share, is_whole=True), near, Weights())
    assert one.score >= share - 0.01
    assert one.meaning == (near if near >= share - 0.01 else None)
    assert one.blended == 0.7 * near + 0.3 * share


@thorough
@given(st.floats(0, 1), st.floats(0, 1))
def test_where_words_do_not_count_meaning_is_the_score_of_every_passage(
    share: float, near: float
) -> None:
    one = rank(1, HeldWords(share, is_whole=True), near, Weights.of(1, 0.3))
    assert (one.score, one.meaning) == (near, near)


@thorough
@given(st.none() | helds, sides, shares)
def test_every_score_is_between_nothing_and_one(
    held: HeldWords | None, near: float | None, weights: Weights
) -> None:
    assert 0 <= rank(1, held, near, weights).score <= 1 + 1e-12


def test_meaning_counts_for_seven_tenths_and_words_for_three() -> None:
    assert Weights() == Weights.of(0.7, 0.3) == Weights(vector=0.7, bm25=0.3)


def test_a_side_that_counts_in_full_counts_alone() -> None:
    assert Weights.of(1, 0.3) == Weights(1, 0)
    assert Weights.of(0.7, 1) == Weights(0, 1)
    assert Weights.of(1, 1) == Weights(0.5, 0.5)


def test_weights_of_more_than_one_are_made_smaller_together() -> None:
    assert Weights.of(0.75, 0.75) == Weights(0.5, 0.5)
    assert Weights.of(0.2, 0.3) == Weights(0.2, 0.3)


# Words


@thorough
@given(asked, said, said, st.floats(0, 100))
def test_what_is_held_is_a_share(
    weights: dict[str, float], own: list[str], around: list[str], typical: float
) -> None:
    assert 0 <= score_by_words(weights, own, around, typical) <= 1


@thorough
@given(asked.filter(bool))
def test_a_passage_that_is_the_question_holds_all_of_it(weights: dict[str, float]) -> None:
    assert score_by_words(weights, [*weights], [], TYPICAL) == pytest.approx(1)


@thorough
@given(asked, said)
def test_a_passage_without_any_word_of_the_question_holds_none(
    weights: dict[str, float], own: list[str]
) -> None:
    assert score_by_words(weights, [term.upper() for term in own], [], TYPICAL) == 0


def test_a_rare_word_is_more_of_the_question_than_a_common_one() -> None:
    weights = {"rare": weigh_word(1, 1000), "common": weigh_word(600, 1000)}
    assert score_by_words(weights, ["rare"], [], TYPICAL) > 0.8
    assert score_by_words(weights, ["common"], [], TYPICAL) < 0.2


def test_a_word_among_many_others_counts_less_and_one_said_often_more() -> None:
    short, long = ["tea", "x", "x"], ["tea", *("x" * 30)]
    assert (
        score_by_words({"tea": 1}, short, [], TYPICAL)
        > score_by_words({"tea": 1}, long, [], TYPICAL)
        > 0.3
    )
    often = ["tea"] * 3 + ["x"] * 28
    assert score_by_words({"tea": 1}, often, [], TYPICAL) > score_by_words(
        {"tea": 1}, long, [], TYPICAL
    )


def test_a_word_beside_a_passage_counts_two_fifths_at_most() -> None:
    assert score_by_words({"tea": 1}, [], ["tea"], TYPICAL) == 0.4
    both = score_by_words({"tea": 1}, ["tea", "x"], ["tea"], TYPICAL)
    assert score_by_words({"tea": 1}, ["tea", "x"], ["x"], TYPICAL) < both <= 1


def test_a_passage_gets_a_tenth_of_what_its_neighbours_hold() -> None:
    held = {1: 0.5, 2: 0.2, 3: 0.98, 4: 0.3}
    beside = {1: (None, 2), 2: (1, 3), 3: (2, 9)}
    assert share_with_neighbours(held, beside) == pytest.approx({1: 0.52, 2: 0.348, 3: 1.0, 4: 0.3})
    assert share_with_neighbours({1: 0.98, 2: 0.9}, {1: (2, None)})[1] == 1


@thorough
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_word_says_something_and_a_commoner_one_less(count: int, more: int) -> None:
    passages = count + more
    assert weigh_word(count, passages) >= weigh_word(count + more, passages) > 0


# Meaning


@thorough
@given(cosines, levels, st.integers(0, 10**7))
def test_meaning_is_between_nothing_and_one(
    cosine: float, unrelated: Unrelated, passages: int
) -> None:
    assert 0 <= score_by_meaning(cosine, unrelated, passages) <= 1


@pytest.mark.parametrize("passages", [0, 1, 30, 1000, 10**6])
def test_the_same_meaning_is_one_and_an_unrelated_one_nothing(passages: int) -> None:
    assert score_by_meaning(1.0, UNRELATED, passages) == 1
    assert score_by_meaning(UNRELATED.mean, UNRELATED, passages) == pytest.approx(0)
    assert score_by_meaning(-1.0, UNRELATED, passages) == 0


@thorough
@given(cosines, cosines, levels, st.integers(0, 10**7))
def test_the_order_of_meaning_is_that_of_the_cosines(
    one: float, other: float, unrelated: Unrelated, passages: int
) -> None:
    nearer, farther = max(one, other), min(one, other)
    assert (
        score_by_meaning(nearer, unrelated, passages)
        >= score_by_meaning(farther, unrelated, passages) - 1e-12
    )


def test_among_more_passages_standing_out_says_less() -> None:
    found = [score_by_meaning(0.5, UNRELATED, passages) for passages in (30, 1000, 10**5)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 2 * found[-1]


def test_what_is_unrelated_to_a_question_is_learned_from_the_passages() -> None:
    assert UNRELATED.pool(Unrelated(0.4, 0.1), 0) == UNRELATED
    many = UNRELATED.pool(Unrelated(0.4, 0.1), 10_000)
    assert many.mean == pytest.approx(0.4, abs=0.01)
    assert many.deviation == pytest.approx(0.1, abs=0.01)
    # The only passage may well be the answer.
    assert UNRELATED.pool(Unrelated(0.9, 0.0), 1).mean < 0.15


@given(st.lists(st.integers(0, 50), unique=True), st.integers(1, 9))
def test_what_is_said_again_comes_after_all_that_is_said_once(order: list[int], texts: int) -> None:
    said = {number: number % texts for number in order}
    found = put_repeated_last(order, said)
    firsts = found[: len({*said.values()})]
    assert sorted(found) == sorted(order)
    assert {said[number] for number in firsts} == {*said.values()}
    assert firsts == [number for number in order if number in firsts]
    assert all(
        order.index(number) <= order.index(other)
        for number in firsts
        for other in order
        if said[other] == said[number]
    )
