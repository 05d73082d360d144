"""The search of a space in a database: up to date when asked, by words and by vectors."""

from __future__ import annotations

import json
import math
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.diagnosis import Diagnosis
from turnleaf.core.keys import Reader
from turnleaf.core.languages import pluralize
from turnleaf.core.memories import check_date
from turnleaf.core.messages import Cursor
from turnleaf.core.search.passages import cut_day, cut_memory
from turnleaf.core.search.ranking import Hit, Near, Unrelated, Weights
from turnleaf.core.search.terms import parse_query
from turnleaf.core.serialization import to_iso
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.in_memory.fact_pages import name_text
from turnleaf.store.in_memory.shared_data import in_one_step
from turnleaf.store.passage_search import (
    Asked,
    Floors,
    SearchedText,
    check_search,
    is_open,
    search_passages,
)
from turnleaf.store.postgres import indexing
from turnleaf.store.postgres.indexing import PostgresVectors, has_index, write_vector
from turnleaf.store.postgres.schema import LARGE_SPACE
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import date

    from turnleaf.core.diagnosis import Examination, Part
    from turnleaf.core.search.passages import Passage
    from turnleaf.core.search.terms import Query
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.contracts import Progress
    from turnleaf.store.in_memory.shared_data import Now
    from turnleaf.store.postgres.conversations import PostgresConversations
    from turnleaf.store.postgres.indexing import QueryVector, StoredModel
    from turnleaf.store.postgres.space_transactions import PostgresPlace, Row, Transaction


NEAREST = 400
MOST_TRIED = 8400
TRIED_BY_INDEX = 2 * NEAREST
EXAMINED = 400
SAMPLE = 1000
CONTEXT_WEIGHT = 0.3
# A term that most passages hold would otherwise count against those that do.
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
# its index has for the nearest. It is over the vectors of one model in one space: PostgreSQL uses
# it where the query names the model as it does. How all are spread is seen in a thousand: meanings
# are digests, so that those which sort first are as good as drawn by lot.
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
    WHERE embedder = %(embedder)s
    ORDER BY vector::halfvec({{dimension}}) <=> %(vector)s::halfvec({{dimension}}) LIMIT %(tried)s
"""  # noqa: S608 - of constants
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


class DatabasePassages:
    """The passages that one search looks through."""

    def __init__(
        self, step: Transaction, narrowed: Narrowed, model: StoredModel | None = None
    ) -> None:
        self._step = step
        self._narrowed = narrowed
        self._model = model
        ((self._passages, self._terms),) = step.rows(
            # Kept with every change: to count the rows would take longer than a search.
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
        # Without a condition the entries of the terms are enough.
        query = _MATCH.format(
            joined=_JOINED if narrowed.condition else "", condition=narrowed.condition
        )
        rows = self._select(
            query,
            **narrowed.values,
            terms=[*counts],
            weights=[count * self._weigh(term) for term, count in counts.items()],
            typical=max(self.measure_typical_length(), 1.0),
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

    def measure_typical_length(self) -> float:
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


VERSION = 1
"""Of how texts become passages and terms; another one takes everything in anew."""
# In parts, so that no transaction holds its lock for long.
MESSAGES_PER_STEP = 2000
_SEARCHED = ("facts", "daily", "conversations")
_STATE = """
SELECT (SELECT state FROM turnleaf.indexes),
    (SELECT json_object_agg(kind, n) FROM turnleaf.counters WHERE kind = ANY(%s) AND space <> '')
"""
_NOTE_PLACE = """
INSERT INTO turnleaf.indexed_places (place, version) VALUES (%s, %s)
ON CONFLICT (space, place) DO UPDATE SET version = excluded.version
"""
_DAYS = "SELECT day, count(*) || ' ' || max(change) FROM turnleaf.notes GROUP BY day ORDER BY day"


def _ignore(done: int, of: int) -> None:
    """Do nothing with what is told."""


class PostgresPassages(SqlStore):
    """The search of a space."""

    kind = "passages"

    def __init__(
        self,
        place: PostgresPlace,
        space: str,
        now: Now,
        conversations: PostgresConversations,
        settle: Callable[[], None],
    ) -> None:
        super().__init__(place, space, now)
        self._conversations = conversations
        self._settle = settle
        self._vectors = PostgresVectors(place, space, now)
        self._weights = Weights()

    @property
    def has_embedder(self) -> bool:
        """Whether meanings can be compared here."""
        return self._vectors.embedder is not None

    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None:
        """Compare meanings here with this model from now on; None: words."""
        self._vectors.use(embedder)
        self._weights = weights

    def sync(self, progress: Progress = _ignore) -> int:
        """Take in what changed; return how many passages are new."""
        added, is_last = 0, False
        while not is_last:
            new, is_last = self._take_in_part()
            added += new
            if not is_last:
                progress(added, added + MESSAGES_PER_STEP)
        return added

    def rebuild(self, progress: Progress = _ignore) -> int:
        """Take in everything anew; return how many passages there are."""
        self._clear_tables()
        return self.sync(progress)

    @in_one_step
    def examine(self) -> Examination:
        """Return how many passages are indexed, and whether so many should have an index."""
        ((count,),) = self.rows("SELECT coalesce(sum(passages), 0) FROM turnleaf.indexes")
        found: list[Part] = []
        if count >= LARGE_SPACE and self._vectors.lacks_index():
            message = (
                f"the space has {count:,} passages but no vector index, so searches are "
                "slow; run, as the role that owns the tables: turnleaf db tune ADDRESS"
            )
            found.append(Diagnosis("warning", message))
        return self.report("search index", pluralize(int(count), "passage"), *found)

    @in_writing_step
    def _clear_tables(self) -> None:
        self.step.lock(self.kind, changes=False)
        for table in ("terms", "passages", "unembedded", "indexed_places"):
            self.run(f"DELETE FROM turnleaf.{table}")  # noqa: S608 - of constants
        self.run("UPDATE turnleaf.indexes SET state = '{}', passages = 0, terms = 0")

    @in_one_step
    def _take_in_part(self) -> tuple[int, bool]:
        """Take in some of what changed; return how many passages are new, and whether it is all."""
        # What forgotten facts rest on must be hidden before it is searched.
        self._settle()
        state, now = self._read_state()
        if state.get("seen") == now and state.get("isLast"):
            return 0, True
        self.step.lock(self.kind, changes=False)
        self.run(indexing.BEGIN)
        if state.get("version", VERSION) != VERSION:
            self._clear_tables()
        # Once more under the lock: another server may have taken it in meanwhile.
        state, now = self._read_state()
        added = self._take_in_pages(state.get("seen", {}), now)
        cursor = Cursor(*state.get("cursor", ()))
        feed = self._conversations.changes_since(cursor, MESSAGES_PER_STEP)
        added += indexing.take_in(self.step, feed, find_local_day)
        reached = [feed.cursor.message, feed.cursor.change]
        known = {"version": VERSION, "seen": now, "cursor": reached, "isLast": feed.is_last}
        self.run("UPDATE turnleaf.indexes SET state = %s", json.dumps(known))
        return added, feed.is_last

    def _take_in_pages(self, seen: Mapping[str, object], now: Mapping[str, object]) -> int:
        """Take in facts and notes where any changed, or another day has begun."""
        changed = {kind for kind in (*_SEARCHED, "day") if seen.get(kind) != now.get(kind)}
        added = self._take_in_facts() if changed & {"facts", "day"} else 0
        return added + (self._take_in_days() if "daily" in changed else 0)

    def _read_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what was taken in, and how what is searched stands now."""
        ((state, counts),) = self.rows(_STATE, [*_SEARCHED])
        return json.loads(state or "{}"), {**(counts or {}), "day": find_local_day(self._clock())}

    def _take_in_facts(self) -> int:
        query = "SELECT text, older FROM turnleaf.books WHERE kind = 'facts'"
        added, today = 0, find_local_day(self._clock())
        for text, older in self.rows(query):
            for name, page, kind in (("MEMORY.md", text, "memory"), ("OLDER.md", older, "older")):
                # With the day: a fact that ended is an older one, though its page did not change.
                version = f"{today} {name_text(page)}"
                cut = partial(cut_memory, page, name, find_local_day)
                added += self._replace(name, version, cut, partial(_find_kind, kind, today))
        return added

    def _take_in_days(self) -> int:
        query = (
            "SELECT place, version FROM turnleaf.indexed_places WHERE starts_with(place, 'daily/')"
        )
        known: dict[str, str] = dict(self.rows(query))
        added = 0
        for day, version in self.rows(_DAYS):
            name = f"daily/{day}.md"
            if known.pop(name, None) != version:
                added += self._replace(
                    name, version, partial(self._cut_day, day), lambda _: "daily"
                )
        for name in known:
            indexing.replace_place(self.step, name, [], str)
            self.run("DELETE FROM turnleaf.indexed_places WHERE place = %s", name)
        return added

    def _cut_day(self, day: date) -> list[Passage]:
        notes = self.rows("SELECT text FROM turnleaf.notes WHERE day = %s ORDER BY id", day)
        return cut_day(f"# {day}\n\n" + "".join(text for (text,) in notes), day)

    def _replace(
        self,
        name: str,
        version: str,
        cut: Callable[[], list[Passage]],
        kind_of: Callable[[Passage], str],
    ) -> int:
        query = "SELECT 1 FROM turnleaf.indexed_places WHERE place = %s AND version = %s"
        if self.rows(query, name, version):
            return 0
        self.run(_NOTE_PLACE, name, version)
        return indexing.replace_place(self.step, name, cut(), kind_of)

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        source: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        mode: str = "hybrid",
        floor: bool = True,
        reader: Reader | None = None,
    ) -> list[Hit]:
        """Return the passages that fit best, best first; [] for a query without a word."""
        who = reader or Reader()
        check_search(limit, source, mode, who)
        first, last = (
            None if day is None else check_date(day).isoformat() for day in (since, until)
        )
        wanted = parse_query(query)
        if not wanted.terms:
            return []
        self.sync()
        # Between two transactions: the embedder may take
        # long, and a search must hold no connection for it.
        meant = None if mode == "lexical" else self._vectors.embed_query(query)
        return self._search(
            wanted, meant, limit, (who, source, first, last), mode=mode, has_floor=floor
        )

    @in_one_step
    def _search(
        self,
        query: Query,
        meant: QueryVector | None,
        limit: int,
        wanted: tuple[Reader, str | None, str | None, str | None],
        *,
        mode: str,
        has_floor: bool,
    ) -> list[Hit]:
        narrowed = narrow(self.step, *wanted)
        source = DatabasePassages(self.step, narrowed, meant.model if meant else None)
        known = meant.model.profile if meant else None
        asked = Asked(
            query,
            meant.vector if meant else None,
            known.unrelated if known else None,
            by_words=mode != "vector",
        )
        floors = Floors(known.floor if known else math.inf)
        return search_passages(
            source, asked, self._weights, limit, floors=floors, has_floor=has_floor
        )

    def list_between(
        self, first: date, last: date, limit: int, *, source: str, reader: Reader
    ) -> list[Hit]:
        """Return the newest `limit` passages of one source of some days, oldest first."""
        self.sync()
        return self._list_between(first.isoformat(), last.isoformat(), limit, source, reader)

    @in_one_step
    def _list_between(
        self, first: str, last: str, limit: int, source: str, reader: Reader
    ) -> list[Hit]:
        narrowed = narrow(self.step, reader, source, first, last)
        return list_hits(self.step, narrowed, limit)

    def around(self, hit: Hit, before: int = 1, after: int = 1) -> list[Hit]:
        """Return what was said right before and after a hit, so many passages of each."""
        self.sync()
        return self._find_around(hit, before, after)

    @in_one_step
    def _find_around(self, hit: Hit, before: int, after: int) -> list[Hit]:
        query = (
            "SELECT id FROM turnleaf.passages "
            "WHERE conversation = %s AND message = %s AND part = %s"
        )
        for (number,) in self.rows(query, hit.conversation, hit.message, hit.part):
            earlier = follow(self.step, number, "before", before)
            order = [*reversed(earlier), *follow(self.step, number, "after", after)]
            found = DatabasePassages(self.step, Narrowed()).read_hits(order)
            return [found[one][0] for one in order]
        return []

    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; 0 without a model."""
        if not self.has_embedder:
            return 0
        self.sync()
        return self._vectors.count_missing()

    def embed(self, progress: Progress = _ignore, *, seconds: float | None = None) -> int:
        """Make missing vectors, one batch and then for so many seconds; return how many."""
        return self._vectors.embed(self.missing_vectors(), progress, seconds)

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """Take out, at the end, what leaves the other stores within."""
        yield
        self.sync()

    def scrub(self) -> None:
        """Do nothing: what is gone has no row."""


def _find_kind(kind: str, today: str, one: Passage) -> str:
    return "older" if one.until and one.until < today else kind
