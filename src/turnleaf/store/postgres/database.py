"""The connections of this process to a database, and transactions that know their space."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from turnleaf.errors import StorageError
from turnleaf.settings import DatabaseLimits, find_database_limits
from turnleaf.store.postgres.address import DatabaseAddress, read_address
from turnleaf.store.postgres.errors import Connection, describe, translate_errors
from turnleaf.store.postgres.hints import ChangeHints
from turnleaf.store.postgres.migrating import CONNECT_SECONDS, check_database

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

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
_READS = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
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
        """What runs the statements of the connections that are made from now on."""
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
            while begun.nextset():
                pass
            if sent and not begun.rowcount:
                connection.execute("ROLLBACK")
                return sent[0]
            sent.clear()
            done = work(connection)
            sent.append(done)
            connection.execute("COMMIT")
            self.hints.send(connection, changed)
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
        with psycopg.connect(
            conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS
        ) as connection:
            check_database(connection)
            self.hints.read_salt(connection)
        pool = ConnectionPool[Connection](
            conninfo,
            min_size=0,
            max_size=self._limits.connections,
            timeout=WAIT_SECONDS,
            max_idle=IDLE_SECONDS,
            open=False,
            # A pooler between here and the server knows no prepared statements.
            kwargs={
                "autocommit": True,
                "prepare_threshold": None,
                "cursor_factory": self.cursor_factory,
            },
        )
        pool.open()
        return pool

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
        values["id"] = sql.Literal(f"{now:016x}{chance.hex}")
        values["oldest"] = sql.Literal(f"{now - _WRITE_SECONDS * 10**9:016x}")
        text += _NOTE_WRITE if chance.int % _FORGET_EVERY else _FORGET_WRITES + _NOTE_WRITE
    return sql.SQL(text).format(**values)


def _is_passing(error: psycopg.OperationalError) -> bool:
    """Whether the same may succeed when it is tried again."""
    if isinstance(error, PoolTimeout | PoolClosed):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_PASSING)


def _raise_if_uncertain(sent: Sequence[object], error: psycopg.OperationalError) -> None:
    """Raise StorageError where nobody knows whether a change is stored."""
    if sent:
        message = (
            f"the connection to the database failed at the end ({describe(error)}), so the "
            "change may or may not be stored; look before you repeat it"
        )
        raise StorageError(message) from None
