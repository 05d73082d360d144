"""`forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnleaf.core.memories import contains, to_json
from turnleaf.core.wording import counted
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json, ask, given_text, on_terminal, yes
from turnleaf.faces.cli.erasing import erase_conversation, erase_source
from turnleaf.faces.cli.output import note, one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.store.memories import MemoryStore

# A shorter text is more often a word than the beginning of an id ("dad", "bee").
SHORTEST_ID_PREFIX = 4


@click.command()
@click.argument("words", metavar="ID|TEXT...", nargs=-1, type=TEXT)
@click.option("--conversation", metavar="KEY", type=TEXT, help="Erase this conversation instead.")
@click.option("--source", type=TEXT, help="Erase all that came from there instead.")
@yes
@as_json
@pass_place
def forget(
    place: Place,
    words: tuple[str, ...],
    conversation: str | None,
    source: str | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Forget the memory with this ID, or the one that contains TEXT.

    The first letters of an id are enough. When several memories match, you are asked which;
    --yes forgets all of them. turnleaf undo brings a forgotten memory back.

    With --conversation a whole conversation is erased, also from the search index. With --source
    all that was learnt or noted from there is erased as well: SOURCE is the key of a
    conversation, tool:NAME or document:NAME. Nothing brings that back.
    """
    if sum(map(bool, (words, conversation, source))) > 1:
        message = "give a text, --conversation or --source, not two of them"
        raise InvalidInput(message)
    if conversation is not None:
        erase_conversation(place, conversation, yes=yes, as_json=as_json)
    elif source is not None:
        erase_source(place, source, yes=yes, as_json=as_json)
    else:
        _forget_memory(place, words, yes=yes, as_json=as_json)


def _forget_memory(place: Place, words: tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    wanted = given_text(words)
    if not wanted.strip():
        message = "give an id or some text; nothing was forgotten"
        raise InvalidInput(message)
    found = matches(place.memory, wanted)
    if not found:
        message = f'no memory has the id or contains "{one_line(wanted)}"'
        raise NotFound(message)
    chosen = found if yes or len(found) == 1 else _chosen(found)
    gone = [memory for memory in chosen if place.memory.delete(memory.id)]
    _report(gone, as_json=as_json)
    if not gone:
        click.get_current_context().exit(1)


def matches(store: MemoryStore, wanted: str) -> list[Memory]:
    """Give the memory with this id, else those whose id begins so or that contain the text."""
    everything = [*store.get_all(), *store.older()]
    exact = [memory for memory in everything if memory.id == wanted]
    if exact:
        return exact
    long_enough = len(wanted) >= SHORTEST_ID_PREFIX
    begun = [m.id for m in everything if long_enough and m.id.startswith(wanted)]
    ids = {*begun, *(memory.id for memory in everything if contains(memory, wanted))}
    return [memory for memory in everything if memory.id in ids]


def _chosen(found: Sequence[Memory]) -> list[Memory]:
    note(f"{counted(len(found), 'memory')} match:")
    for number, memory in enumerate(found, 1):
        note(f"  {number:>3}  {memory.id}  {one_line(memory.content)}")
    if not on_terminal():
        message = "several memories match; give the id of one, or --yes to forget them all"
        raise InvalidInput(message)
    answer = ask('Forget which? Numbers such as 1 or 1,3, "all", or Enter for none:')
    return picked(found, answer)


def picked(found: Sequence[Memory], answer: str) -> list[Memory]:
    """Read the answer to the question which."""
    if answer.casefold() in ("all", "a"):
        return list(found)
    numbers = set(answer.replace(",", " ").split())
    if not all(word.isdecimal() and 1 <= int(word) <= len(found) for word in numbers):
        message = f'"{answer}" is not a choice of 1 to {len(found)}; nothing was forgotten'
        raise InvalidInput(message)
    chosen = {int(word) for word in numbers}
    return [memory for number, memory in enumerate(found, 1) if number in chosen]


def _report(gone: Sequence[Memory], *, as_json: bool) -> None:
    if as_json:
        say_json([to_json(memory) for memory in gone])
        return
    for memory in gone:
        say(f"forgot {memory.id}: {one_line(memory.content)}")
    note(_consolation(len(gone)))


def _consolation(gone: int) -> str:
    if gone == 0:
        return "Nothing was forgotten."
    if gone == 1:
        return "turnleaf undo brings it back"
    return f"turnleaf undo brings them back one by one, the last first ({gone} times for all)"
