"""A fact added to the long-term memory, against inserting one row into SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench import samples
from bench.bare import Bare
from bench.scale import Scale
from bench.timing import Batch, Row, Work, compare
from turnleaf import MemoryStore, Settings

SETTINGS = Settings(memory_max_items=100_000, memory_max_chars=100_000_000)
CALLS = 5


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure both formats."""
    for name in ("MEMORY.md", "memories.json"):
        with TemporaryDirectory(dir=folder) as place:
            yield _row(Path(place), scale, name)


def fill_memory(path: Path, facts: int) -> MemoryStore:
    """Make a memory that holds some facts."""
    store = open_memory(path)
    random = Random(0)
    for _ in range(facts):
        store.add(samples.fact(random))
    return store


def open_memory(path: Path) -> MemoryStore:
    """Open a memory with room for everything that is measured."""
    store = MemoryStore(path, settings=SETTINGS)
    store.init()
    return store


def _row(folder: Path, scale: Scale, name: str) -> Row:
    store = fill_memory(folder / name, scale.facts)
    bare = Bare(folder / "bare.sqlite")
    for memory in store.get_all():
        bare.add_row(memory.content)
    costs = compare(_adds(store, scale.facts), _inserts(bare), scale.rounds)
    bare.close()
    return Row(f"memory added, {name} of {scale.facts:,} facts", *costs)


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
