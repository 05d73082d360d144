"""Messages that answer nothing: questions, small talk, and what was forgotten or replaced since.

Somebody who asks the same again shall find what was stated, not that it was asked before.

What was forgotten or replaced is read from the record of changes alone, so that an undo needs no
record of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.languages.replies import list_earlier_openings, list_openings
from turnleaf.core.languages.words import find_pattern, find_words
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.ranking import Newer
from turnleaf.core.search.terms import fold, is_stop_word, list_terms, parse_query, simplify
from turnleaf.core.serialization import from_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change
    from turnleaf.core.search.ranking import Hit


MAX_CHARS = 400
"""What is longer than this says more than a question, or than that nothing was found."""
MOST_NEW = 0.2
"""The share of a question's words that may be other ones than those of the question asked now."""

_QUESTION_MARK = r"[?？]\W*+$|"
_SENTENCE = make_pattern(r"[^.!?。！？\n]++[.!?。！？\n]*+")
_STATES = make_pattern(r"[.!]\s++\S|[。！\n]\s*+\S")


def is_question(text: str) -> bool:
    """Whether a message asks, and states nothing before or after that."""
    return _asks(text) and not _STATES.search(simplify(text).strip())


def asks_again(text: str, question: str) -> bool:
    """Whether an earlier message only asks what is asked now."""
    plain, wanted = _read_question(question)
    # Folding a long text is slow, and one that is much longer cannot be the same question.
    if len(text) <= 2 * len(question) and simplify(fold(text)).strip() == plain:
        return True
    if not _asks(text):
        return False
    earlier = set(parse_query(text).terms)
    return len(earlier - wanted) <= MOST_NEW * len(earlier)


def says_nothing(text: str) -> bool:
    """Whether an answer only says that nothing was found, or quotes or confirms what was said."""
    plain = simplify(fold(text)).strip()
    # After an empty line a confirmation goes on with an answer of its own.
    if plain.startswith(_list_answers()) or (
        plain.startswith(_list_confirmations()) and "\n\n" not in plain
    ):
        return True
    if len(plain) > MAX_CHARS:
        return False
    first, *others = _SENTENCE.findall(plain) or [""]
    return _is_nothing(first) and all(_is_nothing(one) or _offers(one) for one in others)


@cache
def _list_answers() -> tuple[str, ...]:
    """Return the openings of answers that only quote known facts or that found nothing."""
    names = ("found", "nothing", "heard", "noted", "crowded", "overview", "empty", "hello", "help")
    ours = list_openings("recall", *names)
    # What older versions answered still stands in stored conversations.
    return tuple(simplify(fold(one)) for one in (*ours, *list_earlier_openings("answers")))


@cache
def _list_confirmations() -> tuple[str, ...]:
    """Return the openings of confirmations; the fact follows them."""
    ours = list_openings("memory", "saved", "known", "removed")
    return tuple(simplify(fold(one)) for one in (*ours, *list_earlier_openings("confirmations")))


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
_QUESTION = make_pattern(r"[?？]\s*+$")
_WORD = make_pattern(r"[^\W\d_]+")


def is_small_talk(text: str) -> bool:
    """Whether a short text greets, thanks or agrees, and says nothing else."""
    if len(text) > MAX_TALK_CHARS:
        return False
    rest = find_pattern("small_talk", "phrases").sub(" ", simplify(fold(text)))
    # A number says something, however friendly the rest is.
    if any(map(str.isdigit, rest)):
        return False
    allowed = find_words("small_talk", "asked" if _QUESTION.search(text) else "words")
    return all(word in allowed or is_stop_word(word) for word in _WORD.findall(rest))


def is_other_talk(text: str, wanted: Collection[str]) -> bool:
    """Whether a text is small talk without one of the terms that are looked for.

    By its meaning a greeting is near to every single word.
    """
    return is_small_talk(text) and set(list_terms(text)).isdisjoint(wanted)


Place: TypeAlias = "tuple[str, datetime]"
"""A conversation's key and the time of one of its messages."""

ACCEPTED = "accept"
"""The origin of the change by which an accepted fact leaves those pending review."""
FEWEST_BYTES = 12
"""A shorter text stands in too many messages to say that they are about the fact."""


@dataclass(frozen=True, slots=True)
class FactTraces:
    """Where a fact comes from, and the words in which it may have been said elsewhere."""

    places: frozenset[Place]
    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class MessageOutcomes:
    """What is forgotten, by the fact's id, and whose words a person has accepted."""

    forgotten: Mapping[str, FactTraces]
    accepted: frozenset[Place]


def make_reason(fact: str) -> str:
    """Return the reason for hiding the messages that a fact rests on."""
    return f"fact:{fact}"


def find_forgotten(changes: Iterable[Change]) -> dict[str, FactTraces]:
    """Return the facts that somebody asked to forget and that have not come back, by id."""
    places: dict[str, set[Place]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    gone: set[str] = set()
    for change in changes:
        for fact in change.ids():
            places[fact] |= _find_places(change)
            texts[fact] |= _find_texts(change, fact)
            if change.op == "delete":
                gone.add(fact)
            # A fact that came back, by an undo or because it was said again, is not forgotten.
            elif change.after is not None or fact != change.id:
                gone.discard(fact)
    return {
        fact: FactTraces(frozenset(places[fact]), frozenset(texts[fact])) for fact in sorted(gone)
    }


def find_accepted(changes: Iterable[Change]) -> frozenset[Place]:
    """Return the messages on which facts rest that a person has accepted."""
    places: dict[str, set[Place]] = defaultdict(set)
    accepted: set[str] = set()
    for change in changes:
        places[change.id] |= _find_places(change)
        if change.op == "delete" and change.origin == ACCEPTED:
            accepted.add(change.id)
    return frozenset(place for fact in accepted for place in places[fact])


def find_superseded(changes: Iterable[Change]) -> dict[Place, Newer]:
    """Return, by message, what its fact says now, where that differs from what it said then."""
    stories: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.id:
            stories[change.id].append(change)
    found: dict[Place, Newer] = {}
    for story in stories.values():
        last = story[-1].after
        if last is None:
            continue
        for change, following in pairwise(story):
            is_other = change.after is not None and change.after.content != last.content
            for place in _find_places(change) if is_other else ():
                found[place] = Newer(following.time, last.content)
    return found


def note_newer(hits: Sequence[Hit], read: Callable[[], Iterable[Change]]) -> list[Hit]:
    """Return the hits, and with each message whose fact was replaced what replaced it.

    The changes are read only where there is a message.
    """
    # The record of changes may be long, and most searches find no message.
    if not any(hit.message is not None for hit in hits):
        return [*hits]
    newer = find_superseded(read())
    return [replace(hit, newer=_find_newer(hit, newer)) for hit in hits]


def _find_newer(hit: Hit, newer: Mapping[Place, Newer]) -> Newer | None:
    if hit.conversation is None or hit.time is None:
        return None
    return newer.get((hit.conversation, from_iso(hit.time)))


def _find_places(change: Change) -> set[Place]:
    source = change.source
    if source is None or source.conversation is None or source.message_time is None:
        return set()
    return {(source.conversation, source.message_time)}


def _find_texts(change: Change, fact: str) -> set[str]:
    said = {memory.content for memory in change.states() if memory.id == fact}
    # The quote of a deletion asks to forget the fact; it does not state it.
    if change.source is not None and change.source.quote and change.op != "delete":
        said.add(change.source.quote)
    return {text for text in said if len(text.encode("utf-8", "replace")) >= FEWEST_BYTES}
