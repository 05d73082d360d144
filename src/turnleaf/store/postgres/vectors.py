"""The vectors of a space: of the model that answers, and of one that shall answer after it.

When another model is chosen, the vectors of the one before go on answering while its own are made;
once every text has one, it answers, and the others are removed.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import sql

from turnleaf.core.search.passages import Placed
from turnleaf.core.search.ranking import Unrelated
from turnleaf.core.search.vectors import SENTENCES, Profile, profile
from turnleaf.errors import EmbeddingError, StorageError
from turnleaf.store.files.index.writing import choose_texts_to_embed
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.address import read_address
from turnleaf.store.postgres.errors import translate_errors
from turnleaf.store.postgres.indexing import BEGIN, FORGET_VECTORS, NOTE_UNEMBEDDED, read_passage
from turnleaf.store.postgres.migrating import CONNECT_SECONDS, LOCK
from turnleaf.store.postgres.place import SqlStore, changing
from turnleaf.store.postgres.sources import (
    LARGE_SPACE,
    MOST_NUMBERS,
    StoredModel,
    has_index,
    name_index,
    write_vector,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.contracts import Progress
    from turnleaf.store.memory.place import Now
    from turnleaf.store.postgres.errors import Connection
    from turnleaf.store.postgres.place import PostgresPlace

TEXTS_PER_BATCH = 64
TEXTS_PER_SEARCH = 8
REST_SECONDS = 60.0
"""For how long an embedder that failed is not asked again for a query."""
_log = logging.getLogger("turnleaf")
_OUTDATED = (
    "the search goes by words alone: the vectors that %s made were replaced by those of %s; "
    "have every server use the same embedder, and start this one again"
)
_MODELS = """
SELECT id, name, dimension, scripts, mean, deviation, is_serving FROM turnleaf.embedders ORDER BY id
"""
_ADD_MODEL = """
INSERT INTO turnleaf.embedders (id, name, dimension, scripts, mean, deviation, is_serving)
SELECT last_embedder, %s, %s, %s, %s, %s,
    NOT EXISTS (SELECT FROM turnleaf.embedders WHERE is_serving)
FROM turnleaf.indexes
"""
_MISSING = """
SELECT count(DISTINCT meaning) FROM turnleaf.unembedded
JOIN turnleaf.passages ON passages.id = unembedded.passage WHERE unembedded.embedder = %s
"""
_TEXTS = """
SELECT passages.id, meaning, body, message, before, after FROM turnleaf.unembedded
JOIN turnleaf.passages ON passages.id = unembedded.passage
WHERE unembedded.embedder = %s ORDER BY unembedded.passage DESC LIMIT %s
"""
_ADD_VECTOR = """
INSERT INTO turnleaf.vectors (embedder, meaning, part, vector) VALUES (%s, %s, %s, %s::vector)
ON CONFLICT DO NOTHING
"""
_MET = """
DELETE FROM turnleaf.unembedded USING turnleaf.passages
WHERE passages.id = unembedded.passage AND unembedded.embedder = %s
    AND passages.meaning = ANY(%s)
"""
# Any row would do, but to find any, PostgreSQL reads the table from its beginning.
_HAS_ANY = """
SELECT 1 FROM turnleaf.vectors WHERE embedder = %s ORDER BY space, embedder, meaning LIMIT 1
"""
MOST_INDEXES = 200
"""So many spaces have an index at most: each is looked at when a vector is added or searched."""
_SPACES = "SELECT substr(kind, 7) FROM turnleaf.counters WHERE space = '' AND kind LIKE 'space %'"
_LARGE = """
SELECT passages, id, dimension FROM turnleaf.indexes, turnleaf.embedders
WHERE passages >= %s AND scripts <> '' AND dimension <= %s
"""
_INDEXES = """
SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = 'turnleaf.vectors'::regclass AND starts_with(relname, 'vectors_near_')
ORDER BY relname
"""
_MAKE_INDEX = """
CREATE INDEX CONCURRENTLY {name} ON turnleaf.vectors
USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)
WHERE space = {space} AND embedder = {model}
"""
_FEW = "SELECT 1 FROM turnleaf.unembedded WHERE embedder = %s LIMIT %s"


class QueryVector(NamedTuple):
    """What a question means to a model whose vectors there are."""

    vector: bytes
    model: StoredModel


class PostgresVectors(SqlStore):
    """The vectors of a space, and who makes them."""

    kind = "passages"

    def __init__(self, place: PostgresPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self.embedder: Embedder | None = None
        self._earlier: Embedder | None = None
        self._known: set[str] = set()
        self._is_outdated = False
        self._rests_until = 0.0

    def use(self, embedder: Embedder | None) -> None:
        """Make vectors with this model from now on; None: none."""
        known = self.embedder
        if embedder is None:
            self._earlier = None
        elif known is not None and known.name != embedder.name:
            self._earlier = known
        self.embedder = embedder
        self._known.clear()
        self._is_outdated = False
        self._rests_until = 0.0

    # Making them.

    def count_missing(self) -> int:
        """Count the different texts that have no vector of the model yet."""
        model = self._meet(self.embedder) if self.embedder else None
        if model is None:
            return 0
        missing = self._count_missing(model.id)
        if not missing:
            self._serve(model)
        return missing

    @in_one_step
    def _count_missing(self, model: int) -> int:
        return int(self.rows(_MISSING, model)[0][0])

    def embed(self, missing: int, progress: Progress, seconds: float | None) -> int:
        """Make so many that are missing, one batch and then for so many seconds."""
        started, done = time.monotonic(), 0
        embedder = self.embedder
        model = self._meet(embedder) if embedder and missing else None
        while embedder and model and (done < missing or not done):
            made = self._embed_batch(embedder, model, TEXTS_PER_BATCH)
            if not made:
                break
            done += made
            progress(done, max(missing, done))
            if seconds is not None and time.monotonic() - started >= seconds:
                break
        return done

    def _meet(self, embedder: Embedder) -> StoredModel | None:
        """Return a model that helps; one that is new is got to know."""
        name = embedder.name
        models = {one.name: one for one in self.list_models()}
        model = models.get(name)
        if models and model is None and name in self._known:
            # Another server has changed to another model since: to begin anew would be a circle.
            if not self._is_outdated:
                _log.warning(_OUTDATED, name, ", ".join(models))
            self._is_outdated = True
            return None
        if model is None:
            vectors = embedder.embed(SENTENCES)
            found = profile(vectors)
            if not found.scripts:
                _log.warning("%s tells no meanings apart and is not used for search", name)
            model = self._add(name, found, len(vectors[0]) // 4)
        self._known.add(name)
        return model if model.profile.scripts else None

    @in_one_step
    def list_models(self) -> list[StoredModel]:
        """Return the models whose vectors are kept here, the oldest first."""
        return [
            StoredModel(
                number, name, dimension, Profile(tuple(scripts.split()), Unrelated(*spread)), serves
            )
            for number, name, dimension, scripts, *spread, serves in self.rows(_MODELS)
        ]

    @changing
    def _add(self, name: str, found: Profile, dimension: int) -> StoredModel:
        """Add a model; one that was never finished before it is given up."""
        self.step.lock(self.kind, changes=False)
        self.run(BEGIN)
        for one in self.list_models():
            if one.name == name:
                return one
            if not one.is_serving:
                self._forget(one.id)
        self.run("UPDATE turnleaf.indexes SET last_embedder = last_embedder + 1")
        self.run(_ADD_MODEL, name, dimension, " ".join(found.scripts), *found.unrelated)
        self.run(NOTE_UNEMBEDDED)
        return self.list_models()[-1]

    @changing
    def _forget(self, model: int) -> None:
        """Forget a model with its vectors."""
        self.step.lock(self.kind, changes=False)
        for table in ("vectors", "unembedded"):
            self.run(f"DELETE FROM turnleaf.{table} WHERE embedder = %s", model)  # noqa: S608
        self.run("DELETE FROM turnleaf.embedders WHERE id = %s", model)

    @in_one_step
    def _serve(self, model: StoredModel) -> None:
        """Have a model answer that has a vector of every text, and forget all others.

        Of a model that answers already, only the one that was in use here since and is not any
        more: another that is unfinished may be what another server changes to.
        """
        models = {one.id: one for one in self.list_models()}
        known = models.pop(model.id, None)
        others = [*models.values()]
        if known and known.is_serving:
            since = self._earlier.name if self._earlier else None
            others = [one for one in others if one.name == since]
        if known is None or not others or self.rows(_FEW, model.id, 1):
            return
        self.step.lock(self.kind, changes=False)
        for one in others:
            self._forget(one.id)
        self.run("UPDATE turnleaf.embedders SET is_serving = true WHERE id = %s", model.id)

    def _embed_batch(self, embedder: Embedder, model: StoredModel, most: int) -> int:
        """Make the vectors of some texts, those said last first; return of how many."""
        texts = self._find_texts(model.id, most)
        if not texts:
            return 0
        made = iter(embedder.embed([one for several in texts.values() for one in several]))
        vectors = {meaning: [next(made) for _ in several] for meaning, several in texts.items()}
        self._store(model, vectors)
        return len(vectors)

    @in_one_step
    def _find_texts(self, model: int, most: int) -> dict[bytes, list[str]]:
        """Return what is to be embedded, by meaning."""
        rows = {bytes(row[1]): row for row in self.rows(_TEXTS, model, most)}
        sides = {side for row in rows.values() for side in row[4:] if side}
        query = "SELECT id, body, message FROM turnleaf.passages WHERE id = ANY(%s)"
        beside = {
            number: read_passage(body, None, message)
            for number, body, message in self.rows(query, [*sides])
        }
        return {
            meaning: choose_texts_to_embed(
                Placed(read_passage(body, None, message), beside.get(before), beside.get(after))
            )
            for meaning, (_, _, body, message, before, after) in rows.items()
        }

    @changing
    def _store(self, model: StoredModel, vectors: Mapping[bytes, Sequence[bytes]]) -> None:
        """Keep the vectors of what still stands somewhere, unless the model was given up."""
        self.step.lock(self.kind, changes=False)
        if model.id not in {one.id for one in self.list_models()}:
            return
        if {len(one) // 4 for several in vectors.values() for one in several} != {model.dimension}:
            self._forget_changed(model)
            return
        rows = [
            (model.id, meaning, part, write_vector(one))
            for meaning, several in vectors.items()
            for part, one in enumerate(several)
        ]
        self.step.run_many(_ADD_VECTOR, rows)
        self.run(_MET, model.id, [*vectors])
        self.run(FORGET_VECTORS, [*vectors])
        self._serve(model)

    def _forget_changed(self, model: StoredModel) -> None:
        """Forget a model whose vectors have another length now: it is another one."""
        self._forget(model.id)
        self._known.discard(model.name)

    # Asking them.

    def embed_query(self, query: str) -> QueryVector | None:
        """Return what a question means, if there is what to compare it with."""
        if self.embedder is None or time.monotonic() < self._rests_until:
            return None
        embedder, model = self._choose(self.embedder)
        if model is None or not model.profile.understands(query):
            return None
        try:
            vector = embedder.embed([query])[0]
            if len(vector) // 4 != model.dimension:
                self._forget_changed(model)
                return None
            # Without a vector of its own, the words of what was said last would count alone.
            if 0 < self._count_few(model.id) <= TEXTS_PER_SEARCH:
                self._embed_batch(embedder, model, TEXTS_PER_SEARCH)
        except EmbeddingError as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            _log.warning("the search went by words alone: %s", error)
            return None
        return QueryVector(vector, model)

    @in_one_step
    def _choose(self, embedder: Embedder) -> tuple[Embedder, StoredModel | None]:
        """Return who shall answer: the model in use, or the one before until that has all."""
        models = {one.name: one for one in self.list_models()}
        model = models.get(embedder.name)
        if self._earlier and not (model and model.is_serving):
            before = models.get(self._earlier.name)
            if before and before.is_serving:
                return self._earlier, before
        is_useful = model is not None and bool(self.rows(_HAS_ANY, model.id))
        return embedder, model if is_useful else None

    @in_one_step
    def lacks_index(self) -> bool:
        """Whether the model that answers has no index over its vectors, and could have one."""
        return any(
            one.is_serving
            and one.profile.scripts
            and one.dimension <= MOST_NUMBERS
            and not has_index(self.step, one)
            for one in self.list_models()
        )

    @in_one_step
    def _count_few(self, model: int) -> int:
        return len(self.rows(_FEW, model, TEXTS_PER_SEARCH + 1))


def tune(address: str, *, passages: int = LARGE_SPACE, dry_run: bool = False) -> Sequence[str]:
    """Index the vectors of each space of so many passages, and drop the indexes not needed.

    Return the statements; with `dry_run` none is run. Nobody has to wait meanwhile.
    """
    conninfo = read_address(address).conninfo
    with (
        translate_errors(),
        psycopg.connect(conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS) as owner,
    ):
        # To wait for it would be a transaction for which the other's new index would wait.
        if owner.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchall() != [(True,)]:
            raise StorageError("somebody else changes the database; try again when that is done")
        statements = _list_changes(owner, passages)
        for one in () if dry_run else statements:
            owner.execute(one)
        # The end of the connection would do, but the server may notice it later.
        owner.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
        return [one.as_string(owner).strip() for one in statements]


def _list_changes(owner: Connection, passages: int) -> list[sql.Composed]:
    """Return the statements that drop and make indexes."""
    wanted = _list_wanted(owner, passages)
    known = owner.execute(_INDEXES).fetchall()
    needless = [name for name, is_valid in known if name not in wanted or not is_valid]
    there = {name for name, _ in known}.difference(needless)
    drop = sql.SQL("DROP INDEX CONCURRENTLY turnleaf.{}")
    return [
        *(drop.format(sql.Identifier(name)) for name in needless),
        *(made for name, made in wanted.items() if name not in there),
    ]


def _list_wanted(owner: Connection, passages: int) -> dict[str, sql.Composed]:
    """Return by its name the statement that makes each index; the largest spaces come first."""
    found = []
    for (space,) in owner.execute(_SPACES).fetchall():
        # The owner, too, sees the rows of the space alone that its transaction has set.
        with owner.transaction():
            owner.execute("SELECT set_config('turnleaf.space', %s, true)", (space,))
            rows = owner.execute(_LARGE, (passages, MOST_NUMBERS)).fetchall()
        found += [(count, space, model, dimension) for count, model, dimension in rows]
    return {
        name_index(space, model, dimension): sql.SQL(_MAKE_INDEX).format(
            name=sql.Identifier(name_index(space, model, dimension)),
            dimension=sql.Literal(dimension),
            space=sql.Literal(space),
            model=sql.Literal(model),
        )
        for _, space, model, dimension in sorted(found, reverse=True)[:MOST_INDEXES]
    }
