"""What a question asks for: what kind of thing, about whom, and what an answer must speak of.

Search by words knows no word but the one that was typed. Who asks for a herb is answered by
cilantro, and who asks for a birthday is not answered by a wedding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from turnleaf.core.languages.language import find_languages, get_language
from turnleaf.core.languages.words import (
    compile_pattern,
    find_characters,
    find_pattern,
    find_tables,
    join_texts,
)
from turnleaf.core.learning.own_words import normalize_spelling
from turnleaf.core.loading import load_data, make_pattern
from turnleaf.core.search.terms import (
    WORD,
    fold,
    is_stop_word,
    is_unspaced,
    list_terms,
    parse_query,
    simplify,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


MAX_WORDS = 4
PARTS = ("words", "kinds", "near", "unless")

MAX_WORD_CHARS = 8

_NAMED_THINGS = "~"


Names: TypeAlias = frozenset[tuple[str, str]]
"""Known names in lower case, each with whose it is."""


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """One thing: the words for it, kinds of it, and what an answer may or must not speak of."""

    words: frozenset[str]
    kinds: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    is_loose: bool = False
    shape: str = ""

    def has_shape(self, text: str) -> bool:
        """Whether a text in Simplified characters matches the pattern of this meaning, if any."""
        return bool(self.shape) and compile_pattern(self.shape).search(text) is not None


class Word(NamedTuple):
    """A known word, and where it stands in the folded text."""

    key: str
    start: int
    end: int


@cache
def load_meanings() -> dict[str, WordMeaning]:
    """Return all meanings of words, by name."""
    told = {name: _read(entry) for name, entry in load_data("recall/meanings.toml").items()}
    return told | dict(_list_named_things())


@cache
def find_meanings(key: str) -> frozenset[str]:
    """Return the names of a word's meanings."""
    return frozenset(name for name, one in load_meanings().items() if key in one.words)


@lru_cache(maxsize=4096)
def find_words(text: str) -> tuple[Word, ...]:
    """Return the known words of a folded text, in order, the longest at each place."""
    return tuple(_find_spaced(text)) + tuple(_find_unspaced(text))


@lru_cache(maxsize=4096)
def find_keys(text: str) -> frozenset[str]:
    """Return the keys of all known words of a folded text, also those within longer ones."""
    spaced = (key for key, *_ in _list_phrases(text))
    return frozenset(spaced) & _list_all_keys() | {word.key for word in _find_unspaced(text)}


def _list_phrases(text: str) -> Iterator[Word]:
    """Yield the phrases of spaced words, at each place the longest first."""
    found = [*WORD.finditer(text)]
    for first in range(len(found)):
        for last in range(min(first + MAX_WORDS, len(found)), first, -1):
            part = found[first:last]
            yield Word(_make_key(one[0] for one in part), part[0].start(), part[-1].end())


def _find_spaced(text: str) -> Iterator[Word]:
    end = 0
    for word in _list_phrases(text):
        # The longest phrase comes first, so nothing inside of it is read a second time.
        if word.start >= end and word.key in _list_all_keys():
            end = word.end
            yield word


def _find_unspaced(text: str) -> Iterator[Word]:
    start = 0
    while start < len(text):
        if not is_unspaced(text[start]):
            start += 1
            continue
        ends = range(min(start + MAX_WORD_CHARS, len(text)), start, -1)
        end = next((end for end in ends if text[start:end] in _list_all_keys()), None)
        if end:
            yield Word(text[start:end], start, end)
        start = end or start + 1


@cache
def _list_all_keys() -> frozenset[str]:
    parts = ((one.words, one.kinds, one.near, one.unless) for one in load_meanings().values())
    return frozenset().union(*chain.from_iterable(parts))


def _read(entry: Mapping[str, Any]) -> WordMeaning:
    words, kinds, near, unless = (_read_list(entry.get(part, "")) for part in PARTS)
    is_loose, shape = entry.get("loose", False), simplify(entry.get("shape", ""))
    return WordMeaning(words, kinds, near, unless, is_loose, shape)


def _read_list(given: str) -> frozenset[str]:
    return frozenset(map(_read_entry, filter(None, map(str.strip, given.split(",")))))


def _read_entry(entry: str) -> str:
    folded = fold(entry)
    return folded if _HAN.search(folded) else _make_key(WORD.findall(folded))


def _make_key(words: Iterable[str]) -> str:
    # The name of a month gives a date as well, which comes before the stem.
    return " ".join(list_terms(word)[-1] for word in words)


def _list_named_things() -> Iterator[tuple[str, WordMeaning]]:
    """Yield the things that have names in several languages, such as foods and places."""
    shared = load_data("learning/concepts.toml")["concepts"]
    tables = (shared, *find_tables("concepts"))
    for key, spellings in chain.from_iterable(table.items() for table in tables):
        yield f"{_NAMED_THINGS}{key}", WordMeaning(frozenset(map(_read_entry, (key, *spellings))))


_HAN = make_pattern("[\u3400-\u9fff]")

FILE = "statements.toml"
STRANGER = "?"
"""Who owns a statement about somebody that nothing is known of."""
_LEAD_CHARS = 40
_PAIR = 2


@lru_cache(maxsize=4096)
def find_people(text: str, names: Names = frozenset()) -> frozenset[str]:
    """Return the people in a text; `names` are known names in lower case, with whose they are."""
    plain = normalize_spelling(text)
    found = [
        (one.start(), one.end(), _find_who(one)) for one in _load_kin_pattern().finditer(plain)
    ]
    for name, key in names:
        found += [
            (one.start(), one.end(), key)
            for one in _make_name_pattern(name).finditer(plain.lower())
        ]
    found.sort()
    people = {key for *_, key in found} - {"", STRANGER}
    for (_, end, whose), (start, _, who) in pairwise(found):
        if find_pattern("recall", "owning").fullmatch(plain[end:start]):
            people |= _load_composed_relations().get(
                f"{_find_group(whose)} {_find_group(who)}", frozenset()
            )
    return frozenset(people)


@lru_cache(maxsize=4096)
def find_owner(text: str, names: Names = frozenset()) -> str:
    """Return the person that a statement begins with; "" for the user."""
    plain = normalize_spelling(text).strip()
    plain = find_pattern("recall", "lead", "^").sub("", plain)
    lead = find_pattern("recall", "possessive").match(plain)
    start = lead.end() if lead else 0
    begun = plain[start : start + _LEAD_CHARS]
    for name, key in names:
        if _make_name_pattern(name).match(begun.lower()):
            return key or STRANGER
    kin = _load_kin_pattern().match(plain, start)
    if kin:
        return _find_who(kin)
    if find_pattern("recall", "first_person").match(begun):
        return ""
    is_somebody = find_pattern("recall", "somebody").match(begun) and not lead
    return STRANGER if is_somebody and begun[:1].upper() == begun[:1] else ""


@lru_cache(maxsize=4096)
def has_user_within(text: str) -> bool:
    """Whether a statement that begins with somebody else also mentions the user."""
    plain = normalize_spelling(text)
    rest = _load_kin_pattern().sub("", plain, count=1)
    return len(find_pattern("recall", "first_person").findall(rest)) > 1


def find_aliases(text: str) -> list[tuple[str, str]]:
    """Return the names in a text, each with what it names: Tilly, beagle."""
    found = find_pattern("recall", "alias").finditer(simplify(text))
    pairs = ([part for part in one.groupdict().items() if part[1]] for one in found)
    named = [{key.rstrip("0123456789"): value for key, value in pair} for pair in pairs]
    return [(one["name"], one["what"]) for one in named if len(one) == _PAIR]


def means(asked: str, spoken_of: str) -> bool:
    """Whether the person who is asked about may be the one who is spoken of."""
    return asked == spoken_of or _find_group(spoken_of) == asked or _find_group(asked) == spoken_of


def find_words_for(who: str) -> list[str]:
    """Return the words for a person, and for whoever may be meant, in every language."""
    return [word for word, one in _load_kin_words().items() if means(who, one)]


def find_person(key: str) -> str:
    """Return the person behind a key of the learned facts; "" for pets and others."""
    return _load_people().get(key, "")


@cache
def _find_group(who: str) -> str:
    """Return the general word for a person, such as brother for an older one; else the person."""
    members: Mapping[str, list[str]] = load_data("recall/people.toml")["members"]
    return next((group for group, those in members.items() if who in those), who)


def _find_who(match: re.Match[str]) -> str:
    return _load_kin_words()[match["kin"].lower()]


@cache
def _load_people() -> dict[str, str]:
    table = load_data("recall/people.toml")["same"]
    return {key: name for name, keys in table.items() for key in keys}


@cache
def _load_composed_relations() -> dict[str, frozenset[str]]:
    """Return the relations composed of two: the brother's child is a nephew or a niece."""
    found: dict[str, set[str]] = {}
    for name, pairs in load_data("recall/people.toml")["composed"].items():
        for pair in pairs:
            found.setdefault(pair, set()).add(name)
    return {pair: frozenset(names) for pair, names in found.items()}


@cache
def _load_kin_words() -> dict[str, str]:
    return {
        word: _load_people()[key]
        for language in find_languages(FILE)
        for word, key in get_language(language).relations.items()
        if key in _load_people()
    }


@cache
def _load_kin_pattern() -> re.Pattern[str]:
    """Return the pattern of all words for people; one Chinese character needs "my" before it."""
    longest = sorted(_load_kin_words(), key=len, reverse=True)
    spaced = "|".join(re.escape(word) for word in longest if word.isascii())
    joined = "|".join(word for word in longest if not word.isascii() and len(word) > 1)
    single = "".join(word for word in longest if not word.isascii() and len(word) == 1)
    before = "".join(find_characters("recall", "before_kin"))
    return re.compile(
        rf"(?P<kin>\b(?:{spaced})(?=s?\b)|{joined}|(?:(?<=[{before}])|^)[{single}])", re.IGNORECASE
    )


@cache
def _make_name_pattern(name: str) -> re.Pattern[str]:
    # Chinese names have no edges that a pattern could look for.
    edge = r"\b" if name.isascii() else ""
    return re.compile(f"{edge}{re.escape(name)}{edge}")


TASTES = ("liking", "disliking")
KINDS = ("time", "place", "person", "number", "often", "age", *TASTES)
MAX_CHARS = 400
"""Of a longer text the end asks."""
_LAST_WORD = make_pattern(r"([a-z0-9][a-z0-9-]*) \Z")
_CLAUSE = make_pattern(r"(?:[^,.!;?，。！；？\s]|(?<![\u3400-\u9fff])\s|[.,](?=\d))+[?？]?")
_NAME = make_pattern(r"(?<=[a-z,'’0-9] )(?-i:[A-Z])[a-zA-Z]{2,20}")
_TWO_PART_NAME = make_pattern(r"\b(?:[A-Z][a-z]{1,9}-[a-z]{1,9}|A-[A-Z][a-z]{1,9})\b")
"""A name as Chinese ones are written in Latin letters: Pin-yu, whose pin is no password."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that a question speaks of, as the terms of its words, and what they mean.

    One that `is_sought` is what the question asks for: which car, and not something about a car.
    The `modifier` stands right before it: the home of home insurance.
    """

    terms: frozenset[str]
    meanings: frozenset[str] = frozenset()
    is_sought: bool = False
    modifier: frozenset[str] = frozenset()
    is_aside: bool = False
    """Whether it stands beside the clause that asks: "filling in a form, what is …"."""

    @property
    def is_strict(self) -> bool:
        """Whether a passage without it answers something else."""
        is_loose = self.is_aside or any(load_meanings()[name].is_loose for name in self.meanings)
        return bool(self.meanings) and not is_loose


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for, about whom, and what an answer speaks of."""

    kinds: frozenset[str]
    people: frozenset[str]
    is_own: bool
    """Whether it is about the user and nobody else."""
    names: frozenset[str]
    """The terms of names in it."""
    things: tuple[Thing, ...]
    terms: tuple[str, ...] = ()
    """What a search by words would look for."""
    text: str = ""
    aside: frozenset[str] = frozenset()
    """Those terms that stand beside the clause that asks."""

    @property
    def asks_for_list(self) -> bool:
        """Whether several passages are its answer: all that somebody likes."""
        return not self.kinds.isdisjoint(TASTES)


def drop_two_part_names(text: str) -> str:
    """Return a text without names such as Pin-yu, so that their parts are not read as words."""
    return _TWO_PART_NAME.sub(lambda found: found[0] if _is_word(found[0]) else " ", text)


def asks(text: str) -> bool:
    """Whether a message asks something."""
    return find_pattern("recall", "question", r"[?？]\s*+$|").search(simplify(text)) is not None


def read_question(text: str, names: Names = frozenset()) -> Question:
    """Return what a message asks for; `names` are known names, with whose they are."""
    text = text[-MAX_CHARS:]
    plain = simplify(text)
    people = find_people(text, names)
    kinds = frozenset(one for one in KINDS if find_pattern("recall", f"asks_{one}").search(plain))
    known = {name for name, _ in names if name in plain.lower()}
    found_names = (
        *(one for one in _NAME.findall(text) if not _is_known(one)),
        *(one for one in _TWO_PART_NAME.findall(text) if not _is_word(one)),
    )
    named = {*known, *(one.lower() for one in found_names)}
    is_own = not people and find_pattern("recall", "first_person").search(plain) is not None
    name_terms = frozenset(list_terms(" ".join(named)))
    folded = fold(drop_two_part_names(text))
    # The words of asking may stand within another: 考什麼試.
    joined = find_pattern("recall", "within").sub("", folded)
    things = [*_find_things(folded, name_terms)] or [*_find_things(joined, name_terms)]
    # "Like" is a stop word, and all that "What do I like?" asks for.
    things = things or [*_find_common_words(folded)]
    asking = frozenset(list_terms(_find_asking(text)))
    things = [replace(one, is_aside=not one.terms & asking) for one in things]
    own = is_own and not named
    unique = tuple(dict.fromkeys(things))
    found = tuple(parse_query(text).terms)
    aside = frozenset(found) - asking
    return Question(kinds, people, own, name_terms, unique, found, text, aside)


def ends_asking(text: str) -> bool:
    """Whether the last clause of a message asks something: "we have guests, what is the code"."""
    clauses = _CLAUSE.findall(text.rstrip())
    if not clauses or not asks(clauses[-1]):
        return False
    return len(clauses) == 1 or not find_pattern("recall", "going_on").search(clauses[-1])


def _find_asking(text: str) -> str:
    """Return the clauses of a message that ask; all of them if none does."""
    clauses = _CLAUSE.findall(text)
    asking = [one for one in clauses if asks(one)]
    return " ".join(asking or clauses)


def _is_known(name: str) -> bool:
    is_day = find_pattern("recall", "holds_time").search(name.lower()) is not None
    return is_day or bool(find_words(fold(name)))


def _is_word(name: str) -> bool:
    """Whether what looks like a two-part name is a known word: Wi-fi."""
    folded = fold(name)
    return any(one.end - one.start == len(folded) for one in find_words(folded))


def _find_things(folded: str, named: frozenset[str]) -> Iterator[Thing]:
    """Yield the things that a question speaks of, without people and names."""
    end = 0
    for word in sorted(find_words(folded), key=lambda one: one.start):
        yield from _read_unknown(folded[end : word.start], named)
        if thing := _read_known(folded, word):
            yield thing
        end = word.end
    yield from _read_unknown(folded[end:], named)


def _read_known(folded: str, word: Word) -> Thing | None:
    text, own = folded[word.start : word.end], find_meanings(word.key)
    # Who is asked about is judged by itself, not as one of the things.
    if find_people(text) or is_stop_word(text) or (not own and _says_nothing(text)):
        return None
    before = folded[: word.start]
    is_sought = find_pattern("recall", "sought").search(before) is not None
    return Thing(_find_telling_terms(text), own, is_sought, _find_modifier(before))


def _find_common_words(folded: str) -> Iterator[Thing]:
    """Yield stop words with a meaning of their own, for a question without other words."""
    for word in find_words(folded):
        text, own = folded[word.start : word.end], find_meanings(word.key)
        if own and is_stop_word(text) and not find_people(text):
            yield Thing(_find_telling_terms(text), own)


def _says_nothing(text: str) -> bool:
    return all(is_stop_word(word) or word in _load_asking_words() for word in WORD.findall(text))


def _find_modifier(before: str) -> frozenset[str]:
    """Return the terms of the word right before another: the home of home insurance."""
    last = _LAST_WORD.search(before)
    is_telling = last is not None and not _says_nothing(last[1])
    return frozenset(list_terms(last[1])) if last is not None and is_telling else frozenset()


def _read_unknown(part: str, named: frozenset[str]) -> Iterator[Thing]:
    """Yield the words of unknown meaning, of Chinese a run of characters at a time."""
    for word in WORD.findall(part):
        own = frozenset(list_terms(word))
        if not (_says_nothing(word) or own & named or find_people(word)):
            yield Thing(own)
    run = "".join(char if is_unspaced(char) else " " for char in part)
    bare = find_pattern("recall", "filler").sub(" ", _strip_people(run))
    # A single character is a part of too many words.
    pairs = frozenset(term for term in parse_query(bare).terms if len(term) > 1)
    telling = frozenset(pair for pair in pairs if any(map(is_unspaced, pair))) - named
    if telling:
        yield Thing(telling)


def _strip_people(run: str) -> str:
    return " ".join(part for part in run.split() if not find_people(part))


def _find_telling_terms(text: str) -> frozenset[str]:
    found = list_terms(text)
    longer = frozenset(term for term in found if len(term) > 1)
    return longer or frozenset(found)


@cache
def _load_asking_words() -> frozenset[str]:
    """Return the words of asking that say nothing about what is asked."""
    return frozenset(fold(join_texts("recall", "asking")).split())
