"""The small network that judges passages, and how it is trained: by hand-written gradients."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from turnleaf.core.recall.judging import FIGURES

if TYPE_CHECKING:
    from bench.answers import PersonFigures

NEVER = np.float32(-99)
"""The score of a sentence that is left out: too low to be chosen or to be learned from."""
Array = Any


@dataclass(frozen=True, slots=True)
class NetworkShape:
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


def train(people: list[PersonFigures], shape: NetworkShape) -> dict[str, Array]:
    """Train networks so that of all sentences, and none, the one that answers is the likeliest."""
    trained = [_train_one(people, shape, seed) for seed in range(shape.networks)]
    return {name: np.stack([one[name] for one in trained]) for name in trained[0]}


def _train_one(people: list[PersonFigures], shape: NetworkShape, seed: int) -> dict[str, Array]:
    chance = np.random.default_rng(seed)
    weights = begin(people[0].said.shape[1], shape, chance)
    rounds = shape.passes * len(people)
    moments = {name: (np.zeros_like(one), np.zeros_like(one)) for name, one in weights.items()}
    order = chain.from_iterable(chance.permutation(len(people)) for _ in range(shape.passes))
    for step, at in enumerate(order):
        person = people[at]
        slopes, *_ = find_slopes(weights, person, person.asked, person.said, shape, chance)
        rate = shape.rate * warm_up(step, rounds)
        descend(weights, slopes, moments, step + 1, rate, shape.decay)
    return weights


def warm_up(step: int, rounds: int) -> float:
    """Return the share of the full rate for a step: up for a tenth of all, then down to nothing."""
    return min(1.0, (step + 1) / (rounds / 10)) * (1 - step / rounds)


def begin(size: int, shape: NetworkShape, chance: np.random.Generator) -> dict[str, Array]:
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


def find_slopes(
    weights: dict[str, Array],
    person: PersonFigures,
    asked: Array,
    said: Array,
    shape: NetworkShape,
    chance: np.random.Generator,
) -> tuple[dict[str, Array], Array, Array]:
    """Return the gradient of the loss for all questions of one person, and those for its inputs."""
    count = shape.products
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
    on_seen = on_hidden @ weights["hidden"][: count + 1].T
    on_products, on_nearness = on_seen[:, :, :count] * kept, on_seen[:, :, count]
    on_first = np.einsum("qsd,sd->qd", on_products, second)
    on_second = np.einsum("qsd,qd->sd", on_products, first)
    slopes |= {
        "question": asked.T @ on_first,
        "question_bias": on_first.sum(0),
        "passage": said.T @ on_second,
        "passage_bias": on_second.sum(0),
    }
    on_asked = on_first @ weights["question"].T + on_nearness @ said
    on_said = on_second @ weights["passage"].T + on_nearness.T @ asked
    return slopes, on_asked, on_said


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


def descend(
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
