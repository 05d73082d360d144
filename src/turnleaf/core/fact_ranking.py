"""Which facts come first where not all have room: how to answer, what is near, what is new.

How near a fact is to a question the search says. Where it says nothing, it is the share of the
question's words that the fact holds, the rare ones counting more; that is worked out over one
text of all facts, because to take ten thousand facts apart would take too long.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from turnleaf.core.fact_text import is_manner
from turnleaf.core.ranking import FEW, weigh_word
from turnleaf.core.terms import fold, is_unspaced, parse_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.memories import Memory

MOST_TERMS = 32
END_CHARS = 500
_COMMON_SHARE = 10
"""A word that more than one in so many facts hold says too little to be looked for."""
# What is longer than any ending of a word: what begins like it is another one.
_LONGER = re.compile("[a-z0-9]{5}")
_BETWEEN = "\0"

# To fold ten thousand facts takes most of the time, and from turn to turn they stay the same.
_fold = lru_cache(maxsize=2)(fold)


class FactRanking:
    """The order of some facts for one question, worked out when it is needed."""

    def __init__(
        self, facts: Sequence[Memory], question: str, scores: Mapping[str, float] | None = None
    ) -> None:
        self._facts = facts
        self._question = question
        self._scores = scores

    @cached_property
    def order(self) -> list[Memory]:
        """The facts: first how the user wants to be answered, then the nearest, then the newest."""
        newest = sorted(self._facts, key=lambda fact: fact.updated_at, reverse=True)
        near = self._scores or share_words(self._question, self._facts)
        return sorted(newest, key=lambda fact: (not is_manner(fact), -near.get(fact.id, 0.0)))


def share_words(question: str, facts: Sequence[Memory]) -> dict[str, float]:
    """Return how much of the question each fact holds that holds any of it."""
    folded = _fold(_BETWEEN.join(fact.content.replace(_BETWEEN, " ") for fact in facts))
    starts = [0, *accumulate(len(line) + 1 for line in folded.split(_BETWEEN))]
    shares: dict[str, float] = {}
    for term in parse_query(ends_of(question)).terms[:MOST_TERMS]:
        spelt = _spell(term)
        if sum(map(folded.count, spelt)) > max(FEW, len(facts) // _COMMON_SHARE):
            continue
        places = chain.from_iterable(_find(word, folded) for word in spelt)
        holding = {bisect_right(starts, place) - 1 for place in places}
        for number in holding:
            fact_id = facts[number].id
            shares[fact_id] = shares.get(fact_id, 0.0) + weigh_word(len(holding), len(facts))
    return shares


def _spell(term: str) -> tuple[str, ...]:
    """Return how words begin that have a stem: the one of "key" and "keys" is "kei"."""
    is_altered = term.isascii() and term.endswith("i") and len(term) > 1
    return (term, f"{term[:-1]}y") if is_altered else (term,)


def _find(start: str, text: str) -> Iterator[int]:
    """Go over the places where a word begins so, or where a script without spaces has it."""
    place = text.find(start)
    while place >= 0:
        end = place + len(start)
        is_inside = _is_letter(text[max(place - 1, 0) : place]) or _LONGER.match(text, end)
        if is_unspaced(start[0]) or not is_inside:
            yield place
        place = text.find(start, end)


def _is_letter(char: str) -> bool:
    return char.isalnum() and not is_unspaced(char)


def ends_of(question: str) -> str:
    """Return a question, or of a pasted text the end, which mostly asks, and the beginning."""
    if len(question) <= 2 * END_CHARS:
        return question
    return f"{question[-END_CHARS:]}\n{question[:END_CHARS]}"
