"""OpenAI's chat completions, and what the many servers that speak them do otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

from turnleaf.core.model_dialogue import request_form
from turnleaf.llm.http_calls import classify_refusal
from turnleaf.llm.wire import CallInPieces, Response, TextPart, ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.model_dialogue import ToolResult, ToolSpec
    from turnleaf.llm.wire import Ending, Part, WireMessage, WireRequest

_THINKS, _HAS_THOUGHT = "<think>", "</think>"
_SERVER_FAULT = 500


def get_path() -> str:
    """Return where requests go, below the address."""
    return "/chat/completions"


def make_headers(api_key: str | None) -> dict[str, str]:
    """Return the headers that let a request in."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def make_body(model: str, request: WireRequest) -> dict[str, Any]:
    """Return a request as the server takes it."""
    system = request.system
    if request.schema is not None and request.json_format != "json_schema":
        system = request_form(system, request.schema)
    head: list[WireMessage] = [{"role": "system", "content": system}] if system.strip() else []
    found: dict[str, Any] = {
        "model": model,
        "stream": True,
        # Without this a stream does not say how many tokens it took.
        "stream_options": {"include_usage": True},
        "messages": [*head, *request.messages],
    }
    if request.tools:
        found["tools"] = [_describe_tool(spec) for spec in request.tools]
    if answer_format := _find_format(request):
        found["response_format"] = answer_format
    return found


def _describe_tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
    }
    return {"type": "function", "function": function}


def _find_format(request: WireRequest) -> dict[str, Any] | None:
    if request.schema is None or request.json_format == "prompt":
        return None
    if request.json_format == "json_object":
        # Servers built on llama.cpp enforce a schema that stands here, and others pass it over.
        return {"type": "json_object", "schema": dict(request.schema)}
    enforced = {"name": "answer", "schema": dict(request.schema), "strict": True}
    return {"type": "json_schema", "json_schema": enforced}


def make_messages(parts: Sequence[Part]) -> list[WireMessage]:
    """Return a conversation as the server takes it."""
    found: list[WireMessage] = []
    for role, group in groupby(parts, lambda part: part.role):
        one_side = list(group)
        found += [_join_assistant(one_side)] if role == "assistant" else map(_make_input, one_side)
    return found


def _join_assistant(parts: Sequence[Part]) -> WireMessage:
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    calls = [_describe_call(part) for part in parts if isinstance(part, ToolCallPart)]
    return _make_answer("\n\n".join(texts), calls)


def _make_answer(text: str, calls: Sequence[dict[str, Any]]) -> WireMessage:
    with_calls = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": text or None, **with_calls}


def _describe_call(call: ToolCallPart) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _make_input(part: Part) -> WireMessage:
    if isinstance(part, ToolResultPart):
        return {"role": "tool", "tool_call_id": part.id, "content": part.text}
    return {"role": "user", "content": part.text if isinstance(part, TextPart) else ""}


def make_results(results: Sequence[ToolResult]) -> list[WireMessage]:
    """Return the results of tools as the server takes them."""
    return [{"role": "tool", "tool_call_id": one.id, "content": one.result} for one in results]


def read(events: Iterator[dict[str, Any]]) -> Iterator[str | Response]:
    """Yield the texts of an answer as they come, and last the response as a whole."""
    answer = _OpenAIAnswer()
    for event in events:
        if "error" in event:
            raise _find_fault(event)
        for text in answer.take(event):
            answer.texts.append(text)
            yield text
    if rest := answer.thoughts.end():
        answer.texts.append(rest)
        yield rest
    yield answer.close()


def _find_fault(event: dict[str, Any]) -> Exception:
    said = event["error"]
    code = said.get("code") if isinstance(said, dict) else None
    failure = classify_refusal(code if isinstance(code, int) else _SERVER_FAULT, event)
    # It came in the middle of an answer, which is not asked for a second time.
    failure.status = None
    return failure


class ThoughtFilter:
    """Leaves out what a model thinks aloud between `<think>` and `</think>` before its answer."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._has_begun = False

    def feed(self, text: str) -> str:
        """Return what of the text so far belongs to the answer."""
        if self._has_begun:
            return text
        self._held += text
        return self._stop_thinking() if self._is_thinking else self._begin()

    def _begin(self) -> str:
        start = self._held.lstrip()
        if start.startswith(_THINKS):
            self._is_thinking = True
            return self._stop_thinking()
        # It may still become the mark, so it is held back.
        if _THINKS.startswith(start):
            return ""
        self._has_begun = True
        return self._held

    def _stop_thinking(self) -> str:
        _, end, answer = self._held.partition(_HAS_THOUGHT)
        self._has_begun = bool(end)
        return answer.lstrip()

    def end(self) -> str:
        """Return what was held back at the end of an answer and is no thought."""
        # What was held back at the end is too short for a mark, and was part of the answer.
        return "" if self._has_begun or self._is_thinking else self._held


@dataclass(slots=True)
class _OpenAIAnswer:
    """An answer while it comes."""

    texts: list[str] = field(default_factory=list)
    calls: list[CallInPieces] = field(default_factory=list)
    places: dict[int, CallInPieces] = field(default_factory=dict)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    thoughts: ThoughtFilter = field(default_factory=ThoughtFilter)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def take(self, event: dict[str, Any]) -> Iterator[str]:
        """Take in an event, and yield the text that it brings."""
        self.usage = event.get("usage") or self.usage
        for choice in (event.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            self.refusal.append(delta.get("refusal") or "")
            self.reasoning.append(delta.get("reasoning_content") or "")
            for piece in delta.get("tool_calls") or ():
                self._take_call(piece)
            if text := self.thoughts.feed(_join_content(delta.get("content"))):
                yield text

    def _take_call(self, piece: dict[str, Any]) -> None:
        place, given = piece.get("index", len(self.calls)), piece.get("id")
        call = self.places.get(place)
        # Gemini counts none of its calls: each comes whole, at place 0.
        if call is None or (given and given != call.id):
            call = CallInPieces(given or f"call_{next(self.numbers)}")
            self.calls.append(call)
            self.places[place] = call
        function = piece.get("function") or {}
        call.name = call.name or function.get("name") or ""
        call.pieces.append(function.get("arguments") or "")
        known = ("index", "id", "type", "function")
        call.more |= {name: value for name, value in piece.items() if name not in known}

    def close(self) -> Response:
        """Return the answer as a whole."""
        text, refusal = "".join(self.texts), "".join(self.refusal)
        calls = [one.join() for one in self.calls]
        described = [
            _describe_call(call) | one.more for call, one in zip(calls, self.calls, strict=True)
        ]
        # DeepSeek refuses to go on without its reasoning, and who sends none is sent none.
        reasoning = "".join(self.reasoning)
        thought = {"reasoning_content": reasoning} if reasoning else {}
        return Response(
            _make_answer(text, described) | thought, text, tuple(calls),
            self._find_ending(refusal), refusal or None,
            self._count("prompt_tokens"), self._count("completion_tokens"),
        )  # fmt: skip

    def _find_ending(self, refusal: str) -> Ending | None:
        if refusal or self.finish_reason == "content_filter":
            return "refused"
        if self.finish_reason is None:
            return None
        return "length" if self.finish_reason == "length" else "done"

    def _count(self, name: str) -> int:
        value = self.usage.get(name)
        return value if isinstance(value, int) else 0


def _join_content(content: object) -> str:
    """Return a text; Mistral sends a list of parts, some of which are thoughts."""
    if isinstance(content, list):
        texts = (one.get("text") for one in content if isinstance(one, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
