"""A server under load: no acknowledged write is lost when it is killed, and nothing piles up."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from statistics import median
from typing import ClassVar, NamedTuple, Self

from bench.server import (
    PATIENCE_SECONDS,
    BenchServer,
    ClientOutcome,
    LoadClient,
    RequestRefused,
    crowd,
    fill_folder,
    find_altered,
    find_lost,
    run_server,
)
from tests.effort import LONG
from tests.torture.editors import pause, wait_until

GUESTS = 50 if LONG else 10
LOAD_SECONDS = 10 * 60 if LONG else 0.5
LEAST_WRITES = 5
KILLS = 30 if LONG else 1
WRITES_BEFORE_KILL = 30 if LONG else 5
SAMPLES = 30 if LONG else 10
FACTS, NOTES = (100, 300) if LONG else (10, 10)
SETTLE_SECONDS = 300
WORKER_THREADS = 40  # as many as the framework starts for handlers, and keeps for a while
MOST_FILES = 40  # a file left over by each request would be several hundred
GROWTH_MEGABYTES = 15
QUESTIONS = ("客廳的檯燈在哪裡？", "Where did Anna put the kettle?", "誰有備用鑰匙？")


class Guest(LoadClient):
    """A client that also talks, listens for a moment, and goes away without a word."""

    SHARES: ClassVar[dict[str, int]] = {**LoadClient.SHARES, "chat": 5, "listen": 3, "leave": 7}

    def chat(self) -> None:
        """Hear an answer to its end, unless too many are talking."""
        with self._ask("POST", "/api/chat", self._question()) as answer:
            heard = answer.read()
            is_busy = answer.status == 503 and "Retry-After" in answer.headers
            if not is_busy and b"event: done" not in heard:
                raise RequestRefused(heard.decode())

    def listen(self) -> None:
        """Hear the first event, and go."""
        with self._ask("GET", "/api/events") as answer:
            if answer.status != 200:
                raise RequestRefused(answer.read().decode())
            if answer.readline() != b"event: hello\n":
                raise ConnectionError

    def leave(self) -> None:
        """Go in the middle of a request, while waiting for its answer, or during the answer."""
        body = json.dumps(self._question()).encode()
        head = (
            f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        moment = self.random.choice(("head", "body", "waiting", "answer"))
        sent = {"head": head[:30], "body": head + body[:5]}.get(moment, head + body)
        with closing(socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)) as line:
            line.sendall(sent)
            if moment == "answer":
                line.recv(20)

    def _question(self) -> dict[str, str]:
        return {"message": self.random.choice(QUESTIONS), "key": f"web:{self.name}"}

    @contextmanager
    def _ask(self, method: str, path: str, body: object = None) -> Iterator[HTTPResponse]:
        """Ask on a line of its own."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as line:
            data = None if body is None else json.dumps(body).encode()
            line.request(method, path, data, {"Content-Type": "application/json"})
            yield line.getresponse()


class GuestThreads:
    """Guests who ask at once, from threads, for as long as the block lasts."""

    def __init__(self, server: BenchServer, number: int) -> None:
        seeds = range(number * GUESTS, (number + 1) * GUESTS)
        self.outcomes: list[ClientOutcome] = []
        self._guests = [Guest(server.port, seed) for seed in seeds]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        self.outcomes = crowd(self._guests, self._is_over.is_set)

    @property
    def writes(self) -> int:
        """How many writes were acknowledged so far."""
        return sum(len(guest.waits["write"]) for guest in self._guests)

    @property
    def errors(self) -> list[str]:
        """What went wrong."""
        return [error for one in self.outcomes for error in one.errors]


class Resources(NamedTuple):
    """What a process holds."""

    threads: int
    sockets: int
    files: int


def measure(server: BenchServer) -> Resources:
    process = Path("/proc", str(server.process.pid))
    opened = [target(one) for one in (process / "fd").iterdir()]
    sockets = sum(one.startswith("socket:") for one in opened)
    return Resources(len(list((process / "task").iterdir())), sockets, len(opened) - sockets)


def target(descriptor: Path) -> str:
    """Return what a descriptor stands for, which may have been closed meanwhile."""
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return ""


def megabytes(server: BenchServer) -> float:
    """Return the memory that a process has now."""
    words = Path("/proc", str(server.process.pid), "status").read_text("ascii").split()
    return int(words[words.index("VmRSS:") + 1]) / 1024


def endure(server: BenchServer, number: int) -> tuple[GuestThreads, list[float]]:
    """Request everything, from many clients at once; return that load and the memory meanwhile."""
    sizes: list[float] = []
    with GuestThreads(server, number) as load:
        for _ in range(SAMPLES):
            pause(LOAD_SECONDS / SAMPLES)
            sizes.append(megabytes(server))
        # On a busy machine little is done in so many seconds.
        assert wait_until(lambda: load.writes >= LEAST_WRITES, SETTLE_SECONDS) is not None
    if LONG or number > 1:
        come_and_go(server)
    return load, sizes


def come_and_go(server: BenchServer) -> None:
    """Leave and listen so often that one thread or file left over by each would be too many."""
    guest = Guest(server.port, -2)
    for _ in range(WORKER_THREADS + 10):
        guest.leave()
        guest.listen()


def settle(server: BenchServer, sockets: int, files: int) -> Resources:
    """Return what a server holds once its guests have gone and their last messages are written."""
    wait_until(
        lambda: (now := measure(server)).sockets <= sockets and now.files <= files, SETTLE_SECONDS
    )
    return measure(server)


def test_a_second_load_leaves_no_more_than_the_first(ground: Path) -> None:
    place = fill_folder(ground, FACTS, NOTES)
    with run_server(place) as server:
        idle = measure(server)
        Guest(server.port, -1).chat()  # Or each thread compiles the patterns that all need.
        one, sizes = endure(server, 1)
        first = settle(server, idle.sockets, MOST_FILES)
        # On a busy machine the first load ends before all that it needs is loaded.
        size = max(median(sizes), megabytes(server))
        two, later_sizes = endure(server, 2)
        second = settle(server, first.sockets, MOST_FILES)
    print(idle, first, second, size, median(later_sizes), one.writes, two.writes)
    assert one.errors + two.errors == []
    assert find_lost(place, one.outcomes + two.outcomes) == []
    assert first.sockets == second.sockets == idle.sockets
    assert max(first.files, second.files) <= MOST_FILES
    assert second.threads <= first.threads + WORKER_THREADS
    assert median(later_sizes) <= size + GROWTH_MEGABYTES


def test_what_a_killed_server_acknowledged_is_there_when_it_runs_again(ground: Path) -> None:
    place = fill_folder(ground, FACTS, NOTES)
    outcomes: list[ClientOutcome] = []
    for number in range(1, KILLS + 1):
        with run_server(place) as server, GuestThreads(server, number) as load:
            is_enough = wait_until(lambda: load.writes >= WRITES_BEFORE_KILL, SETTLE_SECONDS)
            server.process.kill()
        assert is_enough is not None
        assert [error for error in load.errors if f": {RequestRefused.__name__}:" in error] == []
        outcomes += load.outcomes
        with run_server(place) as again:
            guest = Guest(again.port, 0)
            facts = guest.ask("read", "GET", "/api/memory/facts")["facts"]
            status = guest.ask("read", "GET", "/api/status")
            guest.outcome()
        assert find_altered({one["id"]: one["content"] for one in facts}, outcomes) == []
        assert find_lost(place, outcomes) == []
        assert status["problems"] == []
