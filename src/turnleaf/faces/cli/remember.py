"""`remember`."""

from __future__ import annotations

import click

from turnleaf.core.memories import to_json
from turnleaf.faces.cli.arguments import TEXT, as_json, given_text
from turnleaf.faces.cli.output import note, one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.remembering import remember_fact


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@click.option("-c", "--category", type=TEXT, help="The heading that it belongs under.")
@as_json
@pass_place
def remember(place: Place, words: tuple[str, ...], category: str | None, *, as_json: bool) -> None:
    """Remember TEXT as a fact.

    Without TEXT, or with -, the fact is what is piped in.

    \b
    turnleaf remember The living room lamp is called Ming
    turnleaf remember --category home 客廳的燈叫做小明
    """  # noqa: D301 - click reads the character, not its name
    kept = remember_fact(place.memory, given_text(words), category)
    memory = kept.memory
    if as_json:
        say_json(to_json(memory))
    else:
        say(f"remembered {memory.id}: {one_line(memory.content)}")
    for one in kept.displaced:
        note(f"moved to the older facts to make room: {one.id}: {one_line(one.content)}")
