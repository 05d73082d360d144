"""What goes to a model and what comes back, as values; what a model is, and what tools are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Message
    from turnleaf.core.search.ranking import Hit


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is told in one turn.

    `system` stays the same from turn to turn while the memory does; `messages` are the history
    and, last, what the user says now. `instructions` and `text` say the same for a program that
    takes one text: there the memory is a part of the text. `question` is what the user typed, and
    `found` what the search found for it; `facts` are those that hold. `is_learned` says whether
    facts are learned from it, and `has_room` whether the memory could take one more.
    """

    system: str
    messages: tuple[Message, ...]
    text: str
    question: str
    instructions: str = ""
    found: tuple[Hit, ...] = ()
    facts: tuple[Memory, ...] = ()
    is_learned: bool = True
    has_room: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it comes."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool gave back to the model, as JSON."""

    id: str
    name: str
    result: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn took: the tokens of the context now, and how many there is room for."""

    input_tokens: int
    output_tokens: int
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """The model has said nothing for a moment: whoever does not want to wait can stop it now."""


Event: TypeAlias = Text | ToolCall | ToolResult | Usage | Silence

SILENCE_SECONDS = 0.5
"""How long a moment is."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Toolbox(Protocol):
    """The tools that a model may use in one turn."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """Describe them."""

    @property
    def command(self) -> Sequence[str]:
        """The command that serves the same tools over MCP on stdio, if there is one."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool; the result is JSON with `success`, also when it failed."""


class Model(Protocol):
    """Anything that can answer. What keeps it from answering is a ModelError."""

    @property
    def name(self) -> str:
        """Its name, as the setting `model` names it."""

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Event]:
        """Yield the answer in pieces; closing the iterator stops the model."""

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return JSON that should follow a schema; the caller has to check it."""


_REQUEST = "Answer with one JSON object of this form and with nothing else:"


def request_form(system: str, schema: Mapping[str, Any]) -> str:
    """Return a system prompt that also asks for an answer in the form of a schema."""
    return f"{system}\n\n{_REQUEST}\n{describe_form(schema)}".strip()


def describe_form(schema: Mapping[str, Any]) -> str:
    """Return a sketch on one line of the JSON that a schema describes."""
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "properties" in schema:
        fields = schema["properties"].items()
        return "{" + ", ".join(f'"{name}": {describe_form(form)}' for name, form in fields) + "}"
    if "items" in schema:
        return f"[{describe_form(schema['items'])}, …]"
    kinds = schema.get("type", "any value")
    return kinds if isinstance(kinds, str) else " | ".join(kinds)
