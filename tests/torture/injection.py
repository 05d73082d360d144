"""A program, run under strace, whose forked children are hit at one chosen system call each.

    strace -f -e inject=CALLS:…:when=THRESHOLD python -m tests.torture.injection JOBS.json SAID

strace counts the calls of each process by itself. A child that is to be hit at its n-th call
first makes THRESHOLD - n calls that do nothing, so that one run of strace serves every n, and
no start-up of the interpreter is ever hit. Prints the children's process ids and exit statuses.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.torture.children import fork
from tests.torture.plan import Writer
from tests.torture.worker import teller, work

NOWHERE = 1000
LIBC = ctypes.CDLL(None)
RENAME_NOREPLACE = 1
IDLE: dict[str, Callable[[], object]] = {
    "write": lambda: os.write(NOWHERE, b""),
    "pwrite64": lambda: os.pwrite(NOWHERE, b"", 0),
    "read": lambda: os.read(NOWHERE, 0),
    "pread64": lambda: os.pread(NOWHERE, 0, 0),
    "fsync": lambda: os.fsync(NOWHERE),
    "fdatasync": lambda: os.fdatasync(NOWHERE),
    "rename": lambda: os.rename("", ""),  # noqa: PTH104
    "renameat2": lambda: LIBC.renameat2(-1, b"", -1, b"", RENAME_NOREPLACE),
    "link": lambda: os.link("", ""),
    "unlink": lambda: os.unlink(""),  # noqa: PTH108
    "ftruncate": lambda: os.ftruncate(NOWHERE, 0),
    "openat": lambda: os.open("", os.O_RDONLY),
    "mkdir": lambda: os.mkdir(""),  # noqa: PTH102
    "fchmod": lambda: os.fchmod(NOWHERE, 0),
    "flock": lambda: fcntl.flock(NOWHERE, fcntl.LOCK_SH),
}
IMPORTS_USE = ("openat", "read")
THRESHOLD, IMPORT_THRESHOLD = 200, 1000


@dataclass(frozen=True, slots=True)
class ChildJob:
    """One child: what it writes where, and the call at which it is hit (0: none)."""

    writer: Writer
    folder: str
    call: str = "write"
    nth: int = 0


def threshold(call: str) -> int:
    return IMPORT_THRESHOLD if call in IMPORTS_USE else THRESHOLD


def aim(call: str, nth: int) -> None:
    assert nth < threshold(call)
    for _ in range(threshold(call) - nth if nth else 0):
        with suppress(OSError):
            IDLE[call]()


def run(job: ChildJob, said: int, number: int) -> tuple[int, int]:
    def task() -> None:
        say = teller(said)
        aim(job.call, job.nth)
        work(job.writer, Path(job.folder), lambda line: say(f"{number} {line}"))

    return os.waitpid(fork(task), 0)


def main() -> None:
    jobs = json.loads(Path(sys.argv[1]).read_text())
    said = os.open(sys.argv[2], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    ends = []
    for number, job in enumerate(jobs):
        ends.append(run(ChildJob(**job | {"writer": Writer(**job["writer"])}), said, number))
    os.writev(1, [json.dumps(ends).encode()])


if __name__ == "__main__":
    main()
