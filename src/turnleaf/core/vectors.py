"""What a text means, as a vector of length one, so that nearness is a dot product."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Protocol

from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Embedder", "pack"]


class Embedder(Protocol):
    """Whatever turns texts into vectors that can be compared with each other."""

    @property
    def name(self) -> str:
        """What its vectors are stored under; two different models never share a name."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give one packed vector for each text, all of the same dimension."""


def pack(values: Sequence[float]) -> bytes:
    """Stretch a vector to length one and write it as little-endian float32."""
    length = math.hypot(*values)
    if not length or not math.isfinite(length):
        raise InvalidInput(
            "a vector of zeros, or with a number that is not finite, has no direction;"
            " leave it out or compute it again"
        )
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))
