"""Chat: previewing a prompt, and streaming an answer."""

from __future__ import annotations

import json
import secrets
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from anyio import to_thread
from fastapi import APIRouter
from pydantic import Field

from turnleaf.assistant import DEFAULT_MODEL, Assistant
from turnleaf.core.memories import check_text
from turnleaf.core.model_dialogue import Silence, Text, ToolCall, ToolResult
from turnleaf.core.prompt.composer import Document
from turnleaf.core.search.terms import parse_query
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.http.facts import read_facts
from turnleaf.faces.http.idempotency import REPEATABLE
from turnleaf.faces.http.operator_sessions import IsOperator, refuse_unless
from turnleaf.faces.http.problems import Problem, document_problems
from turnleaf.faces.http.request_reading import JSON_ONLY, Given
from turnleaf.faces.http.schemas import LARGEST_ID, Body, FactView, HitView, JsonModel, Words
from turnleaf.faces.http.streams import (
    NOTHING,
    EventStream,
    UnderWay,
    keep_turns,
    make_event,
    report_failure,
)
from turnleaf.turn import Changed, Composed, Done

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from turnleaf.core.model_dialogue import Event
    from turnleaf.turn import Reply

router = APIRouter(tags=["talking"], lifespan=keep_turns, dependencies=[JSON_ONLY])

MAX_NAME_CHARS = 200
UNSAID = "web:new"
"""The key of a conversation that has not begun."""
ACTIONS: dict[str, Literal["added", "changed", "removed"]] = {
    "add": "added", "revive": "added", "update": "changed", "delete": "removed",
}  # fmt: skip
EVENTS = (
    "Events: `start`, `memories` (what shaped the prompt), `prompt` (with `explain`), `text`,"
    " `tool`, `toolResult`, `usage`, `learnt` (what was saved or removed), `done` or `error`;"
    " the schema `ChatEvents` describes the data of each."
    " Without a `key` a new conversation begins; `start` names it."
)


# What is sent


class Attached(Body):
    """A document attached to a message; facts learned from it are pending review."""

    name: Annotated[
        str,
        Field(
            json_schema_extra={"pattern": r"^[^\x00-\x1f\x85\u2028\u2029]*$"},
            examples=["notes.md", "筆記.md"],
        ),
        Field(min_length=1, max_length=MAX_NAME_CHARS),
    ]
    text: str

    def as_document(self) -> Document:
        """Return it as a turn expects it; refuse a name that is not one line."""
        name = check_text(self.name, "a document's name")
        if name.splitlines() != [name] or not name.strip():
            message = "a document's name must be a single line, such as notes.md; correct it"
            raise InvalidInput(message)
        return Document(name, check_text(self.text, f"the document {name}"))


class PromptRequest(Body):
    """A message of the user."""

    message: Words = Field(examples=["客廳的燈叫什麼？", "What is the living room lamp called?"])
    key: str | None = Field(default=None, examples=["web:4f1c2a9b"])
    private: bool = False
    documents: list[Attached] = Field(default=[])

    @property
    def attachments(self) -> list[Document]:
        """The documents, as a turn takes them."""
        return [one.as_document() for one in self.documents]


class ChatRequest(PromptRequest):
    """A message; with `explain` the whole prompt is sent as well.

    With `again` the answer replaces the last one, if that was to the same message. `after` is the
    message that this one follows, 0 for a new beginning: what followed it so far is kept as
    another version. With `resume` an old conversation is continued. With `keepSecrets` a password
    that is to be remembered is kept as it is; otherwise the answer asks first (`asksToKeep`), and
    the message "yes" confirms it.
    """

    explain: bool = False
    again: bool = False
    after: int | None = Field(default=None, ge=0, le=LARGEST_ID, examples=[17])
    resume: bool = False
    keep_secrets: bool = False
    model: str | None = Field(
        default=None,
        description="Which model answers from now on in this conversation; `default` is that of the"
        " settings. Who is not the operator may name models of the provider in use only.",
        examples=["ollama:qwen3:8b", "default"],
    )


# What is answered


class PromptSection(JsonModel):
    """A part of a prompt and its size."""

    name: str = Field(examples=["Long-term Memory"])
    tokens: int


class ShapedBy(JsonModel):
    """What went into a prompt, and what was left out."""

    facts: list[FactView]
    hits: list[HitView]
    left_out: list[str]
    sections: list[PromptSection]

    @classmethod
    def of(cls, composed: Composed, assistant: Assistant, **more: object) -> Self:
        """Return what went into a prompt, with the fields of a subclass."""
        explained = composed.explanation
        wanted = parse_query(composed.prompt.question).terms
        ids = set(explained.memories)
        record = {
            "facts": [one for one in read_facts(assistant) if one.id in ids] if ids else [],
            "hits": [HitView.of(hit, assistant, wanted, explain=True) for hit in explained.hits],
            "left_out": list(explained.left_out),
            "sections": [
                PromptSection(name=one.name, tokens=one.tokens) for one in explained.sections
            ],
        }
        return cls.model_validate(record | more)


class PromptMessage(JsonModel):
    """A message of a prompt."""

    role: str = Field(examples=["user"])
    content: str


class Preview(ShapedBy):
    """A whole prompt: as system prompt and messages, and as the one text that programs get."""

    system: str
    messages: list[PromptMessage]
    text: str
    tokens: int
    max_tokens: int
    model: str = Field(examples=["claude-cli"])

    @classmethod
    def of(cls, composed: Composed, assistant: Assistant, **more: object) -> Self:
        """Return a prompt's form."""
        prompt = composed.prompt
        return super().of(
            composed,
            assistant,
            system=prompt.system,
            messages=[PromptMessage(role=one.role, content=one.text) for one in prompt.messages],
            text=prompt.text,
            tokens=sum(section.tokens for section in composed.explanation.sections),
            max_tokens=assistant.prompt_max_tokens,
            model=assistant.model.name,
            **more,
        )


class ChatStart(JsonModel):
    """The conversation, and the model that answers."""

    key: str
    model: str


class ChatText(JsonModel):
    """A piece of the answer."""

    text: str


class ChatTool(JsonModel):
    """A tool that the model uses."""

    id: str
    name: str
    arguments: dict[str, Any]


class ChatToolResult(JsonModel):
    """The result of a tool."""

    id: str
    name: str
    result: dict[str, Any]


class ChatUsage(JsonModel):
    """The tokens that the model reports."""

    input_tokens: int
    output_tokens: int
    context_window: int | None


class TurnChange(JsonModel):
    """A fact that was saved, changed or removed in a turn."""

    action: Literal["added", "changed", "removed"]
    fact: FactView
    change: int


class TurnChanges(JsonModel):
    """What was saved, changed or removed at the user's request or by a tool."""

    facts: list[TurnChange]


class Cited(JsonModel):
    """What the answer rests on: ids of facts, and places in the `hits` of the event `memories`."""

    facts: list[str]
    hits: list[int]

    @classmethod
    def of(cls, reply: Reply) -> Self:
        """Return what a reply cites."""
        shown = enumerate(reply.explanation.hits)
        hits = [at for at, hit in shown if hit in reply.cited.hits]
        return cls(facts=list(reply.cited.memories), hits=hits)


class ChatDone(JsonModel):
    """The whole answer, and the numbers of both messages, which private ones do not have.

    One that `asksToKeep` has kept nothing of a secret; the message "yes" keeps it as it is.
    """

    key: str
    text: str
    question: int | None
    answer: int | None
    cited: Cited
    asks_to_keep: bool = False


class ChatEvents(JsonModel):
    """The data of each event of an answer, by the event's name."""

    start: ChatStart
    memories: ShapedBy
    prompt: Preview
    text: ChatText
    tool: ChatTool
    tool_result: ChatToolResult
    usage: ChatUsage
    learnt: TurnChanges
    done: ChatDone
    error: Problem


@router.post("/api/prompt/preview", summary="Preview a prompt")
def preview_prompt(said: PromptRequest, assistant: Given) -> Preview:
    """Compose the prompt for a message without sending it; nothing is changed."""
    composed = assistant.preview(
        UNSAID if said.key is None else said.key,
        said.message,
        private=said.private,
        documents=said.attachments,
    )
    return Preview.of(composed, assistant)


@router.post(
    "/api/chat",
    summary="Send a message and stream the answer",
    description=EVENTS,
    response_class=EventStream,
    status_code=200,
    responses=document_problems(404, 409, 502),
    dependencies=[REPEATABLE],
)
async def chat(
    asked: ChatRequest, assistant: Given, turns: UnderWay, operator: IsOperator
) -> EventStream:
    """Answer a message; a client that disconnects stops the model."""
    if asked.model is not None and not operator:
        await to_thread.run_sync(_refuse_other_provider, assistant, asked.model)
    key = f"web:{secrets.token_hex(8)}" if asked.key is None else asked.key
    return await turns.stream(
        lambda: report_failure(
            assistant, _answer(assistant, key, asked), partial(make_event, "error")
        )
    )


def _answer(assistant: Assistant, key: str, asked: ChatRequest) -> Generator[bytes]:
    """Return the events of a turn; an error that prevents it is raised before the first."""
    _check_after(assistant, key, asked)
    stream = assistant.stream(
        key,
        asked.message,
        private=asked.private,
        documents=asked.attachments,
        again=asked.again,
        after=asked.after,
        resume=asked.resume,
        keep_secrets=asked.keep_secrets,
        model=asked.model,
    )
    with closing(stream):
        start = ChatStart(key=key, model=assistant.find_model_of(key, asked.model).name)
        for one in stream:
            if isinstance(one, Composed):
                # Before the first event: an error in it can still have its own status.
                shaped = make_event("memories", ShapedBy.of(one, assistant))
                yield make_event("start", start)
                yield shaped
                if asked.explain:
                    prompt = Preview.of(one, assistant).model_copy(update={"model": start.model})
                    yield make_event("prompt", prompt)
            elif isinstance(one, Done):
                yield from _tell_changes(one.reply)
                yield make_event("done", _end(key, one.reply))
            elif not isinstance(one, Changed):
                yield _tell(one)


def _refuse_other_provider(assistant: Assistant, name: str) -> None:
    """Refuse a model that sends words to somebody else than the settings do."""
    in_use = assistant.model.name.partition(":")[0]
    refuse_unless(name in {"recall", DEFAULT_MODEL} or name.partition(":")[0] == in_use)


def _check_after(assistant: Assistant, key: str, asked: ChatRequest) -> None:
    """Refuse `after` of another conversation, before the model is asked."""
    if not asked.after or asked.private:
        return
    found = assistant.conversations.find_message(asked.after)
    if found is None or found[0] != key:
        message = f"message {asked.after} is not in this conversation; leave out `after`"
        raise NotFound(message)


def _end(key: str, reply: Reply) -> ChatDone:
    return ChatDone(
        key=key,
        text=reply.text,
        question=reply.question_id,
        answer=reply.answer_id,
        cited=Cited.of(reply),
        asks_to_keep=reply.asks_to_keep,
    )


def _tell(one: Event) -> bytes:
    match one:
        case Silence():
            return NOTHING
        case Text():
            return make_event("text", ChatText(text=one.text))
        case ToolCall():
            arguments = _read_object(json.dumps(dict(one.arguments)))
            return make_event("tool", ChatTool(id=one.id, name=one.name, arguments=arguments))
        case ToolResult():
            result = _read_object(one.result)
            return make_event("toolResult", ChatToolResult(id=one.id, name=one.name, result=result))
    usage = ChatUsage(
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
        context_window=one.context_window,
    )
    return make_event("usage", usage)


def _read_object(text: str) -> dict[str, Any]:
    """Parse strict JSON; the result of another host's tool may not be an object at all."""
    try:
        result = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        result = None
    return result if isinstance(result, dict) else {"text": text}


def _tell_changes(reply: Reply) -> Iterator[bytes]:
    """Yield the event of what was changed in this turn, at the user's request or by a tool."""
    facts = [
        TurnChange(action=ACTIONS[one.op], fact=FactView.of(memory), change=one.n)
        for one in reply.changes
        if (memory := one.after or one.before)
    ]
    if facts:
        yield make_event("learnt", TurnChanges(facts=facts))
