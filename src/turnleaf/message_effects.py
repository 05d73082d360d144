"""What a message brought about, taken back when the message is replaced or its fact forgotten."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from turnleaf.core.message_fates import Fates, find_accepted, find_forgotten
from turnleaf.errors import Conflict, NotFound
from turnleaf.store.pending import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from turnleaf.core.changes import Change
    from turnleaf.core.stored_messages import Cursor, Feed
    from turnleaf.store.conversations import ConversationStore
    from turnleaf.store.learning import LearningStore
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.pending import PendingStore

_SETTING = ("add", "update")


def withdraw(
    key: str, times: Collection[datetime], learning: LearningStore, *stores: MemoryStore
) -> None:
    """Take back the facts that rest on messages which are no longer part of a conversation.

    A fact that somebody changed since rests on more than these messages, and stays.
    """
    learning.unqueue(key, times)
    for store in stores:
        made = [one for one in store.changes() if _rests_on(one, key, times)]
        for change in reversed(made):
            with suppress(Conflict, NotFound):
                store.undo(change.n)


class SettledConversations:
    """The feed of conversations, in line with what became of the facts that they gave.

    Facts are forgotten, brought back and accepted in many programs, and by undoing; so messages
    are brought in line where that matters: before they are searched.
    """

    def __init__(
        self, conversations: ConversationStore, memory: MemoryStore, pending: PendingStore
    ) -> None:
        self.location = conversations.location
        self.older = conversations.older
        self._conversations = conversations
        self._memory = memory
        self._pending = pending

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what changed since a reader of the feed has come to a cursor."""
        self.settle()
        return self._conversations.changes_since(cursor, limit)

    def settle(self) -> None:
        """Hide the messages that forgotten facts rest on, and show those of facts that are back."""
        state = self._memory.record_state()
        if state == self._conversations.settled_state():
            return
        fates = Fates(
            find_forgotten(self._memory.changes()),
            # To look for the record of what never was would make its file.
            find_accepted(
                self._pending.changes() if self._pending.location.exists() else (), ACCEPTED
            ),
        )
        self._conversations.settle(fates, state)


def _rests_on(change: Change, key: str, times: Collection[datetime]) -> bool:
    source = change.source
    is_here = source is not None and source.conversation == key and source.message_time in times
    return is_here and change.op in _SETTING
