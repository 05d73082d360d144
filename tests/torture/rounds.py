"""A program that lets several processes write, kills them all at a random instant, restarts.

    python -m tests.torture.rounds KIND,… FOLDER ROUNDS SEED

The same files go through all rounds. Prints figures for each kind as JSON.
"""

from __future__ import annotations

import json
import random
import select
import sys
import time
from pathlib import Path

from tests.torture.checker import Case, check
from tests.torture.children import Child, start
from tests.torture.plan import Writer
from tests.torture.worker import outcomes, teller, work

WRITERS = 5
STEPS = 100
FINE = ("ok", "skipped")
MOST_LINES = 30
MOST_EXTRA_SECONDS = 0.004


def begin(writer: Writer, folder: Path) -> Child:
    return start(lambda pipe: work(writer, folder, teller(pipe)))


def kill_somewhere(children: list[Child], choice: random.Random) -> None:
    """Kill after a random number of acknowledgements and a random moment more."""
    wanted = choice.randrange(MOST_LINES)
    while sum(child.heard.count(b"\n") for child in children) < wanted:
        ready = select.select([child.pipe for child in children], [], [])[0]
        for child in children:
            if child.pipe in ready:
                child.hear()
    until = time.perf_counter() + choice.random() * MOST_EXTRA_SECONDS
    while time.perf_counter() < until:
        pass
    for child in children:
        child.kill()


def restart(case: Case) -> list[str]:
    child = start(lambda pipe: say_json(pipe, check(case)))
    complaints: list[str] = json.loads("".join(child.finish()) or '["restart died"]')
    return complaints


def say_json(pipe: int, answer: object) -> None:
    teller(pipe)(json.dumps(answer))


def play(kind: str, folder: Path, rounds: int, seed: int) -> dict[str, object]:
    folder.mkdir()
    choice = random.Random(seed)
    written: list[tuple[Writer, list[str]]] = []
    complaints: list[str] = []
    for number in range(rounds):
        first = number * WRITERS
        writers = [Writer(kind, n, STEPS, seed) for n in range(first, first + WRITERS)]
        children = [begin(writer, folder) for writer in writers]
        kill_somewhere(children, choice)
        said = [outcomes(child.finish()) for child in children]
        written += zip(writers, said, strict=True)
        complaints += [line for lines in said for line in lines if line not in FINE]
        if found := restart(Case(str(folder), kind, written, number)):
            complaints.append(f"round {number}: {found}")
    acknowledged = sum(lines.count("ok") for _, lines in written)
    return {"acknowledged": acknowledged, "complaints": complaints}


def main() -> None:
    kinds, folder, rounds, seed = sys.argv[1:]
    print(
        json.dumps({k: play(k, Path(folder, k), int(rounds), int(seed)) for k in kinds.split(",")})
    )


if __name__ == "__main__":
    main()
