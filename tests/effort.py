"""How much is tried: little and the same in every ordinary run, much and new in `make torture`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

LONG = os.environ.get("TORTURE") == "long"

T = TypeVar("T")

settings.register_profile("short", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("torture", max_examples=3000, deadline=None)


def load_profile() -> None:
    """Try every property with as many examples as this run is meant for."""
    settings.load_profile("torture" if LONG else "short")


def sample(every: Sequence[T], most: int) -> list[T]:
    """Return so many at most, the same ones each time, from the whole length; if long, each."""
    if LONG or len(every) <= most:
        return list(every)
    return [every[(2 * number + 1) * len(every) // (2 * most)] for number in range(most)]


def together(kinds: Sequence[T]) -> list[tuple[T, ...]]:
    """Try all in one test, which starts fewer programs; in a long run, each in its own test."""
    return [(kind,) for kind in kinds] if LONG else [tuple(kinds)]
