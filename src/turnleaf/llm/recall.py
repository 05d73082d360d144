"""`recall`: no model at all. It answers with what is remembered, and says where that stands."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from turnleaf.core.dialogue import Text
from turnleaf.core.evidence import is_question
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.learning.findings import sure_facts
from turnleaf.core.learning.requests import meant, request_in
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.terms import parse_query, terms
from turnleaf.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from turnleaf.core.dialogue import Prompt, Toolbox
    from turnleaf.core.hits import Hit
    from turnleaf.core.learning.requests import Request
    from turnleaf.core.messages import Message

MOST_LINES = 10
CLOSE = 0.6
"""Quoted is what has at least this share of the best passage's score."""
FEWEST_SHARED = 3
"""A statement is about a question if it shares at least one in so many of its words."""
_QUESTION = re.compile(
    r"[?？]\s*+$|[嗎吗呢]\s*+(?:[。！!]\s*+)?$|什麼|什么|誰|谁|哪[裡里個个些]|怎麼|怎么|為何"
    r"|^\s*+(?:what|who|whose|where|when|which|why|how|do|does|did|is|are|was|were|can|could|will)\b",
    re.IGNORECASE,
)
# Words of asking that say nothing about what is asked.
_ASKING = frozenset(
    terms("remember remembered recall know call called name named 記得 記住 知道 名字 叫做")
)
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class RecallModel:
    """Answers from memory alone."""

    name = "recall"

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Text]:  # noqa: ARG002 - the protocol's
        """Quote what was found, with dates and sources."""
        earlier = [one.text for one in prompt.messages[:-1] if one.role == "user"]
        words = choose_words(prompt.question, "recall", earlier=earlier)
        lines = _quoted(prompt, words)
        if lines:
            yield Text("\n".join([words["found"], *lines]))
        else:
            yield Text(_without_anything(prompt, words))
        yield Text(f"\n\n{words['advice']}")

    def structured(self, system: str, text: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Refuse: there is nothing here that could follow a schema."""
        message = "recall is no model and fills in no form; set another with TURNLEAF_MODEL"
        raise ModelError(message)


def _quoted(prompt: Prompt, words: Mapping[str, str]) -> list[str]:
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
    """Give what the user stated and has not taken back since; a request is done, not stated."""
    spoken = [message for message in history if message.role == "user"]
    wishes = [request_in(message.text) for message in spoken]
    return [
        message
        for number, message in enumerate(spoken)
        if wishes[number] is None
        and not _QUESTION.search(message.text)
        and not any(_takes_back(wish, message.text) for wish in wishes[number + 1 :])
    ]


def _takes_back(wish: Request | None, text: str) -> bool:
    said = Memory("", text, LONG_AGO, LONG_AGO)
    return wish is not None and wish.action == "forget" and bool(meant(wish.content, [said]))


def _is_about(text: str, question: str) -> bool:
    """Tell whether a statement shares a word with what is asked."""
    asked = {term for term in parse_query(question).terms if len(term) > 1} - _ASKING
    return len(asked.intersection(terms(text))) * FEWEST_SHARED >= len(asked) > 0


def _line(hit: Hit, words: Mapping[str, str]) -> str:
    place = f"{hit.path.name}:{hit.line}"
    where = [words.get(hit.source, hit.source), hit.date, hit.conversation or place]
    return words["quoted"].format(hit.text, words["joint"].join(filter(None, where)))


def _without_anything(prompt: Prompt, words: Mapping[str, str]) -> str:
    if _QUESTION.search(prompt.question):
        return words["nothing"]
    now = datetime.now(UTC).astimezone()
    found = (fact.content for fact in sure_facts(prompt.question, now))
    facts = [kept for content in found if (kept := mask_fact(content, prompt.question))]
    if facts and prompt.is_learnt:
        return "\n".join([words["noted"], *(f"- {fact}" for fact in facts)])
    return words["heard"]
