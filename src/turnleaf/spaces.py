"""`Spaces`: the assistants of many spaces in one process, few of them open at a time."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import TYPE_CHECKING

from turnleaf.assistant import Assistant
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


@dataclass(slots=True)
class _OpenSpace:
    assistant: Assistant
    users: int = 0


class Spaces:
    """Opens the assistant of a space when it is needed, and closes those that were idle longest.

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
        self._where = where
        self._model = model
        self._now = now
        self._most_open = most_open
        self._opened: OrderedDict[str, _OpenSpace] = OrderedDict()
        self._changed = Condition()

    @contextmanager
    def use(self, space: str) -> Iterator[Assistant]:
        """Return the assistant of a space, which stays open at least that long."""
        one = self._take(space)
        try:
            yield one.assistant
        finally:
            with self._changed:
                one.users -= 1
                self._changed.notify_all()
            self._close_resting()

    @contextmanager
    def use_open(self) -> Iterator[list[Assistant]]:
        """Return the assistants that are open now, which stay open at least that long."""
        with self._changed:
            opened = [*self._opened.values()]
            for one in opened:
                one.users += 1
        try:
            yield [one.assistant for one in opened]
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
            one.assistant.close(flush=False)

    def _take(self, space: str) -> _OpenSpace:
        with self._changed:
            one = self._opened.get(space)
            if one is None:
                stores = Stores.open(self._where, space=space, now=self._now)
                one = _OpenSpace(Assistant(stores, model=self._model, now=self._now))
                self._opened[space] = one
            self._opened.move_to_end(space)
            one.users += 1
            return one

    def _close_resting(self) -> None:
        # Closing waits for what an assistant is doing, so nobody else must wait for that.
        for one in self._remove_resting():
            one.assistant.close(flush=False)

    def _remove_resting(self) -> list[_OpenSpace]:
        with self._changed:
            many = len(self._opened) - self._most_open
            resting = [name for name, one in self._opened.items() if not one.users]
            return [self._opened.pop(name) for name in resting[: max(0, many)]]
