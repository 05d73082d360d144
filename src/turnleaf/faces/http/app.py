"""The application: all routes over one assistant, its status, MCP, and the page's files."""

from __future__ import annotations

import re
import secrets
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from turnleaf import __version__
from turnleaf.access_tokens import Tokens
from turnleaf.assistant import Assistant
from turnleaf.core.diagnosis import Retention
from turnleaf.core.messages import StoredFigures
from turnleaf.core.serialization import to_iso
from turnleaf.doctor_report import make_doctor_report
from turnleaf.errors import NotFound
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
    monitoring,
    operator_sessions,
    problems,
    schedules,
    spaces,
)
from turnleaf.faces.http.access import FRAMES
from turnleaf.faces.http.feed import Progress
from turnleaf.faces.http.idempotency import RepeatGate
from turnleaf.faces.http.operator_sessions import HasSpaceToken
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.request_reading import SERVED, Current, Given
from turnleaf.faces.http.schemas import JsonModel, SettingSource, SettingValue, Time
from turnleaf.faces.http.spaces import ServedSpace, SpaceGate, open_others
from turnleaf.faces.mcp import offer
from turnleaf.faces.outbound import deliveries
from turnleaf.faces.processes import MissingPackage
from turnleaf.installation import advise_install
from turnleaf.settings import SETTINGS
from turnleaf.spaces import Worker
from turnleaf.tools import MemoryTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.types import Receive, Scope, Send

    from turnleaf.faces.mcp.server import McpServer


files_router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent / "page"
NONCE = "__NONCE__"
NONCE_BYTES = 16
FRESH = "no-cache"
FOR_EVER = "public, max-age=31536000, immutable"
READS = ("GET", "HEAD")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The types of the files that are served; no others are."""

_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")

OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none';"
    f" form-action 'none'; {FRAMES}"
)
"""What our pages may load and do; styles need the nonce of the response."""

NOT_BUILT = f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Turnleaf</title>
<h1>Turnleaf is running, without its page</h1>
<p>The page is built when Turnleaf is installed, and this copy has none. Run <code>make run</code>
in its source folder, or reinstall Turnleaf: {escape(advise_install("server", again=True))}.</p>
<p>The API works: see <a href="/docs">/docs</a> and
<a href="/openapi.json">/openapi.json</a>.</p>
<h1 lang="zh-TW">Turnleaf 正在執行，但沒有網頁</h1>
<p lang="zh-TW">網頁會在安裝時一併建置。請在原始碼資料夾執行 <code>make run</code>，或重新安裝。</p>
</html>
"""


@files_router.api_route("/", methods=[*READS])
def page() -> Response:
    """Return the page."""
    return serve_html(FOLDER / "index.html")


@files_router.api_route("/docs", methods=[*READS])
def to_docs() -> Response:
    """Redirect to the folder of the API description."""
    return RedirectResponse("docs/", 308)


@files_router.api_route("/docs/", methods=[*READS])
def docs() -> Response:
    """Return the description of the API."""
    return serve_html(FOLDER / "docs/index.html")


@files_router.api_route("/docs/{name:path}", methods=[*READS])
def docs_file(name: str, request: Request) -> Response:
    """Return a file of the description."""
    return serve_file(FOLDER, f"docs/{name}", request, FRESH)


@files_router.api_route("/assets/{name:path}", methods=[*READS])
def asset(name: str, request: Request) -> Response:
    """Return a file whose name has a hash of its content, so that it never changes."""
    return serve_file(FOLDER, f"assets/{name}", request, FOR_EVER)


@files_router.api_route("/early.js", methods=[*READS])
@files_router.api_route("/favicon.svg", methods=[*READS])
def root_file(request: Request) -> Response:
    """Return one of the files beside the page."""
    return serve_file(FOLDER, request.url.path.removeprefix("/"), request, FRESH)


def serve_html(path: Path) -> Response:
    """Return a page with a nonce of its own, or a notice that it was not built."""
    if not path.is_file():
        return HTMLResponse(NOT_BUILT)
    nonce = secrets.token_urlsafe(NONCE_BYTES)
    policy = OWN.format(nonce=f" 'nonce-{nonce}'")
    text = path.read_text("utf-8").replace(NONCE, nonce)
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def serve_file(folder: Path, name: str, request: Request, keeping: str) -> Response:
    """Return a file of a folder, compressed if the browser accepts that."""
    kind = TYPES.get(Path(name).suffix)
    # No part of such a name leads out of the folder.
    if kind is None or not _NAME.fullmatch(name) or not (folder / name).is_file():
        message = "there is no such file; the page may have been updated, so reload it"
        raise NotFound(message)
    path, packed = _find_packed(folder / name, request)
    found = path.stat()
    headers = {
        "ETag": f'"{found.st_mtime_ns:x}-{found.st_size:x}{"-gz" if packed else ""}"',
        "Cache-Control": keeping,
        "Vary": "Accept-Encoding",
        **packed,
    }
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(path.read_bytes(), headers=headers, media_type=kind)


def _find_packed(path: Path, request: Request) -> tuple[Path, dict[str, str]]:
    beside = path.with_name(f"{path.name}.gz")
    if "gzip" in request.headers.get("accept-encoding", "") and beside.is_file():
        return beside, {"Content-Encoding": "gzip"}
    return path, {}


DESCRIPTION = (
    "A memory for AI assistants, in files you can read. "
    "Errors are `application/problem+json`; their `detail` says what to do."
)
THREADS = 12
"""How many requests run at once: more would not be faster, and each takes memory."""

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


# The report is for the operator's terminal; its sentences are put into the client's language.
Localized = Annotated[str, AfterValidator(problems.localize)]


class ProblemFound(JsonModel):
    """An error or a warning."""

    level: Literal["error", "warning"]
    message: Localized


class Status(JsonModel):
    """What `turnleaf doctor` reports, the progress of the index, and stored conversations."""

    versions: dict[str, str]
    data_folder: FolderFound
    files: list[FileFound]
    limits: list[LimitFound]
    parts: dict[str, str]
    last_error: dict[str, Localized] | None
    problems: list[ProblemFound]
    index: Progress
    conversations: KeptConversations


@router.get("/healthz", operation_id="health", summary="Check that the server is running")
async def get_health() -> Health:
    """Answer without a thread, as all of them may be busy."""
    return Health()


@router.get("/api/status", operation_id="status", summary="Get the status")
def get_status(assistant: Given, request: Request, has_space_token: HasSpaceToken) -> Status:
    """Check the data folder as `turnleaf doctor` does."""
    served: ServedSpace = request.scope[SERVED]
    done, total = served.feed.progress
    report = make_doctor_report(assistant.stores)
    return Status(
        **(_hide_operator(report, assistant) if has_space_token else report),
        index=Progress(done=done, total=total),
        conversations=_count_kept(assistant),
    )


def _hide_operator(report: dict[str, Any], assistant: Assistant) -> dict[str, Any]:
    """Return a report without what concerns the operator alone: places and addresses."""
    variables = {one.variable for one in SETTINGS if one.field in config.OF_OPERATOR}
    redact = assistant.stores.redact
    folder = report["dataFolder"] | {"path": assistant.stores.space, "why": ""}
    parts = {name: said for name, said in report["parts"].items() if name != "words"}
    return report | {
        "versions": {"turnleaf": __version__},
        "dataFolder": folder,
        "files": [one | {"path": redact(one["path"])} for one in report["files"]],
        "limits": [one for one in report["limits"] if one["name"] not in variables],
        "parts": {name: redact(said) for name, said in parts.items()},
        "problems": [one | {"message": redact(one["message"])} for one in report["problems"]],
    }


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
        await self._served.answer_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
def talk(request: Request, assistant: Current) -> Exchange:
    """Answer a message of an MCP client, without streams or sessions."""
    try:
        return Exchange(_offer_tools(request, assistant))
    except MissingPackage as error:
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, str(error), code="settings") from error


def _offer_tools(request: Request, own: Assistant) -> McpServer:
    """Return the MCP server of the space, created at the first request."""
    served: ServedSpace = request.scope[SERVED]
    if served.mcp is None:
        tools = MemoryTools(own.stores)
        served.mcp = offer(lambda: tools)
    offered: McpServer = served.mcp
    return offered


ROUTERS = (
    memory.router, facts.router, memory.daily_router, config.router, facts.pending_router,
    facts.changes_router, imports.router, chat.router, conversations.router, schedules.router,
    feed.router, router, monitoring.router, completions.router, models.router,
    operator_sessions.router, spaces.router, files_router,
)  # fmt: skip


def make_app(assistant: Assistant) -> FastAPI:
    """Serve an assistant's memory, and the other spaces of its place to whoever has their token.

    The app watches the files for as long as it runs.
    """
    own = ServedSpace(assistant)
    others = open_others(own)
    known = Tokens(assistant.stores.operator_records, now=assistant.now)

    @contextmanager
    def use_other(space: str) -> Iterator[Assistant]:
        with others.use(space) as served:
            yield served.assistant

    # Whoever serves one space alone does nothing in others.
    is_whole = assistant.stores.folder.root is None
    worker = (
        Worker(assistant, use_other, deliveries(assistant.settings)) if is_whole else nullcontext()
    )

    @asynccontextmanager
    async def run(_app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        with closing(known), own, closing(others), worker:
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
    app.state.own = own
    app.state.tokens = known
    app.state.space = assistant.stores.space
    app.state.others = others
    # What is added last runs first: a request has its space before its key is looked up there.
    app.add_middleware(RepeatGate)
    app.add_middleware(SpaceGate, own=own, others=others)
    app.state.routes = [route for one in ROUTERS for route in one.routes]
    monitoring.add_probes(app)
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
