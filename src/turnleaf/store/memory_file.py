"""A memory file and its record of changes, changed together and mended after others' saves."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from turnleaf.core import changes, jsonfacts, markdown
from turnleaf.core.changes import Change, Repair
from turnleaf.core.drafts import Draft, recorded
from turnleaf.errors import CorruptFile, InvalidInput, StorageError
from turnleaf.store import files
from turnleaf.store.journal import HeldJournal, Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.changes import Source
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format, Page

QUIET_SECONDS = 1.0
SETTLE_SECONDS = 0.02
SETTLE_TRIES = 50


class MemoryFile:
    """One file of facts, with changes.jsonl beside it."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self.path = path
        self.format = _format(path)
        self.journal = Journal(path)
        self._now = now

    def create(self) -> None:
        """Make the file where it is missing, and mend it where it is not."""
        files.make_folder(self.path.parent)
        with files.locked(self.path) as file, self.journal.held() as journal:
            if file.read() is None:
                file.replace(self.format.EMPTY.encode())
            self._open(file, journal)

    @contextmanager
    def changing(self, origin: str | None, source: Source | None = None) -> Iterator[Draft]:
        """Give the file's text to be changed; what was changed is then on record and on disk."""
        with files.locked(self.path) as file, self.journal.held() as journal:
            draft = self._open(file, journal)
            yield draft
            if draft.steps:
                self._commit(file, journal, draft, origin, source)

    def page(self) -> Page:
        """Read the file as it is."""
        try:
            return self.format.parse(self.text(), files.modified(self.path))
        except CorruptFile:
            self.mend()
            return self.format.parse(self.text(), files.modified(self.path))

    def text(self) -> str:
        """Read the file's text."""
        data = files.read(self.path)
        if data is None:
            raise files.gone(self.path)
        return _decoded(data)

    def mend(self) -> list[Memory]:
        """Bring back what somebody else's save wiped unseen; give the facts brought back."""
        known = self.journal.last()
        with files.locked(self.path) as file, self.journal.held() as journal:
            self._open(file, journal)
            newer = [change for change in self.journal.read() if not known or change.n > known.n]
        return [change.after for change in newer if change.op == "restore" and change.after]

    def needs_mending(self) -> bool:
        """Tell whether somebody else saved the file since our last look, and left it quiet."""
        data = files.read(self.path)
        last = self.journal.last()
        if data is None or last is None:
            return False
        age = time.time() - files.modified(self.path).timestamp()
        is_known = files.version(data) == last.new and self._late_save(last) is None
        return not is_known and not 0 <= age < QUIET_SECONDS

    def _open(self, file: files.Held, journal: HeldJournal) -> Draft:
        """Read the file, having mended whatever somebody else's save calls for."""
        data = file.read()
        if data is None:
            raise files.gone(self.path)
        last = self.journal.last()
        is_ours = last is None or files.version(data) == last.new
        try:
            if is_ours and (last is None or self._late_save(last) is None):
                return self._draft(_decoded(data), last)
            assert last is not None  # noqa: S101 - without a record every file is as it should
            return self._judged(file, journal, self._chosen(file, last))
        except CorruptFile as problem:
            return self._rescued(file, journal, problem)

    def _draft(self, text: str, last: Change | None = None) -> Draft:
        shape = last.shape if last else None
        return Draft(self.format, text, files.modified(self.path), shape)

    def _late_save(self, last: Change) -> bytes | None:
        """Give what somebody wrote into the file that our last change replaced."""
        before = files.previous(self.path)
        if before is None or files.version(before) in {last.old, last.new}:
            return None
        return before

    def _chosen(self, file: files.Held, last: Change) -> bytes:
        """Choose the text that somebody else saved last, and lose none."""
        data = _settled(file.read)
        late = _settled(lambda: self._late_save(last)) if self._late_save(last) else None
        if late is None:
            return data
        if files.version(data) == last.new:
            return late
        copy = file.keep_copy(late, "conflict")
        files.log.warning("%s was saved twice at once; one version is %s", self.path, copy)
        return data

    def _judged(self, file: files.Held, journal: HeldJournal, data: bytes) -> Draft:
        draft = self._draft(_decoded(data))
        found = {memory.id: memory for memory in draft.memories}
        history = self.journal.read()
        repair = changes.repair(found, draft.page, files.version(data), history)
        return self._repaired(file, journal, draft, repair)

    def _rescued(self, file: files.Held, journal: HeldJournal, problem: CorruptFile) -> Draft:
        """Keep a damaged file under another name and start anew with what is on record."""
        file.move_aside(str(problem))
        draft = self._draft(self.format.EMPTY)
        return self._repaired(file, journal, draft, changes.lost(self.journal.read()))

    def _repaired(
        self, file: files.Held, journal: HeldJournal, draft: Draft, repair: Repair
    ) -> Draft:
        draft.mend(repair)
        self._commit(file, journal, draft, None, removed=repair.removed)
        return self._draft(draft.text, self.journal.last())

    def _commit(
        self,
        file: files.Held,
        journal: HeldJournal,
        draft: Draft,
        origin: str | None,
        source: Source | None = None,
        removed: tuple[Memory, ...] = (),
    ) -> None:
        """Record the changes, then make them; what cannot be made is not on record either."""
        data = draft.text.encode()
        old, new = files.version(file.read()), files.version(data)
        last = self.journal.last()
        template = Change(
            n=(last.n if last else 0) + 1,
            time=self._now(),
            op="seen",
            file=self.path.name,
            origin=origin,
            source=source,
            removed=removed,
            old=old,
            new=new,
            shape=draft.shape,
        )
        size = journal.append(recorded(template, draft.steps))
        try:
            if new == old:
                files.drop_previous(self.path)
            else:
                file.swap(data)
        except StorageError:
            journal.cut_back(size)
            raise


def _format(path: Path) -> Format:
    formats: dict[str, Format] = {".json": jsonfacts, ".md": markdown}
    if path.suffix not in formats:
        known = " or ".join(formats)
        message = f"{path.name!r} does not say how to keep memories; use a name ending in {known}"
        raise InvalidInput(message)
    return formats[path.suffix]


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"it is not UTF-8 text: {error}"
        raise CorruptFile(message) from error


def _settled(read: Callable[[], bytes | None]) -> bytes:
    """Read until two reads agree: an editor may be in the middle of its save."""
    data = read()
    for _ in range(SETTLE_TRIES):
        time.sleep(SETTLE_SECONDS)
        again = read()
        if again == data and data is not None:
            break
        data = again
    return data or b""
