"""A real server to attack, byte by byte, and what must hold after each attack."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.faces.http.conftest import share_routes
from turnleaf import Assistant
from turnleaf.faces.http.access import HEADERS, Access, guard_app
from turnleaf.faces.http.app import make_app
from turnleaf.faces.http.request_reading import RequestLimits
from turnleaf.faces.http.server import Server, listen
from turnleaf.settings import SETTINGS

SECONDS = 60
"""How long anything may take before a test fails."""
TOKEN = "a-token-of-a-test-that-nobody-could-guess"  # noqa: S105 - it opens nothing
LAMP = "客廳的燈叫做小明"
CANARY = "a canary that must never be sung"
DERIVED = ("index.db", "learning.db", "conversations.db", "vectors.db", ".lock")
"""What may be written anew although it holds the same."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever was answered
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class Target:
    """A server in this process, over a folder with a memory, beside a file that is not its own."""

    def __init__(self, home: Path, port: int, assistant: Assistant, token: str | None) -> None:
        self.home = home
        self.folder = home / "data"
        self.canary = home / "canary.md"
        self.port = port
        self.assistant = assistant
        self.token = token

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)

    def send(self, data: bytes) -> HttpAnswer:
        """Send bytes as they are, and read one answer."""
        with closing(self.connect()) as connection:
            connection.sendall(data)
            return read(connection, data.partition(b" ")[0].decode("latin-1"))

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | object = b"",
        *,
        host: str | None = None,
        **headers: str,
    ) -> HttpAnswer:
        """Send a request as it should be, but for what is said here; `_` in a header is `-`."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if data:
            given = {"Content-Type": "application/json", "Content-Length": str(len(data)), **given}
        if self.token is not None:
            given = {"Authorization": f"Bearer {self.token}", **given}
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {host or f'127.0.0.1:{self.port}'}",
            "Connection: close",
            *(f"{name}: {value}" for name, value in given.items()),
        ]
        return self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data)

    def files(self) -> dict[str, bytes]:
        """Return all that must not change, in the data folder and beside it."""
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not any(word in path.name for word in DERIVED)
        }


def read(connection: socket.socket, method: str = "GET") -> HttpAnswer:
    """Read one answer to a request by that method."""
    response = HTTPResponse(connection, method=method)
    response.begin()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return HttpAnswer(response.status, headers, response.read())


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server has hung up, and tell whether it said nothing more."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def expect_problem(answer: HttpAnswer, status: int) -> str:
    """Check that this is a problem that reveals nothing; return its sentence."""
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    record = answer.json
    assert record["status"] == status
    assert record["title"]
    assert record["type"] == "about:blank"
    assert_guarded(answer)
    return str(record["detail"])


def assert_guarded(answer: HttpAnswer) -> None:
    """Check what holds for every answer."""
    for name in HEADERS:
        assert name.lower() in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("access-control")]
    for word in ("Traceback", 'File "', CANARY, TOKEN):
        assert word not in answer.body.decode("utf-8", "replace")


@contextmanager
def run_target(
    home: Path, *, token: str | None = None, limits: RequestLimits | None = None
) -> Iterator[Target]:
    """Run a server for as long as it is attacked."""
    (home / "canary.md").write_text(f"- {CANARY}\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch, closing(listen("127.0.0.1", 0)) as listener:
        for variable in (*(setting.variable for setting in SETTINGS), "SUPERVISOR_TOKEN"):
            patch.delenv(variable, raising=False)
        patch.setenv("EMBEDDINGS", "off")
        patch.setenv("TURNLEAF_MODEL", "recall")
        assistant = Assistant(home / "data")
        port = listener.getsockname()[1]
        app = guard_app(share_routes(make_app(assistant)), Access("127.0.0.1", port, token), limits)
        started = threading.Event()
        server = Server(app, listener, limits=limits, ready=started.set)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert started.wait(SECONDS)
            assistant.memory.add(LAMP, "家")
            assistant.conversations.init()
            yield Target(home, port, assistant, token)
        finally:
            server.stop()
            thread.join(SECONDS)
            assistant.close()
    assert not thread.is_alive()
