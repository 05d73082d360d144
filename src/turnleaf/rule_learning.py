"""Reading messages by rule right after their turn: what is certain is decided at once, for nothing.

A message is read once, and stays in the queue for a model. What is less sure is only noted, and
becomes a fact when it is said again on another day.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from turnleaf.core.learning.findings import Finding, find_facts, make_finding
from turnleaf.core.learning.queue import Decision, Sighting
from turnleaf.core.learning.reconciling import correct, find_names, judge, says_same
from turnleaf.core.learning.requests import find_meant, find_request
from turnleaf.core.learning.slots import Correction, category_of, value_key
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.secrets import mask_secrets
from turnleaf.store.ambient import random_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from turnleaf.core.learning.findings import Found
    from turnleaf.core.learning.queue import Action, Batch, Queued
    from turnleaf.core.learning.reconciling import Verdict
    from turnleaf.store.contracts import Facts, LearningQueue

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads what rules have not read, and keeps what is to be done in the queue's file."""

    memory: Facts
    learning: LearningQueue
    now: Callable[[], datetime]

    def read(self, key: str) -> None:
        """Read what was said in a conversation since the last time."""
        while batch := self.learning.claim(key, read=False):
            try:
                read = self._read_batch(batch)
            except BaseException as error:
                self.learning.release(batch, str(error) or type(error).__name__)
                raise
            self.learning.complete_reading(batch, read.made, read.sightings)
            if not batch.has_more:
                return

    def _read_batch(self, batch: Batch) -> _RuleDecisions:
        made = _RuleDecisions(
            batch.key,
            [*self.memory.get_all(), *self.memory.older()],
            {one.statement for one in self.learning.sightings() if one.day < self.now().date()},
        )
        zone = self.now().tzinfo
        for number, queued in enumerate(batch.messages):
            if queued.trust != "user" or queued.is_settled or queued.is_read_by_rules:
                continue
            text = queued.message.text
            said = _SaidMessage(queued, (queued.message.timestamp or self.now()).astimezone(zone))
            wishes = find_wishes(batch.messages[number + 1 :])
            for found in find_facts(text, said.at, find_names(made.known)):
                if not isinstance(found, Finding):
                    made.mend(found, self._find_recent(batch.key), said)
                elif not (is_meant(found.content, wishes) or self._is_saved(found, queued)):
                    made.take(found, said)
        return made

    def _is_saved(self, found: Finding, queued: Queued) -> bool:
        """Whether a tool saved it in its own turn and it was taken back since."""
        changes = (one for saved in queued.saved for one in self.memory.changes(saved))
        texts = [one.after.content for one in changes if one.after]
        is_there = any(self.memory.get(saved) for saved in queued.saved)
        return not is_there and any(says_same(found.content, text) for text in texts)

    def _find_recent(self, key: str) -> list[str]:
        """Return the ids of the facts that a conversation gave, the newest last."""
        changes = self.memory.changes()
        return [one.id for one in changes if one.source and one.source.conversation == key]


@dataclass(frozen=True, slots=True)
class _SaidMessage:
    """A message that is read, and when it was said, in the user's time zone."""

    queued: Queued
    at: datetime


@dataclass(slots=True)
class _RuleDecisions:
    """What is known while a batch is read, and what is decided on the way."""

    key: str
    known: list[Memory]
    seen_before: Collection[str]
    made: list[Decision] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)

    def take(self, found: Finding, said: _SaidMessage) -> None:
        """Decide what becomes of a finding."""
        verdict = judge(found.statement, self.known)
        if verdict.effect == "ends":
            for target in verdict.targets:
                self._drop(target, "end", found.quote, said)
        elif verdict.effect == "same":
            self._count(verdict.targets[0], found, said)
        elif self._is_sure(found, said.at):
            self._write(found, verdict, said)

    def mend(self, found: Found, recent: Sequence[str], said: _SaidMessage) -> None:
        """Correct or take back what was said before."""
        given = [*recent, *(one.id for one in self.made if one.action in {"add", "replace"})]
        quote = said.queued.message.text
        if isinstance(found, Correction):
            meant_fact = correct(found, self.known, given)
            if meant_fact:
                memory, statement = meant_fact
                corrected = make_finding(statement, quote, said.at)
                self._replace(memory, corrected, said)
        elif given:
            target = next((one for one in self.known if one.id == given[-1]), None)
            if target:
                self._drop(target, "withdraw", quote, said)

    def _is_sure(self, found: Finding, said_at: datetime) -> bool:
        """Whether a finding is kept now: sure, or said on an earlier day as well."""
        stated = found.statement
        if not stated.is_weak:
            return True
        value = value_key(stated.value)
        statement = f"{stated.slot}|{stated.subject}|{stated.kind}|{value}"
        if statement in self.seen_before:
            return True
        self.sightings.append(Sighting(statement, said_at.date()))
        return False

    def _write(self, found: Finding, verdict: Verdict, said: _SaidMessage) -> None:
        content = mask_fact(found.content, said.queued.message.text)
        if not content or any(one.content == content for one in self.known):
            return
        found = replace(found, content=content)
        for ended in (*verdict.ended, *verdict.targets[1:]):
            self._drop(ended, "end", found.quote, said)
        for memory, statement in verdict.restated:
            if memory in self.known:
                restated = make_finding(statement, found.quote, said.at)
                self._replace(memory, restated, said)
        if verdict.targets:
            self._replace(verdict.targets[0], found, said)
        else:
            self._decide(found, said)

    def _replace(self, target: Memory, found: Finding, said: _SaidMessage) -> None:
        """Put a fact in the place of another; of one that is only decided, nothing is left."""
        self.known.remove(target)
        planned = next((one for one in self.made if one.id == target.id), None)
        if planned:
            self.made.remove(planned)
            self._decide(found, said, planned.target, planned.expected or "")
        else:
            self._decide(found, said, target.id, target.content)

    def _decide(
        self, found: Finding, said: _SaidMessage, target: str | None = None, expected: str = ""
    ) -> None:
        used = {one.category for one in self.known if one.category}
        decision = Decision(
            id=random_id(),
            action="replace" if target else "add",
            conversation=self.key,
            content=found.content,
            quote=mask_secrets(found.quote, said.queued.message.text),
            category=category_of(found.statement, used),
            slot=found.statement.slot,
            until=found.until,
            target=target,
            expected=expected if target else None,
            message_time=said.queued.message.timestamp,
            source=said.queued.source,
        )
        self.made.append(decision)
        self.known.append(Memory(decision.id, found.content, said.at, said.at, decision.category))

    def _count(self, target: Memory, found: Finding, said: _SaidMessage) -> None:
        """Count a fact that is said again, once a day; a tool may have saved it in this turn."""
        is_planned = any(one.id == target.id for one in self.made)
        is_counted = target.updated_at.astimezone(said.at.tzinfo).date() >= said.at.date()
        if not is_planned and not is_counted and target.id not in said.queued.saved:
            self._drop(target, "again", found.quote, said)
            self.known.append(replace(target, updated_at=said.at))

    def _drop(self, target: Memory, action: Action, quote: str, said: _SaidMessage) -> None:
        """Decide something about a known fact, which is then no longer known as it was."""
        if target not in self.known:
            return
        self.known.remove(target)
        planned = [one for one in self.made if one.id == target.id]
        if planned:
            self.made.remove(planned[0])
            return
        self.made.append(
            Decision(
                id=random_id(),
                action=action,
                conversation=self.key,
                quote=mask_secrets(quote, said.queued.message.text),
                target=target.id,
                expected=target.content,
                message_time=said.queued.message.timestamp or said.at,
                source=said.queued.source,
            )
        )


def find_wishes(later: Iterable[Queued]) -> list[str]:
    """Return what the user asked to forget in later messages that were acted on."""
    texts = (one.message.text for one in later if one.trust == "user" and one.is_settled)
    wishes = filter(None, map(find_request, texts))
    return [wish.content for wish in wishes if wish.action == "forget"]


def is_meant(content: str, wishes: Iterable[str]) -> bool:
    """Whether one of the wishes to forget means a fact."""
    fact = Memory("", content, _LONG_AGO, _LONG_AGO)
    return any(find_meant(wish, [fact]) for wish in wishes)
