"""An error at any system call: a clear refusal, the old data intact, and the next write works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import NOTHING, Start, aimed, complaints, jobs_at
from tests.torture.cuts import cuts, record, tree_of
from tests.torture.disk import Disk
from tests.torture.injected import Job
from tests.torture.plan import Writer
from tests.torture.rig import USUAL, Hit, Nth, check, copies, count_calls, inject, report
from tests.torture.subjects import KINDS
from tests.torture.test_power_cuts import left_by

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


def bad_manners(hits: Sequence[Hit]) -> dict[str, list[str]]:
    """What the workers said that nobody should, by the line at which each was hit."""
    found = {}
    for hit in hits:
        raw = [line for line in hit.said if "raw:" in line]
        refused = [line for line in hit.said if "refused:" in line]
        if raw or len(refused) > 1 or hit.status:
            found[hit.line] = [*raw, *refused, f"status {hit.status}"]
    return found


def sampled(counted: Sequence[Nth]) -> list[Nth]:
    """Every call that changes something; in the short form, of the others only some."""
    reading = [nth for nth in counted if nth.call in READING or not nth.changes]
    return [nth for nth in counted if nth not in reading] + reading[:: 1 if LONG else 8]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_at_each_call_is_refused_once_and_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    before, writer = start(kind), Writer(kind, 1, STEPS)
    every_call = sorted({call for calls in FAULTS.values() for call in calls})
    (base,) = copies(before.template, arena, 1, "base")
    (counted,) = count_calls([Job(writer, str(base))], every_call, arena)
    hits = []
    for error, calls in FAULTS.items():
        among = sampled([nth for nth in counted if nth.call in calls])
        jobs = jobs_at(among, writer, before, arena, error, lambda _: True)
        hits += inject(jobs, f"error={error}", calls, arena)
    # SQLite reads a page again or not, by what is in its cache: the last calls vary a little.
    missed = [hit for hit in hits if not hit.line]
    assert len(missed) <= len(hits) // 50, "not every worker met its error"
    assert report(bad_manners(hits)) + complaints([(before, hits)], arena) == ""


@pytest.mark.parametrize("kind", USUAL_KINDS)
def test_an_error_at_each_call_of_a_first_use_loses_nothing(kind: str, arena: Path) -> None:
    calls = (*WRITING, *NAMING, "openat")
    (jobs,) = aimed(Writer(kind, 1, 2), [NOTHING], calls, arena)
    hits = inject(jobs, "error=ENOSPC", calls, arena)
    assert all(hit.line for hit in hits), "not every worker met its error"
    assert report(bad_manners(hits)) + complaints([(NOTHING, hits)], arena) == ""


@pytest.mark.parametrize("kind", USUAL_KINDS)
def test_no_acknowledgement_rests_on_a_sync_that_failed(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    """After each sync that fails the power does, too: what was acknowledged must be there."""
    before, writer = start(kind), Writer(kind, 1, 2)
    (jobs,) = aimed(writer, [before], ("fsync", "fdatasync"), arena)
    disks = [Disk(job.folder, tree_of(Path(job.folder))) for job in jobs]
    found = []
    for number, (calls, disk) in enumerate(zip(record(jobs, arena, "EIO"), disks, strict=True)):
        folder = arena / f"cuts-{number}"
        folder.mkdir()
        found += left_by(cuts(calls, disk, only_acknowledged=True), writer, before, folder)
    assert report(check(found, arena)) == ""
