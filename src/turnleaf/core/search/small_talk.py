"""What of a conversation answers nothing: a question, and an answer that says nothing new.

Somebody who asks the same again shall find what was stated, not that it was asked before.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.replies import earlier_openings, openings
from turnleaf.core.languages.words import find_pattern, find_words
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import fold, is_stop_word, parse_query, simplify, terms

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_CHARS = 400
"""What is longer than this says more than a question, or than that nothing was found."""
MOST_NEW = 0.2
"""The share of a question's words that may be other ones than those of the question asked now."""

_QUESTION_MARK = r"[?？]\W*+$|"
_SENTENCE = lazy_pattern(r"[^.!?。！？\n]++[.!?。！？\n]*+")
_STATES = lazy_pattern(r"[.!]\s++\S|[。！\n]\s*+\S")


def is_question(text: str) -> bool:
    """Whether a message asks, and states nothing before or after that."""
    return _asks(text) and not _STATES.search(simplify(text).strip())


def asks_again(text: str, question: str) -> bool:
    """Whether an earlier message only asks what is asked now."""
    plain, wanted = _read_question(question)
    if len(text) <= 2 * len(question) and simplify(fold(text)).strip() == plain:
        return True
    if not _asks(text):
        return False
    earlier = set(parse_query(text).terms)
    return len(earlier - wanted) <= MOST_NEW * len(earlier)


def says_nothing(text: str) -> bool:
    """Whether an answer only says that nothing was found, or quotes or confirms what was said."""
    plain = simplify(fold(text)).strip()
    if plain.startswith(_answers()) or (plain.startswith(_confirmations()) and "\n\n" not in plain):
        return True
    if len(plain) > MAX_CHARS:
        return False
    first, *others = _SENTENCE.findall(plain) or [""]
    return _is_nothing(first) and all(_is_nothing(one) or _offers(one) for one in others)


@cache
def _answers() -> tuple[str, ...]:
    """Return how answers begin that only quote what is known, or that found nothing."""
    names = ("found", "nothing", "heard", "noted", "crowded", "overview", "empty", "hello", "help")
    ours = openings("recall", *names)
    return tuple(simplify(fold(one)) for one in (*ours, *earlier_openings("answers")))


@cache
def _confirmations() -> tuple[str, ...]:
    """Return how it is confirmed that a request was done; what follows is the fact."""
    ours = openings("memory", "saved", "known", "removed")
    return tuple(simplify(fold(one)) for one in (*ours, *earlier_openings("confirmations")))


@lru_cache(maxsize=16)
def _read_question(question: str) -> tuple[str, frozenset[str]]:
    return simplify(fold(question)).strip(), frozenset(parse_query(question).terms)


def _asks(text: str) -> bool:
    asks = find_pattern("evidence", "asks", _QUESTION_MARK)
    return len(text) <= MAX_CHARS and bool(asks.search(simplify(text).strip()))


def _is_nothing(sentence: str) -> bool:
    return find_pattern("evidence", "nothing").match(sentence) is not None


def _offers(sentence: str) -> bool:
    return find_pattern("evidence", "offer", r"\W*+").match(sentence) is not None


MAX_TALK_CHARS = 80
_QUESTION = lazy_pattern(r"[?？]\s*+$")
_WORD = lazy_pattern(r"[^\W\d_]+")


def is_small_talk(text: str) -> bool:
    """Whether a short text greets, thanks or agrees, and says nothing else."""
    if len(text) > MAX_TALK_CHARS:
        return False
    rest = find_pattern("small_talk", "phrases").sub(" ", simplify(fold(text)))
    if any(map(str.isdigit, rest)):
        return False
    allowed = find_words("small_talk", "asked" if _QUESTION.search(text) else "words")
    return all(word in allowed or is_stop_word(word) for word in _WORD.findall(rest))


def is_other_talk(text: str, wanted: Collection[str]) -> bool:
    """Whether a text is small talk without one of the terms that are looked for.

    By its meaning a greeting is near to every single word.
    """
    return is_small_talk(text) and set(terms(text)).isdisjoint(wanted)
