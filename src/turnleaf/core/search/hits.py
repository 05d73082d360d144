"""What a search finds, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

KINDS = ("memory", "older", "daily", "conversations")
"""Where a passage may come from."""
MODES = ("hybrid", "lexical", "vector")
MAX_LIMIT = 100
PROMPT_LIMIT = 300
"""For a prompt all candidates are looked at: some of what fits best only asks, and what stands in
clusters is preferred."""


@dataclass(frozen=True, slots=True)
class Newer:
    """What replaced a fact, and when."""

    since: datetime
    content: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, where it stands, and why it was found.

    `bm25` and `vector` are between 0 and 1, None where that side does not exist; `score` is their
    weighted sum. A hit of a conversation has the message's number, the one before it on its path,
    its time, who may read it (`audience`), and whether the path it is on is still shown; of a long
    message it is the `part` that was found, of whose paragraph `earlier` parts stand before it and
    `later` ones after it. `nearness` is by how much its cosine exceeds the
    one where meaning begins, whatever else was found; `blended` is the score with its meaning even
    where the words count alone, by which a prompt is filled.
    """

    text: str
    source: str
    path: Path
    line: int
    heading: str | None
    date: str | None
    conversation: str | None
    speaker: str | None
    id: str | None
    score: float
    bm25: float | None
    vector: float | None
    message: int | None = None
    parent: int | None = None
    time: str | None = None
    trust: str = "user"
    is_shown: bool = True
    part: int = 0
    earlier: int = 0
    later: int = 0
    audience: str = ""
    nearness: float | None = None
    blended: float | None = None
    newer: Newer | None = None
    """What replaced the fact that a message gave."""

    @property
    def note(self) -> str | None:
        """What became of what it says."""
        newer = self.newer
        return f"until {newer.since:%Y-%m-%d}; now: {newer.content}" if newer else None

    @property
    def is_judged(self) -> bool:
        """Whether it was compared with the question; what was said on a day was not."""
        return self.bm25 is not None or self.vector is not None
