"""What other assistants export: ChatGPT, claude.ai, Gemini, Claude Code and Codex.

ChatGPT has `conversations.json`, or its shards `conversations-NNN.json`. A conversation is a tree
of nodes (`mapping`), of which the path to `current_node` is shown. What the `bio` tool was told to
keep, and the list of memories that a conversation began with (`model_set_context`), are saved
memories.

claude.ai exports conversations, memories, and projects. Conversations do not say which project they
belong to, so projects are notes of their own.

Gemini's share of Google's My Activity (`MyActivity.json`) has prompts, some with their answers. It
is a flat list that names no conversation, so what was said on one day is one.

Claude Code and Codex keep transcripts, one JSON object a line.
"""

from __future__ import annotations

import html
import re
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from turnleaf.core.data import load_data
from turnleaf.core.imports.values import (
    Found,
    FoundConversation,
    FoundMemory,
    FoundMessage,
    Json,
    Skipped,
    note,
    order_tree,
    read_dict,
    read_list,
    read_text,
    read_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo


CHATGPT = "chatgpt"

CONTEXT = "model_editable_context"
"""What a conversation began with: the saved memories."""
SPOKEN = {"text", "multimodal_text", "code"}
"""The kinds of content that a person reads as a message."""
_NUMBERED = re.compile(
    r"^[ \t]{0,20}\d{1,6}\.[ \t]{0,20}"
    r"(?:\[(?P<day>\d{4}-\d\d-\d\d)\]\.?[ \t]{0,20})?(?P<text>\S.*)$",
    re.MULTILINE,
)


def is_chatgpt_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of ChatGPT."""
    return "mapping" in read_dict(record)


def read_chatgpt_conversation(record: Json) -> Iterator[Found]:
    """Yield a conversation, what it saved as memories, and what was left out."""
    nodes = {key: read_dict(node) for key, node in read_dict(record.get("mapping")).items()}
    messages: dict[str, FoundMessage] = {}
    for key, node in nodes.items():
        message = read_dict(node.get("message"))
        yield from _find_memories(message)
        found = _read_chatgpt_message(message)
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
        yield FoundConversation(CHATGPT, identity, read_text(record.get("title")), ordered, leaf)


def _read_chatgpt_message(message: dict[str, Json]) -> FoundMessage | Skipped | None:
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


CLAUDE_AI = "claude"

ROLES = {"human": "user", "assistant": "assistant"}
_BULLET = re.compile(r"^\s*[-*•]\s+")
_HEADING = re.compile(r"#.*|\*\*[^*]*\*\*[:：]?")
NO_PARENT = "00000000-0000-4000-8000-000000000000"


def is_claude_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of claude.ai."""
    return "chat_messages" in read_dict(record)


def is_claude_memory(record: Json) -> bool:
    """Whether a JSON object holds what claude.ai remembers of its user."""
    return not read_dict(record).keys().isdisjoint({"conversations_memory", "project_memories"})


def is_claude_project(record: Json) -> bool:
    """Whether a JSON object is a project of claude.ai."""
    return {"prompt_template", "docs"} <= read_dict(record).keys()


def read_claude_conversation(record: Json) -> Iterator[Found]:
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
        message = _read_claude_message(one)
        if message:
            messages[identity] = message
    leaf = read_text(record.get("current_leaf_message_uuid")) or last
    ordered, place = order_tree(messages, parents, leaf)
    identity = read_text(record.get("uuid"))
    if ordered and identity:
        yield FoundConversation(CLAUDE_AI, identity, read_text(record.get("name")), ordered, place)
    else:
        yield Skipped("conversations without a message")


def read_claude_memory(record: Json) -> Iterator[Found]:
    """Yield what is remembered of the user, line by line, and of each project as a note."""
    for line in read_text(read_dict(record).get("conversations_memory")).splitlines():
        text = _BULLET.sub("", line).strip()
        if text and not _HEADING.fullmatch(text):
            yield FoundMemory(text)
    for project, text in read_dict(read_dict(record).get("project_memories")).items():
        if read_text(text).strip():
            yield note(CLAUDE_AI, f"project-memory-{project}", read_text(text), None, "user")


def read_claude_project(record: Json) -> Iterator[Found]:
    """Yield a project's instructions and its documents as notes."""
    name = read_text(record.get("name")) or read_text(record.get("uuid"))
    time = read_time(record.get("created_at"))
    own = [read_text(record.get(part)) for part in ("description", "prompt_template")]
    if any(part.strip() for part in own):
        yield note(CLAUDE_AI, f"project {name}", "\n\n".join(filter(None, own)), time, "user")
    for document in map(read_dict, read_list(record.get("docs"))):
        title = f"project {name}: {read_text(document.get('filename'))}"
        said_at = read_time(document.get("created_at")) or time
        yield note(CLAUDE_AI, title, read_text(document.get("content")), said_at, "document")


def _read_claude_message(one: dict[str, Json]) -> FoundMessage | None:
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


GEMINI = "gemini"

_BREAK = re.compile(r"<(?:br\s*/?|/p|/li|/h\d|/tr|/pre)>", re.IGNORECASE)
_ITEM = re.compile(r"<li[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")


@cache
def _prompt_mark() -> re.Pattern[str]:
    """Return what stands before a prompt, in the languages that My Activity is known in."""
    marks = "|".join(map(re.escape, load_data("imports/gemini.toml")["marks"]))
    return re.compile(rf"^(?:{marks})[:：]?\s+", re.IGNORECASE)


def is_gemini_activity(record: Json) -> bool:
    """Whether a JSON object is an entry of My Activity that belongs to Gemini."""
    entry = read_dict(record)
    names = [read_text(entry.get("header")), *map(read_text, read_list(entry.get("products")))]
    return "time" in entry and any("gemini" in name.lower() for name in names)


def read_gemini_activity(records: Iterable[Json], zone: tzinfo | None) -> Iterator[Found]:
    """Yield a conversation for each day in `zone`, and what was left out.

    The list has the newest first, so that a day's entries stand together.
    """
    entries = map(read_dict, records)
    for day, same in groupby(entries, key=lambda entry: _find_day(entry, zone)):
        if day is None:
            yield Skipped("activities that are no prompt", sum(1 for _ in same))
        else:
            yield from _read_day(day, same)


def _find_day(entry: dict[str, Json], zone: tzinfo | None) -> str | None:
    time = read_time(entry.get("time"))
    is_prompt = time is not None and _prompt_mark().match(read_text(entry.get("title")))
    return time.astimezone(zone).date().isoformat() if time and is_prompt else None


def _read_day(day: str, entries: Iterable[dict[str, Json]]) -> Iterator[Found]:
    messages: list[FoundMessage] = []
    for entry in sorted(entries, key=lambda entry: read_text(entry.get("time"))):
        time = read_time(entry.get("time"))
        items = map(read_dict, read_list(entry.get("safeHtmlItem")))
        answer = "\n\n".join(_to_text(read_text(item.get("html"))) for item in items).strip()
        prompt = _prompt_mark().sub("", read_text(entry.get("title"))).strip()
        for role, text in (("user", prompt), ("assistant", answer)):
            if text:
                parent = len(messages) - 1 if messages else None
                messages.append(FoundMessage(role, text, time, parent))
        if not answer:
            yield Skipped("answers that Google did not export (their prompts were imported)")
    if messages:
        yield FoundConversation(GEMINI, day, f"Gemini, {day}", tuple(messages))


def _to_text(markup: str) -> str:
    """Return what a person reads of HTML."""
    lines = _ITEM.sub("- ", _BREAK.sub("\n", markup))
    return re.sub(r"\n{3,}", "\n\n", html.unescape(_TAG.sub("", lines))).strip()


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
