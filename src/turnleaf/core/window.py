"""Keeping the newest part of a conversation within a budget, whatever is being counted.

A conversation may be cut only where something new is said: never before an assistant's
message or a tool's result, which a model's API refuses at the beginning, and never between
a tool call and its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from turnleaf.core.messages import Message


class Spoken(Protocol):
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


S = TypeVar("S", bound=Spoken)


def newest_within(
    messages: Sequence[S], budget: int, cost: Callable[[S], int], *, keep: int = 0
) -> Sequence[S]:
    """Return the newest messages that cost no more than the budget together.

    The last `keep` messages stay whatever they cost, with the calls that they answer.
    """
    start = len(messages)
    kept = start - keep
    cuts = _cuts(messages)
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


def newest_exchange(messages: Sequence[Spoken]) -> int:
    """Count the messages from the last thing that a user said."""
    for count, message in enumerate(reversed(messages), 1):
        if message.role == "user":
            return count
    return len(messages)


def _cuts(messages: Sequence[Spoken]) -> Iterator[int]:
    """Go backwards over the places where a conversation may be cut."""
    open_calls: set[str] = set()
    # Never at the very first message: that is where a conversation begins, not where it is cut.
    for index in range(len(messages) - 1, 0, -1):
        message = messages[index]
        role = message.role
        if role == "tool":
            # A result whose call is missing would else forbid every cut before it.
            if message.tool_call_id and _was_called(messages, index, message.tool_call_id):
                open_calls.add(message.tool_call_id)
        elif role == "assistant":
            if open_calls:
                open_calls.difference_update(message.call_ids)
        elif not open_calls:
            yield index


def _was_called(messages: Sequence[Spoken], index: int, call_id: str) -> bool:
    """Look for the call that a result answers; one without a call binds nothing."""
    return any(call_id in messages[before].call_ids for before in range(index - 1, -1, -1))


def within_limits(
    messages: Sequence[S], max_turns: int, max_chars: int, chars: Callable[[S], int]
) -> Sequence[S]:
    """Trim a stored conversation; the newest exchange always stays."""
    kept = messages
    if len(kept) > max_turns:
        kept = newest_within(kept, max_turns, _one, keep=newest_exchange(kept))
    if sum(map(chars, kept)) > max_chars:
        kept = newest_within(kept, max_chars, chars, keep=newest_exchange(kept))
    return kept


def _one(_: Spoken) -> int:
    return 1


def before_again(messages: Sequence[Message], again: str | None) -> Sequence[Message]:
    """Return a conversation without what follows the user's last message, if that is said again."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user":
            return messages[:place] if messages[place].text == again else messages
    return messages
