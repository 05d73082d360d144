"""Where long texts are cut, and what is embedded of a text.

One vector cannot mean everything in a long text, and a short answer means little by itself: pieces
of a long one are embedded, a short one with what is said around it. A long message is cut into
parts that are passages of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_COLUMNS = 400
WHOLE_COLUMNS = 600
MOST_PIECES = 64
CONTEXT_COLUMNS = 200
LEAST_CONTEXT_COLUMNS = 80
"""What stands on each side of a text may be as long as the text, or at least so long."""
PART_COLUMNS = 560  # with a name before it no more than is embedded whole
SMALL_PART_COLUMNS = 280
"""What the parts of a message have that is longer than two large ones."""

_WIDE = re.compile("[\u2e80-\U000323af]")
_PARAGRAPH = re.compile(r"[^\n]*+(?:\n\s*+|$)")
_SENTENCE = re.compile(r"[^\n。！？.!?]*+(?:[\n。！？]++|[.!?]++|$)\s*+")


def embedded(text: str, before: str = "", after: str = "") -> list[str]:
    """Give what stands for a text: each gets a vector, and the best one counts."""
    cut = pieces(text)
    if len(cut) > 1:
        return cut
    columns = min(CONTEXT_COLUMNS, max(LEAST_CONTEXT_COLUMNS, _columns(text)))
    around = (_end(before, columns), text, _start(after, columns))
    return ["\n".join(part for part in around if part)]


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


def cut_message(text: str) -> list[str]:
    """Cut a long message into parts of about equal weight; a short one stays whole.

    It is cut between paragraphs; a long paragraph between sentences, and a sentence that is longer
    than a part anywhere. What would be more than two parts is cut into smaller ones: it speaks of
    several things, and a prompt has room for few large parts.
    """
    if 2 * len(text) <= PART_COLUMNS or _columns(text) <= PART_COLUMNS:
        return [text]
    weighed = [(unit, _columns(unit)) for unit in _units(text)]
    whole = sum(columns for _, columns in weighed)
    most = PART_COLUMNS if whole <= 2 * PART_COLUMNS else SMALL_PART_COLUMNS
    wanted = whole / -(-whole // most)
    parts, part, columns = [], "", 0
    for unit, added in weighed:
        is_full = columns + added > most or columns + added / 2 > wanted
        if part and is_full:
            parts.append(part)
            part, columns = "", 0
        part += unit
        columns += added
    return [part.strip() for part in (*parts, part) if part.strip()]


def _units(text: str) -> Iterator[str]:
    """Yield what a part is put together from, none of it longer than a part."""
    for paragraph in _PARAGRAPH.findall(text):
        if _columns(paragraph) <= PART_COLUMNS:
            yield paragraph
            continue
        for sentence in _SENTENCE.findall(paragraph):
            if _columns(sentence) <= PART_COLUMNS:
                yield sentence
            else:
                for start in range(0, len(sentence), PART_COLUMNS // 2):
                    yield sentence[start : start + PART_COLUMNS // 2]


def _start(text: str, columns: int) -> str:
    wide = 0
    for place, char in enumerate(text):
        wide += _columns(char)
        if wide > columns:
            return text[:place]
    return text


def _end(text: str, columns: int) -> str:
    return _start(text[: -columns - 1 : -1], columns)[::-1]


def _columns(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
