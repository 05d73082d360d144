"""Which model answers and which one looks for facts: the one that is set, or what is there."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from shutil import which
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from turnleaf.core.model_providers import PROVIDERS, find_provider, is_on_loopback
from turnleaf.core.setting_kinds import MODELS
from turnleaf.errors import SettingsError
from turnleaf.model_keys import find_key
from turnleaf.settings import ENVIRONMENT, find_base_url, find_program_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.model_dialogue import Model
    from turnleaf.core.model_providers import ModelProvider
    from turnleaf.llm.api import ApiModel, FormatMemory
    from turnleaf.llm.claude_cli import ClaudeCli
    from turnleaf.llm.recall import RecallModel
    from turnleaf.settings import Settings

__all__ = [
    "choose_model",
    "describe",
    "describe_destinations",
    "describe_json_format",
    "find_extractor",
    "find_model",
    "find_url",
    "list_destinations",
]

_CLAUDE = "claude-cli"
_NONE = ("recall", "rules")
_DEFAULTS: dict[str, str] = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-5.4-mini",
}
_FORMATS_IN_WORDS = {
    "json_schema": "its server enforces the JSON schema",
    "json_object": "its server does not support JSON schemas, so it is asked for a JSON object",
    "prompt": "its server does not enforce JSON, so the prompt describes the format",
}


def find_model(
    settings: Settings,
    name: str | None = None,
    *,
    url: str | None = None,
    most_seconds: float | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
) -> Model:
    """Return the model by that name or, without one, the one that is set or that is there.

    `url` is where it is asked if not where the settings say, and `most_seconds` for how long.
    """
    chosen = name or choose_model(settings, environ)[0]
    seconds = settings.model_timeout_ms / 1000
    making = _ModelFactory(
        settings, environ, url=url, seconds=min(seconds, most_seconds or seconds)
    )
    return making.make(chosen)


def find_extractor(
    settings: Settings,
    *,
    environ: Mapping[str, str] = ENVIRONMENT,
    formats: FormatMemory | None = None,
) -> Model | None:
    """Return the model that looks for facts, or nothing where rules do.

    `formats` remembers how its server is asked for JSON; without it, the process does.
    """
    name = settings.extract_model or choose_model(settings, environ)[0]
    seconds = settings.model_timeout_ms / 1000
    making = _ModelFactory(settings, environ, formats=formats, seconds=seconds)
    return None if name in _NONE else making.make(name)


def describe_json_format(model: Model, formats: Mapping[tuple[str, str], str]) -> str | None:
    """Return in a few words how a model's server is asked for JSON, where that is known."""
    known = formats.get((getattr(model, "url", ""), model.name), "")
    return _FORMATS_IN_WORDS.get(known)


def describe(settings: Settings, *, environ: Mapping[str, str] = ENVIRONMENT) -> str:
    """Return in one line which model answers, why that one, and what it lacks; nobody is asked."""
    try:
        name, why = choose_model(settings, environ)
        model = find_model(settings, name, environ=environ)
    except SettingsError as error:
        return f"none ({error})"
    if (url := getattr(model, "url", None)) is None:
        return f"{name} ({why})"
    lack = getattr(model, "lack", None)
    return f"{name} at {url} ({'; '.join(filter(None, [why, lack]))})"


def choose_model(settings: Settings, environ: Mapping[str, str] = ENVIRONMENT) -> tuple[str, str]:
    """Return the name of the model that answers, and why it does."""
    if settings.model:
        is_in_file = settings.sources.get("model") == "file"
        why = "set in the settings file" if is_in_file else "set by TURNLEAF_MODEL"
        return settings.model, why
    # An address without a model's name would send the key of one server to another.
    if settings.model_url:
        raise SettingsError(
            "TURNLEAF_MODEL_URL is set, but TURNLEAF_MODEL is not; set TURNLEAF_MODEL to the "
            "name of the model there, such as openai:NAME, or unset TURNLEAF_MODEL_URL"
        )
    if which("claude", path=find_program_folders(environ)):
        return _CLAUDE, "the program claude is installed"
    for name, model in _DEFAULTS.items():
        provider = PROVIDERS[name]
        if key := find_key(provider, find_url(provider, settings, environ), settings):
            is_set = key.source == "environment"
            return model, f"{provider.variable} is set" if is_set else f"there is a key for {name}"
    return "recall", "no model is set up; run turnleaf setup"


def list_destinations(settings: Settings, *, environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return who is sent words of the user, by name; nobody where all stays on this machine."""
    found = [_find_destination(find_model(settings, environ=environ))]
    if settings.learns and (extractor := find_extractor(settings, environ=environ)):
        found.append(_find_destination(extractor))
    if settings.embeddings and settings.embeddings_url:
        found.append(_name_server(settings.embeddings_url))
    return list(dict.fromkeys(filter(None, found)))


def describe_destinations(
    settings: Settings, *, environ: Mapping[str, str] = ENVIRONMENT
) -> tuple[list[str], str]:
    """Return who is sent words of the user, and the same in a sentence."""
    try:
        names = list_destinations(settings, environ=environ)
    except SettingsError:
        names = []  # Then nobody can be asked.
    if not names:
        return [], "your words stay on this computer"
    return names, f"your words go to {', '.join(names)}"


def _find_destination(model: Model) -> str | None:
    provider = find_provider(model.name)
    url = getattr(model, "url", None)
    if provider is None or url is None:
        # The program speaks to Anthropic by itself.
        return PROVIDERS["anthropic"].label if model.name.startswith(_CLAUDE) else None
    return provider.label if url == provider.url and not provider.is_local else _name_server(url)


def _name_server(url: str) -> str | None:
    return None if is_on_loopback(url) else urlsplit(url).hostname


@dataclass(frozen=True, slots=True)
class _ModelFactory:
    """What a model is made from, beside its name."""

    settings: Settings
    environ: Mapping[str, str]
    seconds: float
    url: str | None = None
    formats: FormatMemory | None = None

    def make(self, name: str) -> Model:
        """Return the model by a name; raise SettingsError for what is none."""
        kind, _, model = name.partition(":")
        if name == "recall":
            # Each kind of model is a module that only a program that asks it has to load.
            recall: type[RecallModel] = import_module("turnleaf.llm.recall").RecallModel
            return recall()
        if kind == _CLAUDE and bool(model) == (":" in name):
            program: type[ClaudeCli] = import_module("turnleaf.llm.claude_cli").ClaudeCli
            return program(model or None, timeout_seconds=self.seconds)
        if provider := find_provider(name):
            return self._make_served(provider, model)
        raise SettingsError(f"{name!r} is not a model name; use recall, {MODELS}")

    def _make_served(self, provider: ModelProvider, model: str) -> Model:
        # A program that asks no server need not load what speaks to one.
        server: type[ApiModel] = import_module("turnleaf.llm.api").ApiModel
        url = self.url or find_url(provider, self.settings, self.environ)
        return server(
            provider.name,
            model,
            key=find_key(provider, url, self.settings),
            url=url,
            timeout_seconds=self.seconds,
            context_window=self.settings.context_window,
            formats=self.formats,
        )


def find_url(
    provider: ModelProvider, settings: Settings, environ: Mapping[str, str] = ENVIRONMENT
) -> str | None:
    """Return the address of a provider: what is set, else its usual one."""
    answering = find_provider(settings.model)
    # The address belongs to the model that answers: another provider's key must not be sent there.
    if settings.model_url and answering in {provider, None}:
        return settings.model_url
    # Who sets one of these has a key for that address, which must not be shown to another.
    return find_base_url(provider, environ) or provider.url
