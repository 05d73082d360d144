"""`history` and `forget`: conversations, and erasing what came from one or from another source.

A conversation is named by its number in the list, its key, or the beginning of its title.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core import memories as facts
from turnleaf.core.conversation_formats import (
    FORMATS,
    list_non_text,
    make_transcript,
    message_to_json,
    to_json,
    to_markdown,
)
from turnleaf.core.keys import check_key, cli_key
from turnleaf.core.languages import pluralize
from turnleaf.core.memories import contains
from turnleaf.core.serialization import to_iso
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    ask,
    confirm,
    force,
    is_attended,
    pass_workspace,
    refuse_existing,
    take_text,
    yes,
)
from turnleaf.faces.cli.output import (
    escape,
    flatten,
    format_minute,
    localize,
    note,
    say,
    say_json,
    say_result,
    shorten,
    show_table,
)
from turnleaf.store import erasure
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import ConversationSummary, StoredMessage
    from turnleaf.store.contracts import Conversations, Facts


# A shorter text is more often a word than the beginning of an id ("dad", "bee").
SHORTEST_ID_PREFIX = 4
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
        message = "no fact was named; type an ID or some text"
        raise InvalidInput(message)
    found = _find_memories(workspace.memory, wanted)
    if not found:
        message = f'no fact has the ID or contains "{flatten(wanted)}"; see turnleaf memories'
        raise NotFound(message)
    chosen = found if yes or len(found) == 1 else _choose(found)
    gone = [memory for memory in chosen if workspace.memory.delete(memory.id)]
    lines = [f"forgot {memory.id}: {flatten(memory.content)}" for memory in gone]
    say_result([facts.to_json(memory) for memory in gone], *lines, as_json=as_json)
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
        message = "several facts match; use the ID of one, or forget them all with --yes"
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
        note(
            f"{copy} was set aside earlier and may still contain the erased text; if so, delete "
            "the file"
        )
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


LISTED = 50
MOST_NAMED = 10
TITLE_CHARS = 60
BESIDE = 2
"""How many messages are shown before and after the chosen one."""
SUFFIXES = {f".{ending}": name for name, ending in FORMATS.items()}
STATUSES = {
    "stopped": "stopped here",
    "failed": "interrupted by an error",
    "answering": "being answered",
}

which_argument = click.argument("words", metavar="WHICH...", nargs=-1, required=True, type=TEXT)


class History(click.Group):
    """Shows a conversation where its name stands in place of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take anything that is not a command for a conversation to show."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        rest = ["--", *args] if args[0].startswith("-") else args
        return "show", self.commands["show"], rest


@click.group(cls=History, invoke_without_command=True, subcommand_metavar="[COMMAND] [WHICH]...")
@click.option(
    "-n", "--limit", type=click.IntRange(1), help=f"Maximum number to list ({LISTED}; JSON: all)."
)
@as_json
@pass_workspace
@click.pass_context
def history(ctx: click.Context, workspace: Workspace, limit: int | None, *, as_json: bool) -> None:
    """List the conversations, newest first, or show one.

    WHICH is a number in the list, a key, or the beginning of a title or key.

    \b
    turnleaf history
    turnleaf history 3 --last 10
    turnleaf history export "What is the lamp" -o lamp.md
    """  # noqa: D301 - click's mark for lines that stay as they are
    ctx.meta["as_json"] = as_json
    if ctx.invoked_subcommand is None:
        with closing(workspace.conversations) as store:
            _list(store.summaries(), limit, as_json=as_json)


@history.command()
@which_argument
@click.option("--last", metavar="N", type=click.IntRange(1), help="Show only the last N messages.")
@click.option(
    "--message",
    metavar="N",
    type=click.IntRange(1),
    help="Show only message N and those around it.",
)
@as_json
@pass_workspace
@click.pass_context
def show(
    ctx: click.Context,
    workspace: Workspace,
    words: tuple[str, ...],
    last: int | None,
    message: int | None,
    *,
    as_json: bool,
) -> None:
    """Show the messages of a conversation."""
    with closing(workspace.conversations) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        around = None if message is None else _find_around(store, summary.key, message)
        messages = around or store.messages(summary.key, limit=last)
    if as_json or ctx.meta.get("as_json"):
        say_json([message_to_json(one) for one in messages])
        return
    say(f"{flatten(summary.title)}  ({flatten(summary.key)})")
    rest = summary.turns - len(messages)
    if rest > 0:
        kind = "other message" if around else "earlier message"
        say(localize(f"… {pluralize(rest, kind)}"))
    for one in messages:
        _show_message(one, is_meant=one.id == message)


def _find_around(store: Conversations, key: str, number: int) -> list[StoredMessage]:
    """Return a message and its neighbours; of a version that is not shown, only itself."""
    shown = store.messages(key)
    place = next((place for place, one in enumerate(shown) if one.id == number), None)
    if place is not None:
        return shown[max(0, place - BESIDE) : place + BESIDE + 1]
    found = store.find_message(number)
    if found is None or found[0] != key:
        message = f"there is no message {number} in {flatten(key)}; it may have been erased"
        raise NotFound(message)
    return [found[1]]


@history.command()
@click.argument("which", type=TEXT)
@click.argument("words", metavar="TITLE...", nargs=-1, required=True, type=TEXT)
@pass_workspace
def rename(workspace: Workspace, which: str, words: tuple[str, ...]) -> None:
    """Rename a conversation; an empty TITLE restores the original one."""
    with closing(workspace.conversations) as store:
        summary = find_conversation(which, store.summaries())
        store.rename(summary.key, " ".join(words))
        renamed = store.summary(summary.key) or summary
    say(localize(f"renamed {flatten(summary.title)} to {flatten(renamed.title)}"))


@history.command()
@which_argument
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Output format.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write to this file.")
@force
@pass_workspace
def export(
    workspace: Workspace,
    words: tuple[str, ...],
    form: str | None,
    output: str | None,
    *,
    force: bool,
) -> None:
    """Export a conversation as Markdown, or as JSON with all details."""
    with closing(workspace.conversations) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        transcript = make_transcript(summary, store.messages(summary.key))
    wanted = form or SUFFIXES.get(Path(output or "").suffix.lower(), "markdown")
    if wanted == "json":
        text = json.dumps(to_json(transcript), ensure_ascii=False, indent=2) + "\n"
    else:
        text = to_markdown(transcript, lambda moment: moment.astimezone())
    if output is None:
        _print(text)
        return
    if Path(output).exists() and not Path(output).is_file():
        message = f"{output} is not a regular file; leave out -o to write to stdout"
        raise InvalidInput(message)
    refuse_existing(output, force=force)
    atomic.write(atomic.resolve(output), text.encode())
    note(f"wrote {pluralize(len(transcript.messages), 'message')} to {output}")


@history.command()
@which_argument
@yes
@as_json
@pass_workspace
def erase(workspace: Workspace, words: tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    """Permanently erase a conversation. Facts learned from it stay."""
    with closing(workspace.conversations) as store:
        summary = find_conversation(" ".join(words), store.summaries())
    erase_conversation(workspace, summary.key, title=summary.title, yes=yes, as_json=as_json)


@history.command()
@click.argument("words", metavar="TEXT...", nargs=-1, required=True, type=TEXT)
@as_json
@pass_workspace
def search(workspace: Workspace, words: tuple[str, ...], *, as_json: bool) -> None:
    """List the conversations whose title or messages contain TEXT.

    Only exact matches are found; turnleaf search also finds similar wording, and shows passages.
    """
    text = " ".join(words)
    with closing(workspace.conversations) as store:
        found = store.summaries(text)
        known = store.summaries()
    if not found:
        message = f'no conversation contains "{flatten(text)}"; try turnleaf search'
        raise NotFound(message)
    _list(known, None, as_json=as_json, only={one.key for one in found})


@history.command()
@which_argument
@pass_workspace
def exclude(workspace: Workspace, words: tuple[str, ...]) -> None:
    """Exclude a conversation from search and from others' prompts."""
    outcome = "is excluded from search and from the prompts of other conversations"
    _set_searched(workspace, words, outcome, is_searched=False)


@history.command()
@which_argument
@pass_workspace
def include(workspace: Workspace, words: tuple[str, ...]) -> None:
    """Include a conversation in search and prompts again."""
    _set_searched(workspace, words, "is included in search and prompts", is_searched=True)


def _set_searched(
    workspace: Workspace, words: Sequence[str], outcome: str, *, is_searched: bool
) -> None:
    with closing(workspace.conversations) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        store.set_searched(summary.key, is_searched)
    say(localize(f"{flatten(summary.title)} {outcome}"))


def _list(
    known: Sequence[ConversationSummary],
    limit: int | None,
    *,
    as_json: bool,
    only: set[str] | None = None,
) -> None:
    """List conversations; their numbers are the same, whichever of them are listed."""
    wanted = [
        (number, one) for number, one in enumerate(known, 1) if only is None or one.key in only
    ]
    if as_json:
        say_json([_make_record(number, one) for number, one in wanted[:limit]])
        return
    if not wanted:
        note("There are no conversations yet.")
        return
    shown = wanted[: limit or LISTED]
    headings = ("No", "Last message", "Messages", "Search", "Key", "Title")
    show_table(headings, [_make_row(number, one) for number, one in shown])
    if len(shown) < len(wanted):
        note(f"{pluralize(len(wanted) - len(shown), 'older conversation')} not listed; use --limit")


def _make_row(number: int, one: ConversationSummary) -> tuple[str, ...]:
    searched = "" if one.is_searched else localize("off")
    return str(number), format_minute(one.updated_at), str(one.turns), searched, one.key, one.title


def _make_record(number: int, one: ConversationSummary) -> dict[str, Any]:
    return {
        "number": number,
        "key": one.key,
        "title": one.title,
        "turns": one.turns,
        "createdAt": to_iso(one.created_at),
        "updatedAt": to_iso(one.updated_at),
        "audience": one.audience,
        "searched": one.is_searched,
        "renamed": one.is_renamed,
    }


def _show_message(stored: StoredMessage, *, is_meant: bool = False) -> None:
    message = stored.message
    notes = [STATUSES.get(stored.status, ""), "forgotten" if stored.is_hidden else ""]
    if is_meant:
        notes.append(f"message {stored.id}")
    if stored.versions:
        place = stored.versions.index(stored.id) + 1
        notes.append(f"version {place} of {len(stored.versions)}")
    parts = (
        format_minute(message.timestamp) if message.timestamp else "",
        f"{localize(message.role)} {message.name}" if message.name else localize(message.role),
        *(f"({localize(one)})" for one in notes if one),
    )
    say()
    say("  ".join(filter(None, parts)))
    for line in "\n".join(filter(None, (message.text, *list_non_text(message)))).split("\n"):
        say(f"  {line}".rstrip())


def _print(text: str) -> None:
    """Write to stdout, escaped where that is a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(escape(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())


def find_conversation(wanted: str, known: Sequence[ConversationSummary]) -> ConversationSummary:
    """Return the conversation with this number, key or title; refuse what fits several."""
    check_key(wanted)
    found = _find_matches(wanted, known)
    if not found:
        message = f'there is no conversation "{flatten(wanted)}"; list them with turnleaf history'
        raise NotFound(message)
    if len(found) > 1:
        raise InvalidInput(_ask_for_more(wanted, found, known))
    return found[0]


def describe_conversation(number: int, summary: ConversationSummary) -> str:
    """Return a line that describes a conversation."""
    title = shorten(summary.title, TITLE_CHARS)
    return f"{number:>4}  {format_minute(summary.updated_at)}  {title}  ({flatten(summary.key)})"


def _find_matches(wanted: str, known: Sequence[ConversationSummary]) -> list[ConversationSummary]:
    """Return the best matches: a key, a number, a whole title, or else beginnings."""
    exact = [one for one in known if one.key == wanted]
    if exact:
        return exact
    # More digits than any list has would take long to read as a number.
    if wanted.isascii() and wanted.isdecimal() and len(wanted) <= len(str(len(known))):
        number = int(wanted)
        if 1 <= number <= len(known):
            return [known[number - 1]]
    title = _normalize(wanted)
    whole = [one for one in known if _normalize(one.title) == title]
    if whole:
        return whole
    keys = (wanted, cli_key(wanted))
    return [
        one for one in known if one.key.startswith(keys) or _normalize(one.title).startswith(title)
    ]


def _ask_for_more(
    wanted: str, found: Sequence[ConversationSummary], known: Sequence[ConversationSummary]
) -> str:
    numbers = {one.key: number for number, one in enumerate(known, 1)}
    lines = [describe_conversation(numbers[one.key], one) for one in found[:MOST_NAMED]]
    rest = len(found) - MOST_NAMED
    more = [f"      and {rest:,} more"] if rest > 0 else []
    head = f'{len(found)} conversations begin with "{flatten(wanted)}"; type a number, or more'
    return "\n".join([f"{head}:", *lines, *more])


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()
