"""An exchange added to a store, against inserting its two messages into SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random

from bench import samples
from bench.samples import SampleExchange
from bench.scale import Scale
from bench.stores import FilledStore, make_long_stores, make_stores, open_store
from bench.timing import Aim, Batch, TimingRow, Work, compare

JSON_AIM = {100: Aim(cpu=3, wall=3)}
DATABASE_AIM = Aim(cpu=2)
REWRITES = 5
TWO_PROGRAMS = 100


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure every store."""
    for count in scale.json_conversations:
        yield _row(folder, scale, ".json", count, JSON_AIM.get(count))
    yield _in_turn(folder, scale)
    yield _row(folder, scale, ".db", scale.database_conversations, DATABASE_AIM)
    for exchanges in (samples.EXCHANGES, scale.long_conversation):
        yield _long_row(folder, scale, exchanges)


def _long_row(folder: Path, scale: Scale, exchanges: int) -> TimingRow:
    """Add to one conversation that has become longer and longer."""
    with make_long_stores(folder, exchanges) as both:
        ours = _batches(both, [_add_to(both)], scale.commits)
        yardstick = _batches(both, [both.bare.add_exchange], scale.commits)
        costs = compare(ours, yardstick, scale.rounds)
    return TimingRow(f"exchange added, .db, to {exchanges:,} others", *costs, DATABASE_AIM)


def _row(folder: Path, scale: Scale, suffix: str, count: int, aim: Aim | None) -> TimingRow:
    calls = scale.commits if suffix == ".db" else REWRITES
    with make_stores(folder, suffix, count) as both:
        ours = _batches(both, [_add_to(both)], calls)
        yardstick = _batches(both, [both.bare.add_exchange], calls)
        costs = compare(ours, yardstick, scale.rounds)
    return TimingRow(f"exchange added, {suffix} of {count:,} conversations", *costs, aim)


def _in_turn(folder: Path, scale: Scale) -> TimingRow:
    """Run two programs that write in turn: each finds a file that it does not know."""
    with make_stores(folder, ".json", TWO_PROGRAMS) as both:
        other = FilledStore(open_store(both.store.location), both.bare, both.keys)
        ours = _batches(both, [_add_to(both), _add_to(other)], 6)
        yardstick = _batches(both, [both.bare.add_exchange], 6)
        costs = compare(ours, yardstick, scale.rounds)
    return TimingRow(f"the same by two programs in turn, .json of {TWO_PROGRAMS}", *costs)


def _add_to(both: FilledStore) -> Callable[[str, SampleExchange], None]:
    return lambda key, one: both.store.add_exchange(key, one.question, one.answer)


def _batches(
    both: FilledStore, adds: list[Callable[[str, SampleExchange], None]], calls: int
) -> Batch:
    random = Random(0)

    def batch() -> list[Work]:
        turns = cycle(adds)
        return [
            partial(next(turns), random.choice(both.keys), samples.exchange(random))
            for _ in range(calls)
        ]

    return batch
