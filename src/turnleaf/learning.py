"""Learning: from messages that wait in the queue to facts in the memory.

Rules read a message once, right after its turn, and it stays in the queue for a model. What is less
sure is only noted, and becomes a fact when it is said again on another day.

First what was found is kept in the queue's own outbox, in the step in which the messages leave
it. A decision stays there until it is carried out, and to carry it out twice changes nothing. So
no message is learned from twice, and a kill at any instant loses nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core.changes import Source
from turnleaf.core.learning.extraction import (
    CONTEXT_MESSAGES,
    Proposal,
    TranscriptMessage,
    Window,
    make_answer_schema,
    make_requests,
)
from turnleaf.core.learning.findings import Finding, find_facts, make_finding
from turnleaf.core.learning.memory_requests import find_meant, find_request
from turnleaf.core.learning.proposals import AnswerReading, ProposalDesk, read_answer
from turnleaf.core.learning.queue import Decision, Sighting, Unread
from turnleaf.core.learning.reconciling import (
    correct,
    find_names,
    find_same,
    judge,
    repeats,
    says_same,
)
from turnleaf.core.learning.slots import Correction, choose_category, make_value_key
from turnleaf.core.memories import Memory
from turnleaf.core.memory_limits import LEARNED
from turnleaf.core.search.message_filters import ACCEPTED
from turnleaf.core.secrets import mask_fact, mask_secrets
from turnleaf.errors import Conflict, ModelError, TurnleafError, UnreadableAnswer
from turnleaf.store.clock_and_ids import make_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from turnleaf.core.changes import Change
    from turnleaf.core.learning.extraction import ExtractionRequest
    from turnleaf.core.learning.findings import Found
    from turnleaf.core.learning.queue import Action, Batch, Outgoing, Queued
    from turnleaf.core.learning.reconciling import Verdict
    from turnleaf.core.memory_limits import Room
    from turnleaf.core.model_dialogue import Model
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Facts, LearningQueue, Stores


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
            # Also when interrupted: only a kill may leave the attempt counted against the messages.
            except BaseException as error:
                self.learning.release(batch, str(error) or type(error).__name__)
                raise
            self.learning.complete_reading(batch, read.made, read.sightings)
            if not batch.has_more:
                return

    def _read_batch(self, batch: Batch) -> _RuleDecisions:
        # Older facts too, or one that is said again would be added a second time.
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
            # What the user asked to forget later in the same batch must not be learned first.
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
        value = make_value_key(stated.value)
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
        # One of several facts is replaced in its place; the others it stands for are over.
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
        # What is decided and not stored yet is simply decided otherwise.
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
            id=make_id(),
            action="replace" if target else "add",
            conversation=self.key,
            content=found.content,
            quote=mask_secrets(found.quote, said.queued.message.text),
            category=choose_category(found.statement, used),
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
        # Repeating oneself within a day makes a fact no stronger.
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
            # A fact that was never written need not be taken back.
            self.made.remove(planned[0])
            return
        self.made.append(
            Decision(
                id=make_id(),
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


Effect: TypeAlias = Literal["added", "superseded", "waiting", "ended"]

CONTEXT_TRUSTS = ("user", "assistant")
"""Whose earlier messages a model reads to understand the others."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class LearnedFact:
    """A fact that was learned, what it replaced, the words that it rests on, and the change.

    One that ended is the fact as it was.
    """

    memory: Memory
    action: Effect
    quote: str
    before: Memory | None = None
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was learned, what could not be written, and whether another program holds the rest.

    `failure` is what kept the model from reading what it was given; that waits for it.
    """

    learned: tuple[LearnedFact, ...] = ()
    problems: tuple[str, ...] = ()
    is_held: bool = False
    failure: ModelError | None = None

    def __add__(self, other: Outcome) -> Outcome:
        failure = self.failure or other.failure
        return Outcome(self.learned + other.learned, other.problems, other.is_held, failure)


@dataclass(frozen=True, slots=True)
class _ModelFindings:
    """What a model has found, the first message that it has not read, and why."""

    proposals: tuple[Proposal, ...] = ()
    unread: Unread | None = None
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The way from the queue to the memory, over one data folder's stores."""

    stores: Stores
    now: Callable[[], datetime]

    def read(self, key: str) -> Outcome:
        """Read by rule what was just said in a conversation, and write what is certain."""
        MessageReader(self.stores.facts, self.stores.learning, self.now).read(key)
        return self.settle()

    def run(self, key: str, settings: Settings, model: Model | None) -> Outcome:
        """Learn from all that waits of a conversation.

        When the model fails, what rules find is learned all the same, and the rest waits for it.
        """
        outcome = self.read(key)
        has_more = True
        # A model that fails for one batch would fail for the next, and somebody may be waiting.
        while has_more and outcome.failure is None:
            # What came in since then is left to the next time: rules read it first.
            batch = self.stores.learning.claim(key, read=True)
            if batch is None:
                is_held = self.stores.learning.count_queued(key) > 0
                return outcome + Outcome((), outcome.problems, is_held=is_held)
            outcome += self._learn_from(batch, settings, model)
            has_more = batch.has_more
        return outcome

    def settle(self) -> Outcome:
        """Write to the memory what was decided and is not written yet."""
        return DecisionWriter(self.stores).settle()

    def _learn_from(self, batch: Batch, settings: Settings, model: Model | None) -> Outcome:
        try:
            said = [_make_said(queued) for queued in batch.messages]
            asked = self._ask(batch, said, settings, model) if model else _ModelFindings()
            made = self._decide(batch, self._choose_wanted(batch, asked.proposals))
        # Also when interrupted: only a kill may leave the attempt counted against the messages.
        except BaseException as error:
            self.stores.learning.release(batch, str(error) or type(error).__name__)
            raise
        self.stores.learning.complete(batch, made, asked.unread)
        return replace(self.settle(), failure=asked.failure)

    # Finding.

    def _choose_wanted(
        self, batch: Batch, found: Sequence[Proposal]
    ) -> list[tuple[Proposal, Queued]]:
        """Return what is not taken back or saved already, with the messages."""
        pairs = [(one, batch.messages[one.message]) for one in found]
        return [
            (one, queued)
            for one, queued in pairs
            if not is_meant(one.candidate.content, find_wishes(batch.messages[one.message + 1 :]))
            and not self._is_saved(one, queued)
        ]

    def _ask(
        self, batch: Batch, said: Sequence[TranscriptMessage], settings: Settings, model: Model
    ) -> _ModelFindings:
        """Ask a model for the facts in the messages, part by part, up to where it fails."""
        known, found = self.stores.facts.get_all(), tuple[Proposal, ...]()
        window = Window(getattr(model, "context_window", None))
        zone, earlier = self.now().tzinfo, self._find_earlier(batch)
        for request in make_requests(said, known, window, earlier=earlier, zone=zone):
            try:
                # Not an error: past the cap rules have learned already, and the messages are done.
                if not self._may_ask(batch.key, settings, model):
                    break
                answer = model.generate_json(request.system, request.text, make_answer_schema())
                reading = read_answer(answer, request.portion.said, known)
            except ModelError as error:
                return _ModelFindings(found, _make_unread(request, error), error)
            self._note_reading(reading, model)
            found += tuple(map(request.portion.renumber, reading.proposals))
        return _ModelFindings(found)

    def _find_earlier(self, batch: Batch) -> list[TranscriptMessage]:
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

    def _note_reading(self, reading: AnswerReading, model: Model) -> None:
        if reading.skipped:
            self.stores.learning.count_skipped(reading.skipped, self.now().date())
            log.info("%d facts of %s could not be used", reading.skipped, model.name)
        if reading.is_cut_off:
            log.info("an answer of %s broke off; what was whole of it is used", model.name)

    def _may_ask(self, key: str, settings: Settings, model: Model) -> bool:
        """Count a call; past the day's cap rules learn alone, unless a model has failed before."""
        cap = settings.extract_daily_calls
        if self.stores.learning.spend(model.name, cap=cap, day=self.now().date()):
            return True
        failed = self.stores.learning.last_error()
        # What a model failed on was never read by one, so it stays queued for tomorrow.
        if failed is not None and failed.key == key:
            message = f"today's {cap} model calls are used up; learning is retried tomorrow"
            raise ModelError(message)
        return False

    def _is_saved(self, proposal: Proposal, queued: Queued) -> bool:
        """Whether a tool or a request has saved it in its own turn, even if it is gone now."""
        content = proposal.candidate.content
        saved = (text for memory_id in queued.saved for text in self._list_texts(memory_id))
        return any(repeats(content, text) for text in saved)

    def _list_texts(self, memory_id: str) -> list[str]:
        changes = self.stores.facts.changes(memory_id)
        return [change.after.content for change in changes if change.after]

    # Deciding.

    def _decide(self, batch: Batch, proposals: Sequence[tuple[Proposal, Queued]]) -> list[Decision]:
        if not proposals:
            return []
        # What a person rejected counts as known, or each reading would put it up again.
        pending = [*self.stores.pending.get_all(), *self._find_rejected()]
        desk = ProposalDesk(batch.key, self.stores.facts.get_all(), pending, self.now(), make_id)
        # What is decided and not written yet counts as known, or it would be decided twice.
        for outgoing in self.stores.learning.outbox():
            desk.foresee(outgoing.decision)
        record = self.stores.facts.changes()
        for proposal, queued in proposals:
            told = batch.messages[proposal.message if proposal.source is None else proposal.source]
            here = _find_facts_of(batch.key, queued, record)
            desk.take(proposal, queued.message, told.source, here)
        return desk.made

    def _find_rejected(self) -> list[Memory]:
        """Return what a person has rejected: it must not come back with the next reading."""
        gone = [change for change in self.stores.pending.changes() if change.op == "delete"]
        return [change.before for change in gone if change.before and change.origin != ACCEPTED]


def _find_facts_of(key: str, queued: Queued, record: Sequence[Change]) -> set[str]:
    """Return the ids of the facts that a message gave already."""
    said = queued.message.timestamp
    sources = ((one.id, one.source) for one in record if one.source)
    return {
        memory_id
        for memory_id, source in sources
        if source.conversation == key and source.message_time == said
    }


def _make_said(queued: Queued) -> TranscriptMessage:
    message = queued.message
    return TranscriptMessage(message.text, queued.trust, queued.is_settled, message.timestamp)


def _make_unread(request: ExtractionRequest, error: ModelError) -> Unread:
    portion = request.portion
    is_unreadable = isinstance(error, UnreadableAnswer)
    count = len(portion.said) - portion.context if is_unreadable else 0
    return Unread(portion.first, str(error), count)


# Writing what was decided.


@dataclass(frozen=True, slots=True)
class DecisionWriter:
    """Carries decisions out: in the memory, or among the facts pending review."""

    stores: Stores

    def settle(self) -> Outcome:
        """Write what was decided and is not written yet.

        What did not fit before is tried again only where there is room for it now.
        """
        learned: list[LearnedFact] = []
        problems: list[str] = []
        left = _RoomLeft(self.stores)
        for outgoing in self.stores.learning.outbox():
            decision = outgoing.decision
            # To try everything that waits at every turn would take longer with each fact.
            if outgoing.problem is not None and not left.has_room_for(decision):
                continue
            left.count_anew()
            try:
                learned += self._carry_out(outgoing)
            except TurnleafError as error:
                # One that cannot be written must not keep the others from it.
                self.stores.learning.postpone(outgoing.id, str(error))
                if outgoing.problem != str(error):
                    problems.append(f"not learned yet: {decision.content!r}: {error}")
        if learned:
            self.stores.passages.sync()
        return Outcome(tuple(learned), tuple(problems))

    def _carry_out(self, outgoing: Outgoing) -> list[LearnedFact]:
        """Do what was decided, if it was not erased or done meanwhile; then it is settled."""
        decision = outgoing.decision
        if all(one.id != outgoing.id for one in self.stores.learning.outbox()):
            return []
        # A kill between writing and settling leaves a decision that was carried out.
        done = None if self._is_done(decision) else self._do(decision)
        if done:
            done = replace(done, change=self._find_change(done, decision))
        is_wanted = self.stores.learning.settle(outgoing.id)
        if done and done.action == "added" and not is_wanted:
            # The user asked to forget it while it was being written.
            self.stores.facts.delete(done.memory.id, origin=LEARNED, source=_make_source(decision))
            return []
        return [done] if done else []

    def _is_done(self, decision: Decision) -> bool:
        """Whether a change of a known fact was made, although its end was not noted."""
        if decision.target is None:
            return False
        changes = self.stores.facts.changes(decision.target)
        return any(one.source is not None and one.source.decision == decision.id for one in changes)

    def _find_change(self, done: LearnedFact, decision: Decision) -> Change | None:
        """Find the change that was just made, by the conversation that it came from."""
        store: Facts = self.stores.pending if done.action == "waiting" else self.stores.facts
        for one in reversed(store.changes(done.memory.id)):
            if one.source and one.source.conversation == decision.conversation:
                return one
        return None

    def _do(self, decision: Decision) -> LearnedFact | None:
        if decision.action in {"add", "wait"}:
            return self._add(decision)
        if decision.action == "replace":
            return self._replace(decision)
        return self._change_target(decision)

    def _add(self, decision: Decision) -> LearnedFact | None:
        store = self.stores.pending if decision.action == "wait" else self.stores.facts
        # The same id is the same decision, which is carried out a second time after a kill.
        same = find_same(decision.content, store.get_all())
        if (same and same.id != decision.id) or self._was_deleted_since(decision):
            return None
        older = find_same(decision.content, store.older())
        if older:
            return self._revive(older.id, decision)
        memory = store.add(
            decision.content,
            decision.category,
            origin=LEARNED,
            source=_make_source(decision),
            memory_id=decision.id,
            slot=decision.slot,
            until=decision.until,
        )
        effect: Effect = "waiting" if store is self.stores.pending else "added"
        return LearnedFact(memory, effect, decision.quote) if memory else None

    def _was_deleted_since(self, decision: Decision) -> bool:
        """Whether a person has deleted the same fact after the words were said that it rests on."""
        said = decision.message_time
        deleted = (one for one in self.stores.facts.changes() if one.op == "delete")
        return said is not None and any(
            one.time > said
            # What learning itself took back may be learned again; what a person deleted may not.
            and one.origin != LEARNED
            and one.before is not None
            and says_same(one.before.content, decision.content)
            for one in deleted
        )

    def _revive(self, memory_id: str, decision: Decision) -> LearnedFact | None:
        """Bring back an older fact that was said again."""
        back = self.stores.facts.revive(
            memory_id, until=decision.until, origin=LEARNED, source=_make_source(decision)
        )
        return LearnedFact(back.memory, "added", decision.quote) if back else None

    def _replace(self, decision: Decision) -> LearnedFact | None:
        """Put the new fact in the place of the old one; add it if that is gone or has changed."""
        before = self.stores.facts.get(decision.target or "")
        if before is None:
            return self._add(decision)
        try:
            after = self.stores.facts.update(
                before.id,
                decision.content,
                expected=decision.expected,
                origin=LEARNED,
                source=_make_source(decision),
                slot=decision.slot,
                until=decision.until,
            )
        # Somebody has edited the fact since, and that is not overwritten.
        except Conflict:
            return self._add(decision)
        return LearnedFact(after, "superseded", decision.quote, before) if after else None

    def _change_target(self, decision: Decision) -> LearnedFact | None:
        """Count, end or take back a known fact, unless somebody has changed it since."""
        source = _make_source(decision)
        fact = self._find_target(decision)
        if fact is None:
            return None
        if decision.action == "again":
            if self.stores.facts.get(fact.id) is None:
                return self._revive(fact.id, decision)
            self.stores.facts.count_repeat(fact.id, origin=LEARNED, source=source)
            return None
        if decision.action == "end":
            self.stores.facts.retire([fact.id], origin=LEARNED, source=source)
        else:
            self.stores.facts.delete(fact.id, origin=LEARNED, source=source)
        return LearnedFact(fact, "ended", decision.quote)

    def _find_target(self, decision: Decision) -> Memory | None:
        wanted = decision.target, decision.expected
        known = [*self.stores.facts.get_all(), *self.stores.facts.older()]
        # Both have to be as they were judged: a fact that a person changed is theirs.
        return next((one for one in known if (one.id, one.content) == wanted), None)


class _RoomLeft:
    """The room in the memory and among pending facts, counted once for many decisions."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._known: dict[str, Room] = {}

    def count_anew(self) -> None:
        """Forget the counts: something is being written."""
        self._known.clear()

    def has_room_for(self, decision: Decision) -> bool:
        """Whether it is worth trying to carry out a decision."""
        if decision.action == "wait":
            return self._count("pending").has_place_for(decision.content)
        if decision.target:
            longer = len(decision.content) - len(decision.expected or "")
            return self._count("all").chars >= longer
        return self._count(LEARNED).has_place_for(decision.content)

    def _count(self, of: str) -> Room:
        if of not in self._known:
            store = self._stores.pending if of == "pending" else self._stores.facts
            self._known[of] = store.room(of)
        return self._known[of]


def _make_source(decision: Decision) -> Source:
    return Source(
        quote=decision.quote,
        conversation=decision.conversation,
        message_time=decision.message_time,
        trust=decision.trust,
        name=decision.source,
        # A new fact has the decision's id as its own, so only other changes need it on record.
        decision=decision.id if decision.target else None,
    )
