"""A power cut at any instant loses nothing that was acknowledged, and the next start works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.effort import LONG, sample, together
from tests.torture.campaign import NOTHING, Start
from tests.torture.checker import Case
from tests.torture.cuts import Cut, cuts, lay_out, record, replay, tree_of
from tests.torture.disk import Disk, Tree
from tests.torture.injection import ChildJob
from tests.torture.plan import Writer
from tests.torture.rig import KEPT, USUAL, check, copies, report
from tests.torture.trace import Call

STEPS = 30 if LONG else 2
MOST_KILLS = 2
MOST_CUTS = 24


def make_cases(
    found: Iterable[Cut], writer: Writer, start: Start, folder: Path, inside: str = ""
) -> list[Case]:
    """Lay out each state in a folder of its own, to be checked."""
    cases = []
    for number, cut in enumerate(found):
        place = lay_out(cut.tree, folder / f"cut-{number}")
        written = [*start.written, (writer, cut.acknowledged)]
        torn, later = writer.kind == "daily", number % 2 == 0
        kind = writer.kind
        cases.append(Case(str(place / inside), kind, written, torn=torn, later=later))
    return cases


def cut_everywhere(
    turns: Sequence[tuple[Writer, Start]], folder: Path, inside: str = "", most: int = MOST_CUTS
) -> str:
    """Cut the power at each call of each writer; in the short form, check some of what is left."""
    names = [f"{number}-{writer.kind}" for number, (writer, _) in enumerate(turns)]
    places = [
        copies(start.template, folder, 1, f"traced-{name}")[0]
        for name, (_, start) in zip(names, turns, strict=True)
    ]
    disks = [Disk(str(place), tree_of(place)) for place in places]
    jobs = [
        ChildJob(turn[0], str(place / inside)) for turn, place in zip(turns, places, strict=True)
    ]
    cases = []
    for name, (writer, start), disk, place, calls in zip(
        names, turns, disks, places, record(jobs, folder), strict=True
    ):
        found = list(cuts(calls, disk))
        assert disk.tree() == tree_of(place), "the simulated disk is not like the real one"
        assert max(len(cut.acknowledged) for cut in found) == writer.count
        area = folder / f"cuts-{name}"
        area.mkdir()
        cases += make_cases(sample(found, most), writer, start, area, inside)
    return report(check(cases, folder))


@pytest.mark.parametrize("kinds", together(USUAL), ids=" ".join)
def test_a_power_cut_in_a_first_use_loses_nothing(kinds: tuple[str, ...], arena: Path) -> None:
    assert cut_everywhere([(Writer(kind, 1, 3), NOTHING) for kind in kinds], arena) == ""


@pytest.mark.parametrize("kinds", together(KEPT), ids=" ".join)
def test_a_power_cut_in_a_later_use_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    assert cut_everywhere([(Writer(kind, 1, STEPS), start(kind)) for kind in kinds], arena) == ""


@pytest.mark.parametrize("kinds", together(USUAL), ids=" ".join)
def test_a_power_cut_after_new_folders_were_made_loses_nothing(
    kinds: tuple[str, ...], arena: Path
) -> None:
    turns = [(Writer(kind, 1, 2), NOTHING) for kind in kinds]
    assert cut_everywhere(turns, arena, "new/deep") == ""


def find_unsynced(calls: Sequence[Call], disk: Disk) -> Iterator[tuple[int, Tree]]:
    """After how many calls something was not synced yet, and what a program saw then."""
    last: Tree = {}
    for count, _ in enumerate(replay(calls, disk), start=1):
        unsynced = disk.pending or any(file.pending for file in disk.files.values())
        if unsynced and disk.tree() != last:
            last = disk.tree()
            yield count, last


@pytest.mark.parametrize("kinds", together(USUAL), ids=" ".join)
def test_a_power_cut_after_somebody_was_killed_loses_nothing(
    kinds: tuple[str, ...], arena: Path
) -> None:
    """What the killed one had not synced is still not synced when the next one writes."""
    places = copies(None, arena, len(kinds), "first")
    firsts = [
        ChildJob(Writer(kind, 1, 2), str(place)) for kind, place in zip(kinds, places, strict=True)
    ]
    killed = [
        (job, calls[:count], tree)
        for job, calls in zip(firsts, record(firsts, arena), strict=True)
        for count, tree in sample(list(find_unsynced(calls, Disk(job.folder))), MOST_KILLS)
    ]
    jobs = [
        ChildJob(replace(job.writer, worker=2), str(lay_out(tree, arena / f"killed-{number}")))
        for number, (job, _, tree) in enumerate(killed)
    ]
    cases = []
    for job, later, (first, calls, _) in zip(jobs, record(jobs, arena), killed, strict=True):
        disk = Disk(first.folder)
        *_, acknowledged = replay(calls, disk)
        disk.root = job.folder
        start = Start(None, [(first.writer, acknowledged)])
        folder = arena / f"after-{Path(job.folder).name}"
        folder.mkdir()
        found = sample(list(cuts(later, disk)), MOST_CUTS)
        cases += make_cases(found, job.writer, start, folder)
    assert report(check(cases, arena)) == ""
