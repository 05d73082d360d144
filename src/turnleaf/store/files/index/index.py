"""`Index`: finds what matters in the files and conversations, by BM25 and by vectors.

It is derived from them and can be deleted at any moment: nothing is lost and no answer changes.
"""

from __future__ import annotations

import json
import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from turnleaf.core.diagnosis import Row
from turnleaf.core.keys import Reader
from turnleaf.core.memories import check_date
from turnleaf.core.search.ranking import Hit, Weights
from turnleaf.core.search.terms import parse_query, write_fts_query
from turnleaf.core.search.vectors import SENTENCES, profile_embedder
from turnleaf.errors import EmbeddingError, InvalidInput
from turnleaf.installation import find_vector_fault, has_numpy
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect
from turnleaf.store.files.index import database as index_rows
from turnleaf.store.files.index import file as index_file
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index import writing as index_writing
from turnleaf.store.files.index.database import COMPANIONS, Narrowing, make_hit, read_rows
from turnleaf.store.files.index.file import IndexFile
from turnleaf.store.files.index.sync import IndexSync, ignore_progress
from turnleaf.store.files.index.vectors import find_cosines
from turnleaf.store.files.sources import find_source
from turnleaf.store.passage_search import Asked, Floors, SearchedText, check_search, search_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime
    from pathlib import Path
    from typing import TypeVar

    import apsw

    from turnleaf.core.diagnosis import Examination, Part
    from turnleaf.core.search.ranking import Near
    from turnleaf.core.search.vectors import Embedder, Profile
    from turnleaf.store.files.index.sync import Progress
    from turnleaf.store.files.sources import FileSource, Followed, Store

    T = TypeVar("T")


NAME = "fingerprint, shape, path, line, part, meaning, kind, is_shown"
"""What tells passages apart whenever they were taken in."""
AMONG = "IN (SELECT value FROM json_each(?))"


class IndexedPassages:
    """The passages that one search looks through."""

    def __init__(self, database: apsw.Connection, narrowing: Narrowing) -> None:
        self._database = database
        self._narrowing = narrowing

    def count(self) -> int:
        """Count all passages of the index."""
        return int(self._database.execute("SELECT passages FROM totals").get)

    def count_holding(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Return how many passages hold each term."""
        query = f"SELECT term, doc FROM vocabulary WHERE term {AMONG}"  # noqa: S608
        rows: Any = self._database.execute(query, (json.dumps(asked),))
        return dict(rows)

    def match(self, chosen: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return passages with any of the terms and their BM25, the smallest first; -1: all."""
        condition = self._narrowing.condition
        joined = "JOIN passages ON passages.id = words.rowid" if condition else ""
        # The plus lets SQLite sort, which is faster than how FTS5 does it.
        rows: Any = self._database.execute(
            f"SELECT words.rowid, rank FROM words {joined} WHERE words MATCH ?1 {condition} "  # noqa: S608
            f"ORDER BY +rank LIMIT {limit}",
            (write_fts_query(chosen), *self._narrowing.values),
        )
        return list(rows)

    def find_near(self, vector: bytes, found: Sequence[int]) -> Near:
        """Return the cosines of the nearest passages, and of those that were found already."""
        return find_cosines(self._database, vector, found, self._narrowing)

    def read_names(self, numbers: Collection[int]) -> dict[int, tuple[Any, ...]]:
        """Return for each passage the values that tell it apart."""
        rows: Any = self._database.execute(
            f"SELECT passages.id, {NAME} FROM passages "  # noqa: S608
            f"JOIN files ON files.id = file WHERE passages.id {AMONG}",
            (json.dumps([*numbers]),),
        )
        return {number: tuple(name) for number, *name in rows}

    def read_texts(self, numbers: Collection[int]) -> list[SearchedText]:
        """Return what of passages is looked through."""
        rows: Any = self._database.execute(
            "SELECT id, text, date, heading, speaker, before, after FROM passages "  # noqa: S608
            f"WHERE id {AMONG}",
            (json.dumps([*numbers]),),
        )
        return [SearchedText(*row) for row in rows]

    def holds(self, number: int, term: str) -> bool:
        """Whether a passage itself holds a term."""
        query = "SELECT 1 FROM words WHERE rowid = ? AND words MATCH ?"
        return bool(self._database.execute(query, (number, f"own:{write_fts_query([term])}")).get)

    def measure_typical_length(self) -> float:
        """Return how many terms a passage has on average, with those around it."""
        return measure_typical_length(self._database)

    def read_hits(self, numbers: Sequence[int]) -> Mapping[int, tuple[Hit, bytes]]:
        """Return passages as hits, each with its fingerprint."""
        rows = read_rows(self._database, numbers)
        return {number: (make_hit(row), row["fingerprint"]) for number, row in rows.items()}


def measure_typical_length(database: apsw.Connection) -> float:
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


__all__ = ["Hit", "Index"]

# At most so much is lost when the work is stopped.
TEXTS_PER_BATCH = 64
TEXTS_PER_SEARCH = 8
"""So few new texts get their vectors within a search; without one the words would count alone."""
REST_SECONDS = 60.0
"""For how long an embedder that failed is not asked again for a query."""


class Index:
    """A disposable SQLite file over some sources; `search` brings it up to date first.

    A source is a path, a folder or a store. A store that keeps every message is followed by what
    it says has changed.
    """

    def __init__(
        self,
        path: str | Path,
        sources: Iterable[FileSource | Followed | Store | str | Path] = (),
        embedder: Embedder | None = None,
        *,
        weights: Weights | None = None,
        now: Callable[[], datetime] = local_now,
    ) -> None:
        self.location = atomic.resolve(path)
        if self.location.suffix != ".db":
            message = f"an index must be a file whose name ends in .db, not {self.location.name!r}"
            raise InvalidInput(message)
        self._file = IndexFile(self.location)
        self._sync = IndexSync(self._file, [find_source(source) for source in sources], now)
        self.use_embedder(embedder, weights or Weights())

    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None:
        """Compare meanings with this model from now on, with these weights."""
        with self._file.one_at_a_time:
            self._embedder = embedder if has_numpy() else None
            self._weights = weights
            self._rests_until = 0.0

    @property
    def has_embedder(self) -> bool:
        """Whether meanings can be compared here."""
        return self._embedder is not None

    def sync(self, progress: Progress = ignore_progress) -> int:
        """Take in what changed in the files; give how many passages are new.

        `progress` is told how many of the changed files are done, where there is much to do.
        """
        return self._file.attempt(lambda database: self._sync.run(database, progress))

    def rebuild(self, progress: Progress = ignore_progress) -> int:
        """Begin anew from the files; give how many passages there are."""
        with self._file.one_at_a_time:
            self._file.attempt(lambda _: self._file.discard())
            return self.sync(progress)

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
        """Find the passages that fit best, best first, having looked at what changed.

        Without an embedder, or until there are vectors, the words alone decide. Without the
        `floor` also what hardly fits is given, and what is there twice. Without a `reader` all is
        found that whoever owns the folder may find. Messages that their conversation no longer
        shows come last.
        """
        check_search(limit, source, mode, reader or Reader())
        narrowing = Narrowing(source, _check_day(since), _check_day(until))
        wanted = parse_query(query)
        if not wanted.terms:
            return []
        vector, known = (None, None) if mode == "lexical" else self._embed_query(query)
        if vector:
            self._embed_few()
        asked = Asked(wanted, vector, known.unrelated if known else None, by_words=mode != "vector")

        def work(database: apsw.Connection) -> list[Hit]:
            closed = index_rows.find_closed(database, reader or Reader())
            source = IndexedPassages(database, narrowing._replace(closed=closed))
            floors = Floors(known.floor if known else math.inf)
            return search_passages(
                source, asked, self._weights, limit, floors=floors, has_floor=floor
            )

        return self._run(work)

    def list_between(
        self, first: date, last: date, limit: int, *, source: str, reader: Reader
    ) -> list[Hit]:
        """Return the newest passages of one source of some days, oldest first."""
        days = Narrowing(source, first.isoformat(), last.isoformat())

        def work(database: apsw.Connection) -> list[Hit]:
            closed = index_rows.find_closed(database, reader)
            order = index_rows.list_by_time(database, days._replace(closed=closed), limit)
            rows = index_rows.read_rows(database, order)
            return [index_rows.make_hit(rows[one]) for one in order if one in rows]

        return self._run(work)

    def around(self, hit: Hit, before: int = 1, after: int = 1) -> list[Hit]:
        """Return what was said right before and after a hit, at about the same time, in order."""

        def work(database: apsw.Connection) -> list[Hit]:
            number = index_rows.find_hit(database, hit)
            if number is None:
                return []
            earlier = index_rows.follow(database, number, "before", before)
            later = index_rows.follow(database, number, "after", after)
            order = [*reversed(earlier), *later]
            rows = index_rows.read_rows(database, order)
            return [index_rows.make_hit(rows[one]) for one in order if one in rows]

        return self._run(work)

    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; none are missing without a model."""

        def work(database: apsw.Connection) -> int:
            if not index_vectors.has_met_all(database):
                with self._file.lock(), database:
                    index_vectors.forget_met(database)
            return index_vectors.count_missing(database)

        return self._run(work) if self._has_model() else 0

    def embed(self, progress: Progress = ignore_progress, *, seconds: float | None = None) -> int:
        """Embed every text that has no vector, or as many as some seconds allow.

        The newest texts come first. `progress` is called with the number done and the number of
        all. The work may be stopped at any moment; what is done stays done.
        """
        started = time.monotonic()
        done = 0
        missing = self.missing_vectors()
        # Some are made however long it took to count them: who asks again must come to an end.
        while missing and (not done or seconds is None or time.monotonic() - started < seconds):
            batch = self._run(
                lambda database: index_vectors.find_missing(database, TEXTS_PER_BATCH)
            )
            if not batch:
                break
            self._embed_batch(batch)
            done += len(batch)
            progress(done, max(missing, done))
        return done

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """Erase, to the last byte, what goes from the files and conversations within.

        What a kill leaves is finished by the next program that opens the index.
        """
        # Durable before anything is deleted: otherwise
        # nobody would know after a kill what is left to do.
        marked = self._mark_erasure() if self._file.exists() else None
        yield
        if marked is not None:
            self._finish_erasure(marked)

    def scrub(self) -> None:
        """Leave no byte of messages that expired; does something once a day at most."""
        file = self._file.apart()
        file.attempt(lambda database: index_file.scrub_daily(database, file))
        if file is not self._file:
            file.close()

    def _mark_erasure(self) -> float:
        return self._file.attempt(lambda database: index_file.mark(database, self._file))

    def _finish_erasure(self, marked: float) -> None:
        """Finish on a connection of its own, so that the other threads go on searching."""
        file = self._file.apart()
        sync = self._sync.on(file)

        def work(database: apsw.Connection) -> None:
            sync.take_in(database)
            index_file.finish(database, file, marked)

        file.attempt(work)
        if file is not self._file:
            file.close()

    def examine(self) -> Examination:
        """Return how large the index is."""
        return _examine(self.location)

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._file.close()

    # Vectors.

    def _has_model(self) -> bool:
        """Whether there is a model that helps."""
        embedder = self._embedder
        if embedder is None or find_vector_fault():
            return False
        known = self._run(lambda database: index_vectors.read_profile(database, embedder.name))
        return bool((known or self._probe(embedder)).scripts)

    def _probe(self, embedder: Embedder) -> Profile:
        """Get to know a model, and forget the vectors of any other."""
        name, vectors = embedder.name, embedder.embed(SENTENCES)
        known = profile_embedder(vectors)
        if not known.scripts:
            atomic.log.warning("%s does not distinguish meanings, so search does not use it", name)

        def work(database: apsw.Connection) -> None:
            with self._file.lock(), database:
                index_vectors.set_model(database, name, known, len(vectors[0]) // 4)

        self._run(work)
        return known

    def _embed_batch(self, batch: Sequence[bytes]) -> None:
        if self._embedder is None:
            return
        name = self._embedder.name
        texts = self._run(lambda database: index_writing.read_texts(database, batch))
        # Outside the lock, because a model may take minutes.
        made = iter(self._embedder.embed([one for several in texts.values() for one in several]))
        vectors = {meaning: [next(made) for _ in several] for meaning, several in texts.items()}

        def work(database: apsw.Connection) -> None:
            with self._file.lock():
                with database:
                    index_vectors.store(database, name, vectors)
                # After them, so that a kill in between takes nothing from what is missing.
                with database:
                    index_vectors.forget_missing(database, batch)

        self._run(work)

    def _embed_query(self, query: str) -> tuple[bytes | None, Profile | None]:
        """Return the query's vector and its model, if there is what to compare it with."""
        embedder = self._embedder
        if embedder is None or time.monotonic() < self._rests_until:
            return None, None
        known = self._file.attempt(lambda database: _find_useful_profile(database, embedder.name))
        if known is None or not known.understands(query) or find_vector_fault():
            return None, None
        try:
            vector = embedder.embed([query])[0]
        except EmbeddingError as error:
            # The next searches must not wait for it, too.
            self._rests_until = time.monotonic() + REST_SECONDS
            atomic.log.warning("this search used words only: %s", error)
            return None, None
        return (vector, known) if self._fits(vector) else (None, None)

    def _embed_few(self) -> None:
        """Embed the last texts where nearly all have a vector; what fails is left for later."""
        batch = self._run(lambda database: index_vectors.find_few(database, TEXTS_PER_SEARCH))
        try:
            if batch:
                self._embed_batch(batch)
        except EmbeddingError as error:
            atomic.log.info("new texts have no vectors yet: %s", error)

    def _fits(self, vector: bytes) -> bool:
        """Whether vectors of this length are kept; the same name may have become another model."""

        def work(database: apsw.Connection) -> bool:
            if index_vectors.read_dimension(database) == len(vector) // 4:
                return True
            with self._file.lock(), database:
                index_vectors.forget_model(database)
            return False

        return self._file.attempt(work)

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work on an index that is up to date."""

        def sync_and_work(database: apsw.Connection) -> T:
            self._sync.run(database)
            return work(database)

        return self._file.attempt(sync_and_work)


def _find_useful_profile(database: apsw.Connection, name: str) -> Profile | None:
    return (
        index_vectors.read_profile(database, name) if index_vectors.has_vectors(database) else None
    )


def _check_day(given: date | str | None) -> str | None:
    return None if given is None else check_date(given).isoformat()


@collect
def _examine(path: Path) -> Iterator[Part]:
    parts = [path, *(path.with_name(path.name + suffix) for suffix in COMPANIONS)]
    size = sum(part.stat().st_size for part in parts if part.is_file())
    holds = (
        f"{size:,} bytes, derived from the other files" if size else "created by the first search"
    )
    yield Row("search index", str(path), size or None, holds)
