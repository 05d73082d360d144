"""Passages as they stand in the index: their rows, what is said beside them, and hits."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnleaf.core.hits import Hit
from turnleaf.core.times import to_iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from turnleaf.store.index_filters import Narrowing

    Row = Mapping[str, Any]

COLUMNS = (
    "id", "path", "kind", "fingerprint", "text", "line", "before", "after", "heading", "date",
    "conversation", "speaker", "ref", "message", "parent", "part", "time", "trust", "is_shown",
    "audience",
)  # fmt: skip
_SELECT = """
    SELECT passages.id, path, kind, fingerprint, text, line, before, after, heading, date,
        passages.conversation, speaker, ref, message, parent, part, time,
        passages.trust, is_shown, ifnull(audience, '')
    FROM passages JOIN files ON files.id = passages.file
        LEFT JOIN circles ON circles.id = passages.circle
    WHERE passages.id IN (SELECT value FROM json_each(?))
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_rows(database: apsw.Connection, numbers: Sequence[int]) -> dict[int, Row]:
    """Return passages by their numbers."""
    rows: Any = database.execute(_SELECT, (json.dumps([*numbers]),))
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows}


def list_by_time(database: apsw.Connection, narrowing: Narrowing, limit: int) -> list[int]:
    """Return the numbers of passages in the order of time."""
    query = f"SELECT id FROM passages WHERE is_shown AND ?1 {narrowing.condition} ORDER BY time, id"  # noqa: S608
    rows: Any = database.execute(f"{query} LIMIT ?5", (True, *narrowing.values, limit))
    return [number for (number,) in rows]


def find_neighbours(database: apsw.Connection, numbers: Iterable[int]) -> dict[int, list[int]]:
    """Return for each of some passages which of the others were said right before and after it."""
    rows: Any = database.execute(
        "SELECT id, before, after FROM passages WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([*numbers]),),
    )
    links = {number: beside for number, *beside in rows}
    return {
        number: [other for other in beside if other in links] for number, beside in links.items()
    }


def read_around(database: apsw.Connection, row: Row) -> Iterator[str]:
    """Yield the heading of a passage, and what was said right before and after it."""
    if row["heading"]:
        yield row["heading"]
    if row["before"] or row["after"]:
        said: Any = database.execute(
            "SELECT text FROM passages WHERE id IN (?, ?)", (row["before"], row["after"])
        )
        for (text,) in said:
            yield text


def find_hit(database: apsw.Connection, hit: Hit) -> int | None:
    """Return the number of the passage that a hit is of, if it still stands."""
    number: int | None = database.execute(
        "SELECT passages.id FROM passages JOIN files ON files.id = passages.file "
        "WHERE path = ? AND conversation = ? AND message = ? AND part = ?",
        (os.fsencode(hit.path), hit.conversation, hit.message, hit.part),
    ).get
    return number


def follow(database: apsw.Connection, number: int, side: str, count: int) -> list[int]:
    """Return the passages on one side, "before" or "after", the nearest first."""
    found: list[int] = []
    while len(found) < count:
        step = f"SELECT {side} FROM passages WHERE id = ?"  # noqa: S608 - of two constants
        beside = database.execute(step, (found[-1] if found else number,)).get
        if beside is None:
            break
        found.append(beside)
    return found


def make_hit(
    row: Row, score: float = 0.0, bm25: float | None = None, vector: float | None = None
) -> Hit:
    """Return a passage as what was found."""
    return Hit(
        text=row["text"],
        source=row["kind"],
        path=Path(os.fsdecode(row["path"])),
        line=row["line"],
        heading=row["heading"],
        date=row["date"],
        conversation=row["conversation"],
        speaker=row["speaker"],
        id=row["ref"],
        score=score,
        bm25=bm25,
        vector=vector,
        message=row["message"],
        parent=row["parent"],
        time=None if row["time"] is None else to_iso(to_moment(row["time"])),
        trust=row["trust"],
        is_shown=bool(row["is_shown"]),
        part=row["part"],
        audience=row["audience"],
    )


def to_milliseconds(moment: datetime) -> int:
    """Return a time as the index keeps it."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_moment(milliseconds: int) -> datetime:
    """Return the time that the index keeps as a number."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
