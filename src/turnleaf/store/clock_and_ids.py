"""What differs from call to call: the time, and ids that nobody had before."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

ID_ALPHABET = "bcdfgjkmnpqrstvwxz23456789"
ID_LENGTH = 10


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def local_now() -> datetime:
    """Read the clock, in the zone of the person whose day it is."""
    return datetime.now().astimezone()


def find_local_day(moment: datetime) -> str:
    """Return the day on which something was said, where this program runs."""
    return moment.astimezone().date().isoformat()


def make_id() -> str:
    """Make an id that is short enough to type and never spells a word."""
    number = secrets.randbits(64)
    letters = []
    for _ in range(ID_LENGTH):
        number, place = divmod(number, len(ID_ALPHABET))
        letters.append(ID_ALPHABET[place])
    return "".join(letters)
