"""Which models can be had, and whether one answers: tried with one short question.

Servers on this machine are found, and what a provider lists. A failure is told by its kind alone:
what a server answered is never shown, since whoever names an address could read by it what is
there.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from shutil import which
from typing import TYPE_CHECKING

from turnleaf.core.messages import Message
from turnleaf.core.model_dialogue import Prompt, Text
from turnleaf.core.model_providers import PROVIDERS, check_url, find_provider, is_on_loopback
from turnleaf.errors import InvalidInput, ModelError, SettingsError
from turnleaf.llm import anthropic_wire, openai_wire
from turnleaf.llm.http_calls import CallFailure, Line
from turnleaf.llm.models import find_model, find_url
from turnleaf.model_keys import find_key
from turnleaf.settings import ENVIRONMENT, find_program_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.model_dialogue import Model
    from turnleaf.core.model_providers import ModelProvider
    from turnleaf.settings import Settings


LEAST_WINDOW = 4096
"""So many tokens a model's context needs for the memory and its tools."""
_QUESTION = "Answer with one word: ready."
_PROGRAM = "the program claude did not answer; run claude in a terminal, and log in there"


@dataclass(frozen=True, slots=True)
class Trial:
    """How a test of a model ended; `kind` and `sentence` are empty where it answered."""

    kind: str
    sentence: str
    milliseconds: int

    @property
    def is_good(self) -> bool:
        """Whether the model answered."""
        return not self.kind


def try_model(model: Model) -> Trial:
    """Ask a model one short question, and stop it at its first word."""
    began = time.perf_counter()
    kind = _find_failure(model)
    took = int((time.perf_counter() - began) * 1000)
    return Trial(kind, _explain(kind, model) if kind else "", took)


def _find_failure(model: Model) -> str:
    prompt = Prompt("", (Message("user", _QUESTION),), text=_QUESTION, question=_QUESTION)
    try:
        with closing(model.stream(prompt)) as events:  # type: ignore[type-var]
            # The first word is proof enough, and the rest would cost money.
            has_text = any(isinstance(event, Text) and event.text.strip() for event in events)
    except ModelError as error:
        return error.kind or "unexpected"
    except SettingsError:
        return "no-key"
    window = getattr(model, "context_window", None)
    if window is not None and window < LEAST_WINDOW:
        return "context-too-small"
    return "" if has_text else "unexpected"


def _explain(kind: str, model: Model) -> str:
    provider = find_provider(model.name)
    return explain_kind(kind, provider, getattr(model, "url", "")) if provider else _PROGRAM


def explain_kind(kind: str, provider: ModelProvider, url: str) -> str:
    """Return in a sentence what a kind of failure means, and what to do."""
    who, where = provider.label, url
    sentences = {
        "no-key": f"there is no key for {who}; paste one, or run turnleaf keys set {provider.name}",
        "key-refused": f"{who} rejects the key; copy it again from your account there",
        "unreachable": (
            f"{where} cannot be reached; check that its server is running, and the network"
        ),
        "model-unknown": f"{who} does not have this model; choose one from its list",
        "rate-limit": f"{who} accepts no more requests at the moment; wait a minute and try again",
        "no-credit": f"the account at {who} has no credit left; add credit there",
        "server-fault": f"the server of {who} has a problem; try again in a few minutes",
        "too-slow": f"{who} took too long to answer; try again, or choose a smaller model",
        "context-too-small": (
            "the context of this model is too small; set it to at least 4,096 tokens in its "
            "server, or choose another model"
        ),
        "broken-off": f"the answer of {who} was cut off; try again",
        "unexpected": f"{where} does not answer like a model server; check the address",
    }
    return sentences[kind]


_LOOK_SECONDS = 1.0
_LIST_SECONDS = 10.0
_OTHER_PORTS = (8000, 1337, 4891, 5000, 5001)
"""Where vLLM, Jan, GPT4All, text-generation-webui and KoboldCpp listen."""
_NO_CHAT = (
    "audio", "babbage", "dall-e", "davinci-002", "embed", "image", "moderation", "ocr", "realtime",
    "rerank", "sora", "transcribe", "tts", "veo", "whisper",
)  # fmt: skip
"""Parts of the names of models that do not chat."""


@dataclass(frozen=True, slots=True)
class FoundModels:
    """A server or a program on this machine, and the models that it has."""

    provider: str
    label: str
    url: str | None
    models: tuple[str, ...]


def find_local(settings: Settings, environ: Mapping[str, str] = ENVIRONMENT) -> list[FoundModels]:
    """Return what answers on this machine now; nobody else is asked."""
    places = _list_places(settings, environ)
    # Each place may take a second, so they are asked side by side.
    with ThreadPoolExecutor(len(places)) as pool:
        found = pool.map(lambda place: _look(*place), places)
        servers = [one for one in found if one is not None]
    if which("claude", path=find_program_folders(environ)):
        servers.append(FoundModels("claude-cli", "claude", None, ("claude-cli",)))
    return servers


def _list_places(settings: Settings, environ: Mapping[str, str]) -> list[tuple[ModelProvider, str]]:
    local = [one for one in PROVIDERS.values() if one.is_local]
    urls = [(one, find_url(one, settings, environ) or "") for one in local]
    compatible = PROVIDERS["compatible"]
    urls += [(compatible, f"http://localhost:{port}/v1") for port in _OTHER_PORTS]
    # An address elsewhere is not contacted before somebody asks for it.
    return [(one, url) for one, url in urls if is_on_loopback(url)]


def _look(provider: ModelProvider, url: str) -> FoundModels | None:
    try:
        names = _read_names(provider, url, None, _LOOK_SECONDS)
    except CallFailure:
        return None
    return FoundModels(provider.name, provider.label, url, tuple(names))


def find_fault(settings: Settings, environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return why the model that is set cannot answer, if it cannot.

    A server on this machine is asked whether it is there; nobody else is.
    """
    try:
        model = find_model(settings, environ=environ)
    except SettingsError as error:
        return str(error)
    if lack := getattr(model, "lack", None):
        return f"{model.name} cannot answer: {lack}; run turnleaf setup"
    has_program = which("claude", path=find_program_folders(environ)) is not None
    if model.name.startswith("claude-cli") and not has_program:
        return (
            f"{model.name} cannot answer: the program claude is not installed; run turnleaf setup"
        )
    provider, url = find_provider(model.name), getattr(model, "url", "")
    if provider is None or not is_on_loopback(url) or _is_there(url):
        return None
    return explain_kind("unreachable", provider, url)


def _is_there(url: str) -> bool:
    """Whether a server answers at all, whatever it says."""
    try:
        Line(_LOOK_SECONDS).get(f"{url}/models", {})
    except CallFailure as failure:
        return failure.kind != "unreachable"
    return True


def list_models(
    provider: ModelProvider,
    settings: Settings,
    url: str | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
) -> list[str]:
    """Return the names of a provider's models that chat; raise ModelError if it does not say."""
    place = url or find_url(provider, settings, environ)
    if place is None:
        raise InvalidInput(f"{provider.name} needs an address; add one")
    address = check_url(place, "the address")
    key = find_key(provider, address, settings)
    if key is None and provider.needs_key and address == provider.url:
        raise ModelError(explain_kind("no-key", provider, address), kind="no-key")
    try:
        return _read_names(provider, address, key.read() if key else None, _LIST_SECONDS)
    # What a server answered is not shown: whoever names an address could read by it what is there.
    except CallFailure as failure:
        message = explain_kind(failure.kind, provider, address)
        raise ModelError(message, kind=failure.kind) from None


def _read_names(provider: ModelProvider, url: str, key: str | None, seconds: float) -> list[str]:
    is_anthropic = provider.wire == "anthropic"
    headers = (anthropic_wire if is_anthropic else openai_wire).make_headers(key)
    path = "/v1/models?limit=1000" if is_anthropic else "/models"
    answer = Line(seconds).get(f"{url}{path}", headers)
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise CallFailure("unexpected", "it lists no models")
    names = [one.get("id") for one in entries if isinstance(one, dict)]
    # Gemini lists its models with the folder that they are in.
    found = [name.removeprefix("models/") for name in names if isinstance(name, str) and name]
    return [name for name in found if not any(part in name.lower() for part in _NO_CHAT)]
