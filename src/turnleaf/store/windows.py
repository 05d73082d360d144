"""What a window shows of a conversation, read backwards from a database no further than needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from turnleaf.core.messages import Message


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


class SaidBefore(NamedTuple):
    """A message of a window, with its number."""

    n: int
    message: Message

    @property
    def role(self) -> str:
        """Who said it."""
        return self.message.role

    @property
    def tool_call_id(self) -> str | None:
        """The call that it answers."""
        return self.message.tool_call_id

    @property
    def call_ids(self) -> Sequence[str]:
        """The calls that it makes."""
        return self.message.call_ids


class PathRow(NamedTuple):
    """A message of the shown path, newest first."""

    n: int
    message: Message
    is_resumed: bool
    is_hidden: bool


def stop_at_silence(
    rows: Iterable[PathRow], limits: Limits, now: datetime, *, is_joined: bool
) -> Iterator[SaidBefore]:
    """Go back over the shown path to the first silence that ends it."""
    later = now
    for row in rows:
        stamp = row.message.timestamp
        if stamp is not None:
            if not is_joined and later - stamp > limits.max_silence:
                return
            # A silence before a message that somebody resumed the conversation with is no end.
            later, is_joined = stamp, row.is_resumed
        if not row.is_hidden:
            yield SaidBefore(row.n, row.message)


def collect_window(said: Iterable[SaidBefore], limits: Limits) -> Sequence[SaidBefore]:
    """Return the newest messages within the limits; they are given newest first."""
    found: list[SaidBefore] = []
    chars, check_at = 0, limits.max_turns + 1
    is_over = False
    for one in said:
        found.append(one)
        chars += content_chars(one.message.content)
        if len(found) >= check_at or (chars > limits.max_chars and not is_over):
            is_over = chars > limits.max_chars
            kept = _cut(found, limits)
            if _is_settled(found, kept):
                return kept
            # Doubling keeps the cost of looking linear in what is read.
            check_at = max(check_at, 2 * len(found))
    return _cut(found, limits)


def _cut(found: Sequence[SaidBefore], limits: Limits) -> Sequence[SaidBefore]:
    path = found[::-1]
    return within_limits(path, limits.max_turns, limits.max_chars, _chars)


def _is_settled(found: Sequence[SaidBefore], kept: Sequence[SaidBefore]) -> bool:
    """Whether what lies before the messages that were read can change nothing any more.

    The first of them is a place to cut only if it is the first of all, and a tool's result is
    bound to a call that may stand further back.
    """
    if len(kept) == len(found):
        return False
    results = {one.tool_call_id for one in kept if one.role == "tool"}
    return not results or results <= {call for one in found for call in one.call_ids}


def _chars(said: SaidBefore) -> int:
    return content_chars(said.message.content)
