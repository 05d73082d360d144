"""`SpanWords`: how a language names past times, from its `date_ranges.toml`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from turnleaf.core.data import find_folders, load_data
from turnleaf.core.languages.words import compile_pattern, expand
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

FILE = "date_ranges.toml"
# No word in Latin letters is a part of a longer one.
_START = r"(?:(?<![A-Za-z0-9])|(?![\x00-\x7f]))"
_END = r"(?:(?![A-Za-z0-9])|(?<![\x00-\x7f]))"
_NOTHING = "(?!)"


class SpanWords:
    """The rules, words and edges of times in one language."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.words: dict[str, dict[str, Any]] = {
            name: {simplify(word): meaning for word, meaning in table.items()}
            for name, table in data["words"].items()
        }
        self._parts: dict[str, str] = {
            name: "|".join(sorted(words, key=len, reverse=True))
            for name, words in self.words.items()
        } | data.get("parts", {})
        self._edges: Mapping[str, str] = data.get("edges", {})
        self.rules = [(one["reads"], self._expand(one["pattern"])) for one in data["rule"]]

    def edge(self, name: str) -> str:
        """Return a pattern of what stands around a time; nothing if there is none."""
        return self._expand(self._edges.get(name, ""))

    def _expand(self, pattern: str) -> str:
        return expand(pattern, self._parts)


@cache
def load_span_words(language: str) -> SpanWords:
    """Return how a language names times; its folder has a file of them."""
    return SpanWords(load_data(f"languages/{language}/{FILE}"))


@cache
def find_meanings(table: str) -> dict[str, Any]:
    """Return what the words of a table mean, in any language."""
    tables = (words.words.get(table, {}) for words in _all_span_words())
    return {word: meaning for one in tables for word, meaning in one.items()}


@cache
def find_edge(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return what an edge is in any language, between two patterns that all share."""
    edges = (words.edge(name) for words in _all_span_words())
    return compile_pattern(f"{before}(?:{'|'.join(filter(None, edges)) or _NOTHING}){after}")


def _all_span_words() -> Iterator[SpanWords]:
    return map(load_span_words, find_folders("languages", FILE))


# There are many rules, and most texts need few of them.
@cache
def compile_rule(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a rule, compiled when it is first needed."""
    return compile_pattern(f"{_START}(?:{pattern}){_END}")
