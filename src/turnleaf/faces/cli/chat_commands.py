"""One chat: what becomes of a line that was typed, be it a message or a /command."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import click

from turnleaf import search as searching
from turnleaf.core.keys import cli_key
from turnleaf.core.wording import counted
from turnleaf.errors import InvalidInput, NotFound, TurnleafError
from turnleaf.faces.cli.answers import show_answer
from turnleaf.faces.cli.arguments import ask, on_terminal
from turnleaf.faces.cli.conversation_choice import describe, find_conversation
from turnleaf.faces.cli.forget import forget
from turnleaf.faces.cli.memories import memories
from turnleaf.faces.cli.output import complain, note, one_line, say
from turnleaf.faces.cli.provenance import undo, why
from turnleaf.faces.cli.search import search
from turnleaf.faces.cli.talking import patience

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnleaf.assistant import Assistant, Explanation, Reply
    from turnleaf.core.hits import Hit

MOST_LISTED = 10
COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)


class Command(NamedTuple):
    """A /command: what it does, in words and in fact."""

    argument: str
    summary: str
    run: Callable[[Chat, str], None]


class Chat:
    """A conversation that goes on, and the answer that came last."""

    def __init__(
        self, assistant: Assistant, context: click.Context, key: str, *, is_private: bool
    ) -> None:
        self.assistant = assistant
        self.key = key
        self.is_private = is_private
        self.is_over = False
        self._context = context
        self._last: Reply | None = None

    def take(self, text: str) -> bool:
        """Answer a message or carry out a /command; False when that went wrong, having said so."""
        try:
            given = COMMAND.fullmatch(text.rstrip())
            if given:
                self._carry_out(given[1], (given[2] or "").strip())
            else:
                self._answer(text.strip())
        except click.exceptions.Exit as done:
            return done.exit_code == 0
        except (TurnleafError, click.ClickException) as error:
            complain(str(error))
            return False
        except OSError as error:
            if error.filename is None:  # Then it is the output that cannot be written.
                raise
            complain(f"{error.filename}: {error.strerror}")
            return False
        return True

    def memory_ids(self) -> dict[str, str]:
        """Give what is remembered by its id."""
        return {memory.id: memory.content for memory in self.assistant.memory.get_all()}

    def _answer(self, text: str) -> None:
        self._last = None
        # Whoever sits at the terminal goes on with this conversation, however long they were away.
        stream = self.assistant.stream(self.key, text, private=self.is_private, resume=True)
        self._last = show_answer(stream)

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

    def show_memory(self, _: str) -> None:
        """List what is remembered."""
        self._context.invoke(memories)

    def forget(self, text: str) -> None:
        """Forget a memory."""
        self._context.invoke(forget, words=(text,))

    def search(self, query: str) -> None:
        """Find something."""
        self._context.invoke(search, words=(query,))

    def explain(self, memory_id: str) -> None:
        """Tell what went into the last answer, or where a memory came from."""
        if memory_id:
            self._context.invoke(why, memory_id=memory_id)
        elif self._last is None:
            note("There is no answer yet to explain.")
        else:
            _explain(self._last.explanation, self.memory_ids())

    def undo(self, _: str) -> None:
        """Take back the last change."""
        self._context.invoke(undo)

    def toggle_private(self, _: str) -> None:
        """Begin or end a part that is not kept."""
        if self.is_private:
            self.assistant.end_private(self.key)
            note("No longer private. What was said meanwhile is gone.")
        else:
            note("Private: from here on nothing is kept, learnt or looked up. /private ends it.")
        self.is_private = not self.is_private

    def begin_anew(self, _: str) -> None:
        """Learn from this conversation, and begin another."""
        if self.is_private:
            self.assistant.end_private(self.key)
        with patience("learning …"):
            self.assistant.flush(self.key)
        self._leave()
        note("This is a new conversation.")

    def show_history(self, _: str) -> None:
        """List the latest conversations."""
        known = self.assistant.conversations.summaries(limit=MOST_LISTED)
        for number, one in enumerate(known, 1):
            mark = "*" if one.key == self.key else " "
            say(f"{mark}{describe(number, one)}")
        if not known:
            note("There are no conversations yet.")

    def resume(self, wanted: str) -> None:
        """Take up another conversation."""
        if self.is_private:
            message = "this part is private; end it first with /private"
            raise InvalidInput(message)
        known = self.assistant.conversations.summaries()
        found = find_conversation(wanted, known)
        with patience("learning …"):
            self.assistant.flush(self.key)
        self._leave(found.key)
        note(f"Going on with: {one_line(found.title)}")

    def rename(self, title: str) -> None:
        """Show the title of this conversation, or give it another one."""
        store = self.assistant.conversations
        summary = None if self.is_private else store.summary(self.key)
        if summary is None:
            message = "nothing is kept of this conversation yet, so it has no title"
            raise InvalidInput(message)
        if title:
            store.rename(self.key, title)
            summary = store.summary(self.key) or summary
        say(one_line(summary.title))

    def clear(self, sure: str) -> None:
        """Erase this conversation."""
        if sure.casefold() != "yes" and not self._is_sure():
            note("Nothing was changed.")
            return
        self.assistant.end_private(self.key)
        self.assistant.learning.erase(key=self.key)
        if self.assistant.conversations.summary(self.key):
            self._context.invoke(forget, conversation=self.key, yes=True)
        self._leave()

    def _is_sure(self) -> bool:
        if not on_terminal():
            message = "nothing brings an erased conversation back; /clear yes erases it"
            raise InvalidInput(message)
        return ask("Erase this conversation for good? [y/N]").casefold() in {"y", "yes"}

    def _leave(self, key: str | None = None) -> None:
        """Go on with another conversation, or begin a new one."""
        self.key = key or cli_key(datetime.now(UTC))
        self._last = None

    def show_status(self, _: str) -> None:
        """Tell how things stand."""
        for name, value in self._status().items():
            say(f"{name:<14}{one_line(value)}")

    def _status(self) -> dict[str, str]:
        assistant, settings = self.assistant, self.assistant.settings
        spent = sum(assistant.learning.spent(datetime.now().astimezone().date()).values())
        waiting = sum(assistant.learning.backlog().values())
        return {
            "conversation": f"{self.key}{' (private)' if self.is_private else ''}",
            "model": assistant.model.name,
            "memory": "on" if settings.enabled and not self.is_private else "off",
            "remembered": counted(len(assistant.memory.get_all()), "fact"),
            "to review": counted(len(assistant.pending.get_all()), "fact"),
            "to learn from": counted(waiting, "message"),
            "calls today": f"{spent} of {settings.extract_daily_calls} for learning",
            "search": searching.describe(settings),
            "data folder": str(assistant.folder.path),
        }

    def show_help(self, _: str) -> None:
        """List the commands."""
        for name, command in COMMANDS.items():
            say(f"{f'/{name} {command.argument}':<16}{command.summary}")

    def quit(self, _: str) -> None:
        """Leave."""
        self.is_over = True


COMMANDS = {
    "memory": Command("", "List what is remembered.", Chat.show_memory),
    "forget": Command("TEXT", "Forget a memory, by its id or its text.", Chat.forget),
    "search": Command(
        "QUERY", "Find what fits best in memories, logs and conversations.", Chat.search
    ),
    "why": Command(
        "[ID]", "Show what went into the last answer; of a memory, its past.", Chat.explain
    ),
    "undo": Command("", "Take back the last change of the memories.", Chat.undo),
    "private": Command(
        "", "Keep, learn and use nothing from here on; again ends it.", Chat.toggle_private
    ),
    "new": Command("", "Learn from this conversation, and begin another.", Chat.begin_anew),
    "history": Command("", "List the latest conversations.", Chat.show_history),
    "resume": Command(
        "WHICH", "Take up another one, by its number, its key or its title.", Chat.resume
    ),
    "title": Command("[TITLE]", "Show or change the title of this conversation.", Chat.rename),
    "clear": Command("[yes]", "Erase this conversation for good, after asking.", Chat.clear),
    "status": Command("", "Show the model, the memory and what is going on.", Chat.show_status),
    "help": Command("", "Show this.", Chat.show_help),
    "quit": Command("", "Leave; so does Ctrl-D.", Chat.quit),
}


def _explain(told: Explanation, known: dict[str, str]) -> None:
    say("The last answer rests on:")
    for section in told.sections:
        say(f"  {section.tokens:>7,} tokens  {one_line(section.name)}")
    if told.memories:
        say("Memories in the prompt:")
        for memory_id in told.memories:
            say(f"  {one_line(memory_id)}  {one_line(known.get(memory_id, 'forgotten since'))}")
    if told.hits:
        say("Found for the question:")
        for hit in told.hits:
            say(f"  {_found(hit)}")
    for what in told.left_out:
        say(f"Left out: {one_line(what)}")


def _found(hit: Hit) -> str:
    place = hit.conversation or hit.id or f"{hit.path.name}:{hit.line}"
    if hit.message is not None:
        place = f"{hit.speaker or ''} in {place}, message {hit.message}"
    origin = " ".join(filter(None, (hit.source, hit.date, place)))
    score = f"{hit.score:.3f}" if hit.is_judged else f"{'':5}"
    return f"{score}  {one_line(hit.text)}  ({one_line(origin)})"
