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
REFERENCE = "#/components/schemas/{model}"
"""How the description of the API names a schema."""
COMPLETIONS = "/v1/"
"""Below this path clients look for a sentence where OpenAI puts it."""

Code = Literal[
    "invalid", "settings", "not-found", "memory-full", "conflict", "corrupt-file", "storage",
    "embedding", "model", "locked-setting", "fixed-setting", "foreign-address", "unauthorized",
    "too-many-tokens", "foreign-page", "foreign-name", "busy", "too-large", "too-slow",
    "wrong-media-type", "wrong-method", "no-such-address", "unreadable-body", "invalid-request",
    "changed-meanwhile", "unexpected",
]  # fmt: skip
"""What kind of problem it is, for programs; it stays the same when its sentence is reworded."""
KINDS: dict[type[TurnleafError], tuple[HTTPStatus, Code]] = {
    InvalidInput: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid"),
    SettingsError: (HTTPStatus.SERVICE_UNAVAILABLE, "settings"),
    NotFound: (HTTPStatus.NOT_FOUND, "not-found"),
    MemoryFull: (HTTPStatus.CONFLICT, "memory-full"),
    Conflict: (HTTPStatus.CONFLICT, "conflict"),
    CorruptFile: (HTTPStatus.SERVICE_UNAVAILABLE, "corrupt-file"),
    StorageError: (HTTPStatus.SERVICE_UNAVAILABLE, "storage"),
    EmbeddingError: (HTTPStatus.BAD_GATEWAY, "embedding"),
    ModelError: (HTTPStatus.BAD_GATEWAY, "model"),
}
"""The status and the kind of problem that an error of ours is answered with."""
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


class Fault(BaseModel):
    """A part of a request that cannot be taken."""

    where: str = Field(examples=["body.content"])
    message: str = Field(examples=["Field required"])


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
    etag: str | None = Field(
        None, description="The version that there is now, where another one was expected."
    )
    errors: list[Fault] | None = None


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


def document_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that may answer with these problems."""
    content = {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }


EVERYWHERE = document_problems(400, 401, 403, 408, 413, 415, 421, 422, 429, 500, 503)
"""What any request may be answered with."""


def as_record(
    status: HTTPStatus, detail: str, *, code: Code | None = None, **more: object
) -> dict[str, Any]:
    """Return the document of a problem; without a code it is the usual one of the status."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code or CODES.get(status, "invalid-request"),
        "detail": detail,
        **more,
    }


def record_of(error: TurnleafError) -> dict[str, Any]:
    """Return the document of an error of ours."""
    status, code = _classify(error)
    return as_record(status, str(error), code=code)


def _classify(error: TurnleafError) -> tuple[HTTPStatus, Code]:
    kinds = (KINDS[kind] for kind in type(error).__mro__ if kind in KINDS)
    return next(kinds, (HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected"))


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
        record["error"] = _describe_for_openai(status, detail)
    return JSONResponse(record, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def refusal(path: str, refused: Refused, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Answer a request for a path that is refused, with some more headers."""
    given = {**(headers or {}), **(refused.headers or {})}
    return answer(path, refused.status, refused.detail, given, code=refused.code, **refused.more)


def handle_in(app: FastAPI) -> None:
    """Have an app answer every error with a problem."""
    for kind in (TurnleafError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _handle)


def _handle(request: Request, error: Exception) -> JSONResponse:
    path = request.url.path
    match error:
        case TurnleafError():
            status, code = _classify(error)
            return answer(path, status, str(error), code=code)
        case Refused():
            return refusal(path, error)
        case RequestValidationError():
            return _answer_invalid(path, error)
        case HTTPException():
            return _answer_http(request, error)
    return answer(path, HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED, **log_failure(error))


def log_failure(error: Exception) -> dict[str, Any]:
    """Log what nobody foresaw under the id of its request, and return that for the answer."""
    log.error(FAILED, request_id.get(), exc_info=error)
    return {"requestId": request_id.get()}


def _describe_for_openai(status: HTTPStatus, detail: str) -> dict[str, Any]:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {"message": detail, "type": kind, "param": None, "code": None}


def _answer_invalid(path: str, error: RequestValidationError) -> JSONResponse:
    wrong = [_describe_fault(one) for one in error.errors()]
    faults = "; ".join(f"{one['where']}: {one['message']}" for one in wrong[:3])
    detail = f"the request cannot be taken: {faults}"
    is_unreadable = any(one["type"] == "json_invalid" for one in error.errors())
    code: Code = "unreadable-body" if is_unreadable else "invalid-request"
    return answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, detail, code=code, errors=wrong)


def _describe_fault(found: Mapping[str, Any]) -> dict[str, str]:
    """Say what is wrong without repeating what was sent."""
    return {
        "where": ".".join(str(part) for part in jsonable_encoder(found["loc"])),
        "message": str(found["msg"]),
    }


def _list_methods(request: Request) -> list[str]:
    """Name what an address takes; the framework would name only the first of its routes."""
    path = request.scope["path"]
    routes = [route for route in request.app.state.routes if route.path_regex.match(path)]
    return sorted({method for route in routes for method in route.methods or ()})


def _answer_http(request: Request, error: HTTPException) -> JSONResponse:
    path, status = request.url.path, HTTPStatus(error.status_code)
    if status is HTTPStatus.BAD_REQUEST:
        # The framework answers so to a body that is nested too deeply, or no UTF-8.
        code: Code = "unreadable-body"
        return answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, UNREADABLE, code=code)
    headers = error.headers
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(_list_methods(request))}
    said = str(error.detail)
    detail = ADVICE.get(status, said) if said == status.phrase else said
    return answer(path, status, detail, headers)
