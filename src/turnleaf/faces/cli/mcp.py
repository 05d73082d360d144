"""`mcp`."""

from __future__ import annotations

import click

from turnleaf.faces import mcp as server
from turnleaf.faces.cli.arguments import TEXT
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.search import open_index
from turnleaf.tools import MemoryTools, Turn


@click.command()
@click.option("--conversation", metavar="KEY", type=TEXT, help="The conversation that it serves.")
@click.option("--saved", metavar="ID", multiple=True, type=TEXT, help="A fact of this turn.")
@click.option("--document", metavar="NAME", multiple=True, type=TEXT, help="A text attached to it.")
@pass_place
def mcp(
    place: Place, conversation: str | None, saved: tuple[str, ...], document: tuple[str, ...]
) -> None:
    """Serve the memory's tools over MCP, on standard input and output.

    A client such as Claude Code starts it: claude mcp add turnleaf -- turnleaf mcp
    """
    server.serve(
        MemoryTools(
            memory=place.memory,
            pending=place.pending,
            daily=place.daily,
            index=open_index(place.folder, place.settings),
            data_dir=place.folder.path,
            turn=Turn(conversation, saved, document),
        )
    )
