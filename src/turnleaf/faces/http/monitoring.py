"""For whoever runs the server: whether it is ready, what it counts, and a log for machines."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import traceback
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from turnleaf import metrics
from turnleaf.core.secrets import mask_secrets
from turnleaf.core.serialization import to_iso
from turnleaf.errors import TurnleafError
from turnleaf.faces.http.operator_sessions import OPERATOR_ONLY
from turnleaf.faces.http.problems import Refused, document_problems, request_id
from turnleaf.faces.http.schemas import JsonModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fastapi import FastAPI

T = TypeVar("T")
log = logging.getLogger("turnleaf")
router = APIRouter(tags=["status"])

WAIT_SECONDS = 5.0
"""How long a probe waits for the stores."""
FRESH_SECONDS = 2.0
"""For how long an answer serves everybody: strangers may ask as often as they like."""
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
NOT_READY = "the data cannot be read or written at the moment; the server log has the details"
TOO_SLOW = "the data could not be read in time; try again in a moment"
GAUGES = {
    "learning_queue_messages": "Messages that wait to be learned from.",
    "work_due": "Spaces in which schedules or learning are due, each kind counted.",
    "index_pending_passages": "Passages that are still to be taken into the index.",
    "index_lag_seconds": "Seconds since the oldest change that the search does not know yet.",
    "pool_connections": "Connections to the database.",
    "pool_idle_connections": "Connections to the database that nobody uses.",
    "pool_max_connections": "Connections to the database that there may be.",
    "pool_waiting_requests": "Requests that wait for a connection to the database.",
    "pool_requests_total": "Requests for a connection to the database.",
    "pool_failed_requests_total": "Requests that got no connection to the database.",
    "pool_lost_connections_total": "Connections to the database that were lost.",
    "stores_measured": "1 where the stores could be asked for this, else 0.",
}


class Shared(Generic[T]):
    """A look at the stores that several may ask for: on a thread of its own, one at a time.

    The threads of requests may all be busy, and one that hangs must not take another with it.
    """

    def __init__(self, look: Callable[[], T], clock: Callable[[], float] = time.monotonic) -> None:
        self._look = look
        self._clock = clock
        self._ended = 0.0
        self._found: Future[T] | None = None

    async def get(self, seconds: float = WAIT_SECONDS) -> T:
        """Return what was found a moment ago or is found now; raise TimeoutError after a while."""
        is_over = self._found is not None and self._found.done()
        if self._found is None or (is_over and self._clock() - self._ended >= FRESH_SECONDS):
            self._found = Future()
            Thread(target=self._run, args=[self._found], daemon=True).start()
        # Whoever stops waiting must not end the look of others.
        return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._found)), seconds)

    def _run(self, found: Future[T]) -> None:
        try:
            result = self._look()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is asked for
            self._ended = self._clock()
            found.set_exception(error)
        else:
            self._ended = self._clock()
            found.set_result(result)


class Ready(JsonModel):
    """That requests can be answered."""

    status: Literal["ready"] = "ready"


def add_probes(app: FastAPI) -> None:
    """Add to an app what its probes ask; it has its other parts already."""
    app.state.ready = Shared(app.state.own.assistant.stores.check_ready)
    app.state.gauges = Shared(lambda: _measure(app))


@router.get(
    "/readyz",
    operation_id="ready",
    summary="Check that the stores can be read and written",
    responses=document_problems(503),
)
async def get_ready(request: Request) -> Ready:
    """Answer within seconds; a stranger learns no more than that it is not ready."""
    try:
        await request.app.state.ready.get()
    except TimeoutError:
        log.warning("not ready: the data could not be read within %d seconds", WAIT_SECONDS)
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, TOO_SLOW, code="storage") from None
    except TurnleafError as error:
        log.warning("not ready: %s", error)
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, NOT_READY, code="storage") from None
    return Ready()


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Get what the server counts, for Prometheus",
    response_class=PlainTextResponse,
    responses=document_problems(403),
    dependencies=[OPERATOR_ONLY],
)
async def get_metrics(request: Request) -> PlainTextResponse:
    """Return counters of this process, and how busy its stores are."""
    try:
        found = await request.app.state.gauges.get()
    except TimeoutError:
        found = {"stores_measured": 0.0}
    gauges = {f"turnleaf_{name}": (GAUGES[name], value) for name, value in found.items()}
    return PlainTextResponse(metrics.write_metrics(gauges), media_type=metrics.CONTENT_TYPE)


def _measure(app: FastAPI) -> Mapping[str, float]:
    own = app.state.own
    stores, upkeep = own.assistant.stores, own.upkeep
    done, total = own.feed.progress
    found = {
        "index_pending_passages": float(max(0, total - done)),
        "index_lag_seconds": upkeep.measure_lag(time.monotonic()) if upkeep else 0.0,
    }
    try:
        found |= {f"pool_{name}": value for name, value in stores.measure_pool().items()}
        found["work_due"] = float(stores.work.count_due())
        found["learning_queue_messages"] = float(sum(stores.learning.backlog().values()))
    except TurnleafError:
        return {**found, "stores_measured": 0.0}
    return {**found, "stores_measured": 1.0}


def note_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; the client chose its method, so an unusual one has no name here."""
    known = method if method in METHODS else "other"
    metrics.REQUESTS.add(route, known, f"{status // 100}xx" if status else "none")
    metrics.REQUEST_SECONDS.observe(route, known, seconds=seconds)


class JsonLines(logging.Formatter):
    """A log with one JSON object in each line, which holds nothing that was said.

    Of an unexpected error it has the kind and the places in the code: its message may quote the
    user.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        line: dict[str, Any] = {
            "time": to_iso(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        request = getattr(record, "request", None)
        line |= request or {"message": mask_secrets(record.getMessage())}
        if request_id.get():
            line["requestId"] = request_id.get()
        if record.exc_info and record.exc_info[1]:
            line |= _describe_error(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def _describe_error(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames]
    return {"error": type(error).__name__, "places": places}


@contextmanager
def log_as_json() -> Iterator[None]:
    """Log requests and warnings as JSON to stderr, in the place of sentences."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    # The pool of connections warns in several lines of text of its own.
    loggers = (log, logging.getLogger("psycopg.pool"))
    before = [(one, one.handlers, one.propagate) for one in loggers]
    requests = logging.getLogger("turnleaf.http")
    requests.setLevel(logging.INFO)
    for one in loggers:
        one.handlers, one.propagate = [handler], False
    try:
        yield
    finally:
        for one, handlers, was_passed_on in before:
            one.handlers, one.propagate = handlers, was_passed_on
        requests.setLevel(logging.NOTSET)
