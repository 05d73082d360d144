"""The figures by which searches are compared, computed by hand."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnleaf.evaluation import Figures, average, find_percentile, judge_ranking

documents = st.lists(st.sampled_from("abcdefghijklmnopqrst"), unique=True)


def values(figures: Figures) -> list[float]:
    return [getattr(figures, name) for name in Figures.__dataclass_fields__]


@pytest.mark.parametrize(
    ("ranked", "gold", "figures"),
    [
        ("a", "a", (1, 1, 1, 1, 1, 0)),
        ("ba", "a", (0, 1, 1, 1 / 2, 1 / log2(3), 0)),
        ("bcdefa", "a", (0, 0, 1, 1 / 6, 1 / log2(7), 0)),
        ("bcdefghijka", "a", (0, 0, 0, 0, 0, 0)),
        ("bcd", "a", (0, 0, 0, 0, 0, 0)),
        ("", "a", (0, 0, 0, 0, 0, 1)),
        ("ab", "ab", (1 / 2, 1, 1, 1, 1, 0)),
        ("axb", "ab", (1 / 2, 1, 1, 1, 1.5 / (1 + 1 / log2(3)), 0)),
        ("xaxxxb", "ab", (0, 1 / 2, 1, 1 / 2, (1 / log2(3) + 1 / log2(7)) / (1 + 1 / log2(3)), 0)),
        ("a", "abcd", (1 / 4, 1 / 4, 1 / 4, 1, 1 / (1.5 + 1 / log2(3) + 1 / log2(5)), 0)),
        ("a", "aaa", (1, 1, 1, 1, 1, 0)),
    ],
)
def test_the_figures_are_what_a_person_computes(
    ranked: str, gold: str, figures: tuple[float, ...]
) -> None:
    assert values(judge_ranking([*ranked], [*gold])) == pytest.approx(figures)


def test_more_right_documents_than_ten_can_still_be_ranked_perfectly() -> None:
    gold = [str(number) for number in range(20)]
    found = judge_ranking(gold, gold)
    assert (found.recall_1, found.recall_10, found.ndcg_10) == (1 / 20, 1 / 2, 1)


@given(documents, documents.filter(bool))
def test_every_figure_is_between_nothing_and_one(ranked: list[str], gold: list[str]) -> None:
    found = judge_ranking(ranked, gold)
    assert all(0 <= value <= 1 + 1e-12 for value in values(found))
    assert found.recall_1 <= found.recall_5 <= found.recall_10


@given(documents.filter(bool))
def test_what_is_right_first_is_perfect(gold: list[str]) -> None:
    found = judge_ranking([*gold, "y", "z"], gold)
    assert found.mrr == 1
    assert found.ndcg_10 == pytest.approx(1)


def test_the_mean_is_taken_of_each_figure() -> None:
    one, other = Figures(0, 0.5, 1, 0.25, 0.5, 0), Figures(1, 1, 1, 0.75, 1, 1)
    assert average([one, other]) == Figures(0.5, 0.75, 1, 0.5, 0.75, 0.5)
    assert average([one]) == one


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 5), (0.95, 10), (0.1, 1), (0.01, 1), (0, 1), (1, 10), (0.55, 6)]
)
def test_that_share_of_the_values_is_not_above(share: float, value: int) -> None:
    assert find_percentile([10, 3, 1, 2, 5, 4, 9, 8, 7, 6], share) == value


def test_a_single_value_is_every_percentile() -> None:
    assert {find_percentile([4.2], share) for share in (0.0, 0.5, 0.95, 1.0)} == {4.2}


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_one_of_the_values_with_that_share_up_to_it(
    measured: list[float], share: float
) -> None:
    found = find_percentile(measured, share)
    assert found in measured
    assert sum(value <= found for value in measured) >= share * len(measured)
    assert sum(value < found for value in measured) <= share * len(measured)
