"""A model reads imported conversations for facts, after it was said what that takes.

What it finds waits to be reviewed. A conversation that was read is not read again, so that whoever
stops goes on later where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.changes import Source
from turnleaf.core.learning.extraction import (
    KNOWN_TOKENS,
    TranscriptMessage,
    Window,
    answer_schema,
    requests,
)
from turnleaf.core.learning.proposals import read_answer
from turnleaf.core.learning.reconciling import find_same
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import content_id
from turnleaf.core.secrets import mask_secrets
from turnleaf.core.tokens import estimate
from turnleaf.learning import CONTEXT_TRUSTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.dialogue import Model
    from turnleaf.core.learning.extraction import ExtractionRequest, Proposal
    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import ConversationSummary
    from turnleaf.store.contracts import Stores

IMPORTED = "import:"
READ = "import-learning"
"""The collection that says how many messages of a conversation were read."""
ORIGIN = "import"


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """What it takes to read all that was not read yet; `tokens` is about what is sent."""

    conversations: int = 0
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class LearningResult:
    """How many calls were made, and how many facts were found that wait to be reviewed."""

    calls: int = 0
    found: int = 0


@dataclass(frozen=True, slots=True)
class ImportLearning:
    """Reads the imported conversations of a space with a model."""

    stores: Stores
    now: Callable[[], datetime]
    model: Model

    def plan(self) -> LearningPlan:
        """Return what it takes; nobody is asked."""
        known = sum(estimate(fact.content) for fact in self.stores.facts.get_all())
        beside = min(KNOWN_TOKENS, known)
        asked = [[*self._make_requests(one.key, ())] for one in self._list_unread()]
        sizes = [estimate(one.system + one.text) + beside for some in asked for one in some]
        return LearningPlan(sum(map(bool, asked)), len(sizes), sum(sizes))

    def run(
        self, max_calls: int, progress: Callable[[LearningResult], None] = lambda _result: None
    ) -> LearningResult:
        """Read conversations, the newest first, with so many calls at most.

        `progress` is told after each call; what it raises ends the reading. Raise ModelError where
        the model fails. What was found until then stays.
        """
        result = LearningResult()
        for conversation in self._list_unread():
            known = self.stores.facts.get_all()
            for request in self._make_requests(conversation.key, known):
                if result.calls >= max_calls:
                    return result
                found = self._ask(conversation.key, request, known)
                result = LearningResult(result.calls + 1, result.found + found)
                progress(result)
            self._note_read(conversation)
        return result

    def _list_unread(self) -> list[ConversationSummary]:
        records = self.stores.records
        return [
            one
            for one in self.stores.conversations.summaries()
            if one.key.startswith(IMPORTED)
            and ((read := records.get(READ, one.key)) is None or int(read.value) < one.turns)
        ]

    def _note_read(self, conversation: ConversationSummary) -> None:
        self.stores.records.put(READ, conversation.key, str(conversation.turns).encode())

    def _make_requests(self, key: str, known: Sequence[Memory]) -> Iterator[ExtractionRequest]:
        said = [
            TranscriptMessage(one.message.text, one.trust, time=one.message.timestamp)
            for one in self.stores.conversations.messages(key)
            if one.trust in CONTEXT_TRUSTS and not one.is_hidden
        ]
        window = Window(getattr(self.model, "context_window", None))
        return requests(said, known, window, zone=self.now().tzinfo)

    def _ask(self, key: str, request: ExtractionRequest, known: Sequence[Memory]) -> int:
        """Ask the model for the facts in a portion; return how many wait now that did not."""
        answer = self.model.generate_json(request.system, request.text, answer_schema())
        said = request.portion.said
        reading = read_answer(answer, said, known)
        return sum(self._propose(key, one, said[one.message]) for one in reading.proposals)

    def _propose(self, key: str, proposal: Proposal, said: TranscriptMessage) -> bool:
        found, pending = proposal.candidate, self.stores.pending
        content = mask_fact(found.content, said.text)
        has_ended = found.until is not None and found.until < self.now().date()
        known = [*self.stores.facts.get_all(), *self.stores.facts.older(), *pending.get_all()]
        if proposal.relation == "same" or not content or has_ended or find_same(content, known):
            return False
        quote = mask_secrets(found.quote, said.text)
        added = pending.add(
            content,
            found.category,
            origin=ORIGIN,
            source=Source(quote, key, said.time, trust="user"),
            slot=found.slot,
            until=found.until,
            memory_id=content_id(content),
        )
        return added is not None
