"""Facts in rows: their text, and the record of their changes, which is read only where needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from turnleaf.core import changes, memories
from turnleaf.core.changes import Change
from turnleaf.core.jsontext import dumps
from turnleaf.core.pages import Splice
from turnleaf.store.memory.book import Book, Entry

if TYPE_CHECKING:
    from turnleaf.store.postgres.place import Transaction

_READ = "SELECT text, older, written_at, last_number FROM turnleaf.books WHERE kind = %s"
_RECORD = "SELECT body FROM turnleaf.changes WHERE kind = %s ORDER BY n"
_SAVE = """
INSERT INTO turnleaf.books (kind, text, older, written_at, last_number) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (space, kind) DO UPDATE SET text = excluded.text, older = excluded.older,
    written_at = excluded.written_at, last_number = excluded.last_number
"""
_ADD = "INSERT INTO turnleaf.changes (kind, n, body) VALUES (%s, %s, %s)"


class StoredRecord(Sequence[Entry]):
    """The record of a book, read when somebody looks into it."""

    def __init__(self, step: Transaction, kind: str) -> None:
        self._step, self._kind = step, kind
        self._entries: list[Entry] | None = None

    @property
    def _read(self) -> list[Entry]:
        if self._entries is None:
            rows = self._step.rows(_RECORD, self._kind)
            self._entries = [_read_entry(json.loads(body)) for (body,) in rows]
        return self._entries

    @overload
    def __getitem__(self, place: int) -> Entry: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Entry]: ...

    def __getitem__(self, place: int | slice) -> Entry | Sequence[Entry]:
        return self._read[place]

    def __len__(self) -> int:
        return len(self._read)


class LoadedBook:
    """The facts of a space."""

    def __init__(self, step: Transaction, kind: str) -> None:
        self._kind = kind
        rows = step.rows(_READ, kind)
        # Without a row nothing was ever changed, so there is no record to look for.
        self._known: Sequence[Entry] = StoredRecord(step, kind) if rows else ()
        self.value = Book()
        for text, older, written_at, last_number in rows:
            self.value = Book(text, older, written_at, self._known, last_number)
        self._before = self._describe()

    def _describe(self) -> tuple[object, ...]:
        book = self.value
        return book.text, book.older, book.written_at, book.last_number, id(book.record)

    def has_changed(self) -> bool:
        """Whether the text or the record is another."""
        return self._describe() != self._before

    def save(self, step: Transaction) -> None:
        """Write the text, and what is new on record; all of it where something was taken off."""
        book, known = self.value, [*self._known]
        step.run(_SAVE, self._kind, book.text, book.older, book.written_at, book.last_number)
        record = [*book.record]
        is_longer = all(one is other for one, other in zip(record, known, strict=False))
        if not is_longer or len(record) < len(known):
            step.run("DELETE FROM turnleaf.changes WHERE kind = %s", self._kind)
            known = []
        new = record[len(known) :]
        step.run_many(_ADD, [(self._kind, one.change.n, dumps(_write_entry(one))) for one in new])


def load_facts(step: Transaction) -> LoadedBook:
    """Read the facts of a space."""
    return LoadedBook(step, "facts")


def load_pending(step: Transaction) -> LoadedBook:
    """Read the facts of a space that wait for a person."""
    return LoadedBook(step, "pending")


def _write_entry(entry: Entry) -> dict[str, Any]:
    splice = entry.reversal
    return {
        "change": changes.to_json(entry.change),
        "step": entry.change.step,
        "reversal": [splice.start, splice.took, splice.put],
        "version": entry.version,
        "text": entry.text,
        "isOlder": entry.is_older,
        "left": entry.left and memories.to_json(entry.left),
    }


def _read_entry(body: dict[str, Any]) -> Entry:
    start, took, put = body["reversal"]
    change = Change(**changes.read_fields(body["change"]), step=body["step"])
    left = body["left"]
    return Entry(
        change,
        Splice(start, tuple(took), tuple(put)),
        body["version"],
        body["text"],
        is_older=body["isOlder"],
        left=left and memories.read_recorded(left, change.time),
    )
