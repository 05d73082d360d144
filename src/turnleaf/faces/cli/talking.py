"""What `chat` and `ask` share: the assistant, and what it tells beside its answers."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from turnleaf.assistant import Assistant
from turnleaf.faces.cli.conversation_choice import find_conversation
from turnleaf.faces.cli.output import minute, note, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.assistant import Learnt
    from turnleaf.faces.cli.place import Place
    from turnleaf.store.conversations import ConversationSummary

CLI = "cli:"
A_MOMENT_SECONDS = 0.7


@contextmanager
def talking(place: Place, *, flush: bool) -> Iterator[Assistant]:
    """Give the assistant; afterwards let it learn from what is due or, with `flush`, from all.

    Who is interrupted does not wait for the latter: it stays queued for the next time.
    """
    assistant = Assistant(place.folder)
    is_whole = False
    try:
        yield assistant
        is_whole = True
    finally:
        with patience("learning …"):
            assistant.close(flush=flush and is_whole)


@contextmanager
def patience(doing: str) -> Iterator[None]:
    """Say on a terminal what takes longer than a moment."""
    timer = threading.Timer(A_MOMENT_SECONDS, murmur, [doing])
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def conversations(assistant: Assistant) -> list[ConversationSummary]:
    """Return the conversations of the command line, newest first."""
    return [one for one in assistant.conversations.summaries() if one.key.startswith(CLI)]


def take_up(assistant: Assistant, wanted: str) -> str:
    """Return the key of the conversation that is meant, and say on a terminal which that is."""
    found = find_conversation(wanted, assistant.conversations.summaries())
    if sys.stderr.isatty():
        murmur(f"going on with: {one_line(found.title)} ({minute(found.updated_at)})")
    return found.key


def tell_news(assistant: Assistant, *, undo: str) -> list[Learnt]:
    """Say what was learnt and what went wrong in the background; the former to a person only."""
    learnt = assistant.learnt()
    for one in learnt if sys.stderr.isatty() else ():
        murmur(_told(one, undo))
    for problem in assistant.problems():
        note(f"warning: {one_line(problem)}")
    return learnt


def murmur(line: str) -> None:
    """Say something on the terminal, dimly."""
    sys.stdout.flush()
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text(visible(line), "dim"))


def _told(learnt: Learnt, undo: str) -> str:
    content = one_line(learnt.memory.content)
    if learnt.action == "waiting":
        return f"waiting for you: {content} (turnleaf review)"
    if learnt.action == "ended":
        return f"no longer current: {content} ({undo})"
    before = f"; before: {one_line(learnt.before.content)}" if learnt.before else ""
    return f"learnt: {content}{before} ({undo})"
