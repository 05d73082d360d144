"""`mcp`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from turnleaf.core.audiences import EVERYONE
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT
from turnleaf.faces.cli.output import note, say
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.mcp import check_installed, offer
from turnleaf.faces.mcp.clients import CLIENTS, TOKEN_VARIABLE, address_of
from turnleaf.search import open_index
from turnleaf.settings import SETTINGS
from turnleaf.tools import MemoryTools, Turn, stdio_command

if TYPE_CHECKING:
    from turnleaf.settings import Settings

USUAL_ADDRESS = "http://127.0.0.1:8793"


@click.group(invoke_without_command=True)
@click.option("--conversation", metavar="KEY", type=TEXT, help="The conversation that it serves.")
@click.option("--saved", metavar="ID", multiple=True, type=TEXT, help="A fact of this turn.")
@click.option("--document", metavar="NAME", multiple=True, type=TEXT, help="A text attached to it.")
@pass_place
@click.pass_context
def mcp(
    ctx: click.Context,
    place: Place,
    conversation: str | None,
    saved: tuple[str, ...],
    document: tuple[str, ...],
) -> None:
    """Serve the memory's tools over MCP, on standard input and output.

    A client such as Claude Code starts it; turnleaf mcp config prints what to tell the client.
    """
    if ctx.invoked_subcommand is None:
        audience = place.conversations.audience(conversation) if conversation else EVERYONE
        turn = Turn(conversation, saved, document, audience=audience)
        offer(partial(_tools, place, place.settings, turn)).on_stdio()


@mcp.command()
@click.option(
    "--client", type=click.Choice([*CLIENTS]), required=True, help="Which program is to use it."
)
@click.option(
    "--http",
    metavar="[ADDRESS]",
    is_flag=False,
    flag_value=USUAL_ADDRESS,
    type=TEXT,
    help=f"Use a running turnleaf serve; without ADDRESS the one at {USUAL_ADDRESS}.",
)
@pass_place
def config(place: Place, client: str, http: str | None) -> None:
    """Print what to tell a client so that it finds this memory, wherever it starts."""
    wanted = CLIENTS[client]
    if http is None:
        check_installed()
        note(wanted.place)
        say(wanted.by_command(stdio_command(place.folder.path)))
        _tell_variables(place)
        return
    if wanted.by_address is None:
        message = f"{client} takes no address in its file; leave --http out"
        raise InvalidInput(message)
    server = address_of(http, has_token=place.folder.token.exists())
    note(wanted.place)
    say(wanted.by_address(server))
    if server.needs_token:
        _tell_token(place, client)


def _tell_variables(place: Place) -> None:
    """Name the settings that hold only here, because the client does not know them."""
    sources = place.settings.sources
    fixed = [one.variable for one in SETTINGS if sources.get(one.field) == "environment"]
    if fixed:
        note(
            f"{', '.join(fixed)}: set in the environment here, which the client may not have;"
            " turnleaf config KEY VALUE keeps a setting for all programs"
        )


def _tell_token(place: Place, client: str) -> None:
    where = "VS Code asks for the token" if client == "vscode" else f"set {TOKEN_VARIABLE} to it"
    note(f"the server needs its token: {where}; it lies in {place.folder.token} on its machine")


def _tools(place: Place, settings: Settings, turn: Turn) -> MemoryTools:
    return MemoryTools(
        memory=place.memory,
        pending=place.pending,
        daily=place.daily,
        index=open_index(place.folder, settings, place.conversations),
        data_dir=place.folder.path,
        turn=turn,
    )
