"""When two values say the same: one spelling, no articles, and one key for one thing."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain

from turnleaf.core.data import load_data
from turnleaf.core.languages.words import find_pattern, find_tables, respell
from turnleaf.core.terms import fold

_SIGNS = re.compile(r"[\"'`「」『』()!?。.,~*]|(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")


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


_MIN_HAN = 2


@cache
def _concepts() -> dict[str, str]:
    """Return the key of each spelling: 花生 and groundnuts are peanuts."""
    shared = load_data("learning/concepts.toml")["concepts"]
    pairs = chain.from_iterable(table.items() for table in (shared, *find_tables("concepts")))
    return {fold(one): key for key, spellings in pairs for one in (key, *spellings)}
