"""Errors as `application/problem+json`, with a sentence in the language of the client."""

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

from turnleaf.core.languages.replies import translate
from turnleaf.errors import (
    Conflict,
    CorruptFile,
    EmbeddingError,
    InvalidInput,
    LimitReached,
    MemoryFull,
    ModelError,
    NotFound,
    SettingsError,
    SpaceFull,
    StorageError,
    TurnleafError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI, Request

log = logging.getLogger("turnleaf")

MEDIA_TYPE = "application/problem+json"
REFERENCE = "#/components/schemas/{model}"
"""How the description of the API refers to a schema."""
COMPLETIONS = "/v1/"
"""Below this path clients look for the sentence where OpenAI puts it."""

Code = Literal[
    "invalid", "settings", "not-found", "memory-full", "conflict", "corrupt-file", "storage",
    "embedding", "model", "locked-setting", "fixed-setting", "unconfirmed-address",
    "operator-only", "unauthorized", "too-many-tokens", "foreign-page", "foreign-name", "busy",
    "too-large", "too-slow", "wrong-media-type", "wrong-method", "no-such-address",
    "unreadable-body", "invalid-request", "changed-meanwhile", "unexpected",
    "limit-reached", "space-full", "other-space",
]  # fmt: skip
"""The kind of problem, for programs; it stays the same when its sentence is reworded."""
KINDS: dict[type[TurnleafError], tuple[HTTPStatus, Code]] = {
    InvalidInput: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid"),
    SettingsError: (HTTPStatus.SERVICE_UNAVAILABLE, "settings"),
    NotFound: (HTTPStatus.NOT_FOUND, "not-found"),
    MemoryFull: (HTTPStatus.CONFLICT, "memory-full"),
    LimitReached: (HTTPStatus.TOO_MANY_REQUESTS, "limit-reached"),
    SpaceFull: (HTTPStatus.TOO_MANY_REQUESTS, "space-full"),
    Conflict: (HTTPStatus.CONFLICT, "conflict"),
    CorruptFile: (HTTPStatus.SERVICE_UNAVAILABLE, "corrupt-file"),
    StorageError: (HTTPStatus.SERVICE_UNAVAILABLE, "storage"),
    EmbeddingError: (HTTPStatus.BAD_GATEWAY, "embedding"),
    ModelError: (HTTPStatus.BAD_GATEWAY, "model"),
}
"""The status and the kind of problem for each of our errors."""
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
"""What a status means where none of our errors says more; any other is an invalid request."""
ADVICE = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address; see /docs for all addresses",
    HTTPStatus.METHOD_NOT_ALLOWED: "this address does not support that method; see /docs",
}
UNREADABLE = "the body is not valid JSON in UTF-8; correct it and send it again"
UNEXPECTED = "something went wrong; the server log has the details"
FAILED = "request %s failed"
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The ID of the current request."""
request_language: ContextVar[str] = ContextVar("request_language", default="")
"""The language that the client of the current request prefers."""


class Fault(BaseModel):
    """A part of a request that is invalid."""

    where: str = Field(examples=["body.content"])
    message: str = Field(examples=["Field required"])


class Problem(BaseModel):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: Code = Field(description="The kind of problem, for programs.", examples=["not-found"])
    detail: str = Field(
        description="What to do, in the language of Accept-Language where there is a translation.",
        examples=["there is no fact with the ID b2c3d4f5g6"],
    )
    request_id: str | None = Field(
        None,
        alias="requestId",
        description="Find the request, and details of an unexpected error, in the server log.",
        examples=["5f0c1d9a7be24c36"],
    )
    etag: str | None = Field(
        None, description="The current version, where another one was expected."
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
"""Problems that any request may be answered with."""


def make_record(
    status: HTTPStatus, detail: str, *, code: Code | None = None, **more: object
) -> dict[str, Any]:
    """Return the document of a problem; the code is by default that of the status."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code or CODES.get(status, "invalid-request"),
        "detail": localize(detail),
        **more,
    }


def localize(text: str) -> str:
    """Return a sentence of ours in the language of the client."""
    return translate(text, request_language.get())


def make_error_record(error: TurnleafError) -> dict[str, Any]:
    """Return the document of an error of ours."""
    status, code = _classify(error)
    return make_record(status, str(error), code=code)


def _classify(error: TurnleafError) -> tuple[HTTPStatus, Code]:
    kinds = (KINDS[kind] for kind in type(error).__mro__ if kind in KINDS)
    return next(kinds, (HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected"))


def make_answer(
    path: str,
    status: HTTPStatus,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    code: Code | None = None,
    **more: object,
) -> JSONResponse:
    """Return the response to a request for a path with a problem."""
    if request_id.get():
        more = {"requestId": request_id.get(), **more}
    record = make_record(status, detail, code=code, **more)
    if path.startswith(COMPLETIONS):
        record["error"] = _describe_for_openai(status, record["detail"])
    return JSONResponse(record, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def answer_refused(
    path: str, refused: Refused, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the response to a refused request, with more headers."""
    given = {**(headers or {}), **(refused.headers or {})}
    return make_answer(
        path, refused.status, refused.detail, given, code=refused.code, **refused.more
    )


def add_handlers(app: FastAPI) -> None:
    """Make an app answer every error with a problem."""
    for kind in (TurnleafError, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _handle)


def _handle(request: Request, error: Exception) -> JSONResponse:
    path = request.url.path
    match error:
        case TurnleafError():
            return answer_error(path, error)
        case Refused():
            return answer_refused(path, error)
        case RequestValidationError():
            return _answer_invalid(path, error)
        case HTTPException():
            return _answer_http(request, error)
    return make_answer(path, HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED, **log_failure(error))


def _find_wait(error: TurnleafError) -> dict[str, str]:
    """Return the header that says how long to wait, where that is known."""
    seconds = error.seconds if isinstance(error, LimitReached) else None
    return {"Retry-After": str(seconds)} if seconds else {}


def answer_error(path: str, error: TurnleafError) -> JSONResponse:
    """Return the response to a request that one of our errors prevents."""
    status, code = _classify(error)
    return make_answer(path, status, str(error), _find_wait(error), code=code)


def log_failure(error: Exception) -> dict[str, Any]:
    """Log an unexpected error under the ID of its request, and return that for the response."""
    log.error(FAILED, request_id.get(), exc_info=error)
    return {"requestId": request_id.get()}


def _describe_for_openai(status: HTTPStatus, detail: str) -> dict[str, Any]:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {"message": detail, "type": kind, "param": None, "code": None}


def _answer_invalid(path: str, error: RequestValidationError) -> JSONResponse:
    wrong = [_describe_fault(one) for one in error.errors()]
    faults = "; ".join(f"{one['where']}: {one['message']}" for one in wrong[:3])
    detail = f"the request is invalid: {faults}"
    is_unreadable = any(one["type"] == "json_invalid" for one in error.errors())
    code: Code = "unreadable-body" if is_unreadable else "invalid-request"
    return make_answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, detail, code=code, errors=wrong)


def _describe_fault(found: Mapping[str, Any]) -> dict[str, str]:
    """Describe what is wrong without repeating what was sent."""
    return {
        "where": ".".join(str(part) for part in jsonable_encoder(found["loc"])),
        "message": str(found["msg"]),
    }


def _list_methods(request: Request) -> list[str]:
    """Return all methods of an address; the framework has only those of its first route."""
    path = request.scope["path"]
    routes = [route for route in request.app.state.routes if route.path_regex.match(path)]
    return sorted({method for route in routes for method in route.methods or ()})


def _answer_http(request: Request, error: HTTPException) -> JSONResponse:
    path, status = request.url.path, HTTPStatus(error.status_code)
    if status is HTTPStatus.BAD_REQUEST:
        # The framework answers so to a body that is nested too deeply or not UTF-8.
        code: Code = "unreadable-body"
        return make_answer(path, HTTPStatus.UNPROCESSABLE_ENTITY, UNREADABLE, code=code)
    headers = error.headers
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(_list_methods(request))}
    said = str(error.detail)
    detail = ADVICE.get(status, said) if said == status.phrase else said
    return make_answer(path, status, detail, headers)
