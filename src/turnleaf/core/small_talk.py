"""Small talk: greetings, thanks and nods, after which nothing is looked up."""

from __future__ import annotations

import re

from turnleaf.core.languages.words import find_pattern, find_words
from turnleaf.core.terms import fold, is_stop_word, simplify

MAX_CHARS = 80
_QUESTION = re.compile(r"[?？]\s*+$")
_WORD = re.compile(r"[^\W\d_]+")


def is_small_talk(text: str) -> bool:
    """Whether a short text greets, thanks or agrees, and says nothing else."""
    if len(text) > MAX_CHARS:
        return False
    rest = find_pattern("small_talk", "phrases").sub(" ", simplify(fold(text)))
    if any(map(str.isdigit, rest)):
        return False
    allowed = find_words("small_talk", "asked" if _QUESTION.search(text) else "words")
    return all(word in allowed or is_stop_word(word) for word in _WORD.findall(rest))
