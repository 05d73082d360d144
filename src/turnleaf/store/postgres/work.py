"""Work of all spaces in one table, of which each server takes what no other has."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.place import SqlStore, changing
from turnleaf.store.work import WORK_LEASE, DueWork

if TYPE_CHECKING:
    from datetime import datetime

    from turnleaf.store.memory.place import Now
    from turnleaf.store.postgres.place import PostgresPlace, Transaction

_DUE = "due <= %(now)s AND (held_until IS NULL OR held_until <= %(now)s)"
_TAKE = f"""
UPDATE turnleaf.work SET holder = %(holder)s, held_until = %(until)s
WHERE (space, kind) IN (
    SELECT space, kind FROM turnleaf.work WHERE {_DUE}
    ORDER BY due LIMIT %(most)s FOR UPDATE SKIP LOCKED
)
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
    """Have somebody look into the space at a time, or when it is looked at anyway."""
    step.connection.execute(_NOTE, {"kind": kind, "due": due, "always": False})


def set_work(step: Transaction, kind: str, due: datetime | None) -> None:
    """Have somebody look into the space at a time and not before; None: never."""
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

    @changing
    def _take(self, most: int) -> list[DueWork]:
        now = self.now()
        values = {"now": now, "until": now + WORK_LEASE, "holder": self._holder, "most": most}
        found = self.step.connection.execute(_TAKE.encode(), values).fetchall()
        return [DueWork(*row) for row in found]

    def finish(self, work: DueWork, again: datetime | None = None) -> None:
        """Let go of work, which is due again at a time."""
        with self._lock:
            self._held.pop((work.space, work.kind), None)
        self._finish(work, again)

    @changing
    def _finish(self, work: DueWork, again: datetime | None) -> None:
        place, number = (work.space, work.kind, self._holder), int(work.mark)
        if again is not None or not self.run(_REMOVE, *place, number):
            self.run(_POSTPONE, number, again, *place)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            held, self._held = [*self._held.values()], {}
        if held:
            self._release(held)

    @changing
    def _release(self, held: list[DueWork]) -> None:
        self.step.run_many(_RELEASE, [(one.space, one.kind, self._holder) for one in held])
