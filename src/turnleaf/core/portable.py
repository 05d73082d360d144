"""What a space holds, in a form that belongs to no backend, so that it can be copied and compared.

A part is one thing of a store under a name. Two parts of one name are the same where their digests
are: they are made of what a user can see, and not of how a backend keeps it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from turnleaf.core import changes, markdown, memories, messages, schedules
from turnleaf.core.changes import Change
from turnleaf.core.file_changes import FileChange, TextHistory
from turnleaf.core.page_drafts import NOTHING, Draft
from turnleaf.core.serialization import to_iso

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from datetime import date, datetime

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Message
    from turnleaf.core.opaque_records import Record
    from turnleaf.core.pages import Page, Splice
    from turnleaf.core.schedules import Schedule

COPY_COLLECTION = "turnleaf"
COPY_KEY = "copy"
"""The record of a space that tells of which it is the copy; it is no part of it."""
LEFT_BEHIND = frozenset({"memoryLocation", "conversationsLocation"})
"""Settings that name places of one machine."""
WHOLE = "all"
"""The name of the one part of a store that is copied whole."""
MOST_TAKEN_BACK = 200
"""So many of the newest changes are followed back to the texts that they left."""
MOVED = "move"
_TITLES = ("# Memory", "# Older facts", "# Waiting to be accepted")
_SHORT = 32
"""So many characters of a text's name stand in a file's record of changes."""


@dataclass(frozen=True, slots=True)
class PortablePart:
    """One thing of a store: what it is called, what it is worth comparing by, and itself."""

    name: str
    digest: str
    value: Any
    count: int = 1
    """How many things of a person it stands for."""


def make_part(name: str, body: object, value: object, count: int = 1) -> PortablePart:
    """Return a part with the digest of what can be seen of it."""
    data = json.dumps(body, sort_keys=True).encode()
    return PortablePart(name, hashlib.sha256(data).hexdigest(), value, count)


@dataclass(frozen=True, slots=True)
class ConversationImage:
    """All that is kept of a conversation but its messages."""

    key: str
    leaf: int
    turns: int
    created_at: datetime
    updated_at: datetime
    title: str
    is_renamed: bool
    audience: str
    is_searched: bool

    def to_part(self) -> PortablePart:
        """Return it as a part by its key."""
        body = [
            self.key, self.leaf, self.turns, to_iso(self.created_at), to_iso(self.updated_at),
            self.title, self.is_renamed, self.audience, self.is_searched,
        ]  # fmt: skip
        return make_part(self.key, body, self)


@dataclass(frozen=True, slots=True)
class MessageImage:
    """A message with all that is kept of it; `reasons` say why it is hidden."""

    id: int
    key: str
    parent: int
    message: Message
    said_at: datetime
    status: str
    trust: str
    source: str | None
    shaped_by: Mapping[str, Any] | None
    is_shown: bool
    is_resumed: bool
    reasons: tuple[str, ...]

    def to_part(self) -> PortablePart:
        """Return it as a part by its id."""
        body = [
            self.id, self.key, self.parent, messages.to_json(self.message), to_iso(self.said_at),
            self.status, self.trust, self.source, self.shaped_by, self.is_shown, self.is_resumed,
            sorted(self.reasons),
        ]  # fmt: skip
        return make_part(name_number(self.id), body, self)


def name_number(number: int) -> str:
    """Return a name for a number that sorts as numbers do."""
    return f"{number:020d}"


def read_number(name: str | None) -> int:
    """Return the number of a name; 0 for none."""
    return int(name) if name else 0


def make_day(day: date, notes: Sequence[tuple[str, str | None]]) -> PortablePart:
    """Return the notes of a day, each with its source, as a part."""
    name = day.isoformat()
    return make_part(name, [name, *map(list, notes)], (day, tuple(notes)), len(notes))


def make_record(record: Record) -> PortablePart:
    """Return a record of another framework as a part."""
    digest = hashlib.sha256(record.value).hexdigest()
    ends = record.expires_at and to_iso(record.expires_at)
    body = [record.collection, record.key, digest, record.version, ends]
    return make_part(name_record(record.collection, record.key), body, record)


def name_record(collection: str, key: str) -> str:
    """Return the name of a record's part, which sorts by collection and key."""
    # No name has a control character, so the order is that of the pair.
    return f"{collection}\0{key}"


def split_record_name(name: str | None) -> tuple[str, str]:
    """Return the collection and key of a part's name; two empty strings for None."""
    collection, _, key = (name or "").partition("\0")
    return collection, key


def is_marker(collection: str, key: str) -> bool:
    """Whether a record is the one that says of which space this is a copy."""
    return (collection, key) == (COPY_COLLECTION, COPY_KEY)


def make_schedules(known: Iterable[Schedule], results: Mapping[str, str]) -> list[PortablePart]:
    """Return the schedules with their runs and results as a part; none where there is nothing."""
    kept = [*known]
    if not kept and not results:
        return []
    body = [[schedules.to_json(one) for one in kept], dict(results)]
    return [make_part(WHOLE, body, (kept, dict(results)), len(kept))]


def make_learning(body: Mapping[str, Any]) -> list[PortablePart]:
    """Return what is kept for learning, as plain JSON, as a part; none where there is nothing."""
    if not any(body.values()):
        return []
    return [make_part(WHOLE, body, body, len(body["queue"]) + len(body["outbox"]))]


def make_settings(values: Mapping[str, Any]) -> list[PortablePart]:
    """Return the settings that an operator changed, less places of one machine, as a part."""
    kept = {name: value for name, value in values.items() if name not in LEFT_BEHIND}
    return [make_part(WHOLE, kept, kept, len(kept))] if kept else []


# Facts


@dataclass(frozen=True, slots=True)
class ImageEntry:
    """A change with what it takes to undo it, as far as that is known."""

    change: Change
    reversal: Splice = NOTHING
    version: str | None = None
    """The name of the text as it left it."""
    text: str | None = None
    """The text itself, if a person saved the whole of it."""
    is_older: bool = False
    left: Memory | None = None
    """What it brought back, as that stood among the older facts."""


@dataclass(frozen=True, slots=True)
class FactsImage:
    """Facts in their text, those that left, and the record of their changes."""

    text: str
    older: str
    facts: tuple[Memory, ...]
    """The facts of the text, those typed by hand with the time they were first seen at."""
    older_facts: tuple[Memory, ...]
    written_at: datetime
    entries: tuple[ImageEntry, ...] = ()
    last_number: int = 0

    def to_parts(self) -> list[PortablePart]:
        """Return it as a part; none where there is nothing."""
        page = _without_title(markdown.without_comments(self.text)).strip()
        if not (page or self.facts or self.older_facts or self.entries):
            return []
        body = [
            page,
            [memories.to_json(one) for one in self.facts],
            [memories.to_json(one) for one in self.older_facts],
            [_describe_entry(one) for one in self.entries],
        ]
        return [make_part(WHOLE, body, self, len(self.facts) + len(self.older_facts))]

    def with_own_times(self) -> FactsImage:
        """Return it with one time for all that was typed by hand, as `written_at`.

        What was typed at another time gets a comment with its own, as a fact of ours has.
        """
        draft = Draft(markdown, self.text, self.written_at)
        known = {one.id: one for one in self.facts}
        typed = [one.memory.id for one in draft.page.facts if one.is_typed]
        times = Counter(known[one].created_at for one in typed if one in known)
        if not times:
            return self
        # The commonest time is left to the page, so that fewest bullets get a comment of ours.
        ((usual, _),) = times.most_common(1)
        for one in typed:
            if one in known and known[one].created_at != usual:
                draft.replace(known[one], "copy")
        return replace(self, text=draft.text, written_at=usual)

    def find_typed(self) -> dict[str, datetime]:
        """Return when what was typed by hand was first seen, by id."""
        page = markdown.parse(self.text, self.written_at)
        known = {one.id: one.created_at for one in self.facts}
        typed = (one.memory.id for one in page.facts if one.is_typed)
        return {one: known[one] for one in typed if one in known}


def _describe_entry(entry: ImageEntry) -> list[object]:
    return [changes.to_json(entry.change), entry.change.step, entry.is_older]


def number_steps(entries: Iterable[ImageEntry]) -> tuple[ImageEntry, ...]:
    """Return entries in order, with the number of a step's first change as its name."""
    ordered = sorted(entries, key=lambda one: one.change.n)
    firsts: dict[tuple[Hashable, bool], int] = {}
    for one in ordered:
        firsts.setdefault((one.change.step, one.is_older), one.change.n)
    return tuple(
        replace(one, change=replace(one.change, step=firsts[one.change.step, one.is_older]))
        for one in ordered
    )


def swap_title(text: str, title: str) -> str:
    """Return a text with another title, if its title is one of ours."""
    first, end, rest = text.partition("\n")
    return f"{title}{end}{rest}" if first in _TITLES else text


def _without_title(text: str) -> str:
    first, _, rest = text.partition("\n")
    return rest if first in _TITLES else text


def render_facts(facts: Sequence[Memory], now: datetime) -> str:
    """Return facts as Markdown."""
    draft = Draft(markdown, markdown.EMPTY, now)
    draft.insert_all(facts, "import")
    return draft.text


def name_text(text: str) -> str:
    """Return the hash that names a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_file_entries(
    text: str, main: Sequence[FileChange], older: Sequence[FileChange], now: datetime
) -> tuple[ImageEntry, ...]:
    """Return the record of a Markdown file and of its older facts, each move once."""
    texts = _follow_back(text, main, now)
    moves = [one for one in older if one.op == MOVED and one.before]
    entries = [_read_line(one, texts.get(one.step), moves) for one in main]
    entries += [
        ImageEntry(_to_change(one), one.reversal(), is_older=True)
        for one in older
        if one.op != MOVED
    ]
    return number_steps(entries)


def read_bare_entries(history: Iterable[FileChange]) -> tuple[ImageEntry, ...]:
    """Return the record of a file without its lines, which mean nothing elsewhere."""
    return number_steps(ImageEntry(_to_change(one)) for one in history if one.op != MOVED)


def _read_line(line: FileChange, text: str | None, moves: Sequence[FileChange]) -> ImageEntry:
    left = None
    if line.op == "revive":
        back = (one.before for one in moves if one.id == line.id and one.n > line.n)
        left = next(back, None)
    return ImageEntry(
        _to_change(line),
        line.reversal(),
        None if text is None else name_text(text),
        text if line.op == "put" and not line.id else None,
        left=left,
    )


def _to_change(line: FileChange) -> Change:
    return Change(**{one.name: getattr(line, one.name) for one in fields(Change)})


def _follow_back(text: str, main: Sequence[FileChange], now: datetime) -> dict[Hashable, str]:
    """Return the text after each of the newest steps, as far as the record holds them."""
    steps: dict[Hashable, list[FileChange]] = {}
    for one in main:
        steps.setdefault(one.step, []).append(one)
    puts = [one for one in main if one.op == "put"]
    found: dict[Hashable, str] = {}
    changing = [step for step, made in steps.items() if made[0].old != made[0].new]
    for step in changing[: -MOST_TAKEN_BACK - 1 : -1]:
        made = steps[step]
        # Somebody else changed the file here, and older texts cannot be worked out any more.
        if name_text(text)[:_SHORT] != made[0].new:
            break
        found[step] = text
        others = [one for one in puts if one.step != step]
        before = TextHistory(markdown, [*made, *others], now).find_before(text, made[0])
        if before is None:
            break
        text = before
    return found


def write_file_lines(
    image: FactsImage, file: str, older_file: str
) -> tuple[list[FileChange], list[FileChange]]:
    """Return the records for the files of facts and of older facts."""
    main = [one for one in image.entries if not one.is_older]
    page = markdown.parse(image.text, image.written_at)
    raws = {one.memory.id: page.get_raw(one) for one in page.facts}
    lines = _name_texts([_write_line(one, file) for one in main], main)
    lasts = {one.id: at for at, one in enumerate(lines) if one.after}
    for key, at in lasts.items():
        lines[at] = replace(lines[at], fact=raws.get(key, ""))
    older = [_write_line(one, older_file) for one in image.entries if one.is_older]
    older += [_write_move(one, older_file) for one in main if one.left]
    older.sort(key=lambda one: one.n)
    older = _name_texts(older, [])
    return _end_with(lines, image.text, page), _end_with(
        older, image.older, markdown.parse(image.older, image.written_at)
    )


def _write_line(entry: ImageEntry, file: str) -> FileChange:
    told = {one.name: getattr(entry.change, one.name) for one in fields(Change)}
    splice = entry.reversal
    return FileChange(**told, file=file, at=splice.start, took=splice.put, put=splice.took)


def _write_move(entry: ImageEntry, file: str) -> FileChange:
    """Return the change in the older facts that lets a revived fact be undone."""
    change = entry.change
    return FileChange(
        n=change.n + 1, time=change.time, op=MOVED, id=change.id, before=entry.left, file=file
    )


def _name_texts(lines: Sequence[FileChange], entries: Sequence[ImageEntry]) -> list[FileChange]:
    """Return lines with names for the texts before and after each step, made up if unknown."""
    known = {one.change.step: one.version for one in entries if one.version}
    steps = [one.change.step for one in entries] or [one.n for one in lines]
    named, before, last = list[FileChange](), "", None
    after = ""
    for line, step in zip(lines, steps, strict=True):
        if step != last:
            before, last = after, step
            # A name that no text has, so that none is taken for the text of this step.
            after = (known.get(step) or f"{step:0{_SHORT}d}")[:_SHORT]
        named.append(replace(line, old=before, new=after))
    return named


def _end_with(lines: list[FileChange], text: str, page: Page) -> list[FileChange]:
    """Return lines whose last step leaves this text: else it would look like somebody's save."""
    if not lines:
        return lines
    last, name = lines[-1].step, name_text(text)[:_SHORT]
    return [
        replace(one, new=name, shape=page.shape()) if one.step == last else one for one in lines
    ]
