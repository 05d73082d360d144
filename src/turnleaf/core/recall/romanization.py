"""Names of Chinese people and places in both scripts: 佩玲 is Pei-ling, and 謝醫師 is Dr. Hsieh.

Who writes in two languages writes a name in either. Latin spellings follow several systems, so
sounds are compared coarsely: what Pinyin, Wade–Giles and passports write differently is one sound.
A single sound fits too many words, so a surname counts only beside a title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING

from turnleaf.core.loading import load_data
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterator

Sound = str
"""How a syllable sounds, coarsely; spellings that may be the same have the same one."""
MOST_SYLLABLES = 4
MAX_CHARS = 1_000
"""Beyond this a text is no question and no fact, and is left as it is."""
MOST_NAMES = 4
"""So many names of a text are looked for in the other."""
_SPELLINGS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("^(?:zh|ch|j|q)", "c"),
        ("^(?:hs|sh|x|sz|ss)", "s"),
        ("^(?:tz|ts|z)", "z"),
        ("^b", "p"),
        ("^d", "t"),
        ("^g", "k"),
        ("^yi", "i"),
        ("ien$", "ian"),
        ("^yen$", "yan"),
        ("ung$", "ong"),
        ("(?<=[iue])h$", ""),
        ("ue[iy]$", "ui"),
        ("uo$", "o"),
        ("(?<=^[kh])e$", "o"),
        ("^you$", "yu"),
        ("(?<=^[sz])u$", "i"),
    )
)
"""Rules in order: what stands on the left is heard as what stands on the right."""
_HYPHENATED = re.compile(r"\b(?:[A-Z][a-z]{0,6}-){1,2}[A-Za-z][a-z]{1,6}\b")
_JOINED = re.compile(r"\b[A-Z][a-z]{4,17}\b")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")


@dataclass(frozen=True, slots=True)
class LatinName:
    """A name in Latin letters, and how each of its syllables may sound."""

    text: str
    sounds: tuple[frozenset[Sound], ...]
    has_title: bool = False
    """Whether it is a surname beside a title: Dr. Hsieh."""


def spell_names_alike(question: str, passage: str) -> str:
    """Return a passage with its names in the script in which the question has them."""
    if len(question) > MAX_CHARS or len(passage) > MAX_CHARS:
        return passage
    for name in find_latin_names(question):
        for found in _find_han(name, passage):
            # Chinese has no spaces, and without them a name in Latin letters would be no word.
            passage = passage.replace(found, f" {name.text} ")
    for name in find_latin_names(passage):
        for found in _find_han(name, question):
            passage = passage.replace(name.text, found)
    return passage


@lru_cache(maxsize=4096)
def find_latin_names(text: str) -> tuple[LatinName, ...]:
    """Return the possible Chinese names in Latin letters of a text."""
    return tuple(islice(dict.fromkeys(_list_latin_names(text)), MOST_NAMES))


def _list_latin_names(text: str) -> Iterator[LatinName]:
    for found in _HYPHENATED.finditer(text):
        yield LatinName(found[0], tuple(_find_sounds(one) for one in found[0].split("-")))
    for found in _JOINED.finditer(text):
        syllables = _divide(found[0].lower())
        if syllables:
            yield LatinName(found[0], tuple(_find_sounds(one) for one in syllables))
    for found in _load_titles_before().finditer(text):
        yield LatinName(found[0], (_find_sounds(found[1]),), has_title=True)


def _find_han(name: LatinName, text: str) -> tuple[str, ...]:
    """Return the Chinese spellings of a name in a text."""
    size = len(name.sounds)
    runs = _HAN.findall(text) if not text.isascii() else ()
    return tuple(
        {
            found
            for run in runs
            for start in range(len(run) - size + 1)
            if (found := _match(name, run, start))
        }
    )


def _match(name: LatinName, run: str, start: int) -> str:
    end = start + len(name.sounds)
    heard = all(
        sounds & _read_characters().get(one, frozenset())
        for sounds, one in zip(name.sounds, simplify(run[start:end]), strict=True)
    )
    if not heard:
        return ""
    if not name.has_title:
        return run[start:end]
    title = _load_titles_after().match(simplify(run), end)
    return run[start : title.end()] if title else ""


@lru_cache(maxsize=4096)
def _find_sounds(spelling: str) -> frozenset[Sound]:
    """Return how a syllable in Latin letters may sound."""
    plain = spelling.lower()
    # Wade–Giles writes j for what Pinyin writes r.
    ways = (plain, f"r{plain[1:]}") if plain.startswith("j") else (plain,)
    return frozenset(map(_hear, ways))


def _hear(syllable: str) -> Sound:
    for pattern, sound in _SPELLINGS:
        syllable = pattern.sub(sound, syllable)
    return syllable


@cache
def _load_syllables() -> dict[str, str]:
    """Return the characters of each Pinyin syllable, in Simplified form."""
    told: dict[str, str] = load_data("recall/romanization.toml")["syllables"]
    return told


@cache
def _read_characters() -> dict[str, frozenset[Sound]]:
    """Return how each known character may sound."""
    heard: dict[str, set[Sound]] = {}
    for syllable, characters in _load_syllables().items():
        for one in characters:
            heard.setdefault(one, set()).add(_hear(syllable))
    return {one: frozenset(sounds) for one, sounds in heard.items()}


def _divide(word: str) -> tuple[str, ...]:
    """Return the Pinyin syllables of a word; () if it has others."""
    ways: list[tuple[str, ...] | None] = [()] + [None] * len(word)
    for end, start in product(range(1, len(word) + 1), range(len(word))):
        before = ways[start]
        if start < end and before is not None and word[start:end] in _load_syllables():
            ways[end] = ways[end] or (*before, word[start:end])
    whole = ways[-1] or ()
    # A single syllable is a word of too many languages to be taken for a name.
    return whole if 1 < len(whole) <= MOST_SYLLABLES else ()


@cache
def _load_titles_before() -> re.Pattern[str]:
    told = "|".join(load_data("recall/romanization.toml")["titles"]["before"])
    return re.compile(rf"\b(?:{told}) ([A-Z][a-z]{{1,6}})\b")


@cache
def _load_titles_after() -> re.Pattern[str]:
    return re.compile(simplify("|".join(load_data("recall/romanization.toml")["titles"]["after"])))
