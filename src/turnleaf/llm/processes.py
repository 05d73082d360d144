"""Running a program with a time limit; whatever it started ends with it.

What goes in and what it complains about are files without a name, so that neither side ever waits
for the other, and nothing of it is left when we are killed.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Running", "nameless_file", "running"]

_GRACE_SECONDS = 3.0
_LOOK_SECONDS = 0.02
_PIECE_BYTES = 1 << 16
_MAX_PIECES = 20_000
_COMPLAINT_BYTES = 2_000
_COMPLAINT_LINES = 5


class Running:
    """A program at work, until its deadline."""

    def __init__(self, process: Popen[bytes], stderr: IO[bytes], seconds: float) -> None:
        self._process = process
        self._stderr = stderr
        self._deadline = time.monotonic() + seconds

    def lines(self, silence_seconds: float) -> Iterator[bytes | None]:
        """Return what it prints, line by line; at the deadline there is a TimeoutError.

        None is a silence of that long. A line that is longer than any that makes sense is cut
        off, and is the last.
        """
        held: list[bytes] = []
        for piece in self._pieces(silence_seconds):
            if piece is None:
                yield None
                continue
            first, *others = piece.split(b"\n")
            held.append(first)
            for other in others:
                yield b"".join(held)
                held = [other]
            if len(held) > _MAX_PIECES:
                break
        yield b"".join(held)

    def exit_code(self) -> int | None:
        """Return the code with which it ends, or nothing when it should have ended and lingers."""
        try:
            return self._process.wait(_GRACE_SECONDS)
        except TimeoutExpired:
            return None

    def complaint(self) -> str:
        """Return the last lines of its standard error, as one."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _COMPLAINT_BYTES))
        lines = self._stderr.read().decode("utf-8", "replace").splitlines()
        said = [" ".join(line.split()) for line in lines]
        return " / ".join(list(filter(None, said))[-_COMPLAINT_LINES:])

    def _pieces(self, silence_seconds: float) -> Iterator[bytes | None]:
        assert self._process.stdout is not None  # noqa: S101 - `running` asks for a pipe
        output = self._process.stdout.fileno()
        with DefaultSelector() as selector:
            selector.register(output, EVENT_READ)
            # Asked first, as a program that never stops printing is always ready to be read.
            while (left := self._deadline - time.monotonic()) > 0:
                if not selector.select(min(left, silence_seconds)):
                    yield None
                    continue
                piece = os.read(output, _PIECE_BYTES)
                if not piece:
                    return
                yield piece
        raise TimeoutError


@contextmanager
def running(
    command: Sequence[str],
    stdin: IO[bytes],
    *,
    environ: Mapping[str, str],
    seconds: float,
    shared: Sequence[IO[bytes]] = (),
) -> Iterator[Running]:
    """Run a program in an empty folder and a process group of its own, and end the whole group.

    It reads `stdin`, and may open the `shared` files as /dev/fd/NUMBER.
    """
    with TemporaryDirectory(prefix="turnleaf-") as folder, TemporaryFile() as stderr:
        process = Popen(  # noqa: S603 - no shell, and the user's own program
            command,
            stdin=stdin,
            stdout=PIPE,
            stderr=stderr,
            cwd=folder,
            env=environ,
            pass_fds=[file.fileno() for file in shared],
            start_new_session=True,
        )
        with process, ExitStack() as after:
            try:
                after.enter_context(_guard_group(process.pid))
                yield Running(process, stderr, seconds)
            finally:
                _end(process)


@contextmanager
def nameless_file(text: str) -> Iterator[IO[bytes]]:
    """Keep a text in a file that only we, and whoever we give it to, can open."""
    with TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        yield file


@contextmanager
def _guard_group(group: int) -> Iterator[None]:
    """Kill a process group as soon as this process is gone, however it ended.

    The shell waits on a pipe that nobody writes to and only we hold open.
    """
    command = ["/bin/sh", "-c", 'read -r _; kill -9 -"$0"', str(group)]
    with Popen(  # noqa: S603 - no word of anybody else's is in it
        command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
    ) as guard:
        try:
            yield
        finally:
            guard.kill()


def _end(process: Popen[bytes]) -> None:
    try:
        _signal(process, signal.SIGTERM)
        _await_end(process)
    finally:
        # Also when somebody presses Ctrl-C again and does not want to wait.
        _signal(process, signal.SIGKILL)
        _await_end(process)


def _await_end(process: Popen[bytes]) -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    while _is_alive(process) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _signal(process: Popen[bytes], number: int) -> None:
    # A group whose last process has just ended is denied on some systems, and unknown on others.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _is_alive(process: Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
