"""Searching for what a prompt should hold: passages that fit a message, and their surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from turnleaf.core.keys import Reader
from turnleaf.core.languages.words import find_pattern
from turnleaf.core.prompt.context import (
    ContextRoom,
    choose,
    estimate_confidence,
    fill_room,
    find_evidence,
    is_answer,
    put_clusters_first,
    show,
)
from turnleaf.core.search.date_ranges import find_date_range
from turnleaf.core.search.message_filters import is_question, is_small_talk
from turnleaf.core.search.ranking import PROMPT_LIMIT
from turnleaf.core.search.terms import parse_query, simplify
from turnleaf.core.tokens import estimate
from turnleaf.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from turnleaf.core.messages import Message
    from turnleaf.core.search.date_ranges import DateRange
    from turnleaf.core.search.ranking import Hit
    from turnleaf.store.contracts import Passages

    Count = Callable[[str], int]

CONTEXT_TOKENS = Settings().context_max_tokens
ANY_READER = Reader(is_prompt=True)
MOST_ENTRIES = 20
MOST_SAID = 100
MOST_PARTS = 4
"""A paragraph of more parts than this, which is twice what is never cut, is not shown whole."""
MOST_SURROUNDED = 10
"""How many of the best hits are shown with what was said before and after, if there is room.

What only asks is shown among these and not after them: what answers it is found by its words as
well, and if it is not, fits less than all that is.
"""
QUERY_CHARS = 2000
LINE_CHARS = 200


@dataclass(frozen=True, slots=True)
class _ContextSearch:
    """A search for one prompt: what may be read, what is known, and what has room."""

    index: Passages
    today: date
    reader: Reader
    known: frozenset[str]
    tokens: int
    count: Count

    def find(self, text: str) -> list[Hit]:
        """Return what fits a text, of the days that it names if it names any."""
        span = find_date_range(text, self.today)
        if span is not None:
            return self._find_within(span)
        # By its meaning a greeting is near to everything, and nothing answers it.
        return [] if is_small_talk(text) else self._fill(text)

    def _find_within(self, span: DateRange) -> list[Hit]:
        thing = find_pattern("context_search", "around").sub(" ", simplify(span.rest))
        if not parse_query(thing).terms:
            told = (*self._find_notes(span), *self._find_messages(span))
            return fill_room(told, ContextRoom(self.tokens, self.count))
        # Where nothing fits on those days, what was said on others may still answer.
        return self._fill(thing, span) or self._fill(thing)

    def _find_notes(self, span: DateRange) -> list[Hit]:
        """Return what was noted last on some days, in order."""
        return self.index.list_between(
            span.first, span.last, MOST_ENTRIES, source="daily", reader=self.reader
        )

    def _find_messages(self, span: DateRange) -> list[Hit]:
        """Return what the user stated on some days, in the order of time."""
        said = self.index.list_between(
            span.first, span.last, MOST_SAID, source="conversations", reader=self.reader
        )
        told = choose(span.rest, said, self.known)
        return [hit for hit in told if not (is_answer(hit) or is_question(hit.text))]

    def _fill(self, question: str, span: DateRange | None = None) -> list[Hit]:
        """Fill the room with hits, and with what was said around the best where they leave some."""
        evidence = find_evidence(question, self._search(question, span), self.known)
        sure = estimate_confidence(question, evidence, is_dated=span is not None)
        # Decided once for the whole question: a passage that fits weakly beside one that fits well
        # is often the second half of an answer, and alone it is noise.
        room = ContextRoom(int(self.tokens * sure), self.count)
        shown = show(question, put_clusters_first(evidence))
        best = [*islice(shown, MOST_SURROUNDED)]
        others = (hit for hit in shown if not _is_only_question(hit))
        filled = fill_room(self._with_answers(question, chain(best, others)), room)
        return fill_room(self._find_surroundings(question, best), room, filled)

    def _search(self, question: str, span: DateRange | None) -> list[Hit]:
        """Return all that may fit, best first; whether it is enough is decided with all of it.

        Older facts are found by whoever looks for them, and are in no prompt. A greeting or a
        "thanks" answers nothing, however near its meaning is.
        """
        since, until = (span.first, span.last) if span else (None, None)
        hits = self.index.search(
            question, PROMPT_LIMIT, since=since, until=until, floor=False, reader=self.reader
        )
        return [hit for hit in hits if hit.source != "older" and not _is_chatter(hit)]

    def _with_answers(self, question: str, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Return the hits; a question with the answer after it, or not at all if that is none.

        What goes on in the same message is no answer, and no reason to leave the question out.
        """
        for hit in hits:
            if not _is_only_question(hit):
                yield hit
                yield from self._find_other_parts(question, hit)
                continue
            after = [one for one in self.index.around(hit, 0, 1) if one.message != hit.message]
            answers = choose(question, after, self.known)
            # A question whose answer says nothing would only tell that it was asked.
            if answers or not after:
                yield hit
                yield from answers

    def _find_other_parts(self, question: str, hit: Hit) -> list[Hit]:
        """Return the other parts of a paragraph, or of a message of two, so that it is whole."""
        if not 0 < hit.earlier + hit.later < MOST_PARTS:
            return []
        beside = self.index.around(hit, hit.earlier, hit.later)
        return choose(question, beside, self.known)

    def _find_surroundings(self, question: str, hits: Sequence[Hit]) -> Iterator[Hit]:
        """Return what was said right before and after the best hits."""
        for hit in hits:
            if hit.source == "conversations":
                yield from choose(question, self.index.around(hit, 1, 1), self.known)


def find_context(
    text: str,
    index: Passages,
    today: date,
    *,
    reader: Reader = ANY_READER,
    budget_tokens: int = CONTEXT_TOKENS,
    count: Count = estimate,
    history: Iterable[Message] = (),
) -> tuple[Hit, ...]:
    """Return what fits a message, best first, as much as the budget has room for.

    Where hits leave room, what was said around the best of them follows. What stands in the
    `history` is in the prompt already.
    """
    # What is in the prompt already would take the room of something else.
    known = frozenset(message.text for message in history)
    search = _ContextSearch(index, today, reader, known, budget_tokens, count)
    lines: tuple[str, ...] = (text,)
    if len(text) > QUERY_CHARS:
        # Of a pasted text the last line asks about it, or else the first.
        first, last = text.strip().partition("\n")[0], text.strip().rpartition("\n")[2]
        lines = (last[-LINE_CHARS:], first[:LINE_CHARS])
    return tuple(next(filter(None, map(search.find, lines)), ()))


def _is_chatter(hit: Hit) -> bool:
    return hit.source == "conversations" and is_small_talk(hit.text)


def _is_only_question(hit: Hit) -> bool:
    return hit.source == "conversations" and is_question(hit.text)
