"""Files as an older version wrote them: conversations.json, and the months of an archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from turnleaf.core import conversation_formats as conversations_json
from turnleaf.core import messages
from turnleaf.core.conversation_formats import StoredConversation
from turnleaf.core.messages import Message
from turnleaf.core.serialization import dumps
from turnleaf.store.files import atomic

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


def make_messages(*texts: str, after: int = 0) -> list[Message]:
    """One message a minute, of the user and the assistant in turn."""
    return [
        Message(("user", "assistant")[number % 2], text, START + timedelta(minutes=after + number))
        for number, text in enumerate(texts)
    ]


def write_conversations(folder: Path, conversations: Mapping[str, Sequence[Message]]) -> Path:
    """Write a conversations.json as an older program does, under its lock."""
    records = {
        key: StoredConversation(START, some[-1].timestamp or START, some)
        for key, some in conversations.items()
    }
    lines = [
        conversations_json.write_line(key, conversations_json.dump(record))
        for key, record in records.items()
    ]
    path = folder / "conversations.json"
    atomic.make_folder(folder)
    atomic.change(path, lambda _: conversations_json.assemble(lines))
    return path


def archive(folder: Path, key: str, some: Sequence[Message], month: str = "2026-03") -> Path:
    """Append to a month of the archive as an older program does, under its lock."""
    path = folder / "archive" / f"{month}.jsonl"
    atomic.make_folder(path.parent)
    lines = [dumps({"conversation": key, **messages.to_json(message)}) for message in some]
    with atomic.lock(path) as file:
        file.append("".join(f"{line}\n" for line in lines).encode())
    return path
