"""Starting and stopping our programs: required packages, memory use, and a quick shutdown.

All that was acknowledged is on disk at any moment, so stopping within seconds loses nothing.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError
from turnleaf.installation import advise_install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""The M_… parameters of mallopt(3) in the GNU C library."""
_BYTES = 128 * 1024
LAST_SECONDS = 3.5
"""How long after the first signal the process exits by itself."""
KILL_SECONDS = 4.8
"""How long after it the process is killed, if it has been computing."""
HANGING_CPU_SECONDS = 2.5
"""How much it has computed by then if it hangs; an ordinary end takes less than a second."""
LAST_KILL_SECONDS = 60.0
"""When it is killed in any case."""

# Where other programs take nearly all of the machine, a process that ends in good order may need
# longer than one that hangs has; how much each has computed tells them apart.
_WATCH = """
import os, select, signal, sys, time
process = int(sys.argv[1])
kill_seconds, hanging_seconds, last_seconds = map(float, sys.argv[2:])
stops = {signal.SIGINT, signal.SIGTERM}
for one in (signal.SIGHUP, *stops):
    signal.signal(one, signal.SIG_IGN)

def measure_cpu():
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def is_hanging(before, now):
    # macOS has no /proc, so there time alone decides.
    return before is None or now is not None and now - before >= hanging_seconds

while (signals := os.read(0, 64)) and not stops & {*signals}:
    pass
if signals:
    begun, cpu = time.monotonic(), measure_cpu()
    while (passed := time.monotonic() - begun) < last_seconds:
        if passed >= kill_seconds and is_hanging(cpu, measure_cpu()):
            break
        wait = max(kill_seconds - passed, 0.5)
        if select.select([0], [], [], wait)[0] and not os.read(0, 64):
            sys.exit()
    os.kill(process, signal.SIGKILL)
"""
_is_ending = threading.Event()


MOST_FILES = 8192


def allow_more_files() -> None:
    """Allow this process more open files, as far as it may: each space that is used has some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(MOST_FILES, most)
    if wanted > resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class MissingPackage(TurnleafError):
    """A package of an extra is not installed."""


@contextmanager
def require_extra(extra: str) -> Iterator[None]:
    """Import the packages of an extra; raise MissingPackage without them."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "turnleaf":
            raise
        message = f"the package {package} is missing; {advise_install(extra)}"
        raise MissingPackage(message) from error


def give_back_memory() -> None:
    """Return freed memory to the system; call this before threads are started.

    By default each thread keeps a heap of its own, in which files that were read whole leave
    holes. C libraries other than GNU's are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _BYTES)
        mallopt(_TRIM_THRESHOLD, _BYTES)


def end_soon() -> None:
    """Exit successfully in a few seconds, unless the process has ended by then."""
    _is_ending.set()
    # Not `sys.exit`, which would wait for threads that hang.
    timer = threading.Timer(LAST_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


@contextmanager
def stop_on(signals: Iterable[signal.Signals], stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the first of these signals; the second one acts as usual."""
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
    """Start a process that kills this one if it hangs after Ctrl-C or SIGTERM.

    A call in C that never returns, such as a slow regular expression, keeps handlers, timers and
    threads from running. The interpreter's own handler still writes the number of each signal to
    a descriptor, which the other process reads. It exits when the descriptor is closed, as it is
    when this process ends, however that happens.
    """
    reading, writing = os.pipe()
    # The interpreter's signal handler must not wait for the reader.
    os.set_blocking(writing, False)
    watcher = _start_watcher(reading)
    os.close(reading)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        # While it is ending, the interpreter may still hang.
        if not _is_ending.is_set():
            signal.set_wakeup_fd(-1)
            os.close(writing)
            os.waitpid(watcher, 0)


def _start_watcher(reading: int) -> int:
    """Start the watching process in a group of its own, so that no Ctrl-C reaches it."""
    limits = map(str, (KILL_SECONDS, HANGING_CPU_SECONDS, LAST_KILL_SECONDS))
    command = [sys.executable, "-I", "-S", "-c", _WATCH, str(os.getpid()), *limits]
    streams = [
        (os.POSIX_SPAWN_DUP2, reading, 0),
        *((os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)),
    ]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=streams, setpgroup=0)
