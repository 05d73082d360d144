"""Scores of hits as numbers, where a hit must have them."""

from __future__ import annotations


def require(score: float | None) -> float:
    """Return a score that must be there."""
    assert score is not None
    return score
