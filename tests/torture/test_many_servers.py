"""Three servers over one database, killed like the database itself: nothing is lost or doubled."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from tests.effort import LONG
from tests.postgres import SAFE, PostgresServer
from tests.torture.editors import wait_until
from tests.torture.space_server import OPERATIONS, REPEATABLE, read_all
from turnleaf.assistant import Assistant
from turnleaf.core.schedules import LEASE
from turnleaf.spaces import Spaces, Worker
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.due_work import WORK_LEASE

SERVERS = 3
SPACES = [f"空間{number}" for number in range(100 if LONG else 4)]
CLIENTS = 6
LEAST_WRITES = 200 if LONG else 10
"""How many acknowledged writes there are between two faults."""
SECONDS = 60 if LONG else 0
PATIENCE_SECONDS = 120


class Writing(NamedTuple):
    """Something that was to be written, and whether the answer came."""

    space: str
    operation: str
    text: str
    is_acknowledged: bool


class OneServer:
    """A server that can be killed and started again."""

    def __init__(self, address: str, path: Path) -> None:
        self._address, self.path = address, path
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; whoever connects waits until it listens."""
        self.path.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.torture.space_server", self._address]
        self._process = subprocess.Popen([*command, str(self.path)])

    def kill(self) -> None:
        """End it without a word."""
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)


class Client(Thread):
    """Writes and reads in all spaces, at whatever server answers."""

    def __init__(self, number: int, servers: list[OneServer], is_over: Callable[[], bool]) -> None:
        super().__init__()
        self.written: list[Writing] = []
        self.leaks: list[str] = []
        self.acknowledged = 0
        self._number, self._servers, self._is_over = number, servers, is_over
        self._random = random.Random(number)
        self._lines: dict[OneServer, socket.socket] = {}

    def run(self) -> None:
        """Go on until it is over."""
        count = 0
        while not self._is_over():
            count += 1
            space = self._random.choice(SPACES)
            operation = self._random.choice([*OPERATIONS])
            self._do(space, operation, f"{space} 第{self._number}之{count}")
        for line in self._lines.values():
            line.close()

    def _do(self, space: str, operation: str, text: str) -> None:
        answer = self._ask(space, operation, text)
        while answer is None and operation in REPEATABLE and not self._is_over():
            answer = self._ask(space, operation, text)
        if operation == "search":
            found = (answer or {}).get("done") or []
            self.leaks += [one for one in found if space not in one]
            return
        is_acknowledged = bool(answer and answer.get("done"))
        self.written.append(Writing(space, operation, text, is_acknowledged))
        self.acknowledged += is_acknowledged

    def _ask(self, *question: str) -> dict[str, list[str]] | None:
        """Ask a server; None where no answer came."""
        server = self._random.choice(self._servers)
        try:
            if server not in self._lines:
                self._lines[server] = socket.socket(socket.AF_UNIX)
                self._lines[server].settimeout(PATIENCE_SECONDS)
                self._lines[server].connect(str(server.path))
            self._lines[server].sendall(json.dumps(question).encode() + b"\n")
            with self._lines[server].makefile("rb") as lines:
                answer = lines.readline()
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            self._lines.pop(server).close()
            return None
        told: dict[str, list[str]] = json.loads(answer)
        return told


@contextmanager
def run_servers(address: str, folder: Path) -> Iterator[list[OneServer]]:
    servers = [OneServer(address, folder / f"{number}.sock") for number in range(SERVERS)]
    with ExitStack() as killing:
        for one in servers:
            one.start()
            killing.callback(one.kill)
        assert wait_until(lambda: all(one.path.exists() for one in servers), PATIENCE_SECONDS)
        yield servers


def add_schedules(address: str) -> None:
    """Add one to each space that is due once, and not again before the test is over."""
    made = local_now() - timedelta(minutes=61)
    for name in SPACES:
        with Stores.open(address, space=name, now=lambda: made) as stores:
            stores.schedules.add("早安", "every 1h", zone="UTC", deliver="log")


def make_left_runs(address: str) -> None:
    """Make what a killed server had begun, as a server would when its lease is over."""

    def later() -> datetime:
        return local_now() + LEASE + WORK_LEASE

    spaces = Spaces(address, now=later)
    own = Assistant(Stores.open(address, now=later), now=later)
    worker = Worker(own, spaces.use)
    while worker.work_once():
        pass
    own.close(flush=False)
    spaces.close()


def harass(database: PostgresServer, servers: list[OneServer], count: Callable[[], int]) -> None:
    """Kill servers and the database, each after some more acknowledged writes."""

    def kill_database() -> None:
        database.stop("immediate")
        database.start()

    def kill_server(one: OneServer) -> None:
        one.kill()
        one.start()

    faults: list[Callable[[], None]] = [
        lambda: kill_server(servers[0]),
        kill_database,
        lambda: kill_server(servers[1]),
    ]
    end = time.monotonic() + SECONDS
    is_first = True
    while is_first or time.monotonic() < end:
        is_first = False
        for fault in faults:
            goal = count() + LEAST_WRITES
            assert wait_until(lambda: count() >= goal, PATIENCE_SECONDS), "the load stands still"  # noqa: B023
            fault()
    goal = count() + LEAST_WRITES
    assert wait_until(lambda: count() >= goal, PATIENCE_SECONDS), "nobody recovered"


def test_every_acknowledged_write_is_there_once_and_each_schedule_ran_once(ground: Path) -> None:
    began = local_now()
    database = PostgresServer(ground / "postgres", SAFE)
    database.start()
    address = database.make_database("many")
    add_schedules(address)
    over: list[bool] = []
    try:
        with run_servers(address, ground) as servers:
            clients = [Client(number, servers, lambda: bool(over)) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            try:
                harass(database, servers, lambda: sum(one.acknowledged for one in clients))
            finally:
                over.append(True)
                for client in clients:
                    client.join()
        make_left_runs(address)
        written = [one for client in clients for one in client.written]
        print(Counter((one.operation, one.is_acknowledged) for one in written))
        check(address, began, written)
        assert [leak for client in clients for leak in client.leaks] == []
    finally:
        database.remove()


def check(address: str, began: datetime, written: list[Writing]) -> None:
    """Compare what is stored with what was acknowledged, and look for what is somebody else's."""
    for name in SPACES:
        with Stores.open(address, space=name) as stores:
            stored, schedules = read_all(stores, began), stores.schedules.get_all()
        runs = [(run.state, run.id) for one in schedules for run in one.runs]
        assert [state for state, _ in runs] == ["done"]
        results = [note for note in stored["note"] if runs[0][1] in note]
        assert len(results) == 1
        stored["note"] = [note for note in stored["note"] if note not in results]
        here = [one for one in written if one.space == name]
        for operation, texts in stored.items():
            counts = Counter(texts)
            wanted = {one.text for one in here if one.operation == operation}
            sure = {one.text for one in here if one.operation == operation and one.is_acknowledged}
            assert counts.keys() <= wanted, "something of another space"
            assert sure <= counts.keys(), "an acknowledged write is lost"
            assert set(counts.values()) <= {1}, "a write is there twice"
