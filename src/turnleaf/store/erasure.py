"""Erasing all that came from a source, to the last byte, and taking back what rests on messages.

Each step can be made again, so after a kill the same call finishes what was begun.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from turnleaf.core.keys import schedule_key
from turnleaf.core.memories import check_text
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.store.conversation_models import drop_chosen_model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from turnleaf.core.changes import Change
    from turnleaf.core.messages import Message
    from turnleaf.store.contracts import (
        Conversations,
        DailyNotes,
        Facts,
        LearningQueue,
        Passages,
        PendingFacts,
        Records,
        Schedules,
    )

NO_CONVERSATIONS = ("tool:", "document:")
ANSWERED_REQUESTS = "answered-requests"
"""The collection of records with answers to be sent again, which may repeat any text."""


class Contents(Protocol):
    """All that a source may have left something in."""

    facts: Facts
    pending: PendingFacts
    daily: DailyNotes
    conversations: Conversations
    schedules: Schedules
    learning: LearningQueue
    passages: Passages
    records: Records

    def tidy(self) -> list[str]:
        """Remove what kills left of unfinished writes; return the copies that were set aside."""


@dataclass(frozen=True, slots=True)
class Erased:
    """How much is gone, and which copies of damaged files, set aside before, may still hold it."""

    facts: int
    notes: int
    messages: int
    copies: tuple[str, ...] = ()


def erase_conversation(stores: Contents, key: str) -> bool:
    """Erase a conversation; what was learned from it stays. Return whether there was one."""
    # Around all of it: the index puts on record what has begun before the first row goes.
    with stores.passages.erasing():
        was_queued = stores.learning.exists() and stores.learning.erase(key=key) > 0
        was_told = stores.schedules.erase(key) > 0
        was_kept = _clear(stores.conversations, key)
        drop_chosen_model(stores.records, key)
        # Also where none is listed: one that has expired is still on the disk.
        stores.records.erase(ANSWERED_REQUESTS)
    return bool(was_kept or was_queued or was_told)


def has_traces(stores: Contents, source: str) -> bool:
    """Whether something came from a source, as far as that is seen without erasing it."""
    name = _check_source(source)
    changes = (*stores.facts.changes(), *stores.pending.changes())
    sources = (change.source for change in changes if change.source)
    if any(name in (one.name, one.conversation) for one in sources):
        return True
    if stores.daily.has_source(name):
        return True
    is_queued = stores.learning.exists() and bool(stores.learning.list_queued(name))
    return is_queued or _is_kept(stores, name)


def _is_kept(stores: Contents, name: str) -> bool:
    is_scheduled = any(name == schedule_key(one.id) for one in stores.schedules.get_all())
    return is_scheduled or bool(stores.conversations.messages(name, limit=1))


def erase(stores: Contents, source: str) -> Erased:
    """Erase all that came from a source: a conversation's key, "tool:NAME" or "document:NAME"."""
    name = _check_source(source)
    is_conversation = not name.startswith(NO_CONVERSATIONS)
    with stores.passages.erasing():
        if stores.learning.exists():
            of = {"key": name} if is_conversation else {"source": name}
            # The queue first: a worker must not learn from messages that are about to be gone.
            stores.learning.erase(**of)
        messages = _clear(stores.conversations, name) if is_conversation else 0
        # What a run said is one of the messages, and on record when that has expired.
        messages = max(messages, stores.schedules.erase(name))
        notes = stores.daily.erase(name)
        facts = stores.facts.erase(name, elsewhere=stores.pending.changes())
        facts += stores.pending.erase(name, elsewhere=stores.facts.changes())
        # Also where none is listed: one that has expired is still on the disk.
        stores.records.erase(ANSWERED_REQUESTS)
        copies = stores.tidy()
    return Erased(len(facts), notes, messages, tuple(copies))


def _check_source(source: str) -> str:
    name = check_text(source, "a source")
    if not name.strip():
        message = 'give a source: a conversation\'s key, "tool:NAME" or "document:NAME"'
        raise InvalidInput(message)
    return name


def _clear(conversations: Conversations, key: str) -> int:
    # Older files before the database: a takeover under way may still bring them into it.
    count = conversations.erase_copies(key)
    count = max(count, len(conversations.messages(key)))
    return max(count, conversations.clear(key))


def withdraw_replaced(stores: Contents, key: str, replaced: Iterable[Message]) -> None:
    """Take back the facts that rest on messages which are no longer part of a conversation.

    A fact that somebody changed since rests on more than these messages, and stays.
    """
    times = {one.timestamp for one in replaced if one.role == "user" and one.timestamp}
    if not times:
        return
    # The queue before the facts, in the order in which a fact takes its way.
    stores.learning.unqueue(key, times)
    for store in (stores.pending, stores.facts):
        made = [one for one in store.changes() if _rests_on(one, key, times)]
        # The newest first: a change below another of the same fact cannot be undone.
        for change in reversed(made):
            with suppress(Conflict, NotFound):
                store.undo(change.n)


def _rests_on(change: Change, key: str, times: Collection[datetime]) -> bool:
    source = change.source
    is_here = source is not None and source.conversation == key and source.message_time in times
    return is_here and change.op in {"add", "update"}
