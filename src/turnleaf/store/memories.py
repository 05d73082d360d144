"""`MemoryStore`: the long-term memory in one file, JSON (002) or Markdown (003)."""

from __future__ import annotations

import secrets
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, overload

from turnleaf.core import bullets, changes, markdown
from turnleaf.core.memories import (
    Memory,
    check_capacity,
    checked_category,
    checked_content,
    checked_text,
    contains,
    unique_id,
)
from turnleaf.core.times import to_millisecond
from turnleaf.errors import Conflict, InvalidInput, NotFound, StorageError
from turnleaf.settings import Settings, default_data_dir, in_home_assistant
from turnleaf.store import files, guard
from turnleaf.store.memory_file import MemoryFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.drafts import Draft

ID_ALPHABET = "bcdfgjkmnpqrstvwxz23456789"
ID_LENGTH = 10


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def random_id() -> str:
    """Make an id that is short enough to type and never spells a word."""
    number = secrets.randbits(64)
    letters = []
    for _ in range(ID_LENGTH):
        number, place = divmod(number, len(ID_ALPHABET))
        letters.append(ID_ALPHABET[place])
    return "".join(letters)


@dataclass(frozen=True, slots=True)
class Written:
    """The version of a file that a person saved, and the number of that change, if it is one."""

    version: str
    change: int | None


class MemoryStore:
    """Facts that outlive conversations, in a file that people read and edit.

    Without a location it is 002's JSON file; a location ending in `.md` is 003's MEMORY.md.
    """

    title: str | None = None
    """The text of a new file, if it is not the format's own."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self.location = _resolved(location)
        self._given_settings = settings
        self._settings = settings or Settings()
        self._now = now
        self._new_id = new_id
        self._file = MemoryFile(self.location, self._moment, self.title)
        self._is_ready = False

    def use(self, settings: Settings) -> None:
        """Let other limits hold from now on."""
        self._given_settings = self._settings = settings

    def init(self) -> None:
        """Make the folder and the file where missing, and mend what an editor wiped."""
        self._settings = self._given_settings or Settings.load()
        self._file.create()
        self._is_ready = True

    @overload
    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        memory_id: None = None,
    ) -> Memory: ...

    @overload
    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        memory_id: str,
    ) -> Memory | None: ...

    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        memory_id: str | None = None,
    ) -> Memory | None:
        """Remember a fact; raise MemoryFull when there is no room.

        A `memory_id` chosen beforehand is added once, however often it is asked for: later it
        gives the fact as it stands, or None when it is gone since.
        """
        text = checked_content(content)
        heading = checked_category(category)

        def edit(draft: Draft) -> Memory | None:
            known = draft.memories
            if memory_id is not None and self._was_added(draft, memory_id):
                return next((memory for memory in known if memory.id == memory_id), None)
            self._check_room([*(memory.content for memory in known), text])
            now = self._moment()
            new_id = memory_id or unique_id(self._new_id(), {memory.id for memory in known})
            memory = Memory(new_id, text, now, now, heading, origin)
            draft.insert(memory, "add")
            return memory

        self._ready()
        return self._file.change(edit, origin, source)

    def check_room_for(self, content: str) -> None:
        """Raise MemoryFull when even an empty memory has no room for a fact.

        It only counts, so whoever has to read a text before it is added asks this first.
        """
        check_capacity([content], 1, self._settings.memory_max_chars)

    def get_all(self) -> list[Memory]:
        """Give every fact, in the file's order."""
        self._look()
        return self._file.date([fact.memory for fact in self._file.page().facts])

    def get(self, memory_id: str) -> Memory | None:
        """Give the fact of that id."""
        return next((memory for memory in self.get_all() if memory.id == memory_id), None)

    def search(self, keyword: str) -> list[Memory]:
        """Give the facts that hold a keyword, whatever the case."""
        wanted = checked_text(keyword, "a keyword")
        return [memory for memory in self.get_all() if contains(memory, wanted)]

    def known_ids(self) -> set[str]:
        """Name every fact that there is or ever was."""
        here = {memory.id for memory in self.get_all()}
        return here.union(*(change.ids() for change in self._file.journal.read()))

    def update(
        self,
        memory_id: str,
        content: str,
        *,
        expected: str | None = None,
        origin: str = "user",
        source: Source | None = None,
    ) -> Memory | None:
        """Let a fact say something else; None when there is none of that id.

        With `expected`, only if it still says that; raise Conflict otherwise.
        """
        text = checked_content(content)

        def edit(draft: Draft) -> Memory | None:
            fact = draft.find(memory_id)
            if fact is None:
                return None
            before: Memory = fact.memory
            if expected is not None and before.content != expected:
                message = f"the memory {memory_id} was changed meanwhile; look at it and try again"
                raise Conflict(message)
            if len(text) > len(before.content):
                others = [one.content for one in draft.memories if one.id != memory_id]
                self._check_room([*others, text], growing=False)
            created = self._file.date([before])[0].created_at
            after = replace(
                before, content=text, created_at=created, updated_at=self._later(before)
            )
            draft.replace(after, "update")
            return after

        self._ready()
        return self._file.change(edit, origin, source)

    def delete(self, memory_id: str, *, origin: str = "user", source: Source | None = None) -> bool:
        """Forget a fact; False when there is none of that id."""

        def edit(draft: Draft) -> bool:
            if draft.find(memory_id) is None:
                return False
            draft.remove(memory_id, "delete")
            return True

        self._ready()
        return self._file.change(edit, origin, source)

    def write(self, text: str, *, expected: str | None = None, origin: str = "user") -> Written:
        """Let a person's text be the whole file, to the byte, whatever the limits say.

        What it lacks stays away, and `undo` gives back what it replaced. With `expected`, only
        if the file is still of that version; raise Conflict otherwise.
        """
        whole = checked_text(text, "the memory")
        self._ready()
        change = self._file.put(whole, expected, origin)
        return Written(files.version(whole.encode()), change)

    def undo(self, number: int | None = None, *, skip: bool = False) -> list[Change]:
        """Take back the newest change that was not taken back yet, and give it.

        An import is one change of many facts; where there is nothing to undo there is none.
        What somebody changed since cannot be undone: raise Conflict, or with `skip` leave it
        as it is and go on to the change before. With a `number` it is that change or none:
        raise NotFound when it is not there to be taken back.
        """

        def edit(draft: Draft) -> list[Change]:
            history = self._file.journal.read()
            if number is not None:
                return _taken_back(draft, _numbered(number, history), history, skip=skip)
            left = history
            while found := changes.undoable(left):
                undone = _taken_back(draft, found, history, skip=skip)
                if undone:
                    return undone
                skipped = {change.n for change in found}
                left = [change for change in left if change.n not in skipped]
            return []

        self._ready()
        return self._file.change(edit, "user")

    def record_state(self) -> str:
        """Return what is another when the record of changes is; empty when there is none."""
        return self._file.journal.state()

    def changes(self, memory_id: str | None = None) -> list[Change]:
        """Give the record of changes, oldest first; of one fact or of all."""
        self._look()
        history = self._file.journal.read()
        return [change for change in history if memory_id is None or change.concerns(memory_id)]

    def import_memories(self, incoming: Sequence[Memory]) -> int:
        """Take over facts with their ids and times, all or none; give how many were new."""

        def edit(draft: Draft) -> int:
            new = _unknown(incoming, draft.memories)
            self._check_room([memory.content for memory in [*draft.memories, *new]])
            draft.insert_all(new, "import")
            return len(new)

        self._ready()
        return self._file.change(edit, "import")

    def erase(self, source: str, *, elsewhere: Sequence[Change] = ()) -> list[Memory]:
        """Erase all that came from a conversation, a tool or a document; give the facts so far.

        Where it had replaced another text, that one stands again; what a person edited since
        stays. Nothing can be undone of it. `elsewhere` is what another file records of the facts.
        """
        self._ready()
        return self._file.erase(source, elsewhere)

    def reconcile(self) -> list[Memory]:
        """Bring back facts that somebody else's save wiped without having seen them."""
        self._ready()
        return self._file.mend()

    def needs_mending(self) -> bool:
        """Tell whether somebody else saved the file since our last look, and left it quiet."""
        return self._file.needs_mending()

    def text(self) -> str:
        """Give the file as it is."""
        self._look()
        return self._file.text()

    def version(self) -> str:
        """Name the file's content as it is now: the same name, the same bytes."""
        if not self.location.exists():
            self._ready()
        return files.version(self._file.data())

    def snapshot(self) -> tuple[str, str]:
        """Give the file as it is, and the version of just that text."""
        text = self.text()
        return text, files.version(text.encode())

    def prompt_text(self) -> str:
        """Return the memory as a person reads it: Markdown, without our comments."""
        if self._file.format is markdown:
            return markdown.without_comments(self.text())
        return "".join(
            f"{line}\n" for one in self.get_all() for line in bullets.encode(one.content)
        )

    def _ready(self) -> None:
        if not self._is_ready:
            self.init()
        guard.watch(self)

    def _look(self) -> None:
        """Be ready for reading, which needs no right to write."""
        if not self.location.exists():
            self._ready()
        with suppress(StorageError):
            if self._file.needs_mending():
                self._file.mend()

    def _moment(self) -> datetime:
        """Read the clock to the millisecond, as files keep it."""
        return to_millisecond(self._now())

    def _later(self, memory: Memory) -> datetime:
        """Give a time after the fact's last change, whatever the clock says.

        It is how a text tells whether its writer had seen an update.
        """
        return max(self._moment(), memory.updated_at + changes.TICK)

    def _was_added(self, draft: Draft, memory_id: str) -> bool:
        history = self._file.journal.read()
        is_recorded = any(change.concerns(memory_id) for change in history)
        return is_recorded or draft.find(memory_id) is not None

    def _check_room(self, contents: Sequence[str], *, growing: bool = True) -> None:
        items = self._settings.memory_max_items if growing else len(contents)
        check_capacity(contents, items, self._settings.memory_max_chars)


def default_location() -> Path:
    """Give 002's path by environment."""
    folder = default_data_dir()
    if in_home_assistant():
        return folder / "memories" / "memories.json"
    return folder / "memories.json"


def _resolved(location: str | Path | None) -> Path:
    if isinstance(location, str) and "://" in location:
        message = f"{location!r} is not a place for memories; pass a path ending in .json or .md"
        raise InvalidInput(message)
    return files.real(default_location() if location is None else location)


def _numbered(number: int, history: Sequence[Change]) -> list[Change]:
    change = next((one for one in history if one.n == number), None)
    if change is None or not changes.is_undoable(change, history):
        message = f"there is no change {number} to take back; it may have been taken back already"
        raise NotFound(message)
    return changes.made_with(change, history)


def _taken_back(
    draft: Draft, found: Sequence[Change], history: Sequence[Change], *, skip: bool
) -> list[Change]:
    version = files.version(draft.text.encode())
    is_whole = found[0].op == "put"
    undone: list[Change] = []
    for part in [found] if is_whole else [[change] for change in found]:
        steps = len(draft.steps)
        with suppress(Conflict) if skip else nullcontext():
            if is_whole:
                draft.undo_put(part, version, history)
            else:
                draft.undo(part[0], is_newest=version == part[0].new)
        if len(draft.steps) > steps:
            undone += part
    return undone


def _unknown(incoming: Sequence[Memory], present: Sequence[Memory]) -> list[Memory]:
    """Leave out what is there already; give another id to another fact of a taken id."""
    contents = {(memory.content, memory.category) for memory in present}
    ids = {memory.id for memory in present}
    same = {(memory.id, memory.content) for memory in present}
    new = []
    for memory in incoming:
        fact = replace(
            memory,
            id=unique_id(memory.id, ids),
            content=checked_content(memory.content),
            category=checked_category(memory.category),
        )
        is_there = (memory.id, memory.content) in same
        if not is_there and (fact.content, fact.category) not in contents:
            contents.add((fact.content, fact.category))
            ids.add(fact.id)
            new.append(fact)
    return new
