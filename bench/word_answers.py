"""How the network over words is trained, with a row of numbers for each word.

The rows begin as the encoder's vectors of single words, cut down to a few numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.networks import NetworkShape, begin, descend, find_slopes, warm_up
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.llm.vector_scoring import run_network
from turnleaf.llm.word_scoring import LAYERS, MEANING, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.answers import PersonFigures

NUMBERS = 32
"""So many are kept of each word."""
FEWEST_USES = 4
"""A word that fewer people and questions use is not known."""
SAMPLE = 4_000
SHAPE = NetworkShape(products=64, hidden=64, passes=12, decay=0.1, left_out=0.15)
DROPPED = 0.3
"""The share of words that are passed over in each round, so that no single one decides."""
Array = Any


@dataclass(slots=True)
class WordTable:
    """A row of numbers for each word, and how they were moved so far."""

    places: dict[str, int]
    rows: Array
    means: Array
    squares: Array

    def add(
        self, texts: list[list[str]], chance: np.random.Generator | None = None
    ) -> tuple[Array, Array]:
        """Return the sums of the rows of texts, and which rows they are, with their shares.

        With a chance some of the words are passed over.
        """
        shares = np.zeros((len(texts), len(self.rows)), "f4")
        for at, words in enumerate(texts):
            known = np.array([self.places[word] for word in words if word in self.places], int)
            if chance is not None:
                known = known[chance.random(len(known)) >= DROPPED]
            shares[at, known] = 1 / np.sqrt(max(1, len(known)))
        used = np.flatnonzero(shares.any(0))
        return shares[:, used] @ self.rows[used], (used, shares[:, used])

    def descend(self, used: Array, slopes: Array, rate: float) -> None:
        """Move the rows of the words that were used one step."""
        self.means[used] = 0.9 * self.means[used] + 0.1 * slopes
        self.squares[used] = 0.99 * self.squares[used] + 0.01 * slopes**2
        self.rows[used] -= rate * self.means[used] / (np.sqrt(self.squares[used]) + 1e-6)


def learn_words(people: list[PersonFigures]) -> Callable[[PersonFigures, Array], Array]:
    """Train, and return what scores other people."""
    table, weights = train_words(people)
    stacked = {name: one[None] for name, one in weights.items()}

    def score(person: PersonFigures, figures: Array) -> Array:
        asked, _ = table.add(person.asked_words)
        said, _ = table.add(person.said_words)
        rows = zip(asked, figures, strict=True)
        return np.stack([run_network(stacked, one, said, row) for one, row in rows])

    return score


def train_words(people: list[PersonFigures]) -> tuple[WordTable, dict[str, Array]]:
    """Train the rows and the weights together."""
    chance = np.random.default_rng(0)
    table, weights = _begin_table(people), begin(NUMBERS, SHAPE, chance)
    weights["passage"] = weights["question"].copy()
    rounds = SHAPE.passes * len(people)
    moments = {name: (np.zeros_like(one), np.zeros_like(one)) for name, one in weights.items()}
    order = chain.from_iterable(chance.permutation(len(people)) for _ in range(SHAPE.passes))
    for step, at in enumerate(order):
        person, rate = people[at], SHAPE.rate * warm_up(step, rounds)
        texts = [*person.asked_words, *person.said_words]
        added, (used, shares) = table.add(texts, chance)
        asked, said = added[: len(person.asked)], added[len(person.asked) :]
        slopes, *on_texts = find_slopes(weights, person, asked, said, SHAPE, chance)
        descend(weights, slopes, moments, step + 1, rate, SHAPE.decay)
        table.descend(used, shares.T @ np.concatenate(on_texts), rate)
    return table, weights


def embed(texts: list[str]) -> Array:
    """Return the encoder's vectors of texts."""
    return np.frombuffer(b"".join(LocalEmbedder().embed(texts)), "<f4").reshape(len(texts), -1)


def _begin_table(people: list[PersonFigures]) -> WordTable:
    texts = (text for one in people for text in (*one.asked_words, *one.said_words))
    counts = Counter(word for text in texts for word in text)
    words = sorted(word for word, count in counts.items() if count >= FEWEST_USES)
    plain = [word for word in words if not word.startswith(MEANING)]
    vectors = np.concatenate(
        [embed(plain[at : at + SAMPLE]) for at in range(0, len(plain), SAMPLE)]
    )
    vectors = vectors - vectors.mean(0)
    sample = np.random.default_rng(0).permutation(len(vectors))[:SAMPLE]
    _, _, axes = np.linalg.svd(vectors[sample], full_matrices=False)
    short = vectors @ axes[:NUMBERS].T
    places = {word: place for place, word in enumerate(words)}
    rows = np.zeros((len(words), NUMBERS), "f4")
    rows[[places[word] for word in plain]] = short / np.linalg.norm(short, axis=1).mean()
    return WordTable(places, rows, np.zeros_like(rows), np.zeros_like(rows))


def write_words(table: WordTable, weights: dict[str, Array], path: Path = WEIGHTS) -> None:
    """Write what `turnleaf.llm.word_scoring` reads."""
    # Beyond this a number of a word is cut off: a few large ones would make all others coarse.
    most = float(np.quantile(np.abs(table.rows), 0.9995))
    coarse = np.clip(np.round(table.rows / most * 127), -127, 127).astype("i1")
    matrices = {name: np.atleast_2d(weights[name]) for name in LAYERS}
    # Rows are what is multiplied with a text.
    for name in ("question", "passage", "hidden"):
        matrices[name] = matrices[name].T
    head = {
        "words": list(table.places),
        "numbers": NUMBERS,
        "scale": most / 127,
        "shapes": {name: one.shape for name, one in matrices.items()},
    }
    floats = b"".join(np.ascontiguousarray(matrices[name], "<f4").tobytes() for name in LAYERS)
    line = json.dumps(head, ensure_ascii=False).encode()
    path.write_bytes(line + b"\n" + coarse.tobytes() + floats)
