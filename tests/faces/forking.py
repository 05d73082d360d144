"""`turnleaf` in a process of its own, forked from one that has already imported everything.

That one (`tests/forker.py`) is shared by all workers of a run. It has no threads, and runs no
command itself. The rules of the languages are compiled in it, too: that takes longer than all
imports. What is proved about the start of an interpreter needs one of its own; what a command does
on a terminal or in a pipe does not.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

from tzlocal import reload_localzone

from tests import forker
from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.recogniser import read_fact, read_message
from turnleaf.core.recall.questions import read_question
from turnleaf.core.search.message_filters import is_small_talk
from turnleaf.faces.cli import COMMANDS, main
from turnleaf.memory_commands import find_requests

MOST_BYTES = 1 << 20
ERRORS = 2
HANG_SECONDS = 300.0
CAPABILITIES_VERSION_3 = 0x20080522
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
    "turnleaf.faces.mcp.server",
    "turnleaf.faces.slack.socket_mode",
)
PROGRAM = """#!{python} -IS
# Does what this interpreter would do if it were called with `-m turnleaf` and these arguments.
import json, os, signal, socket, sys

arguments = sys.argv[sys.argv.index("turnleaf") + 1 :]
wish = {{"arguments": arguments, "environ": dict(os.environ), "folder": os.getcwd()}}
status, its = os.pipe()
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect({place!r})
    socket.send_fds(line, [json.dumps(wish | {{"isPowerless": False}}).encode()], [0, 1, 2, its])
os.close(its)
for one in range(3):
    os.close(one)
with open(status) as told:
    pid = int(told.readline())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    code = int(told.readline())
os._exit(code if code >= 0 else 128 - code)
"""


class Fork:
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

    def interrupt(self) -> None:
        """Press Ctrl-C, once it waits for something to be typed.

        Python overlooks a signal that comes just before it begins to wait, until something comes.
        """
        state = Path(f"/proc/{self._pid}/stat")
        while state.read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()
        self.send_signal(signal.SIGINT)

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
) -> Fork:
    """Run `turnleaf` with these descriptors for its input, its output and its errors.

    One that is powerless may do no more than the modes of files allow, though it is root.
    """
    wish = {"arguments": [*arguments], "isPowerless": is_powerless}
    return _fork(wish, streams, environ)


def fork_python(code: str, streams: Sequence[int], environ: Mapping[str, str]) -> Fork:
    """Run Python code, for which warnings are errors, with these descriptors for its streams."""
    return _fork({"code": code}, streams, environ)


def _fork(what: dict[str, object], streams: Sequence[int], environ: Mapping[str, str]) -> Fork:
    status, its = os.pipe()
    wish = what | {"environ": dict(environ), "folder": os.getcwd()}  # noqa: PTH109
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(forker.find())
        socket.send_fds(line, [json.dumps(wish).encode()], [*streams, its])
    os.close(its)
    return Fork(status)


def make_program(folder: Path) -> str:
    """Make what stands for the interpreter in a command that other programs start.

    It runs `turnleaf` in a process that is forked, passes the signals on that end it, and has its
    exit code; when it is killed, so is the other.
    """
    path = folder / "forked-python"
    path.write_text(PROGRAM.format(python=sys.executable, place=forker.find()), "utf-8")
    path.chmod(0o755)
    return str(path)


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


# The one that forks


def serve(line: socket.socket, owner: int) -> None:
    """Fork for whoever asks on this socket, until the owner of the other end goes."""
    _import_everything()
    _compile_rules()
    gc.freeze()
    while True:
        asked, _, _ = select.select([line.fileno(), owner], [], [])
        if owner in asked:
            return
        _answer(line, owner)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(line: socket.socket, owner: int) -> None:
    with line.accept()[0] as asking:
        wish, descriptors, _, _ = socket.recv_fds(asking, MOST_BYTES, 4)
    if os.fork() == 0:
        line.close()
        os.close(owner)
        _watch(json.loads(wish), descriptors)
    for one in descriptors:
        os.close(one)


def _watch(wish: dict[str, object], descriptors: Sequence[int]) -> None:
    """Run the command in one more process, and tell its id and how it ended.

    It is killed when nobody is there any more to be told.
    """
    *streams, status = descriptors
    child = os.fork()
    if child == 0:
        os.close(status)
        _run(wish, streams)
    for one in streams:
        os.close(one)
    os.write(status, f"{child}\n".encode())
    ended, happened = os.pidfd_open(child), select.poll()
    happened.register(ended, select.POLLIN)
    happened.register(status, 0)
    if ended not in dict(happened.poll()):
        os.kill(child, signal.SIGKILL)
    _, how = os.waitpid(child, 0)
    with suppress(BrokenPipeError):
        os.write(status, f"{os.waitstatus_to_exitcode(how)}\n".encode())
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
        for module, _, _ in section.values():
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
