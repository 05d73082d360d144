"""The queue of learning in every order of events, with crashes, lost leases and erasures."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.decisions import decide
from tests.effort import LONG
from turnleaf.core.learning.queue import LEASE_SECONDS, Batch, Queued
from turnleaf.core.messages import Message
from turnleaf.store.files.learning_queue import LearningStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
INTERVAL_SECONDS, MIN_MESSAGES = 60, 4

keys = st.sampled_from(["cli:session-1", "slack:1.2", "schedule:每日"])
sources = st.sampled_from([None, None, "document:筆記.md", "tool:fetch"])
seconds = st.sampled_from([1, 59, 60, LEASE_SECONDS - 1, LEASE_SECONDS])
any_one = st.integers(0, 10**6)


@dataclass
class Expectation:
    """All that should be known of one conversation."""

    waiting: dict[str, str | None] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    aside: dict[str, str | None] = field(default_factory=dict)
    held: tuple[Batch, datetime] | None = None
    holder: LearningStore | None = None
    extracted_at: datetime | None = None
    cycle: str = "idle"
    flush_began_at: datetime = START

    def set_aside(self) -> None:
        """Take out what was cut off twice."""
        for text in [one for one in self.waiting if self.attempts[one] == 2]:
            self.aside[text] = self.waiting.pop(text)

    def next_messages(self) -> list[str]:
        """Return what is learned from at once: after a cut, one message."""
        return [one for one in self.waiting if self.attempts[one]][:1] or list(self.waiting)

    def let_wait(self) -> None:
        """Queue what is held again, as if it had not been tried."""
        if self.held:
            for one in self.held[0].messages:
                del self.attempts[one.message.text]
        self.held = None


class Orders(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.ground = Path(tempfile.mkdtemp())
        self.numbers = count()
        self.now = START
        self.folder = self.ground / "0"
        self.stores = [self.open_store(), self.open_store()]
        self.known: dict[str, Expectation] = {}
        self.batches: list[Batch] = []
        self.decided: dict[str, tuple[str, str, str | None]] = {}
        self.problems: dict[str, str | None] = {}
        self.completed = Counter[str]()

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.ground)

    def open_store(self) -> LearningStore:
        return LearningStore(self.folder / "learning.db", now=lambda: self.now)

    def store(self, which: int) -> LearningStore:
        return self.stores[which % len(self.stores)]

    def of(self, key: str) -> Expectation:
        return self.known.setdefault(key, Expectation())

    def is_live(self, batch: Batch) -> bool:
        held = self.of(batch.key).held
        return held is not None and held[0].token == batch.token

    # Messages

    @rule(key=keys, source=sources, amount=st.integers(1, 5), which=any_one)
    def messages_come(self, key: str, source: str | None, amount: int, which: int) -> None:
        texts = [f"第 {next(self.numbers)} 句" for _ in range(amount)]
        self.store(which).enqueue(
            key, [Queued(Message("user", text), source=source) for text in texts]
        )
        self.of(key).waiting |= dict.fromkeys(texts, source)

    @rule(key=keys, which=any_one)
    def somebody_claims(self, key: str, which: int) -> None:
        batch = self.store(which).claim(key)
        known = self.of(key)
        since = known.held[1] if known.held else None
        is_held = since is not None and self.now - since < timedelta(seconds=LEASE_SECONDS)
        if not is_held:
            known.set_aside()
        assert (batch is None) == (is_held or not known.waiting)
        if batch is not None:
            texts = [one.message.text for one in batch.messages]
            assert texts == known.next_messages()
            assert batch.has_more == (len(texts) < len(known.waiting))
            known.attempts.update(texts)
            known.extracted_at = self.now
            known.held, known.holder = (batch, self.now), self.store(which)
            self.batches.append(batch)

    @precondition(lambda self: self.batches)
    @rule(number=any_one, which=any_one)
    def somebody_completes(self, number: int, which: int) -> None:
        batch = self.batches[number % len(self.batches)]
        decisions = [
            decide(one.message.text, batch.key, source=one.source) for one in batch.messages
        ]
        was_live = self.is_live(batch)
        assert self.store(which).complete(batch, decisions) == was_live
        if was_live:
            known = self.of(batch.key)
            for one in batch.messages:
                self.completed[one.message.text] += 1
                del known.waiting[one.message.text]
            known.held, known.extracted_at = None, self.now
            self.problems.clear()
            self.take_in(batch)

    def take_in(self, batch: Batch) -> None:
        """Learn the ids of what has just been decided."""
        new = [one for one in self.store(0).outbox() if one.id not in self.decided]
        assert [one.decision.content for one in new] == [one.message.text for one in batch.messages]
        assert {one.key for one in new} == {batch.key}
        for one in new:
            self.decided[one.id] = (one.key, one.decision.content, one.decision.source)

    @precondition(lambda self: self.batches)
    @rule(number=any_one, which=any_one)
    def an_extraction_fails(self, number: int, which: int) -> None:
        batch = self.batches[number % len(self.batches)]
        was_live = self.is_live(batch)
        self.store(which).release(batch, f"of {batch.token}")
        if was_live:
            known = self.of(batch.key)
            known.let_wait()
            known.extracted_at = self.now
            self.problems = {batch.key: f"of {batch.token}"}

    @precondition(lambda self: self.decided)
    @rule(number=any_one, which=any_one, is_done=st.booleans())
    def a_decision_is_carried_out_or_not(self, *, number: int, which: int, is_done: bool) -> None:
        identity = list(self.decided)[number % len(self.decided)]
        if is_done:
            self.store(which).settle(identity)
            del self.decided[identity]
        else:
            self.store(which).postpone(identity, "滿了")

    # Flushing

    @rule(key=keys, which=any_one)
    def a_flush_is_called_for(self, key: str, which: int) -> None:
        known = self.of(key)
        is_under_way = known.cycle == "flushing" and (
            self.now - known.flush_began_at < timedelta(seconds=LEASE_SECONDS)
        )
        may_begin = known.cycle != "flushed" and not is_under_way
        assert self.store(which).begin_flush(key) == may_begin
        if may_begin:
            known.cycle, known.flush_began_at = "flushing", self.now

    @rule(key=keys, which=any_one, succeeded=st.booleans())
    def a_flush_ends(self, *, key: str, which: int, succeeded: bool) -> None:
        self.store(which).end_flush(key, succeeded=succeeded)
        if self.of(key).cycle == "flushing":
            self.of(key).cycle = "flushed" if succeeded else "idle"

    @rule(key=keys, which=any_one)
    def a_cycle_ends(self, key: str, which: int) -> None:
        self.store(which).end_cycle(key)
        self.of(key).cycle = "idle"

    # The world

    @rule(seconds=seconds)
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def all_processes_are_killed(self) -> None:
        """Go on with the files as they lie there, while nobody has closed them."""
        new = self.ground / str(next(self.numbers) + 1)
        shutil.copytree(self.folder, new, ignore=shutil.ignore_patterns("*-shm"))
        for store in self.stores:
            store.close()
        self.folder = new
        self.stores = [self.open_store(), self.open_store()]

    @rule(which=any_one)
    def a_process_ends(self, which: int) -> None:
        """It gives back what it holds, unless it was at it for so long that it hung."""
        self.store(which).close()
        for known in self.known.values():
            if known.held and known.holder is self.store(which):
                known.holder = None
                if self.now - known.held[1] < timedelta(seconds=LEASE_SECONDS):
                    known.let_wait()

    @rule(key=keys, which=any_one)
    def a_conversation_is_erased(self, key: str, which: int) -> None:
        self.store(which).erase(key)
        self.known.pop(key, None)
        self.problems.pop(key, None)
        self.decided = {each: one for each, one in self.decided.items() if one[0] != key}

    @rule(source=sources.filter(bool), which=any_one)
    def a_source_is_erased(self, source: str, which: int) -> None:
        held_it = {
            batch.key: f"of {batch.token}"
            for batch in self.batches
            if any(one.source == source for one in batch.messages)
            and self.problems.get(batch.key) == f"of {batch.token}"
        }
        self.store(which).erase(source=source)
        self.problems = {k: text for k, text in self.problems.items() if k not in held_it}
        for known in self.known.values():
            left = {text: of for text, of in known.waiting.items() if of != source}
            aside = {text: of for text, of in known.aside.items() if of != source}
            if len(left) + len(aside) < len(known.waiting) + len(known.aside):
                known.let_wait()
            known.waiting, known.aside = left, aside
        self.decided = {each: one for each, one in self.decided.items() if one[2] != source}

    # What always holds

    @invariant()
    def what_waits_is_what_no_completed_extraction_had(self) -> None:
        waits = {key: len(known.waiting) for key, known in self.known.items() if known.waiting}
        assert self.store(0).backlog() == waits
        assert all(times == 1 for times in self.completed.values())
        waiting = {text for known in self.known.values() for text in known.waiting}
        assert not waiting & set(self.completed)

    @invariant()
    def what_was_cut_off_twice_is_kept_and_not_tried_again(self) -> None:
        aside = {(key, text) for key, known in self.known.items() for text in known.aside}
        assert {(one.key, one.queued.message.text) for one in self.store(1).set_aside()} == aside

    @invariant()
    def what_was_decided_is_given_until_it_is_carried_out(self) -> None:
        given = {
            one.id: (one.key, one.decision.content, one.decision.source)
            for one in self.store(1).outbox()
        }
        assert given == self.decided

    @invariant()
    def the_last_error_is_known(self) -> None:
        problem = self.store(0).last_error()
        assert ({problem.key: problem.text} if problem else {}) == self.problems

    @invariant()
    def it_is_due_when_there_is_enough_and_it_is_long_enough_ago(self) -> None:
        for key, known in self.known.items():
            last = known.extracted_at
            is_time = last is None or self.now - last >= timedelta(seconds=INTERVAL_SECONDS)
            assert self.store(1).is_due(
                key, interval_seconds=INTERVAL_SECONDS, min_messages=MIN_MESSAGES
            ) == (is_time and len(known.waiting) >= MIN_MESSAGES)


TestOrders = Orders.TestCase
TestOrders.settings = settings(
    max_examples=500 if LONG else 15,
    stateful_step_count=50,
    suppress_health_check=[HealthCheck.too_slow],
)
