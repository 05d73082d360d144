"""Where long texts are cut, and what is embedded of a text.

One vector cannot mean everything in a long text, and a short answer means little by itself: pieces
of a long one are embedded, a short one with what is said around it. A long message is cut into
parts that are passages of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE_COLUMNS = 400
WHOLE_COLUMNS = 600
MOST_PIECES = 64
CONTEXT_COLUMNS = 200
LEAST_CONTEXT_COLUMNS = 80
"""What stands on each side of a text may be as long as the text, or at least so long."""
PART_COLUMNS = 560  # with a name before it no more than is embedded whole
SMALL_PART_COLUMNS = 280
"""What the parts of a paragraph have that is longer than a large one."""
FEW_COLUMNS = 80
"""Paragraphs with fewer are joined, up to twice as many."""

_WIDE = lazy_pattern("[\u2e80-\U000323af]")
_LINE = lazy_pattern(r"[^\n]*+(?:\n\s*+|$)")
_PARAGRAPH = lazy_pattern(r"(?:[^\n]++|\n(?![^\S\n]*+\n))*+(?:\n\s*+|$)")
_HEADING = lazy_pattern(r"^\s*+#|[:：][\s*_]*+$")
_SENTENCE = lazy_pattern(r"[^\n。！？.!?]*+(?:[\n。！？]++|[.!?]++|$)\s*+")


class Part(NamedTuple):
    """A part of a message, and how many of the same paragraph stand before and after it."""

    text: str
    earlier: int = 0
    later: int = 0


def list_texts_to_embed(text: str, before: str = "", after: str = "") -> list[str]:
    """Return what stands for a text: each gets a vector, and the best one counts."""
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


def cut_message(text: str) -> list[Part]:
    """Cut a long message into parts; a short one stays whole.

    What is not much longer than a part becomes two of about equal weight. What is longer speaks of
    several things: each paragraph is a part of its own.
    """
    if 2 * len(text) <= PART_COLUMNS or _columns(text) <= PART_COLUMNS:
        return [Part(text)]
    if _columns(text) <= 2 * PART_COLUMNS:
        return _count_beside(_pack(text, PART_COLUMNS))
    cut = map(_cut_paragraph, _paragraphs(text))
    return [part for paragraph in cut for part in _count_beside(paragraph)]


def _count_beside(texts: Iterable[str]) -> list[Part]:
    """Return what belongs together as parts, without what is empty."""
    said = [text.strip() for text in texts if text.strip()]
    return [Part(text, place, len(said) - 1 - place) for place, text in enumerate(said)]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield what stands between empty lines, short ones together, a heading with what follows."""
    joined, columns = "", 0
    for paragraph in _PARAGRAPH.findall(text):
        added = _columns(paragraph)
        is_short = columns + added <= 2 * FEW_COLUMNS or _HEADING.search(joined)
        if joined and not (columns < FEW_COLUMNS and is_short):
            yield joined
            joined, columns = "", 0
        joined += paragraph
        columns += added
    yield joined


def _cut_paragraph(text: str) -> list[str]:
    return [text] if _columns(text) <= PART_COLUMNS else _pack(text, SMALL_PART_COLUMNS)


def _pack(text: str, most: int) -> list[str]:
    """Cut a text into parts of about equal weight.

    It is cut between lines; a long line between sentences, and a sentence that is longer than a
    part anywhere.
    """
    weighed = [(unit, _columns(unit)) for unit in _units(text)]
    whole = sum(columns for _, columns in weighed)
    wanted = whole / -(-whole // most)
    parts, part, columns = [], "", 0
    for unit, added in weighed:
        is_full = columns + added > most or columns + added / 2 > wanted
        if part and is_full:
            parts.append(part)
            part, columns = "", 0
        part += unit
        columns += added
    return [*parts, part]


def _units(text: str) -> Iterator[str]:
    """Yield what a part is put together from, none of it longer than a part."""
    for line in _LINE.findall(text):
        if _columns(line) <= PART_COLUMNS:
            yield line
            continue
        for sentence in _SENTENCE.findall(line):
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
