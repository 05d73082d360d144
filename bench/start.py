"""`turnleaf --help`, against starting Python and doing nothing."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.scale import Scale
from bench.timing import Aim, TimingRow, Work, compare

AIM = Aim(cpu=6, wall=6)


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:  # noqa: ARG001 - as for every subject
    """Measure both programs of one environment."""
    program = str(Path(sys.executable).with_name("turnleaf"))
    ours = _run(program, "--help")
    yardstick = _run(sys.executable, "-c", "pass")
    costs = compare(lambda: [ours], lambda: [yardstick], scale.starts, cpu_of_children)
    yield TimingRow("turnleaf --help, against python -c pass", *costs, AIM)


def _run(*command: str) -> Work:
    return partial(subprocess.run, command, stdout=subprocess.DEVNULL, check=True)


def cpu_of_children() -> float:
    """Return the CPU time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
