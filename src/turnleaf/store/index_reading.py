"""Finding passages in the index: candidates of both sides, their ranking, and the floor."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core import ranking
from turnleaf.core.terms import affordable, any_of, date_terms, named_dates, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from turnleaf.core.ranking import Ranked, Weights
    from turnleaf.core.terms import Query

CANDIDATES = 200
CHUNK = 50
FEW = 30

NAME = "fingerprint, shape, path, line"
"""What tells passages apart whenever they were taken in."""

CONTEXT_SHARE = 0.5
"""What a word counts that stands only right before or after a passage."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, where it stands, and why it was found.

    `bm25` and `vector` are between 0 and 1; `score` is their weighted sum.
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
    bm25: float
    vector: float


class Narrowing(NamedTuple):
    """Which passages are searched."""

    source: str | None = None
    since: str | None = None

    @property
    def condition(self) -> str:
        """The condition in SQL on a passage, with its two values below."""
        if self == Narrowing():
            return ""
        return "AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR date >= ?3)"

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values in the condition."""
        return () if self == Narrowing() else (self.source, self.since)


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
    database: apsw.Connection, query: Query, vector: bytes | None, narrowing: Narrowing
) -> Candidates:
    """Give the best of each side, with the similarity of those that were found by words."""
    passages = int(database.execute("SELECT passages FROM totals").get)
    frequencies = {term: _frequency(database, term) for term in query.terms}
    chosen = affordable(query, frequencies)
    bm25 = _by_words(database, any_of(chosen), narrowing) if chosen else {}
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
    rows: list[Any] = database.execute(
        f"SELECT passages.id, {NAME}, file, conversation, place FROM passages "  # noqa: S608
        "JOIN files ON files.id = file WHERE passages.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*{**found.bm25, **found.cosine}]),),
    ).fetchall()
    beside = _neighbours({tuple(place): number for number, _, _, _, _, *place in rows})
    names = {number: tuple(name) for number, *name, _, _, _ in rows}
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
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        rows = _rows(database, [one.id for one in part])
        for one in part:
            row = rows[one.id]
            if floors and row["fingerprint"] in said:
                continue
            if floors and not _is_relevant(database, row, found, floors):
                continue
            said.add(row["fingerprint"])
            chosen.append(_hit(row, one))
            if len(chosen) == limit:
                return chosen
    return chosen


def _frequency(database: apsw.Connection, term: str) -> int:
    return int(database.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).get or 0)


def _by_words(database: apsw.Connection, expression: str, narrowing: Narrowing) -> dict[int, float]:
    found = _matches(database, expression, narrowing, CANDIDATES + 1)
    if len(found) > CANDIDATES and found[-1][1] == found[-2][1]:
        # Which of the equal ones come first must not depend on the order they were taken in.
        found = _matches(database, expression, narrowing, CANDIDATES, by_name=True)
    return dict(found[:CANDIDATES])


def _matches(
    database: apsw.Connection,
    expression: str,
    narrowing: Narrowing,
    limit: int,
    *,
    by_name: bool = False,
) -> list[Any]:
    condition = narrowing.condition
    joined = "JOIN passages ON passages.id = words.rowid" if condition or by_name else ""
    joined += " JOIN files ON files.id = file" if by_name else ""
    order = f"rank, {NAME}" if by_name else "rank"
    return database.execute(
        f"SELECT words.rowid, rank FROM words {joined} WHERE words MATCH ?1 {condition} "  # noqa: S608
        f"ORDER BY {order} LIMIT {limit}",
        (expression, *narrowing.values),
    ).fetchall()


def _by_meaning(
    database: apsw.Connection, vector: bytes, found: Iterable[int], narrowing: Narrowing
) -> dict[int, float]:
    """Give the cosines of the nearest passages, and of those that were found already."""
    nearest = _nearest(database, vector, narrowing)
    rows = database.execute(
        "SELECT passages.id, min(vec_distance_l2(vector, ?)) FROM passages "
        "JOIN vectors USING (meaning) WHERE passages.id IN (SELECT value FROM json_each(?)) "
        "GROUP BY passages.id",
        (vector, json.dumps([*{*nearest, *found}])),
    )
    # Of vectors of length one, the distance tells the cosine.
    return {number: 1.0 - distance * distance / 2.0 for number, distance in rows}


def _nearest(database: apsw.Connection, vector: bytes, narrowing: Narrowing) -> list[int]:
    if narrowing.condition:
        rows = database.execute(
            "SELECT passages.id FROM passages JOIN vectors USING (meaning) "  # noqa: S608
            f"WHERE TRUE {narrowing.condition} GROUP BY passages.id "
            f"ORDER BY min(vec_distance_l2(vector, ?1)) LIMIT {CANDIDATES}",
            (vector, *narrowing.values),
        )
    else:
        # A text may have several vectors, and stand in several places.
        rows = database.execute(
            "SELECT passages.id FROM passages WHERE meaning IN (SELECT meaning FROM "  # noqa: S608
            f"vectors ORDER BY vec_distance_l2(vector, ?) LIMIT {2 * CANDIDATES}) "
            f"LIMIT {2 * CANDIDATES}",
            (vector,),
        )
    return [number for (number,) in rows]


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
    if not named_dates(found.weights).isdisjoint(date_terms(row["date"] or "")):
        return True
    return _share(database, row, found) >= floors.words


def _share(database: apsw.Connection, row: Mapping[str, Any], found: Candidates) -> float:
    """Give the share of what was asked that a passage holds, from 0 to 1."""
    own = {*terms(row["text"]), *date_terms(row["date"] or "")}
    around = {term for text in _around(database, row) for term in terms(text)} - own
    held = sum(weight for term, weight in found.weights.items() if term in own)
    held += CONTEXT_SHARE * sum(found.weights[term] for term in around if term in found.weights)
    return held / sum(found.weights.values())


def _weight(count: int, passages: int) -> float:
    """Tell how much a word says that this many passages hold; even the commonest says something."""
    return math.log(1.0 + (passages - count + 0.5) / (count + 0.5))


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
