"""Has PostgreSQL tell how it reads the tables, for whatever a store does with a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from turnleaf.store.postgres.database import share_database

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


@dataclass
class Plans:
    """The scans of tables that PostgreSQL planned, each with the statement."""

    scans: list[tuple[str, str, str, str]] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    indexes: set[str] = field(default_factory=set)

    def add(self, statement: str, node: dict[str, Any]) -> None:
        table = node.get("Relation Name", "")
        if table:
            self.tables.add(table)
        if "Index Name" in node:
            self.indexes.add(node["Index Name"])
        if "Scan" in node["Node Type"] and (table or "Index Name" in node):
            condition = node.get("Index Cond", "")
            name = table or node["Index Name"]
            self.scans.append((node["Node Type"], name, condition, statement))
        for part in node.get("Plans", ()):
            self.add(statement, part)


class ExplainingCursor(psycopg.Cursor[Any]):
    """Has each statement explained, where and with what it is run, before it runs it."""

    plans: Plans

    def execute(self, query: Any, params: Any = None, **options: Any) -> ExplainingCursor:  # noqa: ANN401
        self._explain(query, params)
        return super().execute(query, params, **options)

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:  # noqa: ANN401
        rows: Sequence[Any] = [*params_seq]
        self._explain(query, rows[0])
        super().executemany(query, rows, **options)

    def _explain(self, query: object, params: Any) -> None:  # noqa: ANN401
        for statement in self._split(query):
            if statement.lstrip().startswith(VERBS):
                with psycopg.Cursor(self.connection) as other:
                    told = other.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), params)
                    ((((plan,),),)) = told.fetchall()
                self.plans.add(statement, plan["Plan"])

    def _split(self, query: object) -> list[str]:
        """Return the statements of a text; those that begin a transaction are several."""
        if isinstance(query, sql.Composed):
            return query.as_string(self.connection).split(";")
        return [query.decode() if isinstance(query, bytes) else str(query)]


@contextmanager
def explain(address: str) -> Iterator[Plans]:
    """Explain each statement over a database."""
    shared, plans = share_database(address), Plans()
    shared.cursor_factory = type("Explaining", (ExplainingCursor,), {"plans": plans})
    try:
        yield plans
    finally:
        shared.cursor_factory = psycopg.Cursor
