"""Notes taken into an index that is empty, against the speed that we want at least."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import corpus
from bench.scale import Scale
from bench.timing import Aim, Cost, TimingRow
from turnleaf import Index

PASSAGES_PER_SECOND = 20_000
AIM = Aim(cpu=1)


@dataclass(frozen=True, slots=True)
class BuildCost:
    """What a build took: seconds of both kinds, and the most memory before it and in the end."""

    wall: float
    cpu: float
    before_megabytes: float
    peak_megabytes: float


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure each language; what memory they took is said apart, because it is no time."""
    aim = scale.indexed / PASSAGES_PER_SECOND
    for language in corpus.LANGUAGES:
        with TemporaryDirectory(dir=folder) as place:
            builds = _builds(Path(place), scale, language)
        cost = Cost(median(one.wall for one in builds), median(one.cpu for one in builds))
        title = f"{scale.indexed:,} short notes indexed, {language}"
        before = median(one.before_megabytes for one in builds)
        peak = median(one.peak_megabytes for one in builds)
        print(f"{title}: {peak:.0f} MB at most, {before:.0f} before", file=sys.stderr)
        yield TimingRow(
            f"{title}, against {PASSAGES_PER_SECOND:,} a second", cost, Cost(aim, aim), AIM
        )


def _builds(folder: Path, scale: Scale, language: str) -> list[BuildCost]:
    corpus.write_days(folder / "daily", scale.indexed, (language,))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as fresh:
        paths = [folder / f"{number}.db" for number in range(scale.builds)]
        return [fresh.submit(_build, path, scale.indexed).result() for path in paths]


def _build(path: Path, expected: int) -> BuildCost:
    index = Index(path, [path.with_name("daily")])
    before = _peak_megabytes()
    wall, cpu = time.perf_counter(), time.process_time()
    added = index.sync()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if added != expected:
        message = f"{added} passages were taken in, not {expected}"
        raise RuntimeError(message)
    return BuildCost(wall, cpu, before, _peak_megabytes())


def _peak_megabytes() -> float:
    """Return the peak memory of this process."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    # Linux counts what the parent had before it started this program as its own in getrusage.
    words = status.read_text("ascii").split()
    return int(words[words.index("VmHWM:") + 1]) / 1024
