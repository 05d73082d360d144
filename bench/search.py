"""The passages that hold what is asked for, and how soon a new fact is among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random

from bench import corpus, samples
from bench.indexes import NotesIndex, expression, fill_index
from bench.plot import Curve
from bench.scale import Scale
from bench.timing import Aim, Batch, TimingRow, Work, compare
from turnleaf import Index, MemoryStore

WORDS_AIM = Aim(cpu=2)
CONSTANT_AIM = Aim(cpu=1.5)
LOOKS = 10
ADDS = 5


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure each size, and what a new fact costs beside the smallest."""
    with ExitStack() as stack:
        sizes = {
            count: stack.enter_context(fill_index(folder, count, scale.facts))
            for count in scale.passages
        }
        for count, filled in sizes.items():
            yield _by_words(scale, count, filled)
            yield _look(scale, filled)
        yield from _measure_additions(scale, sizes)


def curves(measured: Sequence[TimingRow], scale: Scale) -> list[Curve]:
    """Yield what grows with the number of passages, and what does not."""
    by_name = {row.name: row for row in measured}
    found = [(count, by_name[_words_name(count)]) for count in scale.passages]
    smallest = scale.passages[0]
    added = [(count, by_name[_name_addition(count, smallest)]) for count in scale.passages]
    return [
        Curve("10 best by words", [(count, row.ours.cpu or 0.0) for count, row in found]),
        Curve("raw FTS5", [(count, row.yardstick.cpu or 0.0) for count, row in found]),
        Curve("fact added and found", [(count, row.ours.cpu or 0.0) for count, row in added]),
    ]


def _by_words(scale: Scale, count: int, filled: NotesIndex) -> TimingRow:
    asked = corpus.queries()
    ours: list[Work] = [partial(filled.index.search, query, mode="lexical") for query in asked]
    yardstick: list[Work] = [partial(filled.raw.best, expression(query)) for query in asked]
    costs = compare(lambda: ours, lambda: yardstick, scale.rounds)
    return TimingRow(_words_name(count), *costs, WORDS_AIM)


def _look(scale: Scale, filled: NotesIndex) -> TimingRow:
    """Look at files that did not change, as each search does before it answers."""

    def stat_each() -> None:
        for path in filled.files:
            os.stat(path)  # noqa: PTH116 - the cheapest there is

    costs = compare(lambda: [filled.index.sync] * LOOKS, lambda: [stat_each] * LOOKS, scale.rounds)
    name = f"only its look at {len(filled.files):,} unchanged files, against a stat of each"
    return TimingRow(name, *costs)


def _measure_additions(scale: Scale, sizes: dict[int, NotesIndex]) -> Iterator[TimingRow]:
    smallest, *larger = sizes
    least = sizes[smallest]
    alone = _adds(least, scale.facts, _add)
    costs = compare(_adds(least, scale.facts, _add_and_find), alone, scale.rounds)
    yield TimingRow(_name_addition(smallest, smallest), *costs)
    for count in larger:
        ours = _adds(sizes[count], scale.facts, _add_and_find)
        yardstick = _adds(least, scale.facts, _add_and_find)
        costs = compare(ours, yardstick, scale.rounds)
        yield TimingRow(_name_addition(count, smallest), *costs, CONSTANT_AIM)


def _adds(filled: NotesIndex, facts: int, add: Callable[[Index, MemoryStore, str], None]) -> Batch:
    random = Random(3)

    def batch() -> list[Work]:
        for memory in filled.memory.get_all()[facts:]:
            filled.memory.delete(memory.id)
        filled.index.sync()
        facts_to_add = [samples.fact(random) for _ in range(ADDS)]
        return [partial(add, filled.index, filled.memory, fact) for fact in facts_to_add]

    return batch


def _add(_index: Index, memory: MemoryStore, fact: str) -> None:
    memory.add(fact)


def _add_and_find(index: Index, memory: MemoryStore, fact: str) -> None:
    """Look for the number in the fact; what a search for common words costs is measured above."""
    memory.add(fact)
    number = fact.rsplit(maxsplit=1)[-1]
    if fact not in {hit.text for hit in index.search(number, mode="lexical")}:
        message = f"{fact!r} was added and is not found"
        raise LookupError(message)


def _words_name(count: int) -> str:
    return f"10 best of {count:,} passages by words, against raw FTS5"


def _name_addition(count: int, smallest: int) -> str:
    beside = "adding it only" if count == smallest else f"among {smallest:,}"
    return f"fact added and found among {count:,} passages, against {beside}"
