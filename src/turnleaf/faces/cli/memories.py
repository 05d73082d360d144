"""`memories`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnleaf.core.memories import to_json
from turnleaf.errors import NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json
from turnleaf.faces.cli.output import note, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.tables import show_memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory

NOTHING_YET = (
    'Nothing is remembered yet. Try: turnleaf remember "The living room lamp is called Ming"'
)
NO_OLDER = "There are no older facts: none has ended or made room for another."


@click.command()
@click.option("-c", "--category", type=TEXT, help="Only those under this heading.")
@click.option("--older", is_flag=True, help="List the older facts, which no prompt carries.")
@as_json
@pass_place
def memories(place: Place, category: str | None, *, older: bool, as_json: bool) -> None:
    """List what is remembered."""
    everything = place.memory.older() if older else place.memory.get_all()
    found = [m for m in everything if category is None or m.category == category]
    _show(found, as_json=as_json)
    if everything and not found:
        message = f"no memory has the category {category!r}; turnleaf memories shows them all"
        raise NotFound(message)
    if not everything:
        note(NO_OLDER if older else NOTHING_YET)


def _show(found: Sequence[Memory], *, as_json: bool) -> None:
    if as_json:
        say_json([to_json(memory) for memory in found])
    elif found:
        show_memories(found)
