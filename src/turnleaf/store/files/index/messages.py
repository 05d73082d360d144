"""Taking messages into the index, as the feed of their database tells of them.

What is new costs what is new: beside it only the messages right before and after are written
again, because what is said around a message is part of how it is found.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.messages import TRUSTED, Cursor
from turnleaf.core.search.passages import Passage, Placed, are_close, of_message
from turnleaf.store.ambient import local_day
from turnleaf.store.files.index import file as index_file
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index.rows import to_moment
from turnleaf.store.files.index.writing import (
    Numbered,
    forget,
    insert,
    make_columns,
    meaning_of,
    next_number,
    to_storable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import apsw

    from turnleaf.core.messages import Feed

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


def find_place(database: apsw.Connection, path: Path) -> FeedPosition | None:
    """Return where a database of messages was left off; None: nothing was taken in yet."""
    row: Any = database.execute(
        "SELECT id, database, message, change FROM files JOIN feeds ON file = id WHERE path = ?",
        (os.fsencode(path),),
    ).fetchone()
    return FeedPosition(row[0], row[1], Cursor(*row[2:])) if row else None


def followed_paths(database: apsw.Connection) -> list[str]:
    """Return the databases from which messages were taken in."""
    rows: Any = database.execute("SELECT path FROM files JOIN feeds ON file = id")
    return [os.fsdecode(path) for (path,) in rows]


def begin(database: apsw.Connection, path: Path, name: str) -> FeedPosition:
    """Begin to follow a database, of which nothing was taken in."""
    file = database.execute(
        "INSERT INTO files (path, signature, version) VALUES (?, '', '') RETURNING id",
        (os.fsencode(path),),
    ).get
    database.execute(
        "INSERT INTO feeds (file, database, message, change) VALUES (?, ?, 0, 0)", (file, name)
    )
    return FeedPosition(file, name, Cursor())


def take_in(database: apsw.Connection, file: int, feed: Feed) -> int:
    """Take in what a feed tells, and how far that is; return how many passages are new."""
    numbers = [*feed.gone, *(one.id for one in feed.found)]
    rows: Any = database.execute(
        "SELECT id, conversation, message FROM passages "
        "WHERE file = ? AND message IN (SELECT value FROM json_each(?))",
        (file, json.dumps(numbers)),
    )
    stood = rows.fetchall()
    gone = forget(database, [number for number, *_ in stood])
    if feed.gone and stood:
        index_file.note_removal(database)
    said = [passage for one in feed.found for passage in of_message(one, local_day)]
    first = next_number(database)
    fresh = [Numbered(number, Placed(one)) for number, one in enumerate(said, first)]
    insert(database, file, KIND, ((one, bytes([0])) for one in fresh))
    neighbours = _Neighbours(database, file, fresh)
    for conversation, first_message, last_message in sorted(_find_spans(stood, said)):
        neighbours.join(conversation, first_message, last_message)
    gone += neighbours.write()
    database.execute(
        "UPDATE feeds SET message = ?, change = ? WHERE file = ?",
        (feed.cursor.message, feed.cursor.change, file),
    )
    index_vectors.erase_unused(database, gone)
    return len(fresh)


def _find_spans(
    stood: Iterable[tuple[int, str, int]], said: Iterable[Passage]
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
                else _number(row, rows[max(0, place - 1) : place]),
                row.after if row.message > last else _number(row, rows[place + 1 : place + 2]),
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
            meaning = meaning_of(placed[number])
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


def _number(row: _NeighbourRow, beside: Sequence[_NeighbourRow]) -> int | None:
    """Return the number of what stands beside a passage, if it was said at about that time."""
    return next((other.id for other in beside if row.is_close(other)), None)
