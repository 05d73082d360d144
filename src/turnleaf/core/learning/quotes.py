"""How far the words of a conversation carry a fact that a model proposes.

A model is not asked how sure it is. An exact quote of the user vouches for a fact that says what
the user's own words say. What is in doubt (a name that nobody but the assistant brought, a
negation that is missing, a question, a wish) waits for review and is not lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from turnleaf.core.languages.words import find_characters, find_pattern, find_words
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.small_talk import is_question
from turnleaf.core.search.terms import fold, is_stop_word, simplify, terms

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from turnleaf.core.learning.extraction import TranscriptMessage
    from turnleaf.core.memories import Memory

SUPPORTED_SHARE = 0.5
"""The share of a fact's words that the user must have said; otherwise the model has inferred it."""
QUOTE_LETTERS = 4
"""The least that a quote has: so many letters or digits, or half as many Chinese characters."""
STATEMENT_CHARS = 120
"""Longer messages without a word for the speaker are rather pasted than said."""

_RANK = ("document", "tool", "stranger", "assistant")
"""Whose words decide when several said the same: the assistant may only repeat the others."""

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN_RUN = lazy_pattern(f"[{_HAN}]+")
_WORD = lazy_pattern(f"[^\\W_{_HAN}]+")
_SPACE = lazy_pattern(r"\s+")
_QUOTATION = lazy_pattern("[\"'`´‘’‚‛“”„‟′″«»‹›「」『』〝〞〟＂＇]")
_DASH = lazy_pattern("[‐‑‒–—―−]")
_BLANKS = " \n"
_AROUND = " .,!?;:~…。、，！？；：～()（）-*"
_STOP = lazy_pattern(r"[.!?](?=\s|$)|[。!?;\n]")
_CLAUSE_STOP = r"[.!?](?=\s|$)|[。!?;,，\n]|"
_NUMBERED_TIME = r"\d{1,4}[-/.]\d{1,2}|"
_NUMBERED_DATE = r"|(?:19|20)\d\d(?:[-/.] ?\d{1,2}(?:[-/.] ?\d{1,2})?)?"


@dataclass(frozen=True, slots=True)
class Support:
    """How far a fact is trusted, and which message decides that if it is another one."""

    trust: str
    source: int | None = None


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """Where a quote stands: the sentence that it begins in, its first clause and its last."""

    sentence: str
    first: str
    last: str


@dataclass(frozen=True)
class Heard:
    """What was said and what is known, read once: texts as they are compared, and their words."""

    said: tuple[TranscriptMessage, ...]
    texts: tuple[str, ...]
    known: frozenset[str]

    @classmethod
    def of(cls, said: Sequence[TranscriptMessage], known: Sequence[Memory]) -> Heard:
        """Fold each text."""
        words = (term for memory in known for term in terms(memory.content))
        return cls(tuple(said), tuple(fold_quote(one.text) for one in said), frozenset(words))

    @cached_property
    def words(self) -> Mapping[int, frozenset[str]]:
        """The words of each message."""
        return {number: frozenset(terms(one.text)) for number, one in enumerate(self.said)}

    @cached_property
    def own(self) -> frozenset[str]:
        """The user's words, in context too."""
        mine = (self.words[at] for at, one in enumerate(self.said) if one.trust == "user")
        return frozenset().union(*mine)

    def find(self, quote: str, wanted: object) -> int | None:
        """Return the message that holds a quote: the one that was named, or else any source."""
        folded = _squeeze(_inner(quote))
        if not is_long_enough(quote):
            return None
        # Small models often give the wrong number; the words themselves are found all the same.
        named_first = sorted(range(len(self.said)), key=lambda number: number + 1 != wanted)
        sources = (at for at in named_first if self.said[at].is_source)
        return next((at for at in sources if folded in self._squeezed_texts[at]), None)

    def is_settled(self, quote: str) -> bool:
        """Whether a quote stands where facts are not taken from: they were taken already."""
        folded = _squeeze(_inner(quote))
        pairs = zip(self.said, self._squeezed_texts, strict=True)
        return any((one.is_settled or one.is_context) and folded in text for one, text in pairs)

    def place(self, quote: str, number: int) -> QuotePlace:
        """Return where a quote stands in a message."""
        text, folded = self.texts[number], _squeeze(_inner(quote))
        start = max(0, self._squeezed_texts[number].find(folded))
        letters = [at for at, char in enumerate(text) if char not in _BLANKS]
        first, last = letters[start], letters[start + len(folded) - 1]
        return QuotePlace(
            _around(text, first, _STOP),
            _around(text, first, _clause_stop()),
            _around(text, last, _clause_stop()),
        )

    @cached_property
    def _squeezed_texts(self) -> tuple[str, ...]:
        return tuple(map(_squeeze, self.texts))


def fold_quote(text: str) -> str:
    """Return a text in which quotation marks, case, width and white space make no difference.

    Lines stay apart, because a sentence ends with its line.
    """
    plain = _DASH.sub("-", _QUOTATION.sub("", fold(_QUOTATION.sub("", text))))
    return _SPACE.sub(lambda found: "\n" if "\n" in found[0] else " ", plain).strip()


def is_long_enough(quote: str) -> bool:
    """Whether a quote has enough in it to be somebody's words: "I" quotes nothing."""
    weights = (2 if _HAN_RUN.match(char) else 1 for char in quote if char.isalnum())
    return sum(weights) >= QUOTE_LETTERS


def share_words(one: str, other: str, text: str) -> bool:
    """Whether two quotes from a text overlap in it."""
    whole = _squeeze(fold_quote(text))
    first, second = _squeeze(_inner(one)), _squeeze(_inner(other))
    start, begin = whole.find(first), whole.find(second)
    is_found = start >= 0 and begin >= 0
    return is_found and start < begin + len(second) and begin < start + len(first)


def judge_quote(fact: str, quote: str, number: int, heard: Heard) -> Support:
    """Return how far a fact may be trusted that rests on a quote from a message."""
    if heard.said[number].trust != "user":
        return Support(heard.said[number].trust)
    # A date is the model's to work out, where the user speaks of a time.
    sentence = heard.place(quote, number).sentence
    undated = _without_dates(fact) if _find("time", _NUMBERED_TIME).search(sentence) else fact
    claimed, names = _find_claimed_words(undated), _foreign_names(undated, heard)
    foreign = {word for word in claimed if not _is_heard(word, heard)}
    for rank in _RANK:
        # A word that the assistant used as well proves nothing against the user; a name that only
        # it said does.
        suspicious = names if rank == "assistant" else foreign | names
        brought = _first_with(suspicious, rank, heard)
        if brought is not None:
            return Support(rank, brought)
    is_carried = (
        not names and _is_supported(claimed, heard) and _says_so(fact, quote, number, heard)
    )
    return Support("user" if is_carried else "model")


def find_carrier(fact: str, heard: Heard) -> int | None:
    """Return the message of the user that has most words of a fact; None if that is not half."""
    claimed = _find_claimed_words(fact)
    if not claimed or not _is_supported(claimed, heard):
        return None
    shared = {
        at: len(claimed & heard.words[at])
        for at, one in enumerate(heard.said)
        if one.is_source and one.trust == "user"
    }
    best = max(shared, key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] else None


def _find(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return find_pattern("quotes", name, before, after)


def _clause_stop() -> re.Pattern[str]:
    return _find("clause_end", _CLAUSE_STOP)


def _generic_han() -> frozenset[str]:
    """Return the characters that a fact may always have."""
    return find_characters("quotes", "generic_characters")


def _without_dates(fact: str) -> str:
    return _find("date", after=_NUMBERED_DATE).sub(" ", fact)


def _squeeze(text: str) -> str:
    """Return a folded text without the spaces that are left, which models set as they like."""
    return text.replace(" ", "").replace("\n", "")


def _inner(quote: str) -> str:
    return fold_quote(quote).strip(_AROUND)


def _around(text: str, at: int, stop: re.Pattern[str]) -> str:
    """Return the piece of a text between two stops around a place, with the stop that ends it."""
    starts = [found.end() for found in stop.finditer(text, 0, max(at, 0))]
    after = stop.search(text, at)
    return text[starts[-1] if starts else 0 : after.end() if after else len(text)].strip()


def _find_claimed_words(fact: str) -> set[str]:
    """Return the words of a fact that say something, a Chinese character each for itself."""
    folded = _plain(fold(fact))
    words = {word for word in _WORD.findall(folded) if not _is_generic(word)}
    stems = {term for word in words for term in terms(word)}
    return stems | {char for run in _HAN_RUN.findall(folded) for char in run} - _generic_han()


def _plain(text: str) -> str:
    """Return a text without quotation marks, and without words that a fact may always have."""
    return _find("generic_phrases").sub(" ", _QUOTATION.sub(" ", text))


def _is_generic(word: str) -> bool:
    return is_stop_word(word) or word in find_words("quotes", "generic_words")


def _is_supported(claimed: set[str], heard: Heard) -> bool:
    # What is known already need not be said again to be part of the fact.
    new = claimed - heard.known
    return len(claimed & heard.own) >= max(1, SUPPORTED_SHARE * len(new))


def _foreign_names(fact: str, heard: Heard) -> set[str]:
    """Return what looks like a name or a number in a fact and is none of the user's words."""
    words = _WORD.findall(_plain(fact))
    # Not the first word, which is written with a capital whatever it is.
    named = {term for word in words[1:] if _is_name(word) for term in terms(word)}
    return {term for term in named | _han_names(fact, heard) if not _is_heard(term, heard)}


def _is_name(word: str) -> bool:
    has_digit = any(map(str.isdigit, word))
    return has_digit or (word[0].isupper() and not _is_generic(word.lower()))


def _han_names(fact: str, heard: Heard) -> set[str]:
    """Return the runs of two and more characters of which the user said none."""
    folded = _plain(simplify(fact))
    own = _generic_han() | {char for char in folded if _is_heard(char, heard)}
    said = "".join(char if char in own else "\0" for char in folded)
    pairs = zip(folded, folded[1:], said, said[1:], strict=False)
    return {
        one + two
        for one, two, first, second in pairs
        if first == second == "\0" and _HAN_RUN.fullmatch(one + two)
    }


def _is_heard(term: str, heard: Heard) -> bool:
    return term in heard.own or term in heard.known


def _first_with(words: set[str], trust: str, heard: Heard) -> int | None:
    """Return the first message of such a trust that has one of the words."""
    theirs = (at for at, one in enumerate(heard.said) if one.trust == trust)
    return next((at for at in theirs if not words.isdisjoint(heard.words[at])), None)


def _is_negative(folded: str) -> bool:
    return _find("negative").search(folded) is not None


def _nearest_clause(fact: str, quote: str) -> str:
    """Return the clause of a quote that has most words of a fact: "it is Max, not Rex"."""
    claimed = _find_claimed_words(fact)
    clauses = _clause_stop().split(_inner(quote))
    return max(clauses, key=lambda clause: len(claimed.intersection(terms(clause))))


def _says_so(fact: str, quote: str, number: int, heard: Heard) -> bool:
    """Whether a quote states what a fact states, as far as grammar shows."""
    place = heard.place(quote, number)
    is_same_side = _is_negative(fold_quote(fact)) == _is_negative(_nearest_clause(fact, quote))
    is_statement = not is_question(place.last) and not _find("request").match(place.first)
    text = heard.texts[number]
    is_own = len(text) <= STATEMENT_CHARS or bool(_find("speaker").search(text))
    shares_words = not _find_claimed_words(fact).isdisjoint(terms(quote))
    return (
        is_same_side
        and is_statement
        and is_own
        and shares_words
        and not _find("hypothetical").search(place.sentence)
    )
