"""The vectors of an index: made once for a content, kept in a byte a number, compared by numpy.

They stand in blocks that are read one after the other, which takes a fifth of the time that rows
of their own would take. A slot that becomes free is overwritten with zeros and used again.
"""

from __future__ import annotations

import json
import struct
from importlib import import_module
from typing import TYPE_CHECKING, Any

from turnleaf.core.search.ranking import Near, Unrelated
from turnleaf.core.search.vectors import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw
    import numpy as np

    from turnleaf.store.files.index.database import Narrowing

    Cosines = np.ndarray[Any, Any]

# numpy multiplies a whole block with the query at once.
PER_BLOCK = 128
NEAREST = 400
MOST_TRIED = 8400
SCALE_BYTES = 4
"""Behind the vectors of a block stands a float for each, which makes its length one."""
_LARGEST = 127
_STEP = 128
_EMPTY = -2.0
_PLACE = "slot, kind, is_shown, shape, line, part, passages.id"


# Whose vectors these are.


def set_model(database: apsw.Connection, name: str, known: Profile, dimension: int) -> None:
    """Set the model whose vectors are kept, and forget those of any other."""
    # Vectors of two models cannot be compared.
    forget_model(database)
    database.execute(
        "INSERT INTO model (name, scripts, mean, deviation, dimension) VALUES (?, ?, ?, ?, ?)",
        (name, " ".join(known.scripts), *known.unrelated, dimension),
    )


def forget_model(database: apsw.Connection) -> None:
    """Forget all vectors, and whose they were."""
    database.execute("DELETE FROM slots; DELETE FROM free; DELETE FROM blocks; DELETE FROM model")
    database.execute("INSERT OR IGNORE INTO missing (passage) SELECT id FROM passages")


def read_profile(database: apsw.Connection, name: str) -> Profile | None:
    """Return what is known of a model, if it is the one whose vectors are kept."""
    row: Any = database.execute(
        "SELECT scripts, mean, deviation FROM model WHERE name = ?", (name,)
    ).fetchone()
    return Profile(tuple(row[0].split()), Unrelated(*row[1:])) if row else None


def read_dimension(database: apsw.Connection) -> int:
    """Return how many numbers a vector has, 0 while there is no model."""
    return int(database.execute("SELECT dimension FROM model").get or 0)


def has_vectors(database: apsw.Connection) -> bool:
    """Whether any text has a vector."""
    return bool(database.execute("SELECT EXISTS (SELECT 1 FROM slots)").get)


# What has no vector yet.


def find_missing(database: apsw.Connection, limit: int) -> list[bytes]:
    """Return some meanings that have no vector yet, those said last first."""
    rows: Any = database.execute(
        "SELECT meaning FROM missing JOIN passages ON passages.id = passage "
        "WHERE meaning NOT IN (SELECT meaning FROM slots) ORDER BY passage DESC LIMIT ?",
        (limit,),
    )
    return [*dict.fromkeys(meaning for (meaning,) in rows)]


def find_few(database: apsw.Connection, most: int) -> list[bytes]:
    """Return the meanings that have no vector yet, if they are few and quickly found."""
    # Several passages may have one text. A long list is not gone through within a search.
    rows = database.execute("SELECT passage FROM missing LIMIT ?", (4 * most + 1,)).fetchall()
    if not rows or len(rows) > 4 * most:
        return []
    meanings = find_missing(database, most + 1)
    return meanings if len(meanings) <= most else []


def count_missing(database: apsw.Connection) -> int:
    """Return how many different texts have no vector yet."""
    return int(
        database.execute(
            "SELECT count(DISTINCT meaning) FROM missing JOIN passages ON passages.id = passage "
            "WHERE meaning NOT IN (SELECT meaning FROM slots)"
        ).get
    )


def has_met_all(database: apsw.Connection) -> bool:
    """Whether there is no passage of which it is not known whether it has a vector."""
    return not database.execute("SELECT EXISTS (SELECT 1 FROM missing)").get


def forget_met(database: apsw.Connection) -> None:
    """Look no more for the vectors that are there."""
    database.execute(
        "DELETE FROM missing WHERE NOT EXISTS (SELECT 1 FROM passages WHERE id = passage "
        "AND meaning NOT IN (SELECT meaning FROM slots))"
    )


def forget_missing(database: apsw.Connection, meanings: Iterable[bytes]) -> None:
    """Look no more for the vectors of some meanings."""
    database.executemany(
        "DELETE FROM missing WHERE passage IN (SELECT id FROM passages WHERE meaning = ?)",
        ((meaning,) for meaning in meanings),
    )


# Keeping and erasing.


def store(database: apsw.Connection, name: str, vectors: Mapping[bytes, Sequence[bytes]]) -> None:
    """Keep the vectors of what still stands somewhere, unless the model was changed.

    A model under the same name whose vectors have another length is another one.
    """
    if not read_profile(database, name):
        return
    size = _count_record_bytes(database)
    if any(
        len(one) != 4 * read_dimension(database) for several in vectors.values() for one in several
    ):
        forget_model(database)
        return
    for meaning, several in vectors.items():
        stands = "SELECT EXISTS (SELECT 1 FROM passages WHERE meaning = ?)"
        records = [quantise(vector) for vector in several]
        # Its text may have been erased while the vector was made.
        if not database.execute(stands, (meaning,)).get:
            continue
        erase(database, [meaning])
        for record in records:
            slot = _take_slot(database, size)
            database.execute("INSERT INTO slots (slot, meaning) VALUES (?, ?)", (slot, meaning))
            _write(database, slot, record)


def erase(database: apsw.Connection, meanings: Iterable[bytes]) -> None:
    """Overwrite the vectors of some meanings."""
    # A block has the vectors of other texts as well, so its row cannot be deleted.
    nothing = bytes(_count_record_bytes(database))
    for meaning in meanings:
        rows: Any = database.execute("SELECT slot FROM slots WHERE meaning = ?", (meaning,))
        for (slot,) in rows.fetchall():
            _write(database, slot, nothing)
            database.execute("DELETE FROM slots WHERE slot = ?", (slot,))
            database.execute("INSERT INTO free (slot) VALUES (?)", (slot,))


def erase_unused(database: apsw.Connection, meanings: Iterable[bytes]) -> None:
    """Overwrite the vectors of those meanings that stand nowhere any more."""
    stands = "SELECT EXISTS (SELECT 1 FROM passages WHERE meaning = ?)"
    erase(database, [one for one in {*meanings} if not database.execute(stands, (one,)).get])


def sweep(database: apsw.Connection) -> None:
    """Overwrite every vector whose text stands nowhere any more."""
    rows: Any = database.execute(
        "SELECT DISTINCT meaning FROM slots WHERE meaning NOT IN (SELECT meaning FROM passages)"
    )
    erase(database, [meaning for (meaning,) in rows.fetchall()])


def sweep_once(database: apsw.Connection) -> None:
    """Sweep if nobody has since the index was made, or the machine was started."""
    if not database.execute("SELECT is_swept FROM totals").get:
        sweep(database)
        database.execute("UPDATE totals SET is_swept = 1")


def rewrite_slots(database: apsw.Connection) -> None:
    """Write the list of whose vectors there are anew; copies of rows stay behind in the old one."""
    database.execute(
        "CREATE TABLE vectors.anew (slot INTEGER PRIMARY KEY, meaning BLOB NOT NULL);"
        "INSERT INTO anew SELECT slot, meaning FROM slots ORDER BY slot;"
        "DROP TABLE vectors.slots;"
        "ALTER TABLE vectors.anew RENAME TO slots;"
        "CREATE INDEX vectors.slots_by_meaning ON slots (meaning)"
    )


def _count_record_bytes(database: apsw.Connection) -> int:
    return read_dimension(database) + SCALE_BYTES


def _take_slot(database: apsw.Connection, record_bytes: int) -> int:
    freed = database.execute(
        "DELETE FROM free WHERE slot = (SELECT min(slot) FROM free) RETURNING slot"
    ).get
    if freed is not None:
        return int(freed)
    last = database.execute("SELECT max(slot) FROM slots").get
    slot = 0 if last is None else last + 1
    database.execute(
        "INSERT OR IGNORE INTO blocks (id, vectors) VALUES (?, zeroblob(?))",
        (slot // PER_BLOCK, PER_BLOCK * record_bytes),
    )
    return slot


def _write(database: apsw.Connection, slot: int, record: bytes) -> None:
    block, place = divmod(slot, PER_BLOCK)
    numbers, scale = record[:-SCALE_BYTES], record[-SCALE_BYTES:]
    with database.blob_open("vectors", "blocks", "vectors", block, True) as blob:  # noqa: FBT003
        blob.seek(place * len(numbers))
        blob.write(numbers)
        blob.seek(PER_BLOCK * len(numbers) + place * SCALE_BYTES)
        blob.write(scale)


# Comparing.


def quantise(vector: bytes) -> bytes:
    """Return a vector with a byte for each number, and what makes its length one again."""
    numpy = import_module("numpy")
    numbers = numpy.frombuffer(vector, "<f4").astype("f8")
    coarse = numpy.rint(numbers * (_LARGEST / numpy.abs(numbers).max())).astype("i1")
    length = float(numpy.sqrt((coarse.astype("f8") ** 2).sum()))
    return bytes(coarse.tobytes()) + struct.pack("<f", 1.0 / length)


def find_cosines(
    database: apsw.Connection, vector: bytes, found: Iterable[int], narrowing: Narrowing
) -> Near:
    """Return the cosines of the nearest passages, and of those that were found already."""
    similar = _compare(database, vector)
    if similar is None or not (similar > _EMPTY).any():
        return Near({}, {}, Unrelated(0.0, 0.0), 0)
    slots = _find_nearest(database, similar, narrowing)
    others = [number for number in found if number not in slots]
    _add(slots, _find_slots(database, others), similar)
    cosines = {number: float(similar[slot]) for number, slot in slots.items()}
    held = similar[similar > _EMPTY]
    # The last digits depend on the order in which the vectors were made.
    mean, deviation = (round(float(one), 6) for one in (held.mean(), held.std()))
    return Near(cosines, slots, Unrelated(mean, deviation), len(held))


def _compare(database: apsw.Connection, vector: bytes) -> Cosines | None:
    """Return the cosine of every slot with a vector, -2 for an empty one.

    The numbers of both are small integers, so that the sums are exact whatever their order: an
    index that was made anew gives the same answers to the last digit.
    """
    numpy = import_module("numpy")
    dimension = read_dimension(database)
    if not dimension or len(vector) != 4 * dimension:
        return None
    numbers = numpy.frombuffer(vector, "<f4").astype("f8")
    fine = numpy.rint(numbers * (_LARGEST * _STEP / numpy.abs(numbers).max()))
    coarse = numpy.rint(fine / _STEP)
    query = numpy.stack([coarse, fine - _STEP * coarse], axis=1).astype("f4")
    length = numpy.sqrt((fine**2).sum())
    size = PER_BLOCK * dimension
    parts = [numpy.empty(0)]
    for (block,) in database.execute("SELECT vectors FROM blocks ORDER BY id"):
        held = numpy.frombuffer(block, "i1", size).reshape(PER_BLOCK, dimension)
        scales = numpy.frombuffer(block, "<f4", PER_BLOCK, size)
        products = held.astype("f4") @ query
        near = (_STEP * products[:, 0].astype("f8") + products[:, 1]) * scales
        near[scales == 0.0] = _EMPTY * length
        parts.append(near)
    cosines: Cosines = numpy.concatenate(parts) / length
    return cosines


def _find_nearest(
    database: apsw.Connection, similar: Cosines, narrowing: Narrowing
) -> dict[int, int]:
    """Return the nearest of the passages that are searched, each with its nearest vector.

    The nearest of all are gone through first; where few of them are searched, all of these are.
    """
    order = similar.argpartition(-min(len(similar), MOST_TRIED))[-MOST_TRIED:][::-1]
    order = order[(-similar[order]).argsort(kind="stable")]
    best: dict[int, int] = {}
    start, size = 0, NEAREST
    while len(best) < NEAREST and start < len(order):
        slots = json.dumps([int(slot) for slot in order[start : start + size]])
        rows: Any = database.execute(
            f"SELECT {_PLACE} FROM slots JOIN passages USING (meaning) "  # noqa: S608
            f"WHERE slot IN (SELECT value FROM json_each(?1)) {narrowing.condition}",
            (slots, *narrowing.values),
        )
        _add(best, _find_firsts(rows), similar)
        start, size = start + size, 4 * size
    if len(best) < NEAREST and len(order) < len(similar):
        rows = database.execute(
            f"SELECT {_PLACE} FROM passages JOIN slots USING (meaning) "  # noqa: S608
            f"WHERE ?1 IS NULL {narrowing.condition}",
            (None, *narrowing.values),
        )
        _add(best, _find_firsts(rows), similar)
    return dict(sorted(best.items(), key=lambda one: -similar[one[1]])[:NEAREST])


def _find_firsts(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    """Yield passages with their vectors; of those that say the same the first, not its quotes."""
    firsts: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in rows:
        said, place = row[:3], row[3:]
        if said not in firsts or place < firsts[said]:
            firsts[said] = place
    for said, place in firsts.items():
        yield place[-1], said[0]


def _add(best: dict[int, int], rows: Iterable[tuple[int, int]], similar: Cosines) -> None:
    """Keep the nearest vector of each passage: a long text has several."""
    for number, slot in rows:
        if number not in best or similar[slot] > similar[best[number]]:
            best[number] = slot


def _find_slots(database: apsw.Connection, numbers: Sequence[int]) -> Iterable[tuple[int, int]]:
    rows: Any = database.execute(
        "SELECT passages.id, slot FROM passages JOIN slots USING (meaning) "
        "WHERE passages.id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return list(rows)
