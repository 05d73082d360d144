"""Whether a fact is already known, replaces a known one, or is new; judged without a model.

Words in common prove nothing: facts are the same when they say the same, and one replaces another
only when its words call for it and there is no doubt which one they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from turnleaf.core import rules
from turnleaf.core.terms import fold, parse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.candidates import Candidate, Claim
    from turnleaf.core.memories import Memory

_MORE = re.compile(
    r",|,? (?:in|near|at|with|on|for|as|since|and|by|from|because|who|after|when|last|this|every)\b"
)
_LIST = re.compile(r",? (?:and|or) |, ?|和|跟|与|及|还有")
_HAN_PLACE = re.compile("(?:home|place|origin|employer)[|].*")
_MIN_HAN_PLACE = 2
_HAN = re.compile("[\u3400-\u9fff]")
_GENERIC = frozenset(
    (
        *parse_query("user named name called remembered").terms,
        *"的是叫做名为称我你您用户使者了在有说过",
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a candidate is to the memory; `target` is the known fact that it repeats or replaces."""

    kind: Literal["same", "supersedes", "new"]
    target: Memory | None = None


def judged(candidate: Candidate, known: Sequence[Memory]) -> Verdict:
    """Compare a candidate with all that is known."""
    gist = rules.gist(candidate.content)
    claim = rules.claim_of(candidate.content)
    for memory in known:
        if gist == rules.gist(memory.content) or _says(memory, claim):
            return Verdict("same", memory)
    wrong = [memory for memory in known if _settles(memory, candidate.attribute)]
    if candidate.is_correction and len(wrong) == 1:
        return Verdict("supersedes", wrong[0])
    return Verdict("new")


def concerns(candidate: Candidate, memory: Memory) -> bool:
    """Tell whether a fact may replace a known one, if somebody says that it does.

    They settle the same attribute, or one says more than the other; where that is not known, they
    have most words in common.
    """
    claims = rules.claim_of(candidate.content), rules.claim_of(memory.content)
    first, second = (claim.attribute if claim else None for claim in claims)
    if first and second:
        return first == second or repeats(candidate.content, memory.content)
    words = _words(candidate.content), _words(memory.content)
    smaller = min(map(len, words))
    return len(words[0] & words[1]) > smaller / 2


def repeats(one: str, other: str) -> bool:
    """Tell whether one of two texts holds every word of the other, grammar and names for it aside.

    That is no proof that they say the same. It tells that a model repeats in its own words what
    it has just been told.
    """
    first, second = _words(one), _words(other)
    return bool(first and second) and (first <= second or second <= first)


def _words(text: str) -> frozenset[str]:
    plain = fold(text)
    spaced = {term for term in parse_query(plain).terms if not _HAN.search(term)}
    return (frozenset(spaced) | frozenset(_HAN.findall(plain))) - _GENERIC


def _settles(memory: Memory, attribute: str | None) -> bool:
    """Tell whether a known fact is about this attribute and nothing else."""
    claim = rules.claim_of(memory.content)
    return claim is not None and attribute is not None and claim.attribute == attribute


def _says(memory: Memory, claim: Claim | None) -> bool:
    """Tell whether a known fact says what a candidate claims, or more than that."""
    if claim is None or claim.attribute is None:
        return False
    return any(_implies(stored, claim) for stored in rules.claims_of(memory.content))


def _implies(claim: Claim, other: Claim) -> bool:
    kind, things, whose = _parts(claim.attribute or "")
    other_kind, other_things, other_whose = _parts(other.attribute or "")
    if (kind, whose) != (other_kind, other_whose) or not other_things <= things:
        return False
    return _covers(claim.value, other.value, other.attribute or "")


def _parts(attribute: str) -> tuple[str, frozenset[str], str]:
    """Give the kind of an attribute, the things that it lists, and whose it is."""
    kind, _, rest = attribute.partition("|")
    things, _, whose = rest.rpartition("|")
    return kind, frozenset(_LIST.split(things)), whose


def _covers(value: str, other: str, attribute: str) -> bool:
    """Tell whether a value is the other one, or that one told with more detail."""
    if value == other:
        return True
    if not other or not value.startswith(other):
        return False
    is_place = _HAN_PLACE.fullmatch(attribute) and not other.isascii()
    return bool(_MORE.match(value[len(other) :])) or bool(is_place and len(other) >= _MIN_HAN_PLACE)
