"""Which parts of a text are what was asked for, so that they can be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.terms import UNSPACED, WORD, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# Accents and points that stand by themselves are in words, and in no term.
_ACCENT = "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f]"
_WORD = f"(?:{WORD.pattern})"
_TOKEN = re.compile(f"(?P<run>[{UNSPACED}]+)|{_WORD}(?:{_ACCENT}++{_WORD}?+)*+")


def marks(text: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """Give the places in a text, first and last, that match one of the terms.

    A single Chinese character is marked only where no longer match is.
    """
    return _joined(_matches(text, wanted, 2)) or _joined(_matches(text, wanted, 1))


def matched(text: str, wanted: Collection[str]) -> list[str]:
    """Give the parts of a text that match one of the terms, as they stand there, each once."""
    return list(dict.fromkeys(text[start:end] for start, end in marks(text, wanted)))


def _matches(text: str, wanted: Collection[str], width: int) -> Iterator[tuple[int, int]]:
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if not token["run"]:
            if not set(terms(token[0])).isdisjoint(wanted):
                yield start, end
            continue
        for first in range(start, end - width + 1):
            if terms(text[first : first + width])[0] in wanted:
                yield first, first + width


def _joined(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
