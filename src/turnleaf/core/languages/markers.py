"""`Telling`: what tells that a text is in a language, read from its `detection.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.words import join_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "detection.toml"
_HAN = re.compile("[\u3400-\u9fff]")


class Telling:
    """The words and letters of one language that other languages do not have."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._words = _compile(data["words"])
        self._letters = _compile(data["letters"]) if "letters" in data else None
        self._charsets: tuple[str, ...] = tuple(data.get("charsets", ()))
        self._other_charsets: tuple[str, ...] = tuple(data.get("other_charsets", ()))
        self.rank: int = data["rank"]
        self.stands_alone: bool = data.get("stands_alone", False)
        self.simplified = _compile(data["simplified"]) if "simplified" in data else None

    @property
    def has_letters(self) -> bool:
        """Whether the language is written in letters that tell it."""
        return self._letters is not None

    def count(self, text: str) -> int:
        """Count what of a text is of this language."""
        return len(self._words.findall(text)) + len(self._find_own(text))

    def has_words(self, text: str) -> bool:
        """Whether a text has a word that only this language has."""
        return self._words.search(text) is not None

    def shows_in(self, text: str) -> bool:
        """Whether a text has a letter that tells this language."""
        return self._letters is not None and self._letters.search(text) is not None

    def _find_own(self, text: str) -> set[str]:
        """Return the Han characters that only the standard of this language's country has."""
        if not self._charsets:
            return set()
        return find_han(text, *self._charsets) - find_han(text, *self._other_charsets)


def find_han(text: str, *charsets: str) -> set[str]:
    """Return the Han characters of a text that one of some countries' standards has."""
    han = "".join(_HAN.findall(text))
    return {char for one in charsets for char in han.encode(one, "ignore").decode(one)}


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(join_lines(pattern), re.IGNORECASE)
