"""Slots: what can be known about a person, when two values say the same, and how a fact is written.

A fact is no piece of text that somebody happened to say. It is a subject, a slot and a value, and
the sentence in the memory is made of them, so that ten ways to say something meet in one fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from turnleaf.core.languages.language import (
    choose_language,
    detect_language,
    find_languages,
    get_language,
)
from turnleaf.core.languages.words import find_pattern, find_tables, respell
from turnleaf.core.learning.own_words import normalize_spelling
from turnleaf.core.loading import load_data, make_pattern
from turnleaf.core.search.terms import fold, simplify

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import date


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

    def find_topic(self, value: str) -> str:
        """Return the topic of a value, for which only the newest value holds; "" if it has none."""
        plain = fold(value)
        found = (name for name, words in self.topics.items() if _compile(words).search(plain))
        return next(found, "")


@dataclass(frozen=True, slots=True)
class Statement:
    """What some words state: that a slot of a subject has a value, or (`is_over`) no longer has.

    The subject is `USER` or somebody's key, such as "wife". `kind` tells slots of one name apart:
    the favourite colour and the favourite film. `subject_text` and `kind_text` are how they are
    written, and `when` the words that say when it happened. A statement that `is_weak` is less
    sure. One that `is_correction` says that something known is wrong, and `instead_of` what. One
    that `is_owned` is about a thing of the user's. The words are those from `start` to `end` of
    the message.
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
    is_owned: bool = False
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
def find_subjects(group: str) -> frozenset[str]:
    """Return the keys of the subjects in a group, such as partners."""
    return frozenset(load_data("learning/subjects.toml").get(group, ()))


@cache
def find_words_of_kind(kind: str) -> frozenset[str]:
    """Return the words for things of a kind that do not name it: a Corolla is a car."""
    return frozenset(load_data("learning/subjects.toml")["kinds"].get(kind, ()))


@cache
def find_avoided(diet: str) -> frozenset[str]:
    """Return what a diet excludes: a vegetarian eats no meat."""
    return frozenset(load_data("learning/subjects.toml")["avoided"].get(diet, ()))


@cache
def slots() -> dict[str, Slot]:
    """Return the table of slots by name."""
    return {
        name: Slot(name, **{**fields, **_read_series(fields)})
        for name, fields in load_data("learning/slots.toml").items()
    }


def _read_series(fields: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(fields.get(name, ())) for name in ("ends", "implied_by")}


_SIGNS = make_pattern(r"[\"'`「」『』()!?。.,~*]|(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")
_MIXED = make_pattern(r"([\u3400-\u9fff]{2,4})([a-z0-9][a-z0-9 +.-]{0,30})")
"""A maker in Chinese before a model in letters, which people also write in letters."""


@lru_cache(maxsize=8192)
def make_value_key(value: str) -> str:
    """Return one key for all spellings and names of a value, in either language."""
    words = " ".join(respell("facts", "spellings", _SIGNS.sub("", fold(value))).split())
    articles = find_pattern("facts", "articles", "^")
    while (bare := articles.sub("", words)) != words:
        words = bare
    concepts = _load_concepts()
    singular = find_pattern("facts", "plural", after=r"\Z").sub("", words)
    # Words that mean the same in both languages meet in one key, so a fact is not known twice.
    if known := concepts.get(words) or concepts.get(singular):
        return known
    bare = find_pattern("facts", "to_consume", "^").sub("", singular)
    mixed = _MIXED.fullmatch(bare)
    if mixed and mixed[1] in concepts:
        return f"{concepts[mixed[1]]} {mixed[2]}"
    return concepts.get(bare, bare)


def covers(value: str, other: str) -> bool:
    """Whether a value says the same as the other one, perhaps with more detail."""
    first, second = make_value_key(value), make_value_key(other)
    if first == second:
        return True
    if not first or not second:
        return False
    if first.isascii() and second.isascii():
        return {*second.split()} <= {*first.split()}
    # A single character is a part of too many words.
    return len(second) >= _MIN_HAN and second in first


def mentions(value: str, named: str) -> bool:
    """Whether a value holds what is named, also in another form: run, running."""
    if not (value.isascii() and named.isascii()):
        return covers(value, named)
    pairs = ((make_value_key(value), make_value_key(named)), (fold(value), fold(named)))
    return any(
        bool(second) and {*map(_stem, second.split())} <= {*map(_stem, first.split())}
        for first, second in pairs
    )


def _stem(word: str) -> str:
    """Return the stem that running, runs and runner share."""
    bare = _ENDING.sub("", word)
    # Running has one n too many for run.
    return bare[:-1] if bare != word and bare[-2:-1] == bare[-1:] else bare


_ENDING = make_pattern(r"(?<=[a-z]{3})(?:ing|ers?|es|ed|e|s)\Z")
_MIN_HAN = 2


@cache
def _load_concepts() -> dict[str, str]:
    """Return the key of each spelling: 花生 and groundnuts are peanuts."""
    shared = load_data("learning/concepts.toml")["concepts"]
    pairs = chain.from_iterable(table.items() for table in (shared, *find_tables("concepts")))
    return {fold(one): key for key, spellings in pairs for one in (key, *spellings)}


_FILE = "statements.toml"
_NO_TIME = make_pattern(r" ?(?:\(\)|（）)")


def write_fact(statement: Statement, said_on: date, message: str = "") -> str:
    """Return the text of a statement's fact, in its language and the script of the message."""
    language = get_language(statement.language)
    words = language.slots[statement.slot]
    template = words.say if statement.subject == USER else words.say_other or words.say
    template = words.say_owned if statement.is_owned and words.say_owned else template
    fact = template.format(
        value=statement.value,
        kind=statement.kind_text or statement.kind,
        subject=statement.subject_text,
        month=_find_month(statement, said_on),
        year=f"{said_on:%Y}",
        **language.agreement(statement.subject),
    )
    fact = _NO_TIME.sub("", fact)
    if not statement.value.isascii():
        # Chinese sets a number in digits apart, and not one in characters.
        fact = fact.replace(f" {statement.value} ", statement.value)
    # A fact is written in the script of the message, and a name alone often does not tell that.
    detected = detect_language(message or statement.value)
    return simplify(fact) if detected.is_simplified else fact


def choose_category(statement: Statement, used: Collection[str] = ()) -> str:
    """Return the heading for a statement's fact, preferably one that is `used` already."""
    return _choose_heading(statement.slot, statement.language, used)


def choose_heading(slot: str, language: str, used: Collection[str] = ()) -> str:
    """Return the heading for a fact of a slot that is written in a language."""
    return _choose_heading(slot, choose_language(language, _FILE).name, used)


def _choose_heading(slot: str, folder: str, used: Collection[str]) -> str:
    category = slots()[slot].category
    folders = (folder, *find_languages(_FILE))
    known = [get_language(name).categories for name in folders]
    headings = [categories[category] for categories in known if category in categories]
    # A page that has the heading in one language does not get it in the other as well.
    return next((one for one in headings if one in used), headings[0])


def _find_month(statement: Statement, said_on: date) -> str:
    """Return the month of an event, or the words that say when it was."""
    ago = get_language(statement.language).ago
    when = normalize_spelling(statement.when).lower()
    if when and when not in ago:
        return "" if when == SOME_TIME else statement.when
    unit, count = ago.get(when, ("month", 0))
    if unit == "year":
        return f"{said_on.year - count}"
    if unit == "day":
        return f"{said_on - timedelta(days=count):%Y-%m}"
    months = said_on.year * 12 + said_on.month - 1 - count
    return f"{months // 12}-{months % 12 + 1:02}"
