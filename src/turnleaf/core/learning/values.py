"""When two values say the same: one spelling, no articles, and one key for one thing."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from turnleaf.core.data import load_data
from turnleaf.core.terms import fold

_SIGNS = re.compile(r"[\"'`「」『』()!?。.,~*]|(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")
_ARTICLES = re.compile(r"^(?:the|an?|my|our|some|any|all|being|to) ")
_TO_CONSUME = re.compile("^(?:吃|喝|抽)(?=[\u3400-\u9fff]|[a-z])")
_POINTER = re.compile("的?[那這这][台盞盏個个顆颗部]")
_MIXED = re.compile(r"([\u3400-\u9fff]{2,4})([a-z0-9][a-z0-9 +.-]{0,30})")
_DAY = re.compile("(?<=[\\d一二三四五六七八九十])[日號号]\\Z")
_PLURAL = re.compile(r"(?:(?<=[a-z][sxz])es|(?<=[cs]h)es|(?<=[a-z]{2}[^su\W])s)\Z")


@lru_cache(maxsize=8192)
def value_key(value: str) -> str:
    """Return one key for what is called or written in several ways, in either language."""
    words = " ".join(_POINTER.sub("的", _SIGNS.sub("", fold(value))).split())
    words = _DAY.sub("", words)
    while (bare := _ARTICLES.sub("", words)) != words:
        words = bare
    concepts = _concepts()
    singular = _PLURAL.sub("", words)
    if known := concepts.get(words) or concepts.get(singular):
        return known
    bare = _TO_CONSUME.sub("", singular)
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


_MIN_HAN = 2


@cache
def _concepts() -> dict[str, str]:
    """Return the key of each spelling: 花生 and groundnuts are peanuts."""
    table: dict[str, list[str]] = load_data("learning/concepts.toml")["concepts"]
    return {fold(one): key for key, spellings in table.items() for one in (key, *spellings)}
