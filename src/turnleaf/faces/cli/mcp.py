"""`mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnleaf.core.times import from_iso
from turnleaf.errors import InvalidInput
from turnleaf.faces import mcp as server
from turnleaf.faces.cli.arguments import TEXT
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.search import open_index
from turnleaf.tools import MemoryTools

if TYPE_CHECKING:
    from datetime import datetime


@click.command()
@click.option("--conversation", metavar="KEY", type=TEXT, help="The conversation that it serves.")
@click.option("--since", metavar="TIME", type=TEXT, help="When the turn began that it serves.")
@pass_place
def mcp(place: Place, conversation: str | None, since: str | None) -> None:
    """Serve the memory's tools over MCP, on standard input and output.

    A client such as Claude Code starts it: claude mcp add turnleaf -- turnleaf mcp
    """
    server.serve(
        MemoryTools(
            memory=place.memory,
            daily=place.daily,
            index=open_index(place.folder, place.settings),
            data_dir=place.folder.path,
            conversation=conversation,
            since=_time(since),
        )
    )


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else from_iso(text)
    except ValueError:
        message = f"{text!r} is no time; write it as 2026-11-15T08:30:00Z"
        raise InvalidInput(message) from None
