"""No text can freeze what reads it: anything repeated, in a process that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SECONDS = 60
WORDS = """
    哈 真的 很 都 跟 剛 剛剛 上週 每天 設在 喔對 早上一 我 甲、 ～ 、 。 「 😀
    . - ~ ! : ^_^ 1 ( " ` <a ha
"""
UNITS = (
    *WORDS.split(),
    *(" ", "\n", "lol ", "ok ", "please ", "by the way ", "you know ", "a, ", "and ", "Ann "),
)
FRAMES = (
    "{}",
    "我昨天看影片{}超可愛",
    "我{}住",
    "我家的燈我喜歡{}",
    "I {} it",
    "I saw it {} and I live in Rome",
    "remember the door code{} is on the wall",
    "My name is {}",
)
READERS = {
    "facts": "from turnleaf.core.rules import facts_in as read",
    "claim": "from turnleaf.core.rules import claim_of as read",
    "gist": "from turnleaf.core.rules import gist as read",
}
CHILD = """
import json, sys
for line in sys.stdin:
    text = json.loads(line)
    print(line, end="", flush=True)
    read(text)
print("read all")
"""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("count", [30, 180])
def test_repeated_text_is_read_to_its_end(reader: str, count: int) -> None:
    texts = [frame.format(unit * count) for unit in UNITS for frame in FRAMES]
    assert _last_line_of_reading(reader, texts) == "read all"


def _last_line_of_reading(reader: str, texts: list[str]) -> str:
    """Have a child read the texts; what it names last is where it was when its time was up."""
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"{READERS[reader]}\n{CHILD}"],
            input=lines.encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode().splitlines()[-1]
    return (done.stdout + done.stderr).decode().splitlines()[-1]
