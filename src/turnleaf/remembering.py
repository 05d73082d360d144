"""Remembering a fact that a person gives as it is: on the command line and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.languages.replies import FALLBACK, choose_words, words_in
from turnleaf.errors import MemoryFull

if TYPE_CHECKING:
    from turnleaf.store.memories import MemoryStore, Remembered

REPLIES = "memory"


def remember_fact(memory: MemoryStore, content: str, category: str | None = None) -> Remembered:
    """Remember a fact; that there is no room for it is said in its own language."""
    try:
        return memory.remember(content, category)
    except MemoryFull as error:
        memory.check_room_for(content)  # What no memory could hold is refused as that.
        words = choose_words(content, REPLIES)
        if error.remedy is None or words == words_in(FALLBACK, REPLIES):
            raise
        raise MemoryFull(words["filled"].format(error.remedy), error.remedy) from error
