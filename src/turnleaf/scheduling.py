"""`Runner`: makes the runs that are due, each on a thread of its own, and delivers the answers.

Any number of programs may have one over the same file: each run is claimed by one of them.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import closing, contextmanager
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Protocol, Self

from turnleaf.core.keys import schedule_key
from turnleaf.core.schedules import LEASE, check_deliver, find_next_moment
from turnleaf.errors import Conflict, InvalidInput, TurnleafError
from turnleaf.store.announcements import ProblemLog
from turnleaf.turn import Done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from turnleaf.assistant import Assistant
    from turnleaf.core.schedules import Run, Schedule

LOOK_SECONDS = 1.0
EVERY_SECONDS = 30.0
"""Longest pause between two looks: a computer may have slept, or its clock been set."""
# A few heartbeats may be lost before the lease ends.
SIGN_SECONDS = LEASE.total_seconds() / 4
STOP_SECONDS = 5.0
"""How long a model has to stop before its run is given back to other programs."""
MOST_AT_ONCE = 4

DELIVERY_NEEDS = {"slack": "SLACK_BOT_TOKEN in the environment and the extra turnleaf[slack]"}
"""What a program must have to deliver results there."""

log = logging.getLogger("turnleaf")


class Stopped(TurnleafError):
    """A run was stopped, and is left to whoever is next."""


class Deliver(Protocol):
    """Brings a result to where a schedule wants it; a run that is tried again comes once."""

    def __call__(self, schedule: Schedule, run: Run, text: str, /) -> None:
        """Deliver, or raise a TurnleafError that says why not."""


class Runner:
    """A thread that makes the runs that are due, when they are or when a schedule changed.

    `deliver` delivers results, by kind.
    """

    def __init__(
        self,
        assistant: Assistant,
        deliver: Mapping[str, Deliver] | None = None,
        *,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._own = assistant
        self._store = assistant.schedules
        self._deliver = {"log": self._to_log, "file": self._to_file, **(deliver or {})}
        self._every_seconds = every_seconds
        self._stop = Event()
        self._woken = Event()
        self._unsubscribe: Callable[[], None] = lambda: None
        self._guard = RLock()
        self._running: dict[Thread, tuple[Schedule, Run]] = {}
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def kinds(self) -> frozenset[str]:
        """Where results can go from here."""
        return frozenset(self._deliver)

    @property
    def is_busy(self) -> bool:
        """Whether a run is being made."""
        return bool(self._running)

    def start(self) -> None:
        """Start the thread."""
        self._unsubscribe = self._own.stores.announcements.subscribe(self._hear)
        self._thread = Thread(target=self._look, name="turnleaf-schedules", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop the thread and the models; a run that is not done is left to whoever is next."""
        self._unsubscribe()
        self._stop.set()
        self._woken.set()
        end = time.monotonic() + seconds
        if self._thread:
            self._thread.join(seconds)
        # Runs that end meanwhile take themselves out of the dictionary.
        with self._guard:
            running = dict(self._running)
        for thread in running:
            thread.join(max(0.0, end - time.monotonic()))
        # Given back, so that the next program need not wait for the lease to end.
        for schedule, run in (running[thread] for thread in running if thread.is_alive()):
            self._give_back(schedule, run)

    def begin(self, schedule_id: str) -> Run:
        """Make a run now, in the background; raise Conflict while that is not possible."""
        self._find_delivery(self._store.get(schedule_id))
        with self._guard:
            if len(self._running) >= MOST_AT_ONCE:
                message = f"{MOST_AT_ONCE} schedules are already running; wait until one is done"
                raise Conflict(message)
            schedule, run = self._store.begin(schedule_id)
            self._begin(schedule, run)
        return run

    def run(self, schedule_id: str) -> str:
        """Make a run now and return its answer; raise what went wrong, which is on record."""
        self._find_delivery(self._store.get(schedule_id))
        return self.make(*self._store.begin(schedule_id))

    def make_due(self) -> int:
        """Make all runs that are due now, one after the other; return how many."""
        claimed = self._store.claim(self._deliver)
        for schedule, run in claimed:
            self._attempt(schedule, run)
        return len(claimed)

    def make(self, schedule: Schedule, run: Run) -> str:
        """Make a run and return its answer; raise what went wrong, which is on record."""
        text = None
        try:
            deliver = self._find_delivery(schedule)
            with self._hold(schedule, run):
                text = self._answer(schedule, run)
                # Another program may have taken the run over: deliver it once.
                self._check_held(schedule, run)
                deliver(schedule, run, text)
        except Stopped:
            self._give_back(schedule, run)
            raise
        except Exception as error:
            # With the text: an answer whose delivery failed was still paid for, and can be read.
            self._store.finish(schedule.id, run, result=text, error=_describe_error(error))
            raise
        except KeyboardInterrupt:
            self._store.finish(schedule.id, run, result=text, error="it was stopped by Ctrl-C")
            raise
        self._store.finish(schedule.id, run, result=text)
        return text

    def _answer(self, schedule: Schedule, run: Run) -> str:
        key = schedule_key(schedule.id)
        # Tried again, an answer replaces the earlier one instead of standing beside it.
        stream = self._own.stream(key, schedule.prompt, again=self._was_answered(key, run))
        with closing(stream):
            for event in stream:
                if isinstance(event, Done):
                    return event.reply.text
                if self._stop.is_set():
                    # The model is asked no further than this, because `closing` ends it.
                    break
        message = f"the run of {schedule.id} was stopped; turnleaf serve or slack takes it up"
        raise Stopped(message)

    def _was_answered(self, key: str, run: Run) -> bool:
        """Whether an earlier attempt came as far as the conversation."""
        said = [one for one in self._own.conversations.get_history(key) if one.role == "user"]
        last = said[-1].timestamp if said else None
        return bool(run.attempts > 1 and last and run.started_at and last >= run.started_at)

    def _check_held(self, schedule: Schedule, run: Run) -> None:
        if not self._store.hold(schedule.id, run):
            message = "the schedule was removed, or another program has taken over this run"
            raise Conflict(message)

    def _hear(self, kinds: frozenset[str]) -> None:
        if "schedules" in kinds:
            self._woken.set()

    def _look(self) -> None:
        problems, wait = ProblemLog(), 0.0
        while not self._stop.is_set():
            self._woken.wait(wait)
            self._woken.clear()
            found = problems.attempt("the schedules could not be read", self._take_due)
            wait = min(found or LOOK_SECONDS, self._every_seconds)

    def _take_due(self) -> float:
        """Begin what is due; return in how many seconds something may be due next."""
        # The room must not change between counting and beginning, or too many would run.
        with self._guard:
            room = MOST_AT_ONCE - len(self._running)
            for schedule, run in self._store.claim(self._deliver, most=room):
                self._begin(schedule, run)
        moments = filter(None, map(find_next_moment, self._store.get_all()))
        waits = [(moment - self._own.now()).total_seconds() for moment in moments]
        return max(min(waits, default=math.inf), LOOK_SECONDS)

    def _begin(self, schedule: Schedule, run: Run) -> None:
        def work() -> None:
            try:
                self._attempt(schedule, run)
            finally:
                with self._guard:
                    del self._running[thread]

        thread = Thread(target=work, name="turnleaf-run", daemon=True)
        with self._guard:
            self._running[thread] = schedule, run
        thread.start()

    def _attempt(self, schedule: Schedule, run: Run) -> None:
        """Make a run; a failure goes to the log, because nobody waits for it."""
        try:
            self.make(schedule, run)
        except Stopped as stopped:
            log.info("%s", stopped)
        except Exception as error:
            is_surprise = not isinstance(error, TurnleafError | OSError)
            log.warning("the schedule %s failed: %s", schedule.id, error, exc_info=is_surprise)

    def _give_back(self, schedule: Schedule, run: Run) -> None:
        try:
            self._store.give_back(schedule.id, run)
        except TurnleafError as error:
            log.warning("the schedule %s will be retried later: %s", schedule.id, error)

    @contextmanager
    def _hold(self, schedule: Schedule, run: Run) -> Iterator[None]:
        """Show that a run is being made for as long as it is."""
        over = Event()

        def hold_on() -> None:
            while not over.wait(SIGN_SECONDS):
                try:
                    self._store.hold(schedule.id, run)
                except TurnleafError as error:
                    log.warning(
                        "the schedule %s could not record that it is still running: %s",
                        schedule.id,
                        error,
                    )

        signs = Thread(target=hold_on, name="turnleaf-signs", daemon=True)
        signs.start()
        try:
            yield
        finally:
            over.set()
            signs.join()

    def _find_delivery(self, schedule: Schedule) -> Deliver:
        # Whoever wrote it into the file may have named a place outside of ours.
        check_deliver(schedule.deliver)
        if schedule.kind not in self._deliver:
            message = (
                f"cannot deliver to {schedule.kind}; that needs {DELIVERY_NEEDS[schedule.kind]}"
            )
            raise InvalidInput(message)
        return self._deliver[schedule.kind]

    def _to_log(self, schedule: Schedule, run: Run, text: str) -> None:
        self._own.daily.append(
            describe_result(schedule, run, text), source=schedule_key(schedule.id), once=run.id
        )

    def _to_file(self, schedule: Schedule, run: Run, text: str) -> None:
        name = schedule.deliver.partition(":")[2]
        self._store.add_result(name, run, describe_result(schedule, run, text))


def describe_result(schedule: Schedule, run: Run, text: str) -> str:
    """Return a result as it is delivered, under the run's id."""
    return f"{schedule.name or schedule.id} ({run.id}): {text}"


def _describe_error(error: Exception) -> str:
    is_ours = isinstance(error, TurnleafError)
    return str(error) if is_ours else f"something unexpected: {type(error).__name__}: {error}"
