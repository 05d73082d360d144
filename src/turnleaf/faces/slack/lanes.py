"""Work in lanes: in each one thing after the other, in order, and some lanes at the same time."""

from __future__ import annotations

import logging
import time
from collections import deque
from threading import BoundedSemaphore, Condition, Thread
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.client import TROUBLE, reason

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_AT_ONCE = 4
MOST_WAITING = 200
"""How much waits at most; more than that is not taken."""

log = logging.getLogger("turnleaf")


class Lanes:
    """Does what it is given, each in the lane that is named."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._places = BoundedSemaphore(most_at_once)
        self._changed = Condition()
        self._lanes: dict[str, deque[Callable[[], None]]] = {}

    def do(self, lane: str, work: Callable[[], None]) -> bool:
        """Have something done after all that is in the lane; False when too much waits."""
        with self._changed:
            if sum(map(len, self._lanes.values())) >= MOST_WAITING:
                return False
            if lane in self._lanes:
                self._lanes[lane].append(work)
                return True
            self._lanes[lane] = deque([work])
        Thread(target=self._run, args=[lane], name="turnleaf-slack", daemon=True).start()
        return True

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to do; False when it takes longer."""
        end = time.monotonic() + seconds
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, end - time.monotonic())

    def _run(self, lane: str) -> None:
        while work := self._next(lane):
            with self._places:
                attempt(work)
            with self._changed:
                self._lanes[lane].popleft()

    def _next(self, lane: str) -> Callable[[], None] | None:
        with self._changed:
            if self._lanes[lane]:
                return self._lanes[lane][0]
            del self._lanes[lane]
            self._changed.notify_all()
            return None


def attempt(work: Callable[[], None]) -> None:
    """Do it; what goes wrong ends nothing else."""
    try:
        work()
    except TROUBLE as error:
        log.warning("Slack did not take what it was told: %s", reason(error))
    except TurnleafError as error:
        log.warning("%s", error)
    except Exception:
        log.exception("something went wrong in Slack; please report this")
