"""`ConversationStore`: conversations by key, kept within limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from turnleaf.core import conversations_json
from turnleaf.core.examination import Diagnosis, Examination, Retention, describe_figures
from turnleaf.core.keys import checked_key, default_audience
from turnleaf.core.languages import pluralize
from turnleaf.core.messages import (
    ANSWERING,
    ConversationSummary,
    Message,
    NewMessage,
    StoredFigures,
    make_title,
)
from turnleaf.core.times import to_millisecond
from turnleaf.errors import InvalidInput, StorageError
from turnleaf.settings import Settings, default_data_dir
from turnleaf.store.ambient import local_day
from turnleaf.store.files import atomic
from turnleaf.store.files.conversations import database as conversations_db
from turnleaf.store.files.conversations import takeover
from turnleaf.store.files.conversations.database import DatabaseShelf
from turnleaf.store.files.conversations.json_file import JsonShelf
from turnleaf.store.files.conversations.takeover import OlderFiles, erase_from_backups, older_paths
from turnleaf.store.files.databases import measure
from turnleaf.store.files.examining import collect, examine_file
from turnleaf.store.windows import PLAIN_ADDITION, Addition, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from turnleaf.core.examination import Part
    from turnleaf.core.messages import Content, Cursor, Feed, StoredMessage, TreeNode
    from turnleaf.core.search.message_outcomes import MessageOutcomes
    from turnleaf.store.files.conversations.takeover import TakenOver

__all__ = ["ConversationStore", "ConversationSummary"]

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
        self._limits = _limits(settings or Settings())
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
        self._limits = _limits(settings)

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
        return self._shelf.read(checked_key(conversation_id), self._limits, self._now())

    def window(self, conversation_id: str, *, resumed: bool = False) -> list[StoredMessage]:
        """Return what `get_history` does as stored messages; `resumed`: whatever their age."""
        self._look()
        key = checked_key(conversation_id)
        return self._shelf.window(key, self._limits, self._now(), resumed=resumed)

    def messages(
        self, conversation_id: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest `limit` messages that are shown and whose ids are below `before`."""
        self._look()
        found = self._shelf.messages(checked_key(conversation_id), before, limit)
        return [self._with_claim(one) for one in found]

    def find_message(self, message_id: int) -> tuple[str, StoredMessage] | None:
        """Return a message with the key of its conversation, also one that is not shown."""
        self._look()
        found = self._shelf.find(message_id)
        return found and (found[0], self._with_claim(found[1]))

    def claim(self, message_id: int) -> atomic.Claim:
        """Return a claim that marks a stored question as being answered until it is ended."""
        return atomic.Claim(self.location, _name_claim(message_id))

    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation to the last byte; False when there is none."""
        key = checked_key(conversation_id)
        self._ready()
        return self._shelf.clear(key)

    def erase_copies(self, conversation_id: str) -> int:
        """Erase a conversation from the copies of what was taken over; return how many messages.

        A takeover that is under way ends first, and nothing brings them back after that.
        """
        return erase_from_backups(self.location.parent, checked_key(conversation_id))

    def cleanup(self) -> int:
        """Remove what is too old; return how many conversations went."""
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
        return self._shelf.summary(checked_key(conversation_id))

    def show_version(self, conversation_id: str, message_id: int) -> None:
        """Show the path through a message and on to the newest of all that follow it."""
        self._writable().show_version(checked_key(conversation_id), message_id)

    def rename(self, conversation_id: str, title: str) -> None:
        """Set a title; "" brings back the title made of the first question."""
        self._writable().rename(checked_key(conversation_id), make_title(title))

    def set_searched(self, conversation_id: str, searched: bool) -> None:  # noqa: FBT001 - a value
        """Keep a conversation out of search and the prompts of others, or let it in."""
        self._writable().set_searched(checked_key(conversation_id), is_searched=searched)

    def hide(self, conversation_id: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what was said at these times, and answered, for a reason; return the ids."""
        return self._writable().hide(checked_key(conversation_id), times, reason)

    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages."""
        return self._writable().show_again(reason)

    def accept(self, conversation_id: str, times: Collection[datetime]) -> int:
        """Trust what others said at these times as the user's own words; return how many."""
        return self._writable().accept(checked_key(conversation_id), times)

    def settle(self, outcomes: MessageOutcomes, state: str) -> None:
        """Bring messages in line with what became of the facts that they gave."""
        self._writable().settle(outcomes, state)

    def settled_state(self) -> str:
        """Return the state of the record that the messages are in line with."""
        self._look()
        return self._database().settled_state()

    def audience(self, conversation_id: str) -> str:
        """Return who may find what is said in a conversation, also in one that has not begun."""
        known = self.summary(conversation_id) if self.keeps_everything else None
        return known.audience if known else default_audience(conversation_id)

    def take_over(
        self, conversation_id: str, messages: Sequence[Message], *, title: str | None = None
    ) -> int:
        """Add messages of another file that are not there yet; return how many."""
        database, key = self._database(), checked_key(conversation_id)
        if not self._is_ready:
            self._open()
        return database.take_over(key, messages, self._now(), title and make_title(title))

    def import_tree(
        self,
        conversation_id: str,
        nodes: Sequence[TreeNode],
        *,
        leaf: int = -1,
        title: str | None = None,
    ) -> int:
        """Add a whole conversation in one step, less what is there; return how many were new."""
        shelf, key = self._writable(), checked_key(conversation_id)
        if not nodes:
            return 0
        return shelf.import_tree(key, nodes, leaf, title and make_title(title))

    def take_over_older(self) -> TakenOver | None:
        """Take in what a program of an older version wrote beside the database, if one did.

        Whoever opened the store for that need not call it: every other method does.
        """
        return self._older.take_over(self._limits.keep_days) if self._older else None

    @property
    def older(self) -> tuple[Path, ...]:
        """The files from which messages may still come into the database."""
        return older_paths(self.location.parent) if self._older else ()

    def figures(self) -> StoredFigures:
        """Count what is kept, and find when the oldest message was said."""
        self._look()
        return StoredFigures(measure(self.location), *self._shelf.figures())

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
        database = self._database()
        self._look()
        return database.changes_since(cursor, limit)

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
        key = checked_key(conversation_id)
        self._ready()
        if self._limits.keep_days is not None and self.keeps_everything:
            self._clean_up_daily(now)
        return self._shelf.append(key, messages, self._limits, now, addition) if messages else []

    def _open(self) -> None:
        self._limits = _limits(self._given_settings or Settings.load())
        atomic.make_folder(self.location.parent)
        self._shelf.open()
        self._is_ready = True

    def _ready(self) -> None:
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
            self._ready()
        except StorageError:
            if not self.location.exists():
                raise

    def _writable(self) -> DatabaseShelf:
        shelf = self._database()
        self._ready()
        return shelf

    def _database(self) -> DatabaseShelf:
        if isinstance(self._shelf, DatabaseShelf):
            return self._shelf
        message = (
            f"{self.location} keeps the newest messages only; only a location ending in .db can "
            "do this: set conversationsLocation to one (turnleaf config --help)"
        )
        raise InvalidInput(message)


def _name_claim(message_id: int) -> str:
    return f"answering-{message_id}"


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_turns=settings.conversation_max_turns,
        max_chars=settings.conversation_max_chars,
        max_age_days=settings.conversation_max_age_days,
        keep_days=settings.conversation_keep_days,
    )


def _stamp(one: Message | NewMessage, now: datetime) -> Message | NewMessage:
    """Set the time of a message that has none to the present."""
    message = one.message if isinstance(one, NewMessage) else one
    if message.timestamp:
        return one
    stamped = replace(message, timestamp=now)
    return replace(one, message=stamped) if isinstance(one, NewMessage) else stamped


def _resolve(location: str | Path | None) -> Path:
    if isinstance(location, str) and "://" in location:
        message = f"{location!r} is no place for conversations; pass a path in .json or .db"
        raise InvalidInput(message)
    default = default_data_dir() / "conversations" / "conversations.json"
    path = atomic.real(default if location is None else location)
    if path.suffix not in SHELVES:
        known = " or ".join(SHELVES)
        message = f"{path.name!r} does not say how to keep conversations; end it in {known}"
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
            f"history is short: in {path} {kept.describe()}; to keep every message, name a .db "
            "file (turnleaf config conversationsLocation) or unset the location",
        )


def _describe_file(path: Path) -> str:
    text = (atomic.read(path) or b"").decode("utf-8-sig")
    return pluralize(len(conversations_json.parse(text)), "conversation")


def _describe_database(path: Path) -> str:
    return describe_figures(conversations_db.examine(path), local_day)
