"""A program in which many write at once and somebody reads all the while.

    python -m tests.torture.crowd KIND,… FOLDER PROCESSES THREADS ADDS

Each process has one store, shared by its threads; several kinds have folders of their own. Prints
figures for each kind as JSON.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.torture.checker import Case, check
from tests.torture.children import Child, start
from tests.torture.plan import Writer
from tests.torture.subjects import Subject, open_subject
from tests.torture.worker import Say, outcome, teller

BREATH_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class CrowdFigures:
    acknowledged: int
    refused: list[str]
    complaints: list[str]
    readings: int
    longest_wait_seconds: float


def add_all(subject: Subject, writer: Writer, say: Say) -> None:
    for step in writer.steps():
        began = time.perf_counter()
        said = outcome(subject, step)
        say(f"{writer.worker} {time.perf_counter() - began:.4f} {said}")


def add_in_threads(writers: list[Writer], folder: Path, gate: int, pipe: int) -> None:
    """Open, wait for a byte at the gate, then add."""
    subject = open_subject(writers[0].kind, folder)
    say = teller(pipe)
    threads = [threading.Thread(target=add_all, args=(subject, each, say)) for each in writers]
    os.read(gate, 1)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    subject.close()


def read_on(kind: str, folder: Path, begin: Callable[[], object], gate: int, pipe: int) -> None:
    """Read until a byte comes; say how often, and each time that there was less than before.

    The others begin when it has read once, so that it does read while they write.
    """
    say = teller(pipe)
    subject = open_subject(kind, folder)
    readings, most = 1, len(subject.list_texts())
    begin()
    while not select.select([gate], [], [], BREATH_SECONDS)[0]:
        found = subject.list_texts()
        if len(found) < most:
            say(f"there were {most}, now {len(found)}")
        readings, most = readings + 1, len(found)
        for text in found:
            if text.startswith("half "):
                say(f"half an exchange: {text[:80]!r}")
    say(str(readings))
    subject.close()


def crowd(kind: str, folder: Path, processes: int, threads: int, adds: int) -> CrowdFigures:
    writers = [
        [Writer(kind, n * threads + m, adds, adds_only=True) for m in range(threads)]
        for n in range(processes)
    ]
    start_gate, starter = os.pipe()
    stop_gate, stopper = os.pipe()
    children = [_adding(group, folder, start_gate) for group in writers]
    begin = partial(os.write, starter, b"g" * processes)
    reader = start(lambda pipe: read_on(kind, folder, begin, stop_gate, pipe))
    lines = [line for child in children for line in child.finish()]
    os.write(stopper, b"s")
    *less, readings = reader.finish()
    said = {writer: _list_outcomes(writer, lines) for group in writers for writer in group}
    return _figures(Case(str(folder), kind, list(said.items())), lines, less, int(readings))


def _adding(group: list[Writer], folder: Path, gate: int) -> Child:
    return start(lambda pipe: add_in_threads(group, folder, gate, pipe))


def _list_outcomes(writer: Writer, lines: list[str]) -> list[str]:
    parts = [line.split(" ", 2) for line in lines]
    return [outcome for worker, _, outcome in parts if worker == str(writer.worker)]


def _figures(case: Case, lines: list[str], less: list[str], readings: int) -> CrowdFigures:
    said = [outcome for _, outcomes in case.writers for outcome in outcomes]
    return CrowdFigures(
        acknowledged=said.count("ok"),
        refused=[outcome for outcome in said if outcome != "ok"],
        complaints=less + check(case),
        readings=readings,
        longest_wait_seconds=max(float(line.split(" ")[1]) for line in lines),
    )


def main() -> None:
    processes, threads, adds = map(int, sys.argv[3:])
    kinds = sys.argv[1].split(",")
    figures = {}
    for kind in kinds:
        folder = Path(sys.argv[2], kind if len(kinds) > 1 else "")
        folder.mkdir(exist_ok=True)
        figures[kind] = asdict(crowd(kind, folder, processes, threads, adds))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
