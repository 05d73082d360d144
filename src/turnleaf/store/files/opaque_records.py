"""`RecordStore`: opaque records of other frameworks in one SQLite file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from turnleaf.core.languages import pluralize
from turnleaf.core.opaque_records import (
    MAX_NAME_CHARS,
    Record,
    check_name,
    check_value,
    make_ordinal_key,
)
from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.errors import Conflict
from turnleaf.store.files import atomic
from turnleaf.store.files.databases import Database, Form, examine_database, measure
from turnleaf.store.files.diagnosis import collect, examine_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta
    from pathlib import Path

    from turnleaf.core.diagnosis import Examination, Part
    from turnleaf.store.files.databases import Connection

T = TypeVar("T")

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at TEXT,
    value BLOB NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_by_end ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS versions (last INTEGER NOT NULL);
INSERT INTO versions SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM versions)
"""
FORM = Form(holds="records of other programs", version=1, schema=SCHEMA)
_FIELDS = "collection, key, value, version, expires_at"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"
_LAST = chr(0x10FFFF) * (MAX_NAME_CHARS + 1)
"""After a prefix, sorts after every key that begins with it."""


class RecordStore:
    """Bytes by collection and key; what has expired is gone."""

    def __init__(
        self, location: str | Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.location = atomic.resolve(location)
        self._now = now
        self._database = Database(self.location, FORM)

    def put(
        self,
        collection: str,
        key: str,
        value: bytes,
        *,
        expected: int | None = None,
        ttl: timedelta | None = None,
    ) -> Record:
        """Store a value; with `expected`, only over that version (0: none), else Conflict."""
        place = check_name(collection, "a collection"), check_name(key, "a key")
        data, ends, now = check_value(value), self._end(ttl), to_iso(self._now())

        def work(database: Connection) -> Record:
            # Before the comparison: a record that has expired is none, and its version is 0.
            _remove_expired(database, now)
            known = database.execute(
                "SELECT version FROM records WHERE (collection, key) = (?, ?)", place
            ).get
            if expected is not None and (known or 0) != expected:
                message = f"{key!r} was changed meanwhile; read it again and retry"
                raise Conflict(message)
            return _store(database, *place, data, ends)

        return self._write(work)

    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired."""
        place = check_name(collection, "a collection"), check_name(key, "a key")
        found = self._select(f"(collection, key) = (?, ?) AND {_LIVE}", *place, to_iso(self._now()))
        return found[0] if found else None

    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return the records whose key begins with `prefix` and comes after one, by key."""
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        return self._select(
            f"collection = ? AND key >= ? AND key < ? AND key > ? AND {_LIVE} ORDER BY key LIMIT ?",
            check_name(collection, "a collection"),
            begin,
            begin + _LAST,
            check_name(after or "", "a key", may_be_empty=True),
            to_iso(self._now()),
            max(0, limit),
        )

    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key that begins with `prefix` and sorts after all such."""
        name = check_name(collection, "a collection")
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        check_name(make_ordinal_key(begin, 0), "a key")
        data, ends, now = check_value(value), self._end(ttl), to_iso(self._now())

        def work(database: Connection) -> Record:
            _remove_expired(database, now)
            number = 1 + int(database.execute("SELECT last FROM versions").get)
            return _store(database, name, make_ordinal_key(begin, number), data, ends)

        return self._write(work)

    def pop(self, collection: str, key: str) -> Record | None:
        """Remove a record and return it; of several who try, one gets it."""
        place = check_name(collection, "a collection"), check_name(key, "a key")
        query = f"DELETE FROM records WHERE (collection, key) = (?, ?) RETURNING {_FIELDS}"  # noqa: S608
        rows = self._write(lambda database: database.execute(query, place).fetchall())
        now = self._now()
        # Nobody may have removed the row yet, but an expired record is gone.
        found = [
            one for one in map(_make_record, rows) if one.expires_at is None or one.expires_at > now
        ]
        return found[0] if found else None

    def erase(self, collection: str, prefix: str = "") -> int:
        """Erase the records whose key begins with `prefix`, to the last byte; return how many."""
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        values = (check_name(collection, "a collection"), begin, begin + _LAST)
        now = to_iso(self._now())
        if not self.location.exists():
            return 0

        def work(database: Connection) -> int:
            _remove_expired(database, now)
            query = "DELETE FROM records WHERE collection = ? AND key >= ? AND key < ? RETURNING 1"
            return len(list(database.execute(query, values)))

        return self._database.erase(work)

    def examine(self) -> Examination:
        """Return how many records there are, expired ones too, and what is wrong with them."""
        return _examine(self.location)

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._database.close()

    def _end(self, ttl: timedelta | None) -> str | None:
        return None if ttl is None else to_iso(self._now() + ttl)

    def _write(self, work: Callable[[Connection], T]) -> T:
        atomic.make_folder(self.location.parent)
        return self._database.write(work)

    def _select(self, condition: str, *values: str | int) -> list[Record]:
        # Looking makes no database.
        if not self.location.exists():
            return []
        query = f"SELECT {_FIELDS} FROM records WHERE {condition}"  # noqa: S608
        return self._database.read(
            lambda database: [_make_record(row) for row in database.execute(query, values)]
        )


def _store(
    database: Connection, collection: str, key: str, value: bytes, ends: str | None
) -> Record:
    # One count for all records: a key that is deleted and stored again does not get a version that
    # it had.
    version = database.execute("UPDATE versions SET last = last + 1 RETURNING last").get
    row = (collection, key, value, version, ends)
    database.execute(f"INSERT OR REPLACE INTO records ({_FIELDS}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608
    return _make_record(row)


def _remove_expired(database: Connection, now: str) -> None:
    database.execute("DELETE FROM records WHERE expires_at <= ?", (now,))


def _make_record(row: Any) -> Record:  # noqa: ANN401 - a row of any types
    collection, key, value, version, ends = row
    return Record(collection, key, value, version, None if ends is None else from_iso(ends))


@collect
def _examine(path: Path) -> Iterator[Part]:
    def describe() -> str:
        return pluralize(examine_database(path, FORM, _count), "record")

    yield from examine_file("records", path, describe, measure)


def _count(database: Connection) -> int:
    return int(database.execute("SELECT count(*) FROM records").get)
