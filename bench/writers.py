"""Several processes that write to one store at once: the longest wait, against the median."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import samples
from bench.memory import fill_memory, open_memory
from bench.scale import Scale
from bench.stores import fill_store, open_store
from bench.timing import Aim, Cost, TimingRow

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Barrier

CONVERSATIONS = 100
AIM = Aim(seconds=3)
START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class WriterJob:
    """What one process does."""

    path: Path
    calls: int
    seed: int


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure every kind of store."""
    last = scale.facts + scale.writers * scale.calls_per_writer
    sizes = {
        "conversations.json": f"{CONVERSATIONS} conversations",
        "conversations.db": f"{CONVERSATIONS} conversations",
        "MEMORY.md": f"{scale.facts} to {last:,} facts",
    }
    for name, size in sizes.items():
        with TemporaryDirectory(dir=folder) as place:
            path = Path(place) / name
            _fill(path, scale)
            waits = _waits(path, scale)
        title = f"longest wait of {scale.writers} writers, {path.suffix} of {size}"
        yield TimingRow(title, Cost(max(waits)), Cost(median(waits)), AIM)


def _fill(path: Path, scale: Scale) -> None:
    if path.suffix == ".md":
        fill_memory(path, scale.facts)
    else:
        fill_store(path, CONVERSATIONS).close()


def _waits(path: Path, scale: Scale) -> list[float]:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(scale.writers)
    results: SimpleQueue[list[float]] = context.SimpleQueue()
    processes = [
        context.Process(target=_write, args=(job, barrier, results), daemon=True)
        for job in (WriterJob(path, scale.calls_per_writer, seed) for seed in range(scale.writers))
    ]
    for process in processes:
        process.start()
    waits = [wait for _ in processes for wait in results.get()]
    for process in processes:
        process.join()
    return waits


def _write(job: WriterJob, barrier: Barrier, results: SimpleQueue[list[float]]) -> None:
    random = Random(job.seed)
    write = _writer(job.path, random)
    barrier.wait(START_SECONDS)
    waits = []
    for _ in range(job.calls):
        start = time.perf_counter()
        write()
        waits.append(time.perf_counter() - start)
    results.put(waits)


def _writer(path: Path, random: Random) -> Callable[[], object]:
    if path.suffix == ".md":
        memory = open_memory(path)
        return lambda: memory.add(samples.fact(random))
    store = open_store(path)

    def add() -> None:
        one = samples.exchange(random)
        store.add_exchange(samples.key(random.randrange(CONVERSATIONS)), one.question, one.answer)

    return add
