"""What waits to be learned from, in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.core.diagnosis import LearningFigures, describe_backlog, find_learning_problems
from turnleaf.core.keys import check_key
from turnleaf.core.learning import queue as decided
from turnleaf.core.learning.queue import (
    Batch,
    Cycle,
    LearningProblem,
    Outgoing,
    Queued,
    SetAside,
    Sighting,
    Unread,
    is_due,
    is_held,
    queued_to_json,
)
from turnleaf.core.serialization import dumps, to_millisecond
from turnleaf.errors import InvalidInput
from turnleaf.store.in_memory.shared_data import Keeper, Now, PlaceOfSpaces, in_one_step

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import date, datetime

    from turnleaf.core.diagnosis import Examination
    from turnleaf.core.learning.queue import Decision

MOST_SIGHTINGS = 500
MOST_ATTEMPTS = 2
MOST_UNREADABLE = 2
FORMAT_LASTS = timedelta(days=30)
SKIPPED, GIVEN_UP = "skipped", "given up"


@dataclass
class WaitingMessage:
    """A message in the queue, and who holds it since when."""

    row: int
    key: str
    queued: Queued
    attempts: int = 0
    unreadable: int = 0
    is_set_aside: bool = False
    token: str | None = None
    holder: str | None = None
    since: datetime | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether whoever tried it came to no end."""
        return self.attempts > 0 and not self.queued.is_settled

    def let_go(self) -> None:
        """Wait again, as if nobody had tried."""
        self.token, self.attempts = None, 0


@dataclass(frozen=True, slots=True)
class ReportedProblem:
    """Why an extraction failed, and where the messages came from that were held then."""

    problem: LearningProblem
    sources: frozenset[str | None]


@dataclass
class Lessons:
    """All that is kept for learning."""

    rows: list[WaitingMessage] = field(default_factory=list)
    outbox: list[Outgoing] = field(default_factory=list)
    sightings: list[tuple[str, Sighting]] = field(default_factory=list)
    reported: list[ReportedProblem] = field(default_factory=list)
    """What went wrong last, if anything did."""
    last: dict[str, datetime] = field(default_factory=dict)
    cycles: dict[str, Cycle] = field(default_factory=dict)
    calls: Counter[tuple[date, str]] = field(default_factory=Counter)
    tallies: Counter[tuple[date, str]] = field(default_factory=Counter)
    formats: dict[tuple[str, str], tuple[str, datetime]] = field(default_factory=dict)
    last_row: int = 0
    is_used: bool = False

    def list_waiting(self, key: str) -> list[WaitingMessage]:
        """Return a conversation's messages that are not set aside."""
        wanted = check_key(key)
        return [one for one in self.rows if one.key == wanted and not one.is_set_aside]

    def list_held(self, batch: Batch) -> list[WaitingMessage]:
        """Return what is still held with a batch; nothing where the lease is lost."""
        return [one for one in self.rows if one.token == batch.token]

    def remove(self, gone: Collection[int]) -> None:
        """Remove messages; what else waits of their conversations does as if nobody had tried."""
        keys = {one.key for one in self.rows if one.row in gone}
        self.rows = [one for one in self.rows if one.row not in gone]
        for one in self.rows:
            if one.key in keys:
                one.let_go()


class MemoryLearning(Keeper):
    """The queue of a space."""

    kind = "learning"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._holder = uuid4().hex

    @property
    def _kept(self) -> Lessons:
        return self.place.find(self.space, self.kind, Lessons)

    @in_one_step
    def examine(self) -> Examination:
        """Return what waits, how learning goes and what is wrong with it."""
        backlog, today = self.backlog(), self._clock().astimezone().date()
        tallies = self.tallies(today)
        figures = LearningFigures(
            calls=sum(self.count_calls(today).values()),
            skipped=tallies.get(SKIPPED, 0),
            given_up=tallies.get(GIVEN_UP, 0),
            last_error=self.last_error(),
            json_formats={place: form for place, (form, _) in self._kept.formats.items()},
        )
        problems = find_learning_problems(self.set_aside(), self.outbox(), self.last_error())
        holds = describe_backlog(backlog, has_unread=any(map(self.has_unread, backlog)))
        return self.report("learning", holds, figures, *problems)

    @in_one_step
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._kept.is_used

    @in_one_step
    def close(self) -> None:
        """Release what is held here, unless it was held for too long."""
        for one in self._kept.rows:
            if one.holder == self._holder and self._is_held(one):
                one.let_go()

    def _is_held(self, one: WaitingMessage) -> bool:
        return one.token is not None and is_held(one.since, self.now())

    @in_one_step
    def enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        """Add messages to learn from, in their order."""
        check_key(key)
        for one in queued:
            # All of them first: if one cannot be stored, none is.
            dumps(queued_to_json(one))
        for one in queued:
            self._kept.is_used = True
            self._kept.last_row += 1
            self._kept.rows.append(WaitingMessage(self._kept.last_row, key, _copy(one)))

    def count_queued(self, key: str) -> int:
        """Count what `list_queued` returns."""
        return len(self.list_queued(key))

    @in_one_step
    def list_queued(self, key: str) -> list[Queued]:
        """Return a conversation's messages that no completed extraction had."""
        return [_copy(one.queued) for one in self._kept.list_waiting(key)]

    @in_one_step
    def set_aside(self) -> list[SetAside]:
        """Return the messages that are not tried again."""
        aside = (one for one in self._kept.rows if one.is_set_aside)
        return [SetAside(one.key, _copy(one.queued)) for one in aside]

    @in_one_step
    def backlog(self) -> dict[str, int]:
        """Count the waiting messages by conversation, in the order of their first messages."""
        return dict(Counter(one.key for one in self._kept.rows if not one.is_set_aside))

    @in_one_step
    def is_due(self, key: str, *, interval_seconds: float, min_messages: int) -> bool:
        """Whether it is time to extract from a conversation."""
        return is_due(
            self._kept.last.get(check_key(key)),
            self.now(),
            self.count_queued(key),
            interval_seconds=interval_seconds,
            min_messages=min_messages,
        )

    @in_one_step
    def claim(self, key: str, *, read: bool | None = None) -> Batch | None:
        """Lease what waits of a conversation; None when nothing does, or somebody holds any."""
        waiting = self._kept.list_waiting(key)
        if any(map(self._is_held, waiting)):
            return None
        rows = [one for one in waiting if read is None or one.queued.is_read_by_rules == read]
        left = [one for one in rows if not _put_aside(one)]
        if not left:
            return None
        # Whoever asks while a model is still answering must wait their time, too.
        if read is not False:
            self._kept.last[key] = self.now()
        return self._lease(key, left)

    def _lease(self, key: str, rows: list[WaitingMessage]) -> Batch:
        # After a cut the messages are tried one by one, so that one bad message costs no other.
        first = next((one for one in rows if one.is_cut_off), None)
        taken = [first] if first else rows
        batch_token = uuid4().hex
        for one in taken:
            # Counted before any work begins: whoever is killed at it can count no more.
            one.attempts += 1
            one.token, one.holder, one.since = batch_token, self._holder, self.now()
        # What the user asked to forget must be known, whichever message is learned from.
        settled = [o for o in self._kept.list_waiting(key) if o.queued.is_settled]
        shown = {one.row: one for one in (*taken, *settled)}
        numbers = tuple(sorted(shown))
        messages = tuple(_copy(shown[number].queued) for number in numbers)
        return Batch(key, batch_token, messages, len(taken) < len(rows), numbers)

    @in_one_step
    def complete(
        self, batch: Batch, decisions: Sequence[Decision], unread: Unread | None = None
    ) -> bool:
        """Replace the messages by what was decided, in one step; False when the lease is lost."""
        _check(decisions)
        kept, held = self._kept, self._kept.list_held(batch)
        if not held:
            return False
        left = self._return_unread(batch, held, unread) if unread else []
        again = {one.row for one in left}
        kept.reported = []
        if unread and left:
            self._note_problem(batch.key, unread.problem, left)
        gone = {one.row for one in held} - again
        kept.rows = [one for one in kept.rows if one.row not in gone]
        kept.last[batch.key] = self.now()
        self._send(batch.key, decisions)
        return True

    def _return_unread(
        self, batch: Batch, held: list[WaitingMessage], unread: Unread
    ) -> list[WaitingMessage]:
        """Make what was not read wait again; return it without what is given up."""
        rows = batch.rows[unread.start :]
        unreadable = {*rows[: unread.unreadable]}
        left: list[WaitingMessage] = []
        for one in (one for one in held if one.row in rows):
            one.unreadable += one.row in unreadable
            if one.unreadable >= MOST_UNREADABLE:
                self._kept.tallies[self._clock().date(), GIVEN_UP] += 1
                continue
            one.let_go()
            one.queued = replace(one.queued, is_read_by_rules=True)
            left.append(one)
        return left

    def _send(self, key: str, decisions: Sequence[Decision]) -> None:
        new = [Outgoing(uuid4().hex, key, decision, None) for decision in decisions]
        self._kept.outbox += new

    def _note_problem(self, key: str, text: str, rows: Iterable[WaitingMessage]) -> None:
        sources = frozenset(one.queued.source for one in rows)
        self._kept.reported = [ReportedProblem(LearningProblem(self.now(), key, text), sources)]

    @in_one_step
    def complete_reading(
        self,
        batch: Batch,
        decisions: Sequence[Decision],
        sightings: Sequence[Sighting] = (),
    ) -> bool:
        """Store what rules decided, and leave the messages for a model."""
        _check(decisions)
        held = self._kept.list_held(batch)
        for one in held:
            one.let_go()
            one.queued = replace(one.queued, is_read_by_rules=True)
        if held:
            self._send(batch.key, decisions)
            self._kept.sightings += [(batch.key, one) for one in sightings]
            del self._kept.sightings[:-MOST_SIGHTINGS]
        return bool(held)

    @in_one_step
    def has_unread(self, key: str) -> bool:
        """Whether something of a conversation waits that rules have not read."""
        return any(not one.queued.is_read_by_rules for one in self._kept.list_waiting(key))

    @in_one_step
    def sightings(self) -> list[Sighting]:
        """Return the statements that were made once and are less sure, oldest first."""
        return [one for _, one in self._kept.sightings]

    @in_one_step
    def release(self, batch: Batch, error: str) -> None:
        """Return the messages to the queue and keep what went wrong."""
        held = self._kept.list_held(batch)
        for one in held:
            one.let_go()
        if held:
            self._note_problem(batch.key, error, held)
            self._kept.last[batch.key] = self.now()

    @in_one_step
    def last_error(self) -> LearningProblem | None:
        """Return what went wrong last, unless an extraction was completed since."""
        return next((one.problem for one in self._kept.reported), None)

    @in_one_step
    def outbox(self) -> list[Outgoing]:
        """Return what was decided and is not carried out yet, oldest first."""
        return [*self._kept.outbox]

    @in_one_step
    def settle(self, outgoing_id: str) -> bool:
        """Remove what was carried out; False when it was gone before."""
        left = [one for one in self._kept.outbox if one.id != outgoing_id]
        is_gone = len(left) < len(self._kept.outbox)
        self._kept.outbox = left
        return is_gone

    @in_one_step
    def postpone(self, outgoing_id: str, problem: str) -> None:
        """Keep what kept a decision from being carried out."""
        self._kept.outbox = [
            replace(one, problem=problem) if one.id == outgoing_id else one
            for one in self._kept.outbox
        ]

    @in_one_step
    def begin_flush(self, key: str) -> bool:
        """Begin a conversation's flush; False: it was or is being made."""
        cycle = self._kept.cycles.get(check_key(key), Cycle())
        may_begin = cycle.may_begin(self.now())
        if may_begin:
            self._kept.is_used = True
            self._kept.cycles[key] = cycle.begin(self.now())
        return may_begin

    @in_one_step
    def end_flush(self, key: str, *, succeeded: bool) -> None:
        """Store how the flush went."""
        cycle = self._kept.cycles.get(check_key(key), Cycle())
        self._kept.cycles[key] = cycle.finish(succeeded=succeeded)

    @in_one_step
    def end_cycle(self, key: str) -> None:
        """Begin a new cycle, in which there is a flush again."""
        self._kept.cycles.pop(check_key(key), None)

    @in_one_step
    def spend(self, model: str, *, cap: int, day: date) -> bool:
        """Count a call of a model; False when all together had the day's cap."""
        may_spend = sum(self.count_calls(day).values()) < cap
        if may_spend:
            self._kept.is_used = True
            self._kept.calls[day, model] += 1
        return may_spend

    @in_one_step
    def count_calls(self, day: date) -> dict[str, int]:
        """Return a day's calls of each model."""
        return {model: n for (when, model), n in self._kept.calls.items() if when == day}

    @in_one_step
    def count_skipped(self, amount: int, day: date) -> None:
        """Count facts of a model's answers that could not be used."""
        if amount:
            self._kept.is_used = True
            self._kept.tallies[day, SKIPPED] += amount

    @in_one_step
    def tallies(self, day: date) -> dict[str, int]:
        """Return how much was "skipped" and "given up" on a day."""
        return {name: n for (when, name), n in self._kept.tallies.items() if when == day}

    @in_one_step
    def json_format(self, url: str, model: str) -> str | None:
        """Return the JSON format that a model's server accepted less than 30 days ago."""
        found = self._kept.formats.get((url, model))
        return found[0] if found and self.now() - found[1] < FORMAT_LASTS else None

    @in_one_step
    def keep_json_format(self, url: str, model: str, json_format: str) -> None:
        """Remember which JSON format a model's server accepted."""
        self._kept.is_used = True
        self._kept.formats[url, model] = json_format, self.now()

    @in_one_step
    def unqueue(self, key: str, times: Collection[datetime]) -> int:
        """Remove what waits, and what was decided, of a conversation's messages of these times."""
        check_key(key)
        moments = {to_millisecond(time) for time in times}
        mine = (one for one in self._kept.rows if one.key == key)
        gone = {one.row for one in mine if one.queued.message.timestamp in moments}
        self._kept.remove(gone)
        return len(gone) + self._drop_decided(
            [
                one.id
                for one in self._kept.outbox
                if one.key == key and one.decision.message_time in moments
            ]
        )

    def _drop_decided(self, ids: Collection[str]) -> int:
        self._kept.outbox = [one for one in self._kept.outbox if one.id not in ids]
        return len(ids)

    @in_one_step
    def erase(self, key: str | None = None, source: str | None = None) -> int:
        """Erase all of a conversation or of a source; return how much."""
        names = {name for name in (key, source) if name is not None}
        if not names:
            message = "give a conversation or a source to erase"
            raise InvalidInput(message)
        if key is not None:
            self._kept.cycles.pop(check_key(key), None)
            self._kept.last.pop(key, None)
        gone = {o.row for o in self._kept.rows if o.key == key or o.queued.source in names}
        self._kept.remove(gone)
        out = [one.id for one in self._kept.outbox if one.key == key or _is_named(one, names)]
        seen = [one for one in self._kept.sightings if one[0] not in names]
        sighted = len(self._kept.sightings) - len(seen)
        self._kept.sightings = seen
        return len(gone) + self._drop_decided(out) + sighted + self._forget_problem(names)

    def _forget_problem(self, names: set[str]) -> int:
        reported = self._kept.reported
        left = [one for one in reported if not {one.problem.key, *one.sources} & names]
        self._kept.reported = left
        return len(reported) - len(left)


def _put_aside(one: WaitingMessage) -> bool:
    """Set a message aside that ended whoever tried; return whether it was."""
    one.is_set_aside = one.is_cut_off and one.attempts >= MOST_ATTEMPTS
    if one.is_set_aside:
        one.token = None
    return one.is_set_aside


def _is_named(one: Outgoing, names: set[str]) -> bool:
    return one.decision.conversation in names or one.decision.source in names


def _check(decisions: Iterable[Decision]) -> None:
    for decision in decisions:
        dumps(decided.decision_to_json(decision))


def _copy(queued: Queued) -> Queued:
    return replace(queued, message=replace(queued.message))
