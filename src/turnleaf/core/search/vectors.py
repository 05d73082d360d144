"""What a text means, as a vector of length one, so that nearness is a dot product."""

from __future__ import annotations

import array
import math
import struct
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from turnleaf.core.search.ranking import Unrelated
from turnleaf.core.search.terms import is_unspaced
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DEVIATIONS",
    "DISTRACTORS",
    "NEEDED",
    "PAIRS",
    "SENTENCES",
    "Embedder",
    "Profile",
    "detect_script",
    "pack",
    "prepare_text",
    "profile_embedder",
]


class Embedder(Protocol):
    """Whatever turns texts into vectors that can be compared with each other."""

    @property
    def name(self) -> str:
        """What its vectors are stored under; two different models never share a name."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one packed vector for each text, all of the same dimension."""


# The time that a text takes grows with its length, and what it is about is said by then.
_MAX_CHARS = 2_000


def prepare_text(text: str) -> str:
    """Return the beginning of a text without lone surrogates, which no encoding has."""
    return text[:_MAX_CHARS].encode("utf-8", "ignore").decode()


def pack(values: Sequence[float]) -> bytes:
    """Stretch a vector to length one and write it as little-endian float32."""
    length = math.hypot(*values)
    # Divided by zero it would be near to everything or to nothing, without anybody noticing.
    if not length or not math.isfinite(length):
        raise InvalidInput(
            "a vector of zeros, or one with a number that is not finite, cannot be used; "
            "leave it out or compute it again"
        )
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))


PAIRS = {
    "spaced": (
        ("The cat is asleep on the sofa", "A kitten naps across our couch"),
        ("He repairs old bicycles for a living", "His job involves fixing used bikes"),
        ("The train to the coast was late", "Our rail trip toward a beach got delayed"),
        ("She is allergic to peanuts", "Nuts make my daughter ill"),
        ("Rent is due on the first of the month", "We pay our landlord every four weeks"),
        ("The soup needs more salt", "This broth tastes too bland"),
        ("My sister plays the violin in an orchestra", "Her sibling performs classical music"),
        ("The server crashed during the night", "Our computer went down while everyone slept"),
    ),
    "unspaced": (
        ("貓在沙發上睡著了", "小喵咪正躺椅子打盹"),
        ("醫生叫他少吃糖", "大夫勸老爸別碰甜食"),
        ("房租每月一號要繳", "公寓費用得在初旬付給屋主"),
        ("這碗湯不夠鹹", "羹的味道太淡"),
        ("我姊姊拉小提琴", "那女孩演奏弦樂"),
        ("伺服器半夜當機了", "主電腦凌晨壞掉"),
        ("老闆答應幫我加薪", "主管同意提高工資"),
        ("往海邊的火車誤點了", "去沙灘那班高鐵遲到"),
    ),
}
"""Sentences that mean the same and share no word, or no character."""

DISTRACTORS = {
    "spaced": (
        "The mayor is on the phone",
        "He tells old jokes for a laugh",
        "The way to the museum was long",
        "She is about to speak",
        "The first of the guests is on the stairs",
        "The team needs more time",
        "My sister plays the fool in an argument",
        "The birds sang during the night",
    ),
    "unspaced": (
        "他在會上發了脾氣",
        "少年叫他吃驚",
        "一號月台每班車都要等",
        "這本書不夠厚",
        "我家小狗拉肚子",
        "他半夜才趕到了機場",
        "老師答應幫我加菜",
        "往前的那一點光了",
    ),
}
"""For each pair a sentence that shares words or characters with the first, and means another."""

SENTENCES = (
    *(text for pairs in PAIRS.values() for pair in pairs for text in pair),
    *(text for texts in DISTRACTORS.values() for text in texts),
)

NEEDED = 0.6
"""The share of sentences whose counterpart must be the nearest; by chance it is 1 in 16."""
DEVIATIONS = 2.5
"""How far above what is usual between unrelated texts a cosine must be to mean something."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an embedder: the scripts it understands, and where meaning begins."""

    scripts: tuple[str, ...]
    unrelated: Unrelated

    @property
    def floor(self) -> float:
        """The cosine from which on it is hardly by chance."""
        return self.unrelated.mean + DEVIATIONS * self.unrelated.deviation

    def understands(self, text: str) -> bool:
        """Whether it understands what this is written in."""
        return detect_script(text) in self.scripts


def detect_script(text: str) -> str:
    """Return "unspaced" for a text mostly in scripts without spaces, else "spaced"."""
    letters = [char for char in text if char.isalpha()]
    unspaced = sum(map(is_unspaced, letters))
    return "unspaced" if 2 * unspaced > len(letters) else "spaced"


def profile_embedder(vectors: Sequence[bytes]) -> Profile:
    """Judge an embedder by its vectors of `SENTENCES`."""
    numbers = (array.array("f", vector) for vector in vectors)
    meant = dict(zip(SENTENCES, numbers, strict=True))
    scripts = []
    unrelated: list[float] = []
    for name, pairs in PAIRS.items():
        cosines = [[_cosine(meant[one], meant[other]) for _, other in pairs] for one, _ in pairs]
        # A model that only compares what is written is nearer to the distractor, and finds no pair.
        alike = [
            max(_cosine(meant[one], meant[other]) for other in DISTRACTORS[name])
            for one, _ in pairs
        ]
        others = [[*row[:place], *row[place + 1 :]] for place, row in enumerate(cosines)]
        found = sum(
            row[place] > max(*others[place], alike[place]) for place, row in enumerate(cosines)
        )
        if found >= NEEDED * len(pairs):
            scripts.append(name)
            # Cosines of a script that it does not understand say nothing about where meaning
            # begins.
            unrelated += chain.from_iterable(others)
    return Profile(tuple(scripts), _measure_spread(unrelated))


def _measure_spread(unrelated: Sequence[float]) -> Unrelated:
    if not unrelated:
        # Of a model that passed in no script nothing is near to anything.
        return Unrelated(1.0, 0.0)
    count = len(unrelated)
    mean = math.fsum(unrelated) / count
    return Unrelated(mean, math.sqrt(math.fsum((one - mean) ** 2 for one in unrelated) / count))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(float.__mul__, one, other))
