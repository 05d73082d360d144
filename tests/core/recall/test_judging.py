"""Rules tell which passage answers a question, and which only speaks of the same thing."""

from __future__ import annotations

import pytest

from turnleaf.core.recall.judging import PassageReading, judge_by_words
from turnleaf.core.recall.questions import read_question


@pytest.mark.parametrize(
    ("question", "telling", "beside"),
    [
        ("Which car do I drive?", "My car is a blue one", "My car broke down"),
        ("我的車是哪台車？", "我的車是藍色的", "我的車壞了"),
    ],
)
def test_a_passage_that_says_which_one_it_is_answers_better_than_one_about_it(
    question: str, telling: str, beside: str
) -> None:
    readings = [PassageReading.of(telling), PassageReading.of(beside)]
    first, second = judge_by_words(read_question(question), readings)
    assert first > second
