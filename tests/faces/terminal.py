"""A terminal with a program in it, for tests."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faces.forking import Fork, fork

SECONDS = 300


class Terminal:
    """What a person sees and types."""

    def __init__(self, process: Fork, descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._seen = b""

    def wait_for(self, text: str, times: int = 1) -> str:
        """Read until the text has appeared so many times."""
        while self._seen.count(text.encode()) < times:
            assert self._read(), f"{text!r} never appeared: {self.output}"
        return self.output

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while self._read():
            pass
        return self.process.wait(SECONDS)

    @property
    def output(self) -> str:
        return self._seen.decode(errors="replace").replace("\r\n", "\n")

    def _read(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], SECONDS)
        try:
            data = os.read(self._descriptor, 65536) if ready else b""
        except OSError:  # Linux's way to say that the program has ended.
            data = b""
        self._seen += data
        return bool(data)


@contextmanager
def terminal(*arguments: str, columns: int = 80) -> Iterator[Terminal]:
    """Run turnleaf in a terminal of that width."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = fork(arguments, [theirs] * 3, {**os.environ, "TERM": "xterm-256color"})
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(ours)
