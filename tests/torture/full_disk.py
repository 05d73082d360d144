"""A program whose forked children each run out of room at another byte, until one call fails.

    python -m tests.torture.full_disk JOBS.json SAID

A limit of N bytes for a file (RLIMIT_FSIZE) ends a write in its middle, as a full disk does.
A limit of N pages is a file system that has N pages left (run it under `unshare -rm`). The
limit is lifted after the first call that fails: the next one must work.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.torture.children import fork
from tests.torture.plan import Writer
from tests.torture.worker import Say, teller, work

PAGE = 4096
DISK_SIZE = "2m"


@dataclass(frozen=True, slots=True)
class Limit:
    """One child: what it writes where, and how much room it has."""

    writer: Writer
    folder: str
    unit: str
    room: int


def lift_once_refused(say: Say, lift: Callable[[], None]) -> Say:
    """Lift the limit as soon as something is refused."""

    def listen(line: str) -> None:
        if "refused" in line or "raw" in line:
            lift()
        say(line)

    return listen


def work_with_few_bytes(limit: Limit, say: Say) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def lift() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    said: list[str] = []
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit.room, hard))
    work(limit.writer, Path(limit.folder), lift_once_refused(said.append, lift))
    lift()
    for line in said:
        say(line)


def work_with_few_pages(limit: Limit, say: Say) -> None:
    """Work on a file system of our own, and carry what is there afterwards back."""
    disk = Path(f"{limit.folder}-disk")
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "turnleaf", str(disk)]
    subprocess.run(mount, check=True)
    place, filler = disk / "place", disk / "filler"
    shutil.copytree(limit.folder, place)
    fill(filler, limit.room)
    work(limit.writer, place, lift_once_refused(say, lambda: filler.unlink(missing_ok=True)))
    shutil.rmtree(limit.folder)
    shutil.copytree(place, limit.folder)


def fill(filler: Path, pages_left: int) -> None:
    with filler.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(bytes(PAGE)):
                pass
        file.truncate(max(0, file.tell() - pages_left * PAGE))


UNITS = {"bytes": work_with_few_bytes, "pages": work_with_few_pages}


def main() -> None:
    jobs = json.loads(Path(sys.argv[1]).read_text())
    said = os.open(sys.argv[2], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    ends = []
    for number, job in enumerate(jobs):
        limit = Limit(**job | {"writer": Writer(**job["writer"])})
        ends.append(os.waitpid(fork(lambda: run(limit, said, number)), 0))  # noqa: B023
    print(json.dumps(ends))


def run(limit: Limit, said: int, number: int) -> None:
    say = teller(said)
    UNITS[limit.unit](limit, lambda line: say(f"{number} {line}"))


if __name__ == "__main__":
    main()
