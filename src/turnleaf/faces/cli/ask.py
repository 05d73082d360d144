"""`ask`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.assistant import Document
from turnleaf.core.keys import cli_key
from turnleaf.core.memories import to_json
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.answers import show_answer
from turnleaf.faces.cli.arguments import TEXT, as_json, decoded, given_text, piped
from turnleaf.faces.cli.first_start import mention_keeping
from turnleaf.faces.cli.output import say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.talking import conversations, take_up, talking, tell_news

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.assistant import Assistant, Learnt, Reply
    from turnleaf.core.dialogue import Usage

GOES_ON_FOR = timedelta(hours=1)


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@click.option("--new", is_flag=True, help="Begin a new conversation.")
@click.option(
    "--resume", metavar="WHICH", type=TEXT, help="Go on with this one: a number, key or title."
)
@click.option("--no-memory", is_flag=True, help="Keep, learn and use nothing.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Attach this text; - is what is piped in.",
)
@as_json
@pass_place
def ask(
    place: Place,
    words: tuple[str, ...],
    files: tuple[str, ...],
    resume: str | None,
    *,
    new: bool,
    no_memory: bool,
    as_json: bool,
) -> None:
    """Ask the assistant something, and show its answer.

    Without TEXT, or with -, the question is what is piped in. It goes on with the latest
    conversation of the command line, unless that is more than an hour old. WHICH is a number
    of turnleaf history, a key, or how a title begins.

    \b
    turnleaf ask What is the lamp in the living room called?
    turnleaf ask --file notes.txt What did we decide?
    """  # noqa: D301 - click reads the character, not its name
    if resume is not None and (new or no_memory):
        message = "--resume goes on with a conversation; leave out --new and --no-memory"
        raise InvalidInput(message)
    documents = [_document(file) for file in files]
    text = given_text(words)
    if not text.strip():
        message = "there is no question; give some text"
        raise InvalidInput(message)
    if not no_memory:
        mention_keeping(place)
    with talking(place, flush=False) as assistant:
        key = _key(assistant, resume, is_new=new or no_memory)
        is_resumed = resume is not None
        if as_json:
            reply = assistant.reply(
                key, text, private=no_memory, documents=documents, resume=is_resumed
            )
        else:
            stream = assistant.stream(
                key, text, private=no_memory, documents=documents, resume=is_resumed
            )
            reply = show_answer(stream)
    learnt = tell_news(assistant, undo="turnleaf undo")
    if as_json:
        say_json(_record(key, reply, learnt))


def _key(assistant: Assistant, resume: str | None, *, is_new: bool) -> str:
    if resume is not None:
        return take_up(assistant, resume)
    now = datetime.now(UTC)
    if is_new:
        return cli_key(now)
    recent = [one for one in conversations(assistant) if now - one.updated_at < GOES_ON_FOR]
    return recent[0].key if recent else cli_key(now)


def _document(file: str) -> Document:
    if file == "-":
        return Document("stdin", piped())
    path = Path(file)
    return Document(path.name, decoded(path.read_bytes(), file))


def _record(key: str, reply: Reply, learnt: Sequence[Learnt]) -> dict[str, Any]:
    return {
        "text": reply.text,
        "conversation": key,
        "question": reply.question_id,
        "answer": reply.answer_id,
        "saved": [to_json(memory) for memory in reply.saved],
        "removed": [to_json(memory) for memory in reply.removed],
        "learnt": [_learnt(one) for one in learnt],
        "usage": reply.usage and _usage(reply.usage),
    }


def _learnt(one: Learnt) -> dict[str, Any]:
    return {
        "action": one.action,
        "memory": to_json(one.memory),
        "before": one.before and to_json(one.before),
        "quote": one.quote,
    }


def _usage(usage: Usage) -> dict[str, int | None]:
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "contextWindow": usage.context_window,
    }
