"""The application: every route, over one assistant."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import FastAPI

from turnleaf import __version__
from turnleaf.errors import TurnleafError
from turnleaf.faces.delivery import deliveries
from turnleaf.faces.http import (
    changes,
    chat,
    completions,
    config,
    conversations,
    daily,
    facts,
    feed,
    mcp,
    memory,
    page,
    pending,
    problems,
    prompts,
    schedules,
    status,
)
from turnleaf.scheduling import Runner
from turnleaf.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from turnleaf.assistant import Assistant

DESCRIPTION = (
    "A memory for AI assistants that their users can read. "
    "Errors are `application/problem+json`; their `detail` says what to do."
)
THREADS = 12
"""How many requests are worked on at once: more would not be faster, and each takes memory."""

log = logging.getLogger("turnleaf")

PARTS = (
    memory, facts, daily, config, pending, changes, chat, conversations, prompts, schedules, feed,
    status, completions, mcp, page,
)  # fmt: skip


def make_app(assistant: Assistant) -> FastAPI:
    """Serve an assistant's memory; the app watches its files for as long as it runs."""
    told = feed.Feed(assistant)
    runner = Runner(assistant, deliveries(assistant.settings))

    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        try:
            assistant.init()
        except TurnleafError as error:
            # What can be read can be served.
            log.warning("nothing can be written: %s", error)
        with told, Watcher(assistant.index, progress=told.index_progress), runner:
            yield

    app = FastAPI(
        title="Turnleaf",
        version=__version__,
        description=DESCRIPTION,
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=problems.EVERYWHERE,
        separate_input_output_schemas=False,
    )
    app.state.assistant = assistant
    app.state.feed = told
    app.state.runner = runner
    app.state.routes = [route for part in PARTS for route in part.router.routes]
    problems.handle_in(app)
    for part in PARTS:
        app.include_router(part.router)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """Describe the API; what a problem looks like is named once."""
    if not app.openapi_schema:
        described = FastAPI.openapi(app)
        schemas = described.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = problems.SCHEMA
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        app.openapi_schema = described
    return app.openapi_schema
