"""On which line of a memory file each fact stands."""

from __future__ import annotations

from datetime import UTC, datetime

from turnleaf.core import jsonfacts, markdown

_NEVER = datetime.min.replace(tzinfo=UTC)
JSON_HEAD = 1
"""How many lines stand above the first fact of a JSON file."""


def fact_lines(text: str, name: str) -> dict[str, int]:
    """Give the line of each fact by its id, from 1; of a JSON file only if it is laid out so."""
    return _of_json(text) if name.endswith(".json") else _of_markdown(text)


def _of_markdown(text: str) -> dict[str, int]:
    return {fact.memory.id: fact.start + 1 for fact in markdown.parse(text, _NEVER).facts}


def _of_json(text: str) -> dict[str, int]:
    page = jsonfacts.parse(text, _NEVER)
    lines = [line.strip(" ,") for line in text.split("\n")]
    found = {}
    for fact in page.facts:
        above = fact.start + JSON_HEAD
        if lines[above : above + 1] == [page.raw(fact)]:
            found[fact.memory.id] = above + 1
    return found
