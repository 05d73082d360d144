"""Which sentences answer a question: the networks of answers without a model, measured and trained.

`bench/people/*.json` are people who told an assistant 40 things each, with questions that these
answer and questions that none of them does, written by several writers, a file each. `python -m
bench.answers` trains on all writers but a few, tries those, and prints how often the answer is
quoted and how often nothing is where nothing answers, by words alone and by vectors and words.
`--train` trains on all of them and writes the weights that the package brings; `LEAST` in
`turnleaf.llm.word_scoring` is then to be chosen anew on `bench/exams`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bench.networks import NEVER, Array, NetworkShape, train
from bench.word_answers import embed, learn_words, train_words, write_words
from turnleaf.core.learning.memory_requests import find_request
from turnleaf.core.memories import Memory
from turnleaf.core.recall.judging import PassageReading, read_figures
from turnleaf.core.recall.questions import find_aliases, read_question
from turnleaf.llm.vector_scoring import WEIGHTS, WORDS_SHARE, run_network
from turnleaf.llm.word_scoring import list_words
from turnleaf.quoting import FAR, MOST_QUOTES, list_names

PEOPLE = Path(__file__).with_name("people")
FOLDS = 3
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
Scorer = Callable[["PersonFigures", Array], Array]
"""Whatever scores all sentences of a person beside each question, with these figures."""


SHAPE = NetworkShape(products=64, hidden=64, passes=12, decay=0.1)


@dataclass(frozen=True, slots=True)
class PersonFigures:
    """Somebody's sentences and questions as numbers; `answers` has a 1 where one answers."""

    writer: str
    said: Array
    asked: Array
    figures: Array
    answers: Array
    left: Array
    """The figures where the sentences that answer a question are left out."""
    said_words: list[list[str]]
    asked_words: list[list[str]]


def main() -> None:
    """Print the figures of writers that were not trained on, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help="write the weights of the package")
    is_training = parser.parse_args().train
    people = [one for path in sorted(PEOPLE.glob("*.json")) for one in read_people(path)]
    if is_training:
        write_words(*train_words(people))
        weights = train(people, SHAPE)
        np.savez_compressed(WEIGHTS, **{name: one.astype("<f2") for name, one in weights.items()})
    else:
        _try_unseen("words", people, learn_words)
        _try_unseen("vectors and words", people, _learn)


def _learn(people: list[PersonFigures]) -> Scorer:
    weights, by_words = train(people, SHAPE), learn_words(people)

    def score(person: PersonFigures, figures: Array) -> Array:
        rows = zip(person.asked, figures, strict=True)
        own = np.stack([run_network(weights, one, person.said, row) for one, row in rows])
        return (1 - WORDS_SHARE) * own + WORDS_SHARE * by_words(person, figures)

    return score


def read_people(path: Path) -> list[PersonFigures]:
    """Read what one writer wrote."""
    return [_read_person(path.stem, one) for one in json.loads(path.read_text("utf-8"))]


def _read_person(writer: str, told: dict[str, Any]) -> PersonFigures:
    texts = [_wish(fact["said"]) for fact in told["facts"]]
    places = {fact["id"]: at for at, fact in enumerate(told["facts"])}
    asked = [one["ask"] for one in told["questions"]]
    answers = np.zeros((len(asked), len(texts)), "f4")
    for at, one in enumerate(told["questions"]):
        answers[at, [places[key] for key in one["answers"] if key in places]] = 1
    figures, left = _describe(texts, asked, answers)
    words = ([list_words(PassageReading.of(text)) for text in part] for part in (texts, asked))
    return PersonFigures(writer, embed(texts), embed(asked), figures, answers, left, *words)


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


def _try_unseen(
    name: str, people: list[PersonFigures], learn: Callable[[list[PersonFigures]], Scorer]
) -> None:
    """Print how often answers are quoted on writers that were not trained on."""
    writers = sorted({one.writer for one in people})
    tried, left = [], []
    for fold in range(FOLDS):
        held = writers[fold::FOLDS]
        score = learn([one for one in people if one.writer not in held])
        for one in (one for one in people if one.writer in held):
            tried.append((one, score(one, one.figures)))
            rest = np.where(one.answers > 0, NEVER, score(one, one.left))
            left.append(rest.max(1)[one.answers.sum(1) > 0])
    best = np.concatenate([scores.max(1)[one.answers.sum(1) == 0] for one, scores in tried])
    print(f"By {name}:")
    _report("questions without an answer", best, tried)
    # Writers ask other things where they know that nothing answers; here the questions are the
    # same.
    _report("questions whose answers are left out", np.concatenate(left), tried)


def _report(name: str, best: Array, tried: list[tuple[PersonFigures, Array]]) -> None:
    """Print how often answers are quoted where shares of some questions stay unanswered."""
    for quiet in (0.7, 0.8, 0.9):
        threshold = float(np.quantile(best, quiet))
        quoted = np.concatenate([_quote(one, scores, threshold) for one, scores in tried])
        print(f"quoted {quoted.mean():.1%} where quiet is {quiet:.0%} of the {name}")


def _quote(person: PersonFigures, scores: Array, threshold: float) -> Array:
    """Return for each question with an answer whether that is among what would be quoted."""
    asked = person.answers.sum(1) > 0
    best = scores.max(1, keepdims=True)
    rank = np.argsort(np.argsort(-scores, 1), 1)
    quoted = (best > threshold) & (scores > best - FAR) & (rank < MOST_QUOTES)
    return ((person.answers > 0) & quoted).any(1)[asked]


if __name__ == "__main__":
    main()
