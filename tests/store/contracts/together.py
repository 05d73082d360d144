"""Several who do something at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")


def do_at_once(work: Callable[[A], T], given: Sequence[A]) -> list[T]:
    """Do something with each of some things at once, in a thread each; return what came of it."""
    together = Barrier(len(given))
    results: dict[int, T] = {}

    def do(number: int) -> None:
        together.wait()
        results[number] = work(given[number])

    threads = [Thread(target=do, args=(number,)) for number in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(given), "one of them ended in an error"
    return [results[number] for number in range(len(given))]
