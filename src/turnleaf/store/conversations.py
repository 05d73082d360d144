"""`ConversationStore`: conversations by key, kept within limits (000)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from turnleaf.core.keys import checked_key
from turnleaf.core.messages import Message
from turnleaf.errors import InvalidInput, StorageError
from turnleaf.settings import ARCHIVE, Settings, default_data_dir
from turnleaf.store import files
from turnleaf.store.archive import Archive
from turnleaf.store.conversations_db import BEGINNING_CHARS, DatabaseShelf
from turnleaf.store.conversations_json import JsonShelf
from turnleaf.store.limits import Drop, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from turnleaf.core.messages import Content


TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation without its messages; its title is how the first question kept begins."""

    key: str
    turns: int
    created_at: datetime
    updated_at: datetime
    title: str


class Shelf(Protocol):
    """Where conversations stand: a JSON file or a database.

    What `append` and `expire` take away is first given to `drop`, if that is not None.
    """

    def open(self) -> None:
        """Make it where missing."""

    def append(self, key: str, new: Sequence[Message], limits: Limits) -> None:
        """Add messages to a conversation and trim it, in one step."""

    def read(self, key: str) -> list[Message]:
        """Give a conversation's messages."""

    def clear(self, key: str) -> bool:
        """Remove a conversation; False when there is none."""

    def expire(self, before: datetime, drop: Drop | None) -> int:
        """Remove conversations not added to since; give how many."""

    def summaries(self) -> list[tuple[str, int, datetime, datetime, str]]:
        """Give key, messages, creation, last addition and first question, newest first."""

    def close(self) -> None:
        """Let go of what is open."""


SHELVES: dict[str, Callable[[Path], Shelf]] = {".json": JsonShelf, ".db": DatabaseShelf}


class ConversationStore:
    """Conversations by key. A location ending in `.db` is for thousands of them."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.location = _resolved(location)
        self._given_settings = settings
        self._settings = settings or Settings()
        self._now = now
        self._shelf: Shelf = SHELVES[self.location.suffix](self.location)
        self._archive = Archive(self.location.parent / ARCHIVE)
        self._is_ready = False

    def use(self, settings: Settings) -> None:
        """Let other limits hold from now on."""
        self._given_settings = self._settings = settings

    def init(self) -> None:
        """Make the folder and the file where missing, and clean up what has expired."""
        self._open()
        self.cleanup()

    def add_exchange(
        self, conversation_id: str, user_message: Content, assistant_response: Content
    ) -> None:
        """Add what the user said and what the assistant answered, trim, and save."""
        now = self._now()
        said = Message("user", user_message, now)
        self.add_messages(conversation_id, [said, Message("assistant", assistant_response, now)])

    def add_messages(
        self, conversation_id: str, messages: Sequence[Message], *, again: str | None = None
    ) -> None:
        """Add messages, tool calls and their results among them, trim, and save.

        With `again` they replace an exchange at the end that began with that text.
        """
        key = checked_key(conversation_id)
        self._ready()
        now = self._now()
        stamped = [one if one.timestamp else replace(one, timestamp=now) for one in messages]
        limits = Limits(
            now=now,
            max_turns=self._settings.conversation_max_turns,
            max_chars=self._settings.conversation_max_chars,
            drop=self._drop(),
            again=again,
        )
        if stamped:
            self._shelf.append(key, stamped, limits)

    def get_history(self, conversation_id: str) -> list[Message]:
        """Give a conversation's messages, oldest first; none when there is no such."""
        self._look()
        return self._shelf.read(checked_key(conversation_id))

    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation, in the archive too; False when there is none."""
        key = checked_key(conversation_id)
        self._ready()
        was_archived = self._archive.erase(key)
        return self._shelf.clear(key) or was_archived

    @property
    def has_archive(self) -> bool:
        """Tell whether messages were ever archived here."""
        return self._archive.folder.exists()

    def cleanup(self) -> int:
        """Remove conversations that are too old; give how many."""
        if not self._is_ready:
            self._open()
        now = self._now()
        settings = self._settings
        removed = self._shelf.expire(
            _days_before(now, settings.conversation_max_age_days), self._drop()
        )
        self._archive.expire(_days_before(now, settings.conversation_archive_max_age_days))
        return removed

    def summaries(self) -> list[ConversationSummary]:
        """Give what there is, the newest conversation first."""
        self._look()
        return [
            ConversationSummary(key, turns, created, updated, _title(question))
            for key, turns, created, updated, question in self._shelf.summaries()
        ]

    def close(self) -> None:
        """Let go of an open database; the next call opens it again."""
        self._shelf.close()
        self._is_ready = False

    def _open(self) -> None:
        self._settings = self._given_settings or Settings.load()
        files.make_folder(self.location.parent)
        self._shelf.open()
        self._is_ready = True

    def _ready(self) -> None:
        if not self._is_ready:
            self.init()

    def _look(self) -> None:
        """Be ready for reading; a file that is there can be read without the right to write."""
        try:
            self._ready()
        except StorageError:
            if not self.location.exists():
                raise

    def _drop(self) -> Drop | None:
        if not self._settings.conversation_archive:
            return None
        now = self._now()
        return lambda key, dropped: self._archive.append(key, dropped, now)


def _title(question: str) -> str:
    return " ".join(question[:BEGINNING_CHARS].split())[:TITLE_CHARS]


def _days_before(now: datetime, days: int) -> datetime:
    """Count back; so many days that there was no calendar yet are for ever."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _resolved(location: str | Path | None) -> Path:
    if isinstance(location, str) and "://" in location:
        message = f"{location!r} is no place for conversations; pass a path in .json or .db"
        raise InvalidInput(message)
    default = default_data_dir() / "conversations" / "conversations.json"
    path = files.real(default if location is None else location)
    if path.suffix not in SHELVES:
        known = " or ".join(SHELVES)
        message = f"{path.name!r} does not say how to keep conversations; end it in {known}"
        raise InvalidInput(message)
    return path
