"""Which model a conversation was given, where it is not the one of the settings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnleaf.store.contracts import Records

COLLECTION = "turnleaf:conversation-models"


def read_chosen_model(records: Records, key: str) -> str | None:
    """Return the name of the model that a conversation was given, if it was."""
    found = records.get(COLLECTION, _shorten(key))
    return found.value.decode() if found else None


def keep_chosen_model(records: Records, key: str, name: str) -> None:
    """Set the model of one conversation."""
    if name != read_chosen_model(records, key):
        records.put(COLLECTION, _shorten(key), name.encode())


def drop_chosen_model(records: Records, key: str) -> None:
    """Restore the model of the settings for a conversation."""
    if read_chosen_model(records, key) is not None:
        records.erase(COLLECTION, _shorten(key))


def _shorten(key: str) -> str:
    """Return a name for a conversation of any length, which the names of records do not have."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
