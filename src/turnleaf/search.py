"""The index of a data folder, put together from its files, its settings and a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.ranking import Weights
from turnleaf.llm.embeddings import find_embedder, find_model_fault
from turnleaf.message_effects import SettledConversations
from turnleaf.store.index import Index
from turnleaf.store.index_vectors import find_vector_fault, has_numpy
from turnleaf.store.memories import MemoryStore
from turnleaf.store.pending import PendingStore
from turnleaf.store.sources import Files, MemoryPages

if TYPE_CHECKING:
    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.conversations import ConversationStore
    from turnleaf.store.sources import Followed, Source, Store


def describe(settings: Settings) -> str:
    """Say in one line how the search works here; raise SettingsError where it cannot."""
    if find_embedder(settings) is None or find_fault(settings):
        return "by words alone"
    if not has_numpy():
        return "by words alone (pip install 'turnleaf[vectors]' for meaning as well)"
    return "by words and meaning"


def find_fault(settings: Settings) -> str | None:
    """Return why what is installed for the search by meaning does not work, and what to do."""
    if find_embedder(settings) is None:
        return None
    return find_vector_fault() or find_model_fault(settings)


def open_index(folder: DataFolder, settings: Settings, conversations: ConversationStore) -> Index:
    """Return the index over the memory, the daily logs and the conversations."""
    index = Index(folder.index)
    memory = MemoryStore(folder.memory(settings), settings=settings)
    configure(index, folder, settings, follow(conversations, memory, PendingStore(memory)))
    return index


def follow(
    conversations: ConversationStore, memory: MemoryStore, pending: PendingStore
) -> Followed | Store:
    """Return the conversations as they are searched."""
    if not conversations.keeps_everything:
        return conversations
    return SettledConversations(conversations, memory, pending)


def configure(
    index: Index, folder: DataFolder, settings: Settings, conversations: Followed | Store
) -> None:
    """Have an index search what the settings say, and how they say."""
    sources: list[Source | Followed | Store] = [
        MemoryPages(folder.memory(settings)),
        Files(folder.daily),
        conversations,
    ]
    index.use(sources, find_embedder(settings), weights=weights(settings))


def weights(settings: Settings) -> Weights:
    """Give what meaning and words count."""
    return Weights.of(settings.search_vector_weight, settings.search_bm25_weight)
