"""The export of claude.ai: conversations, memories, and projects as notes.

Conversations do not say which project they belong to, so projects are notes of their own.
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
    note,
    read_dict,
    read_list,
    read_text,
    read_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = "claude"
ROLES = {"human": "user", "assistant": "assistant"}
_BULLET = re.compile(r"^\s*[-*•]\s+")
_HEADING = re.compile(r"#.*|\*\*[^*]*\*\*[:：]?")
NO_PARENT = "00000000-0000-4000-8000-000000000000"


def is_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of claude.ai."""
    return "chat_messages" in read_dict(record)


def is_memory(record: Json) -> bool:
    """Whether a JSON object holds what claude.ai remembers of its user."""
    return not read_dict(record).keys().isdisjoint({"conversations_memory", "project_memories"})


def is_project(record: Json) -> bool:
    """Whether a JSON object is a project of claude.ai."""
    return {"prompt_template", "docs"} <= read_dict(record).keys()


def read_conversation(record: Json) -> Iterator[Found]:
    """Yield a conversation and what was left out of it."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    last: str | None = None
    for place, one in enumerate(map(read_dict, read_list(record.get("chat_messages")))):
        identity = read_text(one.get("uuid")) or str(place)
        parent = read_text(one.get("parent_message_uuid"))
        # Older exports name no parents: there each message follows the one before it.
        parents[identity] = (parent if parent != NO_PARENT else None) if parent else last
        last = identity
        yield from _count_left_out(one)
        message = _read_message(one)
        if message:
            messages[identity] = message
    leaf = read_text(record.get("current_leaf_message_uuid")) or last
    ordered, place = order_tree(messages, parents, leaf)
    identity = read_text(record.get("uuid"))
    if ordered and identity:
        yield FoundConversation(PROGRAM, identity, read_text(record.get("name")), ordered, place)
    else:
        yield Skipped("conversations without a message")


def read_memory(record: Json) -> Iterator[Found]:
    """Yield what is remembered of the user, line by line, and of each project as a note."""
    for line in read_text(read_dict(record).get("conversations_memory")).splitlines():
        text = _BULLET.sub("", line).strip()
        if text and not _HEADING.fullmatch(text):
            yield FoundMemory(text)
    for project, text in read_dict(read_dict(record).get("project_memories")).items():
        if read_text(text).strip():
            yield note(PROGRAM, f"project-memory-{project}", read_text(text), None, "user")


def read_project(record: Json) -> Iterator[Found]:
    """Yield a project's instructions and its documents as notes."""
    name = read_text(record.get("name")) or read_text(record.get("uuid"))
    time = read_time(record.get("created_at"))
    own = [read_text(record.get(part)) for part in ("description", "prompt_template")]
    if any(part.strip() for part in own):
        yield note(PROGRAM, f"project {name}", "\n\n".join(filter(None, own)), time, "user")
    for document in map(read_dict, read_list(record.get("docs"))):
        title = f"project {name}: {read_text(document.get('filename'))}"
        said_at = read_time(document.get("created_at")) or time
        yield note(PROGRAM, title, read_text(document.get("content")), said_at, "document")


def _read_message(one: dict[str, Json]) -> FoundMessage | None:
    role = ROLES.get(read_text(one.get("sender")))
    parts = map(read_dict, read_list(one.get("content")))
    said = [read_text(part.get("text")) for part in parts if part.get("type") == "text"]
    text = "\n\n".join(part for part in said if part.strip()) or read_text(one.get("text"))
    if role is None or not text.strip():
        return None
    return FoundMessage(role, text.strip(), read_time(one.get("created_at")))


def _count_left_out(one: dict[str, Json]) -> Iterator[Skipped]:
    attached = len(read_list(one.get("attachments"))) + len(read_list(one.get("files")))
    if attached:
        yield Skipped("attachments", attached)
    kinds = [read_dict(part).get("type") for part in read_list(one.get("content"))]
    tools = sum(kind in {"tool_use", "tool_result"} for kind in kinds)
    if tools:
        yield Skipped("tool calls and tool results", tools)
