"""How a search works here: by words, or by meaning as well, with which model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.search.ranking import Weights
from turnleaf.installation import advise_install, find_vector_fault, has_numpy
from turnleaf.llm.embeddings import LocalEmbedder, find_embedder, find_model_fault

if TYPE_CHECKING:
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Passages


def describe(settings: Settings) -> str:
    """Return in one line how the search works here; raise SettingsError where it cannot."""
    if find_embedder(settings) is None or find_fault(settings):
        return "by words alone"
    if not has_numpy():
        return f"by words alone (for meaning as well, {advise_install('vectors')})"
    return "by words and meaning"


def find_fault(settings: Settings) -> str | None:
    """Return why what is installed for the search by meaning does not work, and what to do."""
    if find_embedder(settings) is None:
        return None
    return find_vector_fault() or find_model_fault(settings)


def use_settings(passages: Passages, settings: Settings) -> None:
    """Search with the model and the weights that the settings name."""
    passages.use_embedder(find_embedder(settings), weights(settings))


def load_embedder(settings: Settings) -> None:
    """Load the embedder of this machine, if it is the one in use."""
    embedder = find_embedder(settings)
    if isinstance(embedder, LocalEmbedder):
        embedder.embed([""])


def weights(settings: Settings) -> Weights:
    """Return what meaning and words count."""
    return Weights.of(settings.search_vector_weight, settings.search_bm25_weight)
