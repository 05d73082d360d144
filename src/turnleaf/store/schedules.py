"""When a schedule is due, and what every store of schedules does.

Cron goes by the clock on the wall of the schedule's zone, over changes to summer time and back:
what falls into the hour that is left out happens right after it, and what falls into the hour
that comes twice happens once, unless it happens every hour anyway.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal
from cronsim import CronSim, CronSimError

from turnleaf.core import schedules
from turnleaf.core.keys import schedule_key
from turnleaf.core.memories import check_text, make_unique_id
from turnleaf.core.schedules import Run, Schedule, check_deliver
from turnleaf.core.serialization import to_millisecond, to_text
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.store.clock_and_ids import make_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar

    T = TypeVar("T")
    Change = Callable[[Schedule], Schedule | None]
    Claimed = list[tuple[Schedule, Run]]


FIELDS = 5
FIRST_YEAR = 1970
LAST_YEAR = 2999
LONGEST = timedelta(days=366)
SHORTEST = timedelta(minutes=1)
HALF_A_YEAR = timedelta(days=182)
MAX_CHARS = 200
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
EXAMPLES = "'0 9 * * 1-5', 'every 15m' or '2026-12-24 18:00'"
NAMES = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}  # fmt: skip

_EVERY = re.compile(
    r"every\s+(\d{1,6})?\s*"
    r"(?:(s)(?:ec|econd)?|(m)(?:in|inute)?|(h)(?:our)?|(d)(?:ay)?|(w)(?:eek)?)s?",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{1,2}:\d{2}.*)?")
_ONE_DIGIT = re.compile(r"(?<=[T ])(?=\d:)")


def check_timing(timing: str, zone: str) -> str:
    """Return a timing as it is stored; raise InvalidInput for what is none."""
    wanted = " ".join(timing.split())
    place = find_zone(zone)
    if len(wanted) > MAX_CHARS:
        message = f"{wanted!r:.80} … is too long for a time; write it as {EXAMPLES}"
        raise InvalidInput(message)
    if wanted.lower().startswith("every"):
        _parse_interval(wanted)
    elif _MOMENT.fullmatch(wanted):
        # Without an offset it goes by the clock on the wall, also when the zone is changed.
        return _parse_moment(wanted).isoformat(timespec="minutes")
    else:
        _parse_cron(wanted, datetime(2000, 1, 1, tzinfo=place))
    return wanted


def find_zone(zone: str) -> ZoneInfo:
    """Return the time zone of that name."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"there is no time zone {zone!r:.80}; write it as Asia/Taipei or Europe/Vienna"
        raise InvalidInput(message) from None


def find_local_zone() -> str:
    """Return the name of this machine's time zone; UTC where it has none with a name."""
    try:
        return tzlocal.get_localzone_name() or "UTC"
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


def assume_zone() -> str:
    """Return the time zone for schedules that name none; raise where it would be a guess."""
    zone = find_local_zone()
    place, now = find_zone(zone), datetime.now(UTC)
    # In summer and in winter: two zones may agree in only one of them.
    for moment in (now, now + HALF_A_YEAR):
        if moment.astimezone().utcoffset() != moment.astimezone(place).utcoffset():
            message = (
                f"this computer's clock does not use the time zone {zone}; choose one, such "
                "as --zone Asia/Taipei"
            )
            raise InvalidInput(message)
    return zone


def find_next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Return when a schedule is due next after a moment; None when it never is again."""
    timing = schedule.timing
    if timing.lower().startswith("every"):
        return _find_next_step(schedule.created_at, _parse_interval(timing), after)
    zone = find_zone(schedule.zone)
    if _MOMENT.fullmatch(timing):
        moment = _set_zone(_parse_moment(timing), zone)
        return moment.astimezone(UTC) if moment > after else None
    return _follow_cron(timing, after.astimezone(zone), zone)


def list_upcoming(timing: str, zone: str, after: datetime, most: int) -> list[datetime]:
    """Return the next times of a timing, fewer when there are no more."""
    wanted = Schedule("", "", check_timing(timing, zone), zone, after, after)
    found: list[datetime] = []
    due = find_next_due(wanted, after)
    while due and len(found) < most:
        found.append(due)
        due = find_next_due(wanted, due)
    return found


def describe_timing(timing: str, zone: str) -> str:
    """Describe a timing in English, or return it as it is where that is not easy."""
    if timing.lower().startswith("every"):
        return timing.lower()
    try:
        if _MOMENT.fullmatch(timing):
            place = find_zone(zone)
            moment = _set_zone(_parse_moment(timing), place).astimezone(place)
            return f"{moment:once on %Y-%m-%d at %H:%M}"
        words = _parse_cron(timing, datetime(2000, 1, 1, tzinfo=UTC)).explain()
    except InvalidInput:
        return timing
    return words[:1].lower() + words[1:]


def _parse_cron(expression: str, after: datetime) -> CronSim:
    wanted = NAMES.get(expression.lower(), expression)
    try:
        # With six it would take the first for seconds.
        return CronSim(wanted if len(wanted.split()) == FIELDS else "", after)
    except CronSimError as error:
        message = f"{expression!r:.80} is not a time ({error}); write it as {EXAMPLES}"
        raise InvalidInput(message) from None


def _follow_cron(timing: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    steps = _parse_cron(timing, after)
    found = next(steps, None)
    is_moved = found is not None and found.utcoffset() != after.utcoffset()
    if found and is_moved and any(part.startswith("*") for part in steps.parts[1:3]):
        # It would step over a change of half an hour, for what comes every hour.
        change = _find_clock_change(after, zone)
        before = next(_parse_cron(timing, after.astimezone(_fix_zone(after))))
        last = (change - SHORTEST).astimezone(_fix_zone(change.astimezone(zone)))
        found = before if before < change else next(_parse_cron(timing, last), None)
    return found.astimezone(UTC) if found else None


def _find_clock_change(after: datetime, zone: ZoneInfo) -> datetime:
    """Find the first minute after a moment at which the clock of a zone is put elsewhere."""

    def is_moved(moment: datetime) -> bool:
        return moment.astimezone(zone).utcoffset() != after.utcoffset()

    early = after.astimezone(UTC).replace(second=0, microsecond=0)
    days = (early + timedelta(days=number) for number in count(1))
    # By days first and then by minutes: the next change may be half a year away.
    early = next(day for day in days if is_moved(day)) - timedelta(days=1)
    minutes = (early + timedelta(minutes=number) for number in count(1))
    return next(minute for minute in minutes if is_moved(minute))


def _fix_zone(moment: datetime) -> timezone:
    """Return the offset of a moment as a zone without daylight saving."""
    return timezone(moment.utcoffset() or timedelta())


def _parse_interval(timing: str) -> timedelta:
    found = _EVERY.fullmatch(timing)
    unit = found and found[found.lastindex or 0].lower()
    step = timedelta(**{UNITS[unit]: int(found[1] or 1)}) if found and unit else timedelta()
    if not SHORTEST <= step <= LONGEST:
        message = (
            f"{timing!r:.80} is not an interval between a minute and a year; write it as every 15m"
        )
        raise InvalidInput(message)
    return step


def _find_next_step(start: datetime, step: timedelta, after: datetime) -> datetime:
    # Counted from when it was made, so that late runs do not add up to a drift.
    return start + step * max((after - start) // step + 1, 1)


def _parse_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(_ONE_DIGIT.sub("0", text))
    except ValueError:
        message = f"{text!r:.80} is not a time; write it as 2026-12-24 18:00"
        raise InvalidInput(message) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        message = f"{text!r:.80} is too far in the future; write it as 2026-12-24 18:00"
        raise InvalidInput(message)
    return moment


def _set_zone(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


MAX_SCHEDULES = 200
MAX_PROMPT_CHARS = 20_000
MAX_NAME_CHARS = 100
KINDS = ("log", "slack", "file")
"""Where a result can go."""


class KeptSchedules(ABC):
    """Schedules by id. Several processes may run what is due: each run is claimed by one.

    A backend says how they are read and how they are changed in one step.
    """

    def __init__(self, now: Callable[[], datetime], new_id: Callable[[], str] = make_id) -> None:
        self._now = now
        self._new_id = new_id
        # The number of a process comes again after a
        # restart, and means nothing in another container.
        self._holder = f"{os.getpid()}-{make_id()}"

    @abstractmethod
    def get_all(self) -> list[Schedule]:
        """Return all schedules, in the order in which they were made."""

    @abstractmethod
    def _change(self, edit: Callable[[dict[str, Schedule]], T]) -> T:
        """Change the schedules in one step, all or nothing; `edit` may be called again."""

    def add(
        self,
        prompt: str,
        timing: str,
        *,
        zone: str | None = None,
        name: str | None = None,
        deliver: str = "log",
    ) -> Schedule:
        """Run a prompt on a schedule; raise InvalidInput for a time that never comes."""
        now = self._read_clock()
        zone = assume_zone() if zone is None else zone
        wanted = Schedule("", _check_prompt(prompt), check_timing(timing, zone), zone, now, now)
        wanted = replace(wanted, name=_check_name(name or ""), deliver=check_deliver(deliver))

        def edit(known: dict[str, Schedule]) -> Schedule:
            if len(known) >= MAX_SCHEDULES:
                message = f"there are already {MAX_SCHEDULES} schedules; remove some first"
                raise InvalidInput(message)
            made = _set_first_due(
                replace(wanted, id=make_unique_id(self._new_id(), set(known))), now
            )
            known[made.id] = made
            return made

        return self._change(edit)

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
                deliver=old.deliver if deliver is None else check_deliver(deliver),
                is_paused=old.is_paused if is_paused is None else is_paused,
            )
            is_resumed = is_paused is False and (old.is_paused or old.next_due is None)
            return self._reschedule(old, new, is_resumed=is_resumed)

        return self._change_one(schedule_id, change)

    def _reschedule(self, old: Schedule, new: Schedule, *, is_resumed: bool) -> Schedule:
        if (new.timing, new.zone) != (old.timing, old.zone):
            new = replace(new, timing=check_timing(new.timing, new.zone))
        elif not is_resumed:
            return new
        return _set_first_due(new, self._read_clock())

    def pause(self, schedule_id: str) -> Schedule:
        """Pause a schedule; a run that is under way goes on."""
        return self.update(schedule_id, is_paused=True)

    def resume(self, schedule_id: str) -> Schedule:
        """Resume a schedule; runs that it missed meanwhile are not made up for."""
        return self.update(schedule_id, is_paused=False)

    def erase(self, key: str) -> int:
        """Erase what the runs of a schedule said; return how many results."""
        now = self._read_clock()

        def edit(known: dict[str, Schedule]) -> int:
            found = [one for one in known.values() if schedule_key(one.id) == key]
            known |= {one.id: schedules.erase_results(one, now) for one in found}
            return sum(run.result is not None for one in found for run in one.runs)

        return self._change(edit)

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
        now = self._read_clock()

        def edit(known: dict[str, Schedule]) -> Claimed:
            taken: Claimed = []
            # Who waited longest is first; what is too late is marked, whether there is room or not.
            for one in sorted(known.values(), key=_find_turn):
                # A schedule for Slack waits for a program that knows Slack.
                can_deliver = len(taken) < most and one.kind in kinds
                known[one.id], run = self._claim_run(one, now, can_deliver=can_deliver)
                taken.extend([(known[one.id], run)] if run else [])
            return taken

        # Without the lock: every program looks several times a minute, and mostly nothing is due.
        is_due = any(schedules.is_to_do(one, now) for one in self.get_all())
        return self._change(edit) if is_due else []

    def _claim_run(
        self, one: Schedule, now: datetime, *, can_deliver: bool
    ) -> tuple[Schedule, Run | None]:
        new = self._make_run(now)
        try:
            return schedules.claim_run(one, now, find_next_due, new, can_deliver=can_deliver)
        except InvalidInput as error:
            # Somebody wrote it into the file; the others are not to wait for its correction.
            return schedules.record_failure(one, now, new, str(error)), None

    def begin(self, schedule_id: str) -> tuple[Schedule, Run]:
        """Take a run of a schedule although it is not due; refuse while one is under way."""
        now = self._read_clock()

        def edit(known: dict[str, Schedule]) -> tuple[Schedule, Run]:
            one = _get(known, schedule_id)
            if one.is_running(now):
                message = f"{schedule_id} is already running; wait until it is done"
                raise Conflict(message)
            if one.open_run:
                # Nobody holds it any more: the program that began it died.
                one, _ = schedules.give_up_run(one, one.open_run, now)
            known[one.id], run = schedules.start_run(one, now, self._make_run(now))
            return known[one.id], run

        return self._change(edit)

    def hold(self, schedule_id: str, run: Run) -> bool:
        """Renew the claim to a run; False when it is no longer ours."""
        now = self._read_clock()
        return self._change_own(schedule_id, lambda one: schedules.extend_lease(one, run, now))

    def give_back(self, schedule_id: str, run: Run) -> bool:
        """Leave a run to whoever comes next; False when it is no longer ours."""
        return self._change_own(schedule_id, lambda one: schedules.give_back_run(one, run))

    def finish(
        self, schedule_id: str, run: Run, *, result: str | None = None, error: str | None = None
    ) -> bool:
        """End a run; False when it is no longer ours."""
        now = self._read_clock()
        said = {"result": result and to_text(result), "error": error and to_text(error)}
        return self._change_own(
            schedule_id, lambda one: schedules.finish_run(one, run, now, **said)
        )

    def _make_run(self, now: datetime) -> Run:
        return Run(self._new_id(), now, "running", holder=self._holder)

    def _change_own(self, schedule_id: str, change: Change) -> bool:
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
            known[new.id] = replace(new, updated_at=self._read_clock())
            return known[new.id]

        return self._change(edit)

    def _read_clock(self) -> datetime:
        return to_millisecond(self._now())


def _find_turn(one: Schedule) -> tuple[datetime, str]:
    """Return the key by which schedules take turns; among equals it is chance."""
    return one.waits_since or one.created_at, one.runs[-1].id if one.runs else ""


def _set_first_due(schedule: Schedule, now: datetime) -> Schedule:
    """Set when it is due first; refuse a time that never comes."""
    timed = _set_next_due(schedule, now)
    if timed.next_due is None:
        message = f"{schedule.timing!r:.80} is in the past or never occurs; choose another time"
        raise InvalidInput(message)
    return timed


def _set_next_due(schedule: Schedule, now: datetime) -> Schedule:
    return replace(schedule, next_due=find_next_due(schedule, now))


def _check_prompt(prompt: str) -> str:
    text = check_text(prompt, "what is asked").strip()
    if not text:
        message = "the prompt of a schedule is empty; type some text"
        raise InvalidInput(message)
    if len(text) > MAX_PROMPT_CHARS:
        message = (
            f"a schedule's prompt is limited to {MAX_PROMPT_CHARS:,} characters, and this one "
            f"has {len(text):,}; shorten it"
        )
        raise InvalidInput(message)
    return text


def _check_name(name: str) -> str | None:
    text = " ".join(check_text(name, "a name").split())
    if len(text) > MAX_NAME_CHARS:
        message = (
            f"a name is limited to {MAX_NAME_CHARS} characters, and this one has {len(text):,}; "
            "shorten it"
        )
        raise InvalidInput(message)
    return text or None


def _get(known: dict[str, Schedule], schedule_id: str) -> Schedule:
    if schedule_id not in known:
        message = f"there is no schedule {schedule_id!r:.80}; list them with turnleaf schedule list"
        raise NotFound(message)
    return known[schedule_id]
