"""What words mean in questions about somebody's own life: what is the same, what is a kind of it.

Search by words knows no word but the one that was typed. Who asks for a herb is answered by
cilantro, and who asks for a birthday is not answered by a wedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.data import load_data
from turnleaf.core.languages.words import compile_pattern, find_tables
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import WORD, fold, is_unspaced, simplify, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_WORDS = 4
PARTS = ("words", "kinds", "near", "unless")
MAX_CHARS = 8
_NAMED_THINGS = "~"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing: the words for it, kinds of it, and what an answer may or must not speak of."""

    words: frozenset[str]
    kinds: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    is_loose: bool = False
    shape: str = ""

    def has_shape(self, text: str) -> bool:
        """Whether a text in Simplified characters says it in a way that no list could hold."""
        return bool(self.shape) and compile_pattern(self.shape).search(text) is not None


class Word(NamedTuple):
    """A known word, and where it stands in the folded text."""

    key: str
    start: int
    end: int


@cache
def meanings() -> dict[str, Meaning]:
    """Return all that words can mean, by name."""
    told = {name: _read(entry) for name, entry in load_data("recall/meanings.toml").items()}
    return told | dict(_named_things())


@cache
def find_meanings(key: str) -> frozenset[str]:
    """Return the names of what a word means."""
    return frozenset(name for name, one in meanings().items() if key in one.words)


@lru_cache(maxsize=4096)
def find_words(text: str) -> tuple[Word, ...]:
    """Return the known words of a folded text, in order, the longest at each place."""
    return tuple(_find_spaced(text)) + tuple(_find_unspaced(text))


@lru_cache(maxsize=4096)
def find_keys(text: str) -> frozenset[str]:
    """Return the keys of all known words of a folded text, also those within longer ones."""
    spaced = (key for key, *_ in _list_phrases(text))
    return frozenset(spaced) & _all_keys() | {word.key for word in _find_unspaced(text)}


def _list_phrases(text: str) -> Iterator[Word]:
    """Return the phrases of spaced words, at each place the longest first."""
    found = [*WORD.finditer(text)]
    for first in range(len(found)):
        for last in range(min(first + MAX_WORDS, len(found)), first, -1):
            part = found[first:last]
            yield Word(_key(one[0] for one in part), part[0].start(), part[-1].end())


def _find_spaced(text: str) -> Iterator[Word]:
    end = 0
    for word in _list_phrases(text):
        if word.start >= end and word.key in _all_keys():
            end = word.end
            yield word


def _find_unspaced(text: str) -> Iterator[Word]:
    start = 0
    while start < len(text):
        if not is_unspaced(text[start]):
            start += 1
            continue
        ends = range(min(start + MAX_CHARS, len(text)), start, -1)
        end = next((end for end in ends if text[start:end] in _all_keys()), None)
        if end:
            yield Word(text[start:end], start, end)
        start = end or start + 1


@cache
def _all_keys() -> frozenset[str]:
    parts = ((one.words, one.kinds, one.near, one.unless) for one in meanings().values())
    return frozenset().union(*chain.from_iterable(parts))


def _read(entry: Mapping[str, Any]) -> Meaning:
    words, kinds, near, unless = (_read_list(entry.get(part, "")) for part in PARTS)
    is_loose, shape = entry.get("loose", False), simplify(entry.get("shape", ""))
    return Meaning(words, kinds, near, unless, is_loose, shape)


def _read_list(given: str) -> frozenset[str]:
    return frozenset(map(_read_entry, filter(None, map(str.strip, given.split(",")))))


def _read_entry(entry: str) -> str:
    folded = fold(entry)
    return folded if _HAN.search(folded) else _key(WORD.findall(folded))


def _key(words: Iterable[str]) -> str:
    return " ".join(terms(word)[-1] for word in words)


def _named_things() -> Iterator[tuple[str, Meaning]]:
    """Return the things that have names in several languages, such as foods and places."""
    shared = load_data("learning/concepts.toml")["concepts"]
    tables = (shared, *find_tables("concepts"))
    for key, spellings in chain.from_iterable(table.items() for table in tables):
        yield f"{_NAMED_THINGS}{key}", Meaning(frozenset(map(_read_entry, (key, *spellings))))


_HAN = lazy_pattern("[\u3400-\u9fff]")
