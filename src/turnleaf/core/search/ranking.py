"""What a search finds, as values, and what words and meaning of each are worth, from 0 to 1.

Words are the share of the question that a passage holds. Meaning is how far a passage stands out
from what is unrelated to the question, on the way to saying the same. The score is their weighted
sum, and where one of them does not exist it is the other. A passage that holds all of a question is
judged by its words where its meaning is further away: a cosine compares two whole texts, and says
little about a name and the sentence it stands in.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path


KINDS = ("memory", "older", "daily", "conversations")
"""Where a passage may come from."""
MODES = ("hybrid", "lexical", "vector")
MAX_LIMIT = 100
PROMPT_LIMIT = 300
"""For a prompt all candidates are looked at: some of what fits best only asks, and what stands in
clusters is preferred."""


@dataclass(frozen=True, slots=True)
class Newer:
    """What replaced a fact, and when."""

    since: datetime
    content: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, where it stands, and why it was found.

    `bm25` and `vector` are between 0 and 1, None where that side does not exist; `score` is their
    weighted sum. A hit of a conversation has the message's number, the one before it on its path,
    its time, who may read it (`audience`), and whether the path it is on is still shown; of a long
    message it is the `part` that was found, of whose paragraph `earlier` parts stand before it and
    `later` ones after it. `nearness` is by how much its cosine exceeds the
    one where meaning begins, whatever else was found; `blended` is the score with its meaning even
    where the words count alone, by which a prompt is filled.
    """

    text: str
    source: str
    path: Path
    line: int
    heading: str | None
    date: str | None
    conversation: str | None
    speaker: str | None
    id: str | None
    score: float
    bm25: float | None
    vector: float | None
    message: int | None = None
    parent: int | None = None
    time: str | None = None
    trust: str = "user"
    is_shown: bool = True
    part: int = 0
    earlier: int = 0
    later: int = 0
    audience: str = ""
    nearness: float | None = None
    blended: float | None = None
    newer: Newer | None = None
    """What replaced the fact that a message gave."""

    @property
    def note(self) -> str | None:
        """What became of what it says."""
        newer = self.newer
        return f"until {newer.since:%Y-%m-%d}; now: {newer.content}" if newer else None

    @property
    def is_judged(self) -> bool:
        """Whether it was compared with the question; what was said on a day was not."""
        return self.bm25 is not None or self.vector is not None


FEW = 30
"""In a memory of one or two facts, that all of them hold a word does not make it a common one."""

_REST = 0.4
"""What a word loses in a passage that says as much else as an average one does."""

_CONTEXT_SHARE = 0.4
"""What a word counts at most that stands only right before or after a passage."""

_NEIGHBOUR_SHARE = 0.1
"""How much of what its neighbour holds a passage gets: answers come in clusters."""

_STANDING_OUT = 1.9
"""By how many deviations, times the logarithm of the number of passages, a passage has to stand
out to be half-way. The best of many unrelated passages stands out by chance, the further the more
there are."""

_KNOWN_BEFORE = 20
"""As many cosines as what is known of the embedder counts for."""

_LEAST_DEVIATION = 0.01

_ROUNDING = 0.01
"""How far below 1 the meaning of the same text may be: vectors are kept in a byte a number."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each side counts in the combined score."""

    vector: float = 0.7
    bm25: float = 0.3

    @classmethod
    def of(cls, vector: float, bm25: float) -> Weights:
        """Return weights whose sum is at most one: a side that counts in full counts alone."""
        # With one side at 1 the other is switched off, whatever number it still has.
        if (vector == 1.0) != (bm25 == 1.0):
            return cls(float(vector == 1.0), float(bm25 == 1.0))
        total = max(1.0, vector + bm25)
        return cls(vector / total, bm25 / total)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its score, and what that is made of: None for a side that does not exist."""

    id: int
    score: float
    words: float | None
    meaning: float | None
    blended: float
    """The score with the meaning that was left out, if one was."""


class HeldWords(NamedTuple):
    """How much of the question a passage holds, and whether it holds every word of it."""

    share: float
    is_whole: bool = False


class Unrelated(NamedTuple):
    """The cosines that texts have which have nothing to do with each other."""

    mean: float
    deviation: float

    def pool(self, found: Unrelated, count: int) -> Unrelated:
        """Return this pooled with the spread of `count` passages, nearly all of them unrelated."""
        # A few cosines say little about how those of unrelated texts are spread for this question.
        share = count / (count + _KNOWN_BEFORE)
        variance = share * found.deviation**2 + (1 - share) * self.deviation**2
        return Unrelated(share * found.mean + (1 - share) * self.mean, math.sqrt(variance))


class Near(NamedTuple):
    """The cosines of some passages, by which vectors, and how those of all texts are spread."""

    by_passage: Mapping[int, float]
    slots: Mapping[int, Hashable]
    spread: Unrelated
    vectors: int


def weigh_word(count: int, passages: int) -> float:
    """Return the weight of a word that `count` of the passages hold; it is never 0."""
    # Among a handful of facts every word would look common.
    return math.log(1.0 + (max(passages, FEW) - count + 0.5) / (count + 0.5))


def score_by_words(
    weights: Mapping[str, float], own: Sequence[str], around: Sequence[str], typical: float
) -> float:
    """Return the share of the question's words that a passage holds, from 0 to 1.

    `weights` has what each word of the question weighs, `own` and `around` the words of the passage
    and those right before and after it, `typical` how many of both there are on average. It is 1
    for a passage that is the question; a word among many others counts less.
    """
    total = sum(weights.values())
    if not total:
        return 0.0
    here = Counter(filter(weights.__contains__, own))
    beside = Counter(filter(weights.__contains__, around))
    # A word among many others says less about what a passage is about.
    rest = max(0, len(own) + len(around) - len(weights)) / max(typical, 1.0)
    held = 0.0
    for term in here.keys() | beside.keys():
        inside = _saturate(here[term], rest)
        outside = _CONTEXT_SHARE * _saturate(beside[term], rest)
        held += weights[term] * (inside + (1.0 - inside) * outside)
    return min(1.0, held / total)


def share_with_neighbours(
    held: Mapping[int, float], neighbours: Mapping[int, Sequence[int | None]]
) -> dict[int, float]:
    """Return each passage's share of the question, with a little of its neighbours', up to 1."""
    return {
        number: min(1.0, share + _NEIGHBOUR_SHARE * _sum_held(held, neighbours.get(number, ())))
        for number, share in held.items()
    }


def score_by_meaning(cosine: float, unrelated: Unrelated, passages: int) -> float:
    """Return how near a passage is to the question: 0 if unrelated, 1 if it means the same."""
    # An embedder to which all texts are alike would leave no way to go, and divide by zero.
    way = 1.0 - min(unrelated.mean, 1.0 - _LEAST_DEVIATION)
    gone = min(1.0, max(0.0, 1.0 - (1.0 - cosine) / way))
    deviation = max(unrelated.deviation, _LEAST_DEVIATION)
    half_way = _STANDING_OUT * math.log(max(passages, FEW)) * deviation / way
    return gone**2 / (gone**2 + half_way**2 * (1.0 - gone))


def rank(number: int, held: HeldWords | None, meant: float | None, weights: Weights) -> Ranked:
    """Return a passage's score: the weighted sum of both sides, or the only side there is.

    Where it holds all of the question, a meaning that is less than the words does not count,
    unless the words do not.
    """
    if held is None:
        return Ranked(number, meant or 0.0, None, meant, meant or 0.0)
    if meant is None:
        return Ranked(number, held.share, held.share, None, held.share)
    blended = weights.vector * meant + weights.bm25 * held.share
    # A cosine compares whole texts and says little about a name and the sentence that it stands in,
    # so it does not refute a passage with every word of the question.
    if held.is_whole and weights.bm25 and meant < held.share - _ROUNDING:
        return Ranked(number, held.share, held.share, None, blended)
    return Ranked(number, blended, held.share, meant, blended)


def put_repeated_last(order: Iterable[int], said: Mapping[int, Hashable]) -> list[int]:
    """Return the order with passages that repeat an earlier one at the end."""
    numbers = [*order]
    # Backwards, so that of those that say the same the first one remains.
    firsts = {said[number]: number for number in reversed(numbers)}
    return sorted(numbers, key=lambda number: firsts[said[number]] != number)


def _sum_held(held: Mapping[int, float], numbers: Sequence[int | None]) -> float:
    return sum(held.get(number, 0.0) for number in numbers if number is not None)


def _saturate(count: int, rest: float) -> float:
    """Return the worth of a word by its count and by how much else the passage says, 0 to 1."""
    return count / (count + _REST * rest) if count else 0.0
