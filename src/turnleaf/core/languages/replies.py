"""What Turnleaf says by itself, in the language of whom it answers: each language's `replies.toml`.

Traditional Chinese is written down; Simplified is made from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.languages.detection import detect_language
from turnleaf.core.languages.language import choose_language, find_languages, get_language
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = "replies.toml"


def choose_words(text: str, part: str, *, earlier: Iterable[str] = ()) -> Mapping[str, str]:
    """Return what a part of the program says, in the language of a text.

    Where that language has no replies, it is English. See `detect_language` for `earlier`.
    """
    detected = detect_language(text, earlier)
    language = choose_language(detected.name, FILE)
    words = language.replies[part]
    if detected.is_simplified:
        return {name: write_simplified(said, language.name) for name, said in words.items()}
    return words


def words_in(name: str, part: str) -> Mapping[str, str]:
    """Return what a part of the program says in the language of a folder."""
    return get_language(name).replies[part]


def openings(part: str, *names: str) -> list[str]:
    """Return how some replies of a part begin, in every language: what stands before a `{}`."""
    parts = [words_in(language, part) for language in find_languages(FILE)]
    return [words[name].partition("{")[0] for words in parts for name in names]


def earlier_openings(kind: str) -> list[str]:
    """Return how replies of older versions began, in every language."""
    return [
        opening
        for language in find_languages(FILE)
        for opening in get_language(language).earlier_replies[kind]
    ]


def write_simplified(said: str, name: str) -> str:
    """Return a reply of a language in Simplified characters, with the words used there."""
    said = simplify(said)
    for taiwanese, mainland in get_language(name).simplified_replies.items():
        said = said.replace(taiwanese, mainland)
    return said
