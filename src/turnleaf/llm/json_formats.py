"""How a server is asked for JSON: from what it enforces down to what is only asked for in words.

Many servers that speak OpenAI's protocol refuse a JSON schema, some with a status that looks like
a fault of their own. What works is known only by trying, so it is remembered for each server.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, get_args

JsonFormat: TypeAlias = Literal["json_schema", "json_object", "prompt"]
_LADDER: tuple[JsonFormat, ...] = get_args(JsonFormat)


class FormatMemory(Protocol):
    """Remembers which format worked, by address and model."""

    def json_format(self, url: str, model: str) -> str | None:
        """Return the format that worked there, if one is known."""

    def keep_json_format(self, url: str, model: str, json_format: str) -> None:
        """Remember that a format works there."""


class ProcessFormats:
    """Remembers formats for as long as the program runs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def json_format(self, url: str, model: str) -> str | None:
        """Return the format that worked there, if one is known."""
        return self._known.get((url, model))

    def keep_json_format(self, url: str, model: str, json_format: str) -> None:
        """Remember that a format works there."""
        self._known[url, model] = json_format


def list_formats(provider: str, known: str | None) -> tuple[JsonFormat, ...]:
    """Return the formats to try in turn, beginning with the one that is known to work."""
    ladder = [one for one in _LADDER if provider != "anthropic" or one != "json_object"]
    start = next((at for at, one in enumerate(ladder) if one == known), 0)
    return tuple(ladder[start:])


def holds_json(answer: str) -> bool:
    """Whether an answer has JSON in it, complete or not; whoever asked reads it."""
    return "{" in answer or "[" in answer
