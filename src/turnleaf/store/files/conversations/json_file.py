"""Conversations in one JSON file, for up to some hundreds of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core import conversation_formats
from turnleaf.core.conversation_formats import StoredConversation
from turnleaf.core.messages import (
    ConversationSummary,
    Message,
    StoredMessage,
    find_trust,
    make_title,
)
from turnleaf.core.tokens import count_content_chars
from turnleaf.core.window import drop_repeated, subtract_days, trim_to_limits
from turnleaf.errors import CorruptFile
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.messages import NewMessage
    from turnleaf.core.window import Addition, Limits


class JsonShelf:
    """conversations.json, of which only the conversation concerned is read or written anew."""

    keeps_everything = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[bytes, dict[str, str]] = (b"", {})
        self._lines: dict[str, tuple[str, bytes]] = {}

    def open(self) -> None:
        """Make the file where missing, and see that all of it can be read."""
        with atomic.lock(self._path) as file:
            if file.read() is None:
                file.replace(conversation_formats.EMPTY.encode())
            self._read_checked(file)

    def append(
        self,
        key: str,
        new: Sequence[Message | NewMessage],
        limits: Limits,
        now: datetime,
        addition: Addition,
    ) -> list[int]:
        """Add messages to a conversation and trim it, in one step; return their places."""
        bare = [one if isinstance(one, Message) else one.message for one in new]
        with atomic.lock(self._path) as file:
            conversations = self._read_current(file)
            old = self._read_record(file, conversations, key)
            messages = [*drop_repeated(old.messages if old else (), addition.again), *bare]
            kept = trim_to_limits(messages, limits.max_turns, limits.max_chars, _count_chars)
            created = old.created_at if old else now
            others = {one: body for one, body in conversations.items() if one != key}
            # At the end, because two additions within one millisecond differ in nothing else.
            self._write(
                file,
                others | {key: conversation_formats.dump(StoredConversation(created, now, kept))},
            )
        places = range(1, len(kept) + 1)
        return list(places[-len(bare) :])

    def read(self, key: str, limits: Limits, now: datetime) -> list[Message]:
        """Return a conversation's messages, which were trimmed when the last was added."""
        del limits, now
        return self._read(key)

    def window(
        self, key: str, limits: Limits, now: datetime, *, resumed: bool
    ) -> list[StoredMessage]:
        """Return all of a conversation that is kept."""
        del limits, now, resumed
        return self.messages(key)

    def messages(
        self, key: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest messages before a place, oldest first."""
        stored = [
            StoredMessage(place, one, trust=find_trust(one.role), parent=place - 1 or None)
            for place, one in enumerate(self._read(key), 1)
            if before is None or place < before
        ]
        return stored if limit is None else stored[max(0, len(stored) - limit) :]

    def find(self, number: int) -> tuple[str, StoredMessage] | None:
        """Return nothing: a place says nothing without its conversation."""
        del number
        return None

    def _read(self, key: str) -> list[Message]:
        try:
            body = self._parse(atomic.read(self._path)).get(key)
            return list(conversation_formats.load(body).messages) if body else []
        except CorruptFile:
            with atomic.lock(self._path) as file:
                body = self._read_checked(file).get(key)
            return list(conversation_formats.load(body).messages) if body else []

    def clear(self, key: str) -> bool:
        """Remove a conversation; False when there is none."""
        with atomic.lock(self._path) as file:
            conversations = dict(self._read_current(file))
            if conversations.pop(key, None) is None:
                return False
            self._write(file, conversations)
            return True

    def expire(self, limits: Limits, now: datetime) -> int:
        """Remove conversations that were not added to for too long; return how many."""
        # From the last message on: what is still in use does not expire.
        before = subtract_days(now, limits.max_age_days)
        with atomic.lock(self._path) as file:
            conversations = self._read_checked(file)
            old = {
                key
                for key, body in conversations.items()
                if conversation_formats.read_updated_at(body) < before
            }
            if old:
                kept = {key: body for key, body in conversations.items() if key not in old}
                self._write(file, kept)
            return len(old)

    def summaries(self, query: str | None, limit: int | None) -> list[ConversationSummary]:
        """Return what is known of each conversation, the newest first."""
        found = [
            ConversationSummary(
                key, len(one.messages), one.created_at, one.updated_at, _make_title(one.messages)
            )
            for key, one in self._list_newest_first()
            if query is None or _holds(one.messages, query.casefold())
        ]
        return found[:limit]

    def summary(self, key: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        return next((row for row in self.summaries(None, None) if row.key == key), None)

    def _list_newest_first(self) -> list[tuple[str, StoredConversation]]:
        try:
            records = _load_all(self._parse(atomic.read(self._path)))
        except CorruptFile:
            with atomic.lock(self._path) as file:
                records = _load_all(self._read_checked(file))
        rows = list(reversed(records.items()))
        return sorted(rows, key=lambda row: row[1].updated_at, reverse=True)

    def figures(self) -> tuple[int, int, datetime | None]:
        """Count conversations and messages; find when the oldest message was said."""
        records = [record for _, record in self._list_newest_first()]
        said = [message for record in records for message in record.messages]
        oldest = min((one.timestamp for one in said if one.timestamp), default=None)
        return len(records), len(said), oldest

    def count_free(self) -> int:
        """Return 0: the file is written anew."""
        return 0

    def find_cited_facts(self) -> frozenset[str]:
        """Return nothing: what an answer rests on is not kept here."""
        return frozenset()

    def close(self) -> None:
        """Nothing is open."""

    def _parse(self, data: bytes | None) -> dict[str, str]:
        if data is None:
            raise atomic.make_vanished_error(self._path)
        if data != self._known[0]:
            try:
                self._known = (data, conversation_formats.parse(data.decode()))
            except UnicodeDecodeError as error:
                message = f"it is not UTF-8 text: {error}"
                raise CorruptFile(message) from error
        return self._known[1]

    def _read_current(self, file: atomic.Held) -> dict[str, str]:
        try:
            return self._parse(file.read())
        except CorruptFile as problem:
            return self._rescue(file, problem, {})

    def _read_record(
        self, file: atomic.Held, conversations: dict[str, str], key: str
    ) -> StoredConversation | None:
        body = conversations.get(key)
        try:
            return conversation_formats.load(body) if body else None
        except CorruptFile as problem:
            self._rescue(file, problem, conversations)
            return None

    def _read_checked(self, file: atomic.Held) -> dict[str, str]:
        """Read all; what cannot be read goes aside and the rest stays."""
        conversations = self._read_current(file)
        readable = {}
        problem = None
        for key, body in conversations.items():
            try:
                conversation_formats.load(body)
                readable[key] = body
            except CorruptFile as error:
                problem = error
        return self._rescue(file, problem, readable) if problem else conversations

    def _rescue(
        self, file: atomic.Held, problem: CorruptFile, readable: dict[str, str]
    ) -> dict[str, str]:
        file.move_aside(str(problem))
        self._write(file, readable)
        return readable

    def _write(self, file: atomic.Held, conversations: dict[str, str]) -> None:
        """Write all; only the lines of conversations that changed are made anew."""
        known = self._lines
        self._lines = {
            key: known[key]
            # By identity: the text of a conversation that nobody touched is the same object.
            if key in known and known[key][0] is body
            else (body, conversation_formats.write_line(key, body))
            for key, body in conversations.items()
        }
        data = conversation_formats.assemble(line for _, line in self._lines.values())
        file.replace(data)
        self._known = (data, conversations)


def _load_all(conversations: dict[str, str]) -> dict[str, StoredConversation]:
    return {key: conversation_formats.load(body) for key, body in conversations.items()}


def _make_title(messages: Sequence[Message]) -> str:
    first = next((message.text for message in messages if message.role == "user"), "")
    return make_title(first)


def _holds(messages: Sequence[Message], query: str) -> bool:
    return any(query in message.text.casefold() for message in messages)


def _count_chars(message: Message) -> int:
    return count_content_chars(message.content)
