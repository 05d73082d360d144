"""Which passages answer a question: by rules, and as figures for `llm/vector_scoring.py`.

A passage about somebody else answers nothing, however many words it shares with the question. Nor
does one that lacks what is asked for, or that the user has taken back or replaced since. Silence is
better than an answer about something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, pairwise
from math import log
from operator import mul
from typing import TYPE_CHECKING, NamedTuple, Protocol

from turnleaf.core.languages.words import find_pattern
from turnleaf.core.learning.findings import find_sure_facts
from turnleaf.core.learning.memory_requests import find_meant, find_request
from turnleaf.core.learning.slots import slots
from turnleaf.core.memories import Memory
from turnleaf.core.recall.questions import (
    KINDS,
    TASTES,
    asks,
    drop_two_part_names,
    find_keys,
    find_owner,
    find_people,
    find_words,
    has_user_within,
    load_meanings,
    means,
)
from turnleaf.core.search.ranking import weigh_word
from turnleaf.core.search.terms import WORD, fold, is_stop_word, list_terms, simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.core.learning.memory_requests import Request
    from turnleaf.core.messages import Message
    from turnleaf.core.recall.questions import Names, Question, Thing, WordMeaning


NEAR = 0.6
"""What it counts that a passage speaks of something near to what is asked."""
HALF_SOUGHT = 0.3
"""What it counts that a passage names what is sought without saying which one it is."""
ASIDE = 0.3
"""What a word weighs that stands beside the clause that asks, of what it would weigh there."""
UNKNOWN_WEIGHT = 0.5
"""What a word weighs that is in no passage, or that people say in many other ways."""
ENOUGH_WORDS = 0.5
"""The share of a question that a passage must hold to answer it by its words."""
MORE_WORDS = 0.55
"""The share where some of the question is unknown, and the rest could be about anything."""
NO_ANSWER = float("-inf")
"""The score of a passage that does not answer by the rules, not even beside one that does."""
FIGURES = 15 + len(KINDS)
"""How many numbers describe a passage beside a question."""


@dataclass(frozen=True, slots=True)
class PassageReading:
    """A passage as it is judged: its words and their meanings."""

    text: str
    terms: frozenset[str]
    keys: frozenset[str]

    @classmethod
    def of(cls, text: str, aliases: Iterable[tuple[str, str]] = ()) -> PassageReading:
        """Return a passage as read; `aliases` are names, each with what is called so."""
        keys = find_keys(fold(drop_two_part_names(text)))
        named = (_find_alias(text, one) for one in aliases)
        return cls(text, frozenset(list_terms(text)), keys.union(*named))


def _find_alias(text: str, alias: tuple[str, str]) -> frozenset[str]:
    name, what = alias
    return find_keys(fold(what)) if name in text else frozenset()


class Judge(Protocol):
    """A function that scores how well passages answer a question."""

    def __call__(
        self, question: Question, readings: Sequence[PassageReading], names: Names
    ) -> Sequence[float]:
        """Return a score for each passage; above zero it answers, the higher the surer."""


class HeldThings(NamedTuple):
    """How much of each thing that a question speaks of passages hold, and what each counts."""

    shares: list[list[float]]
    weights: list[float]
    musts: list[bool]
    """Whether a passage without it answers something else."""

    @classmethod
    def find(cls, question: Question, readings: Sequence[PassageReading]) -> HeldThings:
        """Return how much of each thing in a question the passages hold."""
        held = [[_hold(thing, one) for thing in question.things] for one in readings]
        musts = [
            # A word of unknown meaning counts as a must only if some passage has it: else nothing
            # would answer.
            thing.is_strict
            or not (thing.meanings or thing.is_aside or all(one[at] < 1.0 for one in held))
            for at, thing in enumerate(question.things)
        ]
        return cls(held, _weigh(question, held), musts)

    def lacks(self, at: int) -> bool:
        """Whether a passage lacks something that an answer must speak of."""
        return any(must and not one for must, one in zip(self.musts, self.shares[at], strict=True))


def judge_by_words(
    question: Question, readings: Sequence[PassageReading], names: Names = frozenset()
) -> Sequence[float]:
    """Return scores of how well passages answer, by rules about whom and what they speak of."""
    held = HeldThings.find(question, readings)
    has_unknown = any(
        not thing.meanings and not any(one[at] for one in held.shares)
        for at, thing in enumerate(question.things)
    )
    # Where a part is unknown and nothing else ties an answer to the question, the rest could be
    # about anything.
    is_vague = has_unknown and not (any(held.musts) or question.people or question.names)
    enough = MORE_WORDS if is_vague else ENOUGH_WORDS
    asks_for_all = not question.things and bool(question.people or question.names)
    scores = []
    for at, one in enumerate(readings):
        share = 1.0 if asks_for_all else _find_share(held.weights, held.shares[at])
        is_right = _is_of_kind(question, one) and _is_about(question, one, names)
        is_enough = is_right and not held.lacks(at) and share >= enough
        scores.append(share if is_enough else NO_ANSWER)
    return scores


def read_figures(
    question: Question, readings: Sequence[PassageReading], names: Names = frozenset()
) -> list[tuple[float, ...]]:
    """Return the features of each passage beside a question, numbers of about 0 to 1.

    A network was trained on these, in this order: whoever changes one trains it again.
    """
    held = HeldThings.find(question, readings)
    rarity = _weigh_terms(question, readings)
    asked = (
        bool(question.things),
        bool(question.people),
        question.is_own,
        bool(question.kinds),
        len(question.things) / 5,
        min(len(question.terms) / 10, 1.0),
        *(one in question.kinds for one in KINDS),
    )
    rows = (
        (
            _find_share(rarity.values(), [term in one.terms for term in rarity]),
            sum(term in one.terms for term in rarity) / 5,
            _find_share(held.weights, held.shares[at]),
            _is_of_kind(question, one),
            _is_about(question, one, names),
            held.lacks(at),
            bool(find_owner(one.text, names)),
            has_user_within(one.text),
            min(len(one.terms) / 30, 2.0),
            *asked,
        )
        for at, one in enumerate(readings)
    )
    return [tuple(map(float, row)) for row in rows]


def _find_share(weights: Iterable[float], held: Iterable[float]) -> float:
    weights = [*weights]
    total = sum(weights)
    return sum(map(mul, weights, held)) / total if total else 0.0


def _weigh_terms(question: Question, readings: Sequence[PassageReading]) -> dict[str, float]:
    """Return the weight of each term of a question: the rarer it is, the higher."""
    counts = {term: sum(term in one.terms for one in readings) for term in question.terms}
    return {
        term: log(1 + len(readings) / (count + 0.5)) * (ASIDE if term in question.aside else 1.0)
        for term, count in counts.items()
    }


def may_answer(question: Question, reading: PassageReading, names: Names = frozenset()) -> bool:
    """Whether a passage can answer at all: one about somebody else never tells about the user.

    Nor does what somebody likes tell what they do not like.
    """
    is_own = _is_of_user(question, reading, names) or has_user_within(reading.text)
    # However near it is by meaning, what somebody likes is no answer to what they do not like.
    return is_own and _is_to_taste(question, reading.text)


def _is_about(question: Question, reading: PassageReading, names: Names) -> bool:
    """Whether a passage is about the person that the question is about."""
    spoken_of = find_people(reading.text, names)
    asked = question.people
    if asked and not any(means(one, other) for one in asked for other in spoken_of):
        return False
    if question.names and not question.names & reading.terms and not asked:
        return False
    return _is_of_user(question, reading, names)


def _is_of_user(question: Question, reading: PassageReading, names: Names) -> bool:
    """Whether a passage is about the user, where the question is."""
    return not question.is_own or "person" in question.kinds or not find_owner(reading.text, names)


def _is_of_kind(question: Question, reading: PassageReading) -> bool:
    """Whether a passage holds the kind of thing that is asked for, such as a time."""
    held = {one: _holds_kind(reading.text, one) for one in question.kinds - {"person", *TASTES}}
    if held.keys() >= {"time", "number"}:
        # 幾號 asks for a day or for a number: either will do.
        held |= dict.fromkeys(("time", "number"), held["time"] or held["number"])
    return _is_to_taste(question, reading.text) and all(held.values())


@lru_cache(maxsize=4096)
def _holds_kind(text: str, kind: str) -> bool:
    plain = simplify(text)
    # The digits of a date are no answer to "how many".
    undated = find_pattern("recall", "holds_time").sub(" ", plain) if kind == "number" else plain
    return find_pattern("recall", f"holds_{kind}").search(undated) is not None


def _is_to_taste(question: Question, text: str) -> bool:
    """Whether a passage fits a question for likes or for dislikes; any passage fits another one.

    What somebody likes may be said without a word for it; what they do not like may not.
    """
    if question.kinds.isdisjoint(TASTES):
        return True
    plain = simplify(text)
    is_disliked = find_pattern("recall", "disliked").search(plain) is not None
    if "disliking" in question.kinds:
        return is_disliked
    return not is_disliked or find_pattern("recall", "liked").search(plain) is not None


def _hold(thing: Thing, reading: PassageReading) -> float:
    """Return how much of a thing a passage holds: its words, a kind of it, or something near."""
    own = [load_meanings()[name] for name in thing.meanings]
    if any(one.unless & reading.keys for one in own) or _has_other_modifier(thing, reading):
        return 0.0
    if any(one.kinds & reading.keys for one in own):
        return 1.0
    if thing.terms <= reading.terms or any(one.words & reading.keys for one in own):
        return _hold_said(thing, own, reading)
    plain = simplify(reading.text)
    if any(one.near & reading.keys or one.has_shape(plain) for one in own):
        return NEAR
    # A word of known meaning is held by its meaning or not at all; others count by their parts.
    return 0.0 if own else len(thing.terms & reading.terms) / len(thing.terms)


def _hold_said(thing: Thing, own: Sequence[WordMeaning], reading: PassageReading) -> float:
    """Return how much a passage holds that names a thing: half, if it should say which one."""
    if not thing.is_sought or not any(one.kinds for one in own):
        return 1.0
    folded = fold(reading.text)
    being = find_pattern("recall", "being")
    words = (word for word in find_words(folded) if any(word.key in one.words for one in own))
    return 1.0 if any(being.match(folded, word.end) for word in words) else HALF_SOUGHT


def _has_other_modifier(thing: Thing, reading: PassageReading) -> bool:
    """Whether a passage speaks of another thing of that name: car insurance, not home insurance."""
    if not thing.modifier or thing.modifier & reading.terms:
        return False
    words = WORD.findall(fold(reading.text))
    before = (one for one, other in pairwise(words) if thing.terms & {*list_terms(other)})
    return any(not is_stop_word(word) and not word.isdigit() for word in before)


def _weigh(question: Question, held: Sequence[Sequence[float]]) -> list[float]:
    """Return the weight of each thing: the fewer passages hold it, the higher."""
    weights: list[float] = []
    for at, thing in enumerate(question.things):
        count = sum(one[at] > 0 for one in held)
        is_vague = not count or (thing.meanings and not thing.is_strict)
        rarity = weigh_word(count, len(held)) / weigh_word(1, len(held)) if count else 1.0
        weight = UNKNOWN_WEIGHT if is_vague else rarity
        weights.append(weight * ASIDE if thing.is_aside else weight)
    return weights


LONG_AGO = datetime.min.replace(tzinfo=UTC)
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def find_statements(history: Sequence[Message]) -> list[Message]:
    """Return the user's statements, each once, without those taken back or replaced since.

    A request is done, not stated.
    """
    spoken = [message for message in history if message.role == "user"]
    wishes = [find_request(message.text) for message in spoken]
    settled = [_find_single_slots(message.text) for message in spoken]
    found = {
        message.text: message
        for number, message in enumerate(spoken)
        if wishes[number] is None
        and not asks(message.text)
        and not any(_takes_back(wish, message.text) for wish in wishes[number + 1 :])
        # Where somebody lives now makes what they said of it before untrue.
        and settled[number].isdisjoint(chain.from_iterable(settled[number + 1 :]))
    }
    return [*found.values()]


def _find_single_slots(text: str) -> set[tuple[str, str, str]]:
    """Return the slots with one value at a time that a message fills, such as the user's home."""
    # Only slots are looked at, so any day will do for the dates in the facts.
    stated = (fact.statement for fact in find_sure_facts(text, _SOME_DAY))
    return {(one.slot, one.subject, one.kind) for one in stated if slots()[one.slot].single}


def _takes_back(wish: Request | None, text: str) -> bool:
    # A wish to forget is compared with facts, so the message is put as one.
    said = Memory("", text, LONG_AGO, LONG_AGO)
    return wish is not None and wish.action == "forget" and bool(find_meant(wish.content, [said]))
