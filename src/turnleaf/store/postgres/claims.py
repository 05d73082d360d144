"""Claims on questions: rows that end soon, renewed while the process lives."""

from __future__ import annotations

from threading import Event, Lock, Thread
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.store.announcements import ProblemLog
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.place import SqlStore, changing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.store.memory.place import Now
    from turnleaf.store.postgres.place import PostgresPlace

LEASE_SECONDS = 60
RENEWAL_SECONDS = 20.0
_CLAIM = """
INSERT INTO turnleaf.answer_claims (message, token, ends_at)
VALUES (%s, %s, now() + make_interval(secs => %s))
"""


class PostgresClaim:
    """Marks a question as being answered until it is ended."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end

    def end(self) -> None:
        """End the claim."""
        ending, self._end = self._end, None
        if ending:
            ending()


class AnswerClaims(SqlStore):
    """The claims of this process in a space; a thread renews them while there are any."""

    def __init__(self, place: PostgresPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._lock = Lock()
        self._tokens: set[str] = set()
        self._ended = Event()

    def claim(self, message_id: int) -> PostgresClaim:
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
        return PostgresClaim(lambda: self._end(token))

    @changing
    def _add(self, message_id: int, token: str) -> None:
        self.run("DELETE FROM turnleaf.answer_claims WHERE ends_at < now()")
        self.run(_CLAIM, message_id, token, LEASE_SECONDS)

    def _end(self, token: str) -> None:
        with self._lock:
            self._tokens.discard(token)
            if not self._tokens:
                self._ended.set()
        self._remove([token])

    @changing
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

    @changing
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
