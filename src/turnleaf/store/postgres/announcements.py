"""Announces changes of a space: a thread compares its counters every few seconds.

A change that this process made has it look at once, and so does a hint of another.
"""

from __future__ import annotations

from functools import partial
from threading import Condition, Thread
from typing import TYPE_CHECKING

from turnleaf.store.announcements import ProblemLog, Subscribers
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.place import SqlStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnleaf.store.announcements import Callback
    from turnleaf.store.memory.place import Now
    from turnleaf.store.postgres.place import PostgresPlace

KINDS = ("config", "conversations", "daily", "facts", "pending", "records", "schedules")
LOOK_SECONDS = 2.0


class PostgresAnnouncements(SqlStore):
    """The announcements of a space."""

    def __init__(
        self,
        place: PostgresPlace,
        space: str,
        now: Now,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        super().__init__(place, space, now)
        self._look_seconds = look_seconds
        self._subscribers = Subscribers()
        self._problems = ProblemLog()
        self._woken = Condition()
        self._is_woken = False
        self._seen: dict[str, int] | None = None
        self._thread: Thread | None = None

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` with the kinds that may have changed; return what ends that."""
        with self._woken:
            is_first = not self._subscribers
        if is_first:
            self._seen = self._read()
        with self._woken:
            added = self._subscribers.add(callback)
            if self._thread is None:
                self.place.database.hints.add(self.space, self._wake)
                self._thread = Thread(target=self._run, name="turnleaf-announcing", daemon=True)
                self._thread.start()
        return partial(self._remove, added)

    def _remove(self, added: ProblemLog) -> None:
        self._subscribers.remove(added)
        self._wake()

    def close(self) -> None:
        """End all subscriptions."""
        self._subscribers.clear()
        self._wake()

    def _wake(self) -> None:
        with self._woken:
            self._is_woken = True
            self._woken.notify_all()

    @in_one_step
    def _read(self) -> dict[str, int]:
        query = "SELECT kind, n FROM turnleaf.counters WHERE kind = ANY(%s)"
        return dict(self.rows(query, [*KINDS]))

    def _run(self) -> None:
        while self._wait():
            now = self._problems.attempt("changes cannot be looked for", self._read)
            if now is None:
                continue
            before, self._seen = self._seen or {}, now
            kinds = frozenset(kind for kind, n in now.items() if n != before.get(kind, 0))
            if kinds:
                self._subscribers.tell(kinds)

    def _wait(self) -> bool:
        """Wait until it is time to look; False when nobody subscribes any more."""
        with self._woken:
            self._woken.wait_for(lambda: self._is_woken, self._look_seconds)
            self._is_woken = False
            if self._subscribers:
                return True
            self.place.database.hints.remove(self.space, self._wake)
            self._thread = None
            return False
