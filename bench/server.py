"""A server that many clients use at once, against /healthz under the same load.

Every write that the server acknowledged must be in the files in the end.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from urllib.parse import quote

from bench import corpus, samples
from bench.memory import fill_memory
from bench.scale import FULL, QUICK, Scale
from bench.timing import Cost, TimingRow
from turnleaf import DailyLog, MemoryStore, Settings
from turnleaf.settings import DataFolder

FACTS = 100
NOTES = 300
CATEGORIES = ("Home", "家", None)
READS = ("/api/memory/main", "/api/memory/facts", "/api/memory/stats")
HEALTH = "healthz"
HEALTH_SHARE = 10  # every tenth client asks only for /healthz
MOST_OWN_FACTS = 3  # so that the memory soon stays as large as it is
PATIENCE_SECONDS = 60.0
IDLE_SECONDS = 3.0  # soon after that the server hangs up
OURS = ("TURNLEAF_", "CONVERSATION_", "MEMORY_", "EMBEDDING", "SUPERVISOR_", "XDG_")
SETTINGS = {
    "TURNLEAF_MODEL": "recall",
    "EMBEDDINGS": "off",
    "MEMORY_MAX_ITEMS": "100000",
    "MEMORY_MAX_CHARS": "100000000",
}


@dataclass(frozen=True, slots=True)
class Load:
    """How many clients ask for how long; how often each thing is asked for when nobody else is."""

    clients: int
    seconds: float
    alone: int


LOADS = {FULL: Load(clients=50, seconds=60, alone=200), QUICK: Load(10, seconds=1, alone=5)}


def rows(folder: Path, scale: Scale, seconds: float | None = None) -> Iterator[TimingRow]:
    """Measure one client alone, then all of them at once."""
    load = LOADS[scale]
    with TemporaryDirectory(dir=folder) as name:
        place = fill_folder(Path(name))
        with run_server(place) as server:
            alone = LoadClient(server.port, 0)
            for _ in range(load.alone):
                for kind in (HEALTH, *LoadClient.SHARES):
                    alone.visit(kind)
            crowd = _crowd(server.port, load.clients, seconds or load.seconds)
        _refuse_loss(place, [alone.outcome(), *crowd])
    together = join_waits(crowd)
    _describe(together)
    yield from _rows(alone.waits, together, load.clients)


def _rows(
    alone: Mapping[str, list[float]], together: Mapping[str, list[float]], clients: int
) -> Iterator[TimingRow]:
    crowd = f"{clients} clients"
    for kind in LoadClient.SHARES:
        for title, waits, figure in (
            ("1 client, median", alone, median),
            (f"{crowd}, median", together, median),
            (f"{crowd}, slowest of a hundred", together, slowest),
        ):
            ours, yardstick = Cost(figure(waits[kind])), Cost(figure(waits[HEALTH]))
            yield TimingRow(f"{kind} over HTTP, {title}, against /healthz", ours, yardstick)
    ours, yardstick = Cost(median(together[HEALTH])), Cost(median(alone[HEALTH]))
    yield TimingRow(f"/healthz, {crowd}, median, against 1 client", ours, yardstick)


def slowest(waits: Sequence[float]) -> float:
    """Return what 99 of 100 waits do not exceed."""
    return sorted(waits)[len(waits) * 99 // 100]


def _describe(waits: Mapping[str, list[float]]) -> None:
    """Print what no row can show for lack of a yardstick: each request by itself."""
    for name, some in sorted(waits.items()):
        figures = f"{median(some) * 1000:.1f} ms, 99 % {slowest(some) * 1000:.1f} ms"
        print(f"{name}: {len(some):,} requests, median {figures}", file=sys.stderr)


# The server.


def fill_folder(folder: Path, facts: int = FACTS, notes: int = NOTES) -> DataFolder:
    """Make a data folder with facts and notes in both languages."""
    place = DataFolder(folder, "a benchmark")
    fill_memory(place.memory(Settings()), facts)
    corpus.write_days(place.daily, notes)
    return place


@dataclass(frozen=True, slots=True)
class BenchServer:
    """A server that runs in a process of its own."""

    process: subprocess.Popen[str]
    port: int


@contextmanager
def run_server(place: DataFolder) -> Iterator[BenchServer]:
    """Run `turnleaf serve`, and shut it down cleanly unless it has ended already."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    environment = {**given, **SETTINGS, "HOME": str(place.path)}
    command = (sys.executable, "-m", "turnleaf", "--data-dir", str(place.path), "serve")
    with subprocess.Popen(
        [*command, "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            address = process.stdout.readline().split()[-1]
            yield BenchServer(process, int(address.rstrip("/").rpartition(":")[2]))
        finally:
            process.terminate()


# The clients.


class RequestRefused(Exception):
    """A response that is not a success."""


@dataclass(slots=True)
class ClientOutcome:
    """What a client waited for, what was acknowledged, and what went wrong."""

    waits: dict[str, list[float]]
    allowed: dict[str, set[str | None]] = field(default_factory=dict)
    """Each fact by its id, with what it may say; None is that it is forgotten."""
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class LoadClient:
    """One client, which keeps its connection and asks for one thing after the other."""

    SHARES: ClassVar[dict[str, int]] = {"search": 60, "read": 25, "write": 15}

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.random = Random(seed)
        self.name = f"v{seed}"
        self.waits: dict[str, list[float]] = defaultdict(list)
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        self._outcome = ClientOutcome(self.waits)
        self._queries = corpus.queries()
        self._facts: dict[str, str] = {}
        self._written = 0
        self._answered = 0.0

    def outcome(self) -> ClientOutcome:
        """Return the outcome and close the connection."""
        self._connection.close()
        return self._outcome

    def ask_until(self, is_over: Callable[[], bool], kinds: Mapping[str, int]) -> ClientOutcome:
        """Ask once for each kind, then by their shares, until it is over or something fails."""
        try:
            for kind in kinds:
                self.visit(kind)
            while not is_over():
                self.visit(*self.random.choices([*kinds], [*kinds.values()]))
        except (RequestRefused, OSError, HTTPException) as error:
            self._outcome.errors.append(f"{self.name}: {type(error).__name__}: {error}")
        return self.outcome()

    def visit(self, kind: str) -> None:
        """Ask for one thing of a kind."""
        getattr(self, kind)()

    def healthz(self) -> None:
        """Ask whether the server is alive."""
        self.ask(HEALTH, "GET", "/healthz")

    def search(self) -> None:
        """Look for something."""
        self.ask(
            "search", "GET", f"/api/memory/search?q={quote(self.random.choice(self._queries))}"
        )

    def read(self) -> None:
        """Read the memory, as a file, as facts or in figures."""
        path = self.random.choice(READS)
        self.ask("read", "GET", path, part=path.rpartition("/")[2])

    def write(self) -> None:
        """Add a fact or a note, or change or delete a fact of its own."""
        own = (self.patch, self.delete) if self._facts else ()
        more = (self.add,) if len(self._facts) < MOST_OWN_FACTS else ()
        self.random.choice((*own, *more, self.note))()

    def add(self) -> None:
        """Add a fact."""
        content, category = self._new(), self.random.choice(CATEGORIES)
        body = {"content": content, "category": category}
        fact = self.ask("write", "POST", "/api/memory/facts", body, part="add")
        self._facts[fact["id"]] = content
        self._outcome.allowed[fact["id"]] = {content}

    def patch(self) -> None:
        """Edit a fact."""
        one, content = self.random.choice([*self._facts]), self._new()
        self._outcome.allowed[one].add(content)
        body = {"content": content, "expected": self._facts[one]}
        self.ask("write", "PATCH", f"/api/memory/facts/{quote(one)}", body, part="patch")
        self._facts[one] = content
        self._outcome.allowed[one] = {content}

    def delete(self) -> None:
        """Delete a fact."""
        one = self.random.choice([*self._facts])
        self._outcome.allowed[one].add(None)
        self.ask("write", "DELETE", f"/api/memory/facts/{quote(one)}", part="delete")
        del self._facts[one]
        self._outcome.allowed[one] = {None}

    def note(self) -> None:
        """Note something in today's log."""
        entry, path = self._new(), f"/api/memory/daily/{time.strftime('%Y-%m-%d')}"
        self.ask("write", "POST", path, {"entry": entry}, part="note")
        self._outcome.notes.append(entry)

    def ask(self, kind: str, method: str, path: str, body: object = None, part: str = "") -> Any:  # noqa: ANN401 - whatever is answered
        """Ask, note how long the answer took, and return it."""
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        began = time.perf_counter()
        if began - self._answered > IDLE_SECONDS:
            self._connection.close()
        self._connection.request(method, path, data, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        self._answered = time.perf_counter()
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            message = f"{method} {path} was answered with {answer.status}: {text.decode()}"
            raise RequestRefused(message)
        for name in filter(None, (kind, part and f"{kind}: {part}")):
            self.waits[name].append(self._answered - began)
        return json.loads(text)

    def _new(self) -> str:
        self._written += 1
        return f"{self.name}-{self._written} {samples.fact(self.random)}"


def _crowd(port: int, clients: int, seconds: float) -> list[ClientOutcome]:
    """Run clients at once, from a process other than the server's."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as elsewhere:
        return elsewhere.submit(_visit, port, clients, seconds).result()


def _visit(port: int, clients: int, seconds: float) -> list[ClientOutcome]:
    visitors = [LoadClient(port, seed) for seed in range(1, clients + 1)]
    end = time.monotonic() + seconds
    return crowd(visitors, lambda: time.monotonic() > end)


def crowd(visitors: Sequence[LoadClient], is_over: Callable[[], bool]) -> list[ClientOutcome]:
    """Run visitors at once; every tenth asks only for /healthz."""
    outcomes: list[ClientOutcome] = []

    def ask(number: int, visitor: LoadClient) -> None:
        kinds = visitor.SHARES if number % HEALTH_SHARE else {HEALTH: 1}
        outcomes.append(visitor.ask_until(is_over, kinds))

    threads = [threading.Thread(target=ask, args=each) for each in enumerate(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# The outcome.


def join_waits(outcomes: Sequence[ClientOutcome]) -> dict[str, list[float]]:
    """Return all waits by what was waited for."""
    waits: dict[str, list[float]] = defaultdict(list)
    for one in outcomes:
        for name, some in one.waits.items():
            waits[name] += some
    return waits


def find_lost(place: DataFolder, outcomes: Sequence[ClientOutcome]) -> list[str]:
    """Return which acknowledged writes are not in the files."""
    found = {one.id: one.content for one in MemoryStore(place.memory(Settings())).get_all()}
    log = DailyLog(place.daily)
    noted = "".join(log.read(day) for day in log.dates())
    notes = [f"note {one!r}" for each in outcomes for one in each.notes if one not in noted]
    return find_altered(found, outcomes) + notes


def find_altered(found: Mapping[str, str], outcomes: Sequence[ClientOutcome]) -> list[str]:
    """Return which facts, by their ids, are not as acknowledged."""
    allowed = {one: may for each in outcomes for one, may in each.allowed.items()}
    return [
        f"fact {one}: {found.get(one)!r}, not {may}"
        for one, may in allowed.items()
        if found.get(one) not in may
    ]


def _refuse_loss(place: DataFolder, outcomes: Sequence[ClientOutcome]) -> None:
    complaints = [error for one in outcomes for error in one.errors] + find_lost(place, outcomes)
    if complaints:
        message = f"{len(complaints)} complaints, the first of which: {complaints[0]}"
        raise RuntimeError(message)
