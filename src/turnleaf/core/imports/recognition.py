"""Telling from its first values what kind of file an export is, and reading the smaller kinds.

Those are the MCP memory server's, plain lists, Markdown vaults, and a form of our own.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.imports import formats
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
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, tzinfo


_FRONT_MATTER = re.compile(r"\A---\r?\n(?P<head>.{0,20000}?)\r?\n---\s*(?:\n|\Z)", re.DOTALL)
_DATED = re.compile(
    r"^(?:created(?:_at)?|date)\s*:\s*[\"']?(?P<day>\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{1,30})?)",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:(?:[-*•]|\d{1,3}[.)])\s+|\d{1,3}、\s*)")


def is_graph(record: Json) -> bool:
    """Whether a line is one of the MCP memory server's file."""
    return read_dict(record).get("type") in {"entity", "relation"}


def read_graph(lines: Iterable[Json]) -> Iterator[Found]:
    """Yield each observation and each relation as a sentence that is understood alone."""
    for line in map(read_dict, lines):
        name = read_text(line.get("name"))
        if line.get("type") == "entity" and name:
            category = read_text(line.get("entityType")) or None
            for text in map(read_text, read_list(line.get("observations"))):
                if text.strip():
                    yield FoundMemory(_about(name, text.strip()), category=category)
        elif line.get("type") == "relation":
            parts = [read_text(line.get(key)) for key in ("from", "relationType", "to")]
            yield FoundMemory(" ".join(parts)) if all(parts) else Skipped("unfinished relations")
        else:
            yield Skipped("lines that are neither an entity nor a relation")


def _about(name: str, text: str) -> str:
    return text if name.casefold() in text.casefold() else f"{name.replace('_', ' ')}: {text}"


def read_list_of_memories(text: str) -> Iterator[Found]:
    """Yield one memory for each line; bullets and numbers before it do not belong to it."""
    for line in text.splitlines():
        memory = _BULLET.sub("", line).strip()
        if memory:
            yield FoundMemory(memory)


def read_note(name: str, text: str, time: datetime) -> Found:
    """Return a page of a vault as a note, dated by what stands above it or by its file."""
    head = _FRONT_MATTER.match(text)
    dated = _DATED.search(head["head"]) if head else None
    body = text[head.end() :] if head else text
    said_at = read_time(dated["day"]) if dated else None
    return note("notes", name, body, said_at or time, "user")


def is_own_form(record: Json) -> bool:
    """Whether a JSON object is a conversation in the form that docs describe."""
    return isinstance(read_dict(record).get("messages"), list)


def read_own_form(record: Json) -> Iterator[Found]:
    """Yield a conversation in the form that docs describe."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    last: str | None = None
    for place, one in enumerate(map(read_dict, record["messages"])):
        identity = str(one.get("id") or place)
        role, text = read_text(one.get("role")), read_text(one.get("content")).strip()
        parents[identity] = str(one["parent"]) if one.get("parent") is not None else last
        last = identity
        if role not in {"user", "assistant"} or not text:
            yield Skipped("messages without a text or with another role than user and assistant")
            continue
        messages[identity] = FoundMessage(role, text, read_time(one.get("time")))
    ordered, leaf = order_tree(messages, parents, last)
    identity = str(record.get("id") or "")
    if ordered and identity:
        yield FoundConversation("file", identity, read_text(record.get("title")), ordered, leaf)
    else:
        yield Skipped("conversations without an id or without a message")


Reader: TypeAlias = "Callable[[Iterable[Json]], Iterator[Found]]"
NOT_UNDERSTOOD = "records that were not understood"


def choose_json_reader(first: Json, zone: tzinfo | None) -> Reader | None:
    """Return what reads a JSON file that begins with this record; None: nothing does."""
    if formats.is_gemini_activity(first):
        return partial(formats.read_gemini_activity, zone=zone)
    for is_kind, read in _RECORDS:
        if is_kind(first):
            return partial(_read_each, is_kind, read)
    return None


def choose_lines_reader(first: Iterable[Json], name: str) -> Reader | None:
    """Return what reads a file of one JSON value a line, by its first lines."""
    for line in first:
        if is_graph(line):
            return read_graph
        if formats.is_claude_code(line):
            return partial(formats.read_claude_code, name=name)
        if formats.is_codex(line):
            return partial(formats.read_codex, name=name)
        if is_own_form(line):
            return partial(_read_each, is_own_form, read_own_form)
    return None


def is_list_of_memories(first: Json) -> bool:
    """Whether a JSON file begins with a memory as `turnleaf export` writes it."""
    record = read_dict(first)
    return isinstance(record.get("content"), str) and "messages" not in record


def _read_each(
    is_kind: Callable[[Json], bool],
    read: Callable[[Json], Iterator[Found]],
    records: Iterable[Json],
) -> Iterator[Found]:
    for record in records:
        if is_kind(record):
            yield from read(record)
        else:
            yield Skipped(NOT_UNDERSTOOD)


_RECORDS: tuple[tuple[Callable[[Json], bool], Callable[[Json], Iterator[Found]]], ...] = (
    (formats.is_chatgpt_conversation, formats.read_chatgpt_conversation),
    (formats.is_claude_conversation, formats.read_claude_conversation),
    (formats.is_claude_memory, formats.read_claude_memory),
    (formats.is_claude_project, formats.read_claude_project),
    (is_own_form, read_own_form),
)
