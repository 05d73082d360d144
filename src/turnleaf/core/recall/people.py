"""Whom a text speaks of: family, colleagues and others by what they are to the user, or by name."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from turnleaf.core.data import load_data
from turnleaf.core.languages.language import find_languages, get_language
from turnleaf.core.languages.words import find_characters, find_pattern
from turnleaf.core.learning.speech import one_spelling
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "statements.toml"
STRANGER = "?"
"""Who owns a statement about somebody that nothing is known of."""
_LEAD_CHARS = 40
_PAIR = 2


@lru_cache(maxsize=4096)
def find_people(text: str, names: frozenset[tuple[str, str]] = frozenset()) -> frozenset[str]:
    """Return who is spoken of; `names` are those known, in lower case, each with whose it is."""
    plain = one_spelling(text)
    found = [(one.start(), one.end(), _who(one)) for one in _kin_pattern().finditer(plain)]
    for name, key in names:
        found += [
            (one.start(), one.end(), key) for one in _name_pattern(name).finditer(plain.lower())
        ]
    found.sort()
    people = {key for *_, key in found} - {"", STRANGER}
    for (_, end, whose), (start, _, who) in pairwise(found):
        if find_pattern("recall", "owning").fullmatch(plain[end:start]):
            people |= _composed().get(f"{_group(whose)} {_group(who)}", frozenset())
    return frozenset(people)


def find_owner(text: str, names: frozenset[tuple[str, str]] = frozenset()) -> str:
    """Return whom a statement is about if it begins with somebody else than the user, or ""."""
    plain = one_spelling(text).strip()
    plain = find_pattern("recall", "lead", "^").sub("", plain)
    lead = find_pattern("recall", "possessive").match(plain)
    start = lead.end() if lead else 0
    begun = plain[start : start + _LEAD_CHARS]
    for name, key in names:
        if _name_pattern(name).match(begun.lower()):
            return key or STRANGER
    kin = _kin_pattern().match(plain, start)
    if kin:
        return _who(kin)
    if find_pattern("recall", "first_person").match(begun):
        return ""
    is_somebody = find_pattern("recall", "somebody").match(begun) and not lead
    return STRANGER if is_somebody and begun[:1].upper() == begun[:1] else ""


def has_user_within(text: str) -> bool:
    """Whether a statement that begins with somebody else speaks of the user as well."""
    plain = one_spelling(text)
    rest = _kin_pattern().sub("", plain, count=1)
    return len(find_pattern("recall", "first_person").findall(rest)) > 1


def find_aliases(text: str) -> list[tuple[str, str]]:
    """Return the names in a text, each with what is called so: Tilly, beagle."""
    found = find_pattern("recall", "alias").finditer(simplify(text))
    pairs = ([part for part in one.groupdict().items() if part[1]] for one in found)
    named = [{key.rstrip("0123456789"): value for key, value in pair} for pair in pairs]
    return [(one["name"], one["what"]) for one in named if len(one) == _PAIR]


def means(asked: str, spoken_of: str) -> bool:
    """Whether somebody who is asked about may be somebody who is spoken of."""
    return asked == spoken_of or _group(spoken_of) == asked or _group(asked) == spoken_of


def words_for(who: str) -> list[str]:
    """Return the words for somebody, in every language, and for those who may be meant too."""
    return [word for word, one in _kin_words().items() if means(who, one)]


def who_is(key: str) -> str:
    """Return who is meant by a key of the learned facts; "" for pets and others."""
    return _same().get(key, "")


@cache
def _group(who: str) -> str:
    """Return what somebody is one of, where a word for that is no person of its own: a brother."""
    members: Mapping[str, list[str]] = load_data("recall/people.toml")["members"]
    return next((group for group, those in members.items() if who in those), who)


def _who(match: re.Match[str]) -> str:
    return _kin_words()[match["kin"].lower()]


@cache
def _same() -> dict[str, str]:
    table = load_data("recall/people.toml")["same"]
    return {key: name for name, keys in table.items() for key in keys}


@cache
def _composed() -> dict[str, frozenset[str]]:
    """Return who two are together: the brother's child is a nephew or a niece."""
    found: dict[str, set[str]] = {}
    for name, pairs in load_data("recall/people.toml")["composed"].items():
        for pair in pairs:
            found.setdefault(pair, set()).add(name)
    return {pair: frozenset(names) for pair, names in found.items()}


@cache
def _kin_words() -> dict[str, str]:
    return {
        word: _same()[key]
        for language in find_languages(FILE)
        for word, key in get_language(language).relations.items()
        if key in _same()
    }


@cache
def _kin_pattern() -> re.Pattern[str]:
    """Return the pattern of all words for people; one Chinese character needs "my" before it."""
    longest = sorted(_kin_words(), key=len, reverse=True)
    spaced = "|".join(re.escape(word) for word in longest if word.isascii())
    joined = "|".join(word for word in longest if not word.isascii() and len(word) > 1)
    single = "".join(word for word in longest if not word.isascii() and len(word) == 1)
    before = "".join(find_characters("recall", "before_kin"))
    return re.compile(
        rf"(?P<kin>\b(?:{spaced})(?=s?\b)|{joined}|(?:(?<=[{before}])|^)[{single}])", re.IGNORECASE
    )


@cache
def _name_pattern(name: str) -> re.Pattern[str]:
    edge = r"\b" if name.isascii() else ""
    return re.compile(f"{edge}{re.escape(name)}{edge}")
