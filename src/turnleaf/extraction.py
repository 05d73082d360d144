"""Learning: from messages that wait in the queue to facts in the memory's files.

First what was found is kept in the queue's own file, in the step in which the messages leave
it; then it is written to the memory, as often as it takes. So no message is learnt from twice,
and a kill at any instant loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from turnleaf.core import rules
from turnleaf.core.changes import Source
from turnleaf.core.extracting import (
    SCHEMA,
    SYSTEM_PROMPT,
    Proposal,
    Said,
    read_answer,
    transcript,
    without_repeats,
)
from turnleaf.core.memories import Memory
from turnleaf.core.reconciling import judged
from turnleaf.core.secrets import masked
from turnleaf.core.times import from_iso, to_iso
from turnleaf.errors import Conflict, MemoryFull
from turnleaf.store.memories import random_id
from turnleaf.tools import repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from turnleaf.core.dialogue import Model
    from turnleaf.settings import Settings
    from turnleaf.store.index import Index
    from turnleaf.store.learning import Batch, LearningStore, Queued
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.pending import PendingStore

ORIGIN = "learnt"

Action = Literal["added", "superseded", "waiting"]


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fact that was learnt, what it replaced, and the words that it rests on."""

    memory: Memory
    action: Action
    quote: str
    before: Memory | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The way from the queue to the memory, over one data folder's stores."""

    memory: MemoryStore
    pending: PendingStore
    learning: LearningStore
    index: Index
    now: Callable[[], datetime]

    def run(self, key: str, settings: Settings, model: Model | None) -> list[Learnt]:
        """Learn from all that waits of a conversation; give what was learnt.

        A model that fails leaves everything queued: raise its ModelError.
        """
        learnt = self.settle()
        batch = self.learning.claim(key)
        if batch is None:
            return learnt
        try:
            decisions = self._decisions(batch, self._proposals(batch, settings, model))
        except BaseException as error:
            self.learning.release(batch, str(error) or type(error).__name__)
            raise
        self.learning.complete(batch, decisions)
        return learnt + self.settle()

    def settle(self) -> list[Learnt]:
        """Write to the memory what was found and is not written yet."""
        learnt = []
        for outgoing in self.learning.outbox():
            try:
                done = self._applied(outgoing.decision)
            except MemoryFull as error:
                self.learning.postpone(outgoing.id, str(error))
                continue
            self.learning.settle(outgoing.id)
            learnt += [done] if done else []
        if learnt:
            self.index.sync()
        return learnt

    # Finding.

    def _proposals(
        self, batch: Batch, settings: Settings, model: Model | None
    ) -> list[tuple[Proposal, Queued]]:
        said = [_said(queued) for queued in batch.messages]
        found = _by_rule(said)
        if model is not None and any(one.is_source for one in said):
            found = [*self._by_model(said, settings, model), *found]
        kept = without_repeats(found, said)
        pairs = [(one, batch.messages[one.message]) for one in kept]
        return [(one, queued) for one, queued in pairs if not self._is_saved(one, queued)]

    def _by_model(self, said: Sequence[Said], settings: Settings, model: Model) -> list[Proposal]:
        today = self.now().date()
        if not self.learning.spend(model.name, cap=settings.extract_daily_calls, day=today):
            return []
        text = transcript(said, self.memory.get_all())
        return read_answer(model.structured(SYSTEM_PROMPT, text, SCHEMA), said)

    def _is_saved(self, proposal: Proposal, queued: Queued) -> bool:
        """Tell whether a tool or a request has saved it in its own turn."""
        saved = (self.memory.get(memory_id) for memory_id in queued.saved)
        return any(one and repeats(proposal.candidate.content, one.content) for one in saved)

    # Deciding.

    def _decisions(
        self, batch: Batch, proposals: Sequence[tuple[Proposal, Queued]]
    ) -> list[dict[str, Any]]:
        known, waiting = self.memory.get_all(), self.pending.get_all()
        decisions = []
        for proposal, queued in proposals:
            decision = _decision(batch.key, proposal, queued, known, waiting)
            if decision:
                decisions.append(decision)
                # What comes later in the conversation may repeat or correct it.
                after = waiting if decision["action"] == "wait" else known
                after[:] = _with(after, decision, self.now())
        return decisions

    # Writing.

    def _applied(self, decision: dict[str, Any]) -> Learnt | None:
        source = _source(decision)
        if decision["action"] == "supersede":
            learnt = self._superseded(decision, source)
            if learnt is not None:
                return learnt
        store = self.pending if decision["action"] == "wait" else self.memory
        memory = store.add(
            decision["content"],
            decision["category"],
            origin=ORIGIN,
            source=source,
            memory_id=decision["id"],
        )
        action: Action = "waiting" if store is self.pending else "added"
        return Learnt(memory, action, decision["quote"]) if memory else None

    def _superseded(self, decision: dict[str, Any], source: Source) -> Learnt | None:
        """Let the new fact take the place of the old one; None when that has changed since."""
        before = self.memory.get(decision["target"])
        if before is None:
            return None
        if before.content == decision["content"]:
            return Learnt(before, "superseded", decision["quote"])
        try:
            after = self.memory.update(
                before.id,
                decision["content"],
                expected=decision["expected"],
                origin=ORIGIN,
                source=source,
            )
        except Conflict:
            return None
        return Learnt(after, "superseded", decision["quote"], before) if after else None


def _said(queued: Queued) -> Said:
    return Said(queued.message.text, queued.trust, queued.is_settled)


def _by_rule(said: Sequence[Said]) -> list[Proposal]:
    return [
        Proposal(candidate, number, one.trust)
        for number, one in enumerate(said)
        if one.trust == "user" and one.is_source
        for candidate in rules.facts_in(one.text)
    ]


def _decision(
    key: str,
    proposal: Proposal,
    queued: Queued,
    known: Sequence[Memory],
    waiting: Sequence[Memory],
) -> dict[str, Any] | None:
    """Decide what becomes of a proposal; None when it is known already."""
    candidate = proposal.candidate
    trusted = proposal.trust == "user"
    verdict = judged(candidate, known if trusted else [*known, *waiting])
    if verdict.kind == "same" or proposal.relation == "same":
        return None
    target = verdict.target if verdict.kind == "supersedes" else _named(proposal, known)
    said = queued.message.timestamp
    return {
        "id": random_id(),
        "action": ("supersede" if target else "add") if trusted else "wait",
        "target": target and target.id,
        "expected": target and target.content,
        "content": masked(candidate.content),
        "category": candidate.category,
        "quote": masked(candidate.quote),
        "conversation": key,
        "messageTime": said and to_iso(said),
        "trust": proposal.trust,
        "source": queued.source,
    }


def _with(known: Sequence[Memory], decision: dict[str, Any], now: datetime) -> list[Memory]:
    """Give what will be known when a decision is carried out."""
    kept = [memory for memory in known if memory.id != decision["target"]]
    memory_id = decision["target"] or decision["id"]
    return [*kept, Memory(memory_id, decision["content"], now, now, decision["category"])]


def _named(proposal: Proposal, known: Sequence[Memory]) -> Memory | None:
    """Find the fact that a model says is replaced."""
    if proposal.relation not in {"refines", "contradicts"}:
        return None
    return next((memory for memory in known if memory.id == proposal.target), None)


def _source(decision: dict[str, Any]) -> Source:
    said = decision["messageTime"]
    return Source(
        quote=decision["quote"],
        conversation=decision["conversation"],
        message_time=from_iso(said) if said else None,
        trust=decision["trust"],
        name=decision["source"],
    )
