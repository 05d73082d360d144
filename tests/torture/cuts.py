"""From traced workers to the folders that a power cut at any instant may leave."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.torture.disk import TRACED, Disk, Tree
from tests.torture.injection import ChildJob, threshold
from tests.torture.rig import listing, program
from tests.torture.trace import Call, parse
from tests.torture.worker import outcomes

STRACE = ("strace", "-f", "--seccomp-bpf", "-xx", "-v", "-s", "10000000", "-e", f"trace={TRACED}")


def record(
    jobs: Sequence[ChildJob], folder: Path, error: str = "", under: Sequence[str] = ()
) -> list[list[Call]]:
    """Run workers that write one after the other and return the system calls of each.

    Their acknowledgements are among the calls. With an error, each job's own call fails.
    """
    log = folder / "calls.log"
    strace = [*under, *STRACE, "-o", str(log)]
    for name in sorted({job.call for job in jobs}) if error else ():
        strace += ["-e", f"inject={name}:error={error}:when={threshold(name)}"]
    listed = listing(jobs, folder / "recorded.json")
    ends = json.loads(program("injection", listed, folder / "recorded", under=strace))
    calls: dict[int, list[Call]] = {pid: [] for pid, _ in ends}
    marks = tuple(f"{pid} " for pid in calls)
    with log.open() as lines:
        # Most lines are of the parent, which reads all that it imports.
        for call in parse(line for line in lines if line.startswith(marks)):
            calls[call.pid].append(call)
    return list(calls.values())


def tree_of(folder: Path) -> Tree:
    """What a folder holds, as the simulated disk has it."""
    tree: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        # The queue at a lock is an empty file, made only if two threads meet there.
        if not name.endswith(("-shm", ".line")):
            is_folder = path.is_dir()
            tree[f"{name}/" if is_folder else name] = b"" if is_folder else path.read_bytes()
    return tree


def lay_out(tree: Tree, folder: Path) -> Path:
    """Put a tree into a new folder."""
    folder.mkdir()
    for name, data in sorted(tree.items()):
        if name.endswith("/"):
            (folder / name).mkdir(exist_ok=True)
        else:
            (folder / name).write_bytes(data)
    return folder


@dataclass(frozen=True, slots=True)
class Cut:
    """What was acknowledged before the power failed, and what may be left then."""

    acknowledged: list[str]
    tree: Tree


def replay(calls: Sequence[Call], disk: Disk) -> Iterator[list[str]]:
    """Replay a worker's calls; after each, yield what it had acknowledged."""
    said: list[str] = []
    disk.open.clear()
    for call in calls:
        disk.replay(call)
        if call.name == "writev" and call.result > 0 and call.number(0) not in disk.open:
            said += [line.partition(" ")[2] for line in call.data(1).decode().splitlines()]
        yield outcomes(said)


def cuts(calls: Sequence[Call], disk: Disk, *, only_acknowledged: bool = False) -> Iterator[Cut]:
    """Yield every state that a cut after each call may leave, each once.

    `only_acknowledged` looks only at the moments at which something has just been acknowledged.
    """
    seen: set[int] = set()
    before = 0
    for acknowledged in replay(calls, disk):
        is_news, before = len(acknowledged) > before, len(acknowledged)
        for tree in disk.after_cut() if is_news or not only_acknowledged else ():
            mark = hash((len(acknowledged), *sorted(tree.items())))
            if mark not in seen:
                seen.add(mark)
                yield Cut(acknowledged, tree)
