"""The last twenty messages of a conversation, and the list of all, against selecting rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

from bench import samples
from bench.scale import Scale
from bench.stores import FilledStore, make_long_stores, make_stores
from bench.timing import Aim, Batch, TimingRow, Work, compare

DATABASE_AIM = Aim(cpu=2)
LIST_AIM = Aim(seconds=0.02)
CALLS = {".json": 20, ".db": 200}


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure every store."""
    for count in scale.json_conversations:
        yield _row(folder, scale, ".json", count, None)
    yield _row(folder, scale, ".db", scale.database_conversations, DATABASE_AIM)
    yield _long_row(folder, scale)
    yield _list_row(folder, scale)


def _long_row(folder: Path, scale: Scale) -> TimingRow:
    """Read after an exchange was added: a window that nobody changed is not read again."""
    key = samples.key(0)
    with make_long_stores(folder, scale.long_conversation) as both:

        def ours() -> list[Work]:
            both.store.add_exchange(key, "Q", "A")
            return [partial(both.store.get_history, key)]

        yardstick: list[Work] = [partial(both.bare.last_messages, key)]
        costs = compare(ours, lambda: yardstick, scale.rounds)
    name = f"20 messages read, .db, of {2 * scale.long_conversation:,}"
    return TimingRow(name, *costs, DATABASE_AIM)


def _list_row(folder: Path, scale: Scale) -> TimingRow:
    with make_stores(folder, ".db", scale.listed) as both:
        ours: list[Work] = [both.store.summaries]
        yardstick: list[Work] = [both.bare.conversations]
        costs = compare(lambda: ours, lambda: yardstick, scale.rounds)
    return TimingRow(f"list of {scale.listed:,} conversations, .db", *costs, LIST_AIM)


def _row(folder: Path, scale: Scale, suffix: str, count: int, aim: Aim | None) -> TimingRow:
    with make_stores(folder, suffix, count) as both:
        ours = _batches(both, both.store.get_history, CALLS[suffix])
        yardstick = _batches(both, both.bare.last_messages, CALLS[suffix])
        costs = compare(ours, yardstick, scale.rounds)
    return TimingRow(f"20 messages read, {suffix} of {count:,} conversations", *costs, aim)


def _batches(both: FilledStore, read: Callable[[str], object], calls: int) -> Batch:
    random = Random(0)

    def batch() -> list[Work]:
        return [partial(read, random.choice(both.keys)) for _ in range(calls)]

    return batch
