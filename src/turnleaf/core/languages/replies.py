"""What Turnleaf says, in the reader's language: answers, and errors, hints and notes.

Answers are in each language's `replies.toml`, the others in its `messages.toml`.

Traditional Chinese is written down; Simplified is made from it.

The code makes its errors, hints and notes in English. A language's table has them with `{}` for
what is filled in, `{#}` for a number, and `{!}` for another sentence. Its sections are tried in
their order, and in a section what begins with words before what does not, then the longest text
first. What none of them has stays English.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain, count, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.languages.language import (
    DEFAULT,
    choose_language,
    detect_language,
    find_languages,
    get_language,
)
from turnleaf.core.loading import find_folders, load_data
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence


FILE = "replies.toml"


def choose_words(text: str, part: str, *, earlier: Iterable[str] = ()) -> Mapping[str, str]:
    """Return what a part of the program says, in the language of a text.

    Where that language has no replies, it is English. See `detect_language` for `earlier`.
    """
    detected = detect_language(text, earlier)
    language = choose_language(detected.name, FILE)
    words = language.replies[part]
    if detected.is_simplified:
        # One set of Chinese texts is kept; the other script is made from it.
        return {name: write_simplified(said, language.name) for name, said in words.items()}
    return words


def find_replies(name: str, part: str) -> Mapping[str, str]:
    """Return what a part of the program says in the language of a folder."""
    return get_language(name).replies[part]


def list_openings(part: str, *names: str) -> list[str]:
    """Return the beginnings of some replies, up to the first `{}`, in every language."""
    parts = [find_replies(language, part) for language in find_languages(FILE)]
    return [words[name].partition("{")[0] for words in parts for name in names]


def list_earlier_openings(kind: str) -> list[str]:
    """Return the beginnings of replies of older versions, in every language."""
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


MESSAGES_FILE = "messages.toml"

FOLDER = "languages"
WORDS_OF_ITS_OWN = 2
MAX_CHARS = 2000
MARK = re.compile(r"\{[!#]?\}")
FIELD = re.compile(r"( ?)\{(\d*)\}( ?)")
QUOTED = re.compile(r"'[^']*'(?:, '[^']*')*")
"""Texts as `repr` writes them."""
SIMPLIFIED = {"cn", "sg", "my", "hans"}
"""The regions and scripts of a language code that mean Simplified characters."""


def translate(message: str, language: str, *, is_simplified: bool = False) -> str:
    """Return a sentence of ours in a language such as `zh-TW`; unchanged if it has none there."""
    name, *regions = re.split(r"[-_.]", language.lower())
    # A long text is no sentence of ours, and each pattern would search it to its end.
    if name not in find_folders(FOLDER, MESSAGES_FILE) or len(message) > MAX_CHARS:
        return message
    said = _translate(message, name)
    is_simplified |= bool(SIMPLIFIED & {*regions})
    return write_simplified(said, name) if is_simplified else said


def choose_language_of(accepted: str) -> str:
    """Return the first language of an Accept-Language header that has a table, or English."""
    wanted = [part.partition(";")[0].strip() for part in accepted.split(",")]
    known = (DEFAULT, *find_folders(FOLDER, MESSAGES_FILE))
    return next((one for one in wanted if one[:2].lower() in known), DEFAULT)


def _translate(message: str, name: str) -> str:
    for sentence in _load_table(name):
        # To compile all of them takes longer than a command.
        if not all(text in message for text in sentence.texts):
            continue
        if found := _compile(sentence.english).fullmatch(message):
            given = found.groups()
            # Only a part that is marked as a sentence of ours: what a person wrote is not
            # translated, but its quotation marks are those of the language.
            parts = [
                _translate(part, name) if mark == "{!}" or QUOTED.fullmatch(part) else part
                for mark, part in zip(sentence.marks, given, strict=True)
            ]
            # Full-width punctuation between sentences that stay English would look broken.
            if not sentence.only_joins or parts != [*given]:
                quoted = {at for at, part in enumerate(given) if _is_requoted(part, parts[at])}
                return _fill_in(sentence.said, parts, quoted)
    return message


def _is_requoted(given: str, said: str) -> bool:
    return given != said and QUOTED.fullmatch(given) is not None


def _fill_in(said: str, parts: Sequence[str], quoted: Container[int]) -> str:
    """Return a sentence with its parts filled in, without spaces around wide quotation marks."""
    numbers = count()

    def put(found: re.Match[str]) -> str:
        before, number, after = found.groups()
        at = int(number) if number else next(numbers)
        return parts[at] if at in quoted else f"{before}{parts[at]}{after}"

    return FIELD.sub(put, said)


class Translation(NamedTuple):
    """A sentence in English, its texts and the marks between them, and what is said instead."""

    english: str
    texts: Sequence[str]
    marks: Sequence[str]
    said: str

    @property
    def only_joins(self) -> bool:
        """Whether it only joins other sentences, without words of its own."""
        return "{!}" in self.marks and not any(map(str.isalpha, "".join(self.texts)))


@cache
def _load_table(name: str) -> Sequence[Translation]:
    tables = load_data(f"{FOLDER}/{name}/{MESSAGES_FILE}").values()
    ordered = (sorted(table, key=_rank) for table in tables)
    return [
        Translation(text, MARK.split(text), MARK.findall(text), table[text])
        for table, texts in zip(tables, ordered, strict=True)
        for text in texts
    ]


def _rank(english: str) -> tuple[bool, int]:
    """Return the sort key that puts the most specific sentence first.

    "changed back {}: {}" is also "changed {}: {}", and what begins with words of its own is not
    the `{}` at the beginning of another.
    """
    return MARK.split(english)[0].count(" ") < WORDS_OF_ITS_OWN, -len(MARK.sub("", english))


@cache
def _compile(sentence: str) -> re.Pattern[str]:
    texts, marks = MARK.split(sentence), MARK.findall(sentence)
    places = [r"([\d,]+)" if mark == "{#}" else "(.*?)" for mark in marks]
    parts = zip_longest(map(re.escape, texts), places, fillvalue="")
    return re.compile("".join(chain.from_iterable(parts)), re.DOTALL)
