"""What serves each space: its assistant, events, imports and schedules, apart from all others.

A request's token decides its space before any route sees it. A space is opened at its first
request and closed when it was idle longest.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import anyio
from anyio import to_thread

from turnleaf.errors import TurnleafError
from turnleaf.faces.http import problems
from turnleaf.faces.http.feed import EventFeed, Nothing
from turnleaf.faces.http.operators import HAS_SPACE_TOKEN
from turnleaf.faces.http.requests import SERVED, SPACE
from turnleaf.faces.outbound import deliveries
from turnleaf.import_jobs import ImportJobs, LearningJob
from turnleaf.llm.models import find_extractor
from turnleaf.scheduling import Runner
from turnleaf.spaces import Pool
from turnleaf.store.index_upkeep import IndexUpkeep

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from turnleaf.assistant import Assistant
    from turnleaf.core.dialogue import Model

log = logging.getLogger("turnleaf")


class ServedSpace:
    """All that serves one space.

    Only the server's own space delivers to Slack: that is the operator's account.
    """

    def __init__(self, assistant: Assistant, *, is_own: bool = True) -> None:
        self.assistant = assistant
        self.feed = feed = EventFeed(assistant)
        self.imports = ImportJobs(
            assistant.stores, assistant.now, feed.note_import, check_room=assistant.meter.check_room
        )
        self.import_learning = LearningJob(
            assistant.stores,
            assistant.now,
            self._find_extractor,
            lambda: feed.publish("reading", Nothing()),
        )
        self.runner = Runner(assistant, deliveries(assistant.settings) if is_own else {})
        self.mcp: Any = None
        self.upkeep: IndexUpkeep | None = None
        self._parts = ExitStack()
        self._starting = Lock()
        self._is_started = False

    def __enter__(self) -> Self:
        """Begin what runs in the background, once."""
        with self._starting:
            if not self._is_started:
                self._is_started = True
                self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._parts.close()

    def _start(self) -> None:
        try:
            self.assistant.init()
        except TurnleafError as error:
            # What can be read can still be served.
            log.warning("the data folder cannot be written: %s", error)
        stores = self.assistant.stores
        self.upkeep = upkeep = IndexUpkeep(
            stores.passages, stores.announcements, progress=self.feed.note_progress
        )
        for part in (self.feed, upkeep, self.runner):
            self._parts.enter_context(part)
        for job in (self.imports, self.import_learning):
            self._parts.enter_context(closing(job))

    def _find_extractor(self) -> Model | None:
        model = find_extractor(self.assistant.settings)
        return self.assistant.meter.meter(model) if model else None

    @property
    def is_busy(self) -> bool:
        """Whether something is being done here that no request waits for."""
        is_reading = self.import_learning.state == "running"
        return is_reading or self.imports.is_busy or self.runner.is_busy or self.assistant.is_busy


def open_others(own: ServedSpace) -> Pool[ServedSpace]:
    """Return the other spaces of the place, opened by need."""

    def open_space(name: str) -> ServedSpace:
        return ServedSpace(own.assistant.open_space(name), is_own=False)

    return Pool(open_space, _close, is_busy=lambda one: one.is_busy)


def _close(served: ServedSpace) -> None:
    with served.assistant.stores, ExitStack() as parts:
        parts.callback(served.assistant.close, flush=False)
        parts.callback(served.__exit__)


class SpaceGate:
    """Gives each request the parts of its space, and keeps that space open until it is answered."""

    def __init__(self, app: ASGIApp, own: ServedSpace, others: Pool[ServedSpace]) -> None:
        self._app = app
        self._own = own
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        name = scope.get(SPACE)
        if scope["type"] != "http" or (name is None and not scope.get(HAS_SPACE_TOKEN)):
            scope[SERVED] = self._own
            await self._app(scope, receive, send)
            return
        with ExitStack() as using:
            try:
                scope[SERVED] = await to_thread.run_sync(self._enter, using, scope)
            except TurnleafError as error:
                await problems.answer_error(scope["path"], error)(scope, receive, send)
                return
            try:
                await self._app(scope, receive, send)
            finally:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(using.close)

    def _enter(self, using: ExitStack, scope: Scope) -> ServedSpace:
        own = self._own
        is_own = scope[SPACE] == own.assistant.stores.space
        served = own if is_own else using.enter_context(self._others.use(scope[SPACE]))
        if not is_own:
            served.__enter__()
        if scope.get(HAS_SPACE_TOKEN):
            served.assistant.meter.count_request()
        return served
