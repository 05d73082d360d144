"""`review`: accept or reject facts that are pending review."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from prompt_toolkit import prompt

from turnleaf.core.changes import Source
from turnleaf.core.languages import pluralize
from turnleaf.core.memories import to_json
from turnleaf.core.serialization import to_iso
from turnleaf.errors import NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, ask, find_id, pass_workspace
from turnleaf.faces.cli.output import flatten, format_minute, label, localize, note, say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.store.contracts import PendingFacts

QUESTION = "[a]ccept, [e]dit, [r]eject, [s]kip, [q]uit?"
ANSWERS = {"accept", "edit", "reject", "skip", "quit"}


@click.command()
@click.option(
    "--accept", multiple=True, metavar="ID", type=TEXT, help="Accept this fact (repeatable)."
)
@click.option(
    "--edit",
    nargs=2,
    multiple=True,
    metavar="ID TEXT",
    type=TEXT,
    help=("Accept this fact with TEXT instead."),
)
@click.option(
    "--reject", multiple=True, metavar="ID", type=TEXT, help="Reject this fact (repeatable)."
)
@click.option("--all", "every", is_flag=True, help="Accept all.")
@as_json
@pass_workspace
def review(
    workspace: Workspace,
    accept: tuple[str, ...],
    edit: tuple[tuple[str, str], ...],
    reject: tuple[str, ...],
    *,
    every: bool,
    as_json: bool,
) -> None:
    """Accept or reject facts learned from documents, tools or strangers.

    No assistant sees them before you accept them. On a terminal you are asked about each in
    turn; otherwise they are listed.
    """
    pending = workspace.stores.pending
    waiting = pending.get_all()
    wanted: list[tuple[str, Memory, str | None]] = [
        *(("accept", one, None) for one in waiting if every),
        *(("accept", _find(one, waiting), None) for one in accept),
        *(("accept", _find(one, waiting), text) for one, text in edit),
        *(("reject", _find(one, waiting), None) for one in reject),
    ]
    if wanted:
        done = [_decide(pending, *one, is_said=not as_json) for one in wanted]
        if as_json:
            say_json([{"action": action, "memory": to_json(memory)} for action, memory in done])
    elif as_json:
        sources = ((one, _find_source(pending, one)) for one in waiting)
        say_json(
            [_make_record(one, source, _find_title(workspace, source)) for one, source in sources]
        )
    elif not waiting:
        note("Nothing is pending review.")
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _go_through(workspace, waiting)
    else:
        for one in waiting:
            _show_fact(workspace, one)


def _find(wanted: str, waiting: Sequence[Memory]) -> Memory:
    known = {memory.id: memory for memory in waiting}
    try:
        return known[find_id(wanted, known)]
    except NotFound:
        message = f'no pending fact has the ID "{flatten(wanted)}"; list them with turnleaf review'
        raise NotFound(message) from None


def _decide(
    pending: PendingFacts, action: str, memory: Memory, content: str | None, *, is_said: bool = True
) -> tuple[str, Memory]:
    if action == "accept":
        memory = pending.accept(memory.id, content)
    elif not pending.reject(memory.id):
        message = (
            f"{memory.id} is no longer pending review; list the pending facts with turnleaf review"
        )
        raise NotFound(message)
    done = f"{action}ed"
    if is_said:
        say(localize(f"{done} {memory.id}: {flatten(memory.content)}"))
    return done, memory


def _go_through(workspace: Workspace, waiting: Sequence[Memory]) -> None:
    pending = workspace.stores.pending
    for number, memory in enumerate(waiting, 1):
        note(f"{number} of {len(waiting)}")
        _show_fact(workspace, memory)
        action = _ask_action()
        if action == "quit":
            break
        if action == "edit":
            _decide(pending, "accept", memory, _edit(memory))
        elif action != "skip":
            _decide(pending, action, memory, None)
    left = len(pending.get_all())
    if left:
        note(f"{pluralize(left, 'fact')} still pending review")


def _ask_action() -> str:
    """Ask until the answer is one of the choices; Enter and the end of input skip."""
    while True:
        answer = ask(QUESTION).casefold() or "skip"
        found = [one for one in ANSWERS if one.startswith(answer)]
        if found:
            return found[0]


def _edit(memory: Memory) -> str:
    try:
        return prompt(localize("text: "), default=memory.content)
    except EOFError:
        raise KeyboardInterrupt from None


def _find_source(pending: PendingFacts, memory: Memory) -> Source:
    found = [change.source for change in pending.changes(memory.id) if change.source]
    return found[-1] if found else Source()


def _find_title(workspace: Workspace, source: Source) -> str:
    """Return what the conversation of a fact is called, if it is there."""
    store = workspace.conversations
    found = store.summary(source.conversation) if source.conversation and store.exists() else None
    return found.title if found else ""


def _make_record(memory: Memory, source: Source, title: str) -> dict[str, Any]:
    details = {
        "source": source.name,
        "quote": source.quote,
        "conversation": source.conversation,
        "title": title,
        "messageTime": source.message_time and to_iso(source.message_time),
        "trust": source.trust,
    }
    return to_json(memory) | {name: value for name, value in details.items() if value}


def _show_fact(workspace: Workspace, memory: Memory) -> None:
    source = _find_source(workspace.stores.pending, memory)
    said = f" {format_minute(source.message_time)}" if source.message_time else ""
    # A conversation that is gone has only its key left.
    place = _find_title(workspace, source) or source.conversation
    # The name of an imported conversation is its key.
    name = "" if source.name == source.conversation else source.name
    come = ", ".join(filter(None, (name, place)))
    say(memory.content)
    say(f"  {label('id', 7)}{flatten(memory.id)}")
    if come or said:
        say(f"  {label('from', 7)}{flatten(come)}{said}")
    if source.quote:
        say(f"  {label('quote', 7)}{flatten(source.quote)}")
