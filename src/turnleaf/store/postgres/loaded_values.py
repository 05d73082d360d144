"""What of a space is read whole, changed by the same code as in memory, and written back.

Of rows that were read, and of parts that were looked at, only what differs is written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from turnleaf.core import changes, memories, schedules
from turnleaf.core.changes import Change
from turnleaf.core.learning import queue
from turnleaf.core.learning.queue import (
    Cycle,
    LearningProblem,
    Outgoing,
    queued_from_json,
    queued_to_json,
    sighting_from_json,
    sighting_to_json,
)
from turnleaf.core.pages import Splice
from turnleaf.core.schedules import Schedule
from turnleaf.core.serialization import dumps, from_iso, to_iso
from turnleaf.store.due_work import LEARNING, LEARNING_DELAY, SCHEDULES, find_first
from turnleaf.store.in_memory.fact_pages import Book, Entry
from turnleaf.store.in_memory.learning import Lessons, ReportedProblem, WaitingMessage
from turnleaf.store.postgres.coordination import note_work, set_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from turnleaf.store.postgres.space_transactions import Transaction


T = TypeVar("T")


class LoadedTable(Generic[T]):
    """Rows of a table as a value: what has an id, and its body.

    In a table that `is_ordered` they stand in the order in which they were added.
    """

    def __init__(
        self,
        step: Transaction,
        table: str,
        read: Callable[[Mapping[Any, Any]], T],
        write: Callable[[T], Iterable[tuple[Any, object]]],
        *,
        section: str | None = None,
        is_ordered: bool = False,
    ) -> None:
        self._table, self._write = table, write
        self._fixed: Mapping[str, object] = {} if section is None else {"section": section}
        self._order = "place" if is_ordered else "id"
        where = "".join(f" WHERE {name} = %s" for name in self._fixed)
        query = (
            f"SELECT id, {self._order}, body FROM turnleaf.{table}{where} ORDER BY {self._order}"  # noqa: S608
        )
        rows = step.rows(query, *self._fixed.values())
        self._stored = {name: body for name, _, body in rows}
        self._next = 1 + max((place for _, place, _ in rows), default=0) if is_ordered else 0
        self.value = read({name: json.loads(body) for name, body in self._stored.items()})

    def _list_bodies(self) -> dict[Any, str]:
        return {name: dumps(body) for name, body in self._write(self.value)}

    def has_changed(self) -> bool:
        """Whether a row is new, other or gone."""
        # By what would be written, because values are changed in place.
        return self._list_bodies() != self._stored

    def save(self, step: Transaction) -> None:
        """Write the rows that differ."""
        now = self._list_bodies()
        gone = [one for one in self._stored if one not in now]
        if gone:
            where = "".join(f" AND {name} = %s" for name in self._fixed)
            query = f"DELETE FROM turnleaf.{self._table} WHERE id = ANY(%s){where}"  # noqa: S608
            step.run(query, gone, *self._fixed.values())
        other = {name: body for name, body in now.items() if self._stored.get(name) != body}
        fixed = self._fixed.values()
        rows = [
            (*fixed, name, body, *self._place(at)) for at, (name, body) in enumerate(other.items())
        ]
        step.run_many(self._make_upsert(), rows)

    def _place(self, number: int) -> tuple[int, ...]:
        return (self._next + number,) if self._order == "place" else ()

    def _make_upsert(self) -> str:
        names = [*self._fixed, "id", "body", *(["place"] if self._order == "place" else [])]
        keys = ", ".join(("space", *self._fixed, "id"))
        places = ", ".join(["%s"] * len(names))
        return (
            f"INSERT INTO turnleaf.{self._table} ({', '.join(names)}) VALUES ({places}) "  # noqa: S608
            f"ON CONFLICT ({keys}) DO UPDATE SET body = excluded.body"
        )


def load_results(step: Transaction) -> LoadedTable[dict[str, str]]:
    """Read what the runs of schedules brought, by name."""
    return LoadedTable(step, "schedule_results", dict, dict.items)


class LoadedSchedules(LoadedTable[dict[str, Schedule]]):
    """The schedules of a space, in the order in which they were made."""

    def __init__(self, step: Transaction) -> None:
        super().__init__(
            step,
            "schedules",
            lambda bodies: {name: schedules.from_json(body) for name, body in bodies.items()},
            lambda kept: ((name, schedules.to_json(one)) for name, one in kept.items()),
            is_ordered=True,
        )

    def save(self, step: Transaction) -> None:
        """Write the rows that differ, and when somebody is to look at them."""
        super().save(step)
        # In the same transaction: no server can see the schedule and miss the work.
        set_work(step, SCHEDULES, find_first(self.value.values()))


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
        # The record by its identity: to compare its entries would read all of them.
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


_BETWEEN = "\n"


class LessonPart(NamedTuple):
    """Where a part of the lessons is, and how it is read and written."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    table: str = "learning_marks"
    is_ordered: bool = False


def _read_waiting(bodies: Mapping[int, Any]) -> list[WaitingMessage]:
    return [
        WaitingMessage(
            row=number,
            key=body["key"],
            queued=queued_from_json(body["queued"]),
            attempts=body["attempts"],
            unreadable=body["unreadable"],
            is_set_aside=body["isSetAside"],
            token=body["token"],
            holder=body["holder"],
            since=_read_time(body["since"]),
        )
        for number, body in bodies.items()
    ]


def _write_waiting(rows: Iterable[WaitingMessage]) -> Iterable[tuple[int, object]]:
    for one in rows:
        yield (
            one.row,
            {
                "key": one.key,
                "queued": queued_to_json(one.queued),
                "attempts": one.attempts,
                "unreadable": one.unreadable,
                "isSetAside": one.is_set_aside,
                "token": one.token,
                "holder": one.holder,
                "since": _write_time(one.since),
            },
        )


def _read_outbox(bodies: Mapping[str, Any]) -> list[Outgoing]:
    return [
        Outgoing(number, body["key"], queue.decision_from_json(body["decision"]), body["problem"])
        for number, body in bodies.items()
    ]


def _write_outbox(outbox: Iterable[Outgoing]) -> Iterable[tuple[str, object]]:
    for one in outbox:
        body = {"key": one.key, "problem": one.problem}
        yield one.id, {**body, "decision": queue.decision_to_json(one.decision)}


def _read_sightings(bodies: Mapping[str, Any]) -> list[tuple[str, Any]]:
    seen = bodies.get("", [])
    return [(one["conversation"], sighting_from_json(one)) for one in seen]


def _write_sightings(seen: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, object]]:
    bodies = [sighting_to_json(one, key) for key, one in seen]
    return [("", bodies)] if bodies else []


def _read_reported(bodies: Mapping[str, Any]) -> list[ReportedProblem]:
    return [
        ReportedProblem(
            LearningProblem(from_iso(body["time"]), body["key"], body["text"]),
            frozenset(body["sources"]),
        )
        for body in bodies.values()
    ]


def _write_reported(reported: Iterable[ReportedProblem]) -> Iterable[tuple[str, object]]:
    for one in reported:
        problem = one.problem
        body = {"time": to_iso(problem.time), "key": problem.key, "text": problem.text}
        yield "", {**body, "sources": sorted(one.sources, key=str)}


def _read_counts(bodies: Mapping[str, int]) -> Counter[tuple[date, str]]:
    split = ((name.partition(_BETWEEN), count) for name, count in bodies.items())
    return Counter({(date.fromisoformat(day), name): n for (day, _, name), n in split})


def _write_counts(counts: Mapping[tuple[date, str], int]) -> Iterable[tuple[str, object]]:
    for (day, name), count in counts.items():
        yield f"{day.isoformat()}{_BETWEEN}{name}", count


def _read_time(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)


def _write_time(moment: datetime | None) -> str | None:
    return None if moment is None else to_iso(moment)


PARTS: Mapping[str, LessonPart] = {
    "rows": LessonPart(_read_waiting, _write_waiting, "learning_queue"),
    "outbox": LessonPart(_read_outbox, _write_outbox, "learning_outbox", is_ordered=True),
    "sightings": LessonPart(_read_sightings, _write_sightings),
    "reported": LessonPart(_read_reported, _write_reported),
    "last": LessonPart(
        lambda bodies: {key: from_iso(body) for key, body in bodies.items()},
        lambda last: ((key, to_iso(moment)) for key, moment in last.items()),
    ),
    "cycles": LessonPart(
        lambda bodies: {
            key: Cycle(b["state"], _read_time(b["since"])) for key, b in bodies.items()
        },
        lambda cycles: (
            (key, {"state": one.state, "since": _write_time(one.since)})
            for key, one in cycles.items()
        ),
    ),
    "calls": LessonPart(_read_counts, _write_counts),
    "tallies": LessonPart(_read_counts, _write_counts),
    "formats": LessonPart(
        lambda bodies: {
            tuple(name.split(_BETWEEN)): (body["format"], from_iso(body["time"]))
            for name, body in bodies.items()
        },
        lambda formats: (
            (_BETWEEN.join(name), {"format": chosen, "time": to_iso(moment)})
            for name, (chosen, moment) in formats.items()
        ),
    ),
}


class StoredLessons(Lessons):
    """All that is kept for learning; a part is read when it is first looked at."""

    def __init__(self, step: Transaction) -> None:
        ((used, last_row),) = step.rows(
            "SELECT coalesce(max(n), 0), coalesce(max(last_id), 0) FROM turnleaf.counters "
            "WHERE kind = 'learning' AND space <> ''"
        )
        self._step = step
        self.tables: dict[str, LoadedTable[Any]] = {}
        self.is_used, self.last_row = used > 0, last_row

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - by part
        if name not in PARTS:
            raise AttributeError(name)
        value = self.load(name).value
        setattr(self, name, value)
        return value

    def load(self, name: str) -> LoadedTable[Any]:
        """Return the rows of a part, with what it is now."""
        if name not in self.tables:
            part = PARTS[name]
            section = name if part.table == "learning_marks" else None
            self.tables[name] = LoadedTable(
                self._step,
                part.table,
                part.read,
                part.write,
                section=section,
                is_ordered=part.is_ordered,
            )
        return self.tables[name]

    def list_looked_at(self) -> list[LoadedTable[Any]]:
        """Return the rows of the parts that were looked at or replaced."""
        looked_at = [one for one in PARTS if one in vars(self)]
        for name in looked_at:
            self.load(name).value = getattr(self, name)
        return [self.load(name) for name in looked_at]


class LoadedLessons:
    """What is kept for learning in a space."""

    def __init__(self, step: Transaction) -> None:
        self.value = StoredLessons(step)
        self._last_row, self._was_used = self.value.last_row, self.value.is_used

    def has_changed(self) -> bool:
        """Whether anything of it is other."""
        lessons = self.value
        is_new = (lessons.last_row, lessons.is_used) != (self._last_row, self._was_used)
        return is_new or any(one.has_changed() for one in lessons.list_looked_at())

    def save(self, step: Transaction) -> None:
        """Write what changed, and that there is something to do."""
        for one in self.value.list_looked_at():
            one.save(step)
        if self.value.last_row != self._last_row:
            note_work(step, LEARNING, step.now() + LEARNING_DELAY)
            query = (
                "UPDATE turnleaf.counters SET last_id = %s WHERE kind = 'learning' AND space <> ''"
            )
            step.run(query, self.value.last_row)
