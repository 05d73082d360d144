"""A fact that a model found, with the words that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact as it would stand in the memory, with the words that it comes from.

    `slot` names what the fact is about, and `until` is the last day on which it holds, if it ends.
    """

    content: str
    quote: str
    category: str | None = None
    slot: str | None = None
    until: date | None = None
