"""Whether the server lives, and how everything that it works with is."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from turnleaf.checkup import checkup
from turnleaf.faces.http.given import Given

router = APIRouter(tags=["status"])


class Health(BaseModel):
    """A sign of life."""

    status: Literal["ok"] = "ok"


class Progress(BaseModel):
    """How far the index is with what it takes in."""

    done: int
    total: int


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


@router.get("/healthz", operation_id="health", summary="Tell whether the server lives")
async def health() -> Health:
    """Answer without a thread, as all of them may be at work for others."""
    return Health()


@router.get("/api/status", operation_id="status", summary="Tell how everything is")
def status(assistant: Given, request: Request) -> Status:
    """Look at the data folder as `turnleaf doctor` does."""
    done, total = request.app.state.feed.progress
    return Status(**checkup(assistant.folder), index=Progress(done=done, total=total))
