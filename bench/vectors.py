"""The passages that mean what is asked for, against numpy with all the vectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench import corpus
from bench.indexes import BEST, NotesIndex, expression, fill_index
from bench.scale import Scale
from bench.timing import Aim, Batch, Cost, TimingRow, Work, compare
from turnleaf.core.search.vectors import SENTENCES

DIMENSIONS = 512
HYBRID_AIM = Aim(cpu=1.2)
NEARLY = 0.005
"""By how much a cosine may be another: ours are of vectors with a byte for each number."""
ALIKE = {text: f"pair {place // 2}" for place, text in enumerate(SENTENCES)}

Vectors: TypeAlias = NDArray[np.float32]
Costs: TypeAlias = tuple[Cost, Cost]


class RandomMeanings:
    """An embedder that costs nothing: each text points somewhere else, always the same way."""

    name = "random unit vectors"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors; texts known to mean the same have the same one."""
        return [self._vector(ALIKE.get(text, text)).tobytes() for text in texts]

    def _vector(self, meaning: str) -> Vectors:
        random = np.random.default_rng(crc32(meaning.encode()))
        numbers = random.standard_normal(DIMENSIONS, dtype=np.float32)
        return numbers / np.linalg.norm(numbers)


class Exact:
    """All vectors in memory, and each of them compared."""

    def __init__(self, vectors: Sequence[bytes]) -> None:
        self._vectors = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, DIMENSIONS)

    def nearest(self, vector: bytes) -> list[int]:
        """Return the numbers of the nearest, nearest first."""
        cosines = self._vectors @ np.frombuffer(vector, np.float32)
        best = np.argpartition(cosines, -BEST)[-BEST:]
        return [int(number) for number in best[np.argsort(-cosines[best])]]

    def cosines(self, vector: bytes, numbers: Sequence[int]) -> Vectors:
        """Return the cosines of some of them."""
        return self._vectors[numbers] @ np.frombuffer(vector, np.float32)


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure each size."""
    for count in scale.vectors:
        embedder = RandomMeanings()
        with fill_index(folder, count, scale.facts, embedder) as filled:
            filled.index.embed()
            vectors = embedder.embed(filled.texts)
            yield from _rows(scale, count, filled, Exact(vectors))


def _rows(scale: Scale, count: int, filled: NotesIndex, exact: Exact) -> Iterator[TimingRow]:
    asked = corpus.queries()[: len(corpus.ASKED)]
    search = filled.index.search
    _check(filled, exact, asked)

    def by_numpy(query: str) -> None:
        exact.nearest(RandomMeanings().embed([query])[0])

    def one_after_the_other(query: str) -> None:
        search(query, mode="lexical")
        search(query, mode="vector")

    def raw(query: str) -> None:
        filled.raw.best(expression(query))
        by_numpy(query)

    def costs(ours: Callable[[str], object], yardstick: Callable[[str], object]) -> Costs:
        return compare(_each(ours, asked), _each(yardstick, asked), scale.rounds)

    title = f"{count:,} vectors of {DIMENSIONS} numbers"
    vector, hybrid = partial(search, mode="vector"), partial(search, mode="hybrid")
    yield TimingRow(f"10 best of {title}, against numpy", *costs(vector, by_numpy))
    yield TimingRow(
        f"words and {title}, against one after the other",
        *costs(hybrid, one_after_the_other),
        HYBRID_AIM,
    )
    yield TimingRow(f"words and {title}, against raw FTS5 and numpy", *costs(hybrid, raw))


def _each(work: Callable[[str], object], queries: Sequence[str]) -> Batch:
    calls: list[Work] = [partial(work, query) for query in queries]
    return lambda: calls


def _check(filled: NotesIndex, exact: Exact, queries: Sequence[str]) -> None:
    """Refuse to compare two that do not find the same."""
    for query in queries:
        hits = filled.index.search(query, mode="vector", floor=False)
        found = [filled.texts.index(text) for text in {hit.text: None for hit in hits}]
        vector = RandomMeanings().embed([query])[0]
        ours, best = (exact.cosines(vector, some) for some in (found, exact.nearest(vector)))
        if not found or (np.abs(ours - best[: len(ours)]) > NEARLY).any():
            message = f"{query!r} is not answered as numpy answers it"
            raise LookupError(message)
