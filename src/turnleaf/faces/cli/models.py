"""`models` and `setup`: which models there are, and choosing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from turnleaf.core.model_providers import PROVIDERS, StoredKey
from turnleaf.errors import InvalidInput, ModelError
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, ask, is_attended, pass_workspace
from turnleaf.faces.cli.keys import get_provider, read_key
from turnleaf.faces.cli.output import localize, note, say, say_json
from turnleaf.llm.discovery import find_local, list_models
from turnleaf.llm.models import describe, describe_destinations, find_model, find_url
from turnleaf.llm.trials import try_model
from turnleaf.model_keys import find_key
from turnleaf.settings import find_setting
from turnleaf.store.files.config import remove_key, store_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.model_providers import ModelProvider
    from turnleaf.llm.discovery import FoundModels
    from turnleaf.settings import Settings

NOT_A_TERMINAL = (
    "turnleaf setup asks questions, so run it in a terminal; or use turnleaf keys set NAME and"
    " turnleaf config model PROVIDER:NAME"
)
TRIAL_SECONDS = 60.0


@click.command()
@click.argument("provider", required=False, type=TEXT)
@as_json
@pass_workspace
def models(workspace: Workspace, provider: str | None, *, as_json: bool) -> None:
    """Show which models there are, or list those of PROVIDER.

    Without PROVIDER only this machine is looked at. With it, the provider is asked, with its key.

    \b
    turnleaf models
    turnleaf models groq
    """  # noqa: D301 - click reads the character, not its name
    settings = workspace.settings
    if provider is None:
        _show_all(settings, as_json=as_json)
        return
    known = get_provider(provider)
    names = [f"{known.name}:{name}" for name in list_models(known, settings)]
    if as_json:
        say_json(names)
        return
    for name in names:
        say(name)


def _show_all(settings: Settings, *, as_json: bool) -> None:
    found = find_local(settings)
    keyed = [
        one.name for one in PROVIDERS.values() if find_key(one, find_url(one, settings), settings)
    ]
    names, sentence = describe_destinations(settings)
    if as_json:
        say_json(
            {
                "model": describe(settings),
                "wordsGo": names,
                "found": [
                    {"provider": one.provider, "url": one.url, "models": _name_models(one)}
                    for one in found
                ],
                "keys": keyed,
            }
        )
        return
    say(f"{localize('model')}: {describe(settings)}")
    say(localize(sentence))
    for one in found:
        say(f"{one.label}: {', '.join(_name_models(one)) or localize('no models')}")
    if keyed:
        say(f"{localize('keys')}: {', '.join(keyed)}")


def _name_models(found: FoundModels) -> list[str]:
    return [name if found.url is None else f"{found.provider}:{name}" for name in found.models]


@click.command()
@pass_workspace
@click.pass_context
def setup(ctx: click.Context, workspace: Workspace) -> None:
    """Choose a model: shows what was found, asks for a key if one is needed, and tests it."""
    if not is_attended():
        raise InvalidInput(NOT_A_TERMINAL)
    settings = workspace.settings
    choice = _choose(settings)
    if choice is None:
        note("Nothing was changed.")
        ctx.exit(1)
    name, url = choice
    note(f"Testing {name}…")
    trial = try_model(find_model(settings, name, url=url, most_seconds=TRIAL_SECONDS))
    if not trial.is_good:
        note(trial.sentence)
        note("Nothing was changed.")
        ctx.exit(1)
    workspace.config.change({"model": name, "modelUrl": url})
    say(localize(f"{name} answers, and is used from now on."))
    now = workspace.config.load()
    say(localize(describe_destinations(now)[1]))
    if now.is_locked(find_setting("model")):
        note("the environment variable TURNLEAF_MODEL overrides the file; unset it to use the file")


@dataclass(frozen=True, slots=True)
class _Offer:
    """What can be chosen: a server that runs with its models, or a provider."""

    label: str
    found: FoundModels | None = None
    provider: ModelProvider | None = None


def _choose(settings: Settings) -> tuple[str, str | None] | None:
    """Return the name of a model, and its address where that is not the provider's own."""
    offers = [_Offer(_describe_found(one), found=one) for one in find_local(settings)]
    offers += [
        _Offer(_describe_host(one, settings), provider=one)
        for one in PROVIDERS.values()
        if one.needs_key
    ]
    chosen = _pick("Which one should answer?", [one.label for one in offers])
    if chosen is None:
        return None
    offer = offers[chosen]
    if offer.found is not None:
        return _choose_local(offer.found)
    return _choose_hosted(offer.provider or PROVIDERS["openai"], settings)


def _describe_found(found: FoundModels) -> str:
    return f"{found.label} ({found.url})" if found.url else found.label


def _describe_host(provider: ModelProvider, settings: Settings) -> str:
    has_key = find_key(provider, find_url(provider, settings), settings) is not None
    return f"{provider.label} ({localize('has a key' if has_key else 'needs a key')})"


def _choose_local(found: FoundModels) -> tuple[str, str | None] | None:
    names = _name_models(found)
    usual = PROVIDERS[found.provider].url if found.provider in PROVIDERS else None
    chosen = _pick("Which model?", names) if len(names) > 1 else 0 if names else None
    if chosen is None:
        return None
    return names[chosen], None if found.url == usual else found.url


def _choose_hosted(provider: ModelProvider, settings: Settings) -> tuple[str, None] | None:
    """Ask for a key where there is none, and keep one only if the provider takes it."""
    address = provider.url or ""
    is_new = find_key(provider, address, settings) is None
    if is_new:
        store_key(provider.name, StoredKey(address, read_key(provider)))
    try:
        names = list_models(provider, settings, address)
    except ModelError as error:
        note(str(error))
        if is_new:
            remove_key(provider.name)
        return None
    chosen = _pick("Which model?", names)
    return None if chosen is None else (f"{provider.name}:{names[chosen]}", None)


def _pick(question: str, choices: Sequence[str]) -> int | None:
    """Ask which of some choices is meant, by number or by text; None for none of them."""
    for number, choice in enumerate(choices, 1):
        note(f"{number:>3}  {choice}")
    while answer := ask(question):
        named = [at for at, one in enumerate(choices) if answer in {one, one.partition(":")[2]}]
        if len(named) == 1:
            return named[0]
        if answer.isdecimal() and 0 < int(answer) <= len(choices):
            return int(answer) - 1
        note("Type one of the numbers, or press Enter to leave.")
    return None
