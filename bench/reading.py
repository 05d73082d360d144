"""The last twenty messages of a conversation, against selecting their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

from bench.scale import Scale
from bench.stores import Filled, filled
from bench.timing import Aim, Batch, Row, Work, compare

DATABASE_AIM = Aim(cpu=2)
CALLS = {".json": 20, ".db": 200}


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure every store."""
    for count in scale.json_conversations:
        yield _row(folder, scale, ".json", count, None)
    yield _row(folder, scale, ".db", scale.database_conversations, DATABASE_AIM)


def _row(folder: Path, scale: Scale, suffix: str, count: int, aim: Aim | None) -> Row:
    with filled(folder, suffix, count) as both:
        ours = _batches(both, both.store.get_history, CALLS[suffix])
        yardstick = _batches(both, both.bare.last_messages, CALLS[suffix])
        costs = compare(ours, yardstick, scale.rounds)
    return Row(f"20 messages read, {suffix} of {count:,} conversations", *costs, aim)


def _batches(both: Filled, read: Callable[[str], object], calls: int) -> Batch:
    random = Random(0)

    def batch() -> list[Work]:
        return [partial(read, random.choice(both.keys)) for _ in range(calls)]

    return batch
