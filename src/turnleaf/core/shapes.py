"""A fingerprint that can be added and compared: which lines, in any order, make a text.

It answers whether one text is another without certain lines, long after the other is gone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BITS = 96


@dataclass(frozen=True, slots=True)
class Shape:
    """The sum of a text's lines, and how many others are blank."""

    total: int
    blanks: int

    @classmethod
    def of(cls, lines: Iterable[str], blanks: int = 0) -> Shape:
        """Add up lines."""
        return cls(sum(map(_number, lines)) % (1 << _BITS), blanks)

    def __add__(self, other: Shape) -> Shape:
        """Give the shape of both texts together."""
        return Shape((self.total + other.total) % (1 << _BITS), self.blanks + other.blanks)

    def __sub__(self, other: Shape) -> Shape:
        """Give the shape of a text without lines of it."""
        return Shape((self.total - other.total) % (1 << _BITS), self.blanks - other.blanks)

    def __str__(self) -> str:
        """Write it for a file."""
        return f"{self.total:x}+{self.blanks}"

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Read what `str` wrote."""
        total, _, blanks = text.partition("+")
        return cls(int(total, 16), int(blanks))


def _number(line: str) -> int:
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=_BITS // 8)
    return int.from_bytes(digest.digest())
