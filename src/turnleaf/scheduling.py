"""`Runner`: makes the runs that are due, each on a thread of its own, and delivers what they give.

Any number of programs may have one over the same file: each run is claimed by one of them.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Protocol, Self

from turnleaf.core.keys import schedule_key
from turnleaf.core.schedules import LEASE
from turnleaf.errors import InvalidInput, TurnleafError
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from turnleaf.assistant import Assistant
    from turnleaf.core.schedules import Run, Schedule

EVERY_SECONDS = 1.0
SIGN_SECONDS = LEASE.total_seconds() / 4
STOP_SECONDS = 5.0
MOST_AT_ONCE = 4

log = logging.getLogger("turnleaf")


class Deliver(Protocol):
    """Brings a result to where a schedule wants it; a run that is tried again comes once."""

    def __call__(self, schedule: Schedule, run: Run, text: str) -> None:
        """Deliver, or raise a TurnleafError that says why not."""


class Runner:
    """A thread that looks what is due; `deliver` names what brings results, by kind."""

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
        self._guard = Lock()
        self._running: set[Thread] = set()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to look."""
        self._thread = Thread(target=self._look, name="turnleaf-schedules", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more; a run that takes longer is tried again by whoever is next."""
        self._stop.set()
        with self._guard:
            threads = [*self._running, *filter(None, [self._thread])]
        for thread in threads:
            thread.join(STOP_SECONDS / len(threads))

    def make_due(self) -> int:
        """Make all runs that are due now, one after the other; give how many."""
        claimed = self._store.claim(self._deliver)
        for schedule, run in claimed:
            self.make(schedule, run)
        return len(claimed)

    def make(self, schedule: Schedule, run: Run) -> str | None:
        """Make one run; give what it gave, or None when it failed, which is on record."""
        with self._alive(schedule, run):
            try:
                text = self._own.reply(schedule_key(schedule.id), schedule.prompt).text
                self._delivery(schedule)(schedule, run, text)
            except TurnleafError as error:
                log.warning("the schedule %s failed: %s", schedule.id, error)
                self._store.finish(schedule.id, run, error=str(error))
                return None
        self._store.finish(schedule.id, run, result=text)
        return text

    def _look(self) -> None:
        said = ""
        while not self._stop.wait(self._every_seconds):
            try:
                with self._guard:
                    room = MOST_AT_ONCE - len(self._running)
                for schedule, run in self._store.claim(self._deliver, most=room) if room else ():
                    self._begin(schedule, run)
            except Exception as error:  # noqa: BLE001 - nobody would notice that it has ended
                if str(error) != said:
                    log.warning("the schedules could not be looked at: %s", error)
                said = str(error)

    def _begin(self, schedule: Schedule, run: Run) -> None:
        def work() -> None:
            try:
                self.make(schedule, run)
            finally:
                with self._guard:
                    self._running.discard(thread)

        thread = Thread(target=work, name="turnleaf-run", daemon=True)
        with self._guard:
            self._running.add(thread)
        thread.start()

    @contextmanager
    def _alive(self, schedule: Schedule, run: Run) -> Iterator[None]:
        """Give signs of life of a run while it is made."""
        over = Event()

        def give_signs() -> None:
            while not over.wait(SIGN_SECONDS) and self._store.hold(schedule.id, run):
                pass

        signs = Thread(target=give_signs, name="turnleaf-signs", daemon=True)
        signs.start()
        try:
            yield
        finally:
            over.set()
            signs.join()

    def _delivery(self, schedule: Schedule) -> Deliver:
        if schedule.kind not in self._deliver:
            message = f"results cannot go to {schedule.kind} here; start the program that knows it"
            raise InvalidInput(message)
        return self._deliver[schedule.kind]

    def _to_log(self, schedule: Schedule, run: Run, text: str) -> None:
        daily = self._own.daily
        if any(run.id in daily.read(day) for day in daily.dates()[-2:]):
            return
        daily.append(told(schedule, run, text), source=schedule_key(schedule.id))

    def _to_file(self, schedule: Schedule, run: Run, text: str) -> None:
        name = schedule.deliver.partition(":")[2]
        path = self._own.folder.results / name
        files.make_folder(path.parent)
        with files.locked(path) as file:
            if run.id.encode() not in (file.read() or b""):
                file.append(f"{told(schedule, run, text)}\n\n".encode())


def told(schedule: Schedule, run: Run, text: str) -> str:
    """Give a result as it is delivered, under the run's id."""
    return f"{schedule.name or schedule.id} ({run.id}): {text}"
