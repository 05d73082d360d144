"""A power cut at any instant loses nothing that was acknowledged, and the next start works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import NOTHING, Start
from tests.torture.checker import Case
from tests.torture.cuts import Cut, cuts, lay_out, record, replayed, tree_of
from tests.torture.disk import Disk, Tree
from tests.torture.injected import Job
from tests.torture.plan import Writer
from tests.torture.rig import KEPT, USUAL, check, copies, report
from tests.torture.trace import Call

STEPS = 30 if LONG else 2
KILLS = 1000 if LONG else 2


def left_by(
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


def cut_everywhere(writer: Writer, start: Start, folder: Path, inside: str = "") -> str:
    (place,) = copies(start.template, folder, 1, "traced")
    disk = Disk(str(place), tree_of(place))
    (calls,) = record([Job(writer, str(place / inside))], folder)
    found = list(cuts(calls, disk))
    assert disk.tree() == tree_of(place), "the simulated disk is not like the real one"
    assert max(len(cut.acknowledged) for cut in found) == writer.count
    return report(check(left_by(found, writer, start, folder, inside), folder))


@pytest.mark.parametrize("kind", USUAL)
def test_a_power_cut_in_a_first_use_loses_nothing(kind: str, arena: Path) -> None:
    assert cut_everywhere(Writer(kind, 1, 3), NOTHING, arena) == ""


@pytest.mark.parametrize("kind", KEPT)
def test_a_power_cut_in_a_later_use_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    assert cut_everywhere(Writer(kind, 1, STEPS), start(kind), arena) == ""


@pytest.mark.parametrize("kind", USUAL)
def test_a_power_cut_after_new_folders_were_made_loses_nothing(kind: str, arena: Path) -> None:
    assert cut_everywhere(Writer(kind, 1, 2), NOTHING, arena, "new/deep") == ""


def with_something_unsynced(calls: Sequence[Call], disk: Disk) -> Iterator[tuple[int, Tree]]:
    """After how many calls something was not synced yet, and what a program saw then."""
    last: Tree = {}
    for count, _ in enumerate(replayed(calls, disk), start=1):
        unsynced = disk.pending or any(file.pending for file in disk.files.values())
        if unsynced and disk.tree() != last:
            last = disk.tree()
            yield count, last


@pytest.mark.parametrize("kind", USUAL)
def test_a_power_cut_after_somebody_was_killed_loses_nothing(kind: str, arena: Path) -> None:
    """What the killed one had not synced is still not synced when the next one writes."""
    first, second = Writer(kind, 1, 2), Writer(kind, 2, 2)
    (place,) = copies(None, arena, 1, "first")
    (calls,) = record([Job(first, str(place))], arena)
    kills = list(with_something_unsynced(calls, Disk(str(place))))
    chosen = kills[:: max(1, len(kills) // KILLS)]
    jobs = [
        Job(second, str(lay_out(tree, arena / f"killed-{number}")))
        for number, (_, tree) in enumerate(chosen)
    ]
    cases = []
    for job, later, (count, _) in zip(jobs, record(jobs, arena), chosen, strict=True):
        disk = Disk(str(place))
        *_, acknowledged = replayed(calls[:count], disk)
        disk.root = job.folder
        start = Start(None, [(first, acknowledged)])
        folder = arena / f"after-{count}"
        folder.mkdir()
        cases += left_by(cuts(later, disk), second, start, folder)
    assert report(check(cases, arena)) == ""
