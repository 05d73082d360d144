"""A connection may be cut at any message: what is added is there, once, and nobody notices."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, Thread

import pytest

from tests.postgres import empty_database, share_server
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.store.contracts import Stores

SOCKET = ".s.PGSQL.5432"
LEAST_STATEMENTS, MOST_STATEMENTS = 4, 60
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class CuttingProxy:
    """Stands between a client and the server, and cuts a connection once, at the n-th message.

    That is a message of the client, which the server never gets, or with `is_answer` one of the
    server, which has done by then what it was asked for.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self._server = server / SOCKET
        self._lock = Lock()
        self._left: int | None = None
        self._is_answer = False
        self._has_cut = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen()
        self._threads: list[Thread] = []
        accepting = Thread(target=self._accept, daemon=True)
        self._threads.append(accepting)
        accepting.start()

    def cut_after(self, messages: int, *, is_answer: bool) -> None:
        """Forward so many messages of one side, and cut at the next one."""
        with self._lock:
            self._left, self._is_answer = messages, is_answer

    def mend(self) -> bool:
        """Forward everything from now on; whether something was cut."""
        with self._lock:
            was_cut, self._left, self._has_cut = self._has_cut, None, False
        return was_cut

    def close(self) -> None:
        """Wait until every connection has ended."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with self._listener, suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                self._start(self._forward, client, server)
                self._start(self._forward_answers, server, client)

    def _start(self, work: Callable[..., None], *sockets: socket.socket) -> None:
        thread = Thread(target=work, args=sockets, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _forward_answers(self, server: socket.socket, client: socket.socket) -> None:
        self._forward(server, client, is_answer=True)

    def _forward(
        self, giver: socket.socket, taker: socket.socket, *, is_answer: bool = False
    ) -> None:
        with giver:
            with suppress(OSError):
                while (data := giver.recv(65536)) and self._may_pass(is_answer=is_answer):
                    taker.sendall(data)
            for one in (giver, taker):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _may_pass(self, *, is_answer: bool) -> bool:
        with self._lock:
            if self._left is None or self._is_answer != is_answer:
                return True
            self._left -= 1
            self._has_cut = self._left < 0
            self._left = None if self._has_cut else self._left
            return not self._has_cut


@contextmanager
def make_proxy() -> Iterator[tuple[CuttingProxy, str]]:
    address, server = empty_database(), share_server().folder
    with tempfile.TemporaryDirectory(prefix="turnleaf-") as folder:
        proxy = CuttingProxy(Path(folder), server)
        yield proxy, address.replace(str(server), folder)
        proxy.close()


def list_messages(stores: Stores) -> list[object]:
    return [one.message.content for one in stores.conversations.messages("cli:1")]


def list_facts(stores: Stores) -> list[object]:
    return [one.content for one in stores.facts.get_all()]


def list_notes(stores: Stores) -> list[object]:
    return [line.partition(" ")[2][6:] for line in stores.daily.read(NOON).splitlines()[2:]]


def list_records(stores: Stores) -> list[object]:
    return [one.value.decode() for one in stores.records.list_records("sessions")]


def list_queued(stores: Stores) -> list[object]:
    return [one.message.content for one in stores.learning.list_queued("cli:1")]


def say(stores: Stores, text: str) -> None:
    """Add a message, and see to it that the ids are those of what is stored."""
    added = stores.conversations.add_messages("cli:1", [Message("user", text)])
    assert added == [stores.conversations.messages("cli:1")[-1].id]


APPENDS: dict[str, tuple[Callable[[Stores, str], object], Callable[[Stores], list[object]]]] = {
    "messages": (say, list_messages),
    "facts": (lambda stores, text: stores.facts.add(text), list_facts),
    "notes": (lambda stores, text: stores.daily.append(text), list_notes),
    "records": (
        lambda stores, text: stores.records.append("sessions", "", text.encode()),
        list_records,
    ),
    "queue": (
        lambda stores, text: stores.learning.enqueue("cli:1", [Queued(Message("user", text))]),
        list_queued,
    ),
}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("kind", APPENDS)
def test_what_is_added_is_there_once_wherever_the_connection_is_cut(kind: str, side: str) -> None:
    add, read = APPENDS[kind]
    wanted: list[object] = []
    with make_proxy() as (proxy, address), Stores.open(address, now=lambda: NOON) as stores:
        for place in range(-1, MOST_STATEMENTS):
            wanted.append(f"米米 {place}")
            if place >= 0:  # the first one connects
                proxy.cut_after(place, is_answer=side == "server")
            add(stores, f"米米 {place}")
            if not proxy.mend() and place >= 0:
                break
        else:
            pytest.fail("there were more statements than expected")
        assert len(wanted) > LEAST_STATEMENTS
        assert read(stores) == wanted
