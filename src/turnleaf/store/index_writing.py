"""Taking files into the index: only what changed, and nothing twice."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.passages import placed
from turnleaf.core.pieces import WHOLE_COLUMNS, embedded
from turnleaf.core.probes import Profile
from turnleaf.core.terms import date_terms, terms
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from turnleaf.core.passages import Passage, Placed

CONTEXT_TERMS = 64
SHORT_CHARS = WHOLE_COLUMNS // 2
RACY_SECONDS = 0.05


# What is said before a message is also said after another.
_terms = lru_cache(maxsize=64)(terms)
_date_terms = lru_cache(maxsize=64)(date_terms)


class Found(NamedTuple):
    """A file as it was read: how it looked without reading it, and what it holds."""

    path: str
    signature: str
    version: str
    kind: str
    passages: Sequence[Passage]


def signature(path: str) -> str | None:
    """Name a file's state without reading it; empty for one that changed just now, None for none.

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


def known_signatures(database: apsw.Connection) -> dict[str, str]:
    """Give the files that were taken in, as they looked then."""
    rows: Any = database.execute("SELECT path, signature FROM files")
    return {os.fsdecode(path): seen for path, seen in rows}


def is_same(database: apsw.Connection, path: str, seen: str, data: bytes) -> bool:
    """Tell whether a file holds what was taken in, and remember how it looks now."""
    return bool(
        database.execute(
            "UPDATE files SET signature = ? WHERE path = ? AND version = ? RETURNING id",
            (seen, os.fsencode(path), files.version(data)),
        ).get
    )


def take_in(database: apsw.Connection, batch: Iterable[Found]) -> int:
    """Let files' passages be what they hold now; give how many are new."""
    fresh: list[tuple[int, Placed]] = []
    for found in batch:
        fresh += _replace(database, found)
    # All at once and last, because FTS5 writes out what it has whenever something else is written.
    database.executemany(
        "INSERT INTO words (rowid, own, context) VALUES (?, ?, ?)",
        ((number, *_columns(one)) for number, one in fresh),
    )
    return len(fresh)


def _replace(database: apsw.Connection, found: Found) -> list[tuple[int, Placed]]:
    """Keep what stands as before, whatever its line; give what is new and has no words yet."""
    file = database.execute(
        "INSERT INTO files (path, signature, version) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (path) DO UPDATE SET signature = ?2, version = ?3 RETURNING id",
        (os.fsencode(found.path), found.signature, found.version),
    ).get
    before: dict[bytes, list[tuple[int, int, int | None]]] = {}
    stood = "SELECT shape, id, line, place FROM passages WHERE file = ? ORDER BY id DESC"
    for shape, *passage in database.execute(stood, (file,)):
        before.setdefault(shape, []).append(tuple(passage))
    fresh = []
    moved = []
    for one in placed(found.passages):
        shape = _shape(one)
        same = before.get(shape)
        if same:
            number, *stands = same.pop()
            if stands != [one.passage.line, one.place]:
                moved.append((one.passage.line, one.place, number))
        else:
            fresh.append((shape, one))
    _forget(database, [number for several in before.values() for number, *_ in several])
    database.executemany("UPDATE passages SET line = ?, place = ? WHERE id = ?", moved)
    return _inserted(database, file, found.kind, fresh)


def forget_file(database: apsw.Connection, path: str) -> None:
    """Take a file's passages out."""
    forgotten = "DELETE FROM files WHERE path = ? RETURNING id"
    file = database.execute(forgotten, (os.fsencode(path),)).get
    rows = database.execute("SELECT id FROM passages WHERE file = ?", (file,))
    _forget(database, [number for (number,) in rows])


def _shape(one: Placed) -> bytes:
    """Name all that is indexed of a passage; its line may change without that."""
    said = one.passage
    parts = (
        said.text, said.heading, said.date, said.conversation, said.speaker, said.id,
        one.before and one.before.text, one.after and one.after.text,
    )  # fmt: skip
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _inserted(
    database: apsw.Connection, file: int, kind: str, fresh: Sequence[tuple[bytes, Placed]]
) -> list[tuple[int, Placed]]:
    first = 1 + (database.execute("SELECT max(id) FROM passages").get or 0)
    database.executemany(
        "INSERT INTO passages (id, file, kind, shape, fingerprint, meaning, text, line, place, "
        "heading, date, conversation, speaker, ref) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (number, file, kind, shape, said.fingerprint, _meaning(one), _storable(said.text),
             said.line, one.place, *(part and _storable(part) for part in (
                 said.heading, said.date, said.conversation, said.speaker, said.id)))
            for number, (shape, one) in enumerate(fresh, first)
            for said in (one.passage,)
        ),
    )  # fmt: skip
    _count(database, len(fresh))
    return [(number, one) for number, (_, one) in enumerate(fresh, first)]


def _columns(one: Placed) -> tuple[str, str]:
    """Give a passage's own words with its date, and the nearest of what stands around it."""
    own = _terms(one.passage.text)
    dated = [term for term in _date_terms(one.passage.date or "") if term not in own]
    around = chain(
        _terms(one.before.text)[-CONTEXT_TERMS:] if one.before else (),
        _terms(one.after.text)[:CONTEXT_TERMS] if one.after else (),
        _terms(one.passage.heading)[:CONTEXT_TERMS] if one.passage.heading else (),
    )
    return " ".join([*own, *dated]), " ".join(around)


def _count(database: apsw.Connection, added: int) -> None:
    """Keep the number of passages, because counting them would take longer than a search."""
    database.execute("UPDATE totals SET passages = passages + ?", (added,))


def _forget(database: apsw.Connection, numbers: Sequence[int]) -> None:
    """Take passages out, and the vectors of texts that stand nowhere any more."""
    _count(database, -len(numbers))
    for number in numbers:
        meaning = database.execute(
            "DELETE FROM passages WHERE id = ? RETURNING meaning", (number,)
        ).get
        database.execute("DELETE FROM words WHERE rowid = ?", (number,))
        database.execute(
            "DELETE FROM vectors WHERE meaning = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM passages WHERE meaning = ?1)",
            (meaning,),
        )


def _storable(text: str) -> str:
    """Give a text as the database can hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


# Vectors.


def set_model(database: apsw.Connection, name: str, known: Profile) -> None:
    """Say whose vectors are kept, and forget those of any other model."""
    database.execute("DELETE FROM vectors; DELETE FROM model;")
    row = (name, " ".join(known.scripts), known.floor)
    database.execute("INSERT INTO model (name, scripts, floor) VALUES (?, ?, ?)", row)


def profile_of(database: apsw.Connection, name: str) -> Profile | None:
    """Give what is known of a model, if it is the one whose vectors are kept."""
    row: Any = database.execute(
        "SELECT scripts, floor FROM model WHERE name = ?", (name,)
    ).fetchone()
    return Profile(tuple(row[0].split()), row[1]) if row else None


def has_vectors(database: apsw.Connection) -> bool:
    """Tell whether any text has a vector."""
    return bool(database.execute("SELECT EXISTS (SELECT 1 FROM vectors)").get)


def without_vector(database: apsw.Connection) -> list[bytes]:
    """Name the meanings that have no vector yet, oldest first."""
    rows = database.execute(
        "SELECT meaning FROM passages WHERE meaning NOT IN (SELECT meaning FROM vectors) "
        "GROUP BY meaning ORDER BY min(id)"
    )
    return [meaning for (meaning,) in rows]


def texts_of(database: apsw.Connection, meanings: Iterable[bytes]) -> dict[bytes, list[str]]:
    """Give what is to be embedded for those meanings that still stand somewhere."""
    found = {meaning: _texts(database, meaning) for meaning in meanings}
    return {meaning: texts for meaning, texts in found.items() if texts}


def store_vectors(
    database: apsw.Connection, name: str, vectors: Mapping[bytes, Sequence[bytes]]
) -> None:
    """Keep the vectors of what still stands somewhere, unless the model was changed."""
    if not profile_of(database, name):
        return
    for meaning, several in vectors.items():
        database.execute("DELETE FROM vectors WHERE meaning = ?", (meaning,))
        database.executemany(
            "INSERT INTO vectors (meaning, vector) SELECT ?1, ?2 "
            "WHERE EXISTS (SELECT 1 FROM passages WHERE meaning = ?1)",
            ((meaning, vector) for vector in several),
        )


def _meaning(one: Placed) -> bytes:
    """Name what is embedded of a passage: itself, or its pieces, or what is around it as well."""
    if not one.before and not one.after and len(one.passage.text) <= SHORT_CHARS:
        return one.passage.fingerprint
    texts = (side.text if side else "" for side in (one.passage, one.before, one.after))
    joined = "\0".join(embedded(*map(_storable, texts)))
    return hashlib.blake2b(joined.encode(), digest_size=16).digest()


def _texts(database: apsw.Connection, meaning: bytes) -> list[str]:
    row: Any = database.execute(
        "SELECT text, file, conversation, place FROM passages WHERE meaning = ?", (meaning,)
    ).fetchone()
    if row is None:
        return []
    text, file, conversation, place = row
    if place is None:
        return embedded(text)
    beside = "SELECT text FROM passages WHERE conversation = ? AND place = ? AND file = ? LIMIT 1"
    before, after = (
        database.execute(beside, (conversation, place + step, file)).get or "" for step in (-1, 1)
    )
    return embedded(text, before, after)
