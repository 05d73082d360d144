"""Many writers at once, and a reader all the while: nothing lost, nothing refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.effort import LONG, together
from tests.torture.rig import program
from tests.torture.subjects import KINDS

ADDS = 1000 if LONG else 9


def crowd(kinds: tuple[str, ...], folder: Path, processes: int, threads: int, adds: int) -> None:
    every = json.loads(program("crowd", ",".join(kinds), folder, processes, threads, adds))
    print(every)
    for kind in kinds:
        figures = every[kind]
        assert (figures["refused"], figures["complaints"]) == ([], []), kind
        assert figures["acknowledged"] == processes * threads * adds


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_ten_processes_lose_nothing_and_none_is_refused(
    kinds: tuple[str, ...], ground: Path
) -> None:
    crowd(kinds, ground, processes=10, threads=1, adds=ADDS)


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_four_threads_that_share_a_store_lose_nothing(kinds: tuple[str, ...], ground: Path) -> None:
    crowd(kinds, ground, processes=1, threads=4, adds=ADDS)


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_threads_in_several_processes_lose_nothing(kinds: tuple[str, ...], ground: Path) -> None:
    crowd(kinds, ground, processes=3, threads=3, adds=ADDS // 3)
