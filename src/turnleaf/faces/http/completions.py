"""OpenAI's chat completions: its clients get a memory by changing their base URL.

A client of the OpenAI API sends the whole chat each time and names it by how it began. So chats
that begin with the same words are told apart by what was answered, and a question that was edited
by the message that it follows.

The client keeps the conversation and sends it as the history; memory is added, and the new exchange
is stored and learned from. What a client asks for by itself, such as a title, is answered without
memory and not stored.
"""

from __future__ import annotations

import hashlib
import secrets
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, Field

from turnleaf.core.host_events import INSTRUCTING, is_client_task
from turnleaf.core.memories import check_text
from turnleaf.core.messages import Message
from turnleaf.core.model_dialogue import Silence, Text, Usage
from turnleaf.core.prompt.composer import PromptComposer
from turnleaf.core.serialization import dumps
from turnleaf.core.tokens import estimate
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.http.idempotency import REPEATABLE
from turnleaf.faces.http.problems import Refused, document_problems
from turnleaf.faces.http.request_reading import (
    CONVERSATION_HEADER,
    JSON_ONLY,
    OPEN_WEBUI_HEADER,
    Given,
)
from turnleaf.faces.http.streams import NOTHING, EventStream, RunningTurn, UnderWay, report_failure
from turnleaf.turn import Composed, Done, Reply, TurnEvent

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from datetime import datetime

    from turnleaf.assistant import Assistant
    from turnleaf.core.messages import StoredMessage
    from turnleaf.store.contracts import Conversations


MOST_ALIKE = 50
"""How many chats with the same beginning are told apart."""
LOOKED_AT = 100
"""In how many of a conversation's newest messages the client's last answer is looked for."""
EXCHANGE = 2
NEAR = 8
AGAIN = timedelta(minutes=2)
"""Who asks the same first question so soon asks again; later, or elsewhere, it is another chat."""


class ChatPlace(NamedTuple):
    """A conversation, and the message that is followed if that is not the newest one."""

    key: str
    after: int | None = None


def find_place(
    store: Conversations,
    key: str,
    history: Sequence[Message],
    question: str,
    *,
    is_named: bool,
    now: datetime,
) -> ChatPlace:
    """Return the conversation that a chat continues, among those that begin like it.

    A chat that its client named is that conversation, whatever the client knows of it.
    """
    known = [key] if is_named else list(_list_keys_alike(store, key))
    answer = next((one.text for one in reversed(history) if one.role == "assistant"), None)
    if answer is None and is_named:
        return ChatPlace(key)
    if answer is None:
        return ChatPlace(_find_begun(store, known, now) or _number_key(key, len(known)))
    for one in reversed(known):
        shown = store.messages(one, limit=LOOKED_AT)
        places = [place for place, stored in enumerate(shown) if stored.message.text == answer]
        if places:
            return ChatPlace(one, _find_followed(shown, places[-1], question))
    if any(_was_replaced(store, one, answer) for one in known) and len(known) < MOST_ALIKE:
        # What was taken for the same question again was another chat, so this one goes on alone.
        return ChatPlace(_number_key(key, len(known)))
    return ChatPlace(known[-1] if known else key)


def _was_replaced(store: Conversations, key: str, answer: str) -> bool:
    """Whether a conversation began with this answer, and another one stands there now."""
    for asked in store.messages(key, limit=LOOKED_AT)[:1]:
        for version in asked.versions:
            # An answer is stored soon after its question, so its number is near.
            near = map(store.find_message, range(version + 1, version + 1 + NEAR))
            said = [found[1] for found in near if found and found[1].parent == version]
            if any(one.message.text == answer for one in said):
                return True
    return False


def _list_keys_alike(store: Conversations, key: str) -> Iterator[str]:
    for number in range(MOST_ALIKE):
        numbered = _number_key(key, number)
        if store.summary(numbered) is None:
            return
        yield numbered


def _number_key(key: str, number: int) -> str:
    return f"{key}-{number + 1}" if number else key


def _find_begun(store: Conversations, known: Sequence[str], now: datetime) -> str | None:
    """Return the chat that is started again: its first question was asked just now, and no more."""
    summary = store.summary(known[-1]) if known else None
    if summary is None:
        return None
    is_again = summary.turns < EXCHANGE or now - summary.updated_at <= AGAIN
    is_full = len(known) == MOST_ALIKE
    return summary.key if is_full or (summary.turns <= EXCHANGE and is_again) else None


def _find_followed(shown: Sequence[StoredMessage], place: int, question: str) -> int | None:
    """Return the message that is followed, unless it is the newest or its question is repeated."""
    later = shown[place + 1 :]
    is_repeated = len(later) <= EXCHANGE and [one.message.text for one in later[:1]] == [question]
    return shown[place].id if later and not is_repeated else None


router = APIRouter(prefix="/v1", tags=["OpenAI"], dependencies=[JSON_ONLY])

OURS = "turnleaf"
"""The name of the model for clients that do not care which one answers."""
READABLE = ("text", "refusal")
HASH_CHARS = 16
SYSTEM_PROMPT = "You do small tasks for a chat client. Answer in the form that it asks for."
BEGUN = b": the model is asked\n\n"
"""A comment that clients skip; it shows that the request was accepted before the first words."""
END = b"data: [DONE]\n\n"
Heard: TypeAlias = Composed | Silence | Text | Done
"""The events that are sent, or show whether the client is still there."""
ANSWERS = {
    HTTPStatus.OK.value: {"content": {"text/event-stream": {}}},
    **document_problems(404, 409, 502),
}


class ContentPart(BaseModel):
    """A part of a message; only text is supported."""

    type: str = Field(examples=["text"])
    text: str | None = None
    refusal: str | None = None


class ChatMessage(BaseModel):
    """A message of the client's conversation."""

    role: str = Field(examples=["user"])
    content: str | list[ContentPart] | None = Field(None, examples=["客廳的燈叫什麼？"])
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """The parts that are text, one below the other."""
        if not isinstance(self.content, list):
            return check_text(self.content or "", "a message")
        for part in self.content:
            if part.type not in READABLE:
                message = f"content of type {part.type!r} is not supported; send text"
                raise InvalidInput(message)
        parts = (part.text or part.refusal or "" for part in self.content)
        return check_text("\n".join(parts), "a message")

    def as_message(self) -> Message:
        """Return it as a history has it."""
        calls, call_id = self.tool_calls or None, self.tool_call_id
        return Message(self.role, self.text, tool_calls=calls, tool_call_id=call_id, name=self.name)


class StreamOptions(BaseModel):
    """What a stream contains besides the text."""

    include_usage: bool | None = None


class AnswerFormat(BaseModel):
    """The form of the answer."""

    type: str = Field(examples=["text"])


class CompletionRequest(BaseModel):
    """A request for a completion; other fields have no effect."""

    model: str = Field(examples=[OURS])
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: AnswerFormat | None = None
    modalities: list[str] | None = None

    def find_refusal(self) -> str | None:
        """Return what is not supported, if anything."""
        # The client would have to run them in the middle of a turn.
        if self.tools or self.functions:
            return "tools of the client are not supported; leave out `tools` and `functions`"
        if self.n not in {None, 1}:
            return "only one answer at a time is supported; leave out `n`"
        if self.response_format and self.response_format.type != "text":
            return "only text is supported; leave out `response_format`"
        if set(self.modalities or ()) - {"text"}:
            return "only text is supported; leave out `modalities`"
        if self.messages[-1].role != "user":
            return "the last message must have the role `user`; correct it"
        return None


class CompletedMessage(BaseModel):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    """The one answer that there is."""

    index: int = 0
    message: CompletedMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class CompletionTokens(BaseModel):
    """The tokens used, estimated where the model does not report them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, reply: Reply) -> CompletionTokens:
        """Count a reply's tokens."""
        used = reply.usage
        asked = sum(section.tokens for section in reply.explanation.sections)
        prompt = used.input_tokens if used else asked
        answer = used.output_tokens if used else estimate(reply.text)
        return cls(prompt_tokens=prompt, completion_tokens=answer, total_tokens=prompt + answer)


class Completion(BaseModel):
    """A whole answer."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: CompletionTokens


class ModelName(BaseModel):
    """A model name that a request may use."""

    id: str = Field(examples=[OURS])
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = OURS


class ModelNames(BaseModel):
    """The model names that a request may use."""

    object: Literal["list"] = "list"
    data: list[ModelName]


@router.get("/models", summary="List the names of the model")
def list_models(assistant: Given) -> ModelNames:
    """Return the model names that a request may use."""
    return ModelNames(data=[ModelName(id=name) for name in _list_names(assistant)])


@router.post(
    "/chat/completions",
    summary="Complete a chat as OpenAI does",
    response_model=Completion,
    responses=ANSWERS,
    dependencies=[REPEATABLE],
)
async def complete_chat(
    wanted: CompletionRequest,
    request: Request,
    assistant: Given,
    turns: UnderWay,
    conversation: Annotated[str | None, Header(alias=CONVERSATION_HEADER)] = None,
    chat_id: Annotated[str | None, Header(alias=OPEN_WEBUI_HEADER)] = None,
) -> Completion | EventStream:
    """Answer the last message of a conversation that the client keeps."""
    name = _find_name(conversation, chat_id)
    if wanted.stream:
        return await turns.stream(
            lambda: report_failure(
                assistant, _stream_chunks(assistant, wanted, name), _make_failure
            )
        )
    reply = await _wait_for_reply(turns.begin(lambda: _run_turn(assistant, wanted, name)), request)
    return Completion(
        **_make_head(assistant, wanted),
        choices=[Choice(message=CompletedMessage(content=reply.text))],
        usage=CompletionTokens.of(reply),
    )


async def _wait_for_reply(running: RunningTurn[Heard], request: Request) -> Reply:
    """Wait for the whole answer as long as the client is connected."""
    try:
        while (piece := await running.next()) is not None:
            if isinstance(piece, Done):
                return piece.reply
            if await request.is_disconnected():
                break
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the client disconnected; send it again")
    finally:
        running.leave()


def _run_turn(
    assistant: Assistant, wanted: CompletionRequest, name: str | None
) -> Generator[Heard]:
    """Answer, and yield the events that OpenAI's format can express."""
    _check(wanted, assistant)
    *before, last = (one.as_message() for one in wanted.messages)
    history = [one for one in before if one.role not in INSTRUCTING]
    instructions = "\n\n".join(one.text for one in before if one.role in INSTRUCTING)
    # Stored like a chat, a request for a title would
    # double every conversation and be learned from twice.
    if is_client_task([*before, last]):
        stream = _answer_task(assistant, last.text, history=history, instructions=instructions)
    else:
        key = name or _make_key(wanted)
        found = find_place(
            assistant.conversations,
            key,
            history,
            last.text,
            is_named=name is not None,
            now=assistant.now(),
        )
        stream = assistant.stream(
            found.key,
            last.text,
            history=history,
            instructions=instructions,
            after=found.after if assistant.conversations.keeps_everything else None,
        )
    with closing(stream):
        yield from (one for one in stream if isinstance(one, Heard))


def _stream_chunks(
    assistant: Assistant, wanted: CompletionRequest, name: str | None
) -> Generator[bytes]:
    """Answer as a stream of OpenAI's chunks."""
    has_usage = bool(wanted.stream_options and wanted.stream_options.include_usage)
    head = _make_head(assistant, wanted) | {"object": "chat.completion.chunk"}
    chunk = partial(_make_chunk, head | ({"usage": None} if has_usage else {}))
    is_first = True
    with closing(_run_turn(assistant, wanted, name)) as turn:
        for one in turn:
            if isinstance(one, Composed | Silence):
                yield BEGUN if isinstance(one, Composed) else NOTHING
                continue
            if is_first:
                yield chunk({"role": "assistant", "content": ""})
                is_first = False
            if isinstance(one, Text):
                yield chunk({"content": one.text})
            else:
                yield chunk({}, "stop")
                if has_usage:
                    usage = CompletionTokens.of(one.reply).model_dump()
                    yield _make_line({**head, "choices": [], "usage": usage})
    yield END


def _make_head(assistant: Assistant, wanted: CompletionRequest) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "created": int(assistant.now().timestamp()),
        "model": wanted.model,
    }


def _make_chunk(head: dict[str, Any], delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _make_line({**head, "choices": [choice]})


def _make_failure(problem: dict[str, Any]) -> bytes:
    """Return an error in the place where OpenAI's clients look for it in a stream."""
    error = {"message": problem["detail"], "type": "server_error", "param": None, "code": None}
    return _make_line({**problem, "error": error})


def _make_line(data: object) -> bytes:
    return f"data: {dumps(data)}\n\n".encode()


def _check(wanted: CompletionRequest, assistant: Assistant) -> None:
    refusal = wanted.find_refusal()
    if refusal:
        raise InvalidInput(refusal)
    names = _list_names(assistant)
    if wanted.model not in names:
        message = f"there is no model {wanted.model!r}; the models are: {', '.join(names)}"
        raise NotFound(message)


def _list_names(assistant: Assistant) -> list[str]:
    return [OURS, assistant.model.name]


def _find_name(conversation: str | None, chat_id: str | None) -> str | None:
    """Return the client's name for the conversation, if it sends one."""
    if conversation:
        return _decode(conversation)
    return f"api:{_decode(chat_id)}" if chat_id else None


def _make_key(wanted: CompletionRequest) -> str:
    """Return a key made of the user and the first message."""
    began = next((one for one in wanted.messages if one.role == "user"), wanted.messages[-1])
    # A client that names no conversation sends all of it, and how it began stays the same.
    digest = hashlib.sha256(began.text.encode()).hexdigest()[:HASH_CHARS]
    return f"api:{wanted.user}:{digest}" if wanted.user else f"api:{digest}"


def _decode(header: str) -> str:
    """Decode a header as UTF-8, which HTTP itself decodes as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        message = f"the name of the conversation, {header!a:.80}, is not UTF-8; convert it"
        raise InvalidInput(message) from error


# What a client asks for by itself


def _answer_task(
    assistant: Assistant, text: str, *, history: Sequence[Message], instructions: str
) -> Generator[TurnEvent]:
    """Answer without memory, search or tools; nothing is stored or learned."""
    assistant.meter.check_calls()
    composer = PromptComposer(instructions or SYSTEM_PROMPT, max_tokens=assistant.prompt_max_tokens)
    prompt = replace(composer.compose(text, history=history), is_learned=False)
    yield Composed(prompt, composer.explain())
    said: list[str] = []
    usage = None
    for event in assistant.model.stream(prompt):
        if isinstance(event, Usage):
            usage = event
        elif isinstance(event, Text):
            said.append(event.text)
        yield event
    yield Done(Reply("".join(said), explanation=composer.explain(), usage=usage))
