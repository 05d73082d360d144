"""Learning: from messages that wait in the queue to facts in the memory's files.

First what was found is kept in the queue's own file, in the step in which the messages leave
it; then it is written to the memory, as often as it takes. So no message is learnt from twice,
and a kill at any instant loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from turnleaf.core import rules
from turnleaf.core.candidates import Candidate
from turnleaf.core.changes import Source
from turnleaf.core.extracting import (
    SCHEMA,
    SYSTEM_PROMPT,
    Proposal,
    Said,
    portions,
    read_answer,
    transcript,
    without_repeats,
)
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.reconciling import concerns, judged, repeats
from turnleaf.core.requests import meant, request_in
from turnleaf.core.secrets import masked
from turnleaf.core.times import from_iso, to_iso
from turnleaf.errors import Conflict, ModelError, TurnleafError
from turnleaf.store.memories import random_id
from turnleaf.store.pending import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.core.changes import Change
    from turnleaf.core.dialogue import Model
    from turnleaf.settings import Settings
    from turnleaf.store.index import Index
    from turnleaf.store.learning import Batch, LearningStore, Outgoing, Queued
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.pending import PendingStore

LONG_AGO = datetime.min.replace(tzinfo=UTC)
ORIGIN = "learnt"

Action = Literal["added", "superseded", "waiting"]
Decision = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fact that was learnt, what it replaced, and the words that it rests on."""

    memory: Memory
    action: Action
    quote: str
    before: Memory | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was learnt, what could not be written, and whether another program holds the rest."""

    learnt: tuple[Learnt, ...] = ()
    problems: tuple[str, ...] = ()
    is_held: bool = False

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.learnt + other.learnt, other.problems, other.is_held)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The way from the queue to the memory, over one data folder's stores."""

    memory: MemoryStore
    pending: PendingStore
    learning: LearningStore
    index: Index
    now: Callable[[], datetime]

    def run(self, key: str, settings: Settings, model: Model | None) -> Outcome:
        """Learn from all that waits of a conversation.

        A model that fails leaves everything queued: raise its ModelError.
        """
        outcome = self.settle()
        has_more = True
        while has_more:
            batch = self.learning.claim(key)
            if batch is None:
                is_held = self.learning.waiting(key) > 0
                return outcome + Outcome((), outcome.problems, is_held=is_held)
            outcome += self._learn_from(batch, settings, model)
            has_more = batch.has_more
        return outcome

    def _learn_from(self, batch: Batch, settings: Settings, model: Model | None) -> Outcome:
        try:
            decisions = self._decisions(batch, self._proposals(batch, settings, model))
        except BaseException as error:
            self.learning.release(batch, str(error) or type(error).__name__)
            raise
        self.learning.complete(batch, decisions)
        return self.settle()

    def settle(self) -> Outcome:
        """Write to the memory what was found and is not written yet."""
        learnt: list[Learnt] = []
        problems: list[str] = []
        for outgoing in self.learning.outbox():
            try:
                learnt += self._carried_out(outgoing)
            except TurnleafError as error:
                # One that cannot be written must not keep the others from it.
                self.learning.postpone(outgoing.id, str(error))
                if outgoing.problem != str(error):
                    problems.append(f"{outgoing.decision['content']!r} waits to be learnt: {error}")
        if learnt:
            self.index.sync()
        return Outcome(tuple(learnt), tuple(problems))

    # Finding.

    def _proposals(
        self, batch: Batch, settings: Settings, model: Model | None
    ) -> list[tuple[Proposal, Queued]]:
        said = [_said(queued) for queued in batch.messages]
        found = _by_rule(said)
        if model is not None and any(one.is_source for one in said):
            found = [*self._by_model(batch.key, said, settings, model), *found]
        kept = [one for one in without_repeats(found, said) if not _is_taken_back(one, said)]
        pairs = [(one, batch.messages[one.message]) for one in kept]
        return [(one, queued) for one, queued in pairs if not self._is_saved(one, queued)]

    def _by_model(
        self, key: str, said: Sequence[Said], settings: Settings, model: Model
    ) -> list[Proposal]:
        known = self.memory.get_all()
        found: list[Proposal] = []
        for first, part in portions(said):
            if not any(one.is_source for one in part):
                continue
            if not self._may_ask(key, settings, model):
                return []
            answer = model.structured(SYSTEM_PROMPT, transcript(part, known), SCHEMA)
            found += [_shifted(one, first) for one in read_answer(answer, part, known)]
        return found

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
        """Tell whether a tool or a request has saved it in its own turn, even if it is gone now."""
        saved = (text for memory_id in queued.saved for text in self._texts(memory_id))
        return any(repeats(proposal.candidate.content, text) for text in saved)

    def _texts(self, memory_id: str) -> list[str]:
        changes = self.memory.changes(memory_id)
        return [change.after.content for change in changes if change.after]

    # Deciding.

    def _decisions(
        self, batch: Batch, proposals: Sequence[tuple[Proposal, Queued]]
    ) -> list[Decision]:
        now = self.now()
        known, waiting = self.memory.get_all(), [*self.pending.get_all(), *self._rejected()]
        for outgoing in self.learning.outbox():
            _foresee(outgoing.decision, known, waiting, now)
        decisions = []
        for proposal, queued in proposals:
            told = batch.messages[proposal.message if proposal.source is None else proposal.source]
            decision = _decision(batch.key, proposal, queued, told.source, known, waiting)
            if decision:
                decisions.append(decision)
                # What comes later in the conversation may repeat or correct it.
                _foresee(decision, known, waiting, now)
        return decisions

    def _rejected(self) -> list[Memory]:
        """Give what a person has rejected: it must not come back with the next reading."""
        gone = [change for change in self.pending.changes() if change.op == "delete"]
        return [change.before for change in gone if change.before and change.origin != ACCEPTED]

    # Writing.

    def _carried_out(self, outgoing: Outgoing) -> list[Learnt]:
        """Do what was decided, if it was not erased or done meanwhile; then it is settled."""
        if all(one.id != outgoing.id for one in self.learning.outbox()):
            return []
        decision = outgoing.decision
        done = self._superseded(decision) if decision["target"] else self._added(decision)
        self.learning.settle(outgoing.id)
        return [done] if done else []

    def _added(self, decision: Decision) -> Learnt | None:
        store = self.pending if decision["action"] == "wait" else self.memory
        candidate = Candidate(decision["content"], decision["quote"])
        same = judged(candidate, store.get_all())
        if same.kind == "same" and same.target and same.target.id != decision["id"]:
            return None
        memory = store.add(
            decision["content"],
            decision["category"],
            origin=ORIGIN,
            source=_source(decision),
            memory_id=str(decision["id"]),
        )
        action: Action = "waiting" if store is self.pending else "added"
        return Learnt(memory, action, decision["quote"]) if memory else None

    def _superseded(self, decision: Decision) -> Learnt | None:
        """Let the new fact take the place of the old one, once; add it if that has changed."""
        if any(_is_of(change, decision) for change in self.memory.changes(decision["target"])):
            return None
        before = self.memory.get(decision["target"])
        if before is None:
            return self._added(decision)
        try:
            after = self.memory.update(
                before.id,
                decision["content"],
                expected=decision["expected"],
                origin=ORIGIN,
                source=_source(decision),
            )
        except Conflict:
            return self._added(decision)
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


def _shifted(proposal: Proposal, first: int) -> Proposal:
    """Count messages from the beginning of the conversation, not of a part of it."""
    source = None if proposal.source is None else proposal.source + first
    return replace(proposal, message=proposal.message + first, source=source)


def _is_taken_back(proposal: Proposal, said: Sequence[Said]) -> bool:
    """Tell whether the user asked later in the conversation to forget it."""
    fact = Memory("", proposal.candidate.content, LONG_AGO, LONG_AGO)
    later = (one for one in said[proposal.message + 1 :] if one.trust == "user" and one.is_settled)
    wishes = filter(None, (request_in(one.text) for one in later))
    return any(wish.action == "forget" and meant(wish.content, [fact]) for wish in wishes)


def _decision(
    key: str,
    proposal: Proposal,
    queued: Queued,
    source: str | None,
    known: Sequence[Memory],
    waiting: Sequence[Memory],
) -> Decision | None:
    """Decide what becomes of a proposal; None when it is known already or only a secret."""
    candidate = proposal.candidate
    trusted = proposal.trust == "user"
    verdict = judged(candidate, known if trusted else [*known, *waiting])
    if verdict.kind == "same" or proposal.relation == "same":
        return None
    target = verdict.target if verdict.kind == "supersedes" else _named(proposal, known)
    said = queued.message
    content = mask_fact(candidate.content, said.text)
    if not content:
        return None
    return {
        "id": random_id(),
        "action": "add" if trusted else "wait",
        "target": target.id if target and trusted else None,
        "expected": target.content if target and trusted else None,
        "content": content,
        "category": candidate.category and masked(candidate.category, said.text),
        "quote": masked(candidate.quote, said.text),
        "conversation": key,
        "messageTime": said.timestamp and to_iso(said.timestamp),
        "trust": proposal.trust,
        "source": source,
    }


def _foresee(decision: Decision, known: list[Memory], waiting: list[Memory], now: datetime) -> None:
    """Add what will be known when a decision is carried out."""
    after = waiting if decision["action"] == "wait" else known
    after[:] = [memory for memory in after if memory.id != decision["target"]]
    memory_id = decision["target"] or decision["id"]
    after.append(Memory(memory_id, decision["content"], now, now, decision["category"]))


def _named(proposal: Proposal, known: Sequence[Memory]) -> Memory | None:
    """Find the fact that a model says is replaced, if it is about the same."""
    if proposal.relation not in {"refines", "contradicts"}:
        return None
    target = next((memory for memory in known if memory.id == proposal.target), None)
    return target if target and concerns(proposal.candidate, target) else None


def _is_of(change: Change, decision: Decision) -> bool:
    return change.source is not None and change.source.decision == decision["id"]


def _source(decision: Decision) -> Source:
    said = decision["messageTime"]
    return Source(
        quote=decision["quote"],
        conversation=decision["conversation"],
        message_time=from_iso(said) if said else None,
        trust=decision["trust"],
        name=decision["source"],
        decision=decision["id"] if decision["target"] else None,
    )
