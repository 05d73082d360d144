"""What every backend needs to announce changes: who subscribed, and a log of what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TypeVar

from turnleaf.errors import TurnleafError

T = TypeVar("T")
Callback = Callable[[frozenset[str]], None]

log = logging.getLogger("turnleaf")


class ProblemLog:
    """Logs what goes wrong in the background, once for as long as it stays the same."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def attempt(self, problem: str, work: Callable[[], T]) -> T | None:
        """Do some work and return what it returns; None, and a line in the log, when it fails."""
        try:
            done = work()
        # Whatever it is: the thread also serves others, and must outlive it.
        except Exception as error:
            if self._known.get(problem) != str(error):
                is_surprise = not isinstance(error, TurnleafError | OSError)
                log.warning("%s: %s", problem, error, exc_info=is_surprise)
            self._known[problem] = str(error)
            return None
        self._known.pop(problem, None)
        return done


class Subscribers:
    """The callbacks of one space; what one raises is logged and keeps no other from its turn."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._callbacks: dict[ProblemLog, Callback] = {}

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def add(self, callback: Callback) -> ProblemLog:
        """Add a callback; return what `remove` takes."""
        problems = ProblemLog()
        with self._lock:
            self._callbacks[problems] = callback
        return problems

    def remove(self, added: ProblemLog) -> None:
        """Remove a callback; one that is gone already is nothing."""
        with self._lock:
            self._callbacks.pop(added, None)

    def clear(self) -> None:
        """Remove all."""
        with self._lock:
            self._callbacks.clear()

    def tell(self, kinds: frozenset[str]) -> None:
        """Call each with the kinds that may have changed, but for those removed meanwhile."""
        with self._lock:
            known = [*self._callbacks]
        for problems in known:
            # Called outside the lock, because a callback may subscribe or unsubscribe.
            callback = self._callbacks.get(problems)
            if callback:
                problems.attempt("a change was not acted on", partial(callback, kinds))
