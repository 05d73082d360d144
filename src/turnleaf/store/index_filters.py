"""Which passages a search may find: of a kind, of some days, and only by whom they may be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.audiences import EVERYONE, Reader, can_read
from turnleaf.core.stored_messages import TRUSTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from turnleaf.core.passages import Passage
    from turnleaf.core.ranking import Ranked


class Narrowing(NamedTuple):
    """Which passages are searched."""

    source: str | None = None
    since: str | None = None
    until: str | None = None
    closed: tuple[int, ...] = ()
    """The circles whose passages the reader may not find."""

    @property
    def is_narrow(self) -> bool:
        """Whether only a kind of passages, or those of some days, are searched."""
        return self[:3] != (None, None, None)

    @property
    def condition(self) -> str:
        """The condition in SQL on a passage, with its three values below."""
        closed = ", ".join(map(str, self.closed))
        is_open = f"AND (circle IS NULL OR circle NOT IN ({closed}))" if closed else ""
        if not self.is_narrow:
            return is_open
        since = "AND date >= ?3" if self.since else "AND ?3 IS NULL"
        until = "AND date <= ?4" if self.until else "AND ?4 IS NULL"
        kind = "AND kind = ?2" if self.source else "AND ?2 IS NULL"
        return f"{kind} {since} {until} {is_open}"

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values in the condition."""
        return self[:3] if self.is_narrow else ()


def circle_of(database: apsw.Connection, said: Passage) -> int | None:
    """Return the circle of those who may find a passage; None: everybody, in every prompt."""
    if said.audience == EVERYONE and said.trust in TRUSTED:
        return None
    circle = (said.audience, said.trust, said.conversation or "")
    database.execute(
        "INSERT OR IGNORE INTO circles (audience, trust, conversation) VALUES (?, ?, ?)", circle
    )
    return int(
        database.execute(
            "SELECT id FROM circles WHERE audience = ? AND trust = ? AND conversation = ?", circle
        ).get
    )


def find_closed(database: apsw.Connection, reader: Reader) -> tuple[int, ...]:
    """Return the circles whose passages a reader may not find."""
    rows: Any = database.execute("SELECT id, audience, trust, conversation FROM circles")
    return tuple(number for number, *circle in rows if not _is_open(reader, *circle))


def put_old_last(database: apsw.Connection, order: Sequence[Ranked]) -> list[Ranked]:
    """Return what was found with the messages last that their conversation no longer shows."""
    numbers = json.dumps([one.id for one in order])
    rows: Any = database.execute(
        "SELECT id FROM passages WHERE NOT is_shown AND id IN (SELECT value FROM json_each(?))",
        (numbers,),
    )
    old = {number for (number,) in rows}
    return sorted(order, key=lambda one: one.id in old) if old else [*order]


def forget_empty_circles(database: apsw.Connection) -> None:
    """Take out the circles of conversations that are gone."""
    database.execute(
        "DELETE FROM circles WHERE NOT EXISTS (SELECT 1 FROM passages WHERE circle = circles.id)"
    )


def _is_open(reader: Reader, audience: str, trust: str, conversation: str) -> bool:
    """Whether a reader may find what was said in a circle.

    Strangers', tools' and documents' words are in the prompts of their own conversation alone.
    """
    if reader.is_prompt and trust not in TRUSTED and conversation != reader.conversation:
        return False
    return can_read(audience, reader)
