"""Models behind an address: Anthropic's, OpenAI's, Ollama's, and all that speak as they do.

Each call runs on a thread of its own, which ends with the call: whoever reads the answer can stop
it at any time, also while the server is silent.
"""

from __future__ import annotations

from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from turnleaf.core.dialogue import SILENCE_SECONDS, Silence, Usage
from turnleaf.core.model_providers import PROVIDERS
from turnleaf.errors import ModelError, SettingsError
from turnleaf.llm import answering
from turnleaf.llm.addresses import checked_key, checked_url
from turnleaf.llm.anthropic_wire import find_window
from turnleaf.llm.context_windows import ServedModel
from turnleaf.llm.http_calls import Line
from turnleaf.llm.wire import LADDER, Endpoint
from turnleaf.model_keys import ModelKey

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from turnleaf.core.dialogue import Event, Prompt, Toolbox
    from turnleaf.llm.wire import JsonFormat

__all__ = ["ApiModel", "FormatMemory", "ProcessFormats", "list_formats"]

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
        address = known.url if url is None else checked_url(url, "TURNLEAF_MODEL_URL")
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
            checked_key(key.value, known.variable or "the key")
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
        wants_key = endpoint.provider.needs_key and (is_anthropic or self._is_usual)
        return f"{endpoint.variable} is not set" if wants_key and self._key is None else None

    @property
    def context_window(self) -> int | None:
        """How many tokens fit into its context."""
        known = self._set_window or self._served.known_window or self._listed_window
        return known or self._served.ask_window() or self._served.assumed_window

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
            endpoint, lambda line: answering.answer(endpoint, line, prompt, tools)
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
            lambda line: answering.generate_json(endpoint, line, (system, text), schema, formats),
        )
        [(used, found)] = (piece for piece in pieces if not isinstance(piece, Silence))
        if used != known and answering.holds_json(found):
            self._formats.keep_json_format(self.url, self.name, used)
        return found

    def _with_window(self, usage: Usage) -> Usage:
        """Return the usage with the context window of the model that has just answered."""
        known = self._set_window or self._served.known_window or self._listed_window
        if known is None:
            asked = self._served.ask_window()
            if asked:
                self._served.keep_window(asked)
            known = asked or self._served.assumed_window
        return replace(usage, context_window=known)

    @property
    def _served(self) -> ServedModel:
        return ServedModel(self.url, self._endpoint.model, self._key)

    def _find_endpoint(self) -> Endpoint:
        """Return where to ask, with the key; raise ModelError where there is none."""
        if self.lack:
            raise ModelError(
                f"{self.name} cannot be asked: {self.lack}; set it to your key, or set"
                " TURNLEAF_MODEL to another model",
                kind="no-key",
            )
        key = self._key.read() if self._key else None
        return replace(self._endpoint, api_key=checked_key(key, self._endpoint.variable))


def _iterate_on_thread(
    endpoint: Endpoint, make: Callable[[Line], Iterator[T]]
) -> Generator[T | Silence]:
    """Yield what an iterator yields on another thread; closed early, it is stopped at its wait."""
    queue = SimpleQueue[tuple[T] | BaseException | None]()
    line = Line(endpoint.timeout_seconds)
    thread = Thread(target=_run, args=(make, line, queue), daemon=True, name="turnleaf-model")
    thread.start()
    try:
        while (piece := _next(queue)) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece[0]
    finally:
        # A connection that is not made yet ends by itself after a few seconds.
        if line.stop() or not thread.is_alive():
            thread.join()


def _next(
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
    start = next((at for at, one in enumerate(ladder) if one == known), 0)
    return tuple(ladder[start:])


_process_formats = ProcessFormats()
