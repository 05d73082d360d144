"""Hints from one server to the others that a space has changed, so that they look at once.

They are sent after a change, outside its transaction: NOTIFY within would hold a lock over the
whole server while the change is written to disk. One that is lost costs nothing but time, since
everybody looks every few seconds anyway. What is sent tells nothing to who cannot read the tables.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING

import psycopg

from turnleaf.store.announcements import ProblemLog
from turnleaf.store.postgres.errors import translate_errors
from turnleaf.store.postgres.migrating import CONNECT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from turnleaf.store.postgres.errors import Connection

ALL_SPACES = ""
CHANNEL = "turnleaf"
LINGER_SECONDS = 2.0
"""So long after the last who wanted hints the connection is closed at the latest."""
RECONNECT_SECONDS = 1.0
_SALT = "SELECT salt FROM turnleaf.migrations ORDER BY version LIMIT 1"


class ChangeHints:
    """Tells who subscribed in this process that a space may have changed, here or elsewhere.

    Others are heard on a connection of its own, which is open while somebody subscribes.
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
        """Have those in this process look who want to know of a space."""
        with self._changed:
            known = [*self._listeners] if space == ALL_SPACES else [space]
            called = [one for name in known for one in self._listeners.get(name, ())]
        for one in called:
            one()

    def read_salt(self, connection: Connection) -> None:
        """Read what makes the names of spaces unreadable; everybody who serves has the same."""
        ((self._salt,),) = connection.execute(_SALT).fetchall()

    def send(self, connection: Connection, spaces: Collection[str]) -> None:
        """Notify other servers that spaces changed, on a connection without a transaction."""
        with suppress(psycopg.Error):
            for space in spaces:
                connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._hide(space)))

    def _hide(self, space: str) -> str:
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
        with (
            translate_errors(),
            psycopg.connect(
                self._conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS
            ) as connection,
        ):
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
