"""Transcripts of coding assistants: Claude Code and Codex, one JSON object a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.imports.trees import order_tree
from turnleaf.core.imports.values import (
    Found,
    FoundConversation,
    FoundMessage,
    Json,
    Skipped,
    read_dict,
    read_list,
    read_text,
    read_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CLAUDE_CODE = "claude-code"
CODEX = "codex"
TOOLS = "tool calls and tool results"
_WRITTEN_BY_A_PROGRAM = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|command-(?:name|message)|"
    r"local-command-|system-reminder|INSTRUCTIONS)|# AGENTS\.md instructions|"
    r"Caveat: The messages below|\[Request interrupted)"
)
"""How texts begin that these programs add in the user's name."""


def is_claude_code(record: Json) -> bool:
    """Whether a line is one of a transcript of Claude Code."""
    line = read_dict(record)
    return "sessionId" in line or {"leafUuid", "summary"} <= line.keys()


def is_codex(record: Json) -> bool:
    """Whether a line is one of a transcript of Codex, of today's form or the older one."""
    line = read_dict(record)
    is_older = {"id", "timestamp", "instructions"} <= line.keys()
    return is_older or ("payload" in line and "type" in line)


def read_claude_code(lines: Iterable[Json], name: str) -> Iterator[Found]:
    """Yield the conversation of a transcript; side chains and results of tools are left out."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    title, session, last = "", name, None
    for line in map(read_dict, lines):
        title = read_text(line.get("summary")) or title
        session = read_text(line.get("sessionId")) or session
        identity = read_text(line.get("uuid"))
        if not identity or line.get("isSidechain"):
            continue
        parents[identity] = read_text(line.get("parentUuid")) or None
        found = None if line.get("isMeta") else _read_turn(line)
        if isinstance(found, FoundMessage):
            messages[identity] = found
            last = identity
        elif found:
            yield found
    yield _make_conversation(CLAUDE_CODE, session, title, *order_tree(messages, parents, last))


def read_codex(lines: Iterable[Json], name: str) -> Iterator[Found]:
    """Yield the conversation of a transcript, without what the program itself put in."""
    messages: list[FoundMessage] = []
    session = name
    for line in map(read_dict, lines):
        item = read_dict(line.get("payload")) or line
        if line.get("type") == "session_meta" or "instructions" in line:
            session = read_text(item.get("id")) or session
        if line.get("type") not in {"response_item", "message"}:
            continue
        if item.get("type") != "message":
            yield Skipped(TOOLS)
            continue
        text = _join(item.get("content"), {"input_text", "output_text", "text"})
        role = read_text(item.get("role"))
        if role in {"user", "assistant"} and text and not _WRITTEN_BY_A_PROGRAM.match(text):
            parent = len(messages) - 1 if messages else None
            time = read_time(line.get("timestamp")) or read_time(item.get("timestamp"))
            messages.append(FoundMessage(role, text, time, parent))
    yield _make_conversation(CODEX, session, "", tuple(messages), len(messages) - 1)


def _read_turn(line: dict[str, Json]) -> FoundMessage | Skipped | None:
    message = read_dict(line.get("message"))
    role = read_text(message.get("role"))
    if role not in {"user", "assistant"}:
        return None
    content = message.get("content")
    text = content if isinstance(content, str) else _join(content, {"text"})
    if not text.strip():
        kinds = {read_dict(part).get("type") for part in read_list(content)}
        return Skipped(TOOLS) if kinds & {"tool_use", "tool_result"} else None
    if role == "user" and _WRITTEN_BY_A_PROGRAM.match(text):
        return None
    return FoundMessage(role, text.strip(), read_time(line.get("timestamp")))


def _join(content: Json, kinds: set[str]) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = map(read_dict, read_list(content))
    texts = [read_text(part.get("text")) for part in parts if part.get("type") in kinds]
    return "\n\n".join(text for text in texts if text.strip()).strip()


def _make_conversation(
    program: str, session: str, title: str, messages: tuple[FoundMessage, ...], leaf: int
) -> Found:
    if not messages:
        return Skipped("transcripts in which nobody said anything")
    return FoundConversation(program, session, title, messages, leaf)
