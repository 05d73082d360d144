"""`chat`: a conversation at the terminal or through a pipe; each line is a message or /command."""

from __future__ import annotations

import difflib
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console

from turnleaf.core.keys import cli_key
from turnleaf.core.languages import pluralize
from turnleaf.errors import InvalidInput, NotFound, TurnleafError
from turnleaf.faces.cli.answers import Shown, show_answer
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    ask,
    ask_yes,
    decode,
    is_attended,
    pass_workspace,
)
from turnleaf.faces.cli.history import describe_conversation, find_conversation, forget
from turnleaf.faces.cli.memories import memories, show_explanation, undo, why
from turnleaf.faces.cli.output import (
    complain,
    escape,
    flatten,
    label,
    localize,
    mention_wait,
    murmur,
    note,
    say,
)
from turnleaf.faces.cli.program import report_errors
from turnleaf.faces.cli.search import search
from turnleaf.faces.cli.sessions import (
    describe_keeping,
    list_conversations,
    report_news,
    take_up,
    talk,
)
from turnleaf.llm.embeddings import describe_search
from turnleaf.store.index_upkeep import IndexUpkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyPressEvent

    from turnleaf.assistant import Assistant
    from turnleaf.turn import Reply

COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)
TAKES_ID = ("/forget ", "/why ")
ASK_WHICH = ""
"""The value of --resume without WHICH."""
MOST_LISTED = 10
CONVERSATIONS_TO_RECALL = 10
MOST_OF_LAST_EXCHANGE = 50
MOST_RECALLED = 50
"""How many messages of each earlier conversation the arrow keys bring back."""


@click.command()
@click.option("--continue", "continued", is_flag=True, help="Continue the latest conversation.")
@click.option(
    "--resume",
    metavar="[WHICH]",
    is_flag=False,
    flag_value=ASK_WHICH,
    type=TEXT,
    help="Continue this conversation; without WHICH, choose from a list.",
)
@click.option(
    "--no-memory",
    is_flag=True,
    help="Start a private chat: nothing is stored, learned or looked up.",
)
@pass_workspace
@click.pass_context
def chat(
    ctx: click.Context,
    workspace: Workspace,
    resume: str | None,
    *,
    continued: bool,
    no_memory: bool,
) -> None:
    """Chat with the assistant.

    Enter sends, Alt-Enter starts a new line, Ctrl-C stops an answer, Ctrl-D quits; /help lists
    the commands. If input is piped in, each line is a message. WHICH is a number in turnleaf
    history, a key, or the beginning of a title.
    """
    if (resume is not None or continued) and no_memory:
        message = "--no-memory starts a new private chat; leave out --continue and --resume"
        raise InvalidInput(message)
    kept = "" if no_memory else describe_keeping(workspace)
    with talk(workspace, flush=True) as assistant:
        key = _choose_key(assistant, resume, continued=continued)
        one = Chat(assistant, ctx, key, is_private=no_memory)
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        is_well = _take_typed(one, kept) if is_terminal else _take_piped(one, kept)
    report_news(assistant, undo="turnleaf undo")
    ctx.exit(0 if is_well else 1)


def _choose_key(assistant: Assistant, resume: str | None, *, continued: bool) -> str:
    if resume is not None:
        return take_up(assistant, resume or _ask_which(assistant))
    known = list_conversations(assistant) if continued else []
    if known:
        return known[0].key
    if continued:
        note("There is no conversation to continue; this is a new one.")
    return cli_key(datetime.now(UTC))


def _ask_which(assistant: Assistant) -> str:
    """Return the conversation that is chosen from the latest ones."""
    known = assistant.conversations.summaries(limit=MOST_LISTED)
    if not known:
        message = "there is no conversation to continue; start one with turnleaf chat"
        raise NotFound(message)
    if not is_attended():
        message = "choose a conversation; --resume 1 continues the newest one in turnleaf history"
        raise InvalidInput(message)
    for number, one in enumerate(known, 1):
        note(describe_conversation(number, one))
    return ask("Which one? A number or the beginning of a title [1]:") or "1"


def _take_piped(one: Chat, kept: str) -> bool:
    is_well = True
    if kept and sys.stderr.isatty():
        note(kept)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = decode(line, f"line {number}")
        except InvalidInput as error:
            complain(str(error))
            is_well = False
            continue
        if text.strip():
            is_well &= one.take(text)
        report_news(one.assistant, undo="/undo")
        if one.is_over:
            break
    return is_well


def _take_typed(one: Chat, kept: str) -> bool:
    _greet(one)
    if kept:
        note(kept)
    _show_last_exchange(one)
    stores = one.assistant.stores
    with IndexUpkeep(stores.passages, stores.announcements):
        for text in _read_lines(one):
            try:
                one.take(text)
            except KeyboardInterrupt:
                murmur("stopped")
            if one.is_over:
                break
    return True


def _greet(one: Chat) -> None:
    """Greet, name the model, and explain how to get on; a path is no greeting."""
    model = one.assistant.model.name
    if model == "recall":
        murmur(
            "Hello! Tell me something, and ask about it later. Without a model, I answer by "
            "quoting you."
        )
    else:
        murmur(f"Hello! Tell me something, or ask a question. {model} answers, and I remember.")
    murmur("/help lists the commands, Ctrl-D quits.")


def _show_last_exchange(one: Chat) -> None:
    """Show the last exchange of a conversation that is continued."""
    latest = one.assistant.conversations.messages(one.key, limit=MOST_OF_LAST_EXCHANGE)
    history = [stored.message for stored in latest]
    asked = [place for place, message in enumerate(history) if message.role == "user"]
    console = Console(highlight=False)
    for message in history[asked[-1] :] if asked else ():
        if message.role == "user":
            murmur(f"> {message.text}")
        elif message.role == "assistant" and message.text:
            console.print(Shown(escape(message.text)))


def _read_lines(one: Chat) -> Iterator[str]:
    """Yield what is typed, until the end of the input or the second Ctrl-C in a row."""
    session: PromptSession[str] = PromptSession(
        history=_Recall(one),
        completer=_Names(one),
        key_bindings=_bind_keys(),
        multiline=True,
        prompt_continuation="… ",
        reserve_space_for_menu=6,
    )
    was_interrupted = False
    while True:
        report_news(one.assistant, undo="/undo")
        try:
            with patch_stdout():
                text = session.prompt(localize("private> ") if one.is_private else "> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            if was_interrupted:
                return
            murmur("Press Ctrl-C again or Ctrl-D to quit.")
            was_interrupted = True
            continue
        was_interrupted = False
        if text.strip():
            yield text


def _bind_keys() -> KeyBindings:
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


class _Recall(InMemoryHistory):
    """Messages of earlier conversations, for the arrow keys; they are stored only there."""

    def __init__(self, one: Chat) -> None:
        self._chat = one
        store = one.assistant.conversations
        recent = list_conversations(one.assistant)[:CONVERSATIONS_TO_RECALL]
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
    """Completes /commands and the IDs of facts."""

    def __init__(self, one: Chat) -> None:
        self._chat = one

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's signature
    ) -> Iterable[Completion]:
        """Yield the completions of what was typed."""
        text = begun = document.text_before_cursor
        known: dict[str, str] = {}
        if text.startswith(TAKES_ID):
            begun = text.partition(" ")[2]
            with suppress(TurnleafError):  # The command itself reports what is wrong.
                known = self._chat.list_memories()
        elif text.startswith("/"):
            known = {f"/{name}": localize(command.summary) for name, command in COMMANDS.items()}
        for name, meaning in known.items():
            if name.startswith(begun):
                yield Completion(name, -len(begun), display_meta=flatten(meaning))


@dataclass(slots=True)
class Chat:
    """The conversation at hand, and its last answer."""

    assistant: Assistant
    context: click.Context
    key: str
    is_private: bool
    is_over: bool = False
    last: Reply | None = None

    def take(self, text: str) -> bool:
        """Answer a message or run a /command; return False after an error, which is reported."""
        command = COMMAND.fullmatch(text.rstrip())
        if command:
            argument = (command[2] or "").strip()
            return report_errors(lambda: self._carry_out(command[1], argument)) == 0
        return report_errors(lambda: self._answer(text.strip())) == 0

    def _answer(self, text: str) -> None:
        self.last = None
        # Whoever sits at the terminal goes on with this conversation, however long they were away.
        stream = self.assistant.stream(self.key, text, private=self.is_private, resume=True)
        self.last = show_answer(stream)

    def _carry_out(self, name: str, argument: str) -> None:
        command = COMMANDS.get(name.lower())
        if command is None:
            near = difflib.get_close_matches(name.lower(), COMMANDS, 1)
            hint = f"did you mean /{near[0]}?" if near else "/help lists the commands"
            message = f"there is no command /{name}; {hint}"
            raise NotFound(message)
        is_missing = command.argument and not command.argument.startswith("[")
        # A dash alone would stand for what is piped in.
        if argument == "-" or (is_missing and not argument):
            message = f"the command is incomplete; type /{name} {command.argument}"
            raise InvalidInput(message)
        command.run(self, argument)

    def list_memories(self) -> dict[str, str]:
        """Return the facts by ID."""
        return {memory.id: memory.content for memory in self.assistant.memory.get_all()}

    def go_on_with(self, key: str | None = None) -> None:
        """Switch to another conversation, or start a new one."""
        self.key = key or cli_key(datetime.now(UTC))
        self.last = None

    def learn(self) -> None:
        """Learn from this conversation before it is left."""
        with mention_wait("learning …"):
            self.assistant.flush(self.key)


class Command(NamedTuple):
    """A /command: its argument, its help and its function."""

    argument: str
    summary: str
    run: Callable[[Chat, str], None]


def _explain(chat: Chat, memory_id: str) -> None:
    if memory_id:
        chat.context.invoke(why, memory_id=memory_id)
    elif chat.last is None:
        note("There is no answer to explain yet.")
    else:
        show_explanation(chat.last, chat.list_memories())


def _undo(chat: Chat, _: str) -> None:
    """Undo the last change, which may be what the last message said and is just being learned."""
    with mention_wait("learning …"):
        chat.assistant.wait()
    chat.context.invoke(undo)


def _toggle_private(chat: Chat, _: str) -> None:
    if chat.is_private:
        chat.assistant.end_private(chat.key)
        note("Private mode is off. The private messages were discarded.")
    else:
        note("Private mode is on: nothing is stored, learned or looked up. /private ends it.")
    chat.is_private = not chat.is_private


def _start_new(chat: Chat, _: str) -> None:
    if chat.is_private:
        chat.assistant.end_private(chat.key)
    chat.learn()
    chat.go_on_with()
    note("This is a new conversation.")


def _show_history(chat: Chat, _: str) -> None:
    known = chat.assistant.conversations.summaries(limit=MOST_LISTED)
    for number, one in enumerate(known, 1):
        mark = "*" if one.key == chat.key else " "
        say(f"{mark}{describe_conversation(number, one)}")
    if not known:
        note("There are no conversations yet.")


def _resume(chat: Chat, wanted: str) -> None:
    if chat.is_private:
        message = "this chat is private; end private mode first with /private"
        raise InvalidInput(message)
    found = find_conversation(wanted, chat.assistant.conversations.summaries())
    chat.learn()
    chat.go_on_with(found.key)
    note(f"Continuing: {flatten(found.title)}")


def _rename(chat: Chat, title: str) -> None:
    store = chat.assistant.conversations
    summary = None if chat.is_private else store.summary(chat.key)
    if summary is None:
        message = "this conversation has no messages yet, so it has no title; send one first"
        raise InvalidInput(message)
    if title:
        store.rename(chat.key, title)
        summary = store.summary(chat.key) or summary
    say(flatten(summary.title))


def _clear(chat: Chat, sure: str) -> None:
    instead = "an erased conversation cannot be restored; confirm with /clear yes"
    if sure.casefold() != "yes" and not ask_yes("Permanently erase this conversation?", instead):
        return
    chat.assistant.end_private(chat.key)
    chat.assistant.learning.erase(key=chat.key)
    if chat.assistant.conversations.summary(chat.key):
        chat.context.invoke(forget, conversation=chat.key, yes=True)
    chat.go_on_with()


def _show_status(chat: Chat, _: str) -> None:
    assistant, settings = chat.assistant, chat.assistant.settings
    spent = sum(assistant.learning.count_calls(datetime.now().astimezone().date()).values())
    waiting = sum(assistant.learning.backlog().values())
    status = {
        "conversation": f"{chat.key}{localize(' (private)') if chat.is_private else ''}",
        "model": assistant.model.name,
        "memory": localize("on" if settings.enabled and not chat.is_private else "off"),
        "remembered": localize(pluralize(len(assistant.memory.get_all()), "fact")),
        "to review": localize(pluralize(len(assistant.pending.get_all()), "fact")),
        "to learn from": localize(pluralize(waiting, "message")),
        "calls today": localize(f"{spent} of {settings.extract_daily_calls} for learning"),
        "search": localize(describe_search(settings)),
        "data folder": assistant.stores.location,
    }
    for name, value in status.items():
        say(f"{label(name, 14)}{flatten(value)}")


def _show_help(_chat: Chat, _: str) -> None:
    for name, command in COMMANDS.items():
        usage = f"/{name} {localize(command.argument)}"
        say(f"{label(usage, 20)}{localize(command.summary)}")


def _quit(chat: Chat, _: str) -> None:
    chat.is_over = True


COMMANDS = {
    "memory": Command(
        "", "List the facts in memory.", lambda chat, _: chat.context.invoke(memories)
    ),
    "forget": Command(
        "TEXT",
        "Forget a fact, by ID or text.",
        lambda chat, text: chat.context.invoke(forget, words=(text,)),
    ),
    "search": Command(
        "QUERY",
        "Search facts, daily notes and conversations.",
        lambda chat, query: chat.context.invoke(search, words=(query,)),
    ),
    "why": Command("[ID]", "Explain the last answer, or show the history of a fact.", _explain),
    "undo": Command("", "Undo the last change to the memory.", _undo),
    "private": Command("", "Turn private mode on or off.", _toggle_private),
    "new": Command("", "Learn from this conversation and start another.", _start_new),
    "history": Command("", "List the latest conversations.", _show_history),
    "resume": Command("WHICH", "Continue another conversation, by number, key or title.", _resume),
    "title": Command("[TITLE]", "Show or change the title of this conversation.", _rename),
    "clear": Command("[yes]", "Permanently erase this conversation.", _clear),
    "status": Command("", "Show the model, the memory and pending work.", _show_status),
    "help": Command("", "Show this help.", _show_help),
    "quit": Command("", "Quit (same as Ctrl-D).", _quit),
}
