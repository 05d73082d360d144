"""What a statement does to the facts that are known: nothing, one more, or one in place of another.

Operations on slots, not on sentences. One value at a time for what can only have one: the newest
holds. What is no longer so is ended, and so is what an event ends. Similar words prove nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core.languages.language import get_language
from turnleaf.core.languages.words import find_words, join_texts
from turnleaf.core.learning.own_words import normalize_spelling
from turnleaf.core.learning.recogniser import describe_kin, read_fact, states_only
from turnleaf.core.learning.slots import (
    NAMING,
    USER,
    Bearer,
    Statement,
    covers,
    find_avoided,
    find_subjects,
    find_words_of_kind,
    make_value_key,
    mentions,
    slots,
    write_fact,
)
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import fold, parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from turnleaf.core.learning.slots import Correction, Names
    from turnleaf.core.memories import Memory

Effect: TypeAlias = Literal["new", "same", "replaces", "ends"]

_NO_WORD = make_pattern(r"[\W_]+")
_HAN = make_pattern("[\u3400-\u9fff]")
_COUNT = make_pattern(
    r"(an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (.{2,60})", re.IGNORECASE
)
KEPT_AFTER_DEATH = frozenset({"name", "birthday", "died"})
_ACTIVITIES = frozenset(
    {"learning", "skill", "hobby", "habit", "practice", "craft", "like", "tool", "medication"}
)
"""What is given up whole: who quits tennis neither plays nor likes it, nor goes every Monday."""
_INDULGENCES = frozenset(
    {"habit", "like", "favourite", "preference", "eats", "drinks", "personality"}
)
_ROUTINES = frozenset({"habit", "schedule"})
_WEDDING = "married"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a statement does, and the facts that it does that to.

    A new fact may end others: `ended` are those. It may also change who others are about: what was
    known of the boyfriend is `restated` of the husband.
    """

    effect: Effect
    targets: tuple[Memory, ...] = ()
    ended: tuple[Memory, ...] = ()
    restated: tuple[tuple[Memory, Statement], ...] = ()


def judge(statement: Statement, known: Sequence[Memory]) -> Verdict:
    """Return what a statement does to what is known."""
    claims = [*_list_claims(known)]
    if statement.is_over:
        gone = (*_find_ended(statement, claims), *_find_ends(statement, claims))
        # Who gives up tennis no longer likes or learns it either.
        if statement.slot in _ACTIVITIES:
            gone += (*_find_ends(replace(statement, slot="ended"), claims),)
        return Verdict("ends", tuple(dict.fromkeys(gone)))
    same = next(
        (
            memory
            for memory, claim in claims
            if _is_same(claim, statement) or is_implied(statement, claim)
        ),
        None,
    )
    if same:
        # To switch to what is known already still ends what it is instead of.
        given_up = tuple(one for one in _find_given_up(statement, claims) if one != same)
        return Verdict("ends", given_up) if given_up else Verdict("same", (same,))
    wed = [*_find_wed(statement, claims)]
    said = tuple(memory for memory, one in wed if _is_same(one, statement))
    replaced = tuple(dict.fromkeys((*said, *_find_replaced(statement, claims))))
    ends = dict.fromkeys(_find_ends(statement, claims))
    ended = tuple(one for one in ends if one not in replaced)
    restated = tuple(one for one in wed if one[0] not in said)
    return Verdict("replaces" if replaced else "new", replaced, ended, restated)


def correct(
    correction: Correction, known: Sequence[Memory], recent: Sequence[str]
) -> tuple[Memory, Statement] | None:
    """Return the fact that a correction means and what it states now; None if that is unclear.

    `recent` are the ids of the facts that this conversation gave, the newest last.
    """
    claims = [(memory, claim) for memory, claim in _list_claims(known) if claim.value]
    if correction.old:
        meant = _find_meant(correction.old, claims)
    else:
        meant = _find_newest(correction.new, claims, recent)
    # A value that two slots have, or two people, is not corrected by guessing.
    if len({_find_attribute(claim) for _, claim in meant}) != 1:
        return None
    memory, claim = meant[-1]
    return memory, replace(claim, value=_correct_value(claim.value, correction))


def _find_meant(
    old: str, claims: Sequence[tuple[Memory, Statement]]
) -> list[tuple[Memory, Statement]]:
    """Return the facts with a value, or else those whose value holds it."""
    same = [one for one in claims if make_value_key(one[1].value) == make_value_key(old)]
    return same or [one for one in claims if _can_end(one[1]) and mentions(one[1].value, old)]


def _find_newest(
    new: str, claims: Sequence[tuple[Memory, Statement]], recent: Sequence[str]
) -> list[tuple[Memory, Statement]]:
    """Return the newest fact of a conversation that a value fits: "it's Max" fits a name."""
    last = [one for one in claims if recent and one[0].id == recent[-1]][:1]
    newest = (one for name in reversed(recent) for one in claims if one[0].id == name)
    return next(([one] for one in newest if _takes(one[1], new)), last)


def _takes(claim: Statement, new: str) -> bool:
    """Whether a new value fits a fact: with it, the fact still states the same thing."""
    stated = replace(claim, value=new)
    # Written and read back: a value that the slot cannot have comes back as something else.
    read = read_fact(write_fact(stated, date.min))
    return any(_find_attribute(one) == _find_attribute(stated) and one.value == new for one in read)


def _correct_value(value: str, correction: Correction) -> str:
    """Return the corrected value: in "swim on Mondays", another day replaces the day."""
    for part in get_language(correction.language).correction_parts:
        found = part.search(value)
        if found and found[0] != value and part.fullmatch(correction.new):
            return value[: found.start()] + correction.new + value[found.end() :]
    start = fold(value).find(f" {fold(correction.old)} ") + 1 if correction.old else 0
    if start:
        return value[:start] + correction.new + value[start + len(correction.old) :]
    return correction.new


def find_names(known: Iterable[Memory]) -> Names:
    """Return the names of people, pets and things, without those that two of them share."""
    # A name that no longer holds would make a subject of somebody who is gone.
    holding = [memory for memory in known if memory.until is None]
    found: dict[str, set[Bearer]] = {}
    for _, claim in _list_claims(holding):
        if claim.slot in NAMING and claim.subject != USER:
            whose = found.setdefault(normalize_spelling(claim.value).lower(), set())
            whose.add(Bearer(claim.subject, claim.subject_text, claim.slot))
    # Of two who are called the same, nobody can tell which one is meant.
    return {name: next(iter(whose)) for name, whose in found.items() if len(whose) == 1}


def find_same(content: str, known: Iterable[Memory]) -> Memory | None:
    """Return the known fact that says the same as another, if one does."""
    return next((memory for memory in known if says_same(content, memory.content)), None)


def says_same(one: str, other: str) -> bool:
    """Whether two facts are the same sentence, or state the same and nothing else."""
    if _strip_signs(one) == _strip_signs(other):
        return True
    first, second = read_claim(one), read_claim(other)
    return first is not None and second is not None and _is_same(first, second)


def read_claim(content: str) -> Statement | None:
    """Return what a fact states, if it is one thing and nothing else."""
    stated = read_fact(content)
    return stated[0] if len(stated) == 1 and states_only(content, stated[0]) else None


def is_about_another(content: str, memory: Memory) -> bool:
    """Whether a fact is plainly about somebody or something else than a known one."""
    first, second = read_claim(content), read_claim(memory.content)
    return first is not None and second is not None and first.subject != second.subject


def holds_words(content: str, other: str) -> bool:
    """Whether a text holds every word of another, grammar and words for the user aside.

    That is no proof that it says the same. It tells that a model repeats in its own words what it
    has just been told.
    """
    first, second = _find_words(content), _find_words(other)
    return bool(second) and second <= first


def repeats(one: str, other: str) -> bool:
    """Whether one of two texts holds every word of the other."""
    return holds_words(one, other) or holds_words(other, one)


def _strip_signs(content: str) -> str:
    return _NO_WORD.sub("", fold(content))


@lru_cache(maxsize=4096)
def _find_words(text: str) -> frozenset[str]:
    plain = fold(text)
    # Chinese has no spaces, so its characters are compared one by one.
    spaced = {term for term in parse_query(plain).terms if not _HAN.search(term)}
    return (frozenset(spaced) | frozenset(_HAN.findall(plain))) - _find_generic_words()


@cache
def _find_generic_words() -> frozenset[str]:
    """Return the generic words, which any fact may have."""
    return find_words("facts", "generic").union(parse_query(join_texts("facts", "generic")).terms)


def _list_claims(known: Iterable[Memory]) -> Iterator[tuple[Memory, Statement]]:
    for memory in known:
        for claim in read_fact(memory.content):
            yield memory, claim


def _find_attribute(claim: Statement) -> tuple[str, str, str]:
    return claim.slot, claim.subject, claim.kind or slots()[claim.slot].find_topic(claim.value)


def _is_same(claim: Statement, statement: Statement) -> bool:
    """Whether a known claim says what a statement says, or in a single slot more than that."""
    if _find_attribute(claim) != _find_attribute(statement) or claim.is_over != statement.is_over:
        return False
    if make_value_key(claim.value) == make_value_key(statement.value):
        return True
    # "Taipei" said again of somebody in "Da'an, Taipei" is no news; in a slot of many values it may
    # be another.
    return _is_single(statement) and covers(claim.value, statement.value)


def is_implied(claim: Statement, other: Statement) -> bool:
    """Whether a claim goes without saying if another one is known."""
    ways = (_is_in_diet, _is_in_kin, _is_in_allergy, _is_in_slot)
    return any(is_in(claim, other) for is_in in ways)


def tells_of_kin(claim: Statement, other: Statement) -> bool:
    """Whether a claim says only that there is somebody, and another one says more about them."""
    key = _find_kin(claim)
    return key is not None and other.subject == key


def _find_kin(claim: Statement) -> str | None:
    """Return the key of the person or pet that a claim only says exists: a dog."""
    if slots()[claim.slot].introduces != "~value" or claim.subject != USER:
        return None
    return get_language(claim.language).relations.get(
        normalize_spelling(make_value_key(claim.value))
    )


def _is_in_kin(claim: Statement, other: Statement) -> bool:
    """Whether a claim only says that somebody exists whom another claim implies."""
    if claim.is_over or other.is_over:
        return False
    if tells_of_kin(claim, other):
        return True
    key = _find_kin(claim)
    is_counted = key is not None and (claim.slot, USER) == (other.slot, other.subject)
    return is_counted and describe_kin(other.value, get_language(other.language))[0] == key


def _is_in_allergy(claim: Statement, allergy: Statement) -> bool:
    """Whether a claim avoids what somebody is allergic to."""
    slots_told = (claim.slot, allergy.slot) == ("avoids", "allergy")
    is_of_same = claim.subject == allergy.subject and not (claim.is_over or allergy.is_over)
    return (
        slots_told and is_of_same and make_value_key(claim.value) == make_value_key(allergy.value)
    )


def _is_in_diet(claim: Statement, diet: Statement) -> bool:
    """Whether a diet leaves out what a claim does: a vegetarian avoids meat."""
    return (
        (claim.slot, diet.slot, claim.subject) == ("avoids", "diet", diet.subject)
        and not (claim.is_over or diet.is_over)
        and make_value_key(claim.value) in find_avoided(make_value_key(diet.value))
    )


def _is_in_slot(claim: Statement, other: Statement) -> bool:
    """Whether a claim says less than another slot does: a favourite is liked."""
    is_of_same = claim.subject == other.subject and not (claim.is_over or other.is_over)
    is_stronger = other.slot in slots()[claim.slot].implied_by
    is_held = covers(other.value, claim.value) or _is_part(claim.value, other.value)
    return is_of_same and is_stronger and is_held


def _is_single(statement: Statement) -> bool:
    """Whether a slot has one value at a time, and it is known whose it is."""
    subject = statement.subject
    if slots()[statement.slot].find_topic(statement.value):
        return True
    if not slots()[statement.slot].single or subject in find_subjects("ambiguous"):
        return False
    return statement.slot != "name" or subject == USER or subject in find_subjects("unique")


def _find_replaced(
    statement: Statement, claims: Sequence[tuple[Memory, Statement]]
) -> tuple[Memory, ...]:
    slot = slots()[statement.slot]
    # A bullet that says more than one thing is never replaced: the rest would be lost with it.
    alone = [one for one in claims if states_only(one[0].content, one[1])]
    same = [one for one in alone if _find_attribute(one[1]) == _find_attribute(statement)]
    if not _is_single(statement):
        # Of what one may have several of, such as friends, a new one replaces none.
        same = _find_corrected(statement, same)
    others = [
        one
        for one in alone
        if _contradicts(one[1], statement, slot.opposite)
        or (slot.counted and _counts_again(one[1], statement))
        or _is_in_diet(one[1], statement)
        or _is_in_allergy(one[1], statement)
        or _is_in_slot(one[1], statement)
        or _is_at_another_time(one[1], statement)
    ]
    return tuple(dict.fromkeys(memory for memory, _ in (*same, *others)))


def _find_corrected(
    statement: Statement, same: list[tuple[Memory, Statement]]
) -> list[tuple[Memory, Statement]]:
    """Return the fact that a correction means: the one it names, or the only one."""
    if statement.instead_of:
        return [one for one in same if _is_about(one[1].value, statement.instead_of)]
    return same if statement.is_correction and len(same) == 1 else []


def _counts_again(claim: Statement, statement: Statement) -> bool:
    """Whether a statement gives the new count of what a claim counts."""
    known, said = _COUNT.fullmatch(claim.value), _COUNT.fullmatch(statement.value)
    if not known or not said or _find_attribute(claim) != _find_attribute(statement):
        return False
    # "A dog" does not say that there is only one.
    return said[1].lower() not in {"a", "an"} and make_value_key(known[2]) == make_value_key(
        said[2]
    )


def _is_at_another_time(claim: Statement, statement: Statement) -> bool:
    """Whether two habits are the same on other days."""
    if statement.slot != "habit" or _find_attribute(claim) != _find_attribute(statement):
        return False
    for part in get_language(statement.language).correction_parts:
        if part.search(claim.value) and part.search(statement.value):
            return part.sub("", claim.value).split() == part.sub("", statement.value).split()
    return False


def _find_given_up(
    statement: Statement, claims: Sequence[tuple[Memory, Statement]]
) -> tuple[Memory, ...]:
    """Return the facts with the value that a statement says is replaced."""
    old = replace(statement, value=statement.instead_of)
    return _find_ended(old, claims) if statement.instead_of else ()


def _contradicts(claim: Statement, statement: Statement, opposite: str | None) -> bool:
    is_opposite = claim.slot == opposite or slots()[claim.slot].opposite == statement.slot
    is_of_same = (claim.subject, make_value_key(claim.value)) == (
        statement.subject,
        make_value_key(statement.value),
    )
    return is_opposite and is_of_same


def _find_ended(
    statement: Statement, claims: Sequence[tuple[Memory, Statement]]
) -> tuple[Memory, ...]:
    """Return the facts that no longer hold: those with the value, or all if it names none."""
    ended = tuple(
        memory
        for memory, claim in claims
        if _find_attribute(claim) == _find_attribute(statement)
        # As above: a bullet that says more stays.
        and states_only(memory.content, claim)
        and (not statement.value or _is_about(claim.value, statement.value))
    )
    # Which of two dogs got another name is not said.
    return () if statement.slot == "name" and not statement.value and len(ended) > 1 else ended


def _is_part(named: str, value: str) -> bool:
    # A single character is a part of too many words.
    return len(_HAN.findall(named)) > 1 and fold(named) in fold(value)


def _is_about(value: str, named: str) -> bool:
    if _is_part(named, value) or covers(value, named) or covers(named, value):
        return True
    return _is_of_kind(value, named)


def _is_of_kind(value: str, named: str) -> bool:
    kind = find_words_of_kind(make_value_key(named).rpartition(" ")[2])
    return any(
        word in kind or word.removesuffix("s") in kind for word in make_value_key(value).split()
    )


def _find_ends(
    statement: Statement, claims: Sequence[tuple[Memory, Statement]]
) -> Iterator[Memory]:
    """Return the facts that an event ends."""
    for end in slots()[statement.slot].ends:
        for memory, claim in claims:
            if not states_only(memory.content, claim):
                continue
            if end == "~subject" and _is_one_of_several(statement, claims):
                if _names_same(claim, statement) or _counts_pets(claim, statement):
                    yield memory
            elif _is_ended_by(claim, statement, end):
                yield memory


def _is_one_of_several(event: Statement, claims: Sequence[tuple[Memory, Statement]]) -> bool:
    """Whether an event names one of several that are known: one of three parrots."""
    named = [one for _, one in claims if (one.slot, one.subject) == ("name", event.subject)]
    return bool(event.value) and any(not _names_same(one, event) for one in named)


def _names_same(claim: Statement, event: Statement) -> bool:
    named = claim.slot, claim.subject, make_value_key(claim.value)
    return named == ("name", event.subject, make_value_key(event.value))


def _counts_pets(claim: Statement, event: Statement) -> bool:
    """Whether a claim counts pets of which an event took one."""
    counted = _COUNT.fullmatch(claim.value)
    return claim.slot == "pet" and counted is not None and _is_pet(claim, event.subject)


def _find_wed(
    event: Statement, claims: Sequence[tuple[Memory, Statement]]
) -> Iterator[tuple[Memory, Statement]]:
    """Return what is known of a partner whom the user has married, as facts about a spouse."""
    if (event.slot, event.subject) != (_WEDDING, USER) and not _names_spouse(event, claims):
        return
    for memory, claim in claims:
        language = get_language(claim.language)
        spouse = language.spouses.get(claim.subject_text.lower())
        if spouse and states_only(memory.content, claim):
            subject = language.relations[spouse]
            yield memory, replace(claim, subject=subject, subject_text=language.display[spouse])


def _names_spouse(event: Statement, claims: Sequence[tuple[Memory, Statement]]) -> bool:
    """Whether a statement says spouse of somebody who is known as a partner."""
    partners = [
        one for _, one in claims if one.slot == "name" and one.subject in find_subjects("partners")
    ]
    is_spouse = (event.slot, event.subject) in {("name", "wife"), ("name", "husband")}
    return is_spouse and any(
        make_value_key(one.value) == make_value_key(event.value) for one in partners
    )


def _is_ended_by(claim: Statement, event: Statement, end: str) -> bool:
    if end in _ENDS:
        return _ENDS[end](claim, event)
    is_named = not event.value or _is_about(claim.value, event.value)
    return claim.slot == end and claim.subject == event.subject and is_named


def _is_of_partner(claim: Statement, _event: Statement) -> bool:
    return claim.subject in find_subjects("partners")


def _is_single_life(claim: Statement, _event: Statement) -> bool:
    is_of_user = claim.slot == "marital" and claim.subject == USER
    return is_of_user and make_value_key(claim.value) == "single"


def _is_broken_diet(claim: Statement, event: Statement) -> bool:
    avoided = replace(event, slot="avoids", is_over=False)
    return (event.is_over or event.slot == "eats") and _is_in_diet(avoided, claim)


def _is_indulgence(claim: Statement, event: Statement) -> bool:
    is_of_same = claim.subject == event.subject and claim.slot in _INDULGENCES
    return is_of_same and not event.is_over and mentions(claim.value, event.value)


def _is_pregnancy(claim: Statement, _event: Statement) -> bool:
    return claim.slot == "pregnant" and claim.subject in {USER, *find_subjects("partners")}


def _is_given_up(claim: Statement, event: Statement) -> bool:
    return _can_end(claim) and claim.subject == event.subject and _names(event, claim)


def _can_end(claim: Statement) -> bool:
    """Whether a claim is of something that can be given up or exchanged: no name, no event.

    Nobody gives up an allergy: that "penicillin is off the table" does not mean that it is over.
    """
    is_lasting = claim.slot in NAMING or claim.slot == "allergy"
    return not is_lasting and not slots()[claim.slot].is_event


def _names(event: Statement, claim: Statement) -> bool:
    """Whether an event names the value of a claim, its kind (my phone), or what it is (a car)."""
    said = make_value_key(event.value)
    return bool(said) and (
        mentions(claim.value, said) or said == claim.kind or _is_of_kind(claim.value, said)
    )


def _dies_with(claim: Statement, event: Statement) -> bool:
    subject = event.subject
    if not subject:
        return False
    if claim.slot in _ROUTINES and fold(event.subject_text) in fold(claim.value):
        return True
    if subject in find_subjects("pets"):
        return claim.subject == subject or (claim.slot == "pet" and _is_pet(claim, subject))
    # What the dead were called, and their days, are still remembered.
    is_kept = claim.slot in KEPT_AFTER_DEATH and event.slot != "given_away"
    return claim.subject == subject and not is_kept


def _is_pet(claim: Statement, subject: str) -> bool:
    """Whether a pet is of a kind, by its breed too: a corgi is a dog."""
    kind, _ = describe_kin(claim.value, get_language(claim.language))
    return kind == subject or _is_about(claim.value, subject)


_ENDS: Mapping[str, Callable[[Statement, Statement], bool]] = {
    "~partner": _is_of_partner,
    "~single": _is_single_life,
    "~diet": _is_broken_diet,
    "~indulgence": _is_indulgence,
    "~pregnancy": _is_pregnancy,
    "~subject": _dies_with,
    "~any": _is_given_up,
}
"""How to tell what an event ends that is not simply a slot; `slots.toml` explains the names."""
