"""What was changed in the long-term memory, and what must be mended after somebody else's save.

An editor that saves an older buffer wipes what was acknowledged meanwhile. The record of our
own changes tells it apart from a person who deleted a fact: newer changes that are visible in
the saved text prove that its writer had seen all older ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from turnleaf.core import memories
from turnleaf.core.memories import Memory, content_id
from turnleaf.core.pages import Shape
from turnleaf.core.times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

TICK = timedelta(milliseconds=1)
TOGETHER = frozenset({"add", "update", "repeat", "revive", "retire"})
"""What a person takes back at once where it was made at once."""
PERSONS = TOGETHER | {"delete", "import", "put"}


@dataclass(frozen=True, slots=True)
class Source:
    """What a fact rests on: the words, where and when they were said, how far to trust them.

    `name` is what they came from if it is not the conversation: "document:notes.md", "tool:fetch";
    `decision` names what was decided when the words were learnt from, so that it is done once.
    """

    quote: str | None = None
    conversation: str | None = None
    message_time: datetime | None = None
    trust: str | None = None
    name: str | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of changes.jsonl.

    `op` is add, update, delete, import or undo; repeat, when a fact was said again; retire, when
    it left for the file of older facts, expire, when it left because its last day is over, and
    revive, when it came back; move, the other half of these in that file; put, when a person
    saved the whole file: first a line with what was `removed` and no `id`, then one for each
    fact that is new or other; restore, when we mended the file; seen, when we noticed somebody
    else's save; erase, when a source was erased: `traces` tell a text that is gone for good from
    others, should an older file bring it back. `took` are the lines that it took from the file
    at line `at`, `put` those that it put there, and `fact` those of them that are the fact
    itself; `old`, `new` and `shape` name the whole file before and after.
    """

    n: int
    time: datetime
    op: str
    file: str
    id: str = ""
    before: Memory | None = None
    after: Memory | None = None
    origin: str | None = None
    source: Source | None = None
    undoes: int | None = None
    removed: tuple[Memory, ...] = ()
    traces: tuple[str, ...] = ()
    at: int = 0
    took: tuple[str, ...] = ()
    put: tuple[str, ...] = ()
    fact: str = ""
    old: str = ""
    new: str = ""
    shape: Shape = field(default=Shape(0, 0))

    def concerns(self, memory_id: str) -> bool:
        """Tell whether it is about the fact of that id."""
        return memory_id == self.id or any(memory.id == memory_id for memory in self.removed)

    def ids(self) -> set[str]:
        """Name the facts that it is about."""
        return {self.id, *(memory.id for memory in self.removed)} - {""}

    def is_of_one_step(self, other: Change) -> bool:
        """Tell whether both were made at once."""
        return (self.old, self.new, self.time) == (other.old, other.new, other.time)

    def states(self) -> Iterator[Memory]:
        """Give the facts that it is about, as they were and as they are."""
        yield from filter(None, (self.before, self.after))
        yield from self.removed


def to_json(change: Change) -> dict[str, Any]:
    """Give the form that changes.jsonl holds: only what says something."""
    source = change.source or Source()
    record = {
        "n": change.n,
        "time": to_iso(change.time),
        "op": change.op,
        "file": change.file,
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
        "at": change.at if change.id or change.took or change.put else None,
        "took": list(change.took) or None,
        "put": list(change.put) or None,
        "fact": change.fact if change.fact != "".join(change.put) else None,
        "old": change.old,
        "new": change.new,
        "shape": str(change.shape),
    }
    return {key: value for key, value in record.items() if value is not None}


def from_json(record: Mapping[str, Any]) -> Change:
    """Read the form that `to_json` gives; raise ValueError, KeyError or TypeError else."""
    time = from_iso(record["time"])
    return Change(
        n=int(record["n"]),
        time=time,
        op=str(record["op"]),
        file=str(record["file"]),
        id=str(record.get("id", "")),
        before=_memory(record.get("before"), time),
        after=_memory(record.get("after"), time),
        origin=record.get("origin"),
        source=_source(record),
        undoes=record.get("undoes"),
        removed=tuple(memories.recorded(one, time) for one in record.get("removed", ())),
        traces=tuple(record.get("traces", ())),
        at=int(record.get("at", 0)),
        took=tuple(record.get("took", ())),
        put=tuple(record.get("put", ())),
        fact=record.get("fact", "".join(record.get("put", ()))),
        old=str(record.get("old", "")),
        new=str(record.get("new", "")),
        shape=Shape.parse(record.get("shape", "0+0")),
    )


def trace(content: str) -> str:
    """Fingerprint a text just well enough to tell it from most others.

    So many have the same that nobody can find out by trying what it was.
    """
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=2).hexdigest()


class Outline(Protocol):
    """All that must be known of a saved file to judge it."""

    def shape(self) -> Shape:
        """Fingerprint it."""

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Fingerprint the lines of facts."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What somebody else's save calls for."""

    bring_back: tuple[Memory, ...] = ()
    update_again: tuple[Memory, ...] = ()
    delete_again: tuple[str, ...] = ()
    removed: tuple[Memory, ...] = ()
    """What the person took away: it stays away."""
    erased: frozenset[str] = frozenset()
    """The facts that stand as somebody erased them: no word of theirs may be put on record."""


def repair(
    found: Mapping[str, Memory], page: Outline, version: str, history: Sequence[Change]
) -> Repair:
    """Judge a text that somebody else saved by the record of our own changes."""
    facts = _Standing(history)
    horizon = _horizon(found, history)
    missing = [change for key, change in facts.put.items() if key not in found]
    unseen = [change for change in missing if facts.since[change.id] > horizon]
    if _is_plain_deletion(unseen, page, version, history):
        unseen = []
    return Repair(
        bring_back=tuple(_marked(change.after) for change in unseen if change.after),
        update_again=tuple(_outdated(facts, found, horizon)),
        delete_again=tuple(_undead(facts, found, horizon)),
        removed=tuple(change.after for change in missing if change.after and change not in unseen),
        erased=frozenset(key for key in found if facts.is_erased(key, found[key].content)),
    )


def lost(history: Sequence[Change]) -> Repair:
    """Bring back everything: the file was damaged, nobody chose to delete."""
    standing = _Standing(history).put.values()
    return Repair(bring_back=tuple(_marked(change.after) for change in standing if change.after))


def _marked(memory: Memory) -> Memory:
    """Make a fact that is brought back differ from itself in an older buffer, by its time."""
    return replace(memory, updated_at=memory.updated_at + TICK)


def undoable(history: Sequence[Change]) -> list[Change]:
    """Find the newest change that a person can take back, with all that was made with it."""
    taken_back = undone(history)
    standing = (one for one in reversed(history) if one.n not in taken_back)
    newest = next(filter(_is_a_persons, standing), None)
    return made_with(newest, history) if newest else []


def made_with(change: Change, history: Sequence[Change]) -> list[Change]:
    """Give a change and what was made with it and still stands, newest first."""
    taken_back = undone(history)
    ops = TOGETHER if change.op in TOGETHER else {change.op}
    made = (one for one in reversed(history) if one.op in ops and one.n not in taken_back)
    return [one for one in made if one.is_of_one_step(change)]


def undone(history: Sequence[Change]) -> set[int]:
    """Give the numbers of changes that were taken back; of a saved file all or none."""
    numbers = {change.undoes for change in history if change.undoes is not None}
    puts = [change for change in history if change.op == "put"]
    whole = {(one.old, one.new, one.time) for one in puts if one.n in numbers and not one.id}
    return numbers.union(one.n for one in puts if (one.old, one.new, one.time) in whole)


def is_undoable(change: Change, history: Sequence[Change]) -> bool:
    """Tell whether a person can take a change back, if the facts are still as it left them."""
    return change.n in can_be_undone(history)


def can_be_undone(history: Sequence[Change]) -> set[int]:
    """Give the numbers of all changes of which `is_undoable` holds."""
    return {change.n for change in history if _is_a_persons(change)} - undone(history)


def _is_a_persons(change: Change) -> bool:
    return change.op in PERSONS or (change.op != "undo" and bool(change.removed))


class _Standing:
    """Where a history leaves each fact."""

    def __init__(self, history: Sequence[Change]) -> None:
        self.put: dict[str, Change] = {}
        self.taken: dict[str, Change] = {}
        self.since: dict[str, int] = {}
        self.said: dict[str, dict[str, set[datetime]]] = {}
        self.erased: dict[str, Change] = {}
        self.traces: dict[str, set[str]] = {}
        for change in history:
            if change.traces:
                self.erased[change.id] = change
                self.traces.setdefault(change.id, set()).update(change.traces)
            for memory in change.states():
                times = self.said.setdefault(memory.id, {}).setdefault(memory.content, set())
                times.add(memory.updated_at)
            self._follow(change)

    def _follow(self, change: Change) -> None:
        for memory in change.removed:
            self.put.pop(memory.id, None)
            if change.op == "put":
                self.taken[memory.id] = change
        if change.after:
            if change.id not in self.put:
                self.since[change.id] = change.n
            self.put[change.id] = change
            self.taken.pop(change.id, None)
        elif change.before:
            self.put.pop(change.id, None)
            self.taken[change.id] = change

    def is_erased(self, key: str, content: str) -> bool:
        """Tell whether a fact says what it said before a source was erased."""
        return key in self.traces and trace(content) in self.traces[key]

    def is_older(self, now: Memory, than: Memory) -> bool:
        """Tell whether a fact stands as it once did, before it became as it is."""
        if now.content not in self.said[now.id]:
            return False
        stood_so = now.updated_at in self.said[now.id][now.content]
        return now.updated_at < than.updated_at or (stood_so and now.content != than.content)

    def is_newer(self, now: Memory) -> bool:
        """Whether a fact never stood here as late as that: it comes from the older facts."""
        times = self.said.get(now.id, {}).get(now.content, ())
        return all(time < now.updated_at for time in times) and bool(times)

    def gone(self) -> Mapping[str, Change]:
        """Give the facts that we took away, and what took them."""
        erased = {key: change for key, change in self.erased.items() if key not in self.put}
        return self.taken | erased


def _horizon(found: Mapping[str, Memory], history: Sequence[Change]) -> int:
    """Find the newest change that the writer of a text had seen, with all made in one step."""
    seen = set()
    earlier: dict[str, list[Memory]] = {}
    for one in history:
        before = earlier.setdefault(one.id, [])
        before.extend(filter(None, [one.before]))
        if _is_visible(one, found.get(one.id), before):
            seen.add((one.old, one.new))
        for memory in one.states():
            earlier.setdefault(memory.id, []).append(memory)
    return max((one.n for one in history if (one.old, one.new) in seen), default=0)


def _is_visible(change: Change, now: Memory | None, earlier: Sequence[Memory]) -> bool:
    """Tell whether a text shows that its writer had seen a change, by how its fact stands there.

    A fact that an undo or an erasure brought back may have been in an older buffer as well, so
    it proves nothing. A person who saves the whole file changes a fact and not its time: then
    only words that it never had before prove something.
    """
    after = change.after
    if now is None or after is None or change.op in {"undo", "erase"}:
        return False
    others = (one for one in earlier if one.content != after.content)
    if change.op == "put" or any(one.updated_at >= after.updated_at for one in others):
        return now.content == after.content and all(one.content != now.content for one in earlier)
    return now.updated_at >= after.updated_at


def _is_plain_deletion(
    unseen: Sequence[Change], page: Outline, version: str, history: Sequence[Change]
) -> bool:
    """Tell whether the text is our last one without these facts, and not otherwise edited.

    Nobody saves an older buffer for nothing; so a save that changes nothing else was made
    to delete. Only where the text is to the byte one that we once wrote, and could not come
    about by deleting lines, is it an older one.
    """
    if not unseen:
        return False
    deleted = page.shape() + page.shape_of(change.fact for change in unseen)
    last = history[-1].shape
    if deleted == last:
        return True
    is_older = any(version in {change.old, change.new} for change in history)
    return deleted.total == last.total and not is_older


def _outdated(facts: _Standing, found: Mapping[str, Memory], horizon: int) -> Iterable[Memory]:
    """Find facts that stand as they were before we updated them."""
    for key, change in facts.put.items():
        now = found.get(key)
        if now is None or change.after is None or change.n <= horizon:
            continue
        says_otherwise = now.content != change.after.content
        was_updated = says_otherwise or change.before is not None
        is_erased = says_otherwise and facts.is_erased(key, now.content)
        if is_erased or (was_updated and facts.is_older(now, change.after)):
            yield change.after


def _undead(facts: _Standing, found: Mapping[str, Memory], horizon: int) -> Iterable[str]:
    """Find facts that we deleted and an older buffer brought back.

    One without our id may as well have been typed again, and stays; so does one that was copied
    back from the file of older facts.
    """
    for key, change in facts.gone().items():
        now = found.get(key)
        if now is None or change.n <= horizon or key == content_id(now.content):
            continue
        if facts.is_newer(now):
            continue
        if now.content in facts.said.get(key, ()) or facts.is_erased(key, now.content):
            yield key


def _source(record: Mapping[str, Any]) -> Source | None:
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


def _memory(record: Mapping[str, Any] | None, time: datetime) -> Memory | None:
    return None if record is None else memories.recorded(record, time)
