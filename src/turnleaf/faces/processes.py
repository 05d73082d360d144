"""How our programs start and end: with the packages they need, memory they give back, and soon.

All that was acknowledged is on disk at any moment, so an end within seconds loses nothing.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""What mallopt(3) of the GNU C library calls M_…"""
_BYTES = 128 * 1024
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


class MissingPackage(TurnleafError):
    """A package is not installed that comes with an extra."""


@contextmanager
def require_extra(extra: str) -> Iterator[None]:
    """Import what comes with an extra; raise MissingPackage where it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "turnleaf":
            raise
        message = f"the package {package} is missing; pip install 'turnleaf[{extra}]' brings it"
        raise MissingPackage(message) from error


def give_back_memory() -> None:
    """Have what is not needed any more go back to the system, before threads are started.

    As it comes, each thread keeps a heap of its own, and whole files that were read once leave
    holes in it. Other libraries than GNU's are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _BYTES)
        mallopt(_TRIM_THRESHOLD, _BYTES)


def end_soon() -> None:
    """End the process in some seconds, as if all went well, unless it has ended by then."""
    _is_ending.set()
    timer = threading.Timer(LAST_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


@contextmanager
def stop_on(signals: Iterable[signal.Signals], stop: Callable[[], None]) -> Iterator[None]:
    """Take the first of these signals for a wish to stop; the second one does not wait."""
    before = {one: signal.getsignal(one) for one in signals}

    def restore() -> None:
        for one, handler in before.items():
            signal.signal(one, handler)

    def stop_once(*_: object) -> None:
        restore()
        stop()

    for one in before:
        signal.signal(one, stop_once)
    try:
        yield
    finally:
        restore()


@contextmanager
def watch_end() -> Iterator[None]:
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
