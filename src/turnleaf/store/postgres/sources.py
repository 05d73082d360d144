"""The passages of a space in a database, as a search looks through them."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from struct import unpack
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.search.hits import Hit
from turnleaf.core.search.ranking import Near, Unrelated
from turnleaf.core.times import to_iso
from turnleaf.store.passage_search import SearchedText, is_open

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from turnleaf.core.keys import Reader
    from turnleaf.core.search.vectors import Profile
    from turnleaf.store.postgres.place import Row, Transaction

NEAREST = 400
MOST_TRIED = 8400
LARGE_SPACE = 20_000
"""From so many passages on, the vectors of a space have an index of their own."""
MOST_NUMBERS = 4000
"""So many numbers a vector may have that such an index takes."""
TRIED_BY_INDEX = 2 * NEAREST
EXAMINED = 400
SAMPLE = 1000
CONTEXT_WEIGHT = 0.3
LEAST_WEIGHT = 1e-6
# BM25 as SQLite's FTS5 works it out, from entries of the index alone.
_MATCH = """
SELECT entry.passage, -sum(
    (%(weights)s::float8[])[array_position(%(terms)s::text[], entry.term)]
    * 2.2 * found / (found + 1.2 * (0.25 + 0.75 * entry.length / %(typical)s))
) AS rank
FROM turnleaf.terms entry
CROSS JOIN LATERAL (SELECT entry.own + %(share)s::float8 * entry.around AS found) AS counted
{joined}
WHERE entry.term = ANY(%(terms)s) {condition}
GROUP BY entry.passage ORDER BY rank LIMIT %(limit)s
"""
_JOINED = "JOIN turnleaf.passages ON passages.id = entry.passage"
_COSINE = "1 - (vector <=> %(vector)s::vector) AS cosine"
# In a small space all are compared.
_ALL = f"""
WITH near AS MATERIALIZED (
    SELECT meaning, part, {_COSINE} FROM turnleaf.vectors WHERE embedder = %(embedder)s
), tried AS (SELECT * FROM near ORDER BY cosine DESC LIMIT %(tried)s),
spread AS (SELECT count(*) AS vectors, avg(cosine), stddev_pop(cosine) FROM near),
"""  # noqa: S608 - of constants
# In a large one those of the passages that were found by words, or that a filter leaves, or that
# its index has for the nearest. It is a space's own: PostgreSQL uses it where the query names the
# space as it does. How all are spread is seen in a thousand: meanings are digests, so that those
# which sort first are as good as drawn by lot.
_SOME = f"""
WITH tried AS MATERIALIZED ({{tried}}), near AS MATERIALIZED (
    SELECT meaning, part, {_COSINE} FROM turnleaf.vectors
    WHERE embedder = %(embedder)s AND meaning = ANY(
        SELECT meaning FROM turnleaf.passages WHERE id = ANY(%(found)s)
    )
), spread AS (
    SELECT %(vectors)s::bigint AS vectors, avg(cosine), stddev_pop(cosine) FROM (
        SELECT {_COSINE} FROM turnleaf.vectors WHERE embedder = %(embedder)s
        ORDER BY space, embedder, meaning LIMIT {SAMPLE}
    ) AS drawn
),
"""  # noqa: S608 - of constants
_NARROWED = f"""
    SELECT vectors.meaning, vectors.part, {_COSINE} FROM turnleaf.vectors
    WHERE embedder = %(embedder)s AND meaning = ANY(
        SELECT meaning FROM turnleaf.passages WHERE true {{condition}}
    ) ORDER BY cosine DESC LIMIT %(tried)s
"""  # noqa: S608 - of constants
_BY_INDEX = f"""
    SELECT meaning, part, {_COSINE} FROM turnleaf.vectors
    WHERE space = %(space)s AND embedder = %(embedder)s
    ORDER BY vector::halfvec({{dimension}}) <=> %(vector)s::halfvec({{dimension}}) LIMIT %(tried)s
"""  # noqa: S608 - of constants
_HAS_INDEX = """
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('turnleaf.' || %s) AND indisvalid
"""
# PostgreSQL takes the comparison of two vectors for as cheap as that of two numbers, and would
# rather compare and sort them all.
_SEARCH_INDEX = f"""
SET LOCAL enable_sort = off;
SET LOCAL hnsw.iterative_scan = 'relaxed_order';
SET LOCAL hnsw.ef_search = {EXAMINED}
"""
_NEAR = """
firsts AS (
    SELECT DISTINCT ON (tried.meaning, tried.part, kind, is_shown)
        passages.id, tried.meaning, tried.part, cosine
    FROM tried JOIN turnleaf.passages ON passages.meaning = tried.meaning
    WHERE true {condition}
    ORDER BY tried.meaning, tried.part, kind, is_shown, shape, line, passages.part, passages.id
), others AS (
    SELECT passages.id, near.meaning, near.part, cosine
    FROM turnleaf.passages JOIN near ON near.meaning = passages.meaning
    WHERE passages.id = ANY(%(found)s)
), best AS (
    SELECT DISTINCT ON (id) * FROM firsts ORDER BY id, cosine DESC
)
(SELECT id, meaning, part, cosine FROM best ORDER BY cosine DESC, id LIMIT %(nearest)s)
UNION ALL
(SELECT DISTINCT ON (id) id, meaning, part, cosine FROM others ORDER BY id, cosine DESC)
UNION ALL
SELECT NULL, NULL, vectors, avg FROM spread
UNION ALL
SELECT NULL, NULL, NULL, stddev_pop FROM spread
"""
_ROW = """
SELECT id, fingerprint, place, kind, body, line, date, conversation, message, part, time, trust,
    is_shown, audience
FROM turnleaf.passages
"""


class StoredModel(NamedTuple):
    """A model whose vectors a space keeps."""

    id: int
    name: str
    dimension: int
    profile: Profile
    is_serving: bool


def name_index(space: str, model: int, dimension: int) -> str:
    """Return the name of the index over the vectors that a large space has of a model."""
    named = f"{model} {dimension} {space}"
    return f"vectors_near_{hashlib.sha256(named.encode()).hexdigest()[:16]}"


class Narrowed(NamedTuple):
    """Which passages are searched, as a condition in SQL and its values."""

    condition: str = ""
    values: Mapping[str, object] = {}
    is_filtered: bool = False
    """Whether only one source or some days are asked for."""


def narrow(
    step: Transaction, reader: Reader, source: str | None, since: str | None, until: str | None
) -> Narrowed:
    """Return the condition on passages that are asked for and that a reader may find."""
    parts = {
        "source": "AND passages.kind = %(source)s",
        "since": "AND passages.date >= %(since)s",
        "until": "AND passages.date <= %(until)s",
    }
    given = {"source": source, "since": since, "until": until}
    values: dict[str, object] = {name: one for name, one in given.items() if one is not None}
    closed = find_closed(step, reader)
    condition = " ".join(parts[name] for name in values)
    if closed:
        columns = zip(("audiences", "trusts", "keys"), zip(*closed, strict=True), strict=True)
        values |= {name: [*several] for name, several in columns}
        condition += (
            " AND (passages.audience, passages.trust, coalesce(passages.conversation, '')) NOT IN "
            "(SELECT * FROM unnest(%(audiences)s::text[], %(trusts)s::text[], %(keys)s::text[]))"
        )
    return Narrowed(condition, values, is_filtered=any(given.values()))


def find_closed(step: Transaction, reader: Reader) -> list[tuple[str, str, str]]:
    """Return for whom and of what trust passages are that a reader may not find."""
    query = (
        "SELECT DISTINCT audience, trust, coalesce(conversation, '') FROM turnleaf.passages "
        "WHERE audience <> '' OR trust NOT IN ('user', 'assistant')"
    )
    return [
        (one, two, three)
        for one, two, three in step.rows(query)
        if not is_open(reader, one, two, three)
    ]


def has_index(step: Transaction, model: StoredModel) -> bool:
    """Whether the space has an index over its vectors of a model."""
    return bool(step.rows(_HAS_INDEX, name_index(step.space, model.id, model.dimension)))


class DatabasePassages:
    """The passages that one search looks through."""

    def __init__(
        self, step: Transaction, narrowed: Narrowed, model: StoredModel | None = None
    ) -> None:
        self._step = step
        self._narrowed = narrowed
        self._model = model
        ((self._passages, self._terms),) = step.rows(
            "SELECT coalesce(sum(passages), 0), coalesce(sum(terms), 0) FROM turnleaf.indexes"
        )
        self._frequencies: dict[str, int] = {}

    def _select(self, query: str, **values: object) -> list[Row]:
        return self._step.connection.execute(query.encode(), values).fetchall()

    def count(self) -> int:
        """Count all passages of the index."""
        return int(self._passages)

    def count_holding(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Return how many passages hold each term."""
        query = "SELECT term, count(*) FROM turnleaf.terms WHERE term = ANY(%s) GROUP BY term"
        self._frequencies = dict(self._step.rows(query, [*asked]))
        return self._frequencies

    def match(self, chosen: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return passages with any of the terms and their BM25, the smallest first; -1: all."""
        counts = Counter(chosen)
        narrowed = self._narrowed
        query = _MATCH.format(
            joined=_JOINED if narrowed.condition else "", condition=narrowed.condition
        )
        rows = self._select(
            query,
            **narrowed.values,
            terms=[*counts],
            weights=[count * self._weigh(term) for term, count in counts.items()],
            typical=max(self.typical_length(), 1.0),
            share=CONTEXT_WEIGHT,
            limit=None if limit < 0 else limit,
        )
        return [(passage, rank) for passage, rank in rows]

    def _weigh(self, term: str) -> float:
        held = self._frequencies.get(term, 0)
        return max(LEAST_WEIGHT, math.log((self.count() - held + 0.5) / (held + 0.5)))

    def find_near(self, vector: bytes, found: Sequence[int]) -> Near:
        """Return the cosines of the nearest passages, and of those that were found already."""
        if self._model is None:
            return Near({}, {}, Unrelated(0.0, 0.0), 0)
        chosen, tried = self._choose_vectors(self._model)
        rows = self._select(
            chosen + _NEAR.format(condition=self._narrowed.condition),
            **self._narrowed.values,
            vector=write_vector(vector),
            found=[*found],
            nearest=NEAREST,
            tried=tried,
            embedder=self._model.id,
            space=self._step.space,
            vectors=self.count(),
        )
        *near, (_, _, count, mean), (_, _, _, deviation) = rows
        if not count:
            return Near({}, {}, Unrelated(0.0, 0.0), 0)
        cosines = {number: cosine for number, _, _, cosine in near}
        slots = {number: (bytes(meaning), part) for number, meaning, part, _ in near}
        return Near(cosines, slots, Unrelated(round(mean, 6), round(deviation, 6)), count)

    def _choose_vectors(self, model: StoredModel) -> tuple[str, int | None]:
        """Return which vectors are looked at, and how many of them at most.

        An index over those of all spaces would find little of a small one. In a large one whose
        index nobody has made yet, all are compared, too.
        """
        if not has_index(self._step, model):
            return _ALL, None if self._narrowed.condition else MOST_TRIED
        if self._narrowed.is_filtered:
            return _SOME.format(tried=_NARROWED.format(condition=self._narrowed.condition)), None
        self._step.connection.execute(_SEARCH_INDEX)
        by_index = _BY_INDEX.format(dimension=model.dimension)
        return _SOME.format(tried=by_index), TRIED_BY_INDEX

    def read_names(self, numbers: Collection[int]) -> dict[int, tuple[Any, ...]]:
        """Return for each passage the values that tell it apart."""
        query = (
            "SELECT id, fingerprint, shape, place, line, part, meaning, kind, is_shown "
            "FROM turnleaf.passages WHERE id = ANY(%s)"
        )
        return {number: tuple(name) for number, *name in self._step.rows(query, [*numbers])}

    def read_texts(self, numbers: Collection[int]) -> list[SearchedText]:
        """Return what of passages is looked through."""
        query = "SELECT id, body, date, before, after FROM turnleaf.passages WHERE id = ANY(%s)"
        rows = self._step.rows(query, [*numbers]) if numbers else []
        return [_read_text(*row) for row in rows]

    def holds(self, number: int, term: str) -> bool:
        """Whether a passage itself holds a term."""
        query = "SELECT 1 FROM turnleaf.terms WHERE term = %s AND passage = %s AND own > 0"
        return bool(self._step.rows(query, term, number))

    def typical_length(self) -> float:
        """Return how many terms a passage has on average, with those around it."""
        return float(self._terms) / max(self.count(), 1)

    def read_hits(self, numbers: Sequence[int]) -> Mapping[int, tuple[Hit, bytes]]:
        """Return passages as hits, each with its fingerprint."""
        rows = self._step.rows(f"{_ROW} WHERE id = ANY(%s)", [*numbers])
        return {row[0]: (make_hit(row), bytes(row[1])) for row in rows}


def list_hits(step: Transaction, narrowed: Narrowed, limit: int) -> list[Hit]:
    """Return the newest passages that are shown, oldest first."""
    order = "date DESC, time DESC NULLS LAST, line DESC, part DESC, id DESC LIMIT %(limit)s"
    query = f"{_ROW} WHERE is_shown {narrowed.condition} ORDER BY {order}"
    values = {**narrowed.values, "limit": limit}
    rows = step.connection.execute(query.encode(), values).fetchall()
    return [make_hit(row) for row in reversed(rows)]


def follow(step: Transaction, number: int, side: str, count: int) -> list[int]:
    """Return the passages on one side, "before" or "after", the nearest first."""
    query = f"""
        WITH RECURSIVE path (id, place) AS (
            SELECT {side}, 1 FROM turnleaf.passages WHERE id = %s
            UNION ALL
            SELECT one.{side}, path.place + 1 FROM path JOIN turnleaf.passages one USING (id)
            WHERE path.place < %s
        )
        SELECT id FROM path WHERE id IS NOT NULL ORDER BY place
    """  # noqa: S608 - of two constants
    return [one for (one,) in step.rows(query, number, count)] if count > 0 else []


def _read_text(
    number: int, body: str, day: str | None, before: int | None, after: int | None
) -> SearchedText:
    told = json.loads(body)
    return SearchedText(number, told["text"], day, told["heading"], told["speaker"], before, after)


def make_hit(row: Row) -> Hit:
    """Return a passage as what was found."""
    _, _, place, kind, body, line, day, key, message, part, time, trust, is_shown, audience = row
    told = json.loads(body)
    return Hit(
        text=told["text"],
        source=kind,
        path=Path(place),
        line=line,
        heading=told["heading"],
        date=day,
        conversation=key,
        speaker=told["speaker"],
        id=told["id"],
        score=0.0,
        bm25=None,
        vector=None,
        message=message,
        parent=told["parent"],
        time=time and to_iso(time),
        trust=trust,
        is_shown=is_shown,
        part=part,
        earlier=told["earlier"],
        later=told["later"],
        audience=audience,
    )


def write_vector(vector: bytes) -> str:
    """Return a packed vector as pgvector reads it."""
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    return f"[{','.join(map(repr, numbers))}]"
