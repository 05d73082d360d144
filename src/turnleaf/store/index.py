"""`Index`: finds what matters in the files, by BM25 and by vectors.

It is derived from the files and can be deleted at any moment: nothing is lost and no answer
changes. So it is not made durable, and whatever is wrong with it is cured by building it anew.
"""

from __future__ import annotations

import math
import os
import threading
import time
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from turnleaf.core.hits import Hit
from turnleaf.core.probes import SENTENCES, profile
from turnleaf.core.ranking import Weights
from turnleaf.core.terms import parse_query
from turnleaf.errors import EmbeddingError, InvalidInput, StorageError
from turnleaf.store import files, index_reading, index_writing
from turnleaf.store.index_database import (
    COMPANIONS,
    Outdated,
    connect,
    has_vectors,
    refuse_stranger,
    tidy,
)
from turnleaf.store.index_reading import Floors, Narrowing
from turnleaf.store.index_writing import Found, signature
from turnleaf.store.sources import KINDS, Source, Store, max_bytes, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from turnleaf.core.probes import Profile
    from turnleaf.core.vectors import Embedder

    T = TypeVar("T")
    Progress = Callable[[int, int], None]

__all__ = ["MAX_LIMIT", "MODES", "Hit", "Index"]

USUAL_NAME = "index.db"
MAX_LIMIT = 100
MODES = ("hybrid", "lexical", "vector")
ATTEMPTS = 3
REPLACEMENTS = 100
PASSAGES_PER_COMMIT = 5000
MUCH_BYTES = 2_000_000
TEXTS_PER_BATCH = 64
REST_SECONDS = 60.0
"""For how long an embedder that failed is not asked again for a query."""

_BROKEN = (
    apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.FormatError, apsw.MismatchError,
    UnicodeDecodeError, Outdated,
)  # fmt: skip
_DAMAGED_PAGES = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ}


def untold(_done: int, _all: int) -> None:
    """Tell nobody."""


class Index:
    """A disposable SQLite file over some sources; `search` brings it up to date first.

    A source is a path, a folder or a store.
    """

    def __init__(
        self,
        path: str | Path,
        sources: Iterable[Source | Store | str | Path] = (),
        embedder: Embedder | None = None,
        *,
        weights: Weights | None = None,
    ) -> None:
        self.location = files.real(path)
        if self.location.suffix != ".db":
            message = f"an index is a file whose name ends in .db, not {self.location.name!r}"
            raise InvalidInput(message)
        self._one_at_a_time = threading.RLock()
        self.use(sources, embedder, weights=weights)
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._process = 0
        self._is_in_memory = False
        self._seen: tuple[object, dict[str, str]] = (None, {})

    def use(
        self,
        sources: Iterable[Source | Store | str | Path],
        embedder: Embedder | None,
        *,
        weights: Weights | None = None,
    ) -> None:
        """Let other sources, another model and other weights hold from now on."""
        with self._one_at_a_time:
            self._sources = [source_of(source) for source in sources]
            self._embedder = embedder if has_vectors() else None
            self._weights = weights or Weights()
            self._rests_until = 0.0

    @property
    def has_embedder(self) -> bool:
        """Tell whether meanings can be compared here."""
        return self._embedder is not None

    def sync(self, progress: Progress = untold) -> int:
        """Take in what changed in the files; give how many passages are new.

        `progress` is told how many of the changed files are done, where there is much to do.
        """
        return self._attempted(lambda database: self._synced(database, progress))

    def rebuild(self, progress: Progress = untold) -> int:
        """Begin anew from the files; give how many passages there are."""
        with self._one_at_a_time:
            self._attempted(lambda _: self._discard())
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
    ) -> list[Hit]:
        """Find the passages that fit best, best first, having looked at what changed.

        Without an embedder, or until there are vectors, the words alone decide. Without the
        `floor` also what hardly fits is given, and what is there twice.
        """
        narrowing = Narrowing(_checked_source(source), _checked_day(since), _checked_day(until))
        _check(limit, mode)
        wanted = parse_query(query)
        if not wanted.terms:
            return []
        vector, meaning = (None, math.inf) if mode == "lexical" else self._vector(query)

        def work(database: apsw.Connection) -> list[Hit]:
            found = index_reading.candidates(
                database, wanted, vector, narrowing, by_words=mode != "vector"
            )
            order = index_reading.ranked(database, found, self._weights)
            floors = Floors(meaning) if floor else None
            return index_reading.hits(database, order, found, limit, floors)

        return self._run(work)

    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; none are missing without a model."""
        return len(self._without_vector())

    def embed(self, progress: Progress = untold, *, seconds: float | None = None) -> int:
        """Give a vector to every text that has none, or to as many as some seconds allow.

        `progress` is told how many of all are done. It may be stopped at any moment; what is done
        stays done.
        """
        missing = self._without_vector()
        started = time.monotonic()
        done = 0
        while done < len(missing) and (seconds is None or time.monotonic() - started < seconds):
            batch = missing[done : done + TEXTS_PER_BATCH]
            self._embed_batch(batch)
            done += len(batch)
            progress(done, len(missing))
        return done

    def folders(self) -> set[Path]:
        """Name the folders in which a change of what is searched would show."""
        return {folder for source in self._sources for folder in source.folders()}

    def concerns(self, path: Path) -> bool:
        """Tell whether a change at this path may change what is found."""
        return any(source.concerns(path) for source in self._sources)

    def state(self) -> frozenset[tuple[str, str | None]]:
        """Tell how the files look without reading them; another state, another look."""
        return frozenset(
            (path, signature(path)) for source in self._sources for path in source.paths()
        )

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        with self._one_at_a_time:
            # In a forked child too: SQLite would take its parent's locks there for its own.
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._seen = (None, {})

    # Vectors.

    def _without_vector(self) -> list[bytes]:
        """Name the texts that have no vector; none while there is no model that helps."""
        embedder = self._embedder
        if embedder is None:
            return []
        known = self._run(lambda database: index_writing.profile_of(database, embedder.name))
        if not (known or self._probed(embedder)).scripts:
            return []
        return self._run(index_writing.without_vector)

    def _probed(self, embedder: Embedder) -> Profile:
        """Get to know a model, and forget the vectors of any other."""
        name, known = embedder.name, profile(embedder.embed(SENTENCES))
        if not known.scripts:
            files.log.warning("%s tells no meanings apart and is not used for search", name)

        def work(database: apsw.Connection) -> None:
            with self._locked(), database:
                index_writing.set_model(database, name, known)

        self._run(work)
        return known

    def _embed_batch(self, batch: Sequence[bytes]) -> None:
        if self._embedder is None:
            return
        name = self._embedder.name
        texts = self._run(lambda database: index_writing.texts_of(database, batch))
        made = iter(self._embedder.embed([one for several in texts.values() for one in several]))
        vectors = {meaning: [next(made) for _ in several] for meaning, several in texts.items()}

        def work(database: apsw.Connection) -> None:
            with self._locked(), database:
                index_writing.store_vectors(database, name, vectors)

        self._run(work)

    def _vector(self, query: str) -> tuple[bytes | None, float]:
        """Give the query's vector and where meaning begins, if there is what to compare it with."""
        embedder = self._embedder
        if embedder is None or time.monotonic() < self._rests_until:
            return None, math.inf
        known = self._attempted(lambda database: _useful_profile(database, embedder.name))
        if known is None or not known.understands(query):
            return None, math.inf
        try:
            return embedder.embed([query])[0], known.floor
        except EmbeddingError as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            files.log.warning("the search went by words alone: %s", error)
            return None, math.inf

    # Keeping up with the files.

    def _synced(self, database: apsw.Connection, progress: Progress = untold) -> int:
        changed, gone = self._stale(database)
        if not changed and not gone:
            return 0
        with self._locked():
            # Another program may have taken them in meanwhile.
            known = self._known(database)
            changed = [(source, path) for source, path in changed if _looks_new(path, known)]
            with database:
                for path in gone:
                    index_writing.forget_file(database, path)
            added = 0
            is_told = _is_much(path for _, path in changed)
            if is_told:
                progress(0, len(changed))
            for done, batch in _batches(database, changed):
                with database:
                    added += index_writing.take_in(database, batch)
                is_told = is_told or done < len(changed)
                if is_told:
                    progress(done, len(changed))
            tidy(database)
            return added

    def _stale(self, database: apsw.Connection) -> tuple[list[tuple[Source, str]], list[str]]:
        """Give the files that look other than when they were taken in, and those that are gone."""
        known = dict(self._known(database))
        changed = []
        listed = {path: source for source in self._sources for path in source.paths()}
        for path, source in listed.items():
            looks = signature(path)
            if looks is not None and (known.pop(path, None) != looks or not looks):
                changed.append((source, path))
        return changed, sorted(known)

    def _known(self, database: apsw.Connection) -> dict[str, str]:
        """Give how the files looked, as it was read before if nobody has written since."""
        state = (database, database.pragma("data_version"), database.total_changes())
        if self._seen[0] != state:
            self._seen = state, index_writing.known_signatures(database)
        return self._seen[1]

    # The database, and what may be wrong with it.

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work on an index that is up to date."""

        def synced(database: apsw.Connection) -> T:
            self._synced(database)
            return work(database)

        return self._attempted(synced)

    def _attempted(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work; what cannot be used is built anew, where nothing can be kept in memory."""
        with self._one_at_a_time:
            for attempt in range(ATTEMPTS):
                try:
                    return self._done_on_the_newest(work)
                except (*_BROKEN, apsw.Error, StorageError) as error:
                    self._recover(error, is_hopeless=attempt == ATTEMPTS - 1)
            return self._done_on_the_newest(work)

    def _done_on_the_newest(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do some work, again whenever somebody else has begun the index anew meanwhile."""
        for _ in range(REPLACEMENTS):
            with suppress(_Replaced):
                return work(self._opened())
        message = f"{self.location} is replaced all the time; find out which program does it"
        raise StorageError(message)

    def _recover(self, error: Exception, *, is_hopeless: bool) -> None:
        """Begin anew where the file is damaged, and in memory where there can be none."""
        if is_hopeless or not (isinstance(error, _BROKEN) or _is_damage(error)):
            self._give_up_the_file(error)
            return
        try:
            self._discard()
        except StorageError as refusal:
            self._give_up_the_file(refusal)

    def _opened(self) -> apsw.Connection:
        if self._connection is not None and self._is_current():
            return self._connection
        self.close()
        self._process = os.getpid()
        if self._is_in_memory:
            self._connection = connect(None)
            return self._connection
        files.make_folder(self.location.parent)
        if self.location.name != USUAL_NAME and not files.was_locked(self.location):
            refuse_stranger(self.location)
        with files.locked(self.location) as file:
            if not self.location.exists():
                file.replace(b"")  # SQLite itself would let everybody read it.
            self._identity = files.identity_if_any(self.location)
            self._connection = connect(self.location)
            self._identity = files.identity_if_any(self.location)
        return self._connection

    def _is_current(self) -> bool:
        is_ours = self._process == os.getpid()
        return is_ours and (
            self._is_in_memory or self._identity == files.identity_if_any(self.location)
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep the other processes from writing, and from building the file anew."""
        if self._is_in_memory:
            yield
            return
        with files.locked(self.location):
            if not self._is_current():
                raise _Replaced
            yield

    def _discard(self) -> None:
        """Delete the file, unless somebody else has begun anew already."""
        self.close()
        if self._is_in_memory:
            return
        with files.locked(self.location) as file:
            if files.identity_if_any(self.location) == self._identity:
                file.discard(COMPANIONS)

    def _give_up_the_file(self, error: Exception) -> None:
        if self._is_in_memory:
            message = f"the index cannot be used: {error}; free some memory and try again"
            raise StorageError(message) from error
        self.close()
        self._is_in_memory = True
        files.log.info("%s; the index is kept in memory", error)


class _Replaced(Exception):
    """Somebody else has begun the index anew."""


def _is_much(paths: Iterable[str]) -> bool:
    """Tell whether it takes a while to read these files."""
    sizes = (Path(path).stat().st_size for path in paths if Path(path).exists())
    return sum(sizes) > MUCH_BYTES


def _looks_new(path: str, known: Mapping[str, str]) -> bool:
    looks = signature(path)
    return not looks or known.get(path) != looks


def _useful_profile(database: apsw.Connection, name: str) -> Profile | None:
    return index_writing.profile_of(database, name) if index_writing.has_vectors(database) else None


def _is_damage(error: Exception) -> bool:
    return getattr(error, "extendedresult", 0) in _DAMAGED_PAGES


def _batches(
    database: apsw.Connection, changed: Iterable[tuple[Source, str]]
) -> Iterator[tuple[int, list[Found]]]:
    """Read what changed, in parts short enough to be kept in one step, with the files done."""
    batch: list[Found] = []
    done = 0
    for source, path in changed:
        found = _read(database, source, path)
        if found:
            batch.append(found)
        done += 1
        if sum(len(one.passages) for one in batch) >= PASSAGES_PER_COMMIT:
            yield done, batch
            batch = []
    yield done, batch


def _read(database: apsw.Connection, source: Source, name: str) -> Found | None:
    """Read a file that looks changed; nothing when it holds what it held."""
    looks, path = signature(name), Path(name)
    if looks is None:
        return None
    try:
        data = files.read(path, max_bytes(source, path)) or b""
    except StorageError as error:
        # What cannot be read is not gone: what was found in it before can still be found.
        files.log.warning("%s; what it held before is still found", error)
        return None
    if index_writing.is_same(database, name, looks, data):
        return None
    return Found(name, looks, files.version(data), *source.cut(path, data))


def _check(limit: int, mode: str) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        message = f"the limit is between 1 and {MAX_LIMIT}, not {limit}"
        raise InvalidInput(message)
    if mode not in MODES:
        message = f"the mode is one of {', '.join(MODES)}, not {mode!r}"
        raise InvalidInput(message)


def _checked_source(source: str | None) -> str | None:
    if source is not None and source not in KINDS:
        message = f"the source is one of {', '.join(KINDS)}, not {source!r}"
        raise InvalidInput(message)
    return source


def _checked_day(given: date | str | None) -> str | None:
    try:
        day = date.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        message = f"{given!r} is no date; write it as 2026-11-15"
        raise InvalidInput(message) from None
    return day.isoformat()[:10] if day else None
