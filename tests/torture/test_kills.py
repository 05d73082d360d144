"""A kill at any instant loses nothing that was acknowledged, and the next start works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import NOTHING, Start, complaints, killed_each
from tests.torture.plan import Writer
from tests.torture.rig import KEPT, USUAL, program
from tests.torture.worker import outcomes

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
ROUNDS = 200 if LONG else 3
STEPS = 12 if LONG else 2
FIRST_KILLS = 2


@pytest.mark.parametrize("kind", KEPT)
def test_several_processes_killed_at_random_instants_lose_nothing(kind: str, ground: Path) -> None:
    figures = json.loads(program("rounds", kind, ground, ROUNDS, 1))
    assert figures["acknowledged"] > ROUNDS
    assert figures["complaints"] == []


@pytest.mark.parametrize("kind", USUAL)
def test_a_kill_at_each_system_call_of_a_first_use_loses_nothing(kind: str, arena: Path) -> None:
    groups = killed_each(Writer(kind, 1, 2), [NOTHING], CALLS, arena)
    assert complaints(groups, arena) == ""


@pytest.mark.parametrize("kind", KEPT)
def test_a_kill_at_each_system_call_of_a_later_use_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    groups = killed_each(Writer(kind, 1, STEPS), [start(kind)], CALLS, arena)
    assert complaints(groups, arena) == ""


@pytest.mark.parametrize("kind", USUAL)
def test_a_kill_while_another_kill_is_mended_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    ((before, first),) = killed_each(Writer(kind, 1, 2), [start(kind)], CALLS, arena)
    again = [
        Start(Path(hit.job.folder), [*before.written, (hit.job.writer, outcomes(hit.said))])
        for hit in first[:: 1 if LONG else 1 + len(first) // FIRST_KILLS]
    ]
    place = arena / "again"
    place.mkdir()
    assert complaints(killed_each(Writer(kind, 2, 1), again, CALLS, place), place) == ""
