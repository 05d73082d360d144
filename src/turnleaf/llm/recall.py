"""`recall`: no model at all. It answers with what is remembered, and says where that stands."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from turnleaf.core.dialogue import Text
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.languages.words import find_pattern, join_texts
from turnleaf.core.learning.findings import sure_facts
from turnleaf.core.learning.requests import find_meant, find_request
from turnleaf.core.learning.slots import slots
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.search.small_talk import is_question
from turnleaf.core.search.terms import parse_query, simplify, terms
from turnleaf.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from turnleaf.core.dialogue import Prompt, Toolbox
    from turnleaf.core.learning.findings import Finding
    from turnleaf.core.learning.requests import Request
    from turnleaf.core.messages import Message
    from turnleaf.core.search.hits import Hit

MOST_LINES = 10
CLOSE = 0.6
"""Quoted is what has at least this share of the best passage's score."""
FEWEST_SHARED = 3
"""A statement is about a question if it shares at least one in so many of its words."""
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class RecallModel:
    """Answers from memory alone."""

    name = "recall"

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Text]:  # noqa: ARG002 - the protocol's
        """Quote what was found, with dates and sources."""
        earlier = [one.text for one in prompt.messages[:-1] if one.role == "user"]
        words = choose_words(prompt.question, "recall", earlier=earlier)
        yield Text(_acknowledge(prompt, words) or _quote(prompt, words) or _decline(prompt, words))
        yield Text(f"\n\n{words['advice']}")

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Refuse: there is nothing here that could follow a schema."""
        message = "recall is no model and fills in no form; set another with TURNLEAF_MODEL"
        raise ModelError(message)


def _acknowledge(prompt: Prompt, words: Mapping[str, str]) -> str:
    """Return what will be learned of a statement; a question states nothing."""
    if _asks(prompt.question) or not prompt.is_learnt:
        return ""
    found = (fact.content for fact in _facts_in(prompt.question))
    facts = [kept for content in found if (kept := mask_fact(content, prompt.question))]
    known = {hit.text.casefold() for hit in prompt.found}
    new = [fact for fact in facts if fact.casefold() not in known]
    lead = words["noted" if prompt.has_room else "crowded"]
    return "\n".join([lead, *(f"- {fact}" for fact in new)]) if new else ""


def _facts_in(text: str) -> list[Finding]:
    return sure_facts(text, datetime.now(UTC).astimezone())


def _quote(prompt: Prompt, words: Mapping[str, str]) -> str:
    lines = _quoted_lines(prompt, words)
    return "\n".join([words["found"], *lines]) if lines else ""


def _decline(prompt: Prompt, words: Mapping[str, str]) -> str:
    return words["nothing" if _asks(prompt.question) else "heard"]


def _quoted_lines(prompt: Prompt, words: Mapping[str, str]) -> list[str]:
    history = prompt.messages[:-1]
    said = [one.text for one in _statements(history) if _is_about(one.text, prompt.question)]
    found = _statements_found(prompt.found)
    known = {hit.text for hit in found}
    quoted = [
        words["quoted"].format(text, words["said"])
        for text in dict.fromkeys(said)
        if text not in known
    ]
    return [*map(partial(_line, words=words), found), *quoted][:MOST_LINES]


def _statements_found(found: Sequence[Hit]) -> list[Hit]:
    """Return what answers best; a model can choose among many passages, a person wants the one."""
    stated = [hit for hit in found if hit.source != "conversations" or not is_question(hit.text)]
    best = max((hit.score for hit in stated), default=0.0)
    return [hit for hit in stated if hit.score >= CLOSE * best]


def _statements(history: Sequence[Message]) -> list[Message]:
    """Return what the user stated and has not taken back or replaced since.

    A request is done, not stated.
    """
    spoken = [message for message in history if message.role == "user"]
    wishes = [find_request(message.text) for message in spoken]
    settled = [_single_slots(message.text) for message in spoken]
    return [
        message
        for number, message in enumerate(spoken)
        if wishes[number] is None
        and not _asks(message.text)
        and not any(_takes_back(wish, message.text) for wish in wishes[number + 1 :])
        and settled[number].isdisjoint(chain.from_iterable(settled[number + 1 :]))
    ]


def _single_slots(text: str) -> set[tuple[str, str, str]]:
    """Return what a message settles that has one value at a time, such as where the user lives."""
    stated = (fact.statement for fact in _facts_in(text))
    return {(one.slot, one.subject, one.kind) for one in stated if slots()[one.slot].single}


def _asks(text: str) -> bool:
    asks = find_pattern("recall", "question", r"[?？]\s*+$|")
    return asks.search(simplify(text)) is not None


@cache
def _asking() -> frozenset[str]:
    """Return the words of asking that say nothing about what is asked."""
    return frozenset(terms(join_texts("recall", "asking")))


def _takes_back(wish: Request | None, text: str) -> bool:
    said = Memory("", text, LONG_AGO, LONG_AGO)
    return wish is not None and wish.action == "forget" and bool(find_meant(wish.content, [said]))


def _is_about(text: str, question: str) -> bool:
    """Whether a statement shares a word with what is asked."""
    asked = {term for term in parse_query(question).terms if len(term) > 1} - _asking()
    return len(asked.intersection(terms(text))) * FEWEST_SHARED >= len(asked) > 0


def _line(hit: Hit, words: Mapping[str, str]) -> str:
    place = f"{hit.path.name}:{hit.line}"
    where = [words.get(hit.source, hit.source), hit.date, hit.conversation or place]
    return words["quoted"].format(hit.text, words["joint"].join(filter(None, where)))
