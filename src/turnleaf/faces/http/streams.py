"""Streamed responses, and the threads that produce them.

A turn runs on a thread of its own. When its client disconnects, the thread ends the turn at its
next piece, so that the text so far is stored.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, closing, suppress
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from turnleaf.core.serialization import dumps
from turnleaf.errors import LimitReached, TurnleafError
from turnleaf.faces.http import problems
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.request_reading import SERVED
from turnleaf.faces.outbound import redact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Mapping

    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from turnleaf.assistant import Assistant

T = TypeVar("T")

MOST_TURNS = 8
"""How many of one space run at once."""
MOST_OF_ALL = 64
LINGERING = 4
"""How many times as many threads there may be, including those of abandoned turns."""
SILENCE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that the connection is kept."""
STOP_SECONDS = 2.0
COMMENT = b": still here\n\n"
NOTHING = b""
"""A piece that is not sent, but lets an abandoned turn end."""
# The second keeps a proxy from holding events back.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

log = logging.getLogger("turnleaf")


def make_event(name: str, data: BaseModel | Mapping[str, Any]) -> bytes:
    """Return an event in the format of server-sent events."""
    record = data.model_dump(by_alias=True) if isinstance(data, BaseModel) else data
    return f"event: {name}\ndata: {dumps(record)}\n\n".encode()


def report_failure(
    assistant: Assistant, pieces: Generator[bytes], tell: Callable[[dict[str, Any]], bytes]
) -> Generator[bytes]:
    """Yield the pieces of a turn; an error after the first becomes the last piece."""
    has_begun = False
    with closing(pieces):
        try:
            for piece in pieces:
                has_begun = True
                yield piece
        except Exception as error:
            # Nothing is sent yet, so the error can still have its own status.
            if not has_begun:
                raise
            yield tell(_describe(error, assistant))


def _describe(error: Exception, assistant: Assistant) -> dict[str, Any]:
    if isinstance(error, TurnleafError):
        record = problems.make_error_record(error)
        return record | {"detail": redact(record["detail"], assistant)}
    failure = problems.log_failure(error)
    return problems.make_record(HTTPStatus.INTERNAL_SERVER_ERROR, problems.UNEXPECTED, **failure)


class RunningTurn(Generic[T]):
    """A turn on its thread."""

    def __init__(
        self, make: Callable[[], Generator[T]], end: Callable[[RunningTurn[T]], None]
    ) -> None:
        self._make = make
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
        self._is_left = Event()
        # What the turn logs carries the id of its request.
        run = partial(copy_context().run, self._run)
        # A daemon: a silent model must not keep the program from ending.
        self._thread = Thread(target=run, name="turnleaf-turn", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def next(self) -> T | None:
        """Wait for the next piece; None is the end. What the turn raised is raised."""
        piece = await self._pieces.get()
        if isinstance(piece, BaseException):
            raise piece
        return piece[0] if piece else None

    def leave(self) -> None:
        """End the turn at its next piece: the client is gone, and others may take its place."""
        self._is_left.set()

    @property
    def is_left(self) -> bool:
        """Whether the client is gone."""
        return self._is_left.is_set()

    def join(self, seconds: float) -> None:
        """Wait for the thread to end, but not longer than that."""
        self._thread.join(seconds)

    def _run(self) -> None:
        ending: BaseException | None = None
        try:
            with closing(self._make()) as pieces:
                for piece in pieces:
                    if self._is_left.is_set():
                        break
                    if piece != NOTHING:
                        self._pass_on((piece,))
        except BaseException as error:  # noqa: BLE001 - it is raised where the pieces are read
            ending = error
        # Before the end is passed on: whoever has read it may begin the next turn at once.
        self._end(self)
        if ending and self._is_left.is_set():
            # The message may quote the user.
            log.warning("a stopped turn failed: %s", type(ending).__name__)
        self._pass_on(ending)

    def _pass_on(self, piece: tuple[T] | BaseException | None) -> None:
        with suppress(RuntimeError):  # the server's loop is closed: nobody reads on
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)


class Turns:
    """The running turns, at most so many of one space and of all at once."""

    def __init__(self, most: int = MOST_TURNS, most_of_all: int = MOST_OF_ALL) -> None:
        self._most = most
        self._most_of_all = most_of_all
        self._guard = Lock()
        self._running: dict[RunningTurn[Any], str] = {}

    def begin(
        self, make: Callable[[], Generator[T]], space: str = "default", limit: int = 0
    ) -> RunningTurn[T]:
        """Run a turn of a space; refuse when there are too many. 0 is no limit of its own."""
        running = RunningTurn(make, self._discard)
        with self._guard:
            alike = [one for one, its_space in self._running.items() if its_space == space]
            heard = [one for one in alike if not one.is_left]
            if limit and len(heard) >= limit:
                message = (
                    f"this space is limited to {limit} answers at the same time; wait until one "
                    "is done"
                )
                raise LimitReached(message, 1)
            # Abandoned turns end at their next piece, so some may linger.
            is_full = len(heard) >= self._most or len(alike) >= LINGERING * self._most
            if is_full or len(self._running) >= self._most_of_all:
                many = len(heard) if is_full else len(self._running)
                detail = f"{many} answers are already in progress; try again in a moment"
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "1"})
            self._running[running] = space
        running.start()
        return running

    def close(self) -> None:
        """End every turn, without waiting for a silent model."""
        with self._guard:
            running = list(self._running)
        for one in running:
            one.leave()
        for one in running:
            one.join(STOP_SECONDS / len(running))

    def _discard(self, running: RunningTurn[Any]) -> None:
        with self._guard:
            self._running.pop(running, None)


@asynccontextmanager
async def keep_turns(app: FastAPI) -> AsyncIterator[None]:
    """Run turns for an app as long as it is served."""
    app.state.turns = turns = Turns()
    try:
        yield
    finally:
        turns.close()


class SpaceTurns:
    """The turns of one space, of which so many run at once; 0 is no limit."""

    def __init__(self, turns: Turns, space: str, most: int) -> None:
        self._turns = turns
        self._space = space
        self._most = most

    def begin(self, make: Callable[[], Generator[T]]) -> RunningTurn[T]:
        """Run a turn; refuse when there are too many."""
        return self._turns.begin(make, self._space, self._most)

    async def stream(self, make: Callable[[], Generator[bytes]]) -> EventStream:
        """Run a turn whose pieces go to the client; raise an error that comes before the first."""
        running = self.begin(make)
        try:
            return EventStream(running, await running.next())
        except BaseException:
            running.leave()
            raise


def _find_turns(request: Request) -> SpaceTurns:
    assistant: Assistant = request.scope[SERVED].assistant
    most = assistant.meter.limits.turns_at_once
    return SpaceTurns(request.app.state.turns, assistant.stores.space, most)


UnderWay = Annotated[SpaceTurns, Depends(_find_turns)]
"""The turns of the request's space."""


class Pieces(Protocol):
    """Where a stream's bytes come from."""

    async def next(self) -> bytes | None:
        """Wait for the next piece; None is the end."""

    def leave(self) -> None:
        """Note that the client is gone."""


class EventStream(StreamingResponse):
    """Server-sent events until the source ends or the client disconnects."""

    media_type = "text/event-stream"

    def __init__(
        self,
        pieces: Pieces,
        first: bytes | None,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._source = pieces
        self._silence_seconds = silence_seconds
        super().__init__(self._send(first), headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all pieces, and leave the source however that ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._source.leave()

    async def _send(self, first: bytes | None) -> AsyncIterator[bytes]:
        piece = first
        while piece is not None:
            yield piece
            piece = await self._next()

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(self._silence_seconds):
                return await self._source.next()
        except TimeoutError:
            return COMMENT
