"""Erasing a conversation, or all that came from somewhere, for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from turnleaf.core.wording import counted
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import ask, on_terminal
from turnleaf.faces.cli.output import note, one_line, say, say_json
from turnleaf.search import open_index
from turnleaf.store import erasure

if TYPE_CHECKING:
    from turnleaf.faces.cli.place import Place

MOST_NAMED = 10


def erase_conversation(
    place: Place, key: str, *, title: str | None = None, yes: bool, as_json: bool
) -> None:
    """Erase a conversation; what was learnt from it stays."""
    named = one_line(title or key)
    _confirm(f'Erase the conversation "{named}" for good?', yes=yes)
    try:
        is_erased = erasure.erase_conversation(
            key,
            conversations=place.conversations,
            schedules=place.schedules,
            index=open_index(place.folder, place.settings, place.conversations),
            learning=place.learning,
        )
    finally:
        place.conversations.close()
    if not is_erased:
        message = f'there is no conversation "{one_line(key)}"; turnleaf history lists them'
        raise NotFound(message)
    if as_json:
        say_json({"conversation": key, "erased": True})
    else:
        say(f"erased {named}: its messages, and all that the search knew of them")


def erase_source(place: Place, source: str, *, yes: bool, as_json: bool) -> None:
    """Erase all that came from a conversation, a tool or a document."""
    _confirm(f'Erase all that came from "{one_line(source)}" for good?', yes=yes)
    gone = erasure.erase(
        source,
        memory=place.memory,
        pending=place.pending,
        daily=place.daily,
        conversations=place.conversations,
        schedules=place.schedules,
        index=open_index(place.folder, place.settings, place.conversations),
        learning=place.learning,
    )
    if not (gone.facts or gone.notes or gone.messages):
        message = f'nothing came from "{one_line(source)}"; {_hint(place)}'
        raise NotFound(message)
    for copy in gone.copies:
        note(f"{copy} was set aside earlier and may still hold it; delete it if so")
    if as_json:
        say_json({**asdict(gone), "copies": [str(copy) for copy in gone.copies]})
        return
    parts = (counted(gone.facts, "fact"), counted(gone.notes, "note"))
    say(
        f"erased {', '.join(parts)} and {counted(gone.messages, 'message')} from {one_line(source)}"
    )


def _hint(place: Place) -> str:
    """Name sources that there are."""
    sources = [change.source for change in place.memory.changes() if change.source]
    names = {name for one in sources for name in (one.name, one.conversation) if name}
    known = ", ".join(map(one_line, sorted(names)[:MOST_NAMED]))
    return f"there is {known}" if known else "no fact came from anywhere but you"


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not on_terminal():
        message = "nothing brings back what is erased; --yes erases it"
        raise InvalidInput(message)
    if ask(f"{question} [y/N]").casefold() not in {"y", "yes"}:
        note("Nothing was changed.")
        click.get_current_context().exit(1)
