"""What is said to a model and what it answers, whatever the form on the wire is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.messages import Message
    from turnleaf.core.model_dialogue import ToolResult, ToolSpec
    from turnleaf.core.model_providers import ModelProvider

JsonFormat: TypeAlias = Literal["json_schema", "json_object", "prompt"]
LADDER: tuple[JsonFormat, ...] = get_args(JsonFormat)
Ending: TypeAlias = Literal["done", "length", "refused"]
WireMessage: TypeAlias = dict[str, Any]

_EARLIER = "(What was said before this is not shown.)"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Which model is asked, where, and with which key; `timeout_seconds` is for how long silent."""

    provider: ModelProvider
    model: str
    url: str
    api_key: str | None = field(repr=False)
    timeout_seconds: float

    @property
    def variable(self) -> str:
        """The environment variable that holds the key."""
        return self.provider.variable or "the key"


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text of the user or of the assistant."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A tool that the assistant called, with its arguments as they came."""

    id: str
    name: str
    arguments: str

    @property
    def role(self) -> str:
        """Whose part it is."""
        return "assistant"

    def read_arguments(self) -> dict[str, Any] | None:
        """Return the arguments; None when they are no JSON object."""
        # A tool that needs no arguments is called with nothing at all by some models.
        try:
            found = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a tool gave back."""

    id: str
    text: str

    @property
    def role(self) -> str:
        """Whose part it is."""
        return "user"


Part: TypeAlias = TextPart | ToolCallPart | ToolResultPart


@dataclass(frozen=True, slots=True)
class Response:
    """An answer as a whole; `message` is what the server is sent back of it.

    `ending` is None if the answer was broken off.
    """

    message: WireMessage
    text: str = ""
    calls: tuple[ToolCallPart, ...] = ()
    ending: Ending | None = None
    refusal: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What is asked for in one request."""

    system: str
    messages: Sequence[WireMessage]
    tools: Sequence[ToolSpec] = ()
    schema: Mapping[str, Any] | None = None
    json_format: JsonFormat = "prompt"


class Wire(Protocol):
    """How one kind of server is spoken to."""

    def get_path(self) -> str:
        """Return where requests go, below the address."""

    def make_headers(self, api_key: str | None) -> dict[str, str]:
        """Return the headers that let a request in."""

    def make_body(self, model: str, request: WireRequest) -> dict[str, Any]:
        """Return a request as the server takes it."""

    def make_messages(self, parts: Sequence[Part]) -> list[WireMessage]:
        """Return a conversation as the server takes it."""

    def make_results(self, results: Sequence[ToolResult]) -> list[WireMessage]:
        """Return the results of tools as the server takes them."""

    def read(self, events: Iterator[dict[str, Any]]) -> Iterator[str | Response]:
        """Yield the texts of an answer as they come, and last the response as a whole."""


def list_parts(messages: Sequence[Message]) -> list[Part]:
    """Return a history in parts, without what a server would refuse.

    That is a tool's call without its result or the reverse, an empty text, and an assistant who
    speaks first.
    """
    # Trimming may have taken the call of a result, or the result of a call, and servers refuse
    # both.
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    open_calls: set[str] = set()
    parts = [part for message in messages for part in _read_parts(message, open_calls, answered)]
    # The history of a host may begin with an answer, which servers refuse.
    if parts and parts[0].role == "assistant":
        parts.insert(0, TextPart("user", _EARLIER))
    return parts


def _read_parts(message: Message, calls: set[str], answered: set[str | None]) -> Iterator[Part]:
    """Yield what a message consists of; `calls` are those that wait for their results."""
    text = drop_surrogates(message.text)
    if message.role == "tool":
        if message.tool_call_id in calls:
            calls.discard(message.tool_call_id or "")
            yield ToolResultPart(message.tool_call_id or "", text)
    elif text.strip():
        # What a host puts between the turns stays there: at the head, no cache would outlive it.
        yield TextPart("assistant" if message.role == "assistant" else "user", text)
    for call in message.tool_calls or ():
        function = call.get("function")
        if call["id"] in answered and isinstance(function, dict) and function.get("name"):
            calls.add(call["id"])
            arguments = drop_surrogates(str(function.get("arguments") or "{}"))
            yield ToolCallPart(call["id"], str(function["name"]), arguments)


def drop_surrogates(text: str) -> str:
    """Return a text without lone surrogates, which no encoding has."""
    return text.encode("utf-8", "ignore").decode()


@dataclass(slots=True)
class CallInPieces:
    """A call of a tool while it comes."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    """What else a server says of it and wants to have back."""

    def join(self) -> ToolCallPart:
        """Return the whole call."""
        return ToolCallPart(self.id, self.name, "".join(self.pieces))
