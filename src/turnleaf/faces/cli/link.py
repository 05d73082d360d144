"""`link`: another one-time link to the page of a server that runs."""

from __future__ import annotations

import click

from turnleaf.faces.cli.arguments import Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import note, say_result
from turnleaf.faces.operator_links import LIFE_SECONDS, make_link


@click.command()
@as_json
@pass_workspace
def link(workspace: Workspace, *, as_json: bool) -> None:
    """Print a link that makes a browser the operator's.

    Only there can models, addresses and keys be set in the page. The link works once, for 15
    minutes, with the server that was started last on this data folder; an older link ends.
    """
    url = make_link(workspace.folder.operator_link)
    say_result({"link": url, "seconds": LIFE_SECONDS}, url, as_json=as_json)
    if not as_json:
        note(f"It works once, for {LIFE_SECONDS // 60} minutes.")
