"""Which passages answer a question: the same subject, the right kind of thing, enough of its words.

A passage about somebody else answers nothing, however many words it shares with the question. Nor
does one that lacks what is asked for, or that the user has taken back or replaced since. Silence is
better than an answer about something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, pairwise
from operator import mul
from typing import TYPE_CHECKING

from turnleaf.core.languages.words import find_pattern
from turnleaf.core.learning.findings import sure_facts
from turnleaf.core.learning.requests import find_meant, find_request
from turnleaf.core.learning.slots import slots
from turnleaf.core.memories import Memory
from turnleaf.core.recall.questions import (
    TASTES,
    asks,
    find_keys,
    find_owner,
    find_people,
    find_words,
    has_user_within,
    meanings,
    means,
)
from turnleaf.core.search.ranking import weigh_word
from turnleaf.core.search.terms import WORD, fold, is_stop_word, simplify, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.core.learning.requests import Request
    from turnleaf.core.messages import Message
    from turnleaf.core.recall.questions import Question, Thing, WordMeaning


NEAR = 0.6
"""What it counts that a passage speaks of something near to what is asked."""
HALF_SOUGHT = 0.3
"""What it counts that a passage names what is sought without saying which one it is."""
UNKNOWN_WEIGHT = 0.5
"""What a word weighs that is in no passage, or that people say in many other ways."""
ENOUGH_WORDS = 0.5
"""The share of a question that a passage must hold to answer it by its words."""
MORE_WORDS = 0.55
"""The share where some of the question is unknown, and the rest could be about anything."""
ENOUGH_MEANING = 0.08
"""The nearness from which a passage answers by its meaning."""
SURE_MEANING = 0.27
MANY_WORDS = 0.4
"""From this nearness and share on it answers although something that is asked for is not in it."""
LEAST_MEANING = -0.02
STANDS_OUT = 0.07
"""A passage that is this much nearer than all others answers from a lower nearness on."""
_MOST_ALIKE = 2
"""A fact and the message that it rests on are about as near."""


@dataclass(frozen=True, slots=True)
class PassageReading:
    """A passage as it is judged: its words, their meanings, and how near it is by its meaning."""

    text: str
    terms: frozenset[str]
    keys: frozenset[str]
    nearness: float | None = None

    @classmethod
    def of(
        cls, text: str, nearness: float | None = None, aliases: Iterable[tuple[str, str]] = ()
    ) -> PassageReading:
        """Read a passage; `aliases` are names, each with what is called so."""
        keys = find_keys(fold(text)).union(*(_find_alias(text, one) for one in aliases))
        return cls(text, frozenset(terms(text)), keys, nearness)


def _find_alias(text: str, alias: tuple[str, str]) -> frozenset[str]:
    name, what = alias
    return find_keys(fold(what)) if name in text else frozenset()


def judge(
    question: Question,
    readings: Sequence[PassageReading],
    names: frozenset[tuple[str, str]] = frozenset(),
) -> list[float]:
    """Return how well each passage answers; 0 for one that does not."""
    held = [[_hold(thing, one) for thing in question.things] for one in readings]
    weights = _weigh(question, held)
    musts = [
        thing.is_strict or (not thing.meanings and any(one[at] == 1.0 for one in held))
        for at, thing in enumerate(question.things)
    ]
    has_unknown = any(
        not thing.meanings and not any(one[at] for one in held)
        for at, thing in enumerate(question.things)
    )
    is_vague = has_unknown and not (any(musts) or question.people or question.names)
    enough = MORE_WORDS if is_vague else ENOUGH_WORDS
    least = _find_least_meaning(question, readings)
    return [
        _score(reading, shares, weights, musts, least, enough)
        if _is_of_kind(question, reading) and _is_about(question, reading, names)
        else 0.0
        for reading, shares in zip(readings, held, strict=True)
    ]


def _score(
    reading: PassageReading,
    held: Sequence[float],
    weights: Sequence[float],
    musts: Sequence[bool],
    least: float,
    enough: float,
) -> float:
    """Return what a passage is worth by its words and its meaning, if it is enough of either."""
    total = sum(weights)
    share = sum(map(mul, weights, held)) / total if total else float(not weights)
    near = reading.nearness if reading.nearness is not None else -1.0
    lacks = any(must and not one for must, one in zip(musts, held, strict=True))
    if lacks:
        is_enough = near >= SURE_MEANING and share >= MANY_WORDS
    else:
        is_enough = near >= least or (share >= enough and bool(total))
    return max(share + near, share, 0.1) if is_enough else 0.0


def _find_least_meaning(question: Question, readings: Sequence[PassageReading]) -> float:
    """Return the nearness from which a passage answers: lower where one stands out."""
    if not question.things and (question.people or question.names):
        return -2.0
    nearness = sorted({one.nearness for one in readings if one.nearness is not None}, reverse=True)
    best = nearness[0] if nearness else -1.0
    far = [one for one in nearness if one < best - STANDS_OUT]
    is_alone = len(nearness) - len(far) <= _MOST_ALIKE
    return max(LEAST_MEANING, best) if is_alone and best < ENOUGH_MEANING else ENOUGH_MEANING


def _is_about(
    question: Question, reading: PassageReading, names: frozenset[tuple[str, str]]
) -> bool:
    """Whether a passage is about whom the question is about."""
    spoken_of = find_people(reading.text, names)
    asked = question.people
    if asked and not any(means(one, other) for one in asked for other in spoken_of):
        return False
    if question.names and not question.names & reading.terms and not asked:
        return False
    if not question.is_own or "person" in question.kinds or not find_owner(reading.text, names):
        return True
    # What somebody does to the user may be what the user asks about.
    is_near = reading.nearness is not None and reading.nearness >= ENOUGH_MEANING
    return is_near and has_user_within(reading.text)


def _is_of_kind(question: Question, reading: PassageReading) -> bool:
    """Whether a passage holds what kind of thing is asked for."""
    plain = simplify(reading.text)
    undated = find_pattern("recall", "holds_time").sub(" ", plain)
    return _is_to_taste(question, plain) and all(
        find_pattern("recall", f"holds_{one}").search(undated if one == "number" else plain)
        for one in question.kinds - {"person", *TASTES}
    )


def _is_to_taste(question: Question, plain: str) -> bool:
    """Whether a passage tells what somebody likes, or does not like, if that is asked for.

    What somebody likes may be said without a word for it; what they do not like may not.
    """
    is_disliked = find_pattern("recall", "disliked").search(plain) is not None
    if "disliking" in question.kinds:
        return is_disliked
    is_liked = not is_disliked or find_pattern("recall", "liked").search(plain) is not None
    return is_liked or "liking" not in question.kinds


def _hold(thing: Thing, reading: PassageReading) -> float:
    """Return how much of a thing a passage holds: its words, a kind of it, or something near."""
    own = [meanings()[name] for name in thing.meanings]
    if any(one.unless & reading.keys for one in own) or _has_other_modifier(thing, reading):
        return 0.0
    if any(one.kinds & reading.keys for one in own):
        return 1.0
    if thing.terms <= reading.terms or any(one.words & reading.keys for one in own):
        return _hold_said(thing, own, reading)
    plain = simplify(reading.text)
    if any(one.near & reading.keys or one.has_shape(plain) for one in own):
        return NEAR
    return 0.0 if own else len(thing.terms & reading.terms) / len(thing.terms)


def _hold_said(thing: Thing, own: Sequence[WordMeaning], reading: PassageReading) -> float:
    """Return what it counts that a passage names a thing; which one it is must stand beside it."""
    if not thing.is_sought or not any(one.kinds for one in own):
        return 1.0
    folded = fold(reading.text)
    being = find_pattern("recall", "being")
    words = (word for word in find_words(folded) if any(word.key in one.words for one in own))
    return 1.0 if any(being.match(folded, word.end) for word in words) else HALF_SOUGHT


def _has_other_modifier(thing: Thing, reading: PassageReading) -> bool:
    """Whether a passage speaks of something else of that name: the insurance of the car."""
    if not thing.modifier or thing.modifier & reading.terms:
        return False
    words = WORD.findall(fold(reading.text))
    before = (one for one, other in pairwise(words) if thing.terms & {*terms(other)})
    return any(not is_stop_word(word) and not word.isdigit() for word in before)


def _weigh(question: Question, held: Sequence[Sequence[float]]) -> list[float]:
    """Return what each thing weighs: the fewer passages hold it, the more, if any does."""
    weights: list[float] = []
    for at, thing in enumerate(question.things):
        count = sum(one[at] > 0 for one in held)
        is_vague = not count or (thing.meanings and not thing.is_strict)
        rarity = weigh_word(count, len(held)) / weigh_word(1, len(held)) if count else 1.0
        weights.append(UNKNOWN_WEIGHT if is_vague else rarity)
    return weights


LONG_AGO = datetime.min.replace(tzinfo=UTC)
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def find_statements(history: Sequence[Message]) -> list[Message]:
    """Return what the user stated and has not taken back or replaced since, each text once.

    A request is done, not stated.
    """
    spoken = [message for message in history if message.role == "user"]
    wishes = [find_request(message.text) for message in spoken]
    settled = [_single_slots(message.text) for message in spoken]
    found = {
        message.text: message
        for number, message in enumerate(spoken)
        if wishes[number] is None
        and not asks(message.text)
        and not any(_takes_back(wish, message.text) for wish in wishes[number + 1 :])
        and settled[number].isdisjoint(chain.from_iterable(settled[number + 1 :]))
    }
    return [*found.values()]


def _single_slots(text: str) -> set[tuple[str, str, str]]:
    """Return what a message settles that has one value at a time, such as where the user lives."""
    stated = (fact.statement for fact in sure_facts(text, _SOME_DAY))
    return {(one.slot, one.subject, one.kind) for one in stated if slots()[one.slot].single}


def _takes_back(wish: Request | None, text: str) -> bool:
    said = Memory("", text, LONG_AGO, LONG_AGO)
    return wish is not None and wish.action == "forget" and bool(find_meant(wish.content, [said]))
