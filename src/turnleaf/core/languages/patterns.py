"""Patterns as they stand in the files of a language: parts are put in by name."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Mapping

_PART = re.compile(r"(?<!P)<(\w+)>")
_LINE_END = re.compile(r"\n\s*")


def join_lines(pattern: str) -> str:
    """Return a pattern that is written on several lines as one."""
    return _LINE_END.sub("", pattern.strip("\n"))


def expand(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with its named parts put in, for text in Simplified characters."""
    while _PART.search(pattern):
        pattern = _PART.sub(lambda part: f"(?:{parts[part[1]]})", pattern)
    return simplify(pattern)


# There are many patterns, and a program that never needs some should not wait for them.
@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready for use, which ignores case."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)
