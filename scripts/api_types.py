"""Writes web/src/api-types.ts: the schemas of the API, as the page's types."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from turnleaf import Assistant
from turnleaf.faces.http.app import make_app

TARGET = Path(__file__).parents[1] / "web/src/api-types.ts"
HEAD = "// Made by scripts/api_types.py from the description of the API; do not edit.\n"
NAMES = {"integer": "number", "object": "Record<string, unknown>"}
FORMS: dict[str, Callable[[Any], str]] = {
    "$ref": lambda name: name.rpartition("/")[2],
    "const": json.dumps,
    "enum": lambda values: " | ".join(map(json.dumps, values)),
    "anyOf": lambda kinds: " | ".join(dict.fromkeys(map(find_type, kinds))),
    "items": lambda items: f"Array<{find_type(items)}>",
    "additionalProperties": lambda its: f"Record<string, {find_type({} if its is True else its)}>",
}


def find_type(schema: dict[str, Any]) -> str:
    """Return the type of what a schema describes."""
    forms = (form(schema[key]) for key, form in FORMS.items() if key in schema)
    name = schema.get("type", "unknown")
    return next(forms, NAMES.get(name, name))


def describe() -> str:
    """Return the text of the file."""
    with TemporaryDirectory() as folder:
        schemas = make_app(Assistant(folder)).openapi()["components"]["schemas"]
    text = HEAD
    for name, schema in sorted(schemas.items()):
        text += f"\nexport interface {name} {{\n"
        for key, its in schema.get("properties", {}).items():
            mark = "" if key in schema.get("required", ()) else "?"
            text += f"  {key}{mark}: {find_type(its)};\n"
        text += "}\n"
    return text


if __name__ == "__main__":
    TARGET.write_text(describe(), "utf-8")
