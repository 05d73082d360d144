"""What was changed in the long-term memory, wherever it is kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from turnleaf.core import memories
from turnleaf.core.serialization import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.memories import Memory

# The least by which two times differ in a file: it keeps milliseconds.
TICK = timedelta(milliseconds=1)
TOGETHER = frozenset({"add", "update", "repeat", "revive", "retire"})
"""What a person takes back at once where it was made at once."""
PERSONS = TOGETHER | {"delete", "import", "put"}


@dataclass(frozen=True, slots=True)
class Source:
    """What a fact rests on: the words, where and when they were said, how far to trust them.

    `name` is what they came from if it is not the conversation: "document:notes.md", "tool:fetch";
    `decision` names what was decided when the words were learned from, so that it is done once.
    """

    quote: str | None = None
    conversation: str | None = None
    message_time: datetime | None = None
    trust: str | None = None
    name: str | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a fact, or of several that a person removed by saving the whole text.

    `op` is add, update, delete, import or undo; repeat, when a fact was said again; retire, when
    it left for the older facts, expire, when it left because its last day is over, and revive,
    when it came back; put, when a person saved the whole text: first a change with what was
    `removed` and no `id`, then one for each fact that is new or other; restore, when we mended
    the text; seen, when we noticed somebody else's save; erase, when a source was erased:
    `traces` tell a text that is gone for good from others, should an older text bring it back.
    """

    n: int
    time: datetime
    op: str
    id: str = ""
    before: Memory | None = None
    after: Memory | None = None
    origin: str | None = None
    source: Source | None = None
    undoes: int | None = None
    removed: tuple[Memory, ...] = ()
    traces: tuple[str, ...] = ()
    step: Hashable = None
    """Equal in all that was made at once."""

    def concerns(self, memory_id: str) -> bool:
        """Whether it is about the fact of that id."""
        return memory_id == self.id or any(memory.id == memory_id for memory in self.removed)

    def ids(self) -> set[str]:
        """Return the ids of the facts that it is about."""
        return {self.id, *(memory.id for memory in self.removed)} - {""}

    def states(self) -> Iterator[Memory]:
        """Yield the facts that it is about, as they were and as they are."""
        if self.before:
            yield self.before
        if self.after:
            yield self.after
        yield from self.removed


SomeChange = TypeVar("SomeChange", bound=Change)
"""A change of whatever backend: what goes in comes out."""


def to_json(change: Change) -> dict[str, Any]:
    """Return the JSON form of a change, without empty fields."""
    source = change.source or Source()
    record = {
        "n": change.n,
        "time": to_iso(change.time),
        "op": change.op,
        "id": change.id or None,
        "before": change.before and memories.to_json(change.before),
        "after": change.after and memories.to_json(change.after),
        "origin": change.origin,
        "quote": source.quote,
        "conversation": source.conversation,
        "messageTime": source.message_time and to_iso(source.message_time),
        "trust": source.trust,
        "source": source.name,
        "decision": source.decision,
        "undoes": change.undoes,
        "removed": [memories.to_json(memory) for memory in change.removed] or None,
        "traces": list(change.traces) or None,
    }
    return {key: value for key, value in record.items() if value is not None}


def read_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a change from JSON; raise ValueError, KeyError or TypeError else."""
    time = from_iso(record["time"])
    before, after = record.get("before"), record.get("after")
    return {
        "n": int(record["n"]),
        "time": time,
        "op": str(record["op"]),
        "id": str(record.get("id", "")),
        "before": None if before is None else memories.read_recorded(before, time),
        "after": None if after is None else memories.read_recorded(after, time),
        "origin": record.get("origin"),
        "source": _read_source(record),
        "undoes": record.get("undoes"),
        "removed": tuple(memories.read_recorded(one, time) for one in record.get("removed", ())),
        "traces": tuple(record.get("traces", ())),
    }


def _read_source(record: Mapping[str, Any]) -> Source | None:
    said = record.get("messageTime")
    source = Source(
        quote=record.get("quote"),
        conversation=record.get("conversation"),
        message_time=from_iso(said) if said else None,
        trust=record.get("trust"),
        name=record.get("source"),
        decision=record.get("decision"),
    )
    return None if source == Source() else source


def make_trace(content: str) -> str:
    """Return a fingerprint that tells a text from most others, but not from all.

    So many have the same that nobody can find out by trying what it was.
    """
    # Two bytes are shared by so many texts that an erased one cannot be found out by trying.
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=2).hexdigest()


def find_undoable(history: Sequence[SomeChange]) -> list[SomeChange]:
    """Return the newest change that a person can undo, with all made with it; [] if none."""
    taken_back = find_undone(history)
    standing = (one for one in reversed(history) if one.n not in taken_back)
    newest = next(filter(_is_by_person, standing), None)
    return find_made_with(newest, history) if newest else []


def find_made_with(change: Change, history: Sequence[SomeChange]) -> list[SomeChange]:
    """Return a change and those of the same step that were not undone, newest first."""
    taken_back = find_undone(history)
    # `remember` may add one fact and retire others in one change; an import is only imports.
    ops = TOGETHER if change.op in TOGETHER else {change.op}
    made = (one for one in reversed(history) if one.op in ops and one.n not in taken_back)
    return [one for one in made if one.step == change.step]


def find_undone(history: Sequence[Change]) -> set[int]:
    """Return the numbers of the changes that were undone; of a saved text all or none."""
    numbers = {change.undoes for change in history if change.undoes is not None}
    # A save of the whole text is several changes, and half of one cannot be taken back.
    puts = [change for change in history if change.op == "put"]
    whole = {one.step for one in puts if one.n in numbers and not one.id}
    return numbers.union(one.n for one in puts if one.step in whole)


def is_undoable(change: Change, history: Sequence[Change]) -> bool:
    """Whether a person can undo a change, as long as the facts are as it left them."""
    return change.n in find_undoable_numbers(history)


def find_undoable_numbers(history: Sequence[Change]) -> set[int]:
    """Return the numbers of all changes for which `is_undoable` is true."""
    return {change.n for change in history if _is_by_person(change)} - find_undone(history)


def _is_by_person(change: Change) -> bool:
    return change.op in PERSONS or (change.op != "undo" and bool(change.removed))
