"""What is asked by the clock, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Self
from urllib.parse import quote

from fastapi import APIRouter, Path, Response
from pydantic import Field

from turnleaf.assistant import Assistant
from turnleaf.core import schedules
from turnleaf.core.schedules import State
from turnleaf.core.times import to_iso
from turnleaf.faces.http.problems import document_problems
from turnleaf.faces.http.requests import JSON_ONLY, Given, from_app
from turnleaf.faces.http.schemas import Body, JsonModel, Time, Words
from turnleaf.faces.outside import harmless
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


Running = Annotated[Runner, from_app("runner")]


class RunView(JsonModel):
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
        """Return a run's form as it is now."""
        record = schedules.run_to_json(schedules.as_of_now(run, assistant.now()))
        error = run.error and harmless(run.error, assistant)
        return cls.model_validate({**record, "error": error})


class ScheduleView(JsonModel):
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
    last_run: RunView | None = None

    @classmethod
    def of(cls, one: schedules.Schedule, assistant: Assistant, **more: object) -> Self:
        """Return a schedule's form as it is now, with `more` than every form has."""
        last = [RunView.of(run, assistant) for run in one.runs[-1:]]
        return cls.model_validate(
            {
                **schedules.to_json(replace(one, runs=())),
                "running": one.is_running(assistant.now()),
                "last_run": last[0] if last else None,
                **more,
            }
        )


class ScheduleWithRuns(ScheduleView):
    """A schedule and the record of its runs, newest first."""

    runs: list[RunView]


class Schedules(JsonModel):
    """Every schedule; the time zone of this machine, and whether results can go to Slack."""

    schedules: list[ScheduleView]
    timezone: Zone
    channels: bool


class NewSchedule(Body):
    """What is to be asked, and when; without a time zone in that of this machine."""

    prompt: Prompt
    timing: Timing
    timezone: Zone | None = None
    name: Name | None = None
    deliver: Place = "log"


class ScheduleChanges(Body):
    """What is to be different; a name that is null is taken away."""

    prompt: Prompt | None = None
    timing: Timing | None = None
    timezone: Zone | None = None
    name: Name | None = None
    deliver: Place | None = None
    paused: bool | None = None


class Removed(JsonModel):
    """A schedule that is gone, with the record of its runs."""

    deleted: ScheduleView


class TimingRequest(Body):
    """A timing that somebody thinks about."""

    timing: Timing
    timezone: Zone | None = None


class Times(JsonModel):
    """When it would be."""

    times: list[Time]
    timezone: Zone


@router.get("", summary="List the schedules")
def get_schedules(assistant: Given, runner: Running) -> Schedules:
    """Return the schedules in the order in which they were made."""
    return Schedules(
        schedules=[ScheduleView.of(one, assistant) for one in assistant.schedules.get_all()],
        timezone=local_zone(),
        channels="slack" in runner.kinds,
    )


@router.post("", status_code=HTTPStatus.CREATED, summary="Have something asked by the clock")
def add_schedule(assistant: Given, wanted: NewSchedule, response: Response) -> ScheduleView:
    """Add a schedule; `timing` is cron, an interval or one moment."""
    made = assistant.schedules.add(
        wanted.prompt,
        wanted.timing,
        zone=wanted.timezone or None,
        name=wanted.name,
        deliver=wanted.deliver,
    )
    response.headers["Location"] = f"schedules/{quote(made.id, safe='')}"
    return ScheduleView.of(made, assistant)


@router.post("/preview", summary="Tell when a timing would be")
def preview_timing(assistant: Given, wanted: TimingRequest) -> Times:
    """Return the next times; what says no time answers 422 with a sentence for who types it."""
    zone = wanted.timezone or assumed_zone()
    times = upcoming(wanted.timing, zone, assistant.now(), MOST_PREVIEWED)
    return Times(times=[to_iso(one) for one in times], timezone=zone)


@router.get("/{id}", summary="Give a schedule and its runs", responses=document_problems(404))
def get_schedule(assistant: Given, schedule_id: Id) -> ScheduleWithRuns:
    """Return a schedule with the record of its runs, newest first."""
    one = assistant.schedules.get(schedule_id)
    runs = [RunView.of(run, assistant) for run in reversed(one.runs)]
    return ScheduleWithRuns.of(one, assistant, runs=runs)


@router.patch(
    "/{id}", summary="Change a schedule, pause it or let it go on", responses=document_problems(404)
)
def change_schedule(assistant: Given, schedule_id: Id, changes: ScheduleChanges) -> ScheduleView:
    """Change what is given; what a paused schedule missed is not made up for."""
    given = changes.model_dump(include={"prompt", "timing", "deliver"}, exclude_none=True)
    if "name" in changes.model_fields_set:
        given["name"] = changes.name or ""
    one = assistant.schedules.update(
        schedule_id, zone=changes.timezone, is_paused=changes.paused, **given
    )
    return ScheduleView.of(one, assistant)


@router.delete("/{id}", summary="Remove a schedule", responses=document_problems(404))
def delete_schedule(assistant: Given, schedule_id: Id) -> Removed:
    """Remove a schedule; what it said stays where it was delivered."""
    return Removed(deleted=ScheduleView.of(assistant.schedules.remove(schedule_id), assistant))


@router.post(
    "/{id}/run",
    status_code=HTTPStatus.ACCEPTED,
    summary="Run a schedule now",
    responses=document_problems(404, 409),
)
def run_schedule(assistant: Given, runner: Running, schedule_id: Id) -> RunView:
    """Begin a run in the background; 409 while it runs already."""
    return RunView.of(runner.begin(schedule_id), assistant)
