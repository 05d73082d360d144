"""Who may find what a conversation says, and in whose prompts it may be used."""

from __future__ import annotations

from dataclasses import dataclass

EVERYONE = ""
_ONLY = "only:"
_PROMPTS = "prompts:"


def only(name: str) -> str:
    """Return the audience of those conversations alone that have this audience themselves."""
    return f"{_ONLY}{name}"


def own_prompts(name: str) -> str:
    """Return the audience that every search finds, and only prompts of the same audience use."""
    return f"{_PROMPTS}{name}"


def default_audience(key: str) -> str:
    """Return the audience of a conversation of which nothing but its key is known."""
    if key.startswith("schedule:"):
        return own_prompts(key)
    if key.startswith("slack:"):
        return only(key)
    return EVERYONE


@dataclass(frozen=True, slots=True)
class Reader:
    """Who searches."""

    conversation: str | None = None
    audience: str = EVERYONE
    is_prompt: bool = False
    """Whether a prompt is being made; otherwise somebody searches."""


def can_read(audience: str, reader: Reader) -> bool:
    """Whether a reader may see what was said to this audience."""
    if audience in (EVERYONE, reader.audience):
        return True
    return audience.startswith(_PROMPTS) and not reader.is_prompt


def is_narrower(audience: str, than: str) -> bool:
    """Whether an audience keeps more people out than another one."""
    return _rank(audience) > _rank(than)


def _rank(audience: str) -> int:
    if audience == EVERYONE:
        return 0
    return 1 if audience.startswith(_PROMPTS) else 2
