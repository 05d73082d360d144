"""`turnleaf serve` in a process of its own, and the folder that it serves."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from typing import Any, TextIO

import httpx2

from tests.faces.forking import Fork, fork
from turnleaf.faces.operator_links import make_link
from turnleaf.settings import CONFIG_NAME, KEYS, SETTINGS, DataFolder, Settings
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.pending import PendingStore
from turnleaf.store.files.schedules import ScheduleStore

SECONDS = 60.0
"""How long anything is waited for; a busy machine is no failure."""
NO_INPUT, ERRORS = 0, 2
LAST_LINE = "Press Ctrl-C to stop."
ALONE = {"model": "recall", "embeddings": False}
"""Settings with which nothing needs a model."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Certificates are not needed here, and take long to load."""


class PageServer:
    """A server that runs over a data folder."""

    def __init__(self, address: str, data: Path, process: Fork) -> None:
        self.address = address
        self.data = data
        self.process = process
        self.folder = DataFolder(data, "a test")

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rstrip("/").rpartition(":")[2])

    @property
    def memory(self) -> MemoryStore:
        """The memory, as another process sees it."""
        return MemoryStore(self.folder.memory(Settings()))

    @property
    def pending(self) -> PendingStore:
        """What waits, as another process sees it."""
        return PendingStore(self.memory)

    @property
    def daily(self) -> DailyLog:
        """The daily log, as another process sees it."""
        return DailyLog(self.folder.daily)

    @property
    def conversations(self) -> ConversationStore:
        """The conversations, as another process sees them."""
        return ConversationStore(self.folder.conversations(Settings()))

    @property
    def schedules(self) -> ScheduleStore:
        """The schedules, as another process sees them."""
        return ScheduleStore(self.folder.schedules)

    @property
    def file(self) -> str:
        """What MEMORY.md says, with our comments."""
        return self.memory.location.read_text("utf-8")

    def contents(self) -> list[str]:
        """What is remembered."""
        return [memory.content for memory in self.memory.get_all()]

    def write(self, text: str) -> None:
        """Save the memory's file as another program would."""
        self.memory.write(text)

    def configure(self, **values: object) -> None:
        """Change the file of settings as a person would."""
        path = self.data / CONFIG_NAME
        path.write_text(json.dumps({**ALONE, **values}), "utf-8")

    def read_config(self) -> dict[str, Any]:
        """What the file of settings says."""
        return dict(json.loads((self.data / CONFIG_NAME).read_text("utf-8")))

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Ask the API."""
        with httpx2.Client(timeout=SECONDS, trust_env=False, verify=NO_TLS) as client:
            url = f"http://127.0.0.1:{self.port}/{path}"
            answer = client.request(method, url, json=body).raise_for_status()
            kind = answer.headers.get("content-type", "")
            return answer.json() if answer.content and "json" in kind else answer.text

    @contextmanager
    def listening(self) -> Iterator[Iterator[dict[str, Any]]]:
        """Hear what the server tells from now on."""
        url = f"http://127.0.0.1:{self.port}/api/events"
        with (
            httpx2.Client(timeout=SECONDS, trust_env=False, verify=NO_TLS) as client,
            client.stream("GET", url) as line,
        ):
            told = (json.loads(one[5:]) for one in line.iter_lines() if one.startswith("data:"))
            next(told)
            yield told

    def make_link(self) -> str:
        """Make the link that lets a browser set models and keys."""
        return make_link(self.folder.operator_link)

    def begin_again(self) -> None:
        """Leave nothing of what a test before has said and written."""
        self.configure()
        for one in self.ask("GET", "api/conversations")["conversations"]:
            self.ask("DELETE", f"api/conversations/{one['key']}")
        for one in self.pending.get_all():
            self.pending.reject(one.id)
        for schedule in self.schedules.get_all():
            self.schedules.remove(schedule.id)
        for day in self.folder.daily.glob("*.md"):
            day.unlink()
        self.write("# Memory\n")

    def end(self) -> None:
        """End the process."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(SECONDS)


@contextmanager
def run_server(
    data: Path, *options: str, environ: Mapping[str, str] | None = None
) -> Iterator[PageServer]:
    """Serve a folder from a process of its own, in an environment that says nothing else."""
    data.mkdir(parents=True, exist_ok=True)
    (data / CONFIG_NAME).write_text(json.dumps(ALONE), "utf-8")
    given = options if "--port" in options else ("--port", "0", *options)
    ours, its = os.pipe()
    variables = {**_silent(data.parent), **(environ or {})}
    arguments = ["--data-dir", str(data), "serve", *given]
    process = fork(arguments, [NO_INPUT, its, ERRORS], variables)
    os.close(its)
    with os.fdopen(ours, encoding="utf-8") as out:
        try:
            yield PageServer(_address(process, out), data, process)
        finally:
            process.kill()
            process.wait(SECONDS)


def choose_lasting_port() -> int:
    """Choose a free port that the system gives to nobody, so that a server finds it free again."""
    given_out = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()
    while True:
        port = SystemRandom().randrange(10_000, int(given_out[0]))
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _silent(home: Path) -> dict[str, str]:
    """Return an environment without any of Turnleaf's variables."""
    ours = {*(one.variable for one in SETTINGS), *map(str.upper, KEYS), "SUPERVISOR_TOKEN"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("TURNLEAF_")
    }
    return {
        **kept,
        "HOME": str(home),
        "XDG_DATA_HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "OPENAI_API_KEY": "none",
    }


def _address(process: Fork, out: TextIO) -> str:
    """Wait until the server says where it is."""
    guard = threading.Timer(SECONDS, process.kill)
    guard.start()
    said = ""
    while LAST_LINE not in said and (line := out.readline()):
        said += line
    guard.cancel()
    found = re.search(r"^Turnleaf is running at (http://\S+)$", said, re.MULTILINE)
    assert found, said
    return found[1]
