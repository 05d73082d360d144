"""A conversation erased to the last byte, against deleting its rows, and how long others wait."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench import samples
from bench.scale import Scale
from bench.stores import FilledStore, make_stores, open_store
from bench.timing import Aim, Batch, Cost, TimingRow, Work, compare

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Event

CPU_AIM = Aim(seconds=1.5)
WAIT_AIM = Aim(seconds=1)
ERASED = 5


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure a database of many messages."""
    count = scale.erased_among // (2 * samples.EXCHANGES)
    title = f"of {scale.erased_among:,} messages"
    with make_stores(folder, ".db", count) as both:
        costs = compare(_erase(both, both.store.clear), _erase(both, both.bare.remove), ERASED)
        yield TimingRow(f"conversation erased {title}", *costs, CPU_AIM)
        waits = _waits(both)
    yield TimingRow(
        f"longest wait of another program meanwhile, {title}",
        Cost(max(waits)),
        Cost(min(waits)),
        WAIT_AIM,
    )


def _erase(both: FilledStore, remove: Callable[[str], object]) -> Batch:
    keys = iter(both.keys)

    def batch() -> list[Work]:
        return [partial(remove, next(keys))]

    return batch


def _waits(both: FilledStore) -> list[float]:
    """Erase while another process writes; return how long each of its calls took."""
    spawn = multiprocessing.get_context("spawn")
    waits: SimpleQueue[list[float]] = spawn.SimpleQueue()
    begun, ended = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_write, args=(both.store.location, waits, begun, ended))
    other.start()
    begun.wait()
    for key in both.keys[-ERASED:]:
        both.store.clear(key)
    ended.set()
    found = waits.get()
    other.join()
    return found


def _write(path: Path, waits: SimpleQueue[list[float]], begun: Event, ended: Event) -> None:
    store = open_store(path)
    store.add_exchange(samples.key(0), "Q", "A")
    begun.set()
    found: list[float] = []
    while not ended.is_set() or not found:
        start = time.perf_counter()
        store.add_exchange(samples.key(0), "Q", "A")
        found.append(time.perf_counter() - start)
    waits.put(found)
    store.close()
