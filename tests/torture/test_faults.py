"""An error at any system call: a clear refusal, the old data intact, and the next write works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG, sample, together
from tests.torture.campaign import NOTHING, Start, aim, find_complaints, jobs_at
from tests.torture.cuts import cuts, record, tree_of
from tests.torture.disk import Disk
from tests.torture.injection import ChildJob
from tests.torture.plan import Writer
from tests.torture.rig import USUAL, HitChild, Nth, check, copies, count_calls, inject, report
from tests.torture.subjects import KINDS
from tests.torture.test_power_cuts import MOST_CUTS, make_cases

WRITING = ("write", "pwrite64", "fsync", "fdatasync", "ftruncate")
NAMING = ("rename", "link", "unlink", "mkdir")
READING = ("read", "pread64")
FAULTS = {
    "ENOSPC": (*WRITING, *NAMING, "openat", "renameat2"),
    "EIO": (*READING, *WRITING, *NAMING, "renameat2"),
    "EACCES": (*NAMING, "openat"),
    "EMFILE": ("openat",),
}
STEPS = 10 if LONG else 2
USUAL_KINDS = [kind for kind in KINDS if kind in USUAL]


def bad_manners(hits: Sequence[HitChild]) -> dict[str, list[str]]:
    """What the workers said that nobody should, by the line at which each was hit."""
    found = {}
    for hit in hits:
        raw = [line for line in hit.said if "raw:" in line]
        refused = [line for line in hit.said if "refused:" in line]
        if raw or len(refused) > 1 or hit.status:
            found[hit.line] = [*raw, *refused, f"status {hit.status}"]
    return found


def choose_calls(counted: Sequence[Nth], calls: Sequence[str]) -> list[Nth]:
    """Every such call that changes something; in the short form, of the others only some."""
    among = [nth for nth in counted if nth.call in calls]
    reading = [nth for nth in among if nth.call in READING or not nth.changes]
    return [nth for nth in among if nth not in reading] + reading[:: 1 if LONG else 8]


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_an_error_at_each_call_is_refused_once_and_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    turns = [(Writer(kind, 1, STEPS), start(kind)) for kind in kinds]
    every_call = sorted({call for calls in FAULTS.values() for call in calls})
    bases = [copies(before.template, arena, 1, f"base-{one.kind}")[0] for one, before in turns]
    undisturbed = [ChildJob(turn[0], str(base)) for turn, base in zip(turns, bases, strict=True)]
    counted = count_calls(undisturbed, every_call, arena)
    groups = []
    for error, calls in FAULTS.items():
        aims = [
            jobs_at(choose_calls(each, calls), writer, before, arena, f"{error}-{writer.kind}")
            for (writer, before), each in zip(turns, counted, strict=True)
        ]
        hits = iter(inject([job for jobs in aims for job in jobs], f"error={error}", calls, arena))
        groups += [
            (before, [next(hits) for _ in jobs])
            for (_, before), jobs in zip(turns, aims, strict=True)
        ]
    hit = [one for _, each in groups for one in each]
    # SQLite reads a page again or not, by what is in its cache: the last calls vary a little.
    missed = [one for one in hit if not one.line]
    assert len(missed) <= len(hit) // 50, "not every worker met its error"
    assert report(bad_manners(hit)) + find_complaints(groups, arena) == ""


@pytest.mark.parametrize("kinds", together(USUAL_KINDS), ids=" ".join)
def test_an_error_at_each_call_of_a_first_use_loses_nothing(
    kinds: tuple[str, ...], arena: Path
) -> None:
    calls = (*WRITING, *NAMING, "openat")
    aims = aim([(Writer(kind, 1, 2), NOTHING) for kind in kinds], calls, arena)
    hits = inject([job for jobs in aims for job in jobs], "error=ENOSPC", calls, arena)
    assert all(hit.line for hit in hits), "not every worker met its error"
    assert report(bad_manners(hits)) + find_complaints([(NOTHING, hits)], arena) == ""


@pytest.mark.parametrize("kinds", together(USUAL_KINDS), ids=" ".join)
def test_no_acknowledgement_rests_on_a_sync_that_failed(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    """After each sync that fails the power does, too: what was acknowledged must be there."""
    turns = [(Writer(kind, 1, 2), start(kind)) for kind in kinds]
    aims = aim(turns, ("fsync", "fdatasync"), arena)
    failing = [(job, before) for jobs, (_, before) in zip(aims, turns, strict=True) for job in jobs]
    disks = [Disk(job.folder, tree_of(Path(job.folder))) for job, _ in failing]
    traced = record([job for job, _ in failing], arena, "EIO")
    found = []
    for (job, before), calls, disk in zip(failing, traced, disks, strict=True):
        folder = arena / f"cuts-{Path(job.folder).name}"
        folder.mkdir()
        left = sample(list(cuts(calls, disk, only_acknowledged=True)), MOST_CUTS)
        found += make_cases(left, job.writer, before, folder)
    assert report(check(found, arena)) == ""
