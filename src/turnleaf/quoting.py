"""What an answer without a model quotes: facts, notes, messages and lines of attached files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from turnleaf.context_search import find_context
from turnleaf.core.languages.words import find_pattern
from turnleaf.core.learning.memory_requests import find_request
from turnleaf.core.learning.reconciling import find_names, holds_words
from turnleaf.core.messages import TRUSTED
from turnleaf.core.prompt.context import find_place, is_answer, shorten
from turnleaf.core.recall.judging import (
    PassageReading,
    find_statements,
    judge_by_words,
    may_answer,
)
from turnleaf.core.recall.questions import (
    asks,
    ends_asking,
    find_aliases,
    find_person,
    find_words_for,
    load_meanings,
    read_question,
)
from turnleaf.core.recall.romanization import spell_names_alike
from turnleaf.core.search.date_ranges import find_date_range
from turnleaf.core.search.message_filters import is_question, is_small_talk, says_nothing
from turnleaf.core.search.ranking import PROMPT_LIMIT, Hit
from turnleaf.core.search.terms import list_terms, parse_query, simplify
from turnleaf.core.secrets import mask_secrets
from turnleaf.store.clock_and_ids import find_local_day

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from turnleaf.core.keys import Reader
    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Message
    from turnleaf.core.prompt.composer import Document
    from turnleaf.core.recall.judging import Judge
    from turnleaf.core.recall.questions import Names, Question
    from turnleaf.store.contracts import Passages

MOST_QUOTES = 3
FAR = 2.5
"""What the network is this much less sure of than of the best is not quoted beside it."""
MOST_LINES = 5_000
"""So many lines of an attached file are looked at."""
SAID = "said"
DOCUMENT = "document"
_QUERY_CHARS = 3_500


@dataclass(frozen=True, slots=True)
class QuoteSearch:
    """What may be quoted in one turn: what is found for whom, on which day, beside which facts."""

    passages: Passages
    reader: Reader
    today: date
    facts: Sequence[Memory] = ()
    judge: Judge = judge_by_words
    is_owner_alone: bool = False
    """Whether nobody but who typed them reads the secrets of an answer."""

    def find(self, text: str, history: Sequence[Message] = ()) -> tuple[Hit, ...]:
        """Return what answers a question, best first."""
        if not asks(text) and is_small_talk(text):
            return ()
        span = find_date_range(text, self.today)
        if span is not None and not self._has_things(span.rest):
            return self._find_days(text, history)
        question = read_question(text, self._names)
        statements = find_statements(history)
        found = [*map(_quote_message, statements), *self._search(text, question, history)]
        if span is not None:
            # Of the days that a question names comes its answer, if anything was said on them.
            first, last = span.first.isoformat(), span.last.isoformat()
            then = [hit for hit in found if first <= (hit.date or "") <= last]
            found = then or found
        chosen = tuple(map(self._mask, _choose(question, found, self.judge, self._names)))
        # Words that nothing answers may still name a day on which something was said.
        return chosen or (self._find_days(text, history) if span else ())

    @property
    def _names(self) -> Names:
        return list_names(self.facts)

    def _mask(self, hit: Hit) -> Hit:
        """Return a hit without secrets, unless who reads it gave them or wanted to keep them."""
        is_own = hit.source == "conversations" and hit.trust == "user" and not is_answer(hit)
        if hit.source in ("memory", SAID) or (is_own and self.is_owner_alone):
            return hit
        return replace(hit, text=mask_secrets(hit.text))

    def _has_things(self, rest: str) -> bool:
        bare = find_pattern("context_search", "around").sub(" ", simplify(rest))
        return bool(read_question(bare, self._names).things)

    def _find_days(self, text: str, history: Sequence[Message]) -> tuple[Hit, ...]:
        """Return what was noted and said on the days that a question names, in order."""
        found = find_context(text, self.passages, self.today, reader=self.reader, history=history)
        return tuple(sorted(filter(_may_be_quoted, found), key=find_place))[: 2 * MOST_QUOTES]

    def _search(self, text: str, question: Question, history: Sequence[Message]) -> list[Hit]:
        """Return all that shares words, meanings of words, or its meaning with a question.

        What either search finds best comes first: a judge may not look at all of it.
        """
        known = frozenset(message.text for message in history)
        searches = [
            # The second search is for other words of the same meaning, which the first knows
            # nothing of.
            self.passages.search(query, PROMPT_LIMIT, mode=mode, floor=False, reader=self.reader)
            for query, mode in ((text, "hybrid"), (_widen(question), "lexical"))
            if query
        ]
        found: dict[object, Hit] = {}
        for hit in chain.from_iterable(zip_longest(*searches)):
            if hit is not None:
                found.setdefault(find_place(hit), hit)
        return [one for one in found.values() if _may_be_quoted(one) and one.text not in known]


def list_names(facts: Iterable[Memory]) -> Names:
    """Return the names that facts tell, in lower case, each with whose it is."""
    return frozenset((name, find_person(one.key)) for name, one in find_names(facts).items())


def quote_statements(text: str, history: Sequence[Message], judge: Judge) -> tuple[Hit, ...]:
    """Return what the user stated in a conversation that is not stored and answers a question."""
    stated = [*map(_quote_message, find_statements(history))]
    return _choose(read_question(text), stated, judge)


def quote_documents(text: str, documents: Iterable[Document]) -> tuple[Hit, ...]:
    """Return the lines of attached files that answer a question, best first."""
    lines = [hit for one in documents for hit in _list_lines(one)]
    # Vectors of thousands of lines would take seconds.
    chosen = _choose(read_question(text), lines, judge_by_words)
    if chosen:
        return chosen
    wanted = frozenset(parse_query(text).terms)
    shared = sorted(lines, key=lambda hit: -len(wanted.intersection(list_terms(hit.text))))
    return tuple(hit for hit in shared[:MOST_QUOTES] if wanted.intersection(list_terms(hit.text)))


def _choose(
    question: Question,
    found: Sequence[Hit],
    judge: Judge,
    names: Names = frozenset(),
) -> tuple[Hit, ...]:
    """Return the hits that answer best, each thing once, as they are quoted."""
    aliases = {alias for hit in found for alias in find_aliases(hit.text)}
    texts = ((hit, spell_names_alike(question.text, _wish_of(hit))) for hit in found)
    read = [(hit, PassageReading.of(text, aliases)) for hit, text in texts]
    able = [(hit, one) for hit, one in read if may_answer(question, one, names)]
    readings = [one for _, one in able]
    scores = judge(question, readings, names)
    best = max(scores, default=0.0)
    if best <= 0:
        return ()
    ranked = sorted(
        # Where something answers, what is right may be the second, which alone would not be sure
        # enough.
        ((score, hit) for score, (hit, _) in zip(scores, able, strict=True) if score > best - FAR),
        # Of equals the fact comes first: it is what holds now.
        key=lambda one: (-one[0], one[1].source != "memory"),
    )
    most = 2 * MOST_QUOTES if question.asks_for_list else MOST_QUOTES
    return tuple(_without_repetitions(hit for _, hit in ranked)[:most])


def _without_repetitions(hits: Iterable[Hit]) -> list[Hit]:
    """Return each thing once: of two passages that say the same the one that says more."""
    kept: list[Hit] = []
    for hit in hits:
        said = _wish_of(hit)
        if any(holds_words(_wish_of(one), said) for one in kept):
            continue
        same = next((at for at, one in enumerate(kept) if holds_words(said, _wish_of(one))), None)
        if same is None:
            kept.append(hit)
        elif kept[same].source != "memory" or said == hit.text:
            kept[same] = hit
    return kept


def _wish_of(hit: Hit) -> str:
    """Return what a message asks to be remembered, or else its text."""
    wish = find_request(hit.text) if hit.source == "conversations" else None
    return wish.content if wish else hit.text


def _may_be_quoted(hit: Hit) -> bool:
    """Whether a passage states something that is the user's own: no question, no echo of one."""
    if hit.source == "older" or not hit.is_shown or hit.trust not in TRUSTED:
        return False
    if hit.source != "conversations":
        return True
    if is_answer(hit):
        # An answer that itself only quoted would be quoted again and again.
        return not (says_nothing(hit.text) or find_pattern("recall", "reference").search(hit.text))
    wish = find_request(hit.text)
    is_forgetting = wish is not None and wish.action == "forget"
    return not (is_forgetting or is_question(hit.text) or ends_asking(hit.text))


def _widen(question: Question) -> str:
    """Return all words for what a question speaks of, as a query."""
    own = (load_meanings()[name] for thing in question.things for name in sorted(thing.meanings))
    words = (word for one in own for part in (one.words, one.kinds, one.near) for word in part)
    people = (word for who in sorted(question.people) for word in find_words_for(who))
    return " ".join(dict.fromkeys((*people, *question.names, *words)))[:_QUERY_CHARS]


def _quote_message(message: Message) -> Hit:
    said_on = find_local_day(message.timestamp) if message.timestamp else None
    return replace(_make_hit(message.text, SAID, Path(), 0), date=said_on)


def _list_lines(document: Document) -> list[Hit]:
    lines = enumerate(document.text.splitlines()[:MOST_LINES], 1)
    path = Path(document.name)
    return [_make_hit(line.strip(), DOCUMENT, path, at) for at, line in lines if line.strip()]


def _make_hit(text: str, source: str, path: Path, line: int) -> Hit:
    return shorten(
        Hit(text, source, path, line, None, None, None, None, None, 0.0, None, None), text
    )
