"""Changes of the file with the keys of model providers, for its owner's eyes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.model_providers import serialize_keys
from turnleaf.model_keys import read_stored_keys
from turnleaf.settings import find_keys_path
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from turnleaf.core.model_providers import StoredKey

    Keys = dict[str, StoredKey]


def store_key(provider: str, key: StoredKey) -> Path:
    """Store a provider's key in the place of any other; return the file."""
    return _change(lambda keys: keys | {provider: key})


def remove_key(provider: str) -> bool:
    """Remove a provider's key; False where there is none."""
    if provider not in read_stored_keys():
        return False
    _change(lambda keys: {name: key for name, key in keys.items() if name != provider})
    return True


def _change(edit: Callable[[Keys], Keys]) -> Path:
    path = find_keys_path()
    atomic.make_folder(path.parent)
    with atomic.lock(path) as file:
        file.replace(serialize_keys(edit(read_stored_keys(path))))
    return path
