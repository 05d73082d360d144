"""The process that all forks of a run come from; it imports nothing before it is first asked.

    python -m tests.forker DESCRIPTOR OWNER

Whoever starts a run starts it, and it ends with the other end of OWNER (`tests/faces/forking.py`
asks it, and has what it does).
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

PLACE = "TURNLEAF_TEST_FORKER"
"""The variable that tells the workers of a run where to ask."""
ROOT = Path(__file__).parents[1]
_places = [os.environ[PLACE]] if PLACE in os.environ else []
_started: list[tuple[subprocess.Popen[bytes], int]] = []


def start() -> None:
    """Start it, before there are workers."""
    place = str(Path(tempfile.gettempdir()) / f"turnleaf-forker-{os.getpid()}")
    os.environ[PLACE], _places[:] = place, [place]
    its, ours = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.bind(place)
        line.listen(100)
        passed = (line.fileno(), its)
        command = [sys.executable, "-m", "tests.forker", *map(str, passed)]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=passed, start_new_session=True)
    os.close(its)
    _started.append((process, ours))


def find() -> str:
    """Return the socket where it is asked, whatever a test has made of the environment."""
    (place,) = _places
    return place


def end() -> None:
    """End it, and wait until it has."""
    while _started:
        process, ours = _started.pop()
        os.close(ours)
        process.wait()
        Path(find()).unlink(missing_ok=True)


def main() -> None:
    """Wait for the first who asks; most runs of few tests need no fork."""
    line, owner = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    asked, _, _ = select.select([line.fileno(), owner], [], [])
    if owner not in asked:
        import_module("tests.faces.forking").serve(line, owner)


if __name__ == "__main__":
    main()
