"""What a search finds, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, where it stands, and why it was found.

    `bm25` and `vector` are between 0 and 1; `score` is their weighted sum.
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
    bm25: float
    vector: float
