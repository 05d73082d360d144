"""The connections of this process to a database, and transactions that know their space."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from turnleaf.errors import StorageError
from turnleaf.store.postgres.address import DatabaseAddress, read_address
from turnleaf.store.postgres.errors import Connection, describe, translate_errors
from turnleaf.store.postgres.migrating import CONNECT_SECONDS, check_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_CONNECTIONS = 10
WAIT_SECONDS = 30.0
IDLE_SECONDS = 60.0
# One message to the server. The space is set for this transaction alone: a pool between here and
# the server may give the next one to somebody else.
_BEGIN = """
BEGIN {mode};
SET LOCAL timezone = 'UTC';
SET LOCAL statement_timeout = '60s';
SET LOCAL idle_in_transaction_session_timeout = '60s';
SELECT set_config('turnleaf.space', {space}, true)
"""
READS = sql.SQL("ISOLATION LEVEL REPEATABLE READ READ ONLY")
WRITES = sql.SQL("ISOLATION LEVEL READ COMMITTED")

_opened: dict[str, SharedDatabase] = {}
_opening = Lock()


def share_database(given: str) -> SharedDatabase:
    """Return the one object for a database that everybody in this process uses."""
    address = read_address(given)
    with _opening:
        return _opened.setdefault(address.conninfo, SharedDatabase(address))


class SharedDatabase:
    """A pool of connections, which is open while somebody uses it."""

    def __init__(self, address: DatabaseAddress) -> None:
        self.address = address
        self.listeners: set[Callable[[], None]] = set()
        """Called when a change was made from here."""
        self._lock = Lock()
        self._users: set[int] = set()
        self._pool: ConnectionPool[Connection] | None = None

    @contextmanager
    def begin(self, user: object, space: str, *, writes: bool) -> Iterator[Connection]:
        """Run a transaction in a space; it is rolled back when something raises."""
        with translate_errors():
            pool = self._open(user)
            connection = self._begin(pool, space, writes=writes)
            try:
                yield connection
                self._commit(connection)
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                pool.putconn(connection)

    def _begin(self, pool: ConnectionPool[Connection], space: str, *, writes: bool) -> Connection:
        """Begin a transaction; a connection that was cut meanwhile is replaced."""
        mode = WRITES if writes else READS
        statement = sql.SQL(_BEGIN).format(mode=mode, space=sql.Literal(space))
        while True:
            connection = pool.getconn()
            try:
                connection.execute(statement)
            except psycopg.OperationalError:
                is_cut = connection.closed
                pool.putconn(connection)
                if not is_cut:
                    raise
                pool.check()
                continue
            except BaseException:
                pool.putconn(connection)
                raise
            return connection

    def _commit(self, connection: Connection) -> None:
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            message = (
                f"the connection to the database failed at the end ({describe(error)}), so the "
                "change may or may not be stored; look before you repeat it"
            )
            raise StorageError(message) from None

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
        pool = ConnectionPool[Connection](
            conninfo,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=WAIT_SECONDS,
            max_idle=IDLE_SECONDS,
            open=False,
            # A pooler between here and the server knows no prepared statements.
            kwargs={"autocommit": True, "prepare_threshold": None},
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
            "max_connections": MOST_CONNECTIONS,
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

    def wake(self) -> None:
        """Have everybody in this process look for changes now."""
        for listener in [*self.listeners]:
            listener()
