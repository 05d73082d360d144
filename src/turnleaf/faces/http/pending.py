"""What waits until a person has accepted it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter
from pydantic import Field

from turnleaf.core.memories import to_json
from turnleaf.errors import NotFound
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Current, Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.shapes import Body, Fact, Shape, Sourced, Words, sourced

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.core.changes import Source
    from turnleaf.core.memories import Memory

router = APIRouter(prefix="/api/memory/pending", tags=["memory"], dependencies=[JSON_ONLY])


class Waiting(Fact, Sourced):
    """A fact that waits, and what it rests on."""


class Pending(Shape):
    """All that waits."""

    pending: list[Waiting]


class Decision(Body):
    """What is to become of a fact that waits; with `content` it is accepted saying that."""

    id: str = Field(examples=["k7m2q9x4vd"])
    action: Literal["accept", "reject"]
    content: Words | None = None


class Decided(Shape):
    """What became of it."""

    action: Literal["accept", "reject"]
    fact: Fact | None


@router.get("", operation_id="getPending", summary="List what waits to be accepted")
def get_pending(assistant: Given) -> Pending:
    """Give what was learnt from a document, a tool or a stranger; it is in no prompt."""
    found = waiting(assistant)
    recorded = assistant.pending.changes() if found else []
    sources = {change.id: change.source for change in recorded if change.source}
    return Pending(pending=[_waiting(one, sources.get(one.id)) for one in found])


@router.post(
    "",
    operation_id="decidePending",
    summary="Accept or reject what waits",
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def decide(assistant: Current, decision: Decision) -> Decided:
    """Move a fact to the memory under its id, or drop it."""
    if decision.action == "accept":
        accepted = assistant.pending.accept(decision.id, decision.content)
        return Decided(action="accept", fact=Fact.of(accepted))
    if not assistant.pending.reject(decision.id):
        message = "nothing waits by that id; it may have been decided already, so list what waits"
        raise NotFound(message)
    return Decided(action="reject", fact=None)


def waiting(assistant: Assistant) -> list[Memory]:
    """Give what waits; where nothing ever did, no file is made by looking."""
    pending = assistant.pending
    return pending.get_all() if pending.location.exists() else []


def _waiting(memory: Memory, source: Source | None) -> Waiting:
    return Waiting.model_validate({**to_json(memory), **sourced(source)})
