"""The index of a data folder, put together from its files, its settings and a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.ranking import Weights
from turnleaf.llm.embeddings import find_embedder, find_model_fault
from turnleaf.store.index import Index
from turnleaf.store.index_database import find_vector_fault, has_vectors
from turnleaf.store.sources import Files

if TYPE_CHECKING:
    from turnleaf.settings import DataFolder, Settings


def describe(settings: Settings) -> str:
    """Say in one line how the search works here; raise SettingsError where it cannot."""
    if find_embedder(settings) is None or find_fault(settings):
        return "by words alone"
    if not has_vectors():
        return "by words alone (pip install 'turnleaf[vectors]' for meaning as well)"
    return "by words and meaning"


def find_fault(settings: Settings) -> str | None:
    """Return why what is installed for the search by meaning does not work, and what to do."""
    if find_embedder(settings) is None:
        return None
    return find_vector_fault() or find_model_fault(settings)


def open_index(folder: DataFolder, settings: Settings) -> Index:
    """Give the index over the memory, the daily logs and, where it is kept, the archive."""
    index = Index(folder.index)
    configure(index, folder, settings)
    return index


def configure(index: Index, folder: DataFolder, settings: Settings) -> None:
    """Let an index search what the settings say, and how they say."""
    sources = [Files(folder.memory(settings)), Files(folder.daily)]
    if settings.conversation_archive:
        sources.append(Files(folder.archive(settings)))
    index.use(sources, find_embedder(settings), weights=weights(settings))


def weights(settings: Settings) -> Weights:
    """Give what meaning and words count."""
    return Weights(settings.search_vector_weight, settings.search_bm25_weight)
