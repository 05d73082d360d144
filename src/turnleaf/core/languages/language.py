"""`Language`: the words and patterns of one language, and which language a text is in.

All patterns see plain text: Simplified characters and ASCII punctuation, whatever the writer used.
They are bounded, and a clause is short, so that no text takes more than linear time.

People mix languages and quote words of others, so no single character decides. What holds sentences
together is counted, as each language's `detection.toml` says, and the language that has most of it
wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.words import RequestWords, Words, expand, join_lines
from turnleaf.core.loading import find_folders, load_data, make_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


DETECTION_FILE = "detection.toml"
_HAN = make_pattern("[\u3400-\u9fff]")
DEFAULT = "en"
"""The language of whoever has no other: where nothing tells, or a language has no file."""

# What stands for the subject of a clause, or for whose something is, in the patterns of rules.
SELF, OTHER, SELF_WHOSE, OTHER_WHOSE = "\ue000", "\ue001", "\ue002", "\ue003"
_SUBJECTS = {
    "i": SELF,
    "they": OTHER,
    "who": f"[{SELF}{OTHER}]",
    "my": SELF_WHOSE,
    "their": OTHER_WHOSE,
    "whose": f"[{SELF_WHOSE}{OTHER_WHOSE}]",
}

_VALUE = make_pattern(r"\{([a-z_]+)(?::([a-z_]+))?\}(\Z)?")
# A part inside of a pattern is tried at every length, so it needs a bound.
_INNER_CHARS = 60
_NOTHING = "(?!)"


class Markers:
    """The words and letters of one language that other languages do not have."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._words = _compile(join_lines(data["words"]))
        self._letters = _compile(join_lines(data["letters"])) if "letters" in data else None
        self._charsets: tuple[str, ...] = tuple(data.get("charsets", ()))
        self._other_charsets: tuple[str, ...] = tuple(data.get("other_charsets", ()))
        self.rank: int = data["rank"]
        self.stands_alone: bool = data.get("stands_alone", False)
        self.simplified = _compile(join_lines(data["simplified"])) if "simplified" in data else None

    @property
    def has_letters(self) -> bool:
        """Whether letters of its own tell the language."""
        return self._letters is not None

    def count(self, text: str) -> int:
        """Count the words and characters of a text that tell this language."""
        return len(self._words.findall(text)) + len(self._find_own(text))

    def has_words(self, text: str) -> bool:
        """Whether a text has a word that only this language has."""
        return self._words.search(text) is not None

    def has_letters_in(self, text: str) -> bool:
        """Whether a text has a letter that tells this language."""
        return self._letters is not None and self._letters.search(text) is not None

    def _find_own(self, text: str) -> set[str]:
        """Return the Han characters that only the charsets of this language have."""
        if not self._charsets:
            return set()
        return find_han(text, *self._charsets) - find_han(text, *self._other_charsets)


def find_han(text: str, *charsets: str) -> set[str]:
    """Return the Han characters of a text that any of the charsets has."""
    # Only Han: the standards also have letters, and all of them share those.
    han = "".join(_HAN.findall(text))
    # What a standard lacks is dropped on the way there and back.
    return {char for one in charsets for char in han.encode(one, "ignore").decode(one)}


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a value of some kind looks like, and where it ends.

    It begins after what is to `drop` and ends before a `cut`. All of it has the `shape`, and
    nothing in it is `never` part of one. Several values of one kind have a `gap` between them.
    """

    drop: re.Pattern[str]
    cut: re.Pattern[str]
    shape: re.Pattern[str]
    never: re.Pattern[str]
    gap: re.Pattern[str] | None
    max_chars: int

    def find(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places of the values that a part of a text begins with, if any."""
        cut = self.cut.search(text, start, end)
        last = cut.start() if cut else end
        found: list[tuple[int, int]] = []
        for first, stop in self._cut_pieces(text, start, last):
            place = self._trim(text, first, stop)
            if place is None:
                break
            found.append(place)
        return found

    def find_all(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places of the values in a part of a text; none if it holds anything else."""
        cut = self.cut.search(text, start, end)
        if cut and text[cut.start() : end].strip():
            return []
        # One piece that cannot be such a value shows that the whole is something else.
        found = [self._trim(text, *piece) for piece in self._cut_pieces(text, start, end)]
        return [place for place in found if place] if all(found) else []

    def _cut_pieces(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for gap in self.gap.finditer(text, start, end) if self.gap else ():
            yield first, gap.start()
            first = gap.end()
        yield first, end

    def _trim(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        while start < end and text[start] in " \"'":
            start += 1
        if drop := self.drop.match(text, start, end):
            start = drop.end()
        while end > start and text[end - 1] in " \"',.":
            end -= 1
        value = text[start:end]
        is_good = 0 < len(value) <= self.max_chars and self.shape.fullmatch(value)
        return (start, end) if is_good and not self.never.search(value) else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to state something: a pattern, and of which types its named parts are.

    The `open_part` is the last of the pattern and ends where its type says. A pattern without a
    value states the `value` that stands beside it: who speaks of "my wife" is married. Beside a
    pattern with a value or a kind, that tells how to write it, with {} in its place. A `kind`
    beside it is that of the value, as a Pixel is a phone, and a `subject` whom it is about. A rule
    of a change is about the value known, if there is only one. The part `who` is somebody that the
    statement is about (of a group of subjects, if its type is called like one), and `old` the
    value that the new one is instead of, or that is over if there is none.
    """

    slot: str
    pattern: str
    types: Mapping[str, str]
    open_part: str | None
    is_over: bool = False
    is_weak: bool = False
    is_change: bool = False
    value: str = ""
    kind: str = ""
    subject: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed: most texts need few of them."""
        return _compile(self.pattern)


@dataclass(frozen=True, slots=True)
class SlotWords:
    """How a language states a slot, and how it writes one down.

    Rules are tried where one of the `cues` stands in a clause, or always if there are none. Those
    `after` another slot continue a statement of that; with `after_value` about its value. What is
    `supposed` goes without saying wherever it is mentioned, in a question too: my dog Rex. Those
    for what `then` follows read a later clause that leaves out what it is about: "it is now …".
    A clause that holds what `unless` says states nothing of the slot but that something is over:
    who lives somewhere for the summer has no home there.
    """

    say: str
    say_other: str
    say_owned: str
    cues: tuple[str, ...]
    rules: tuple[Rule, ...]
    unless: re.Pattern[str] | None = None
    supposed: tuple[Rule, ...] = ()
    after: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    after_value: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    then: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gates:
    """What keeps text from being read.

    That is all of a message, the rest of it after `writing`, a sentence, the rest of one after
    what is `reported`, or a clause.
    """

    message: re.Pattern[str]
    writing: re.Pattern[str]
    sentence: re.Pattern[str]
    reported: re.Pattern[str]
    clause: re.Pattern[str]


class Language:
    """The words and patterns of one language."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._patterns: dict[tuple[str, str], re.Pattern[str]] = {}

    @cached_property
    def markers(self) -> Markers:
        """What tells that a text is in this language."""
        return Markers(self._load("detection"))

    @cached_property
    def words(self) -> Words:
        """What parts of the program look for in a text."""
        return Words(self._load("words"))

    @cached_property
    def requests(self) -> RequestWords:
        """How somebody asks to remember and to forget."""
        return RequestWords(self._load("requests"))

    @property
    def replies(self) -> Mapping[str, Mapping[str, str]]:
        """What we say ourselves, by the part of the program that says it."""
        return self._load("replies")

    @property
    def simplified_replies(self) -> Mapping[str, str]:
        """What Simplified says in other words than the replies, of a language with two scripts."""
        words: Mapping[str, str] = self._load("replies").get("simplified", {})
        return words

    @property
    def earlier_replies(self) -> Mapping[str, Sequence[str]]:
        """How replies of older versions began, by their kind."""
        earlier: Mapping[str, Sequence[str]] = self._load("replies")["earlier"]
        return earlier

    @cached_property
    def relations(self) -> dict[str, str]:
        """The key of each word for somebody or some pet: mum → mother."""
        return {
            _spell(word).lower(): key
            for key, words in self._data["subjects"].items()
            for word in words.replace("/", " ").split()
        }

    @cached_property
    def display(self) -> dict[str, str]:
        """The word that we write for each word for somebody: the first one on its side of a /."""
        sides = (
            side.split() for words in self._data["subjects"].values() for side in words.split("/")
        )
        return {_spell(word).lower(): side[0].replace("_", " ") for side in sides for word in side}

    @cached_property
    def spouses(self) -> dict[str, str]:
        """What a partner is called after the wedding: boyfriend → husband."""
        pairs = self._data.get("spouses", {}).items()
        return {partner.lower(): _spell(spouse).lower() for partner, spouse in pairs}

    def agreement(self, subject: str) -> dict[str, str]:
        """Return the endings and verbs that agree with a subject: parents *are*, a sister *is*."""
        table = self._data.get("agreement", {})
        is_plural = subject in table.get("plural", "").split()
        return {name: forms[is_plural] for name, forms in table.get("forms", {}).items()}

    @property
    def left_out(self) -> Sequence[str]:
        """The verbs that a clause may leave out with its subject: *My son is* "six years old"."""
        left_out: Sequence[str] = self._data.get("agreement", {}).get("left_out", ())
        return left_out

    @cached_property
    def values(self) -> dict[str, ValueType]:
        """The types of values."""
        return {
            name: self._make_value_type(fields) for name, fields in self._data["values"].items()
        }

    @cached_property
    def slots(self) -> dict[str, SlotWords]:
        """How each slot is stated."""
        return {
            name: self._make_slot_words(name, fields)
            for name, fields in self._data["slots"].items()
        }

    @cached_property
    def gates(self) -> Gates:
        """What keeps text from being read."""
        names = ("message", "writing", "sentence", "reported", "clause")
        return Gates(*(self._find_pattern("gates", name) for name in names))

    @cached_property
    def corrections(self) -> tuple[Rule, ...]:
        """Ways to say that something else is right; the parts are `new` and `old`."""
        return self._make_rules("", self._data.get("corrections", {}).get("patterns", ()))

    @cached_property
    def changes(self) -> tuple[Rule, ...]:
        """Ways to say that one thing took the place of another, whatever they are."""
        return self._make_rules("", self._data.get("corrections", {}).get("changes", ()))

    @cached_property
    def withdrawal(self) -> re.Pattern[str]:
        """Ways to say that something was not meant."""
        return self._find_pattern("corrections", "withdrawal")

    @cached_property
    def correction_parts(self) -> tuple[re.Pattern[str], ...]:
        """What a correction may mean of a value without saying the rest: days, a time."""
        parts: Sequence[str] = self._data.get("corrections", {}).get("parts", ())
        return tuple(_compile(self._expand(part)) for part in parts)

    @property
    def categories(self) -> Mapping[str, str]:
        """The headings of categories."""
        categories: Mapping[str, str] = self._data["categories"]
        return categories

    @cached_property
    def ago(self) -> dict[str, tuple[str, int]]:
        """How long ago some words say that something happened: months, or years if only those."""
        pairs = ((word, given.split()) for word, given in self._data.get("ago", {}).items())
        return {_spell(word): (unit, int(count)) for word, (unit, count) in pairs}

    @cached_property
    def kin(self) -> dict[str, tuple[str, str]]:
        """The slot and the value that a mention of somebody supposes, by their key."""
        tables: Mapping[str, Mapping[str, str]] = self._data.get("kin", {})
        pairs = ((slot, table.items()) for slot, table in tables.items())
        return {key: (slot, value) for slot, items in pairs for key, value in items}

    def speech(self, name: str) -> re.Pattern[str]:
        """Return a pattern of how sentences are made; one that matches nothing if there is none."""
        return self._find_pattern("speech", name)

    @cached_property
    def retellings(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """How somebody else writes about the user, and how the user says it."""
        pairs: Sequence[Sequence[str]] = self._data.get("retellings", {}).get("pairs", ())
        return tuple((_compile(self._expand(told)), said) for told, said in pairs)

    @property
    def _data(self) -> Mapping[str, Any]:
        """How facts are stated."""
        return self._load("statements")

    @cached_property
    def _parts(self) -> dict[str, str]:
        parts: dict[str, str] = dict(_SUBJECTS)
        parts["relation"] = _join_words(self.relations)
        for part, words in self._data.get("words", {}).items():
            parts[part] = _join_words(_spell(one) for one in words.split())
        parts |= self._data.get("parts", {})
        return parts

    def _load(self, file: str) -> dict[str, Any]:
        return load_data(f"languages/{self.name}/{file}.toml")

    def _find_pattern(self, table: str, name: str) -> re.Pattern[str]:
        if (table, name) not in self._patterns:
            text: str = self._data.get(table, {}).get(name, _NOTHING)
            self._patterns[table, name] = _compile(self._expand(text))
        return self._patterns[table, name]

    def _expand(self, pattern: str) -> str:
        """Return a pattern with its named parts put in."""
        return expand(pattern, self._parts)

    def _make_value_type(self, fields: Mapping[str, Any]) -> ValueType:
        one = {name: self._expand(text) for name, text in fields.items() if isinstance(text, str)}
        return ValueType(
            drop=_compile(one.get("drop", _NOTHING)),
            cut=_compile(one.get("cut", _NOTHING)),
            shape=_compile(one.get("shape", ".*")),
            never=_compile(one.get("never", _NOTHING)),
            gap=_compile(one["gap"]) if "gap" in one else None,
            max_chars=fields.get("max_chars", 40),
        )

    def _make_slot_words(self, name: str, fields: Mapping[str, Any]) -> SlotWords:
        rules = (
            # The first rule that fits counts: what ends something is tried before what states it,
            # and what is less sure last.
            *self._make_rules(name, fields.get("over", ()), is_over=True),
            *self._make_rules(name, fields.get("changes", ()), is_change=True),
            *self._make_rules(name, fields.get("patterns", ())),
            *self._make_rules(name, fields.get("weak", ()), is_weak=True),
        )
        return SlotWords(
            say=fields.get("say", ""),
            say_other=fields.get("say_other", ""),
            say_owned=fields.get("say_owned", ""),
            cues=tuple(_spell(cue) for cue in fields.get("cues", "").split()),
            rules=rules,
            unless=_compile(self._expand(fields["unless"])) if "unless" in fields else None,
            supposed=self._make_rules(name, fields.get("supposed", ())),
            after=self._make_following_rules(name, fields.get("after", {})),
            after_value=self._make_following_rules(name, fields.get("after_value", {})),
            then=self._make_following_rules(name, fields.get("then", {})),
        )

    def _make_following_rules(
        self, name: str, patterns: Mapping[str, Sequence[str | Mapping[str, str]]]
    ) -> dict[str, tuple[Rule, ...]]:
        return {slot: self._make_rules(name, given) for slot, given in patterns.items()}

    def _make_rules(
        self,
        slot: str,
        patterns: Sequence[str | Mapping[str, str]],
        *,
        is_over: bool = False,
        is_weak: bool = False,
        is_change: bool = False,
    ) -> tuple[Rule, ...]:
        given = [{"pattern": one} if isinstance(one, str) else one for one in patterns]
        return tuple(
            replace(
                self._make_rule(slot, one["pattern"]),
                value=one.get("value", ""),
                kind=one.get("kind", ""),
                subject=one.get("subject", ""),
                is_over=is_over,
                is_weak=is_weak,
                is_change=is_change,
            )
            for one in given
        )

    def _make_rule(self, slot: str, pattern: str) -> Rule:
        whole = self._expand(pattern)
        marks = [*_VALUE.finditer(whole)]
        types = {(mark[1] if mark[2] else "value"): mark[2] or mark[1] for mark in marks}
        is_open = bool(marks) and marks[-1].end() == len(whole)
        last = [*types][-1] if is_open else None
        return Rule(slot, _VALUE.sub(_make_group, whole), types, last)


@cache
def get_language(name: str) -> Language:
    """Return a language; its files are read when they are first needed."""
    return Language(name)


def find_languages(file: str) -> tuple[str, ...]:
    """Return the names of the languages whose folder holds a file."""
    return find_folders("languages", file)


def choose_language(name: str, file: str) -> Language:
    """Return a language if its folder holds a file, else the default."""
    return get_language(name if name in find_languages(file) else DEFAULT)


def _make_group(mark: re.Match[str]) -> str:
    name = mark[1] if mark[2] else "value"
    # Bounded inside of a pattern, so that no message takes long to read; only the last part is
    # open.
    return f"(?P<{name}>.+)" if mark[3] is not None else f"(?P<{name}>.{{1,{_INNER_CHARS}}}?)"


def _join_words(words: Any) -> str:  # noqa: ANN401 - any iterable of words
    # The longest first: an alternation takes the first that fits, and "grand" would end
    # "grandmother".
    return "|".join(sorted(dict.fromkeys(words), key=len, reverse=True))


def _spell(word: str) -> str:
    return simplify(word.replace("_", " "))


# There are many patterns, and a program that never needs some should not wait for them.
@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_MAX_CHARS = 2000
"""How much of a text is looked at: its beginning tells."""
_QUOTED = make_pattern('「[^「」]*」|『[^『』]*』|“[^“”]*”|"[^"]*"')


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
    # People quote words of other languages, and those say nothing about their own.
    own = _drop_quotes(text[:_MAX_CHARS])
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
    candidates = _find_with_file(file)
    # The patterns of its neighbours would misread it: Japanese can look like a wish in Chinese.
    if detected.markers.stands_alone:
        return detected if detected in candidates else None
    if shown := _find_shown(text, candidates):
        return shown
    plain = [one for one in candidates if not one.markers.has_letters]
    return (_find_most(text, plain) if len(plain) > 1 else None) or get_language(DEFAULT)


def find_present(text: str, file: str) -> list[Language]:
    """Return the languages with a file that a text may have words of, as people mix them."""
    candidates = _find_with_file(file)
    alone = [one for one in candidates if one.markers.stands_alone]
    if alone and (detected := get_language(detect_language(text).name)) in alone:
        return [detected]
    others = (one for one in candidates if one not in alone)
    present = (
        one for one in others if not one.markers.has_letters or one.markers.has_letters_in(text)
    )
    return sorted(present, key=lambda one: one.name)


def find_spoken(texts: Sequence[str], file: str) -> Language:
    """Return the first language with a file of which a text has a word, else the default."""
    others = (one for one in _find_with_file(file) if one.name != DEFAULT)
    spoken = (one for one in others if any(map(one.markers.has_words, texts)))
    return next(spoken, get_language(DEFAULT))


@cache
def _rank_languages() -> tuple[Language, ...]:
    """Return the languages that can be detected, in the order in which they win a tie."""
    languages = map(get_language, find_languages(DETECTION_FILE))
    return tuple(sorted(languages, key=lambda one: one.markers.rank))


@cache
def _find_with_file(file: str) -> tuple[Language, ...]:
    return tuple(one for one in _rank_languages() if one.name in find_languages(file))


def _find_most(text: str, languages: Sequence[Language]) -> Language | None:
    """Return the language of which a text has most words; None if it has none of any."""
    counts = {one: one.markers.count(text) for one in languages}
    most = max(counts, key=counts.__getitem__, default=None)
    return most if most and counts[most] else None


def _find_shown(text: str, languages: Iterable[Language]) -> Language | None:
    """Return the first language whose letters a text has."""
    return next((one for one in languages if one.markers.has_letters_in(text)), None)


def _drop_quotes(text: str) -> str:
    """Return a text without its quotations, or all of it if it is nothing else."""
    own = _QUOTED.sub(" ", text)
    # A text that is all quotation has no other words to tell by.
    return own if any(map(str.isalpha, own)) else text


def _is_simplified(texts: Iterable[str], words: re.Pattern[str]) -> bool:
    """Whether the first text with a character or word of one script alone is in Simplified."""
    for text in texts:
        # Only characters that one of the two standards lacks can tell the scripts apart.
        simplified = len(find_han(text, "gb2312")) + len(words.findall(text))
        traditional = len(find_han(text, "big5"))
        if simplified != traditional:
            return simplified > traditional
    # Traditional is what most users write.
    return False
