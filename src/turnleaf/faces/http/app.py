"""The application: all routes over one assistant, its status, and MCP."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, closing, nullcontext
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from pydantic import Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from turnleaf import __version__
from turnleaf.assistant import Assistant
from turnleaf.core.examination import Retention
from turnleaf.core.messages import StoredFigures
from turnleaf.core.times import to_iso
from turnleaf.doctor_report import make_doctor_report
from turnleaf.errors import TurnleafError
from turnleaf.faces.http import (
    chat,
    completions,
    config,
    conversations,
    facts,
    feed,
    imports,
    memory,
    models,
    operating,
    operators,
    page,
    problems,
    schedules,
)
from turnleaf.faces.http.feed import Progress
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.requests import Current, Given
from turnleaf.faces.http.schemas import JsonModel, SettingSource, SettingValue, Time
from turnleaf.faces.mcp import offer
from turnleaf.faces.outbound import deliveries
from turnleaf.faces.processes import MissingPackage
from turnleaf.import_jobs import ImportJobs, LearningJob
from turnleaf.llm.models import find_extractor
from turnleaf.scheduling import Runner
from turnleaf.spaces import Spaces, Worker
from turnleaf.store.index_upkeep import IndexUpkeep
from turnleaf.tools import MemoryTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from turnleaf.faces.mcp.server import McpServer

DESCRIPTION = (
    "A memory for AI assistants, in files you can read. "
    "Errors are `application/problem+json`; their `detail` says what to do."
)
THREADS = 12
"""How many requests run at once: more would not be faster, and each takes memory."""

log = logging.getLogger("turnleaf")

router = APIRouter(tags=["status"])


class Health(JsonModel):
    """The health check."""

    status: Literal["ok"] = "ok"


class KeptConversations(JsonModel):
    """How many messages are stored, and for how long."""

    kept: str = Field(
        description="`forever`, a number of days, or `window`: only the newest messages.",
        examples=["forever", "90 days", "window"],
    )
    messages: int
    conversations: int
    bytes: int
    oldest: Time | None


class FolderFound(JsonModel):
    """The data folder, and why it is this one."""

    path: str
    why: str
    exists: bool


class FileFound(JsonModel):
    """A file of the data folder, and what it holds."""

    name: str
    path: str
    bytes: int | None
    holds: str


class LimitFound(JsonModel):
    """A setting that limits something, by the name of its variable."""

    name: str
    value: SettingValue
    source: SettingSource = Field(alias="from")
    meaning: str


class ProblemFound(JsonModel):
    """An error or a warning."""

    level: Literal["error", "warning"]
    message: str


class Status(JsonModel):
    """What `turnleaf doctor` reports, the progress of the index, and stored conversations."""

    versions: dict[str, str]
    data_folder: FolderFound
    files: list[FileFound]
    limits: list[LimitFound]
    parts: dict[str, str]
    last_error: dict[str, str] | None
    problems: list[ProblemFound]
    index: Progress
    conversations: KeptConversations


@router.get("/healthz", operation_id="health", summary="Check that the server is running")
async def get_health() -> Health:
    """Answer without a thread, as all of them may be busy."""
    return Health()


@router.get("/api/status", operation_id="status", summary="Get the status")
def get_status(assistant: Given, request: Request) -> Status:
    """Check the data folder as `turnleaf doctor` does."""
    done, total = request.app.state.feed.progress
    return Status(
        **make_doctor_report(assistant.stores),
        index=Progress(done=done, total=total),
        conversations=_count_kept(assistant),
    )


def _count_kept(assistant: Assistant) -> KeptConversations:
    """Count stored messages, without creating the database if there is none."""
    store = assistant.conversations
    figures = store.figures() if store.exists() else StoredFigures(0, 0, 0, None)
    return KeptConversations(
        kept=Retention(store.keeps_everything, assistant.settings.conversation_keep_days).span,
        messages=figures.messages,
        conversations=figures.conversations,
        bytes=figures.bytes,
        oldest=to_iso(figures.oldest) if figures.oldest else None,
    )


class Exchange(Response):
    """A response that the MCP SDK writes, to a request that it reads."""

    def __init__(self, served: McpServer) -> None:
        super().__init__()
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the SDK."""
        await self._served.on_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
def talk(request: Request, assistant: Current) -> Exchange:
    """Answer a message of an MCP client, without streams or sessions."""
    try:
        return Exchange(_offer_tools(request, assistant))
    except MissingPackage as error:
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, str(error), code="settings") from error


def _offer_tools(request: Request, own: Assistant) -> McpServer:
    """Return the MCP server, created at the first request."""
    state = request.app.state
    if not hasattr(state, "mcp"):
        tools = MemoryTools(own.stores)
        state.mcp = offer(lambda: tools)
    served: McpServer = state.mcp
    return served


ROUTERS = (
    memory.router, facts.router, memory.daily_router, config.router, facts.pending_router,
    facts.changes_router, imports.router, chat.router, conversations.router, schedules.router,
    feed.router, router, operating.router, completions.router, models.router, operators.router,
    page.router,
)  # fmt: skip


def make_app(assistant: Assistant) -> FastAPI:
    """Serve an assistant's memory; the app watches its files for as long as it runs."""
    news = feed.EventFeed(assistant)
    jobs = ImportJobs(assistant.stores, assistant.now, news.note_import)
    learning = LearningJob(
        assistant.stores,
        assistant.now,
        lambda: find_extractor(assistant.settings),
        lambda: news.publish("reading", feed.Nothing()),
    )
    runner = Runner(assistant, deliveries(assistant.settings))
    spaces = Spaces(assistant.stores.folder, now=assistant.now)
    # Whoever serves one space alone does nothing in others.
    is_whole = assistant.stores.folder.root is None
    worker = (
        Worker(assistant, spaces, deliveries(assistant.settings)) if is_whole else nullcontext()
    )

    @asynccontextmanager
    async def run(_app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        try:
            assistant.init()
        except TurnleafError as error:
            # What can be read can still be served.
            log.warning("the data folder cannot be written: %s", error)
        stores = assistant.stores
        upkeep = IndexUpkeep(stores.passages, stores.announcements, progress=news.note_progress)
        app.state.upkeep = upkeep
        with news, upkeep, runner, closing(spaces), worker, closing(jobs), closing(learning):
            yield

    app = FastAPI(
        title="Turnleaf",
        version=__version__,
        description=DESCRIPTION,
        lifespan=run,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=problems.EVERYWHERE,
        generate_unique_id_function=lambda route: to_camel(route.name),
    )
    app.state.assistant = assistant
    app.state.feed = news
    app.state.imports = jobs
    app.state.import_learning = learning
    app.state.runner = runner
    app.state.routes = [route for one in ROUTERS for route in one.routes]
    operating.add_probes(app)
    problems.add_handlers(app)
    for one in ROUTERS:
        app.include_router(one)
    app.openapi = lambda: _describe(app)  # type: ignore[method-assign]
    return app


def _describe(app: FastAPI) -> dict[str, Any]:
    """Return the description of the API, with the schemas of events."""
    if not app.openapi_schema:
        described = FastAPI.openapi(app)
        schemas = described.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(_describe_events())
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        app.openapi_schema = described
    return app.openapi_schema


def _describe_events() -> dict[str, Any]:
    """Return the schemas of events, which no route returns by itself."""
    _, described = models_json_schema(
        [(chat.ChatEvents, "serialization"), (feed.ServerEvents, "serialization")],
        ref_template=problems.REFERENCE,
    )
    return dict(described["$defs"])
