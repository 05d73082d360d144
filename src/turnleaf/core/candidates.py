"""A fact that somebody said and that may be worth keeping, and what such a fact settles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact as it would stand in the memory, with the words that it comes from.

    Two facts of one `attribute` ("name|user") cannot both hold. `is_correction` tells that the
    words themselves say that something known is wrong or has changed.
    """

    content: str
    quote: str
    category: str | None = None
    attribute: str | None = None
    is_correction: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """What a clause says: which attribute it settles, if any, and to which value.

    `about` names somebody or something that a pronoun in the next clause may stand for.
    """

    category: str
    attribute: str | None
    value: str
    about: tuple[str, ...] = ()
    is_correction: bool = False
