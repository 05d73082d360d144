"""Errors as `application/problem+json`: a status, and a sentence that says what to do."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from turnleaf.errors import (
    Conflict,
    CorruptFile,
    EmbeddingError,
    InvalidInput,
    MemoryFull,
    ModelError,
    NotFound,
    SettingsError,
    StorageError,
    TurnleafError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI, Request

log = logging.getLogger("turnleaf")

MEDIA_TYPE = "application/problem+json"
COMPLETIONS = "/v1/"
"""Below this path clients look for a sentence where OpenAI puts it."""

STATUS: dict[type[TurnleafError], HTTPStatus] = {
    InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    SettingsError: HTTPStatus.SERVICE_UNAVAILABLE,
    NotFound: HTTPStatus.NOT_FOUND,
    MemoryFull: HTTPStatus.CONFLICT,
    Conflict: HTTPStatus.CONFLICT,
    CorruptFile: HTTPStatus.SERVICE_UNAVAILABLE,
    StorageError: HTTPStatus.SERVICE_UNAVAILABLE,
    EmbeddingError: HTTPStatus.BAD_GATEWAY,
    ModelError: HTTPStatus.BAD_GATEWAY,
}
Code = Literal[
    "invalid", "settings", "not-found", "memory-full", "conflict", "corrupt-file", "storage",
    "embedding", "model", "locked-setting", "fixed-setting", "foreign-address", "unauthorized",
    "too-many-tokens", "foreign-page", "foreign-name", "busy", "too-large", "too-slow",
    "wrong-media-type", "wrong-method", "no-such-address", "unreadable-body", "invalid-request",
    "changed-meanwhile", "unexpected",
]  # fmt: skip
"""What kind of problem it is, for programs; it stays the same when its sentence is reworded."""
KINDS: dict[type[TurnleafError], Code] = {
    InvalidInput: "invalid",
    SettingsError: "settings",
    NotFound: "not-found",
    MemoryFull: "memory-full",
    Conflict: "conflict",
    CorruptFile: "corrupt-file",
    StorageError: "storage",
    EmbeddingError: "embedding",
    ModelError: "model",
}
CODES: dict[HTTPStatus, Code] = {
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "foreign-page",
    HTTPStatus.NOT_FOUND: "no-such-address",
    HTTPStatus.METHOD_NOT_ALLOWED: "wrong-method",
    HTTPStatus.REQUEST_TIMEOUT: "too-slow",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.PRECONDITION_FAILED: "changed-meanwhile",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too-large",
    HTTPStatus.REQUEST_URI_TOO_LONG: "too-large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "wrong-media-type",
    HTTPStatus.MISDIRECTED_REQUEST: "foreign-name",
    HTTPStatus.TOO_MANY_REQUESTS: "too-many-tokens",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "too-large",
    HTTPStatus.INTERNAL_SERVER_ERROR: "unexpected",
    HTTPStatus.SERVICE_UNAVAILABLE: "busy",
}
"""What a status means where no error of ours says more; any other: the request is at fault."""
ADVICE = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address; /docs lists what there is",
    HTTPStatus.METHOD_NOT_ALLOWED: "this address does not take that method; /docs lists which do",
}
UNREADABLE = "the body cannot be read as JSON in UTF-8; correct it and send it again"
UNEXPECTED = "something went wrong in the server; its log says what"
FAILED = "request %s failed"
"""What the log says of such a request."""
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered."""


class Problem(BaseModel):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: Code = Field(description="The kind of problem, for programs.", examples=["not-found"])
    detail: str = Field(examples=["there is no fact with the id b2c3d4f5g6"])
    request_id: str | None = Field(
        None,
        alias="requestId",
        description="By which the server's log tells more of what nobody foresaw.",
        examples=["5f0c1d9a7be24c36"],
    )
    errors: list[dict[str, str]] | None = Field(
        None, examples=[[{"where": "body.content", "message": "Field required"}]]
    )


SCHEMA = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
"""A problem as OpenAPI describes it."""


class Refused(Exception):
    """A request that is answered with a problem of this status and these headers."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        headers: Mapping[str, str] | None = None,
        *,
        code: Code | None = None,
        **more: object,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
        self.more = more


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Give the `responses` of a route that may answer with these problems."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status.value: {
            "description": status.phrase, "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }  # fmt: skip


EVERYWHERE = documented(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""What any request may be answered with."""


def as_record(
    status: HTTPStatus, detail: str, *, code: Code | None = None, **more: object
) -> dict[str, Any]:
    """Give the document of a problem; without a code it is the usual one of the status."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code or CODES.get(status, "invalid-request"),
        "detail": detail,
        **more,
    }


def record_of(error: TurnleafError) -> dict[str, Any]:
    """Give the document of an error of ours."""
    return as_record(status_of(error), str(error), code=code_of(error))


def status_of(error: TurnleafError) -> HTTPStatus:
    """Give the status that an error of ours is answered with."""
    kinds = (STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    return next(kinds, HTTPStatus.INTERNAL_SERVER_ERROR)


def code_of(error: TurnleafError) -> Code:
    """Give the kind of problem that an error of ours is."""
    return next((KINDS[kind] for kind in type(error).__mro__ if kind in KINDS), "unexpected")


def answer(
    path: str,
    status: HTTPStatus,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    code: Code | None = None,
    **more: object,
) -> JSONResponse:
    """Answer a request for a path with a problem."""
    record = as_record(status, detail, code=code, **more)
    if path.startswith(COMPLETIONS):
        record["error"] = _for_openai(status, detail)
    return JSONResponse(record, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def refusal(path: str, refused: Refused, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Answer a request for a path that is refused, with some more headers."""
    given = {**(headers or {}), **(refused.headers or {})}
    return answer(path, refused.status, refused.detail, given, code=refused.code, **refused.more)


def handle_in(app: FastAPI) -> None:
    """Let an app answer every error with a problem."""
    for kind in (TurnleafError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _answered)


def _answered(request: Request, error: Exception) -> JSONResponse:
    path = request.url.path
    match error:
        case TurnleafError():
            return answer(path, status_of(error), str(error), code=code_of(error))
        case Refused():
            return refusal(path, error)
        case RequestValidationError():
            return _invalid(path, error)
        case HTTPException():
            return _http(request, error)
    return answer(path, HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED, **log_failure(error))


def log_failure(error: Exception) -> dict[str, Any]:
    """Log what nobody foresaw under the id of its request, and return that for the answer."""
    log.error(FAILED, request_id.get(), exc_info=error)
    return {"requestId": request_id.get()}


def _for_openai(status: HTTPStatus, detail: str) -> dict[str, Any]:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {"message": detail, "type": kind, "param": None, "code": None}


def _invalid(path: str, error: RequestValidationError) -> JSONResponse:
    wrong = [_wrong(one) for one in error.errors()]
    told = "; ".join(f"{one['where']}: {one['message']}" for one in wrong[:3])
    detail = f"the request cannot be taken: {told}"
    is_unreadable = any(one["type"] == "json_invalid" for one in error.errors())
    code: Code = "unreadable-body" if is_unreadable else "invalid-request"
    return answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, detail, code=code, errors=wrong)


def _wrong(found: Mapping[str, Any]) -> dict[str, str]:
    """Say what is wrong without repeating what was sent."""
    return {
        "where": ".".join(str(part) for part in jsonable_encoder(found["loc"])),
        "message": str(found["msg"]),
    }


def _methods(request: Request) -> list[str]:
    """Name what an address takes; the framework would name only the first of its routes."""
    path = request.scope["path"]
    routes = [route for route in request.app.state.routes if route.path_regex.match(path)]
    return sorted({method for route in routes for method in route.methods or ()})


def _http(request: Request, error: HTTPException) -> JSONResponse:
    path, status = request.url.path, HTTPStatus(error.status_code)
    if status is HTTPStatus.BAD_REQUEST:
        # The framework answers so to a body that is nested too deeply, or no UTF-8.
        code: Code = "unreadable-body"
        return answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, UNREADABLE, code=code)
    headers = error.headers
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(_methods(request))}
    said = str(error.detail)
    detail = ADVICE.get(status, said) if said == status.phrase else said
    return answer(path, status, detail, headers)
