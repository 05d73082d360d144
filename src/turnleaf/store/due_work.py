"""Which spaces have something to do: the values, and finding it by a look into each space."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.schedules import find_next_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.learning.queue import Outgoing
    from turnleaf.core.schedules import Schedule

LEARNING, SCHEDULES = "learning", "schedules"
LEARNING_DELAY = timedelta(minutes=1)
"""Whoever talks to a space learns from it; after this time, whoever looks for work does."""
# Only where to look is leased. What is done there is claimed in
# the space itself, so a lease that ends too early costs one look.
WORK_LEASE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class DueWork:
    """Something to be done in a space, given to one who asked."""

    space: str
    kind: str
    mark: str
    """What its store saw of it, for its own use."""


class SeenWork(NamedTuple):
    """What there is to do in a space, since when, and a mark that changes when more is added."""

    space: str
    kind: str
    due: datetime
    mark: str


def look_at_schedules(space: str, schedules: Iterable[Schedule]) -> Iterator[SeenWork]:
    """Yield when there is something to claim next of the schedules of a space."""
    due = find_first(schedules)
    if due:
        yield SeenWork(space, SCHEDULES, due, due.isoformat())


def find_first(schedules: Iterable[Schedule]) -> datetime | None:
    """Return when there may be something to claim next; None: not before one is changed."""
    return min(filter(None, map(find_next_moment, schedules)), default=None)


def look_at_queue(
    space: str, backlog: Mapping[str, int], outbox: Sequence[Outgoing], now: datetime
) -> Iterator[SeenWork]:
    """Yield whether something waits to be learned from or written in a space."""
    if backlog or outbox:
        mark = f"{sum(backlog.values())} {[one.id for one in outbox]}"
        yield SeenWork(space, LEARNING, now, mark)


class ScannedWork:
    """Work of few spaces.

    `look` looks into each of them, and `hold` keeps others from some work until what it returns is
    called; it returns None where somebody else has it.
    """

    def __init__(
        self,
        now: Callable[[], datetime],
        look: Callable[[], Iterable[SeenWork]],
        hold: Callable[[str, str], Callable[[], None] | None],
    ) -> None:
        self._now, self._look, self._hold = now, look, hold
        self._lock = Lock()
        self._again: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._held: dict[tuple[str, str], Callable[[], None]] = {}

    def claim(self, most: int = 1) -> list[DueWork]:
        """Take work that is due, at most so much."""
        with self._lock:
            due = sorted(filter(self._is_due, self._look()), key=lambda one: one.due)
            return [DueWork(*one[:2], one.mark) for one in due if self._take(one, most)]

    def count_due(self) -> int:
        """Count what is due, held or not."""
        with self._lock:
            return sum(1 for one in self._look() if self._is_due(one))

    def _is_due(self, one: SeenWork) -> bool:
        now = self._now()
        # What is new is for whoever is at it now, for a while.
        soon = now + LEARNING_DELAY if one.kind == LEARNING else one.due
        mark, again = self._again.get(one[:2], ("", soon))
        if mark != one.mark:
            again = min(again, soon)
            self._again[one[:2]] = one.mark, again
        return max(again, one.due) <= now

    def _take(self, one: SeenWork, most: int) -> bool:
        if len(self._held) >= most or one[:2] in self._held:
            return False
        release = self._hold(*one[:2])
        if release is None:
            return False
        self._held[one[:2]] = release
        return True

    def finish(self, work: DueWork, again: datetime | None = None) -> None:
        """Release work, which is due again at a time."""
        with self._lock:
            place = work.space, work.kind
            release = self._held.pop(place, None)
            if release:
                if again:
                    self._again[place] = work.mark, again
                else:
                    self._again.pop(place, None)
                release()

    def close(self) -> None:
        """Release everything that is held."""
        with self._lock:
            for release in self._held.values():
                release()
            self._held.clear()
