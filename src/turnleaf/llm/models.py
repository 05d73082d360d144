"""Which model answers and which one looks for facts: the one that is set, or what is there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING

from turnleaf.errors import SettingsError
from turnleaf.installation import advise_install
from turnleaf.settings import ENVIRONMENT, find_base_url, find_program_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.dialogue import Model
    from turnleaf.llm.api import ApiModel, FormatMemory, Provider
    from turnleaf.llm.claude_cli import ClaudeCli
    from turnleaf.llm.recall import RecallModel
    from turnleaf.settings import Settings

__all__ = ["describe", "describe_json_format", "find_extractor", "find_model"]

_CLAUDE = "claude-cli"
_NONE = ("recall", "rules")
_PROVIDERS: dict[str, Provider] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "ollama": "ollama",
}
_DEFAULTS: dict[str, str] = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-5.4-mini",
}
_FORMATS_IN_WORDS = {
    "json_schema": "its server enforces the JSON schema",
    "json_object": "its server takes no JSON schema, and is asked for a JSON object",
    "prompt": "its server enforces no JSON, and the form stands in the prompt",
}


def find_model(settings: Settings, *, environ: Mapping[str, str] = ENVIRONMENT) -> Model:
    """Return the model that is set, else the best that is there, else the one that only recalls."""
    name, _ = _choose_name(settings, environ)
    return _make_model(name, settings, environ)


def find_extractor(
    settings: Settings,
    *,
    environ: Mapping[str, str] = ENVIRONMENT,
    formats: FormatMemory | None = None,
) -> Model | None:
    """Return the model that looks for facts, or nothing where rules do.

    `formats` remembers how its server is asked for JSON; without it, the process does.
    """
    name = settings.extract_model or _choose_name(settings, environ)[0]
    return None if name in _NONE else _make_model(name, settings, environ, formats)


def describe_json_format(model: Model, formats: Mapping[tuple[str, str], str]) -> str | None:
    """Return in a few words how a model's server is asked for JSON, where that is known."""
    known = formats.get((getattr(model, "url", ""), model.name), "")
    return _FORMATS_IN_WORDS.get(known)


def describe(settings: Settings, *, environ: Mapping[str, str] = ENVIRONMENT) -> str:
    """Return in one line which model answers, why that one, and what it lacks; nobody is asked."""
    try:
        name, why = _choose_name(settings, environ)
        model = _make_model(name, settings, environ)
    except SettingsError as error:
        return f"none ({error})"
    if (url := getattr(model, "url", None)) is None:
        return f"{name} ({why})"
    has_library = find_spec("pydantic_ai") is not None
    lack = getattr(model, "lack", None) if has_library else advise_install("models")
    return f"{name} at {url} ({'; '.join(filter(None, [why, lack]))})"


def _choose_name(settings: Settings, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of the model that answers, and why it does."""
    if settings.model:
        is_in_file = settings.sources.get("model") == "file"
        return settings.model, "the settings name it" if is_in_file else "TURNLEAF_MODEL names it"
    if settings.model_url:
        raise SettingsError(
            "TURNLEAF_MODEL_URL is set and TURNLEAF_MODEL is not; set TURNLEAF_MODEL to the name"
            " of the model there, such as openai:NAME, or unset TURNLEAF_MODEL_URL"
        )
    if which("claude", path=find_program_folders(environ)):
        return _CLAUDE, "the program claude is installed"
    if settings.anthropic_api_key:
        return _DEFAULTS["anthropic"], "ANTHROPIC_API_KEY is set"
    if settings.openai_api_key:
        return _DEFAULTS["openai"], "OPENAI_API_KEY is set"
    return "recall", "no model is set up; run turnleaf config model ollama:NAME"


def _make_model(
    name: str,
    settings: Settings,
    environ: Mapping[str, str],
    formats: FormatMemory | None = None,
) -> Model:
    kind, _, model = name.partition(":")
    seconds = settings.model_timeout_ms / 1000
    if name == "recall":
        recall: type[RecallModel] = import_module("turnleaf.llm.recall").RecallModel
        return recall()
    if kind == _CLAUDE and bool(model) == (":" in name):
        program: type[ClaudeCli] = import_module("turnleaf.llm.claude_cli").ClaudeCli
        return program(model or None, timeout_seconds=seconds)
    if model and (provider := _PROVIDERS.get(kind)):
        # A program that asks no server need not load what speaks to one.
        server: type[ApiModel] = import_module("turnleaf.llm.api").ApiModel
        return server(
            provider,
            model,
            api_key=_key(provider, settings),
            url=_url(provider, settings, environ),
            timeout_seconds=seconds,
            context_window=settings.context_window,
            formats=formats,
        )
    raise SettingsError(
        f"{name!r} is no model; set it to recall, claude-cli, claude-cli:NAME, anthropic:NAME,"
        " openai:NAME or ollama:NAME"
    )


def _key(provider: Provider, settings: Settings) -> str | None:
    """Return the provider's own key; another's goes to nobody."""
    keys = {"anthropic": settings.anthropic_api_key, "openai": settings.openai_api_key}
    return keys.get(provider)


def _url(provider: Provider, settings: Settings, environ: Mapping[str, str]) -> str | None:
    """Return the address that is set for the provider; none is its usual one."""
    answering = (settings.model or "").partition(":")[0]
    if settings.model_url and (answering == provider or answering not in _PROVIDERS):
        return settings.model_url
    # Who sets one of these has a key for that address, which must not be shown to another.
    return find_base_url(provider, environ)
