"""One background thread that learns from conversations, one after the other."""

from __future__ import annotations

import logging
import queue
import threading
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.errors import TurnleafError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.decision_writing import Learnt

NAME = "turnleaf-learning"

log = logging.getLogger("turnleaf")


class Job(NamedTuple):
    """A conversation to be learnt from; `is_flush` when that ends a cycle.

    With `is_reading` rules alone read it, which costs nothing.
    """

    key: str
    is_flush: bool = False
    is_reading: bool = False


class Worker:
    """Does one thing for each job that it is given; a job that waits already waits once."""

    def __init__(self, work: Callable[[Job], Sequence[Learnt]]) -> None:
        self._work = work
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._guard = threading.Lock()
        self._waiting: set[Job] = set()
        self._learnt: list[Learnt] = []
        self._problems: list[str] = []
        self._thread: threading.Thread | None = None
        self.on_news: Callable[[], None] | None = None
        """Called when there are results or problems."""

    def do(self, job: Job) -> None:
        """Have a job done, soon."""
        with self._guard:
            if job in self._waiting:
                return
            self._waiting.add(job)
            if self._thread is None:
                # What it is at when the program is interrupted stays queued.
                self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
                self._thread.start()
        self._jobs.put(job)

    def drain(self) -> None:
        """Wait until all that was asked for is done."""
        self._jobs.join()

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

    def complain(self, problem: str) -> None:
        """Keep what went wrong, once, until somebody asks."""
        with self._guard:
            if problem not in self._problems:
                self._problems.append(problem)
        self._tell_news()

    def _tell_news(self) -> None:
        if self.on_news:
            self.on_news()

    def close(self) -> None:
        """Finish all that was asked for, and end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._do(job)
            finally:
                self._jobs.task_done()
        self._jobs.task_done()

    def _do(self, job: Job) -> None:
        with self._guard:
            self._waiting.discard(job)
        try:
            learnt = self._work(job)
        except TurnleafError as error:
            log.info("nothing was learnt from %s: %s", job.key, error)
            self.complain(str(error))
        except Exception as error:
            # Whoever waits for the next job must not wait for a thread that is gone.
            log.exception("learning from %s failed", job.key)
            self.complain(f"learning failed ({type(error).__name__}: {error}); please report this")
        else:
            with self._guard:
                self._learnt += learnt
            if learnt:
                self._tell_news()
