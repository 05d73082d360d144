"""Learning in the background: one thread, one conversation after the other."""

from __future__ import annotations

import logging
import queue
import threading
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.errors import EmbeddingError, LimitReached, SettingsError, TurnleafError
from turnleaf.llm.models import find_extractor
from turnleaf.space_limits import SpaceMeter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.model_dialogue import Model
    from turnleaf.learning import Extraction, LearnedFact, Outcome
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Stores

NAME = "turnleaf-learning"
QUIET_HOURS = 1
"""After so long without a message a conversation counts as ended, and is learned from."""
EVERYTHING = ""
"""No conversation: all that was decided and is not written yet."""
VECTORS = "\0"
"""No conversation: what was said and has no vectors yet."""
EMBED_SECONDS = 2.0
"""For how long vectors are made at a time; the rest is left to the next program."""
_THROTTLES = frozenset({"extract_interval_seconds", "min_new_messages"})
"""The settings that say how often to learn; whoever sets one of them means rules as well."""

log = logging.getLogger("turnleaf")


class Job(NamedTuple):
    """A conversation to learn from; `is_flush` when that ends a cycle.

    With `is_reading` rules alone read it, which costs nothing.
    """

    key: str
    is_flush: bool = False
    is_reading: bool = False


class JobThread:
    """Runs jobs one at a time; a job that is already queued is not queued twice."""

    def __init__(self, work: Callable[[Job], Sequence[LearnedFact]]) -> None:
        self._work = work
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._guard = threading.Lock()
        self._waiting: set[Job] = set()
        self._learned: list[LearnedFact] = []
        self._problems: list[str] = []
        self._thread: threading.Thread | None = None
        self.on_news: Callable[[], None] | None = None
        """Called when something was learned or went wrong."""

    def add(self, job: Job) -> None:
        """Queue a job."""
        with self._guard:
            if job in self._waiting:
                return
            self._waiting.add(job)
            if self._thread is None:
                # What it is at when the program is interrupted stays queued.
                self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)
                self._thread.start()
        self._jobs.put(job)

    def wait(self) -> None:
        """Wait until every queued job is done."""
        self._jobs.join()

    def take_learned(self) -> list[LearnedFact]:
        """Return what was learned since the last call."""
        with self._guard:
            learned, self._learned = self._learned, []
        return learned

    def take_problems(self) -> list[str]:
        """Return what went wrong since the last call."""
        with self._guard:
            problems, self._problems = self._problems, []
        return problems

    def complain(self, problem: str) -> None:
        """Keep what went wrong, once, until somebody asks."""
        with self._guard:
            if problem not in self._problems:
                self._problems.append(problem)
        self._announce_news()

    def _announce_news(self) -> None:
        if self.on_news:
            self.on_news()

    def close(self) -> None:
        """Finish every queued job, and end the thread."""
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
        # Before the work and not after it: what is queued meanwhile may come too late for this one.
        with self._guard:
            self._waiting.discard(job)
        try:
            learned = self._work(job)
        except TurnleafError as error:
            log.info("nothing was learned from %s: %s", job.key, error)
            self.complain(str(error))
        except Exception as error:
            # Whoever waits for the next job must not wait for a thread that is gone.
            log.exception("learning from %s failed", job.key)
            self.complain(f"learning failed ({type(error).__name__}: {error}); please report this")
        else:
            with self._guard:
                self._learned += learned
            if learned:
                self._announce_news()


class BackgroundLearning:
    """Decides when to learn from which conversation, and has the thread do it."""

    def __init__(
        self,
        stores: Stores,
        now: Callable[[], datetime],
        *,
        model: Model | None,
        read_settings: Callable[[], Settings],
        meter: SpaceMeter | None = None,
    ) -> None:
        self._stores = stores
        self._meter = meter or SpaceMeter(stores, now)
        self._now = now
        self._given_model = model
        self._read_settings = read_settings
        self._has_failed = False
        self._is_closing = False
        self._left: list[Job] = []
        self.hand_over: Callable[[Sequence[str]], bool] | None = None
        """Starts another program that learns with the model, so that this one need not wait.

        It is called at the end with the conversations to flush, if there is anything to learn from;
        False when it has started none.
        """
        self.thread = JobThread(self._learn)

    def learn_if_due(self, key: str) -> None:
        """Learn from a conversation whose turn is over, if it is time."""
        settings = self._read_settings()
        if not settings.learns:
            return
        self._has_failed = False
        self.read_soon(key)
        if self._stores.learning.is_due(
            key,
            interval_seconds=settings.extract_interval_seconds,
            min_messages=settings.min_new_messages,
        ):
            self._add(Job(key))
        # One at a time: a turn must not pay for all conversations that ended since the last.
        for other in self._find_ended(key)[:1]:
            self._add(Job(other))
        if self._stores.learning.outbox():
            self.thread.add(Job(EVERYTHING))
        self.thread.add(Job(VECTORS))

    def read_soon(self, key: str) -> None:
        """Queue reading by rules, unless the user has set how often to learn."""
        settings = self._read_settings()
        # Rules call no model and need no throttle; but whoever sets one means rules as well.
        if settings.learns and _THROTTLES.isdisjoint(settings.sources):
            self.thread.add(Job(key, is_reading=True))

    def make_vectors_soon(self) -> None:
        """Make vectors for what was said."""
        self.thread.add(Job(VECTORS))

    def flush(self, key: str | None = None) -> None:
        """Learn now from all that waits, of one conversation or of all, and wait for it."""
        self._has_failed = False
        if self._read_settings().learns:
            for one in [key] if key else [*self._stores.learning.backlog(), EVERYTHING]:
                self.thread.add(Job(one, is_flush=True))
        self.make_vectors_soon()
        self.thread.wait()

    def flush_once(self, key: str) -> None:
        """Learn from a conversation past the throttle, once in each cycle."""
        if self._read_settings().learns and self._stores.learning.begin_flush(key):
            self._has_failed = False
            self._add(Job(key, is_flush=True))

    def find_due(self) -> dict[str, int]:
        """Count the messages that wait of each conversation that it is time to learn from."""
        settings = self._read_settings()
        if not settings.learns:
            return {}
        learning, ended = self._stores.learning, self._find_ended()
        throttle = {
            "interval_seconds": settings.extract_interval_seconds,
            "min_messages": settings.min_new_messages,
        }
        return {
            key: count
            for key, count in learning.backlog().items()
            if key in ended or learning.is_due(key, **throttle)
        }

    def learn_due(self) -> bool:
        """Learn from all that it is time for, and wait for it; whether something is left."""
        self.learn_from([*self.find_due(), EVERYTHING])
        return bool(self._stores.learning.backlog() or self._stores.learning.outbox())

    def learn_from(self, keys: Iterable[str], *, is_flush: bool = False) -> None:
        """Learn from conversations, and wait for it."""
        self._has_failed = False
        for key in keys:
            self.thread.add(Job(key, is_flush=is_flush))
        self.thread.wait()

    def close(self, *, flush: bool) -> None:
        """Finish what is under way; with `flush` learn from all that waits as well."""
        self._is_closing = True
        try:
            if flush:
                self.flush()
        # The thread must end and the rest be handed over even if the flush was interrupted.
        finally:
            self.thread.close()
            self._hand_over_rest()

    def _add(self, job: Job) -> None:
        """Queue a job for the model, or leave that to another program and queue the rules' part."""
        if self.hand_over and self._has_extractor():
            self._left.append(job)
            job = Job(job.key, is_reading=True)
        self.thread.add(job)

    def _has_extractor(self) -> bool:
        with suppress(SettingsError):  # which the job itself reports
            return bool(self._given_model or find_extractor(self._read_settings()))
        return False

    def _hand_over_rest(self) -> None:
        left, self._left = self._left, []
        flushed = [job.key for job in left if job.is_flush]
        # A flush that nobody does has to be tried at the next trigger.
        if self.hand_over and left and not self.hand_over(flushed):
            for key in flushed:
                self._stores.learning.end_flush(key, succeeded=False)

    def _learn(self, job: Job) -> Sequence[LearnedFact]:
        if job.key == VECTORS:
            self._make_vectors()
            return ()
        outcome = None
        try:
            outcome = self._extraction.read(job.key) if job.is_reading else self._extract(job.key)
        finally:
            # However it ended: a cycle that stays under way would keep others from flushing.
            if job.is_flush and job.key != EVERYTHING:
                is_done = outcome and not outcome.is_held and outcome.failure is None
                self._stores.learning.end_flush(job.key, succeeded=bool(is_done))
        return self._report(job, outcome) if outcome else ()

    def _report(self, job: Job, outcome: Outcome) -> Sequence[LearnedFact]:
        """Report what went wrong, and return what was learned."""
        for problem in outcome.problems:
            self.thread.complain(problem)
        if outcome.failure:
            # The conversations after it would fare no better, and somebody may be waiting.
            self._has_failed = True
            log.info("%s waits for the model: %s", job.key, outcome.failure)
            self.thread.complain(str(outcome.failure))
        if outcome.learned:
            self._make_vectors()
        return outcome.learned

    @cached_property
    def _extraction(self) -> Extraction:
        """What learns; loaded by the first job, as no other part of a program needs it."""
        extraction: type[Extraction] = import_module("turnleaf.learning").Extraction
        return extraction(self._stores, self._now)

    def _extract(self, key: str) -> Outcome | None:
        """Learn from a conversation; None where the model has just failed for another."""
        if key == EVERYTHING:
            return self._extraction.settle()
        if self._has_failed:
            return None
        settings = self._read_settings()
        model = self._given_model or find_extractor(settings, formats=self._stores.learning)
        return self._extraction.run(key, settings, self._meter_model(model))

    def _meter_model(self, model: Model | None) -> Model | None:
        """Return a model that counts for the space; None, as without one, over its limits."""
        try:
            self._meter.check_calls()
        # Over its limits a space still learns by rules, which cost nothing.
        except LimitReached:
            return None
        return self._meter.meter(model) if model else None

    def _make_vectors(self) -> None:
        """Make vectors for a moment, and go on afterwards unless the program is about to end."""
        passages = self._stores.passages
        try:
            # A command that hands learning over does not wait for vectors either.
            made = passages.embed(seconds=0 if self.hand_over else EMBED_SECONDS)
        except EmbeddingError as error:
            log.info("no vectors were made: %s", error)
            return
        if made and not self._is_closing and passages.missing_vectors():
            self.make_vectors_soon()

    def _find_ended(self, key: str | None = None) -> list[str]:
        """Find the conversations other than `key` that wait and are quiet for long."""
        waiting = set(self._stores.learning.backlog()) - {key}
        quiet_since = self._now() - timedelta(hours=QUIET_HOURS)
        known = {one: self._stores.conversations.summary(one) for one in waiting}
        # One that is gone will not go on either.
        return sorted(
            one for one, found in known.items() if not found or found.updated_at <= quiet_since
        )
