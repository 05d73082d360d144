"""`ConversationStore`: conversations by key, kept within limits, in a SQLite or a JSON file."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

from turnleaf.core import conversation_formats
from turnleaf.core.diagnosis import Diagnosis, Examination, Retention, describe_figures
from turnleaf.core.keys import check_key, choose_audience
from turnleaf.core.languages import pluralize
from turnleaf.core.messages import (
    ANSWERING,
    ConversationSummary,
    Cursor,
    Message,
    NewMessage,
    StoredFigures,
    make_title,
)
from turnleaf.core.serialization import to_iso, to_millisecond, to_text
from turnleaf.core.window import PLAIN_ADDITION, Addition, Limits
from turnleaf.errors import InvalidInput, StorageError
from turnleaf.settings import Settings, find_data_dir
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.files import atomic, databases
from turnleaf.store.files.conversations import reading, takeover, writing
from turnleaf.store.files.conversations.json_file import JsonShelf
from turnleaf.store.files.conversations.schema import FORM, get_conversation, show_through
from turnleaf.store.files.conversations.takeover import OlderFiles, erase_from_backups, name_older
from turnleaf.store.files.conversations.writing import Prepared
from turnleaf.store.files.databases import Database, measure
from turnleaf.store.files.diagnosis import collect, examine_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from turnleaf.core.diagnosis import Part
    from turnleaf.core.messages import Content, Feed, StoredMessage, TreeNode
    from turnleaf.core.search.message_filters import MessageOutcomes
    from turnleaf.store.files.conversations.takeover import TakenOver
    from turnleaf.store.files.databases import Connection


P = ParamSpec("P")
T = TypeVar("T")
VERSION = "PRAGMA data_version"

Kept: TypeAlias = "tuple[tuple[object, ...], tuple[Message, ...]]"
NOTHING_KEPT: Kept = ((), ())


class DatabaseShelf:
    """A database of conversations."""

    keeps_everything = True

    def __init__(self, path: Path) -> None:
        self.database = Database(path, FORM)
        self._last: dict[str, Kept] = {}

    def open(self) -> None:
        """Make the database where missing."""
        self.database.open()

    def append(
        self,
        key: str,
        new: Sequence[Message | NewMessage],
        limits: Limits,
        now: datetime,
        addition: Addition,
    ) -> list[int]:
        """Add messages to a conversation; return their numbers."""
        rows = Prepared(new)

        def add(database: Connection) -> list[int]:
            numbers = writing.append(database, key, rows, now, addition)
            if limits.keep_days == 0:
                writing.trim(database, key, limits, now)
            return numbers

        return self.database.write(add)

    def read(self, key: str, limits: Limits, now: datetime) -> list[Message]:
        """Return the messages that the window shows.

        A turn asks for the same window several times; it is read again once anybody wrote. Only
        plain messages are kept: nobody to whom they were given can have changed them.
        """

        def look(database: Connection) -> list[Message]:
            # `total_changes` counts what this connection
            # wrote, `data_version` changes when others write.
            version = (database, limits, database.total_changes(), database.execute(VERSION).get)
            known, kept = self._last.get(key, NOTHING_KEPT)
            if known == version and _is_recent(kept, limits, now):
                return list(kept)
            found = reading.read_plain(database, key, limits, now)
            if found is None:
                return [said.message for said in reading.read_window(database, key, limits, now)]
            self._last = {key: (version, tuple(found))}
            return found

        return self.database.read(look)

    def window(
        self, key: str, limits: Limits, now: datetime, *, resumed: bool
    ) -> list[StoredMessage]:
        """Return what the window shows, as stored messages."""
        return self.database.read(
            lambda database: reading.read_stored_window(database, key, limits, now, resumed=resumed)
        )

    def messages(self, key: str, before: int | None, limit: int | None) -> list[StoredMessage]:
        """Return the newest messages of the shown path below a number, oldest first."""
        return self.database.read(
            lambda database: reading.read_messages(database, key, before, limit)
        )

    def find(self, number: int) -> tuple[str, StoredMessage] | None:
        """Return a message with its conversation's key."""
        return self.database.read(lambda database: reading.read_one(database, number))

    def summaries(self, query: str | None, limit: int | None) -> list[ConversationSummary]:
        """Return what is known of each conversation, the newest first."""
        return self.database.read(lambda database: reading.read_summaries(database, query, limit))

    def summary(self, key: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        return self.database.read(lambda database: reading.read_summary(database, key))

    def clear(self, key: str) -> bool:
        """Erase a conversation, so that no byte of it stays; False when there is none."""
        return self.database.erase(lambda database: writing.clear(database, key))

    def expire(self, limits: Limits, now: datetime) -> int:
        """Erase messages that are too old; return how many conversations went with them."""
        # An erasure rewrites pages and empties the log; mostly nothing has expired.
        if not self.database.read(lambda database: writing.is_expired(database, limits, now)):
            return 0
        return self.database.erase(lambda database: writing.expire(database, limits, now))

    def figures(self) -> tuple[int, int, datetime | None]:
        """Count conversations and messages; find when the oldest message was said."""
        return self.database.read(reading.read_figures)

    def count_free(self) -> int:
        """Count the bytes that an erasure left in the file, and that what is said next fills."""
        return self.database.read(
            lambda one: int(one.pragma("freelist_count")) * int(one.pragma("page_size"))
        )

    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on."""
        return self.database.read(reading.read_cited)

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self.database.close()


def _is_recent(messages: Sequence[Message], limits: Limits, now: datetime) -> bool:
    """Whether no silence has ended a window since it was read."""
    last = messages[-1].timestamp if messages else None
    return last is not None and now - last <= limits.max_silence


def examine(path: Path) -> StoredFigures:
    """Count what a database holds, changing nothing; raise CorruptFile when it is none."""
    has_begun = path.stat().st_size > 0
    counts = databases.examine_database(path, FORM, _count) if has_begun else (0, 0, None)
    return StoredFigures(databases.measure(path), *counts)


def _count(database: Connection) -> tuple[int, int, datetime | None]:
    if database.pragma("user_version") == FORM.version:
        return reading.read_figures(database)
    conversations: int = database.execute("SELECT count(*) FROM conversations").get
    messages: int = database.execute("SELECT count(*) FROM messages").get
    return conversations, messages, None


CLEANUP_INTERVAL = timedelta(days=1)


SHELVES: dict[str, type[JsonShelf | DatabaseShelf]] = {
    ".json": JsonShelf,
    ".db": DatabaseShelf,
}


class ConversationStore:
    """Conversations by key.

    A location ending in `.db` keeps every message; one in `.json` keeps what its limits allow.
    One that `takes_over` has what programs of older versions write beside its database, too.
    """

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        settings: Settings | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        takes_over: bool = False,
    ) -> None:
        self.location = _resolve(location)
        self._given_settings = settings
        self._limits = (settings or Settings()).window_limits
        self._now = now
        self._shelf = SHELVES[self.location.suffix](self.location)
        is_taking = takes_over and self._shelf.keeps_everything
        self._older = OlderFiles(self, now=now) if is_taking else None
        self._is_ready = False
        self._cleaned_at = datetime.min.replace(tzinfo=UTC)

    def exists(self) -> bool:
        """Whether anything was ever stored; asking makes nothing."""
        return self.location.exists()

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on."""
        self._given_settings = settings
        self._limits = settings.window_limits

    def examine(self) -> Examination:
        """Return what is kept of conversations, for how long, and what is wrong with it."""
        kept = Retention(self.keeps_everything, self._limits.keep_days)
        return Examination.join([_examine(self.location, kept), takeover.examine(self.location)])

    def init(self) -> None:
        """Make the folder and the file where missing, and clean up what has expired."""
        self._open()
        self.take_over_older()
        self.cleanup()

    def add_exchange(
        self, conversation_id: str, user_message: Content, assistant_response: Content
    ) -> None:
        """Add what the user said and what the assistant answered, trim, and save."""
        now = to_millisecond(self._now())
        said = Message("user", user_message, now)
        answer = Message("assistant", assistant_response, now)
        self._add(conversation_id, [said, answer], now, PLAIN_ADDITION)

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
        """Add messages, tool calls and their results among them; return their ids.

        With `again` they replace an exchange at the end that began with that text; with
        `after` they follow that message (0: none). What stood there is kept as another version.
        `resumed` says that the silence before them is no break. `opened` is the id of the first
        of them if that was added before, as "stopped", in case the rest never comes.
        """
        now = self._now()
        stamped = [_stamp(one, now) for one in messages]
        addition = Addition(again, after, resumed, audience, opened)
        return self._add(conversation_id, stamped, now, addition)

    def get_history(self, conversation_id: str) -> list[Message]:
        """Return the newest messages within the limits, oldest first; none when there are none."""
        self._look()
        return self._shelf.read(check_key(conversation_id), self._limits, self._now())

    def window(self, conversation_id: str, *, resumed: bool = False) -> list[StoredMessage]:
        """Return what `get_history` does as stored messages; `resumed`: whatever their age."""
        self._look()
        key = check_key(conversation_id)
        return self._shelf.window(key, self._limits, self._now(), resumed=resumed)

    def messages(
        self, conversation_id: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest `limit` messages that are shown and whose ids are below `before`."""
        self._look()
        found = self._shelf.messages(check_key(conversation_id), before, limit)
        return [self._with_claim(one) for one in found]

    def find_message(self, message_id: int) -> tuple[str, StoredMessage] | None:
        """Return a message with the key of its conversation, also one that is not shown."""
        self._look()
        found = self._shelf.find(message_id)
        return found and (found[0], self._with_claim(found[1]))

    def claim(self, message_id: int) -> atomic.Claim:
        """Return a claim that marks a stored question as being answered until it is ended."""
        # A lock and no status in the row: that would survive a kill, and
        # the question would look as if somebody were still answering it.
        return atomic.Claim(self.location, _name_claim(message_id))

    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation to the last byte; False when there is none."""
        key = check_key(conversation_id)
        self._prepare()
        return self._shelf.clear(key)

    def erase_copies(self, conversation_id: str) -> int:
        """Erase a conversation from the copies of what was taken over; return how many messages.

        A takeover that is under way ends first, and nothing brings them back after that.
        """
        return erase_from_backups(self.location.parent, check_key(conversation_id))

    def cleanup(self) -> int:
        """Remove what is too old; return how many conversations went."""
        # Not `_ready`, whose `init` ends here.
        if not self._is_ready:
            self._open()
        self._cleaned_at = self._now()
        return self._shelf.expire(self._limits, self._cleaned_at)

    def summaries(
        self, query: str | None = None, limit: int | None = None
    ) -> list[ConversationSummary]:
        """Return what there is, the newest first; with `query`, whose title or text holds it.

        A database finds none that is meant for some people only, as other searches do not.
        """
        self._look()
        return self._shelf.summaries(query, limit)

    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        self._look()
        return self._shelf.summary(check_key(conversation_id))

    def show_version(self, conversation_id: str, message_id: int) -> None:
        """Show the path through a message and on to the newest of all that follow it."""
        self._write(_show_version, check_key(conversation_id), message_id)

    def rename(self, conversation_id: str, title: str) -> None:
        """Set a title; "" brings back the title made of the first question."""
        self._write(writing.rename, check_key(conversation_id), make_title(title))

    def set_searched(self, conversation_id: str, searched: bool) -> None:  # noqa: FBT001 - a value
        """Keep a conversation out of search and the prompts of others, or let it in."""
        self._write(writing.set_searched, check_key(conversation_id), is_searched=searched)

    def hide(self, conversation_id: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what was said at these times, and answered, for a reason; return the ids."""
        key, stamps = check_key(conversation_id), set(map(to_iso, times))
        return self._write(writing.hide, key, stamps, to_text(reason))

    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages."""
        return self._write(writing.show_again, to_text(reason))

    def accept(self, conversation_id: str, times: Collection[datetime]) -> int:
        """Trust what others said at these times as the user's own words; return how many."""
        return self._write(writing.accept, check_key(conversation_id), set(map(to_iso, times)))

    def settle(self, outcomes: MessageOutcomes, state: str) -> None:
        """Bring messages in line with what became of the facts that they gave."""
        self._write(writing.settle, outcomes, state)

    def read_settled_state(self) -> str:
        """Return the state of the record that the messages are in line with."""
        self._look()
        return self._get_database().read(writing.read_state)

    def audience(self, conversation_id: str) -> str:
        """Return who may find what is said in a conversation, also in one that has not begun."""
        known = self.summary(conversation_id) if self.keeps_everything else None
        return known.audience if known else choose_audience(conversation_id)

    def take_over(
        self, conversation_id: str, messages: Sequence[Message], *, title: str | None = None
    ) -> int:
        """Add messages of another file that are not there yet; return how many."""
        database, key = self._get_database(), check_key(conversation_id)
        # Not `_ready`: it takes over older files, and that ends here again.
        if not self._is_ready:
            self._open()
        now, named = self._now(), title and make_title(title)
        return database.write(lambda one: writing.take_over(one, key, messages, now, named))

    def import_tree(
        self,
        conversation_id: str,
        nodes: Sequence[TreeNode],
        *,
        leaf: int = -1,
        title: str | None = None,
    ) -> int:
        """Add a whole conversation in one step, less what is there; return how many were new."""
        key, named = check_key(conversation_id), title and make_title(title)
        return self._write(writing.import_tree, key, nodes, leaf, named)

    def count_new(self, conversation_id: str, nodes: Sequence[TreeNode]) -> int:
        """Return how many messages `import_tree` would add; nothing is changed."""
        key, database = check_key(conversation_id), self._get_database()
        self._look()
        return database.read(lambda one: writing.count_new(one, key, nodes))

    def take_over_older(self) -> TakenOver | None:
        """Take in what a program of an older version wrote beside the database, if one did.

        Whoever opened the store for that need not call it: every other method does.
        """
        return self._older.take_over(self._limits.keep_days) if self._older else None

    @property
    def older(self) -> tuple[Path, ...]:
        """The files from which messages may still come into the database."""
        return name_older(self.location.parent) if self._older else ()

    def figures(self) -> StoredFigures:
        """Count what is kept, and find when the oldest message was said."""
        self._look()
        size = measure(self.location) - self._shelf.count_free()
        return StoredFigures(size, *self._shelf.figures())

    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on."""
        self._look()
        return self._shelf.find_cited_facts()

    @property
    def keeps_everything(self) -> bool:
        """Whether every message is kept."""
        return self._shelf.keeps_everything

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what an index that has come to `cursor` must take in and let go of."""
        database = self._get_database()
        self._look()
        start = cursor or Cursor()
        return database.read(lambda one: reading.read_feed(one, start, limit))

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._shelf.close()
        self._is_ready = False

    def _add(
        self,
        conversation_id: str,
        messages: Sequence[Message | NewMessage],
        now: datetime,
        addition: Addition,
    ) -> list[int]:
        key = check_key(conversation_id)
        self._prepare()
        if self._limits.keep_days is not None and self.keeps_everything:
            self._clean_up_daily(now)
        return self._shelf.append(key, messages, self._limits, now, addition) if messages else []

    def _open(self) -> None:
        self._limits = (self._given_settings or Settings.load()).window_limits
        atomic.make_folder(self.location.parent)
        self._shelf.open()
        self._is_ready = True

    def _prepare(self) -> None:
        if self._is_ready:
            self.take_over_older()
        else:
            self.init()

    def _clean_up_daily(self, now: datetime) -> None:
        """Clean up in programs that run for months, which open the store only once."""
        if now - self._cleaned_at > CLEANUP_INTERVAL:
            self.cleanup()

    def _with_claim(self, stored: StoredMessage) -> StoredMessage:
        is_open = stored.status == "stopped" and stored.message.role == "user"
        if is_open and atomic.is_claimed(self.location, _name_claim(stored.id)):
            return replace(stored, status=ANSWERING)
        return stored

    def _look(self) -> None:
        """Prepare for reading; an existing file can be read without the right to write."""
        try:
            self._prepare()
        except StorageError:
            if not self.location.exists():
                raise

    def _write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        database = self._get_database()
        self._prepare()
        return database.write(lambda one: change(one, *args, **kwargs))

    def _get_database(self) -> Database:
        if isinstance(self._shelf, DatabaseShelf):
            return self._shelf.database
        message = (
            f"{self.location} keeps only the newest messages; this needs a location ending "
            "in .db: set conversationsLocation to one (turnleaf config --help)"
        )
        raise InvalidInput(message)


def _show_version(database: Connection, key: str, number: int) -> None:
    show_through(database, get_conversation(database, key), number)


def _name_claim(message_id: int) -> str:
    return f"answering-{message_id}"


def _stamp(one: Message | NewMessage, now: datetime) -> Message | NewMessage:
    """Set the time of a message that has none to the present."""
    message = one.message if isinstance(one, NewMessage) else one
    if message.timestamp:
        return one
    stamped = replace(message, timestamp=now)
    return replace(one, message=stamped) if isinstance(one, NewMessage) else stamped


def _resolve(location: str | Path | None) -> Path:
    if isinstance(location, str) and "://" in location:
        message = (
            f"{location!r} cannot be a location for conversations; use a path ending in .json or "
            ".db"
        )
        raise InvalidInput(message)
    default = find_data_dir() / "conversations" / "conversations.json"
    path = atomic.resolve(default if location is None else location)
    if path.suffix not in SHELVES:
        known = " or ".join(SHELVES)
        message = (
            f"{path.name!r} does not tell the format of the conversations; use a name ending in "
            f"{known}"
        )
        raise InvalidInput(message)
    return path


@collect
def _examine(path: Path, kept: Retention) -> Iterator[Part]:
    describe = _describe_database if kept.keeps_everything else _describe_file
    yield from examine_file("conversations", path, lambda: describe(path), measure)
    yield kept
    if not kept.keeps_everything:
        yield Diagnosis(
            "warning",
            f"not every message is kept: in {path}, {kept.describe()}; to keep all, set "
            "conversationsLocation to a .db file (turnleaf config conversationsLocation) or "
            "unset it",
        )


def _describe_file(path: Path) -> str:
    text = (atomic.read(path) or b"").decode("utf-8-sig")
    return pluralize(len(conversation_formats.parse(text)), "conversation")


def _describe_database(path: Path) -> str:
    return describe_figures(examine(path), find_local_day)
