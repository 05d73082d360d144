"""The places on which every contract is tested, and a clock that the tests set.

To add one: a line in `BACKENDS`, with a function that opens a space of the backend at a place.
It may be called several times for one place, as several programs would open it at once.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.clocks import Clock
from tests.postgres import empty_database, share_database
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.contracts import Stores
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores

Now = Callable[[], datetime]
Opener = Callable[[Path, Now, str], Stores]

PLACES: defaultdict[Path, MemoryPlace] = defaultdict(MemoryPlace)
"""What stands in memory for each folder."""
BACKENDS: dict[str, Opener] = {
    "files": lambda place, now, space: Stores.open(place, space=space, now=now),
    "memory": lambda place, now, space: MemoryStores(PLACES[place], now=now, space=space),
    "postgres": lambda _, now, space: Stores.open(share_database(), space=space, now=now),
}
WITH_JSON = [*BACKENDS, "json"]
"""The same with JSON files for facts and conversations, which hold a part of what databases do."""
JSON_CONFIG = '{"memoryLocation": "memories.json", "conversationsLocation": "conversations.json"}'
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""Noon, so that it is the same day in nearly every zone that a test may run in."""


def open_json(place: Path, now: Now, space: str) -> Stores:
    """Open a folder whose facts and conversations are in JSON files."""
    (place / CONFIG_NAME).write_text(JSON_CONFIG, "utf-8")
    return Stores.open(place, space=space, now=now)


class Backend:
    """One place, which is opened as often as a test likes."""

    def __init__(self, opener: Opener, place: Path) -> None:
        self.clock = Clock(START)
        self._opener = opener
        self._place = place
        self._opened: list[Stores] = []

    def open(self, space: str = "default") -> Stores:
        """Open a space as another program would."""
        opened = self._opener(self._place, self.clock, space)
        self._opened.append(opened)
        return opened

    def close(self) -> None:
        """Close all that was opened."""
        for one in self._opened:
            one.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)
        PLACES.pop(Path(made), None)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, folder: Path) -> Iterator[Backend]:
    yield from open_backend(request.param, folder)


def open_backend(name: str, folder: Path) -> Iterator[Backend]:
    """Open a backend, also that of JSON files, and close it."""
    if name == "postgres":
        empty_database()
    opened = Backend(BACKENDS.get(name, open_json), folder)
    yield opened
    opened.close()


@pytest.fixture
def space(backend: Backend) -> Stores:
    return backend.open()


@pytest.fixture
def clock(backend: Backend) -> Clock:
    return backend.clock
