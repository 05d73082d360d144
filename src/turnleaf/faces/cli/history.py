"""`history`: the conversations, listed, shown, renamed, exported and erased."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core.times import to_iso
from turnleaf.core.transcripts import (
    FORMATS,
    Transcript,
    make_transcript,
    message_to_json,
    non_text,
    to_json,
    to_markdown,
)
from turnleaf.core.wording import counted
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json, refuse_existing, yes
from turnleaf.faces.cli.conversation_choice import find_conversation
from turnleaf.faces.cli.erasing import erase_conversation
from turnleaf.faces.cli.output import minute, note, one_line, say, say_json, visible
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.tables import show as show_table
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.stored_messages import StoredMessage
    from turnleaf.store.conversations import ConversationStore, ConversationSummary

LISTED = 50
BESIDE = 2
"""How many messages are shown before and after the one that is meant."""
SUFFIXES = {f".{ending}": name for name, ending in FORMATS.items()}
STATUSES = {
    "stopped": "stopped here",
    "failed": "broken off by an error",
    "answering": "being answered",
}

which_argument = click.argument("words", metavar="WHICH...", nargs=-1, required=True, type=TEXT)


class History(click.Group):
    """Shows the conversation that is named where no command is."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take what is no command for a conversation, to be shown."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        rest = ["--", *args] if args[0].startswith("-") else args
        return "show", self.commands["show"], rest


@click.group(cls=History, invoke_without_command=True, subcommand_metavar="[COMMAND] [WHICH]...")
@click.option(
    "-n", "--limit", type=click.IntRange(1), help=f"List so many at most ({LISTED}; JSON: all)."
)
@as_json
@pass_place
@click.pass_context
def history(ctx: click.Context, place: Place, limit: int | None, *, as_json: bool) -> None:
    """List the conversations, the newest first, or show the one that is meant.

    WHICH is a number of the list, a key, or how a title or a key begins.

    \b
    turnleaf history
    turnleaf history 3 --last 10
    turnleaf history export "What is the lamp" -o lamp.md
    """  # noqa: D301 - click's mark for lines that stay as they are
    ctx.meta["as_json"] = as_json
    if ctx.invoked_subcommand is None:
        with _opened(place) as store:
            _list(store.summaries(), limit, as_json=as_json)


@history.command()
@which_argument
@click.option(
    "--last", metavar="N", type=click.IntRange(1), help="Show only the newest N messages."
)
@click.option(
    "--message", metavar="N", type=click.IntRange(1), help="Show only what was said around it."
)
@as_json
@pass_place
@click.pass_context
def show(
    ctx: click.Context,
    place: Place,
    words: tuple[str, ...],
    last: int | None,
    message: int | None,
    *,
    as_json: bool,
) -> None:
    """Show what was said in a conversation, or the place that why names in it."""
    with _opened(place) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        around = None if message is None else _find_around(store, summary.key, message)
        messages = around or store.messages(summary.key, limit=last)
    if as_json or ctx.meta.get("as_json"):
        say_json([message_to_json(one) for one in messages])
        return
    say(f"{one_line(summary.title)}  ({one_line(summary.key)})")
    rest = summary.turns - len(messages)
    if rest > 0:
        say(f"… {counted(rest, 'other message' if around else 'earlier message')}")
    for one in messages:
        _say(one, is_meant=one.id == message)


def _find_around(store: ConversationStore, key: str, number: int) -> list[StoredMessage]:
    """Return a message with what was said beside it; one that is not shown alone."""
    shown = store.messages(key)
    place = next((place for place, one in enumerate(shown) if one.id == number), None)
    if place is not None:
        return shown[max(0, place - BESIDE) : place + BESIDE + 1]
    found = store.find_message(number)
    if found is None or found[0] != key:
        message = f"there is no message {number} in {one_line(key)}; it may have been erased"
        raise NotFound(message)
    return [found[1]]


@history.command()
@click.argument("which", type=TEXT)
@click.argument("words", metavar="TITLE...", nargs=-1, required=True, type=TEXT)
@pass_place
def rename(place: Place, which: str, words: tuple[str, ...]) -> None:
    """Give a conversation another title; an empty one is that of its first question again."""
    with _opened(place) as store:
        summary = find_conversation(which, store.summaries())
        store.rename(summary.key, " ".join(words))
        renamed = store.summary(summary.key) or summary
    say(f"{one_line(summary.title)} is now called {one_line(renamed.title)}")


@history.command()
@which_argument
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Markdown or JSON.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write it there.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@pass_place
def export(
    place: Place, words: tuple[str, ...], form: str | None, output: str | None, *, force: bool
) -> None:
    """Write a conversation to a file or to stdout: Markdown to be read, or JSON with everything."""
    with _opened(place) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        transcript = make_transcript(summary, store.messages(summary.key))
    wanted = form or SUFFIXES.get(Path(output or "").suffix.lower(), "markdown")
    text = _render(transcript, wanted)
    if output is None:
        _print(text)
        return
    if Path(output).exists() and not Path(output).is_file():
        message = f"{output} is a device, a pipe or a folder; leave out -o to write to stdout"
        raise InvalidInput(message)
    refuse_existing(output, force=force)
    files.write(files.real(output), text.encode())
    note(f"wrote {counted(len(transcript.messages), 'message')} to {output}")


@history.command()
@which_argument
@yes
@as_json
@pass_place
def erase(place: Place, words: tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    """Erase a conversation to the last byte; what was learnt from it stays.

    Nothing brings it back.
    """
    with _opened(place) as store:
        summary = find_conversation(" ".join(words), store.summaries())
    erase_conversation(place, summary.key, title=summary.title, yes=yes, as_json=as_json)


@history.command()
@click.argument("words", metavar="TEXT...", nargs=-1, required=True, type=TEXT)
@as_json
@pass_place
def search(place: Place, words: tuple[str, ...], *, as_json: bool) -> None:
    """List the conversations whose title or messages contain TEXT, letter by letter.

    turnleaf search finds by meaning, too, and shows the passages.
    """
    text = " ".join(words)
    with _opened(place) as store:
        found = store.summaries(text)
        known = store.summaries()
    if not found:
        message = (
            f'no conversation contains "{one_line(text)}"; turnleaf search finds similar words'
        )
        raise NotFound(message)
    _list(known, None, as_json=as_json, only={one.key for one in found})


@history.command()
@which_argument
@pass_place
def exclude(place: Place, words: tuple[str, ...]) -> None:
    """Keep a conversation out of the search and of the prompts of all others."""
    summary = _set_searched(place, words, is_searched=False)
    say(f"{one_line(summary.title)} is no longer searched, and in no prompt but its own")


@history.command()
@which_argument
@pass_place
def include(place: Place, words: tuple[str, ...]) -> None:
    """Let a conversation be searched again, and used in prompts."""
    summary = _set_searched(place, words, is_searched=True)
    say(f"{one_line(summary.title)} is searched and used in prompts")


@contextmanager
def _opened(place: Place) -> Iterator[ConversationStore]:
    try:
        yield place.conversations
    finally:
        place.conversations.close()


def _set_searched(
    place: Place, words: tuple[str, ...], *, is_searched: bool
) -> ConversationSummary:
    with _opened(place) as store:
        summary = find_conversation(" ".join(words), store.summaries())
        store.set_searched(summary.key, is_searched)
    return summary


def _list(
    known: Sequence[ConversationSummary],
    limit: int | None,
    *,
    as_json: bool,
    only: set[str] | None = None,
) -> None:
    """List conversations by their numbers, which are the same whichever of them are listed."""
    wanted = [
        (number, one) for number, one in enumerate(known, 1) if only is None or one.key in only
    ]
    if as_json:
        say_json([_record(number, one) for number, one in wanted[:limit]])
        return
    if not wanted:
        note("There are no conversations yet.")
        return
    shown = wanted[: limit or LISTED]
    headings = ("No", "Last message", "Messages", "Search", "Key", "Title")
    show_table(headings, [_row(number, one) for number, one in shown])
    if len(shown) < len(wanted):
        note(f"{counted(len(wanted) - len(shown), 'older conversation')} not listed; see --limit")


def _row(number: int, one: ConversationSummary) -> tuple[str, ...]:
    searched = "" if one.is_searched else "off"
    return str(number), minute(one.updated_at), str(one.turns), searched, one.key, one.title


def _record(number: int, one: ConversationSummary) -> dict[str, Any]:
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


def _say(stored: StoredMessage, *, is_meant: bool = False) -> None:
    message = stored.message
    notes = [STATUSES.get(stored.status, ""), "forgotten" if stored.is_hidden else ""]
    if is_meant:
        notes.append(f"message {stored.id}")
    if stored.versions:
        place = stored.versions.index(stored.id) + 1
        notes.append(f"version {place} of {len(stored.versions)}")
    parts = (
        minute(message.timestamp) if message.timestamp else "",
        f"{message.role} {message.name}" if message.name else message.role,
        *(f"({one})" for one in notes if one),
    )
    say()
    say("  ".join(filter(None, parts)))
    for line in "\n".join(filter(None, (message.text, *non_text(message)))).split("\n"):
        say(f"  {line}".rstrip())


def _render(transcript: Transcript, form: str) -> str:
    if form == "json":
        return json.dumps(to_json(transcript), ensure_ascii=False, indent=2) + "\n"
    return to_markdown(transcript, _local)


def _local(moment: datetime) -> datetime:
    return moment.astimezone()


def _print(text: str) -> None:
    """Write to stdout; on a terminal nothing in it acts."""
    if sys.stdout.isatty():
        sys.stdout.write(visible(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
