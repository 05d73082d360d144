"""An end within seconds: a program that is told to stop does so, whatever its threads are doing.

All that was acknowledged is on disk at any moment, so nothing is lost by it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST_SECONDS = 3.5
"""So long after the first signal the process ends by itself."""
KILL_SECONDS = 4.8
"""So long after it, it is killed."""

_WATCH = """
import os, select, signal, sys, time
stops = {signal.SIGINT, signal.SIGTERM}
for one in (signal.SIGHUP, *stops):
    signal.signal(one, signal.SIG_IGN)
while (told := os.read(0, 64)) and not stops & {*told}:
    pass
if told:
    end = time.monotonic() + float(sys.argv[2])
    while (left := end - time.monotonic()) > 0:
        if select.select([0], [], [], left)[0] and not os.read(0, 64):
            sys.exit()
    os.kill(int(sys.argv[1]), signal.SIGKILL)
"""


_is_ending = threading.Event()


def end_soon() -> None:
    """End the process in some seconds, as if all went well, unless it has ended by then."""
    _is_ending.set()
    timer = threading.Timer(LAST_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


@contextmanager
def watched_end() -> Iterator[None]:
    """Have another process kill this one if it does not end soon after Ctrl-C or SIGTERM.

    A call in C that never comes back, such as a slow regular expression, keeps handlers, timers
    and threads from running. What still works is the interpreter's own handler, which writes the
    number of each signal to a descriptor; so another process reads there. It ends when that is
    closed, as it is at the end of this process, however that comes.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = _start_watcher(reading)
    os.close(reading)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        # Once it is told to end, the interpreter still has to get there.
        if not _is_ending.is_set():
            signal.set_wakeup_fd(-1)
            os.close(writing)
            os.waitpid(watcher, 0)


def _start_watcher(reading: int) -> int:
    """Start the other process, in a group of its own, so that no Ctrl-C reaches it."""
    command = [sys.executable, "-I", "-S", "-c", _WATCH, str(os.getpid()), str(KILL_SECONDS)]
    streams = [
        (os.POSIX_SPAWN_DUP2, reading, 0),
        *((os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)),
    ]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=streams, setpgroup=0)
