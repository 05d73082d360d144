"""What passages are worth for a question, by their words and by their meaning."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import lru_cache
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from turnleaf.core.search.passages import place
from turnleaf.core.search.ranking import (
    HeldWords,
    Unrelated,
    share_with_neighbours,
    weigh_word,
    words,
)
from turnleaf.core.search.terms import date_terms, parse_query, terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.core.search.passages import Passage

USUAL = Unrelated(0.0, 0.1)
"""What is taken to be the cosine of unrelated texts before any is known."""
_find_terms = lru_cache(maxsize=4096)(terms)


def score_words(query: str, passages: Sequence[Passage]) -> dict[int, HeldWords]:
    """Return how much of a question passages hold, by their place; only of those that do."""
    placed = place(passages)
    own = [[*_find_terms(one.spoken_text), *date_terms(one.date or "")] for one in passages]
    around = [_join(one.before, one.after) for one in placed]
    asked = _weigh(query, own)
    sizes = [len(mine) + len(beside) for mine, beside in zip(own, around, strict=True)]
    typical = fmean(sizes) if sizes else 1.0
    held = {n: words(asked, own[n], around[n], typical) for n in range(len(passages))}
    numbers = {id(one): n for n, one in enumerate(passages)}
    beside = {
        n: [numbers[id(o)] for o in (one.before, one.after) if o] for n, one in enumerate(placed)
    }
    shares = share_with_neighbours({n: share for n, share in held.items() if share > 0}, beside)
    return {n: HeldWords(share, asked.keys() <= {*own[n]}) for n, share in shares.items()}


def _join(*beside: Passage | None) -> list[str]:
    return [term for one in beside if one for term in _find_terms(one.spoken_text)]


def _weigh(query: str, own: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return what each word of a question weighs; one that is repeated counts double."""
    asked = parse_query(query)
    counts = Counter(term for said in own for term in {*said}.intersection(asked.terms))
    return {
        term: weigh_word(counts[term], len(own)) * (2 if term in asked.repeated else 1)
        for term in asked.terms
    }


def compare(query: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosines of a question with passages."""
    asked = array("f", query)
    return {
        n: sum(a * b for a, b in zip(asked, array("f", vector), strict=True))
        for n, vector in vectors.items()
    }


def find_unrelated(cosines: Mapping[int, float]) -> Unrelated:
    """Return the cosines that unrelated passages have here."""
    found = [*cosines.values()]
    if not found:
        return USUAL
    return USUAL.pool(Unrelated(fmean(found), pstdev(found)), len(found))
