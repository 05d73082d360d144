"""`MemoryStore`: the long-term memory in one file, JSON or Markdown."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar, overload

from turnleaf.core import changes, markdown
from turnleaf.core.diagnosis import Examination, describe_facts
from turnleaf.core.markdown_blocks import encode_bullet
from turnleaf.core.memories import (
    KEPT,
    Memory,
    MemoryView,
    Remembered,
    Written,
    check_category,
    check_content,
    check_day,
    check_slot,
    check_text,
    contains,
    find_new,
    make_unique_id,
)
from turnleaf.core.memory_limits import Room, check_capacity, check_reserve, find_room, find_weakest
from turnleaf.core.serialization import to_millisecond
from turnleaf.errors import Conflict, CorruptFile, InvalidInput, MemoryFull, NotFound, StorageError
from turnleaf.settings import Settings, find_data_dir, is_in_home_assistant
from turnleaf.store.clock_and_ids import make_id, utc_now
from turnleaf.store.files import atomic, watcher
from turnleaf.store.files.diagnosis import collect, examine_file
from turnleaf.store.files.facts import journal
from turnleaf.store.files.facts.memory_file import MemoryFile, find_fact_lines
from turnleaf.store.files.facts.older import MOVED, OlderFacts, find_older_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.diagnosis import Part
    from turnleaf.core.file_changes import FileChange
    from turnleaf.core.memories import OrKept
    from turnleaf.core.page_drafts import Draft
    from turnleaf.core.pages import Format
    from turnleaf.store.files.facts.memory_file import HeldMemoryFile, Look

T = TypeVar("T")

RETIRED = "retire"
EXPIRED = "expire"
_NOT_YET = datetime.min.replace(tzinfo=UTC)


class MemoryStore:
    """Facts that outlive conversations, in a file that people read and edit.

    Without a location it is `memories.json`; a location ending in `.md` is Markdown.
    """

    title: str | None = None
    """The text of a new file, if it is not the format's own."""
    examined_as = "memory"
    keeps_older = True
    """Whether facts that end or make room go to a file of older facts."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = make_id,
    ) -> None:
        self.location = _resolve(location)
        self._given_settings = settings
        self._settings = settings or Settings()
        self._now = now
        self._new_id = new_id
        beside = find_older_path(self.location) if self.keeps_older else None
        self._file = MemoryFile(self.location, self._read_clock, self.title, beside)
        self._older = OlderFacts(self._file, self._read_clock) if self.keeps_older else None
        self._is_ready = False

    def exists(self) -> bool:
        """Whether anything was ever stored; asking makes nothing."""
        return self.location.exists()

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on."""
        self._given_settings = self._settings = settings

    def examine(self) -> Examination:
        """Return what the file and its record hold and what is wrong with them."""
        found = _examine_page(self.location, self.examined_as, self._file.format)
        return Examination.join([found, journal.examine(self._file.journal.path)])

    def init(self) -> None:
        """Make the folder and the file where missing, and mend what an editor wiped."""
        self._settings = self._given_settings or Settings.load()
        self._file.create()
        self._mend_older()
        self._is_ready = True

    @overload
    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        slot: str | None = None,
        until: date | None = None,
        memory_id: None = None,
        displace: bool = False,
    ) -> Memory: ...

    @overload
    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        slot: str | None = None,
        until: date | None = None,
        memory_id: str,
        displace: bool = False,
    ) -> Memory | None: ...

    def add(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        slot: str | None = None,
        until: date | None = None,
        memory_id: str | None = None,
        displace: bool = False,
    ) -> Memory | None:
        """Remember a fact; raise MemoryFull when there is no room.

        What is learned without anybody asking, by its origin, leaves some room free; with
        `displace`, learned facts make room as `remember` says. A `memory_id` chosen beforehand is
        added once, however often it is asked for: later it gives the fact as it stands, or None
        when it is gone since.
        """
        new = self._make_fact(content, category, origin, slot, until)

        def edit(draft: Draft) -> Memory | None:
            if memory_id is not None and self._was_added(draft, memory_id):
                fact = draft.find(memory_id)
                return fact.memory if fact else None
            self._find_room(draft, new.content, origin, displace=displace)
            return self._insert(draft, new, memory_id)

        return self._change(edit, origin, source)

    def remember(
        self,
        content: str,
        category: str | None = None,
        *,
        origin: str = "user",
        source: Source | None = None,
        slot: str | None = None,
        until: date | None = None,
    ) -> Remembered:
        """Remember what a user asks to be kept; where there is no room, learned facts make it.

        The weakest of them move to the older facts, in one change with this one. An older fact
        that says the same comes back instead. Raise MemoryFull when only other facts are left.
        """
        new = self._make_fact(content, category, origin, slot, until)

        def edit(draft: Draft) -> Remembered:
            displaced = self._find_room(draft, new.content, origin, displace=True)
            older = next((one for one in self._read_older() if one.content == new.content), None)
            if older is None:
                return Remembered(self._insert(draft, new), displaced)
            return Remembered(self._bring_back(draft, older, until), displaced)

        return self._change(edit, origin, source)

    def check_room_for(self, content: str) -> None:
        """Raise MemoryFull when even an empty memory has no room for a fact.

        It only counts, so whoever has to read a text before it is added asks this first.
        """
        check_capacity(Room(1, len(content)), Room(1, self._settings.memory_max_chars))

    def get_all(self) -> list[Memory]:
        """Return every fact, in the file's order, without those whose last day is over."""
        here = self._read_all()
        ended = self._find_ended(here)
        return [memory for memory in here if memory.id not in ended]

    def view(self) -> MemoryView:
        """Return what a turn has to know of the memory, all of one look at the file."""
        here, text = self._file.read(self._look())
        ended = self._find_ended(here)
        facts = [memory for memory in here if memory.id not in ended]
        if self._file.format is markdown:
            page = markdown.without_comments(markdown.without_facts(text, ended))
        else:
            page = "".join(f"{line}\n" for one in facts for line in encode_bullet(one.content))
        return MemoryView(facts, [*ended.values()], page)

    def older(self) -> list[Memory]:
        """Return the facts that no prompt carries: those that ended, and the file of older ones."""
        here = self._read_all()
        ids = {memory.id for memory in here}
        # A kill in the middle of a move leaves a fact in both files; the memory file decides.
        left = [memory for memory in self._read_older() if memory.id not in ids]
        return [*self._find_ended(here).values(), *left]

    def get(self, memory_id: str) -> Memory | None:
        """Return the fact of that id."""
        return next((memory for memory in self.get_all() if memory.id == memory_id), None)

    def search(self, keyword: str) -> list[Memory]:
        """Return the facts that hold a keyword, whatever the case."""
        wanted = check_text(keyword, "a keyword")
        return [memory for memory in self.get_all() if contains(memory, wanted)]

    def list_known_ids(self) -> set[str]:
        """Return the ids of all facts that exist or ever existed."""
        here = {memory.id for memory in (*self._read_all(), *self._read_older())}
        return here.union(*(change.ids() for change in self.read_record()))

    def update(
        self,
        memory_id: str,
        content: str,
        *,
        expected: str | None = None,
        origin: str = "user",
        source: Source | None = None,
        slot: str | OrKept | None = KEPT,
        until: date | OrKept | None = KEPT,
    ) -> Memory | None:
        """Change what a fact says; None when there is none of that id.

        With `expected`, only if it still says that; raise Conflict otherwise. Its slot and its
        last day stay, unless others are given.
        """
        text = check_content(content)
        name = slot if slot is KEPT else check_slot(slot)
        day = until if until is KEPT else check_day(until)

        def edit(draft: Draft) -> Memory | None:
            fact = draft.find(memory_id)
            if fact is None:
                return None
            before: Memory = fact.memory
            if expected is not None and before.content != expected:
                message = f"the fact {memory_id} was changed meanwhile; check it and try again"
                raise Conflict(message)
            longer = len(text) - len(before.content)
            if longer > 0:
                self._check_room(draft.used_room + Room(0, longer), growing=False)
            # A bullet typed by hand has the time of the page, which this change is about to renew.
            created = self._file.date([before])[0].created_at
            after = replace(
                before,
                content=text,
                created_at=created,
                updated_at=self._find_later_time(before),
                slot=before.slot if name is KEPT else name,
                until=before.until if day is KEPT else day,
            )
            draft.replace(after, "update")
            return after

        return self._change(edit, origin, source)

    def count_repeat(
        self, memory_id: str, *, origin: str = "user", source: Source | None = None
    ) -> Memory | None:
        """Take note that a fact was said once more; None when there is none of that id."""

        def edit(draft: Draft) -> Memory | None:
            fact = draft.find(memory_id)
            if fact is None:
                return None
            after = self._note_repetition(self._file.date([fact.memory])[0])
            draft.replace(after, "repeat")
            return after

        return self._change(edit, origin, source)

    def retire(
        self, ids: Collection[str], *, origin: str = "user", source: Source | None = None
    ) -> list[Memory]:
        """Move facts to the older ones; return those that were there to be moved."""

        def edit(draft: Draft) -> list[Memory]:
            found = [memory for memory in draft.memories if memory.id in ids]
            # Without a file of older facts there is nowhere
            # to go, and to remove them would be to forget.
            for memory in found if self._older else ():
                draft.remove(memory.id, RETIRED)
            return found if self._older else []

        return self._change(edit, origin, source)

    def revive(
        self,
        memory_id: str,
        *,
        until: date | None = None,
        origin: str = "user",
        source: Source | None = None,
        displace: bool = False,
    ) -> Remembered | None:
        """Bring an older fact back that was said again; None when there is none of that id.

        Raise MemoryFull when there is no room; with `displace`, learned facts make it.
        """
        day = check_day(until)

        def edit(draft: Draft) -> Remembered | None:
            older = next((one for one in self._read_older() if one.id == memory_id), None)
            if older is None or draft.find(memory_id) is not None:
                return None
            displaced = self._find_room(draft, older.content, origin, displace=displace)
            return Remembered(self._bring_back(draft, older, day), displaced)

        return self._change(edit, origin, source)

    def delete(self, memory_id: str, *, origin: str = "user", source: Source | None = None) -> bool:
        """Forget a fact, an older one as well; False when there is none of that id."""

        def edit(draft: Draft) -> bool:
            if draft.find(memory_id) is None:
                return False
            draft.remove(memory_id, "delete")
            return True

        self._prepare()
        with self._file.hold() as held:
            is_here = held.change(edit, origin, source)
            if self._older is None:
                return is_here
            # One deletion is one change, even when a move has left the fact in both files.
            op = MOVED if is_here else "delete"
            return bool(self._older.remove({memory_id}, held, op, origin, source)) or is_here

    def delete_all(self, ids: Collection[str], *, origin: str = "user") -> list[Memory]:
        """Forget facts of the memory in one change; return those that were there."""

        def edit(draft: Draft) -> list[Memory]:
            found = [memory for memory in draft.memories if memory.id in ids]
            for memory in found:
                draft.remove(memory.id, "delete")
            return found

        return self._change(edit, origin)

    def arrange(
        self,
        ids: Collection[str],
        *,
        category: str | OrKept | None = KEPT,
        pinned: bool | OrKept = KEPT,
        origin: str = "user",
    ) -> list[Memory]:
        """Put facts below another category, pin or unpin them, in one change; return them all."""
        heading = category if category is KEPT else check_category(category)

        def edit(draft: Draft) -> list[Memory]:
            found = [memory for memory in draft.memories if memory.id in ids]
            return [
                draft.arrange(one, category=heading, pinned=pinned)
                for one in self._file.date(found)
            ]

        return self._change(edit, origin)

    def write(self, text: str, *, expected: str | None = None, origin: str = "user") -> Written:
        """Replace the whole file by a person's text, to the byte, whatever the limits say.

        What it lacks stays away, and `undo` gives back what it replaced. With `expected`, only
        if the file is still of that version; raise Conflict otherwise.
        """
        whole = check_text(text, "the memory")
        self._prepare()
        change = self._file.put(whole, expected, origin)
        return Written(atomic.name_version(whole.encode()), change)

    def undo(self, number: int | None = None, *, skip: bool = False) -> list[Change]:
        """Take back the newest change that was not taken back yet, and give it.

        An import is one change of many facts; where there is nothing to undo there is none.
        What somebody changed since cannot be undone: raise Conflict, or with `skip` leave it
        as it is and go on to the change before. With a `number` it is that change or none:
        raise NotFound when it is not there to be taken back.
        """
        self._prepare()
        with self._file.hold() as held:
            held.change(lambda _: None)  # What was deleted by hand is then on record.
            history = self.read_record()
            if number is not None:
                return self._take_back(held, _find_numbered(number, history), history, skip=skip)
            left = history
            while found := changes.find_undoable(left):
                undone = self._take_back(held, found, history, skip=skip)
                if undone:
                    return undone
                skipped = {change.n for change in found}
                left = [change for change in left if change.n not in skipped]
            return []

    def read_record_state(self) -> str:
        """Return what is another when the record of changes is; empty when there is none."""
        return self._file.journal.read_state()

    def changes(self, memory_id: str | None = None) -> list[Change]:
        """Return the record of changes, oldest first; of one fact or of all."""
        self._appear()
        with suppress(StorageError):
            self._mend_saved()  # What an editor saved is then on record.
        history = self.read_record()
        return [change for change in history if memory_id is None or change.concerns(memory_id)]

    def last_change(self) -> Change | None:
        """Return the newest change of the file."""
        return self._file.journal.read_last()

    def list_with_lines(self) -> list[tuple[Memory, int | None]]:
        """Return every fact with the line on which it stands, both of one and the same text."""
        try:
            found = self._parse_with_lines()
        except CorruptFile:
            self.get_all()  # That sets the file aside, and brings back what it held.
            found = self._parse_with_lines()
        ended = self._find_ended([memory for memory, _ in found])
        return [(memory, line) for memory, line in found if memory.id not in ended]

    def _parse_with_lines(self) -> list[tuple[Memory, int | None]]:
        text = self.text()
        page = self._file.format.parse(text, atomic.read_mtime(self.location))
        lines = find_fact_lines(text, page)
        return [(fact.memory, lines.get(fact.memory.id)) for fact in page.facts]

    @property
    def format(self) -> str:
        """The form that the text has: "markdown" or "json"."""
        return "markdown" if self._file.format is markdown else "json"

    def import_memories(self, incoming: Sequence[Memory]) -> int:
        """Take over facts with their ids and times, all or none; return how many were new."""

        def edit(draft: Draft) -> int:
            new = find_new(incoming, draft.memories, self._read_older())
            self._check_room(draft.used_room + Room.of(new))
            draft.insert_all(new, "import")
            return len(new)

        return self._change(edit, "import")

    def import_older(self, incoming: Sequence[Memory]) -> int:
        """Add facts to the older ones with their ids and times; return how many were new."""
        self._prepare()
        if self._older is None:
            return 0
        with self._file.hold() as held:
            new = find_new(incoming, [*self._file.memories(), *self._read_older()])
            self._older.keep(new, held, "import", is_new=True)
            return len(new)

    def erase(self, source: str, *, elsewhere: Sequence[Change] = ()) -> list[Memory]:
        """Erase all that came from a conversation, a tool or a document; return the facts so far.

        Where it had replaced another text, that one stands again; what a person edited since
        stays. Nothing can be undone of it. `elsewhere` is what another file records of the facts.
        """
        self._prepare()
        with self._file.hold() as held:
            # The memory's own record tells what the source brought, so it is rewritten last.
            gone = self._older.erase(source, held, elsewhere) if self._older else []
            beside = self._older.history() if self._older else []
            return gone + held.erase(source, beside, elsewhere)

    def reconcile(self) -> list[Memory]:
        """Bring back facts that somebody else's save wiped without having seen them."""
        self._prepare()
        mended = self._file.mend()
        self._mend_older()
        return mended

    def needs_mending(self) -> bool:
        """Whether somebody else saved a file since our last look, and left it quiet."""
        is_older_file = self._older is not None and self._older.needs_mending()
        return self._file.needs_mending() or is_older_file

    def text(self) -> str:
        """Return the file as it is."""
        return self._file.text(self._look())

    def version(self) -> str:
        """Return a name for the file's present content: the same name means the same bytes."""
        self._appear()
        return self._file.version()

    def snapshot(self) -> tuple[str, str]:
        """Return the file as it is, and the version of just that text."""
        text = self.text()
        return text, atomic.name_version(text.encode())

    def prompt_text(self) -> str:
        """Return the memory as a person reads it: Markdown, without our comments."""
        return self.view().page

    def _prepare(self) -> None:
        if not self._is_ready:
            self.init()
        # Whoever uses a store has its file mended after an editor's save, also when nobody calls it
        # again.
        watcher.SHARED.repair(self)

    def find_page(self, data: bytes) -> markdown.MarkdownPage | None:
        """Return what a content of a MEMORY.md is parsed to, where that is known."""
        page = self._file.find_page(data)
        return page if isinstance(page, markdown.MarkdownPage) else None

    def _look(self) -> Look | None:
        """Be ready for reading, which needs no right to write; return what the file holds.

        None where that changed meanwhile, or cannot be told.
        """
        self._appear()
        with suppress(StorageError):
            # Mending writes. In a read-only folder, or on a full disk, the memory is still read.
            look = self._file.look()
            return None if self._mend_saved(look) else look
        return None

    def _appear(self) -> None:
        """Make the file where it is missing."""
        if not self.location.exists():
            self._prepare()

    def _mend_saved(self, look: Look | None = None) -> bool:
        """Mend what somebody else saved and left quiet; return whether there was anything."""
        if is_saved := self._file.needs_mending(look):
            self._file.mend()
        if is_older_saved := self._older is not None and self._older.needs_mending():
            self._mend_older()
        return is_saved or is_older_saved

    def _read_all(self) -> list[Memory]:
        return self._file.memories(self._look())

    def _read_older(self) -> list[Memory]:
        return self._older.get_all() if self._older else []

    def _mend_older(self) -> None:
        if self._older and self._older.path.exists():
            with self._file.hold() as held:
                self._older.mend(held)

    def read_record(self) -> list[FileChange]:
        """Return the record of both files as it is, without the halves of moves in the second."""
        older = self._older.history() if self._older else []
        # A move is on record in both files; the memory file's half is the one that counts.
        moved = [change for change in older if change.op != MOVED]
        return sorted([*self._file.journal.read(), *moved], key=lambda change: change.n)

    def _change(
        self, edit: Callable[[Draft], T], origin: str | None = None, source: Source | None = None
    ) -> T:
        """Change the memory file by `edit`, and the older facts with it."""
        self._prepare()
        with self._file.hold() as held:
            return self._change_held(held, edit, origin, source)

    def _change_held(
        self,
        held: HeldMemoryFile,
        edit: Callable[[Draft], T],
        origin: str | None = None,
        source: Source | None = None,
    ) -> T:
        older = self._older
        if older is None:
            return held.change(edit, origin, source)

        def whole(draft: Draft) -> tuple[T, set[str]]:
            # With the next write and not on reading: looking at a memory changes no file.
            self._expire(draft, held)
            result = edit(draft)
            retired = [step.before for step in draft.steps if step.op == RETIRED and step.before]
            undone = {step.undoes for step in draft.steps if step.undoes}
            back = older.find_revived(undone) if undone else []
            # The second file first: a kill then leaves a fact in both files, never in none.
            # The change of the memory file decides; the next look takes the copy away.
            older.keep([*self._file.date(retired), *back], held, origin, source)
            return result, _find_brought_back(draft)

        result, back = held.change(whole, origin, source)
        if back:
            # The change is made: what goes wrong here is left to the next look.
            with suppress(StorageError):
                older.remove(back, held)
        return result

    def _expire(self, draft: Draft, held: HeldMemoryFile) -> None:
        """Move facts whose last day is over; they stay where that cannot be."""
        ended = self._find_ended(draft.memories)
        if self._older and ended:
            with suppress(StorageError):
                self._older.keep([*ended.values()], held)
                for memory_id in ended:
                    draft.remove(memory_id, EXPIRED)

    def _make_fact(
        self,
        content: str,
        category: str | None,
        origin: str,
        slot: str | None,
        until: date | None,
    ) -> Memory:
        """Return a fact that has no id and no times yet."""
        text, heading = check_content(content), check_category(category)
        name, day = check_slot(slot), check_day(until)
        return Memory("", text, _NOT_YET, _NOT_YET, heading, origin, name, day)

    def _insert(self, draft: Draft, new: Memory, memory_id: str | None = None) -> Memory:
        now = self._read_clock()
        new_id = memory_id or make_unique_id(self._new_id(), draft.page.tally.ids)
        memory = replace(new, id=new_id, created_at=now, updated_at=now)
        draft.insert(memory, "add")
        return memory

    def _bring_back(self, draft: Draft, older: Memory, until: date | None) -> Memory:
        back = replace(self._note_repetition(older), until=until)
        draft.insert(back, "revive")
        return back

    def _find_room(
        self, draft: Draft, content: str, origin: str, *, displace: bool
    ) -> tuple[Memory, ...]:
        """Check that there is room for a fact; with `displace`, the weakest of others leave."""
        if not displace or not self._older:
            self._check_room(draft.used_room + Room(1, len(content)), origin=origin)
            return ()
        displaced = self._choose_displaced(draft, content)
        for memory in displaced:
            draft.remove(memory.id, RETIRED)
        return displaced

    def _choose_displaced(self, draft: Draft, content: str) -> tuple[Memory, ...]:
        """Return as few of the weakest facts as must leave; raise MemoryFull if all are too few."""
        taken = draft.used_room + Room(1, len(content))
        with suppress(MemoryFull):
            self._check_room(taken)
            return ()
        # Only facts that learning alone brought; one that a person touched is theirs.
        weak = find_weakest(draft.memories, self._file.journal.read())
        for count in range(1, len(weak)):
            with suppress(MemoryFull):
                self._check_room(taken - Room.of(weak[:count]))
                return tuple(weak[:count])
        # Once more for the error, which then says how much there is even without them.
        self._check_room(taken - Room.of(weak))
        return tuple(weak)

    def _take_back(
        self,
        held: HeldMemoryFile,
        found: Sequence[FileChange],
        history: Sequence[FileChange],
        *,
        skip: bool,
    ) -> list[Change]:
        def edit(draft: Draft) -> list[Change]:
            return [*self._undo_in(draft, standing, history, skip=skip)]

        standing = [one for one in found if self._is_still_older(one, skip=skip)]
        if not standing:
            return []
        if self._older and standing[0].file == self._older.path.name:
            return self._older.change(edit, held)
        return self._change_held(held, edit, "user")

    def _undo_in(
        self,
        draft: Draft,
        found: Sequence[FileChange],
        history: Sequence[FileChange],
        *,
        skip: bool,
    ) -> Iterator[FileChange]:
        """Take changes back in a draft; yield those of which something was there to take back."""
        text, version = draft.text, atomic.name_version(draft.text.encode())
        is_whole = found[0].op == "put"
        for part in [found] if is_whole else [[change] for change in found]:
            steps = len(draft.steps)
            with suppress(Conflict) if skip else nullcontext():
                if is_whole:
                    whole = next(change for change in part if not change.id)
                    saved = self._file.texts(history).find_as_saved(text, version, whole)
                    draft.undo_put(part, whole.reversal(), saved)
                else:
                    # To the byte only if nothing came after: lines may have moved since.
                    is_newest = version == part[0].new
                    draft.undo(part[0], part[0].reversal() if is_newest else None)
            if len(draft.steps) > steps:
                yield from part

    def _is_still_older(self, change: Change, *, skip: bool) -> bool:
        """Whether a fact that left can be given back; raise Conflict when it changed since."""
        if change.op != RETIRED or change.before is None:
            return True
        older = {memory.id: memory.content for memory in self._read_older()}
        if older.get(change.id) == change.before.content:
            return True
        if skip:
            return False
        message = (
            f"the older fact {change.id} was changed again since then, so this change cannot be "
            "undone"
        )
        raise Conflict(message)

    def _find_ended(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """Return the facts whose last day is over, by id; of those pending review, none."""
        dated = [memory for memory in memories if memory.until is not None and self._older]
        # By the local calendar: the last day of a fact ends at midnight where its owner is.
        today = self._now().astimezone().date() if dated else None
        return {memory.id: memory for memory in dated if today and memory.has_ended(today)}

    def _note_repetition(self, memory: Memory) -> Memory:
        count = memory.said_count + 1
        return replace(memory, said_count=count, updated_at=self._find_later_time(memory))

    def _read_clock(self) -> datetime:
        """Read the clock to the millisecond, as files keep it."""
        return to_millisecond(self._now())

    def _find_later_time(self, memory: Memory) -> datetime:
        """Return a time after the fact's last change, whatever the clock says.

        It is how a text tells whether its writer had seen an update.
        """
        # A clock that was put back must not make a newer text look like the older one.
        return max(self._read_clock(), memory.updated_at + changes.TICK)

    def _was_added(self, draft: Draft, memory_id: str) -> bool:
        history = self._file.journal.read()
        # By the record and not by the page alone: a fact that was added and forgotten since stays
        # forgotten.
        is_recorded = any(change.concerns(memory_id) for change in history)
        return is_recorded or draft.find(memory_id) is not None

    def room(self, origin: str = "user") -> Room:
        """Return how many facts and characters `add` would still take from an origin."""
        limits = Room(self._settings.memory_max_items, self._settings.memory_max_chars)
        return find_room(origin, limits) - Room.of(self.get_all())

    def _check_room(self, taken: Room, *, growing: bool = True, origin: str = "user") -> None:
        # A change of one fact adds none, so it is not refused where a hand has put in too many.
        items = self._settings.memory_max_items if growing else taken.items
        limits = Room(items, self._settings.memory_max_chars)
        check_capacity(taken, limits)
        check_reserve(taken, find_room(origin, limits))


def find_default_location() -> Path:
    """Return where `memories.json` is, in Home Assistant or elsewhere."""
    folder = find_data_dir()
    if is_in_home_assistant():
        return folder / "memories" / "memories.json"
    return folder / "memories.json"


def _resolve(location: str | Path | None) -> Path:
    if isinstance(location, str) and "://" in location:
        message = (
            f"{location!r} cannot be a location for memories; use a path ending in .json or .md"
        )
        raise InvalidInput(message)
    return atomic.resolve(find_default_location() if location is None else location)


def _find_numbered(number: int, history: Sequence[FileChange]) -> list[FileChange]:
    change = next((one for one in history if one.n == number), None)
    if change is None or not changes.is_undoable(change, history):
        message = f"there is no change {number} to undo; it may have been undone already"
        raise NotFound(message)
    return changes.find_made_with(change, history)


def _find_brought_back(draft: Draft) -> set[str]:
    """Return the ids of facts that a draft brings back, or that it has although they were older."""
    came = {step.id for step in draft.steps if step.after and step.op in {"revive", "undo"}}
    return came & {memory.id for memory in draft.memories} if came else came


@collect
def _examine_page(path: Path, name: str, form: Format) -> Iterator[Part]:
    def describe() -> str:
        text = (atomic.read(path, atomic.MAX_PAGE_BYTES) or b"").decode("utf-8-sig")
        facts = form.parse(text, atomic.read_mtime(path)).facts
        return describe_facts([fact.memory for fact in facts])

    yield from examine_file(name, path, describe)
