"""Overwriting the bytes that SQLite no longer uses."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import apsw
import pytest

from turnleaf.store.files.databases import overwrite_unused

if TYPE_CHECKING:
    from pathlib import Path


def words(name: int, random: Random) -> str:
    return f"SECRET-{name:02d}-" * random.choice([1, 3, 10, 30, 900])


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_no_copy_of_a_deleted_row_stays_and_no_other_row_is_touched(
    tmp_path: Path, page_size: int
) -> None:
    path = tmp_path / "any.db"
    random = Random(page_size)
    database = apsw.Connection(str(path))
    database.pragma("page_size", page_size)
    database.pragma("secure_delete", "on")
    database.execute(
        "CREATE TABLE rows (name INTEGER, text TEXT); CREATE INDEX texts ON rows (text)"
    )
    names = [random.randrange(12) for _ in range(1500)]
    with database:
        rows = [(name, words(name, random)) for name in names]
        database.executemany("INSERT INTO rows VALUES (?, ?)", rows)
    found = 0
    for name in range(12):
        with database:
            database.execute("DELETE FROM rows WHERE name = ?", (name,))
        kept = list(database.execute("SELECT name, text FROM rows ORDER BY rowid"))
        database.close()
        found += overwrite_unused(path, page_size)
        assert overwrite_unused(path, page_size) == 0
        assert f"SECRET-{name:02d}-".encode() not in path.read_bytes()
        database = apsw.Connection(str(path))
        database.pragma("secure_delete", "on")
        assert database.pragma("integrity_check") == "ok"
        assert list(database.execute("SELECT name, text FROM rows ORDER BY rowid")) == kept
    assert found > 0


def test_without_it_copies_stay(tmp_path: Path) -> None:
    """Otherwise the module would not be needed."""
    path = tmp_path / "any.db"
    random = Random(1)
    database = apsw.Connection(str(path))
    database.pragma("secure_delete", "on")
    database.execute(
        "CREATE TABLE rows (name INTEGER, text TEXT); CREATE INDEX texts ON rows (text)"
    )
    with database:
        rows = [(n % 12, f"SECRET-{n % 12:02d}-" * random.choice([1, 9, 30])) for n in range(1500)]
        database.executemany("INSERT INTO rows VALUES (?, ?)", rows)
    left = 0
    for name in range(12):
        with database:
            database.execute("DELETE FROM rows WHERE name = ?", (name,))
        left += f"SECRET-{name:02d}-".encode() in path.read_bytes()
    assert left > 0
