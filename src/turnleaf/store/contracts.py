"""What a place to keep things must offer: one protocol for each kind of thing.

Everything above `store/` is written against these. A backend (files and SQLite, memory, PostgreSQL)
implements all of them and passes the contract tests in tests/store/contracts.

What holds for all of them. A store is used by several threads and opened by several programs at
once; each call is one step for all of them: it is done whole or, when it raises, not at all, and
every call that begins after it returned sees it. What is given out is a value that nobody changes
what is stored with. Times are kept to the millisecond, in UTC. A conversation's key that
`core.keys.check_key` refuses is refused with its InvalidInput by every method that takes one.
"Now" is the clock that the space was opened with. What JSON has no word for comes back as JSON has
it (a tuple as a list). A store makes itself ready at the first call; `init` only does so earlier.
In names and reasons, UTF-8's lone surrogates become question marks (`core.serialization.to_text`);
in what was said and in quotes they come back as they were, and NUL, too, but the two halves of a
pair as the one character that they make.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self, cast, overload

from turnleaf.core.memories import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime, timedelta
    from pathlib import Path

    from turnleaf.core.changes import Change, Source
    from turnleaf.core.diagnosis import Examination, Place
    from turnleaf.core.keys import Reader
    from turnleaf.core.learning.queue import (
        Batch,
        Decision,
        LearningProblem,
        Outgoing,
        Queued,
        SetAside,
        Sighting,
        Unread,
    )
    from turnleaf.core.memories import Memory, MemoryView, OrKept, Remembered, Written
    from turnleaf.core.memory_limits import Room
    from turnleaf.core.messages import (
        Content,
        ConversationSummary,
        Cursor,
        Feed,
        Message,
        NewMessage,
        StoredFigures,
        StoredMessage,
        TreeNode,
    )
    from turnleaf.core.opaque_records import Record
    from turnleaf.core.portable import PortablePart
    from turnleaf.core.schedules import Run, Schedule
    from turnleaf.core.search.ranking import Hit, Weights
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.due_work import DueWork

    Claimed = list[tuple[Schedule, Run]]
    Progress = Callable[[int, int], None]


OPERATOR = "_operator"
"""Stands for a space where the operator's records are kept; none can have the name."""


class Examined(Protocol):
    """What `doctor` asks of every store."""

    def examine(self) -> Examination:
        """Return a row with how much it holds, and what is wrong with it, damaged or not.

        Nothing is made or changed, and nobody is waited for. Of conversations it also has the
        `Retention`, of the queue the `LearningFigures`.
        """


class AnswerClaim(Protocol):
    """Marks something as being done by a living process until it is ended."""

    def end(self) -> None:
        """End the claim."""


class Conversations(Examined, Protocol):
    """Conversations by key, every message of each.

    A conversation is a tree: each message follows one that was stored before it (`parent`), and one
    path from a beginning to a leaf is shown. Messages that follow the same one are its `versions`.
    The newest of what is added is the leaf; what is added follows it unless it is told otherwise.
    Ids are whole numbers above 0 that grow over all conversations of the space and are never given
    again, also not when their messages are gone.
    """

    @property
    def keeps_everything(self) -> bool:
        """Whether every message is kept, or only a window (a JSON file)."""

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where they are, to be shown to people."""

    def exists(self) -> bool:
        """Whether anything was ever stored, by anybody; asking makes nothing."""

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on, in this store alone.

        Of the settings, `conversation_max_turns`, `conversation_max_chars` and
        `conversation_max_age_days` limit the window, and `conversation_keep_days` what is kept.
        """

    def init(self) -> None:
        """Make what is missing, and do what `cleanup` does."""

    def add_exchange(
        self, conversation_id: str, user_message: Content, assistant_response: Content
    ) -> None:
        """Add what the user said and what the assistant answered, both with the present time.

        Raise InvalidInput for what cannot be a message's content; nothing is added then.
        """

    def add_messages(
        self,
        conversation_id: str,
        messages: Sequence[Message | NewMessage],
        *,
        again: str | None = None,
        after: int | None = None,
        resumed: bool = False,
        audience: str | None = None,
        opened: int | None = None,
    ) -> list[int]:
        """Add messages in one step, in their order; return their ids, which last and grow.

        A message without a time gets the present one. A bare `Message` has the status "complete",
        and the trust of its role (`core.messages.find_trust`), as has a `NewMessage`
        without one. No messages are no conversation: [] is returned and nothing is made. Raise
        InvalidInput for what JSON cannot hold.

        They follow the leaf of the shown path, or with `after` that message (0: none, they are a
        new beginning); the path that they end is then shown, and what else follows the same message
        is kept as other versions. Raise NotFound when that message is not of this conversation; one
        that expired, and that a message of the conversation still names as its parent, is. With
        `again`, and no `after`, they take the place of the last question of the shown path with all
        that follows it, where just that text was asked there, whatever its status; else they are
        added at the end. `resumed`: the silence before the first of them is no break of the window.
        `opened` is the id of the first of them where it was added before, as "stopped", in case the
        rest never comes: if it is still the leaf, it keeps its id and takes the status of the
        first, and the rest follow it; if something followed it meanwhile, it is taken out (what
        followed it follows its parent) and all are added anew at the end or `after`; if it is gone,
        all are added.

        A new conversation has the audience that is given, or else `core.keys.choose_audience`
        of its key; one that exists takes the given one if that is narrower (`is_narrower`). Its
        title is the first of `make_title` of its questions that is not empty. Where
        `conversation_keep_days` is set, what has expired is removed before an addition, once a day
        at least; where it is 0, all of this conversation that its window does not show is removed.
        """

    def import_tree(
        self,
        conversation_id: str,
        nodes: Sequence[TreeNode],
        *,
        leaf: int = -1,
        title: str | None = None,
    ) -> int:
        """Add a whole conversation in one step, less what is there; return how many were new.

        A message is there if one with its role, text and time follows the same message; so an
        import may be repeated, and a longer export adds only what it has more. The path to the
        node at place `leaf` is then shown, unless somebody has gone on with the conversation
        here. A new conversation has the given title. Every node has a time. Raise InvalidInput for
        what JSON cannot hold, or where only a window is kept; nothing is added then.
        """

    def count_new(self, conversation_id: str, nodes: Sequence[TreeNode]) -> int:
        """Return how many messages `import_tree` would add; nothing is changed."""

    def get_history(self, conversation_id: str) -> list[Message]:
        """Return the newest messages within the limits of the window, oldest first.

        These are the messages of the shown path, back to the first silence that is longer than
        `conversation_max_age_days` (between two messages, or between the last and now) and that no
        message `resumed`; of these, without what is hidden, what `core.window.trim_to_limits`
        keeps, counting `core.tokens.count_content_chars`: whole exchanges, and the newest always.
        """

    def window(self, conversation_id: str, *, resumed: bool = False) -> list[StoredMessage]:
        """Return the same as stored messages; `resumed`: the silence up to now is no break."""

    def messages(
        self, conversation_id: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest `limit` messages of the shown path below id `before`, oldest first.

        Without a limit, all; hidden ones are among them, marked. A question that is stored as
        "stopped" has the status "answering" while somebody holds a claim on it.
        """

    def find_message(self, message_id: int) -> tuple[str, StoredMessage] | None:
        """Return a message, also one that is not shown, with the key of its conversation."""

    def claim(self, message_id: int) -> AnswerClaim:
        """Mark a stored question as being answered until the claim is ended, or its process is.

        Everybody sees that, in other programs too. A claim on any other message says nothing.
        """

    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation with every version, to the last byte; False when there is none."""

    def erase_copies(self, conversation_id: str) -> int:
        """Erase a conversation from copies that older versions left; return how many messages.

        A backend that took nothing over from older versions returns 0.
        """

    def cleanup(self) -> int:
        """Remove what has expired; return how many conversations went.

        With `conversation_keep_days` that is each message that is older than so many days, on
        whatever path; a conversation goes with its last one. Where the shown leaf went, the path
        through the newest shown message that is left is shown (the newest of all, where none is).
        With 0 days it is all that no window shows; with None it is nothing. Titles and figures
        follow what is left.
        """

    def summaries(
        self, query: str | None = None, limit: int | None = None
    ) -> list[ConversationSummary]:
        """Return what there is, the newest first; with `query`, whose title or text holds it.

        The newest is the one with the latest `updated_at`, of several the one with the largest
        leaf. `created_at` and `updated_at` are when the oldest and newest of its messages were
        said, `turns` how many the shown path has. A query is found in any case (`casefold`),
        literally, in titles and in messages of every path that are not hidden, and only in
        conversations that `Reader()` may read; "" finds all of those. `limit` cuts what was found.
        """

    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """Return what is known of one conversation; None: there is none."""

    def show_version(self, conversation_id: str, message_id: int) -> None:
        """Show the path through a message and on to the newest of all that follow it.

        Raise NotFound for a conversation that is not there, or a message that is not of it.
        """

    def rename(self, conversation_id: str, title: str) -> None:
        """Set a title, as `make_title` cuts it; one without text brings back the question's.

        Raise NotFound when there is no such conversation.
        """

    def set_searched(self, conversation_id: str, searched: bool) -> None:  # noqa: FBT001 - a value
        """Keep a conversation out of search and other prompts, or include it again.

        Raise NotFound when there is no such conversation. It is listed and read as ever.
        """

    def hide(self, conversation_id: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what was said at these times, and answered, for a reason; return the ids, growing.

        That is each message of role "user" with one of these times, on every path, and all of other
        roles that follow a hidden one. Hidden messages are in no window, no search and no title,
        and `summaries` does not find them. To hide again for the same reason changes nothing. []
        where there is no such conversation or message.
        """

    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages that are.

        The reason is forgotten for all; what is hidden for another one stays hidden and is not
        counted.
        """

    def accept(self, conversation_id: str, times: Collection[datetime]) -> int:
        """Trust what others said at these times as the user's own words; return how many became so.

        That is each message of one of these times, of any role, whose trust is not "user" or
        "assistant"; its trust is "user" from then on.
        """

    def audience(self, conversation_id: str) -> str:
        """Return who may find what is said in a conversation, also of one that has not begun."""

    def figures(self) -> StoredFigures:
        """Count bytes, conversations and messages of all paths; find the time of the oldest.

        What was erased does not count, also where its room is not given back to the system.
        """

    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on.

        These are `core.stored_messages.list_cited` of all messages, on every path, hidden or not;
        where only a window is kept, none. It takes no longer for the messages that cite nothing.
        """

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what a reader that has come to `cursor` must take in and remove.

        A part has about `limit` messages at most. `found` has each message that is new or changed
        in what a feed tells (trust, hidden, searched, audience, shown) and can be searched: of the
        role user, assistant or tool, with text, not hidden, in a conversation that is searched.
        `gone` has the ids of changed ones that can not, or that are removed. A message is in one of
        them, once, as it is now. Whoever follows from None (or any cursor that it was given) until
        `is_last` knows what whoever begins anew would. `found` is in the order of ids in each part,
        and `gone` may have ids that the reader never heard of. A cursor never goes back; `database`
        names this place for good, and no other place has that name.
        """

    def close(self) -> None:
        """Release what is open; the next call opens it again."""


class Facts(Examined, Protocol):
    """Long-term facts with the record of their changes.

    They stand in an order: those without a category as they were added, those of a category
    together, as under a heading. Facts that left (`retire`, or whose last day is over) are the
    older ones: in no prompt, not counted by limits, not found by `get` and `search` here. Every
    change is on record under a number that grows over both; `core.changes.Change` says of what
    kinds. `core.drafts` does to a text what these methods do.
    """

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where they are, to be shown to people."""

    @property
    def format(self) -> str:
        """The form that `text` has: "markdown" or "json"."""

    def exists(self) -> bool:
        """Whether anything was ever stored, by anybody; asking makes nothing."""

    def use(self, settings: Settings) -> None:
        """Apply other limits (`memory_max_items`, `memory_max_chars`) from now on, here alone."""

    def init(self) -> None:
        """Make what is missing."""

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
        """Add a fact at the end of its category; raise MemoryFull when there is no room.

        Raise InvalidInput for a content, category, slot or day that `core.memories` refuses
        (`check_content` and the like; a category is kept as one line). What the origin "learnt"
        brings leaves the room free that `core.room.find_room` says; with `displace`, whatever the
        origin, learned facts make room as `remember` says. An id is made that no fact here has,
        unless `memory_id` is given: that is added once, however often and by however many it is
        asked for; later it returns the fact as it stands, or None when it was deleted, erased or
        moved since, or has ended.
        """

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
        """Add what a user asks to be kept; the weakest learned facts make room where needed.

        As few as needed of `core.room.find_weakest` move to the older ones, in one change with this
        one. An older fact that says just the same comes back instead, as in `revive`. Raise
        MemoryFull when that is not enough; nothing changes then.
        """

    def check_room_for(self, content: str) -> None:
        """Raise MemoryFull when even an empty memory would have no room for a fact."""

    def get_all(self) -> list[Memory]:
        """Return every fact in its order, without those whose last day is over."""

    def view(self) -> MemoryView:
        """Return what a turn has to know of the memory, all of it read at once.

        It is what `get_all` and `prompt_text` return, and the facts whose last day is over and that
        have not moved to the older ones yet.

        A day is over by the machine's local date. The next change of any fact moves them, as a part
        of it ("expire"), also one that finds nothing to change, and an undo, but neither `write`
        nor `erase`. Undoing that change leaves them there; what an undo brings back of them is
        moved by the next change.
        """

    def older(self) -> list[Memory]:
        """Return the facts that no prompt carries: those that ended, then those that left."""

    def get(self, memory_id: str) -> Memory | None:
        """Return the fact of that id, if it is one of `get_all`; else None."""

    def search(self, keyword: str) -> list[Memory]:
        """Return the facts of `get_all` that hold a keyword literally, whatever the case.

        Raise InvalidInput for what is no text (NUL, lone surrogates).
        """

    def list_with_lines(self) -> list[tuple[Memory, int | None]]:
        """Return the facts of `get_all`, each with the line of `text` on which it begins, from 1.

        Both are of one and the same text.
        """

    def list_known_ids(self) -> set[str]:
        """Return the id of every fact that there is or ever was: here, older, or on record."""

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
        """Change what a fact says; with `expected`, only if it still says that, else Conflict.

        None when there is none of that id in the memory. `updated_at` is later than before whatever
        the clock says. Its slot and last day stay unless others are given (None: taken away). Raise
        MemoryFull where it grows beyond the characters; the number of facts does not matter.
        """

    def count_repeat(
        self, memory_id: str, *, origin: str = "user", source: Source | None = None
    ) -> Memory | None:
        """Count a fact that was said once more, at this time; None: none of that id."""

    def retire(
        self, ids: Collection[str], *, origin: str = "user", source: Source | None = None
    ) -> list[Memory]:
        """Move facts to the older ones, in one change; return those that were there to be moved."""

    def revive(
        self,
        memory_id: str,
        *,
        until: date | None = None,
        origin: str = "user",
        source: Source | None = None,
        displace: bool = False,
    ) -> Remembered | None:
        """Bring an older fact back that was said again, with its id; None: none of that id.

        It counts as said once more, now and later than before, with the last day `until`. Raise
        MemoryFull when there is no room, as `add` does; with `displace`, learned facts make it.
        """

    def delete(self, memory_id: str, *, origin: str = "user", source: Source | None = None) -> bool:
        """Delete a fact, an older one as well; False when there is none of that id."""

    def delete_all(self, ids: Collection[str], *, origin: str = "user") -> list[Memory]:
        """Delete facts of the memory in one change; return those that were there."""

    def arrange(
        self,
        ids: Collection[str],
        *,
        category: str | OrKept | None = KEPT,
        pinned: bool | OrKept = KEPT,
        origin: str = "user",
    ) -> list[Memory]:
        """Put facts below another category, pin or unpin them, in one change; return them all.

        What they say and the day they are of stay. A fact that is so already is not changed.
        """

    def write(self, text: str, *, expected: str | None = None, origin: str = "user") -> Written:
        """Replace the whole text by a person's, to the letter, whatever the limits say.

        With `expected`, only if that is still the version, else raise Conflict. Raise InvalidInput
        for what is no text, or not of this `format`. What it lacks is gone, what it says otherwise
        is changed, and both are on record as one change ("put": first one without an id that tells
        what was `removed`, then one for each fact that is new or other); the same text is no change
        (`Written.change` is None).
        """

    def undo(self, number: int | None = None, *, skip: bool = False) -> list[Change]:
        """Take back the newest change that can be, or a certain one, with all of the same step.

        Return what was taken back, newest first; [] when there is nothing. The text is then as it
        was, to the letter, if nothing else changed it since; what else was changed since stays.
        What it changed must still stand so: else raise Conflict and change nothing, or with `skip`
        leave that alone and go on to the change before (not with a `number`: then []). Raise
        NotFound for a `number` that is no change of a person's, or that was taken back. What can be
        taken back is what `core.changes.find_undoable` and `find_undoable_numbers` say; an undo or
        an erasure is not.
        """

    def changes(self, memory_id: str | None = None) -> list[Change]:
        """Return what was changed, oldest first, by growing numbers; of one fact or of all."""

    def last_change(self) -> Change | None:
        """Return the newest change; None when there was none."""

    def import_memories(self, incoming: Sequence[Memory]) -> int:
        """Add facts with ids and times, all or none, as one change; return how many were new.

        One that is here with the same content and category, or with the same id and content, is not
        added; one whose id another fact has gets one like it (`core.memories.make_unique_id`).
        Raise MemoryFull or InvalidInput as `add` does.
        """

    def import_older(self, incoming: Sequence[Memory]) -> int:
        """Add facts to the older ones likewise, whatever the limits; return how many were new.

        One that is here, or among the older ones, is not added. This is not among the `changes`,
        and no undo takes it back.
        """

    def erase(self, source: str, *, elsewhere: Sequence[Change] = ()) -> list[Memory]:
        """Erase all that came from a source, in the record too; return the facts that are gone.

        A source is a conversation's key, "tool:NAME" or "document:NAME": the `conversation` or
        `name` of a change's `Source`. A fact that it brought goes, also an older one. One that it
        changed says again what it said before. What a person (a change without a source) or another
        source said since stays; of it only what came from this source is taken off the record. A
        fact that it deleted stays deleted, and that can be undone. Nothing else of it can be
        undone, and an id that went is not added again. `elsewhere` is the record of where the same
        facts waited, or went to.
        """

    def text(self) -> str:
        """Return the whole as text in `format`, to be read and edited by a person."""

    def version(self) -> str:
        """Return a name for `text` as it is: the same name, the same letters, for everybody."""

    def snapshot(self) -> tuple[str, str]:
        """Return the text and the version of just that text."""

    def prompt_text(self) -> str:
        """Return the facts of `get_all` as Markdown: headings, prose and bullets, no ids."""

    def room(self, origin: str = "user") -> Room:
        """Return how many more facts and characters `add` would take from that origin."""


class PendingFacts(Facts, Protocol):
    """Facts that wait for a person to accept them: in no prompt, and not found by a search.

    The memory's limits are not theirs: 1,000 can wait, of any length and origin (`add` raises
    MemoryFull then). They do not end, and there are no older ones of them: `retire` returns [],
    `import_older` 0.
    """

    def accept(self, memory_id: str, content: str | None = None) -> Memory:
        """Move a fact to the memory under its id, as it is or saying something else; return it.

        It keeps category, origin, slot and last day, and the source that it first came from;
        learned facts make room for it. Something else is a person's words: it is on record here as
        an "update" without a source before the deletion, so that it stays when the source is erased
        (with `elsewhere`). It stops waiting when it is in the memory, and its deletion
        here is on record with the origin "accept". One that is in the memory by that id already has
        been accepted: it no longer waits, whoever asks. To accept again returns the fact of the
        memory. Raise MemoryFull when there is no room (it goes on waiting), InvalidInput for a
        content that is none, and NotFound when nothing of that id waits or was accepted.
        """

    def reject(self, memory_id: str) -> bool:
        """Delete a pending fact; False when there is none of that id."""


class DailyNotes(Examined, Protocol):
    """What was noted on each day, in the zone of the clock: the day of the person.

    A day reads "# 2026-11-15", an empty line, and for each note, in the order in which they were
    made, what `encode_bullet` makes of the time and the note: "- 23:59 met Ann".
    """

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where they are, to be shown to people."""

    def init(self) -> None:
        """Make what is missing."""

    def append(self, entry: str, *, source: str | None = None, once: str | None = None) -> None:
        """Add a note to today, with the time, and where it came from, which is not read.

        With `once`, not where one of the last two days that have notes holds that text already; of
        several who try, one adds it. Raise InvalidInput for what is no text, or is empty.
        """

    def read(self, day: date | str) -> str:
        """Return the notes of a day; "" when there are none. Raise InvalidInput for no date.

        A day is a date, the day of a datetime, or text as "2026-11-15".
        """

    def has_source(self, source: str) -> bool:
        """Whether a note of any day came from a source."""

    def revise(self, day: date | str, entry: str, content: str | None) -> bool:
        """Make a note of a day say something else, or delete it; False when none says `entry`.

        Both are what stands in the note, its time included. Where it came from stays. Of several
        that say the same, it is the first. Raise InvalidInput for a content that is none.
        """

    def erase(self, source: str) -> int:
        """Erase every note that came from a source, of every day; return how many."""

    def dates(self) -> list[date]:
        """Return the days that have notes, oldest first."""


class Schedules(Examined, Protocol):
    """Prompts that run on a schedule, and their runs.

    `core.schedules` has what happens to a schedule at a moment, `store.schedules` when it is due.
    """

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where they are, to be shown to people."""

    def init(self) -> None:
        """Make what is missing."""

    def add(
        self,
        prompt: str,
        timing: str,
        *,
        zone: str | None = None,
        name: str | None = None,
        deliver: str = "log",
    ) -> Schedule:
        """Add a schedule, due next after now; return it.

        Raise InvalidInput for a prompt that is empty, no text or has more than 20,000 characters, a
        name of more than 100, a timing or zone that `store.schedules` refuses or that never comes,
        a place that is none ("log", "slack:CHANNEL", "file:NAME.md"), and when there are 200. A
        name and a timing are kept on one line, a prompt without the white space around it. Lone
        surrogates of a result or an error become question marks. Without a zone it is that of the
        machine (`store.schedules.assume_zone`).
        """

    def get_all(self) -> list[Schedule]:
        """Return every schedule, in the order in which they were made."""

    def get(self, schedule_id: str) -> Schedule:
        """Return a schedule; raise NotFound when there is none of that id."""

    def update(
        self,
        schedule_id: str,
        *,
        prompt: str | None = None,
        timing: str | None = None,
        zone: str | None = None,
        name: str | None = None,
        deliver: str | None = None,
        is_paused: bool | None = None,
    ) -> Schedule:
        """Change what is given of a schedule, all or none of it; an empty name takes the name away.

        Raise NotFound when there is none of that id, and InvalidInput as `add` does. Another timing
        or zone sets when it is due next; so does `is_paused=False` where it rested or was due no
        more.
        """

    def pause(self, schedule_id: str) -> Schedule:
        """Stop running a schedule until it is resumed; a run under way goes on."""

    def resume(self, schedule_id: str) -> Schedule:
        """Run a schedule again from its next time on: what it missed meanwhile is not made up for.

        One that does not rest is left as it is. Raise InvalidInput when its time is over.
        """

    def remove(self, schedule_id: str) -> Schedule:
        """Remove a schedule with its runs; return it; raise NotFound for none."""

    def erase(self, key: str) -> int:
        """Erase what the runs of the conversation "schedule:ID" left; return how many results.

        That they were made stays; one that is under way ends, and its result goes nowhere.
        """

    def claim(self, kinds: Collection[str] = ..., *, most: int = ...) -> Claimed:
        """AnswerClaim what is due (`core.schedules.claim_run`): each run is given to one holder.

        Who waited longest is first; of those who waited equally long, who never ran, in their
        order, then by the id of the last run, which is chance. `most` and `kinds` (what stands
        before ":" in `deliver`) limit what is taken, not what is marked as missed. By default all
        kinds, and all that is due. A holder is whoever opened the store; it holds a run for
        `LEASE`, and longer with each `hold`.
        """

    def begin(self, schedule_id: str) -> tuple[Schedule, Run]:
        """Begin a run now, whenever it is due; when it is due next stays.

        Raise NotFound for no such schedule, and Conflict while a run is under way. One that was
        interrupted before is given up.
        """

    def hold(self, schedule_id: str, run: Run) -> bool:
        """Renew the lease of a run; False when it is another's, ended, or of a removed schedule.

        As below, it is still one's own when the lease is over, until somebody else has taken it up.
        """

    def give_back(self, schedule_id: str, run: Run) -> bool:
        """Return a run for whoever claims next; False when it is no longer one's own."""

    def finish(
        self, schedule_id: str, run: Run, *, result: str | None = None, error: str | None = None
    ) -> bool:
        """Store how a run ended, 2,000 characters of it; False when it is not one's own.

        With an error it is "failed", else "done"; the 50 newest runs of a schedule are kept.
        """

    def add_result(self, name: str, run: Run, text: str) -> None:
        """Add what a run brought to the results of that name; once, as long as it names the run.

        The name is what follows "file:" in `Schedule.deliver`, and `text` holds the run's id.
        """

    def read_results(self, name: str) -> str:
        """Return the results of a name, an empty line after each; "" where there are none."""


class LearningQueue(Examined, Protocol):
    """Messages to learn from, decisions to carry out, and what learning must know of itself.

    Days are given; a lease is of `core.learning.queue.LEASE_SECONDS`, counted to both sides of its
    beginning, so that a clock that was set back holds nothing for ever.
    """

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where it is, to be shown to people."""

    def exists(self) -> bool:
        """Whether anything was ever stored, by anybody; asking makes nothing."""

    def close(self) -> None:
        """Release what is open; the next call opens it again.

        What was claimed by this opener and is held still waits again, its attempt not counted; what
        was held for longer than a lease counts as cut off.
        """

    def enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        """Add messages to learn from, in their order; they are durable when this returns.

        Raise InvalidInput for an unknown trust; none is added then.
        """

    def count_queued(self, key: str) -> int:
        """Count what `list_queued` returns."""

    def list_queued(self, key: str) -> list[Queued]:
        """Return, in order, a conversation's messages that no completed extraction had.

        Whoever holds them; those that were set aside are not among them.
        """

    def set_aside(self) -> list[SetAside]:
        """Return, in order, the messages that are not tried again: they ended whoever tried."""

    def backlog(self) -> dict[str, int]:
        """Count the waiting messages by conversation, in the order of their first messages."""

    def is_due(self, key: str, *, interval_seconds: float, min_messages: int) -> bool:
        """Whether it is time to extract from a conversation: `core.learning.queue.is_due`.

        The last extraction was when a model's last attempt began, failed or was completed; that is
        a `claim` of whatever or of what rules have read, a `release` and a `complete`.
        """

    def claim(self, key: str, *, read: bool | None = None) -> Batch | None:
        """Lease what waits of a conversation; None when nothing does, or any of it is held.

        Any of all that waits of it, whatever `read` asks for. With `read`, only what rules have
        read (True) or have not (False). Each message's attempt is counted; `release`,
        `complete_reading`, an orderly `close` and being left unread set its attempts back to none.
        Where a lease ran out (a message that is not `is_settled` has an attempt counted), the first
        such message is taken alone, and `has_more` tells that others wait; one with two attempts is
        set aside first. Settled messages are shown in every batch of their conversation, though
        held only if taken. `rows` are for this store's own use.
        """

    def complete(
        self, batch: Batch, decisions: Sequence[Decision], unread: Unread | None = None
    ) -> bool:
        """Replace the messages by what was decided, in one step; False when the lease is lost.

        It is lost, and nothing changes, once somebody else claimed them or one of them was erased;
        not by time alone. Decisions enter the outbox in their order, each under a new id. `unread`
        counts from `start` in `batch.messages`: those that are held wait again, as read by rules,
        and its problem is the `last_error` if any do. The first
        `unreadable` of them count one unreadable answer, and at the second are given up, counted in
        `tallies` of today as "given up". Without that, there is no last error any more. Raise
        InvalidInput for what JSON cannot hold.
        """

    def complete_reading(
        self,
        batch: Batch,
        decisions: Sequence[Decision],
        sightings: Sequence[Sighting] = (),
    ) -> bool:
        """Store what rules decided, and leave the messages for a model; False: the lease is lost.

        All in one step. Of the sightings of all conversations the newest 500 are kept.
        """

    def has_unread(self, key: str) -> bool:
        """Whether something of a conversation waits that rules have not read."""

    def sightings(self) -> list[Sighting]:
        """Return the statements that were made once and are less sure, oldest first."""

    def release(self, batch: Batch, error: str) -> None:
        """Return the messages to the queue and keep what went wrong, unless the lease is lost."""

    def last_error(self) -> LearningProblem | None:
        """Return what went wrong last, wherever, unless an extraction was completed since."""

    def outbox(self) -> list[Outgoing]:
        """Return what was decided and is not carried out yet, oldest first."""

    def settle(self, outgoing_id: str) -> bool:
        """Remove what was carried out; False when it was settled, by anybody, or erased before."""

    def postpone(self, outgoing_id: str, problem: str) -> None:
        """Keep what kept a decision from being carried out; an unknown id is nothing."""

    def begin_flush(self, key: str) -> bool:
        """Begin a conversation's flush (`core.learning.queue.Cycle`); False: it is or was made.

        Whoever is at it for longer than a lease is taken to have died.
        """

    def end_flush(self, key: str, *, succeeded: bool) -> None:
        """Store how the flush went; one that failed may begin again."""

    def end_cycle(self, key: str) -> None:
        """Begin a new cycle, in which there is a flush again."""

    def spend(self, model: str, *, cap: int, day: date) -> bool:
        """Count a call of a model; False, and not counted, when all together had the day's cap."""

    def count_calls(self, day: date) -> dict[str, int]:
        """Return a day's calls of each model, by the model's name."""

    def count_skipped(self, amount: int, day: date) -> None:
        """Count facts of a model's answers that could not be used."""

    def tallies(self, day: date) -> dict[str, int]:
        """Return how much was "skipped" and "given up" on a day; nothing is not named."""

    def json_format(self, url: str, model: str) -> str | None:
        """Return the JSON format that a model's server accepted less than 30 days ago."""

    def keep_json_format(self, url: str, model: str, json_format: str) -> None:
        """Remember which JSON format a model's server accepted."""

    def unqueue(self, key: str, times: Collection[datetime]) -> int:
        """Remove what waits, and what was decided, of a conversation's messages of these times.

        Return how much. What somebody holds of that conversation waits again, if any of it went.
        """

    def erase(self, key: str | None = None, source: str | None = None) -> int:
        """Erase all of a conversation or of a source, to the last byte; return how much.

        That is each message, decision, sighting and problem of that key, or that names key or
        source as where it came from (`conversation`, `source`); a problem comes from where the
        messages came from that were held then. Of a key it is also its cycle and when it was due.
        What others hold of the conversation of an erased message waits again, and no attempt at it
        counts any more. Raise InvalidInput when neither is given.
        """


class Passages(Examined, Protocol):
    """The search over facts, daily notes and conversations, always up to date when asked.

    `core.search.passages` cuts what is searched. Of a fact, `Hit.source` is "memory", or "older"
    for one that left or whose last day is over; of a note "daily", of a message "conversations".
    The day of a fact or a message is the machine's local date when it was added or said. What waits
    for a person, records, schedules and what is hidden, not searched or gone are not found, nor
    messages whose facts were forgotten: every call but `erasing` and `scrub` does first what
    `Stores.settle_messages` does.
    """

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where the index is, to be shown to people."""

    @property
    def has_embedder(self) -> bool:
        """Whether meanings can be compared here."""

    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None:
        """Compare meanings here with this model from now on, with these weights; None: words.

        Its vectors are kept for everybody, under its name; another model's are forgotten, at the
        latest when there is one of every text.
        """

    def sync(self, progress: Progress = ...) -> int:
        """Take in what changed; return how many passages are new.

        `progress` is told, where there is much to do, how much of how much is done.
        """

    def rebuild(self, progress: Progress = ...) -> int:
        """Build the index anew from the stores; return how many passages there are."""

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        source: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        mode: str = "hybrid",
        floor: bool = True,
        reader: Reader | None = None,
    ) -> list[Hit]:
        """Return the passages that fit best, best first; [] for a query without a word.

        `core.search.terms.parse_query` says what words are, in any language; `core.search.ranking`
        what a passage is worth by its words, its speaker's name, its day (`list_date_terms`), the
        words said right around it, and its meaning. By meaning alone, nothing is found without a
        model.
        `source` is one of "memory", "older", "daily", "conversations"; `since` and `until` are
        days, both inclusive, and a passage without a day is in neither. The `mode` is "hybrid",
        "lexical" (words alone) or "vector" (meaning alone). `floor`: without what hardly fits, and
        the same text once. A limit is from 1 to 100, for a prompt to 300; raise InvalidInput for
        another, or for another source, mode or day. Messages that their conversation no longer
        shows come last. Without a `reader` it is `Reader()`.

        A reader finds what `core.keys.can_read` allows; in a prompt, words whose trust is
        neither "user" nor "assistant" only if they are of its own conversation.
        """

    def list_between(
        self, first: date, last: date, limit: int, *, source: str, reader: Reader
    ) -> list[Hit]:
        """Return the newest `limit` passages of one source of some days, oldest first.

        Only what the reader may find, and what its conversation shows. They have no score.
        """

    def around(self, hit: Hit, before: int = 1, after: int = 1) -> list[Hit]:
        """Return what was said right before and after a hit, so many passages of each, in order.

        These are its neighbours as `core.search.passages` has them: parts of messages of the same
        conversation that are shown and trusted, none more than 30 minutes after the one before. Of
        what is no message, or no longer there, [].
        """

    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; 0 without a model."""

    def embed(self, progress: Progress = ..., *, seconds: float | None = None) -> int:
        """Make missing vectors, one batch and then for so many seconds; return how many.

        The first batch is made however few the seconds: on a busy machine nothing would ever be
        done otherwise. What was said last comes first; `progress` is told how many of all are done.
        What is done stays done when it is stopped. Raise the model's EmbeddingError.
        """

    def erasing(self) -> AbstractContextManager[None]:
        """Erase, to the last byte, what leaves the other stores within; it is done at the end."""

    def scrub(self) -> None:
        """Leave no byte of messages that expired; does something once a day at most."""

    def close(self) -> None:
        """Release what is open; the next call opens it again."""


class Records(Examined, Protocol):
    """What other frameworks keep here: bytes by collection and key, not searched.

    A name is text of 1 to 512 characters without control characters; a prefix may be empty. Every
    method raises InvalidInput for another. Keys are in the order of their characters' code points.
    A record is there until `expires_at`, and no longer at that moment.
    """

    def put(
        self,
        collection: str,
        key: str,
        value: bytes,
        *,
        expected: int | None = None,
        ttl: timedelta | None = None,
    ) -> Record:
        """Store a value of up to 16,000,000 bytes (else InvalidInput) in the place of any other.

        With `expected`, only over the record of that version (0: only where there is none, or it
        has expired), else raise Conflict: of several who try, one does. Each change has a larger
        version than all before, of whatever key. `ttl` counts from now; without it, it has no end.
        What has expired by now is removed.
        """

    def get(self, collection: str, key: str) -> Record | None:
        """Return a record that has not expired; None when there is none."""

    def list_records(
        self, collection: str, prefix: str = "", *, after: str | None = None, limit: int = 1000
    ) -> list[Record]:
        """Return, by key, the first `limit` records whose key begins with `prefix`.

        With `after`, of those whose key is larger than that.
        """

    def append(
        self, collection: str, prefix: str, value: bytes, *, ttl: timedelta | None = None
    ) -> Record:
        """Store a value under a new key: `prefix` and 16 hexadecimal digits.

        It sorts after all that were ever appended to that prefix, also where they are gone. Raise
        InvalidInput as `put` does, and for a prefix of more than 496 characters.
        """

    def pop(self, collection: str, key: str) -> Record | None:
        """Remove a record and return it, to one of several who try; None: none, or expired."""

    def erase(self, collection: str, prefix: str = "") -> int:
        """Erase what begins with `prefix`, to the last byte; return how many had not expired."""

    def close(self) -> None:
        """Release what is open; the next call opens it again."""


class Work(Protocol):
    """Which spaces of a place have something to do, shared out among all who ask for it.

    It is the one thing that is seen of all spaces, from any of them, and tells nothing but that.
    The kind "schedules" is due when `core.schedules.find_next_moment` says so of any schedule of a
    space. The kind "learning" is due a minute (`store.work.LEARNING_DELAY`) after messages were
    queued, or were first looked for here: whoever talks to a space learns from it at once. To
    enter the space and do it is left to whoever gets it; each run and each batch is claimed there.
    """

    def claim(self, most: int = 1) -> list[DueWork]:
        """Take what is due until so much is held, longest due first; of several, one gets it.

        It is held until `finish` or `close`, until the process ends, or where that cannot be known
        for `store.work.WORK_LEASE`.
        """

    def finish(self, work: DueWork, again: datetime | None = None) -> None:
        """Release work; it is due again at a time, or as soon as there is more.

        Without a time nothing is left of it. Files remember the time for this opener alone. Nothing
        happens where it is held no longer.
        """

    def count_due(self) -> int:
        """Count what is due now in all spaces, whether or not somebody holds it."""

    def close(self) -> None:
        """Release all that is held; the next call opens it again."""


class Announcements(Protocol):
    """What may have changed in a space, announced to whoever subscribed, whoever changed it.

    A kind is the name of a store of `Stores`: "config", "conversations", "daily", "facts",
    "pending", "records" or "schedules". An announcement of a kind means that something of it may
    have changed since the subscription or the last announcement: look. Each change is announced
    soon, at least once, also one by another program; several may be announced together, and one
    more than once. No answer of any store waits for an announcement.
    """

    def subscribe(self, callback: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call `callback` with the kinds that may have changed; return a function that ends that.

        Callbacks of a space are called one at a time, on a thread of the backend's, and may use
        every store. What one raises is logged and keeps no other from being called. The function
        returns at once, also in a callback; this one is not called after it, but a call that has
        begun may still run. To end it again is nothing.
        """

    def close(self) -> None:
        """End all subscriptions."""


class Config(Examined, Protocol):
    """The settings that an operator changed, the same for all spaces of a place."""

    @property
    def location(self) -> Any:  # noqa: ANN401 - a path, or an address
        """Where they are, to be shown to people."""

    def load(self) -> Settings:
        """Return the settings that hold now: environment over these over defaults.

        `Settings.sources` names, for each that was set, "environment" or "file" (for these).
        """

    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; None restores a default.

        They are named by their key ("memoryMaxItems") or variable ("MEMORY_MAX_ITEMS"), and a value
        may be text as it is typed. Raise SettingsError for an unknown name or a bad value, naming
        it.
        """


class Portable(Protocol):
    """A store as it is copied: parts that belong to no backend, by name.

    Parts of two spaces are the same where their digests are. What nobody holds in a copy (leases,
    claims) and what is derived (the index, feeds) is in none of them.
    """

    name: str

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return about `limit` parts whose name comes after one, by the order of code points."""

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store parts in the place of those of their names, and remove those of other names.

        Both in one step, but for files of which each is one.
        """


class PortableSpace(Protocol):
    """A space as it is copied, store by store."""

    def list_stores(self) -> Sequence[Portable]:
        """Return settings, facts, pending, conversations, messages, daily, schedules and so on.

        A conversation comes before its messages. The settings are those of all spaces.
        """

    def read_numbers(self) -> Mapping[str, int]:
        """Return the last numbers that were given to "messages" and "records"."""

    def finish(self, numbers: Mapping[str, int]) -> None:
        """Make right what follows from the parts, when all are there.

        No number up to these is given again, and forgotten facts hide no more messages.
        """


class Stores(ABC):
    """Everything of one space: a memory of its own, of which no other space sees anything.

    Opened several times at one place, by several programs or threads, all see the same: what one
    call stored, every later call of any of them finds. A name is of up to 64 small letters and
    digits of any script, "-" and "_", and begins with a letter or digit; opening raises
    InvalidInput for another. The clock that it was opened with is read
    wherever these protocols speak of now or today.
    """

    config: Config
    facts: Facts
    pending: PendingFacts
    conversations: Conversations
    daily: DailyNotes
    schedules: Schedules
    learning: LearningQueue
    records: Records
    passages: Passages
    announcements: Announcements
    work: Work
    operator_records: Records
    """What the operator keeps of all spaces of the place: tokens and limits.

    They are the same from every space, and in the `records` of none.
    """

    @abstractmethod
    def open_space(self, space: str) -> Stores:
        """Open another space of the same place; raise InvalidInput for a name that none can have.

        Whoever opens it closes it.
        """

    @staticmethod
    def open(
        where: DataFolder | str | Path | None = None,
        *,
        space: str | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> Stores:
        """Open a space of a data folder, by default the folder that the programs would use.

        `space` is by default that of TURNLEAF_SPACE, and `now` the machine's clock. Raise
        InvalidInput for an address that this version has no backend for.
        """
        # By name: what opens the backends knows them, and they know this module.
        opening = import_module("turnleaf.store.opening")
        return cast("Stores", opening.open_stores(where, space=space, now=now))

    @property
    @abstractmethod
    def folder(self) -> DataFolder:
        """The operator's own folder, for the token, results of schedules and what `doctor` shows.

        Each space has a part of it; the token and the settings are those of the whole.
        """

    @property
    @abstractmethod
    def space(self) -> str:
        """The name of the space."""

    @property
    @abstractmethod
    def location(self) -> str:
        """Where it is, to be shown to people."""

    @property
    @abstractmethod
    def options(self) -> Sequence[str]:
        """The options with which another program opens the same space; () where none can.

        They are seen by everybody on the machine, so they hold no password.
        """

    def claim_learning(self) -> int | None:
        """Return a descriptor that makes the one process that keeps it open learn for this space.

        None where another process has it, or no other process can open the space.
        """
        return None

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings that hold now, also where somebody else changed them.

        Whoever reads them after a change has `use` called on the facts and the conversations.
        """

    @abstractmethod
    def init(self) -> None:
        """Make what is missing, and remove what has expired."""

    @abstractmethod
    def check_ready(self) -> None:
        """Raise a TurnleafError where something cannot be read or written now.

        It costs a small write at most, of which nothing is left, and announces nothing.
        """

    def measure_pool(self) -> Mapping[str, float]:
        """Return figures about the connections to a database; {} where there is none.

        These are `connections`, `idle_connections`, `max_connections`, `waiting_requests`,
        `requests_total`, `failed_requests_total` and `lost_connections_total`, of this process.
        """
        return {}

    @abstractmethod
    def settle_messages(self) -> None:
        """Bring messages in line with what became of the facts that they gave.

        `core.search.message_filters` says which: those of facts that were forgotten are hidden,
        with the reason `make_reason(fact)`, those of facts that are back are shown again, and
        those of pending facts that were accepted are accepted, too. Each fact hides its messages
        once, when it is first seen to be forgotten: what `hide` finds at its places, and, without
        what follows it, each message that holds one of its texts in any case, of whatever role.
        What is added later is not hidden, and what somebody shows again stays shown. A search does
        this first, and a turn that has carried out a request.
        """

    @abstractmethod
    def take_over_older(self) -> str | None:
        """Take in what an older version kept elsewhere; return a sentence about it, if it did."""

    @abstractmethod
    def find_unimported(self) -> str | None:
        """Return in one line which facts another location holds that were never imported, if any.

        Also how to import them. Facts that were imported once and forgotten since are not among
        them.
        """

    @abstractmethod
    def redact(self, text: str) -> str:
        """Return a text without the names of places of this machine, for people elsewhere."""

    @abstractmethod
    def find_place(self) -> Place:
        """Return where the space is, why it is that place, and whether anything is there yet."""

    @abstractmethod
    def examine(self) -> Examination:
        """Return the place, and what each of `list_examined` finds, joined in this order."""

    def list_examined(self) -> tuple[Examined, ...]:
        """Return the stores that can be examined."""
        return (
            self.facts, self.daily, self.conversations, self.schedules, self.passages, self.config,
            self.learning, self.pending, self.records,
        )  # fmt: skip

    @abstractmethod
    def open_portable(self) -> PortableSpace:
        """Return the space as it is copied; raise InvalidInput where it keeps only a window."""

    @abstractmethod
    def tidy(self) -> list[str]:
        """Remove what ended programs left of unfinished writes; return copies that were set aside.

        They are named so that a person can look at them: one may still hold what was erased.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what is open, and end all subscriptions; the next call opens it again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
