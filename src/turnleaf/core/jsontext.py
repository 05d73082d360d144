"""JSON as our files hold it: readable, and without loss."""

from __future__ import annotations

import json

from turnleaf.errors import InvalidInput


def dumps(value: object) -> str:
    """Write a value on one line; lone surrogates, which UTF-8 cannot hold, as escapes."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"it holds what JSON cannot ({error}); use plain values"
        raise InvalidInput(message) from error
    return text if is_text(text) else json.dumps(value)


def is_text(text: str) -> bool:
    """Tell whether UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
