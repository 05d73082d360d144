"""When a schedule is due: cron with its standard meaning, an interval, or one moment.

Cron goes by the clock on the wall of the schedule's zone, over changes to summer time and back:
what falls into the hour that is left out happens right after it, and what falls into the hour
that comes twice happens once, unless it happens every hour anyway.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal
from cronsim import CronSim, CronSimError

from turnleaf.core.schedules import Schedule
from turnleaf.errors import InvalidInput

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


def checked_timing(timing: str, zone: str) -> str:
    """Return a timing as it is stored; raise InvalidInput for what is none."""
    wanted = " ".join(timing.split())
    place = checked_zone(zone)
    if len(wanted) > MAX_CHARS:
        message = f"{wanted!r:.80} … is too long for a time; write it as {EXAMPLES}"
        raise InvalidInput(message)
    if wanted.lower().startswith("every"):
        _interval(wanted)
    elif _MOMENT.fullmatch(wanted):
        # Without an offset it goes by the clock on the wall, also when the zone is changed.
        return _moment(wanted).isoformat(timespec="minutes")
    else:
        _cron(wanted, datetime(2000, 1, 1, tzinfo=place))
    return wanted


def checked_zone(zone: str) -> ZoneInfo:
    """Return the time zone of that name."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"there is no time zone {zone!r:.80}; write it as Asia/Taipei or Europe/Vienna"
        raise InvalidInput(message) from None


def local_zone() -> str:
    """Return the name of this machine's time zone; UTC where it has none with a name."""
    try:
        return tzlocal.get_localzone_name() or "UTC"
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


def assumed_zone() -> str:
    """Return the time zone for schedules that name none; raise where it would be a guess."""
    zone = local_zone()
    place, now = checked_zone(zone), datetime.now(UTC)
    # In summer and in winter: two zones may agree in only one of them.
    for moment in (now, now + HALF_A_YEAR):
        if moment.astimezone().utcoffset() != moment.astimezone(place).utcoffset():
            message = (
                f"the clock of this machine does not go by {zone}; name a time zone,"
                " such as --zone Asia/Taipei"
            )
            raise InvalidInput(message)
    return zone


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Return when a schedule is due next after a moment; None when it never is again."""
    timing = schedule.timing
    if timing.lower().startswith("every"):
        return _next_step(schedule.created_at, _interval(timing), after)
    zone = checked_zone(schedule.zone)
    if _MOMENT.fullmatch(timing):
        moment = _in_zone(_moment(timing), zone)
        return moment.astimezone(UTC) if moment > after else None
    return _next_by_cron(timing, after.astimezone(zone), zone)


def upcoming(timing: str, zone: str, after: datetime, most: int) -> list[datetime]:
    """Return the next times of a timing, fewer when there are no more."""
    wanted = Schedule("", "", checked_timing(timing, zone), zone, after, after)
    found: list[datetime] = []
    due = next_due(wanted, after)
    while due and len(found) < most:
        found.append(due)
        due = next_due(wanted, due)
    return found


def in_words(timing: str, zone: str) -> str:
    """Describe a timing in English, or return it as it is where that is not easy."""
    if timing.lower().startswith("every"):
        return timing.lower()
    try:
        if _MOMENT.fullmatch(timing):
            place = checked_zone(zone)
            return f"{_in_zone(_moment(timing), place).astimezone(place):once on %Y-%m-%d at %H:%M}"
        words = _cron(timing, datetime(2000, 1, 1, tzinfo=UTC)).explain()
    except InvalidInput:
        return timing
    return words[:1].lower() + words[1:]


def _cron(expression: str, after: datetime) -> CronSim:
    wanted = NAMES.get(expression.lower(), expression)
    try:
        # With six it would take the first for seconds.
        return CronSim(wanted if len(wanted.split()) == FIELDS else "", after)
    except CronSimError as error:
        message = f"{expression!r:.80} says no time ({error}); write it as {EXAMPLES}"
        raise InvalidInput(message) from None


def _next_by_cron(timing: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    steps = _cron(timing, after)
    found = next(steps, None)
    is_moved = found is not None and found.utcoffset() != after.utcoffset()
    if found and is_moved and any(part.startswith("*") for part in steps.parts[1:3]):
        # It would step over a change of half an hour, for what comes every hour.
        change = _change_of_clock(after, zone)
        before = next(_cron(timing, after.astimezone(_fixed_zone(after))))
        last = (change - SHORTEST).astimezone(_fixed_zone(change.astimezone(zone)))
        found = before if before < change else next(_cron(timing, last), None)
    return found.astimezone(UTC) if found else None


def _change_of_clock(after: datetime, zone: ZoneInfo) -> datetime:
    """Find the first minute after a moment at which the clock of a zone is put elsewhere."""

    def is_moved(moment: datetime) -> bool:
        return moment.astimezone(zone).utcoffset() != after.utcoffset()

    early = after.astimezone(UTC).replace(second=0, microsecond=0)
    days = (early + timedelta(days=number) for number in count(1))
    # By days first and then by minutes: the next change may be half a year away.
    early = next(day for day in days if is_moved(day)) - timedelta(days=1)
    minutes = (early + timedelta(minutes=number) for number in count(1))
    return next(minute for minute in minutes if is_moved(minute))


def _fixed_zone(moment: datetime) -> timezone:
    """Return the offset of a moment as a zone without daylight saving."""
    return timezone(moment.utcoffset() or timedelta())


def _interval(timing: str) -> timedelta:
    found = _EVERY.fullmatch(timing)
    unit = found and found[found.lastindex or 0].lower()
    step = timedelta(**{UNITS[unit]: int(found[1] or 1)}) if found and unit else timedelta()
    if not SHORTEST <= step <= LONGEST:
        message = (
            f"{timing!r:.80} says no interval between a minute and a year; write it as every 15m"
        )
        raise InvalidInput(message)
    return step


def _next_step(start: datetime, step: timedelta, after: datetime) -> datetime:
    return start + step * max((after - start) // step + 1, 1)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(_ONE_DIGIT.sub("0", text))
    except ValueError:
        message = f"{text!r:.80} is no time; write it as 2026-12-24 18:00"
        raise InvalidInput(message) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        message = f"{text!r:.80} is too far away; write it as 2026-12-24 18:00"
        raise InvalidInput(message)
    return moment


def _in_zone(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
