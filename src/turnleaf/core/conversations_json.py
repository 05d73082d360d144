"""Conversations as text: conversations.json, and what older versions kept beside the database.

conversations.json has one conversation a line, so that one can be changed alone. It is plain JSON:
whatever layout somebody else gave it is read as well. The archive had one file a month, one message
a line. A kill may have left the end of a line out, or the same message twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from turnleaf.core import messages
from turnleaf.core.jsontext import dumps
from turnleaf.core.times import from_iso, to_iso
from turnleaf.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.messages import Message


VERSION = 1
HEAD = f'{{"version": {VERSION}, "conversations": {{'
FOOT = "}}"
EMPTY = f"{HEAD}\n{FOOT}\n"
_PROBLEMS = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it is stored."""

    created_at: datetime
    updated_at: datetime
    messages: Sequence[Message]


def parse(text: str) -> dict[str, str]:
    """Return each conversation's JSON by its key; raise CorruptFile when it is no such file."""
    lines = text.split("\n")
    if lines[0] == HEAD and lines[-2:] == [FOOT, ""]:
        try:
            return dict(split_line(line) for line in lines[1:-2])
        except ValueError as error:
            message = f"it is not valid JSON: {error}"
            raise CorruptFile(message) from error
    return _parse_any_layout(text)


def line(key: str, body: str) -> bytes:
    """Write a conversation's line."""
    return f"{dumps(key)}: {body}".encode()


def assemble(lines: Iterable[bytes]) -> bytes:
    """Put lines together to what `parse` reads, copying them only once."""
    parts = list(lines)
    if not parts:
        return EMPTY.encode()
    parts[0] = f"{HEAD}\n".encode() + parts[0]
    parts[-1] += f"\n{FOOT}\n".encode()
    return b",\n".join(parts)


def dump(record: StoredConversation) -> str:
    """Write one conversation."""
    return dumps(
        {
            "createdAt": to_iso(record.created_at),
            "updatedAt": to_iso(record.updated_at),
            "messages": [messages.to_json(message) for message in record.messages],
        }
    )


def load(text: str) -> StoredConversation:
    """Read one conversation; raise CorruptFile when it is none."""
    try:
        record = json.loads(text)
        return StoredConversation(
            created_at=from_iso(record["createdAt"]),
            updated_at=from_iso(record["updatedAt"]),
            messages=[messages.from_json(message) for message in record["messages"]],
        )
    except _PROBLEMS as error:
        message = f"it is not a conversation: {type(error).__name__} {error}"
        raise CorruptFile(message) from error


def updated_at(text: str) -> datetime:
    """Read when a conversation was last added to, without reading its messages."""
    head = text.split(', "messages": ', 1)[0]
    try:
        return from_iso(json.loads(head + "}")["updatedAt"])
    except _PROBLEMS:
        return load(text).updated_at


_decoder = json.JSONDecoder()


def split_line(line: str) -> tuple[str, str]:
    """Return the key and the JSON of a conversation's line; raise ValueError for any other."""
    key, end = _decoder.raw_decode(line)
    if not isinstance(key, str) or line[end : end + 2] != ": ":
        message = f"a line does not begin with a conversation's name: {line[:40]!r}"
        raise ValueError(message)
    return key, line[end + 2 :].removesuffix(",")


def _parse_any_layout(text: str) -> dict[str, str]:
    try:
        value = json.loads(text.removeprefix("\ufeff"))
        if value["version"] != VERSION:
            message = f"it was written by a newer version of Turnleaf (form {value['version']})"
            raise CorruptFile(message)
        return {key: dumps(one) for key, one in value["conversations"].items()}
    except _PROBLEMS as error:
        message = f"it is not a file of conversations: {type(error).__name__} {error}"
        raise CorruptFile(message) from error


@dataclass(frozen=True, slots=True)
class Older:
    """The messages of a file by conversation, and how many of its parts could not be read."""

    conversations: dict[str, list[Message]] = field(default_factory=dict)
    damaged: int = 0


def read_conversations(data: bytes) -> Older:
    """Read a conversations.json as far as it can be read."""
    text, damaged = _decode(data)
    bodies, unread = _split(text)
    found: dict[str, list[Message]] = {}
    for key, body in bodies.items():
        try:
            record = load(body)
            found[key] = [_with_time(one, record.updated_at) for one in record.messages]
        except CorruptFile:
            found[key] = _read_messages(body)
            unread += 1
    return Older({key: some for key, some in found.items() if some}, damaged + unread)


def read_month(data: bytes, month: datetime) -> Older:
    """Read a month of the archive as far as it can be read."""
    found: dict[str, list[Message]] = {}
    damaged = 0
    for line in dict.fromkeys(data.splitlines()):
        entry = _read_line(line)
        if entry:
            found.setdefault(entry[0], []).append(_with_time(entry[1], month))
        elif line.strip():
            damaged += 1
    return Older(found, damaged)


def without_conversation(data: bytes, key: str) -> tuple[bytes, int]:
    """Return a conversations.json without a conversation, and how many messages that had.

    What cannot be read stays, unless it begins as that conversation's line does.
    """
    lines = data.splitlines(keepends=True)
    if not lines or lines[0].decode("utf-8", "replace").rstrip("\n") != HEAD:
        return _without_in_any_layout(data, key)
    kept = [line for line in lines if _key_of(line) != key]
    if len(kept) == len(lines):
        return data, 0
    # The line that is the last one now has no comma after it.
    last = max((number for number, line in enumerate(kept) if _key_of(line) is not None), default=0)
    if last and kept[last].endswith(b",\n"):
        kept[last] = kept[last][:-2] + b"\n"
    gone = read_conversations(data).conversations.get(key, [])
    return b"".join(kept), max(1, len(gone))


def without_lines(data: bytes, key: str) -> tuple[bytes, int]:
    """Return a month of the archive without a conversation, and how many messages that had."""
    lines = data.splitlines(keepends=True)
    kept = [line for line in lines if not _is_of(line, key)]
    return b"".join(kept), len(lines) - len(kept)


def _decode(data: bytes) -> tuple[str, int]:
    text = data.decode("utf-8", "replace")
    return text, 0 if text.encode() == data else 1


def _split(text: str) -> tuple[dict[str, str], int]:
    """Return each conversation's JSON by its key, and how many lines could not be read."""
    try:
        return parse(text), 0
    except CorruptFile:
        lines = text.split("\n")
    if lines[0] != HEAD:
        return {}, 1
    found: dict[str, str] = {}
    damaged = 1
    for line in lines[1:]:
        try:
            found.update([split_line(line)])
        except ValueError:
            damaged += line not in {"", FOOT}
    return found, damaged


def _read_messages(body: str) -> list[Message]:
    """Return the messages of a damaged conversation that can be read and say when they were."""
    try:
        records = json.loads(body)["messages"]
    except _PROBLEMS:
        return []
    found = [_read_message(record) for record in records if isinstance(record, dict)]
    return [message for message in found if message and message.timestamp]


def _read_message(record: dict[str, Any]) -> Message | None:
    try:
        return messages.from_json(record)
    except _PROBLEMS:
        return None


def _without_in_any_layout(data: bytes, key: str) -> tuple[bytes, int]:
    try:
        bodies = parse(data.decode())
    except (CorruptFile, UnicodeDecodeError):
        return data, 0
    if bodies.pop(key, None) is None:
        return data, 0
    count = len(read_conversations(data).conversations.get(key, []))
    return assemble(line(one, body) for one, body in bodies.items()), max(1, count)


def _key_of(line: bytes) -> str | None:
    """Return whose line of a conversations.json this is, also if the rest is damaged."""
    try:
        return split_line(line.decode("utf-8", "replace"))[0]
    except ValueError:
        return None


def _read_line(line: bytes) -> tuple[str, Message] | None:
    try:
        record = json.loads(line)
        key, message = record["conversation"], messages.from_json(record)
        return (key, message) if isinstance(key, str) else None
    except _PROBLEMS:
        return None


def _is_of(line: bytes, key: str) -> bool:
    """Whether a line of the archive belongs to a conversation, also one that a kill tore."""
    entry = _read_line(line)
    beginning = f"{dumps({'conversation': key})[:-1]},".encode()
    return line.startswith(beginning) if entry is None else entry[0] == key


def _with_time(message: Message, moment: datetime) -> Message:
    """Return a message with a time, the same one whenever it is read again."""
    return message if message.timestamp else replace(message, timestamp=moment)
