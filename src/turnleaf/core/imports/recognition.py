"""Telling from its first values what kind of file an export is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.imports import chatgpt, claude_ai, coding, gemini, others
from turnleaf.core.imports.values import Json, Skipped, read_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import tzinfo

    from turnleaf.core.imports.values import Found

Reader: TypeAlias = "Callable[[Iterable[Json]], Iterator[Found]]"
NOT_UNDERSTOOD = "records that were not understood"


def choose_json_reader(first: Json, zone: tzinfo | None) -> Reader | None:
    """Return what reads a JSON file that begins with this record; None: nothing does."""
    if gemini.is_activity(first):
        return partial(gemini.read_activity, zone=zone)
    for is_kind, read in _RECORDS:
        if is_kind(first):
            return partial(_read_each, is_kind, read)
    return None


def choose_lines_reader(first: Iterable[Json], name: str) -> Reader | None:
    """Return what reads a file of one JSON value a line, by its first lines."""
    for line in first:
        if others.is_graph(line):
            return others.read_graph
        if coding.is_claude_code(line):
            return partial(coding.read_claude_code, name=name)
        if coding.is_codex(line):
            return partial(coding.read_codex, name=name)
        if others.is_own_form(line):
            return partial(_read_each, others.is_own_form, others.read_own_form)
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
    (chatgpt.is_conversation, chatgpt.read_conversation),
    (claude_ai.is_conversation, claude_ai.read_conversation),
    (claude_ai.is_memory, claude_ai.read_memory),
    (claude_ai.is_project, claude_ai.read_project),
    (others.is_own_form, others.read_own_form),
)
