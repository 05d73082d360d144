"""A kill at any instant loses nothing that was acknowledged, and the next start works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effort import LONG, together
from tests.torture.campaign import NOTHING, Start, find_complaints, kill_again, kill_each
from tests.torture.plan import Writer
from tests.torture.rig import KEPT, USUAL, program

CALLS = (
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat2",
    "link",
    "unlink",
    "ftruncate",
    "openat",
    "mkdir",
)
ROUNDS = 200 if LONG else 2
STEPS = 12 if LONG else 2
FIRST_KILLS = 2


@pytest.mark.parametrize("kinds", together(KEPT), ids=" ".join)
def test_several_processes_killed_at_random_instants_lose_nothing(
    kinds: tuple[str, ...], ground: Path
) -> None:
    figures = json.loads(program("rounds", ",".join(kinds), ground, ROUNDS, 1))
    assert {kind: figures[kind]["complaints"] for kind in kinds} == {kind: [] for kind in kinds}
    assert all(figures[kind]["acknowledged"] > ROUNDS for kind in kinds)


@pytest.mark.parametrize("kinds", together(USUAL), ids=" ".join)
def test_a_kill_at_each_system_call_of_a_first_use_loses_nothing(
    kinds: tuple[str, ...], arena: Path
) -> None:
    groups = kill_each([(Writer(kind, 1, 2), NOTHING) for kind in kinds], CALLS, arena)
    assert find_complaints(groups, arena) == ""


@pytest.mark.parametrize("kinds", together(KEPT), ids=" ".join)
def test_a_kill_at_each_system_call_of_a_later_use_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    turns = [(Writer(kind, 1, STEPS), start(kind)) for kind in kinds]
    assert find_complaints(kill_each(turns, CALLS, arena), arena) == ""


@pytest.mark.parametrize("kinds", together(USUAL), ids=" ".join)
def test_a_kill_while_another_kill_is_mended_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    turns = [(Writer(kind, 1, 2), start(kind)) for kind in kinds]
    first = kill_each(turns, CALLS, arena, FIRST_KILLS)
    place = arena / "again"
    place.mkdir()
    assert find_complaints(kill_again(first, CALLS, place), place) == ""
