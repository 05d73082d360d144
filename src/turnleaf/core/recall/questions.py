"""What a question asks for: what kind of thing, about whom, and what an answer must speak of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.words import find_pattern, join_texts
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.recall.meanings import find_meanings, find_words, meanings
from turnleaf.core.recall.people import find_people
from turnleaf.core.search.terms import (
    WORD,
    fold,
    is_stop_word,
    is_unspaced,
    parse_query,
    simplify,
    terms,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.core.recall.meanings import Word

KINDS = ("time", "place", "person", "number", "often", "age")
MAX_CHARS = 400
"""Of a longer text the end asks."""
_LAST_WORD = lazy_pattern(r"([a-z0-9][a-z0-9-]*) \Z")
_NAME = lazy_pattern(r"(?<=[a-z,'’0-9] )(?-i:[A-Z])[a-zA-Z]{2,20}")


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that a question speaks of, as the terms of its words, and what they mean.

    One that `is_sought` is what the question asks for: which car, and not something about a car.
    The `modifier` stands right before it: the home of home insurance.
    """

    terms: frozenset[str]
    meanings: frozenset[str] = frozenset()
    is_sought: bool = False
    modifier: frozenset[str] = frozenset()

    @property
    def is_strict(self) -> bool:
        """Whether a passage without it answers something else."""
        return bool(self.meanings) and not any(meanings()[name].is_loose for name in self.meanings)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for, about whom, and what an answer speaks of."""

    kinds: frozenset[str]
    people: frozenset[str]
    is_own: bool
    """Whether it is about the user and nobody else."""
    names: frozenset[str]
    """The terms of names in it."""
    things: tuple[Thing, ...]


def asks(text: str) -> bool:
    """Whether a message asks something."""
    return find_pattern("recall", "question", r"[?？]\s*+$|").search(simplify(text)) is not None


def read_question(text: str, names: frozenset[tuple[str, str]] = frozenset()) -> Question:
    """Return what a message asks for; `names` are known, each with whose it is."""
    text = text[-MAX_CHARS:]
    plain = simplify(text)
    people = find_people(text, names)
    kinds = frozenset(one for one in KINDS if find_pattern("recall", f"asks_{one}").search(plain))
    known = {name for name, _ in names if name in plain.lower()}
    named = {*known, *(one.lower() for one in _NAME.findall(text) if not _is_known(one))}
    is_own = not people and find_pattern("recall", "first_person").search(plain) is not None
    name_terms = frozenset(terms(" ".join(named)))
    folded = fold(text)
    # The words of asking may stand within another: 考什麼試.
    joined = find_pattern("recall", "within").sub("", folded)
    things = [*_find_things(folded, name_terms)] or [*_find_things(joined, name_terms)]
    # "Like" is a stop word, and all that "What do I like?" asks for.
    things = things or [*_find_common_words(folded)]
    return Question(kinds, people, is_own and not named, name_terms, tuple(dict.fromkeys(things)))


def _is_known(name: str) -> bool:
    return bool(find_words(fold(name)))


def _find_things(folded: str, named: frozenset[str]) -> Iterator[Thing]:
    """Go over what a question speaks of; people and names are looked for by themselves."""
    end = 0
    for word in sorted(find_words(folded), key=lambda one: one.start):
        yield from _read_unknown(folded[end : word.start], named)
        if thing := _read_known(folded, word):
            yield thing
        end = word.end
    yield from _read_unknown(folded[end:], named)


def _read_known(folded: str, word: Word) -> Thing | None:
    text, own = folded[word.start : word.end], find_meanings(word.key)
    if find_people(text) or is_stop_word(text) or (not own and _says_nothing(text)):
        return None
    before = folded[: word.start]
    is_sought = find_pattern("recall", "sought").search(before) is not None
    return Thing(_telling_terms(text), own, is_sought, _find_modifier(before))


def _find_common_words(folded: str) -> Iterator[Thing]:
    """Go over stop words that have a meaning of their own, for a question without other words."""
    for word in find_words(folded):
        text, own = folded[word.start : word.end], find_meanings(word.key)
        if own and is_stop_word(text) and not find_people(text):
            yield Thing(_telling_terms(text), own)


def _says_nothing(text: str) -> bool:
    return all(is_stop_word(word) or word in _asking_words() for word in WORD.findall(text))


def _find_modifier(before: str) -> frozenset[str]:
    """Return the terms of the word right before another: the home of home insurance."""
    last = _LAST_WORD.search(before)
    is_telling = last is not None and not _says_nothing(last[1])
    return frozenset(terms(last[1])) if last is not None and is_telling else frozenset()


def _read_unknown(part: str, named: frozenset[str]) -> Iterator[Thing]:
    """Go over words of which no meaning is known: each one, or a run of characters."""
    for word in WORD.findall(part):
        own = frozenset(terms(word))
        if not (_says_nothing(word) or own & named or find_people(word)):
            yield Thing(own)
    run = "".join(char if is_unspaced(char) else " " for char in part)
    bare = find_pattern("recall", "filler").sub(" ", _strip_people(run))
    pairs = frozenset(term for term in parse_query(bare).terms if len(term) > 1)
    telling = frozenset(pair for pair in pairs if any(map(is_unspaced, pair))) - named
    if telling:
        yield Thing(telling)


def _strip_people(run: str) -> str:
    return " ".join(part for part in run.split() if not find_people(part))


def _telling_terms(text: str) -> frozenset[str]:
    found = terms(text)
    longer = frozenset(term for term in found if len(term) > 1)
    return longer or frozenset(found)


@cache
def _asking_words() -> frozenset[str]:
    """Return the words of asking that say nothing about what is asked."""
    return frozenset(fold(join_texts("recall", "asking")).split())
