"""The real server, real files and a real browser: one of each for all tests of this folder.

Each test begins with a memory in which nothing stands, and with a browser profile in which
nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Protocol, Unpack

import pytest
from playwright.sync_api import Browser

from tests.page.browsing import BrowserProfile, Visit, Visitor, chromium, visiting
from tests.page.serving import PageServer, run_server
from tests.standins.chat_api import ChatApi

OTHER_NAME = "memory.localhost"
"""A name by which the server may be called, too."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A browser, until the last test here is done."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """A server, until the last test here is done."""
    data = tmp_path_factory.mktemp("page") / "data"
    with run_server(data, "--allow-host", OTHER_NAME) as server:
        yield server


@pytest.fixture
def server(running: PageServer) -> PageServer:
    """That server, with nothing in its memory."""
    running.begin_again()
    return running


class Visiting(Protocol):
    """Begins a visit with a profile of its own."""

    def __call__(self, address: str | None = None, **visitor: Unpack[Visitor]) -> Visit: ...


@pytest.fixture
def visits(browser: Browser, running: PageServer) -> Iterator[Visiting]:
    """Visit in other languages, with other colours and screens, as often as a test needs."""
    with ExitStack() as begun:

        def begin(address: str | None = None, **visitor: Unpack[Visitor]) -> Visit:
            return begun.enter_context(visiting(browser, address or running.address, **visitor))

        yield begin


@pytest.fixture(scope="package")
def profile(browser: Browser, running: PageServer) -> BrowserProfile:
    """A profile for all visits in English, in light colours, on a wide screen."""
    return BrowserProfile(browser, running.address)


@pytest.fixture
def visit(server: PageServer, profile: BrowserProfile) -> Iterator[Visit]:
    """A visit in English, in light colours, on a wide screen, that changes only what is stored."""
    with profile.visiting() as visit:
        yield visit


@pytest.fixture
def api(server: PageServer) -> Iterator[ChatApi]:
    """A model that says what it is told to, chosen in the settings."""
    with ChatApi() as api:
        server.configure(model="openai:stand-in", modelUrl=api.url, extractModel="rules")
        yield api
