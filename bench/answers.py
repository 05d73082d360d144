"""Which sentences answer a question: the network of answers without a model, measured and trained.

`bench/people/*.json` are people who told an assistant 40 things each, with questions that these
answer and questions that none of them does, written by several writers, a file each. `python -m
bench.answers` trains on all writers but a few, tries those, and prints how often the answer is
quoted and how often nothing is where nothing answers. `--train` trains on all of them and writes
the weights that the package brings.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from turnleaf.core.learning.requests import find_request
from turnleaf.core.memories import Memory
from turnleaf.core.recall.judging import FIGURES, PassageReading, read_figures
from turnleaf.core.recall.questions import find_aliases, read_question
from turnleaf.llm.answers import WEIGHTS, run_network
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.quoting import FAR, MOST_QUOTES, list_names

PEOPLE = Path(__file__).with_name("people")
FOLDS = 3
QUIET = 0.85
"""The share of questions without an answer that shall stay unanswered: it sets the threshold."""
NEVER = np.float32(-99)
"""The score of a sentence that is left out: too low to be chosen or to be learned from."""
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
Array = Any


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a network is, and how it is trained."""

    products: int
    hidden: int
    passes: int
    rate: float = 2e-3
    decay: float = 1e-2
    dropout: float = 0.3
    apart: float = 3.0
    """What it counts that questions without an answer score below those with one."""
    left_out: float = 0.08
    """The share of questions whose answers are left out, so that nothing answers them."""
    networks: int = 3
    """So many are trained from other beginnings; the mean of what they say counts."""


SHAPE = Shape(products=64, hidden=64, passes=12, decay=0.1)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody's sentences and questions as numbers; `answers` has a 1 where one answers."""

    writer: str
    said: Array
    asked: Array
    figures: Array
    answers: Array
    left: Array
    """The figures where the sentences that answer a question are left out."""


def main() -> None:
    """Print the figures of writers that were not trained on, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help="write the weights of the package")
    is_training = parser.parse_args().train
    people = [one for path in sorted(PEOPLE.glob("*.json")) for one in read_people(path)]
    threshold = _try_unseen(people, SHAPE)
    if is_training:
        weights = train(people, SHAPE)
        weights["bias"] = weights["bias"] - np.float32(threshold)
        np.savez_compressed(WEIGHTS, **{name: one.astype("<f2") for name, one in weights.items()})


def read_people(path: Path) -> list[Person]:
    """Read what one writer wrote."""
    return [_read_person(path.stem, one) for one in json.loads(path.read_text("utf-8"))]


def _read_person(writer: str, told: dict[str, Any]) -> Person:
    texts = [_wish(fact["said"]) for fact in told["facts"]]
    places = {fact["id"]: at for at, fact in enumerate(told["facts"])}
    asked = [one["ask"] for one in told["questions"]]
    answers = np.zeros((len(asked), len(texts)), "f4")
    for at, one in enumerate(told["questions"]):
        answers[at, [places[key] for key in one["answers"] if key in places]] = 1
    figures, left = _describe(texts, asked, answers)
    return Person(writer, _embed(texts), _embed(asked), figures, answers, left)


def _wish(text: str) -> str:
    wish = find_request(text)
    return wish.content if wish else text


def _describe(texts: list[str], asked: list[str], answers: Array) -> tuple[Array, Array]:
    """Return the figures of all sentences beside each question, and those without its answers."""
    names = list_names(Memory(str(at), one, LONG_AGO, LONG_AGO) for at, one in enumerate(texts))
    aliases = {alias for text in texts for alias in find_aliases(text)}
    readings = [PassageReading.of(text, aliases) for text in texts]
    questions = [read_question(one, names) for one in asked]
    figures = np.array([read_figures(one, readings, names) for one in questions], "f4")
    left = figures.copy()
    for at in np.flatnonzero(answers.sum(1)):
        rest = np.flatnonzero(answers[at] == 0)
        left[at, rest] = read_figures(questions[at], [readings[one] for one in rest], names)
    return figures, left


def _embed(texts: list[str]) -> Array:
    return np.frombuffer(b"".join(LocalEmbedder().embed(texts)), "<f4").reshape(len(texts), -1)


def _try_unseen(people: list[Person], shape: Shape) -> float:
    """Print how often answers are quoted on writers that were not trained on; return the threshold.

    The threshold leaves the wanted share of the questions without an answer unanswered.
    """
    writers = sorted({one.writer for one in people})
    tried, left = [], []
    for fold in range(FOLDS):
        held = writers[fold::FOLDS]
        weights = train([one for one in people if one.writer not in held], shape)
        for one in (one for one in people if one.writer in held):
            tried.append((one, _score(weights, one, one.figures)))
            rest = np.where(one.answers > 0, NEVER, _score(weights, one, one.left))
            left.append(rest.max(1)[one.answers.sum(1) > 0])
    best = np.concatenate([scores.max(1)[one.answers.sum(1) == 0] for one, scores in tried])
    _report("questions without an answer", best, tried)
    # Writers ask other things where they know that nothing answers; here the questions are the
    # same.
    _report("questions whose answers are left out", np.concatenate(left), tried)
    return float(np.quantile(best, QUIET))


def _report(name: str, best: Array, tried: list[tuple[Person, Array]]) -> None:
    """Print how often answers are quoted where shares of some questions stay unanswered."""
    for quiet in (0.7, 0.8, 0.9):
        threshold = float(np.quantile(best, quiet))
        quoted = np.concatenate([_quote(one, scores, threshold) for one, scores in tried])
        print(f"quoted {quoted.mean():.1%} where quiet is {quiet:.0%} of the {name}")


def _quote(person: Person, scores: Array, threshold: float) -> Array:
    """Return for each question with an answer whether that is among what would be quoted."""
    asked = person.answers.sum(1) > 0
    least = np.maximum(threshold, scores.max(1, keepdims=True) - FAR)
    rank = np.argsort(np.argsort(-scores, 1), 1)
    quoted = (scores > least - 1e-6) & (scores > threshold) & (rank < MOST_QUOTES)
    return ((person.answers > 0) & quoted).any(1)[asked]


def _score(weights: dict[str, Array], person: Person, figures: Array) -> Array:
    rows = zip(person.asked, figures, strict=True)
    return np.stack([run_network(weights, asked, person.said, one) for asked, one in rows])


def train(people: list[Person], shape: Shape) -> dict[str, Array]:
    """Train networks so that of all sentences, and none, the one that answers is the likeliest."""
    trained = [_train_one(people, shape, seed) for seed in range(shape.networks)]
    return {name: np.stack([one[name] for one in trained]) for name in trained[0]}


def _train_one(people: list[Person], shape: Shape, seed: int) -> dict[str, Array]:
    chance = np.random.default_rng(seed)
    weights = _begin(people[0].said.shape[1], shape, chance)
    rounds = shape.passes * len(people)
    moments = {name: (np.zeros_like(one), np.zeros_like(one)) for name, one in weights.items()}
    order = chain.from_iterable(chance.permutation(len(people)) for _ in range(shape.passes))
    for step, at in enumerate(order):
        slopes = _find_slopes(weights, people[at], shape, chance)
        rate = shape.rate * min(1.0, (step + 1) / (rounds / 10)) * (1 - step / rounds)
        _descend(weights, slopes, moments, step + 1, rate, shape.decay)
    return weights


def _begin(size: int, shape: Shape, chance: np.random.Generator) -> dict[str, Array]:
    """Return weights to start from, for vectors of a size."""
    seen = shape.products + 1 + FIGURES
    return {
        "question": chance.normal(0, size**-0.5, (size, shape.products)).astype("f4"),
        "question_bias": np.zeros(shape.products, "f4"),
        "passage": chance.normal(0, size**-0.5, (size, shape.products)).astype("f4"),
        "passage_bias": np.zeros(shape.products, "f4"),
        "hidden": chance.normal(0, seen**-0.5, (seen, shape.hidden)).astype("f4"),
        "biases": np.zeros(shape.hidden, "f4"),
        "out": chance.normal(0, shape.hidden**-0.5, shape.hidden).astype("f4"),
        "bias": np.zeros((), "f4"),
    }


def _find_slopes(
    weights: dict[str, Array], person: Person, shape: Shape, chance: np.random.Generator
) -> dict[str, Array]:
    """Return the gradient of the loss for all questions of one person."""
    asked, said, count = person.asked, person.said, shape.products
    is_left = (chance.random(len(asked)) < shape.left_out)[:, None]
    gone = is_left & (person.answers > 0)
    answers = np.where(is_left, 0, person.answers).astype("f4")
    figures = np.where(is_left[:, :, None], person.left, person.figures)
    first = asked @ weights["question"] + weights["question_bias"]
    second = said @ weights["passage"] + weights["passage_bias"]
    chances = chance.random((len(asked), 1, count), "f4")
    kept: Array = (chances > shape.dropout) / np.float32(1 - shape.dropout)
    nearness = (asked @ said.T)[:, :, None]
    products = first[:, None, :] * second[None, :, :] * kept
    seen = np.concatenate([products, nearness, figures], -1).astype("f4")
    hidden = np.maximum(0, seen @ weights["hidden"] + weights["biases"])
    scores = np.where(gone, NEVER, hidden @ weights["out"] + weights["bias"])
    on_scores = _choose_slopes(scores, answers) + shape.apart * _part_slopes(scores, answers)
    on_hidden = on_scores[:, :, None] * weights["out"] * (hidden > 0)
    slopes = {
        "out": np.einsum("qs,qsh->h", on_scores, hidden),
        "bias": on_scores.sum(),
        "hidden": seen.reshape(-1, seen.shape[-1]).T @ on_hidden.reshape(-1, shape.hidden),
        "biases": on_hidden.sum((0, 1)),
    }
    on_products = (on_hidden @ weights["hidden"][:count].T) * kept
    on_first = np.einsum("qsd,sd->qd", on_products, second)
    on_second = np.einsum("qsd,qd->sd", on_products, first)
    return slopes | {
        "question": asked.T @ on_first,
        "question_bias": on_first.sum(0),
        "passage": said.T @ on_second,
        "passage_bias": on_second.sum(0),
    }


def _choose_slopes(scores: Array, answers: Array) -> Array:
    """Return the gradient of how unlikely the answers are among all sentences and none."""
    wanted = answers / np.maximum(1, answers.sum(1, keepdims=True))
    top = np.maximum(0, scores.max(1, keepdims=True))
    raised = np.exp(scores - top)
    likely = raised / (raised.sum(1, keepdims=True) + np.exp(-top))
    return (likely - wanted) / len(scores)


def _part_slopes(scores: Array, answers: Array) -> Array:
    """Return the gradient of how often a question without an answer scores above one with it."""
    slopes = np.zeros_like(scores)
    has_answer = answers.sum(1) > 0
    with_it, without = np.flatnonzero(has_answer), np.flatnonzero(~has_answer)
    if not len(with_it) or not len(without):
        return slopes
    best = scores[without].argmax(1)
    raised = np.where(answers[with_it] > 0, scores[with_it], -np.inf)
    top = raised.max(1, keepdims=True)
    raised = np.exp(raised - top)
    right = top[:, 0] + np.log(raised.sum(1))
    gaps = np.clip(scores[without, best][:, None] - right, -50, 50)
    wrong = 1 / (1 + np.exp(-gaps)) / gaps.size
    slopes[without, best] = wrong.sum(1)
    slopes[with_it] = -wrong.sum(0)[:, None] * raised / raised.sum(1, keepdims=True)
    return slopes


def _descend(
    weights: dict[str, Array],
    slopes: dict[str, Array],
    moments: dict[str, tuple[Array, Array]],
    step: int,
    rate: float,
    decay: float,
) -> None:
    """Take one step of Adam with decoupled weight decay."""
    for name, slope in slopes.items():
        mean, square = moments[name]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        moments[name] = (mean, square)
        step_size = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        weights[name] = (weights[name] - rate * (step_size + decay * weights[name])).astype("f4")


if __name__ == "__main__":
    main()
