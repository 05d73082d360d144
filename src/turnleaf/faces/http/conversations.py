"""Conversations: list, read page by page, rename, export and erase."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from turnleaf.core import messages
from turnleaf.core.conversation_formats import (
    FORMATS,
    make_file_name,
    make_transcript,
    message_to_json,
    to_json,
    to_markdown,
)
from turnleaf.core.memories import check_text
from turnleaf.core.search import message_filters
from turnleaf.core.serialization import dumps, to_iso
from turnleaf.errors import NotFound, StorageError
from turnleaf.faces.http.problems import document_problems
from turnleaf.faces.http.request_reading import JSON_ONLY, Given
from turnleaf.faces.http.schemas import LARGEST_ID, Body, JsonModel, NewerView, Time
from turnleaf.store.conversation_models import read_chosen_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.assistant import Assistant
    from turnleaf.core.messages import ConversationSummary, StoredMessage
    from turnleaf.core.search.ranking import Newer

router = APIRouter(prefix="/api/conversations", tags=["talking"])

UNKNOWN = document_problems(404)
MAX_LIMIT = 1000
BEGINNING_CHARS = 200
EXPORT = "/export"
MEDIA_TYPES = {"markdown": "text/markdown", "json": "application/json"}
MessageId = Annotated[int, Field(ge=1, le=LARGEST_ID, examples=[17])]


class Summary(JsonModel):
    """A conversation without its messages.

    Its title is its first question until it is renamed. `audience` is empty where everyone may
    find its messages, and `searched` is false where it is excluded from search.
    """

    key: str = Field(examples=["web:4f1c2a9b"])
    title: str = Field(examples=["客廳的燈叫什麼？"])
    messages: int
    created_at: Time
    updated_at: Time
    audience: str = Field(examples=["", "only:slack:D012AB3CD"])
    searched: bool
    renamed: bool

    @classmethod
    def of(cls, summary: ConversationSummary) -> Summary:
        """Return a summary's form."""
        return cls(
            key=summary.key,
            title=summary.title,
            messages=summary.turns,
            created_at=to_iso(summary.created_at),
            updated_at=to_iso(summary.updated_at),
            audience=summary.audience,
            searched=summary.is_searched,
            renamed=summary.is_renamed,
        )


class Summaries(JsonModel):
    """Conversations, the newest first."""

    conversations: list[Summary]


class UsedFact(JsonModel):
    """A fact that was in a prompt, with its present content if it still exists."""

    id: str
    content: str | None
    cited: bool = False


class UsedHit(JsonModel):
    """The place of a search result that was in a prompt.

    `text` is the beginning of a message, unless it was erased or forgotten since. `cited` says
    whether the answer rests on it.
    """

    source: str = Field(examples=["daily"])
    file: str = Field(examples=["daily/2026-11-15.md"])
    line: int | None = None
    date: str | None = None
    id: str | None = None
    score: float | None = None
    conversation: str | None = None
    message: int | None = None
    text: str | None = None
    cited: bool = False

    @classmethod
    def of(cls, record: dict[str, Any], assistant: Assistant) -> UsedHit:
        """Return the form of a stored hit."""
        if "message" in record:
            return cls.model_validate(record | _find_place(record["message"], assistant))
        folder = "daily/" if record["source"] == "daily" else ""
        return cls.model_validate({**record, "file": f"{folder}{record['path']}"})


class PromptParts(JsonModel):
    """What went into the prompt of an answer."""

    memories: list[UsedFact]
    hits: list[UsedHit]


class MessageView(JsonModel):
    """A message; `content` is text, or OpenAI's content parts.

    `versions` are the messages that follow the same `parent`, if there are several. A `hidden`
    message was forgotten, and is in no prompt. A private message has no `id`.
    """

    id: int | None = Field(examples=[17])
    role: str = Field(examples=["user"])
    content: str | list[dict[str, Any]] | None = Field(examples=["客廳的燈叫什麼？"])
    timestamp: Time | None = None
    status: Literal["complete", "stopped", "failed", "answering"] = "complete"
    trust: str = Field("user", examples=["user", "assistant", "stranger"])
    source: str | None = Field(None, examples=["document:notes.md"])
    parent: int | None = None
    versions: list[int] = Field(default=[])
    hidden: bool = False
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    shaped_by: PromptParts | None = None
    newer: NewerView | None = None


class ConversationPage(JsonModel):
    """A page of a conversation; a private one exists only in the server's memory.

    `earlier` and `later` are whether there are more messages before and after these.
    """

    key: str
    title: str
    private: bool
    searched: bool
    messages: list[MessageView]
    earlier: bool
    later: bool
    model: str | None = Field(
        description="The model that this conversation was given, if it was.",
        examples=["ollama:qwen3:8b"],
    )


class Altered(Body):
    """The changes; an empty title restores the original one."""

    title: str | None = Field(default=None, max_length=1000, examples=["燈"])
    searched: bool | None = None


class Chosen(Body):
    """A version of a message to show, with what followed it."""

    message: MessageId


@router.get("", summary="List the conversations")
def list_conversations(
    assistant: Given,
    q: Annotated[
        str | None, Query(description="Only those whose title or messages contain this text.")
    ] = None,
    limit: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
) -> Summaries:
    """Return conversations, newest first."""
    found = assistant.conversations.summaries(q or None, limit)
    return Summaries(conversations=[Summary.of(one) for one in found])


@router.get(
    "/{key:path}/export",
    summary="Save a conversation as a file",
    response_class=Response,
    responses={
        200: {
            "content": {
                kind: {"schema": {"type": "string"}} if kind == "text/markdown" else {}
                for kind in MEDIA_TYPES.values()
            }
        },
        **UNKNOWN,
    },
)
def export_conversation(
    key: str,
    request: Request,
    assistant: Given,
    format: Annotated[Literal["markdown", "json"], Query()] = "markdown",  # noqa: A002 - its name in the API
) -> Response:
    """Return its messages as Markdown, or as JSON with all details."""
    if not request.scope["raw_path"].endswith(EXPORT.encode()):
        # The slash is a part of the key, and was sent as %2F.
        page = get_conversation(f"{key}{EXPORT}", assistant)
        return Response(page.model_dump_json(by_alias=True), media_type=MEDIA_TYPES["json"])
    summary = _find_summary(assistant, key)
    transcript = make_transcript(summary, assistant.conversations.messages(key))
    text = (
        dumps(to_json(transcript))
        if format == "json"
        else to_markdown(transcript, datetime.astimezone)
    )
    name = quote(make_file_name(transcript, FORMATS[format]))
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(text.encode(), media_type=MEDIA_TYPES[format], headers=headers)


@router.get("/{key:path}", summary="Read a conversation", responses=UNKNOWN)
def get_conversation(
    key: str,
    assistant: Given,
    before: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only messages before this one.")
    ] = None,
    limit: Annotated[
        int | None, Query(ge=1, le=MAX_LIMIT, description="The newest so many; by default all.")
    ] = None,
    around: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Messages around this one.")
    ] = None,
) -> ConversationPage:
    """Return the messages, oldest first, and what went into each answer."""
    private = assistant.private_history(key)
    summary = assistant.conversations.summary(key)
    if private is None and summary is None:
        raise _make_unknown(key)
    with suppress(StorageError):  # A read-only folder can still be read.
        assistant.settle_messages()
    page, earlier, later = (
        _read_around(assistant, key, around, limit)
        if around is not None
        else _read_before(assistant, key, before, limit)
    )
    is_newest = before is None and not later
    return ConversationPage(
        key=key,
        title=summary.title if summary else "",
        private=private is not None,
        searched=summary.is_searched if summary else False,
        messages=[
            *_view_messages(assistant, key, page),
            *(_view_private(private or ()) if is_newest else ()),
        ],
        earlier=earlier,
        later=later,
        model=read_chosen_model(assistant.stores.records, key),
    )


@router.patch(
    "/{key:path}",
    summary="Rename a conversation, or exclude it from search",
    responses=UNKNOWN,
    dependencies=[JSON_ONLY],
)
def change_conversation(key: str, altered: Altered, assistant: Given) -> Summary:
    """Change its title, or whether it is used in search and other prompts."""
    store = assistant.conversations
    _find_summary(assistant, key)
    if altered.title is not None:
        store.rename(key, check_text(altered.title, "a title"))
    if altered.searched is not None:
        store.set_searched(key, altered.searched)
    return Summary.of(_find_summary(assistant, key))


@router.post(
    "/{key:path}/path",
    summary="Show another version of a message",
    status_code=HTTPStatus.NO_CONTENT,
    responses=UNKNOWN,
    dependencies=[JSON_ONLY],
)
def show_version(key: str, chosen: Chosen, assistant: Given) -> None:
    """Show the message and what followed it; the version shown now is kept."""
    assistant.show_version(key, chosen.message)


@router.delete(
    "/{key:path}",
    summary="Permanently erase a conversation",
    status_code=HTTPStatus.NO_CONTENT,
    responses=UNKNOWN,
)
def erase_conversation(key: str, assistant: Given) -> None:
    """Erase it completely; facts learned from it stay."""
    if not assistant.erase_conversation(key):
        raise _make_unknown(key)


def _read_before(
    assistant: Assistant, key: str, before: int | None, limit: int | None
) -> tuple[Sequence[StoredMessage], bool, bool]:
    """Return the newest messages before one, and whether there are earlier or later ones."""
    store = assistant.conversations
    # One more than wanted shows whether there are earlier ones.
    found = store.messages(key, before, None if limit is None else limit + 1)
    page = found if limit is None else found[-limit:]
    newest = store.messages(key, limit=1) if before is not None else []
    has_later = bool(newest) and (not page or newest[-1].id > page[-1].id)
    return page, len(page) < len(found), has_later


def _read_around(
    assistant: Assistant, key: str, message: int, limit: int | None
) -> tuple[Sequence[StoredMessage], bool, bool]:
    """Return the messages around one."""
    found = assistant.conversations.messages(key)
    wanted = len(found) if limit is None else limit
    place = bisect_left([one.id for one in found], message)
    start = max(0, min(place - wanted // 2, len(found) - wanted))
    page = found[start : start + wanted]
    return page, start > 0, start + len(page) < len(found)


def _view_messages(
    assistant: Assistant, key: str, page: Sequence[StoredMessage]
) -> list[MessageView]:
    is_shaped = any(one.shaped_by for one in page)
    known = {one.id: one.content for one in assistant.memory.get_all()} if is_shaped else {}
    newer = message_filters.find_superseded(assistant.memory.changes())
    return [
        MessageView.model_validate(
            {
                **message_to_json(one),
                "shapedBy": _view_parts(one.shaped_by, known, assistant),
                "newer": _find_newer(newer, key, one.message.timestamp),
            }
        )
        for one in page
    ]


def _find_newer(
    found: Mapping[message_filters.Place, Newer], key: str, said: datetime | None
) -> NewerView | None:
    newer = found.get((key, said)) if said else None
    return NewerView.of(newer) if newer else None


def _view_parts(
    shaped_by: Mapping[str, Any] | None, known: Mapping[str, str], assistant: Assistant
) -> PromptParts | None:
    if not shaped_by:
        return None
    cited = shaped_by.get("cited", ())
    return PromptParts(
        memories=[
            UsedFact(id=one, content=known.get(one), cited=one in cited)
            for one in shaped_by.get("memories", ())
        ],
        hits=[UsedHit.of(hit, assistant) for hit in shaped_by.get("hits", ())],
    )


def _find_place(message: int, assistant: Assistant) -> dict[str, Any]:
    """Return where a message is now; nothing is known of an erased one."""
    store = assistant.conversations
    place = {
        "file": assistant.stores.redact(str(store.location)),
        "line": message,
        "id": str(message),
    }
    found = store.find_message(message)
    if found is None:
        return place
    key, stored = found
    said = stored.message
    date = f"{said.timestamp.astimezone():%Y-%m-%d}" if said.timestamp else None
    text = None if stored.is_hidden else said.text[:BEGINNING_CHARS]
    return place | {"conversation": key, "date": date, "text": text}


def _view_private(history: Sequence[messages.Message]) -> list[MessageView]:
    return [
        MessageView.model_validate({"id": None, **messages.to_json(one), "trust": one.role})
        for one in history
    ]


def _find_summary(assistant: Assistant, key: str) -> ConversationSummary:
    summary = assistant.conversations.summary(key)
    if summary is None:
        raise _make_unknown(key)
    return summary


def _make_unknown(key: str) -> NotFound:
    return NotFound(f"there is no conversation {key!r}; GET /api/conversations lists all")
