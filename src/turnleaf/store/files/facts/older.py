"""OLDER.md: the facts that left the memory file, kept beside it and carried by no prompt.

A fact that leaves is put here first and only then taken from the memory file; one that comes back
goes the other way round. So a kill in between leaves it in both, never in neither, and while it
stands in the memory file it is not an older one. The next look takes the copy away.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from turnleaf.core.changes import TICK
from turnleaf.errors import StorageError
from turnleaf.store.files.facts.memory_file import MemoryFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.file_changes import FileChange
    from turnleaf.core.memories import Memory
    from turnleaf.core.page_drafts import Draft
    from turnleaf.store.files.facts.memory_file import HeldMemoryFile

NAMES = {".md": "OLDER.md", ".json": "older.json"}
TITLES = {".md": "# Older facts\n"}
MOVED = "move"


def find_older_path(memory_file: Path) -> Path:
    """Return where the facts are that left a memory file."""
    return memory_file.with_name(NAMES.get(memory_file.suffix, NAMES[".md"]))


class OlderFacts:
    """The file of older facts beside one memory file, made when the first fact leaves.

    Whoever changes it holds the memory file.
    """

    def __init__(self, memory: MemoryFile, now: Callable[[], datetime]) -> None:
        self.path = find_older_path(memory.path)
        self._memory = memory
        self._file = MemoryFile(self.path, now, TITLES.get(self.path.suffix), beside=memory.path)

    def history(self) -> list[FileChange]:
        """Return the record of this file."""
        return self._file.journal.read() if self.path.exists() else []

    def get_all(self) -> list[Memory]:
        """Return the facts that stand in the file, in its order."""
        if not self.path.exists():
            return []
        return self._file.memories()

    def text(self) -> str:
        """Return the file as it is; empty where there is none."""
        return self._file.text() if self.path.exists() else ""

    def keep(
        self,
        memories: Sequence[Memory],
        held: HeldMemoryFile,
        origin: str | None = None,
        source: Source | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        """Take in facts that are about to leave the memory file, each once.

        With `is_new` they come from elsewhere, and keep their times.
        """
        if not memories:
            return

        def edit(draft: Draft) -> None:
            states = [one for change in self._file.journal.read() for one in change.states()]
            stood = {one.id for one in states} if is_new else set()
            for memory in memories:
                is_unknown = is_new and memory.id not in stood
                fact = memory if is_unknown else _set_apart(memory, states)
                known = draft.find(memory.id)
                if known is None:
                    draft.insert(fact, MOVED)
                # Apart from the time, which `_set_apart` has changed: a move that is made again
                # changes nothing.
                elif known.memory != replace(memory, updated_at=known.memory.updated_at):
                    draft.replace(fact, MOVED)

        with self._file.hold_beside(held) as beside:
            beside.change(edit, origin, source)

    def remove(
        self,
        ids: Collection[str],
        held: HeldMemoryFile,
        op: str = MOVED,
        origin: str | None = None,
        source: Source | None = None,
    ) -> list[Memory]:
        """Take facts out of the file; return those that were there."""
        # Holding the file would make it where it is missing.
        if not any(memory.id in ids for memory in self.get_all()):
            return []

        def edit(draft: Draft) -> list[Memory]:
            found = [memory for memory in draft.memories if memory.id in ids]
            for memory in found:
                draft.remove(memory.id, op)
            return found

        with self._file.hold_beside(held) as beside:
            return beside.change(edit, origin, source)

    def change(self, edit: Callable[[Draft], list[Change]], held: HeldMemoryFile) -> list[Change]:
        """Change the text by `edit`."""
        with self._file.hold_beside(held) as beside:
            return beside.change(edit, "user")

    def erase(
        self, name: str, held: HeldMemoryFile, elsewhere: Sequence[Change] = ()
    ) -> list[Memory]:
        """Take out all that a source brought, as the memory's own record tells."""
        if not self.path.exists():
            return []
        with self._file.hold_beside(held) as beside:
            return beside.erase(name, self._memory.journal.read(), elsewhere)

    def find_revived(self, numbers: Collection[int]) -> list[Memory]:
        """Return the facts that came back with these changes, as they stood here before."""
        revived = [one for one in self._memory.journal.read() if one.n in numbers]
        return list(filter(None, map(self._find_before, (r for r in revived if r.op == "revive"))))

    def needs_mending(self) -> bool:
        """Whether somebody else saved the file since our last look, and left it quiet."""
        return self.path.exists() and self._file.needs_mending()

    def mend(self, held: HeldMemoryFile) -> None:
        """Mend what somebody else's save wiped, and finish the moves that a kill cut off."""
        if not self.path.exists():
            return
        # Readers come here as well, and may have no right to write.
        with suppress(StorageError):
            with self._file.hold_beside(held) as beside:
                beside.change(lambda _: None)
            # A kill between the two files of a move leaves a copy; only ours is taken away.
            self.remove(self._find_unfinished(), held)

    def _find_unfinished(self) -> set[str]:
        """Find facts that we put here and that, by our record, still stand in the memory file.

        A copy that a person made or brought back is theirs to remove.
        """
        older = {memory.id for memory in self.get_all()}
        both = [fact.memory.id for fact in self._memory.page().facts if fact.memory.id in older]
        if not both:
            return set()
        # Judged by the record: whoever moves a line by hand saves one of the two files first.
        here, there = (_find_last(self.history()), _find_last(self._memory.journal.read()))
        return {
            one
            for one in both
            if one in here
            and here[one].op == MOVED
            and here[one].after is not None
            # By the record the fact never left the memory file, so the move to here was cut off.
            and (one not in there or there[one].after is not None)
        }

    def _find_before(self, revived: FileChange) -> Memory | None:
        moves = (one for one in self.history() if one.op == MOVED and one.n > revived.n)
        return next((one.before for one in moves if one.id == revived.id and one.before), None)


def _set_apart(memory: Memory, states: Iterable[Memory]) -> Memory:
    """Return a fact with a time at which it never stood in either file.

    By that it is told from itself in an older buffer, and when it is copied back by hand.
    """
    times = [one.updated_at for one in states if one.id == memory.id]
    return replace(memory, updated_at=max([memory.updated_at, *times]) + TICK)


def _find_last(history: Iterable[FileChange]) -> dict[str, FileChange]:
    return {fact: change for change in history for fact in change.ids()}
