"""When two values say the same: one spelling, no articles, and one key for one thing."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain

from turnleaf.core.data import load_data
from turnleaf.core.languages.words import find_pattern, find_tables, respell
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import fold

_SIGNS = lazy_pattern(r"[\"'`「」『』()!?。.,~*]|(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")
_MIXED = lazy_pattern(r"([\u3400-\u9fff]{2,4})([a-z0-9][a-z0-9 +.-]{0,30})")
"""A maker in Chinese before a model in letters, which people also write in letters."""


@lru_cache(maxsize=8192)
def value_key(value: str) -> str:
    """Return one key for what is called or written in several ways, in either language."""
    words = " ".join(respell("facts", "spellings", _SIGNS.sub("", fold(value))).split())
    articles = find_pattern("facts", "articles", "^")
    while (bare := articles.sub("", words)) != words:
        words = bare
    concepts = _concepts()
    singular = find_pattern("facts", "plural", after=r"\Z").sub("", words)
    if known := concepts.get(words) or concepts.get(singular):
        return known
    bare = find_pattern("facts", "to_consume", "^").sub("", singular)
    mixed = _MIXED.fullmatch(bare)
    if mixed and mixed[1] in concepts:
        return f"{concepts[mixed[1]]} {mixed[2]}"
    return concepts.get(bare, bare)


def covers(value: str, other: str) -> bool:
    """Whether a value says what the other one says, or the same with more detail."""
    first, second = value_key(value), value_key(other)
    if first == second:
        return True
    if not first or not second:
        return False
    if first.isascii() and second.isascii():
        return {*second.split()} <= {*first.split()}
    return len(second) >= _MIN_HAN and second in first


def mentions(value: str, named: str) -> bool:
    """Whether a value holds what is named, in whatever form its words are: run, running."""
    if not (value.isascii() and named.isascii()):
        return covers(value, named)
    pairs = ((value_key(value), value_key(named)), (fold(value), fold(named)))
    return any(
        bool(second) and {*map(_stem, second.split())} <= {*map(_stem, first.split())}
        for first, second in pairs
    )


def _stem(word: str) -> str:
    """Return a word without its ending: running, runs and runner meet."""
    bare = _ENDING.sub("", word)
    return bare[:-1] if bare != word and bare[-2:-1] == bare[-1:] else bare


_ENDING = lazy_pattern(r"(?<=[a-z]{3})(?:ing|ers?|es|ed|e|s)\Z")
_MIN_HAN = 2


@cache
def _concepts() -> dict[str, str]:
    """Return the key of each spelling: 花生 and groundnuts are peanuts."""
    shared = load_data("learning/concepts.toml")["concepts"]
    pairs = chain.from_iterable(table.items() for table in (shared, *find_tables("concepts")))
    return {fold(one): key for key, spellings in pairs for one in (key, *spellings)}
