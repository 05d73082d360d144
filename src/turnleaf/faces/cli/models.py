"""`models`, `setup`, `keys` and `link`: which models there are, choosing one, and providers' keys.

Keys are set and removed and never shown.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from getpass import getpass
from typing import TYPE_CHECKING

import click

from turnleaf.core.model_providers import (
    PROVIDERS,
    ModelProvider,
    StoredKey,
    check_key,
    check_url,
)
from turnleaf.errors import InvalidInput, ModelError, NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, ask, is_attended, pass_workspace
from turnleaf.faces.cli.output import localize, note, say, say_json, say_result, show_table
from turnleaf.faces.operator_links import LIFE_SECONDS, make_link
from turnleaf.llm.discovery import find_local, list_models, try_model
from turnleaf.llm.models import describe, describe_destinations, find_model, find_url
from turnleaf.model_keys import find_key, read_stored_keys
from turnleaf.settings import find_setting
from turnleaf.store.files.config import remove_key, store_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.llm.discovery import FoundModels
    from turnleaf.settings import Settings


name_argument = click.argument("name", metavar="NAME", type=TEXT)


@click.group()
def keys() -> None:
    """Set, list and remove the keys of model providers.

    Keys are stored outside the data folder, in a file that only you can read. No command shows a
    key.

    \b
    turnleaf keys set openai
    turnleaf keys set groq --from-command 'pass show groq'
    """  # noqa: D301 - click reads the character, not its name


@keys.command("set", context_settings={"allow_extra_args": True})
@name_argument
@click.option(
    "--from-command",
    metavar="COMMAND",
    type=TEXT,
    help=("Store a command that prints the key instead."),
)
@click.option("--url", metavar="URL", type=TEXT, help="Send the key only to this address.")
@pass_workspace
def set_key(workspace: Workspace, name: str, from_command: str | None, url: str | None) -> None:
    """Store the key of the provider NAME.

    The key is read from a prompt or from standard input, and is sent only to the provider's
    address. An environment variable such as OPENAI_API_KEY overrides it.
    """
    # Click would repeat what is too much, and that is most likely the key.
    if click.get_current_context().args:
        raise InvalidInput(
            f"other users can see the arguments of a command; run turnleaf keys set {name} "
            "without the key, then paste it"
        )
    provider, settings = get_provider(name), workspace.settings
    place = url or find_url(provider, settings)
    if place is None:
        raise InvalidInput(f"{provider.name} needs an address; add --url URL")
    address = check_url(place, "--url")
    key = None if from_command else read_key(provider)
    path = store_key(provider.name, StoredKey(address, key, from_command))
    note(f"Stored for {provider.label} in {path}; the key is sent to {address} only.")
    found = find_key(provider, address, settings)
    if found is not None and found.source == "environment":
        variable = provider.variable
        note(f"the environment variable {variable} overrides the file; unset it to use the file")


def read_key(provider: ModelProvider) -> str:
    """Read a key from a person, who does not see it, or from standard input."""
    if sys.stdin.isatty():
        given = getpass(f"{localize(f'Key for {provider.label}:')} ")
    else:
        given = sys.stdin.readline()
    if not given.strip():
        raise InvalidInput("no key was given; nothing was changed")
    return check_key(given.strip(), f"the key for {provider.label}") or ""


@keys.command("list")
@as_json
@pass_workspace
def list_keys(workspace: Workspace, *, as_json: bool) -> None:
    """List the providers that have a key, and where each key is sent."""
    rows = [row for one in PROVIDERS.values() if (row := _describe(one, workspace.settings))]
    if as_json:
        say_json([dict(zip(("provider", "from", "address"), row, strict=True)) for row in rows])
    elif rows:
        shown = [(name, localize(source), address) for name, source, address in rows]
        show_table(("Provider", "From", "Address"), shown)
    else:
        note("There are no keys. Try: turnleaf keys set NAME")


def _describe(provider: ModelProvider, settings: Settings) -> tuple[str, str, str] | None:
    stored = read_stored_keys().get(provider.name)
    address = stored.address if stored else find_url(provider, settings)
    found = find_key(provider, address, settings)
    if found is None:
        return None
    is_set = found.source == "environment"
    where = find_url(provider, settings) if is_set else address
    return provider.name, f"{provider.variable}" if is_set else found.source, where or ""


@keys.command("remove")
@name_argument
@as_json
def forget_key(name: str, *, as_json: bool) -> None:
    """Remove the stored key of the provider NAME."""
    provider = get_provider(name)
    if not remove_key(provider.name):
        raise NotFound(
            f"no key is stored for {provider.name}; list the keys with turnleaf keys list"
        )
    removed = f"The key for {provider.label} was removed."
    say_result({"removed": provider.name}, removed, as_json=as_json)


def get_provider(name: str) -> ModelProvider:
    """Return a provider; raise NotFound for a name that none has."""
    if name not in PROVIDERS:
        raise NotFound(f"there is no provider {name}; the providers are: {', '.join(PROVIDERS)}")
    return PROVIDERS[name]


@click.command()
@as_json
@pass_workspace
def link(workspace: Workspace, *, as_json: bool) -> None:
    """Print a link that gives a browser the operator's rights.

    Only a browser with these rights can set models, addresses and keys in the page. The link works
    once, within 15 minutes, with the server that was started last on this data folder. Older links
    stop working.
    """
    url = make_link(workspace.folder.operator_link)
    say_result({"link": url, "seconds": LIFE_SECONDS}, url, as_json=as_json)
    if not as_json:
        note(f"The link works once, within {LIFE_SECONDS // 60} minutes.")


NOT_A_TERMINAL = (
    "turnleaf setup asks questions, so run it in a terminal; or use turnleaf keys set NAME and"
    " turnleaf config model PROVIDER:NAME"
)
INTRODUCTION = (
    "Choose the model that answers in your conversations. Models on this computer come "
    "first. Nothing is changed until the chosen model has answered."
)
QUESTION = "Which one should answer? (q or Enter to leave)"
WHICH_MODEL = "Which model? (q or Enter to leave)"
RECALL = "recall"
TRIAL_SECONDS = 60.0


@click.command()
@click.argument("provider", required=False, type=TEXT)
@as_json
@pass_workspace
def models(workspace: Workspace, provider: str | None, *, as_json: bool) -> None:
    """List the available models, or those of PROVIDER.

    Without PROVIDER, only servers on this computer are asked. With PROVIDER, that provider is
    asked, using its key.

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
    say(localize(f"model: {describe(settings)}"))
    say(localize(sentence))
    for one in found:
        say(localize(f"{one.label}: {', '.join(_name_models(one)) or 'no models'}"))
    if keyed:
        say(localize(f"keys: {', '.join(keyed)}"))


def _name_models(found: FoundModels) -> list[str]:
    return [name if found.url is None else f"{found.provider}:{name}" for name in found.models]


@click.command()
@pass_workspace
@click.pass_context
def setup(ctx: click.Context, workspace: Workspace) -> None:
    """Choose a model from those that were found, enter its key if it needs one, and test it."""
    if not is_attended():
        raise InvalidInput(NOT_A_TERMINAL)
    settings = workspace.settings
    note(INTRODUCTION)
    choice = _choose(settings)
    if choice is None:
        note("Nothing was changed.")
        ctx.exit(1)
    name, url = choice
    if name == RECALL:
        workspace.config.change({"model": name, "modelUrl": None})
        say(localize("Turnleaf answers without a model: it quotes what it remembers."))
        _note_lock(workspace)
        return
    note(f"Testing {name}…")
    trial = try_model(find_model(settings, name, url=url, most_seconds=TRIAL_SECONDS))
    if not trial.is_good:
        note(trial.sentence)
        note("Nothing was changed.")
        ctx.exit(1)
    workspace.config.change({"model": name, "modelUrl": url})
    say(localize(f"{name} has answered, and is used from now on."))
    now = workspace.config.load()
    say(localize(describe_destinations(now)[1]))
    _note_lock(workspace)


def _note_lock(workspace: Workspace) -> None:
    if workspace.config.load().is_locked(find_setting("model")):
        note("the environment variable TURNLEAF_MODEL overrides the file; unset it to use the file")


@dataclass(frozen=True, slots=True)
class _Offer:
    """What can be chosen: a server that runs with its models, a provider, or no model at all."""

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
    compatible = PROVIDERS["compatible"]
    offers.append(_Offer(localize("Another address (OpenAI-compatible)"), provider=compatible))
    offers.append(_Offer(localize("Stay without a model")))
    chosen = _pick(QUESTION, [one.label for one in offers])
    if chosen is None:
        return None
    offer = offers[chosen]
    if offer.found is not None:
        return _choose_local(offer.found)
    if offer.provider is None:
        return RECALL, None
    if offer.provider is compatible:
        return _choose_address(compatible, settings)
    return _choose_hosted(offer.provider, settings)


def _describe_found(found: FoundModels) -> str:
    return f"{found.label} ({found.url})" if found.url else found.label


def _describe_host(provider: ModelProvider, settings: Settings) -> str:
    has_key = find_key(provider, find_url(provider, settings), settings) is not None
    return localize(f"{provider.label} ({'has a key' if has_key else 'needs a key'})")


def _choose_local(found: FoundModels) -> tuple[str, str | None] | None:
    names = _name_models(found)
    usual = PROVIDERS[found.provider].url if found.provider in PROVIDERS else None
    chosen = _pick(WHICH_MODEL, names) if len(names) > 1 else 0 if names else None
    if chosen is None:
        return None
    return names[chosen], None if found.url == usual else found.url


def _choose_hosted(provider: ModelProvider, settings: Settings) -> tuple[str, None] | None:
    """Ask for a key where there is none, and for one of the provider's models."""
    address = provider.url or ""
    is_new = find_key(provider, address, settings) is None
    name = _choose_listed(provider, settings, address, read_key(provider) if is_new else None)
    return None if name is None else (name, None)


def _choose_address(provider: ModelProvider, settings: Settings) -> tuple[str, str] | None:
    """Ask for the address of a server, for a key if it wants one, and for one of its models."""
    given = ask("Its address, such as http://localhost:8000/v1 (Enter to leave):")
    if _is_leaving(given):
        return None
    address = check_url(given, "the address")
    key = None
    if find_key(provider, address, settings) is None:
        key = getpass(f"{localize('Its key (Enter if it needs none):')} ").strip()
    name = _choose_listed(provider, settings, address, key)
    return None if name is None else (name, address)


def _choose_listed(
    provider: ModelProvider, settings: Settings, address: str, key: str | None
) -> str | None:
    """Ask for one of the models that a server lists; a new key is kept if the server takes it."""
    if key:
        store_key(provider.name, StoredKey(address, key))
    try:
        names = list_models(provider, settings, address)
    except ModelError as error:
        note(str(error))
        if key:
            remove_key(provider.name)
        return None
    chosen = _pick(WHICH_MODEL, names)
    return None if chosen is None else f"{provider.name}:{names[chosen]}"


def _is_leaving(answer: str) -> bool:
    return answer.casefold() in {"", "q", "quit"}


def _pick(question: str, choices: Sequence[str]) -> int | None:
    """Ask which of some choices is meant, by number or by text; None for none of them."""
    for number, choice in enumerate(choices, 1):
        note(f"{number:>3}  {choice}")
    while not _is_leaving(answer := ask(question)):
        named = [at for at, one in enumerate(choices) if answer in {one, one.partition(":")[2]}]
        if len(named) == 1:
            return named[0]
        if answer.isdecimal() and 0 < int(answer) <= len(choices):
            return int(answer) - 1
        note("Type one of the numbers, or q to leave.")
    return None
