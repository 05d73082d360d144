"""Importing what other programs exported, from a file that is sent."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Self

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from turnleaf.core.languages.replies import translate
from turnleaf.core.serialization import to_iso
from turnleaf.faces.http.problems import Refused, document_problems, request_language
from turnleaf.faces.http.request_reading import JSON_ONLY, from_app
from turnleaf.faces.http.schemas import Body, JsonModel, Time
from turnleaf.import_jobs import ImportJob, ImportJobs, JobState, LearningJob, LearningState

if TYPE_CHECKING:
    from turnleaf.importing import ImportReport

router = APIRouter(prefix="/api/import", tags=["import"])

MEDIA_TYPE = "application/octet-stream"
FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}
MOST_CALLS = 1_000_000
Running = Annotated[ImportJobs, from_app("imports")]
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]


class LeftOut(JsonModel):
    """What was not imported, and how much of it."""

    what: str = Field(examples=["attachments", "附件"])
    count: int


class ImportedView(JsonModel):
    """What an import found: with `dryRun` what would come in, else what came in."""

    conversations: int
    messages: int = Field(description="How many of the messages are new.")
    oldest: Time | None
    newest: Time | None
    programs: dict[str, int] = Field(examples=[{"chatgpt": 1204}])
    memories: int
    known_memories: int
    older: int = Field(description="How many memories had no room and are found by search alone.")
    to_review: int = Field(description="How many facts of conversations are pending review.")
    left_out: list[LeftOut]
    problems: list[str]

    @classmethod
    def of(cls, report: ImportReport) -> Self:
        """Return the form of a report, in the language of the request."""
        left_out = [
            LeftOut(what=_translate(reason), count=count)
            for reason, count in report.skipped.most_common()
        ]
        return cls(
            conversations=report.conversations,
            messages=report.messages,
            oldest=to_iso(report.oldest) if report.oldest else None,
            newest=to_iso(report.newest) if report.newest else None,
            programs=dict(report.programs.most_common()),
            memories=report.memories,
            known_memories=report.known_memories,
            older=report.older,
            to_review=report.to_review,
            left_out=left_out,
            problems=[_translate(one) for one in report.problems],
        )


class ImportView(JsonModel):
    """An import, how far it is, and what became of it."""

    id: str = Field(examples=["k7m2q9x4vd"])
    name: str = Field(examples=["chatgpt-export.zip"])
    size: int
    dry_run: bool
    state: JobState
    done: int
    total: int
    imported: ImportedView
    problem: str | None

    @classmethod
    def of(cls, job: ImportJob) -> Self:
        """Return the form of an import, in the language of the request."""
        return cls(
            id=job.id,
            name=job.name,
            size=job.size,
            dry_run=job.dry_run,
            state=job.state,
            done=job.done,
            total=job.total,
            imported=ImportedView.of(job.report),
            problem=_translate(job.problem) if job.problem else None,
        )


class LatestImport(JsonModel):
    """The import that runs, or the last one."""

    latest: ImportView | None


@router.post(
    "",
    status_code=HTTPStatus.ACCEPTED,
    summary="Import a file",
    openapi_extra=FILE,
    responses=document_problems(409),
)
async def begin_import(
    request: Request,
    imports: Running,
    *,
    name: Annotated[
        str, Query(min_length=1, max_length=255, description="The file's name.", examples=["a.zip"])
    ],
    dry_run: Annotated[
        bool, Query(alias="dryRun", description="Only count what would come in.")
    ] = False,
) -> ImportView:
    """Store a file as it arrives, and import it in the background, one at a time.

    After a dry run, `POST /api/import/{id}` imports the same file within an hour.
    """
    _check_type(request)
    expected = int(request.headers.get("content-length", "0"))
    job = await to_thread.run_sync(
        lambda: imports.receive(name, dry_run=dry_run, expected_bytes=expected)
    )
    try:
        async for part in request.stream():
            await to_thread.run_sync(imports.write, job, part)
    except ClientDisconnect:
        imports.abandon(job)
        message = "the file did not arrive completely; send it again"
        raise Refused(HTTPStatus.BAD_REQUEST, message) from None
    except BaseException:
        imports.abandon(job)
        raise
    imports.start(job)
    return ImportView.of(job)


@router.get("", summary="Get the latest import")
def get_latest_import(imports: Running) -> LatestImport:
    """Return the import that runs, or what became of the last one."""
    job = imports.latest
    return LatestImport(latest=ImportView.of(job) if job else None)


class ModelReading(JsonModel):
    """What it takes for a model to read what was imported, and how far it is.

    `calls` and `tokens` are what is left to read; `made` of at most `mostCalls` calls were made.
    """

    model: str | None = Field(description="null: no model is set up.")
    conversations: int
    calls: int
    tokens: int
    state: LearningState
    made: int
    most_calls: int
    found: int
    problem: str | None


class ModelReadingRequest(Body):
    """How many calls the model may take."""

    max_calls: int = Field(ge=1, le=MOST_CALLS, examples=[200])


Learning = Annotated[LearningJob, from_app("import_learning")]


@router.get("/learning", summary="Get what a model would read of what was imported")
def get_model_reading(job: Learning) -> ModelReading:
    """Return how many calls and tokens it takes, and how far it is; nobody is asked."""
    model, plan = job.plan()
    return ModelReading(
        model=model,
        conversations=plan.conversations,
        calls=plan.calls,
        tokens=plan.tokens,
        state=job.state,
        made=job.result.calls,
        most_calls=job.most_calls,
        found=job.result.found,
        problem=_translate(job.problem) if job.problem else None,
    )


@router.post(
    "/learning",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have a model read what was imported",
    responses=document_problems(409),
    dependencies=[JSON_ONLY],
)
def begin_model_reading(job: Learning, wanted: ModelReadingRequest) -> ModelReading:
    """Look for facts in imported conversations; those that are found are pending review."""
    job.start(wanted.max_calls)
    return get_model_reading(job)


@router.delete(
    "/learning",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Stop a model that reads",
    dependencies=[JSON_ONLY],
)
def stop_model_reading(job: Learning) -> None:
    """Stop after the call that is being made; what was found stays."""
    job.close()


@router.get("/{id}", summary="Get an import", responses=document_problems(404))
def get_import(imports: Running, job_id: Id) -> ImportView:
    """Return how far an import is, or what became of it."""
    return ImportView.of(imports.get(job_id))


@router.post(
    "/{id}",
    status_code=HTTPStatus.ACCEPTED,
    summary="Import what a dry run counted",
    responses=document_problems(404, 409),
    dependencies=[JSON_ONLY],
)
def continue_import(imports: Running, job_id: Id) -> ImportView:
    """Import the file of a dry run, without sending it again."""
    return ImportView.of(imports.import_counted(job_id))


@router.delete(
    "/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Stop an import",
    responses=document_problems(404),
    dependencies=[JSON_ONLY],
)
def stop_import(imports: Running, job_id: Id) -> None:
    """End an import and drop its file; whole conversations that came in stay."""
    imports.stop(job_id)


def _check_type(request: Request) -> None:
    """Refuse what a form on another website could send."""
    if request.headers.get("content-type", "") != MEDIA_TYPE:
        message = f"send the file itself as the body, with the header Content-Type: {MEDIA_TYPE}"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)


def _translate(text: str) -> str:
    return translate(text, request_language.get())
