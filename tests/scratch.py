"""Where a run keeps its files: in memory where it has room, since few tests are about a disk.

Those that are make file systems of their own. A disk that syncs each of some hundred thousand
writes takes longer than all that is tested with them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
PREFIX = "turnleaf-"
LEAST_BYTES = 4 * 1024**3
"""How much room a run may need; containers often have 64 MB."""
_made: list[Path] = []


def make_folder(config: pytest.Config) -> None:
    """Put all temporary files of this run, and of what it starts, into memory."""
    if not has_room():
        return
    _remove_left_over()
    folder = MEMORY / f"{PREFIX}{os.getpid()}"
    folder.mkdir()
    folder.chmod(0o1777)  # Tests run programs as other users, too.
    _made.append(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    if config.option.basetemp is None:
        config.option.basetemp = folder / "t"  # The path of a socket may have 107 bytes.


def has_room() -> bool:
    """Whether there is memory for the files of a run."""
    return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= LEAST_BYTES


def remove_folder() -> None:
    """Remove the files of this run."""
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_over() -> None:
    """Remove the files of runs that were killed, or that were kept because a test failed."""
    for folder in MEMORY.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX)
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)
