"""Passages as they stand in the index: their rows, what is said beside them, and hits."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.keys import EVERYONE, Reader
from turnleaf.core.messages import TRUSTED
from turnleaf.core.search.hits import Hit
from turnleaf.core.times import to_iso
from turnleaf.store.passage_search import is_open

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from turnleaf.core.search.passages import Passage

    Row = Mapping[str, Any]

COLUMNS = (
    "id", "path", "kind", "fingerprint", "text", "line", "before", "after", "heading", "date",
    "conversation", "speaker", "ref", "message", "parent", "part", "earlier", "later", "time",
    "trust", "is_shown", "audience",
)  # fmt: skip
_SELECT = """
    SELECT passages.id, path, kind, fingerprint, text, line, before, after, heading, date,
        passages.conversation, speaker, ref, message, parent, part, earlier, later, time,
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
    """Return the numbers of the newest passages, oldest first."""
    query = f"SELECT id FROM passages WHERE is_shown AND ?1 {narrowing.condition} "  # noqa: S608
    order = "ORDER BY date DESC, time DESC, line DESC, part DESC, id DESC LIMIT ?5"
    rows: Any = database.execute(query + order, (True, *narrowing.values, limit))
    return [number for (number,) in rows][::-1]


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
        earlier=row["earlier"],
        later=row["later"],
        audience=row["audience"],
    )


def to_milliseconds(moment: datetime) -> int:
    """Return a time as the index keeps it."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_moment(milliseconds: int) -> datetime:
    """Return the time that the index keeps as a number."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


class Narrowing(NamedTuple):
    """Which passages are searched."""

    source: str | None = None
    since: str | None = None
    until: str | None = None
    closed: tuple[int, ...] = ()
    """The circles whose passages the reader may not find."""

    @property
    def is_narrow(self) -> bool:
        """Whether only a kind of passages, or those of some days, are searched."""
        return self[:3] != (None, None, None)

    @property
    def condition(self) -> str:
        """The condition in SQL on a passage, with its three values below."""
        closed = ", ".join(map(str, self.closed))
        is_open = f"AND (circle IS NULL OR circle NOT IN ({closed}))" if closed else ""
        if not self.is_narrow:
            return is_open
        since = "AND date >= ?3" if self.since else "AND ?3 IS NULL"
        until = "AND date <= ?4" if self.until else "AND ?4 IS NULL"
        kind = "AND kind = ?2" if self.source else "AND ?2 IS NULL"
        return f"{kind} {since} {until} {is_open}"

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values in the condition."""
        return self[:3] if self.is_narrow else ()


def circle_of(database: apsw.Connection, said: Passage) -> int | None:
    """Return the circle of those who may find a passage; None: everybody, in every prompt."""
    if said.audience == EVERYONE and said.trust in TRUSTED:
        return None
    circle = (said.audience, said.trust, said.conversation or "")
    database.execute(
        "INSERT OR IGNORE INTO circles (audience, trust, conversation) VALUES (?, ?, ?)", circle
    )
    return int(
        database.execute(
            "SELECT id FROM circles WHERE audience = ? AND trust = ? AND conversation = ?", circle
        ).get
    )


def find_closed(database: apsw.Connection, reader: Reader) -> tuple[int, ...]:
    """Return the circles whose passages a reader may not find."""
    rows: Any = database.execute("SELECT id, audience, trust, conversation FROM circles")
    return tuple(number for number, *circle in rows if not is_open(reader, *circle))


def forget_empty_circles(database: apsw.Connection) -> None:
    """Take out the circles of conversations that are gone."""
    database.execute(
        "DELETE FROM circles WHERE NOT EXISTS (SELECT 1 FROM passages WHERE circle = circles.id)"
    )
