"""ChatGPT's export: `conversations.json`, or its shards `conversations-NNN.json`.

A conversation is a tree of nodes (`mapping`), of which the path to `current_node` is shown. What
the `bio` tool was told to keep, and the list of memories that a conversation began with
(`model_set_context`), are saved memories.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.imports.trees import order_tree
from turnleaf.core.imports.values import (
    Found,
    FoundConversation,
    FoundMemory,
    FoundMessage,
    Json,
    Skipped,
    read_dict,
    read_list,
    read_text,
    read_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = "chatgpt"
CONTEXT = "model_editable_context"
"""What a conversation began with: the saved memories."""
SPOKEN = {"text", "multimodal_text", "code"}
"""The kinds of content that a person reads as a message."""
_NUMBERED = re.compile(
    r"^[ \t]{0,20}\d{1,6}\.[ \t]{0,20}"
    r"(?:\[(?P<day>\d{4}-\d\d-\d\d)\]\.?[ \t]{0,20})?(?P<text>\S.*)$",
    re.MULTILINE,
)


def is_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of ChatGPT."""
    return "mapping" in read_dict(record)


def read_conversation(record: Json) -> Iterator[Found]:
    """Yield a conversation, what it saved as memories, and what was left out."""
    nodes = {key: read_dict(node) for key, node in read_dict(record.get("mapping")).items()}
    messages: dict[str, FoundMessage] = {}
    for key, node in nodes.items():
        message = read_dict(node.get("message"))
        yield from _find_memories(message)
        found = _read_message(message)
        if isinstance(found, FoundMessage):
            messages[key] = found
        elif found:
            yield found
    parents = {key: read_text(node.get("parent")) or None for key, node in nodes.items()}
    ordered, leaf = order_tree(messages, parents, read_text(record.get("current_node")) or None)
    identity = read_text(record.get("conversation_id")) or read_text(record.get("id"))
    if not ordered:
        yield Skipped("conversations without a message")
    elif not identity:
        yield Skipped("conversations without an id")
    else:
        yield FoundConversation(PROGRAM, identity, read_text(record.get("title")), ordered, leaf)


def _read_message(message: dict[str, Json]) -> FoundMessage | Skipped | None:
    role = read_text(read_dict(message.get("author")).get("role"))
    content = read_dict(message.get("content"))
    if role not in {"user", "assistant"} or read_text(message.get("recipient")) not in {"", "all"}:
        return Skipped("tool calls and tool results") if role == "tool" else None
    if read_dict(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        return None
    kind = read_text(content.get("content_type"))
    if kind not in SPOKEN:
        is_lost = kind and role == "user" and kind != CONTEXT
        return Skipped(f"messages of the kind {kind}") if is_lost else None
    parts = [*map(_read_part, read_list(content.get("parts"))), read_text(content.get("text"))]
    text = "\n".join(part for part in parts if part).strip()
    if not text:
        return Skipped("pictures and sounds") if kind == "multimodal_text" else None
    return FoundMessage(role, text, read_time(message.get("create_time")))


def _read_part(part: Json) -> str:
    """Return the text of a part; a spoken message has its transcript in one."""
    if isinstance(part, str):
        return part
    is_spoken = read_dict(part).get("content_type") == "audio_transcription"
    return read_text(read_dict(part).get("text")) if is_spoken else ""


def _find_memories(message: dict[str, Json]) -> Iterator[FoundMemory]:
    content = read_dict(message.get("content"))
    time = read_time(message.get("create_time"))
    if message.get("recipient") == "bio":
        parts = [*read_list(content.get("parts")), content.get("text")]
        for line in "\n".join(map(read_text, parts)).splitlines():
            if line.strip():
                yield FoundMemory(line.strip(), time)
    for item in _NUMBERED.finditer(read_text(content.get("model_set_context"))):
        yield FoundMemory(item["text"].strip(), read_time(item["day"]) or time)
