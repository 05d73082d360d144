"""A real server on a free port of this machine, over a data folder of its own."""

from __future__ import annotations

import json
import os
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute

from turnleaf.assistant import Assistant
from turnleaf.core.model_dialogue import Model
from turnleaf.faces.http.access import Access, guard_app
from turnleaf.faces.http.app import make_app
from turnleaf.faces.http.operator_sessions import OperatorSessions
from turnleaf.faces.http.request_reading import RequestLimits
from turnleaf.faces.http.server import Server, listen
from turnleaf.faces.operator_links import make_link
from turnleaf.settings import CONFIG_NAME, KEYS, SETTINGS, DataFolder

LOOPBACK = "127.0.0.1"
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs: where, over which folder, and with which assistant."""

    url: str
    folder: Path
    assistant: Assistant

    @property
    def memory(self) -> Path:
        """The memory file."""
        return Path(self.assistant.memory.location)


Serve = Callable[..., RunningServer]


@contextmanager
def serving(
    assistant: Assistant, *, token: str | None = None, limits: RequestLimits | None = None
) -> Iterator[str]:
    """Serve an assistant from a thread; return the address."""
    ready = threading.Event()
    with closing(listen(LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        sessions = OperatorSessions(assistant.folder.operator_link, port)
        access = Access(LOOPBACK, port, token, sessions=sessions)
        app = guard_app(share_routes(make_app(assistant)), access, limits)
        server = Server(app, listener, limits=limits, ready=ready.set)
        thread = threading.Thread(target=server.serve_forever, name="served")
        thread.start()
        try:
            assert ready.wait(DEADLINE_SECONDS)
            yield f"http://{LOOPBACK}:{port}"
        finally:
            server.stop()
            thread.join(DEADLINE_SECONDS)
            assert not thread.is_alive()


_INCLUDED: dict[int, BaseRoute] = {}
"""The routes of the first app, by the router that they are of."""


def share_routes(app: FastAPI) -> FastAPI:
    """Take the routes of the first app in their place: each app analyses all of them anew at its
    first request, which takes longer than most tests.
    """
    for place, route in enumerate(app.router.routes):
        if (router := getattr(route, "original_router", None)) is not None:
            app.router.routes[place] = _INCLUDED.setdefault(id(router), route)
    return app


@contextmanager
def make_data_folder(home: Path) -> Iterator[Path]:
    """Yield a data folder in which nothing needs a model, in a clean environment."""
    ours = {*(setting.variable for setting in SETTINGS), *map(str.upper, KEYS), "SUPERVISOR_TOKEN"}
    with pytest.MonkeyPatch.context() as patch:
        for name in [one for one in os.environ if one in ours or one.startswith("TURNLEAF_")]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_DATA_HOME", str(home / "share"))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        folder = home / "data"
        folder.mkdir()
        chosen = {"model": "recall", "embeddings": False}
        (folder / CONFIG_NAME).write_text(json.dumps(chosen), "utf-8")
        yield folder


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder of its own."""
    with make_data_folder(tmp_path) as folder:
        yield folder


@pytest.fixture
def serve(data: Path) -> Iterator[Serve]:
    """Start servers over the data folder, as many as a test needs."""
    with ExitStack() as running:

        def start(
            model: Model | None = None,
            *,
            token: str | None = None,
            limits: RequestLimits | None = None,
        ) -> RunningServer:
            assistant = Assistant(DataFolder(data, "a test"), model=model)
            running.callback(assistant.close, flush=False)
            url = running.enter_context(serving(assistant, token=token, limits=limits))
            return RunningServer(url, data, assistant)

        yield start


@pytest.fixture
def server(serve: Serve) -> RunningServer:
    """A server with the model that only recalls."""
    return serve()


@pytest.fixture
def client(server: RunningServer) -> Iterator[httpx2.Client]:
    """A client of that server."""
    with calling(server) as client:
        yield client


@pytest.fixture
def operator(server: RunningServer) -> Iterator[httpx2.Client]:
    """A client of that server that may set models and keys."""
    with operating(server) as client:
        yield client


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a module that leave it as it is."""
    with make_data_folder(tmp_path_factory.mktemp("shared")) as folder:
        assistant = Assistant(DataFolder(folder, "a test"))
        with serving(assistant) as url:
            yield RunningServer(url, folder, assistant)
        assistant.close(flush=False)


@pytest.fixture(scope="module")
def visitor(shared_server: RunningServer) -> Iterator[httpx2.Client]:
    """A client of the server that the tests of a module share."""
    with calling(shared_server) as client:
        yield client


def calling(server: RunningServer) -> httpx2.Client:
    """Yield a client that knows no other server."""
    # Making the usual context for TLS would take longer than most tests.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.Client(
        base_url=server.url, timeout=DEADLINE_SECONDS, trust_env=False, verify=context
    )


@contextmanager
def operating(server: RunningServer) -> Iterator[httpx2.Client]:
    """Yield a client whose user came by the one-time link."""
    link = make_link(server.assistant.folder.operator_link, server.url)
    with calling(server) as client:
        assert client.get(link).status_code == 303
        yield client
