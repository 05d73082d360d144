"""Past conversations: what was said, and what shaped each answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import Field

from turnleaf.core import messages
from turnleaf.core.times import to_iso
from turnleaf.errors import NotFound
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.shapes import Shape, Time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.assistant import Assistant
    from turnleaf.store.conversations import ConversationSummary

router = APIRouter(prefix="/api/conversations", tags=["talking"])

UNKNOWN = documented(HTTPStatus.NOT_FOUND)


class Summary(Shape):
    """A conversation without its messages; its title is the beginning of what the user said."""

    key: str = Field(examples=["web:4f1c2a9b"])
    title: str = Field(examples=["客廳的燈叫什麼？"])
    messages: int
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, summary: ConversationSummary) -> Summary:
        """Give a summary's form."""
        return cls(
            key=summary.key,
            title=summary.title,
            messages=summary.turns,
            created_at=to_iso(summary.created_at),
            updated_at=to_iso(summary.updated_at),
        )


class Summaries(Shape):
    """All conversations, the newest first."""

    conversations: list[Summary]


class Message(Shape):
    """Who said what, and when; `content` is text, or OpenAI's content parts."""

    role: str = Field(examples=["user"])
    content: str | list[dict[str, Any]] | None = Field(examples=["客廳的燈叫什麼？"])
    timestamp: Time | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Used(Shape):
    """A fact that was in a prompt; its content is what it says today, if it is still there."""

    id: str
    content: str | None


class Named(Shape):
    """Where something stood that was found for a question."""

    source: str = Field(examples=["daily"])
    file: str = Field(examples=["daily/2026-11-15.md"])
    line: int | None = None
    date: str | None = None
    id: str | None = None
    score: float

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Named:
        """Give the form of what was kept of a hit."""
        folder = "daily/" if record["source"] == "daily" else ""
        return cls.model_validate({**record, "file": f"{folder}{record['path']}"})


class Answer(Shape):
    """What shaped an answer, by the time and the beginning of its question."""

    time: Time
    question: str
    memories: list[Used]
    hits: list[Named]


class Conversation(Shape):
    """A conversation; a private one is in the server's memory only, until it ends."""

    key: str
    messages: list[Message]
    answers: list[Answer]
    private: bool


@router.get("", operation_id="listConversations", summary="List the conversations")
def list_conversations(assistant: Given) -> Summaries:
    """Give all, the newest first."""
    found = assistant.conversations.summaries()
    return Summaries(conversations=[Summary.of(one) for one in found])


@router.get(
    "/{key:path}",
    operation_id="getConversation",
    summary="Read a conversation",
    responses=UNKNOWN,
)
def read_conversation(key: str, assistant: Given) -> Conversation:
    """Give what was said, and what shaped each answer."""
    private = assistant.private_history(key)
    said = [*assistant.conversations.get_history(key), *(private or ())]
    if private is None and not said:
        raise _unknown(key)
    return Conversation(
        key=key,
        messages=[Message.model_validate(messages.to_json(one)) for one in said],
        answers=_answers(assistant, key),
        private=private is not None,
    )


@router.delete(
    "/{key:path}",
    operation_id="eraseConversation",
    summary="Erase a conversation for good",
    status_code=HTTPStatus.NO_CONTENT,
    responses=UNKNOWN,
)
def erase_conversation(key: str, assistant: Given) -> None:
    """Erase it to the last byte; what was learnt from it stays."""
    if not assistant.erase_conversation(key):
        raise _unknown(key)


def _answers(assistant: Assistant, key: str) -> list[Answer]:
    records = assistant.learning.answers(key)
    known = {memory.id: memory.content for memory in assistant.memory.get_all()} if records else {}
    return [
        Answer(
            time=record["time"],
            question=record["question"],
            memories=[Used(id=one, content=known.get(one)) for one in record["memories"]],
            hits=[Named.of(hit) for hit in record["hits"]],
        )
        for record in records
    ]


def _unknown(key: str) -> NotFound:
    return NotFound(f"there is no conversation {key!r}; GET /api/conversations lists them")
