"""The newest part of a conversation within limits, whatever is counted, and what a window shows.

A conversation may be cut only where something new is said: never before an assistant's
message or a tool's result, which a model's API refuses at the beginning, and never between
a tool call and its result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from turnleaf.core.tokens import count_content_chars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from turnleaf.core.messages import Message


class TrimmableMessage(Protocol):
    """All that trimming must know of a message; a database has it without the text."""

    @property
    def role(self) -> str:
        """Who said it."""

    @property
    def tool_call_id(self) -> str | None:
        """The call that it answers."""

    @property
    def call_ids(self) -> Sequence[str]:
        """The calls that it makes."""


S = TypeVar("S", bound=TrimmableMessage)


def newest_within(
    messages: Sequence[S], budget: int, cost: Callable[[S], int], *, keep: int = 0
) -> Sequence[S]:
    """Return the newest messages that together cost no more than the budget.

    The last `keep` messages stay whatever they cost, with the calls that they answer.
    """
    start = len(messages)
    kept = start - keep
    cuts = _find_cuts(messages)
    cut = next(cuts, 0)
    for index in range(len(messages) - 1, -1, -1):
        budget -= cost(messages[index])
        # What must be kept is kept even over budget, but only from a place where a cut is allowed.
        if budget < 0 and start <= kept:
            break
        if index == cut:
            start = index
            cut = next(cuts, 0)
    return messages[start:]


def count_newest_exchange(messages: Sequence[TrimmableMessage]) -> int:
    """Count the messages from the last one of the user on."""
    for count, message in enumerate(reversed(messages), 1):
        if message.role == "user":
            return count
    return len(messages)


def _find_cuts(messages: Sequence[TrimmableMessage]) -> Iterator[int]:
    """Yield, from the end, the places where a conversation may be cut."""
    open_calls: set[str] = set()
    # Never at the very first message: that is where a conversation begins, not where it is cut.
    for index in range(len(messages) - 1, 0, -1):
        message = messages[index]
        role = message.role
        if role == "tool":
            # A result whose call is missing would else forbid every cut before it.
            if message.tool_call_id and _has_call(messages, index, message.tool_call_id):
                open_calls.add(message.tool_call_id)
        elif role == "assistant":
            if open_calls:
                open_calls.difference_update(message.call_ids)
        elif not open_calls:
            yield index


def _has_call(messages: Sequence[TrimmableMessage], index: int, call_id: str) -> bool:
    """Whether a message before a tool's result made the call that it answers."""
    return any(call_id in messages[before].call_ids for before in range(index - 1, -1, -1))


def trim_to_limits(
    messages: Sequence[S], max_turns: int, max_chars: int, chars: Callable[[S], int]
) -> Sequence[S]:
    """Return the newest messages of a conversation within the limits, at least one exchange."""
    kept = messages
    if len(kept) > max_turns:
        kept = newest_within(kept, max_turns, _count_one, keep=count_newest_exchange(kept))
    if sum(map(chars, kept)) > max_chars:
        kept = newest_within(kept, max_chars, chars, keep=count_newest_exchange(kept))
    return kept


def _count_one(_: TrimmableMessage) -> int:
    return 1


def drop_repeated(messages: Sequence[Message], again: str | None) -> Sequence[Message]:
    """Return a conversation without its last exchange, if the user says the same again."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user":
            return messages[:place] if messages[place].text == again else messages
    return messages


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
        # A setting may be larger than the calendar, and means for ever then.
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


def subtract_days(now: datetime, days: int) -> datetime:
    """Return the time so many days ago, at the earliest the beginning of the calendar."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


class EarlierMessage(NamedTuple):
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
) -> Iterator[EarlierMessage]:
    """Yield the messages of the shown path, back to the first silence that ends it."""
    later = now
    for row in rows:
        stamp = row.message.timestamp
        if stamp is not None:
            if not is_joined and later - stamp > limits.max_silence:
                return
            # A silence before a message that somebody resumed the conversation with is no end.
            later, is_joined = stamp, row.is_resumed
        if not row.is_hidden:
            yield EarlierMessage(row.n, row.message)


def collect_window(said: Iterable[EarlierMessage], limits: Limits) -> Sequence[EarlierMessage]:
    """Return the newest messages within the limits; they are given newest first."""
    found: list[EarlierMessage] = []
    chars, check_at = 0, limits.max_turns + 1
    is_over = False
    for one in said:
        found.append(one)
        chars += count_content_chars(one.message.content)
        if len(found) >= check_at or (chars > limits.max_chars and not is_over):
            is_over = chars > limits.max_chars
            kept = _cut(found, limits)
            if _is_settled(found, kept):
                return kept
            # Doubling keeps the cost of looking linear in what is read.
            check_at = max(check_at, 2 * len(found))
    return _cut(found, limits)


def _cut(found: Sequence[EarlierMessage], limits: Limits) -> Sequence[EarlierMessage]:
    path = found[::-1]
    return trim_to_limits(path, limits.max_turns, limits.max_chars, _count_chars)


def _is_settled(found: Sequence[EarlierMessage], kept: Sequence[EarlierMessage]) -> bool:
    """Whether messages that were not read yet can no longer change the window.

    The first of them is a place to cut only if it is the first of all, and a tool's result is
    bound to a call that may stand further back.
    """
    # All that was read was kept, so more may have room.
    if len(kept) == len(found):
        return False
    results = {one.tool_call_id for one in kept if one.role == "tool"}
    return not results or results <= {call for one in found for call in one.call_ids}


def _count_chars(said: EarlierMessage) -> int:
    return count_content_chars(said.message.content)
