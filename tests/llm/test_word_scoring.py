"""Without vectors, a small network over words tells which passages answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.networks import begin
from bench.word_answers import NUMBERS, SHAPE, WordTable, write_words
from turnleaf.core.recall.judging import FIGURES, PassageReading
from turnleaf.core.recall.questions import read_question
from turnleaf.llm.vector_scoring import run_network
from turnleaf.llm.word_scoring import WordNetwork, judge_by_network, list_words

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_trained_judges_the_same_when_it_is_read(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    words = ["key", "lock", "spare", "mat", "=key"]
    rows = chance.normal(0, 0.1, (len(words), NUMBERS)).astype("f4")
    table = WordTable({word: at for at, word in enumerate(words)}, rows, rows, rows)
    weights = begin(NUMBERS, SHAPE, chance)
    write_words(table, weights, tmp_path / "words.bin")
    network = WordNetwork.read(tmp_path / "words.bin")
    asked, said = ["spare", "key", "unknown"], ["key", "mat", "lock"]
    figures = chance.random(FIGURES).astype("f4")
    added, _ = table.add([asked, said])
    stacked = {name: one[None] for name, one in weights.items()}
    (trained,) = run_network(stacked, added[0], added[1:], figures[None])
    question, passage = network.read_text(asked, "question"), network.read_text(said, "passage")
    assert network.score(question, passage, figures.tolist()) == pytest.approx(trained, abs=0.02)


def test_a_word_is_known_by_its_meaning_too() -> None:
    found = [list_words(PassageReading.of(text)) for text in ("my student id", "學號是 40211")]
    assert all("=student_number" in words for words in found)


def test_nothing_is_known_of_words_that_nobody_used(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    rows = np.ones((1, NUMBERS), "f4")
    write_words(
        WordTable({"key": 0}, rows, rows, rows), begin(NUMBERS, SHAPE, chance), tmp_path / "w"
    )
    network = WordNetwork.read(tmp_path / "w")
    assert any(network.read_text(["key"], "question").added)
    assert not any(network.read_text(["zyx"], "question").added)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("who do I call when the heating breaks down?", 1),
        ("how much is our rent?", 2),
        ("which school do the twins go to?", 3),
        ("房租多少錢", 2),
        ("我對什麼藥過敏", 4),
    ],
)
def test_what_answers_is_told_by_its_words(asked: str, answer: int) -> None:
    said = [
        "my boss is called Ingrid, she sits in the Oslo office",
        "the boiler was serviced by a guy named Osman, 0113 496 0007",
        "we pay 940 for the flat, the landlord wants it on the 1st",
        "Our twins start school in Bramley next September",
        "penicillin gives me a rash, tell every doctor",
    ]
    readings = [PassageReading.of(text) for text in said]
    scores = judge_by_network(read_question(asked), readings)
    assert max(range(len(said)), key=lambda at: scores[at]) == answer
