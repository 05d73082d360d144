"""What the tests use to start programs, break them, and have checked what they left."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from tests.effort import LONG
from tests.torture import checker
from tests.torture.checker import Case
from tests.torture.full_disk import Limit
from tests.torture.injection import ChildJob, threshold
from tests.torture.plan import Writer
from tests.torture.subjects import KINDS, LIMITS, MOVES, WHOLE
from tests.torture.worker import outcomes

ROOT = Path(__file__).parents[2]
KEPT = (*KINDS, *WHOLE, *MOVES)
# JSON files go through the same writer as MEMORY.md: the short form tries less on them.
USUAL = tuple(kind for kind in KEPT if LONG or not kind.endswith("-json"))
HANG_SECONDS = 7200 if LONG else 300
MEMORY = Path("/dev/shm")  # noqa: S108
VARYING = re.compile(r"/\S*turnleaf-\w+|\d+")
OURS = ("TURNLEAF_", "CONVERSATION_", "MEMORY_", "SUPERVISOR_")
ENVIRONMENT = {name: os.environ[name] for name in os.environ if not name.startswith(OURS)}
ENVIRONMENT |= LIMITS | {"PYTHONDONTWRITEBYTECODE": "1"}


def program(module: str, *arguments: object, under: Sequence[str] = ()) -> str:
    """Run one of the rig's programs to its end and return what it printed."""
    command = [*under, sys.executable, "-m", f"tests.torture.{module}", *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr[-4000:]}"
    return done.stdout


def write(writer: Writer, folder: Path) -> list[str]:
    """Run one undisturbed worker that writes; return its outcomes."""
    folder.mkdir(exist_ok=True)
    fields = (writer.kind, folder, writer.worker, writer.count, writer.seed)
    return outcomes(program("worker", *fields).splitlines())


def write_each(jobs: Sequence[ChildJob], folder: Path) -> list[list[str]]:
    """Run undisturbed workers that write one after the other; return the outcomes of each."""
    for job in jobs:
        Path(job.folder).mkdir(exist_ok=True)
    said = folder / "written"
    program("injection", listing(jobs, folder / "writers.json"), said)
    return [outcomes(lines) for lines in read_outcomes(said, len(jobs))]


def check(cases: Sequence[Case], folder: Path, under: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the complaints of a fresh process about each folder that has any."""
    listed = folder / "cases.json"
    checker.save(cases, listed)
    answers = json.loads(program("checker", listed, under=under))
    return {case.folder: found for case, found in zip(cases, answers, strict=True) if found}


def report(found: Mapping[str, list[str]]) -> str:
    """Each different complaint once, with how often and where first; empty is what is wanted."""
    places: dict[str, list[str]] = {}
    for place, said in found.items():
        for complaint in said:
            places.setdefault(VARYING.sub("…", complaint), []).append(
                f"{complaint}\n    at {place}"
            )
    return "\n".join(f"{len(where)} x {where[0]}" for where in places.values())


@dataclass(frozen=True, slots=True)
class HitChild:
    """What became of one child: its outcomes line by line, its end, and the line of the hit."""

    job: ChildJob
    said: list[str]
    pid: int
    status: int
    line: str


def inject(
    jobs: Sequence[ChildJob],
    what: str,
    calls: Sequence[str],
    folder: Path,
    under: Sequence[str] = (),
) -> list[HitChild]:
    """Run the jobs under strace, which does `what` ("signal=KILL", "error=EIO") at the calls."""
    log, answers = folder / "strace.log", folder / "said"
    listed = listing(jobs, folder / "jobs.json")
    answers.unlink(missing_ok=True)
    filtered = [] if what.startswith("signal") else ["--seccomp-bpf"]
    strace = ["strace", "-f", "-y", *filtered, "-o", str(log), "-e", f"trace={','.join(calls)}"]
    for call in calls:
        strace += ["-e", f"inject={call}:{what}:when={threshold(call)}"]
    ends = json.loads(program("injection", listed, answers, under=[*under, *strace]))
    lines = _hit_lines(log)
    return [
        HitChild(job, said, pid, status, lines.get(pid, ""))
        for job, said, (pid, status) in zip(
            jobs, read_outcomes(answers, len(jobs)), ends, strict=True
        )
    ]


def listing(jobs: Sequence[ChildJob] | Sequence[Limit], path: Path) -> Path:
    path.write_text(json.dumps([asdict(job) for job in jobs]))
    return path


def _hit_lines(log: Path) -> dict[int, str]:
    hits: dict[int, str] = {}
    begun: dict[str, str] = {}
    with log.open(errors="replace") as lines:
        for line in lines:
            pid, _, rest = line.rstrip("\n").partition(" ")
            if rest.endswith("<unfinished ...>"):
                begun[pid] = rest.strip()
            elif rest.endswith(("(INJECTED)", "= ?")):
                is_whole = "resumed>" not in rest
                hits[int(pid)] = rest.strip() if is_whole else begun.get(pid, rest)
    return hits


def read_outcomes(said: Path, count: int) -> list[list[str]]:
    """What each of several children said into one file, by their numbers."""
    lines: list[list[str]] = [[] for _ in range(count)]
    for line in said.read_text().splitlines():
        number, _, outcome = line.partition(" ")
        lines[int(number)].append(outcome)
    return lines


class Nth(NamedTuple):
    """A system call by its place among those of its name, and its line in strace's log."""

    call: str
    nth: int
    line: str

    @property
    def changes(self) -> bool:
        """Whether it can change anything: most files are opened to be read."""
        return self.call != "openat" or "O_CREAT" in self.line or "O_TRUNC" in self.line


def count_calls(
    jobs: Sequence[ChildJob], calls: Sequence[str], folder: Path, under: Sequence[str] = ()
) -> list[list[Nth]]:
    """Name each call that each job, undisturbed, makes on its own folder."""
    hits = inject(jobs, "error=EIO", calls, folder, under)
    log = (folder / "strace.log").read_text(errors="replace").splitlines()
    lines: dict[str, list[str]] = {str(hit.pid): [] for hit in hits}
    for line in log:
        pid, _, rest = line.partition(" ")
        lines.get(pid, []).append(rest.strip())
    return [list(_count_calls(lines[str(hit.pid)], hit.job.folder, calls)) for hit in hits]


def _count_calls(lines: Sequence[str], folder: str, calls: Sequence[str]) -> Iterator[Nth]:
    counts = dict.fromkeys(calls, 0)
    for line in lines:
        name = line.partition("(")[0]
        if name in counts:
            counts[name] += 1
            if f"{folder}/" in line or f"{folder}>" in line or f'{folder}"' in line:
                yield Nth(name, counts[name], line)


def copies(template: Path | None, folder: Path, count: int, name: str = "case") -> list[Path]:
    """Return that many folders, each a copy of the template."""
    places = [folder / f"{name}-{number}" for number in range(count)]
    for place in places:
        if template is None:
            place.mkdir()
        else:
            shutil.copytree(template, place)
    return places
