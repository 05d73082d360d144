"""A program that writes to a store and says after each call that returned that it did.

    python -m tests.torture.worker KIND FOLDER WORKER COUNT SEED [ACK_FD]

The acknowledgements go out by writev(2), which no store uses, so that counting and breaking
the stores' own write(2) calls leaves them alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.torture.plan import PlanStep, Writer
from tests.torture.subjects import Subject, open_subject
from turnleaf.errors import TurnleafError

Say = Callable[[str], object]
ATTEMPTS = 2


def work(writer: Writer, folder: Path, say: Say) -> None:
    """Write every step, and say each outcome as one line; those of opening begin with "open"."""
    subject = _open(writer.kind, folder, say)
    for step in writer.steps():
        say(outcome(subject, step) if subject else "refused: not open")
    if subject:
        subject.close()


def _open(kind: str, folder: Path, say: Say) -> Subject | None:
    for _ in range(ATTEMPTS):
        try:
            subject = open_subject(kind, folder)
        except Exception as error:
            say(f"open {failure(error)}")
        else:
            say("open ok")
            return subject
    return None


def outcome(subject: Subject, step: PlanStep) -> str:
    try:
        return subject.perform(step)
    except Exception as error:
        return failure(error)


def failure(error: Exception) -> str:
    kind = "refused" if isinstance(error, TurnleafError) else "raw"
    return f"{kind}: {type(error).__name__}: {error}".replace("\n", " ")


def outcomes(said: Iterable[str]) -> list[str]:
    """Of all that a worker said, what concerns its steps."""
    return [line for line in said if not line.startswith("open ")]


def teller(descriptor: int) -> Say:
    return lambda line: os.writev(descriptor, [f"{line}\n".encode()])


def main() -> None:
    kind, folder, worker, count, seed, *rest = sys.argv[1:]
    writer = Writer(kind, int(worker), int(count), int(seed))
    work(writer, Path(folder), teller(int(rest[0]) if rest else 1))


if __name__ == "__main__":
    main()
