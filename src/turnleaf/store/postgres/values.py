"""What of a space is read whole, changed by the same code as in memory, and written back.

A table's rows are compared with those that were read, and only what differs is written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from turnleaf.core import schedules
from turnleaf.core.jsontext import dumps
from turnleaf.core.schedules import Schedule
from turnleaf.store.postgres.work import set_work
from turnleaf.store.work import SCHEDULES, find_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from turnleaf.store.postgres.place import Transaction

T = TypeVar("T")


class LoadedTable(Generic[T]):
    """Rows of a table as a value: what has an id, and its body.

    In a table that `is_ordered` they stand in the order in which they were added.
    """

    def __init__(
        self,
        step: Transaction,
        table: str,
        read: Callable[[Mapping[Any, Any]], T],
        write: Callable[[T], Iterable[tuple[Any, object]]],
        *,
        section: str | None = None,
        is_ordered: bool = False,
    ) -> None:
        self._table, self._write = table, write
        self._fixed: Mapping[str, object] = {} if section is None else {"section": section}
        self._order = "place" if is_ordered else "id"
        where = "".join(f" WHERE {name} = %s" for name in self._fixed)
        query = (
            f"SELECT id, {self._order}, body FROM turnleaf.{table}{where} ORDER BY {self._order}"  # noqa: S608
        )
        rows = step.rows(query, *self._fixed.values())
        self._stored = {name: body for name, _, body in rows}
        self._next = 1 + max((place for _, place, _ in rows), default=0) if is_ordered else 0
        self.value = read({name: json.loads(body) for name, body in self._stored.items()})

    def _list_bodies(self) -> dict[Any, str]:
        return {name: dumps(body) for name, body in self._write(self.value)}

    def has_changed(self) -> bool:
        """Whether a row is new, other or gone."""
        return self._list_bodies() != self._stored

    def save(self, step: Transaction) -> None:
        """Write the rows that differ."""
        now = self._list_bodies()
        gone = [one for one in self._stored if one not in now]
        if gone:
            where = "".join(f" AND {name} = %s" for name in self._fixed)
            query = f"DELETE FROM turnleaf.{self._table} WHERE id = ANY(%s){where}"  # noqa: S608
            step.run(query, gone, *self._fixed.values())
        other = {name: body for name, body in now.items() if self._stored.get(name) != body}
        fixed = self._fixed.values()
        rows = [
            (*fixed, name, body, *self._place(at)) for at, (name, body) in enumerate(other.items())
        ]
        step.run_many(self._make_upsert(), rows)

    def _place(self, number: int) -> tuple[int, ...]:
        return (self._next + number,) if self._order == "place" else ()

    def _make_upsert(self) -> str:
        names = [*self._fixed, "id", "body", *(["place"] if self._order == "place" else [])]
        keys = ", ".join(("space", *self._fixed, "id"))
        places = ", ".join(["%s"] * len(names))
        return (
            f"INSERT INTO turnleaf.{self._table} ({', '.join(names)}) VALUES ({places}) "  # noqa: S608
            f"ON CONFLICT ({keys}) DO UPDATE SET body = excluded.body"
        )


def load_results(step: Transaction) -> LoadedTable[dict[str, str]]:
    """Read what the runs of schedules brought, by name."""
    return LoadedTable(step, "schedule_results", dict, dict.items)


class LoadedSchedules(LoadedTable[dict[str, Schedule]]):
    """The schedules of a space, in the order in which they were made."""

    def __init__(self, step: Transaction) -> None:
        super().__init__(
            step,
            "schedules",
            lambda bodies: {name: schedules.from_json(body) for name, body in bodies.items()},
            lambda kept: ((name, schedules.to_json(one)) for name, one in kept.items()),
            is_ordered=True,
        )

    def save(self, step: Transaction) -> None:
        """Write the rows that differ, and when somebody is to look at them."""
        super().save(step)
        set_work(step, SCHEDULES, find_first(self.value.values()))
