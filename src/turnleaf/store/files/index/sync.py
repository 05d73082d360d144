"""Keeping an index up to date with the files and conversations that it is made from.

Files are compared with what was taken in of them. Messages come by the feed of their database, and
what is new costs what is new: beside it only the messages right before and after are written again,
because what is said around a message is part of how it is found.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.messages import TRUSTED, Cursor
from turnleaf.core.search.passages import Passage, Placed, are_close, cut_feed_message
from turnleaf.errors import StorageError
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.files import atomic
from turnleaf.store.files.index import file as index_file
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index import writing as index_writing
from turnleaf.store.files.index.database import Outdated, tidy, to_moment
from turnleaf.store.files.index.writing import (
    Found,
    Numbered,
    find_next_number,
    fingerprint_meaning,
    forget,
    insert,
    make_columns,
    read_signature,
    to_storable,
)
from turnleaf.store.files.sources import FileSource, find_max_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import apsw

    from turnleaf.core.messages import Feed
    from turnleaf.store.files.index.file import IndexFile
    from turnleaf.store.files.sources import Followed

    Progress = Callable[[int, int], None]


KIND = "conversations"
_SELECT = f"""
    SELECT id, message, time, before, after FROM passages
    WHERE conversation = ? AND file = ? AND is_shown AND trust IN {TRUSTED} AND message
"""  # noqa: S608 - of constants


class FeedPosition(NamedTuple):
    """Where a database of messages was left off."""

    file: int
    database: str
    cursor: Cursor


def find_feed_position(database: apsw.Connection, path: Path) -> FeedPosition | None:
    """Return where a database of messages was left off; None: nothing was taken in yet."""
    row: Any = database.execute(
        "SELECT id, database, message, change FROM files JOIN feeds ON file = id WHERE path = ?",
        (os.fsencode(path),),
    ).fetchone()
    return FeedPosition(row[0], row[1], Cursor(*row[2:])) if row else None


def list_followed_paths(database: apsw.Connection) -> list[str]:
    """Return the databases from which messages were taken in."""
    rows: Any = database.execute("SELECT path FROM files JOIN feeds ON file = id")
    return [os.fsdecode(path) for (path,) in rows]


def begin_feed(database: apsw.Connection, path: Path, name: str) -> FeedPosition:
    """Begin to follow a database, of which nothing was taken in."""
    file = database.execute(
        "INSERT INTO files (path, signature, version) VALUES (?, '', '') RETURNING id",
        (os.fsencode(path),),
    ).get
    database.execute(
        "INSERT INTO feeds (file, database, message, change) VALUES (?, ?, 0, 0)", (file, name)
    )
    return FeedPosition(file, name, Cursor())


def take_in_messages(database: apsw.Connection, file: int, feed: Feed) -> int:
    """Take in what a feed tells, and how far that is; return how many passages are new."""
    numbers = [*feed.gone, *(one.id for one in feed.found)]
    rows: Any = database.execute(
        "SELECT id, conversation, message FROM passages "
        "WHERE file = ? AND message IN (SELECT value FROM json_each(?))",
        (file, json.dumps(numbers)),
    )
    stood = rows.fetchall()
    # Also what is found again: its words, neighbours or readers may be others now.
    gone = forget(database, [number for number, *_ in stood])
    if feed.gone and stood:
        index_file.note_removal(database)
    said = [passage for one in feed.found for passage in cut_feed_message(one, find_local_day)]
    first = find_next_number(database)
    fresh = [Numbered(number, Placed(one)) for number, one in enumerate(said, first)]
    insert(database, file, KIND, ((one, bytes([0])) for one in fresh))
    neighbours = _Neighbours(database, file, fresh)
    for conversation, first_message, last_message in sorted(find_spans(stood, said)):
        neighbours.join(conversation, first_message, last_message)
    gone += neighbours.write()
    database.execute(
        # In the transaction that adds the messages: after
        # a kill none is missed and none is there twice.
        "UPDATE feeds SET message = ?, change = ? WHERE file = ?",
        (feed.cursor.message, feed.cursor.change, file),
    )
    index_vectors.erase_unused(database, gone)
    return len(fresh)


def find_spans(
    stood: Iterable[Sequence[Any]], said: Iterable[Passage]
) -> set[tuple[str, int, int]]:
    """Return, by conversation, from which to which message something changed.

    What is new of a conversation is mostly its end; what changed in it may be anywhere.
    """
    spans = {(conversation, message, message) for _, conversation, message in stood}
    again = {message for _, _, message in stood}
    new: dict[str, list[int]] = {}
    for one in said:
        if one.message is not None and one.message not in again:
            new.setdefault(to_storable(one.conversation or ""), []).append(one.message)
    return spans | {(key, min(messages), max(messages)) for key, messages in new.items()}


class _NeighbourRow(NamedTuple):
    """A passage that has neighbours, as it stands."""

    id: int
    message: int
    time: int | None
    before: int | None
    after: int | None

    def is_close(self, other: _NeighbourRow) -> bool:
        """Whether both were said at about the same time."""
        moments = (None if one.time is None else to_moment(one.time) for one in (self, other))
        return are_close(*moments)


class _Neighbours:
    """Joins passages to those right before and after; their words and meanings follow."""

    def __init__(self, database: apsw.Connection, file: int, fresh: Iterable[Numbered]) -> None:
        self._database = database
        self._file = file
        self._said = {one.number: one.placed.passage for one in fresh}
        self._fresh = {*self._said}
        self._links: dict[int, tuple[int | None, int | None]] = {}

    def join(self, conversation: str, first: int, last: int) -> None:
        """Join the passages of some messages to each other and to what stands around them."""
        rows = self._read(conversation, first, last)
        for place, row in enumerate(rows):
            links = (
                row.before
                if row.message < first
                else _find_number(row, rows[max(0, place - 1) : place]),
                row.after if row.message > last else _find_number(row, rows[place + 1 : place + 2]),
            )
            if links != (row.before, row.after):
                self._links[row.id] = links
        self._database.executemany(
            "UPDATE passages SET before = ?, after = ? WHERE id = ?",
            ((*self._links[row.id], row.id) for row in rows if row.id in self._links),
        )

    def write(self) -> list[bytes]:
        """Write words and meanings anew where neighbours changed; return the former meanings."""
        written = sorted(self._fresh | self._links.keys())
        self._recall({*written, *(one for links in self._links.values() for one in links if one)})
        placed = {number: self._place(number) for number in written}
        gone = self._set_meanings(placed)
        older = [number for number in written if number not in self._fresh]
        self._database.executemany(
            "UPDATE words SET own = ?, context = ? WHERE rowid = ?",
            ((*make_columns(placed[number]), number) for number in older),
        )
        self._database.executemany(
            "INSERT INTO words (rowid, own, context) VALUES (?, ?, ?)",
            ((number, *make_columns(placed[number])) for number in sorted(self._fresh)),
        )
        return gone

    def _read(self, conversation: str, first: int, last: int) -> list[_NeighbourRow]:
        """Read the passages of some messages that have neighbours, with one on either side."""
        whose = (conversation, self._file)
        before = self._select("< ? ORDER BY message DESC, part DESC LIMIT 1", *whose, first)
        among = self._select("BETWEEN ? AND ? ORDER BY message, part", *whose, first, last)
        after = self._select("> ? ORDER BY message, part LIMIT 1", *whose, last)
        return [*before, *among, *after]

    def _select(self, which: str, *values: str | int) -> list[_NeighbourRow]:
        rows: Any = self._database.execute(f"{_SELECT} {which}", values)
        return [_NeighbourRow(*row) for row in rows]

    def _recall(self, numbers: Iterable[int]) -> None:
        """Read what is said in passages that were not taken in just now."""
        rows: Any = self._database.execute(
            "SELECT id, text, speaker, date, message FROM passages "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([number for number in numbers if number not in self._said]),),
        )
        for number, text, speaker, day, message in rows:
            self._said[number] = Passage(text, 0, date=day, speaker=speaker, message=message)

    def _place(self, number: int) -> Placed:
        beside = self._links.get(number, (None, None))
        return Placed(
            self._said[number], *((one and self._said.get(one)) or None for one in beside)
        )

    def _set_meanings(self, placed: Mapping[int, Placed]) -> list[bytes]:
        gone = []
        for number in self._links:
            meaning = fingerprint_meaning(placed[number])
            before = self._database.execute(
                "SELECT meaning FROM passages WHERE id = ?", (number,)
            ).get
            if meaning != before:
                gone.append(before)
                self._database.execute(
                    "UPDATE passages SET meaning = ? WHERE id = ?", (meaning, number)
                )
                self._database.execute("INSERT OR IGNORE INTO missing VALUES (?)", (number,))
        return gone


def _find_number(row: _NeighbourRow, beside: Sequence[_NeighbourRow]) -> int | None:
    """Return the number of what stands beside a passage, if it was said at about that time."""
    return next((other.id for other in beside if row.is_close(other)), None)


PASSAGES_PER_COMMIT = 5000
# In parts, between which others get the lock.
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
            changed = [(source, path) for source, path in changed if _is_new(path, known)]
            with database:
                for path in gone:
                    index_writing.forget_file(database, path)
            added = 0
            is_told = _is_much(path for _, path in changed)
            if is_told:
                progress(0, len(changed))
            for done, batch in _read_batches(database, changed):
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
            looks = read_signature(path)
            # Without a signature it changed within the last tick, and is always read.
            if looks is not None and (known.pop(path, None) != looks or not looks):
                changed.append((source, path))
        return changed, sorted(known)

    def _read_signatures(self, database: apsw.Connection) -> dict[str, str]:
        """Return the signatures of the files, from memory if nobody has written since."""
        # SQLite counts the writes of others in the first number and our own in the second.
        state = (database, database.pragma("data_version"), database.total_changes())
        if self._seen[0] != state:
            self._seen = state, index_writing.read_known_signatures(database)
        return self._seen[1]

    def _follow(self, database: apsw.Connection, store: Followed) -> int:
        """Take in what changed in a database of messages, in parts; return what is new of it.

        What is said meanwhile is left to the next time: somebody may say more all the time.
        """
        added = 0
        while True:
            place = find_feed_position(database, store.location)
            # To ask the store would make its database.
            if place is None and not any(map(_is_there, (store.location, *store.older))):
                return added
            feed = _read_feed(store, place)
            if feed is None or _is_all_known(feed, place):
                return added
            with self._file.lock():
                # Another program may have taken it in meanwhile.
                if find_feed_position(database, store.location) != place:
                    continue
                with database:
                    file = place or begin_feed(database, store.location, feed.database)
                    added += take_in_messages(database, file.file, feed)
                tidy(database)
            if feed.is_last:
                return added

    def _forget_unfollowed(self, database: apsw.Connection) -> None:
        """Take out the messages of databases that are searched no more."""
        gone = [
            path
            for path in list_followed_paths(database)
            if path not in self._followed or not _is_there(Path(path))
        ]
        if gone:
            with self._file.lock(), database:
                for path in gone:
                    index_writing.forget_file(database, path)

    def _retire_ended(self, database: apsw.Connection) -> None:
        """Find facts that ended as older ones; their file does not change when a day passes."""
        today = find_local_day(self._now())
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
        atomic.log.warning("%s; its earlier contents can still be found", error)
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


def _is_new(path: str, known: Mapping[str, str]) -> bool:
    looks = read_signature(path)
    return not looks or known.get(path) != looks


def _read_batches(
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
    # Before the reading: what is saved during it looks new to the next search.
    looks, path = read_signature(name), Path(name)
    if looks is None:
        return None
    try:
        data = atomic.read(path, find_max_bytes(source, path)) or b""
    except StorageError as error:
        # What cannot be read is not gone: what was found in it before can still be found.
        atomic.log.warning("%s; its earlier contents can still be found", error)
        return None
    if index_writing.is_same(database, name, looks, data):
        return None
    return Found(name, looks, atomic.name_version(data), *source.cut(path, data))
