"""What is embedded of a text: pieces of a long one, a short one with what is said around it.

One vector cannot mean everything in a long text, and a short answer means little by itself.
"""

from __future__ import annotations

import re

PIECE_COLUMNS = 400
WHOLE_COLUMNS = 600
MOST_PIECES = 64
CONTEXT_COLUMNS = 200

_WIDE = re.compile("[\u2e80-\U000323af]")
_SENTENCE = re.compile(r"[^\n。！？.!?]*+(?:[\n。！？]++|[.!?]++|$)\s*+")


def embedded(text: str, before: str = "", after: str = "") -> list[str]:
    """Give what stands for a text: each gets a vector, and the best one counts."""
    cut = pieces(text)
    if len(cut) > 1:
        return cut
    return ["\n".join(part for part in (_end(before), text, _start(after)) if part)]


def pieces(text: str) -> list[str]:
    """Cut a text between sentences into pieces of about equal weight; a short one stays whole.

    A Chinese character counts as two columns, because it says about as much as two letters.
    """
    if 2 * len(text) <= WHOLE_COLUMNS or _columns(text) <= WHOLE_COLUMNS:
        return [text]
    found = [""]
    columns = 0
    for sentence in _SENTENCE.findall(text):
        added = _columns(sentence)
        if found[-1] and columns + added > PIECE_COLUMNS:
            found.append("")
            columns = 0
        found[-1] += sentence
        columns += added
    return [piece for piece in found if piece.strip()][:MOST_PIECES] or [text]


def _start(text: str) -> str:
    wide = 0
    for place, char in enumerate(text):
        wide += _columns(char)
        if wide > CONTEXT_COLUMNS:
            return text[:place]
    return text


def _end(text: str) -> str:
    return _start(text[: -CONTEXT_COLUMNS - 1 : -1])[::-1]


def _columns(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
