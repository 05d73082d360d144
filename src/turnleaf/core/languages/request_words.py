"""`RequestWords`: how a language asks to remember and to forget, read from its `requests.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from turnleaf.core.languages.words import compile_pattern, expand, join_lines
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

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
        """Match the beginning of a text in Simplified characters."""
        head = plain[:HEAD_CHARS].lower()
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
        """Return a pattern that every language has; one that never matches if this has none."""
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
