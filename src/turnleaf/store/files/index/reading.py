"""Finding passages in the index: candidates of both sides, their ranking, and the floor."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.search import ranking
from turnleaf.core.search.hits import PROMPT_LIMIT
from turnleaf.core.search.passages import Passage
from turnleaf.core.search.ranking import HeldWords
from turnleaf.core.search.small_talk import says_nothing
from turnleaf.core.search.terms import affordable, any_of, date_terms, named_dates, terms
from turnleaf.store.files.index.rows import make_hit, read_rows
from turnleaf.store.files.index.vectors import find_cosines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from turnleaf.core.search.hits import Hit
    from turnleaf.core.search.ranking import Ranked, Unrelated, Weights
    from turnleaf.core.search.terms import Query
    from turnleaf.store.files.index.rows import Narrowing
    from turnleaf.store.files.index.vectors import Near

CANDIDATES = PROMPT_LIMIT // 2
MATCHES = 1000
CHUNK = 20
HOPELESS = 20
"""After so many passages below the floor, one after the other, none is expected above it."""

NAME = "fingerprint, shape, path, line, part, meaning, kind, is_shown"
"""What tells passages apart whenever they were taken in."""
SAID = slice(-3, None)
"""What of it is the same where the same is said."""


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


def candidates(database: apsw.Connection, asked: Asked, narrowing: Narrowing) -> Candidates:
    """Return the best of each side, with the similarity of those that were found by words."""
    passages = int(database.execute("SELECT passages FROM totals").get)
    frequencies = _frequencies(database, asked.query.terms) if asked.by_words else {}
    chosen = affordable(asked.query, frequencies) if frequencies else []
    found = _by_words(database, any_of(chosen), narrowing) if chosen else []
    cosine: Mapping[int, float] = {}
    unrelated = asked.unrelated
    if asked.vector and unrelated:
        near = find_cosines(database, asked.vector, found, narrowing)
        cosine = _keep_nearest(near, frozenset(found))
        unrelated = unrelated.pool(near.spread, near.vectors)
    weights = _weigh(asked.query, frequencies, passages)
    return Candidates(frozenset({*found, *cosine}), cosine, weights, unrelated, passages)


def rank_candidates(database: apsw.Connection, found: Candidates, weights: Weights) -> list[Ranked]:
    """Put the candidates into their order, best first; equal ones in the order of their names."""
    names = _read_names(database, found.numbers)
    words = find_held(database, found.numbers, found.weights)
    order = [
        ranking.rank(number, words.get(number), _meaning(found, number), weights)
        for number in names
    ]
    return sorted(order, key=lambda one: (-one.score, names[one.id]))


def hits(
    database: apsw.Connection,
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
        rows = read_rows(database, [one.id for one in part])
        for one in part:
            row = rows.get(one.id)
            if row is None:  # Somebody has taken it out meanwhile.
                continue
            # What such an answer is about stands elsewhere, and would be found twice.
            is_echo = row["trust"] == "assistant" and says_nothing(row["text"])
            if is_echo or (has_floor and row["fingerprint"] in said):
                continue
            if has_floor and not _is_relevant(one, row, found, floors):
                below += 1
                continue
            below = 0
            said.add(row["fingerprint"])
            hit = make_hit(row, one.score, one.words, one.meaning)
            nearness = _nearness(one, found, floors)
            chosen.append(replace(hit, nearness=nearness, blended=one.blended))
            if len(chosen) == limit:
                return chosen
        if below >= HOPELESS:
            break
    return chosen


def _weigh(query: Query, frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """Return what each asked word weighs.

    What is said twice counts double, and so does a day, of which meaning knows nothing.
    """
    doubled = query.repeated | named_dates(frequencies)
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


def _nearness(one: Ranked, found: Candidates, floors: Floors) -> float | None:
    """Return by how much a passage exceeds the cosine where meaning begins, if it has one."""
    cosine = found.cosine.get(one.id)
    return None if cosine is None else cosine - floors.meaning


def _frequencies(database: apsw.Connection, asked: Sequence[str]) -> dict[str, int]:
    """Return how many passages hold each term; 0 for one that none does."""
    rows: Any = database.execute(
        "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(asked),),
    )
    return dict.fromkeys(asked, 0) | dict(rows)


def _by_words(database: apsw.Connection, expression: str, narrowing: Narrowing) -> list[int]:
    """Return the best matches; what repeats one of them only where there are few.

    Which of equal ones are among them must not depend on the order they were taken in.
    """
    found = _find_matches(database, expression, narrowing)
    if len(found) <= CANDIDATES:
        return [number for number, _ in found]
    names = _read_names(database, [number for number, _ in found])
    found.sort(key=lambda match: (match[1], names[match[0]]))
    said = {number: name[SAID] for number, name in names.items()}
    return ranking.put_repeated_last([number for number, _ in found], said)[:CANDIDATES]


def _find_matches(
    database: apsw.Connection, expression: str, narrowing: Narrowing
) -> list[tuple[int, float]]:
    """Return many matches with their BM25 scores, best first, and of equal ones all or none."""
    found = _matches(database, expression, narrowing, MATCHES)
    if len(found) < MATCHES:
        return found
    last = found[-1][1]
    if found[CANDIDATES][1] == last:
        return _matches(database, expression, narrowing, -1)
    return [match for match in found if match[1] < last]


def _matches(
    database: apsw.Connection, expression: str, narrowing: Narrowing, limit: int
) -> list[Any]:
    condition = narrowing.condition
    joined = "JOIN passages ON passages.id = words.rowid" if condition else ""
    # The plus lets SQLite sort, which is faster than how FTS5 does it.
    return database.execute(
        f"SELECT words.rowid, rank FROM words {joined} WHERE words MATCH ?1 {condition} "  # noqa: S608
        f"ORDER BY +rank LIMIT {limit}",
        (expression, *narrowing.values),
    ).fetchall()


def _read_names(database: apsw.Connection, numbers: Iterable[int]) -> dict[int, tuple[Any, ...]]:
    """Return for each passage the values that tell it apart."""
    rows: Any = database.execute(
        f"SELECT passages.id, {NAME} FROM passages "  # noqa: S608
        "JOIN files ON files.id = file WHERE passages.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*numbers]),),
    )
    return {number: tuple(name) for number, *name in rows}


def _is_relevant(one: Ranked, row: Mapping[str, Any], found: Candidates, floors: Floors) -> bool:
    """Whether a passage is near enough in meaning, or holds enough of what was asked.

    Who names a day or a month asks for what was noted then.
    """
    if found.cosine.get(one.id, -1.0) >= floors.meaning:
        return True
    if not named_dates(found.weights).isdisjoint(terms_of_day(row["date"] or "")):
        return True
    return (one.words or 0.0) >= floors.words


def _meaning(found: Candidates, number: int) -> float | None:
    cosine = found.cosine.get(number)
    if cosine is None or found.unrelated is None:
        return None
    return ranking.meaning(cosine, found.unrelated, found.passages)


CONTEXT_TERMS = 64
CONTEXT_CHARS = 1_000
"""As much of what is said before and after holds the terms that count."""

SHORT_CHARS = 2_000
LONG_CHARS = 50_000

terms_of_day = lru_cache(maxsize=1024)(date_terms)
_terms_of_short = lru_cache(maxsize=4096)(terms)


class _Text(NamedTuple):
    """What of a passage is looked through."""

    number: int
    text: str
    day: str | None
    heading: str | None
    speaker: str | None
    before: int | None
    after: int | None


def find_held(
    database: apsw.Connection, numbers: Collection[int], weights: Mapping[str, float]
) -> dict[int, HeldWords]:
    """Return how much of the question's words each passage holds; nothing without words."""
    if not weights:
        return {}
    rows: Any = database.execute(
        "SELECT id, text, date, heading, speaker, before, after FROM passages "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([*numbers]),),
    )
    texts = [_Text(*row) for row in rows]
    beside = _read_beside(database, texts)
    typical = typical_length(database)
    own = {one.number: _own_terms(database, one, weights) for one in texts}
    shares = {
        one.number: ranking.words(weights, own[one.number], _terms_around(one, beside), typical)
        for one in texts
    }
    neighbours = {one.number: (one.before, one.after) for one in texts}
    return {
        number: HeldWords(share, is_whole=weights.keys() <= {*own[number]})
        for number, share in ranking.share_with_neighbours(shares, neighbours).items()
    }


def _terms_of(text: str) -> Sequence[str]:
    """Return the terms of a text; the same messages are candidates again and again."""
    return _terms_of_short(text) if len(text) <= SHORT_CHARS else terms(text)


def _own_terms(database: apsw.Connection, one: _Text, asked: Collection[str]) -> list[str]:
    """Return the terms of a passage with its day and speaker."""
    own = (
        [*_terms_of(one.text)]
        if len(one.text) <= LONG_CHARS
        else _find_terms(database, one.number, asked)
    )
    name = Passage(one.text, 0, speaker=one.speaker).name
    added = (*terms_of_day(one.day or ""), *_terms_of(name))
    return own + [term for term in added if term in asked and term not in own]


def _find_terms(database: apsw.Connection, number: int, asked: Collection[str]) -> list[str]:
    """Return the asked terms that a passage holds: a very long one takes too long to be read."""
    holds = "SELECT 1 FROM words WHERE rowid = ? AND words MATCH ?"
    return [
        term for term in asked if database.execute(holds, (number, f"own:{any_of([term])}")).get
    ]


def _read_beside(database: apsw.Connection, texts: Sequence[_Text]) -> dict[int | None, str]:
    """Return what is said right before and after some passages."""
    known: dict[int | None, str] = {one.number: one.text for one in texts}
    wanted = {side for one in texts for side in (one.before, one.after) if side is not None}
    rows: Any = database.execute(
        "SELECT id, text FROM passages WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([*(wanted - known.keys())]),),
    )
    return known | dict(rows)


def _terms_around(one: _Text, beside: Mapping[int | None, str]) -> list[str]:
    """Return the nearest terms of what stands around a passage, as they are indexed."""
    around = [*_terms_of(one.heading or "")[:CONTEXT_TERMS]]
    around += _terms_of(_last_part(beside.get(one.before, "")))[-CONTEXT_TERMS:]
    around += _terms_of(_first_part(beside.get(one.after, "")))[:CONTEXT_TERMS]
    return around


def _last_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[-CONTEXT_CHARS:]


def _first_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[:CONTEXT_CHARS]


def typical_length(database: apsw.Connection) -> float:
    """Return how many terms FTS5 says a passage has on average, with those around it."""
    record = database.execute("SELECT block FROM words_data WHERE id = 1").get
    count, *totals = _read_varints(bytes(record or b""))
    return sum(totals) / max(count, 1)


def _read_varints(data: bytes) -> list[int]:
    """Read SQLite's numbers of variable length, none of which here has more than eight bytes."""
    numbers = [0]
    for byte in data:
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004
            numbers.append(0)
    return numbers[:-1] or [0]
