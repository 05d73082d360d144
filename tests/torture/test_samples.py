"""The rig sees a loss where there is one, and none where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.torture.campaign import MOST_HITS, NOTHING, find_complaints, kill_each
from tests.torture.cuts import cuts, record, tree_of
from tests.torture.disk import Disk
from tests.torture.injection import ChildJob
from tests.torture.plan import Writer
from tests.torture.rig import program
from tests.torture.test_power_cuts import cut_everywhere

RIGHT = ("sample-right", "sample-database")
LOSES_IN_A_POWER_CUT = (
    "sample-unsynced",
    "sample-no_folder",
    "sample-in_place",
    "sample-database_normal",
)
EVERY = 1_000_000
CALLS = ("write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "ftruncate", "openat")


def kills(kind: str, folder: Path, most: int = MOST_HITS) -> str:
    return find_complaints(kill_each([(Writer(kind, 1, 3), NOTHING)], CALLS, folder, most), folder)


def crowd(kind: str, *numbers: object) -> Any:  # noqa: ANN401 - what a program printed
    return json.loads(program("crowd", kind, *numbers))[kind]


@pytest.mark.parametrize("kind", RIGHT)
def test_a_right_writer_loses_nothing_in_a_power_cut(kind: str, arena: Path) -> None:
    assert cut_everywhere([(Writer(kind, 1, 6), NOTHING)], arena, most=EVERY) == ""


@pytest.mark.parametrize("kind", LOSES_IN_A_POWER_CUT)
def test_a_wrong_writer_loses_something_in_a_power_cut(kind: str, arena: Path) -> None:
    assert "lost" in cut_everywhere([(Writer(kind, 1, 6), NOTHING)], arena, most=EVERY)


@pytest.mark.parametrize("kind", RIGHT)
def test_a_right_writer_loses_nothing_when_killed(kind: str, arena: Path) -> None:
    assert kills(kind, arena) == ""


def test_rewriting_in_place_loses_something_when_killed(arena: Path) -> None:
    assert kills("sample-in_place", arena, EVERY) != ""


def test_a_crowd_without_a_lock_loses_something(ground: Path) -> None:
    figures = crowd("sample-unlocked", ground, 6, 1, 50)
    assert figures["complaints"] or figures["refused"]


def test_a_crowd_with_a_lock_loses_nothing(arena: Path) -> None:
    figures = crowd("sample-right", arena, 4, 1, 20)
    assert (figures["acknowledged"], figures["complaints"], figures["refused"]) == (80, [], [])


def test_the_simulated_disk_holds_what_the_real_one_does(arena: Path) -> None:
    place = arena / "place"
    place.mkdir()
    disk = Disk(str(place))
    (calls,) = record([ChildJob(Writer("sample-database", 1, 12), str(place))], arena)
    assert list(cuts(calls, disk))
    assert disk.tree() == tree_of(place)
