"""The operator's routes: tokens, which are shown once, and the limits of spaces."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Self

from fastapi import APIRouter, Path, Request
from pydantic import Field

from turnleaf.core.setting_kinds import LARGEST, is_space_name
from turnleaf.core.times import to_iso
from turnleaf.errors import NotFound
from turnleaf.faces.http.operators import OPERATOR_ONLY
from turnleaf.faces.http.problems import document_problems
from turnleaf.faces.http.requests import JSON_ONLY, SERVED
from turnleaf.faces.http.schemas import Body, Day, JsonModel, Time
from turnleaf.space_limits import (
    SpaceMeter,
    limit_new_space,
    read_limits,
    set_limits,
)

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.tokens import AccessToken, Tokens

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
        raise NotFound("there is no space of that name; use small letters, digits, - and _")
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
