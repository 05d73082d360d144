"""Ranked search over passages, whatever database they are in: candidates, ranking, and the floor.

A backend finds matches and nearest vectors with statements of its own; what they are worth is
worked out here, so that every backend gives the same answers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from turnleaf.core.keys import can_read
from turnleaf.core.messages import TRUSTED
from turnleaf.core.search import ranking
from turnleaf.core.search.message_filters import is_other_talk, is_question, says_nothing
from turnleaf.core.search.passages import Passage
from turnleaf.core.search.ranking import KINDS, MAX_LIMIT, MODES, PROMPT_LIMIT, HeldWords, Hit, Near
from turnleaf.core.search.terms import (
    choose_affordable,
    find_named_dates,
    list_date_terms,
    list_terms,
)
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from turnleaf.core.keys import Reader
    from turnleaf.core.search.ranking import Ranked, Unrelated, Weights
    from turnleaf.core.search.terms import Query

CANDIDATES = PROMPT_LIMIT // 2
MATCHES = 1000
CHUNK = 20
HOPELESS = 20
"""After so many passages below the floor, one after the other, none is expected above it."""

SAID = slice(-3, None)
"""What of a passage's name is the same where the same is said."""


class Floors(NamedTuple):
    """What a passage must reach to be given: a cosine, or a share of what was asked."""

    meaning: float = math.inf
    words: float = 0.16


class Asked(NamedTuple):
    """What is looked for: the words, the vector, and what is unrelated to the model."""

    query: Query
    vector: bytes | None = None
    unrelated: Unrelated | None = None
    by_words: bool = True


class Candidates(NamedTuple):
    """What may be returned: cosines, what each asked word weighs, and how much there is."""

    numbers: frozenset[int]
    cosine: Mapping[int, float]
    weights: Mapping[str, float]
    unrelated: Unrelated | None
    passages: int


class SearchedText(NamedTuple):
    """What of a passage is looked through."""

    number: int
    text: str
    day: str | None
    heading: str | None
    speaker: str | None
    before: int | None
    after: int | None


class PassageSource(Protocol):
    """The passages that one search looks through."""

    def count(self) -> int:
        """Count all passages of the index."""

    def count_holding(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Return how many passages hold each term; one that none does may be missing."""

    def match(self, chosen: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return passages with any of the terms and their BM25, the smallest first; -1: all."""

    def find_near(self, vector: bytes, found: Sequence[int]) -> Near:
        """Return the cosines of the nearest passages, and of those that were found already."""

    def read_names(self, numbers: Collection[int]) -> dict[int, tuple[Any, ...]]:
        """Return what tells passages apart whenever they were taken in."""

    def read_texts(self, numbers: Collection[int]) -> list[SearchedText]:
        """Return what of passages is looked through."""

    def holds(self, number: int, term: str) -> bool:
        """Whether a passage itself holds a term."""

    def measure_typical_length(self) -> float:
        """Return how many terms a passage has on average, with those around it."""

    def read_hits(self, numbers: Sequence[int]) -> Mapping[int, tuple[Hit, bytes]]:
        """Return passages as hits, each with its fingerprint."""


def search_passages(
    source: PassageSource,
    asked: Asked,
    weights: Weights,
    limit: int,
    *,
    floors: Floors,
    has_floor: bool,
) -> list[Hit]:
    """Return the best passages, best first, but those last that their conversation hides."""
    found = find_candidates(source, asked)
    order = rank_candidates(source, found, weights)
    return choose_hits(source, order, found, limit, floors, has_floor=has_floor)


def is_open(reader: Reader, audience: str, trust: str, conversation: str) -> bool:
    """Whether a reader may find what was said to an audience.

    Strangers', tools' and documents' words are in the prompts of their own conversation alone.
    """
    if reader.is_prompt and trust not in TRUSTED and conversation != reader.conversation:
        return False
    return can_read(audience, reader)


def find_candidates(source: PassageSource, asked: Asked) -> Candidates:
    """Return the best of each side, with the similarity of those that were found by words."""
    passages = source.count()
    wanted = asked.query.terms if asked.by_words else ()
    frequencies = {**dict.fromkeys(wanted, 0), **(source.count_holding(wanted) if wanted else {})}
    chosen = choose_affordable(asked.query, frequencies) if frequencies else []
    found = _match_words(source, chosen) if chosen else []
    cosine: Mapping[int, float] = {}
    unrelated = asked.unrelated
    if asked.vector and unrelated:
        near = source.find_near(asked.vector, found)
        cosine = _keep_nearest(near, frozenset(found))
        unrelated = unrelated.pool(near.spread, near.vectors)
    weights = _weigh(asked.query, frequencies, passages)
    return Candidates(frozenset({*found, *cosine}), cosine, weights, unrelated, passages)


def rank_candidates(source: PassageSource, found: Candidates, weights: Weights) -> list[Ranked]:
    """Put the candidates into their order, best first; equal ones in the order of their names."""
    names = source.read_names(found.numbers)
    words = find_held(source, found.numbers, found.weights)
    order = [
        ranking.rank(number, words.get(number), _score_meaning(found, number), weights)
        for number in names
    ]
    # Messages that their conversation no longer shows come last.
    return sorted(order, key=lambda one: (not names[one.id][-1], -one.score, names[one.id]))


def choose_hits(
    source: PassageSource,
    order: Sequence[Ranked],
    found: Candidates,
    limit: int,
    floors: Floors,
    *,
    has_floor: bool,
) -> list[Hit]:
    """Return the best passages; with a floor, without what is below and what is there twice."""
    chosen: list[Hit] = []
    said: set[bytes] = set()
    below = 0
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        rows = source.read_hits([one.id for one in part])
        for one in part:
            if one.id not in rows:  # Somebody has taken it out meanwhile.
                continue
            hit, fingerprint = rows[one.id]
            # What such an answer is about stands elsewhere, and would be found twice.
            is_echo = hit.trust == "assistant" and says_nothing(hit.text)
            if is_echo or (has_floor and fingerprint in said):
                continue
            if has_floor and not _is_relevant(one, hit, found, floors):
                below += 1
                continue
            below = 0
            said.add(fingerprint)
            chosen.append(_add_scores(hit, one, _measure_nearness(one, found, floors)))
            if len(chosen) == limit:
                return chosen
        if below >= HOPELESS:
            break
    return chosen


def _weigh(query: Query, frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """Return what each asked word weighs.

    What is said twice counts double, and so does a day, of which meaning knows nothing.
    """
    doubled = query.repeated | find_named_dates(frequencies)
    return {
        term: ranking.weigh_word(count, passages) * (2 if term in doubled else 1)
        for term, count in frequencies.items()
    }


def _keep_nearest(near: Near, found: Collection[int]) -> dict[int, float]:
    """Return the cosines of what was found by words, and of as many others, the nearest.

    What says the same as something that was found comes after all others.
    """
    known = {near.slots[number] for number in found if number in near.slots}
    others = sorted(
        (number for number in near.by_passage if number not in found),
        key=lambda one: (near.slots[one] in known, -near.by_passage[one]),
    )
    chosen = {*others[:CANDIDATES], *found}
    return {number: cosine for number, cosine in near.by_passage.items() if number in chosen}


def _measure_nearness(one: Ranked, found: Candidates, floors: Floors) -> float | None:
    """Return by how much a passage exceeds the cosine where meaning begins, if it has one."""
    cosine = found.cosine.get(one.id)
    return None if cosine is None else cosine - floors.meaning


def _add_scores(hit: Hit, one: Ranked, nearness: float | None) -> Hit:
    return replace(
        hit,
        score=one.score,
        bm25=one.words,
        vector=one.meaning,
        nearness=nearness,
        blended=one.blended,
    )


def _match_words(source: PassageSource, chosen: Sequence[str]) -> list[int]:
    """Return the best matches; what repeats one of them only where there are few.

    Which of equal ones are among them must not depend on the order they were taken in.
    """
    found = _find_matches(source, chosen)
    if len(found) <= CANDIDATES:
        return [number for number, _ in found]
    names = source.read_names([number for number, _ in found])
    found.sort(key=lambda match: (match[1], names[match[0]]))
    said = {number: name[SAID] for number, name in names.items()}
    return ranking.put_repeated_last([number for number, _ in found], said)[:CANDIDATES]


def _find_matches(source: PassageSource, chosen: Sequence[str]) -> list[tuple[int, float]]:
    """Return many matches with their BM25 scores, best first, and of equal ones all or none."""
    found = source.match(chosen, MATCHES)
    if len(found) < MATCHES:
        return found
    last = found[-1][1]
    if found[CANDIDATES][1] == last:
        return source.match(chosen, -1)
    return [match for match in found if match[1] < last]


def _is_relevant(one: Ranked, hit: Hit, found: Candidates, floors: Floors) -> bool:
    """Whether a passage is near enough in meaning, or holds enough of what was asked.

    Who names a day or a month asks for what was noted then. A question without any word of what
    is looked for must be nearer than a statement: questions sound alike, whatever they ask.
    """
    least = floors.meaning
    if hit.source == "conversations" and found.weights:
        if is_other_talk(hit.text, found.weights):
            return False
        if found.unrelated and not one.words and is_question(hit.text):
            least += found.unrelated.deviation
    if found.cosine.get(one.id, -1.0) >= least:
        return True
    if not find_named_dates(found.weights).isdisjoint(terms_of_day(hit.date or "")):
        return True
    return (one.words or 0.0) >= floors.words


def _score_meaning(found: Candidates, number: int) -> float | None:
    cosine = found.cosine.get(number)
    if cosine is None or found.unrelated is None:
        return None
    return ranking.score_by_meaning(cosine, found.unrelated, found.passages)


CONTEXT_TERMS = 64
CONTEXT_CHARS = 1_000
"""As much of what is said before and after holds the terms that count."""

SHORT_CHARS = 2_000
# A longer text is not split into terms again; the index is asked about each word instead.
LONG_CHARS = 50_000

terms_of_day = lru_cache(maxsize=1024)(list_date_terms)
_terms_of_short = lru_cache(maxsize=4096)(list_terms)


def find_held(
    source: PassageSource, numbers: Collection[int], weights: Mapping[str, float]
) -> dict[int, HeldWords]:
    """Return how much of the question's words each passage holds; nothing without words."""
    if not weights:
        return {}
    texts = source.read_texts(numbers)
    beside = _read_beside(source, texts)
    typical = source.measure_typical_length()
    own = {one.number: _find_own_terms(source, one, weights) for one in texts}
    shares = {
        one.number: ranking.score_by_words(
            weights, own[one.number], _find_around(one, beside), typical
        )
        for one in texts
    }
    neighbours = {one.number: (one.before, one.after) for one in texts}
    return {
        number: HeldWords(share, is_whole=weights.keys() <= {*own[number]})
        for number, share in ranking.share_with_neighbours(shares, neighbours).items()
    }


def _find_terms(text: str) -> Sequence[str]:
    """Return the terms of a text; the same messages are candidates again and again."""
    return _terms_of_short(text) if len(text) <= SHORT_CHARS else list_terms(text)


def _find_own_terms(source: PassageSource, one: SearchedText, asked: Collection[str]) -> list[str]:
    """Return the terms of a passage with its day and speaker."""
    own = (
        [*_find_terms(one.text)]
        if len(one.text) <= LONG_CHARS
        else [term for term in asked if source.holds(one.number, term)]
    )
    name = Passage(one.text, 0, speaker=one.speaker).name
    added = (*terms_of_day(one.day or ""), *_find_terms(name))
    return own + [term for term in added if term in asked and term not in own]


def _read_beside(source: PassageSource, texts: Sequence[SearchedText]) -> dict[int | None, str]:
    """Return what is said right before and after some passages."""
    known: dict[int | None, str] = {one.number: one.text for one in texts}
    wanted = {side for one in texts for side in (one.before, one.after) if side is not None}
    others = source.read_texts(wanted - known.keys())
    return known | {one.number: one.text for one in others}


def _find_around(one: SearchedText, beside: Mapping[int | None, str]) -> list[str]:
    """Return the nearest terms of what stands around a passage, as they are indexed."""
    around = [*_find_terms(one.heading or "")[:CONTEXT_TERMS]]
    around += _find_terms(_cut_last_part(beside.get(one.before, "")))[-CONTEXT_TERMS:]
    around += _find_terms(_cut_first_part(beside.get(one.after, "")))[:CONTEXT_TERMS]
    return around


def _cut_last_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[-CONTEXT_CHARS:]


def _cut_first_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[:CONTEXT_CHARS]


def check_search(limit: int, source: str | None, mode: str, reader: Reader) -> None:
    """Raise InvalidInput for what no search can be asked for."""
    most = PROMPT_LIMIT if reader.is_prompt else MAX_LIMIT
    if not 1 <= limit <= most:
        message = f"the limit must be between 1 and {most}, not {limit}"
        raise InvalidInput(message)
    if source is not None and source not in KINDS:
        message = f"the source must be one of {', '.join(KINDS)}, not {source!r:.80}"
        raise InvalidInput(message)
    if mode not in MODES:
        message = f"the mode must be one of {', '.join(MODES)}, not {mode!r:.80}"
        raise InvalidInput(message)
