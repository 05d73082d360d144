"""How a file of facts was changed, and what must be mended after somebody else's save.

An editor that saves an older buffer wipes what was acknowledged meanwhile. The record of our
own changes tells it apart from a person who deleted a fact: newer changes that are visible in
the saved text prove that its writer had seen all older ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from turnleaf.core import changes, erasing, page_drafts
from turnleaf.core.changes import TICK, Change, make_trace
from turnleaf.core.memories import Memory, make_content_id
from turnleaf.core.pages import Shape, Splice, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.erasing import Erasure
    from turnleaf.core.page_drafts import Draft, Step
    from turnleaf.core.pages import Format, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange(Change):
    """One line of changes.jsonl: a change with what it did to the lines of its file.

    In the file of older facts, "move" is the other half of what left the memory or came back.
    `took` are the lines that it took from the file at line `at`, `put` those that it put there,
    and `fact` those of them that are the fact itself; `old`, `new` and `shape` name the whole
    file before and after.
    """

    file: str
    at: int = 0
    took: tuple[str, ...] = ()
    put: tuple[str, ...] = ()
    fact: str = ""
    old: str = ""
    new: str = ""
    shape: Shape = field(default=Shape(0, 0))

    def __post_init__(self) -> None:
        # Not stored: equal names of both texts and one time are what was made at once.
        object.__setattr__(self, "step", (self.old, self.new, self.time))

    def reversal(self) -> Splice:
        """Return the change of the lines that takes it back."""
        return Splice(self.at, self.put, self.took)


def to_json(change: FileChange) -> dict[str, Any]:
    """Return the form that changes.jsonl holds, without empty fields."""
    told = changes.to_json(change)
    first = {key: told.pop(key) for key in ("n", "time", "op")}
    lines = {
        # Left out where it says nothing, because there is a line for each change ever made.
        "at": change.at if change.id or change.took or change.put else None,
        "took": list(change.took) or None,
        "put": list(change.put) or None,
        "fact": change.fact if change.fact != "".join(change.put) else None,
    }
    names = {"old": change.old, "new": change.new, "shape": str(change.shape)}
    said = {key: value for key, value in lines.items() if value is not None}
    return {**first, "file": change.file, **told, **said, **names}


def from_json(record: Mapping[str, Any]) -> FileChange:
    """Read the form that `to_json` returns; raise ValueError, KeyError or TypeError else."""
    return FileChange(
        **changes.read_fields(record),
        file=str(record["file"]),
        at=int(record.get("at", 0)),
        took=tuple(record.get("took", ())),
        put=tuple(record.get("put", ())),
        fact=record.get("fact", "".join(record.get("put", ()))),
        old=str(record.get("old", "")),
        new=str(record.get("new", "")),
        shape=Shape.parse(record.get("shape", "0+0")),
    )


def record_steps(template: FileChange, steps: Sequence[Step]) -> list[FileChange]:
    """Return steps as changes, with what they did to the lines."""
    made = page_drafts.record_steps(template, steps)
    noticed = made[: len(made) - len(steps)]
    return noticed + [
        replace(
            change,
            at=step.splice.start,
            took=step.splice.took,
            put=step.splice.put,
            fact="".join(step.splice.facts),
        )
        for change, step in zip(made[len(noticed) :], steps, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class TextHistory:
    """The texts that a file had, worked out backwards from the record of its changes."""

    kind: Format
    changes: Sequence[FileChange]
    unknown_time: datetime

    def find_before(self, text: str, made: FileChange) -> str | None:
        """Return the text before a change and all made with it; None if this is not its result."""
        return self._take_back(text, [one for one in self.changes if one.step == made.step])

    def find_after(self, text: str, made: FileChange) -> str | None:
        """Return the text after a change and all made with it; None if it was not made of this."""
        steps = [one for one in self.changes if one.step == made.step]
        # To make changes again is to take back their opposites, the last of them first.
        mirrored = [replace(one, took=one.put, put=one.took) for one in reversed(steps)]
        return self._take_back(text, mirrored)

    def find_as_saved(self, text: str, version: str, whole: FileChange) -> str | None:
        """Return the text as a person saved it, without what came after, if that is known."""
        later = [one for one in self.changes if one.n > whole.n and one.old != one.new]
        left: str | None = text
        while version != whole.new and left is not None:
            last = next((one for one in later if one.new == version), None)
            if last is None:
                return None
            left = self.find_before(left, last)
            later = [one for one in later if one.n < last.n]
            version = last.old
        return left

    def _take_back(self, text: str | None, steps: Sequence[FileChange]) -> str | None:
        puts = {change.n for change in self.changes if change.op == "put"}
        for one in reversed(steps):
            if text is None:
                return None
            if one.op == "put" or one.undoes in puts:
                # A person's text is any text: only its lines can be taken back, not its facts.
                text = page_drafts.take_back(text, one.reversal())
            else:
                text = self.kind.parse(text, self.unknown_time).apply(one.reversal())
        return text


def rewrite_without(
    history: Sequence[FileChange], found: Erasure, page: Page, now: FileChange
) -> list[FileChange]:
    """Return the record as if a source had never been.

    `page` is the file as it is, and `now` what is known of it.
    """
    pairs = [(change, _without_source(change, found)) for change in history]
    if not found.texts:
        return [line for _, line in pairs if line]
    # What can no longer be taken back to the byte must not look like the newest change.
    broken = {
        old.step for old, line in pairs if line is None or _make_state(line) != _make_state(old)
    }
    lines = [
        replace(line, shape=Shape(0, 0), new="" if old.step in broken else line.new)
        for old, line in pairs
        if line
    ]
    standing = {fact.memory.id: fact.memory for fact in page.facts}
    # An older buffer may still bring the erased texts back; by their traces they are known then.
    tombs = erasing.make_tombstones(found, standing, now)
    return [*_without_empty(lines), *(replace(one, fact=_find_raw(page, one.id)) for one in tombs)]


def _find_raw(page: Page, memory_id: str) -> str:
    place = find(page, memory_id)
    return page.get_raw(place) if place else ""


def _make_state(change: FileChange) -> tuple[object, ...]:
    return change.before, change.after, change.removed, change.took, change.put


def _without_source(change: FileChange, found: Erasure) -> FileChange | None:
    line = erasing.without_source(change, found)
    if line is None or not found.texts:
        return line
    if _make_state(line) == _make_state(change) and not found.mentions(
        "".join(change.took + change.put)
    ):
        return line
    fact = change.fact if line.after == change.after else ""
    # The lines of the file may hold what was erased, so they go as well.
    return replace(line, fact=fact, took=(), put=())


def _without_empty(lines: Sequence[FileChange]) -> Iterator[FileChange]:
    """Yield the lines without saves of a whole file of which nothing is left."""
    told = {line.step for line in lines if line.op == "put" and line.id}
    for line in lines:
        if not erasing.is_whole(line) or line.removed or line.took or line.put or line.step in told:
            yield line


def without_text(change: FileChange) -> FileChange:
    """Return the change that records an erasure, without any word of the fact."""
    return replace(change, op="erase", before=None, took=(), put=())


class Outline(Protocol):
    """All that must be known of a saved file to judge it."""

    def shape(self) -> Shape:
        """Return the fingerprint of the file."""

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Return the fingerprint of the lines of facts."""


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
    found: Mapping[str, Memory], page: Outline, version: str, history: Sequence[FileChange]
) -> Repair:
    """Return what to repair in a text that somebody else saved, by the record of our changes."""
    facts = _Standing(history)
    horizon = _find_horizon(found, history)
    missing = [change for key, change in facts.put.items() if key not in found]
    # A writer who shows one of our changes had seen all before it: what is older and missing was
    # deleted on purpose. What is newer was in no buffer of theirs, and comes back.
    unseen = [change for change in missing if facts.since[change.id] > horizon]
    if _is_plain_deletion(unseen, page, version, history):
        unseen = []
    return Repair(
        bring_back=tuple(_mark(change.after) for change in unseen if change.after),
        update_again=tuple(_find_outdated(facts, found, horizon)),
        delete_again=tuple(_find_undead(facts, found, horizon)),
        removed=tuple(change.after for change in missing if change.after and change not in unseen),
        erased=frozenset(key for key in found if facts.is_erased(key, found[key].content)),
    )


def mend(draft: Draft, repair: Repair) -> None:
    """Apply a repair to a draft."""
    for memory_id in repair.delete_again:
        draft.remove(memory_id, "restore")
    for memory in repair.update_again:
        draft.replace(memory, "restore")
    for memory in repair.bring_back:
        draft.insert(memory, "restore")


def restore_everything(history: Sequence[FileChange]) -> Repair:
    """Return a repair that brings back every fact, for a file that was damaged."""
    standing = _Standing(history).put.values()
    return Repair(bring_back=tuple(_mark(change.after) for change in standing if change.after))


def _mark(memory: Memory) -> Memory:
    """Return a fact with a time by which it differs from itself in an older buffer."""
    # Without this, an older buffer with the same fact would seem to have seen that it came back.
    return replace(memory, updated_at=memory.updated_at + TICK)


class _Standing:
    """Where a history leaves each fact."""

    def __init__(self, history: Sequence[FileChange]) -> None:
        self.put: dict[str, FileChange] = {}
        self.taken: dict[str, FileChange] = {}
        self.since: dict[str, int] = {}
        self.said: dict[str, dict[str, set[datetime]]] = {}
        self.erased: dict[str, FileChange] = {}
        self.traces: dict[str, set[str]] = {}
        for change in history:
            if change.traces:
                self.erased[change.id] = change
                self.traces.setdefault(change.id, set()).update(change.traces)
            for memory in change.states():
                times = self.said.setdefault(memory.id, {}).setdefault(memory.content, set())
                times.add(memory.updated_at)
            self._follow(change)

    def _follow(self, change: FileChange) -> None:
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
        """Whether a fact has a content that was erased."""
        return key in self.traces and make_trace(content) in self.traces[key]

    def is_older(self, now: Memory, than: Memory) -> bool:
        """Whether a fact is an earlier version of the current one."""
        if now.content not in self.said[now.id]:
            return False
        stood_so = now.updated_at in self.said[now.id][now.content]
        return now.updated_at < than.updated_at or (stood_so and now.content != than.content)

    def is_newer(self, now: Memory) -> bool:
        """Whether a fact is newer than it ever was here: then it comes from the older facts."""
        times = self.said.get(now.id, {}).get(now.content, ())
        return all(time < now.updated_at for time in times) and bool(times)

    def find_removed(self) -> Mapping[str, FileChange]:
        """Return the changes that removed facts, by the fact's id."""
        erased = {key: change for key, change in self.erased.items() if key not in self.put}
        return self.taken | erased


def _find_horizon(found: Mapping[str, Memory], history: Sequence[FileChange]) -> int:
    """Return the number of the newest change that the writer of a text had seen."""
    seen = set()
    earlier: dict[str, list[Memory]] = {}
    for one in history:
        before = earlier.setdefault(one.id, [])
        before.extend(filter(None, [one.before]))
        if _is_visible(one, found.get(one.id), before):
            # Changes made at once were in the file at once: who shows one of them had seen all.
            seen.add((one.old, one.new))
        for memory in one.states():
            earlier.setdefault(memory.id, []).append(memory)
    return max((one.n for one in history if (one.old, one.new) in seen), default=0)


def _is_visible(change: FileChange, now: Memory | None, earlier: Sequence[Memory]) -> bool:
    """Whether a text shows that its writer had seen a change, by how its fact stands there.

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
    unseen: Sequence[FileChange], page: Outline, version: str, history: Sequence[FileChange]
) -> bool:
    """Whether the text is our last one without these facts, and not otherwise edited.

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
    # Equal but for the blank lines: deleting by hand often leaves one, or takes one along.
    is_older = any(version in {change.old, change.new} for change in history)
    return deleted.total == last.total and not is_older


def _find_outdated(facts: _Standing, found: Mapping[str, Memory], horizon: int) -> Iterable[Memory]:
    """Yield, as we wrote them, the facts that the text has as they were before that."""
    for key, change in facts.put.items():
        now = found.get(key)
        if now is None or change.after is None or change.n <= horizon:
            continue
        says_otherwise = now.content != change.after.content
        was_updated = says_otherwise or change.before is not None
        is_erased = says_otherwise and facts.is_erased(key, now.content)
        if is_erased or (was_updated and facts.is_older(now, change.after)):
            yield change.after


def _find_undead(facts: _Standing, found: Mapping[str, Memory], horizon: int) -> Iterable[str]:
    """Yield the ids of facts that we deleted and an older buffer brought back.

    One without our id may as well have been typed again, and stays; so does one that was copied
    back from the file of older facts.
    """
    for key, change in facts.find_removed().items():
        now = found.get(key)
        if now is None or change.n <= horizon or key == make_content_id(now.content):
            continue
        if facts.is_newer(now):
            continue
        if now.content in facts.said.get(key, ()) or facts.is_erased(key, now.content):
            yield key
