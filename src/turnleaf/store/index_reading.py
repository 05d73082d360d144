"""Finding passages in the index: candidates of both sides, their ranking, and the floor."""

from __future__ import annotations

import json
import math
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core import ranking
from turnleaf.core.hits import Hit
from turnleaf.core.terms import affordable, any_of, date_terms, named_dates, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from turnleaf.core.ranking import Ranked, Weights
    from turnleaf.core.terms import Query

CANDIDATES = 200
MATCHES = 1000
CHUNK = 20
FEW = 30
LONGEST = 50_000
HOPELESS = 20
"""After so many passages below the floor, one after the other, none is expected above it."""

NAME = "fingerprint, shape, path, line"
"""What tells passages apart whenever they were taken in."""

CONTEXT_SHARE = 0.5
"""What a word counts that stands only right before or after a passage."""


_terms_of_day = lru_cache(maxsize=1024)(date_terms)


class Narrowing(NamedTuple):
    """Which passages are searched."""

    source: str | None = None
    since: str | None = None
    until: str | None = None

    @property
    def condition(self) -> str:
        """The condition in SQL on a passage, with its three values below."""
        if self == Narrowing():
            return ""
        return (
            "AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR date >= ?3) "
            "AND (?4 IS NULL OR date <= ?4)"
        )

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values in the condition."""
        return () if self == Narrowing() else (self.source, self.since, self.until)


class Floors(NamedTuple):
    """What a passage must reach to be given: a cosine, or a share of what was asked."""

    meaning: float = math.inf
    words: float = 0.2


class Candidates(NamedTuple):
    """What may be returned: BM25 scores and cosines, and what each asked word weighs."""

    bm25: dict[int, float]
    cosine: dict[int, float]
    weights: dict[str, float]
    full_match: float


def candidates(
    database: apsw.Connection,
    query: Query,
    vector: bytes | None,
    narrowing: Narrowing,
    *,
    by_words: bool = True,
) -> Candidates:
    """Give the best of each side, with the similarity of those that were found by words."""
    passages = int(database.execute("SELECT passages FROM totals").get)
    frequencies = {term: _frequency(database, term) for term in query.terms}
    chosen = affordable(query, frequencies)
    bm25 = _by_words(database, any_of(chosen), narrowing) if chosen and by_words else {}
    cosine = _by_meaning(database, vector, bm25, narrowing) if vector else {}
    weights = {term: _weight(count, passages) for term, count in frequencies.items()}
    found = Candidates(bm25, cosine, weights, 0.0)
    if passages < FEW and bm25:
        # Of few passages FTS5 takes most words for too common to say anything.
        best = min(bm25.values())
        rows = _rows(database, [number for number, score in bm25.items() if score == best])
        share = max(_share(database, row, found) for row in rows.values())
        return found._replace(full_match=-best / (share or 1.0))
    full_match = ranking.full_match_score((frequencies[term] for term in chosen), passages)
    return found._replace(full_match=full_match)


def ranked(database: apsw.Connection, found: Candidates, weights: Weights) -> list[Ranked]:
    """Put the candidates into their order, best first; equal ones in the order of their names."""
    named = _named(database, {**found.bm25, **found.cosine})
    beside = _neighbours({place: number for number, _, place in named})
    names = {number: name for number, name, _ in named}
    order = ranking.rank(found.bm25, found.cosine, found.full_match, beside, weights)
    return sorted(order, key=lambda one: (-one.score, names[one.id]))


def hits(
    database: apsw.Connection,
    order: Sequence[Ranked],
    found: Candidates,
    limit: int,
    floors: Floors | None,
) -> list[Hit]:
    """Give the best passages; with floors, without what is below and what says the same again."""
    chosen: list[Hit] = []
    said: set[bytes] = set()
    below = 0
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        rows = _rows(database, [one.id for one in part])
        for one in part:
            row = rows[one.id]
            if floors and row["fingerprint"] in said:
                continue
            if floors and not _is_relevant(database, row, found, floors):
                below += 1
                continue
            below = 0
            said.add(row["fingerprint"])
            chosen.append(_hit(row, one))
            if len(chosen) == limit:
                return chosen
        if below >= HOPELESS:
            break
    return chosen


def _frequency(database: apsw.Connection, term: str) -> int:
    return int(database.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).get or 0)


def _by_words(database: apsw.Connection, expression: str, narrowing: Narrowing) -> dict[int, float]:
    """Give the best matches with their BM25 scores, which are negative.

    Which of equal ones are among them must not depend on the order they were taken in.
    """
    found = _matches(database, expression, narrowing, MATCHES)
    if len(found) <= CANDIDATES:
        return dict(found)
    last = found[CANDIDATES - 1][1]
    if len(found) == MATCHES and found[-1][1] == last:
        found = _matches(database, expression, narrowing, -1)
    better = [match for match in found if match[1] < last]
    equal = [number for number, score in found if score == last]
    if len(better) + len(equal) > CANDIDATES:
        names = {number: name for number, name, _ in _named(database, equal)}
        equal.sort(key=names.__getitem__)
    return dict(better) | dict.fromkeys(equal[: CANDIDATES - len(better)], last)


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


def _named(database: apsw.Connection, numbers: Iterable[int]) -> list[tuple[int, Any, Any]]:
    """Give for each passage what tells it apart, and its place in its conversation."""
    rows: list[Any] = database.execute(
        f"SELECT passages.id, {NAME}, file, conversation, place FROM passages "  # noqa: S608
        "JOIN files ON files.id = file WHERE passages.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*numbers]),),
    ).fetchall()
    return [(row[0], row[1:-3], row[-3:]) for row in rows]


def _by_meaning(
    database: apsw.Connection, vector: bytes, found: Iterable[int], narrowing: Narrowing
) -> dict[int, float]:
    """Give the cosines of the nearest passages, and of those that were found already."""
    distances = _nearest(database, vector, narrowing)
    others = [number for number in found if number not in distances]
    rows: Any = database.execute(
        "SELECT passages.id, min(vec_distance_l2(vector, ?)) FROM passages "
        "JOIN vectors USING (meaning) WHERE passages.id IN (SELECT value FROM json_each(?)) "
        "GROUP BY passages.id",
        (vector, json.dumps(others)),
    )
    # Of vectors of length one, the distance tells the cosine.
    return {
        number: 1.0 - distance * distance / 2.0
        for number, distance in (distances | dict(rows)).items()
    }


def _nearest(database: apsw.Connection, vector: bytes, narrowing: Narrowing) -> dict[int, float]:
    condition = narrowing.condition
    if condition:
        near = f"""
            SELECT passages.id, vec_distance_l2(vector, ?1) AS distance
            FROM passages JOIN vectors USING (meaning) WHERE TRUE {condition}
            ORDER BY distance LIMIT {2 * CANDIDATES}
        """  # noqa: S608 - of constants
    else:
        near = f"""
            SELECT passages.id, distance FROM passages JOIN (
                SELECT meaning, vec_distance_l2(vector, ?1) AS distance FROM vectors
                ORDER BY distance LIMIT {2 * CANDIDATES}
            ) USING (meaning) ORDER BY distance LIMIT {2 * CANDIDATES}
        """  # noqa: S608 - of constants
    nearest: dict[int, float] = {}
    rows: Any = database.execute(near, (vector, *narrowing.values))
    # A text may have several vectors; the first one is the nearest.
    for number, distance in rows:
        nearest.setdefault(number, distance)
    return nearest


def _neighbours(at: Mapping[tuple[Any, ...], int]) -> dict[int, list[int]]:
    """Tell which passages, by file, conversation and place, were said next to each other."""
    beside: dict[int, list[int]] = {}
    for (file, conversation, place), number in at.items():
        if place is not None:
            around = (at.get((file, conversation, place + step)) for step in (-1, 1))
            beside[number] = [other for other in around if other is not None]
    return beside


def _rows(database: apsw.Connection, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    columns = (
        "id", "path", "kind", "fingerprint", "text", "line", "heading", "date", "conversation",
        "speaker", "ref", "file", "place",
    )  # fmt: skip
    rows = database.execute(
        f"SELECT passages.id, {', '.join(columns[1:])} FROM passages "  # noqa: S608
        "JOIN files ON files.id = passages.file "
        "WHERE passages.id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {row[0]: dict(zip(columns, row, strict=True)) for row in rows}


def _is_relevant(
    database: apsw.Connection, row: Mapping[str, Any], found: Candidates, floors: Floors
) -> bool:
    """Tell whether a passage is near enough in meaning, or holds enough of what was asked.

    Who names a day or a month asks for what was noted then.
    """
    if found.cosine.get(row["id"], -1.0) >= floors.meaning:
        return True
    if not named_dates(found.weights).isdisjoint(_terms_of_day(row["date"] or "")):
        return True
    return _share(database, row, found) >= floors.words


def _share(database: apsw.Connection, row: Mapping[str, Any], found: Candidates) -> float:
    """Give the share of what was asked that a passage holds, from 0 to 1.

    To look through a very long one would take longer than the search; it was found for something.
    """
    if len(row["text"]) > LONGEST:
        return 1.0
    own = {*terms(row["text"]), *_terms_of_day(row["date"] or "")}
    around = {term for text in _around(database, row) for term in terms(text)} - own
    held = sum(weight for term, weight in found.weights.items() if term in own)
    held += CONTEXT_SHARE * sum(found.weights[term] for term in around if term in found.weights)
    return held / sum(found.weights.values())


def _weight(count: int, passages: int) -> float:
    """Tell how much a word says that this many passages hold; even the commonest says something.

    In a memory of one or two facts, that all of them hold a word does not make it a common one.
    """
    return math.log(1.0 + (max(passages, FEW) - count + 0.5) / (count + 0.5))


def _around(database: apsw.Connection, row: Mapping[str, Any]) -> Iterator[str]:
    if row["heading"]:
        yield row["heading"]
    if row["place"] is not None:
        said = database.execute(
            "SELECT text FROM passages WHERE conversation = ? AND place IN (?, ?) AND file = ?",
            (row["conversation"], row["place"] - 1, row["place"] + 1, row["file"]),
        )
        for (text,) in said:
            yield text


def _hit(row: Mapping[str, Any], one: Ranked) -> Hit:
    return Hit(
        text=row["text"],
        source=row["kind"],
        path=Path(os.fsdecode(row["path"])),
        line=row["line"],
        heading=row["heading"],
        date=row["date"],
        conversation=row["conversation"],
        speaker=row["speaker"],
        id=row["ref"],
        score=one.score,
        bm25=one.bm25,
        vector=one.vector,
    )
