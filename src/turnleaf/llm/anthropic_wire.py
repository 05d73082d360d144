"""Anthropic's Messages API."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from turnleaf.core.model_dialogue import request_form
from turnleaf.llm.http_calls import classify_refusal
from turnleaf.llm.wire import Response, TextPart, ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.model_dialogue import ToolResult
    from turnleaf.llm.wire import Ending, Part, WireMessage, WireRequest

_VERSION = "2026-10-21"
_MAX_TOKENS, _OLDER_MAX_TOKENS = 64_000, 4_096
_WINDOW, _OLDER_WINDOW = 1_000_000, 200_000
_OLDER = (
    "claude-2", "claude-3", "claude-instant", "claude-opus-4-0", "claude-opus-4-1",
    "claude-opus-4-2025", "claude-sonnet-4-0", "claude-sonnet-4-2025",
)  # fmt: skip
"""Models that refuse a prompt whose answer might not fit, and do not enforce a JSON schema."""
_SMALLER = (*_OLDER, "claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5")
_ENDINGS: dict[str, Ending] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_STATUSES = {
    "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429,
    "invalid_request_error": 400,
}  # fmt: skip
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OVERLOADED = 529


def find_window(model: str) -> int:
    """Return how many tokens fit into the context of a model."""
    return _OLDER_WINDOW if model.startswith(_SMALLER) else _WINDOW


def get_path() -> str:
    """Return where requests go, below the address."""
    return "/v1/messages"


def make_headers(api_key: str | None) -> dict[str, str]:
    """Return the headers that let a request in."""
    return {"Authorization": f"Bearer {api_key}", "anthropic-version": _VERSION}


def make_body(model: str, request: WireRequest) -> dict[str, Any]:
    """Return a request as the server takes it."""
    is_older = model.startswith(_OLDER)
    is_enforced = request.schema is not None and request.json_format == "json_schema"
    system = request.system
    if request.schema is not None and not is_enforced:
        system = request_form(system, request.schema)
    found: dict[str, Any] = {
        "model": model,
        "stream": True,
        # An older model refuses a prompt if so long an answer might not fit beside it.
        "max_tokens": _OLDER_MAX_TOKENS if is_older else _MAX_TOKENS,
        "messages": list(request.messages),
    }
    if system.strip():
        # The mark lets the server's cache hold all that comes before it.
        cached = {"cache_control": {"type": "ephemeral"}}
        found["system"] = [{"type": "text", "text": system, **cached}]
    if request.tools:
        found["tools"] = [
            _make_tool(one.name, one.description, dict(one.parameters)) for one in request.tools
        ]
    if is_enforced:
        found |= _enforce(dict(request.schema or {}), is_older=is_older)
    return found


def _make_tool(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": schema}


def _enforce(schema: dict[str, Any], *, is_older: bool) -> dict[str, Any]:
    """Ask the server to enforce the schema; an older model gives the answer as a tool's input."""
    if is_older:
        tool = _make_tool("answer", "Give the answer.", schema)
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def make_messages(parts: Sequence[Part]) -> list[WireMessage]:
    """Return a conversation as the server takes it."""
    # The results of several tools have to be in one message.
    grouped = groupby(parts, lambda part: part.role)
    return [{"role": role, "content": [_wrap(part) for part in group]} for role, group in grouped]


def _wrap(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ToolCallPart(id=call_id, name=name):
            arguments = part.read_arguments() or {}
            return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        case ToolResultPart(id=call_id, text=text):
            return _make_result(call_id, text)


def _make_result(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def make_results(results: Sequence[ToolResult]) -> list[WireMessage]:
    """Return the results of tools as the server takes them."""
    return [{"role": "user", "content": [_make_result(one.id, one.result) for one in results]}]


def read(events: Iterator[dict[str, Any]]) -> Iterator[str | Response]:
    """Yield the texts of an answer as they come, and last the response as a whole."""
    answer = _AnthropicAnswer()
    for event in events:
        if event.get("type") == "error":
            raise _find_fault(event)
        if text := answer.take(event):
            yield text
    yield answer.close()


def _find_fault(event: dict[str, Any]) -> Exception:
    said = event.get("error")
    kind = str(said.get("type")) if isinstance(said, dict) else ""
    failure = classify_refusal(_STATUSES.get(kind, _OVERLOADED), event)
    # It came in the middle of an answer, which is not asked for a second time.
    failure.status = None
    return failure


@dataclass(slots=True)
class _AnthropicAnswer:
    """An answer while it comes: blocks of text, of thoughts, and of calls of tools."""

    blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[int, str] = field(default_factory=dict)
    stop_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> str:
        """Take in an event, and return the text that it brings."""
        place = event.get("index", 0)
        match event.get("type"):
            case "message_start":
                self.usage |= (event.get("message") or {}).get("usage") or {}
            case "content_block_start":
                block = dict(event.get("content_block") or {})
                self.blocks[place] = block
                # A block may begin with its first words.
                return str(block.get("text") or "") if block.get("type") == "text" else ""
            case "content_block_delta":
                return self._take_delta(place, event.get("delta") or {})
            case "message_delta":
                self.stop_reason = (event.get("delta") or {}).get("stop_reason")
                self.usage |= event.get("usage") or {}
        return ""

    def _take_delta(self, place: int, delta: dict[str, Any]) -> str:
        """Take in what comes to a block: to its text, its thoughts or a tool's arguments."""
        block = self.blocks.setdefault(place, {"type": "text", "text": ""})
        if "partial_json" in delta:
            self.inputs[place] = self.inputs.get(place, "") + delta["partial_json"]
        # What the model thought goes back with the results of tools, signed as it came.
        for name in ("text", "thinking", "signature"):
            if name in delta:
                block[name] = str(block.get(name) or "") + delta[name]
        return str(delta.get("text") or "")

    def close(self) -> Response:
        """Return the answer as a whole."""
        found = [(self.inputs.get(at, ""), block) for at, block in sorted(self.blocks.items())]
        calls = tuple(
            ToolCallPart(block["id"], block["name"], given or json.dumps(block.get("input") or {}))
            for given, block in found
            if block.get("type") == "tool_use"
        )
        texts = [block["text"] for _, block in found if block.get("type") == "text"]
        asked = {call.id: call.read_arguments() or {} for call in calls}
        content = [
            block | ({"input": asked[block["id"]]} if block.get("type") == "tool_use" else {})
            for _, block in found
            # The server refuses a history with an empty text in it.
            if block.get("type") != "text" or block["text"].strip()
        ]
        return Response(
            {"role": "assistant", "content": content}, "".join(texts), calls, self._find_ending(),
            None, sum(self._count(name) for name in _INPUT), self._count("output_tokens"),
        )  # fmt: skip

    def _find_ending(self) -> Ending | None:
        return _ENDINGS.get(self.stop_reason, "done") if self.stop_reason else None

    def _count(self, name: str) -> int:
        value = self.usage.get(name)
        return value if isinstance(value, int) else 0
