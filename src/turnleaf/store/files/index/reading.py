"""The passages of a SQLite index, as a search looks through them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnleaf.core.search.terms import any_of
from turnleaf.store.files.index.rows import make_hit, read_rows
from turnleaf.store.files.index.vectors import find_cosines
from turnleaf.store.passage_search import SearchedText

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import apsw

    from turnleaf.core.search.hits import Hit
    from turnleaf.core.search.ranking import Near
    from turnleaf.store.files.index.rows import Narrowing

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
            (any_of(chosen), *self._narrowing.values),
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
        return bool(self._database.execute(query, (number, f"own:{any_of([term])}")).get)

    def typical_length(self) -> float:
        """Return how many terms a passage has on average, with those around it."""
        return typical_length(self._database)

    def read_hits(self, numbers: Sequence[int]) -> Mapping[int, tuple[Hit, bytes]]:
        """Return passages as hits, each with its fingerprint."""
        rows = read_rows(self._database, numbers)
        return {number: (make_hit(row), row["fingerprint"]) for number, row in rows.items()}


def typical_length(database: apsw.Connection) -> float:
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
