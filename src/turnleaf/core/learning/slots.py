"""Slots: what can be known about a person, and what a message states about one of them.

A fact is no piece of text that somebody happened to say. It is a subject, a slot and a value, and
the sentence in the memory is made of them, so that ten ways to say something meet in one fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from turnleaf.core.data import load_data
from turnleaf.core.search.terms import fold, simplify

if TYPE_CHECKING:
    from collections.abc import Mapping

USER = ""
"""The subject of what the user says about themselves."""
SOME_TIME = "~"
"""When something happened of which it is only said that it did."""
NAMING = frozenset({"name", "thing_name"})
"""The slots whose values are names."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that can be known; `slots.toml` explains the fields."""

    name: str
    category: str
    single: bool = False
    others: bool = False
    counted: bool = False
    opposite: str | None = None
    ends: tuple[str, ...] = ()
    topics: Mapping[str, str] = field(default_factory=dict)
    introduces: str = ""
    implied_by: tuple[str, ...] = ()

    @property
    def is_event(self) -> bool:
        """Whether it is something that happened, rather than something that holds."""
        return self.category == "events"

    def topic_of(self, value: str) -> str:
        """Return what a value is about, of which only the newest holds; nothing if it is alone."""
        plain = fold(value)
        found = (name for name, words in self.topics.items() if _compile(words).search(plain))
        return next(found, "")


@dataclass(frozen=True, slots=True)
class Statement:
    """What some words state: that a slot of a subject has a value, or (`is_over`) no longer has.

    The subject is `USER` or somebody's key, such as "wife". `kind` tells slots of one name apart:
    the favourite colour and the favourite film. `subject_text` and `kind_text` are how they are
    written, and `when` the words that say when it happened. A statement that `is_weak` is less
    sure. One that `is_correction` says that something known is wrong, and `instead_of` what. The
    words are those from `start` to `end` of the message.
    """

    slot: str
    value: str
    language: str
    subject: str = USER
    kind: str = ""
    subject_text: str = ""
    kind_text: str = ""
    when: str = ""
    is_over: bool = False
    is_weak: bool = False
    is_correction: bool = False
    instead_of: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Correction:
    """What was just said is wrong: it is `new` (instead of `old`, if that is named)."""

    new: str
    old: str
    language: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What was just said was not meant."""

    language: str
    start: int = 0
    end: int = 0


class Bearer(NamedTuple):
    """Who or what has a name: its key, the word for it, and the slot that the name is in."""

    key: str
    text: str
    slot: str = "name"


@cache
def _compile(words: str) -> re.Pattern[str]:
    return re.compile(simplify(words), re.IGNORECASE)


Utterance: TypeAlias = Statement | Correction | Withdrawal
Names: TypeAlias = "Mapping[str, Bearer]"
"""The known names, in one spelling and lower case, and whose they are."""


@cache
def subject_group(group: str) -> frozenset[str]:
    """Return the keys of some kind of subjects, such as partners; of no kind, none."""
    return frozenset(load_data("learning/subjects.toml").get(group, ()))


@cache
def words_of_kind(kind: str) -> frozenset[str]:
    """Return what is of a kind without saying so: a Corolla is a car."""
    return frozenset(load_data("learning/subjects.toml")["kinds"].get(kind, ()))


@cache
def avoided_by(diet: str) -> frozenset[str]:
    """Return what somebody of a diet does not eat or drink anyway."""
    return frozenset(load_data("learning/subjects.toml")["avoided"].get(diet, ()))


@cache
def slots() -> dict[str, Slot]:
    """Return the table of slots by name."""
    return {
        name: Slot(name, **{**fields, **_series(fields)})
        for name, fields in load_data("learning/slots.toml").items()
    }


def _series(fields: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(fields.get(name, ())) for name in ("ends", "implied_by")}
