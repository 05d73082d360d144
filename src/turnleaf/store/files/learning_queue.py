"""`LearningStore`: what is yet to be learned from, and what was learned but not yet written.

A message waits in the queue until an extraction of it is complete; in the same step what was
decided enters the outbox, where it stays until it has been carried out.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from turnleaf.core.diagnosis import LearningFigures, Row, describe_backlog, find_learning_problems
from turnleaf.core.keys import check_key
from turnleaf.core.learning import queue
from turnleaf.core.learning.queue import (
    READ_BY_RULES,
    STATES,
    Batch,
    Cycle,
    LearningProblem,
    Outgoing,
    Queued,
    SetAside,
    Sighting,
    Unread,
    decision_from_json,
    decision_to_json,
    is_held,
    queued_from_json,
    queued_to_json,
    sighting_from_json,
    sighting_to_json,
)
from turnleaf.core.serialization import dumps, from_iso, to_iso
from turnleaf.errors import CorruptFile, InvalidInput
from turnleaf.store.clock_and_ids import utc_now
from turnleaf.store.files import atomic
from turnleaf.store.files.databases import Database, Form, Untouched
from turnleaf.store.files.diagnosis import collect, refuse_odd, report_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from turnleaf.core.diagnosis import Examination, Part
    from turnleaf.core.learning.queue import Decision
    from turnleaf.store.files.databases import Connection

T = TypeVar("T")

LONG_AGO = datetime.fromtimestamp(0, UTC)
MOST_ATTEMPTS = 2
"""After so many that nobody finished, the second at it alone, a message is set aside."""
ATTEMPTS = "attempts"
UNREADABLE = "unreadable"
MOST_UNREADABLE = 2
"""After so many answers to it that cannot be read, a message no longer waits for a model."""
GIVEN_UP = "given up"
SKIPPED = "skipped"
MOST_SIGHTINGS = 500
"""How many statements are kept that were made once and are less sure, the newest of them."""
SET_ASIDE = "set-aside"
"""In the place of a token: nobody takes the message any more."""

# Keys are read back as BLOB: a damaged character in one must not keep all others from being read.
# `answers` is a table of an older version.
SCHEMA = """
CREATE TABLE IF NOT EXISTS queue (
    n INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    record BLOB NOT NULL,
    token TEXT,
    leased_at TEXT
);
CREATE INDEX IF NOT EXISTS queue_by_key ON queue (key, n);
CREATE TABLE IF NOT EXISTS outbox (
    n INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    record BLOB NOT NULL,
    id TEXT NOT NULL UNIQUE,
    problem TEXT
);
DROP TABLE IF EXISTS answers;
CREATE TABLE IF NOT EXISTS problems (
    n INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    record BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS conversations (
    key TEXT PRIMARY KEY,
    extracted_at TEXT,
    cycle TEXT NOT NULL DEFAULT 'idle',
    cycle_since TEXT
);
CREATE TABLE IF NOT EXISTS sightings (
    n INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    record BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS spending (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (day, model)
);
CREATE TABLE IF NOT EXISTS tallies (
    day TEXT NOT NULL,
    name TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (day, name)
);
CREATE TABLE IF NOT EXISTS json_formats (
    url TEXT NOT NULL,
    model TEXT NOT NULL,
    json_format TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (url, model)
)
"""
FORM = Form(holds="messages to learn from", version=3, schema=SCHEMA)
ERASABLE = ("queue", "outbox", "problems", "sightings")
FORMAT_DAYS = 30
"""How long a format is taken to be the best that a server knows: it may be a newer one by then."""
SAYS_WHENCE = ("conversation", "source", "sources")


class LearningStore:
    """The queue of learning and all else that must be known of it after a restart.

    One that is `untouched` is only looked at: a damaged database stays as it is.
    """

    def __init__(
        self,
        location: str | Path,
        *,
        now: Callable[[], datetime] = utc_now,
        untouched: bool = False,
    ) -> None:
        self.location = atomic.resolve(location)
        self._now = now
        self._database = (Untouched if untouched else Database)(self.location, FORM)
        self._held: set[str] = set()

    def close(self) -> None:
        """Close the database; the next call opens it again.

        What is still held waits again, and the attempt does not count: the program ends in order.
        """
        held, self._held, now = self._held, set(), self._now()
        if held:
            # An orderly end is no attempt that was cut off,
            # or a few restarts would set messages aside.
            self._database.write(lambda database: _return_held(database, held, now))
        self._database.close()

    def examine(self) -> Examination:
        """Return what waits, how learning goes and what is wrong with it."""
        return _examine(self.location, self._now)

    def exists(self) -> bool:
        """Whether anything was ever stored; asking makes nothing."""
        return self.location.exists()

    # The queue

    def enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        """Add messages to learn from; they are durable when this returns."""
        rows = [(check_key(key), _encode(queued_to_json(one))) for one in queued]
        query = "INSERT INTO queue (key, record) VALUES (?, ?)"
        if rows:
            self._database.write(lambda database: database.executemany(query, rows))

    def count_queued(self, key: str) -> int:
        """Count a conversation's messages that no completed extraction had."""
        query = "SELECT count(*) FROM queue WHERE key = ? AND token IS NOT ?"
        values = (check_key(key), SET_ASIDE)
        count: int = self._database.read(lambda database: database.execute(query, values).get)
        return count

    def list_queued(self, key: str) -> list[Queued]:
        """Return a conversation's messages that no completed extraction had, whoever holds them."""
        query = "SELECT record FROM queue WHERE key = ? AND token IS NOT ? ORDER BY n"
        values = (check_key(key), SET_ASIDE)
        rows = self._database.read(lambda database: list(database.execute(query, values)))
        return [one for (data,) in rows if (one := _read_queued(data)) is not None]

    def set_aside(self) -> list[SetAside]:
        """Return the messages that are not tried again, because they ended whoever tried."""
        query = "SELECT CAST(key AS BLOB), record FROM queue WHERE token = ? ORDER BY n"
        rows = self._database.read(lambda database: list(database.execute(query, (SET_ASIDE,))))
        found = ((_decode(key), _read_queued(data)) for key, data in rows)
        return [SetAside(key, one) for key, one in found if one is not None]

    def backlog(self) -> dict[str, int]:
        """Count the messages that no completed extraction had, by conversation."""
        query = """
            SELECT CAST(key AS BLOB), count(*) FROM queue WHERE token IS NOT ?
            GROUP BY key ORDER BY min(n)
        """
        rows = self._database.read(lambda database: list(database.execute(query, (SET_ASIDE,))))
        return {_decode(key): count for key, count in rows}

    def is_due(self, key: str, *, interval_seconds: float, min_messages: int) -> bool:
        """Whether it is time to extract from a conversation."""
        last = self._database.read(lambda database: _read_extracted(database, check_key(key)))
        return queue.is_due(
            last,
            self._now(),
            self.count_queued(key),
            interval_seconds=interval_seconds,
            min_messages=min_messages,
        )

    def claim(self, key: str, *, read: bool | None = None) -> Batch | None:
        """Take what waits of a conversation; None when nothing does or another holds it.

        With `read` it is only what rules have read, or have not. The attempt is counted before it
        begins: whoever is killed at it can count no more.
        """
        check_key(key)
        token, now = secrets.token_hex(16), self._now()
        batch = self._database.write(lambda database: _lease(database, key, token, now, read))
        if batch is not None:
            self._held.add(token)
        return batch

    def complete(
        self,
        batch: Batch,
        decisions: Sequence[Decision],
        unread: Unread | None = None,
    ) -> bool:
        """Put what was decided in the place of the messages, in one step.

        What a model has not read waits for it again, unless its answer could not be read for the
        second time. False, and nothing changes, when the messages are no longer held: somebody
        else took them over from one who seemed to have died, or they were erased.
        """
        records = [_encode(decision_to_json(one)) for one in decisions]
        now = self._now()

        def complete(database: Connection) -> bool:
            # A worker that was taken for dead must not write what another has written by now.
            if not _is_holding(database, batch):
                return False
            waits = _keep_unread(database, batch, unread, now) if unread else False
            _complete(database, batch, records, to_iso(now))
            if unread and waits:
                _keep_problem(database, batch, unread.problem, to_iso(now))
            return True

        is_done = self._database.write(complete)
        self._held.discard(batch.token)
        return is_done

    def complete_reading(
        self,
        batch: Batch,
        decisions: Sequence[Decision],
        sightings: Sequence[Sighting] = (),
    ) -> bool:
        """Keep what rules decided, and leave the messages in the queue for a model, in one step.

        False, and nothing changes, when they are no longer held.
        """
        records = [_encode(decision_to_json(one)) for one in decisions]
        seen = [_encode(sighting_to_json(one, batch.key)) for one in sightings]
        is_done = self._database.write(
            lambda database: _complete_reading(database, batch, records, seen)
        )
        self._held.discard(batch.token)
        return is_done

    def has_unread(self, key: str) -> bool:
        """Whether something waits of a conversation that rules have not read."""
        return any(not one.is_read_by_rules for one in self.list_queued(key))

    def sightings(self) -> list[Sighting]:
        """Return the statements that were made once and are less sure, oldest first."""
        query = "SELECT record FROM sightings ORDER BY n"
        rows = self._database.read(lambda database: list(database.execute(query)))
        return [one for (data,) in rows if (one := _read(data, sighting_from_json))]

    def release(self, batch: Batch, error: str) -> None:
        """Put the messages back into the queue, and keep what went wrong."""
        stamp = to_iso(self._now())
        self._database.write(lambda database: _release(database, batch, error, stamp))
        self._held.discard(batch.token)

    def last_error(self) -> LearningProblem | None:
        """Return the last problem, unless an extraction was completed since."""
        query = "SELECT CAST(key AS BLOB), record FROM problems"
        rows = self._database.read(lambda database: list(database.execute(query)))
        found = (_make_problem(_decode(key), _read_record(data)) for key, data in rows)
        return next(found, None)

    # The outbox

    def outbox(self) -> list[Outgoing]:
        """Return what was decided and is not yet carried out, oldest first."""
        query = """
            SELECT id, CAST(key AS BLOB), record, CAST(problem AS BLOB) FROM outbox ORDER BY n
        """
        rows = self._database.read(lambda database: list(database.execute(query)))
        return [
            Outgoing(
                identity, _decode(key), decision, None if problem is None else _decode(problem)
            )
            for identity, key, data, problem in rows
            if (decision := _read(data, decision_from_json)) is not None
        ]

    def settle(self, outgoing_id: str) -> bool:
        """Take note that it was carried out; False when it was settled or erased before."""
        query = "DELETE FROM outbox WHERE id = ? RETURNING 1"
        return self._database.write(
            lambda database: bool(list(database.execute(query, (outgoing_id,))))
        )

    def postpone(self, outgoing_id: str, problem: str) -> None:
        """Keep what kept it from being carried out."""
        values = (_clean(problem), outgoing_id)
        query = "UPDATE outbox SET problem = ? WHERE id = ?"
        self._database.write(lambda database: database.execute(query, values))

    # Flushing

    def begin_flush(self, key: str) -> bool:
        """Begin the flush of a conversation; False when this cycle had it or has it now."""
        now = self._now()

        def begin(database: Connection) -> bool:
            cycle = _read_cycle(database, key)
            if not cycle.may_begin(now):
                return False
            database.execute("INSERT OR IGNORE INTO conversations (key) VALUES (?)", (key,))
            _set_cycle(database, key, cycle.begin(now))
            return True

        check_key(key)
        return self._database.write(begin)

    def end_flush(self, key: str, *, succeeded: bool) -> None:
        """Take note of how the flush went; one that failed is tried at the next occasion."""

        def finish(database: Connection) -> None:
            _set_cycle(database, key, _read_cycle(database, key).finish(succeeded=succeeded))

        check_key(key)
        self._database.write(finish)

    def end_cycle(self, key: str) -> None:
        """End the present cycle: the next flush of the conversation begins a new one."""
        check_key(key)
        self._database.write(lambda database: _set_cycle(database, key, Cycle()))

    # Spending

    def spend(self, model: str, *, cap: int, day: date) -> bool:
        """Count a call of a model; False, and not counted, when all models had the day's cap."""

        def count(database: Connection) -> bool:
            # Counted before the call is made, and in one transaction: two programs cannot share the
            # last one.
            if sum(_count_calls(database, day).values()) >= cap:
                return False
            query = """
                INSERT INTO spending VALUES (?, ?, 1)
                ON CONFLICT (day, model) DO UPDATE SET calls = calls + 1
            """
            database.execute(query, (day.isoformat(), _clean(model)))
            return True

        return self._database.write(count)

    def count_calls(self, day: date) -> dict[str, int]:
        """Return the number of calls of each model on a day."""
        return self._database.read(lambda database: _count_calls(database, day))

    # What could not be used

    def count_skipped(self, amount: int, day: date) -> None:
        """Count facts of a model's answers that could not be used."""
        self._database.write(lambda database: _tally(database, day, SKIPPED, amount))

    def tallies(self, day: date) -> dict[str, int]:
        """Return how many facts were skipped and how many messages given up on a day."""
        query = "SELECT name, amount FROM tallies WHERE day = ?"
        values = (day.isoformat(),)
        rows = self._database.read(lambda database: list(database.execute(query, values)))
        return dict(rows)

    # How servers are asked for JSON

    def json_format(self, url: str, model: str) -> str | None:
        """Return the format that a model's server took, if that was not too long ago."""
        return self.json_formats().get((_clean(url), _clean(model)))

    def json_formats(self) -> dict[tuple[str, str], str]:
        """Return the formats that servers took not long ago, by address and model."""
        query = """
            SELECT CAST(url AS BLOB), CAST(model AS BLOB), json_format, CAST(since AS BLOB)
            FROM json_formats
        """
        rows = self._database.read(lambda database: list(database.execute(query)))
        oldest = self._now() - timedelta(days=FORMAT_DAYS)
        return {
            (_decode(url), _decode(model)): name
            for url, model, name, since in rows
            if (_read_time(since) or LONG_AGO) > oldest
        }

    def keep_json_format(self, url: str, model: str, json_format: str) -> None:
        """Remember which format a model's server took."""
        query = "INSERT OR REPLACE INTO json_formats VALUES (?, ?, ?, ?)"
        values = (_clean(url), _clean(model), json_format, to_iso(self._now()))
        self._database.write(lambda database: database.execute(query, values))

    # Erasing

    def unqueue(self, key: str, times: Collection[datetime]) -> int:
        """Learn nothing more from the messages of these times; return how much waited."""
        stamps = {to_iso(time) for time in times}
        return self._database.write(lambda database: _unqueue(database, check_key(key), stamps))

    def erase(self, key: str | None = None, source: str | None = None) -> int:
        """Erase all of a conversation or of a source, so that no byte stays; tell how much.

        What came from either says so under `conversation`, `source` or `sources`, at any depth.
        Messages that somebody holds together with an erased one wait again.
        """
        if key is None and source is None:
            message = "there is nothing to erase; give a conversation or a source"
            raise InvalidInput(message)
        of = None if key is None else check_key(key)
        return self._database.erase(lambda database: _erase(database, of, source))


# Within one transaction


def _read_extracted(database: Connection, key: str) -> datetime | None:
    query = "SELECT CAST(extracted_at AS BLOB) FROM conversations WHERE key = ?"
    return _read_time(database.execute(query, (key,)).get)


@dataclass(frozen=True, slots=True)
class _QueueRow:
    """A message as it lies in the queue."""

    n: int
    record: dict[str, Any]
    queued: Queued

    @property
    def attempts(self) -> int:
        """How many attempts at it were begun and not finished."""
        count = self.record.get(ATTEMPTS, 0)
        return count if isinstance(count, int) else 0

    @property
    def is_suspect(self) -> bool:
        """Whether it may have ended an attempt; a request that was acted on has proved harmless."""
        return self.attempts > 0 and not self.queued.is_settled

    def with_attempts(self, attempts: int) -> bytes:
        """Return the record with another count."""
        return _encode({**self.record, ATTEMPTS: attempts})


def _lease(
    database: Connection,
    key: str,
    token: str,
    now: datetime,
    read: bool | None,  # noqa: FBT001
) -> Batch | None:
    query = "SELECT CAST(leased_at AS BLOB) FROM queue WHERE key = ? AND token IS NOT NULL"
    # One conversation has one worker: what is decided about one message counts for the next.
    if any(is_held(_read_time(stamp), now) for (stamp,) in database.execute(query, (key,))):
        return None
    waiting = _set_dangerous_aside(database, key, _read_rows(database, key))
    wanted = [row for row in waiting if read is None or row.queued.is_read_by_rules == read]
    # After a kill the messages are tried one by one, so that one bad message costs no other.
    suspect = next((row for row in wanted if row.is_suspect), None)
    taken = wanted if suspect is None else [suspect]
    # Counted before any work begins: a program that is killed at it cannot count any more.
    database.executemany(
        "UPDATE queue SET token = ?, leased_at = ?, record = ? WHERE n = ?",
        [(token, to_iso(now), row.with_attempts(row.attempts + 1), row.n) for row in taken],
    )
    # What the user has asked to forget must be known of, whichever message is learned from.
    shown = [row for row in waiting if row.queued.is_settled or row in taken]
    if not taken:
        return None
    if read is not False:
        # Whoever asks while a model is still answering must wait their time, too.
        _note_attempt(database, key, to_iso(now))
    has_more = len(taken) < len(wanted)
    messages, rows = tuple(row.queued for row in shown), tuple(row.n for row in shown)
    return Batch(key, token, messages, has_more, rows)


def _read_rows(database: Connection, key: str) -> list[_QueueRow]:
    query = "SELECT n, record FROM queue WHERE key = ? AND token IS NOT ? ORDER BY n"
    rows = list(database.execute(query, (key, SET_ASIDE)))
    return [
        _QueueRow(n, json.loads(data), queued)
        for n, data in rows
        if (queued := _read_queued(data)) is not None
    ]


def _set_dangerous_aside(
    database: Connection, key: str, waiting: Sequence[_QueueRow]
) -> list[_QueueRow]:
    """Set aside what ended whoever tried to learn from it, and return the rest."""
    dangerous = [row for row in waiting if row.is_suspect and row.attempts >= MOST_ATTEMPTS]
    query = "UPDATE queue SET token = ?, leased_at = NULL WHERE n = ?"
    database.executemany(query, [(SET_ASIDE, row.n) for row in dangerous])
    for row in dangerous:
        told = "a message of %s was set aside because learning from it was interrupted %d times"
        atomic.log.warning(told, key, row.attempts)
    return [row for row in waiting if row not in dangerous]


def _is_holding(database: Connection, batch: Batch) -> bool:
    query = "SELECT count(*) FROM queue WHERE key = ? AND token = ?"
    return bool(database.execute(query, (batch.key, batch.token)).get)


def _keep_unread(database: Connection, batch: Batch, unread: Unread, now: datetime) -> bool:
    """Put back the messages that a model has not read; return whether there are any.

    A message that was answered unreadably twice is given up, and counted.
    """
    failed = set(batch.rows[unread.start :][: unread.unreadable])
    given_up = 0
    for n in batch.rows[unread.start :]:
        # The batch also shows requests that it does not hold; those carry another token, or none.
        query = "SELECT record FROM queue WHERE n = ? AND token = ?"
        for (data,) in list(database.execute(query, (n, batch.token))):
            record = {**json.loads(_reset_attempts(data)), READ_BY_RULES: True}
            if n in failed:
                record[UNREADABLE] = record.get(UNREADABLE, 0) + 1
            if record.get(UNREADABLE, 0) >= MOST_UNREADABLE:
                given_up += 1
                continue
            change = "UPDATE queue SET token = NULL, leased_at = NULL, record = ? WHERE n = ?"
            database.execute(change, (_encode(record), n))
    _tally(database, now.date(), GIVEN_UP, given_up)
    query = "SELECT count(*) FROM queue WHERE key = ? AND token IS NULL"
    return bool(database.execute(query, (batch.key,)).get)


def _tally(database: Connection, day: date, name: str, amount: int) -> None:
    query = """
        INSERT INTO tallies VALUES (?, ?, ?)
        ON CONFLICT (day, name) DO UPDATE SET amount = amount + excluded.amount
    """
    if amount:
        database.execute(query, (day.isoformat(), name, amount))


def _complete(database: Connection, batch: Batch, records: Iterable[bytes], stamp: str) -> None:
    held = (batch.key, batch.token)
    # One transaction with the decisions: asked again, a model would word the same fact otherwise.
    database.execute("DELETE FROM queue WHERE key = ? AND token = ?", held)
    database.executemany(
        "INSERT INTO outbox (key, record, id) VALUES (?, ?, ?)",
        [(batch.key, record, secrets.token_hex(16)) for record in records],
    )
    _note_attempt(database, batch.key, stamp)
    database.execute("DELETE FROM problems")


def _complete_reading(
    database: Connection, batch: Batch, records: Iterable[bytes], sightings: Iterable[bytes]
) -> bool:
    query = "SELECT n, record FROM queue WHERE key = ? AND token = ?"
    held = list(database.execute(query, (batch.key, batch.token)))
    if not held:
        return False
    query = "UPDATE queue SET token = NULL, leased_at = NULL, record = ? WHERE n = ?"
    database.executemany(query, [(_mark_read(data), n) for n, data in held])
    database.executemany(
        "INSERT INTO outbox (key, record, id) VALUES (?, ?, ?)",
        [(batch.key, record, secrets.token_hex(16)) for record in records],
    )
    query = "INSERT INTO sightings (key, record) VALUES (?, ?)"
    database.executemany(query, [(batch.key, record) for record in sightings])
    database.execute(
        "DELETE FROM sightings WHERE n <= (SELECT max(n) FROM sightings) - ?", (MOST_SIGHTINGS,)
    )
    return True


def _mark_read(data: bytes) -> bytes:
    return _encode({**json.loads(_reset_attempts(data)), READ_BY_RULES: True})


def _note_attempt(database: Connection, key: str, stamp: str) -> None:
    """Record the time of an attempt: the next waits for the interval, also after a failure."""
    query = """
        INSERT INTO conversations (key, extracted_at) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET extracted_at = excluded.extracted_at
    """
    database.execute(query, (key, stamp))


def _release(database: Connection, batch: Batch, problem: str, stamp: str) -> None:
    if _requeue(database, batch.token):
        _keep_problem(database, batch, problem, stamp)
        _note_attempt(database, batch.key, stamp)


def _keep_problem(database: Connection, batch: Batch, problem: str, stamp: str) -> None:
    # A problem may quote what was read, so it is erased with any of these sources.
    sources = sorted({one.source for one in batch.messages if one.source is not None})
    values = (batch.key, _encode({"time": stamp, "text": problem, "sources": sources}))
    database.execute("DELETE FROM problems")
    database.execute("INSERT INTO problems (key, record) VALUES (?, ?)", values)


def _return_held(database: Connection, tokens: Iterable[str], now: datetime) -> None:
    """Put messages back into the queue, except those at which a program hung."""
    query = "SELECT CAST(leased_at AS BLOB) FROM queue WHERE token = ?"
    for token in tokens:
        stamps = list(database.execute(query, (token,)))
        # A lease that ran out in this process was a hang, which stays counted as an attempt.
        if all(is_held(_read_time(stamp), now) for (stamp,) in stamps):
            _requeue(database, token)


def _requeue(database: Connection, token: str) -> bool:
    """Put a batch back into the queue with its attempt uncounted; False when it is gone."""
    rows = list(database.execute("SELECT n, record FROM queue WHERE token = ?", (token,)))
    query = "UPDATE queue SET token = NULL, leased_at = NULL, record = ? WHERE n = ?"
    database.executemany(query, [(_reset_attempts(data), n) for n, data in rows])
    return bool(rows)


def _requeue_all(database: Connection, keys: Iterable[str]) -> None:
    """Put all that is held of some conversations back into the queue."""
    query = "SELECT DISTINCT token FROM queue WHERE key = ? AND token IS NOT NULL AND token <> ?"
    for key in keys:
        for (token,) in list(database.execute(query, (key, SET_ASIDE))):
            _requeue(database, token)


def _reset_attempts(data: bytes) -> bytes:
    """Return a record without the count of attempts: one that was given up did no harm."""
    record = json.loads(data)
    return _encode({name: value for name, value in record.items() if name != ATTEMPTS})


def _read_cycle(database: Connection, key: str) -> Cycle:
    query = "SELECT cycle, CAST(cycle_since AS BLOB) FROM conversations WHERE key = ?"
    for state, since in database.execute(query, (key,)):
        if state in STATES:
            return Cycle(state, _read_time(since))
    return Cycle()


def _set_cycle(database: Connection, key: str, cycle: Cycle) -> None:
    since = to_iso(cycle.since) if cycle.since else None
    query = "UPDATE conversations SET cycle = ?, cycle_since = ? WHERE key = ?"
    database.execute(query, (cycle.state, since, key))


def _count_calls(database: Connection, day: date) -> dict[str, int]:
    query = "SELECT CAST(model AS BLOB), calls FROM spending WHERE day = ? ORDER BY model"
    rows: Any = database.execute(query, (day.isoformat(),))
    return {_decode(model): calls for model, calls in rows}


def _erase(database: Connection, key: str | None, source: str | None) -> int:
    names = {key, source}
    erased = 0
    for table in ERASABLE:
        rows = database.execute(f"SELECT n, CAST(key AS BLOB), record FROM {table}")  # noqa: S608
        doomed = {
            n: of
            for n, of, data in rows
            if _decode(of) == key or _comes_from(_read_record(data), names)
        }
        if table == "queue":
            # A worker may hold them together with others: its batch must be void, or it would write
            # what it has read of the erased ones.
            _requeue_all(database, {_decode(of) for of in doomed.values()})
        database.executemany(f"DELETE FROM {table} WHERE n = ?", [(n,) for n in doomed])  # noqa: S608
        erased += len(doomed)
    database.execute("DELETE FROM conversations WHERE key = ?", (key,))
    return erased


def _unqueue(database: Connection, key: str, stamps: Collection[str]) -> int:
    removed = 0
    for table in ("queue", "outbox"):
        rows: Any = database.execute(f"SELECT n, record FROM {table} WHERE key = ?", (key,))  # noqa: S608
        doomed = [(n,) for n, data in rows if _find_time(_read_record(data)) in stamps]
        if table == "queue" and doomed:
            # As in `_erase`: who has read them already must not complete.
            _requeue_all(database, {key})
        database.executemany(f"DELETE FROM {table} WHERE n = ?", doomed)  # noqa: S608
        removed += len(doomed)
    return removed


# What is stored


def _find_time(record: Mapping[str, Any] | None) -> str | None:
    """Return when the message was said that waits, or that something was found in."""
    known = record or {}
    message = known.get("message")
    return message.get("timestamp") if isinstance(message, dict) else known.get("messageTime")


def _read_queued(data: bytes) -> Queued | None:
    return _read(data, queued_from_json)


def _read(data: bytes, read: Callable[[dict[str, Any]], T]) -> T | None:
    """Return what a record says, or None for one that is damaged: it is left alone."""
    try:
        return read(json.loads(data))
    except (KeyError, TypeError, ValueError) as error:
        atomic.log.warning(
            "a message to learn from cannot be read (%s); it was left as it is", error
        )
        return None


def _make_problem(key: str, record: Mapping[str, Any] | None) -> LearningProblem:
    known = record or {}
    time = _read_time(str(known.get("time")).encode())
    return LearningProblem(
        time or LONG_AGO, key, known.get("text", "what went wrong cannot be read")
    )


def _read_record(data: bytes) -> dict[str, Any] | None:
    return _read(data, dict)


def _comes_from(record: object, names: set[str | None]) -> bool:
    """Whether a record names one of these as the source of something in it."""
    looking = [record]
    while looking:
        one = looking.pop()
        if isinstance(one, dict):
            if any(_is_among(one.get(field), names) for field in SAYS_WHENCE):
                return True
            looking += one.values()
        elif isinstance(one, list):
            looking += one
    return False


def _is_among(value: object, names: set[str | None]) -> bool:
    named = value if isinstance(value, list) else [value]
    return any(isinstance(one, str) and one in names for one in named)


def _encode(record: object) -> bytes:
    return dumps(record).encode()


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _clean(text: str) -> str:
    """Replace what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _read_time(data: bytes | None) -> datetime | None:
    """Read a time; one that is damaged is none."""
    try:
        return None if data is None else from_iso(_decode(data))
    except ValueError:
        return None


# Examining


@collect
def _examine(path: Path, now: Callable[[], datetime]) -> Iterator[Part]:
    if not path.exists():
        yield Row("learning", str(path), None, "not there yet")
        return
    refuse_odd(path)
    store = LearningStore(path, now=now, untouched=True)
    try:
        backlog = store.backlog()
        holds = describe_backlog(backlog, has_unread=any(map(store.has_unread, backlog)))
        figures = _collect_figures(store, now().astimezone().date())
        problems = find_learning_problems(store.set_aside(), store.outbox(), store.last_error())
    except CorruptFile as error:
        yield Row("learning", str(path), path.stat().st_size, "cannot be used")
        yield report_damage(path, error)
        return
    yield Row("learning", str(path), path.stat().st_size, holds)
    yield figures
    yield from problems


def _collect_figures(store: LearningStore, today: date) -> LearningFigures:
    tallies = store.tallies(today)
    return LearningFigures(
        calls=sum(store.count_calls(today).values()),
        skipped=tallies.get(SKIPPED, 0),
        given_up=tallies.get(GIVEN_UP, 0),
        last_error=store.last_error(),
        json_formats=store.json_formats(),
    )
