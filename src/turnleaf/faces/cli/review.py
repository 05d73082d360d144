"""`review`: what waits to be remembered, accepted or rejected."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from prompt_toolkit import prompt

from turnleaf.core.changes import Source
from turnleaf.core.memories import to_json
from turnleaf.core.plurals import pluralize
from turnleaf.core.times import to_iso
from turnleaf.errors import NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, ask, find_id, pass_workspace
from turnleaf.faces.cli.output import flatten, format_minute, note, say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.store.contracts import PendingFacts

QUESTION = "[a]ccept, [e]dit, [r]eject, [s]kip, [q]uit?"
ANSWERS = {"accept", "edit", "reject", "skip", "quit"}


@click.command()
@click.option("--accept", multiple=True, metavar="ID", type=TEXT, help="Remember this one.")
@click.option(
    "--edit", nargs=2, multiple=True, metavar="ID TEXT", type=TEXT, help="Remember it, saying TEXT."
)
@click.option("--reject", multiple=True, metavar="ID", type=TEXT, help="Drop this one.")
@click.option("--all", "every", is_flag=True, help="Remember all that waits.")
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
    """Decide about what was learned from a document, a tool or a stranger.

    It waits here, and no assistant sees it before you accept it. On a terminal you are asked
    about one after the other; elsewhere, what waits is listed.
    """
    pending = workspace.pending
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
        say_json([_make_record(one, _find_source(pending, one)) for one in waiting])
    elif not waiting:
        note("Nothing is waiting for you.")
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _go_through(pending, waiting)
    else:
        for one in waiting:
            _show_fact(one, _find_source(pending, one))


def _find(wanted: str, waiting: Sequence[Memory]) -> Memory:
    known = {memory.id: memory for memory in waiting}
    try:
        return known[find_id(wanted, known)]
    except NotFound:
        message = f'nothing that waits has the id "{flatten(wanted)}"; turnleaf review lists it'
        raise NotFound(message) from None


def _decide(
    pending: PendingFacts, action: str, memory: Memory, content: str | None, *, is_said: bool = True
) -> tuple[str, Memory]:
    if action == "accept":
        memory = pending.accept(memory.id, content)
    elif not pending.reject(memory.id):
        message = f"{memory.id} does not wait any more; turnleaf review lists what does"
        raise NotFound(message)
    if is_said:
        say(f"{action}ed {memory.id}: {flatten(memory.content)}")
    return f"{action}ed", memory


def _go_through(pending: PendingFacts, waiting: Sequence[Memory]) -> None:
    for number, memory in enumerate(waiting, 1):
        note(f"{number} of {len(waiting)}")
        _show_fact(memory, _find_source(pending, memory))
        action = _ask_action()
        if action == "quit":
            break
        if action == "edit":
            _decide(pending, "accept", memory, _edit(memory))
        elif action != "skip":
            _decide(pending, action, memory, None)
    left = len(pending.get_all())
    if left:
        note(f"{pluralize(left, 'fact')} still waiting")


def _ask_action() -> str:
    """Ask until the answer is one; Enter skips, and so does the end of the input."""
    while True:
        answer = ask(QUESTION).casefold() or "skip"
        found = [one for one in ANSWERS if one.startswith(answer)]
        if found:
            return found[0]


def _edit(memory: Memory) -> str:
    try:
        return prompt("text: ", default=memory.content)
    except EOFError:
        raise KeyboardInterrupt from None


def _find_source(pending: PendingFacts, memory: Memory) -> Source:
    found = [change.source for change in pending.changes(memory.id) if change.source]
    return found[-1] if found else Source()


def _make_record(memory: Memory, source: Source) -> dict[str, Any]:
    details = {
        "source": source.name,
        "quote": source.quote,
        "conversation": source.conversation,
        "messageTime": source.message_time and to_iso(source.message_time),
        "trust": source.trust,
    }
    return to_json(memory) | {name: value for name, value in details.items() if value}


def _show_fact(memory: Memory, source: Source) -> None:
    said = f" at {format_minute(source.message_time)}" if source.message_time else ""
    come = " in ".join(filter(None, (source.name, source.conversation)))
    say(memory.content)
    say(f"  id     {flatten(memory.id)}")
    if come or said:
        say(f"  from   {flatten(come)}{said}")
    if source.quote:
        say(f"  quote  {flatten(source.quote)}")
