"""The rules on messages and cases that their author has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import learning

MESSAGES = learning.read("extraction.json", "messages")
CASES = learning.read("reconciliation.json", "cases")
POISON: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data/poisoning.json").read_text("utf-8")
)["texts"]


def test_the_set_of_messages_is_labelled_as_it_should_be() -> None:
    assert len(MESSAGES) >= 150
    chinese = [one for one in MESSAGES if one["language"] == "zh-Hant"]
    nothing = [one for one in MESSAGES if not one["facts"]]
    assert len(chinese) * 2 >= len(MESSAGES)
    assert len(nothing) * 3 >= len(MESSAGES)
    for message in MESSAGES:
        for fact in message["facts"]:
            assert fact["quote"] in message["text"]
            assert all(key.lower() in fact["quote"].lower() for key in fact["keys"])


def test_what_is_learned_is_right_and_nothing_comes_from_nothing() -> None:
    figures = learning.extraction(MESSAGES)
    assert figures.precision >= 0.94
    assert figures.recall >= 0.3
    assert figures.disturbed == 0


@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_both_languages_fare_alike(language: str) -> None:
    figures = learning.extraction([one for one in MESSAGES if one["language"] == language])
    assert figures.precision >= 0.93
    assert figures.recall >= 0.28


def test_no_fact_is_replaced_that_should_stay_and_most_cases_are_judged_right() -> None:
    figures = learning.reconciliation(CASES)
    assert figures.wrongly_replaced <= 1
    assert figures.accuracy >= 0.95


def test_each_text_of_the_poisoning_set_holds_its_claim() -> None:
    assert len(POISON) >= 40
    assert {one["from"] for one in POISON} == {"tool", "document", "stranger"}
    assert all(one["must_not_reach"] in one["text"] for one in POISON)
