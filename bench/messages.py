"""A folder of many messages: searched, kept up to date and erased from, and what it weighs.

The vectors are random unit vectors of a stand-in embedder: they weigh and cost what a model's do.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import corpus, samples
from bench.indexes import PlainTermTable, expression
from bench.scale import Scale
from bench.stores import open_store
from bench.timing import Aim, Cost, TimingRow, Work, compare
from bench.vectors import Exact, RandomMeanings
from turnleaf import ConversationStore, Index, Message
from turnleaf.core.keys import Reader
from turnleaf.core.search.passages import Passage
from turnleaf.core.search.ranking import PROMPT_LIMIT

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Event

PER_CONVERSATION = 50
SEARCH_AIM = Aim(cpu_seconds=0.15)
ERASE_AIM = Aim(cpu_seconds=3)
WAIT_AIM = Aim(seconds=1)
BYTES_AIM = 3000
ERASED = 3
READER = Reader("cli:another", "", is_prompt=True)


@dataclass(frozen=True, slots=True)
class MessageIndex:
    """Messages in an index, and yardsticks that hold the same."""

    store: ConversationStore
    index: Index
    raw: PlainTermTable
    exact: Exact

    def search_bare(self, question: str) -> None:
        """Ask raw FTS5 and numpy, one after the other."""
        self.raw.best(expression(question))
        self.exact.nearest(RandomMeanings().embed([question])[0])

    def erase(self, number: int) -> None:
        """Erase a conversation to the last byte."""
        with self.index.erasing():
            self.store.clear(samples.key(number))

    def erase_bare(self, number: int) -> None:
        """Delete as many rows from raw FTS5, and write it anew so that none of their words stay."""
        first = number * PER_CONVERSATION
        self.raw.erase(range(first + 1, first + PER_CONVERSATION + 1))


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure one folder, the erasing last."""
    title = f"{scale.said:,} messages"
    with fill_messages(folder, scale.said) as both:
        _print_size(both.index.location.parent, scale.said, title)
        yield _search(both, scale, title)
        yield from _syncs(both, scale, title)
        numbers = iter(range(2 * (ERASED + 1)))
        costs = compare(
            lambda: [partial(both.erase, next(numbers))],
            lambda: [partial(both.erase_bare, next(numbers))],
            ERASED,
        )
        name = f"conversation erased, index of {title}, against raw FTS5 written anew"
        yield TimingRow(name, *costs, ERASE_AIM)
        waits = sorted(_waits(both, scale.said // PER_CONVERSATION))
        name = f"longest search of another program meanwhile, {title}, against its median"
        yield TimingRow(name, Cost(waits[-1]), Cost(waits[len(waits) // 2]), WAIT_AIM)


@contextmanager
def fill_messages(folder: Path, count: int) -> Iterator[MessageIndex]:
    """Fill a database of messages, an index with vectors over it, and the yardsticks."""
    with TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        texts = list(islice(corpus.notes(Random(4), corpus.LANGUAGES), count))
        store = open_store(place / "conversations" / "conversations.db")
        for number in range(0, count, PER_CONVERSATION):
            messages = _messages(number, texts[number : number + PER_CONVERSATION])
            store.add_messages(samples.key(number // PER_CONVERSATION), messages)
        index = Index(place / "index.db", [store], RandomMeanings())
        index.embed()
        raw = PlainTermTable(place / "raw.sqlite")
        raw.fill(Passage(text, 1, date=samples.START.date().isoformat()) for text in texts)
        try:
            yield MessageIndex(store, index, raw, Exact(RandomMeanings().embed(texts)))
        finally:
            index.close()
            store.close()
            raw.close()


def _messages(number: int, texts: list[str]) -> list[Message]:
    begun = samples.START - timedelta(minutes=number)
    return [
        Message(("user", "assistant")[place % 2], text, begun + timedelta(seconds=20 * place))
        for place, text in enumerate(texts)
    ]


def _print_size(folder: Path, count: int, title: str) -> None:
    """Print what a message weighs with the files' logs, which is no time and so in no row."""
    sizes = {
        name: sum(path.stat().st_size for path in folder.glob(f"{name}*")) / count
        for name in ("index.db", "vectors.db")
    }
    total = sum(sizes.values())
    parts = ", ".join(f"{name} {size:.0f}" for name, size in sizes.items())
    print(
        f"{title}: {total:.0f} bytes a message ({parts}), {total / BYTES_AIM:.2f} × the aim",
        file=sys.stderr,
    )


def _search(both: MessageIndex, scale: Scale, title: str) -> TimingRow:
    asked = corpus.queries()[: len(corpus.ASKED)]
    ours: list[Work] = [
        partial(both.index.search, question, PROMPT_LIMIT, floor=False, reader=READER)
        for question in asked
    ]
    bare: list[Work] = [partial(both.search_bare, question) for question in asked]
    costs = compare(lambda: ours, lambda: bare, scale.rounds)
    name = f"search of a turn, {title}, against raw FTS5 and numpy"
    return TimingRow(name, *costs, SEARCH_AIM)


def _syncs(both: MessageIndex, scale: Scale, title: str) -> Iterator[TimingRow]:
    newest: list[Work] = [both.raw.newest]
    costs = compare(lambda: [both.index.sync], lambda: newest, scale.rounds)
    yield TimingRow(f"look for new messages, none among {title}, against the newest row", *costs)
    added = corpus.notes(Random(5), corpus.LANGUAGES)

    def one_new() -> list[Work]:
        both.store.add_messages(samples.key(0), [Message("user", next(added))])
        return [both.index.sync]

    def one_row() -> list[Work]:
        return [partial(both.raw.fill, [Passage(next(added), 1)])]

    costs = compare(one_new, one_row, scale.rounds)
    yield TimingRow(f"one new message taken in among {title}, against a row of raw FTS5", *costs)


def _waits(both: MessageIndex, conversations: int) -> list[float]:
    """Erase while another process searches; return how long each of its searches took."""
    spawn = multiprocessing.get_context("spawn")
    waits: SimpleQueue[list[float]] = spawn.SimpleQueue()
    begun, ended = spawn.Event(), spawn.Event()
    places = (both.index.location, both.store.location)
    other = spawn.Process(target=_search_on, args=(*places, waits, begun, ended))
    other.start()
    begun.wait()
    for number in range(conversations - ERASED, conversations):
        both.erase(number)
    ended.set()
    found = waits.get()
    other.join()
    return found


def _search_on(
    index_path: Path, path: Path, waits: SimpleQueue[list[float]], begun: Event, ended: Event
) -> None:
    store = open_store(path)
    index = Index(index_path, [store], RandomMeanings())
    question = corpus.queries()[0]
    index.search(question)
    begun.set()
    found: list[float] = []
    while not ended.is_set() or not found:
        start = time.perf_counter()
        index.search(question)
        found.append(time.perf_counter() - start)
    waits.put(found)
    index.close()
    store.close()
