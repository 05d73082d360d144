"""`chat`."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console

from turnleaf.core.keys import cli_key
from turnleaf.errors import InvalidInput, NotFound, TurnleafError
from turnleaf.faces.cli.arguments import TEXT, ask, decoded, on_terminal
from turnleaf.faces.cli.chat_commands import COMMANDS, Chat
from turnleaf.faces.cli.conversation_choice import describe
from turnleaf.faces.cli.first_start import mention_keeping
from turnleaf.faces.cli.markdown import Shown
from turnleaf.faces.cli.output import complain, note, one_line, visible
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.talking import conversations, murmur, take_up, talking, tell_news
from turnleaf.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyPressEvent

    from turnleaf.assistant import Assistant

CONVERSATIONS_TO_RECALL = 10
TAKES_ID = ("/forget ", "/why ")
ASK_WHICH = ""
"""What --resume has where nobody said which conversation."""
MOST_OFFERED = 10
MOST_OF_LAST_EXCHANGE = 50
MOST_RECALLED = 50
"""How many messages of each earlier conversation the arrow keys bring back."""


@click.command()
@click.option("--continue", "continued", is_flag=True, help="Take up the latest conversation.")
@click.option(
    "--resume",
    metavar="[WHICH]",
    is_flag=False,
    flag_value=ASK_WHICH,
    type=TEXT,
    help="Take up this one: a number, a key or a title; without it you are asked.",
)
@click.option("--no-memory", is_flag=True, help="Keep, learn and use nothing, as after /private.")
@pass_place
@click.pass_context
def chat(
    ctx: click.Context, place: Place, resume: str | None, *, continued: bool, no_memory: bool
) -> None:
    """Talk with the assistant.

    Enter sends, Alt-Enter begins a new line, Ctrl-C stops an answer, Ctrl-D leaves; /help
    shows the commands. With a pipe instead of a terminal, each line is a message. WHICH is a
    number of turnleaf history, a key, or how a title begins.
    """
    if (resume is not None or continued) and no_memory:
        message = "--no-memory begins a conversation that is not kept; leave out the other option"
        raise InvalidInput(message)
    if not no_memory:
        mention_keeping(place)
    with talking(place, flush=True) as assistant:
        key = _key(assistant, resume, continued=continued)
        one = Chat(assistant, ctx, key, is_private=no_memory)
        is_well = _typed(one) if _is_terminal() else _piped(one)
    tell_news(assistant, undo="turnleaf undo")
    ctx.exit(0 if is_well else 1)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _key(assistant: Assistant, resume: str | None, *, continued: bool) -> str:
    if resume is not None:
        return take_up(assistant, resume or _ask_which(assistant))
    known = conversations(assistant) if continued else []
    if known:
        return known[0].key
    if continued:
        note("There is no conversation to go on with; this is a new one.")
    return cli_key(datetime.now(UTC))


def _ask_which(assistant: Assistant) -> str:
    """Offer the latest conversations, and return which one was chosen."""
    known = assistant.conversations.summaries(limit=MOST_OFFERED)
    if not known:
        message = "there is no conversation to take up; turnleaf chat begins one"
        raise NotFound(message)
    if not on_terminal():
        message = "say which conversation: --resume 1 takes up the newest of turnleaf history"
        raise InvalidInput(message)
    for number, one in enumerate(known, 1):
        note(describe(number, one))
    return ask("Which one? A number, or how a title begins (1):") or "1"


# A pipe


def _piped(one: Chat) -> bool:
    is_well = True
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = decoded(line, f"line {number}")
        except InvalidInput as error:
            complain(str(error))
            is_well = False
            continue
        if text.strip():
            is_well &= one.take(text)
        tell_news(one.assistant, undo="/undo")
        if one.is_over:
            break
    return is_well


# A terminal


def _typed(one: Chat) -> bool:
    murmur(f"turnleaf with {one.assistant.model.name}. /help shows the commands, Ctrl-D leaves.")
    _show_last(one)
    with Watcher(one.assistant.index):
        for text in _lines(one):
            try:
                one.take(text)
            except KeyboardInterrupt:
                murmur("stopped")
            if one.is_over:
                break
    return True


def _lines(one: Chat) -> Iterator[str]:
    """Give what is typed, up to the end or to the second Ctrl-C in a row."""
    session = _session(one)
    was_interrupted = False
    while True:
        tell_news(one.assistant, undo="/undo")
        try:
            with patch_stdout():
                text = session.prompt("private> " if one.is_private else "> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            if was_interrupted:
                return
            murmur("Ctrl-C again leaves, and so does Ctrl-D.")
            was_interrupted = True
            continue
        was_interrupted = False
        if text.strip():
            yield text


def _session(one: Chat) -> PromptSession[str]:
    return PromptSession(
        history=_Said(one),
        completer=_Names(one),
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation="… ",
        reserve_space_for_menu=6,
    )


def _show_last(one: Chat) -> None:
    """Show the last exchange of a conversation that goes on."""
    latest = one.assistant.conversations.messages(one.key, limit=MOST_OF_LAST_EXCHANGE)
    history = [stored.message for stored in latest]
    asked = [place for place, message in enumerate(history) if message.role == "user"]
    console = Console(highlight=False)
    for message in history[asked[-1] :] if asked else ():
        if message.role == "user":
            murmur(f"> {message.text}")
        elif message.role == "assistant" and message.text:
            console.print(Shown(visible(message.text)))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _break_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _drop(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return keys


class _Said(InMemoryHistory):
    """What was said in earlier conversations. It is kept there and nowhere else."""

    def __init__(self, one: Chat) -> None:
        self._chat = one
        store = one.assistant.conversations
        recent = conversations(one.assistant)[:CONVERSATIONS_TO_RECALL]
        said = [
            stored.message
            for each in reversed(recent)
            for stored in store.messages(each.key, limit=MOST_RECALLED)
        ]
        super().__init__([message.text for message in said if message.role == "user"])

    def append_string(self, string: str) -> None:
        """Keep a line for the arrow keys, unless it is private."""
        if not self._chat.is_private:
            super().append_string(string)


class _Names(Completer):
    """Completes /commands and the ids of memories."""

    def __init__(self, one: Chat) -> None:
        self._chat = one

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's signature
    ) -> Iterable[Completion]:
        """Give what may follow."""
        text = document.text_before_cursor
        if text.startswith(TAKES_ID):
            return self._ids(text.partition(" ")[2])
        if text.startswith("/"):
            return self._commands(text)
        return ()

    def _ids(self, begun: str) -> Iterator[Completion]:
        # What is wrong with the memory is said when it is asked for.
        with suppress(TurnleafError):
            for name, content in self._chat.memory_ids().items():
                if name.startswith(begun):
                    yield Completion(name, -len(begun), display_meta=one_line(content))

    def _commands(self, begun: str) -> Iterator[Completion]:
        for name, command in COMMANDS.items():
            if f"/{name}".startswith(begun):
                yield Completion(f"/{name}", -len(begun), display_meta=command.summary)
