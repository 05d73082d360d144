"""A whole turn over text that repeats itself, against one over ordinary text of the same length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench import samples
from bench.scale import Scale
from bench.timing import Aim, Batch, TimingRow, Work, compare
from bench.turn import Mouth
from turnleaf import Assistant

CHARS = 20_000
UNITS = {
    "哈": "哈",
    "、": "、",
    "spaces": " ",
    "dots": ".",
    '"ok"': "ok ",
    '"by the way"': "by the way ",
}
AIM = Aim(cpu=3)


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure what is said and learned from, each time in a conversation of its own."""
    ordinary = _ordinary_text()
    with TemporaryDirectory(dir=folder) as name, ExitStack() as stack:
        talk = stack.enter_context(Assistant(name, model=Mouth(answer="Fine.")))
        keys = map("cli:bench-{}".format, count())
        for title, unit in UNITS.items():
            text = f"I saw {unit * (CHARS // len(unit))} today"
            ours = _turns(talk, keys, text)
            costs = compare(ours, _turns(talk, keys, ordinary), scale.rounds)
            what = f"turn over {CHARS:,} characters of {title}"
            yield TimingRow(f"{what}, against ordinary ones", *costs, AIM)


def _ordinary_text() -> str:
    random = Random(8)
    said = ""
    while len(said) < CHARS:
        said += f"{samples.exchange(random).answer}\n"
    return said[:CHARS]


def _turns(talk: Assistant, keys: Iterator[str], text: str) -> Batch:
    def batch() -> list[Work]:
        return [partial(_turn, talk, next(keys), text)]

    return batch


def _turn(talk: Assistant, key: str, text: str) -> None:
    talk.reply(key, text)
    talk.flush(key)
