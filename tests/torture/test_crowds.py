"""Many writers at once, and a reader all the while: nothing lost, nothing refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.rig import program
from tests.torture.subjects import KINDS

ADDS = 1000 if LONG else 15


def crowd(kind: str, folder: Path, processes: int, threads: int, adds: int) -> None:
    figures = json.loads(program("crowd", kind, folder, processes, threads, adds))
    print(figures)
    assert figures["refused"] == []
    assert figures["complaints"] == []
    assert figures["acknowledged"] == processes * threads * adds
    assert figures["readings"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_ten_processes_lose_nothing_and_none_is_refused(kind: str, ground: Path) -> None:
    crowd(kind, ground, processes=10, threads=1, adds=ADDS)


@pytest.mark.parametrize("kind", KINDS)
def test_four_threads_that_share_a_store_lose_nothing(kind: str, ground: Path) -> None:
    crowd(kind, ground, processes=1, threads=4, adds=ADDS)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_in_several_processes_lose_nothing(kind: str, ground: Path) -> None:
    crowd(kind, ground, processes=3, threads=3, adds=ADDS // 3)
