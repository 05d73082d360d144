"""Server-sent events as they come, and models that take their time."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.faces.http.conftest import DEADLINE_SECONDS
from tests.standins.scripted_model import ScriptedModel
from turnleaf.core.model_dialogue import Event, Prompt, Text, Toolbox

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Certificates are not needed here, and take long to load."""

MOST_SIGNS_OF_LIFE = 20
"""The server sends one every 15 seconds in which there is nothing to tell."""


def make_client() -> httpx2.Client:
    """Return a new client."""
    return httpx2.Client(timeout=DEADLINE_SECONDS, trust_env=False, verify=NO_TLS)


@dataclass(frozen=True)
class ServerEvent:
    """An event."""

    name: str
    data: Any


Heard = Iterator[ServerEvent]


@contextmanager
def listening(
    method: str, url: str, body: object = None, *, language: str = "en"
) -> Iterator[Heard]:
    """Yield the events of an answer for as long as somebody listens."""
    accepted = {"Accept-Language": language}
    with (
        make_client() as client,
        client.stream(method, url, json=body, headers=accepted) as response,
    ):
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield _events(response)


@contextmanager
def chatting(url: str, message: str, **more: object) -> Iterator[Heard]:
    """Send a message and yield the events of the answer."""
    with listening("POST", f"{url}/api/chat", {"message": message, **more}) as heard:
        yield heard


def send_message(url: str, message: str, **more: object) -> list[ServerEvent]:
    """Send a message and return all events of the answer."""
    with chatting(url, message, **more) as heard:
        return list(heard)


def find_event(heard: Iterator[ServerEvent] | list[ServerEvent], name: str) -> Any:  # noqa: ANN401 - by event
    """Return the data of the first event of that name."""
    return next(told.data for told in heard if told.name == name)


def _events(response: httpx2.Response) -> Heard:
    name = ""
    signs_of_life = 0
    for line in response.iter_lines():
        if line.startswith(":"):
            signs_of_life += 1
            assert signs_of_life < MOST_SIGNS_OF_LIFE, "nothing was told for long"
            continue
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield ServerEvent(name, json.loads(line.removeprefix("data: ")))


def ask(method: str, url: str, **given: Any) -> httpx2.Response:  # noqa: ANN401 - httpx2's
    """Send a request and return the whole response."""
    with make_client() as client:
        return client.request(method, url, **given)


def wait_for_turns() -> None:
    """Wait until no turn is under way."""
    for thread in threading.enumerate():
        if thread.name == "turnleaf-turn":
            thread.join(DEADLINE_SECONDS)
            assert not thread.is_alive()


@dataclass
class PausingModel(ScriptedModel):
    """Says "One, ", waits until it may go on, and says the rest."""

    paused: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go: threading.Event = field(default_factory=threading.Event)

    def stream(
        self,
        prompt: Prompt,
        tools: Toolbox | None = None,  # noqa: ARG002 - it uses none
    ) -> Iterator[Event]:
        """Answer in two parts."""
        self.prompts.append(prompt)
        yield Text("One, ")
        self.paused.release()
        assert self.go.wait(DEADLINE_SECONDS)
        yield Text(f"two: {prompt.question}")


@dataclass
class SilentModel(ScriptedModel):
    """Says nothing until it may."""

    asked: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def stream(
        self,
        prompt: Prompt,
        tools: Toolbox | None = None,  # noqa: ARG002 - it uses none
    ) -> Iterator[Event]:
        """Answer late."""
        self.prompts.append(prompt)
        self.asked.set()
        assert self.go.wait(DEADLINE_SECONDS)
        yield Text("At last")


@dataclass
class EndlessModel(ScriptedModel):
    """Says "more " until somebody stops it."""

    begun: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    def stream(
        self,
        prompt: Prompt,
        tools: Toolbox | None = None,  # noqa: ARG002 - it uses none
    ) -> Iterator[Event]:
        """Go on and on, but not as fast as it could."""
        self.prompts.append(prompt)
        self.begun.set()
        try:
            while True:
                yield Text("more ")
                self.stopped.wait(0.01)
        finally:
            self.stopped.set()


@dataclass
class BrokenModel(ScriptedModel):
    """Begins to speak, and fails in a way that nobody has foreseen."""

    def stream(
        self,
        prompt: Prompt,
        tools: Toolbox | None = None,  # noqa: ARG002 - it uses none
    ) -> Iterator[Event]:
        """Fail."""
        yield Text(prompt.question)
        message = "a word that nobody should see"
        raise RuntimeError(message)
