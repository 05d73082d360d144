"""Carrying out what was decided: from the outbox of learning to the files of the memory.

A decision stays in the outbox until it is done, and doing it twice changes nothing, so that a
kill at any instant loses nothing and repeats nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from turnleaf.core.changes import Source
from turnleaf.core.learning.reconciling import find_same, says_same
from turnleaf.errors import Conflict, TurnleafError

if TYPE_CHECKING:
    from turnleaf.core.learning.decisions import Decision
    from turnleaf.core.learning.queue import Outgoing
    from turnleaf.core.memories import Memory
    from turnleaf.core.room import Room
    from turnleaf.store.contracts import Facts, LearningQueue, PendingFacts, Stores

ORIGIN = "learnt"

Effect = Literal["added", "superseded", "waiting", "ended"]


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fact that was learned, what it replaced, and the words that it rests on.

    One that ended is the fact as it was.
    """

    memory: Memory
    action: Effect
    quote: str
    before: Memory | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What was learned, and what could not be written."""

    learnt: tuple[Learnt, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionWriter:
    """Writes decisions to the memory, or to what waits for review."""

    stores: Stores

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

    def settle(self) -> Written:
        """Write what was decided and is not written yet.

        What did not fit before is tried again only where there is room for it now.
        """
        learnt: list[Learnt] = []
        problems: list[str] = []
        places = _Places(self.memory, self.pending)
        for outgoing in self.learning.outbox():
            decision = outgoing.decision
            if outgoing.problem is not None and not places.has_room_for(decision):
                continue
            places.forget()
            try:
                learnt += self._carry_out(outgoing)
            except TurnleafError as error:
                # One that cannot be written must not keep the others from it.
                self.learning.postpone(outgoing.id, str(error))
                if outgoing.problem != str(error):
                    problems.append(f"{decision.content!r} waits to be learned: {error}")
        if learnt:
            self.stores.passages.sync()
        return Written(tuple(learnt), tuple(problems))

    def _carry_out(self, outgoing: Outgoing) -> list[Learnt]:
        """Do what was decided, if it was not erased or done meanwhile; then it is settled."""
        decision = outgoing.decision
        if all(one.id != outgoing.id for one in self.learning.outbox()):
            return []
        done = None if self._is_done(decision) else self._do(decision)
        is_wanted = self.learning.settle(outgoing.id)
        if done and done.action == "added" and not is_wanted:
            # The user asked to forget it while it was being written.
            self.memory.delete(done.memory.id, origin=ORIGIN, source=_source(decision))
            return []
        return [done] if done else []

    def _is_done(self, decision: Decision) -> bool:
        """Whether a change of a known fact was made, although its end was not noted."""
        if decision.target is None:
            return False
        changes = self.memory.changes(decision.target)
        return any(one.source is not None and one.source.decision == decision.id for one in changes)

    def _do(self, decision: Decision) -> Learnt | None:
        if decision.action in {"add", "wait"}:
            return self._add(decision)
        if decision.action == "replace":
            return self._replace(decision)
        return self._change_target(decision)

    def _add(self, decision: Decision) -> Learnt | None:
        store = self.pending if decision.action == "wait" else self.memory
        same = find_same(decision.content, store.get_all())
        if (same and same.id != decision.id) or self._was_deleted_since(decision):
            return None
        older = find_same(decision.content, store.older())
        if older:
            return self._revive(older.id, decision)
        memory = store.add(
            decision.content,
            decision.category,
            origin=ORIGIN,
            source=_source(decision),
            memory_id=decision.id,
            slot=decision.slot,
            until=decision.until,
        )
        effect: Effect = "waiting" if store is self.pending else "added"
        return Learnt(memory, effect, decision.quote) if memory else None

    def _was_deleted_since(self, decision: Decision) -> bool:
        """Whether a person has deleted the same fact after the words were said that it rests on."""
        said = decision.message_time
        deleted = (one for one in self.memory.changes() if one.op == "delete")
        return said is not None and any(
            one.time > said
            and one.origin != ORIGIN
            and one.before is not None
            and says_same(one.before.content, decision.content)
            for one in deleted
        )

    def _revive(self, memory_id: str, decision: Decision) -> Learnt | None:
        """Bring back an older fact that was said again."""
        back = self.memory.revive(
            memory_id, until=decision.until, origin=ORIGIN, source=_source(decision)
        )
        return Learnt(back.memory, "added", decision.quote) if back else None

    def _replace(self, decision: Decision) -> Learnt | None:
        """Put the new fact in the place of the old one; add it if that is gone or has changed."""
        before = self.memory.get(decision.target or "")
        if before is None:
            return self._add(decision)
        try:
            after = self.memory.update(
                before.id,
                decision.content,
                expected=decision.expected,
                origin=ORIGIN,
                source=_source(decision),
                slot=decision.slot,
                until=decision.until,
            )
        except Conflict:
            return self._add(decision)
        return Learnt(after, "superseded", decision.quote, before) if after else None

    def _change_target(self, decision: Decision) -> Learnt | None:
        """Count, end or take back a known fact, unless somebody has changed it since."""
        source = _source(decision)
        fact = self._find_target(decision)
        if fact is None:
            return None
        if decision.action == "again":
            if self.memory.get(fact.id) is None:
                return self._revive(fact.id, decision)
            self.memory.count_repeat(fact.id, origin=ORIGIN, source=source)
            return None
        if decision.action == "end":
            self.memory.retire([fact.id], origin=ORIGIN, source=source)
        else:
            self.memory.delete(fact.id, origin=ORIGIN, source=source)
        return Learnt(fact, "ended", decision.quote)

    def _find_target(self, decision: Decision) -> Memory | None:
        known = [*self.memory.get_all(), *self.memory.older()]
        return next(
            (
                one
                for one in known
                if one.id == decision.target and one.content == decision.expected
            ),
            None,
        )


class _Places:
    """How much room there is in the memory and for what waits, counted once for many decisions."""

    def __init__(self, memory: Facts, pending: PendingFacts) -> None:
        self._memory = memory
        self._pending = pending
        self._known: dict[str, Room] = {}

    def forget(self) -> None:
        """Count anew: something is being written."""
        self._known.clear()

    def has_room_for(self, decision: Decision) -> bool:
        """Whether it is worth trying to carry out a decision."""
        if decision.action == "wait":
            return self._room("pending").has_place_for(decision.content)
        if decision.target:
            longer = len(decision.content) - len(decision.expected or "")
            return self._room("all").chars >= longer
        return self._room(ORIGIN).has_place_for(decision.content)

    def _room(self, of: str) -> Room:
        if of not in self._known:
            store = self._pending if of == "pending" else self._memory
            self._known[of] = store.room(of)
        return self._known[of]


def _source(decision: Decision) -> Source:
    return Source(
        quote=decision.quote,
        conversation=decision.conversation,
        message_time=decision.message_time,
        trust=decision.trust,
        name=decision.source,
        decision=decision.id if decision.target else None,
    )
