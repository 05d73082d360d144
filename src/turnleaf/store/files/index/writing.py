"""Taking files into the index: only what changed, and nothing twice."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.search.message_filters import says_nothing
from turnleaf.core.search.passages import (
    WHOLE_COLUMNS,
    Passage,
    Placed,
    find_neighbours,
    list_texts_to_embed,
)
from turnleaf.core.search.terms import list_date_terms, list_terms
from turnleaf.store.files import atomic
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index.database import circle_of, to_milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw


ANSWERER = "assistant"
CONTEXT_TERMS = 64
SHORT_CHARS = WHOLE_COLUMNS // 2
RACY_SECONDS = 0.05

INSERT = """
    INSERT INTO passages (id, file, kind, shape, fingerprint, meaning, text, line, before, after,
        heading, date, conversation, speaker, ref, message, parent, part, earlier, later, time,
        trust, is_shown, circle, until)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_ENDED = "WHERE until IS NOT NULL AND kind = 'memory' AND until < ?"

# What is said before a message is also said after another.
_terms = lru_cache(maxsize=64)(list_terms)
_date_terms = lru_cache(maxsize=64)(list_date_terms)


class Found(NamedTuple):
    """A file as it was read: how it looked without reading it, and what it holds."""

    path: str
    signature: str
    version: str
    kind: str
    passages: Sequence[Passage]


class Numbered(NamedTuple):
    """A passage with its number, and the numbers of those right before and after it."""

    number: int
    placed: Placed
    before: int | None = None
    after: int | None = None


def read_signature(path: str) -> str | None:
    """Return a file's signature without reading it; empty if it changed just now, None if missing.

    Two changes within one tick of the file system's clock would look the same.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of every file at each search
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    if not stat.S_ISREG(found.st_mode):
        return None
    if time.time() - found.st_ctime < RACY_SECONDS:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def read_known_signatures(database: apsw.Connection) -> dict[str, str]:
    """Return the files that were taken in, as they looked then."""
    rows: Any = database.execute(
        # Of a database in WAL mode the file's time says nothing; its feed does.
        "SELECT path, signature FROM files WHERE id NOT IN (SELECT file FROM feeds)"
    )
    return {os.fsdecode(path): seen for path, seen in rows}


def is_same(database: apsw.Connection, path: str, seen: str, data: bytes) -> bool:
    """Whether a file holds what was taken in; if so, remember its present signature."""
    return bool(
        database.execute(
            # Saved without a change: the next search need not read it.
            "UPDATE files SET signature = ? WHERE path = ? AND version = ? RETURNING id",
            (seen, os.fsencode(path), atomic.name_version(data)),
        ).get
    )


def take_in(database: apsw.Connection, batch: Iterable[Found]) -> int:
    """Replace files' passages by what they hold now; return how many are new."""
    fresh: list[Numbered] = []
    gone: list[bytes] = []
    for found in batch:
        fresh += _replace(database, found, gone)
    # All at once and last, because FTS5 writes out what it has whenever something else is written.
    database.executemany(
        "INSERT INTO words (rowid, own, context) VALUES (?, ?, ?)",
        ((one.number, *make_columns(one.placed)) for one in fresh),
    )
    index_vectors.erase_unused(database, gone)
    return len(fresh)


def _replace(database: apsw.Connection, found: Found, gone: list[bytes]) -> list[Numbered]:
    """Keep what stands as before, whatever its line; give what is new and has no words yet."""
    file = database.execute(
        "INSERT INTO files (path, signature, version) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (path) DO UPDATE SET signature = ?2, version = ?3 RETURNING id",
        (os.fsencode(found.path), found.signature, found.version),
    ).get
    stood = _read_standing(database, file)
    unused = find_next_number(database)
    numbers: dict[int, int] = {}
    stands: dict[int, tuple[Any, ...]] = {}
    shapes: dict[int, bytes] = {}
    placed = find_neighbours(found.passages)
    for one in placed:
        shape = fingerprint_shape(one)
        same = stood.get(shape)
        number, *row = same.pop() if same else (unused,)
        unused += not same and not row
        numbers[id(one.passage)] = number
        shapes[number] = shape
        if row:
            stands[number] = tuple(row)
    gone += forget(database, [number for several in stood.values() for number, *_ in several])
    numbered = [
        Numbered(
            numbers[id(one.passage)],
            one,
            *(numbers[id(side)] if side else None for side in (one.before, one.after)),
        )
        for one in placed
    ]
    _move(
        database,
        [one for one in numbered if stands.get(one.number, _to_place(one)) != _to_place(one)],
    )
    fresh = [one for one in numbered if one.number not in stands]
    insert(database, file, found.kind, ((one, shapes[one.number]) for one in fresh))
    return fresh


def _read_standing(database: apsw.Connection, file: int) -> dict[bytes, list[tuple[Any, ...]]]:
    """Return the passages of a file by their shape, the first one last, and where they stand."""
    stood: dict[bytes, list[tuple[Any, ...]]] = {}
    rows: Any = database.execute(
        "SELECT shape, id, line, before, after, message, parent, ref, time FROM passages "
        "WHERE file = ? ORDER BY id DESC",
        (file,),
    )
    for shape, *passage in rows:
        stood.setdefault(shape, []).append(tuple(passage))
    return stood


def _to_place(one: Numbered) -> tuple[Any, ...]:
    """Return what may change of a passage without its being another."""
    said = one.placed.passage
    moment = said.time and to_milliseconds(said.time)
    reference = said.id and to_storable(said.id)
    return said.line, one.before, one.after, said.message, said.parent, reference, moment


def _move(database: apsw.Connection, moved: Iterable[Numbered]) -> None:
    database.executemany(
        "UPDATE passages SET line = ?, before = ?, after = ?, message = ?, parent = ?, ref = ?, "
        "time = ? WHERE id = ?",
        ((*_to_place(one), one.number) for one in moved),
    )


def has_ended_facts(database: apsw.Connection, today: str) -> bool:
    """Whether the last day of a fact is over that is still searched as current."""
    return bool(database.execute(f"SELECT 1 FROM passages {_ENDED} LIMIT 1", (today,)).get)  # noqa: S608


def set_ended_facts_older(database: apsw.Connection, today: str) -> None:
    """Count facts whose last day is over as older ones, also where they have not moved yet."""
    database.execute(f"UPDATE passages SET kind = 'older' {_ENDED}", (today,))  # noqa: S608


def forget_file(database: apsw.Connection, path: str) -> None:
    """Take a file's passages out."""
    forgotten = "DELETE FROM files WHERE path = ? RETURNING id"
    file = database.execute(forgotten, (os.fsencode(path),)).get
    rows: Any = database.execute("SELECT id FROM passages WHERE file = ?", (file,))
    gone = forget(database, [number for (number,) in rows])
    database.execute("DELETE FROM feeds WHERE file = ?", (file,))
    index_vectors.erase_unused(database, gone)


def fingerprint_shape(one: Placed) -> bytes:
    """Return a fingerprint of all that is indexed of a passage; its line may change without it.

    A message in a file is numbered by its place, which changes when older ones go.
    """
    said = one.passage
    parts = (
        said.text, said.heading, said.date, said.conversation, said.speaker,
        said.id if said.message is None else (said.part, said.earlier, said.later),
        said.trust, said.audience, said.until,
        one.before and one.before.spoken_text, one.after and one.after.spoken_text,
    )  # fmt: skip
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def find_next_number(database: apsw.Connection) -> int:
    """Return the number of the next passage."""
    return 1 + int(database.execute("SELECT max(id) FROM passages").get or 0)


def insert(
    database: apsw.Connection, file: int, kind: str, fresh: Iterable[tuple[Numbered, bytes]]
) -> None:
    """Keep passages, each with its shape; they may have no vector yet."""
    rows = [_make_row(database, file, kind, one, shape) for one, shape in fresh]
    database.executemany(INSERT, rows)
    database.executemany("INSERT INTO missing (passage) VALUES (?)", ((row[0],) for row in rows))
    _count(database, len(rows))


def _make_row(
    database: apsw.Connection, file: int, kind: str, one: Numbered, shape: bytes
) -> tuple[Any, ...]:
    said = one.placed.passage
    texts = (said.heading, said.date, said.conversation, said.speaker, said.id)
    return (
        one.number, file, kind, shape, said.fingerprint, fingerprint_meaning(one.placed),
        to_storable(said.text), said.line, one.before, one.after,
        *(part and to_storable(part) for part in texts),
        said.message, said.parent, said.part, said.earlier, said.later,
        said.time and to_milliseconds(said.time), said.trust, said.is_shown,
        circle_of(database, said), said.until,
    )  # fmt: skip


def make_columns(one: Placed) -> tuple[str, str]:
    """Return a passage's own words with its day and speaker, and the nearest of what is around."""
    own = _terms(one.passage.text)
    before, after = (_with_sense(side) for side in (one.before, one.after))
    added = (*_date_terms(one.passage.date or ""), *_terms(one.passage.name))
    around = chain(
        _terms(before.text)[-CONTEXT_TERMS:] if before else (),
        _terms(after.text)[:CONTEXT_TERMS] if after else (),
        _terms(one.passage.heading)[:CONTEXT_TERMS] if one.passage.heading else (),
    )
    return " ".join([*own, *(term for term in added if term not in own)]), " ".join(around)


def _count(database: apsw.Connection, added: int) -> None:
    """Keep the number of passages, because counting them would take longer than a search."""
    database.execute("UPDATE totals SET passages = passages + ?", (added,))


def forget(database: apsw.Connection, numbers: Sequence[int]) -> list[bytes]:
    """Take passages out; give what they meant, which may stand nowhere any more."""
    _count(database, -len(numbers))
    gone = []
    for number in numbers:
        forgotten = "DELETE FROM passages WHERE id = ? RETURNING meaning"
        gone.append(database.execute(forgotten, (number,)).get)
        database.execute("DELETE FROM missing WHERE passage = ?", (number,))
    database.executemany("DELETE FROM words WHERE rowid = ?", ((number,) for number in numbers))
    return gone


def to_storable(text: str) -> str:
    """Return a text as the database can hold it."""
    # The index may lose a lone surrogate, since the conversation itself keeps it.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


# What is embedded.


def fingerprint_meaning(one: Placed) -> bytes:
    """Fingerprint what is embedded: the passage, its pieces, or its neighbours as well."""
    said = one.passage
    before, after = _find_other_messages(one)
    if not before and not after and not said.name and len(said.text) <= SHORT_CHARS:
        return said.fingerprint
    texts = (side.spoken_text if side else "" for side in (said, before, after))
    joined = "\0".join(list_texts_to_embed(*map(to_storable, texts)))
    return hashlib.blake2b(joined.encode(), digest_size=16).digest()


def read_texts(database: apsw.Connection, meanings: Iterable[bytes]) -> dict[bytes, list[str]]:
    """Return what is to be embedded for those meanings that still stand somewhere."""
    found = {meaning: _read_texts(database, meaning) for meaning in meanings}
    return {meaning: texts for meaning, texts in found.items() if texts}


def _read_texts(database: apsw.Connection, meaning: bytes) -> list[str]:
    row: Any = database.execute(
        "SELECT text, speaker, message, before, after FROM passages WHERE meaning = ?", (meaning,)
    ).fetchone()
    if row is None:
        return []
    said = Passage(row[0], 0, speaker=row[1], message=row[2])
    before, after = (_recall_passage(database, number) for number in row[3:])
    return choose_texts_to_embed(Placed(said, before, after))


def choose_texts_to_embed(one: Placed) -> list[str]:
    """Return what stands for a passage in its place."""
    sides = (side.spoken_text if side else "" for side in _find_other_messages(one))
    return list_texts_to_embed(one.passage.spoken_text, *sides)


def _recall_passage(database: apsw.Connection, number: int | None) -> Passage | None:
    row: Any = database.execute(
        "SELECT text, speaker, message FROM passages WHERE id = ?", (number,)
    ).fetchone()
    return Passage(row[0], 0, speaker=row[1], message=row[2]) if row else None


def _find_other_messages(one: Placed) -> list[Passage | None]:
    """Return the neighbours of a passage, without parts of the message that it is a part of.

    Beside each other, all parts of a long message would mean nearly the same.
    """
    own = one.passage.message
    return [
        None if side and own is not None and side.message == own else _with_sense(side)
        for side in (one.before, one.after)
    ]


def _with_sense(side: Passage | None) -> Passage | None:
    """Return a neighbour unless it says nothing: beside "I found nothing" all would mean that."""
    return None if side and side.speaker == ANSWERER and says_nothing(side.text) else side
