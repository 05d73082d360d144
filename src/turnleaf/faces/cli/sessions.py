"""Opening and closing the assistant around a command, and reporting what it learned meanwhile."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from turnleaf.assistant import Assistant
from turnleaf.core.diagnosis import Retention
from turnleaf.errors import TurnleafError
from turnleaf.faces.cli.history import find_conversation
from turnleaf.faces.cli.output import (
    flatten,
    format_minute,
    label,
    localize,
    mention_wait,
    murmur,
    note,
    say,
)
from turnleaf.faces.learning_worker import start_worker
from turnleaf.faces.processes import give_back_memory, watch_end
from turnleaf.llm.models import describe
from turnleaf.settings import find_terminal_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from turnleaf.core.messages import ConversationSummary
    from turnleaf.faces.cli.arguments import Workspace
    from turnleaf.learning import LearnedFact
    from turnleaf.store.contracts import Stores

CLI = "cli:"
LEARNING_SECONDS = 2.0
"""How long the end waits for what is being learned; the rest is learned another time."""


def mention_keeping(workspace: Workspace) -> None:
    """Announce on a terminal, before the first conversation, what is stored."""
    if sys.stderr.isatty() and (kept := describe_keeping(workspace)):
        note(kept)


def describe_keeping(workspace: Workspace) -> str:
    """Return what is stored of conversations, and where; nothing once there is one."""
    store = workspace.stores.conversations
    if store.exists():
        return ""
    kept = Retention(store.keeps_everything, workspace.settings.conversation_keep_days)
    return kept.announce(store.location, find_terminal_language())


def greet(title: str, assistant: Assistant, details: Mapping[str, str]) -> None:
    """Print that a program runs, on which data and with which model."""
    say(localize(title))
    model = localize(describe(assistant.settings))
    for name, value in {
        "data folder": assistant.stores.location,
        "model": model,
        **details,
    }.items():
        say(f"  {label(name, 13)}{value}")
    say(localize("Press Ctrl-C to stop."))
    sys.stdout.flush()


@contextmanager
def talk(workspace: Workspace, *, flush: bool) -> Iterator[Assistant]:
    """Yield the assistant; afterwards it learns from all that waits or, without `flush`, by rules.

    Without `flush` another process learns with the model from what is due. After an interruption
    the rest stays queued for the next time.
    """
    assistant = Assistant(workspace.stores)
    if not flush:
        assistant.hand_learning_over(partial(start_worker, workspace.stores))
    is_whole = False
    try:
        yield assistant
        is_whole = True
    finally:
        with mention_wait("learning …"):
            assistant.close(flush=flush and is_whole)


@contextmanager
def run_for_weeks(stores: Stores) -> Iterator[Assistant]:
    """Yield the assistant of a server; at the end it learns for a short time only."""
    give_back_memory()
    with watch_end():
        assistant = Assistant(stores)
        try:
            yield assistant
        finally:
            _end(assistant)


def _end(assistant: Assistant) -> None:
    end = Thread(target=_close, args=[assistant], daemon=True)
    end.start()
    end.join(LEARNING_SECONDS)
    if end.is_alive():
        # What is still held waits again, and does not count as an attempt that was cut off.
        assistant.learning.close()
        note("Learning is not finished; it continues at the next start.")


def _close(assistant: Assistant) -> None:
    try:
        assistant.close()
    except TurnleafError as error:
        note(f"warning: {error}")
    _warn(assistant)


def _warn(assistant: Assistant) -> None:
    for problem in assistant.problems():
        note(f"warning: {flatten(problem)}")


def list_conversations(assistant: Assistant) -> list[ConversationSummary]:
    """Return the conversations of the command line, newest first."""
    return [one for one in assistant.conversations.summaries() if one.key.startswith(CLI)]


def take_up(assistant: Assistant, wanted: str) -> str:
    """Return the key of the conversation to continue, and show its title on a terminal."""
    found = find_conversation(wanted, assistant.conversations.summaries())
    if sys.stderr.isatty():
        murmur(f"continuing: {flatten(found.title)} ({format_minute(found.updated_at)})")
    return found.key


def report_news(assistant: Assistant, *, undo: str) -> list[LearnedFact]:
    """Report background errors and, on a terminal, what was learned."""
    news = assistant.learnt()
    for one in news if sys.stderr.isatty() else ():
        murmur(_describe_learned(one, undo))
    _warn(assistant)
    return news


def _describe_learned(one: LearnedFact, undo: str) -> str:
    content = flatten(one.memory.content)
    if one.action == "waiting":
        return f"pending review: {content} (turnleaf review)"
    if one.action == "ended":
        return f"no longer current: {content} ({undo})"
    if one.before:
        return f"learned: {content}; before: {flatten(one.before.content)} ({undo})"
    return f"learned: {content} ({undo})"
