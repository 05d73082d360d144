"""An end within seconds: a program that is told to stop does so, whatever its threads are doing.

All that was acknowledged is on disk at any moment, so nothing is lost by it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from subprocess import DEVNULL, Popen

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


def end_soon() -> None:
    """End the process in some seconds, as if all went well, unless it has ended by then."""
    timer = threading.Timer(LAST_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


def watch_end() -> Popen[bytes]:
    """Start a process that kills this one if it does not end soon after Ctrl-C or SIGTERM.

    A call in C that never comes back, such as a slow regular expression, keeps handlers, timers
    and threads from running. What still works is the interpreter's own handler, which writes the
    number of each signal to a descriptor; so another process reads there. At its end, however it
    comes, this process closes the descriptor, and the other one ends too.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    command = [sys.executable, "-I", "-S", "-c", _WATCH, str(os.getpid()), str(KILL_SECONDS)]
    try:
        return Popen(  # noqa: S603 - our own program
            command, stdin=reading, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    finally:
        os.close(reading)
