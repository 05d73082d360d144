"""What other frameworks keep, in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.languages import pluralize
from turnleaf.core.records import Record, checked_name, checked_value, ordinal_key
from turnleaf.errors import Conflict
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.place import SqlStore, changing

if TYPE_CHECKING:
    from datetime import timedelta

    from turnleaf.core.examination import Examination

_FIND = "SELECT collection, key, value, version, expires_at FROM turnleaf.records"
_THERE = "(expires_at IS NULL OR expires_at > %s)"
_PUT = """
INSERT INTO turnleaf.records (collection, key, value, version, expires_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (space, collection, key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
"""
_BEGINS = "collection = %s AND starts_with(key, %s) AND key >= %s"


class PostgresRecords(SqlStore):
    """The records of a space."""

    kind = "records"

    @in_one_step
    def examine(self) -> Examination:
        """Return how many records there are, expired ones too."""
        ((count,),) = self.rows("SELECT count(*) FROM turnleaf.records")
        return self.report("records", pluralize(count, "record"))

    @changing
    def put(
        self,
        collection: str,
        key: str,
        value: bytes,
        *,
        expected: int | None = None,
        ttl: timedelta | None = None,
    ) -> Record:
        """Store a value in the place of any other; with `expected`, only over that version."""
        checked_value(value)
        version = self.lock()
        if expected is not None:
            known = self.get(collection, key)
            if expected != (known.version if known else 0):
                message = f"the record {key!r} was changed meanwhile; read it again"
                raise Conflict(message)
        return self._put(collection, key, value, version, ttl)

    def _put(
        self, collection: str, key: str, value: bytes, version: int, ttl: timedelta | None
    ) -> Record:
        names = checked_name(collection, "a collection"), checked_name(key, "a key")
        ends = None if ttl is None else self.now() + ttl
        self.run(_PUT, *names, bytes(value), version, ends)
        return Record(*names, bytes(value), version, ends)

    @in_one_step
    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired; None when there is none."""
        names = checked_name(collection, "a collection"), checked_name(key, "a key")
        query = f"{_FIND} WHERE collection = %s AND key = %s AND {_THERE}"
        return next((Record(*row) for row in self.rows(query, *names, self.now())), None)

    @in_one_step
    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return, by key, the first `limit` records whose key begins with `prefix`."""
        last = checked_name(after or "", "a key", may_be_empty=True)
        beginning = _check_beginning(collection, prefix)
        query = f"{_FIND} WHERE {_BEGINS} AND {_THERE} AND (%s OR key > %s) ORDER BY key LIMIT %s"
        values = (*beginning, self.now(), after is None, last, max(limit, 0))
        return [Record(*row) for row in self.rows(query, *values)]

    @changing
    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key that sorts after all appended to that prefix before."""
        begin = checked_name(prefix, "a prefix", may_be_empty=True)
        checked_value(value)
        version = self.lock()
        return self._put(collection, ordinal_key(begin, version), value, version, ttl)

    @changing
    def pop(self, collection: str, key: str) -> Record | None:
        """Remove a record and return it, to one of several who try."""
        names = checked_name(collection, "a collection"), checked_name(key, "a key")
        self.lock()
        found = self.get(*names)
        self.run("DELETE FROM turnleaf.records WHERE collection = %s AND key = %s", *names)
        return found

    @changing
    def erase(self, collection: str, prefix: str = "") -> int:
        """Erase what begins with `prefix`; return how many had not expired."""
        beginning = _check_beginning(collection, prefix)
        self.lock()
        query = f"DELETE FROM turnleaf.records WHERE {_BEGINS} RETURNING {_THERE}"  # noqa: S608
        return sum(is_there for (is_there,) in self.rows(query, *beginning, self.now()))


def _check_beginning(collection: str, prefix: str) -> tuple[str, str, str]:
    name = checked_name(collection, "a collection")
    begin = checked_name(prefix, "a prefix", may_be_empty=True)
    return name, begin, begin
