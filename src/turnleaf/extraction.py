"""Learning: from messages that wait in the queue to facts in the memory's files.

First what was found is kept in the queue's own file, in the step in which the messages leave
it; then it is written to the memory, as often as it takes. So no message is learnt from twice,
and a kill at any instant loses nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from turnleaf.core.learning.extraction import (
    CONTEXT_MESSAGES,
    Proposal,
    TranscriptMessage,
    Window,
    answer_schema,
    requests,
)
from turnleaf.core.learning.extraction_answers import Reading, read_answer
from turnleaf.core.learning.proposals import ProposalDesk
from turnleaf.core.learning.queue import Unread
from turnleaf.core.learning.reconciling import repeats
from turnleaf.core.learning.requests import find_meant, find_request
from turnleaf.core.memories import Memory
from turnleaf.core.search.message_outcomes import ACCEPTED
from turnleaf.decision_writing import DecisionWriter, Learnt
from turnleaf.errors import ModelError, UnreadableAnswer
from turnleaf.reading import MessageReader
from turnleaf.store.ambient import random_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.core.dialogue import Model
    from turnleaf.core.learning.decisions import Decision
    from turnleaf.core.learning.extraction import ExtractionRequest
    from turnleaf.core.learning.queue import Batch, Queued
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Facts, LearningQueue, PendingFacts, Stores

LONG_AGO = datetime.min.replace(tzinfo=UTC)
CONTEXT_TRUSTS = ("user", "assistant")
"""Whose earlier messages a model reads to understand the others."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was learned, what could not be written, and whether another program holds the rest.

    `failure` is what kept the model from reading what it was given; that waits for it.
    """

    learnt: tuple[Learnt, ...] = ()
    problems: tuple[str, ...] = ()
    is_held: bool = False
    failure: ModelError | None = None

    def __add__(self, other: Outcome) -> Outcome:
        failure = self.failure or other.failure
        return Outcome(self.learnt + other.learnt, other.problems, other.is_held, failure)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a model has found, the first message that it has not read, and why."""

    proposals: tuple[Proposal, ...] = ()
    unread: Unread | None = None
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The way from the queue to the memory, over one data folder's stores."""

    stores: Stores
    now: Callable[[], datetime]

    @property
    def memory(self) -> Facts:
        """The long-term facts."""
        return self.stores.facts

    @property
    def pending(self) -> PendingFacts:
        """Facts that wait to be accepted."""
        return self.stores.pending

    @property
    def learning(self) -> LearningQueue:
        """What is yet to be learned from."""
        return self.stores.learning

    def read(self, key: str) -> Outcome:
        """Read by rule what was just said in a conversation, and write what is certain."""
        MessageReader(self.memory, self.learning, self.now).read(key)
        return self.settle()

    def run(self, key: str, settings: Settings, model: Model | None) -> Outcome:
        """Learn from all that waits of a conversation.

        When the model fails, what rules find is learned all the same, and the rest waits for it.
        """
        outcome = self.read(key)
        has_more = True
        while has_more and outcome.failure is None:
            # What came in since then is left to the next time: rules read it first.
            batch = self.learning.claim(key, read=True)
            if batch is None:
                is_held = self.learning.waiting(key) > 0
                return outcome + Outcome((), outcome.problems, is_held=is_held)
            outcome += self._learn_from(batch, settings, model)
            has_more = batch.has_more
        return outcome

    def settle(self) -> Outcome:
        """Write to the memory what was decided and is not written yet."""
        writer = DecisionWriter(self.stores)
        written = writer.settle()
        return Outcome(written.learnt, written.problems)

    def _learn_from(self, batch: Batch, settings: Settings, model: Model | None) -> Outcome:
        try:
            said = [_said(queued) for queued in batch.messages]
            asked = self._ask(batch, said, settings, model) if model else _Asked()
            made = self._decide(batch, self._wanted(batch, said, asked.proposals))
        except BaseException as error:
            self.learning.release(batch, str(error) or type(error).__name__)
            raise
        self.learning.complete(batch, made, asked.unread)
        return replace(self.settle(), failure=asked.failure)

    # Finding.

    def _wanted(
        self, batch: Batch, said: Sequence[TranscriptMessage], found: Sequence[Proposal]
    ) -> list[tuple[Proposal, Queued]]:
        """Return what is not taken back or saved already, with the messages."""
        kept = [one for one in found if not _is_taken_back(one, said)]
        pairs = [(one, batch.messages[one.message]) for one in kept]
        return [(one, queued) for one, queued in pairs if not self._is_saved(one, queued)]

    def _ask(
        self, batch: Batch, said: Sequence[TranscriptMessage], settings: Settings, model: Model
    ) -> _Asked:
        """Ask a model for the facts in the messages, part by part, up to where it fails."""
        known, found = self.memory.get_all(), tuple[Proposal, ...]()
        window = Window(getattr(model, "context_window", None))
        zone, earlier = self.now().tzinfo, self._earlier(batch)
        for request in requests(said, known, window, earlier=earlier, zone=zone):
            try:
                if not self._may_ask(batch.key, settings, model):
                    break
                answer = model.structured(request.system, request.text, answer_schema())
                reading = read_answer(answer, request.portion.said, known)
            except ModelError as error:
                return _Asked(found, _unread(request, error), error)
            self._note(reading, model)
            found += tuple(map(request.portion.place, reading.proposals))
        return _Asked(found)

    def _earlier(self, batch: Batch) -> list[TranscriptMessage]:
        """Return the last messages before these, as far as they are the user's or answers."""
        first = batch.messages[0].message.timestamp
        most = len(batch.messages) + 2 * CONTEXT_MESSAGES
        stored = self.stores.conversations.messages(batch.key, limit=most) if first else []
        return [
            TranscriptMessage(one.message.text, one.trust, time=one.message.timestamp)
            for one in stored
            if one.trust in CONTEXT_TRUSTS and not one.is_hidden
            if first and one.message.timestamp and one.message.timestamp < first
        ][-CONTEXT_MESSAGES:]

    def _note(self, reading: Reading, model: Model) -> None:
        if reading.skipped:
            self.learning.count_skipped(reading.skipped, self.now().date())
            log.info("%d facts of %s could not be used", reading.skipped, model.name)
        if reading.is_cut_off:
            log.info("an answer of %s broke off; what was whole of it is used", model.name)

    def _may_ask(self, key: str, settings: Settings, model: Model) -> bool:
        """Count a call; past the day's cap rules learn alone, unless a model has failed before."""
        cap = settings.extract_daily_calls
        if self.learning.spend(model.name, cap=cap, day=self.now().date()):
            return True
        failed = self.learning.last_error()
        if failed is not None and failed.key == key:
            message = f"the {cap} calls of today are spent; it is tried again tomorrow"
            raise ModelError(message)
        return False

    def _is_saved(self, proposal: Proposal, queued: Queued) -> bool:
        """Whether a tool or a request has saved it in its own turn, even if it is gone now."""
        content = proposal.candidate.content
        saved = (text for memory_id in queued.saved for text in self._texts(memory_id))
        return any(repeats(content, text) for text in saved)

    def _texts(self, memory_id: str) -> list[str]:
        changes = self.memory.changes(memory_id)
        return [change.after.content for change in changes if change.after]

    # Deciding.

    def _decide(self, batch: Batch, proposals: Sequence[tuple[Proposal, Queued]]) -> list[Decision]:
        if not proposals:
            return []
        pending = [*self.pending.get_all(), *self._rejected()]
        desk = ProposalDesk(batch.key, self.memory.get_all(), pending, self.now(), random_id)
        for outgoing in self.learning.outbox():
            desk.foresee(outgoing.decision)
        for proposal, queued in proposals:
            told = batch.messages[proposal.message if proposal.source is None else proposal.source]
            here = self._facts_of(batch.key, queued)
            desk.take(proposal, queued.message, told.source, here)
        return desk.made

    def _facts_of(self, key: str, queued: Queued) -> set[str]:
        """Return the ids of the facts that a message gave already."""
        said = queued.message.timestamp
        sources = ((one.id, one.source) for one in self.memory.changes() if one.source)
        return {
            memory_id
            for memory_id, source in sources
            if source.conversation == key and source.message_time == said
        }

    def _rejected(self) -> list[Memory]:
        """Return what a person has rejected: it must not come back with the next reading."""
        gone = [change for change in self.pending.changes() if change.op == "delete"]
        return [change.before for change in gone if change.before and change.origin != ACCEPTED]


def _said(queued: Queued) -> TranscriptMessage:
    message = queued.message
    return TranscriptMessage(message.text, queued.trust, queued.is_settled, message.timestamp)


def _unread(request: ExtractionRequest, error: ModelError) -> Unread:
    portion = request.portion
    is_unreadable = isinstance(error, UnreadableAnswer)
    count = len(portion.said) - portion.context if is_unreadable else 0
    return Unread(portion.first, str(error), count)


def _is_taken_back(proposal: Proposal, said: Sequence[TranscriptMessage]) -> bool:
    """Whether the user asked later in the conversation to forget it."""
    fact = Memory("", proposal.candidate.content, LONG_AGO, LONG_AGO)
    later = (one for one in said[proposal.message + 1 :] if one.trust == "user" and one.is_settled)
    wishes = filter(None, (find_request(one.text) for one in later))
    return any(wish.action == "forget" and find_meant(wish.content, [fact]) for wish in wishes)
