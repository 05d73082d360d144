"""`forget`, and erasing a conversation or everything from one source."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from turnleaf.core.languages import pluralize
from turnleaf.core.memories import contains, to_json
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    ask,
    confirm,
    is_attended,
    pass_workspace,
    take_text,
    yes,
)
from turnleaf.faces.cli.output import flatten, note, say_result
from turnleaf.store import erasure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.store.contracts import Facts

# A shorter text is more often a word than the beginning of an id ("dad", "bee").
SHORTEST_ID_PREFIX = 4
MOST_NAMED = 10
NO_WAY_BACK = "this cannot be undone; confirm with --yes"


@click.command()
@click.argument("words", metavar="ID|TEXT...", nargs=-1, type=TEXT)
@click.option("--conversation", metavar="KEY", type=TEXT, help="Erase this conversation instead.")
@click.option("--source", type=TEXT, help="Erase everything from this source instead.")
@yes
@as_json
@pass_workspace
def forget(
    workspace: Workspace,
    words: tuple[str, ...],
    conversation: str | None,
    source: str | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Forget the fact with this ID, or the one that contains TEXT.

    The beginning of an ID is enough. If several facts match, you are asked which; --yes forgets
    them all. turnleaf undo restores a forgotten fact.

    --conversation erases a whole conversation, also from the search index. --source erases
    everything that was said, learned or noted there: SOURCE is the key of a conversation,
    tool:NAME or document:NAME. Erasing cannot be undone.
    """
    if sum(map(bool, (words, conversation, source))) > 1:
        message = "use only one of TEXT, --conversation and --source"
        raise InvalidInput(message)
    if conversation is not None:
        erase_conversation(workspace, conversation, yes=yes, as_json=as_json)
    elif source is not None:
        _erase_source(workspace, source, yes=yes, as_json=as_json)
    else:
        _forget_memory(workspace, words, yes=yes, as_json=as_json)


def _forget_memory(
    workspace: Workspace, words: tuple[str, ...], *, yes: bool, as_json: bool
) -> None:
    wanted = take_text(words)
    if not wanted.strip():
        message = "nothing was forgotten; type an ID or some text"
        raise InvalidInput(message)
    found = _find_memories(workspace.memory, wanted)
    if not found:
        message = f'no fact has the ID or contains "{flatten(wanted)}"; see turnleaf memories'
        raise NotFound(message)
    chosen = found if yes or len(found) == 1 else _choose(found)
    gone = [memory for memory in chosen if workspace.memory.delete(memory.id)]
    lines = [f"forgot {memory.id}: {flatten(memory.content)}" for memory in gone]
    say_result([to_json(memory) for memory in gone], *lines, as_json=as_json)
    if not as_json:
        note(_describe_way_back(len(gone)))
    if not gone:
        click.get_current_context().exit(1)


def _find_memories(store: Facts, wanted: str) -> list[Memory]:
    """Return the fact with this ID, else those whose ID begins so or that contain the text."""
    everything = [*store.get_all(), *store.older()]
    exact = [memory for memory in everything if memory.id == wanted]
    is_prefix = len(wanted) >= SHORTEST_ID_PREFIX
    return exact or [
        memory
        for memory in everything
        if (is_prefix and memory.id.startswith(wanted)) or contains(memory, wanted)
    ]


def _choose(found: Sequence[Memory]) -> list[Memory]:
    note(f"{pluralize(len(found), 'fact')} match:")
    for number, memory in enumerate(found, 1):
        note(f"  {number:>3}  {memory.id}  {flatten(memory.content)}")
    if not is_attended():
        message = "several facts match; type the ID of one, or forget them all with --yes"
        raise InvalidInput(message)
    answer = ask('Forget which? Numbers such as 1 or 1,3, "all", or Enter for none:')
    if answer.casefold() in ("all", "a"):
        return list(found)
    numbers = set(answer.replace(",", " ").split())
    if not all(word.isdecimal() and 1 <= int(word) <= len(found) for word in numbers):
        message = f'"{answer}" is not a choice of 1 to {len(found)}; nothing was forgotten'
        raise InvalidInput(message)
    chosen = {int(word) for word in numbers}
    return [memory for number, memory in enumerate(found, 1) if number in chosen]


def _describe_way_back(gone: int) -> str:
    if gone == 0:
        return "Nothing was forgotten."
    if gone == 1:
        return "restore it with turnleaf undo"
    return f"restore them one by one with turnleaf undo ({gone} times for all)"


def erase_conversation(
    workspace: Workspace, key: str, *, title: str | None = None, yes: bool, as_json: bool
) -> None:
    """Erase a conversation; what was learned from it stays."""
    name = flatten(title or key)
    if not yes:
        confirm(f'Permanently erase the conversation "{name}"?', NO_WAY_BACK)
    try:
        is_erased = erasure.erase_conversation(workspace.stores, key)
    finally:
        workspace.conversations.close()
    if not is_erased:
        message = f'there is no conversation "{flatten(key)}"; list them with turnleaf history'
        raise NotFound(message)
    line = f"erased {name}: its messages and their search entries"
    say_result({"conversation": key, "erased": True}, line, as_json=as_json)


def _erase_source(workspace: Workspace, source: str, *, yes: bool, as_json: bool) -> None:
    """Erase everything that came from a conversation, a tool or a document."""
    name = flatten(source)
    _ = workspace.conversations
    if not erasure.has_traces(workspace.stores, source):
        message = f'nothing came from "{name}"; {_describe_sources(workspace)}'
        raise NotFound(message)
    if not yes:
        confirm(f'Permanently erase everything from "{name}"?', NO_WAY_BACK)
    gone = erasure.erase(workspace.stores, source)
    if not (gone.facts or gone.notes or gone.messages):
        message = f'nothing came from "{name}"; {_describe_sources(workspace)}'
        raise NotFound(message)
    for copy in gone.copies:
        note(f"{copy} was set aside earlier and may still contain it; delete it if so")
    parts = f"{pluralize(gone.facts, 'fact')}, {pluralize(gone.notes, 'note')}"
    say_result(
        {**asdict(gone), "copies": list(gone.copies)},
        f"erased {parts} and {pluralize(gone.messages, 'message')} from {name}",
        as_json=as_json,
    )


def _describe_sources(workspace: Workspace) -> str:
    sources = [change.source for change in workspace.memory.changes() if change.source]
    names = {name for one in sources for name in (one.name, one.conversation) if name}
    known = ", ".join(map(flatten, sorted(names)[:MOST_NAMED]))
    return f"known sources are {known}" if known else "all facts came from you"
