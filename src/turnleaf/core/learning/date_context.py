"""What a text says around a date: in which tense, whether it recurs, whether it is an end."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.learning.date_grammar import DateGrammar, DateRule

_NEAR = 16
_SENTENCE_END = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)[.!?](?=\s|\Z)|[。！？；;\n]")
_CLAUSE_END = re.compile(r"[,，:：、](?!\d)|[.!?](?=\s|\Z)|[。！？；;\n]")
_WORD = re.compile(r"\w")
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
        clause = _around(place, self._clause_ends, len(self.plain))
        if role != "end" and any(self.has_mark(mark, clause) for mark in rule.unless):
            return False
        is_stay = rule.needs != "stay" or self.has_mark("stay", clause)
        return is_stay and tense in _NEEDED_TENSES[rule.needs]

    def find_role(self, grammar: DateGrammar, place: TextPlace, groups: Mapping[str, str]) -> str:
        """Return what the words before and after a date make of it, such as an end."""
        lead = groups.get("lead") or self._word_before(place.start)
        if role := grammar.roles.get(lead):
            return role
        after = place.end, place.end + _NEAR
        trails = chain.from_iterable(one.trails.items() for one in self.grammars)
        return next((role for role, trail in trails if trail.match(self.plain, *after)), "")

    def find_tense(self, grammar: DateGrammar, place: TextPlace, role: str) -> str:
        """Return the tense in which a date is said, or "" where nothing shows it."""
        tense = _ROLE_TENSES.get(role) or self._find_verb_tense(grammar, place)
        return tense or ("future" if role == "end" else "")

    def begins_sentence(self, place: TextPlace) -> bool:
        """Whether nothing stands before a place in its sentence."""
        start = _around(place, self._sentence_ends, len(self.plain)).start
        return not self.plain[start : place.start].strip()

    def find_sentences(self) -> Iterator[TextPlace]:
        """Return the sentences that have words."""
        starts = [0, *self._sentence_ends]
        for start, end in zip(starts, [*starts[1:], len(self.plain)], strict=True):
            if _WORD.search(self.plain, start, end):
                yield TextPlace(start, end)

    def _word_before(self, start: int) -> str:
        """Return the word before a place, or the character where there is no space."""
        near = self.plain[max(0, start - _NEAR) : start]
        words = near.lower().split()
        return words[-1] if words and near[-1].isspace() else near[-1:]

    def _find_verb_tense(self, grammar: DateGrammar, place: TextPlace) -> str:
        """Return the tense of the nearest verb: in the clause first, on the verb's usual side."""
        clause = _around(place, self._clause_ends, len(self.plain))
        sentence = _around(place, self._sentence_ends, len(self.plain))
        before, after = TextPlace(clause.start, place.start), TextPlace(place.end, clause.end)
        near = (after, before) if grammar.verb_stands == "after" else (before, after)
        beyond = TextPlace(clause.end, sentence.end), TextPlace(sentence.start, clause.start)
        tenses = (self._tense_in(part, place) for part in (*near, *beyond))
        found = next(filter(None, tenses), "")
        return found or ("future" if self.has_mark("weak", clause) else "")

    def _tense_in(self, part: TextPlace, place: TextPlace) -> str:
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


def _around(place: TextPlace, ends: Sequence[int], length: int) -> TextPlace:
    number = bisect_right(ends, place.start)
    start = ends[number - 1] if number else 0
    return TextPlace(start, ends[number] if number < len(ends) else length)


def _drop_inner(found: Mapping[int, tuple[int, str]]) -> list[tuple[int, str]]:
    """Leave out what stands inside of a longer expression."""
    kept: list[tuple[int, str]] = []
    reached = 0
    for start in sorted(found):
        end, tense = found[start]
        if start >= reached:
            kept.append((start, tense))
            reached = end
    return kept
