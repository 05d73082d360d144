"""Opens the stores of a data folder as the programs use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.store.conversations import ConversationStore
from turnleaf.store.memories import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from turnleaf.settings import DataFolder, Settings


def open_conversations(
    folder: DataFolder, settings: Settings, now: Callable[[], datetime] = utc_now
) -> ConversationStore:
    """Return the conversations, with what programs of older versions write beside them."""
    location = folder.conversations(settings)
    return ConversationStore(location, settings=settings, now=now, takes_over=True)
