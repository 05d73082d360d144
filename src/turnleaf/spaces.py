"""`Spaces`: the assistants of many spaces in one process, few of them open at a time.

`Pool` does that for whatever a program has of each space.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import TYPE_CHECKING, Generic, TypeVar

from turnleaf.assistant import Assistant
from turnleaf.errors import LimitReached
from turnleaf.store.ambient import local_now
from turnleaf.store.contracts import Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.dialogue import Model
    from turnleaf.settings import DataFolder

MOST_OPEN = 16
"""An open assistant has about a dozen files; a process may usually have 1,024."""
MOST_USED = 200
"""How many may be in use at once, where a program may have more files open."""


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
                    message = "too many spaces are in use at once; try again in a moment"
                    raise LimitReached(message, 5)
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
