"""How good a search is: the figures by which rankings are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

CUTS = (1, 5, 10)
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one query, or their means over several."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float
    ndcg_10: float
    empty: float


def judged(ranked: Sequence[str], gold: Collection[str]) -> Figures:
    """Compare what was found, best first, with what should have been.

    Recall is the share of the right documents among the first; the reciprocal rank and nDCG look
    at the first ten.
    """
    good = set(gold)
    hits = [document in good for document in ranked]
    first_1, first_5, first_10 = (sum(hits[:cut]) / len(good) for cut in CUTS)
    reciprocal = next((1 / place for place, hit in enumerate(hits[:DEPTH], 1) if hit), 0.0)
    gain = _gain(place for place, hit in enumerate(hits[:DEPTH]) if hit)
    best = _gain(range(min(DEPTH, len(good))))
    return Figures(first_1, first_5, first_10, reciprocal, gain / best, float(not ranked))


def mean(figures: Sequence[Figures]) -> Figures:
    """Give the mean of each figure."""
    names = Figures.__dataclass_fields__
    return Figures(**{name: fmean(getattr(one, name) for one in figures) for name in names})


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which that share of the values lies."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _gain(places: Iterable[int]) -> float:
    return sum(1 / math.log2(place + 2) for place in places)
