"""JSON as our files hold it: readable, and without loss."""

from __future__ import annotations

import json
import re

from turnleaf.errors import InvalidInput

_ESCAPES = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_REPLACEMENT = rb"\ufffd"


def dumps(value: object) -> str:
    """Write a value on one line; lone surrogates, which UTF-8 cannot hold, as escapes."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"it holds what JSON cannot ({error}); use plain values"
        raise InvalidInput(message) from error
    return text if is_text(text) else json.dumps(value)


def is_text(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_text(text: str) -> str:
    """Return a text as UTF-8 can hold it, with a question mark for what it cannot."""
    return text if is_text(text) else text.encode("utf-8", "replace").decode()


def has_half_character(data: bytes) -> bool:
    """Whether a JSON text escapes a lone surrogate, which is no character and no text."""
    return any(found["half"] for found in _ESCAPES.finditer(data))


def replace_half_characters(data: bytes) -> bytes:
    """Return a JSON text with U+FFFD in the place of every escaped lone surrogate."""
    return _ESCAPES.sub(lambda found: _REPLACEMENT if found["half"] else found[0], data)
