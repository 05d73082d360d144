"""Forked processes: a task of its own each, ending with it, its acknowledgements on a pipe."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

FAILED = 70


def fork(task: Callable[[], None]) -> int:
    """Do the task in a child, which ends with it; the caller gets the process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        task()
    except BaseException:
        traceback.print_exc()
        os._exit(FAILED)
    os._exit(0)


@dataclass(slots=True)
class Child:
    """A process at work, and the reading end of its pipe."""

    pid: int
    pipe: int
    heard: bytes = field(default=b"")

    def hear(self) -> bool:
        """Take in what is in the pipe; False at its end."""
        chunk = os.read(self.pipe, 65536)
        self.heard += chunk
        return bool(chunk)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def finish(self) -> list[str]:
        """Hear the rest, wait for the end, and return the lines that came through whole."""
        while self.hear():
            pass
        os.close(self.pipe)
        os.waitpid(self.pid, 0)
        return self.heard.decode().split("\n")[:-1]


def start(task: Callable[[int], None]) -> Child:
    """Fork a process; its task gets the writing end of the pipe."""
    reading, writing = os.pipe()
    pid = fork(lambda: task(writing))
    os.close(writing)
    return Child(pid, reading)
