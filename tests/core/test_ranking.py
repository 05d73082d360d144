"""How keywords and meaning become one score, whatever the numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import thorough
from turnleaf.core.ranking import Ranked, Weights, full_match_score, rank

HARDLY = 1e-12

passages = st.integers(1, 12)
scores = st.dictionaries(passages, st.floats(-30, 1), max_size=12)
similarities = st.dictionaries(passages, st.floats(-1, 1), max_size=12)
full_matches = st.floats(0, 100)
beside = st.dictionaries(passages, st.lists(passages, max_size=2), max_size=12)
shares = st.builds(Weights, st.floats(0, 1), st.floats(0, 1))


def ids(ranked: list[Ranked]) -> list[int]:
    return [one.id for one in ranked]


def by_id(ranked: list[Ranked]) -> dict[int, Ranked]:
    return {one.id: one for one in ranked}


# For any numbers


@thorough
@given(scores, similarities, full_matches, beside)
def test_every_score_is_between_nothing_and_one_and_the_best_comes_first(
    bm25: dict[int, float],
    cosine: dict[int, float],
    full_match: float,
    neighbours: dict[int, list[int]],
) -> None:
    ranked = rank(bm25, cosine, full_match, neighbours)
    assert sorted(ids(ranked)) == sorted({*bm25, *cosine})
    assert ranked == sorted(ranked, key=lambda one: (-one.score, one.id))
    for one in ranked:
        assert 0 <= one.score <= 1
        assert 0 <= one.bm25 <= 1
        assert 0 <= one.vector <= 1


@thorough
@given(scores, similarities.filter(bool), full_matches, beside, st.none() | shares)
def test_the_score_is_the_weighted_sum_of_both_sides(
    bm25: dict[int, float],
    cosine: dict[int, float],
    full_match: float,
    neighbours: dict[int, list[int]],
    weights: Weights | None,
) -> None:
    share = weights or Weights()
    for one in rank(bm25, cosine, full_match, neighbours, weights):
        assert one.score == share.vector * one.vector + share.bm25 * one.bm25


def test_meaning_counts_for_seven_tenths_and_words_for_three() -> None:
    assert Weights() == Weights(vector=0.7, bm25=0.3)


@thorough
@given(scores, full_matches, beside, shares)
def test_without_vectors_keywords_alone_are_the_score(
    bm25: dict[int, float], full_match: float, neighbours: dict[int, list[int]], weights: Weights
) -> None:
    ranked = rank(bm25, {}, full_match, neighbours, weights)
    assert all(one.score == one.bm25 and one.vector == 0 for one in ranked)
    if any(score < 0 for score in bm25.values()):
        assert ranked[0].score == 1


@thorough
@given(scores, similarities, full_matches)
def test_what_is_better_by_words_and_by_meaning_is_never_below(
    bm25: dict[int, float], cosine: dict[int, float], full_match: float
) -> None:
    farthest = min(cosine.values(), default=0)
    assume(farthest < max(cosine.values(), default=1))
    found = by_id(rank(bm25, cosine, full_match))
    for one in found:
        for other in found:
            words = max(0, -bm25.get(one, 0)) >= max(0, -bm25.get(other, 0))
            meaning = cosine.get(one, farthest) >= cosine.get(other, farthest)
            if words and meaning:
                assert found[one].score >= found[other].score - HARDLY


@thorough
@given(scores.filter(bool), st.floats(0, 20), st.data())
def test_by_words_alone_a_better_match_never_loses_its_place(
    bm25: dict[int, float], better: float, data: st.DataObject
) -> None:
    raised = data.draw(st.sampled_from(sorted(bm25)))
    before = ids(rank(bm25, {}, 10))
    after = ids(rank({**bm25, raised: bm25[raised] - better}, {}, 10))
    assert after.index(raised) <= before.index(raised)


@thorough
@given(scores, similarities.filter(bool), st.floats(0, 1), st.data())
def test_where_no_words_match_a_nearer_meaning_never_loses_its_place(
    bm25: dict[int, float], cosine: dict[int, float], nearer: float, data: st.DataObject
) -> None:
    nothing = dict.fromkeys(bm25, 0.0)
    raised = data.draw(st.sampled_from(sorted(cosine)))
    before = ids(rank(nothing, cosine, 10))
    after = ids(rank(nothing, {**cosine, raised: cosine[raised] + nearer}, 10))
    assert after.index(raised) <= before.index(raised)


# Few candidates


def test_nothing_found_is_nothing_ranked() -> None:
    assert rank({}, {}, 0) == []
    assert rank({}, {}, 10, {1: [2]}) == []


def test_a_single_match_by_words_is_the_best() -> None:
    assert rank({7: -3}, {}, 10) == [Ranked(7, 1, 1, 0)]


def test_a_single_candidate_by_meaning_is_the_best() -> None:
    assert rank({}, {7: 0.9}, 10) == [Ranked(7, 0.7, 0, 1)]


def test_equal_candidates_come_in_the_order_of_their_ids() -> None:
    assert ids(rank({3: -2, 1: -2, 2: -2}, {}, 10)) == [1, 2, 3]
    ranked = rank({3: -2, 1: -2, 2: -2}, {1: 0.5, 2: 0.5, 3: 0.5}, 10)
    assert ids(ranked) == [1, 2, 3]
    assert len({one.score for one in ranked}) == 1


def test_words_that_say_nothing_rank_nothing() -> None:
    assert [one.score for one in rank({1: 0.0, 2: 0.5}, {}, 10)] == [0, 0]


def test_a_passage_without_a_vector_is_as_far_as_the_farthest() -> None:
    found = by_id(rank({1: -9, 2: -9, 3: -9}, {1: 0.8, 2: 0.2}, 10))
    assert found[3].vector == found[2].vector == 0
    assert found[3].score == found[2].score < found[1].score


def test_a_passage_found_only_by_meaning_has_no_share_of_words() -> None:
    found = by_id(rank({1: -9}, {1: 0.1, 2: 0.9}, 10))
    assert (found[1].vector, found[2].bm25) == (0, 0)


# How much each side has to say


def test_words_that_cover_a_query_outweigh_a_meaning_that_is_merely_near() -> None:
    assert ids(rank({1: -10, 2: -2}, {1: 0.4, 2: 0.5, 3: 0.6}, 10))[0] == 1


def test_words_that_cover_hardly_anything_of_a_query_give_way_to_meaning() -> None:
    assert ids(rank({1: -0.1, 2: -0.05}, {1: 0.4, 2: 0.5, 3: 0.6}, 50))[0] == 3


def test_the_more_of_a_query_words_cover_the_less_meaning_counts() -> None:
    cosine = {1: 0.2, 2: 0.9}
    nearest = [by_id(rank({1: -score}, cosine, 100))[2].vector for score in (1, 8, 20, 50, 99)]
    assert nearest == sorted(nearest, reverse=True)
    assert nearest[0] > nearest[-1]


def test_the_more_of_a_query_words_cover_the_more_they_count_until_they_count_in_full() -> None:
    cosine = {1: 0.2, 2: 0.9}
    best = [by_id(rank({1: -score}, cosine, 100))[1].bm25 for score in (1, 4, 8, 50)]
    assert best == pytest.approx([0.125, 0.5, 1, 1])


def test_meaning_that_contradicts_words_is_trusted_less_than_meaning_that_agrees() -> None:
    bm25 = {number: -float(10 - number) for number in range(1, 8)}
    agreeing = {number: 0.9 - number / 10 for number in range(1, 8)}
    contradicting = {number: 0.1 + number / 10 for number in range(1, 8)}
    by_agreeing = by_id(rank(bm25, agreeing, 20))
    by_contradicting = by_id(rank(bm25, contradicting, 20))
    assert max(one.vector for one in by_contradicting.values()) < max(
        one.vector for one in by_agreeing.values()
    )
    assert ids(rank(bm25, contradicting, 9))[0] == 1


def test_meaning_that_contradicts_words_is_trusted_where_words_cover_nothing() -> None:
    bm25 = {number: -float(10 - number) / 1000 for number in range(1, 8)}
    contradicting = {number: 0.1 + number / 10 for number in range(1, 8)}
    assert ids(rank(bm25, contradicting, 50))[0] == 7


def test_a_nearer_meaning_can_cost_a_place_because_all_meaning_is_trusted_more_for_it() -> None:
    bm25 = {1: 0.0, 2: -7.0, 3: -4.0, 4: 0.0}
    cosine = {1: 0.6, 2: 1.0, 3: 0.3, 4: 1.0}
    assert ids(rank(bm25, cosine, 20)) == [2, 3, 4, 1]
    assert ids(rank(bm25, {**cosine, 3: 0.5}, 20)) == [2, 4, 3, 1]


def test_one_more_word_can_cost_a_place_because_all_meaning_is_trusted_less_for_it() -> None:
    bm25 = {1: -1.6, 3: -6.0}
    cosine = {1: 0.1, 2: 0.9, 3: 0.57}
    assert ids(rank(bm25, cosine, 3)) == [3, 2, 1]
    assert ids(rank({**bm25, 2: -0.05}, cosine, 3)) == [3, 1, 2]


# Weights and neighbours


@pytest.mark.parametrize(
    ("weights", "best"), [(Weights(1, 0), 2), (Weights(0, 1), 1), (Weights(), 1)]
)
def test_other_weights_give_another_order(weights: Weights, best: int) -> None:
    assert rank({1: -9, 2: -1}, {1: 0.1, 2: 0.9}, 10, weights=weights)[0].id == best


def test_a_match_next_to_a_match_is_a_little_better() -> None:
    bm25 = {1: -10.0, 2: -5.0, 4: -5.0}
    found = by_id(rank(bm25, {}, 10, {1: [2], 2: [1, 3], 4: [3]}))
    assert found[1].score == 1
    assert found[2].score == pytest.approx(0.55 / 1.025)
    assert found[4].score == pytest.approx(0.5 / 1.025)


def test_what_does_not_match_is_not_lifted_by_its_neighbours() -> None:
    assert ids(rank({1: -10}, {}, 10, {1: [2], 2: [1]})) == [1]


# What a full match would score


def test_a_full_match_is_the_sum_of_what_its_terms_say() -> None:
    rare, common = math.log(99.5 / 1.5), math.log(90.5 / 10.5)
    assert full_match_score([1, 10], 100) == pytest.approx(rare + common)


def test_a_term_that_most_passages_hold_says_next_to_nothing() -> None:
    assert 0 < full_match_score([100], 100) < 1e-5
    assert 0 < full_match_score([60], 100) < 1e-5


def test_an_unknown_term_says_most() -> None:
    assert full_match_score([0], 100) > full_match_score([1], 100)


def test_no_terms_have_no_match() -> None:
    assert full_match_score([], 100) == 0
