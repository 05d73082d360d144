"""Schedules and their runs, as values; all that happens to them is arithmetic on a given time.

A run keeps its id however often it is tried, so that whoever gets its result can tell a
repetition from another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from turnleaf.core.languages import pluralize
from turnleaf.core.loading import make_pattern
from turnleaf.core.memories import check_text
from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE = timedelta(hours=2)
"""For how long a run that was missed is still worth it."""
LEASE = timedelta(minutes=2)
"""For how long a run without a sign of life counts as running."""
MOST_ATTEMPTS = 3
KEPT_RUNS = 50
RESULT_CHARS = 2000
MAX_NAME_BYTES = 200
_PLACES = {
    "slack": make_pattern(r"[A-Z][A-Z0-9]{2,}"),
    "file": make_pattern(r"[^\W_.][\w .-]{0,99}\.(md|txt)"),
}

State = Literal["running", "done", "failed", "interrupted", "missed"]
STATES: tuple[State, ...] = ("running", "done", "failed", "interrupted", "missed")
BEGUN = ("running", "interrupted")
INTERRUPTED = "interrupted"
ERASED = "its conversation was erased"
MISSED = "no program that could run it was running in time"
Next = Callable[["Schedule", datetime], datetime | None]
"""When a schedule is due next after a moment."""


@dataclass(frozen=True, slots=True)
class Run:
    """One time that a schedule was due, and what came of it."""

    id: str
    due: datetime
    state: State
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempts: int = 1
    holder: str | None = None
    """Who runs it, and until when nobody else may."""
    held_until: datetime | None = None
    result: str | None = None
    error: str | None = None

    def is_held(self, now: datetime) -> bool:
        """Whether a process runs it and has extended its lease."""
        # Of two programs that look at once, one may have read the clock a little earlier.
        return self.held_until is not None and now < self.held_until <= now + 2 * LEASE


@dataclass(frozen=True, slots=True)
class Schedule:
    """Something to be asked again and again, or once."""

    id: str
    prompt: str
    timing: str
    zone: str
    created_at: datetime
    updated_at: datetime
    name: str | None = None
    deliver: str = "log"
    is_paused: bool = False
    next_due: datetime | None = None
    runs: tuple[Run, ...] = ()
    """The newest, oldest first."""

    @property
    def kind(self) -> str:
        """Where results go, without the place's own name."""
        return self.deliver.partition(":")[0]

    @property
    def open_run(self) -> Run | None:
        """The run that is under way, or was interrupted and may be tried again."""
        begun = (run for run in reversed(self.runs) if run.state in BEGUN)
        return next((run for run in begun if run.finished_at is None), None)

    @property
    def waits_since(self) -> datetime | None:
        """When the run was due that is to be made next."""
        return self.open_run.due if self.open_run else self.next_due

    def is_due(self, now: datetime) -> bool:
        """Whether the next run is due, and the schedule is not paused."""
        return not self.is_paused and self.next_due is not None and self.next_due <= now

    def is_running(self, now: datetime) -> bool:
        """Whether a run is under way."""
        return self.open_run is not None and self.open_run.is_held(now)


def mark_if_interrupted(run: Run, now: datetime) -> Run:
    """Return a run, as interrupted if its process has not extended the lease."""
    is_dead = run.state == "running" and not run.is_held(now)
    return replace(run, state="interrupted") if is_dead else run


def is_to_do(schedule: Schedule, now: datetime) -> bool:
    """Whether there is a run to claim, or an interrupted one to mark."""
    if schedule.is_paused or schedule.is_running(now):
        return False
    return schedule.open_run is not None or schedule.is_due(now)


def find_next_moment(schedule: Schedule) -> datetime | None:
    """Return when there may be a run to claim next; None while it is paused or over."""
    if schedule.is_paused:
        return None
    begun = schedule.open_run
    return begun.held_until or begun.due if begun else schedule.next_due


def claim_run(
    schedule: Schedule, now: datetime, next_of: Next, new: Run, *, can_deliver: bool = True
) -> tuple[Schedule, Run | None]:
    """Claim the run that is due, if there is one; return the schedule with it.

    `new` names the run and its holder. What cannot be delivered here is left to others, until
    it is too late for everybody.
    """
    if not is_to_do(schedule, now):
        return schedule, None
    begun = schedule.open_run
    due = begun.due if begun else _find_newest_due(schedule, now, next_of)
    is_late = now - due > GRACE
    # What is late is marked as missed by anybody, even by who could not have delivered it.
    if not (is_late or can_deliver):
        return schedule, None
    if begun:
        return (
            give_up_run(schedule, begun, now) if is_late else take_up_run(schedule, begun, now, new)
        )
    # From now on and not from when it was due: of several that were missed one is made up for.
    schedule = replace(schedule, next_due=next_of(schedule, now))
    if is_late:
        return _replace_run(
            schedule, replace(new, due=due, state="missed", holder=None, error=MISSED)
        ), None
    return start_run(schedule, now, replace(new, due=due))


def start_run(schedule: Schedule, now: datetime, new: Run) -> tuple[Schedule, Run]:
    """Begin a run."""
    run = replace(new, state="running", started_at=now, held_until=now + LEASE)
    return _replace_run(schedule, run), run


def take_up_run(
    schedule: Schedule, run: Run, now: datetime, new: Run
) -> tuple[Schedule, Run | None]:
    """Retry a run whose process ended in the middle, unless it was tried often enough."""
    if run.attempts >= MOST_ATTEMPTS:
        return give_up_run(schedule, run, now)
    again = replace(
        run,
        state="running",
        attempts=run.attempts + 1,
        holder=new.holder,
        held_until=now + LEASE,
        error=INTERRUPTED,
    )
    return _replace_run(schedule, again), again


def give_up_run(schedule: Schedule, run: Run, now: datetime) -> tuple[Schedule, None]:
    """Mark a run that was interrupted and is not tried again."""
    error = f"interrupted {pluralize(run.attempts, 'time')}; it is not tried again"
    return _replace_run(schedule, _end_run(run, "interrupted", now, error=error)), None


def extend_lease(schedule: Schedule, run: Run, now: datetime) -> Schedule | None:
    """Extend the lease of a run; return None when it is no longer its holder's."""
    known = _find_held(schedule, run)
    return _replace_run(schedule, replace(known, held_until=now + LEASE)) if known else None


def give_back_run(schedule: Schedule, run: Run) -> Schedule | None:
    """Release a run for the next process; return None when it is no longer its holder's."""
    known = _find_held(schedule, run)
    if known is None:
        return None
    left = replace(known, state="interrupted", holder=None, held_until=None, error=INTERRUPTED)
    return _replace_run(schedule, left)


def finish_run(
    schedule: Schedule,
    run: Run,
    now: datetime,
    *,
    result: str | None = None,
    error: str | None = None,
) -> Schedule | None:
    """End a run; return None when it is no longer its holder's."""
    known = _find_held(schedule, run)
    if known is None:
        return None
    state: State = "done" if error is None else "failed"
    return _replace_run(schedule, _end_run(known, state, now, result=result, error=error))


def record_failure(schedule: Schedule, now: datetime, new: Run, error: str) -> Schedule:
    """Mark a schedule whose timing cannot be read; it has no next run until it is edited."""
    failed = replace(new, due=schedule.next_due or now, holder=None)
    stopped = replace(schedule, next_due=None)
    return _replace_run(stopped, _end_run(failed, "failed", now, error=error))


def erase_results(schedule: Schedule, now: datetime) -> Schedule:
    """Remove the results of all runs; that of the one under way will not be stored."""
    runs = (
        _end_run(run, "interrupted", now, error=ERASED)
        # Whoever runs it is no longer its holder then, so the result is not stored after all.
        if run.state == "running"
        else replace(run, result=None, error=None)
        for run in schedule.runs
    )
    return replace(schedule, runs=tuple(runs))


def _end_run(
    run: Run, state: State, now: datetime, *, result: str | None = None, error: str | None = None
) -> Run:
    return replace(
        run,
        state=state,
        finished_at=now,
        holder=None,
        held_until=None,
        result=result[:RESULT_CHARS] if result else None,
        error=error[:RESULT_CHARS] if error else None,
    )


def _find_newest_due(schedule: Schedule, now: datetime, next_of: Next) -> datetime:
    """Return the last time that a run was due: of several missed ones, only one is made up."""
    due = schedule.next_due or now
    # From there on, and not from the last run: a schedule for each minute may have missed months.
    recent = next_of(schedule, now - GRACE)
    if recent is None or recent > now:
        return due
    due = max(due, recent)
    while (following := next_of(schedule, due)) and following <= now:
        due = following
    return due


def _find_held(schedule: Schedule, run: Run) -> Run | None:
    """Return the run as it is on record, if it is still the same attempt of the same holder."""
    known = schedule.open_run
    if known is None or known.holder is None:
        return None
    # The attempts as well: a holder that hung may have lost the run and got it again.
    is_same = (known.id, known.holder, known.attempts) == (run.id, run.holder, run.attempts)
    return known if is_same else None


def _replace_run(schedule: Schedule, run: Run) -> Schedule:
    others = tuple(one for one in schedule.runs if one.id != run.id)
    return replace(schedule, runs=(*others, run)[-KEPT_RUNS:])


def to_json(schedule: Schedule) -> dict[str, Any]:
    """Return the form that schedules.json holds."""
    record = {
        "id": schedule.id,
        "name": schedule.name,
        "prompt": schedule.prompt,
        "timing": schedule.timing,
        "timezone": schedule.zone,
        "deliver": schedule.deliver,
        "paused": schedule.is_paused,
        "createdAt": to_iso(schedule.created_at),
        "updatedAt": to_iso(schedule.updated_at),
        "nextRun": schedule.next_due and to_iso(schedule.next_due),
        "runs": [run_to_json(run) for run in schedule.runs],
    }
    return {key: value for key, value in record.items() if value is not None}


def from_json(record: Mapping[str, Any]) -> Schedule:
    """Read the form that `to_json` gives; raise ValueError, KeyError or TypeError else."""
    created = from_iso(record["createdAt"])
    due = record.get("nextRun")
    return Schedule(
        id=_read_text(record["id"]),
        prompt=_read_text(record["prompt"]),
        timing=_read_text(record["timing"]),
        zone=_read_text(record["timezone"]),
        created_at=created,
        updated_at=from_iso(record["updatedAt"]) if "updatedAt" in record else created,
        name=_read_text_or_none(record.get("name")),
        deliver=_read_text(record.get("deliver", "log")),
        is_paused=bool(record.get("paused", False)),
        next_due=from_iso(due) if due else None,
        runs=tuple(map(_run_from_json, record.get("runs", ()))),
    )


def run_to_json(run: Run) -> dict[str, Any]:
    """Return the form that schedules.json holds of a run."""
    record = {
        "id": run.id,
        "due": to_iso(run.due),
        "state": run.state,
        "startedAt": run.started_at and to_iso(run.started_at),
        "finishedAt": run.finished_at and to_iso(run.finished_at),
        "attempts": run.attempts,
        "holder": run.holder,
        "heldUntil": run.held_until and to_iso(run.held_until),
        "result": run.result,
        "error": run.error,
    }
    return {key: value for key, value in record.items() if value is not None}


def _run_from_json(record: Mapping[str, Any]) -> Run:
    return Run(
        id=_read_text(record["id"]),
        due=from_iso(record["due"]),
        state=STATES[STATES.index(record["state"])],
        started_at=_read_time(record.get("startedAt")),
        finished_at=_read_time(record.get("finishedAt")),
        attempts=int(record.get("attempts", 1)),
        holder=_read_text_or_none(record.get("holder")),
        held_until=_read_time(record.get("heldUntil")),
        result=_read_text_or_none(record.get("result")),
        error=_read_text_or_none(record.get("error")),
    )


def _read_time(text: str | None) -> datetime | None:
    return from_iso(text) if text else None


def _read_text(value: object) -> str:
    """Return a text; raise ValueError for one that UTF-8 cannot hold."""
    text = str(value)
    # A lone surrogate, which JSON can hold, could not be written to a file.
    text.encode()
    return text


def _read_text_or_none(value: object) -> str | None:
    return None if value is None else _read_text(value)


def check_deliver(deliver: str) -> str:
    """Return a place for results; raise InvalidInput for an unknown one."""
    wanted = check_text(deliver, "a place for results").strip()
    kind, _, rest = wanted.partition(":")
    is_known = (
        kind in _PLACES and _PLACES[kind].fullmatch(rest) and len(rest.encode()) < MAX_NAME_BYTES
    )
    if wanted != "log" and not is_known:
        message = (
            f"results cannot be delivered to {deliver!r:.80}; use log, slack:CHANNEL with "
            "the channel's ID, or file:NAME with a short name such as news.md"
        )
        raise InvalidInput(message)
    return wanted
