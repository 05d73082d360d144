"""What a stored conversation is trimmed to, where the rest goes, and what is said again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.messages import Message

if TYPE_CHECKING:
    from datetime import datetime

Drop: TypeAlias = Callable[[str, Sequence[Message]], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force, the moment, and who takes what is dropped."""

    now: datetime
    max_turns: int
    max_chars: int
    drop: Drop | None
    again: str | None = None
    """What the user says once more: an exchange at the end that began with it is replaced."""


def before_again(messages: Sequence[Message], again: str | None) -> Sequence[Message]:
    """Give a conversation without an exchange at its end that is said again."""
    last = messages[-2:]
    is_exchange = [message.role for message in last] == ["user", "assistant"]
    return messages[:-2] if is_exchange and last[0].text == again else messages
