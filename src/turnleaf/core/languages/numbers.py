"""Numbers in digits, words or numerals: `numbers` in each language's `words.toml`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.words import find_tables
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numerals = tuple[Mapping[str, int], str]


def read_number(text: str) -> int:
    """Return what digits or numerals say; what is no number raises ValueError."""
    if text.isdigit():
        return int(text)
    if (known := number_words().get(text.lower())) is not None:
        return known
    readings = (_read_numerals(text, *numerals) for numerals in _numerals())
    number = next((number for number in readings if number is not None), None)
    if number is None:
        message = f"not a number: {text}"
        raise ValueError(message)
    return number


@cache
def number_words() -> dict[str, int]:
    """Return the numbers that are words."""
    return {
        word: number
        for table in find_tables("numbers")
        for word, number in table.get("words", {}).items()
    }


def _read_numerals(text: str, digits: Mapping[str, int], ten: str) -> int | None:
    """Return a number below a hundred, or one that is written digit by digit."""
    if not digits.keys() >= {*text} - {ten}:
        return None
    if ten not in text:
        return int("".join(str(digits[char]) for char in text))
    tens, _, ones = text.partition(ten)
    return 10 * digits.get(tens, 1) + digits.get(ones, 0)


@cache
def _numerals() -> tuple[Numerals, ...]:
    """Return the digits of each language that has its own, and its sign for ten."""
    tables = (table for table in find_tables("numbers") if "digits" in table)
    return tuple((_simplify_keys(table["digits"]), table["ten"]) for table in tables)


def _simplify_keys(table: Mapping[str, Any]) -> dict[str, Any]:
    return {simplify(key): value for key, value in table.items()}
