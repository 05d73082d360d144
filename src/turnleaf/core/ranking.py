"""Ranking: how a BM25 score and a cosine similarity become one score between 0 and 1.

Both sides are scaled within the query's own candidates. Then the side that has less to say is made
smaller: keywords by how little of the query the best hit covers; vectors by how much it does, and
further where keywords cover the query and the similarities contradict them.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Ranked", "Weights", "full_match_score", "rank"]

_BALANCED_COVERAGE = 0.08
"""The share of a query at which keywords and vectors both keep their full range."""

_CONTRAST = 1.5
"""The power that both sides are raised to: what stands out counts more than what is merely near."""

_USUAL_AGREEMENT = 0.3
"""The correlation of BM25 with cosine that a working embedder shows, and is fully trusted at."""

_NEIGHBOUR_SHARE = 0.05
"""What a keyword hit adds to the passages right before and after it: answers come in clusters."""

_MIN_IDF = 1e-6


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each side counts in the combined score."""

    vector: float = 0.7
    bm25: float = 0.3


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its combined score and, each between 0 and 1, what that is made of."""

    id: int
    score: float
    bm25: float
    vector: float


def full_match_score(frequencies: Iterable[int], passages: int) -> float:
    """Return the BM25 score of an average passage that has each query term once.

    The frequencies are the numbers of passages that hold each term, 0 for an unknown term.
    """
    return sum(
        max(_MIN_IDF, math.log((passages - count + 0.5) / (count + 0.5))) for count in frequencies
    )


def _agreement(bm25: Mapping[int, float], cosine: Mapping[int, float]) -> float:
    """Return how far keyword hits that score better are also nearer: a correlation, -1 to 1.

    `bm25` has FTS5's negative scores. It is 0 where nothing can be told.
    """
    both = [passage for passage in bm25 if passage in cosine]
    try:
        return statistics.correlation([-bm25[i] for i in both], [cosine[i] for i in both])
    except statistics.StatisticsError:
        return 0.0


def rank(
    bm25: Mapping[int, float],
    cosine: Mapping[int, float],
    full_match: float,
    neighbours: Mapping[int, Sequence[int]] | None = None,
    weights: Weights | None = None,
) -> list[Ranked]:
    """Return the candidates of either side, best first.

    `bm25` has FTS5's negative scores, `cosine` the similarity of every candidate that has a vector
    (empty: keywords alone), `neighbours` the passages beside each candidate.
    """
    keywords = {passage: max(0.0, -score) for passage, score in bm25.items()}
    coverage = min(1.0, max(keywords.values(), default=0.0) / max(full_match, _MIN_IDF))
    lexical = _spread(_scaled(keywords, 0.0), neighbours or {})
    if not cosine:
        return _sorted(Ranked(passage, score, score, 0.0) for passage, score in lexical.items())
    # A passage without a vector is as far away as the farthest candidate.
    semantic = _scaled(cosine, min(cosine.values()), alike=1.0)
    trust = 1.0 - coverage * _doubt(_agreement(bm25, cosine))
    balance = coverage / _BALANCED_COVERAGE
    keyword_range = min(1.0, balance)
    vector_range = trust / max(1.0, balance)
    return _sorted(_blend(lexical, keyword_range, semantic, vector_range, weights or Weights()))


def _doubt(agreed: float) -> float:
    """Return how little the similarities agree with the keywords, between 0 and 1."""
    return 1.0 - min(1.0, max(0.0, agreed) / _USUAL_AGREEMENT)


def _blend(
    lexical: Mapping[int, float],
    keyword_range: float,
    semantic: Mapping[int, float],
    vector_range: float,
    weights: Weights,
) -> Iterable[Ranked]:
    """Weigh both sides, each within the range that it is given."""
    for passage in {**lexical, **semantic}:
        keyword = keyword_range * lexical.get(passage, 0.0) ** _CONTRAST
        vector = vector_range * semantic.get(passage, 0.0) ** _CONTRAST
        yield Ranked(passage, weights.vector * vector + weights.bm25 * keyword, keyword, vector)


def _scaled(scores: Mapping[int, float], floor: float, *, alike: float = 0.0) -> dict[int, float]:
    """Return the scores as shares of the way from the floor to the best one.

    Where none is better than the floor, each is as good as `alike`.
    """
    span = max(scores.values(), default=floor) - floor
    if span <= 0.0:
        return dict.fromkeys(scores, alike)
    return {passage: (score - floor) / span for passage, score in scores.items()}


def _spread(
    scores: Mapping[int, float], neighbours: Mapping[int, Sequence[int]]
) -> dict[int, float]:
    """Let every passage have a share of its neighbours' scores, within 0 to 1."""
    get = scores.get
    lifted = {
        passage: score
        + _NEIGHBOUR_SHARE * sum(get(other, 0.0) for other in neighbours.get(passage, ()))
        for passage, score in scores.items()
    }
    return _scaled(lifted, 0.0)


def _sorted(hits: Iterable[Ranked]) -> list[Ranked]:
    """Return hits best first, equal ones in the order of their ids."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
