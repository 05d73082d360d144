"""A connection may be cut at any statement: what was acknowledged is there, and nothing half."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

import pytest

from tests.postgres import empty_database, share_server
from turnleaf.errors import StorageError
from turnleaf.store.contracts import Stores

SOCKET = ".s.PGSQL.5432"
MOST_STATEMENTS = 60


class CuttingProxy:
    """Stands between a client and the server, and cuts a connection once, at the n-th message."""

    def __init__(self, folder: Path, server: Path) -> None:
        self._server = server / SOCKET
        self._lock = Lock()
        self._left: int | None = None
        self._has_cut = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen()
        self._threads: list[Thread] = []
        accepting = Thread(target=self._accept, daemon=True)
        self._threads.append(accepting)
        accepting.start()

    def cut_after(self, messages: int) -> None:
        """Forward so many messages of clients, and cut at the next one."""
        with self._lock:
            self._left = messages

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
                self._start(_forward_all, server, client)

    def _start(self, work: Callable[..., None], *sockets: socket.socket) -> None:
        thread = Thread(target=work, args=sockets, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with client:
            with suppress(OSError):
                while (data := client.recv(65536)) and self._may_pass():
                    server.sendall(data)
            for one in (client, server):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _may_pass(self) -> bool:
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            self._has_cut = self._left < 0
            self._left = None if self._has_cut else self._left
            return not self._has_cut


def _forward_all(server: socket.socket, client: socket.socket) -> None:
    with server:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def make_proxy() -> Iterator[tuple[CuttingProxy, str]]:
    address, server = empty_database(), share_server().folder
    with tempfile.TemporaryDirectory(prefix="turnleaf-") as folder:
        proxy = CuttingProxy(Path(folder), server)
        yield proxy, address.replace(str(server), folder)
        proxy.close()


def count_messages(stores: Stores) -> int:
    return len(stores.conversations.messages("cli:1"))


def count_facts(stores: Stores) -> int:
    return len(stores.facts.get_all())


CHANGES: dict[str, tuple[Callable[[Stores], object], Callable[[Stores], int], int]] = {
    "messages": (
        lambda stores: stores.conversations.add_exchange("cli:1", "我的貓叫米米", "好"),
        count_messages,
        2,
    ),
    "facts": (lambda stores: stores.facts.add("我的貓叫米米"), count_facts, 1),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_made_whole_or_not_at_all_wherever_the_connection_is_cut(kind: str) -> None:
    change, count, size = CHANGES[kind]
    outcomes = set[tuple[bool, int]]()
    with make_proxy() as (proxy, address), Stores.open(address) as stores:
        change(stores)
        for place in range(MOST_STATEMENTS):
            before = count(stores)
            proxy.cut_after(place)
            is_acknowledged = True
            try:
                change(stores)
            except StorageError:
                is_acknowledged = False
            was_cut = proxy.mend()
            outcomes.add((is_acknowledged, count(stores) - before))
            if not was_cut:
                break
        else:
            pytest.fail("there were more statements than expected")
    # A cut before anything was asked is mended unseen; no acknowledged change is missing.
    assert outcomes <= {(True, size), (False, 0), (False, size)}
    assert {(True, size), (False, 0)} <= outcomes
