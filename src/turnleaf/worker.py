"""One background thread that learns from conversations, one after the other."""

from __future__ import annotations

import logging
import queue
import threading
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.extraction import Learnt

NAME = "turnleaf-learning"

log = logging.getLogger("turnleaf")


class Worker:
    """Does one thing for each key that it is given; a key that waits already waits once."""

    def __init__(self, work: Callable[[str], Sequence[Learnt]]) -> None:
        self._work = work
        self._keys: queue.Queue[str | None] = queue.Queue()
        self._guard = threading.Lock()
        self._waiting: set[str] = set()
        self._learnt: list[Learnt] = []
        self._problems: list[str] = []
        self._thread: threading.Thread | None = None

    def do(self, key: str) -> None:
        """Have the work done for a key, soon."""
        with self._guard:
            if key in self._waiting:
                return
            self._waiting.add(key)
            if self._thread is None:
                # What it is at when the program is interrupted stays queued.
                self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
                self._thread.start()
        self._keys.put(key)

    def drain(self) -> None:
        """Wait until all that was asked for is done."""
        self._keys.join()

    def results(self) -> list[Learnt]:
        """Give what was learnt since the last call."""
        with self._guard:
            learnt, self._learnt = self._learnt, []
        return learnt

    def problems(self) -> list[str]:
        """Give what went wrong since the last call."""
        with self._guard:
            problems, self._problems = self._problems, []
        return problems

    def close(self) -> None:
        """Finish all that was asked for, and end the thread."""
        if self._thread is not None:
            self._keys.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (key := self._keys.get()) is not None:
            try:
                self._do(key)
            finally:
                self._keys.task_done()
        self._keys.task_done()

    def _do(self, key: str) -> None:
        with self._guard:
            self._waiting.discard(key)
        try:
            learnt = self._work(key)
        except TurnleafError as error:
            log.info("nothing was learnt from %s: %s", key, error)
            with self._guard:
                self._problems.append(str(error))
        else:
            with self._guard:
                self._learnt += learnt
