"""The connections of this process to a database, transactions that know their space, and hints."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from turnleaf.errors import StorageError
from turnleaf.settings import DatabaseLimits, find_database_limits
from turnleaf.store.announcements import ProblemLog
from turnleaf.store.postgres.addresses import (
    Connection,
    DatabaseAddress,
    connect,
    describe,
    read_address,
    translate_errors,
)
from turnleaf.store.postgres.schema import check_database

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from psycopg.rows import RowFactory


ALL_SPACES = ""
CHANNEL = "turnleaf"
LINGER_SECONDS = 2.0
"""So long after the last who wanted hints the connection is closed at the latest."""
RECONNECT_SECONDS = 1.0
_SALT = "SELECT salt FROM turnleaf.migrations ORDER BY version LIMIT 1"


class ChangeHints:
    """Tells who subscribed in this process that a space may have changed, here or elsewhere.

    Others are heard on a connection of its own, which is open while somebody subscribes. Hints are
    sent after a change, outside its transaction: NOTIFY within would hold a lock over the whole
    server while the change is written to disk. One that is lost costs nothing but time, since
    everybody looks every few seconds anyway. What is sent tells nothing to who cannot read the
    tables.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._salt = ""
        self._problems = ProblemLog()
        self._changed = Condition()
        self._listeners: dict[str, set[Callable[[], None]]] = {}
        self._thread: Thread | None = None
        self._can_listen = True

    def add(self, space: str, listener: Callable[[], None]) -> None:
        """Call a listener when a space may have changed."""
        with self._changed:
            self._listeners.setdefault(space, set()).add(listener)
            if self._thread is None and self._can_listen:
                self._thread = Thread(target=self._run, name="turnleaf-listening", daemon=True)
                self._thread.start()

    def remove(self, space: str, listener: Callable[[], None]) -> None:
        """Call it no more."""
        with self._changed:
            known = self._listeners.get(space, set())
            known.discard(listener)
            if not known:
                self._listeners.pop(space, None)
            self._changed.notify_all()

    def wake(self, space: str = ALL_SPACES) -> None:
        """Wake whoever in this process watches a space."""
        with self._changed:
            known = [*self._listeners] if space == ALL_SPACES else [space]
            called = [one for name in known for one in self._listeners.get(name, ())]
        # Outside the lock, since a listener takes one of its own.
        for one in called:
            one()

    def read_salt(self, connection: Connection) -> None:
        """Read what makes the names of spaces unreadable; everybody who serves has the same."""
        ((self._salt,),) = connection.execute(_SALT).fetchall()

    def send(self, connection: Connection, spaces: Collection[str]) -> None:
        """Notify other servers that spaces changed, on a connection without a transaction."""
        with suppress(psycopg.Error):
            # The change is stored: a hint that is lost costs others two seconds at most.
            for space in spaces:
                connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._hide(space)))

    def _hide(self, space: str) -> str:
        # Anybody who may connect can listen, and without the salt could try names.
        return hashlib.sha256(f"{self._salt} {space}".encode()).hexdigest()[:32]

    def _run(self) -> None:
        while self._is_wanted():
            self._problems.attempt("changes by others are noticed later", self._listen)
            with self._changed:
                self._changed.wait_for(lambda: not self._listeners, RECONNECT_SECONDS)

    def _is_wanted(self) -> bool:
        """Whether somebody subscribes; the thread ends where nobody does."""
        with self._changed:
            if self._listeners and self._can_listen:
                return True
            self._thread = None
            return False

    def _listen(self) -> None:
        """Hear others until nobody wants to know, or the connection is lost."""
        with translate_errors(), connect(self._conninfo) as connection:
            # A pooler gives each statement to another process of the server, which would hear
            # what nobody then reads.
            ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
            self._can_listen = process == connection.info.backend_pid
            if not self._can_listen:
                return
            connection.execute(f"LISTEN {CHANNEL}".encode())
            self.wake()  # For what changed before.
            while self._listeners:
                for hint in connection.notifies(timeout=LINGER_SECONDS):
                    self._hear(hint.payload)

    def _hear(self, hidden: str) -> None:
        with self._changed:
            known = [ALL_SPACES, *self._listeners]
        for space in known:
            if self._hide(space) == hidden:
                self.wake(space)


T = TypeVar("T")
WAIT_SECONDS = 30.0
IDLE_SECONDS = 60.0
MOST_ATTEMPTS = 5
# One message to the server. The space is set for this transaction alone: a pool between here and
# the server may give the next one to somebody else.
_BEGIN = """
BEGIN {mode};
SET LOCAL timezone = 'UTC';
SET LOCAL statement_timeout = {most};
SET LOCAL idle_in_transaction_session_timeout = {most};
SELECT set_config('turnleaf.space', {space}, true)
"""
# All statements of a step see one moment, without a lock.
_READS = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Not repeatable read: after waiting for a lock, a step must see what its holder has written.
_WRITES = "ISOLATION LEVEL READ COMMITTED"
# It waits for an earlier attempt whose connection was lost and that is not over yet.
_NOTE_WRITE = ";INSERT INTO turnleaf.writes (id) VALUES ({id}) ON CONFLICT DO NOTHING"
_FORGET_WRITES = ";DELETE FROM turnleaf.writes WHERE id < {oldest}"
_FORGET_EVERY = 64
_WRITE_SECONDS = 3600
"""For how long the id of a transaction is kept: longer than anybody tries it again."""
_PASSING = ("08", "40", "57P01", "57P02", "57P03")
"""How codes of errors begin after which the same may succeed: a connection that was lost, a
deadlock, a server that shuts down or starts."""

_opened: dict[str, SharedDatabase] = {}
_opening = Lock()


def share_database(given: str) -> SharedDatabase:
    """Return the one object for a database that everybody in this process uses."""
    address = read_address(given)
    with _opening:
        if address.conninfo not in _opened:
            _opened[address.conninfo] = SharedDatabase(address, find_database_limits())
        return _opened[address.conninfo]


class SharedDatabase:
    """A pool of connections, which is open while somebody uses it."""

    def __init__(self, address: DatabaseAddress, limits: DatabaseLimits) -> None:
        self.address = address
        self._limits = limits
        direct = limits.direct_address
        self.hints = ChangeHints(read_address(direct).conninfo if direct else address.conninfo)
        self.cursor_factory: type[psycopg.Cursor[Any]] = psycopg.Cursor
        """What runs the statements."""
        self._lock = Lock()
        self._users: set[int] = set()
        self._pool: ConnectionPool[Connection] | None = None

    def transact(
        self,
        user: object,
        space: str,
        work: Callable[[Connection], T],
        *,
        writes: bool,
        changed: Collection[str] = (),
    ) -> T:
        """Do some work in one transaction in a space; it is rolled back when something raises.

        Where the connection is lost it is done again. Whoever loses it at COMMIT cannot know
        whether it was stored: so a transaction that writes has an id, which an attempt that finds
        it stored already takes for its own. Others are told of the spaces that the work adds to
        `changed`.
        """
        with translate_errors():
            pool = self._open(user)
            beginning = _make_beginning(space, self._limits.statement_seconds, writes=writes)
            sent: list[T] = []
            for left in reversed(range(MOST_ATTEMPTS)):
                try:
                    return self._attempt(pool, beginning, work, sent, changed)
                except psycopg.OperationalError as error:
                    if not (left and _is_passing(error)):
                        _raise_if_uncertain(sent, error)
                        raise
                    # What cut this connection has probably cut the others of the pool, too.
                    pool.check()
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def _attempt(
        self,
        pool: ConnectionPool[Connection],
        beginning: sql.Composed,
        work: Callable[[Connection], T],
        sent: list[T],
        changed: Collection[str],
    ) -> T:
        """Try once; `sent` has what an attempt brought of which nobody knows whether it stands."""
        connection = pool.getconn()
        try:
            begun = connection.execute(beginning)
            # Several statements in one message; the result
            # of the last one tells whether the id is new.
            while begun.nextset():
                pass
            # The id is there already, so the attempt whose COMMIT got no answer was stored.
            if sent and not begun.rowcount:
                connection.execute("ROLLBACK")
                return sent[0]
            sent.clear()
            done = work(connection)
            # From here to the answer to COMMIT nobody knows whether it is stored.
            sent.append(done)
            connection.execute("COMMIT")
            self.hints.send(connection, changed)
        # After an interrupt as well: a connection within
        # a transaction must not go back to the pool.
        except BaseException:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            raise
        else:
            return done
        finally:
            pool.putconn(connection)

    def _open(self, user: object) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                self._pool = self._connect()
            self._users.add(id(user))
            return self._pool

    def _connect(self) -> ConnectionPool[Connection]:
        conninfo = self.address.conninfo
        # By itself first: a pool would go on trying for long where an address is wrong.
        with connect(conninfo) as connection:
            check_database(connection)
            self.hints.read_salt(connection)
        pool = ConnectionPool[Connection](
            conninfo,
            # A process that does nothing holds no connection.
            min_size=0,
            max_size=self._limits.connections,
            timeout=WAIT_SECONDS,
            max_idle=IDLE_SECONDS,
            open=False,
            # A pooler between here and the server knows no prepared statements.
            kwargs={
                # BEGIN is sent in one message with what sets the space.
                "autocommit": True,
                "prepare_threshold": None,
                "cursor_factory": self._make_cursor,
            },
        )
        pool.open()
        return pool

    def _make_cursor(
        self,
        connection: Connection,
        *,
        row_factory: RowFactory[Any],
    ) -> psycopg.Cursor[Any]:
        return self.cursor_factory(connection, row_factory=row_factory)

    def measure(self) -> dict[str, float]:
        """Return figures about the pool, as `Stores.measure_pool` names them."""
        pool = self._pool
        found = pool.get_stats() if pool else {}
        return {
            "connections": found.get("pool_size", 0),
            "idle_connections": found.get("pool_available", 0),
            "max_connections": self._limits.connections,
            "waiting_requests": found.get("requests_waiting", 0),
            "requests_total": found.get("requests_num", 0),
            "failed_requests_total": found.get("requests_errors", 0),
            "lost_connections_total": found.get("connections_lost", 0),
        }

    def is_used_by(self, user: object) -> bool:
        """Whether somebody has used it and not released it."""
        return id(user) in self._users

    def release(self, user: object) -> None:
        """Take note that somebody needs no connection for now; the last one closes the pool."""
        with self._lock:
            self._users.discard(id(user))
            if self._users or self._pool is None:
                return
            pool, self._pool = self._pool, None
        pool.close()


def _make_beginning(space: str, most_seconds: int, *, writes: bool) -> sql.Composed:
    """Return the statements that begin a transaction; of one that writes, the last adds its id."""
    text, values = _BEGIN, {"mode": sql.SQL(_READS), "space": sql.Literal(space)}
    values["most"] = sql.Literal(f"{most_seconds}s")
    if writes:
        chance = uuid4()
        now = time.time_ns()
        values["mode"] = sql.SQL(_WRITES)
        # It begins with the time, so that old ones are found by their order.
        values["id"] = sql.Literal(f"{now:016x}{chance.hex}")
        values["oldest"] = sql.Literal(f"{now - _WRITE_SECONDS * 10**9:016x}")
        # Old ids are removed now and then, so that not every change pays for it.
        text += _NOTE_WRITE if chance.int % _FORGET_EVERY else _FORGET_WRITES + _NOTE_WRITE
    return sql.SQL(text).format(**values)


def _is_passing(error: psycopg.OperationalError) -> bool:
    """Whether the same may succeed when it is tried again."""
    # The pool has waited long enough already.
    if isinstance(error, PoolTimeout | PoolClosed):
        return False
    # Without a code it was the connection that failed, not the statement.
    return error.sqlstate is None or error.sqlstate.startswith(_PASSING)


def _raise_if_uncertain(sent: Sequence[object], error: psycopg.OperationalError) -> None:
    """Raise StorageError where nobody knows whether a change is stored."""
    if sent:
        message = (
            "the connection to the database failed while the change was being saved "
            f"({describe(error)}), so it may or may not be stored; check before you repeat it"
        )
        raise StorageError(message) from None
