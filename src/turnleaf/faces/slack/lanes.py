"""Work in lanes: in each one thing after the other, in order, and some lanes at the same time."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from dataclasses import dataclass
from threading import BoundedSemaphore, Condition, Thread
from typing import TYPE_CHECKING

from slack_sdk.errors import SlackClientError

from turnleaf.core.secrets import masked
from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.client import reason

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_AT_ONCE = 4
MOST_WAITING = 200
"""How much waits at most; more than that is not taken."""
MOST_OF_ONE = 20
"""How much of that may be one person's."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class Work:
    """Something to do, and for whom; what we do by ourselves is for nobody."""

    do: Callable[[], None]
    user: str | None


class Lanes:
    """Does what it is given, each in the lane that is named."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._places = BoundedSemaphore(most_at_once)
        self._changed = Condition()
        self._lanes: dict[str, deque[Work]] = {}

    def do(self, lane: str, do: Callable[[], None], user: str | None = None) -> bool:
        """Have something done after all that is in the lane; False when too much waits."""
        with self._changed:
            if self._is_full(user):
                return False
            if lane in self._lanes:
                self._lanes[lane].append(Work(do, user))
                return True
            return self._begin(lane, Work(do, user))

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to do; False when it takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def _is_full(self, user: str | None) -> bool:
        waiting = [work.user for lane in self._lanes.values() for work in lane]
        is_too_much = user is not None and waiting.count(user) >= MOST_OF_ONE
        return is_too_much or len(waiting) >= MOST_WAITING

    def _begin(self, lane: str, work: Work) -> bool:
        thread = Thread(target=self._run, args=[lane], name="turnleaf-slack", daemon=True)
        self._lanes[lane] = deque([work])
        try:
            thread.start()
        except RuntimeError as error:
            del self._lanes[lane]
            log.warning("nothing more can be done at the same time: %s", error)
            return False
        return True

    def _run(self, lane: str) -> None:
        while work := self._next(lane):
            with self._places:
                attempt(work.do)
            with self._changed:
                self._lanes[lane].popleft()

    def _next(self, lane: str) -> Work | None:
        with self._changed:
            if self._lanes[lane]:
                return self._lanes[lane][0]
            del self._lanes[lane]
            self._changed.notify_all()
            return None


def attempt(do: Callable[[], None]) -> None:
    """Do it; what goes wrong ends nothing else."""
    try:
        do()
    except SlackClientError as error:
        log.warning("Slack did not take what it was told: %s", masked(reason(error)))
    except TurnleafError as error:
        log.warning("%s", masked(str(error)))
    except Exception:  # noqa: BLE001 - whatever it is
        told = masked(traceback.format_exc())
        log.error("something went wrong in the Slack bot; please report this\n%s", told)  # noqa: TRY400
