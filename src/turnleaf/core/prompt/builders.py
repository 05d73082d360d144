"""Putting history and facts into a prompt, so that nothing in them can pose as the prompt.

Only what could be read as our own tags and marks is altered (see `escaping`).

A fact stands there with the day it is of, and with its id where a tool can take it. This stamp
comes last, in square brackets, and no text of a fact can look like one. The functions that build a
prompt from memories or history alone write no stamps: their format is fixed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from turnleaf.core import markdown
from turnleaf.core.languages.language import find_languages, get_language
from turnleaf.core.learning.recogniser import read_fact
from turnleaf.core.learning.speech import one_spelling
from turnleaf.core.loading import lazy_pattern
from turnleaf.core.prompt import escaping
from turnleaf.core.search.ranking import FEW, weigh_word
from turnleaf.core.search.terms import fold, is_unspaced, parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Message, Part


HISTORY_TAG = "conversation_history"
MEMORY_TAG = "long_term_memory"
_NEVER = datetime.min.replace(tzinfo=UTC)
SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}


def build_prompt_with_history(history: Sequence[Message], prompt: str) -> str:
    """Put a conversation's history before a prompt; without history, only the prompt."""
    if not history:
        return prompt
    lines = (f"[{_speaker(message)}]: {_speech_of(message)}" for message in history)
    return f"{block(HISTORY_TAG, lines)}\n\n{prompt}"


def build_prompt_with_memory(memories: Sequence[Memory], prompt: str) -> str:
    """Put all memories before a prompt; without memories, only the prompt."""
    lines = memory_lines(memories)
    return f"{block(MEMORY_TAG, lines)}\n\n{prompt}" if lines else prompt


def memory_lines(memories: Iterable[Memory]) -> list[str]:
    """Return each memory that says something as an item that cannot pose as anything else."""
    told = (memory.content for memory in memories if memory.content.strip())
    return [f"- {escaping.item(content)}" for content in told]


@lru_cache(maxsize=8)
def page_text(page: str) -> str:
    """Return a page of facts or notes, on which each fact is safe as an item is."""
    return rewrite_facts(page, escaping.item)


def rewrite_facts(page: str, rewrite: Callable[[str], str]) -> str:
    """Return a page with each fact rewritten, and all else as it stands, safe as a passage is.

    Headings below which nothing stands are left out: a category whose facts were forgotten would
    still say that there were some.
    """
    parsed = markdown.parse(page, _NEVER)
    lines = ["" if at in parsed.empty else line for at, line in enumerate(parsed.lines)]
    for at in _find_empty_headings(lines, sorted(parsed.titles)):
        lines[at] = ""
    for fact in parsed.facts:
        lines[fact.start] = f"{fact.marker}{rewrite(fact.memory.content)}\n"
        lines[fact.start + 1 : fact.end] = [""] * (fact.end - fact.start - 1)
    # Once more over the whole page: a tag may be split over two neighbouring facts, or stand in
    # prose.
    return escaping.passage("".join(lines))


def _find_empty_headings(lines: Sequence[str], headings: Sequence[int]) -> Iterator[int]:
    """Go over the headings, but titles of a page, that have neither text nor such headings."""
    end, level_below = len(lines), 0
    # From the bottom up: a heading is also empty if all headings below it are.
    for at in reversed(headings):
        text = lines[at].lstrip()
        level = len(text) - len(text.lstrip("#"))
        has_text = any(line.strip() for line in lines[at + 1 : end])
        if level > 1 and not has_text and level_below <= level:
            yield at
        else:
            level_below = level
        end = at


def history_message(message: Message) -> Message:
    """Return a message of a history as a model may be told it, whoever wrote it."""
    content = message.content
    # In a channel the history holds what other people wrote, so it is no safer than a document.
    if isinstance(content, str):
        said = escaping.speech(content)
        return message if said == content else replace(message, content=said)
    if content is None:
        return message
    return replace(message, content=[_part(part) for part in content])


def _part(part: Part) -> Part:
    text = part.get("text")
    return {**part, "text": escaping.speech(text)} if isinstance(text, str) else part


def block(tag: str, lines: Iterable[str]) -> str:
    """Put lines between a tag's beginning and its end."""
    body = "\n".join(lines)
    return f"<{tag}>\n{body}\n</{tag}>"


def _speaker(message: Message) -> str:
    return SPEAKERS.get(message.role, "System")


def _speech_of(message: Message) -> str:
    text = message.text
    if message.tool_calls and not text:
        names = (str(call.get("function", {}).get("name", "")) for call in message.tool_calls)
        text = f"(called {', '.join(filter(None, names)) or 'a tool'})"
    return escaping.speech(text)


MANNER = "manner"
"""The slot of what the user says about how to be answered."""
MANNER_HEADING = "## How the user wants to be answered"
# An id that somebody wrote into the file by hand may hold anything.
_PLAIN_ID = lazy_pattern(r"[A-Za-z0-9_-]{1,40}+")
_STAMP = lazy_pattern(rf"\s*+\[\d{{4}}-\d\d-\d\d (?P<id>{_PLAIN_ID.pattern})\]\s*+\Z")
# A stamp is looked for at the very end only: `\s*+` tried at each of many spaces is quadratic.
_STAMP_CHARS = 100


@dataclass(frozen=True, slots=True)
class FactForm:
    """In whose zone the days are, and whether ids are shown."""

    zone: tzinfo = UTC
    has_ids: bool = False


PLAIN_FORM = FactForm()


# A page may have thousands of facts, and each is rendered for counting and again for the prompt.
@lru_cache(maxsize=16_384)
def fact_text(memory: Memory, form: FactForm) -> str:
    """Return a fact with its stamp; from one prompt to the next most stay the same."""
    return f"{escaping.stamped_item(memory.content)} {_stamp(memory, form)}"


def fact_lines(memories: Iterable[Memory], form: FactForm) -> list[str]:
    """Return facts as the items of a list, those on how to answer last, under a heading."""
    told = [memory for memory in memories if memory.content.strip()]
    others = [f"- {fact_text(one, form)}" for one in told if not is_manner(one)]
    return [*others, *manner_lines(told, form)]


def manner_lines(memories: Iterable[Memory], form: FactForm) -> list[str]:
    """Return the facts on how to answer under their heading, if there are any."""
    wishes = [f"- {fact_text(one, form)}" for one in memories if is_manner(one)]
    return [MANNER_HEADING, *wishes] if wishes else []


def is_manner(memory: Memory) -> bool:
    """Whether a fact says how the user wants to be answered; one typed by hand is read for it."""
    return memory.slot == MANNER if memory.slot is not None else _states_manner(memory.content)


@lru_cache(maxsize=16_384)
def _states_manner(content: str) -> bool:
    plain = one_spelling(content).lower()
    # Reading is slow beside looking for a word, and a page may have thousands of facts.
    is_likely = any(cue in plain for cue in _manner_cues())
    return is_likely and any(one.slot == MANNER for one in read_fact(content))


@cache
def _manner_cues() -> tuple[str, ...]:
    languages = map(get_language, find_languages("statements.toml"))
    return tuple(cue for one in languages for cue in one.slots[MANNER].cues)


@lru_cache(maxsize=8)
def stamped_page(page: str, memories: Sequence[Memory], form: FactForm) -> str:
    """Return the page of some facts, each with its stamp, and all else as it stands.

    The page has no ids, so a fact is known by what it says, and equal ones by their order. One
    that is not known has no stamp, and can look like none either.
    """
    known: defaultdict[str, deque[Memory]] = defaultdict(deque)
    for memory in memories:
        known[memory.content].append(memory)

    def rewrite(content: str) -> str:
        same = known[content]
        return fact_text(same.popleft(), form) if same else escaping.stamped_item(content)

    return rewrite_facts(page, rewrite)


def without_stamp(text: str, ids: Collection[str]) -> str:
    """Return a fact that a model copied from a prompt without the stamp that stood after it."""
    # A model that copies a fact into a tool call copies its stamp too. Only one with an id from the
    # prompt is taken off: what else looks like a stamp is the text's own.
    stamp = _STAMP.search(text, max(0, len(text) - _STAMP_CHARS))
    return text[: stamp.start()] if stamp and stamp["id"] in ids else text


def _stamp(memory: Memory, form: FactForm) -> str:
    # An id that a hand wrote into the file could pose as anything, so it is not shown at all.
    shown = form.has_ids and _PLAIN_ID.fullmatch(memory.id)
    return f"[{_day(memory.updated_at, form.zone)}{f' {memory.id}' if shown else ''}]"


def _day(moment: datetime, zone: tzinfo) -> str:
    try:
        return moment.astimezone(zone).date().isoformat()
    # A day at either end of the calendar does not exist in every zone.
    except OverflowError:
        return moment.date().isoformat()


MOST_TERMS = 32
END_CHARS = 500
_COMMON_SHARE = 1 / 10
"""A word that more than one in so many facts hold says too little to be looked for."""
# What is longer than any ending of a word: what begins like it is another one.
_LONGER = lazy_pattern("[a-z0-9]{5}")
_BETWEEN = "\0"

# To fold ten thousand facts takes most of the time, and from turn to turn they stay the same.
_fold = lru_cache(maxsize=2)(fold)


class FactRanking:
    """The order of some facts for one question, worked out when it is needed."""

    def __init__(
        self, facts: Sequence[Memory], question: str, scores: Mapping[str, float] | None = None
    ) -> None:
        self._facts = facts
        self._question = question
        self._scores = scores

    @cached_property
    def order(self) -> list[Memory]:
        """The facts: the pinned ones, how to answer, then the nearest, then the newest."""
        # Both sorts are stable: facts that are equally near stay in the order of their age.
        newest = sorted(self._facts, key=lambda fact: fact.updated_at, reverse=True)
        near = self._scores or share_words(self._question, self._facts)

        def rank(fact: Memory) -> tuple[bool, bool, float]:
            return not fact.pinned, not is_manner(fact), -near.get(fact.id, 0.0)

        return sorted(newest, key=rank)


def share_words(question: str, facts: Sequence[Memory]) -> dict[str, float]:
    """Return how much of the question each fact holds that holds any of it."""
    # One search over one text is far cheaper than ten thousand. A fact with the separator in it
    # would shift all that follow, so it loses it.
    folded = _fold(_BETWEEN.join(fact.content.replace(_BETWEEN, " ") for fact in facts))
    starts = [0, *accumulate(len(line) + 1 for line in folded.split(_BETWEEN))]
    shares: dict[str, float] = {}
    for term in parse_query(ends_of(question)).terms[:MOST_TERMS]:
        spelt = _spell(term)
        if sum(map(folded.count, spelt)) > max(FEW, int(len(facts) * _COMMON_SHARE)):
            continue
        places = chain.from_iterable(_find(word, folded) for word in spelt)
        holding = {bisect_right(starts, place) - 1 for place in places}
        for number in holding:
            fact_id = facts[number].id
            shares[fact_id] = shares.get(fact_id, 0.0) + weigh_word(len(holding), len(facts))
    return shares


def _spell(term: str) -> tuple[str, ...]:
    """Return how words begin that have a stem: the one of "key" and "keys" is "kei"."""
    is_altered = term.isascii() and term.endswith("i") and len(term) > 1
    return (term, f"{term[:-1]}y") if is_altered else (term,)


def _find(start: str, text: str) -> Iterator[int]:
    """Go over the places where a word begins so, or where a script without spaces has it."""
    place = text.find(start)
    while place >= 0:
        end = place + len(start)
        is_inside = _is_letter(text[max(place - 1, 0) : place]) or _LONGER.match(text, end)
        if is_unspaced(start[0]) or not is_inside:
            yield place
        place = text.find(start, end)


def _is_letter(char: str) -> bool:
    return char.isalnum() and not is_unspaced(char)


def ends_of(question: str) -> str:
    """Return a question, or of a pasted text the end, which mostly asks, and the beginning."""
    if len(question) <= 2 * END_CHARS:
        return question
    # The end comes first because only so many terms are used, and the end is what mostly asks.
    return f"{question[-END_CHARS:]}\n{question[:END_CHARS]}"
