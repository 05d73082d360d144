"""No text freezes what reads it: anything repeated, in a process that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.effort import LONG, sample

WORDS = """
    哈 真的 很 都 跟 剛 剛剛 上週 每天 設在 喔對 早上一 我 甲、 我， a我 請 把 刪掉 忘記
    不用記得 記住甲， 謝謝 ～ 、 。 「 😀 . - ~ ! : ^_^ ? 1 ( " ` <a ha
"""
UNITS = (
    *WORDS.split(),
    *(" ", "\n", "lol ", "ok ", "please ", "by the way ", "you know ", "a, ", "and ", "Ann "),
    *("I like tea, ", "every day i ", "my 我 is ", "remember a, ", "forget it, ", "could you "),
)
FRAMES = (
    "{}",
    "我昨天看影片{}超可愛",
    "我{}住",
    "我家的燈我喜歡{}",
    "I {} it",
    "I saw it {} and I live in Rome",
    "remember the door code{} is on the wall",
    "忘記{}嗎？",
)
CHILD = """
import json, resource, sys
from datetime import UTC, datetime
from turnleaf.core.learning.extraction import TranscriptMessage
from turnleaf.core.learning.proposals import read_answer
from turnleaf.core.learning.recogniser import read_fact, read_message
from turnleaf.core.learning.memory_requests import find_meant
from turnleaf.core.memories import Memory
from turnleaf.errors import ModelError
from turnleaf.memory_commands import find_requests

moment = datetime(2026, 11, 16, tzinfo=UTC)
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))

def read(text):
    for reader in (read_message, read_fact, find_requests):
        reader(text)
    find_meant(text, [Memory("1", text[:100], moment, moment)])
    try:
        read_answer(f"```{text}", [TranscriptMessage(text, "user")])
    except ModelError:
        pass
    record = {"fact": text[:200], "quote": text[:1_000], "message": 1}
    read_answer(json.dumps({"facts": [record] * 20}), [TranscriptMessage(text, "user")])

for line in sys.stdin:
    print(line, end="", flush=True)
    read(json.loads(line))
print("all read")
"""


def test_repeated_text_is_read_to_its_end() -> None:
    texts = [
        frame.format(unit * (count // len(unit)))
        for count in (30, 180, 10_000)
        for number, unit in enumerate(UNITS if count < 1_000 else sample(UNITS, 4))
        for frame in _frames(number + count, count)
    ]
    assert _last_words_of_a_reader(texts) == "all read"


def _frames(number: int, count: int) -> tuple[str, ...]:
    """Choose what is around a unit; in the short form one, another for the next unit."""
    if count > 1_000:
        return FRAMES[-2:-1]
    return FRAMES if LONG else (FRAMES[number % len(FRAMES)],)


def _last_words_of_a_reader(texts: list[str]) -> str:
    """Read texts in a child; it names each before reading it, so the last is the one to blame.

    It is killed by the CPU time it takes, which no other load on the machine changes.
    """
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input="".join(f"{json.dumps(text)}\n" for text in texts).encode(),
        capture_output=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode().splitlines()[-1][:200]
