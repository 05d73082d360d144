"""What a window shows of a conversation, how messages are added, and what is said again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force."""

    max_turns: int
    max_chars: int
    max_age_days: int
    keep_days: int | None = None
    """How long a database keeps a message; 0: while a window shows it; None: for ever."""
    max_silence: timedelta = field(init=False)
    """The longest silence that does not end a window."""

    def __post_init__(self) -> None:
        days = min(self.max_age_days, timedelta.max.days)
        object.__setattr__(self, "max_silence", timedelta(days=days))


@dataclass(frozen=True, slots=True)
class Addition:
    """How messages are added to a conversation."""

    again: str | None = None
    """What the user says once more: an exchange at the end that began with it is replaced."""
    after: int | None = None
    """The message that they follow, instead of the newest; 0: they are a new beginning."""
    is_resumed: bool = False
    """Whether the silence before them is no break."""
    audience: str | None = None
    opened: int | None = None
    """The first of them, where it is stored already because what follows took long."""


PLAIN_ADDITION = Addition()


def days_before(now: datetime, days: int) -> datetime:
    """Count back; so many days that there was no calendar yet are for ever."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
