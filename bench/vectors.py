"""The passages that mean what is asked for, against numpy with all the vectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

from bench import corpus
from bench.indexes import BEST, Indexed, expression, indexed
from bench.scale import Scale
from bench.timing import Aim, Batch, Cost, Row, Work, compare
from turnleaf.core.probes import SENTENCES

DIMENSIONS = 512
PAGE_BYTES = 8192  # as our own index has
HYBRID_AIM = Aim(cpu=1.2)
ALIKE = {text: f"pair {place // 2}" for place, text in enumerate(SENTENCES)}

Vectors: TypeAlias = NDArray[np.float32]
Costs: TypeAlias = tuple[Cost, Cost]


class RandomMeanings:
    """An embedder that costs nothing: each text points somewhere else, always the same way."""

    name = "random unit vectors"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give the vectors; what is known to mean the same has the same one."""
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
        """Give the numbers of the nearest, nearest first."""
        cosines = self._vectors @ np.frombuffer(vector, np.float32)
        best = np.argpartition(cosines, -BEST)[-BEST:]
        return [int(number) for number in best[np.argsort(-cosines[best])]]


class Scan:
    """A plain table of vectors, and sqlite-vec with nothing around it."""

    def __init__(self, path: Path, vectors: Sequence[bytes]) -> None:
        self._database = apsw.Connection(str(path))
        self._database.pragma("page_size", PAGE_BYTES)
        self._database.enable_load_extension(enable=True)
        self._database.load_extension(import_module("sqlite_vec").loadable_path())
        self._database.execute("CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB)")
        with self._database:
            insert = "INSERT INTO vectors (vector) VALUES (?)"
            self._database.executemany(insert, ((vector,) for vector in vectors))

    def nearest(self, vector: bytes) -> list[int]:
        """Select the nearest, nearest first."""
        rows = self._database.execute(
            f"SELECT id FROM vectors ORDER BY vec_distance_l2(vector, ?) LIMIT {BEST}",  # noqa: S608 - of a constant
            (vector,),
        )
        return [number for (number,) in rows]

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure each size."""
    for count in scale.vectors:
        embedder = RandomMeanings()
        with indexed(folder, count, scale.facts, embedder) as filled:
            filled.index.embed()
            vectors = embedder.embed(filled.texts)
            scan = Scan(filled.index.location.with_name("scan.sqlite"), vectors)
            yield from _rows(scale, count, filled, Exact(vectors), scan)
            scan.close()


def _rows(scale: Scale, count: int, filled: Indexed, exact: Exact, scan: Scan) -> Iterator[Row]:
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
        scan.nearest(RandomMeanings().embed([query])[0])

    def costs(ours: Callable[[str], object], yardstick: Callable[[str], object]) -> Costs:
        return compare(_each(ours, asked), _each(yardstick, asked), scale.rounds)

    title = f"{count:,} vectors of {DIMENSIONS} numbers"
    vector, hybrid = partial(search, mode="vector"), partial(search, mode="hybrid")
    yield Row(f"10 best of {title}, against numpy", *costs(vector, by_numpy))
    yield Row(
        f"words and {title}, against one after the other",
        *costs(hybrid, one_after_the_other),
        HYBRID_AIM,
    )
    yield Row(f"words and {title}, against raw FTS5 and sqlite-vec", *costs(hybrid, raw))


def _each(work: Callable[[str], object], queries: Sequence[str]) -> Batch:
    calls: list[Work] = [partial(work, query) for query in queries]
    return lambda: calls


def _check(filled: Indexed, exact: Exact, queries: Sequence[str]) -> None:
    """Refuse to compare two that do not find the same."""
    for query in queries:
        hits = filled.index.search(query, mode="vector", floor=False)
        found = [*{hit.text: None for hit in hits}]
        nearest = exact.nearest(RandomMeanings().embed([query])[0])
        if found != [filled.texts[number] for number in nearest][: len(found)] or not found:
            message = f"{query!r} is not answered as numpy answers it"
            raise LookupError(message)
