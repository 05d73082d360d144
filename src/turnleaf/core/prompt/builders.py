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
from turnleaf.core.learning.own_words import normalize_spelling
from turnleaf.core.learning.recogniser import read_fact
from turnleaf.core.loading import make_pattern
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
    """Return a prompt with a conversation's history before it; without history, only the prompt."""
    if not history:
        return prompt
    lines = (f"[{_name_speaker(message)}]: {_write_speech(message)}" for message in history)
    return f"{wrap_in_tag(HISTORY_TAG, lines)}\n\n{prompt}"


def build_prompt_with_memory(memories: Sequence[Memory], prompt: str) -> str:
    """Return a prompt with all memories before it; without memories, only the prompt."""
    lines = write_memory_lines(memories)
    return f"{wrap_in_tag(MEMORY_TAG, lines)}\n\n{prompt}" if lines else prompt


def write_memory_lines(memories: Iterable[Memory]) -> list[str]:
    """Return each memory that is not blank as an escaped list item."""
    told = (memory.content for memory in memories if memory.content.strip())
    return [f"- {escaping.escape_item(content)}" for content in told]


@lru_cache(maxsize=8)
def escape_page(page: str) -> str:
    """Return a page of facts or notes with all of it escaped, each fact as a list item."""
    return rewrite_facts(page, escaping.escape_item)


def rewrite_facts(page: str, rewrite: Callable[[str], str]) -> str:
    """Return a page with each fact rewritten, escaped as a passage.

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
    return escaping.escape_passage("".join(lines))


def _find_empty_headings(lines: Sequence[str], headings: Sequence[int]) -> Iterator[int]:
    """Yield the headings below which there is nothing; the title of the page is none of them."""
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


def escape_message(message: Message) -> Message:
    """Return a message of a history with its text escaped, whoever wrote it."""
    content = message.content
    # In a channel the history holds what other people wrote, so it is no safer than a document.
    if isinstance(content, str):
        said = escaping.escape_speech(content)
        return message if said == content else replace(message, content=said)
    if content is None:
        return message
    return replace(message, content=[_escape_part(part) for part in content])


def _escape_part(part: Part) -> Part:
    text = part.get("text")
    return {**part, "text": escaping.escape_speech(text)} if isinstance(text, str) else part


def wrap_in_tag(tag: str, lines: Iterable[str]) -> str:
    """Return lines between an opening and a closing tag."""
    body = "\n".join(lines)
    return f"<{tag}>\n{body}\n</{tag}>"


def _name_speaker(message: Message) -> str:
    return SPEAKERS.get(message.role, "System")


def _write_speech(message: Message) -> str:
    text = message.text
    if message.tool_calls and not text:
        names = (str(call.get("function", {}).get("name", "")) for call in message.tool_calls)
        text = f"(called {', '.join(filter(None, names)) or 'a tool'})"
    return escaping.escape_speech(text)


MANNER = "manner"
"""The slot of what the user says about how to be answered."""
MANNER_HEADING = "## How the user wants to be answered"
# An id that somebody wrote into the file by hand may hold anything.
_PLAIN_ID = make_pattern(r"[A-Za-z0-9_-]{1,40}+")
_STAMP = make_pattern(rf"\s*+\[\d{{4}}-\d\d-\d\d (?P<id>{_PLAIN_ID.pattern})\]\s*+\Z")
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
def write_fact_text(memory: Memory, form: FactForm) -> str:
    """Return a fact, escaped, with the stamp of its day and id."""
    return f"{escaping.escape_stamped_item(memory.content)} {_write_stamp(memory, form)}"


def write_fact_lines(memories: Iterable[Memory], form: FactForm) -> list[str]:
    """Return facts as list items; those on how to answer come last, under a heading."""
    told = [memory for memory in memories if memory.content.strip()]
    others = [f"- {write_fact_text(one, form)}" for one in told if not is_manner(one)]
    return [*others, *write_manner_lines(told, form)]


def write_manner_lines(memories: Iterable[Memory], form: FactForm) -> list[str]:
    """Return the facts on how to answer under their heading, if there are any."""
    wishes = [f"- {write_fact_text(one, form)}" for one in memories if is_manner(one)]
    return [MANNER_HEADING, *wishes] if wishes else []


def is_manner(memory: Memory) -> bool:
    """Whether a fact says how the user wants to be answered; one typed by hand is read for it."""
    return memory.slot == MANNER if memory.slot is not None else _states_manner(memory.content)


@lru_cache(maxsize=16_384)
def _states_manner(content: str) -> bool:
    plain = normalize_spelling(content).lower()
    # Reading is slow beside looking for a word, and a page may have thousands of facts.
    is_likely = any(cue in plain for cue in _list_manner_cues())
    return is_likely and any(one.slot == MANNER for one in read_fact(content))


@cache
def _list_manner_cues() -> tuple[str, ...]:
    languages = map(get_language, find_languages("statements.toml"))
    return tuple(cue for one in languages for cue in one.slots[MANNER].cues)


@lru_cache(maxsize=8)
def stamp_page(page: str, memories: Sequence[Memory], form: FactForm) -> str:
    """Return a page with a stamp after each of its facts.

    The page has no ids, so a fact is known by what it says, and equal ones by their order. One
    that is not known has no stamp, and can look like none either.
    """
    known: defaultdict[str, deque[Memory]] = defaultdict(deque)
    for memory in memories:
        known[memory.content].append(memory)

    def rewrite(content: str) -> str:
        same = known[content]
        return (
            write_fact_text(same.popleft(), form) if same else escaping.escape_stamped_item(content)
        )

    return rewrite_facts(page, rewrite)


def strip_stamp(text: str, ids: Collection[str]) -> str:
    """Return a fact that a model copied from a prompt without its stamp."""
    # A model that copies a fact into a tool call copies its stamp too. Only one with an id from the
    # prompt is taken off: what else looks like a stamp is the text's own.
    stamp = _STAMP.search(text, max(0, len(text) - _STAMP_CHARS))
    return text[: stamp.start()] if stamp and stamp["id"] in ids else text


def _write_stamp(memory: Memory, form: FactForm) -> str:
    # An id that a hand wrote into the file could pose as anything, so it is not shown at all.
    shown = form.has_ids and _PLAIN_ID.fullmatch(memory.id)
    return f"[{_write_day(memory.updated_at, form.zone)}{f' {memory.id}' if shown else ''}]"


def _write_day(moment: datetime, zone: tzinfo) -> str:
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
_LONGER = make_pattern("[a-z0-9]{5}")
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
    """Return, for each fact that shares words with the question, how much they weigh."""
    # One search over one text is far cheaper than ten thousand. A fact with the separator in it
    # would shift all that follow, so it loses it.
    folded = _fold(_BETWEEN.join(fact.content.replace(_BETWEEN, " ") for fact in facts))
    starts = [0, *accumulate(len(line) + 1 for line in folded.split(_BETWEEN))]
    shares: dict[str, float] = {}
    for term in parse_query(cut_to_ends(question)).terms[:MOST_TERMS]:
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
    """Return how the words of a stem begin: "kei" is the stem of "key" and "keys"."""
    is_altered = term.isascii() and term.endswith("i") and len(term) > 1
    return (term, f"{term[:-1]}y") if is_altered else (term,)


def _find(start: str, text: str) -> Iterator[int]:
    """Yield where a word begins so; in a script without spaces, wherever it occurs."""
    place = text.find(start)
    while place >= 0:
        end = place + len(start)
        is_inside = _is_letter(text[max(place - 1, 0) : place]) or _LONGER.match(text, end)
        if is_unspaced(start[0]) or not is_inside:
            yield place
        place = text.find(start, end)


def _is_letter(char: str) -> bool:
    return char.isalnum() and not is_unspaced(char)


def cut_to_ends(question: str) -> str:
    """Return a question, of a long text only the end and the beginning."""
    if len(question) <= 2 * END_CHARS:
        return question
    # The end comes first because only so many terms are used, and the end is what mostly asks.
    return f"{question[-END_CHARS:]}\n{question[:END_CHARS]}"
