"""How a model behind an address is asked: round after round while it calls tools, or for JSON."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from turnleaf import metrics
from turnleaf.core.dialogue import Event, Text, ToolCall, ToolResult, Usage
from turnleaf.errors import ModelError
from turnleaf.llm import anthropic_wire, openai_wire
from turnleaf.llm.context_windows import ServedModel
from turnleaf.llm.failures import CallFailure, brief, explain
from turnleaf.llm.wire import Called, Request, Response, Said, drop_surrogates, list_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.dialogue import Prompt, Toolbox
    from turnleaf.llm.http_calls import Line
    from turnleaf.llm.wire import Endpoint, JsonFormat, Wire

_MAX_ROUNDS = 12
_PAUSES_SECONDS = (0.5, 1.5)
_MAX_PAUSE_SECONDS = 5.0
_WIRES: dict[str, Wire] = {"anthropic": anthropic_wire, "openai": openai_wire}


def answer(
    endpoint: Endpoint, line: Line, prompt: Prompt, tools: Toolbox | None
) -> Iterator[Event]:
    """Answer a prompt, round after round for as long as the model asks for tools."""
    with _explaining(endpoint):
        yield from _rounds(_Asking(endpoint, line), prompt, tools)


def _rounds(asking: _Asking, prompt: Prompt, tools: Toolbox | None) -> Iterator[Event]:
    messages = asking.wire.messages(list_parts(prompt.messages))
    specs = tools.specs if tools else ()
    has_text, output_tokens = False, 0
    for _ in range(_MAX_ROUNDS):
        request = Request(drop_surrogates(prompt.system), messages, specs)
        response = Response({})
        for piece in asking.ask(request):
            if isinstance(piece, Response):
                response = piece
            else:
                has_text = True
                yield Text(piece)
        asking.check(response, is_empty=not has_text and not response.calls)
        output_tokens += response.output_tokens
        if not response.calls:
            if response.input_tokens:
                yield Usage(response.input_tokens, output_tokens)
            return
        results: list[ToolResult] = []
        for event in _use_tools(tools, response.calls):
            yield event
            if isinstance(event, ToolResult):
                results.append(event)
        messages += [response.message, *asking.wire.results(results)]
    raise ModelError(
        f"{asking.who} asked for tools {_MAX_ROUNDS} times without coming to an answer; ask again"
        " in other words"
    )


def _use_tools(tools: Toolbox | None, calls: Sequence[Called]) -> Iterator[ToolCall | ToolResult]:
    """Use one tool after the other."""
    for call in calls:
        yield ToolCall(call.id, call.name, call.read_arguments() or {})
        yield ToolResult(call.id, call.name, _use(tools, call))


def _use(tools: Toolbox | None, call: Called) -> str:
    """Use the tool that a model asks for, or tell it why that cannot be."""
    names = [spec.name for spec in tools.specs] if tools else []
    arguments = call.read_arguments()
    if tools is None or call.name not in names:
        wrong = f"there is no tool {call.name!r}; there are: {', '.join(names) or 'none'}"
    elif arguments is None:
        wrong = "the arguments are not a JSON object; call the tool again with one"
    else:
        return tools.call(call.name, arguments)
    return json.dumps({"success": False, "error": wrong})


def generate_json(
    endpoint: Endpoint,
    line: Line,
    question: tuple[str, str],
    schema: Mapping[str, Any],
    formats: Sequence[JsonFormat],
) -> Iterator[tuple[JsonFormat, str]]:
    """Answer once with JSON, asked for in the first of the formats that the server takes.

    `question` is what the model is told and the text that it is told about.
    """
    system, text = map(drop_surrogates, question)
    asking = _Asking(endpoint, line)
    messages = asking.wire.messages([Said("user", text)])
    with _explaining(endpoint):
        for json_format in formats:
            request = Request(system, messages, (), schema, json_format)
            found = asking.ask_json(request, is_last=json_format == formats[-1])
            if found is not None:
                yield json_format, found
                return


def holds_json(answer: str) -> bool:
    """Whether an answer has JSON in it, complete or not; whoever asked reads it."""
    return "{" in answer or "[" in answer


@contextmanager
def _explaining(endpoint: Endpoint) -> Iterator[None]:
    """Turn every failure into an error that says what to do, and shows no key."""
    try:
        yield
    except CallFailure as failure:
        if failure.kind == "context-too-small":
            ServedModel(endpoint.url, endpoint.model, None).read_refusal(failure.detail)
        raise ModelError(explain(failure, endpoint), kind=failure.kind) from None


class _Asking:
    """A model that is being asked."""

    def __init__(self, endpoint: Endpoint, line: Line) -> None:
        self._endpoint = endpoint
        self._line = line
        self.wire = _WIRES[endpoint.provider.wire]

    @property
    def who(self) -> str:
        """The model, as error messages name it."""
        return f"{self._endpoint.model} at {self._endpoint.url}"

    def ask(
        self, request: Request, pauses: Sequence[float] = _PAUSES_SECONDS
    ) -> Iterator[str | Response]:
        """Yield the answer's text as it comes, and last the response as a whole."""
        for pause in (*pauses, None):
            try:
                yield from self._read(request)
            except CallFailure as failure:
                wait = _find_pause(failure, pause)
                if wait is None:
                    raise
                self._line.wait(wait)
            else:
                return

    def _read(self, request: Request) -> Iterator[str | Response]:
        """Send one request, and count it."""
        counted = self._endpoint.provider.name, "answer" if request.schema is None else "json"
        with metrics.count_call(*counted):
            for piece in self.wire.read(self._post(request)):
                if isinstance(piece, Response):
                    taken, given = piece.input_tokens, piece.output_tokens
                    metrics.count_tokens(*counted, taken=taken, given=given)
                yield piece

    def _post(self, request: Request) -> Iterator[dict[str, Any]]:
        endpoint = self._endpoint
        url = f"{endpoint.url}{self.wire.path()}"
        body = self.wire.body(endpoint.model, request)
        return self._line.post(url, self.wire.headers(endpoint.api_key), body)

    def ask_json(self, request: Request, *, is_last: bool) -> str | None:
        """Return the answer; None where another format should be tried: this one is not taken.

        A server that is only in trouble fails in the last format as well, and that is reported.
        """
        # A refusal stays one, so one pause is enough to tell it from trouble that passes.
        pauses = _PAUSES_SECONDS if is_last else _PAUSES_SECONDS[:1]
        try:
            pieces = list(self.ask(request, pauses))
        except CallFailure as failure:
            if is_last or not failure.may_refuse_format:
                raise
            return None
        found = self._answer_in(next(one for one in pieces if isinstance(one, Response)))
        return found if is_last or holds_json(found) else None

    def check(self, response: Response, *, is_empty: bool) -> None:
        """Raise an error for what is no answer."""
        if response.ending is None:
            raise ModelError(f"{self.who} broke off its answer; try again", kind="broken-off")
        if response.ending == "refused":
            because = f" ({brief(response.refusal)})" if response.refusal else ""
            raise ModelError(f"{self.who} refused to answer{because}; ask in other words")
        if is_empty and response.ending == "length":
            raise ModelError(
                f"{self.who} used up its tokens before it came to an answer; ask for less at a"
                " time, or set TURNLEAF_MODEL to another model"
            )
        if is_empty:
            raise ModelError(f"{self.who} answered with nothing; try again")

    def _answer_in(self, response: Response) -> str:
        text = next((call.arguments for call in response.calls), response.text)
        self.check(response, is_empty=not text.strip())
        return text


def _find_pause(failure: CallFailure, pause: float | None) -> float | None:
    """Return the seconds after which to ask again, or nothing where that is no use."""
    if pause is None or not failure.is_busy:
        return None
    wait = pause if failure.retry_after is None else failure.retry_after
    return wait if wait <= _MAX_PAUSE_SECONDS else None
