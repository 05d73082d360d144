"""A space in a database, as its stores see it: steps that are transactions, values in rows.

A step begins as one that only reads, at one moment. Where it turns out to change something it is
done again from the beginning under the lock of what it changes, so that nobody waits for a lock to
read, and nothing that was read before the lock is relied on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from threading import local
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from turnleaf.store.contracts import OPERATOR
from turnleaf.store.in_memory.shared_data import FOR_ALL_SPACES, Keeper
from turnleaf.store.postgres.database import ALL_SPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from turnleaf.store.in_memory.shared_data import Now
    from turnleaf.store.postgres.addresses import Connection
    from turnleaf.store.postgres.database import SharedDatabase

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Row = tuple[Any, ...]

# The row of the counter is the lock of a kind in a space, and its number tells others of a change.
_LOCK = """
INSERT INTO turnleaf.counters AS known (space, kind, n) VALUES (%(space)s, %(kind)s, %(more)s)
ON CONFLICT (space, kind) DO UPDATE SET n = known.n + %(more)s RETURNING n, last_id
"""
_REGISTER = (
    "INSERT INTO turnleaf.counters (space, kind, n) VALUES ('', %s, 0) ON CONFLICT DO NOTHING"
)


def name_registration(space: str) -> str:
    """Return the kind of the counter, for all spaces, that tells that there is a space."""
    return f"space {space}"


class NeedsWritingError(Exception):
    """A step that only reads has something to change."""


class LoadedValue(Protocol):
    """Something of a space that is read whole and of which what changed is written back."""

    value: Any

    def has_changed(self) -> bool:
        """Whether there is something to write."""

    def save(self, step: Transaction) -> None:
        """Write what changed."""


@dataclass
class Transaction:
    """One transaction."""

    connection: Connection
    space: str
    writes: bool
    now: Now
    loaded: dict[str, LoadedValue] = field(default_factory=dict)
    locked: dict[str, tuple[int, int]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    is_first: bool = False
    """Whether it is the first change of a kind in the space."""

    def rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows that a query finds."""
        return self.connection.execute(query.encode(), values).fetchall()

    def run(self, query: str, *values: object) -> int:
        """Run a statement; return how many rows it touched."""
        return self.connection.execute(query.encode(), values).rowcount

    def run_many(self, query: str, values: Sequence[Sequence[object]]) -> None:
        """Run a statement for each of some values, without waiting for each."""
        if values:
            with self.connection.cursor() as cursor:
                cursor.executemany(query.encode(), values)

    def insert_rows(
        self, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[object]]
    ) -> None:
        """Add rows to a table, whose columns have these types, by one statement."""
        if rows:
            arrays = ", ".join(f"%s::{one}[]" for one in columns.values())
            query = (
                f"INSERT INTO turnleaf.{table} ({', '.join(columns)}) "  # noqa: S608
                f"SELECT * FROM unnest({arrays})"
            )
            self.run(query, *(list(column) for column in zip(*rows, strict=True)))

    def lock(self, kind: str, *, changes: bool) -> tuple[int, int]:
        """Be the only one who changes a kind; return its number of changes and last id."""
        # The step is rolled back and done again from its beginning: no
        # decision may rest on what was read before the lock was taken.
        if not self.writes:
            raise NeedsWritingError
        if kind not in self.locked or (changes and kind not in self.changed):
            space = "" if kind == FOR_ALL_SPACES else self.space
            more = {"space": space, "kind": kind, "more": int(changes)}
            ((n, last_id),) = self.connection.execute(_LOCK, more).fetchall()
            self.locked[kind] = n, last_id
            self.is_first |= changes and n == 1 and space not in {"", OPERATOR}
        if changes:
            self.changed.add(kind)
        return self.locked[kind]

    def list_changed_spaces(self) -> set[str]:
        """Return the spaces in which something changed; settings are of all."""
        return {ALL_SPACES if kind == FOR_ALL_SPACES else self.space for kind in self.changed}

    def save(self) -> None:
        """Write what changed of all that was loaded."""
        for kind in sorted(self.loaded):
            one = self.loaded[kind]
            if one.has_changed():
                self.lock(kind, changes=True)
                one.save(self)


class PostgresPlace:
    """A space of a database."""

    def __init__(
        self,
        database: SharedDatabase,
        space: str,
        now: Now,
        loaders: Mapping[str, Callable[[Transaction], LoadedValue]],
    ) -> None:
        self.database = database
        self._space = space
        self._now = now
        self._loaders = loaders
        self._local = local()

    @property
    def step(self) -> Transaction:
        """The transaction of this thread."""
        return cast("Transaction", self._local.step)

    def in_step(self, work: Callable[[], T], *, writes: bool = False) -> T:
        """Do some work in one transaction, which is also that of all the work within."""
        if getattr(self._local, "step", None):
            if writes and not self.step.writes:
                raise NeedsWritingError
            return work()
        if not writes:
            try:
                return self._transact(work, writes=False)
            except NeedsWritingError:
                pass
        return self._transact(work, writes=True)

    def _transact(self, work: Callable[[], T], *, writes: bool) -> T:
        changed = set[str]()

        def run(connection: Connection) -> tuple[T, bool]:
            # After a lost connection the work is done again.
            changed.clear()
            step = self._local.step = Transaction(connection, self._space, writes, self._now)
            try:
                done = work()
                step.save()
                changed.update(step.list_changed_spaces())
            finally:
                self._local.step = None
            return done, step.is_first

        done, is_first = self.database.transact(
            self, self._space, run, writes=writes, changed=changed
        )
        for space in changed:
            self.database.hints.wake(space)
        if is_first:
            self._register()
        return done

    def _register(self) -> None:
        """Make the name of the space known; by itself, so that nobody waits for it with a lock."""

        def run(connection: Connection) -> None:
            connection.execute(_REGISTER, (name_registration(self._space),))

        self.database.transact(self, self._space, run, writes=True)

    def find(self, space: str, kind: str, make: Callable[[], T]) -> T:  # noqa: ARG002 - as a place in memory
        """Return a value that stands in rows; what is changed of it is written with the step."""
        step = self.step
        if kind not in step.loaded:
            if step.writes:
                # Before it is read: what is written back must
                # rest on what nobody else can change meanwhile.
                step.lock(kind, changes=False)
            step.loaded[kind] = self._loaders[kind](step)
        return cast("T", step.loaded[kind].value)

    def locate(self, space: str) -> str:  # noqa: ARG002 - as a place in memory
        """Return the address of the database, without anything secret."""
        return self.database.address.shown

    def announce(self, space: str, kind: str) -> None:
        """Do nothing: a change is announced by its counter."""

    @property
    def is_open(self) -> bool:
        """Whether it was used since it was made or closed."""
        return self.database.is_used_by(self)

    def close(self) -> None:
        """Release the connections."""
        self.database.release(self)


class SqlStore(Keeper):
    """A store whose methods are statements."""

    place: PostgresPlace

    @property
    def step(self) -> Transaction:
        """The transaction of this thread."""
        return self.place.step

    def rows(self, query: str, *values: object) -> list[Row]:
        """Return the rows that a query finds."""
        return self.step.rows(query, *values)

    def run(self, query: str, *values: object) -> int:
        """Run a statement; return how many rows it touched."""
        return self.step.run(query, *values)

    def lock(self) -> int:
        """Be the only one who changes this kind; return the number of this change."""
        return self.step.lock(self.kind, changes=True)[0]


S = TypeVar("S", bound=SqlStore)


def in_writing_step(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method one step that may change something from its beginning."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.place.in_step(lambda: method(self, *args, **kwargs), writes=True)

    return run
