"""A database of conversations for tests, at one moment after another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from turnleaf.core.messages import Message
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
DAY = timedelta(days=1)
KEY = "cli:session-1"


class TimedPlace:
    """A database, and stores opened there at one moment after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START

    def open(self, **limits: Any) -> ConversationStore:  # noqa: ANN401 - as Settings takes them
        store = ConversationStore(self.path, settings=Settings(**limits), now=lambda: self.now)
        store.init()
        return store


def list_texts(store: ConversationStore, key: str = KEY) -> list[str]:
    return [message.text for message in store.get_history(key)]


def list_shown(store: ConversationStore, key: str = KEY) -> list[str]:
    return [one.message.text for one in store.messages(key)]


def exchange(question: str, answer: str) -> list[Message]:
    return [Message("user", question), Message("assistant", answer)]


def read_all_bytes(place: TimedPlace) -> bytes:
    return b"".join(path.read_bytes() for path in place.path.parent.iterdir())
