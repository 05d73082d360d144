"""Processes that learn are killed at any instant: no message is lost, none is learned from twice.

    python -m tests.torture.test_learning_kills DATABASE NAME ROUND

is one of them. It says of each message when it is queued, and goes on until it is killed.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from tests.decisions import decide
from tests.effort import LONG
from tests.torture.rig import ENVIRONMENT, ROOT
from turnleaf import Assistant
from turnleaf.core.learning.queue import LEASE_SECONDS, Queued
from turnleaf.core.messages import Message
from turnleaf.doctor_report import make_doctor_report
from turnleaf.store.contracts import Stores
from turnleaf.store.files.learning_queue import LearningStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
LEASE = timedelta(seconds=LEASE_SECONDS)
KEYS = ("one", "二")
ROUNDS = 150 if LONG else 2
MOST_LINES = 40


def open_queue(path: Path, number: int) -> LearningStore:
    """Open a queue so much later that nobody of the rounds before holds anything."""
    now = START + timedelta(seconds=number * LEASE_SECONDS)
    return LearningStore(path, now=lambda: now)


def learn(store: LearningStore, name: str) -> None:
    for number in count():
        key = KEYS[number % len(KEYS)]
        texts = [f"{name}-{number}-a", f"{name}-{number}-b"]
        store.enqueue(key, [Queued(Message("user", text)) for text in texts])
        print(*texts, sep="\n", flush=True)
        batch = store.claim(key)
        if batch is None:
            continue
        if number % 3 == 0:
            store.release(batch, "no answer")
        else:
            store.complete(batch, [decide(one.message.text) for one in batch.messages])


def kill_both(path: Path, number: int, choice: random.Random) -> list[str]:
    """Run two that learn at once and kill each; return what they reported as queued."""
    program = [sys.executable, "-m", "tests.torture.test_learning_kills", str(path)]
    running = [
        subprocess.Popen(
            [*program, f"{number}{letter}", str(number)],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for letter in "xy"
    ]
    said: list[str] = []
    for process in running:
        assert process.stdout is not None
        said += [process.stdout.readline() for _ in range(choice.randrange(1, MOST_LINES))]
        process.kill()
        said += process.communicate()[0].splitlines(keepends=True)
    return [line.rstrip("\n") for line in said if line.endswith("\n")]


def test_killed_processes_lose_no_message_and_learn_from_none_twice(ground: Path) -> None:
    path, choice = ground / "learning.db", random.Random(1)
    queued: list[str] = []
    learned = Counter[str]()
    for number in range(ROUNDS):
        queued += kill_both(path, number, choice)
        store = open_queue(path, number + 1)
        learned = Counter(one.decision.content for one in store.outbox())
        waiting = Counter(one.message.text for key in KEYS for one in store.list_queued(key))
        waiting.update(one.queued.message.text for one in store.set_aside())
        store.close()
        assert max((learned + waiting).values()) == 1
        assert set(queued) <= set(learned + waiting)
    assert len(queued) > 2 * ROUNDS
    assert learned
    assert not list(ground.glob("*.corrupt-*"))


DEADLY = """
import os, signal, sys
from datetime import datetime
from tests.standins.scripted_model import ScriptedModel
from turnleaf import Assistant

class DeadlyModel(ScriptedModel):
    def generate_json(self, system, text, schema):
        if "poison" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate_json(system, text, schema)

now = datetime.fromisoformat(sys.argv[2])
with Assistant(sys.argv[1], model=DeadlyModel(), now=lambda: now) as assistant:
    assistant.flush()
"""


def test_a_message_that_kills_whoever_learns_from_it_is_set_aside(ground: Path) -> None:
    said = ["我住在台北", "the poison", "我女兒叫小安"]
    queue = LearningStore(ground / "learning.db", now=lambda: START)
    queue.enqueue("cli:1", [Queued(Message("user", text, START)) for text in said])
    queue.close()
    ended = [
        subprocess.run(
            [sys.executable, "-c", DEADLY, str(ground), str(START + number * LEASE)],
            cwd=ROOT,
            env=ENVIRONMENT | {"EMBEDDINGS": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        for number in range(4)
    ]
    assert [one.returncode for one in ended] == [-signal.SIGKILL, -signal.SIGKILL, 0, 0]
    assert ["was set aside" in one.stderr for one in ended] == [False, False, True, False]
    facts = [one.content for one in Assistant(ground).memory.get_all()]
    assert any("台北" in fact for fact in facts)
    assert any("小安" in fact for fact in facts)
    problems = [one["message"] for one in make_doctor_report(Stores.open(ground))["problems"]]
    assert [one for one in problems if "cli:1 (2026-03-01T08:30:00.000Z) was set aside" in one]


def main() -> None:
    path, name, number = sys.argv[1:]
    learn(open_queue(Path(path), int(number)), name)


if __name__ == "__main__":
    main()
