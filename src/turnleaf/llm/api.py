"""Models behind an address: Anthropic's, OpenAI's, Ollama's, and all that speak as they do.

A server is asked how many tokens fit into the context before the first prompt, and once more after
the first answer: only then is the model loaded, and Ollama and LM Studio know what they gave it.
That answer holds for the process, and so does what a server says that refuses a prompt as too long.

Each call runs on a thread of its own, which ends with the call: whoever reads the answer can stop
it at any time, also while the server is silent. A model is asked round after round while it calls
tools, or for JSON.
"""

from __future__ import annotations

import json
import re
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.client import HTTPException
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.request import Request

from turnleaf import metrics
from turnleaf.core.model_dialogue import (
    SILENCE_SECONDS,
    Event,
    Silence,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from turnleaf.core.model_providers import PROVIDERS, check_key, check_url
from turnleaf.errors import ModelError, SettingsError
from turnleaf.llm import anthropic_wire, openai_wire
from turnleaf.llm.anthropic_wire import find_window
from turnleaf.llm.http_calls import CallFailure, Line, explain, make_opener, shorten_to_line
from turnleaf.llm.wire import (
    LADDER,
    Endpoint,
    Response,
    TextPart,
    ToolCallPart,
    WireRequest,
    drop_surrogates,
    list_parts,
)
from turnleaf.model_keys import ModelKey

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from turnleaf.core.model_dialogue import Prompt, Toolbox
    from turnleaf.llm.wire import JsonFormat, Wire


ASSUMED_TOKENS = 8192
"""The context of a model whose server does not tell: what small local models commonly get."""
ASSUMED_HOSTED_TOKENS = 32_768
"""The same for a server that is reached by https: who serves the public gives no less."""
_OLLAMA_DEFAULT_TOKENS = 4096
"""What Ollama gives a model on a small machine, whatever the model could take."""
# Somebody waits for the first word meanwhile, and several addresses may be asked.
_SECONDS = 2.0
_MAX_ANSWER_BYTES = 8 * 1024**2
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
_LISTED_AS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What vLLM, OpenRouter, Groq and Mistral call it in their lists of models."""
_TOLD_WINDOW = re.compile(
    r"(?:maximum context length|context (?:size|window|length))[^\d\n]{0,40}(\d{3,7})",
    re.IGNORECASE,
)
_known: dict[tuple[str, str], int] = {}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and the server that runs it."""

    url: str
    model: str
    key: ModelKey | None = field(repr=False)

    @property
    def known_window(self) -> int | None:
        """What is known of it in this process."""
        return _known.get((self.url, self.model))

    def keep_window(self, tokens: int) -> None:
        """Keep what is known of it for this process."""
        _known[self.url, self.model] = tokens

    def read_refusal(self, message: str) -> None:
        """Keep the context that a server names where it refuses a prompt that is too long."""
        if found := _TOLD_WINDOW.search(message):
            self.keep_window(int(found[1]))

    def ask_window(self) -> int | None:
        """Ask the server, and assume a small one where it does not say; None if it is silent."""
        with suppress(OSError, HTTPException):
            return next(filter(None, self._read_answers()), self.assumed_window)
        return None

    @property
    def assumed_window(self) -> int:
        """What is assumed of it while nobody tells."""
        return ASSUMED_TOKENS if self._is_plain_http else ASSUMED_HOSTED_TOKENS

    @property
    def _is_plain_http(self) -> bool:
        return self.url.startswith("http://")

    def _read_answers(self) -> Iterator[int | None]:
        yield self._read_model_list()
        # Who serves models to the public runs none of these.
        if self._is_plain_http:
            root = self.url.removesuffix("/v1")
            yield self._read_ollama_loaded(root)
            yield self._read_lm_studio_loaded(root)
            yield self._read_llama_cpp_props(root)
            # The last, since llama.cpp answers it too, with another meaning.
            yield self._read_ollama_settings(root)

    def _read_model_list(self) -> int | None:
        for entry in _list_entries(self._read(f"{self.url}/models"), "data"):
            if entry.get("id") == self.model:
                return next(filter(None, (_count(entry.get(name)) for name in _LISTED_AS)), None)
        return None

    def _read_ollama_loaded(self, root: str) -> int | None:
        # Ollama adds the tag that a name without one stands for.
        names = {self.model, f"{self.model}:latest"}
        for entry in _list_entries(self._read(f"{root}/api/ps"), "models"):
            if names & {entry.get("name"), entry.get("model")}:
                return _count(entry.get("context_length"))
        return None

    def _read_ollama_settings(self, root: str) -> int | None:
        shown = self._read(f"{root}/api/show", {"model": self.model})
        if found := _NUM_CTX.search(str(_dig(shown, "parameters"))):
            return int(found[1]) or None
        info = _dig(shown, "model_info")
        if not isinstance(info, dict):
            return None
        longest = (_count(info[name]) for name in info if name.endswith(".context_length"))
        # Ollama gives a model less than it could take. A prompt that is too long loses its
        # beginning, which is the memory, without an error.
        return min([_OLLAMA_DEFAULT_TOKENS, *filter(None, longest)])

    def _read_lm_studio_loaded(self, root: str) -> int | None:
        for entry in _list_entries(self._read(f"{root}/api/v0/models"), "data"):
            if entry.get("id") == self.model:
                return _count(entry.get("loaded_context_length"))
        return None

    def _read_llama_cpp_props(self, root: str) -> int | None:
        return _count(_dig(self._read(f"{root}/props"), "default_generation_settings", "n_ctx"))

    def _read(self, url: str, question: dict[str, str] | None = None) -> object:
        """Return the JSON at an address; None where there is none."""
        headers = {"User-Agent": "turnleaf", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key.read()}"
        body = None if question is None else json.dumps(question).encode()
        request = Request(url, body, headers)  # noqa: S310 - checked_url has let it pass
        with make_opener(url).open(request, timeout=_SECONDS) as response:
            is_there = response.status == HTTPStatus.OK
            data = response.read(_MAX_ANSWER_BYTES) if is_there else b""
        with suppress(ValueError, RecursionError):
            return json.loads(data)
        return None


def _dig(answer: object, *path: str) -> object:
    for name in path:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


def _list_entries(answer: object, name: str) -> list[dict[str, Any]]:
    found = _dig(answer, name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _count(value: object) -> int | None:
    # A bool is an int in Python.
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None


# Each round costs money, and some models never stop.
_MAX_ROUNDS = 12
_PAUSES_SECONDS = (0.5, 1.5)
_MAX_PAUSE_SECONDS = 5.0
_WIRES: dict[str, Wire] = {"anthropic": anthropic_wire, "openai": openai_wire}


def answer(
    endpoint: Endpoint, line: Line, prompt: Prompt, tools: Toolbox | None
) -> Iterator[Event]:
    """Answer a prompt, round after round for as long as the model asks for tools."""
    with _explain_failures(endpoint):
        yield from _run_rounds(_Asking(endpoint, line), prompt, tools)


def _run_rounds(asking: _Asking, prompt: Prompt, tools: Toolbox | None) -> Iterator[Event]:
    messages = asking.wire.make_messages(list_parts(prompt.messages))
    specs = tools.specs if tools else ()
    has_text, output_tokens = False, 0
    for _ in range(_MAX_ROUNDS):
        # A lone surrogate of a stored message cannot be encoded, and would end the turn.
        request = WireRequest(drop_surrogates(prompt.system), messages, specs)
        response = Response({})
        for piece in asking.ask(request):
            if isinstance(piece, Response):
                response = piece
            else:
                has_text = True
                yield Text(piece)
        # A model that spoke before it used its tools may end without a further word.
        asking.check(response, is_empty=not has_text and not response.calls)
        output_tokens += response.output_tokens
        if not response.calls:
            if response.input_tokens:
                # The last prompt is what fills the context; of the answers all count.
                yield Usage(response.input_tokens, output_tokens)
            return
        results: list[ToolResult] = []
        for event in _use_tools(tools, response.calls):
            yield event
            if isinstance(event, ToolResult):
                results.append(event)
        messages += [response.message, *asking.wire.make_results(results)]
    raise ModelError(
        f"{asking.who} called tools {_MAX_ROUNDS} times without reaching an answer; rephrase "
        "the question"
    )


def _use_tools(
    tools: Toolbox | None, calls: Sequence[ToolCallPart]
) -> Iterator[ToolCall | ToolResult]:
    """Use one tool after the other."""
    for call in calls:
        yield ToolCall(call.id, call.name, call.read_arguments() or {})
        yield ToolResult(call.id, call.name, _use(tools, call))


def _use(tools: Toolbox | None, call: ToolCallPart) -> str:
    """Use the tool that a model asks for, or tell it why that cannot be."""
    names = [spec.name for spec in tools.specs] if tools else []
    arguments = call.read_arguments()
    if tools is None or call.name not in names:
        wrong = f"there is no tool {call.name!r}; the tools are: {', '.join(names) or 'none'}"
    elif arguments is None:
        wrong = "the arguments are not a JSON object; call the tool again with one"
    else:
        return tools.call(call.name, arguments)
    # Told instead of raised: the model can correct itself in the next round.
    return json.dumps({"success": False, "error": wrong})


def ask_for_json(
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
    messages = asking.wire.make_messages([TextPart("user", text)])
    with _explain_failures(endpoint):
        for json_format in formats:
            request = WireRequest(system, messages, (), schema, json_format)
            found = asking.ask_json(request, is_last=json_format == formats[-1])
            if found is not None:
                yield json_format, found
                return


def holds_json(answer: str) -> bool:
    """Whether an answer has JSON in it, complete or not; whoever asked reads it."""
    return "{" in answer or "[" in answer


@contextmanager
def _explain_failures(endpoint: Endpoint) -> Iterator[None]:
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
        self, request: WireRequest, pauses: Sequence[float] = _PAUSES_SECONDS
    ) -> Iterator[str | Response]:
        """Yield the answer's text as it comes, and last the response as a whole."""
        for pause in (*pauses, None):
            try:
                yield from self._read(request)
            except CallFailure as failure:
                # Only a refusal is tried again: once words have come, they would be said twice.
                wait = _find_pause(failure, pause)
                if wait is None:
                    raise
                self._line.wait(wait)
            else:
                return

    def _read(self, request: WireRequest) -> Iterator[str | Response]:
        """Send one request, and count it."""
        counted = self._endpoint.provider.name, "answer" if request.schema is None else "json"
        # The error of an answer that fails half-way would keep its connection open.
        with metrics.count_call(*counted), closing(self._post(request)) as events:
            for piece in self.wire.read(events):
                if isinstance(piece, Response):
                    taken, given = piece.input_tokens, piece.output_tokens
                    metrics.count_tokens(*counted, taken=taken, given=given)
                yield piece

    def _post(self, request: WireRequest) -> Generator[dict[str, Any]]:
        endpoint = self._endpoint
        url = f"{endpoint.url}{self.wire.get_path()}"
        body = self.wire.make_body(endpoint.model, request)
        return self._line.post(url, self.wire.make_headers(endpoint.api_key), body)

    def ask_json(self, request: WireRequest, *, is_last: bool) -> str | None:
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
        # Some servers pass the format over, so only an answer with JSON proves that it works.
        return found if is_last or holds_json(found) else None

    def check(self, response: Response, *, is_empty: bool) -> None:
        """Raise an error for what is no answer."""
        if response.ending is None:
            raise ModelError(f"the answer of {self.who} was cut off; try again", kind="broken-off")
        if response.ending == "refused":
            because = f" ({shorten_to_line(response.refusal)})" if response.refusal else ""
            raise ModelError(f"{self.who} refused to answer{because}; rephrase the question")
        if is_empty and response.ending == "length":
            raise ModelError(
                f"{self.who} used up its tokens before it reached an answer; ask for less at "
                "a time, or set TURNLEAF_MODEL to another model"
            )
        if is_empty:
            raise ModelError(f"{self.who} gave an empty answer; try again")

    def _answer_in(self, response: Response) -> str:
        text = next((call.arguments for call in response.calls), response.text)
        self.check(response, is_empty=not text.strip())
        return text


def _find_pause(failure: CallFailure, pause: float | None) -> float | None:
    """Return the seconds after which to ask again, or nothing where that is no use."""
    if pause is None or not failure.is_busy:
        return None
    # A server that asks for a long wait is not waited for: somebody sits before the answer.
    wait = pause if failure.retry_after is None else failure.retry_after
    return wait if wait <= _MAX_PAUSE_SECONDS else None


T = TypeVar("T")


class ApiModel:
    """A model that is asked over HTTP."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        api_key: str | None = None,
        key: ModelKey | None = None,
        url: str | None = None,
        timeout_seconds: float = 180.0,
        context_window: int | None = None,
        formats: FormatMemory | None = None,
    ) -> None:
        known = PROVIDERS[provider]
        address = known.url if url is None else check_url(url, "TURNLEAF_MODEL_URL")
        if address is None:
            raise SettingsError(
                f"{provider}:{model} needs an address; set TURNLEAF_MODEL_URL to one such as"
                " http://localhost:8000/v1"
            )
        if known.wire == "anthropic":
            address = address.removesuffix("/v1")  # Many people add it, and the path has it.
        if key is None and api_key:
            key = ModelKey(known, "environment", api_key)
        if key is not None and key.value is not None:
            check_key(key.value, known.variable or "the key")
        self._key = key
        self._endpoint = Endpoint(known, model, address, None, timeout_seconds)
        self._set_window = context_window
        self._formats = _process_formats if formats is None else formats

    @property
    def name(self) -> str:
        """Its name, as the setting `model` names it."""
        return f"{self._endpoint.provider.name}:{self._endpoint.model}"

    @property
    def url(self) -> str:
        """Where it is asked."""
        return self._endpoint.url

    @property
    def lack(self) -> str | None:
        """What is missing for it to be asked, if anything is."""
        endpoint = self._endpoint
        is_anthropic = endpoint.provider.wire == "anthropic"
        # A server of one's own often wants no key, though its provider does.
        wants_key = endpoint.provider.needs_key and (is_anthropic or self._is_usual)
        return f"{endpoint.variable} is not set" if wants_key and self._key is None else None

    @property
    def context_window(self) -> int | None:
        """How many tokens fit into its context."""
        known = self._set_window or self._served_model.known_window or self._listed_window
        # Not kept: before the first answer the model may not be loaded, and gets another context
        # then.
        return known or self._served_model.ask_window() or self._served_model.assumed_window

    @property
    def _is_usual(self) -> bool:
        return self.url == self._endpoint.provider.url

    @property
    def _listed_window(self) -> int | None:
        """What our tables say; None where only its server knows, since each gives it another."""
        provider = self._endpoint.provider
        if provider.wire == "anthropic":
            return find_window(self._endpoint.model)
        return provider.window if self._is_usual else None

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Generator[Event]:
        """Answer, piece by piece, using the tools; closing the iterator ends the request."""
        endpoint = self._find_endpoint()
        for event in _iterate_on_thread(
            endpoint, lambda line: answer(endpoint, line, prompt, tools)
        ):
            yield self._with_window(event) if isinstance(event, Usage) else event

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Answer with JSON that should follow a schema; whoever asked checks it.

        A server that refuses the schema is asked in another way in the same call.
        """
        endpoint = self._find_endpoint()
        known = self._formats.json_format(self.url, self.name)
        formats = list_formats(endpoint.provider.wire, known)
        pieces = _iterate_on_thread(
            endpoint,
            lambda line: ask_for_json(endpoint, line, (system, text), schema, formats),
        )
        [(used, found)] = (piece for piece in pieces if not isinstance(piece, Silence))
        if used != known and holds_json(found):
            self._formats.keep_json_format(self.url, self.name, used)
        return found

    def _with_window(self, usage: Usage) -> Usage:
        """Return the usage with the context window of the model that has just answered."""
        known = self._set_window or self._served_model.known_window or self._listed_window
        if known is None:
            asked = self._served_model.ask_window()
            # Now the model is loaded, so this is what it really has.
            if asked:
                self._served_model.keep_window(asked)
            known = asked or self._served_model.assumed_window
        return replace(usage, context_window=known)

    @property
    def _served_model(self) -> ServedModel:
        return ServedModel(self.url, self._endpoint.model, self._key)

    def _find_endpoint(self) -> Endpoint:
        """Return where to ask, with the key; raise ModelError where there is none."""
        if self.lack:
            raise ModelError(
                f"{self.name} cannot be used: {self.lack}; set it to your key, or run "
                "turnleaf setup to store the key or choose another model",
                kind="no-key",
            )
        key = self._key.read() if self._key else None
        return replace(self._endpoint, api_key=check_key(key, self._endpoint.variable))


def _iterate_on_thread(
    endpoint: Endpoint, make: Callable[[Line], Iterator[T]]
) -> Generator[T | Silence]:
    """Yield what an iterator yields on another thread; closed early, it is stopped at its wait."""
    queue = SimpleQueue[tuple[T] | BaseException | None]()
    line = Line(endpoint.timeout_seconds)
    # A blocked read can only be ended by shutting its socket, from another thread.
    thread = Thread(target=_run, args=(make, line, queue), daemon=True, name="turnleaf-model")
    thread.start()
    try:
        while (piece := _take_next(queue)) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece[0]
    finally:
        # A connection that is not made yet ends by itself after a few seconds.
        if line.stop() or not thread.is_alive():
            thread.join()


def _take_next(
    queue: SimpleQueue[tuple[T] | BaseException | None],
) -> tuple[T | Silence] | BaseException | None:
    try:
        return queue.get(timeout=SILENCE_SECONDS)
    except Empty:
        return (Silence(),)


def _run(
    make: Callable[[Line], Iterator[T]],
    line: Line,
    queue: SimpleQueue[tuple[T] | BaseException | None],
) -> None:
    ending: BaseException | None = None
    try:
        for piece in make(line):
            queue.put((piece,))
            # Nobody may be left who waits for the next piece.
            line.wait()
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is read
        ending = error
    queue.put(ending)


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


def list_formats(wire: str, known: str | None) -> tuple[JsonFormat, ...]:
    """Return the formats to try in turn, beginning with the one that is known to work."""
    ladder = [one for one in LADDER if wire != "anthropic" or one != "json_object"]
    # What is above the known format on the ladder was refused, so it is not tried again.
    start = next((at for at, one in enumerate(ladder) if one == known), 0)
    return tuple(ladder[start:])


_process_formats = ProcessFormats()
