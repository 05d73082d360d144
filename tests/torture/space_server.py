"""A server of all spaces of a database, without HTTP: it answers lines of JSON on a socket.

python -m tests.torture.space_server ADDRESS SOCKET
"""

from __future__ import annotations

import json
import socketserver
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from turnleaf.assistant import Assistant
from turnleaf.core.messages import Message
from turnleaf.errors import TurnleafError
from turnleaf.spaces import Spaces, Worker
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores

KEY = "cli:1"
OPERATIONS: dict[str, Callable[[Stores, str], Any]] = {
    "message": lambda stores, text: stores.conversations.add_messages(KEY, [Message("user", text)]),
    "fact": lambda stores, text: stores.facts.add(text, memory_id=text.replace(" ", "-")),
    "note": lambda stores, text: stores.daily.append(text, once=text),
    "record": lambda stores, text: stores.records.append("sessions", "", text.encode()),
    "search": lambda stores, text: [one.text for one in stores.passages.search(text)],
}
REPEATABLE = {"fact", "note", "search"}
"""What may be asked for again by whoever got no answer."""


def read_all(stores: Stores, since: datetime) -> dict[str, list[str]]:
    """Return what every operation left in a space."""
    days = [day for day in stores.daily.dates() if day >= since.date()]
    notes = "".join(stores.daily.read(day) for day in days).splitlines()
    return {
        "message": [one.message.text for one in stores.conversations.messages(KEY)],
        "fact": [one.content for one in stores.facts.get_all()],
        "note": [line[len("- 12:00 ") :] for line in notes if line.startswith("- ")],
        "record": [one.value.decode() for one in stores.records.list_records("sessions")],
    }


class SpaceHandler(socketserver.StreamRequestHandler):
    """Does what each line asks for, and answers when it is done."""

    def handle(self) -> None:
        spaces = cast("SpaceServer", self.server).spaces
        for line in self.rfile:
            space, operation, text = json.loads(line)
            try:
                with spaces.use(space) as assistant:
                    answer = OPERATIONS[operation](assistant.stores, text)
                told = {"done": answer if operation == "search" else True}
            except TurnleafError as error:
                told = {"error": str(error)}
            self.wfile.write(json.dumps(told).encode() + b"\n")


class SpaceServer(socketserver.ThreadingUnixStreamServer):
    """Listens on a socket."""

    daemon_threads = True

    def __init__(self, path: str, spaces: Spaces) -> None:
        self.spaces = spaces
        super().__init__(path, SpaceHandler)


def main() -> None:
    address, path = sys.argv[1:]
    spaces = Spaces(address)
    own = Assistant(Stores.open(address), now=local_now)
    with Worker(own, spaces.use, look_seconds=0.2), SpaceServer(path, spaces) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
