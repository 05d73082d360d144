"""`chat`: what is typed or piped in, and what becomes of a line, be it a message or a /command."""

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

from turnleaf import search as searching
from turnleaf.core.keys import cli_key
from turnleaf.core.plurals import pluralize
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
from turnleaf.faces.cli.forgetting import forget
from turnleaf.faces.cli.history import describe_conversation, find_conversation
from turnleaf.faces.cli.memories import memories, show_explanation, undo, why
from turnleaf.faces.cli.output import complain, escape, flatten, note, say
from turnleaf.faces.cli.program import report_errors
from turnleaf.faces.cli.search import search
from turnleaf.faces.cli.talking import (
    list_conversations,
    mention_keeping,
    take_up,
    talk,
    tell_news,
)
from turnleaf.faces.cli.terminal import mention_wait, murmur
from turnleaf.store.index_upkeep import IndexUpkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyPressEvent

    from turnleaf.assistant import Assistant, Reply

COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)
TAKES_ID = ("/forget ", "/why ")
ASK_WHICH = ""
"""What --resume has where nobody said which conversation."""
MOST_LISTED = 10
CONVERSATIONS_TO_RECALL = 10
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
    """Talk with the assistant.

    Enter sends, Alt-Enter begins a new line, Ctrl-C stops an answer, Ctrl-D leaves; /help
    shows the commands. With a pipe instead of a terminal, each line is a message. WHICH is a
    number of turnleaf history, a key, or how a title begins.
    """
    if (resume is not None or continued) and no_memory:
        message = "--no-memory begins a conversation that is not kept; leave out the other option"
        raise InvalidInput(message)
    if not no_memory:
        mention_keeping(workspace)
    with talk(workspace, flush=True) as assistant:
        key = _choose_key(assistant, resume, continued=continued)
        one = Chat(assistant, ctx, key, is_private=no_memory)
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        is_well = _take_typed(one) if is_terminal else _take_piped(one)
    tell_news(assistant, undo="turnleaf undo")
    ctx.exit(0 if is_well else 1)


def _choose_key(assistant: Assistant, resume: str | None, *, continued: bool) -> str:
    if resume is not None:
        return take_up(assistant, resume or _ask_which(assistant))
    known = list_conversations(assistant) if continued else []
    if known:
        return known[0].key
    if continued:
        note("There is no conversation to go on with; this is a new one.")
    return cli_key(datetime.now(UTC))


def _ask_which(assistant: Assistant) -> str:
    """Offer the latest conversations, and return which one was chosen."""
    known = assistant.conversations.summaries(limit=MOST_LISTED)
    if not known:
        message = "there is no conversation to take up; turnleaf chat begins one"
        raise NotFound(message)
    if not is_attended():
        message = "say which conversation: --resume 1 takes up the newest of turnleaf history"
        raise InvalidInput(message)
    for number, one in enumerate(known, 1):
        note(describe_conversation(number, one))
    return ask("Which one? A number, or how a title begins (1):") or "1"


def _take_piped(one: Chat) -> bool:
    is_well = True
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = decode(line, f"line {number}")
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


def _take_typed(one: Chat) -> bool:
    murmur(f"turnleaf with {one.assistant.model.name}. /help shows the commands, Ctrl-D leaves.")
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


def _show_last_exchange(one: Chat) -> None:
    """Show the last exchange of a conversation that goes on."""
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
    """Yield what is typed, up to the end or to the second Ctrl-C in a row."""
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
    """What was said in earlier conversations. It is kept there and nowhere else."""

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
    """Completes /commands and the ids of memories."""

    def __init__(self, one: Chat) -> None:
        self._chat = one

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's signature
    ) -> Iterable[Completion]:
        """Yield what may follow."""
        text = begun = document.text_before_cursor
        known: dict[str, str] = {}
        if text.startswith(TAKES_ID):
            begun = text.partition(" ")[2]
            with suppress(TurnleafError):  # What is wrong with it is said when it is asked for.
                known = self._chat.list_memories()
        elif text.startswith("/"):
            known = {f"/{name}": command.summary for name, command in COMMANDS.items()}
        for name, meaning in known.items():
            if name.startswith(begun):
                yield Completion(name, -len(begun), display_meta=flatten(meaning))


@dataclass(slots=True)
class Chat:
    """A conversation that goes on, and the answer that came last."""

    assistant: Assistant
    context: click.Context
    key: str
    is_private: bool
    is_over: bool = False
    last: Reply | None = None

    def take(self, text: str) -> bool:
        """Answer a message or carry out a /command; False when that went wrong, having said so."""
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
            hint = f"did you mean /{near[0]}?" if near else "/help shows what there is"
            message = f"there is no command /{name}; {hint}"
            raise NotFound(message)
        is_missing = command.argument and not command.argument.startswith("[")
        # A dash alone would stand for what is piped in.
        if argument == "-" or (is_missing and not argument):
            message = f"say what: /{name} {command.argument}"
            raise InvalidInput(message)
        command.run(self, argument)

    def list_memories(self) -> dict[str, str]:
        """Return what is remembered by its id."""
        return {memory.id: memory.content for memory in self.assistant.memory.get_all()}

    def go_on_with(self, key: str | None = None) -> None:
        """Go on with another conversation, or begin a new one."""
        self.key = key or cli_key(datetime.now(UTC))
        self.last = None

    def learn(self) -> None:
        """Learn from this conversation, which is left."""
        with mention_wait("learning …"):
            self.assistant.flush(self.key)


class Command(NamedTuple):
    """A /command: what it does, in words and in fact."""

    argument: str
    summary: str
    run: Callable[[Chat, str], None]


def _explain(chat: Chat, memory_id: str) -> None:
    if memory_id:
        chat.context.invoke(why, memory_id=memory_id)
    elif chat.last is None:
        note("There is no answer yet to explain.")
    else:
        show_explanation(chat.last.explanation, chat.list_memories())


def _toggle_private(chat: Chat, _: str) -> None:
    if chat.is_private:
        chat.assistant.end_private(chat.key)
        note("No longer private. What was said meanwhile is gone.")
    else:
        note("Private: from here on nothing is kept, learned or looked up. /private ends it.")
    chat.is_private = not chat.is_private


def _begin_anew(chat: Chat, _: str) -> None:
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
        message = "this part is private; end it first with /private"
        raise InvalidInput(message)
    found = find_conversation(wanted, chat.assistant.conversations.summaries())
    chat.learn()
    chat.go_on_with(found.key)
    note(f"Going on with: {flatten(found.title)}")


def _rename(chat: Chat, title: str) -> None:
    store = chat.assistant.conversations
    summary = None if chat.is_private else store.summary(chat.key)
    if summary is None:
        message = "nothing is kept of this conversation yet, so it has no title"
        raise InvalidInput(message)
    if title:
        store.rename(chat.key, title)
        summary = store.summary(chat.key) or summary
    say(flatten(summary.title))


def _clear(chat: Chat, sure: str) -> None:
    instead = "nothing brings an erased conversation back; /clear yes erases it"
    if sure.casefold() != "yes" and not ask_yes("Erase this conversation for good?", instead):
        return
    chat.assistant.end_private(chat.key)
    chat.assistant.learning.erase(key=chat.key)
    if chat.assistant.conversations.summary(chat.key):
        chat.context.invoke(forget, conversation=chat.key, yes=True)
    chat.go_on_with()


def _show_status(chat: Chat, _: str) -> None:
    assistant, settings = chat.assistant, chat.assistant.settings
    spent = sum(assistant.learning.spent(datetime.now().astimezone().date()).values())
    waiting = sum(assistant.learning.backlog().values())
    status = {
        "conversation": f"{chat.key}{' (private)' if chat.is_private else ''}",
        "model": assistant.model.name,
        "memory": "on" if settings.enabled and not chat.is_private else "off",
        "remembered": pluralize(len(assistant.memory.get_all()), "fact"),
        "to review": pluralize(len(assistant.pending.get_all()), "fact"),
        "to learn from": pluralize(waiting, "message"),
        "calls today": f"{spent} of {settings.extract_daily_calls} for learning",
        "search": searching.describe(settings),
        "data folder": str(assistant.folder.path),
    }
    for name, value in status.items():
        say(f"{name:<14}{flatten(value)}")


def _show_help(_chat: Chat, _: str) -> None:
    for name, command in COMMANDS.items():
        say(f"{f'/{name} {command.argument}':<16}{command.summary}")


def _quit(chat: Chat, _: str) -> None:
    chat.is_over = True


COMMANDS = {
    "memory": Command(
        "", "List what is remembered.", lambda chat, _: chat.context.invoke(memories)
    ),
    "forget": Command(
        "TEXT",
        "Forget a memory, by its id or its text.",
        lambda chat, text: chat.context.invoke(forget, words=(text,)),
    ),
    "search": Command(
        "QUERY",
        "Find what fits best in memories, logs and conversations.",
        lambda chat, query: chat.context.invoke(search, words=(query,)),
    ),
    "why": Command("[ID]", "Show what went into the last answer; of a memory, its past.", _explain),
    "undo": Command(
        "",
        "Take back the last change of the memories.",
        lambda chat, _: chat.context.invoke(undo),
    ),
    "private": Command(
        "", "Keep, learn and use nothing from here on; again ends it.", _toggle_private
    ),
    "new": Command("", "Learn from this conversation, and begin another.", _begin_anew),
    "history": Command("", "List the latest conversations.", _show_history),
    "resume": Command(
        "WHICH", "Take up another one, by its number, its key or its title.", _resume
    ),
    "title": Command("[TITLE]", "Show or change the title of this conversation.", _rename),
    "clear": Command("[yes]", "Erase this conversation for good, after asking.", _clear),
    "status": Command("", "Show the model, the memory and what is going on.", _show_status),
    "help": Command("", "Show this.", _show_help),
    "quit": Command("", "Leave; so does Ctrl-D.", _quit),
}
