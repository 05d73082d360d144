"""A JSON schema written out as a form, for a model whose server enforces none.

A form takes a third of the tokens of the schema, and small models follow it more often.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_REQUEST = "Answer with one JSON object of this form and with nothing else:"


def request_form(system: str, schema: Mapping[str, Any]) -> str:
    """Return a system prompt that asks for an answer of the form that a schema describes."""
    return f"{system}\n\n{_REQUEST}\n{describe_form(schema)}".strip()


def describe_form(schema: Mapping[str, Any]) -> str:
    """Return what JSON that follows a schema looks like, on one line."""
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "properties" in schema:
        fields = schema["properties"].items()
        return "{" + ", ".join(f'"{name}": {describe_form(form)}' for name, form in fields) + "}"
    if "items" in schema:
        return f"[{describe_form(schema['items'])}, …]"
    kinds = schema.get("type", "any value")
    return kinds if isinstance(kinds, str) else " | ".join(kinds)
