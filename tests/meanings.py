"""Models for tests that turn text into vectors: one that knows a few words, and one that fails."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from turnleaf.core.search.vectors import PAIRS, pack
from turnleaf.errors import EmbeddingError

DIMENSION = 64


CONCEPTS = {
    "drink": ("tea", "coffee", "beverage", "茶", "咖啡", "飲料"),
    "pet": ("cat", "dog", "animal", "貓", "狗", "寵物"),
    "work": ("job", "office", "profession", "工作", "公司", "職業"),
}


FACTS = ("I enjoy green tea", "my cat is asleep", "the office is far", "愛喝咖啡", "家裡有一隻貓")


def weigh(text: str, dimension: int = DIMENSION) -> list[float]:
    """Character pairs, drowned out by what is known to mean the same."""
    values = [0.01] * dimension
    for one, other in pairwise(text):
        at = zlib.crc32(f"{one}{other}".encode("utf-8", "replace"))
        values[at % (dimension - 12)] += 2.0 / len(text)
    for number, words in enumerate(CONCEPTS.values(), 1):
        values[-number] += any(word in text for word in words)
    for pairs in PAIRS.values():
        for number, alike in enumerate(pairs, 4):
            values[-number] += text in alike
    return values


@dataclass
class Meanings:
    """A model that knows a few words in two languages."""

    name: str = "meanings"
    dimension: int = DIMENSION
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += texts
        return [pack(weigh(text, self.dimension)) for text in texts]


@dataclass
class Ailing(Meanings):
    """The same, but it fails after some calls."""

    calls_left: int = 10**9

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not self.calls_left:
            message = "the model is away; start it"
            raise EmbeddingError(message)
        self.calls_left -= 1
        return super().embed(texts)
