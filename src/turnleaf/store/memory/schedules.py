"""Schedules in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.core import schedules
from turnleaf.core.examination import describe_schedules, find_schedule_problems
from turnleaf.core.jsontext import to_text
from turnleaf.core.memories import checked_text
from turnleaf.core.schedules import Run, Schedule, checked_deliver
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.store.memory.place import Keeper, Now, PlaceOfSpaces, in_one_step
from turnleaf.store.timing import assumed_zone, checked_timing, next_due

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from turnleaf.core.examination import Examination

MAX_SCHEDULES = 200
MAX_PROMPT_CHARS = 20_000
MAX_NAME_CHARS = 100
_PREFIX = "schedule:"


class MemorySchedules(Keeper):
    """The schedules of a space, in the order in which they were made."""

    kind = "schedules"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._holder = uuid4().hex

    @property
    def _kept(self) -> dict[str, Schedule]:
        return self.place.find(self.space, self.kind, dict[str, Schedule])

    @property
    def _results(self) -> dict[str, str]:
        return self.place.find(self.space, "results", dict[str, str])

    @in_one_step
    def add(
        self,
        prompt: str,
        timing: str,
        *,
        zone: str | None = None,
        name: str | None = None,
        deliver: str = "log",
    ) -> Schedule:
        """Add a schedule, due next after now; return it."""
        now = self.now()
        made = Schedule(
            id=uuid4().hex[:12],
            prompt=_check_prompt(prompt),
            timing=_check_timing(timing),
            zone=assumed_zone() if zone is None else zone,
            created_at=now,
            updated_at=now,
            name=_check_name(name),
            deliver=checked_deliver(deliver),
        )
        if len(self._kept) >= MAX_SCHEDULES:
            message = f"there are {MAX_SCHEDULES} schedules; remove some first"
            raise InvalidInput(message)
        return self._keep(replace(made, next_due=_find_due(made, now)))

    def _keep(self, schedule: Schedule) -> Schedule:
        if self._kept.get(schedule.id) != schedule:
            self._kept[schedule.id] = schedule
            self.announce()
        return schedule

    @in_one_step
    def examine(self) -> Examination:
        """Return how many schedules there are and what is wrong with them."""
        known = self.get_all()
        problems = find_schedule_problems(known, self._clock())
        return self.report("schedules", describe_schedules(known), *problems)

    @in_one_step
    def get_all(self) -> list[Schedule]:
        """Return every schedule, in the order in which they were made."""
        return [*self._kept.values()]

    @in_one_step
    def get(self, schedule_id: str) -> Schedule:
        """Return a schedule; raise NotFound when there is none of that id."""
        if schedule_id not in self._kept:
            message = f"there is no schedule {schedule_id!r}; turnleaf schedule list shows all"
            raise NotFound(message)
        return self._kept[schedule_id]

    @in_one_step
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
        """Change what is given of a schedule, all or none of it."""
        known, now = self.get(schedule_id), self.now()
        changed = replace(
            known,
            prompt=known.prompt if prompt is None else _check_prompt(prompt),
            timing=known.timing if timing is None else _check_timing(timing),
            zone=known.zone if zone is None else zone,
            name=known.name if name is None else _check_name(name),
            deliver=known.deliver if deliver is None else checked_deliver(deliver),
            is_paused=known.is_paused if is_paused is None else is_paused,
            updated_at=now,
        )
        is_back = is_paused is False and (known.is_paused or known.next_due is None)
        if is_back or timing is not None or zone is not None:
            changed = replace(changed, next_due=_find_due(changed, now))
        return self._keep(changed)

    def pause(self, schedule_id: str) -> Schedule:
        """Stop running a schedule until it is resumed."""
        return self.update(schedule_id, is_paused=True)

    @in_one_step
    def resume(self, schedule_id: str) -> Schedule:
        """Run a schedule again from its next time on."""
        known = self.get(schedule_id)
        rests = known.is_paused or known.next_due is None
        return self.update(schedule_id, is_paused=False) if rests else known

    @in_one_step
    def remove(self, schedule_id: str) -> Schedule:
        """Remove a schedule with its runs; return it; raise NotFound for none."""
        self.get(schedule_id)
        self.announce()
        return self._kept.pop(schedule_id)

    @in_one_step
    def erase(self, key: str) -> int:
        """Erase what the runs of the conversation "schedule:ID" left; return how many results."""
        known = self._kept.get(key.removeprefix(_PREFIX)) if key.startswith(_PREFIX) else None
        if known is None:
            return 0
        self._keep(schedules.erase_results(known, self.now()))
        return sum(run.result is not None for run in known.runs)

    @in_one_step
    def claim(
        self, kinds: Collection[str] | None = None, *, most: int = MAX_SCHEDULES
    ) -> list[tuple[Schedule, Run]]:
        """Claim what is due: each run is given to one holder."""
        now, taken = self.now(), list[tuple[Schedule, Run]]()
        due = [one for one in self._kept.values() if schedules.is_to_do(one, now)]
        for one in sorted(due, key=lambda one: _rank(one, now)):
            can_deliver = len(taken) < most and (kinds is None or one.kind in kinds)
            changed, run = schedules.claim_run(
                one, now, next_due, self._make_run(now), can_deliver=can_deliver
            )
            self._keep(changed)
            taken += [(changed, run)] if run else []
        return taken

    def _make_run(self, now: datetime) -> Run:
        return Run(uuid4().hex, now, "running", holder=self._holder)

    @in_one_step
    def begin(self, schedule_id: str) -> tuple[Schedule, Run]:
        """Begin a run now, whenever it is due; when it is due next stays."""
        known, now = self.get(schedule_id), self.now()
        if known.is_running(now):
            message = f"the schedule {schedule_id!r} is running already; wait until it is done"
            raise Conflict(message)
        if known.open_run:
            known, _ = schedules.give_up_run(known, known.open_run, now)
        begun, run = schedules.start_run(known, now, self._make_run(now))
        return self._keep(begun), run

    @in_one_step
    def hold(self, schedule_id: str, run: Run) -> bool:
        """Renew the lease of a run; False when it is no longer one's own."""
        known = self._kept.get(schedule_id)
        return self._keep_if(schedules.extend_lease(known, run, self.now()) if known else None)

    @in_one_step
    def give_back(self, schedule_id: str, run: Run) -> bool:
        """Return a run for whoever claims next; False when it is no longer one's own."""
        known = self._kept.get(schedule_id)
        return self._keep_if(schedules.give_back_run(known, run) if known else None)

    @in_one_step
    def finish(
        self, schedule_id: str, run: Run, *, result: str | None = None, error: str | None = None
    ) -> bool:
        """Store how a run ended; False when it is no longer one's own."""
        known = self._kept.get(schedule_id)
        said = None if result is None else to_text(result)
        wrong = None if error is None else to_text(error)
        if known is None:
            return False
        return self._keep_if(schedules.finish_run(known, run, self.now(), result=said, error=wrong))

    @in_one_step
    def add_result(self, name: str, run: Run, text: str) -> None:
        """Add what a run brought to the results of that name, once."""
        before = self.read_results(name)
        if run.id not in before:
            self._results[name] = f"{before}{text}\n\n"

    @in_one_step
    def read_results(self, name: str) -> str:
        """Return the results of a name."""
        return self._results.get(name, "")

    def _keep_if(self, changed: Schedule | None) -> bool:
        if changed is not None:
            self._keep(changed)
        return changed is not None


def _rank(schedule: Schedule, now: datetime) -> tuple[datetime, str]:
    """Return what puts first who waited longest, then who never ran, then whom chance does."""
    last = schedule.runs[-1].id if schedule.runs else ""
    return schedule.waits_since or now, last


def _find_due(schedule: Schedule, now: datetime) -> datetime:
    due = next_due(replace(schedule, timing=checked_timing(schedule.timing, schedule.zone)), now)
    if due is None:
        message = f"{schedule.timing!r:.80} does not come any more; choose another time"
        raise InvalidInput(message)
    return due


def _check_prompt(prompt: str) -> str:
    if not checked_text(prompt, "a prompt").strip():
        message = "a schedule needs a prompt; this is empty"
        raise InvalidInput(message)
    if len(prompt) > MAX_PROMPT_CHARS:
        message = f"a prompt may have {MAX_PROMPT_CHARS} characters, this has {len(prompt)}"
        raise InvalidInput(message)
    return prompt.strip()


def _check_timing(timing: str) -> str:
    return " ".join(checked_text(timing, "a timing").split())


def _check_name(name: str | None) -> str | None:
    line = " ".join(checked_text(name or "", "a name").split())
    if len(line) > MAX_NAME_CHARS:
        message = f"a name may have {MAX_NAME_CHARS} characters, this has {len(line)}"
        raise InvalidInput(message)
    return line or None
