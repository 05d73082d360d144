"""A fact added to the long-term memory, against inserting one row into SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench import samples
from bench.bare import Bare
from bench.scale import Scale
from bench.timing import Aim, Batch, TimingRow, Work, compare
from turnleaf import Memory, MemoryStore, Settings

SETTINGS = Settings(memory_max_items=100_000, memory_max_chars=100_000_000)
CALLS = 5
AIMS = {("MEMORY.md", 1_000): Aim(cpu=20), ("MEMORY.md", 10_000): Aim(cpu=100)}


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure both formats, in every size."""
    for facts, name in product(scale.memories, ("MEMORY.md", "memories.json")):
        with TemporaryDirectory(dir=folder) as place:
            yield _row(Path(place), facts, name, scale.rounds)


def fill_memory(path: Path, facts: int) -> MemoryStore:
    """Make a memory that holds some facts."""
    store = open_memory(path)
    random = Random(0)
    store.import_memories(
        [
            Memory(f"fact{number}", samples.fact(random), samples.START, samples.START)
            for number in range(facts)
        ]
    )
    return store


def open_memory(path: Path) -> MemoryStore:
    """Open a memory with room for everything that is measured."""
    store = MemoryStore(path, settings=SETTINGS)
    store.init()
    return store


def _row(folder: Path, facts: int, name: str, rounds: int) -> TimingRow:
    store = fill_memory(folder / name, facts)
    bare = Bare(folder / "bare.sqlite")
    bare.add_rows([memory.content for memory in store.get_all()])
    costs = compare(_adds(store, facts), _inserts(bare), rounds)
    bare.close()
    aim = AIMS.get((name, facts))
    return TimingRow(f"memory added, {name} of {facts:,} facts", *costs, aim)


def _adds(store: MemoryStore, facts: int) -> Batch:
    random = Random(1)

    def batch() -> list[Work]:
        for memory in store.get_all()[facts:]:
            store.delete(memory.id)
        return [partial(store.add, samples.fact(random)) for _ in range(CALLS)]

    return batch


def _inserts(bare: Bare) -> Batch:
    random = Random(1)
    return lambda: [partial(bare.add_row, samples.fact(random)) for _ in range(CALLS)]
