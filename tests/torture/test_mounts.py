"""A file that is a mount point of its own, as Docker binds single files, cannot be replaced.

It is overwritten, and yet nobody sees half of it and no kill and no power cut loses anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG, sample
from tests.torture.campaign import KILLED, Start, find_complaints, jobs_at
from tests.torture.cuts import cuts, record, tree_of
from tests.torture.disk import Disk
from tests.torture.injection import ChildJob
from tests.torture.places import main_file
from tests.torture.plan import Writer
from tests.torture.rig import (
    ROOT,
    USUAL,
    check,
    copies,
    count_calls,
    inject,
    program,
    report,
    write,
)
from tests.torture.subjects import KINDS
from tests.torture.test_kills import CALLS
from tests.torture.test_power_cuts import MOST_CUTS, make_cases

SINGLE_FILES = [kind for kind in KINDS if kind in USUAL and kind != "daily"]
ADDS = 300 if LONG else 8
STEPS = 5 if LONG else 2


def bind(kind: str, places: Sequence[Path], folder: Path) -> list[str]:
    """Return the command under which each place's main file is a bind mount from elsewhere."""
    pairs = []
    for place in places:
        file = main_file(kind, place)
        real = place.with_suffix(".real")
        file.rename(real)
        file.touch(mode=0o600)
        pairs.append((str(real), str(file)))
    listed = folder / f"pairs-{len(places)}.json"
    listed.write_text(json.dumps(pairs))
    return ["unshare", "-rm", sys.executable, "-m", "tests.torture.mounts", str(listed)]


@pytest.mark.parametrize("kind", SINGLE_FILES)
def test_writers_and_a_reader_get_along_on_a_bound_file(kind: str, ground: Path) -> None:
    place = ground / "place"
    write(Writer(kind, 0, 0), place)
    under = bind(kind, [place], ground)
    figures = json.loads(program("crowd", kind, place, 4, 1, ADDS, under=under))[kind]
    assert (figures["refused"], figures["complaints"]) == ([], [])
    assert figures["acknowledged"] == 4 * ADDS


@pytest.mark.parametrize("kind", SINGLE_FILES)
def test_a_kill_at_each_system_call_on_a_bound_file_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    before, writer = start(kind), Writer(kind, 1, STEPS)
    bases = copies(before.template, arena, 1, "base")
    undisturbed = [ChildJob(writer, str(base)) for base in bases]
    (counted,) = count_calls(undisturbed, CALLS, arena, bind(kind, bases, arena))
    jobs = jobs_at(counted, writer, before, arena, "case", lambda nth: nth.changes)
    under = bind(kind, [Path(job.folder) for job in jobs], arena)
    hits = inject(jobs, "signal=KILL", CALLS, arena, under)
    assert {hit.status for hit in hits} == {KILLED}
    assert find_complaints([(before, hits)], arena, under) == ""


@pytest.mark.parametrize("kind", SINGLE_FILES)
def test_a_power_cut_on_a_bound_file_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    before, writer = start(kind), Writer(kind, 1, STEPS)
    (place,) = copies(before.template, arena, 1, "traced")
    disk = Disk(str(place), tree_of(place))
    (calls,) = record([ChildJob(writer, str(place))], arena, under=bind(kind, [place], arena))
    assert (
        report(
            check(
                make_cases(sample(list(cuts(calls, disk)), MOST_CUTS), writer, before, arena), arena
            )
        )
        == ""
    )


EDITED = """
import sys
from pathlib import Path
from turnleaf.store.files import atomic
file = Path(sys.argv[1])
atomic.change(file, lambda _: b"ours")
file.write_bytes(b"an editor's")
assert atomic.read(file) == b"an editor's"
atomic.change(file, lambda data: (data or b"") + b" and ours")
"""


def test_what_an_editor_saves_after_us_on_a_bound_file_stays(tmp_path: Path) -> None:
    real, file, listed = (tmp_path / name for name in ("real", "file", "pairs.json"))
    real.write_bytes(b"old")
    file.touch()
    listed.write_text(json.dumps([(str(real), str(file))]))
    mounted = ["unshare", "-rm", sys.executable, "-m", "tests.torture.mounts", str(listed)]
    subprocess.run([*mounted, sys.executable, "-c", EDITED, str(file)], cwd=ROOT, check=True)
    assert real.read_bytes() == b"an editor's and ours"
