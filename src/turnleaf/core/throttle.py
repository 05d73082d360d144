"""When to learn: not too often, and once more before a context is compacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from datetime import datetime

LEASE_SECONDS = 600
"""How long somebody may be at work before it is taken to have died."""

State: TypeAlias = Literal["idle", "flushing", "flushed"]
STATES: tuple[State, ...] = get_args(State)


def is_due(
    last: datetime | None,
    now: datetime,
    waiting: int,
    *,
    interval_seconds: float,
    min_messages: int,
) -> bool:
    """Tell whether enough waits, and the last extraction, if any, was long enough ago.

    One that seems to be yet to come, because the clock was set back, was long ago.
    """
    if waiting < max(min_messages, 1):
        return False
    return last is None or not 0 <= (now - last).total_seconds() < interval_seconds


def is_held(since: datetime | None, now: datetime) -> bool:
    """Tell whether whoever began then may still be at work, also if the clock was set back."""
    return since is not None and abs((now - since).total_seconds()) < LEASE_SECONDS


@dataclass(frozen=True, slots=True)
class Cycle:
    """How far the flush has come that there is once from one compaction to the next."""

    state: State = "idle"
    since: datetime | None = None

    def may_begin(self, now: datetime) -> bool:
        """Tell whether a flush is still to be done and nobody is at it."""
        is_under_way = self.state == "flushing" and is_held(self.since, now)
        return self.state != "flushed" and not is_under_way

    def begun(self, now: datetime) -> Cycle:
        """Take note that somebody is at it."""
        return Cycle("flushing", now)

    def finished(self, *, succeeded: bool) -> Cycle:
        """Take note of how it went; a failed flush is tried again."""
        if self.state != "flushing":
            return self
        return Cycle("flushed") if succeeded else Cycle()
