"""The settings of a database, and the daily notes and records of its spaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages import pluralize
from turnleaf.core.markdown_blocks import write_bullet
from turnleaf.core.memories import check_date, check_note
from turnleaf.core.opaque_records import Record, check_name, check_value, make_ordinal_key
from turnleaf.core.serialization import dumps, to_text
from turnleaf.errors import Conflict
from turnleaf.settings import Settings, check_changes
from turnleaf.store.in_memory.shared_data import FOR_ALL_SPACES, in_one_step
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step
from turnleaf.store.postgres.tree_statements import to_column

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, timedelta

    from turnleaf.core.diagnosis import Examination


class PostgresConfig(SqlStore):
    """The settings that an operator changed."""

    kind = FOR_ALL_SPACES

    @in_one_step
    def load(self) -> Settings:
        """Return the settings that hold now: environment over these over defaults."""
        rows = self.rows("SELECT key, value FROM turnleaf.settings")
        return Settings.combine({key: json.loads(value) for key, value in rows}, "the settings")

    @in_one_step
    def examine(self) -> Examination:
        """Return how many settings were changed."""
        ((count,),) = self.rows("SELECT count(*) FROM turnleaf.settings")
        return self.report("settings", pluralize(count, "setting"))

    @in_writing_step
    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; None restores a default."""
        new = check_changes(values)
        self.lock()
        self.run("DELETE FROM turnleaf.settings WHERE key = ANY(%s)", [*new])
        rows = [(key, dumps(value)) for key, value in new.items() if value is not None]
        self.step.run_many("INSERT INTO turnleaf.settings (key, value) VALUES (%s, %s)", rows)


_LAST_DAYS = "SELECT DISTINCT day FROM turnleaf.notes ORDER BY day DESC LIMIT 2"
_ADD_NOTE = "INSERT INTO turnleaf.notes (day, id, text, source, change) VALUES (%s, %s, %s, %s, %s)"
_FIND_NOTE = "SELECT id FROM turnleaf.notes WHERE day = %s AND text = %s ORDER BY id LIMIT 1"
_REVISE_NOTE = "UPDATE turnleaf.notes SET text = %s, change = %s WHERE day = %s AND id = %s"


class PostgresDaily(SqlStore):
    """The daily notes of a space."""

    kind = "daily"

    @in_writing_step
    def append(self, entry: str, *, source: str | None = None, once: str | None = None) -> None:
        """Add a note to today, with the time, and where it came from."""
        check_note(entry)
        number = self.lock()
        # Under the lock: of two who try the same note, the second sees that of the first.
        if once is not None and any(once in self.read(day) for (day,) in self.rows(_LAST_DAYS)):
            return
        moment = self._clock()
        name = None if source is None else to_text(source)
        text = write_bullet(f"{moment:%H:%M} {entry}")
        self.run(_ADD_NOTE, moment.date(), number, text, name, number)

    @in_one_step
    def read(self, day: date | str) -> str:
        """Return the notes of a day; "" when there are none."""
        wanted = check_date(day)
        notes = self.rows("SELECT text FROM turnleaf.notes WHERE day = %s ORDER BY id", wanted)
        return f"# {wanted}\n\n" + "".join(text for (text,) in notes) if notes else ""

    @in_one_step
    def has_source(self, source: str) -> bool:
        """Whether a note of any day came from a source."""
        query = "SELECT 1 FROM turnleaf.notes WHERE source = %s LIMIT 1"
        return bool(self.rows(query, to_text(source)))

    @in_writing_step
    def revise(self, day: date | str, entry: str, content: str | None) -> bool:
        """Make a note of a day say something else, or delete it; False when none says `entry`."""
        if content is not None:
            check_note(content)
        wanted = check_date(day)
        # Without counting a change, which there is none of unless a note is found.
        self.step.lock(self.kind, changes=False)
        for (note,) in self.rows(_FIND_NOTE, wanted, to_column(write_bullet(entry))):
            number = self.lock()
            if content is None:
                self.run("DELETE FROM turnleaf.notes WHERE day = %s AND id = %s", wanted, note)
            else:
                self.run(_REVISE_NOTE, write_bullet(content), number, wanted, note)
            return True
        return False

    @in_one_step
    def examine(self) -> Examination:
        """Return how many days there are."""
        return self.report("daily log", pluralize(len(self.dates()), "day"))

    @in_writing_step
    def erase(self, source: str) -> int:
        """Erase every note that came from a source, of every day; return how many."""
        self.lock()
        return self.run("DELETE FROM turnleaf.notes WHERE source = %s", to_text(source))

    @in_one_step
    def dates(self) -> list[date]:
        """Return the days that have notes, oldest first."""
        return [day for (day,) in self.rows("SELECT DISTINCT day FROM turnleaf.notes ORDER BY 1")]


_FIND_RECORD = "SELECT collection, key, value, version, expires_at FROM turnleaf.records"
_THERE = "(expires_at IS NULL OR expires_at > %s)"
PUT_RECORD = """
INSERT INTO turnleaf.records (collection, key, value, version, expires_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (space, collection, key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
"""
# The last condition lets the index begin at the prefix, which `starts_with` alone does not.
_BEGINS = "collection = %s AND starts_with(key, %s) AND key >= %s"


class PostgresRecords(SqlStore):
    """The records of a space."""

    kind = "records"

    @in_one_step
    def examine(self) -> Examination:
        """Return how many records there are, expired ones too."""
        ((count,),) = self.rows("SELECT count(*) FROM turnleaf.records")
        return self.report("records", pluralize(count, "record"))

    @in_writing_step
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
        check_value(value)
        # The number of the change is the version: no other
        # value of this key had it, also after a deletion.
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
        names = check_name(collection, "a collection"), check_name(key, "a key")
        ends = None if ttl is None else self.now() + ttl
        self.run("DELETE FROM turnleaf.records WHERE expires_at <= %s", self.now())
        self.run(PUT_RECORD, *names, bytes(value), version, ends)
        return Record(*names, bytes(value), version, ends)

    @in_one_step
    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired; None when there is none."""
        names = check_name(collection, "a collection"), check_name(key, "a key")
        query = f"{_FIND_RECORD} WHERE collection = %s AND key = %s AND {_THERE}"
        return next((Record(*row) for row in self.rows(query, *names, self.now())), None)

    @in_one_step
    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return, by key, the first `limit` records whose key begins with `prefix`."""
        last = check_name(after or "", "a key", may_be_empty=True)
        beginning = _check_beginning(collection, prefix)
        where = f"{_BEGINS} AND {_THERE} AND (%s OR key > %s) ORDER BY key LIMIT %s"
        values = (*beginning, self.now(), after is None, last, max(limit, 0))
        rows = self.rows(f"{_FIND_RECORD} WHERE {where}", *values)
        return [Record(*row) for row in rows]

    @in_writing_step
    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key that sorts after all appended to that prefix before."""
        begin = check_name(prefix, "a prefix", may_be_empty=True)
        check_value(value)
        version = self.lock()
        return self._put(collection, make_ordinal_key(begin, version), value, version, ttl)

    @in_writing_step
    def pop(self, collection: str, key: str) -> Record | None:
        """Remove a record and return it, to one of several who try."""
        names = check_name(collection, "a collection"), check_name(key, "a key")
        self.lock()
        found = self.get(*names)
        self.run("DELETE FROM turnleaf.records WHERE collection = %s AND key = %s", *names)
        return found

    @in_writing_step
    def erase(self, collection: str, prefix: str = "") -> int:
        """Erase what begins with `prefix`; return how many had not expired."""
        beginning = _check_beginning(collection, prefix)
        self.lock()
        query = f"DELETE FROM turnleaf.records WHERE {_BEGINS} RETURNING {_THERE}"  # noqa: S608
        return sum(is_there for (is_there,) in self.rows(query, *beginning, self.now()))


def _check_beginning(collection: str, prefix: str) -> tuple[str, str, str]:
    name = check_name(collection, "a collection")
    begin = check_name(prefix, "a prefix", may_be_empty=True)
    return name, begin, begin
