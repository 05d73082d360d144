"""PostgreSQL with many spaces, against bare psycopg: `python -m bench.postgres 30000:100 …`.

Each argument is messages:spaces. Turnleaf fills a part of one space; the rest of it, and all other
spaces, are copies of its rows, made by SQL, so that every space holds the same number of messages.
Operations are then done in one space of the middle. Client and database share the machine, so the
ratios to the yardstick count: a connection of psycopg that is used for the fewest statements which
do the same.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

import psycopg

from bench import corpus, machine
from bench.vectors import DIMENSIONS, RandomMeanings
from tests.postgres import PostgresServer
from turnleaf.core.messages import Message, NewMessage
from turnleaf.core.search.ranking import Weights
from turnleaf.store.contracts import Stores

OPTIONS = (
    "listen_addresses=", "max_connections=20", "shared_buffers=256MB", "max_wal_size=4GB",
    "wal_level=minimal", "max_wal_senders=0", "maintenance_work_mem=1GB",
)  # fmt: skip
MOST_FILLED = 3_000
"""So many messages of a space Turnleaf stores itself."""
PER_CONVERSATION = 50
WINDOW = 20
BEST = 10
TEMPLATE = "template"
TICKS = os.sysconf("SC_CLK_TCK")
SIZES = ["1000:1", "1000:100", "30000:1", "30000:100", "30000:10000"]
COPIED = (
    "counters", "feeds", "conversations", "messages", "indexes", "indexed_places", "passages",
    "terms", "embedders", "vectors",
)  # fmt: skip
SHIFTED = {
    "conversations": {"key": "key || '-' || copy", "leaf": "leaf + copy * {messages}"},
    "messages": {
        "id": "id + copy * {messages}",
        "key": "key || '-' || copy",
        "parent": "parent + (parent > 0)::int * copy * {messages}",
        "change": "1",
    },
    "passages": {
        "id": "id + copy * {passages}",
        "meaning": "sha256(meaning || int8send(copy))",
        "fingerprint": "sha256(fingerprint || int8send(copy))",
        "before": "before + copy * {passages}",
        "after": "after + copy * {passages}",
        "conversation": "conversation || '-' || copy",
        "message": "message + copy * {messages}",
    },
    "terms": {"passage": "passage + copy * {passages}"},
    "vectors": {"meaning": "sha256(meaning || int8send(copy))"},
}
"""What differs in the copies of a row within its space."""
HEAD = (
    "operation", "messages", "spaces", "client ms", "server ms", "×", "p50 ms", "p99 ms", "× p50",
    "trips", "×", "bytes", "×", "WAL bytes", "×",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OperationCost:
    """What one operation costs: CPU seconds, wall seconds, messages to the server and bytes."""

    client: float
    server: float
    p50: float
    p99: float
    trips: float
    bytes: float
    wal: float


class BenchDatabase:
    """A database with many spaces, the one to measure, and the yardstick's connection."""

    def __init__(self, server: PostgresServer, messages: int, spaces: int) -> None:
        self.name = f"bench_{messages}_{spaces}"
        self.messages, self.spaces = messages, spaces
        self.server = server
        self.address = server.make_database(self.name)
        self.folder = server.folder
        self.admin = psycopg.connect(server.address(self.name, "postgres"), autocommit=True)
        self.space = f"s{spaces // 2}" if spaces > 1 else TEMPLATE
        self.keys: list[str] = []
        self.fill_seconds = self._fill()
        self.stores = self._open(self.space)
        self.facts = 0

    def _open(self, space: str) -> Stores:
        stores = Stores.open(self.address, space=space)
        stores.config.change({"memoryMaxItems": 10_000, "memoryMaxChars": 10_000_000})
        stores.facts.use(stores.settings)
        stores.passages.use_embedder(RandomMeanings(), Weights())
        return stores

    def _fill(self) -> float:
        """Fill the first space, and copy its rows; return the seconds of CPU for a message."""
        count = self.messages // self.spaces
        times = -(-count // MOST_FILLED)
        filled = count // times
        before = _cpu(self.folder)
        self._talk([*islice(corpus.notes(Random(3)), filled)])
        spent = sum(_cpu(self.folder)) - sum(before)
        with self._without_indexes():
            self._repeat(times - 1)
            self._copy(self.spaces - 1)
        self.admin.execute("VACUUM ANALYZE")
        self.admin.execute("CREATE TABLE bare AS TABLE turnleaf.messages")
        self.admin.execute("ALTER TABLE bare ADD PRIMARY KEY (space, id)")
        self.admin.execute("CREATE INDEX ON bare (space, key, id)")
        self.admin.execute("CREATE TABLE bare_facts (space text, n int, body text)")
        self.admin.execute("ALTER TABLE bare_facts ADD PRIMARY KEY (space, n)")
        self.admin.execute("CHECKPOINT")
        return spent / filled

    def _talk(self, texts: Sequence[str]) -> None:
        with self._open(TEMPLATE) as stores:
            for start in range(0, len(texts), PER_CONVERSATION):
                self.keys.append(f"cli:session-{start}")
                part = texts[start : start + PER_CONVERSATION]
                said = [NewMessage(Message(("user", "assistant")[at % 2], text, _now()))
                        for at, text in enumerate(part)]  # fmt: skip
                stores.conversations.add_messages(self.keys[-1], said)
            stores.passages.sync()
            stores.passages.embed()

    @contextmanager
    def _without_indexes(self) -> Iterator[None]:
        """Build the indexes of the copied tables at the end, which is much faster."""
        found = self.admin.execute(
            "SELECT indrelid::regclass::text, relname::text, conname::text,"
            " pg_get_constraintdef(pg_constraint.oid), pg_get_indexdef(indexrelid)"
            " FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " LEFT JOIN pg_constraint ON conindid = indexrelid"
            " WHERE indrelid = ANY(%s::regclass[])",
            ([f"turnleaf.{one}" for one in COPIED],),
        ).fetchall()
        for table, name, constraint, *_ in found:
            drop = f"ALTER TABLE {table} DROP CONSTRAINT {name}"
            self.admin.execute((drop if constraint else f"DROP INDEX turnleaf.{name}").encode())
        yield
        for table, name, constraint, definition, made in found:
            add = f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"
            self.admin.execute((add if constraint else made).encode())

    def _repeat(self, times: int) -> None:
        """Copy the rows of the first space within it, under other numbers and names."""
        ((messages, passages),) = self.admin.execute(
            "SELECT last_id, last_passage FROM turnleaf.counters"
            " JOIN turnleaf.indexes USING (space) WHERE space = %s AND kind = 'conversations'",
            (TEMPLATE,),
        ).fetchall()
        for table, shifted in SHIFTED.items():
            columns = self._list_columns(table)
            values = ", ".join(shifted.get(one, one) for one in columns)
            values = values.format(messages=messages, passages=passages)
            self._insert(table, ("space", *columns), f"space, {values}", times)
        self.admin.execute(
            "UPDATE turnleaf.indexes SET passages = passages * %(n)s, terms = terms * %(n)s,"
            " last_passage = last_passage * %(n)s WHERE space = %(space)s",
            {"n": times + 1, "space": TEMPLATE},
        )
        self.admin.execute(
            "UPDATE turnleaf.counters SET last_id = last_id * %s"
            " WHERE space = %s AND kind = 'conversations'", (times + 1, TEMPLATE),
        )  # fmt: skip

    def _copy(self, times: int) -> None:
        """Copy the rows of the first space to others."""
        for table in COPIED:
            columns = self._list_columns(table)
            self._insert(table, ("space", *columns), f"'s' || copy, {', '.join(columns)}", times)

    def _list_columns(self, table: str) -> list[str]:
        return [name for (name,) in self.admin.execute(
            "SELECT column_name::text FROM information_schema.columns WHERE table_name = %s"
            " AND table_schema = 'turnleaf' AND column_name <> 'space'", (table,),
        )]  # fmt: skip

    def _insert(self, table: str, columns: Sequence[str], values: str, times: int) -> None:
        self.admin.execute(
            f"INSERT INTO turnleaf.{table} ({', '.join(columns)}) SELECT {values}"  # noqa: S608
            f" FROM turnleaf.{table}, generate_series(1::bigint, %s) copy"
            " WHERE space = %s".encode(),
            (times, TEMPLATE),
        )

    def weigh(self) -> dict[str, tuple[int, int]]:
        """Return the bytes of each table and of its indexes."""
        query = (
            "SELECT relname::text, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class "
            "WHERE relnamespace = 'turnleaf'::regnamespace AND relkind = 'r' ORDER BY 2 DESC"
        )
        return {name: (table, index) for name, table, index in self.admin.execute(query)}

    def close(self) -> None:
        """Close the connections, and make room on the disk."""
        self.stores.close()
        self.admin.close()
        with psycopg.connect(self.server.address("postgres", "postgres"), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {self.name} WITH (FORCE)".encode())


BARE_INSERT = (
    "INSERT INTO bare (space, id, key, parent, role, said_at, body, status, trust, change) "
    "SELECT space, id + %s, key, parent, role, now(), %s, status, trust, change FROM bare "
    "WHERE space = %s AND id = 1"
)
BARE_WINDOW = "SELECT * FROM bare WHERE space = %s AND key = %s ORDER BY id DESC LIMIT %s"
BARE_SEARCH = """
WITH worded AS (
    SELECT passage, sum(own) AS score FROM turnleaf.terms
    WHERE space = %s AND term = ANY(%s) GROUP BY 1 ORDER BY 2 DESC LIMIT 50
), meant AS (
    SELECT meaning FROM turnleaf.vectors WHERE space = %s ORDER BY vector <=> %s::vector LIMIT 50
)
SELECT * FROM turnleaf.passages WHERE space = %s AND
    (id IN (SELECT passage FROM worded) OR meaning IN (SELECT meaning FROM meant)) LIMIT 60
"""
VECTOR = "[" + ",".join(["0.04"] * DIMENSIONS) + "]"


class Ours:
    """What is measured, by number: each does something else."""

    def __init__(self, place: BenchDatabase) -> None:
        self.place = place
        self.texts = [*islice(corpus.notes(Random(4)), 4_000)]
        self.asked = corpus.queries()

    def key(self, number: int) -> str:
        """Return the name of a conversation."""
        return self.place.keys[number % len(self.place.keys)]

    def append(self, number: int) -> None:
        """Store a question and its answer."""
        pair = self.texts[number], self.texts[-number - 1]
        self.place.stores.conversations.add_exchange(self.key(number), *pair)

    def index(self, number: int) -> None:
        """Store a question and its answer, and take them into the search, as a server does."""
        Ours.append(self, 1_000 + number)
        self.place.stores.passages.sync()
        self.place.stores.passages.embed()

    def read(self, number: int) -> None:
        """Read the window of a conversation."""
        self.place.stores.conversations.get_history(self.key(number))

    def search(self, number: int) -> None:
        """Search by words and by meaning."""
        self.place.stores.passages.search(self.asked[number % len(self.asked)], BEST)

    def remember(self, number: int) -> None:
        """Keep a fact."""
        self.place.stores.facts.add(f"{self.texts[number]} ({number})")


class Yardstick(Ours):
    """The same with the fewest statements, without ranking, record or row-level security."""

    def append(self, number: int) -> None:
        """Insert two rows."""
        first, space = 10_000_000 + 2 * number, self.place.space
        question = (first, self.texts[number], space)
        answer = (first + 1, self.texts[-number - 1], space)
        _run_bare(self.place, (BARE_INSERT, question), (BARE_INSERT, answer), is_change=True)

    def index(self, number: int) -> None:
        """Insert two rows."""
        self.append(1_000 + number)

    def read(self, number: int) -> None:
        """Select the newest rows."""
        _run_bare(self.place, (BARE_WINDOW, (self.place.space, self.key(number), WINDOW)))

    def search(self, number: int) -> None:
        """Select what has the words, and what is nearest."""
        words, space = self.asked[number % len(self.asked)].lower().split(), self.place.space
        _run_bare(self.place, (BARE_SEARCH, (space, words, space, VECTOR, space)))

    def remember(self, number: int) -> None:
        """Insert a row."""
        values = (self.place.space, number, self.texts[number])
        query = "INSERT INTO bare_facts VALUES (%s, %s, %s)"
        _run_bare(self.place, (query, values), is_change=True)


OPERATIONS = {
    "append an exchange": "append",
    "append and index it": "index",
    "read a window": "read",
    "search": "search",
    "remember a fact": "remember",
}


def _run_bare(
    place: BenchDatabase, *statements: tuple[str, Sequence[object]], is_change: bool = False
) -> None:
    if is_change:
        place.admin.execute("BEGIN")
    for query, values in statements:
        found = place.admin.execute(query.encode(), values)
        if found.description:
            found.fetchall()
    if is_change:
        place.admin.execute("COMMIT")


def measure(
    place: BenchDatabase, work: Callable[[int], object], numbers: Sequence[int]
) -> OperationCost:
    """Do something for each number, timed; then for three more, with all that is sent counted."""
    *timed, first, second, third = numbers
    work(timed[0])
    ((wal,),) = place.admin.execute("SELECT pg_current_wal_lsn()").fetchall()
    before, walls = _cpu(place.folder), []
    for number in timed[1:]:
        began = time.perf_counter()
        work(number)
        walls.append(time.perf_counter() - began)
    after = _cpu(place.folder)
    query = "SELECT pg_current_wal_lsn() - %s::pg_lsn"
    ((written,),) = place.admin.execute(query, (wal,)).fetchall()
    with _tracing() as traced:
        for number in (first, second, third):
            work(number)
    trips, size = traced
    cuts = quantiles(walls, n=100, method="inclusive")
    count = len(walls)
    client, server = (one - other for one, other in zip(after, before, strict=True))
    return OperationCost(
        client / count, server / count, cuts[49], cuts[98], trips / 3, size / 3,
        float(written) / count,
    )  # fmt: skip


@contextmanager
def _tracing() -> Iterator[list[int]]:
    """Trace each message of the protocol with libpq; return the round trips, then the bytes."""
    execute = psycopg.Cursor.execute
    found = [0]
    with tempfile.TemporaryFile("w+") as file:
        seen: list[Any] = []

        def trace(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - psycopg's own
            found[0] += 1
            if self.connection not in seen:
                self.connection.pgconn.trace(file.fileno())
                seen.append(self.connection)
            return execute(self, *args, **kwargs)

        psycopg.Cursor.execute = trace  # type: ignore[method-assign]
        try:
            yield found
        finally:
            psycopg.Cursor.execute = execute  # type: ignore[method-assign]
            for one in seen:
                one.pgconn.untrace()  # Only now is all of it in the file.
            found.append(_sum_lengths(file.fileno()))


def _sum_lengths(descriptor: int) -> int:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        lines = [line.split(b"\t") for line in file if b"\t" in line]
    lengths = [one[2] for one in lines if len(one) > 2 and one[1] in {b"F", b"B"}]
    return sum(int(length) + 1 for length in lengths if length.isdigit())


def _cpu(folder: Path) -> tuple[float, float]:
    """Return the CPU seconds of this process, and of all processes of the database so far."""
    top = int((folder / "data" / "postmaster.pid").read_text("ascii").splitlines()[0])
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == top:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == top:
            total += sum(map(int, fields[11:13]))
    return time.process_time(), total / TICKS


def _now() -> datetime:
    return datetime.now(UTC)


def _row(name: str, place: BenchDatabase, ours: OperationCost, bare: OperationCost) -> list[str]:
    def ratio(one: float, other: float) -> str:
        return f"{one / other:.1f}" if other else ""

    cpu = ratio(ours.client + ours.server, bare.client + bare.server)
    return [
        name, f"{place.messages:,}", f"{place.spaces:,}", f"{ours.client * 1e3:.2f}",
        f"{ours.server * 1e3:.2f}", cpu, f"{ours.p50 * 1e3:.1f}", f"{ours.p99 * 1e3:.1f}",
        ratio(ours.p50, bare.p50), f"{ours.trips:.1f}", ratio(ours.trips, bare.trips),
        f"{ours.bytes:,.0f}", ratio(ours.bytes, bare.bytes), f"{ours.wal:,.0f}",
        ratio(ours.wal, bare.wal),
    ]  # fmt: skip


def run(sizes: Sequence[tuple[int, int]], rounds: int) -> Iterator[str]:
    """Measure each size, and yield the lines of a Markdown table, then what it weighs."""
    weights: list[str] = []
    # Not in memory: what is acknowledged is on disk, as in life.
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        server = PostgresServer(Path(parent) / "pg", OPTIONS)
        server.start()
        try:
            yield f"| {' | '.join(HEAD)} |"
            yield f"|---|{'---:|' * (len(HEAD) - 1)}"
            for messages, spaces in sizes:
                place = BenchDatabase(server, messages, spaces)
                weights += _describe_weight(place)
                both = Ours(place), Yardstick(place)
                for name, method in OPERATIONS.items():
                    numbers = range(rounds + 4)
                    spent = [measure(place, getattr(one, method), numbers) for one in both]
                    yield f"| {' | '.join(_row(name, place, *spent))} |"
                place.close()
        finally:
            server.remove()
    yield from ("", *weights)


def _describe_weight(place: BenchDatabase) -> Iterator[str]:
    weighed = place.weigh()
    table, index = (sum(one[at] for one in weighed.values()) for at in (0, 1))
    parts = ", ".join(
        f"{name} {(own + its) / place.messages:,.0f}"
        for name, (own, its) in weighed.items()
        if own + its > place.messages
    )
    yield (
        f"{place.messages:,} messages in {place.spaces:,} spaces: {table / place.messages:,.0f}"
        f" bytes in tables and {index / place.messages:,.0f} in indexes for a message ({parts});"
        f" stored and indexed with {place.fill_seconds * 1e3:.2f} ms of CPU each"
    )


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.postgres")
    parser.add_argument("sizes", nargs="*", default=SIZES, metavar="MESSAGES:SPACES")
    parser.add_argument("--rounds", type=int, default=100, help="how often each thing is done")
    options = parser.parse_args()
    sizes = [tuple(map(int, one.split(":"))) for one in options.sizes]
    sys.stdout.write(f"{machine.describe()}\n\n")
    for line in run([(messages, spaces) for messages, spaces in sizes], options.rounds):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
