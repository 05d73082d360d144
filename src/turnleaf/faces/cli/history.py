"""`history`: list, show, rename, export and erase conversations.

A conversation is named by its number in the list, its key, or the beginning of its title.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core.keys import checked_key, cli_key
from turnleaf.core.languages import pluralize
from turnleaf.core.times import to_iso
from turnleaf.core.transcripts import (
    FORMATS,
    make_transcript,
    message_to_json,
    non_text,
    to_json,
    to_markdown,
)
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    force,
    pass_workspace,
    refuse_existing,
    yes,
)
from turnleaf.faces.cli.forget import erase_conversation
from turnleaf.faces.cli.output import (
    escape,
    flatten,
    format_minute,
    localize,
    note,
    say,
    say_json,
    shorten,
)
from turnleaf.faces.cli.terminal import show_table
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.messages import ConversationSummary, StoredMessage
    from turnleaf.store.contracts import Conversations

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
    atomic.write(atomic.real(output), text.encode())
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

    Only exactly these words are found; turnleaf search also finds similar ones, and shows
    passages.
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
    for line in "\n".join(filter(None, (message.text, *non_text(message)))).split("\n"):
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
    checked_key(wanted)
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
