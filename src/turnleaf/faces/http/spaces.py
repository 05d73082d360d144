"""What serves each space, apart from all others, and the operator's routes for tokens and limits.

A request's token decides its space before any route sees it. A space is opened at its first
request and closed when it was idle longest.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Self

import anyio
from anyio import to_thread
from fastapi import APIRouter, Path, Request
from pydantic import Field

from turnleaf.core.serialization import to_iso
from turnleaf.core.setting_kinds import LARGEST, is_space_name
from turnleaf.errors import NotFound, TurnleafError
from turnleaf.faces.http import problems
from turnleaf.faces.http.feed import EventFeed, Nothing
from turnleaf.faces.http.operator_sessions import HAS_SPACE_TOKEN, OPERATOR_ONLY
from turnleaf.faces.http.problems import document_problems
from turnleaf.faces.http.request_reading import JSON_ONLY, SERVED, SPACE
from turnleaf.faces.http.schemas import Body, Day, JsonModel, Time
from turnleaf.faces.outbound import deliveries
from turnleaf.import_jobs import ImportJobs, LearningJob
from turnleaf.llm.models import find_extractor
from turnleaf.scheduling import Runner
from turnleaf.space_limits import SpaceMeter, limit_new_space, read_limits, set_limits
from turnleaf.spaces import Pool
from turnleaf.store.index_upkeep import IndexUpkeep

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from turnleaf.access_tokens import AccessToken, Tokens
    from turnleaf.assistant import Assistant
    from turnleaf.core.model_dialogue import Model


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
                # Also when the client is gone and the request is cancelled:
                # a space that is never let go of stays open for ever.
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


router = APIRouter(
    prefix="/api",
    tags=["tokens"],
    dependencies=[OPERATOR_ONLY, JSON_ONLY],
    responses=document_problems(403),
)

Limit = Annotated[int | None, Field(ge=0, le=LARGEST, examples=[60])]
SpaceName = Annotated[str, Path(alias="name", examples=["bob"])]


class TokenView(JsonModel):
    """What is known of a token; its text is nowhere."""

    id: str = Field(examples=["k7m2q9x4vd"])
    space: str | None = Field(description="null: it is the operator's.", examples=["bob"])
    name: str
    created_at: Time
    ends_at: Time | None
    last_used_at: Time | None = Field(description="To the minute; null: never.")

    @classmethod
    def of(cls, token: AccessToken) -> Self:
        """Return the form of a token."""
        ends, used = token.ends_at, token.last_used_at
        return cls(
            id=token.id,
            space=token.space,
            name=token.name,
            created_at=to_iso(token.created_at),
            ends_at=to_iso(ends) if ends else None,
            last_used_at=to_iso(used) if used else None,
        )


class TokenList(JsonModel):
    """All tokens that were not revoked."""

    tokens: list[TokenView]


class NewToken(Body):
    """For whom a token is: a space, or with null the operator."""

    space: str | None = Field(examples=["bob"])
    name: str = Field("", max_length=100, examples=["Bob's phone"])
    ends: Day | None = Field(None, description="The last day on which it works.")


class MadeToken(TokenView):
    """A new token, with its text, which is shown this once."""

    token: str = Field(examples=["tl_k7m2q9x4vd_…"])


class LimitChanges(Body):
    """Limits to change; 0 is no limit, and one that is left out stays."""

    requests_per_minute: Limit = None
    model_calls_per_day: Limit = None
    model_tokens_per_day: Limit = None
    messages: Limit = None
    bytes: Limit = None
    turns_at_once: Limit = None


class SpaceView(JsonModel):
    """What a space may use (0: no limit), and how often it asked models today."""

    name: str
    requests_per_minute: int
    model_calls_per_day: int
    model_tokens_per_day: int
    messages: int
    bytes: int
    turns_at_once: int
    calls_today: int
    tokens_today: int


@router.get("/tokens", summary="List the tokens")
def list_tokens(request: Request) -> TokenList:
    """Return every token that was not revoked, also those that are over."""
    tokens: Tokens = request.app.state.tokens
    return TokenList(tokens=[TokenView.of(one) for one in tokens.list_all()])


@router.post("/tokens", status_code=HTTPStatus.CREATED, summary="Make a token")
def add_token(wanted: NewToken, request: Request) -> MadeToken:
    """Make a token; its text cannot be read later. A new space gets the usual limits."""
    tokens: Tokens = request.app.state.tokens
    token, text = tokens.add(wanted.space, name=wanted.name, ends=wanted.ends)
    if token.space:
        limit_new_space(_find_own(request).stores.operator_records, token.space)
    return MadeToken(**TokenView.of(token).model_dump(), token=text)


@router.delete(
    "/tokens/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Revoke a token",
    responses=document_problems(404),
)
def revoke_token(
    request: Request, token_id: Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]
) -> None:
    """End a token: here at once, at other servers over the same store within seconds."""
    tokens: Tokens = request.app.state.tokens
    tokens.revoke(token_id)


@router.get("/spaces/{name}", summary="Get the limits of a space", responses=document_problems(404))
def get_space(request: Request, name: SpaceName) -> SpaceView:
    """Return what a space may use, and what it used today."""
    return _view_space(_find_own(request), _check_name(name))


@router.patch(
    "/spaces/{name}", summary="Change the limits of a space", responses=document_problems(404)
)
def change_space(request: Request, name: SpaceName, changes: LimitChanges) -> SpaceView:
    """Change what a space may use; every server over the same store follows within seconds."""
    own = _find_own(request)
    set_limits(own.stores.operator_records, _check_name(name), **changes.model_dump())
    return _view_space(own, name)


def _find_own(request: Request) -> Assistant:
    assistant: Assistant = request.scope[SERVED].assistant
    return assistant


def _check_name(name: str) -> str:
    if not is_space_name(name):
        raise NotFound(
            "that cannot be the name of a space; use lower-case letters, digits, - and _"
        )
    return name


def _view_space(own: Assistant, name: str) -> SpaceView:
    limits = read_limits(own.stores.operator_records, name)
    with own.stores.open_space(name) as stores:
        used = SpaceMeter(stores, own.now).read_used()
    return SpaceView(
        name=name,
        requests_per_minute=limits.requests_per_minute,
        model_calls_per_day=limits.model_calls_per_day,
        model_tokens_per_day=limits.model_tokens_per_day,
        messages=limits.messages,
        bytes=limits.bytes,
        turns_at_once=limits.turns_at_once,
        calls_today=used.calls,
        tokens_today=used.tokens,
    )
