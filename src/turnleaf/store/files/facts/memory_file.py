"""A memory file and its record of changes, changed together and mended after others' saves."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from turnleaf.core import erasing, file_changes, json_facts, markdown
from turnleaf.core.file_changes import FileChange, Repair, TextHistory
from turnleaf.core.memories import make_content_id
from turnleaf.core.page_drafts import Draft
from turnleaf.core.serialization import from_iso, to_iso, to_millisecond
from turnleaf.errors import Conflict, CorruptFile, InvalidInput, StorageError, TurnleafError
from turnleaf.store.files import atomic
from turnleaf.store.files.facts.journal import HeldJournal, Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.erasing import Erasure
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format, Page

T = TypeVar("T")

# Bounded: a program that saves the file without a pause ends in an error and not in a hang.
CHANGE_TRIES = 100
# An editor may save in several steps, so a save is judged once it has been quiet for so long.
QUIET_SECONDS = 1.0
SETTLE_SECONDS = 0.02
# A file that is still changing is waited for up to a second, an empty one up to two: an editor
# that saves in place empties the file first, which looks like the deletion of everything.
SETTLE_TRIES = 50
EMPTY_TRIES = 100


@dataclass(frozen=True, slots=True)
class _OpenText:
    """A file's text to be changed, and what the file itself holds: nothing else is replaced."""

    draft: Draft
    on_disk: bytes
    marks: atomic.Marks | None = None
    """The file's marks if it was at rest: whoever saves it from then on leaves others."""
    late: bytes | None = None
    is_unrecorded: bool = False
    removed: tuple[Memory, ...] = ()
    erased: frozenset[str] = frozenset()


class _Content:
    """The bytes of a file, and what is made of them, once and when it is asked for."""

    def __init__(self, data: bytes, page: Page | None = None) -> None:
        self.data = data
        self._parsed: tuple[datetime | None, Page] | None = (None, page) if page else None

    @cached_property
    def version(self) -> str:
        """The name of the content."""
        return atomic.name_version(self.data)

    @cached_property
    def text(self) -> str:
        """The bytes, decoded."""
        return _decode(self.data)

    @property
    def parsed(self) -> Page | None:
        """The page, if the text was parsed already."""
        return self._parsed[1] if self._parsed else None

    def page(self, kind: Format, saved_at: datetime) -> Page:
        """Return the text, parsed, with the time at which the file was saved."""
        known = self._parsed
        if known and known[0] == saved_at:
            return known[1]
        page = known[1].with_time(saved_at) if known else kind.parse(self.text, saved_at)
        self._parsed = saved_at, page
        return page


@dataclass(frozen=True, slots=True)
class Look:
    """What a file held when it was looked at, and its marks if it was at rest."""

    content: _Content
    marks: atomic.Marks | None


class MemoryFile:
    """One file of facts, with changes.jsonl beside it."""

    def __init__(
        self,
        path: Path,
        now: Callable[[], datetime],
        title: str | None = None,
        beside: Path | None = None,
    ) -> None:
        self.path = path
        self.format = _find_format(path)
        self.journal = Journal(path, beside)
        self._first_seen = FirstSeen(path)
        self._now = now
        self._empty = title or self.format.EMPTY
        self._contents: tuple[_Content, ...] = ()
        self._last_look: Look | None = None
        self._known_marks: tuple[atomic.Marks | None, ...] | None = None
        self._written: atomic.Stamp | None = None
        self._replaced: atomic.Marks | None = None

    def create(self) -> None:
        """Make the file where it is missing, and mend it where it is not."""
        atomic.make_folder(self.path.parent)
        with atomic.lock(self.path) as file:
            if _read(file.path) is None:
                file.replace(self._empty.encode())
        self.mend()

    @contextmanager
    def hold(self) -> Iterator[HeldMemoryFile]:
        """Lock the file and the record, for several changes that belong together."""
        # Always the page before its record, or two programs could wait for each other.
        with atomic.lock(self.path) as file, self.journal.hold() as journal:
            yield HeldMemoryFile(self, file, journal)

    @contextmanager
    def hold_beside(self, other: HeldMemoryFile) -> Iterator[HeldMemoryFile]:
        """Lock the file for whoever holds the one that it belongs to, having made it if missing."""
        with atomic.lock(self.path) as file:
            if _read(file.path) is None:
                file.replace(self._empty.encode())
            # One record for both files, whose lock the holder of the other file has already.
            yield HeldMemoryFile(self, file, other.journal.of(self.journal))

    def put(self, text: str, expected: str | None, origin: str) -> int | None:
        """Replace the file by a person's text; return the number of that change, if it is one.

        With `expected`, only if that is the version that it replaces; raise Conflict otherwise.
        What somebody else's save called for is made first, so nobody replaces it unseen.
        """
        self._check(text)

        def edit(draft: Draft) -> bool:
            if expected is not None and atomic.name_version(draft.text.encode()) != expected:
                message = (
                    f"{self.path.name} was changed since it was read, so nothing was "
                    "written; read it again, then save"
                )
                raise Conflict(message)
            # No limit is checked: what a person writes into their own page is never refused.
            return draft.put(text, self._now())

        with self.hold() as held:
            if not held.change(edit, origin):
                return None
            # A put is on record once for each fact and once for the whole text, which has no id.
            wholes = (one.n for one in self.journal.read() if one.op == "put" and not one.id)
            return max(wholes)

    def _check(self, text: str) -> None:
        try:
            # Before it is written: a file that cannot be
            # parsed would be set aside by the next reader.
            self.format.parse(text, self._now())
        except CorruptFile as problem:
            message = f"this cannot be saved as {self.path.name}: {problem}; correct it"
            raise InvalidInput(message) from problem

    def _make_erasure(self, last: FileChange) -> FileChange:
        return FileChange(
            n=self.journal.find_next_number(),
            time=self._now(),
            op="erase",
            file=self.path.name,
            old=last.new,
            new=last.new,
            shape=last.shape,
        )

    def erase_held(
        self,
        file: atomic.Held,
        journal: HeldJournal,
        source: str,
        beside: Sequence[FileChange],
        elsewhere: Sequence[Change],
    ) -> list[Memory]:
        """Do what `HeldMemoryFile.erase` says."""

        def edit(draft: Draft) -> tuple[Erasure, list[Memory], Draft]:
            acts = sorted([*beside, *self.journal.read()], key=lambda change: change.n)
            # Within the edit, which is called again when an editor saves in between.
            found = erasing.find_erasure(source, acts, elsewhere)
            return found, erasing.take_out(draft, found, self._now()), draft

        found, gone, draft = self.change_held(file, journal, edit)
        # The replaced page is kept for the sake of editors, and still holds what is being erased.
        atomic.drop_previous(self.path)
        history = self.journal.read()
        if erasing.concerns(history, found):
            now = self._make_erasure(history[-1])
            lines = file_changes.rewrite_without(history, found, draft.page, now)
            # Last of all: until here a kill leaves a record from which the erasure can be finished.
            journal.rewrite(lines, lambda text: not found.mentions(text))
        return gone

    def change_held(
        self,
        file: atomic.Held,
        journal: HeldJournal,
        edit: Callable[[Draft], T],
        origin: str | None = None,
        source: Source | None = None,
    ) -> T:
        """Change the text by `edit`, for the holder of both locks."""
        # An editor takes no lock of ours, so a save may come between our reading and our swap.
        for _ in range(CHANGE_TRIES):
            with suppress(atomic.ChangedMeanwhile):
                opened = self._open(file, journal)
                if opened.draft.page.tally.typed:
                    # Our change gives the page another time than what was typed was saved at.
                    self.date(opened.draft.memories)
                try:
                    result = edit(opened.draft)
                # The edit is refused; what somebody else's save calls for is still done.
                except TurnleafError:
                    self._finish(file, journal, self._open(file, journal))
                    raise
                self._finish(file, journal, opened, origin, source)
                break
        else:
            message = f"another program keeps saving {self.path}; try again later"
            raise Conflict(message)
        # Two saves can be joined line by line only while the text that both began from is known.
        late = self._look_again(file, journal, opened.on_disk)
        # An older copy brought words of an erased source
        # back, and the replaced file still has them.
        if opened.erased or (late and late.erased):
            atomic.drop_previous(self.path)
        return result

    def _look_again(
        self, file: atomic.Held, journal: HeldJournal, replaced: bytes
    ) -> _OpenText | None:
        """Take in what somebody saved in the very instant of our change, while we know why.

        Our own change is made: what goes wrong here is left to the next look.
        """
        with suppress(StorageError):
            last = self.journal.read_last()
            if last is None or (self._read_late_save(last) is None and self._is_made(last)):
                return None
            for _ in range(CHANGE_TRIES):
                with suppress(atomic.ChangedMeanwhile):
                    opened = self._open(file, journal, replaced)
                    self._finish(file, journal, opened)
                    return opened
        return None

    def _is_made(self, change: FileChange) -> bool:
        """Whether the file is as a change left it."""
        # Our own rename changed the time of the inode, so that one is not compared.
        if self._written and atomic.read_stamp(self.path) == self._written:
            return True
        return self._find_version(_read(self.path)) == change.new

    def memories(self, look: Look | None = None) -> list[Memory]:
        """Return the facts of the page, dated."""
        return self.read(look)[0]

    def read(self, look: Look | None = None) -> tuple[list[Memory], str]:
        """Return the facts of the page, dated, and the text that they stand in."""
        content, page = self._read_page(look)
        found = [fact.memory for fact in page.facts]
        return self.date(found) if page.tally.typed else found, content.text

    def date(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return facts of the page, what was typed by hand with the time it was first seen at."""
        return self._first_seen.date(memories, atomic.read_mtime(self.path))

    def page(self) -> Page:
        """Read the file as it is."""
        return self._read_page()[1]

    def _read_page(self, look: Look | None = None) -> tuple[_Content, Page]:
        """Read the file, mended if it is damaged.

        `look` is that of whoever asks, so that one call of a store looks once.
        """
        content = (look or self.look()).content
        try:
            return content, self._parse(content)
        except CorruptFile:
            self.mend()
            content = self.look().content
            return content, self._parse(content)

    def find_page(self, data: bytes) -> Page | None:
        """Return the page of a content, if it is one of the two that were seen last."""
        return next((known.parsed for known in self._contents if known.data == data), None)

    def text(self, look: Look | None = None) -> str:
        """Read the file's text."""
        return (look or self.look()).content.text

    def version(self) -> str:
        """Name the file's content."""
        return self.look().content.version

    def _parse(self, content: _Content) -> Page:
        return content.page(self.format, atomic.read_mtime(self.path))

    def _find_content(self, data: bytes) -> _Content:
        """Return what is known of a content, if it is one of the two that were seen last."""
        for known in self._contents:
            # Comparing the bytes costs a tenth of hashing them.
            if known.data == data:
                return known
        content = _Content(data)
        # Two are enough: what was read last, and what our last change made of it.
        self._contents = (content, *self._contents[:1])
        return content

    def _find_version(self, data: bytes | None) -> str:
        return "" if data is None else self._find_content(data).version

    def look(self) -> Look:
        """Read the file, unless it is still the one that was read last; it is opened once."""
        known = self._last_look
        data, marks = atomic.read_settled(
            self.path, atomic.MAX_PAGE_BYTES, known.marks if known else None
        )
        if known and data is None and marks:
            return known
        if data is None:
            raise atomic.make_vanished_error(self.path)
        look = Look(self._find_content(data), marks)
        # Without marks the file may change again within the same tick, and look the same.
        self._last_look = look if marks else None
        return look

    def mend(self) -> list[Memory]:
        """Bring back what somebody else's save wiped unseen; return the facts brought back."""
        known = self.journal.read_last()
        with self.hold() as held:
            # Whoever opens the file for a change mends it; nothing else is to be changed.
            held.change(lambda _: None)
        newer = [change for change in self.journal.read() if not known or change.n > known.n]
        return [change.after for change in newer if change.op == "restore" and change.after]

    def needs_mending(self, look: Look | None = None) -> bool:
        """Whether somebody else saved the file since our last look, and left it quiet."""
        age = time.time() - atomic.read_mtime(self.path).timestamp()
        # A time in the future is no reason to wait: the clock, or a copied file, may be wrong.
        if 0 <= age < QUIET_SECONDS or not self.path.exists():
            return False
        return not self._is_known(look or self.look())

    def _is_known(self, look: Look) -> bool:
        """Whether the file is as our last change left it."""
        # An editor may write into the file that was replaced, and another program into the record.
        beside = [
            atomic.read_marks(one) for one in (atomic.find_previous(self.path), self.journal.path)
        ]
        marks = look.marks, *beside
        is_at_rest = look.marks is not None and all(map(_is_at_rest, beside))
        if marks == self._known_marks:
            return True
        last = self.journal.read_last()
        if last is None:
            return True
        # Marks of a file that is not at rest are not kept:
        # a save in the same tick would look the same.
        is_known = look.content.version == last.new and self._read_late_save(last) is None
        self._known_marks = marks if is_known and is_at_rest else None
        return is_known

    def _open(
        self, file: atomic.Held, journal: HeldJournal, replaced: bytes | None = None
    ) -> _OpenText:
        """Read the file, and mend in the draft whatever somebody else's save calls for.

        `replaced` is what our last change replaced, while that is still known.
        """
        data, resting = atomic.read_marked(file.path, atomic.MAX_PAGE_BYTES)
        if data is None:
            raise atomic.make_vanished_error(self.path)
        last = self._find_last_made(journal, data)
        try:
            if last and self._read_late_save(last) is not None:
                return self._with_late_save(file, last, replaced)
            if last and self._find_version(data) != last.new:
                # An editor may be half-way: an emptied file would look like a deletion.
                return self._with_save(journal, _read_settled(self.path))
            return _OpenText(self._draft(data, last), data, resting)
        except CorruptFile as problem:
            # The record restores our facts only; the page may hold a person's prose.
            file.move_aside(str(problem))
            draft = self._draft(self._empty.encode())
            file_changes.mend(draft, file_changes.restore_everything(self.journal.read()))
            return _OpenText(draft, _read(file.path) or b"", is_unrecorded=True)

    def _find_last_made(self, journal: HeldJournal, data: bytes) -> FileChange | None:
        """Return the newest change, having struck out one that a kill kept from being made."""
        last = self.journal.read_last()
        # The file is as it was before the newest change on record: either a kill came between
        # record and file, or somebody put the older text back.
        if last is None or last.old == last.new or self._find_version(data) != last.old:
            return last
        before = _read(atomic.find_previous(self.path))
        # The change was made, and a person has put the older text back since; that is a save.
        if self._find_version(before) == last.old:
            return last
        with suppress(CorruptFile):
            new = self.texts(self.journal.read()).find_after(_decode(data), last)
            # While the record tells it: later our own text would look like an editor's save.
            if before and _is_beginning(before, new, last.new):
                atomic.drop_previous(self.path)
        return self.journal.read_last() if journal.strike_out(last) else last

    def _with_save(self, journal: HeldJournal, data: bytes) -> _OpenText:
        """Take in what somebody else saved.

        What the person took away is recorded at once: a later save may no longer tell.
        """
        draft, repair = self._judge(data)
        if repair.removed:
            journal.append([self._change("", "", draft, removed=repair.removed)])
        file_changes.mend(draft, repair)
        return _OpenText(draft, data, is_unrecorded=True, erased=repair.erased)

    def _with_late_save(
        self, file: atomic.Held, last: FileChange, replaced: bytes | None
    ) -> _OpenText:
        """Take in what somebody saved while we replaced the file, and lose neither."""
        data, late = _read_settled(self.path), _read_settled(atomic.find_previous(self.path))
        draft, repair = self._judge(late)
        removed = repair.removed
        if self._find_version(data) != last.new:
            text = self._join(file, data, late, replaced)
            draft, repair = self._judge(text.encode())
            # What one of the two saves deleted on purpose must not come back with the other.
            for memory in removed if replaced else ():
                if draft.find(memory.id) is not None:
                    draft.remove(memory.id, "restore")
            removed = repair.removed
        file_changes.mend(draft, repair)
        return _OpenText(
            draft, data, late=late, is_unrecorded=True, removed=removed, erased=repair.erased
        )

    def _join(self, file: atomic.Held, data: bytes, late: bytes, replaced: bytes | None) -> str:
        """Join two saves that were made at once; where that cannot be, keep a copy of one."""
        if replaced is not None and self.format is markdown:
            base, edited, onto = map(_decode, (replaced, late, data))
            return markdown.join_edits(base, edited, onto, atomic.read_mtime(self.path))
        # Without a common beginning any merge would guess, so a person is left to choose.
        copy = file.keep_copy(late, "conflict")
        atomic.log.warning(
            "%s was saved twice at the same time; one version is kept as %s", self.path, copy
        )
        return _decode(data)

    def _draft(self, data: bytes, last: FileChange | None = None) -> Draft:
        shape = last.shape if last else None
        content, saved_at = self._find_content(data), atomic.read_mtime(self.path)
        page = content.page(self.format, saved_at)
        return Draft(self.format, content.text, saved_at, shape, page)

    def texts(self, history: Sequence[FileChange]) -> TextHistory:
        """Return what the record tells of the texts that the file had."""
        return TextHistory(self.format, history, atomic.read_mtime(self.path))

    def _read_late_save(self, last: FileChange) -> bytes | None:
        """Return what somebody wrote into the file that our last change replaced."""
        previous = atomic.find_previous(self.path)
        if self._replaced and atomic.read_marks(previous) == self._replaced:
            return None
        before = _read(previous)
        version = self._find_version(before)
        if before is None or version in {last.old, last.new}:
            return None
        # A text on record was left by an earlier change or a kill; nobody saved it.
        is_known = any(version in {one.old, one.new} for one in self.journal.read())
        return None if is_known or self._is_cut(before, last) else before

    def _is_cut(self, before: bytes, last: FileChange) -> bool:
        """Whether what our last change replaced is only its beginning, as a power cut leaves it.

        Taken for an editor's save, it would bring half a fact in and delete what stood below.
        """
        data = _read(self.path) or b""
        if data.startswith(before):
            return True
        if self._find_version(data) == last.new:
            with suppress(CorruptFile):
                old = self.texts(self.journal.read()).find_before(_decode(data), last)
                return _is_beginning(before, old, last.old)
        return False

    def _judge(self, data: bytes) -> tuple[Draft, Repair]:
        draft = self._draft(data)
        found = {memory.id: memory for memory in draft.memories}
        history = self.journal.read()
        return draft, file_changes.repair(found, draft.page, self._find_version(data), history)

    def _finish(
        self,
        file: atomic.Held,
        journal: HeldJournal,
        opened: _OpenText,
        origin: str | None = None,
        source: Source | None = None,
    ) -> None:
        if opened.is_unrecorded or opened.draft.steps:
            self._commit(file, journal, opened, origin, source)

    def _commit(
        self,
        file: atomic.Held,
        journal: HeldJournal,
        opened: _OpenText,
        origin: str | None,
        source: Source | None,
    ) -> None:
        """Record the changes, then make them; what cannot be made is not on record either."""
        after = _Content(opened.draft.text.encode(), opened.draft.page)
        # It need not be decoded from the bytes that were just made of it.
        after.text = opened.draft.text
        # Before anything is recorded: what is too large
        # could be written once and never be read again.
        atomic.check_size(self.path, len(after.data))
        old, new = self._find_version(opened.on_disk), after.version
        before = self.journal.read_last()
        template = self._change(old, new, opened.draft, origin, source, opened.removed)
        # The record comes first: a fact that is acknowledged and not on record could be taken away
        # for good by an editor's older buffer. If a kill comes in between, the file is right.
        size = journal.append(
            _silence(file_changes.record_steps(template, opened.draft.steps), opened.erased)
        )
        try:
            # Nothing is to be written, and what was kept of a late save has been judged by now.
            if new == old:
                atomic.drop_previous(self.path)
            else:
                self._written = file.swap(after.data, lambda: self._is_current(opened, before))
                self._replaced = self._find_untouched(opened)
                # Both stay known: the next look compares bytes and need not parse.
                self._contents = after, self._find_content(opened.on_disk)
        except (StorageError, atomic.ChangedMeanwhile):
            journal.cut_back(size)
            raise

    def _find_untouched(self, opened: _OpenText) -> atomic.Marks | None:
        """Return the marks of the file that we replaced, if nobody wrote into it since we read it.

        Its name is another now, and with it the time of the inode.
        """
        kept = atomic.read_marks(atomic.find_previous(self.path))
        return kept if kept and opened.marks and kept[:3] == opened.marks[:3] else None

    def _is_current(self, opened: _OpenText, before: FileChange | None) -> bool:
        """Whether nobody has saved anything since the file was opened."""
        late = self._read_late_save(before) if before else None
        is_same = opened.marks is not None and atomic.read_marks(self.path) == opened.marks
        return (is_same or _read(self.path) == opened.on_disk) and late in {None, opened.late}

    def _change(
        self,
        old: str,
        new: str,
        draft: Draft,
        origin: str | None = None,
        source: Source | None = None,
        removed: tuple[Memory, ...] = (),
    ) -> FileChange:
        return FileChange(
            n=self.journal.find_next_number(),
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


class HeldMemoryFile:
    """A memory file while its lock and that of the record are held."""

    def __init__(self, memory_file: MemoryFile, file: atomic.Held, journal: HeldJournal) -> None:
        self.journal = journal
        self._memory_file = memory_file
        self._file = file

    def change(
        self,
        edit: Callable[[Draft], T],
        origin: str | None = None,
        source: Source | None = None,
    ) -> T:
        """Change the text by `edit`; what it changed is then on record and on disk.

        It is called again when somebody else saves the file in between.
        """
        return self._memory_file.change_held(self._file, self.journal, edit, origin, source)

    def erase(
        self, source: str, beside: Sequence[FileChange] = (), elsewhere: Sequence[Change] = ()
    ) -> list[Memory]:
        """Take out all that a source brought, from the record too; return the facts as they stood.

        `beside` is the record of the file that facts are moved from or to. Until the very last
        step the record tells what is still to be done, after a kill as well.
        """
        return self._memory_file.erase_held(self._file, self.journal, source, beside, elsewhere)


def _silence(lines: Sequence[FileChange], erased: frozenset[str]) -> list[FileChange]:
    """Keep what an older file brought back of an erased source off the record."""
    return [
        file_changes.without_text(line) if line.op == "restore" and line.id in erased else line
        for line in lines
    ]


def _find_format(path: Path) -> Format:
    formats: dict[str, Format] = {".json": json_facts, ".md": markdown}
    if path.suffix not in formats:
        known = " or ".join(formats)
        message = (
            f"{path.name!r} does not tell the format of the memories; use a name ending in {known}"
        )
        raise InvalidInput(message)
    return formats[path.suffix]


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"it is not UTF-8 text: {error}"
        raise CorruptFile(message) from error


def _is_beginning(part: bytes, text: str | None, version: str) -> bool:
    """Whether a part is the beginning of a text that was told from the record, and rightly."""
    whole = None if text is None else text.encode()
    return whole is not None and atomic.name_version(whole) == version and whole.startswith(part)


def _is_at_rest(marks: atomic.Marks | None) -> bool:
    return marks is None or atomic.is_at_rest(marks)


def _read(path: Path) -> bytes | None:
    return atomic.read_raw(path, atomic.MAX_PAGE_BYTES)


def _read_settled(path: Path) -> bytes:
    """Read a file when it is at rest: an editor may be in the middle of its save.

    One that saves in place empties the file first, so an empty one is waited for longest.
    """
    data = _read(path)
    for attempt in range(EMPTY_TRIES):
        age = time.time() - atomic.read_mtime(path).timestamp()
        if data and (attempt >= SETTLE_TRIES or not 0 <= age < SETTLE_SECONDS):
            break
        time.sleep(SETTLE_SECONDS)
        data = _read(path)
    return data or b""


JSON_HEAD = 1
"""How many lines stand above the first fact of a JSON file."""


def find_fact_lines(text: str, page: Page) -> dict[str, int]:
    """Return the line of each fact by its id, from 1; of a JSON file only if it is laid out so."""
    if isinstance(page, markdown.MarkdownPage):
        return {fact.memory.id: fact.start + 1 for fact in page.facts}
    lines = [line.strip(" ,") for line in text.split("\n")]
    found = {}
    for fact in page.facts:
        # Another program may have laid the file out anew; a line that does not hold the fact is
        # none.
        above = fact.start + JSON_HEAD
        if lines[above : above + 1] == [page.get_raw(fact)]:
            found[fact.memory.id] = above + 1
    return found


class FirstSeen:
    """The times beside one memory file."""

    def __init__(self, memory_file: Path) -> None:
        self._path = atomic.find_seen_path(memory_file)

    def date(self, memories: Sequence[Memory], page_time: datetime) -> list[Memory]:
        """Return the facts, those without a time of their own dated by when they were seen."""
        typed = {memory.id for memory in memories if _is_typed(memory, page_time)}
        if not typed:
            return list(memories)
        known = self._read()
        times = {key: known.get(key, to_millisecond(page_time)) for key in typed}
        if not typed <= known.keys():
            self._write(times)
        return [_set_time(memory, times.get(memory.id)) for memory in memories]

    def _read(self) -> dict[str, datetime]:
        with suppress(StorageError, ValueError, TypeError, AttributeError, RecursionError):
            # Derived: without it the facts are dated by the
            # page's own time, and nothing else is lost.
            record = json.loads(atomic.read(self._path, atomic.MAX_PAGE_BYTES) or b"{}")
            return {str(key): from_iso(time) for key, time in record.items()}
        return {}

    def _write(self, times: Mapping[str, datetime]) -> None:
        """Keep the times of the facts that are there, and of no other."""
        record = {key: to_iso(time) for key, time in sorted(times.items())}
        # Derived, and asked for by readers: in a read-only folder the page's own time does.
        with suppress(StorageError):
            atomic.write(self._path, (json.dumps(record, indent=0) + "\n").encode())


def _is_typed(memory: Memory, page_time: datetime) -> bool:
    # A bullet without a comment has the page's time and an id made from its text.
    return memory.created_at == page_time and memory.id.startswith(make_content_id(memory.content))


def _set_time(memory: Memory, time: datetime | None) -> Memory:
    return replace(memory, created_at=time, updated_at=time) if time else memory
