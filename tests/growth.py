"""Whether reading a text takes time in proportion to its length, on whatever machine."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

from tests.effort import LONG

CHARS = 100_000 if LONG else 40_000
"""How long a text is that is to show how the time grows."""
LENGTHS = 10
MOST_TIMES = 40
"""Between the tenfold time of a linear reader and the hundredfold one of a quadratic."""
GRAIN_SECONDS = 0.05
ATTEMPTS = 3


def grows_with_its_text(read: Callable[[str], object], text: str) -> bool:
    """Whether a text takes about ten times as long as its first tenth."""
    tenth = min(_seconds(read, text[: len(text) // LENGTHS]) for _ in range(ATTEMPTS))
    most = MOST_TIMES * tenth + GRAIN_SECONDS
    return any(_seconds(read, text) < most for _ in range(ATTEMPTS))


def _seconds(read: Callable[[str], object], text: str) -> float:
    """Measure the time of this thread alone: what else runs does not count."""
    since = thread_time()
    read(text)
    return thread_time() - since
