"""Schedules and their runs."""

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
from turnleaf.core.serialization import to_iso
from turnleaf.faces.http.idempotency import REPEATABLE
from turnleaf.faces.http.problems import document_problems, localize
from turnleaf.faces.http.request_reading import JSON_ONLY, Given, from_app
from turnleaf.faces.http.schemas import Body, JsonModel, Time, Words
from turnleaf.faces.outbound import redact
from turnleaf.scheduling import Runner
from turnleaf.store.schedules import assume_zone, find_local_zone, list_upcoming

router = APIRouter(prefix="/api/schedules", tags=["schedules"], dependencies=[JSON_ONLY])

MOST_PREVIEWED = 5
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]
Prompt = Annotated[Words, Field(examples=["What is on today?", "今天有什麼事？"])]
Timing = Annotated[Words, Field(examples=["0 9 * * 1-5", "every 15m", "2036-12-24 18:00"])]
Zone = Annotated[str, Field(examples=["Asia/Taipei", "Europe/Vienna"])]
DeliveryTarget = Annotated[str, Field(examples=["log", "file:news.md", "slack:C012AB3CD"])]
Name = Annotated[str, Field(examples=["Good morning", "早安"])]


Running = Annotated[Runner, from_app("runner")]


class RunView(JsonModel):
    """One run of a schedule, and its result."""

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
        record = schedules.run_to_json(schedules.mark_if_interrupted(run, assistant.now()))
        error = run.error and localize(redact(run.error, assistant))
        return cls.model_validate({**record, "error": error})


class ScheduleView(JsonModel):
    """A prompt that runs on a schedule, with its next and last run."""

    id: str = Field(examples=["k7m2q9x4vd"])
    name: Name | None = None
    prompt: Prompt
    timing: Timing
    timezone: Zone
    deliver: DeliveryTarget
    paused: bool
    next_run: Time | None = None
    created_at: Time
    updated_at: Time
    running: bool
    last_run: RunView | None = None

    @classmethod
    def of(cls, one: schedules.Schedule, assistant: Assistant, **more: object) -> Self:
        """Return a schedule's form as it is now, with the fields of a subclass."""
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
    """A schedule and its runs, newest first."""

    runs: list[RunView]


class ScheduleList(JsonModel):
    """All schedules, the time zone of the server, and whether it can deliver to Slack."""

    schedules: list[ScheduleView]
    timezone: Zone
    channels: bool


class NewSchedule(Body):
    """A prompt and when to run it; the default time zone is that of the server."""

    prompt: Prompt
    timing: Timing
    timezone: Zone | None = None
    name: Name | None = None
    deliver: DeliveryTarget = "log"


class ScheduleChanges(Body):
    """The changes; a name that is null is removed."""

    prompt: Prompt | None = None
    timing: Timing | None = None
    timezone: Zone | None = None
    name: Name | None = None
    deliver: DeliveryTarget | None = None
    paused: bool | None = None


class Removed(JsonModel):
    """A removed schedule."""

    deleted: ScheduleView


class TimingRequest(Body):
    """A timing to preview."""

    timing: Timing
    timezone: Zone | None = None


class Times(JsonModel):
    """The next times of a timing."""

    times: list[Time]
    timezone: Zone


@router.get("", summary="List the schedules")
def get_schedules(assistant: Given, runner: Running) -> ScheduleList:
    """Return the schedules in the order in which they were added."""
    return ScheduleList(
        schedules=[ScheduleView.of(one, assistant) for one in assistant.schedules.get_all()],
        timezone=find_local_zone(),
        channels="slack" in runner.kinds,
    )


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    summary="Run a prompt on a schedule",
    responses=document_problems(409),
    dependencies=[REPEATABLE],
)
def add_schedule(assistant: Given, wanted: NewSchedule, response: Response) -> ScheduleView:
    """Add a schedule; `timing` is a cron expression, an interval, or a date and time."""
    made = assistant.schedules.add(
        wanted.prompt,
        wanted.timing,
        zone=wanted.timezone or None,
        name=wanted.name,
        deliver=wanted.deliver,
    )
    response.headers["Location"] = f"schedules/{quote(made.id, safe='')}"
    return ScheduleView.of(made, assistant)


@router.post("/preview", summary="Preview a timing")
def preview_timing(assistant: Given, wanted: TimingRequest) -> Times:
    """Return the next times; an invalid timing is answered with 422 and an explanation."""
    zone = wanted.timezone or assume_zone()
    times = list_upcoming(wanted.timing, zone, assistant.now(), MOST_PREVIEWED)
    return Times(times=[to_iso(one) for one in times], timezone=zone)


@router.get("/{id}", summary="Get a schedule and its runs", responses=document_problems(404))
def get_schedule(assistant: Given, schedule_id: Id) -> ScheduleWithRuns:
    """Return a schedule with its runs, newest first."""
    one = assistant.schedules.get(schedule_id)
    runs = [RunView.of(run, assistant) for run in reversed(one.runs)]
    return ScheduleWithRuns.of(one, assistant, runs=runs)


@router.patch(
    "/{id}", summary="Change, pause or resume a schedule", responses=document_problems(404)
)
def change_schedule(assistant: Given, schedule_id: Id, changes: ScheduleChanges) -> ScheduleView:
    """Change the given fields; runs missed during a pause are skipped."""
    given = changes.model_dump(include={"prompt", "timing", "deliver"}, exclude_none=True)
    if "name" in changes.model_fields_set:
        given["name"] = changes.name or ""
    one = assistant.schedules.update(
        schedule_id, zone=changes.timezone, is_paused=changes.paused, **given
    )
    return ScheduleView.of(one, assistant)


@router.delete("/{id}", summary="Remove a schedule", responses=document_problems(404))
def delete_schedule(assistant: Given, schedule_id: Id) -> Removed:
    """Remove a schedule; its results stay."""
    return Removed(deleted=ScheduleView.of(assistant.schedules.remove(schedule_id), assistant))


@router.post(
    "/{id}/run",
    status_code=HTTPStatus.ACCEPTED,
    summary="Run a schedule now",
    responses=document_problems(404, 409),
)
def run_schedule(assistant: Given, runner: Running, schedule_id: Id) -> RunView:
    """Start a run in the background; 409 if it is running already."""
    return RunView.of(runner.begin(schedule_id), assistant)
