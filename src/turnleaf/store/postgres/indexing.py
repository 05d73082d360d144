"""Taking facts, notes and messages into the search of a space, with their vectors.

Only what changed is taken in, and nothing twice. When another model is chosen, the vectors of the
one before go on answering while its own are made; once every text has one, it answers, and the
others are removed.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from secrets import randbits
from struct import unpack
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.messages import TRUSTED
from turnleaf.core.search.passages import (
    Passage,
    Placed,
    are_close,
    cut_feed_message,
    find_neighbours,
)
from turnleaf.core.search.ranking import Unrelated
from turnleaf.core.search.vectors import SENTENCES, Profile, profile_embedder
from turnleaf.core.serialization import dumps
from turnleaf.errors import EmbeddingError
from turnleaf.store.files.index.sync import find_spans
from turnleaf.store.files.index.writing import (
    choose_texts_to_embed,
    fingerprint_meaning,
    fingerprint_shape,
    make_columns,
)
from turnleaf.store.in_memory.shared_data import in_one_step
from turnleaf.store.postgres.schema import MOST_NUMBERS, name_index
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step
from turnleaf.store.postgres.tree_statements import to_column

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.messages import Feed
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.contracts import Progress
    from turnleaf.store.in_memory.shared_data import Now
    from turnleaf.store.postgres.space_transactions import PostgresPlace, Transaction


CONVERSATIONS = "conversations"
_COLUMNS = {
    "id": "bigint", "place": "text", "kind": "text", "shape": "bytea", "fingerprint": "bytea",
    "meaning": "bytea", "body": "text", "terms": "int", "line": "bigint", "before": "bigint",
    "after": "bigint", "date": "text", "conversation": "text", "message": "bigint", "part": "int",
    "time": "timestamptz", "trust": "text", "audience": "text", "is_shown": "boolean",
}  # fmt: skip
# A table of terms and no tsvector: under row-level security PostgreSQL would not use its GIN index.
_TERMS = {"term": "text", "passage": "bigint", "own": "int", "around": "int", "length": "int"}
BEGIN = "INSERT INTO turnleaf.indexes DEFAULT VALUES ON CONFLICT DO NOTHING"
_NOTE_UNEMBEDDED = """
INSERT INTO turnleaf.unembedded (embedder, passage)
SELECT embedders.id, passages.id FROM turnleaf.embedders CROSS JOIN turnleaf.passages
WHERE scripts <> '' AND NOT EXISTS (
    SELECT 1 FROM turnleaf.vectors
    WHERE vectors.embedder = embedders.id AND vectors.meaning = passages.meaning
)
"""
_NOTE_SOME = f"{_NOTE_UNEMBEDDED} AND passages.id = ANY(%s)"
_FORGET_UNEMBEDDED = "DELETE FROM turnleaf.unembedded WHERE passage = ANY(%s)"
# The embedders are named because the key of the table begins with them.
_FORGET_VECTORS = """
DELETE FROM turnleaf.vectors WHERE embedder IN (SELECT id FROM turnleaf.embedders)
AND meaning = ANY(%s) AND NOT EXISTS (
    SELECT 1 FROM turnleaf.passages WHERE passages.meaning = vectors.meaning
)
"""
_BESIDE = f"""
SELECT id, message, part, time, before, after FROM turnleaf.passages
WHERE conversation = %s AND is_shown AND trust IN {TRUSTED} AND message
"""  # noqa: S608 - of constants
_RELINK = """
UPDATE turnleaf.passages AS one SET before = new.before, after = new.after, terms = new.terms,
    meaning = new.meaning
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[], %s::bytea[])
    AS new (id, before, after, terms, meaning)
WHERE one.id = new.id
"""
_HAS_INDEX = """
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('turnleaf.' || %s) AND indisvalid
"""


class PassageRow(NamedTuple):
    """A passage with its number and place."""

    number: int
    placed: Placed
    place: str
    kind: str
    shape: bytes
    before: int | None = None
    after: int | None = None

    def to_columns(self, terms: int) -> tuple[object, ...]:
        """Return what a row of it holds."""
        one, meaning = self.placed.passage, fingerprint_meaning(self.placed)
        return (
            self.number, self.place, self.kind, self.shape, one.fingerprint, meaning,
            dumps(to_body(one)), terms, one.line, self.before, self.after, one.date,
            one.conversation, one.message, one.part, one.time, one.trust,
            to_column(one.audience), one.is_shown,
        )  # fmt: skip


def to_body(one: Passage) -> dict[str, Any]:
    """Return what of a passage no statement looks at."""
    return {
        "text": one.text,
        "heading": one.heading,
        "speaker": one.speaker,
        "id": one.id,
        "parent": one.parent,
        "earlier": one.earlier,
        "later": one.later,
    }


def read_passage(body: str, day: str | None = None, message: int | None = None) -> Passage:
    """Return a passage as far as its neighbours and its vector need it."""
    told = json.loads(body)
    return Passage(
        told["text"], 0, told["heading"], date=day, speaker=told["speaker"], message=message
    )


def replace_place(
    step: Transaction, name: str, passages: Sequence[Passage], kind_of: Callable[[Passage], str]
) -> int:
    """Make a page's passages those that it has now; what is as it was stays; return what is new."""
    query = "SELECT shape, id, line FROM turnleaf.passages WHERE place = %s ORDER BY id DESC"
    stood: dict[bytes, list[tuple[int, int]]] = {}
    for shape, number, line in step.rows(query, name):
        stood.setdefault(bytes(shape), []).append((number, line))
    moved: list[tuple[int, int]] = []
    new: list[tuple[Placed, str, bytes]] = []
    for one in find_neighbours(passages):
        kind = kind_of(one.passage)
        shape = fingerprint_shape(one) + kind.encode()
        if stood.get(shape):
            number, line = stood[shape].pop()
            moved += [(one.passage.line, number)] if line != one.passage.line else []
        else:
            new.append((one, kind, shape))
    step.run_many("UPDATE turnleaf.passages SET line = %s WHERE id = %s", moved)
    forget(step, [number for several in stood.values() for number, _ in several])
    numbers = _take_numbers(step, len(new))
    rows = [PassageRow(n, one[0], name, *one[1:]) for n, one in zip(numbers, new, strict=True)]
    insert(step, rows)
    return len(rows)


def _take_numbers(step: Transaction, count: int) -> range:
    query = "UPDATE turnleaf.indexes SET last_passage = last_passage + %s RETURNING last_passage"
    ((last,),) = step.rows(query, count)
    return range(last - count + 1, last + 1)


def insert(step: Transaction, rows: Sequence[PassageRow]) -> None:
    """Keep passages with their words."""
    if not rows:
        return
    lengths = add_terms(step, {one.number: one.placed for one in rows})
    step.insert_rows("passages", _COLUMNS, [one.to_columns(lengths[one.number]) for one in rows])
    step.run(_NOTE_SOME, [*lengths])
    _count(step, len(rows), sum(lengths.values()))


def add_terms(step: Transaction, placed: Mapping[int, Placed]) -> dict[int, int]:
    """Keep the words of passages; return how many each has, with those around it."""
    entries: list[tuple[str, int, int, int, int]] = []
    lengths: dict[int, int] = {}
    for number, one in placed.items():
        own, around = (Counter(words.split()) for words in make_columns(one))
        lengths[number] = own.total() + around.total()
        entries += [
            (to_column(term), number, own[term], around[term], lengths[number])
            for term in own.keys() | around.keys()
        ]
    step.insert_rows("terms", _TERMS, entries)
    return lengths


def forget(step: Transaction, numbers: Sequence[int]) -> None:
    """Take passages out, and vectors that stand for nothing any more."""
    if not numbers:
        return
    step.run("DELETE FROM turnleaf.terms WHERE passage = ANY(%s)", [*numbers])
    query = "DELETE FROM turnleaf.passages WHERE id = ANY(%s) RETURNING terms, meaning"
    gone = step.rows(query, [*numbers])
    _count(step, -len(gone), -sum(terms for terms, _ in gone))
    step.run(_FORGET_UNEMBEDDED, [*numbers])
    step.run(_FORGET_VECTORS, [meaning for _, meaning in gone])


def _count(step: Transaction, passages: int, terms: int) -> None:
    query = "UPDATE turnleaf.indexes SET passages = passages + %s, terms = terms + %s"
    step.run(query, passages, terms)


def take_in(step: Transaction, feed: Feed, day_of: Callable[[datetime], str]) -> int:
    """Take in what a feed of messages tells; return how many passages are new."""
    told = [*feed.gone, *(one.id for one in feed.found)]
    query = (
        "SELECT id, conversation, message FROM turnleaf.passages "
        "WHERE place = %s AND message = ANY(%s)"
    )
    stood = step.rows(query, CONVERSATIONS, told)
    forget(step, [number for number, _, _ in stood])
    said = [passage for one in feed.found for passage in cut_feed_message(one, day_of)]
    numbers = _take_numbers(step, len(said)) if said else range(0)
    neighbours = Neighbours(step, dict(zip(numbers, said, strict=True)))
    for conversation, first, last in sorted(find_spans(stood, said)):
        neighbours.join(conversation, first, last)
    neighbours.write()
    return len(said)


class NeighbourRow(NamedTuple):
    """A passage that has neighbours, as it stands."""

    id: int
    message: int
    part: int
    time: datetime | None
    before: int | None = None
    after: int | None = None


class Neighbours:
    """Joins passages to those right before and after; their words and meanings follow."""

    def __init__(self, step: Transaction, fresh: Mapping[int, Passage]) -> None:
        self._step = step
        self._fresh = fresh
        self._said = dict(fresh)
        self._links: dict[int, tuple[int | None, int | None]] = {}
        self._new: dict[str, list[NeighbourRow]] = {}
        for number, one in fresh.items():
            if one.conversation is not None and one.message is not None and one.has_neighbours:
                row = NeighbourRow(number, one.message, one.part, one.time)
                self._new.setdefault(one.conversation, []).append(row)

    def join(self, conversation: str, first: int, last: int) -> None:
        """Join the passages of some messages to each other and to what stands around them."""
        rows = self._read(conversation, first, last)
        for at, row in enumerate(rows):
            before, after = self._links.get(row.id, (row.before, row.after))
            links = (
                before if row.message < first else _find_close(row, rows[max(0, at - 1) : at]),
                after if row.message > last else _find_close(row, rows[at + 1 : at + 2]),
            )
            if links != (row.before, row.after):
                self._links[row.id] = links

    def _read(self, conversation: str, first: int, last: int) -> list[NeighbourRow]:
        """Read the passages of some messages that have neighbours, with one on either side."""
        before = self._select("< %s ORDER BY message DESC, part DESC LIMIT 1", conversation, first)
        among = self._select("BETWEEN %s AND %s", conversation, first, last)
        after = self._select("> %s ORDER BY message, part LIMIT 1", conversation, last)
        new = self._new.get(conversation, [])
        earlier = [one for one in new if one.message < first]
        later = [one for one in new if one.message > last]
        among += [one for one in new if first <= one.message <= last]
        return [
            *sorted((*before, *earlier), key=_find_order)[-1:],
            *sorted(among, key=_find_order),
            *sorted((*after, *later), key=_find_order)[:1],
        ]

    def _select(self, which: str, *values: object) -> list[NeighbourRow]:
        return [NeighbourRow(*row) for row in self._step.rows(f"{_BESIDE} {which}", *values)]

    def write(self) -> None:
        """Keep what is new; write words and meanings anew where neighbours changed."""
        beside = {one for links in self._links.values() for one in links if one}
        self._recall(self._links.keys() | beside)
        insert(
            self._step,
            [
                PassageRow(
                    number, self._place(number), CONVERSATIONS, CONVERSATIONS, b"",
                    *self._links.get(number, (None, None)),
                )
                for number in self._fresh
            ],
        )  # fmt: skip
        self._relink([number for number in sorted(self._links) if number not in self._fresh])

    def _relink(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        step, placed = self._step, {number: self._place(number) for number in numbers}
        step.run("DELETE FROM turnleaf.terms WHERE passage = ANY(%s)", [*numbers])
        query = "SELECT terms, meaning FROM turnleaf.passages WHERE id = ANY(%s)"
        before = step.rows(query, [*numbers])
        lengths = add_terms(step, placed)
        _count(step, 0, sum(lengths.values()) - sum(terms for terms, _ in before))
        rows = [
            (number, *self._links[number], lengths[number], fingerprint_meaning(placed[number]))
            for number in numbers
        ]
        step.run(_RELINK, *(list(column) for column in zip(*rows, strict=True)))
        step.run(_FORGET_UNEMBEDDED, [*numbers])
        step.run(_NOTE_SOME, [*numbers])
        step.run(_FORGET_VECTORS, [meaning for _, meaning in before])

    def _recall(self, numbers: Collection[int]) -> None:
        """Read what is said in passages that were not taken in just now."""
        unknown = [number for number in numbers if number not in self._said]
        query = "SELECT id, body, date, message FROM turnleaf.passages WHERE id = ANY(%s)"
        for number, body, day, message in self._step.rows(query, unknown) if unknown else ():
            self._said[number] = read_passage(body, day, message)

    def _place(self, number: int) -> Placed:
        links = self._links.get(number, (None, None))
        before, after = (one and self._said.get(one) for one in links)
        return Placed(self._said[number], before or None, after or None)


def _find_order(row: NeighbourRow) -> tuple[int, int]:
    return row.message, row.part


def _find_close(row: NeighbourRow, beside: Sequence[NeighbourRow]) -> int | None:
    """Return the number of what stands beside a passage, if it was said at about that time."""
    return next((other.id for other in beside if are_close(row.time, other.time)), None)


TEXTS_PER_BATCH = 64
TEXTS_PER_SEARCH = 8
# By chance and not counted: the number names an index that
# every role can see, and must tell nothing of its space.
ID_BITS = 62
REST_SECONDS = 60.0
"""For how long an embedder that failed is not asked again for a query."""
_log = logging.getLogger("turnleaf")
_OUTDATED = (
    "search uses words only: the vectors that %s made were replaced by those of %s; "
    "let every server use the same embedding model, and restart this one"
)
_MODELS = """
SELECT id, name, dimension, scripts, mean, deviation, is_serving FROM turnleaf.embedders ORDER BY 2
"""
_ADD_MODEL = """
INSERT INTO turnleaf.embedders (id, name, dimension, scripts, mean, deviation, is_serving)
SELECT %s, %s, %s, %s, %s, %s, NOT EXISTS (SELECT FROM turnleaf.embedders WHERE is_serving)
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
            # The old model goes on answering until the new one has all vectors.
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
            found = profile_embedder(vectors)
            if not found.scripts:
                _log.warning("%s does not distinguish meanings, so search does not use it", name)
            model = self._add(name, found, len(vectors[0]) // 4)
        self._known.add(name)
        return model if model.profile.scripts else None

    @in_one_step
    def list_models(self) -> list[StoredModel]:
        """Return the models whose vectors are kept here, by name."""
        return [
            StoredModel(
                number, name, dimension, Profile(tuple(scripts.split()), Unrelated(*spread)), serves
            )
            for number, name, dimension, scripts, *spread, serves in self.rows(_MODELS)
        ]

    @in_writing_step
    def _add(self, name: str, found: Profile, dimension: int) -> StoredModel:
        """Add a model; one that was never finished before it is given up."""
        self.step.lock(self.kind, changes=False)
        self.run(BEGIN)
        for one in self.list_models():
            if one.name == name:
                return one
            if not one.is_serving:
                self._forget(one.id)
        scripts = " ".join(found.scripts)
        self.run(_ADD_MODEL, randbits(ID_BITS), name, dimension, scripts, *found.unrelated)
        self.run(_NOTE_UNEMBEDDED)
        return next(one for one in self.list_models() if one.name == name)

    @in_writing_step
    def _forget(self, model: int) -> None:
        """Forget a model with its vectors."""
        self.step.lock(self.kind, changes=False)
        for table in ("vectors", "unembedded"):
            self.run(f"DELETE FROM turnleaf.{table} WHERE embedder = %s", model)  # noqa: S608
        self.run("DELETE FROM turnleaf.embedders WHERE id = %s", model)

    @in_one_step
    def _serve(self, model: StoredModel) -> None:
        """Switch to a model that has a vector of every text, and forget all others.

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
        # In no transaction, because a model may take minutes.
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

    @in_writing_step
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
        # A text may have been erased while its vector was made.
        self.run(_FORGET_VECTORS, [*vectors])
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
            _log.warning("this search used words only: %s", error)
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


class StoredModel(NamedTuple):
    """A model whose vectors a space keeps."""

    id: int
    name: str
    dimension: int
    profile: Profile
    is_serving: bool


def has_index(step: Transaction, model: StoredModel) -> bool:
    """Whether the space has an index over its vectors of a model."""
    return bool(step.rows(_HAS_INDEX, name_index(model.id)))


def write_vector(vector: bytes) -> str:
    """Return a packed vector as pgvector reads it."""
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    return f"[{','.join(map(repr, numbers))}]"
