"""`python -m tests.killed_copy FROM TO WRITES`: a copy that is killed after so many writes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Collection, Sequence

from turnleaf.core.portable import PortablePart
from turnleaf.space_copying import SpaceCopy
from turnleaf.store.contracts import Portable, PortableSpace, Stores


class _Countdown:
    """A store whose writes are counted down; the last is killed, before it or in the middle."""

    def __init__(self, store: Portable, left: list[int]) -> None:
        self.name = store.name
        self.read_parts = store.read_parts
        self._store, self._left = store, left

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        self._left[0] -= 1
        if self._left[0] < 0:
            # Half of it first, as a kill between two batches leaves it.
            if len(parts) > 1:
                self._store.write_parts(parts[: len(parts) // 2], gone)
            os.kill(os.getpid(), signal.SIGKILL)
        self._store.write_parts(parts, gone)


class _Space:
    def __init__(self, space: PortableSpace, left: list[int]) -> None:
        self.read_numbers, self.finish = space.read_numbers, space.finish
        self._space, self._left = space, left

    def list_stores(self) -> Sequence[Portable]:
        return [_Countdown(one, self._left) for one in self._space.list_stores()]


class _Dying:
    """Stores in which only so much is written."""

    def __init__(self, stores: Stores, left: list[int]) -> None:
        self._stores, self._left = stores, left

    def open_portable(self) -> _Space:
        return _Space(self._stores.open_portable(), self._left)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stores, name)


def main(source: str, target: str, writes: str) -> None:
    """Copy until it is killed."""
    left = [int(writes)]
    with Stores.open(source) as one, Stores.open(target) as other:
        SpaceCopy(one, _Dying(other, left)).run()  # type: ignore[arg-type]  # it has what is used


if __name__ == "__main__":
    main(*sys.argv[1:])
