"""What a stored conversation is trimmed to, and where the rest goes."""

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
