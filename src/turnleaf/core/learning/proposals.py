"""What becomes of a fact that a model proposes: a decision, or nothing if it is known already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from turnleaf.core.languages.detection import detect_language
from turnleaf.core.learning.decisions import Decision
from turnleaf.core.learning.reconciling import (
    find_same,
    holds_words,
    is_about_another,
    judge,
    read_claim,
)
from turnleaf.core.learning.rendering import heading_of
from turnleaf.core.learning.slots import slots
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.secrets import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from turnleaf.core.learning.extraction import Candidate, Proposal
    from turnleaf.core.learning.reconciling import Verdict
    from turnleaf.core.messages import Message


@dataclass(slots=True)
class ProposalDesk:
    """What is known and what waits for review, as they will be after the decisions so far."""

    key: str
    known: list[Memory]
    pending: list[Memory]
    at: datetime
    new_id: Callable[[], str]
    made: list[Decision] = field(default_factory=list)

    def foresee(self, decision: Decision) -> None:
        """Count on what a decision will do."""
        facts = self.pending if decision.action == "wait" else self.known
        if decision.action in {"end", "withdraw", "replace"}:
            facts[:] = [memory for memory in facts if memory.id != decision.target]
        if decision.action in {"add", "wait", "replace"}:
            memory_id = decision.target or decision.id
            content, category = decision.content, decision.category
            facts.append(Memory(memory_id, content, self.at, self.at, category))

    def take(
        self,
        proposal: Proposal,
        message: Message,
        source: str | None,
        told_here: Collection[str] = (),
    ) -> None:
        """Decide what becomes of a proposal; `told_here` are ids of facts of the same message."""
        content = mask_fact(proposal.candidate.content, message.text)
        if not content:
            return
        if same := self._find_known(content, proposal, told_here):
            self._end_contradicted(content, same, proposal, message, source)
            return
        if proposal.trust != "user":
            self._decide("wait", content, proposal, message, source)
            return
        claim = read_claim(content)
        verdict = judge(claim, self.known) if claim else None
        if ended := self._find_ended(content, proposal, verdict):
            for memory in ended:
                self._decide("end", "", proposal, message, source, memory)
            if verdict and verdict.effect == "ends":
                return
        target = self._find_replaced(content, proposal, verdict, told_here)
        self._decide("replace" if target else "add", content, proposal, message, source, target)
        for memory in self._find_covered(content, told_here):
            self._decide("withdraw", "", proposal, message, source, memory)

    def _find_known(
        self, content: str, proposal: Proposal, told_here: Collection[str]
    ) -> Memory | None:
        """Return a fact that says it already: by slot, by its words, or by the model's word."""
        trusted = proposal.trust == "user"
        same = find_same(content, self.known if trusted else [*self.known, *self.pending])
        if same:
            return same
        claim = read_claim(content)
        verdict = judge(claim, self.known) if claim else None
        if verdict and verdict.effect == "same":
            return verdict.targets[0]
        if proposal.relation == "same" and (named := self._find_named(content, proposal)):
            return named
        here = self._facts(told_here)
        # Rules make several facts of what a model says in one sentence.
        is_told = holds_words(" ".join(one.content for one in here), content)
        return here[0] if here and is_told else None

    def _end_contradicted(
        self,
        content: str,
        same: Memory,
        proposal: Proposal,
        message: Message,
        source: str | None,
    ) -> None:
        """End what a model says is contradicted by a fact that rules have found before it."""
        named = self._find_named(content, proposal)
        is_replaced = proposal.relation in {"contradicts", "refines"}
        if named and is_replaced and named.id != same.id and proposal.trust == "user":
            self._decide("end", "", proposal, message, source, named)

    def _find_replaced(
        self,
        content: str,
        proposal: Proposal,
        verdict: Verdict | None,
        told_here: Collection[str],
    ) -> Memory | None:
        """Return the fact whose place is taken: by slot, by the model's word, or by saying more."""
        if verdict and verdict.effect == "replaces":
            return verdict.targets[0]
        named = self._find_named(content, proposal)
        shorter = (one for one in self._facts(told_here) if holds_words(content, one.content))
        target = named or next(shorter, None)
        taken = {decision.target for decision in self.made}
        return None if target is None or target.id in taken else target

    def _find_ended(
        self, content: str, proposal: Proposal, verdict: Verdict | None
    ) -> Sequence[Memory]:
        """Return the facts that no longer hold; a negation may end what the model names.

        One that ends nothing is worth knowing by itself: "I'm not allergic to penicillin".
        """
        if verdict is None or verdict.effect != "ends":
            return verdict.ended if verdict else ()
        named = self._find_named(content, proposal)
        return verdict.targets or ([named] if named else [])

    def _find_covered(self, content: str, told_here: Collection[str]) -> list[Memory]:
        """Return the facts that rules made of the same message and that a new one says too."""
        others = (one for one in self._facts(told_here) if one.content != content)
        return [one for one in others if holds_words(content, one.content)]

    def _find_named(self, content: str, proposal: Proposal) -> Memory | None:
        """Return the fact that a model says is repeated or replaced, unless it is about another.

        Words need not agree: "I eat steak" is contradicted by 「我吃素」.
        """
        if proposal.relation == "new":
            return None
        named = next((memory for memory in self.known if memory.id == proposal.target), None)
        return None if named is None or is_about_another(content, named) else named

    def _facts(self, ids: Collection[str]) -> Sequence[Memory]:
        return [memory for memory in self.known if memory.id in ids]

    def _decide(
        self,
        action: str,
        content: str,
        proposal: Proposal,
        message: Message,
        source: str | None,
        target: Memory | None = None,
    ) -> None:
        slot = proposal.candidate.slot if proposal.candidate.slot in slots() else None
        used = {memory.category for memory in self.known if memory.category}
        decision = Decision(
            id=self.new_id(),
            action=action,  # type: ignore[arg-type] # one of the words above
            conversation=self.key,
            content=content,
            quote=mask_secrets(proposal.candidate.quote, message.text),
            category=_choose_category(proposal.candidate, message, used),
            slot=slot,
            until=proposal.candidate.until,
            target=target.id if target else None,
            expected=target.content if target else None,
            message_time=message.timestamp,
            trust=proposal.trust,
            source=source,
        )
        self.made.append(decision)
        # What comes later in the conversation may repeat or correct it.
        self.foresee(decision)


def _choose_category(candidate: Candidate, message: Message, used: Collection[str]) -> str | None:
    if candidate.slot in slots():
        return heading_of(candidate.slot or "", detect_language(candidate.content).name, used)
    return candidate.category and mask_secrets(candidate.category, message.text)
