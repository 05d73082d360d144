"""conversations.json as text: one conversation a line, so that one can be changed alone.

It is plain JSON: whatever layout somebody else gave it is read as well.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
