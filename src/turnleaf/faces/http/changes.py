"""What was changed in the memory, and taking it back."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from pydantic import Field, StrictBool, StrictInt

from turnleaf.core import changes
from turnleaf.errors import NotFound
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.etags import quoted
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.shapes import Body, Change, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

router = APIRouter(prefix="/api/memory", tags=["changes"], dependencies=[JSON_ONLY])

MOST = 500
LEARNT = "learnt"


class Changes(Shape):
    """Changes, the newest first, and whether there are older ones."""

    changes: list[Change]
    more: bool


class Undo(Body):
    """Which change to take back; without a number the newest, or the newest that can be."""

    change: StrictInt | None = Field(default=None, ge=1)
    skip: StrictBool = Field(
        default=False, description="Leave alone what changed since, and go on to what did not."
    )


class Undone(Shape):
    """What was taken back, and the version of the file since."""

    undone: list[Change]
    etag: str = Field(examples=['"0f3a9c"'])


@router.get("/changes", operation_id="getChanges", summary="List the changes of the memory")
def get_changes(
    assistant: Given,
    *,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    before: Annotated[
        int | None, Query(ge=1, description="Only those before the change of this number.")
    ] = None,
    learnt: Annotated[
        bool, Query(description="Only what was learnt from conversations, with its quote.")
    ] = False,
) -> Changes:
    """Give the newest changes first; for the next page give the last number as `before`."""
    history = assistant.memory.changes()
    wanted = [
        change
        for change in reversed(history)
        if (before is None or change.n < before) and (not learnt or change.origin == LEARNT)
    ]
    return Changes(changes=_told(wanted[:limit], history), more=len(wanted) > limit)


@router.post(
    "/undo",
    operation_id="undo",
    summary="Take a change back",
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def undo(assistant: Given, wanted: Undo | None = None) -> Undone:
    """Take back one change, with all that was made in the same step; 409 if it changed since."""
    memory, asked = assistant.memory, wanted or Undo()
    undone = memory.undo(asked.change, skip=asked.skip)
    if not undone:
        message = "there is nothing to undo"
        raise NotFound(message)
    return Undone(undone=_told(undone, memory.changes()), etag=quoted(memory.version()))


def _told(some: Iterable[changes.Change], history: Sequence[changes.Change]) -> list[Change]:
    undone, undoable = changes.undone(history), changes.can_be_undone(history)
    return [
        Change.of(change, undone=change.n in undone, undoable=change.n in undoable)
        for change in some
    ]
