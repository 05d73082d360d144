"""Erasing all that came from a conversation, a tool or a document, to the last byte.

Each step can be made again, so after a kill the same call finishes what was begun.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from turnleaf.core.memories import checked_text
from turnleaf.errors import InvalidInput
from turnleaf.store import files
from turnleaf.store.takeover import ARCHIVE, erase_from_backups

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.store.conversations import ConversationStore
    from turnleaf.store.daily import DailyLog
    from turnleaf.store.index import Index
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.pending import PendingStore
    from turnleaf.store.schedules import ScheduleStore

NO_CONVERSATIONS = ("tool:", "document:")

_UNFINISHED = re.compile(r"\.(?!.*\.\d+-\d+\.tmp$)(.+)\.tmp")
_COPY = re.compile(r".+\.(?:corrupt|conflict)-\d{8}T\d{6}Z(?:-\d+)?")


class Erasable(Protocol):
    """What keeps messages of conversations and texts of sources for a while."""

    def erase(self, key: str | None = None, source: str | None = None) -> int:
        """Remove all of a conversation, or all of a source."""


@dataclass(frozen=True, slots=True)
class Erased:
    """How much is gone, and which copies of damaged files, put aside before, may still hold it."""

    facts: int
    notes: int
    messages: int
    copies: tuple[Path, ...] = ()


def erase_conversation(
    key: str,
    *,
    conversations: ConversationStore,
    schedules: ScheduleStore,
    index: Index,
    learning: Erasable | None,
) -> bool:
    """Erase a conversation; what was learnt from it stays. Tell whether there was one."""
    with index.erasing():
        was_queued = learning is not None and learning.erase(key=key) > 0
        was_told = schedules.erase(key) > 0
        was_kept = _clear(conversations, key)
    return bool(was_kept or was_queued or was_told)


def erase(
    source: str,
    *,
    memory: MemoryStore,
    pending: PendingStore,
    daily: DailyLog,
    conversations: ConversationStore,
    schedules: ScheduleStore,
    index: Index | None,
    learning: Erasable | None = None,
) -> Erased:
    """Erase all that came from a source: a conversation's key, "tool:NAME" or "document:NAME"."""
    name = _checked(source)
    is_conversation = not name.startswith(NO_CONVERSATIONS)
    with index.erasing() if index else nullcontext():
        if learning:
            learning.erase(key=name) if is_conversation else learning.erase(source=name)
        messages = _clear(conversations, name) if is_conversation else 0
        # What a run said is one of the messages, and on record when that has expired.
        messages = max(messages, schedules.erase(name))
        notes = daily.erase(name)
        facts = memory.erase(name, elsewhere=pending.changes())
        facts += pending.erase(name, elsewhere=memory.changes())
        stores = (memory.location, conversations.location, schedules.location)
        archive = conversations.location.parent / ARCHIVE
        places = (*(one.parent for one in stores), daily.location, archive)
        copies = [copy for place in dict.fromkeys(places) for copy in _tidy(place)]
    return Erased(len(facts), notes, messages, tuple(copies))


def _checked(source: str) -> str:
    name = checked_text(source, "a source")
    if not name.strip():
        message = 'name a source: a conversation\'s key, "tool:NAME" or "document:NAME"'
        raise InvalidInput(message)
    return name


def _clear(conversations: ConversationStore, key: str) -> int:
    # A takeover that is under way ends first, and nothing brings them back after that.
    count = erase_from_backups(conversations.location.parent, key)
    count = max(count, len(conversations.messages(key)))
    return max(count, conversations.clear(key))


def _tidy(folder: Path) -> list[Path]:
    """Remove what kills left of unfinished writes; give the copies that were put aside."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    for found in filter(None, map(_UNFINISHED.fullmatch, names)):
        with files.locked(folder / found[1]):
            files.Held(folder / found[0]).remove()
    return [folder / name for name in names if _COPY.fullmatch(name)]
