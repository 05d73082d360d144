"""Marks by which a model shows what a sentence rests on: asked for, taken out, checked.

A fact is marked by its id, a passage by its number in this prompt. Nobody sees a mark: the text is
cleaned while it streams. A mark alone proves nothing, because models mark wrongly: a source counts
as cited if the sentence also has something telling in common with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import is_unspaced, parse_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.core.search.ranking import Hit

WITH_MARKS = """\
Mark what you use: when a sentence of your answer rests on a fact or a passage, end it with that \
one's id in the form [#id], such as [#p3], or [#p3, #p5] for several. The id of a fact is the \
last word in its brackets, a passage begins with its own. The marks are taken out before the user \
reads the answer: put none where you use nothing, and never speak of them."""

_ID = "[A-Za-z0-9_-]{1,40}"
_BETWEEN = "[ ,;，、；]{1,3}"
_MARK = make_pattern(rf"[ \t]?[\[【]#({_ID}(?:{_BETWEEN}#?{_ID}){{0,9}})[\]】]")
_BEGUN_MARK = make_pattern(rf"[ \t]?(?:[\[【](?:#(?:{_ID}(?:{_BETWEEN}#?(?:{_ID})?){{0,9}})?)?)?\Z")
_OWN_ID = make_pattern(r"p\d{1,3}|(?=[a-z]{0,9}\d)[b-df-hj-np-tv-z2-9]{10}")
"""What an id of ours looks like: a model also marks what was never there."""
_SPLIT_IDS = make_pattern(r"[ ,;，、；#]+")
# Longer than ten ids of 40 characters with what stands between them, so that no mark is held back
# too short and shown by half.
_LONGEST_MARK = 480
_STOP = make_pattern(r"[。！？!?\n]|\.(?=\s|\Z)")
_TRAILING = " \t\n.。！？!?"
_SENTENCE_CHARS = 1_000
_SURE = 2
"""So many telling words in common are no accident."""
_LEAST_SHARE = 1 / 3
"""A single one is none either if it is this share of what the shorter text says."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An id, and where in the cleaned answer it stood."""

    id: str
    place: int


def name_passage(number: int) -> str:
    """Return the id of the passage that has this place, from 0, among those of a prompt."""
    return f"p{number + 1}"


class MarkRemover:
    """Takes the marks out of an answer that comes in pieces, also those that a piece cuts."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = frozenset(known)
        self._held = ""
        self._chars = 0
        self.marks: list[Mark] = []

    def feed(self, piece: str) -> str:
        """Return what can be shown; what may become a mark is held back for the next piece."""
        text = self._held + piece
        begun = _BEGUN_MARK.search(text, max(0, len(text) - _LONGEST_MARK))
        end = begun.start() if begun else len(text)
        self._held = text[end:]
        return self._clean(text[:end])

    def finish(self) -> str:
        """Return what was held back, for nothing more comes."""
        rest, self._held = self._held, ""
        return self._clean(rest)

    def _clean(self, text: str) -> str:
        cleaned = []
        last = 0
        for found in _MARK.finditer(text):
            ids = [one for one in _SPLIT_IDS.split(found[1]) if one]
            # An answer may have brackets of its own, and those stay.
            if not all(one in self._known or _OWN_ID.fullmatch(one) for one in ids):
                continue
            cleaned.append(text[last : found.start()])
            self._chars += found.start() - last
            self.marks += [Mark(one, self._chars) for one in ids]
            last = found.end()
        cleaned.append(text[last:])
        self._chars += len(text) - last
        return "".join(cleaned)


@dataclass(frozen=True, slots=True)
class Citations:
    """Which of the facts, by their ids, and of the passages in a prompt an answer rests on."""

    memories: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()


def find_cited(answer: str, marks: Sequence[Mark], sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids of the sources that the answer marks and has something in common with."""
    cited = (
        mark.id
        for mark in marks
        # Models mark wrongly, and a wrong citation is worse than a missing one.
        if mark.id in sources
        and has_in_common(_find_sentence(answer, mark.place), sources[mark.id])
    )
    return tuple(dict.fromkeys(cited))


def find_quoted(answer: str, sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids of the sources that the answer quotes word for word."""
    return tuple(one for one, text in sources.items() if text.strip() and text in answer)


def has_in_common(sentence: str, source: str) -> bool:
    """Whether a sentence shares names, numbers or telling words with a source."""
    said, known = _find_telling_words(sentence), _find_telling_words(source)
    shared = len(said & known)
    fewer = min(len(said), len(known))
    return shared >= _SURE or (shared > 0 and shared >= _LEAST_SHARE * fewer)


def _find_sentence(answer: str, place: int) -> str:
    """Return the sentence that a mark stands in or after."""
    near = answer[max(0, place - _SENTENCE_CHARS) : place]
    said = near.rstrip(_TRAILING)
    start = max((one.end() for one in _STOP.finditer(said)), default=0)
    # A stop right before the mark means that the sentence is over; otherwise the mark is inside it.
    if len(said) < len(near.rstrip()):
        return said[start:]
    rest = answer[place : place + _SENTENCE_CHARS]
    stop = _STOP.search(rest)
    return said[start:] + rest[: stop.start() if stop else len(rest)]


def _find_telling_words(text: str) -> set[str]:
    """Return words, numbers and pairs of characters; a single character may be part of any word."""
    return {term for term in parse_query(text).terms if len(term) > 1 or not is_unspaced(term)}
