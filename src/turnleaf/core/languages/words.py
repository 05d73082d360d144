"""Words and patterns that a part of the program looks for in any language: each one's `words.toml`.

People mix languages, so what is looked for is joined over all of them. Patterns see plain text in
Simplified characters. How a language asks to remember and to forget is in its `requests.toml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from turnleaf.core.loading import find_folders, load_data, make_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Numerals = tuple[Mapping[str, int], str]


FILE = "words.toml"
_NOTHING = "(?!)"


class Words:
    """The words of one language, one table for each part of the program."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def text(self, part: str, name: str) -> str:
        """Return a text as it stands in the file; "" if there is none."""
        text: str = self._data.get(part, {}).get(name, "")
        return text

    def pattern(self, part: str, name: str) -> str:
        """Return a pattern with the parts of the table `parts` put in; "" if there is none."""
        return expand(join_lines(self.text(part, name)), self._data.get("parts", {}))


def join_texts(part: str, name: str) -> str:
    """Return a text in all languages that have it, one per line."""
    return "\n".join(filter(None, (words.text(part, name) for words in _list_words())))


@cache
def find_words(part: str, name: str) -> frozenset[str]:
    """Return the words of a list, in any language and in Simplified characters."""
    return frozenset(simplify(join_texts(part, name)).split())


@cache
def find_characters(part: str, name: str) -> frozenset[str]:
    """Return the characters of a list, in any language and in Simplified characters."""
    return frozenset("".join(find_words(part, name)))


@cache
def find_pattern(part: str, name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return the pattern of a name in every language, between two that all share."""
    return compile_pattern(f"{before}{join_patterns(part, name)}{after}")


def join_patterns(part: str, name: str) -> str:
    """Return the pattern of a name in every language, as a part of a longer one."""
    found = filter(None, (words.pattern(part, name) for words in _list_words()))
    return f"(?:{'|'.join(found) or _NOTHING})"


def respell(part: str, name: str, text: str) -> str:
    """Return a text with the replacements of every language: pairs of a pattern and a text."""
    pairs = (pair for table in find_tables(part) for pair in table.get(name, ()))
    for pattern, spelling in pairs:
        text = compile_pattern(simplify(pattern)).sub(simplify(spelling), text)
    return text


def find_tables(part: str) -> list[Mapping[str, Any]]:
    """Return a table from each language that has it."""
    return [data[part] for data in _list_data() if part in data]


def _list_words() -> Iterator[Words]:
    return map(Words, _list_data())


def _list_data() -> Iterator[Mapping[str, Any]]:
    return (load_data(f"languages/{name}/{FILE}") for name in find_folders("languages", FILE))


# A named group of the pattern itself has a P before its bracket.
_PART = make_pattern(r"(?<!P)<(\w+)>")
_LINE_END = make_pattern(r"\n\s*")


def join_lines(pattern: str) -> str:
    """Return a pattern that is written on several lines as one."""
    return _LINE_END.sub("", pattern.strip("\n"))


def expand(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with its named parts put in, for text in Simplified characters."""
    # A part may name other parts.
    while _PART.search(pattern):
        pattern = _PART.sub(lambda part: f"(?:{parts[part[1]]})", pattern)
    return simplify(pattern)


# There are many patterns, and a program that never needs some should not wait for them.
@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready for use, which ignores case."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def read_number(text: str) -> int:
    """Return the value of digits or numerals; raise ValueError for anything else."""
    if text.isdigit():
        return int(text)
    if (known := load_number_words().get(text.lower())) is not None:
        return known
    readings = (_read_numerals(text, *numerals) for numerals in _load_numerals())
    number = next((number for number in readings if number is not None), None)
    if number is None:
        message = f"not a number: {text}"
        raise ValueError(message)
    return number


@cache
def load_number_words() -> dict[str, int]:
    """Return the numbers that are words."""
    return {
        word: number
        for table in find_tables("numbers")
        for word, number in table.get("words", {}).items()
    }


def _read_numerals(text: str, digits: Mapping[str, int], ten: str) -> int | None:
    """Return the value of numerals below a hundred, or written digit by digit, if they are any."""
    if not digits.keys() >= {*text} - {ten}:
        return None
    if ten not in text:
        return int("".join(str(digits[char]) for char in text))
    tens, _, ones = text.partition(ten)
    # Eleven to nineteen begin with the sign for ten, without a one before it.
    return 10 * digits.get(tens, 1) + digits.get(ones, 0)


@cache
def _load_numerals() -> tuple[Numerals, ...]:
    """Return the digits and the sign for ten of each language that has its own."""
    tables = (table for table in find_tables("numbers") if "digits" in table)
    return tuple((_simplify_keys(table["digits"]), table["ten"]) for table in tables)


def _simplify_keys(table: Mapping[str, Any]) -> dict[str, Any]:
    return {simplify(key): value for key, value in table.items()}


Action: TypeAlias = Literal["remember", "forget"]

HEAD_CHARS = 150
"""Within so many characters a wish says what it is."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A way to ask, which has one of the `cues` in its head, and how far it may reach."""

    action: Action
    pattern: str
    cues: tuple[str, ...]
    reach: int

    def match(self, plain: str) -> re.Match[str] | None:
        """Return the match at the beginning of a text in Simplified characters, if any."""
        head = plain[:HEAD_CHARS].lower()
        # To look for a word is cheaper than to try a pattern, and most messages ask for nothing.
        if not any(cue in head for cue in self.cues):
            return None
        return compile_pattern(self.pattern).match(plain[: self.reach])


class RequestWords:
    """The words and patterns of requests in one language."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._parts = {name: join_lines(text) for name, text in data["parts"].items()}
        self.wishes = tuple(map(self._read_wish, data["wishes"]))
        self.misread: tuple[str, ...] = tuple(data.get("misread", ()))
        meant = data["meant"]
        self.grammar: str = meant["grammar"]
        self.persons = [(simplify(own), simplify(told)) for own, told in meant["persons"]]

    def pattern(self, name: str) -> str:
        """Return a pattern by its name; one that never matches if the language has none."""
        return self._expand(self._data.get(name, "(?!)"))

    def fact_pattern(self, name: str) -> str:
        """Return a pattern of words in which facts are named."""
        return self._expand(self._data["meant"].get(name, "(?!)"))

    def text(self, name: str) -> str:
        """Return a short text, such as a particle that ends a sentence."""
        text: str = self._data.get(name, "")
        return simplify(text)

    def _read_wish(self, fields: Mapping[str, Any]) -> Wish:
        cues = tuple(simplify(cue) for cue in fields["cues"].split())
        pattern = self._expand(fields["pattern"])
        return Wish(fields["action"], pattern, cues, fields.get("reach", HEAD_CHARS))

    def _expand(self, pattern: str) -> str:
        return expand(join_lines(pattern), self._parts)
