"""Indexes over notes, and a yardstick that holds the same: FTS5 with nothing around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from bench import corpus
from bench.memory import fill_memory
from turnleaf import Index, MemoryStore
from turnleaf.core.search.passages import Passage
from turnleaf.core.search.terms import (
    TOKENIZER,
    list_date_terms,
    list_terms,
    parse_query,
    write_fts_query,
)
from turnleaf.core.search.vectors import Embedder
from turnleaf.store.files.sources import Files

BEST = 10
CACHE_KILOBYTES = 16_384  # as our own index has


class PlainTermTable:
    """A plain FTS5 table of terms."""

    def __init__(self, path: Path) -> None:
        self._database = apsw.Connection(str(path))
        self._database.pragma("journal_mode", "wal")
        self._database.pragma("synchronous", "off")
        self._database.pragma("cache_size", -CACHE_KILOBYTES)
        table = f'CREATE VIRTUAL TABLE words USING fts5(own, tokenize="{TOKENIZER}")'
        self._database.execute(table)

    def fill(self, passages: Iterable[Passage]) -> None:
        """Insert the terms that our own index has of each passage."""
        rows = (
            (" ".join([*list_terms(one.text), *list_date_terms(one.date or "")]),)
            for one in passages
        )
        with self._database:
            self._database.executemany("INSERT INTO words (own) VALUES (?)", rows)

    def best(self, expression: str) -> list[tuple[object, ...]]:
        """Select what fits best."""
        return self._database.execute(
            f"SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT {BEST}",  # noqa: S608 - of a constant
            (expression,),
        ).fetchall()

    def newest(self) -> object:
        """Select the number of the last row."""
        return self._database.execute("SELECT max(rowid) FROM words").get

    def erase(self, numbers: Iterable[int]) -> None:
        """Delete rows, merge all lists of words, and write the file anew."""
        with self._database:
            self._database.executemany("DELETE FROM words WHERE rowid = ?", zip(numbers))
            self._database.execute("INSERT INTO words(words) VALUES ('optimize')")
        self._database.execute("VACUUM")
        self._database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


@dataclass(frozen=True, slots=True)
class NotesIndex:
    """An index over a small memory and many notes, and a yardstick that holds the same."""

    index: Index
    raw: PlainTermTable
    memory: MemoryStore
    files: list[str]
    texts: list[str]


@contextmanager
def fill_index(
    folder: Path, notes: int, facts: int, embedder: Embedder | None = None
) -> Iterator[NotesIndex]:
    """Fill an index and a yardstick in a folder of their own, and remove it in the end."""
    with TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        corpus.write_days(place / "daily", notes)
        memory = fill_memory(place / "MEMORY.md", facts)
        index = Index(place / "index.db", [memory, place / "daily"], embedder)
        index.sync()
        passages = [*_passages(memory.location), *_passages(place / "daily")]
        raw = PlainTermTable(place / "raw.sqlite")
        raw.fill(passages)
        files = [*Files(memory.location).paths(), *Files(place / "daily").paths()]
        yield NotesIndex(index, raw, memory, files, [*{one.text: None for one in passages}])
        index.close()
        raw.close()


def expression(query: str) -> str:
    """Ask FTS5 for the terms that we look for ourselves."""
    return write_fts_query(parse_query(query).terms)


def _passages(root: Path) -> Iterator[Passage]:
    source = Files(root)
    for path in map(Path, source.paths()):
        yield from source.cut(path, path.read_bytes())[1]
