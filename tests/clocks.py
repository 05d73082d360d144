"""Clocks that tests set themselves."""

from __future__ import annotations

from datetime import datetime, timedelta


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **amount: float) -> None:
        """Move it forward, by an amount as `timedelta` takes it."""
        self.now += timedelta(**amount)


class TickingClock(Clock):
    """A clock that moves forward by a second each time it is read."""

    def __call__(self) -> datetime:
        now = self.now
        self.pass_time(seconds=1)
        return now
