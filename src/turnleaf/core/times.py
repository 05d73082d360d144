"""Times are aware datetimes in Python and ISO 8601 with ``Z`` on disk."""

from datetime import UTC, datetime
from functools import lru_cache

from turnleaf.errors import InvalidInput

# A year from the calendar's ends, so that every time zone has a name for it.
_FIRST = datetime(2, 1, 1, tzinfo=UTC)
_END = datetime(9999, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=64)
def to_iso(moment: datetime) -> str:
    """Write a time the way every file of ours does, to the millisecond."""
    return aware(moment).astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def from_iso(text: str) -> datetime:
    """Read a time that we or anybody else wrote; one without a zone is UTC.

    Raise ValueError for what is none, or lies in the first or the last year of the calendar.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is no time; write it as 2026-03-01T08:30:00Z"
        raise ValueError(message) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not _FIRST <= moment < _END:
        message = f"{text!r} is too far away for a time"
        raise ValueError(message)
    return moment


def to_millisecond(moment: datetime) -> datetime:
    """Drop what files do not keep, so that what is read equals what was written."""
    surplus = moment.microsecond % 1000
    return moment.replace(microsecond=moment.microsecond - surplus) if surplus else moment


def aware(moment: datetime) -> datetime:
    """Refuse a time without a zone: nobody can say when it was."""
    if moment.tzinfo is None:
        message = f"the time {moment.isoformat()} has no time zone; pass an aware datetime"
        raise InvalidInput(message)
    return moment
