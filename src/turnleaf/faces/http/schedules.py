"""What is asked by the clock, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Self
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from turnleaf.assistant import Assistant
from turnleaf.core import schedules
from turnleaf.core.schedules import State
from turnleaf.core.times import to_iso
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.shapes import Body, Shape, Time, Words
from turnleaf.faces.places import harmless
from turnleaf.scheduling import Runner
from turnleaf.store.timing import assumed_zone, local_zone, upcoming

router = APIRouter(prefix="/api/schedules", tags=["schedules"], dependencies=[JSON_ONLY])

MOST_PREVIEWED = 5
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]
Prompt = Annotated[Words, Field(examples=["What is on today?", "今天有什麼事？"])]
Timing = Annotated[Words, Field(examples=["0 9 * * 1-5", "every 15m", "2036-12-24 18:00"])]
Zone = Annotated[str, Field(examples=["Asia/Taipei", "Europe/Vienna"])]
Place = Annotated[str, Field(examples=["log", "file:news.md", "slack:C012AB3CD"])]
Name = Annotated[str, Field(examples=["Good morning", "早安"])]


def _runner(request: Request) -> Runner:
    runner: Runner = request.app.state.runner
    return runner


Running = Annotated[Runner, Depends(_runner)]


class Run(Shape):
    """One time that a schedule was due, and what came of it."""

    id: str
    due: Time
    state: State
    started_at: Time | None = None
    finished_at: Time | None = None
    attempts: int
    result: str | None = None
    error: str | None = None

    @classmethod
    def of(cls, run: schedules.Run, assistant: Assistant) -> Self:
        """Give a run's form as it is now."""
        record = schedules.run_to_json(schedules.seen(run, assistant.now()))
        error = run.error and harmless(run.error, assistant)
        return cls.model_validate({**record, "error": error})


class Schedule(Shape):
    """Something that is asked by the clock, when it is next, and how it went last."""

    id: str = Field(examples=["k7m2q9x4vd"])
    name: Name | None = None
    prompt: Prompt
    timing: Timing
    timezone: Zone
    deliver: Place
    paused: bool
    next_run: Time | None = None
    created_at: Time
    updated_at: Time
    running: bool
    last_run: Run | None = None

    @classmethod
    def of(cls, one: schedules.Schedule, assistant: Assistant, **more: object) -> Self:
        """Give a schedule's form as it is now, with `more` than every form has."""
        last = [Run.of(run, assistant) for run in one.runs[-1:]]
        return cls.model_validate(
            {
                **schedules.to_json(replace(one, runs=())),
                "running": one.is_running(assistant.now()),
                "last_run": last[0] if last else None,
                **more,
            }
        )


class WithRuns(Schedule):
    """A schedule and the record of its runs, newest first."""

    runs: list[Run]


class Schedules(Shape):
    """Every schedule; the time zone of this machine, and whether results can go to Slack."""

    schedules: list[Schedule]
    timezone: Zone
    channels: bool


class NewSchedule(Body):
    """What is to be asked, and when; without a time zone in that of this machine."""

    prompt: Prompt
    timing: Timing
    timezone: Zone | None = None
    name: Name | None = None
    deliver: Place = "log"


class Changes(Body):
    """What is to be different; a name that is null is taken away."""

    prompt: Prompt | None = None
    timing: Timing | None = None
    timezone: Zone | None = None
    name: Name | None = None
    deliver: Place | None = None
    paused: bool | None = None


class Removed(Shape):
    """A schedule that is gone, with the record of its runs."""

    deleted: Schedule


class Wanted(Body):
    """A timing that somebody thinks about."""

    timing: Timing
    timezone: Zone | None = None


class Times(Shape):
    """When it would be."""

    times: list[Time]
    timezone: Zone


@router.get("", operation_id="getSchedules", summary="List the schedules")
def get_schedules(assistant: Given, runner: Running) -> Schedules:
    """Give the schedules in the order in which they were made."""
    return Schedules(
        schedules=[Schedule.of(one, assistant) for one in assistant.schedules.get_all()],
        timezone=local_zone(),
        channels="slack" in runner.kinds,
    )


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    operation_id="addSchedule",
    summary="Have something asked by the clock",
)
def add_schedule(assistant: Given, wanted: NewSchedule, response: Response) -> Schedule:
    """Add a schedule; `timing` is cron, an interval or one moment."""
    made = assistant.schedules.add(
        wanted.prompt,
        wanted.timing,
        zone=wanted.timezone or None,
        name=wanted.name,
        deliver=wanted.deliver,
    )
    response.headers["Location"] = f"schedules/{quote(made.id, safe='')}"
    return Schedule.of(made, assistant)


@router.post("/preview", operation_id="previewTiming", summary="Tell when a timing would be")
def preview_timing(assistant: Given, wanted: Wanted) -> Times:
    """Give the next times; what says no time answers 422 with a sentence for who types it."""
    zone = wanted.timezone or assumed_zone()
    times = upcoming(wanted.timing, zone, assistant.now(), MOST_PREVIEWED)
    return Times(times=[to_iso(one) for one in times], timezone=zone)


@router.get(
    "/{id}",
    operation_id="getSchedule",
    summary="Give a schedule and its runs",
    responses=documented(HTTPStatus.NOT_FOUND),
)
def get_schedule(assistant: Given, schedule_id: Id) -> WithRuns:
    """Give a schedule with the record of its runs, newest first."""
    one = assistant.schedules.get(schedule_id)
    runs = [Run.of(run, assistant) for run in reversed(one.runs)]
    return WithRuns.of(one, assistant, runs=runs)


@router.patch(
    "/{id}",
    operation_id="changeSchedule",
    summary="Change a schedule, pause it or let it go on",
    responses=documented(HTTPStatus.NOT_FOUND),
)
def change_schedule(assistant: Given, schedule_id: Id, changes: Changes) -> Schedule:
    """Change what is given; what a paused schedule missed is not made up for."""
    given = changes.model_dump(include={"prompt", "timing", "deliver"}, exclude_none=True)
    if "name" in changes.model_fields_set:
        given["name"] = changes.name or ""
    one = assistant.schedules.update(
        schedule_id, zone=changes.timezone, is_paused=changes.paused, **given
    )
    return Schedule.of(one, assistant)


@router.delete(
    "/{id}",
    operation_id="deleteSchedule",
    summary="Remove a schedule",
    responses=documented(HTTPStatus.NOT_FOUND),
)
def delete_schedule(assistant: Given, schedule_id: Id) -> Removed:
    """Remove a schedule; what it said stays where it was delivered."""
    return Removed(deleted=Schedule.of(assistant.schedules.remove(schedule_id), assistant))


@router.post(
    "/{id}/run",
    status_code=HTTPStatus.ACCEPTED,
    operation_id="runSchedule",
    summary="Run a schedule now",
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def run_schedule(assistant: Given, runner: Running, schedule_id: Id) -> Run:
    """Begin a run in the background; 409 while it runs already."""
    return Run.of(runner.begin(schedule_id), assistant)
