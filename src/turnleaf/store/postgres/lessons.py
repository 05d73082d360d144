"""What is kept for learning in rows, each part of it read only where it is needed."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

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
from turnleaf.core.times import from_iso, to_iso
from turnleaf.store.memory.learning import Lessons, ReportedProblem, WaitingMessage
from turnleaf.store.postgres.values import LoadedTable
from turnleaf.store.postgres.work import note_work
from turnleaf.store.work import LEARNING, LEARNING_DELAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from turnleaf.store.postgres.place import Transaction

Bodies = "Mapping[Any, Any]"
Rows = "Iterable[tuple[Any, object]]"
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
