"""`keys`: the keys of model providers, which are set and removed and never shown."""

from __future__ import annotations

import sys
from getpass import getpass
from typing import TYPE_CHECKING

import click

from turnleaf.core.model_providers import PROVIDERS, ModelProvider, StoredKey
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import localize, note, say_json, say_result
from turnleaf.faces.cli.terminal import show_table
from turnleaf.llm.addresses import checked_key, checked_url
from turnleaf.llm.models import find_url
from turnleaf.model_keys import find_key, read_stored_keys
from turnleaf.store.files.config import remove_key, store_key

if TYPE_CHECKING:
    from turnleaf.settings import Settings

name_argument = click.argument("name", metavar="NAME", type=TEXT)


@click.group()
def keys() -> None:
    """Set, list and remove the keys of model providers.

    Keys are kept in a file of yours outside the data folder. No command shows one.

    \b
    turnleaf keys set openai
    turnleaf keys set groq --from-command 'pass show groq'
    """  # noqa: D301 - click reads the character, not its name


@keys.command("set")
@name_argument
@click.option(
    "--from-command", metavar="COMMAND", type=TEXT, help="Store a command that prints the key."
)
@click.option("--url", metavar="URL", type=TEXT, help="Send it to this address only.")
@pass_workspace
def set_(workspace: Workspace, name: str, from_command: str | None, url: str | None) -> None:
    """Store the key of the provider NAME.

    It is read from a prompt or from standard input, and sent to the provider's address and to no
    other. An environment variable such as OPENAI_API_KEY overrides it.
    """
    provider, settings = get_provider(name), workspace.settings
    place = url or find_url(provider, settings)
    if place is None:
        raise InvalidInput(f"{provider.name} needs an address; add --url URL")
    address = checked_url(place, "--url")
    key = None if from_command else read_key(provider)
    path = store_key(provider.name, StoredKey(address, key, from_command))
    note(f"The key for {provider.label} is in {path}; it is sent to {address} only.")
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
    return checked_key(given.strip(), f"the key for {provider.label}") or ""


@keys.command("list")
@as_json
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List which providers have a key, and where it is sent."""
    rows = [row for one in PROVIDERS.values() if (row := _describe(one, workspace.settings))]
    if as_json:
        say_json([dict(zip(("provider", "from", "address"), row, strict=True)) for row in rows])
    elif rows:
        show_table(("Provider", "From", "Address"), rows)
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


@keys.command()
@name_argument
@as_json
def remove(name: str, *, as_json: bool) -> None:
    """Remove the stored key of the provider NAME."""
    provider = get_provider(name)
    if not remove_key(provider.name):
        raise NotFound(f"no key for {provider.name} is stored")
    removed = f"The key for {provider.label} was removed."
    say_result({"removed": provider.name}, removed, as_json=as_json)


def get_provider(name: str) -> ModelProvider:
    """Return a provider; raise NotFound for a name that none has."""
    if name not in PROVIDERS:
        raise NotFound(f"there is no provider {name}; there are: {', '.join(PROVIDERS)}")
    return PROVIDERS[name]
