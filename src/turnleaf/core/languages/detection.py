"""The language of a text.

People mix languages and quote words of others, so no single character decides. What holds sentences
together is counted, as each language's `detection.toml` says, and the language that has most of it
wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.language import (
    DEFAULT,
    DETECTION_FILE,
    find_han,
    find_languages,
    get_language,
)
from turnleaf.core.patterns import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

    from turnleaf.core.languages.language import Language

_MAX_CHARS = 2000
"""How much of a text is looked at: its beginning tells."""
_QUOTED = lazy_pattern('「[^「」]*」|『[^『』]*』|“[^“”]*”|"[^"]*"')


@dataclass(frozen=True, slots=True)
class Detected:
    """The language of a text, and whether it is written in Simplified characters."""

    name: str
    is_simplified: bool = False


def detect_language(text: str, earlier: Iterable[str] = ()) -> Detected:
    """Return the language of a text.

    Chinese that is the same in both scripts is in the script of what was said `earlier`, the newest
    last; without that it is Traditional.
    """
    own = _without_quotes(text[:_MAX_CHARS])
    language = (
        _find_most(own, _rank_languages())
        or _find_shown(own, _rank_languages())
        or get_language(DEFAULT)
    )
    if (simplified := language.markers.simplified) is None:
        return Detected(language.name)
    texts = [own, text[:_MAX_CHARS], *reversed([*earlier])]
    return Detected(language.name, is_simplified=_is_simplified(texts, simplified))


def find_reader(text: str, file: str) -> Language | None:
    """Return the language whose patterns in a file read a sentence; None if all would misread."""
    detected = get_language(detect_language(text).name)
    candidates = _with(file)
    if detected.markers.stands_alone:
        return detected if detected in candidates else None
    if shown := _find_shown(text, candidates):
        return shown
    plain = [one for one in candidates if not one.markers.has_letters]
    return (_find_most(text, plain) if len(plain) > 1 else None) or get_language(DEFAULT)


def find_present(text: str, file: str) -> list[Language]:
    """Return the languages with a file that may have words in a text, in which people mix them."""
    candidates = _with(file)
    alone = [one for one in candidates if one.markers.stands_alone]
    if alone and (detected := get_language(detect_language(text).name)) in alone:
        return [detected]
    others = (one for one in candidates if one not in alone)
    present = (one for one in others if not one.markers.has_letters or one.markers.shows_in(text))
    return sorted(present, key=lambda one: one.name)


def find_spoken(texts: Sequence[str], file: str) -> Language:
    """Return the language with a file of which a text has a word; the default comes last."""
    others = (one for one in _with(file) if one.name != DEFAULT)
    spoken = (one for one in others if any(map(one.markers.has_words, texts)))
    return next(spoken, get_language(DEFAULT))


@cache
def _rank_languages() -> tuple[Language, ...]:
    """Return the languages that can be told, those first that win where two have as much."""
    languages = map(get_language, find_languages(DETECTION_FILE))
    return tuple(sorted(languages, key=lambda one: one.markers.rank))


@cache
def _with(file: str) -> tuple[Language, ...]:
    return tuple(one for one in _rank_languages() if one.name in find_languages(file))


def _find_most(text: str, languages: Sequence[Language]) -> Language | None:
    """Return the language of which a text has most."""
    counts = {one: one.markers.count(text) for one in languages}
    most = max(counts, key=counts.__getitem__, default=None)
    return most if most and counts[most] else None


def _find_shown(text: str, languages: Iterable[Language]) -> Language | None:
    """Return the first language whose letters a text has."""
    return next((one for one in languages if one.markers.shows_in(text)), None)


def _without_quotes(text: str) -> str:
    """Return the words of a text that are its own; all of them if it is one quotation."""
    own = _QUOTED.sub(" ", text)
    return own if any(map(str.isalpha, own)) else text


def _is_simplified(texts: Iterable[str], words: re.Pattern[str]) -> bool:
    """Whether the first text with a character or word of one script alone is in Simplified."""
    for text in texts:
        simplified = len(find_han(text, "gb2312")) + len(words.findall(text))
        traditional = len(find_han(text, "big5"))
        if simplified != traditional:
            return simplified > traditional
    return False
