"""Conversations in one JSON file (000), for up to some hundreds of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core import shelf
from turnleaf.core.shelf import Record
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.errors import CorruptFile
from turnleaf.store import files
from turnleaf.store.limits import before_again

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.messages import Message
    from turnleaf.store.limits import Drop, Limits


class JsonShelf:
    """conversations.json, of which only the conversation concerned is read or written anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[bytes, dict[str, str]] = (b"", {})
        self._lines: dict[str, tuple[str, bytes]] = {}

    def open(self) -> None:
        """Make the file where missing, and see that all of it can be read."""
        with files.locked(self._path) as file:
            if file.read() is None:
                file.replace(shelf.EMPTY.encode())
            self._checked(file)

    def append(self, key: str, new: Sequence[Message], limits: Limits) -> None:
        """Add messages to a conversation and trim it, in one step."""
        with files.locked(self._path) as file:
            conversations = self._current(file)
            old = self._record(file, conversations, key)
            messages = [*before_again(old.messages if old else (), limits.again), *new]
            kept = within_limits(messages, limits.max_turns, limits.max_chars, _chars)
            if limits.drop and len(kept) < len(messages):
                limits.drop(key, messages[: len(messages) - len(kept)])
            created = old.created_at if old else limits.now
            others = {one: body for one, body in conversations.items() if one != key}
            # At the end, because two additions within one millisecond differ in nothing else.
            self._write(file, others | {key: shelf.dump(Record(created, limits.now, kept))})

    def read(self, key: str) -> list[Message]:
        """Give a conversation's messages."""
        try:
            body = self._parsed(files.read(self._path)).get(key)
            return list(shelf.load(body).messages) if body else []
        except CorruptFile:
            with files.locked(self._path) as file:
                body = self._checked(file).get(key)
            return list(shelf.load(body).messages) if body else []

    def clear(self, key: str) -> bool:
        """Remove a conversation; False when there is none."""
        with files.locked(self._path) as file:
            conversations = dict(self._current(file))
            if conversations.pop(key, None) is None:
                return False
            self._write(file, conversations)
            return True

    def expire(self, before: datetime, drop: Drop | None) -> int:
        """Remove conversations not added to since; give how many."""
        with files.locked(self._path) as file:
            conversations = self._checked(file)
            old = {key for key, body in conversations.items() if shelf.updated_at(body) < before}
            if drop:
                for key in old:
                    drop(key, shelf.load(conversations[key]).messages)
            if old:
                kept = {key: body for key, body in conversations.items() if key not in old}
                self._write(file, kept)
            return len(old)

    def summaries(self) -> list[tuple[str, int, datetime, datetime, str]]:
        """Give key, messages, creation, last addition and first question, newest first."""
        try:
            records = _loaded(self._parsed(files.read(self._path)))
        except CorruptFile:
            with files.locked(self._path) as file:
                records = _loaded(self._checked(file))
        rows = [
            (key, len(one.messages), one.created_at, one.updated_at, _question(one.messages))
            for key, one in reversed(records.items())
        ]
        return sorted(rows, key=lambda row: row[3], reverse=True)

    def close(self) -> None:
        """Nothing is open."""

    def _parsed(self, data: bytes | None) -> dict[str, str]:
        if data is None:
            raise files.gone(self._path)
        if data != self._known[0]:
            try:
                self._known = (data, shelf.parse(data.decode()))
            except UnicodeDecodeError as error:
                message = f"it is not UTF-8 text: {error}"
                raise CorruptFile(message) from error
        return self._known[1]

    def _current(self, file: files.Held) -> dict[str, str]:
        try:
            return self._parsed(file.read())
        except CorruptFile as problem:
            return self._rescued(file, problem, {})

    def _record(self, file: files.Held, conversations: dict[str, str], key: str) -> Record | None:
        body = conversations.get(key)
        try:
            return shelf.load(body) if body else None
        except CorruptFile as problem:
            self._rescued(file, problem, conversations)
            return None

    def _checked(self, file: files.Held) -> dict[str, str]:
        """Read all; what cannot be read goes aside and the rest stays."""
        conversations = self._current(file)
        readable = {}
        problem = None
        for key, body in conversations.items():
            try:
                shelf.load(body)
                readable[key] = body
            except CorruptFile as error:
                problem = error
        return self._rescued(file, problem, readable) if problem else conversations

    def _rescued(
        self, file: files.Held, problem: CorruptFile, readable: dict[str, str]
    ) -> dict[str, str]:
        file.move_aside(str(problem))
        self._write(file, readable)
        return readable

    def _write(self, file: files.Held, conversations: dict[str, str]) -> None:
        """Write all; only the lines of conversations that changed are made anew."""
        known = self._lines
        self._lines = {
            key: known[key]
            if key in known and known[key][0] is body
            else (body, shelf.line(key, body))
            for key, body in conversations.items()
        }
        data = shelf.assembled(line for _, line in self._lines.values())
        file.replace(data)
        self._known = (data, conversations)


def _loaded(conversations: dict[str, str]) -> dict[str, Record]:
    return {key: shelf.load(body) for key, body in conversations.items()}


def _question(messages: Sequence[Message]) -> str:
    return next((message.text for message in messages if message.role == "user"), "")


def _chars(message: Message) -> int:
    return content_chars(message.content)
