"""What a message changed in the memory: found in the record, and taken back with the message."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from turnleaf.errors import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change
    from turnleaf.core.messages import Message
    from turnleaf.store.contracts import Stores

ORIGINS = ("request", "tool")
"""The origins of what a turn saves, removes or changes by itself."""
OPS = ("add", "revive", "update", "delete")
_SETTING = ("add", "update")


def find_turn_changes(record: Iterable[Change], key: str, started: datetime) -> Sequence[Change]:
    """Return what a turn of a conversation changed, at the user's request or by a tool."""
    return [
        one
        for one in record
        if one.time >= started and one.origin in ORIGINS and one.op in OPS
        if one.source is not None and one.source.conversation == key
    ]


def withdraw_replaced(stores: Stores, key: str, replaced: Iterable[Message]) -> None:
    """Take back the facts that rest on messages which are no longer part of a conversation.

    A fact that somebody changed since rests on more than these messages, and stays.
    """
    times = {one.timestamp for one in replaced if one.role == "user" and one.timestamp}
    if not times:
        return
    stores.learning.unqueue(key, times)
    for store in (stores.pending, stores.facts):
        made = [one for one in store.changes() if _rests_on(one, key, times)]
        for change in reversed(made):
            with suppress(Conflict, NotFound):
                store.undo(change.n)


def _rests_on(change: Change, key: str, times: Collection[datetime]) -> bool:
    source = change.source
    is_here = source is not None and source.conversation == key and source.message_time in times
    return is_here and change.op in _SETTING
