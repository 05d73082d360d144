"""Keeping an index up to date with the files and conversations that it is made from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from turnleaf.errors import StorageError
from turnleaf.store.ambient import local_day
from turnleaf.store.files import atomic
from turnleaf.store.files.index import file as index_file
from turnleaf.store.files.index import messages as index_messages
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index import writing as index_writing
from turnleaf.store.files.index.database import Outdated, tidy
from turnleaf.store.files.index.writing import Found, signature
from turnleaf.store.files.sources import FileSource, max_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    import apsw

    from turnleaf.core.messages import Feed
    from turnleaf.store.files.index.file import IndexFile
    from turnleaf.store.files.index.messages import FeedPosition
    from turnleaf.store.files.sources import Followed

    Progress = Callable[[int, int], None]

PASSAGES_PER_COMMIT = 5000
MESSAGES_PER_COMMIT = 5000
MUCH_BYTES = 2_000_000


def ignore_progress(_done: int, _all: int) -> None:
    """Do nothing with the progress."""


class IndexSync:
    """Knows what an index is made from, and takes in what changed of it."""

    def __init__(
        self,
        file: IndexFile,
        sources: Iterable[FileSource | Followed],
        now: Callable[[], datetime],
    ) -> None:
        given = [*sources]
        self._now = now
        self._file = file
        self._sources = [source for source in given if isinstance(source, FileSource)]
        followed = [source for source in given if not isinstance(source, FileSource)]
        self._followed = {str(store.location): store for store in followed}
        self._seen: tuple[object, dict[str, str]] = (None, {})
        self._settled: object = None

    def run(self, database: apsw.Connection, progress: Progress = ignore_progress) -> int:
        """Take in what changed, and settle an index just opened; return how much is new."""
        added = self.take_in(database, progress)
        if database is not self._settled:
            self._settle(database, is_first=self._settled is None)
            self._settled = database
        return added

    def take_in(self, database: apsw.Connection, progress: Progress = ignore_progress) -> int:
        """Take in what changed; return how many passages are new."""
        added = self._sync_files(database, progress)
        added += sum(self._follow(database, store) for store in self._followed.values())
        self._forget_unfollowed(database)
        self._retire_ended(database)
        return added

    def on(self, file: IndexFile) -> IndexSync:
        """Return the same over another connection."""
        return IndexSync(file, [*self._sources, *self._followed.values()], self._now)

    def _settle(self, database: apsw.Connection, *, is_first: bool) -> None:
        """Do what is to be done once after the index was made or opened.

        Where it is opened again, somebody has put another in its place, and may be erasing still.
        """
        with self._file.lock(), database:
            # Others may have made vectors for what has gone since.
            index_vectors.sweep_once(database)
        # A program that was killed while it erased has left its mark.
        if is_first and index_file.is_marked(database):
            index_file.finish(database, self._file)
        elif is_first:
            index_file.scrub_daily(database, self._file)

    def _sync_files(self, database: apsw.Connection, progress: Progress) -> int:
        changed, gone = self._find_stale(database)
        if not changed and not gone:
            return 0
        with self._file.lock():
            # Another program may have taken them in meanwhile.
            known = self._read_signatures(database)
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

    def _find_stale(
        self, database: apsw.Connection
    ) -> tuple[list[tuple[FileSource, str]], list[str]]:
        """Return the files that changed since they were taken in, and those that are gone."""
        known = dict(self._read_signatures(database))
        changed = []
        listed = {path: source for source in self._sources for path in source.paths()}
        for path, source in listed.items():
            looks = signature(path)
            # Without a signature it changed within the last tick, and is always read.
            if looks is not None and (known.pop(path, None) != looks or not looks):
                changed.append((source, path))
        return changed, sorted(known)

    def _read_signatures(self, database: apsw.Connection) -> dict[str, str]:
        """Return the signatures of the files, from memory if nobody has written since."""
        # SQLite counts the writes of others in the first number and our own in the second.
        state = (database, database.pragma("data_version"), database.total_changes())
        if self._seen[0] != state:
            self._seen = state, index_writing.known_signatures(database)
        return self._seen[1]

    def _follow(self, database: apsw.Connection, store: Followed) -> int:
        """Take in what changed in a database of messages, in parts; return what is new of it.

        What is said meanwhile is left to the next time: somebody may say more all the time.
        """
        added = 0
        while True:
            place = index_messages.find_place(database, store.location)
            if place is None and not any(map(_is_there, (store.location, *store.older))):
                return added
            feed = _read_feed(store, place)
            if feed is None or _is_all_known(feed, place):
                return added
            with self._file.lock():
                # Another program may have taken it in meanwhile.
                if index_messages.find_place(database, store.location) != place:
                    continue
                with database:
                    file = place or index_messages.begin(database, store.location, feed.database)
                    added += index_messages.take_in(database, file.file, feed)
                tidy(database)
            if feed.is_last:
                return added

    def _forget_unfollowed(self, database: apsw.Connection) -> None:
        """Take out the messages of databases that are searched no more."""
        gone = [
            path
            for path in index_messages.followed_paths(database)
            if path not in self._followed or not _is_there(Path(path))
        ]
        if gone:
            with self._file.lock(), database:
                for path in gone:
                    index_writing.forget_file(database, path)

    def _retire_ended(self, database: apsw.Connection) -> None:
        """Find facts that ended as older ones; their file does not change when a day passes."""
        today = local_day(self._now())
        if index_writing.has_ended_facts(database, today):
            with self._file.lock(), database:
                index_writing.set_ended_facts_older(database, today)


def _is_there(path: Path) -> bool:
    """Whether there is a file; one that nobody may look at is there."""
    try:
        return path.exists()
    except OSError:
        return True


def _read_feed(store: Followed, place: FeedPosition | None) -> Feed | None:
    """Read what changed since the index left off; None where it cannot be read now.

    A database under the same name that is another one, or an older copy, is taken in anew.
    """
    try:
        feed = store.changes_since(place.cursor if place else None, MESSAGES_PER_COMMIT)
    except (StorageError, OSError) as error:
        # What cannot be read is not gone: what was found in it before can still be found.
        atomic.log.warning("%s; what it held before is still found", error)
        return None
    if place and (feed.database != place.database or _goes_back(feed, place)):
        raise Outdated
    return feed


def _goes_back(feed: Feed, place: FeedPosition) -> bool:
    at, was = feed.cursor, place.cursor
    return at.message < was.message or at.change < was.change


def _is_all_known(feed: Feed, place: FeedPosition | None) -> bool:
    return place is not None and feed.cursor == place.cursor and not (feed.found or feed.gone)


def _is_much(paths: Iterable[str]) -> bool:
    """Whether it takes a while to read these files."""
    sizes = (Path(path).stat().st_size for path in paths if Path(path).exists())
    return sum(sizes) > MUCH_BYTES


def _looks_new(path: str, known: Mapping[str, str]) -> bool:
    looks = signature(path)
    return not looks or known.get(path) != looks


def _batches(
    database: apsw.Connection, changed: Iterable[tuple[FileSource, str]]
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


def _read(database: apsw.Connection, source: FileSource, name: str) -> Found | None:
    """Read a file that looks changed; nothing when it holds what it held."""
    looks, path = signature(name), Path(name)
    if looks is None:
        return None
    try:
        data = atomic.read(path, max_bytes(source, path)) or b""
    except StorageError as error:
        # What cannot be read is not gone: what was found in it before can still be found.
        atomic.log.warning("%s; what it held before is still found", error)
        return None
    if index_writing.is_same(database, name, looks, data):
        return None
    return Found(name, looks, atomic.version(data), *source.cut(path, data))
