"""`turnleaf` in a process of its own, forked from one that has already imported everything.

    python -m tests.faces.forking DESCRIPTOR

is that one: it has no threads, and runs no command itself. The rules of the languages are compiled
in it, too: that takes longer than all imports. What is proved about the start of an
interpreter needs one of its own; what a command does on a terminal or in a pipe does not.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from tempfile import TemporaryFile
from typing import TextIO

from tzlocal import reload_localzone

from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.recogniser import read_fact, read_message
from turnleaf.core.recall.questions import read_question
from turnleaf.core.search.message_filters import is_small_talk
from turnleaf.faces.cli import COMMANDS, main
from turnleaf.memory_commands import find_requests

ROOT = __file__.removesuffix("tests/faces/forking.py")
MOST_BYTES = 1 << 20
ERRORS = 2
HANG_SECONDS = 300.0
CAPABILITIES_VERSION_3 = 0x20080522
LEFT_OUT = ("mcp", "slack")
SENTENCES = (
    "記住我昨天搬到台北，我太太叫小美",
    "Remember that I moved to Taipei yesterday and that my wife is called Mei",
    "客廳的燈叫什麼？",
    "What is my dog called?",
)
USED_LATER = (
    "turnleaf.assistant",
    "turnleaf.llm.api",
    "prompt_toolkit.application",
    "rich.markdown",
)


class Forked:
    """A running `turnleaf`, with the few methods of `subprocess.Popen` that tests use."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._heard = b""
        self._pid = int(self._read_line(None))
        self._code: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self._code is None:
            os.kill(self._pid, number)

    def kill(self) -> None:
        """Kill it, if it still runs."""
        if self._code is None and not select.select([self._status], [], [], 0)[0]:
            self.send_signal(signal.SIGKILL)

    def wait(self, seconds: float) -> int:
        """Return its exit code; a negative one is the signal that ended it."""
        if self._code is None:
            self._code = int(self._read_line(seconds))
            os.close(self._status)
        return self._code

    def _read_line(self, seconds: float | None) -> bytes:
        while b"\n" not in self._heard:
            if not select.select([self._status], [], [], seconds)[0]:
                raise TimeoutError
            heard = os.read(self._status, 100)
            assert heard, "whoever forks is gone"
            self._heard += heard
        line, _, self._heard = self._heard.partition(b"\n")
        return line


def fork(
    arguments: Sequence[str],
    streams: Sequence[int],
    environ: Mapping[str, str],
    *,
    is_powerless: bool = False,
) -> Forked:
    """Run `turnleaf` with these descriptors for its input, its output and its errors.

    One that is powerless may do no more than the modes of files allow, though it is root.
    """
    wish = {"arguments": [*arguments], "isPowerless": is_powerless}
    return _fork(wish, streams, environ)


def fork_python(code: str, streams: Sequence[int], environ: Mapping[str, str]) -> Forked:
    """Run Python code, for which warnings are errors, with these descriptors for its streams."""
    return _fork({"code": code}, streams, environ)


def _fork(what: dict[str, object], streams: Sequence[int], environ: Mapping[str, str]) -> Forked:
    status, its = os.pipe()
    wish = what | {"environ": dict(environ), "folder": os.getcwd()}  # noqa: PTH109
    socket.send_fds(_forker(), [json.dumps(wish).encode()], [*streams, its])
    os.close(its)
    return Forked(status)


def run(
    arguments: Sequence[str],
    given: bytes,
    environ: Mapping[str, str],
    *,
    is_powerless: bool = False,
) -> tuple[int, str, str]:
    """Run `turnleaf` to its end; return its exit code, its output and its errors."""
    with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as errors:
        source.write(given)
        source.seek(0)
        streams = [one.fileno() for one in (source, out, errors)]
        running = fork(arguments, streams, environ, is_powerless=is_powerless)
        try:
            code = running.wait(HANG_SECONDS)
        finally:
            running.kill()
        out.seek(0)
        errors.seek(0)
        return code, out.read().decode(), errors.read().decode()


@cache
def _forker() -> socket.socket:
    """Start the one that forks; it ends with this process, whose socket it reads."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faces.forking", str(its.fileno())],
        cwd=ROOT,
        pass_fds=[its.fileno()],
        start_new_session=True,
    )
    its.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


# The one that forks


def _serve(line: socket.socket) -> None:
    while True:
        wish, descriptors, _, _ = socket.recv_fds(line, MOST_BYTES, 4)
        if not wish:
            return
        if os.fork() == 0:
            line.close()
            _watch(json.loads(wish), descriptors)
        for one in descriptors:
            os.close(one)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watch(wish: dict[str, object], descriptors: Sequence[int]) -> None:
    """Run the command in one more process, and tell its id and how it ended."""
    *streams, status = descriptors
    child = os.fork()
    if child == 0:
        os.close(status)
        _run(wish, streams)
    for one in streams:
        os.close(one)
    os.write(status, f"{child}\n".encode())
    _, ended = os.waitpid(child, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _run(wish: dict[str, object], streams: Sequence[int]) -> None:
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(wish["environ"])  # type: ignore[call-overload]
    os.chdir(str(wish["folder"]))
    time.tzset()
    reload_localzone()
    sys.stdin, sys.stdout, sys.stderr = map(_open, range(3), "rww")
    if "code" in wish:
        warnings.simplefilter("error")
        exec(str(wish["code"]), {"__name__": "__main__"})  # noqa: S102
        sys.exit(0)
    if wish["isPowerless"]:
        _lose_power()
    sys.exit(main(wish["arguments"]))  # type: ignore[arg-type]


def _lose_power() -> None:
    """Drop all capabilities, so that permissions hold for root too."""
    header = struct.pack("Ii", CAPABILITIES_VERSION_3, 0)
    assert ctypes.CDLL(None).capset(header, bytes(24)) == 0


def _open(descriptor: int, mode: str) -> TextIO:
    """Open a stream as the interpreter does when it starts."""
    buffering = 1 if descriptor == ERRORS else -1
    return os.fdopen(descriptor, mode, buffering, encoding="utf-8")  # type: ignore[return-value]


def _import_everything() -> None:
    for section in COMMANDS.values():
        for name, (module, _, _) in section.items():
            if name not in LEFT_OUT:
                import_module(f"turnleaf.faces.cli.{module}")
    for module in USED_LATER:
        import_module(module)


def _compile_rules() -> None:
    """Read some sentences, so that no command has to compile the patterns for it."""
    for said in SENTENCES:
        find_requests(said)
        read_message(said)
        read_fact(said)
        read_question(said)
        is_small_talk(said)
        make_dates_absolute(said, datetime.now(UTC))


if __name__ == "__main__":
    _import_everything()
    _compile_rules()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
