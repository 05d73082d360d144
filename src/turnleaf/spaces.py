"""`Spaces`: the assistants of many spaces in one process, few of them open at a time.

`Pool` does that for whatever a program has of each space. `Worker` does what is due in any of them,
which the servers over one place share out.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from turnleaf.assistant import Assistant
from turnleaf.errors import LimitReached
from turnleaf.scheduling import Runner
from turnleaf.store.announcements import ProblemLog
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.model_dialogue import Model
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import DataFolder
    from turnleaf.store.due_work import DueWork

MOST_OPEN = 16
"""An open assistant has about a dozen files; a process may usually have 1,024."""
MOST_USED = 200
"""How many may be in use at once, where a program may have more files open."""
LOOK_SECONDS = 10.0
"""Longest pause between two looks for due work in all spaces."""
RUN_AGAIN = timedelta(seconds=30)
"""When a space is looked into again whose schedule could not be run here."""
LEARN_AGAIN = timedelta(minutes=5)
"""When a space is looked into again in which messages wait for their time."""
STOP_SECONDS = 5.0

T = TypeVar("T")


@dataclass(slots=True)
class _OpenSpace(Generic[T]):
    served: T
    users: int = 0


class Pool(Generic[T]):
    """Opens a space when it is needed, and closes those that were idle longest."""

    def __init__(
        self,
        open_space: Callable[[str], T],
        close: Callable[[T], None],
        *,
        is_busy: Callable[[T], bool] = lambda _: False,
        most_open: int = MOST_OPEN,
        most_used: int = MOST_USED,
    ) -> None:
        self._open = open_space
        self._close = close
        self._is_busy = is_busy
        self._most_open = most_open
        self._most_used = most_used
        self._opened: OrderedDict[str, _OpenSpace[T]] = OrderedDict()
        self._changed = Condition()

    @contextmanager
    def use(self, space: str) -> Iterator[T]:
        """Return what there is of a space, which stays open at least that long."""
        one = self._take(space)
        try:
            yield one.served
        finally:
            with self._changed:
                one.users -= 1
                self._changed.notify_all()
            self._close_resting()

    @contextmanager
    def use_open(self) -> Iterator[list[T]]:
        """Return those that are open now, which stay open at least that long."""
        with self._changed:
            opened = [*self._opened.values()]
            for one in opened:
                one.users += 1
        try:
            yield [one.served for one in opened]
        finally:
            with self._changed:
                for one in opened:
                    one.users -= 1
                self._changed.notify_all()
            self._close_resting()

    def close(self) -> None:
        """Wait for those who use one, and close all."""
        with self._changed:
            self._changed.wait_for(lambda: not any(one.users for one in self._opened.values()))
            opened = [*self._opened.values()]
            self._opened.clear()
        for one in opened:
            self._close(one.served)

    def _take(self, space: str) -> _OpenSpace[T]:
        with self._changed:
            one = self._opened.get(space)
            if one is None:
                if len(self._opened) >= self._most_used:
                    message = "too many spaces are in use at the same time; try again in a moment"
                    raise LimitReached(message, 5)
                # Opened under the lock, so that two who ask at once get the same one.
                one = self._opened[space] = _OpenSpace(self._open(space))
            self._opened.move_to_end(space)
            one.users += 1
            return one

    def _close_resting(self) -> None:
        # Closing waits for what is being done, so nobody else must wait for that.
        for one in self._remove_resting():
            self._close(one.served)

    def _remove_resting(self) -> list[_OpenSpace[T]]:
        with self._changed:
            many = len(self._opened) - self._most_open
            resting = [
                name
                for name, one in self._opened.items()
                # One that is busy without a user would be closed in the middle of its work.
                if not one.users and not self._is_busy(one.served)
            ]
            return [self._opened.pop(name) for name in resting[: max(0, many)]]


class Spaces(Pool[Assistant]):
    """The assistants of spaces.

    What was queued to be learned from when one is closed stays queued on disk.
    """

    def __init__(
        self,
        where: DataFolder | str | Path | None = None,
        *,
        model: Model | None = None,
        now: Callable[[], datetime] = local_now,
        most_open: int = MOST_OPEN,
    ) -> None:
        def open_space(space: str) -> Assistant:
            return Assistant(Stores.open(where, space=space, now=now), model=model, now=now)

        super().__init__(open_space, lambda one: one.close(flush=False), most_open=most_open)


class Worker:
    """A thread that does what is due in any space of a place, one thing after the other.

    Several servers may have one: each piece of work is given to one of them, and what a server had
    that died is given to another.
    """

    def __init__(
        self,
        assistant: Assistant,
        use_other: Callable[[str], AbstractContextManager[Assistant]],
        deliver: Mapping[str, Deliver] | None = None,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._own = assistant
        self._use_other = use_other
        self._deliver = deliver
        self._look_seconds = look_seconds
        self._stop = Event()
        self._thread = Thread(target=self._run, name="turnleaf-worker", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(STOP_SECONDS)

    def work_once(self) -> bool:
        """Do one thing that is due; False when there is none."""
        work = self._own.stores.work
        for one in work.claim():
            # Should it fail, it is tried again, here or elsewhere, but not at once.
            pause = RUN_AGAIN if one.kind == "schedules" else LEARN_AGAIN
            again: datetime | None = self._own.now() + pause
            try:
                again = self._do(one)
            finally:
                work.finish(one, again)
            return True
        return False

    def _do(self, work: DueWork) -> datetime | None:
        """Do what is due in a space; return when there may be more of it."""
        with self._use(work.space) as assistant:
            if work.kind == "schedules":
                # Where the server delivers to is the operator's, and no other space's.
                Runner(assistant, self._deliver if assistant is self._own else {}).make_due()
                return self._own.now() + RUN_AGAIN
            return self._own.now() + LEARN_AGAIN if assistant.learn_due() else None

    @contextmanager
    def _use(self, space: str) -> Iterator[Assistant]:
        if space == self._own.stores.space:
            yield self._own
        else:
            with self._use_other(space) as assistant:
                yield assistant

    def _run(self) -> None:
        problems = ProblemLog()
        while not self._stop.is_set():
            if not problems.attempt("what is due in the spaces could not be done", self.work_once):
                self._stop.wait(self._look_seconds)
