"""JSON and times as our files hold them: readable, and without loss."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import lru_cache

from turnleaf.errors import InvalidInput

_ESCAPES = re.compile(
    # An escaped backslash comes first: a "u" after it begins no escape.
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_REPLACEMENT = rb"\ufffd"


def dumps(value: object) -> str:
    """Return JSON on one line; lone surrogates, which UTF-8 cannot hold, are escaped."""
    try:
        # NaN and infinities are no JSON, and other programs could not read the file.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"it contains values that JSON cannot represent ({error}); use plain values"
        raise InvalidInput(message) from error
    return text if is_text(text) else json.dumps(value)


def is_text(text: str) -> bool:
    """Whether UTF-8 can hold a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_text(text: str) -> str:
    """Return a text as UTF-8 can hold it, with a question mark for what it cannot."""
    return text if is_text(text) else text.encode("utf-8", "replace").decode()


def has_half_character(data: bytes) -> bool:
    """Whether a JSON text escapes a lone surrogate, which is no character and no text."""
    return any(found["half"] for found in _ESCAPES.finditer(data))


def replace_half_characters(data: bytes) -> bytes:
    """Return a JSON text with U+FFFD in the place of every escaped lone surrogate."""
    return _ESCAPES.sub(lambda found: _REPLACEMENT if found["half"] else found[0], data)


# A year from the calendar's ends, so that every time zone has a name for it.
_FIRST = datetime(2, 1, 1, tzinfo=UTC)
_END = datetime(9999, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=64)
def to_iso(moment: datetime) -> str:
    """Return a time as all our files have it: in UTC, to the millisecond."""
    # The offset is always the one of UTC, which is written as Z.
    return check_aware(moment).astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def from_iso(text: str) -> datetime:
    """Return the time in an ISO 8601 text; one without a zone is in UTC.

    Raise ValueError for anything else, and for the first and the last year of the calendar.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a time; write it as 2026-03-01T08:30:00Z"
        raise ValueError(message) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not _FIRST <= moment < _END:
        message = f"{text!r} is outside the supported range of times"
        raise ValueError(message)
    return moment


def to_millisecond(moment: datetime) -> datetime:
    """Return a time without what files do not keep, so that it equals what is read again."""
    surplus = moment.microsecond % 1000
    return moment.replace(microsecond=moment.microsecond - surplus) if surplus else moment


def check_aware(moment: datetime) -> datetime:
    """Return a time; raise InvalidInput for one without a zone."""
    if moment.tzinfo is None:
        message = f"the time {moment.isoformat()} has no time zone; pass an aware datetime"
        raise InvalidInput(message)
    return moment
