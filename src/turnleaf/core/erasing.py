"""Erasing all that came from one source: which facts go, and a record that never held them.

A text is a source's when the source brought it and nobody else ever put the same into that fact.
Where it replaced another text, that one stands again, in the file and on record.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from turnleaf.core.changes import TICK, make_trace
from turnleaf.core.markdown_blocks import encode_bullet
from turnleaf.core.serialization import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change, SomeChange, Source
    from turnleaf.core.memories import Memory
    from turnleaf.core.page_drafts import Draft

ACTS = ("add", "update", "import", "repeat", "revive")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a source brought: texts by fact, and what each of them replaced."""

    source: str
    texts: frozenset[tuple[str, str]]
    scraps: frozenset[str]
    replaced: dict[tuple[str, str], Memory | None] = field(default_factory=dict)

    def is_erased(self, memory: Memory) -> bool:
        """Whether a fact says what the source brought."""
        return (memory.id, memory.content) in self.texts

    def find_replacement(self, memory: Memory | None) -> Memory | None:
        """Return a fact as it is without the source; None if the source had brought it."""
        if memory is None or not self.is_erased(memory):
            return memory
        return self.replaced.get((memory.id, memory.content))

    def mentions(self, text: str) -> bool:
        """Whether a line may hold any of the texts; in doubt, yes."""
        # JSON may have been written with escapes by another program, or by an older version.
        plain = _ESCAPES.sub(lambda escapes: str(json.loads(f'"{escapes[0]}"')), text)
        return any(scrap in text or scrap in plain for scrap in self.scraps)


def comes_from(source: Source | None, name: str) -> bool:
    """Whether something rests on a conversation, a tool or a document of that name."""
    return source is not None and name in {source.conversation, source.name}


def find_erasure(name: str, history: Sequence[Change], elsewhere: Sequence[Change] = ()) -> Erasure:
    """Return what a source brought, by the record of a file and of another with the same facts."""
    theirs = {text for text, change in _list_acts(history) if comes_from(change.source, name)}
    everybody = _list_acts((*history, *elsewhere))
    others = {text for text, change in everybody if not comes_from(change.source, name)}
    # What somebody else said as well does not rest on this source alone, and stays.
    texts = frozenset(theirs - others)
    found = Erasure(name, texts, frozenset(_list_scraps(name, texts)))
    # In the order of the record: where erased texts followed each other, each of them leads back
    # to what was there before the first.
    for text, change in _list_acts(history):
        if text in found.texts:
            found.replaced[text] = found.find_replacement(change.before)
    return found


def _list_scraps(name: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the strings by which a line of a file or of the record may hold a text."""
    yield dumps(name)
    for _, content in texts:
        # Lines of the record are JSON, so the text is also looked for in its escaped form.
        yield dumps(content)[1:-1]
        for line in filter(None, map(str.strip, encode_bullet(content, ""))):
            yield line
            yield dumps(line)[1:-1]


def _list_acts(history: Iterable[Change]) -> Iterator[tuple[tuple[str, str], Change]]:
    """Yield the texts that changes put into facts, without those that only came back.

    A person who saves the whole file says what is new in it, not what was said before.
    """
    said: set[tuple[str, str]] = set()
    for change in history:
        text = (change.after.id, change.after.content) if change.after else None
        # Who saves the whole page did not say again what had been on it before.
        if text and (change.op in ACTS or (change.op == "put" and text not in said)):
            yield text, change
        said.update((memory.id, memory.content) for memory in change.states())


def take_out(draft: Draft, found: Erasure, now: datetime) -> list[Memory]:
    """Remove a source's texts from a draft; return the facts as they were."""
    gone = [memory for memory in draft.memories if found.is_erased(memory)]
    for memory in gone:
        older = found.find_replacement(memory)
        if older is None:
            draft.remove(memory.id, "erase")
        else:
            # Later than the erased text in any case, as by its time an older buffer is told.
            later = max(now, memory.updated_at + TICK)
            draft.replace(replace(memory, content=older.content, updated_at=later), "erase")
    return gone


def concerns(history: Sequence[Change], found: Erasure) -> bool:
    """Whether anything on record rests on a source, or says what it brought."""
    return any(
        comes_from(change.source, found.source) or any(map(found.is_erased, change.states()))
        for change in history
    )


def make_tombstones(
    found: Erasure, standing: Mapping[str, Memory], now: SomeChange
) -> Iterator[SomeChange]:
    """Yield changes that record the facts without a source, so that no older text revives it."""
    traces: dict[str, set[str]] = {}
    for memory_id, content in found.texts:
        # Traces instead of the texts: the record must not hold what was erased.
        traces.setdefault(memory_id, set()).add(make_trace(content))
    for number, memory_id in enumerate(sorted(traces)):
        yield replace(
            now,
            n=now.n + number,
            id=memory_id,
            after=standing.get(memory_id),
            traces=tuple(sorted(traces[memory_id])),
        )


def without_source(change: SomeChange, found: Erasure) -> SomeChange | None:
    """Return a change as if the source had never been; None when nothing is left of it."""
    line = replace(change, source=None) if comes_from(change.source, found.source) else change
    if not found.texts:
        return line
    if change.op == "erase" and change.before:
        return None
    before, after = found.find_replacement(change.before), found.find_replacement(change.after)
    removed = tuple(filter(None, map(found.find_replacement, change.removed)))
    if (before, after, removed) == (change.before, change.after, change.removed):
        return line
    is_empty = _get_content(before) == _get_content(after) and not (removed or change.traces)
    if is_empty and not is_whole(change):
        return None
    # The source had brought the fact; without it, the update is where the fact begins.
    op = "add" if change.op == "update" and before is None else change.op
    return replace(line, op=op, before=before, after=after, removed=removed)


def is_whole(change: Change) -> bool:
    """Whether a change is the first of a step in which a person saved the whole text."""
    return change.op == "put" and not change.id


def _get_content(memory: Memory | None) -> str | None:
    return memory.content if memory else None
