"""A value that another framework keeps here: opaque bytes under a collection and a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.loading import make_pattern
from turnleaf.core.memories import check_text
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

MAX_NAME_CHARS = 512
MAX_VALUE_BYTES = 16_000_000
_ORDINAL = "{:016x}"
_CONTROLS = make_pattern(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Record:
    """A stored value; `version` grows with each change of its key and is never used again."""

    collection: str
    key: str
    value: bytes
    version: int
    expires_at: datetime | None = None


def check_name(name: str, what: str, *, may_be_empty: bool = False) -> str:
    """Return the name of a collection or a key; raise InvalidInput for one that is unusable."""
    text = check_text(name, what)
    if (not text and not may_be_empty) or len(text) > MAX_NAME_CHARS or _CONTROLS.search(text):
        message = (
            f"{what} must have 1 to {MAX_NAME_CHARS} characters and no control characters; "
            "shorten it or choose another"
        )
        raise InvalidInput(message)
    return text


def check_value(value: bytes) -> bytes:
    """Return a value; raise InvalidInput for one that is too large."""
    if len(value) > MAX_VALUE_BYTES:
        message = (
            f"a record is limited to {MAX_VALUE_BYTES:,} bytes, and this one has {len(value):,}; "
            "split it"
        )
        raise InvalidInput(message)
    return value


def make_ordinal_key(prefix: str, number: int) -> str:
    """Return a key that sorts after those of smaller numbers with the same prefix."""
    return prefix + _ORDINAL.format(number)
