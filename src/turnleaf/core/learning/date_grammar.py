"""How a language speaks of dates: its words, rules and forms, read from its data file.

All rules of a language are one pattern, so a text is searched once. Each group of a rule carries
the rule's number in its name, because a pattern may have every name only once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from turnleaf.core.data import load_data
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "dates.toml"
_PLACE = lazy_pattern(r"%(?:(?P<bare>:)|(?P<alias>\w+)=)?(?P<name>[a-z_]+\d?)%")
_GROUP = lazy_pattern(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class DateRule:
    """What words for a date look like, and how they are to be understood."""

    reads: str
    """The name of what works out the days, or "leave"."""
    pattern: str
    form: str = ""
    shift: int | None = None
    part: str = ""
    needs: str = ""
    """What the clause must say for this to be a date: "tense", "future", "not past" or "stay"."""
    unless: Sequence[str] = ()
    """The marks with which this is no date: "habit", "yearly", "naming"."""


@dataclass(frozen=True, slots=True)
class DateGrammar:
    """The words, rules and forms of one language."""

    rules: Sequence[DateRule]
    pattern: re.Pattern[str]
    words: Mapping[str, Mapping[str, Any]]
    forms: Mapping[str, Sequence[str]]
    roles: Mapping[str, str]
    """What each word before a date makes of it: an end, a beginning, …"""
    trails: Mapping[str, re.Pattern[str]]
    """What follows a date and makes it an end or a beginning."""
    marks: Mapping[str, re.Pattern[str]]
    subject: re.Pattern[str] | None
    verb_stands: str
    has_loose_weekdays: bool

    def find_rule(self, match: re.Match[str]) -> tuple[DateRule, dict[str, tuple[int, int]]]:
        """Return the rule that found something, and where its groups stand."""
        ending = (match.lastgroup or "").removeprefix("rule")
        spans = {
            name.removesuffix(ending): match.span(name)
            for name, said in match.groupdict().items()
            if said is not None and name.endswith(ending)
        }
        return self.rules[int(ending.removeprefix("_"))], spans


@cache
def load_grammar(language: str) -> DateGrammar:
    """Return the grammar of a language whose folder has one."""
    data = load_data(f"languages/{language}/{FILE}")
    # What is written stays in the script of the file; what is read is compared in Simplified.
    table = {name: _simplify(part) for name, part in data.items()} | {"forms": data["forms"]}
    rules = [DateRule(**rule | {"pattern": simplify(rule["pattern"])}) for rule in data["rule"]]
    return DateGrammar(
        rules,
        _compile_rules(rules, table),
        table["words"],
        table["forms"],
        {word: role for role, words in table["leads"].items() for word in words},
        {role: re.compile("|".join(words)) for role, words in table.get("trails", {}).items()},
        {name: _compile(mark, table) for name, mark in table["marks"].items() if mark},
        re.compile(table["subject"]) if table["subject"] else None,
        table["verb_stands"],
        table["loose_weekdays"],
    )


def _simplify(data: Any) -> Any:  # noqa: ANN401 - any part of a TOML file
    if isinstance(data, str):
        return simplify(data)
    if isinstance(data, list):
        return [*map(_simplify, data)]
    if isinstance(data, dict):
        return {simplify(key): _simplify(value) for key, value in data.items()}
    return data


def _compile_rules(rules: Sequence[DateRule], table: Mapping[str, Any]) -> re.Pattern[str]:
    numbered = (_number_groups(rule.pattern, number, table) for number, rule in enumerate(rules))
    start, end = table["boundary"]
    return re.compile(f"{start}(?:{'|'.join(numbered)}){end}", re.IGNORECASE)


def _number_groups(pattern: str, number: int, table: Mapping[str, Any]) -> str:
    whole = f"(?P<rule>{_expand(pattern, table)})"
    return _GROUP.sub(rf"(?P<\1_{number}>", whole)


def _compile(marks: Sequence[str], table: Mapping[str, Any]) -> re.Pattern[str]:
    is_spaced = bool(table["boundary"][0])
    edges = ("(?:(?<![A-Za-z0-9])|(?=['’]))", "(?![A-Za-z0-9])") if is_spaced else ("", "")
    return re.compile(f"{edges[0]}(?:{_expand('|'.join(marks), table)}){edges[1]}", re.IGNORECASE)


def _expand(pattern: str, table: Mapping[str, Any]) -> str:
    """Put words and patterns where a pattern names them."""

    def replace_place(place: re.Match[str]) -> str:
        inner = _expand(_alternatives(place["name"], table), table)
        return (
            f"(?:{inner})" if place["bare"] else f"(?P<{place['alias'] or place['name']}>{inner})"
        )

    return _PLACE.sub(replace_place, pattern)


def _alternatives(name: str, table: Mapping[str, Any]) -> str:
    if name in table["patterns"]:
        return str(table["patterns"][name])
    words = sorted(table["words"][name], key=len, reverse=True)
    return "|".join(word.replace(" ", r"\s") for word in words)
