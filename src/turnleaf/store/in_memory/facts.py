"""Long-term facts in memory, and those that wait for a person to accept them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, overload
from uuid import uuid4

from turnleaf.core import markdown
from turnleaf.core.changes import TICK, find_undoable_numbers
from turnleaf.core.diagnosis import describe_facts
from turnleaf.core.memories import (
    KEPT,
    Memory,
    MemoryView,
    OrKept,
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
from turnleaf.core.memory_limits import Room, check_capacity, find_room
from turnleaf.core.search.message_filters import ACCEPTED
from turnleaf.errors import Conflict, MemoryFull, NotFound
from turnleaf.settings import Settings
from turnleaf.store.in_memory.fact_pages import MOVE, Book, Edit, name_text
from turnleaf.store.in_memory.shared_data import Keeper, Now, PlaceOfSpaces, in_one_step

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.diagnosis import Examination


class MemoryFacts(Keeper):
    """The facts of a space."""

    format = "markdown"
    kind = "facts"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._settings = Settings()

    @property
    def _kept(self) -> Book:
        kept = self.place.find(self.space, self.kind, Book)
        kept.announce = self.announce
        return kept

    @property
    def _book(self) -> Book:
        return self._kept

    @property
    def _limits(self) -> Room:
        return Room(self._settings.memory_max_items, self._settings.memory_max_chars)

    examined_as = "memory"

    @in_one_step
    def examine(self) -> Examination:
        """Return how many facts there are."""
        return self.report(self.examined_as, describe_facts(self._read().main.memories))

    @in_one_step
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._kept != Book()

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on."""
        self._settings = settings

    def _find_today(self) -> date:
        return self._clock().astimezone().date()

    def _has_ended(self, memory: Memory) -> bool:
        return memory.has_ended(self._find_today())

    def _edit(self) -> Edit:
        edit = Edit(self._book, self.now())
        edit.expire(self._find_today())
        return edit

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
        """Add a fact at the end of its category; raise MemoryFull when there is no room."""
        memory = self._make(content, category, origin, slot, until)
        return self._add_once(memory, memory_id, source, displace)

    @in_one_step
    def _add_once(
        self,
        memory: Memory,
        memory_id: str | None,
        source: Source | None,
        displace: bool,  # noqa: FBT001
    ) -> Memory | None:
        if memory_id is not None and memory_id in self.list_known_ids():
            return self.get(memory_id)
        chosen = memory_id or make_unique_id(memory.id, self.list_known_ids())
        return self._insert(replace(memory, id=chosen), source, displace)

    def _insert(self, memory: Memory, source: Source | None, displace: bool) -> Memory:  # noqa: FBT001
        edit, origin = self._edit(), memory.origin or ""
        if displace:
            edit.make_room(memory.content, self._limits)
        else:
            edit.check_room([memory.content], origin, self._limits)
        edit.main.insert(memory, "add")
        edit.keep(origin, source)
        return memory

    def _make(
        self,
        content: str,
        category: str | None,
        origin: str,
        slot: str | None,
        until: date | None,
    ) -> Memory:
        now = self.now()
        return Memory(
            id=uuid4().hex[:12],
            content=check_content(content),
            created_at=now,
            updated_at=now,
            category=check_category(category),
            origin=origin,
            slot=check_slot(slot),
            until=check_day(until),
        )

    @in_one_step
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
        """Add what a user asks to be kept; the weakest learned facts make room where needed."""
        memory = self._make(content, category, origin, slot, until)
        memory = replace(memory, id=make_unique_id(memory.id, self.list_known_ids()))
        same = next((one.id for one in self.older() if one.content == content), None)
        if same is not None:
            back = self.revive(same, until=until, origin=origin, source=source, displace=True)
            return back or Remembered(memory)
        edit = self._edit()
        displaced = edit.make_room(content, self._limits)
        edit.main.insert(memory, "add")
        edit.keep(origin, source)
        return Remembered(memory, displaced)

    def check_room_for(self, content: str) -> None:
        """Raise MemoryFull when even an empty memory would have no room for a fact."""
        check_capacity(Room(1, len(content)), self._limits)

    @in_one_step
    def _read(self) -> Edit:
        return Edit(self._book, self.now())

    def get_all(self) -> list[Memory]:
        """Return every fact in its order, without those whose last day is over."""
        return [one for one in self._read().main.memories if not self._has_ended(one)]

    @in_one_step
    def view(self) -> MemoryView:
        """Return what a turn has to know of the memory, all of it read at once."""
        ended = self._find_ended()
        text = markdown.without_facts(self._book.text, {one.id for one in ended})
        return MemoryView(self.get_all(), ended, markdown.without_comments(text))

    def _find_ended(self) -> list[Memory]:
        return [one for one in self._read().main.memories if self._has_ended(one)]

    @in_one_step
    def older(self) -> list[Memory]:
        """Return the facts that no prompt carries: those that ended, then those that left."""
        return [*self._find_ended(), *self._read().older.memories]

    def get(self, memory_id: str) -> Memory | None:
        """Return the fact of that id."""
        return next((one for one in self.get_all() if one.id == memory_id), None)

    def search(self, keyword: str) -> list[Memory]:
        """Return the facts that hold a keyword literally, whatever the case."""
        wanted = check_text(keyword, "a keyword")
        return [one for one in self.get_all() if contains(one, wanted)]

    def list_with_lines(self) -> list[tuple[Memory, int | None]]:
        """Return the facts, each with the line of `text` on which it begins, from 1."""
        facts = self._read().main.page.facts
        return [(one.memory, one.start + 1) for one in facts if not self._has_ended(one.memory)]

    @in_one_step
    def list_known_ids(self) -> set[str]:
        """Return the id of every fact that there is or ever was."""
        read = self._read()
        here = {one.id for one in (*read.main.memories, *read.older.memories)}
        return here.union(*(change.ids() for change in self._book.changes))

    @in_one_step
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
        """Change what a fact says; with `expected`, only if it still says that, else Conflict."""
        edit = self._edit()
        place = edit.main.find(memory_id)
        new = check_content(content)
        slots = {} if slot is KEPT else {"slot": check_slot(slot)}
        days = {} if until is KEPT else {"until": check_day(until)}
        if place is None:
            # There is nothing to update, but what has ended moves with this write.
            edit.keep(origin, source)
            return None
        self._check_growth(edit, place.memory, new, expected)
        wanted: Memory = replace(place.memory, content=new, **slots, **days)
        changed = edit.change(wanted, "update")
        edit.keep(origin, source)
        return changed

    def _check_growth(self, edit: Edit, known: Memory, new: str, expected: str | None) -> None:
        if expected is not None and known.content != expected:
            message = f"the fact {known.id} was changed meanwhile; check it and try again"
            raise Conflict(message)
        more = len(new) - len(known.content)
        if more > 0:
            check_capacity(Room(0, edit.main.used_room.chars + more), self._limits)

    @in_one_step
    def count_repeat(
        self, memory_id: str, *, origin: str = "user", source: Source | None = None
    ) -> Memory | None:
        """Count a fact that was said once more, at this time; None: none of that id."""
        edit = self._edit()
        place = edit.main.find(memory_id)
        if place is None:
            edit.keep(origin, source)
            return None
        said: Memory = replace(place.memory, said_count=place.memory.said_count + 1)
        counted = edit.change(said, "repeat")
        edit.keep(origin, source)
        return counted

    @in_one_step
    def retire(
        self, ids: Collection[str], *, origin: str = "user", source: Source | None = None
    ) -> list[Memory]:
        """Move facts to the older ones, in one change; return those that were there."""
        edit = self._edit()
        gone = edit.leave(dict.fromkeys(ids), "retire")
        edit.keep(origin, source)
        return gone

    @in_one_step
    def revive(
        self,
        memory_id: str,
        *,
        until: date | None = None,
        origin: str = "user",
        source: Source | None = None,
        displace: bool = False,
    ) -> Remembered | None:
        """Bring an older fact back that was said again, with its id; None: none of that id."""
        edit = self._edit()
        day, place = check_day(until), edit.older.find(memory_id)
        if place is None:
            edit.keep(origin, source)
            return None
        old, content = place.memory, place.memory.content
        displaced = edit.make_room(content, self._limits) if displace else ()
        if not displace:
            edit.check_room([content], origin, self._limits)
        back = replace(old, until=day, said_count=old.said_count + 1)
        back = replace(back, updated_at=max(edit.now, old.updated_at + TICK))
        edit.bring_back(back, "revive")
        edit.keep(origin, source)
        return Remembered(back, displaced)

    @in_one_step
    def delete(self, memory_id: str, *, origin: str = "user", source: Source | None = None) -> bool:
        """Delete a fact, an older one as well; False when there is none of that id."""
        edit = self._edit()
        for draft in (edit.main, edit.older):
            if draft.find(memory_id):
                draft.remove(memory_id, "delete")
                edit.keep(origin, source)
                return True
        edit.keep(origin, source)
        return False

    @in_one_step
    def delete_all(self, ids: Collection[str], *, origin: str = "user") -> list[Memory]:
        """Delete facts of the memory in one change; return those that were there."""
        edit = self._edit()
        found = [memory for memory in edit.main.memories if memory.id in ids]
        for memory in found:
            edit.main.remove(memory.id, "delete")
        edit.keep(origin)
        return found

    @in_one_step
    def arrange(
        self,
        ids: Collection[str],
        *,
        category: str | OrKept | None = KEPT,
        pinned: bool | OrKept = KEPT,
        origin: str = "user",
    ) -> list[Memory]:
        """Put facts below another category, pin or unpin them, in one change; return them all."""
        edit = self._edit()
        heading = category if category is KEPT else check_category(category)
        found = [memory for memory in edit.main.memories if memory.id in ids]
        arranged = [edit.main.arrange(one, category=heading, pinned=pinned) for one in found]
        edit.keep(origin)
        return arranged

    @in_one_step
    def write(self, text: str, *, expected: str | None = None, origin: str = "user") -> Written:
        """Replace the whole text by a person's, to the letter, whatever the limits say."""
        wanted, book = check_text(text, "the memory"), self._book
        if expected is not None and expected != book.version:
            message = "the memory was changed since it was read; read it again and retry"
            raise Conflict(message)
        # Without moving what has ended: the text is a person's, to the letter.
        edit = Edit(book, self.now())
        if not edit.main.put(wanted, edit.now):
            return Written(book.version, None)
        book.written_at = edit.now
        made = edit.keep(origin)
        return Written(book.version, made[0].n)

    @in_one_step
    def undo(self, number: int | None = None, *, skip: bool = False) -> list[Change]:
        """Take back the newest change that can be, or a certain one, with all of the same step."""
        record = self._book.changes
        can = find_undoable_numbers(record)
        if number is not None and number not in can:
            message = f"there is no change {number} to undo"
            raise NotFound(message)
        wanted = can if number is None else {number}
        for change in [one for one in reversed(record) if one.n in wanted]:
            made = self._undo(change, skip=skip)
            if made:
                return made
        return []

    def _undo(self, change: Change, *, skip: bool) -> list[Change]:
        edit = self._edit()
        try:
            made = edit.undo(change)
        except Conflict:
            if skip:
                return []
            raise
        edit.keep("user")
        return made

    @in_one_step
    def changes(self, memory_id: str | None = None) -> list[Change]:
        """Return what was changed, oldest first; of one fact or of all."""
        told = self._book.changes
        return [one for one in told if memory_id is None or one.concerns(memory_id)]

    def last_change(self) -> Change | None:
        """Return the newest change; None when there was none."""
        return next(reversed(self.changes()), None)

    @in_one_step
    def import_memories(self, incoming: Sequence[Memory]) -> int:
        """Add facts with ids and times, all or none, as one change; return how many were new."""
        edit = self._edit()
        new = find_new(incoming, edit.main.memories, edit.older.memories)
        edit.check_room([one.content for one in new], "import", self._limits)
        edit.main.insert_all(new, "import")
        edit.keep("import")
        return len(new)

    @in_one_step
    def import_older(self, incoming: Sequence[Memory]) -> int:
        """Add facts to the older ones likewise, whatever the limits; return how many were new."""
        edit = self._edit()
        new = find_new(incoming, [*edit.main.memories, *edit.older.memories])
        edit.older.insert_all(new, MOVE)
        edit.keep("import")
        return len(new)

    @in_one_step
    def erase(self, source: str, *, elsewhere: Sequence[Change] = ()) -> list[Memory]:
        """Erase all that came from a source, in the record too; return the facts that are gone."""
        return Edit(self._book, self.now()).erase(source, elsewhere)

    def text(self) -> str:
        """Return the whole as text."""
        return self.snapshot()[0]

    def version(self) -> str:
        """Return a name for `text` as it is."""
        return self.snapshot()[1]

    @in_one_step
    def snapshot(self) -> tuple[str, str]:
        """Return the text and the version of just that text."""
        text = self._book.text
        return text, name_text(text)

    def prompt_text(self) -> str:
        """Return the facts as Markdown: headings, prose and bullets, no ids."""
        return self.view().page

    def room(self, origin: str = "user") -> Room:
        """Return how many more facts and characters `add` would take from that origin."""
        return find_room(origin, self._limits) - Room.of(self.get_all())


MAX_PENDING = 1000
_ANY_LENGTH = 10**12


class PendingEdit(Edit):
    """A change of what waits, of which there can be only so much."""

    def check_room(self, contents: Sequence[str], origin: str, limits: Room) -> None:  # noqa: ARG002
        """Raise MemoryFull where more would wait than can."""
        if contents and self.main.used_room.items + len(contents) > limits.items:
            message = (
                f"{limits.items} facts are pending review already; accept or reject some "
                "(turnleaf review)"
            )
            raise MemoryFull(message)

    def make_room(self, content: str, limits: Room) -> tuple[Memory, ...]:
        """Raise MemoryFull where there is no room: nothing leaves for another."""
        self.check_room([content], "", limits)
        return ()


class MemoryPending(MemoryFacts):
    """The facts of a space that wait."""

    kind = "pending"

    examined_as = "pending"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now, memory: MemoryFacts) -> None:
        super().__init__(place, space, now)
        self._memory = memory

    @property
    def _book(self) -> Book:
        self._drop_accepted()
        return self._kept

    @property
    def _limits(self) -> Room:
        return Room(MAX_PENDING, _ANY_LENGTH)

    def _find_today(self) -> date:
        # No fact ends while it is pending review.
        return date.min

    def _edit(self) -> Edit:
        return PendingEdit(self._book, self.now())

    @in_one_step
    def _drop_accepted(self) -> None:
        """Delete what is in the memory, or was: whoever put it there has accepted it."""
        edit = Edit(self._kept, self.now())
        waiting = {one.id for one in edit.main.memories}
        for memory_id in sorted(waiting & self._memory.list_known_ids() if waiting else ()):
            edit.main.remove(memory_id, "delete")
        edit.keep(ACCEPTED)

    @in_one_step
    def accept(self, memory_id: str, content: str | None = None) -> Memory:
        """Move a fact to the memory under its id, as it is or saying something else; return it."""
        waiting = self.get(memory_id)
        if waiting is None:
            return self._find_accepted(memory_id)
        added = self._memory.add(
            said := waiting.content if content is None else check_content(content),
            waiting.category,
            origin=waiting.origin or "user",
            source=self._find_first_source(memory_id),
            slot=waiting.slot,
            until=waiting.until,
            memory_id=memory_id,
            displace=True,
        )
        self._note_other_words(waiting, said)
        self._drop_accepted()
        return added or waiting

    def _note_other_words(self, waiting: Memory, said: str) -> None:
        """Put on record that a person said it otherwise: those are no words of its source."""
        if said != waiting.content:
            edit = Edit(self._kept, self.now())
            edit.change(replace(waiting, content=said), "update")
            edit.keep("user")

    def _find_first_source(self, memory_id: str) -> Source | None:
        return next((change.source for change in self.changes(memory_id)), None)

    def _find_accepted(self, memory_id: str) -> Memory:
        was_accepted = any(change.origin == ACCEPTED for change in self.changes(memory_id))
        known = self._memory.get(memory_id) if was_accepted else None
        if known is None:
            message = f"no pending fact has the ID {memory_id}; list them with turnleaf review"
            raise NotFound(message)
        return known

    def room(self, origin: str = "user") -> Room:  # noqa: ARG002 - it is the same for all
        """Return how many more facts can wait."""
        return self._limits - Room.of(self.get_all())

    def reject(self, memory_id: str) -> bool:
        """Delete a pending fact; False when there is none of that id."""
        return self.delete(memory_id)

    def retire(
        self,
        ids: Collection[str],  # noqa: ARG002 - as facts take it
        *,
        origin: str = "user",  # noqa: ARG002
        source: Source | None = None,  # noqa: ARG002
    ) -> list[Memory]:
        """Return []: what waits does not leave."""
        return []

    def import_older(self, incoming: Sequence[Memory]) -> int:  # noqa: ARG002 - as facts take it
        """Return 0: there are no older ones."""
        return 0
