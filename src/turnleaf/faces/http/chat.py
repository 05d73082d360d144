"""Talking with the assistant: one message, and its answer as it comes."""

from __future__ import annotations

import json
import secrets
from contextlib import closing
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import Field

from turnleaf.assistant import Composed, Done
from turnleaf.core.dialogue import Silence, Text, ToolCall, ToolResult
from turnleaf.core.times import to_millisecond
from turnleaf.errors import NotFound
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.prompts import Said, described, shaped_by
from turnleaf.faces.http.shapes import LARGEST_ID, Fact
from turnleaf.faces.http.streams import (
    NOTHING,
    EventStream,
    UnderWay,
    event,
    talking,
    until_it_fails,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime

    from pydantic import BaseModel

    from turnleaf.assistant import Assistant, Reply
    from turnleaf.core.changes import Change
    from turnleaf.core.dialogue import Event, Usage

router = APIRouter(tags=["talking"], lifespan=talking, dependencies=[JSON_ONLY])

IN_A_TURN = ("request", "tool")
"""The origins of what a turn saves, removes or changes by itself."""
ACTIONS = {"add": "added", "revive": "added", "update": "changed", "delete": "removed"}
EVENTS = (
    "Events: `start`, `memories` (what shaped the prompt), `prompt` (with `explain`), `text`,"
    " `tool`, `toolResult`, `usage`, `learnt` (what was saved or removed), `done` or `error`."
    " Without a `key` a new conversation begins; `start` names it."
)


class Asked(Said):
    """A message; with `explain` the whole prompt is told as well.

    With `again` the answer takes the place of the last one, if that was to the same message.
    `after` is the message that this one follows, 0 for a new beginning: what followed it so far
    is kept as another version. With `resume` an old conversation is taken up again.
    """

    explain: bool = False
    again: bool = False
    after: int | None = Field(default=None, ge=0, le=LARGEST_ID, examples=[17])
    resume: bool = False


@router.post(
    "/api/chat",
    operation_id="chat",
    summary="Say something and get the answer as it comes",
    description=EVENTS,
    response_class=EventStream,
    status_code=200,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.BAD_GATEWAY),
)
async def chat(asked: Asked, assistant: Given, turns: UnderWay) -> EventStream:
    """Answer a message; whoever goes away stops the model."""
    key = f"web:{secrets.token_hex(8)}" if asked.key is None else asked.key

    def told() -> Generator[bytes]:
        pieces = _answered(assistant, key, asked)
        return until_it_fails(assistant, pieces, partial(event, "error"))

    return await turns.stream(told)


def _answered(assistant: Assistant, key: str, asked: Asked) -> Generator[bytes]:
    """Return the events of a turn; what keeps it from beginning is raised before the first."""
    _check_after(assistant, key, asked)
    started = to_millisecond(assistant.now())
    model = assistant.model.name
    stream = assistant.stream(
        key,
        asked.message,
        private=asked.private,
        documents=asked.attached,
        again=asked.again,
        after=asked.after,
        resume=asked.resume,
    )
    has_tools = False
    with closing(stream):
        for one in stream:
            if isinstance(one, Composed):
                yield from _begun(assistant, key, model, one, explain=asked.explain)
            elif isinstance(one, Done):
                saved = one.reply.saved or one.reply.removed or has_tools
                yield from _learnt(assistant, key, started) if saved else ()
                yield event("done", _done(key, one.reply))
            else:
                has_tools |= isinstance(one, ToolResult)
                yield _heard(one)


def _check_after(assistant: Assistant, key: str, asked: Asked) -> None:
    """Refuse a message that is none of this conversation, before the model is asked."""
    if not asked.after or asked.private:
        return
    found = assistant.conversations.find_message(asked.after)
    if found is None or found[0] != key:
        message = f"message {asked.after} is none of this conversation; leave out `after`"
        raise NotFound(message)


def _begun(
    assistant: Assistant, key: str, model: str, composed: Composed, *, explain: bool
) -> Iterator[bytes]:
    shaped = event("memories", _json(shaped_by(composed, assistant)))
    yield event("start", {"key": key, "model": model})
    yield shaped
    if explain:
        yield event("prompt", _json(described(composed, assistant)))


def _done(key: str, reply: Reply) -> dict[str, Any]:
    return {
        "key": key,
        "text": reply.text,
        "question": reply.question_id,
        "answer": reply.answer_id,
    }


def _heard(one: Event) -> bytes:
    if isinstance(one, Silence):
        return NOTHING
    if isinstance(one, Text):
        return event("text", {"text": one.text})
    if isinstance(one, ToolCall):
        arguments = _readable(json.dumps(dict(one.arguments)))
        return event("tool", {"id": one.id, "name": one.name, "arguments": arguments})
    if isinstance(one, ToolResult):
        return event(
            "toolResult", {"id": one.id, "name": one.name, "result": _readable(one.result)}
        )
    return event("usage", _used(one))


def _used(usage: Usage) -> dict[str, int | None]:
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "contextWindow": usage.context_window,
    }


def _readable(text: str) -> dict[str, Any]:
    """Read JSON as strict readers do; what another host's tool gave may be no object at all."""
    try:
        result = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        result = None
    return result if isinstance(result, dict) else {"text": text}


def _learnt(assistant: Assistant, key: str, started: datetime) -> Iterator[bytes]:
    """Tell what was changed in this turn, at the user's request or by a tool."""
    made = [one for one in assistant.memory.changes() if _is_of(one, key, started)]
    if made:
        yield event("learnt", {"facts": [_changed(one) for one in made]})


def _is_of(change: Change, key: str, started: datetime) -> bool:
    source = change.source
    is_here = source is not None and source.conversation == key and change.time >= started
    return is_here and change.origin in IN_A_TURN and change.op in ACTIONS


def _changed(change: Change) -> dict[str, Any]:
    memory = change.after or change.before
    fact = memory and _json(Fact.of(memory))
    return {"action": ACTIONS[change.op], "fact": fact, "change": change.n}


def _json(shape: BaseModel) -> dict[str, Any]:
    return shape.model_dump(by_alias=True)
