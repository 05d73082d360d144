"""Dates that are said relatively, made absolute at the moment of saying.

"I have an exam tomorrow" is true for a day and wrong ever after; "an exam on 2026-11-17" stays
true. What recurs, what stands in quotation marks, code or addresses, and what is doubtful stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.languages.language import DEFAULT, find_present
from turnleaf.core.learning.date_meanings import (
    FILE,
    DateGrammar,
    DateMatch,
    DateMeaning,
    DateRule,
    find_meaning,
    load_grammar,
)
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from turnleaf.core.learning.date_meanings import DateGrammar

_NEAR_ROLE = 16
_SENTENCE_END = make_pattern(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)[.!?](?=\s|\Z)|[。！？；;\n]")
_CLAUSE_END = make_pattern(r"[,，:：、](?!\d)|[.!?](?=\s|\Z)|[。！？；;\n]")
_WORD = make_pattern(r"\w")
_ROLE_TENSES = {"past": "past", "deadline": "future", "future": "future"}
_NEEDED_TENSES = {
    "": ("past", "future", ""),
    "tense": ("past", "future"),
    "future": ("future",),
    "not past": ("future", ""),
    "stay": ("future", ""),
}


class TextPlace(NamedTuple):
    """From where to where something stands."""

    start: int
    end: int


class DateContext:
    """A text in Simplified characters, without what is not to be read, around its dates."""

    def __init__(self, plain: str, grammars: Sequence[DateGrammar]) -> None:
        self.plain = plain
        self.grammars = grammars
        self._known_marks: dict[str, list[TextPlace]] = {}

    def has_mark(self, name: str, place: TextPlace | None = None) -> bool:
        """Whether there is a word of this kind, anywhere or in a place."""
        marks = self._find_marks(name)
        if place is None:
            return bool(marks)
        first = bisect_left(marks, (place.start, 0))
        return first < len(marks) and marks[first].start < place.end

    def allows(self, rule: DateRule, place: TextPlace, role: str, tense: str) -> bool:
        """Whether a clause lets words that can be something else be a date."""
        clause = _cut_around(place, self._clause_ends, len(self.plain))
        # An end is a date even beside a habit: every day until Friday.
        if role != "end" and any(self.has_mark(mark, clause) for mark in rule.unless):
            return False
        is_stay = rule.needs != "stay" or self.has_mark("stay", clause)
        return is_stay and tense in _NEEDED_TENSES[rule.needs]

    def find_role(self, grammar: DateGrammar, place: TextPlace, groups: Mapping[str, str]) -> str:
        """Return what the words before and after a date make of it, such as an end."""
        lead = groups.get("lead") or self._find_word_before(place.start)
        if role := grammar.roles.get(lead):
            return role
        after = place.end, place.end + _NEAR_ROLE
        # People mix languages within a sentence, so any of them may follow.
        trails = chain.from_iterable(one.trails.items() for one in self.grammars)
        return next((role for role, trail in trails if trail.match(self.plain, *after)), "")

    def find_tense(self, grammar: DateGrammar, place: TextPlace, role: str) -> str:
        """Return the tense in which a date is said, or "" where nothing shows it."""
        tense = _ROLE_TENSES.get(role) or self._find_verb_tense(grammar, place)
        return tense or ("future" if role == "end" else "")

    def begins_sentence(self, place: TextPlace) -> bool:
        """Whether nothing stands before a place in its sentence."""
        start = _cut_around(place, self._sentence_ends, len(self.plain)).start
        return not self.plain[start : place.start].strip()

    def find_sentences(self) -> Iterator[TextPlace]:
        """Return the sentences that have words."""
        starts = [0, *self._sentence_ends]
        for start, end in zip(starts, [*starts[1:], len(self.plain)], strict=True):
            if _WORD.search(self.plain, start, end):
                yield TextPlace(start, end)

    def _find_word_before(self, start: int) -> str:
        """Return the word before a place, or the character where there is no space."""
        near = self.plain[max(0, start - _NEAR_ROLE) : start]
        words = near.lower().split()
        # Chinese has no space before a date, so the character before it is the word.
        return words[-1] if words and near[-1].isspace() else near[-1:]

    def _find_verb_tense(self, grammar: DateGrammar, place: TextPlace) -> str:
        """Return the tense of the nearest verb: in the clause first, on the verb's usual side."""
        clause = _cut_around(place, self._clause_ends, len(self.plain))
        sentence = _cut_around(place, self._sentence_ends, len(self.plain))
        before, after = TextPlace(clause.start, place.start), TextPlace(place.end, clause.end)
        near = (after, before) if grammar.verb_stands == "after" else (before, after)
        beyond = TextPlace(clause.end, sentence.end), TextPlace(sentence.start, clause.start)
        tenses = (self._find_tense_in(part, place) for part in (*near, *beyond))
        found = next(filter(None, tenses), "")
        return found or ("future" if self.has_mark("weak", clause) else "")

    def _find_tense_in(self, part: TextPlace, place: TextPlace) -> str:
        """Return the tense of the verb in a part of the text that is nearest to a place."""
        first = bisect_left(self._tenses, (part.start, ""))
        last = bisect_left(self._tenses, (part.end, "")) - 1
        if first > last:
            return ""
        return self._tenses[last if part.end <= place.start else first][1]

    @cached_property
    def _tenses(self) -> list[tuple[int, str]]:
        """Where verbs show a tense; of two at one place the longer expression counts."""
        found: dict[int, tuple[int, str]] = {}
        for tense in ("past", "future"):
            for start, end in self._find_marks(tense):
                # Of two expressions at one place the longer one is more exact.
                found[start] = max((end, tense), found.get(start, (0, "")))
        return _drop_inner(found)

    def _find_marks(self, name: str) -> list[TextPlace]:
        if name not in self._known_marks:
            marks = (grammar.marks.get(name) for grammar in self.grammars)
            matches = (match for mark in marks if mark for match in mark.finditer(self.plain))
            self._known_marks[name] = sorted(TextPlace(*match.span()) for match in matches)
        return self._known_marks[name]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.plain)]

    @cached_property
    def _clause_ends(self) -> list[int]:
        return [match.end() for match in _CLAUSE_END.finditer(self.plain)]


def _cut_around(place: TextPlace, ends: Sequence[int], length: int) -> TextPlace:
    number = bisect_right(ends, place.start)
    start = ends[number - 1] if number else 0
    return TextPlace(start, ends[number] if number < len(ends) else length)


def _drop_inner(found: Mapping[int, tuple[int, str]]) -> list[tuple[int, str]]:
    """Return what was found without what stands inside a longer expression."""
    kept: list[tuple[int, str]] = []
    reached = 0
    for start in sorted(found):
        end, tense = found[start]
        if start >= reached:
            kept.append((start, tense))
            reached = end
    return kept


__all__ = ["DatedText", "make_dates_absolute"]

_MAX_CHARS = 4_000
_NEAR = 8
# A private character, one for each that it hides, so that all places stay right.
_HIDDEN = "\ue000"
# Code, quotations, titles, addresses and file names: a date in them is not said by the user. Every
# repetition is bounded, as in all patterns that read messages.
_PROTECTED = make_pattern(
    r"```.{0,2000}?```|`[^`\n]{1,300}`|「[^「」]{0,300}」|『[^『』]{0,300}』|《[^《》]{0,100}》"
    r"|〈[^〈〉]{0,100}〉|“[^“”]{0,300}”|\"[^\"\n]{0,300}\"|(?<!\w)'[^'\n]{1,100}'(?!\w)"
    r"|[a-z][a-z0-9+.-]{1,9}://[^\s，。]{1,2000}|\bwww\.[^\s，。]{1,500}"
    r"|[\w.+-]{1,60}@[\w.-]{1,60}|[@#][\w-]{1,60}"
    r"|(?<![\w./\\-])[\w./\\-]{1,80}\.[a-z][a-z0-9]{1,4}(?![a-z0-9])",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
_ABSOLUTE = make_pattern(
    r"(?<!\d)(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?:(?P=sep)(?P<day_number>\d{1,2}))?(?!\d)"
)
_ABSOLUTE_RULE = DateRule(reads="month_day", pattern="")
_STAYS = frozenset({"until", "from_to"})
_SHORT_DAYS = 10
_MONTH_DAYS = 31


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text whose dates stay true, and the last day on which it holds, if it ends."""

    text: str
    until: date | None


@dataclass(frozen=True, slots=True)
class _FoundDate:
    """Words for a date, what they mean, what is written in their place, and how they are said."""

    place: TextPlace
    meaning: DateMeaning | None = None
    written: str | None = None
    role: str = ""
    is_past: bool = False


def make_dates_absolute(text: str, now: datetime, first_weekday: int = 0) -> DatedText:
    """Return the text with its dates made absolute, as said at `now`, a local time.

    Weeks begin on `first_weekday`, where 0 is Monday. Of a long text only the first 4,000
    characters are read.
    """
    read, rest = text[:_MAX_CHARS], text[_MAX_CHARS:]
    reading = _DateReading(read, now.date(), first_weekday)
    found = reading.find_dates()
    # What was not read may say something that lasts.
    until = None if rest or not found else _find_until(reading, found)
    return DatedText(_write(read, found) + rest, until)


class _DateReading:
    """A text that is read for dates."""

    def __init__(self, text: str, today: date, first_weekday: int) -> None:
        self.text = text
        self.said_on = today
        self._first_weekday = first_weekday
        # A date in code, a quotation or an address is not said by the user and must stay as it is.
        own_words = _hide(text, _PROTECTED.finditer(text))
        self._absolute = [*_ABSOLUTE.finditer(own_words)]
        # Hidden too, or a rule would read the 11-17 of 2026-11-17 once more.
        self._plain = simplify(_hide(own_words, self._absolute))
        # In both languages, because people say 明天 and "tomorrow" in one message.
        present = find_present(own_words, FILE)
        self.context = DateContext(self._plain, [load_grammar(one.name) for one in present])

    def find_dates(self) -> list[_FoundDate]:
        """Return the words for dates, in the order of the text."""
        found = [*map(self._read_absolute, self._absolute)]
        for grammar in self.context.grammars:
            found += self._search(grammar)
        return _drop_overlapping(sorted(found, key=lambda one: one.place))

    def _read_absolute(self, match: re.Match[str]) -> _FoundDate:
        # A date in digits is read alike in every language, so any grammar will do.
        grammar, place = load_grammar(DEFAULT), TextPlace(*match.span())
        groups = {name: said for name, said in match.groupdict().items() if said}
        role = self.context.find_role(grammar, place, groups)
        return _FoundDate(place, self._resolve(grammar, _ABSOLUTE_RULE, groups), role=role)

    def _search(self, grammar: DateGrammar) -> list[_FoundDate]:
        return [self._read(grammar, match) for match in grammar.pattern.finditer(self._plain)]

    def _read(self, grammar: DateGrammar, match: re.Match[str]) -> _FoundDate:
        rule, spans = grammar.find_rule(match)
        place, plain = TextPlace(*match.span()), self._plain
        groups = {name: " ".join(plain[slice(*at)].lower().split()) for name, at in spans.items()}
        role = self.context.find_role(grammar, place, groups)
        tense = self.context.find_tense(grammar, place, role)
        if not self.context.allows(rule, place, role, tense):
            # Kept without a meaning, so that no other grammar reads these words after all.
            return _FoundDate(place)
        is_past = tense == "past"
        meaning = self._resolve(grammar, rule, groups, is_past=is_past)
        if meaning is None or meaning.form == "absolute":
            return _FoundDate(place, meaning, None, role, is_past)
        said = {name: self.text[slice(*at)] for name, at in spans.items()} | {"": rule.part}
        written = self._write_date(grammar, meaning, place, said)
        return _FoundDate(place, meaning, written, role, is_past)

    def _resolve(
        self,
        grammar: DateGrammar,
        rule: DateRule,
        groups: Mapping[str, str],
        *,
        is_past: bool = False,
    ) -> DateMeaning | None:
        match = DateMatch(grammar, rule, groups, self.said_on, self._first_weekday, is_past)
        return find_meaning(match)

    def _write_date(
        self, grammar: DateGrammar, meaning: DateMeaning, place: TextPlace, said: Mapping[str, str]
    ) -> str:
        """Return a date as written, with the preposition that was said or its own."""
        lead, form = said.get("lead", ""), grammar.forms[meaning.form]
        is_dropped = grammar.roles.get(lead.lower()) == "dropped" and "{said}" not in form[0]
        kept = said.get("kept", "") if is_dropped or not lead else lead
        is_bare = bool(kept) or self._stands_alone(grammar, place)
        written = form[-1 if is_bare else 0].format(**_make_fields(meaning, said))
        return self._capitalize(f"{kept} {written}" if kept else written, place)

    def _stands_alone(self, grammar: DateGrammar, place: TextPlace) -> bool:
        """Whether a date needs no preposition: "Dentist: tomorrow", "Tomorrow is my exam"."""
        before = self._plain[max(0, place.start - _NEAR) : place.start].rstrip(" ")
        if before.endswith((":", "(")):
            return True
        after = place.end, place.end + _NEAR
        follows = grammar.subject and grammar.subject.match(self._plain, *after)
        return bool(follows) and self.context.begins_sentence(place)

    def _capitalize(self, written: str, place: TextPlace) -> str:
        is_capital = self.text[place.start].isupper() and self.context.begins_sentence(place)
        return written[0].upper() + written[1:] if is_capital else written


def _hide(text: str, matches: Iterable[re.Match[str]]) -> str:
    """Return a text with the matches blanked, so that nothing reads them."""
    pieces: list[str] = []
    done = 0
    for match in matches:
        pieces += text[done : match.start()], _HIDDEN * len(match[0])
        done = match.end()
    return "".join((*pieces, text[done:]))


def _drop_overlapping(found: Iterable[_FoundDate]) -> list[_FoundDate]:
    kept: list[_FoundDate] = []
    for one in found:
        if not kept or one.place.start >= kept[-1].place.end:
            kept.append(one)
    return kept


def _make_fields(meaning: DateMeaning, said: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that the form of a date may name."""
    first = meaning.first
    return {
        "first": first.isoformat(),
        "last": meaning.last.isoformat(),
        "month": first.isoformat()[:7],
        "year": str(first.year),
        "next_year": f"{(first.year + 1) % 100:02}",
        "m": str(first.month),
        "part": (said.get("part") or said[""]).lower(),
        "name": said.get("month") or said.get("season", ""),
        **{name: said.get(name, "") for name in ("said", "rest", "unit")},
    }


def _write(text: str, found: Sequence[_FoundDate]) -> str:
    """Return a text with the absolute dates in place of the words for them."""
    pieces: list[str] = []
    done = 0
    for one in found:
        if one.written is not None:
            pieces += text[done : one.place.start], one.written
            done = one.place.end
    return "".join(_insert_spaces([*pieces, text[done:]]))


def _insert_spaces(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces, with a space between a date and digits or Latin letters beside it."""
    before = ""
    for piece in pieces:
        if _is_ascii_word(before[-1:]) and _is_ascii_word(piece[:1]):
            yield " "
        yield piece
        before = piece or before


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _find_until(reading: _DateReading, found: Sequence[_FoundDate]) -> date | None:
    """Return the last day on which the text holds; None where a sentence of it has no date."""
    dated = [one for one in found if one.meaning]
    starts = [one.place.start for one in dated]
    for start, end in reading.context.find_sentences():
        # A sentence without a date may hold for ever. A fact that leaves too early is lost for
        # prompts; one that leaves too late shows by its date that it is over.
        if bisect_left(starts, start) == bisect_left(starts, end):
            return None
    ends = (one.meaning.last for one in dated if one.meaning and _is_over(reading, one))
    return max(ends, default=None)


def _is_over(reading: _DateReading, one: _FoundDate) -> bool:
    """Whether what is said no longer holds after a date; a date of beginning ends nothing."""
    meaning = one.meaning
    if meaning is None or one.is_past or one.role == "beginning" or meaning.last < reading.said_on:
        return False
    if one.role == "end" or meaning.form in _STAYS:
        return True
    # Who starts, moves or marries on a day has begun something that lasts.
    if reading.context.has_mark("lasting"):
        return False
    days = (meaning.last - meaning.first).days
    is_month = days <= _MONTH_DAYS and reading.context.has_mark("passing")
    return days < _SHORT_DAYS or is_month or one.role == "deadline" or meaning.form == "by"
