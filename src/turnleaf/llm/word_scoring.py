"""How well passages answer a question, by a small network over their words.

It needs no vectors of sentences and no numpy: a table gives each word a few numbers, those of a
text are added, and the network sees how the sums of question and passage go together. It learned
from the questions of `bench/people` which words answer which.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from math import sqrt
from operator import mul
from pathlib import Path
from struct import unpack
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.recall.judging import PassageReading, judge_by_words, read_figures
from turnleaf.core.recall.questions import load_meanings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.core.recall.questions import Names, Question

WEIGHTS = Path(__file__).with_name("word_scoring.bin")
MEANING = "="
"""Stands before the name of a meaning among the words of a text."""
LEAST = 0.7
"""What is taken off, so that what nothing answers scores below nought; chosen on `bench/exams`."""
BY_RULES = 2.5
"""What is added where the rules too are sure that a passage answers."""
LAYERS = ("question", "question_bias", "passage", "passage_bias", "hidden", "biases", "out", "bias")
"""The weights in the order of their file."""


class TextNumbers(NamedTuple):
    """The sum of the rows of a text's words, and what the network makes of it."""

    added: Sequence[float]
    projected: Sequence[float]


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """The words that are known, a row of numbers for each, and the weights."""

    places: dict[str, int]
    table: memoryview
    """One signed byte for each number."""
    scale: float
    layers: dict[str, list[Sequence[float]]]

    @classmethod
    def read(cls, path: Path) -> WordNetwork:
        """Read a file: a line of JSON, the table, and the weights as floats."""
        line, _, rest = path.read_bytes().partition(b"\n")
        head = json.loads(line)
        size = len(head["words"]) * head["numbers"]
        table, weights = memoryview(rest)[:size].cast("b"), rest[size:]
        floats = unpack(f"<{len(weights) // 4}f", weights)
        layers: dict[str, list[Sequence[float]]] = {}
        at = 0
        for name in LAYERS:
            rows, columns = head["shapes"][name]
            ends = range(at, at + rows * columns, columns)
            layers[name] = [floats[start : start + columns] for start in ends]
            at += rows * columns
        places = {word: place for place, word in enumerate(head["words"])}
        return cls(places, table, head["scale"], layers)

    def score(self, question: TextNumbers, passage: TextNumbers, figures: Sequence[float]) -> float:
        """Return how well a passage answers a question."""
        products = map(mul, question.projected, passage.projected)
        nearness = sum(map(mul, question.added, passage.added))
        seen = [*products, nearness, *figures]
        (biases,), (out,), ((bias,),) = (self.layers[name] for name in ("biases", "out", "bias"))
        rows = zip(self.layers["hidden"], biases, strict=True)
        hidden = (max(0.0, sum(map(mul, row, seen)) + one) for row, one in rows)
        score: float = sum(map(mul, out, hidden)) + bias
        return score

    def read_text(self, words: Iterable[str], side: str) -> TextNumbers:
        """Return the numbers of a text, as the side of a "question" or of a "passage"."""
        added = self._add(words)
        (biases,) = self.layers[f"{side}_bias"]
        rows = zip(self.layers[side], biases, strict=True)
        return TextNumbers(added, [sum(map(mul, row, added)) + bias for row, bias in rows])

    def _add(self, words: Iterable[str]) -> list[float]:
        width = len(self.layers["question"][0])
        starts = [self.places[word] * width for word in words if word in self.places]
        rows = [self.table[start : start + width] for start in starts]
        factor = self.scale / sqrt(len(rows)) if rows else 0.0
        return [sum(column) * factor for column in zip(*rows, strict=True)] or [0.0] * width


def judge_by_network(
    question: Question, readings: Sequence[PassageReading], names: Names = frozenset()
) -> Sequence[float]:
    """Return how well passages answer, from their words and by rules."""
    network = _load()
    asked = network.read_text(list_words(PassageReading.of(question.text)), "question")
    said = (network.read_text(list_words(one), "passage") for one in readings)
    rows = zip(said, read_figures(question, readings, names), strict=True)
    scores = [network.score(asked, one, figures) for one, figures in rows]
    ruled = judge_by_words(question, readings, names)
    # They give the share of the question that a passage holds, and half of it says little.
    sure = (BY_RULES * max(share, 0) ** 3 for share in ruled)
    return [score - LEAST + more for score, more in zip(scores, sure, strict=True)]


def list_words(reading: PassageReading) -> list[str]:
    """Return the words of a text as the network knows them: terms, and names of their meanings."""
    index = _index_meanings()
    meant = (f"{MEANING}{name}" for key in reading.keys for name in index.get(key, ()))
    return [*{*reading.terms, *meant}]


@cache
def _load() -> WordNetwork:
    return WordNetwork.read(WEIGHTS)


@cache
def _index_meanings() -> dict[str, list[str]]:
    """Return the names of all meanings by the keys of their words and kinds."""
    index: dict[str, list[str]] = {}
    for name, one in load_meanings().items():
        for key in one.words | one.kinds:
            index.setdefault(key, []).append(name)
    return index
