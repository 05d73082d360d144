"""Models behind an address: Anthropic's, OpenAI's, Ollama's, and all that speak as they do.

Each call runs an event loop on a thread of its own, which ends with the call. The library that
speaks to the servers takes seconds to load and is loaded by the first call.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, get_args

from turnleaf.core.dialogue import SILENCE_SECONDS, Silence, Usage
from turnleaf.errors import ModelError
from turnleaf.installation import advise_install
from turnleaf.llm.addresses import checked_key, checked_url
from turnleaf.llm.context_windows import ServedModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Mapping

    from turnleaf.core.dialogue import Event, Prompt, Toolbox

__all__ = [
    "ApiModel",
    "Endpoint",
    "FormatMemory",
    "JsonFormat",
    "ProcessFormats",
    "Provider",
    "holds_json",
    "list_formats",
]

Provider: TypeAlias = Literal["anthropic", "openai", "ollama"]
T = TypeVar("T")

_USUAL_URLS: dict[Provider, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
}
_VARIABLES: dict[Provider, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "ollama": "OPENAI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Which model is asked, where, and with which key; `timeout_seconds` is for how long silent."""

    provider: Provider
    model: str
    url: str
    api_key: str | None = field(repr=False)
    timeout_seconds: float

    @property
    def variable(self) -> str:
        """The environment variable that holds the key."""
        return _VARIABLES[self.provider]

    @property
    def is_usual(self) -> bool:
        """Whether it is the provider's own address."""
        return self.url == _USUAL_URLS[self.provider]


class ApiModel:
    """A model that is asked over HTTP."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        api_key: str | None = None,
        url: str | None = None,
        timeout_seconds: float = 180.0,
        context_window: int | None = None,
        formats: FormatMemory | None = None,
    ) -> None:
        address = _USUAL_URLS[provider] if url is None else _address(url, provider)
        key = checked_key(api_key, _VARIABLES[provider])
        self._endpoint = Endpoint(provider, model, address, key, timeout_seconds)
        self._served = ServedModel(address, model, key)
        self._set_window = context_window
        self._formats = _process_formats if formats is None else formats

    @property
    def name(self) -> str:
        """Its name, as the setting `model` names it."""
        return f"{self._endpoint.provider}:{self._endpoint.model}"

    @property
    def url(self) -> str:
        """Where it is asked."""
        return self._endpoint.url

    @property
    def lack(self) -> str | None:
        """What is missing for it to be asked, if anything is."""
        endpoint = self._endpoint
        wants_key = endpoint.provider == "anthropic" or (
            endpoint.provider == "openai" and endpoint.is_usual
        )
        return f"{endpoint.variable} is not set" if wants_key and not endpoint.api_key else None

    @property
    def context_window(self) -> int | None:
        """How many tokens fit into its context; None where nobody but the library knows it."""
        known = self._set_window or self._served.known_window
        if known or not self._tells_window:
            return known
        return self._served.ask_window() or self._served.assumed_window

    @property
    def _tells_window(self) -> bool:
        """Whether it is its server that knows the context, since each gives it another one."""
        provider = self._endpoint.provider
        return provider == "ollama" or (provider == "openai" and not self._endpoint.is_usual)

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Generator[Event]:
        """Answer, piece by piece, using the tools; closing the iterator ends the request."""
        answer = self._calls().answer
        for event in _iterate_on_thread(lambda: answer(self._endpoint, prompt, tools)):
            yield self._with_window(event) if isinstance(event, Usage) else event

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Answer with JSON that should follow a schema; whoever asked checks it.

        A server that refuses the schema is asked in another way in the same call.
        """
        answer = self._calls().generate_json
        known = self._formats.json_format(self.url, self.name)
        formats = list_formats(self._endpoint.provider, known)
        pieces = _iterate_on_thread(lambda: answer(self._endpoint, system, text, schema, formats))
        [(used, found)] = (piece for piece in pieces if not isinstance(piece, Silence))
        if used != known and holds_json(found):
            self._formats.keep_json_format(self.url, self.name, used)
        return str(found)

    def _with_window(self, usage: Usage) -> Usage:
        """Return the usage with the context window of the model that has just answered."""
        known = self._set_window or self._served.known_window
        if known is None:
            asked = self._served.ask_window() if self._tells_window else usage.context_window
            if asked:
                self._served.keep_window(asked)
            known = asked or self._served.assumed_window
        return replace(usage, context_window=known)

    def _calls(self) -> Any:  # noqa: ANN401 - a module
        if self.lack:
            raise ModelError(
                f"{self.name} cannot be asked: {self.lack}; set it to your key, or set"
                " TURNLEAF_MODEL to another model"
            )
        try:
            return import_module("turnleaf.llm.providers")
        except ImportError as error:
            raise ModelError(
                f"{self.name} cannot be asked: the package {error.name} is missing;"
                f" {advise_install('models')}"
            ) from error


def _iterate_on_thread(make: Callable[[], AsyncGenerator[T]]) -> Generator[T | Silence]:
    """Yield what an asynchronous generator yields; closed early, it is cancelled where it waits."""
    queue = SimpleQueue[tuple[T] | BaseException | None]()
    loop = asyncio.new_event_loop()
    task = loop.create_task(_pass_on(make, queue))
    thread = Thread(target=_run, args=(loop, task, queue), daemon=True, name="turnleaf-model")
    thread.start()
    try:
        while (piece := _next(queue)) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece[0]
    finally:
        with suppress(RuntimeError):  # the loop is closed: it ended by itself
            loop.call_soon_threadsafe(task.cancel)
        thread.join()


def _next(
    queue: SimpleQueue[tuple[T] | BaseException | None],
) -> tuple[T | Silence] | BaseException | None:
    try:
        return queue.get(timeout=SILENCE_SECONDS)
    except Empty:
        return (Silence(),)


async def _pass_on(
    make: Callable[[], AsyncGenerator[T]], queue: SimpleQueue[tuple[T] | BaseException | None]
) -> None:
    async with aclosing(make()) as pieces:
        async for piece in pieces:
            queue.put((piece,))


def _run(
    loop: asyncio.AbstractEventLoop,
    task: asyncio.Task[None],
    queue: SimpleQueue[tuple[T] | BaseException | None],
) -> None:
    ending: BaseException | None = None
    try:
        loop.run_until_complete(task)
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is read
        ending = error
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    queue.put(ending)


def _address(url: str, provider: Provider) -> str:
    # What Anthropic's library is told lacks the version, which many people add.
    ending = "/v1" if provider == "anthropic" else ""
    return checked_url(url, "TURNLEAF_MODEL_URL").removesuffix(ending)


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


_process_formats = ProcessFormats()
