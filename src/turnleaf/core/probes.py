"""Whether an embedder understands a language, and how alike unrelated texts look to it.

Models differ in both: one gives unrelated texts a cosine of 0.1 and another of 0.6, and one made
for English takes all Chinese for the same. So each is asked once about sentences whose meaning is
known.
"""

from __future__ import annotations

import array
import math
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from turnleaf.core.terms import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIRS = {
    "spaced": (
        ("The cat is asleep on the sofa", "A kitten naps on the couch"),
        ("He repairs old bicycles for a living", "His job is fixing used bikes"),
        ("The train to the coast was late", "Our rail trip to the sea got delayed"),
        ("She is allergic to peanuts", "Nuts make her ill"),
        ("Rent is due on the first of the month", "We pay for the flat when a month begins"),
        ("The soup needs more salt", "This broth tastes too bland"),
        ("My sister plays the violin in an orchestra", "Her sibling is a professional musician"),
        ("The server crashed during the night", "The machine went down while we slept"),
    ),
    "unspaced": (
        ("貓在沙發上睡著了", "小貓正躺在長椅上打盹"),
        ("他靠修理舊腳踏車維生", "他的工作是修單車"),
        ("往海邊的火車誤點了", "我們去海岸的列車晚到"),
        ("她對花生過敏", "她吃了堅果會不舒服"),
        ("房租每月一號要繳", "月初得付公寓的租金"),
        ("這碗湯不夠鹹", "湯的味道太淡了"),
        ("我姊姊在樂團拉小提琴", "她的姊妹是職業音樂家"),
        ("伺服器半夜當機了", "我們睡覺時主機掛掉了"),
    ),
}
SENTENCES = tuple(text for pairs in PAIRS.values() for pair in pairs for text in pair)

NEEDED = 0.6
"""The share of sentences whose counterpart must be the nearest; by chance it is 1 in 8."""
DEVIATIONS = 2.5
"""How far above what is usual between unrelated texts a cosine must be to mean something."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an embedder: the scripts it understands, and where meaning begins."""

    scripts: tuple[str, ...]
    floor: float

    def understands(self, text: str) -> bool:
        """Tell whether it understands what this is written in."""
        return script(text) in self.scripts


def script(text: str) -> str:
    """Tell whether most of a text is written in words with spaces between them."""
    letters = [char for char in text if char.isalpha()]
    unspaced = sum(map(is_unspaced, letters))
    return "unspaced" if 2 * unspaced > len(letters) else "spaced"


def profile(vectors: Sequence[bytes]) -> Profile:
    """Judge an embedder by its vectors of `SENTENCES`."""
    numbers = [array.array("f", vector) for vector in vectors]
    scripts = []
    unrelated: list[float] = []
    for place, name in enumerate(PAIRS):
        count = len(PAIRS[name])
        mine = numbers[2 * count * place : 2 * count * (place + 1)]
        cosines = [[_cosine(one, other) for other in mine[1::2]] for one in mine[::2]]
        found = sum(row[number] == max(row) for number, row in enumerate(cosines))
        others = [
            value for number, row in enumerate(cosines) for value in row if value != row[number]
        ]
        if found >= NEEDED * count and len(set(others)) > 1:
            scripts.append(name)
            unrelated += others
    return Profile(tuple(scripts), _floor(unrelated))


def _floor(unrelated: Sequence[float]) -> float:
    if not unrelated:
        return math.inf
    return fmean(unrelated) + DEVIATIONS * pstdev(unrelated)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(float.__mul__, one, other))
