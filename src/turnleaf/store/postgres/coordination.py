"""What servers over one database know of each other: changes, questions in hand, and work."""

from __future__ import annotations

from functools import partial
from threading import Condition, Event, Lock, Thread, current_thread
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.store.announcements import ProblemLog, Subscribers
from turnleaf.store.due_work import WORK_LEASE, DueWork
from turnleaf.store.in_memory.conversations import EndableClaim
from turnleaf.store.in_memory.shared_data import in_one_step
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from turnleaf.store.announcements import Callback
    from turnleaf.store.in_memory.shared_data import Now
    from turnleaf.store.postgres.space_transactions import PostgresPlace, Transaction


KINDS = ("config", "conversations", "daily", "facts", "pending", "records", "schedules")
LOOK_SECONDS = 2.0
# A database that does not answer must not keep a process from ending.
CLOSE_SECONDS = 5.0


class PostgresAnnouncements(SqlStore):
    """The announcements of a space: a thread compares its counters every few seconds.

    A change that this process made has it look at once, and so does a hint of another.
    """

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
            # Every change from here on counts, also before the thread looks.
            # Outside the lock, because the database may take its time.
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
        thread = self._thread
        # A look that is under way would open again the connections that are released next.
        if thread and thread is not current_thread():
            thread.join(CLOSE_SECONDS)

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


# Two renewals may fail before a question seems to be given up.
LEASE_SECONDS = 60
RENEWAL_SECONDS = 20.0
# By the database's clock, which is the same for all servers.
_CLAIM = """
INSERT INTO turnleaf.answer_claims (message, token, ends_at)
VALUES (%s, %s, now() + make_interval(secs => %s))
"""


class AnswerClaims(SqlStore):
    """The claims of this process on questions: rows that end soon, renewed while there are any."""

    def __init__(self, place: PostgresPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._lock = Lock()
        self._tokens: set[str] = set()
        self._ended = Event()

    def claim(self, message_id: int) -> EndableClaim:
        """Mark a question as being answered."""
        token = uuid4().hex
        self._add(message_id, token)
        with self._lock:
            self._tokens.add(token)
            if len(self._tokens) == 1:
                self._ended = Event()
                Thread(
                    target=self._renew, args=(self._ended,), name="turnleaf-claims", daemon=True
                ).start()
        return EndableClaim(lambda: self._end(token))

    @in_writing_step
    def _add(self, message_id: int, token: str) -> None:
        # What servers left that were killed.
        self.run("DELETE FROM turnleaf.answer_claims WHERE ends_at < now()")
        self.run(_CLAIM, message_id, token, LEASE_SECONDS)

    def _end(self, token: str) -> None:
        with self._lock:
            self._tokens.discard(token)
            if not self._tokens:
                self._ended.set()
        self._remove([token])

    @in_writing_step
    def _remove(self, tokens: Sequence[str]) -> None:
        self.run("DELETE FROM turnleaf.answer_claims WHERE token = ANY(%s)", [*tokens])

    @in_one_step
    def find(self, numbers: Sequence[int]) -> set[int]:
        """Return which of some questions somebody answers now."""
        if not numbers:
            return set()
        query = (
            "SELECT message FROM turnleaf.answer_claims WHERE message = ANY(%s) AND ends_at > now()"
        )
        return {number for (number,) in self.rows(query, [*numbers])}

    def _renew(self, ended: Event) -> None:
        problems = ProblemLog()
        while not ended.wait(RENEWAL_SECONDS):
            problems.attempt("a claim was not renewed", self._prolong)

    @in_writing_step
    def _prolong(self) -> None:
        query = (
            "UPDATE turnleaf.answer_claims SET ends_at = now() + make_interval(secs => %s) "
            "WHERE token = ANY(%s)"
        )
        self.run(query, LEASE_SECONDS, [*self._tokens])

    def close(self) -> None:
        """End all claims."""
        with self._lock:
            tokens, self._tokens = self._tokens, set()
            self._ended.set()
        if tokens:
            self._remove([*tokens])


_DUE = "due <= %(now)s AND (held_until IS NULL OR held_until <= %(now)s)"
# Chosen once: as a subquery it may be done again for each row, and then take more than it should.
_TAKE = f"""
WITH chosen AS MATERIALIZED (
    SELECT space, kind FROM turnleaf.work WHERE {_DUE}
    ORDER BY due LIMIT %(most)s FOR UPDATE SKIP LOCKED
)
UPDATE turnleaf.work SET holder = %(holder)s, held_until = %(until)s
WHERE (space, kind) IN (SELECT space, kind FROM chosen)
RETURNING space, kind, n::text
"""  # noqa: S608 - of constants
_POSTPONE = """
UPDATE turnleaf.work SET holder = NULL, held_until = NULL,
    due = CASE WHEN n = %s THEN coalesce(%s, due) ELSE due END
WHERE space = %s AND kind = %s AND holder = %s
"""
_REMOVE = "DELETE FROM turnleaf.work WHERE space = %s AND kind = %s AND holder = %s AND n = %s"
_RELEASE = """
UPDATE turnleaf.work SET holder = NULL, held_until = NULL
WHERE space = %s AND kind = %s AND holder = %s
"""
# Whoever is at it learns that there is more by the number; nobody else needs to be told again.
_NOTE = """
INSERT INTO turnleaf.work AS known (kind, due) VALUES (%(kind)s, %(due)s)
ON CONFLICT (space, kind) DO UPDATE SET n = known.n + 1, due = excluded.due
WHERE %(always)s OR known.held_until IS NOT NULL OR known.due > excluded.due
"""
_NOTHING = "DELETE FROM turnleaf.work WHERE space = current_setting('turnleaf.space') AND kind = %s"


def note_work(step: Transaction, kind: str, due: datetime) -> None:
    """Schedule a look into the space at a time, or earlier if it is looked at anyway."""
    step.connection.execute(_NOTE, {"kind": kind, "due": due, "always": False})


def set_work(step: Transaction, kind: str, due: datetime | None) -> None:
    """Schedule a look into the space at a time and not before; None: never."""
    if due is None:
        step.run(_NOTHING, kind)
    else:
        step.connection.execute(_NOTE, {"kind": kind, "due": due, "always": True})


class PostgresWork(SqlStore):
    """The work of all spaces."""

    def __init__(self, place: PostgresPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._holder = uuid4().hex
        self._lock = Lock()
        self._held: dict[tuple[str, str], DueWork] = {}

    def claim(self, most: int = 1) -> list[DueWork]:
        """Take work that is due, at most so much."""
        with self._lock:
            # Usually there is none, and nothing is written.
            room = most - len(self._held)
            taken = self._take(room) if room > 0 and self._has_due() else []
            self._held |= {(one.space, one.kind): one for one in taken}
            return taken

    @in_one_step
    def _has_due(self) -> bool:
        query = f"SELECT 1 FROM turnleaf.work WHERE {_DUE} LIMIT 1"  # noqa: S608 - of constants
        return bool(self.step.connection.execute(query.encode(), {"now": self.now()}).fetchall())

    @in_writing_step
    def _take(self, most: int) -> list[DueWork]:
        now = self.now()
        values = {"now": now, "until": now + WORK_LEASE, "holder": self._holder, "most": most}
        found = self.step.connection.execute(_TAKE.encode(), values).fetchall()
        return [DueWork(*row) for row in found]

    @in_one_step
    def count_due(self) -> int:
        """Count what is due, held or not."""
        ((count,),) = self.rows("SELECT count(*) FROM turnleaf.work WHERE due <= %s", self.now())
        return int(count)

    def finish(self, work: DueWork, again: datetime | None = None) -> None:
        """Release work, which is due again at a time."""
        with self._lock:
            self._held.pop((work.space, work.kind), None)
        self._finish(work, again)

    @in_writing_step
    def _finish(self, work: DueWork, again: datetime | None) -> None:
        place, number = (work.space, work.kind, self._holder), int(work.mark)
        # Where more was added meanwhile, as its number tells, the row stays.
        if again is not None or not self.run(_REMOVE, *place, number):
            self.run(_POSTPONE, number, again, *place)

    def close(self) -> None:
        """Release everything that is held."""
        with self._lock:
            held, self._held = [*self._held.values()], {}
        if held:
            self._release(held)

    @in_writing_step
    def _release(self, held: list[DueWork]) -> None:
        self.step.run_many(_RELEASE, [(one.space, one.kind, self._holder) for one in held])
