"""The stores under torture, behind one face: perform a step, tell what is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tests.torture.plan import PlanStep
from tests.torture.samples import SAMPLES
from turnleaf.core.messages import Message
from turnleaf.settings import Settings
from turnleaf.store.clock_and_ids import utc_now
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.conversations.takeover import take_over_older
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.memory_file import MemoryFile
from turnleaf.store.files.facts.older import find_older_path

LOGGER = "turnleaf"
TODAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LIMITS = {
    "CONVERSATION_MAX_TURNS": "1000000",
    "CONVERSATION_MAX_CHARS": "1000000000",
    "CONVERSATION_MAX_AGE_DAYS": "36500",
    "MEMORY_MAX_ITEMS": "1000000",
    "MEMORY_MAX_CHARS": "1000000000",
}
ONE_EXCHANGE = Settings(conversation_max_turns=2, conversation_max_age_days=36500)
NAMES = {
    "conversations-json": "conversations.json",
    "conversations-db": "conversations.db",
    "memories-json": "memories.json",
    "memories-md": "MEMORY.md",
    "daily": "daily",
}
KINDS = tuple(NAMES)
WHOLE = {"whole-db": "conversations.db"}
TAKEOVER = {"takeover-db": "conversations.db"}
MOVES = {"moves-md": "MEMORY.md", "moves-json": "memories.json"}


class Subject(Protocol):
    def perform(self, step: PlanStep) -> str:
        """Answer "ok", or "missing" when what the step speaks of is not there."""

    def list_texts(self) -> list[str]:
        """All that is there, in order."""

    def list_recorded_keys(self) -> list[str]:
        """Keys that the store's own record of changes knows; empty where there is none."""

    def close(self) -> None: ...


class ConversationsSubject:
    def __init__(self, path: Path) -> None:
        self.store = ConversationStore(path)
        self.store.init()

    def perform(self, step: PlanStep) -> str:
        if step.verb == "clear":
            self.store.clear(step.room)
        else:
            self.store.add_exchange(step.room, step.text, f"re {step.text}")
        return "ok"

    def list_texts(self) -> list[str]:
        rooms = sorted(summary.key for summary in self.store.summaries())
        return [text for room in rooms for text in exchanges(self.store.get_history(room))]

    def list_recorded_keys(self) -> list[str]:
        return []

    def close(self) -> None:
        self.store.close()


class WholeConversationsSubject(ConversationsSubject):
    """Conversations whose windows show one exchange each, and which keep all of them."""

    def __init__(self, path: Path) -> None:
        self.store = ConversationStore(path, settings=ONE_EXCHANGE)
        self.store.init()

    def list_texts(self) -> list[str]:
        """All that is kept, and that the feed knows as well."""
        fed = {one.id for one in self.store.changes_since(None, limit=10**6).found}
        rooms = sorted(summary.key for summary in self.store.summaries())
        kept = [
            [one.message for one in self.store.messages(room) if one.id in fed] for room in rooms
        ]
        return [text for messages in kept for text in exchanges(messages)]


class TakenOverSubject(WholeConversationsSubject):
    """Conversations in a database that takes over what an older version left beside it."""

    def __init__(self, path: Path) -> None:
        self.store = ConversationStore(path, settings=ONE_EXCHANGE)
        take_over_older(path, self.store)
        self.store.init()


def exchanges(history: list[Message]) -> list[str]:
    """The user's texts; half an exchange becomes a text that no plan contains."""
    said = [str(message.content) for message in history]
    pairs = zip(said[::2], [*said[1::2], ""], strict=False)
    return [user if answer == f"re {user}" else f"half {user}|{answer}" for user, answer in pairs]


class Memories:
    def __init__(self, path: Path) -> None:
        self.store = MemoryStore(path)
        self.store.init()
        self.ids: dict[str, str] = {}

    def perform(self, step: PlanStep) -> str:
        if step.verb == "add":
            self.ids[step.key] = self.store.add(step.text, step.room).id
            return "ok"
        if step.key not in self.ids:
            return "skipped"
        if step.verb == "update":
            return "ok" if self.store.update(self.ids[step.key], step.text) else "missing"
        return "ok" if self.store.delete(self.ids[step.key]) else "missing"

    def list_texts(self) -> list[str]:
        return [memory.content for memory in self.store.get_all()]

    def list_recorded_keys(self) -> list[str]:
        texts = [change.after.content for change in self.store.changes() if change.after]
        return [text.split(" ", maxsplit=1)[0] for text in texts]

    def close(self) -> None:
        pass


class Moves(Memories):
    """A memory whose facts go to the older ones, come back changed, or are forgotten there."""

    def perform(self, step: PlanStep) -> str:
        if step.verb == "add":
            memory = self.store.add(step.text, step.room)
            self.ids[step.key] = memory.id
            return "ok" if self.store.retire([memory.id]) else "missing"
        if step.verb == "update" and step.key in self.ids:
            self.store.revive(self.ids[step.key])
        return super().perform(step)

    def list_texts(self) -> list[str]:
        """All that is there, and each fact in one of the two files alone."""
        older = MemoryFile(find_older_path(self.store.location), utc_now)
        left = older.page().facts if older.path.exists() else ()
        return super().list_texts() + [fact.memory.content for fact in left]


class Daily:
    ENTRY = re.compile(r"w\d+k\d+ v\d+ .*")

    def __init__(self, path: Path) -> None:
        self.log = DailyLog(path, now=lambda: TODAY)

    def perform(self, step: PlanStep) -> str:
        self.log.append(step.text)
        return "ok"

    def list_texts(self) -> list[str]:
        return self.ENTRY.findall(self.log.read(TODAY.date()))

    def list_recorded_keys(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


OPENERS: dict[str, Callable[[Path], Subject]] = {
    "conversations": ConversationsSubject,
    "whole": WholeConversationsSubject,
    "takeover": TakenOverSubject,
    "memories": Memories,
    "moves": Moves,
    "daily": Daily,
}


def location(kind: str, folder: Path) -> Path:
    return folder / (NAMES | WHOLE | TAKEOVER | MOVES).get(kind, "sample.txt")


def open_subject(kind: str, folder: Path) -> Subject:
    opener = SAMPLES.get(kind) or OPENERS[kind.split("-", maxsplit=1)[0]]
    return opener(location(kind, folder))
