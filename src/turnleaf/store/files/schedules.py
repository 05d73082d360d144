"""`ScheduleStore`: what is to be asked by the clock, in one JSON file, claimed by one process."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from turnleaf.core import schedules
from turnleaf.core.examination import describe_schedules, find_schedule_problems
from turnleaf.core.jsontext import to_text
from turnleaf.core.keys import schedule_key
from turnleaf.core.memories import checked_text, unique_id
from turnleaf.core.schedules import Run, Schedule, checked_deliver
from turnleaf.core.times import to_millisecond
from turnleaf.errors import Conflict, CorruptFile, InvalidInput, NotFound
from turnleaf.settings import default_data_dir
from turnleaf.store.ambient import random_id
from turnleaf.store.files import atomic
from turnleaf.store.files.examining import collect, examine_file
from turnleaf.store.timing import assumed_zone, checked_timing, next_due

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path
    from typing import TypeVar

    from turnleaf.core.examination import Examination, Part

    T = TypeVar("T")
    Change = Callable[[Schedule], Schedule | None]
    Claimed = list[tuple[Schedule, Run]]

__all__ = ["Run", "Schedule", "ScheduleStore"]

NAME = "schedules.json"
EMPTY = "[]\n"
MAX_SCHEDULES = 200
MAX_PROMPT_CHARS = 20_000
MAX_NAME_CHARS = 100
KINDS = ("log", "slack", "file")
"""Where a result can go."""
_PROBLEMS = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class ScheduleStore:
    """Schedules by id. Several processes may run what is due: each run is claimed by one."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self.location = atomic.real(default_data_dir() / NAME if location is None else location)
        if self.location.suffix != ".json":
            message = f"schedules are kept in a .json file, not in {self.location.name!r}"
            raise InvalidInput(message)
        self._results = self.location.with_name("results")
        self._now = now
        self._new_id = new_id
        self._holder = f"{os.getpid()}-{random_id()}"

    def init(self) -> None:
        """Make the file where it is missing, and see that it can be read."""
        self._change(lambda _: None)

    def add(
        self,
        prompt: str,
        timing: str,
        *,
        zone: str | None = None,
        name: str | None = None,
        deliver: str = "log",
    ) -> Schedule:
        """Have something asked at a time; raise InvalidInput for a time that never comes."""
        now = self._moment()
        zone = assumed_zone() if zone is None else zone
        wanted = Schedule("", _check_prompt(prompt), checked_timing(timing, zone), zone, now, now)
        wanted = replace(wanted, name=_check_name(name or ""), deliver=checked_deliver(deliver))

        def edit(known: dict[str, Schedule]) -> Schedule:
            if len(known) >= MAX_SCHEDULES:
                message = f"there are {MAX_SCHEDULES} schedules already; remove some first"
                raise InvalidInput(message)
            made = _set_first_due(replace(wanted, id=unique_id(self._new_id(), set(known))), now)
            known[made.id] = made
            return made

        return self._change(edit)

    def examine(self) -> Examination:
        """Return how many schedules there are and what is wrong with them."""
        return _examine(self.location, self._now())

    def get_all(self) -> list[Schedule]:
        """Return all schedules, in the order in which they were made."""
        try:
            return list(parse(atomic.read(self.location)).values())
        except CorruptFile:
            self.init()
            return list(parse(atomic.read(self.location)).values())

    def get(self, schedule_id: str) -> Schedule:
        """Return the schedule with that id; raise NotFound when there is none."""
        return _get({one.id: one for one in self.get_all()}, schedule_id)

    def update(
        self,
        schedule_id: str,
        *,
        prompt: str | None = None,
        timing: str | None = None,
        zone: str | None = None,
        name: str | None = None,
        deliver: str | None = None,
        is_paused: bool | None = None,
    ) -> Schedule:
        """Change what is given of a schedule; an empty name takes its name away."""

        def change(old: Schedule) -> Schedule:
            new = replace(
                old,
                prompt=old.prompt if prompt is None else _check_prompt(prompt),
                timing=old.timing if timing is None else timing,
                zone=old.zone if zone is None else zone,
                name=old.name if name is None else _check_name(name),
                deliver=old.deliver if deliver is None else checked_deliver(deliver),
                is_paused=old.is_paused if is_paused is None else is_paused,
            )
            is_resumed = is_paused is False and (old.is_paused or old.next_due is None)
            return self._reschedule(old, new, is_resumed=is_resumed)

        return self._change_one(schedule_id, change)

    def _reschedule(self, old: Schedule, new: Schedule, *, is_resumed: bool) -> Schedule:
        if (new.timing, new.zone) != (old.timing, old.zone):
            new = replace(new, timing=checked_timing(new.timing, new.zone))
        elif not is_resumed:
            return new
        return _set_first_due(new, self._moment())

    def pause(self, schedule_id: str) -> Schedule:
        """Pause a schedule; a run that is under way goes on."""
        return self.update(schedule_id, is_paused=True)

    def resume(self, schedule_id: str) -> Schedule:
        """Resume a schedule; runs that it missed meanwhile are not made up for."""
        return self.update(schedule_id, is_paused=False)

    def erase(self, key: str) -> int:
        """Take away what runs said in the conversation of a schedule; give how many."""
        now = self._moment()

        def edit(known: dict[str, Schedule]) -> int:
            found = [one for one in known.values() if schedule_key("") + one.id == key]
            known |= {one.id: schedules.erase_results(one, now) for one in found}
            return sum(run.result is not None for one in found for run in one.runs)

        return self._change(edit) if self.location.exists() else 0

    def remove(self, schedule_id: str) -> Schedule:
        """Remove a schedule and the record of its runs."""

        def edit(known: dict[str, Schedule]) -> Schedule:
            gone = _get(known, schedule_id)
            del known[gone.id]
            return gone

        return self._change(edit)

    # Runs.

    def claim(self, kinds: Collection[str] = KINDS, *, most: int = MAX_SCHEDULES) -> Claimed:
        """Take runs that are to be made now; nobody else gets them while they are held.

        Those whose result cannot go where one of `kinds` does are left to others.
        """
        now = self._moment()
        taken: Claimed = []

        def edit(known: dict[str, Schedule]) -> None:
            # Who waited longest is first; what is too late is marked, whether there is room or not.
            for one in sorted(known.values(), key=_turn):
                can_deliver = len(taken) < most and one.kind in kinds
                known[one.id], run = self._claim_run(one, now, can_deliver=can_deliver)
                taken.extend([(known[one.id], run)] if run else [])

        # Without the lock: every program looks several times a minute, and mostly nothing is due.
        if any(schedules.is_to_do(one, now) for one in self.get_all()):
            self._change(edit)
        return taken

    def _claim_run(
        self, one: Schedule, now: datetime, *, can_deliver: bool
    ) -> tuple[Schedule, Run | None]:
        new = self._new_run(now)
        try:
            return schedules.claim_run(one, now, next_due, new, can_deliver=can_deliver)
        except InvalidInput as error:
            # Somebody wrote it into the file; the others are not to wait for its correction.
            return schedules.record_failure(one, now, new, str(error)), None

    def begin(self, schedule_id: str) -> tuple[Schedule, Run]:
        """Take a run of a schedule although it is not due; refuse while one is under way."""
        now = self._moment()

        def edit(known: dict[str, Schedule]) -> tuple[Schedule, Run]:
            one = _get(known, schedule_id)
            if one.is_running(now):
                message = f"{schedule_id} is running already; wait until it is done"
                raise Conflict(message)
            if one.open_run:
                # Nobody holds it any more: the program that began it died.
                one, _ = schedules.give_up_run(one, one.open_run, now)
            known[one.id], run = schedules.start_run(one, now, self._new_run(now))
            return known[one.id], run

        return self._change(edit)

    def hold(self, schedule_id: str, run: Run) -> bool:
        """Renew the claim to a run; False when it is no longer ours."""
        now = self._moment()
        return self._mine(schedule_id, lambda one: schedules.extend_lease(one, run, now))

    def give_back(self, schedule_id: str, run: Run) -> bool:
        """Leave a run to whoever comes next; False when it is no longer ours."""
        return self._mine(schedule_id, lambda one: schedules.give_back_run(one, run))

    def finish(
        self, schedule_id: str, run: Run, *, result: str | None = None, error: str | None = None
    ) -> bool:
        """End a run; False when it is no longer ours."""
        now = self._moment()
        said = {"result": result and to_text(result), "error": error and to_text(error)}
        return self._mine(schedule_id, lambda one: schedules.finish_run(one, run, now, **said))

    def _new_run(self, now: datetime) -> Run:
        return Run(self._new_id(), now, "running", holder=self._holder)

    def _mine(self, schedule_id: str, change: Change) -> bool:
        def edit(known: dict[str, Schedule]) -> bool:
            new = change(known[schedule_id]) if schedule_id in known else None
            if new is None:
                return False
            known[schedule_id] = new
            return True

        return self._change(edit)

    def _change_one(self, schedule_id: str, change: Callable[[Schedule], Schedule]) -> Schedule:
        def edit(known: dict[str, Schedule]) -> Schedule:
            new = change(_get(known, schedule_id))
            known[new.id] = replace(new, updated_at=self._moment())
            return known[new.id]

        return self._change(edit)

    def add_result(self, name: str, run: Run, text: str) -> None:
        """Add what a run brought to a file of the folder `results`, once."""
        path = self._results / name
        atomic.make_folder(path.parent)
        with atomic.lock(path) as file:
            before = file.read() or b""
            if run.id.encode() not in before:
                # What a kill leaves half of would be taken for delivered.
                file.replace(before + f"{text}\n\n".encode())

    def read_results(self, name: str) -> str:
        """Return the results of a name."""
        return (atomic.read(self._results / name) or b"").decode("utf-8", "replace")

    def _change(self, edit: Callable[[dict[str, Schedule]], T]) -> T:
        atomic.make_folder(self.location.parent)
        with atomic.lock(self.location) as file:
            data = file.read()
            try:
                known = parse(data)
            except CorruptFile as problem:
                file.move_aside(str(problem))
                data, known = EMPTY.encode(), {}
                file.replace(data)
            result = edit(known)
            written = _serialize(known)
            if written != data:
                file.replace(written)
            return result

    def _moment(self) -> datetime:
        return to_millisecond(self._now())


def _turn(one: Schedule) -> tuple[datetime, str]:
    """Return the key by which schedules take turns; among equals it is chance."""
    return one.waits_since or one.created_at, one.runs[-1].id if one.runs else ""


def _set_first_due(schedule: Schedule, now: datetime) -> Schedule:
    """Set when it is due first; refuse a time that never comes."""
    timed = _next(schedule, now)
    if timed.next_due is None:
        message = f"{schedule.timing!r:.80} lies in the past or never comes; choose another time"
        raise InvalidInput(message)
    return timed


def _next(schedule: Schedule, now: datetime) -> Schedule:
    return replace(schedule, next_due=next_due(schedule, now))


def _check_prompt(prompt: str) -> str:
    text = checked_text(prompt, "what is asked").strip()
    if not text:
        message = "say what is to be asked; this is empty"
        raise InvalidInput(message)
    if len(text) > MAX_PROMPT_CHARS:
        message = f"what is asked may have {MAX_PROMPT_CHARS:,} characters, this has {len(text):,}"
        raise InvalidInput(message)
    return text


def _check_name(name: str) -> str | None:
    text = " ".join(checked_text(name, "a name").split())
    if len(text) > MAX_NAME_CHARS:
        message = f"a name may have {MAX_NAME_CHARS} characters, this has {len(text):,}"
        raise InvalidInput(message)
    return text or None


def _get(known: dict[str, Schedule], schedule_id: str) -> Schedule:
    if schedule_id not in known:
        message = f"there is no schedule {schedule_id!r:.80}; turnleaf schedule list names them"
        raise NotFound(message)
    return known[schedule_id]


def parse(data: bytes | None) -> dict[str, Schedule]:
    """Read the schedules of a file by their ids; raise CorruptFile if it holds none."""
    try:
        records = json.loads((data or EMPTY.encode()).decode("utf-8-sig"))
        known = {one.id: one for one in map(_read, count(1), records)}
    except _PROBLEMS as error:
        message = f"it holds no schedules: {error}"
        raise CorruptFile(message) from error
    if len(known) < len(records):
        message = "two of its schedules have the same id"
        raise CorruptFile(message)
    return known


def _read(number: int, record: dict[str, Any]) -> Schedule:
    try:
        one = schedules.from_json(record)
    except _PROBLEMS as error:
        wrong = f"has no {error}" if isinstance(error, KeyError) else f"cannot be read ({error})"
        message = f"its schedule number {number} {wrong}"
        raise CorruptFile(message) from error
    return one if one.next_due or one.runs else replace(one, next_due=_first_due(one))


def _first_due(one: Schedule) -> datetime | None:
    """Return when a schedule that was written into the file by hand is due."""
    try:
        return next_due(one, one.created_at)
    except InvalidInput:
        # Whoever claims it puts on record what is wrong with it.
        return one.created_at


def _serialize(known: dict[str, Schedule]) -> bytes:
    records = [schedules.to_json(one) for one in known.values()]
    return f"{json.dumps(records, ensure_ascii=False, indent=2)}\n".encode()


@collect
def _examine(path: Path, now: datetime) -> Iterator[Part]:
    known: list[Schedule] = []

    def describe() -> str:
        known.extend(parse(atomic.read(path)).values())
        return describe_schedules(known)

    yield from examine_file("schedules", path, describe)
    yield from find_schedule_problems(known, now)
