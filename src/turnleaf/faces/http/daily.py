"""The daily log."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from turnleaf.core import markdown
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.shapes import Body, Day, Shape, Words

if TYPE_CHECKING:
    from datetime import date

    from turnleaf.assistant import Assistant

router = APIRouter(prefix="/api/memory/daily", tags=["daily log"], dependencies=[JSON_ONLY])

Named = Annotated[Day, Path(alias="date")]
_NEVER = datetime.min.replace(tzinfo=UTC)


class DaySummary(Shape):
    """How much was noted on a day."""

    date: Day
    entries: int
    chars: int


class Days(Shape):
    """The days that have notes."""

    days: list[DaySummary]


class DayLog(Shape):
    """The notes of a day."""

    date: Day
    content: str = Field(examples=["# 2026-11-15\n\n- 08:30 換了客廳的燈泡\n"])
    exists: bool


class Note(Body):
    """Something to note."""

    entry: Words = Field(examples=["Changed the bulb in the living room", "換了客廳的燈泡"])


@router.get("", operation_id="getDays", summary="List the days that have notes")
def get_days(assistant: Given) -> Days:
    """Give the days, the newest first."""
    return Days(days=[_summary(assistant, day) for day in reversed(assistant.daily.dates())])


@router.get("/{date}", operation_id="getDay", summary="Give the notes of a day")
def get_day(assistant: Given, day: Named) -> DayLog:
    """Give a day's notes as a person reads them; nothing when there are none."""
    content = assistant.daily.read(day)
    return DayLog(date=day, content=content, exists=bool(content))


@router.post(
    "/{date}",
    status_code=HTTPStatus.CREATED,
    operation_id="addNote",
    summary="Note something today",
)
def add_note(assistant: Given, day: Named, note: Note) -> DayLog:
    """Add a note with the time of its making, which is why no other day takes one."""
    today = assistant.now().date()
    if day != today:
        message = f"a note carries the time of its making, so only today, {today}, takes one"
        raise InvalidInput(message)
    assistant.daily.append(note.entry)
    return get_day(assistant, day)


def _summary(assistant: Assistant, day: date) -> DaySummary:
    text = assistant.daily.read(day)
    return DaySummary(date=day, entries=len(markdown.parse(text, _NEVER).facts), chars=len(text))
