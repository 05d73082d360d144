"""Whether the server lives, and how everything that it works with is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from turnleaf.checkup import checkup
from turnleaf.core.stored_messages import StoredFigures
from turnleaf.core.times import to_iso
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.shapes import Time
from turnleaf.keeping import find_span

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant

router = APIRouter(tags=["status"])


class Health(BaseModel):
    """A sign of life."""

    status: Literal["ok"] = "ok"


class Progress(BaseModel):
    """How far the index is with what it takes in."""

    done: int
    total: int


class Kept(BaseModel):
    """How much of what was said is kept, and for how long."""

    kept: str = Field(
        description="`forever`, so many days, or the `window`: the newest messages only.",
        examples=["forever", "90 days", "window"],
    )
    messages: int
    conversations: int
    bytes: int
    oldest: Time | None


class Status(BaseModel):
    """All that `turnleaf doctor` finds."""

    model_config = ConfigDict(populate_by_name=True)

    versions: dict[str, str]
    data_folder: dict[str, Any] = Field(alias="dataFolder")
    files: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    parts: dict[str, str]
    last_error: dict[str, str] | None = Field(alias="lastError")
    problems: list[dict[str, str]]
    index: Progress
    conversations: Kept


@router.get("/healthz", operation_id="health", summary="Tell whether the server lives")
async def health() -> Health:
    """Answer without a thread, as all of them may be at work for others."""
    return Health()


@router.get("/api/status", operation_id="status", summary="Tell how everything is")
def status(assistant: Given, request: Request) -> Status:
    """Look at the data folder as `turnleaf doctor` does."""
    done, total = request.app.state.feed.progress
    return Status(
        **checkup(assistant.folder),
        index=Progress(done=done, total=total),
        conversations=_kept(assistant),
    )


def _kept(assistant: Assistant) -> Kept:
    """Count what is kept; where there never was a conversation, no file is made by looking."""
    store = assistant.conversations
    figures = store.figures() if store.location.exists() else StoredFigures(0, 0, 0, None)
    return Kept(
        kept=find_span(store.location, assistant.settings),
        messages=figures.messages,
        conversations=figures.conversations,
        bytes=figures.bytes,
        oldest=to_iso(figures.oldest) if figures.oldest else None,
    )
