"""How a model behind an address is spoken to, through pydantic-ai; loaded by need.

One call makes its own connection and closes it. Nothing is sent to where a server redirects.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)
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
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from turnleaf.core.dialogue import Event, Text, ToolCall, ToolResult, Usage
from turnleaf.core.json_forms import request_form
from turnleaf.errors import ModelError
from turnleaf.llm.addresses import is_on_loopback
from turnleaf.llm.api import holds_json
from turnleaf.llm.context_windows import ServedModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence

    from pydantic_ai.providers import Provider

    from turnleaf.core.dialogue import Prompt, Toolbox
    from turnleaf.core.messages import Message
    from turnleaf.llm.api import Endpoint, JsonFormat

_MAX_PAUSE_SECONDS = 5.0
_MAX_DETAIL_CHARS = 200

_NOT_ABOUT_FORMAT = (
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
    ModelUnavailableError,
)
_FORMAT_STATUSES = frozenset({400, 404, 422, 500, 501})
"""How servers refuse a request for JSON: some call the unknown field a fault of their own."""

_UNREACHED = ("cannot be reached ({detail})", "{reach}")
_EXPLANATIONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    (ModelAuthenticationError, "does not let us in ({detail})", "check {variable}"),
    (ModelNotFoundError, "has no model {model!r} ({detail})", "{other_model}"),
    (
        ModelQuotaExceededError,
        "says that the account is used up ({detail})",
        "look at your account there",
    ),
    (ModelRateLimitError, "takes no more requests for now (429){wait}", "try again later"),
    (
        ModelContextWindowExceededError,
        "cannot read that much at once ({detail})",
        "begin a new conversation, or set PROMPT_MAX_TOKENS lower",
    ),
    (
        (ModelTimeoutError, httpx2.TimeoutException),
        "said nothing for {seconds}",
        "try again, or set CLAUDE_TIMEOUT_MS higher",
    ),
    ((ModelConnectionError, httpx2.HTTPError), "broke off its answer ({detail})", "try again"),
    (
        (ModelServerError, ModelUnavailableError),
        "is in trouble of its own ({detail})",
        "try again in a few minutes",
    ),
    (
        Exception,
        "did not answer as it should ({detail})",
        "try again, and if it stays so check TURNLEAF_MODEL and TURNLEAF_MODEL_URL",
    ),
)


@contextmanager
def explaining(endpoint: Endpoint) -> Iterator[None]:
    """Turn every error of the libraries into one that says what to do, and shows no key."""
    try:
        yield
    except (AgentRunError, UserError, httpx2.HTTPError) as error:
        if isinstance(error, ModelContextWindowExceededError):
            ServedModel(endpoint.url, endpoint.model, None).read_refusal(_detail(error, None))
        # The errors of the libraries may hold the key.
        raise ModelError(_explain(endpoint, error)) from None


def _explain(endpoint: Endpoint, error: Exception) -> str:
    """Return what happened, and what to do."""
    is_unreached = isinstance(error, ModelConnectionError) and error.phase in {"connect", "pool"}
    found = next(texts for kinds, *texts in _EXPLANATIONS if isinstance(error, kinds))
    happened, advice = _UNREACHED if is_unreached else found
    asked = error.retry_after if isinstance(error, ModelAPIError) else None
    explanation = f"{happened}; {advice}".format(
        detail=_detail(error, endpoint.api_key),
        model=endpoint.model,
        variable=endpoint.variable,
        seconds=f"{endpoint.timeout_seconds:g} s",
        wait=f", and asks to wait {asked:.0f} s" if asked else "",
        other_model=_other_model(endpoint),
        reach=_how_to_reach(endpoint),
    )
    return f"{endpoint.url} {explanation}"


def _other_model(endpoint: Endpoint) -> str:
    if endpoint.provider == "ollama":
        return f"run `ollama pull {endpoint.model}`, or set TURNLEAF_MODEL to a model that is there"
    return (
        "set TURNLEAF_MODEL to a model that is there, and TURNLEAF_MODEL_URL, if you use it, to an"
        " address such as http://localhost:11434/v1"
    )


def _how_to_reach(endpoint: Endpoint) -> str:
    if endpoint.provider == "ollama":
        return "start Ollama with `ollama serve`, or set TURNLEAF_MODEL to another model"
    return "check the network, and TURNLEAF_MODEL_URL if you use it"


def _detail(error: Exception, key: str | None) -> str:
    """Return the beginning of what a server or the system says, on one line and without the key."""
    body = error.body if isinstance(error, ModelAPIError) else None
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message") if isinstance(inner, dict) else inner
    status = f"{error.status_code}: " if isinstance(error, ModelHTTPError) else ""
    text = str(said or ("it says nothing" if status else _reason(error)))
    return status + brief(text.replace(key, "…") if key else text)


def _reason(error: BaseException) -> str:
    """Return why nothing came back, in the words of the system where it has some."""
    reason, seen = str(error), error.__cause__ or error.__context__
    while seen is not None:
        reason = str(seen) or reason
        if isinstance(seen, OSError) and seen.errno:
            return os.strerror(seen.errno) if seen.errno > 0 else str(seen.strerror)
        seen = seen.__cause__ or seen.__context__
    return reason or type(error).__name__


def brief(text: str) -> str:
    """Return the beginning of a text on one line."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:_MAX_DETAIL_CHARS]


def may_refuse_format(error: Exception) -> bool:
    """Whether a server may have failed because of the format that JSON was asked for in.

    Only a request without it can tell whether it did.
    """
    if isinstance(error, UserError):
        return True
    is_status = isinstance(error, ModelHTTPError) and error.status_code in _FORMAT_STATUSES
    return is_status and not isinstance(error, _NOT_ABOUT_FORMAT)


def wait_before_asking_again(error: ModelAPIError, pause: float | None) -> float | None:
    """Return the seconds after which to ask again, or nothing where that is no use."""
    is_busy = isinstance(error, ModelRateLimitError | ModelUnavailableError | ModelServerError)
    if pause is None or not is_busy or error.in_stream:
        return None
    wait = pause if error.retry_after is None else error.retry_after
    return wait if wait <= _MAX_PAUSE_SECONDS else None


Part: TypeAlias = UserPromptPart | ToolReturnPart | TextPart | ToolCallPart

_MAX_ROUNDS = 12
_CONNECT_SECONDS = 10.0
_PAUSES_SECONDS = (0.5, 1.5)
_NO_KEY = "none"
"""What a server that wants no key is sent, as the library has to send something."""
_EARLIER = "(What was said before this is not shown.)"
# Only Anthropic's models look at it: it lets their cache hold all that comes before.
_SETTINGS: ModelSettings = AnthropicModelSettings(anthropic_cache_instructions=True)


async def answer(
    endpoint: Endpoint, prompt: Prompt, tools: Toolbox | None
) -> AsyncGenerator[Event]:
    """Answer a prompt, round after round for as long as the model asks for tools."""
    with explaining(endpoint):
        async with _connect(endpoint) as line:
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
        async for event in _use_tools(tools, response.tool_calls):
            yield event
            if isinstance(event, ToolResult):
                results.append(ToolReturnPart(event.name, event.result, event.id))
        messages += [response, ModelRequest(parts=results)]
    raise ModelError(
        f"{line.who} asked for tools {_MAX_ROUNDS} times without coming to an answer; ask again in"
        " other words"
    )


async def _use_tools(
    tools: Toolbox | None, calls: Sequence[ToolCallPart]
) -> AsyncGenerator[ToolCall | ToolResult]:
    """Use one tool after the other."""
    for call in calls:
        yield ToolCall(call.tool_call_id, call.tool_name, _arguments(call) or {})
        result = await asyncio.to_thread(_use, tools, call)
        yield ToolResult(call.tool_call_id, call.tool_name, result)


async def generate_json(
    endpoint: Endpoint,
    system: str,
    text: str,
    schema: Mapping[str, Any],
    formats: Sequence[JsonFormat],
) -> AsyncGenerator[tuple[JsonFormat, str]]:
    """Answer once with JSON, asked for in the first of the formats that the server takes."""
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(_sound(text))])]
    with explaining(endpoint):
        async with _connect(endpoint) as line:
            for json_format in formats:
                is_last = json_format == formats[-1]
                request = _json_request(line.model, json_format, system, schema)
                found = await line.ask_json(messages, request, is_last=is_last)
                if found is not None:
                    yield json_format, found
                    return


def conversation(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return a history as the library has it, without what a server would refuse.

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
    """Return what a message consists of; `names` learns the tools that it calls."""
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
    """Return a text without lone surrogates, which no encoding has."""
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


@dataclass(frozen=True, slots=True)
class _JsonRequest:
    """How JSON is asked for."""

    parameters: ModelRequestParameters
    settings: ModelSettings


def _json_request(
    model: Model, json_format: JsonFormat, system: str, schema: Mapping[str, Any]
) -> _JsonRequest:
    if json_format == "json_schema":
        return _JsonRequest(_enforce_schema(model, system, schema), _SETTINGS)
    in_words = _instructions(request_form(system, schema))
    settings = _SETTINGS
    if json_format == "json_object":
        # Servers built on llama.cpp enforce a schema that stands here, and others pass it over.
        wanted = {"type": "json_object", "schema": dict(schema)}
        settings = ModelSettings(extra_body={"response_format": wanted})
    return _JsonRequest(ModelRequestParameters(instruction_parts=in_words), settings)


def _enforce_schema(model: Model, system: str, schema: Mapping[str, Any]) -> ModelRequestParameters:
    """Ask the server to enforce the schema; one without a way takes the answer as a tool."""
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
        """The model, as error messages name it."""
        return f"{self.endpoint.model} at {self.endpoint.url}"

    async def ask(
        self,
        messages: list[ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings = _SETTINGS,
        pauses: Sequence[float] = _PAUSES_SECONDS,
    ) -> AsyncGenerator[Text | ModelResponse]:
        """Return the answer's text as it comes, and last the response as a whole."""
        for pause in (*pauses, None):
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

    async def ask_json(
        self, messages: list[ModelMessage], request: _JsonRequest, *, is_last: bool
    ) -> str | None:
        """Return the answer; None where another format should be tried: this one is not taken.

        A server that is only in trouble fails in the last format as well, and that is reported.
        """
        # A refusal stays one, so one pause is enough to tell it from trouble that passes.
        pauses = _PAUSES_SECONDS if is_last else _PAUSES_SECONDS[:1]
        asked = self.ask(messages, request.parameters, request.settings, pauses)
        try:
            pieces = [piece async for piece in asked]
        except (ModelAPIError, UserError) as error:
            if is_last or not may_refuse_format(error):
                raise
            return None
        found = self._answer_in(next(one for one in pieces if isinstance(one, ModelResponse)))
        return found if is_last or holds_json(found) else None

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

    def _answer_in(self, response: ModelResponse) -> str:
        text = next((call.args_as_json_str() for call in response.tool_calls), response.text or "")
        self.check(response, is_empty=not text.strip())
        return text


def _text(event: object) -> str:
    """Return the piece of the answer that an event brings, if any."""
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
    return ""


@asynccontextmanager
async def _connect(endpoint: Endpoint) -> AsyncGenerator[_Line]:
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
