"""No message freezes the program: the work of a turn grows with the text and no faster.

Work is the number of characters handed to patterns, in a child process that is killed where it
hangs. So it is the same on every machine.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.effort import LONG

SECONDS = 60
CHARS = 20_000
MOST_PER_CHARACTER = 20
# A short message costs 62,000 at first and 2,000 later on; of a long one 37 patterns for times see
# the first 2,000 characters, and some twenty for facts the first 4,000.
ALLOWANCE = 300_000
UNITS = (
    *(
        "哈",
        "真的",
        "～",
        "~",
        " ",
        "ok ",
        "lol ",
        "please ",
        "by the way ",
        "很",
        "都",
        "、",
        "。",
    ),
    *("(", ".", "-", "😀", "!", "我", "a, ", "甲、", "\n", "1", "ha", "and ", "「", '"', "name "),
    *("tomorrow ", "on Monday ", "明天", "下週三"),
    *("#", "[", "<", "|", "\\", "*", "_", "`", "```", "{", "\u200b", "\u200d", "\u2060", "\xad"),
)
ANSWERED = "as an answer"
FRAMES = (
    "{}",
    "I saw {} and I live in Taipei",
    "我昨天看到{}，我住在臺北",
    "remember {}",
    "記住{}",
    "forget {}",
    "My name is {}",
    ANSWERED,
)
units = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
mixtures = st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).map("".join) | units
examples = settings(
    max_examples=400 if LONG else 8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Counter:
    """The child that counts; a new one when it had to be killed."""

    def __init__(self) -> None:
        self.child = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-m", "tests.pattern_counter"]
        environment = {**os.environ, "EMBEDDINGS": "off"}
        return subprocess.Popen(
            call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def count(self, question: str, answer: str) -> int | None:
        """Return how many characters a turn hands to patterns; None when it does not end."""
        assert self.child.stdin
        assert self.child.stdout
        self.child.stdin.write(f"{json.dumps([question, answer])}\n".encode())
        self.child.stdin.flush()
        if select.select([self.child.stdout], [], [], SECONDS)[0]:
            return int(self.child.stdout.readline())
        self.close()
        self.child = self._start()
        return None

    def close(self) -> None:
        self.child.kill()
        self.child.communicate()


@pytest.fixture(scope="module")
def counter() -> Iterator[Counter]:
    one = Counter()
    yield one
    one.close()


def check(counter: Counter, unit: str, frame: str) -> None:
    repeated = (unit * (CHARS // len(unit) + 1))[:CHARS]
    is_answer = frame == ANSWERED
    question = "hello" if is_answer else frame.format(repeated)
    work = counter.count(question if question.strip() else f"{question}?", repeated * is_answer)
    assert work is not None, f"{unit!r} in {frame!r} takes more than {SECONDS} seconds"
    assert work <= MOST_PER_CHARACTER * CHARS + ALLOWANCE, (unit, frame)


def test_a_short_message_costs_less_than_what_is_allowed_beside_the_text(counter: Counter) -> None:
    work = counter.count("My dog is called Rex and I live in Taipei", "Nice!")
    assert work
    assert work <= ALLOWANCE


def test_the_work_for_a_known_bad_text_grows_with_its_length(counter: Counter) -> None:
    for number, unit in enumerate(UNITS):
        for frame in FRAMES if LONG else (FRAMES[number % len(FRAMES)],):
            check(counter, unit, frame)


@given(unit=mixtures, frame=st.sampled_from(FRAMES))
@examples
def test_the_work_for_any_repeated_text_grows_with_its_length(
    counter: Counter, unit: str, frame: str
) -> None:
    check(counter, unit, frame)
