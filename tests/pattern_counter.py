"""A program that counts the characters that whole turns hand to patterns.

Each line that it reads is a question and an answer in JSON; it has the turn, learns from it, and
prints the count. It replaces the standard library's `re.compile` before Turnleaf is imported, so
that every pattern counts but those of the libraries that it has imported itself.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import tomllib  # noqa: F401 - imported before counting begins
from collections.abc import Callable
from importlib import import_module
from typing import Any

import apsw  # noqa: F401
import pydantic  # noqa: F401

TEXT_PLACES = {"search": 0, "match": 0, "fullmatch": 0, "findall": 0, "finditer": 0} | {
    "split": 0,
    "sub": 1,
    "subn": 1,
}
"""Which argument of a pattern's method is the text."""
RANGED = frozenset({"search", "match", "fullmatch", "findall", "finditer"})
real_compile = re.compile
characters = 0


def add(text: str | bytes, start: int = 0, end: int = sys.maxsize) -> None:
    """Count what lies between two places of a text."""
    global characters  # noqa: PLW0603
    characters += max(0, min(end, len(text)) - start)


class CountingPattern:
    """A pattern that counts the characters it is given."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.pattern_itself = pattern

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        found = getattr(self.pattern_itself, name)
        return counting(found, name, TEXT_PLACES[name]) if name in TEXT_PLACES else found


def counting(work: Callable[..., Any], name: str, place: int) -> Callable[..., Any]:
    """Make a function that counts the text among its arguments before it works."""

    def count_and_work(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        add(*given[place:] if name in RANGED else given[place : place + 1])
        return work(*given, **named)

    return count_and_work


def count_patterns() -> None:
    """Count the use of every pattern compiled from now on, and of the functions of `re`."""
    for name, place in TEXT_PLACES.items():
        setattr(re, name, counting(getattr(re, name), "", place + 1))
    re.compile = lambda *given, **named: CountingPattern(real_compile(*given, **named))  # type: ignore[assignment]


def main() -> None:
    """Take the turns that are asked for."""
    global characters  # noqa: PLW0603
    count_patterns()
    assistant = import_module("turnleaf.assistant")
    model = import_module("tests.standins.scripted_model").ScriptedModel

    def talk(question: str, answer: str) -> None:
        mouth = model(turns=[[answer]])
        with (
            tempfile.TemporaryDirectory() as folder,
            assistant.Assistant(folder, model=mouth) as one,
        ):
            one.reply("cli:count", question)
            one.flush()

    talk("I live in Leeds. 我住在台北。", "The tables of both languages are read once.")
    for line in sys.stdin:
        characters = 0
        talk(*json.loads(line))
        sys.stdout.write(f"{characters}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
