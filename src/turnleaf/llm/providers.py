"""How a model behind an address is spoken to, through pydantic-ai; loaded by need.

One call makes its own connection and closes it. Nothing is sent to where a server redirects.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelAPIError, ModelRequestRejectedError, UserError
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.tools import ToolDefinition

from turnleaf.core.dialogue import Event, Text, ToolCall, ToolResult, Usage
from turnleaf.errors import ModelError
from turnleaf.llm.addresses import is_on_loopback
from turnleaf.llm.provider_errors import HOPELESS, brief, explaining, wait_before_asking_again

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence

    from pydantic_ai.providers import Provider

    from turnleaf.core.dialogue import Prompt, Toolbox
    from turnleaf.core.messages import Message
    from turnleaf.llm.api import Endpoint

Part: TypeAlias = UserPromptPart | ToolReturnPart | TextPart | ToolCallPart

_MAX_ROUNDS = 12
_CONNECT_SECONDS = 10.0
_PAUSES_SECONDS = (0.5, 1.5)
_NO_KEY = "none"
"""What a server that wants no key is sent, as the library has to send something."""
_EARLIER = "(What was said before this is not shown.)"
_IN_WORDS = "Answer with one JSON object that follows this JSON schema, and with nothing else:"


async def answer(
    endpoint: Endpoint, prompt: Prompt, tools: Toolbox | None
) -> AsyncGenerator[Event]:
    """Answer a prompt, round after round for as long as the model asks for tools."""
    with explaining(endpoint):
        async with _connected(endpoint) as line:
            async for event in _rounds(line, prompt, tools):
                yield event


async def _rounds(line: _Line, prompt: Prompt, tools: Toolbox | None) -> AsyncGenerator[Event]:
    messages = conversation(prompt.messages)
    parameters = ModelRequestParameters(
        function_tools=_definitions(tools), instruction_parts=_instructions(prompt.system)
    )
    has_text, output_tokens = False, 0
    for _ in range(_MAX_ROUNDS):
        response = ModelResponse(parts=[])
        async for piece in line.ask(messages, parameters):
            if isinstance(piece, ModelResponse):
                response = piece
            else:
                has_text = True
                yield piece
        line.check(response, is_empty=not has_text and not response.tool_calls)
        output_tokens += response.usage.output_tokens
        if not response.tool_calls:
            if in_context := response.usage.input_tokens:
                yield Usage(in_context, output_tokens, line.model.context_window)
            return
        results: list[ToolReturnPart] = []
        async for event in _used(tools, response.tool_calls):
            yield event
            if isinstance(event, ToolResult):
                results.append(ToolReturnPart(event.name, event.result, event.id))
        messages += [response, ModelRequest(parts=results)]
    raise ModelError(
        f"{line.who} asked for tools {_MAX_ROUNDS} times without coming to an answer; ask again in"
        " other words"
    )


async def _used(
    tools: Toolbox | None, calls: Sequence[ToolCallPart]
) -> AsyncGenerator[ToolCall | ToolResult]:
    """Use one tool after the other."""
    for call in calls:
        yield ToolCall(call.tool_call_id, call.tool_name, _arguments(call) or {})
        result = await asyncio.to_thread(_use, tools, call)
        yield ToolResult(call.tool_call_id, call.tool_name, result)


async def structured(
    endpoint: Endpoint, system: str, text: str, schema: Mapping[str, Any]
) -> AsyncGenerator[str]:
    """Answer once with JSON: as the server enforces it, or else as it is asked for in words."""
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(_sound(text))])]
    with explaining(endpoint):
        async with _connected(endpoint) as line:
            try:
                response = await line.response(messages, _enforced(line.model, system, schema))
            except (ModelRequestRejectedError, UserError) as error:
                if isinstance(error, HOPELESS):
                    raise
                in_words = f"{system}\n\n{_IN_WORDS}\n{json.dumps(schema, ensure_ascii=False)}"
                parameters = ModelRequestParameters(instruction_parts=_instructions(in_words))
                response = await line.response(messages, parameters)
            yield line.json_in(response)


def conversation(messages: Sequence[Message]) -> list[ModelMessage]:
    """Give a history as the library has it, without what a server would refuse.

    That is a tool's call without its result or the reverse, an empty text, and an assistant who
    speaks first.
    """
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    names: dict[str, str] = {}
    parts = [part for message in messages for part in _parts(message, names, answered)]
    turns: list[ModelMessage] = []
    for is_response, group in groupby(
        parts, lambda part: isinstance(part, TextPart | ToolCallPart)
    ):
        turn = ModelResponse if is_response else ModelRequest
        turns.append(turn(parts=list(group)))  # type: ignore[arg-type]
    if turns and isinstance(turns[0], ModelResponse):
        turns.insert(0, ModelRequest(parts=[UserPromptPart(_EARLIER)]))
    return turns


def _parts(message: Message, names: dict[str, str], answered: set[str | None]) -> Iterator[Part]:
    """Give what a message consists of; `names` learns the tools that it calls."""
    text = _sound(message.text)
    if message.role == "tool":
        if (name := names.pop(message.tool_call_id or "", None)) is not None:
            yield ToolReturnPart(name, text, message.tool_call_id or "")
    elif text.strip():
        # What a host puts between the turns stays there: at the head, no cache would outlive it.
        yield TextPart(text) if message.role == "assistant" else UserPromptPart(text)
    for call in message.tool_calls or ():
        function = call.get("function")
        if call["id"] in answered and isinstance(function, dict) and function.get("name"):
            names[call["id"]] = str(function["name"])
            arguments = _sound(str(function.get("arguments") or "{}"))
            yield ToolCallPart(names[call["id"]], arguments, call["id"])


def _sound(text: str) -> str:
    """Give a text without lone surrogates, which no encoding has."""
    return text.encode("utf-8", "ignore").decode()


def _instructions(system: str) -> list[InstructionPart]:
    return [InstructionPart(_sound(system))] if system.strip() else []


def _definitions(tools: Toolbox | None) -> list[ToolDefinition]:
    return [
        ToolDefinition(
            name=spec.name,
            description=spec.description,
            parameters_json_schema=dict(spec.parameters),
        )
        for spec in (tools.specs if tools else ())
    ]


def _arguments(call: ToolCallPart) -> dict[str, Any] | None:
    """Read what a model passes to a tool; None when it is no JSON object."""
    try:
        arguments = json.loads(call.args) if isinstance(call.args, str) else call.args
    except (ValueError, RecursionError):
        arguments = None
    # A tool that needs no arguments is called with nothing at all by some models.
    return arguments if isinstance(arguments, dict) else None if call.args else {}


def _use(tools: Toolbox | None, call: ToolCallPart) -> str:
    """Use the tool that a model asks for, or tell it why that cannot be."""
    names = [spec.name for spec in tools.specs] if tools else []
    arguments = _arguments(call)
    if tools is None or call.tool_name not in names:
        wrong = f"there is no tool {call.tool_name!r}; there are: {', '.join(names) or 'none'}"
    elif arguments is None:
        wrong = "the arguments are not a JSON object; call the tool again with one"
    else:
        return tools.call(call.tool_name, arguments)
    return json.dumps({"success": False, "error": wrong})


def _enforced(model: Model, system: str, schema: Mapping[str, Any]) -> ModelRequestParameters:
    """Have the server see to it that the answer is JSON; one without a way takes it as a tool."""
    is_native = bool(model.profile.get("supports_json_schema_output"))
    return ModelRequestParameters(
        instruction_parts=_instructions(system),
        output_mode="native" if is_native else "tool",
        output_object=OutputObjectDefinition(json_schema=dict(schema), name="answer"),
        output_tools=[
            ToolDefinition(
                name="answer",
                description="Give the answer.",
                parameters_json_schema=dict(schema),
                kind="output",
            )
        ],
        allow_text_output=False,
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """An open connection to a model."""

    endpoint: Endpoint
    model: Model

    @property
    def who(self) -> str:
        """Name the model for a message."""
        return f"{self.endpoint.model} at {self.endpoint.url}"

    async def ask(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> AsyncGenerator[Text | ModelResponse]:
        """Give the answer's text as it comes, and last the response as a whole."""
        # Only Anthropic's models look at it: it lets their cache hold all that comes before.
        settings = AnthropicModelSettings(anthropic_cache_instructions=True)
        for pause in (*_PAUSES_SECONDS, None):
            try:
                async with model_request_stream(
                    self.model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=parameters,
                ) as stream:
                    async for event in stream:
                        if text := _text(event):
                            yield Text(text)
                    yield stream.get()
                    return
            except ModelAPIError as error:
                wait = wait_before_asking_again(error, pause)
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def response(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        """Give the response as a whole."""
        pieces = [piece async for piece in self.ask(messages, parameters)]
        return next(piece for piece in pieces if isinstance(piece, ModelResponse))

    def check(self, response: ModelResponse, *, is_empty: bool) -> None:
        """Raise an error for what is no answer."""
        details = response.provider_details or {}
        if response.finish_reason is None and "finish_reason" not in details:
            raise ModelError(f"{self.who} broke off its answer; try again")
        if response.finish_reason == "content_filter":
            said = details.get("refusal")
            because = f" ({brief(str(said))})" if said else ""
            raise ModelError(f"{self.who} refused to answer{because}; ask in other words")
        if is_empty and response.finish_reason == "length":
            raise ModelError(
                f"{self.who} used up its tokens before it came to an answer; ask for less at a"
                " time, or set TURNLEAF_MODEL to another model"
            )
        if is_empty:
            raise ModelError(f"{self.who} answered with nothing; try again")

    def json_in(self, response: ModelResponse) -> str:
        """Give the JSON object of a response; a model may put words around it."""
        text = next((call.args_as_json_str() for call in response.tool_calls), response.text or "")
        self.check(response, is_empty=not text.strip())
        found = text[text.find("{") : text.rfind("}") + 1]
        try:
            json.loads(found)
        except (ValueError, RecursionError):
            raise ModelError(
                f"{self.who} was asked for JSON and answered {brief(text)!r}; try again, or set"
                " TURNLEAF_EXTRACT_MODEL to another model"
            ) from None
        return found


def _text(event: object) -> str:
    """Give the piece of the answer that an event brings, if any."""
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
    return ""


@asynccontextmanager
async def _connected(endpoint: Endpoint) -> AsyncGenerator[_Line]:
    seconds = endpoint.timeout_seconds
    timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
    # No proxy stands before loopback, whatever the environment says.
    is_far = not is_on_loopback(endpoint.url)
    async with httpx2.AsyncClient(timeout=timeout, trust_env=is_far) as http:
        yield _Line(endpoint, _model(endpoint, http, timeout))


def _model(endpoint: Endpoint, http: httpx2.AsyncClient, timeout: httpx2.Timeout) -> Model:
    """Make the library's model; how often to ask again is decided here and not there."""
    options: dict[str, Any] = {
        "api_key": endpoint.api_key or _NO_KEY,
        "base_url": endpoint.url,
        "http_client": http,
        "timeout": timeout,
        "max_retries": 0,
    }
    if endpoint.provider == "anthropic":
        anthropic = AnthropicProvider(anthropic_client=AsyncAnthropic(**options))
        return AnthropicModel(endpoint.model, provider=anthropic)
    # An answer that ends without saying why was cut off.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    provider = _provider(endpoint, AsyncOpenAI(**options))
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile)


def _provider(endpoint: Endpoint, client: AsyncOpenAI) -> Provider[AsyncOpenAI]:
    if endpoint.provider == "ollama":
        return OllamaProvider(openai_client=client)
    if endpoint.is_usual:
        return OpenAIProvider(openai_client=client)
    return OpenAICompatibleProvider("compatible", openai_client=client)
