"""How passages stand in a prompt: what was said on one day is one item, in the order of time."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from turnleaf.core import neutral
from turnleaf.core.stored_messages import TRUSTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from turnleaf.core.hits import Hit

NAME_CHARS = 80
SOURCES = {"memory": "memory", "daily": "daily log", "conversations": "conversation"}
GAP = f"{neutral.INDENT}…"


def context_lines(hits: Iterable[Hit]) -> list[str]:
    """Return passages as items: the messages of a conversation's day are one, others stand alone.

    Between messages that do not follow each other stands an ellipsis.
    """
    ordered = sorted(hits, key=place_of)
    grouped = groupby(ordered, key=lambda hit: (opening_of(hit), hit.conversation, hit.path))
    return [line for _, group in grouped for line in _items(_join_parts(group))]


def opening_of(hit: Hit) -> str:
    """Return what stands before a passage, or before all messages of a day."""
    where = ", ".join(filter(None, [hit.date, SOURCES.get(hit.source)]))
    return f"- ({where})"


def line_of(hit: Hit) -> str:
    """Return a message with its speaker, or another passage, as a line of an item."""
    text = _text_of(hit)
    said = neutral.item(f"{_speaker(hit)}: {text}" if hit.speaker else text)
    return f"{neutral.INDENT}{said}".replace("\n", f"\n{neutral.INDENT}")


def place_of(hit: Hit) -> tuple[str, str, str, str, int, int]:
    """Return where a passage comes in the order of time; what has no date comes first."""
    number = hit.message if hit.message is not None else hit.line
    return (
        hit.date or "",
        hit.source,
        hit.conversation or "",
        str(hit.path),
        number,
        hit.part,
    )


def _join_parts(group: Iterable[Hit]) -> list[Hit]:
    """Return passages, with parts of one message that follow each other as one."""
    joined: list[Hit] = []
    for hit in group:
        last = joined[-1] if joined else None
        is_part = last is not None and hit.message is not None and hit.message == last.message
        if last is not None and is_part and hit.part == last.part + 1:
            joined[-1] = replace(hit, text=f"{last.text} {hit.text}", parent=last.parent)
        else:
            joined.append(hit)
    return joined


def _items(group: Sequence[Hit]) -> Iterator[str]:
    if group[0].source != "conversations":
        for hit in group:
            yield _item(hit)
    elif len(group) == 1:
        yield _item(group[0])
    else:
        yield opening_of(group[0])
        for before, hit in zip([None, *group], group, strict=False):
            if before is not None and not _is_next(before, hit):
                yield GAP
            yield line_of(hit)


def _item(hit: Hit) -> str:
    where = ", ".join(
        filter(None, [hit.date, SOURCES.get(hit.source), _speaker(hit) if hit.speaker else None])
    )
    return f"- {neutral.item(f'({where}) {_text_of(hit)}')}"


def _text_of(hit: Hit) -> str:
    return f"{hit.text} ({hit.note})" if hit.note else hit.text


def _speaker(hit: Hit) -> str:
    name = " ".join((hit.speaker or "").split())[:NAME_CHARS]
    return name if hit.trust in TRUSTED else f"{name} ({hit.trust})"


def _is_next(before: Hit, hit: Hit) -> bool:
    """Whether a message, or the next part of a long one, follows another one directly."""
    if hit.message is None:
        return hit.line == before.line + 1
    if hit.message == before.message:
        return hit.part <= before.part + 1
    return hit.parent == before.message
