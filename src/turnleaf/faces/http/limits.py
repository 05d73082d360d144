"""Limits on the size and duration of requests; what exceeds them is refused."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from turnleaf.faces.http.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import Message, Receive, Scope

KB = 1024
MB = 1024 * KB
VERSIONS = ("1.0", "1.1")
CLOSE = {"Connection": "close"}
UPLOADS = {("POST", "/api/import")}
"""What is sent to these goes to a file, and not through memory."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much a client may ask for, and how long it may take."""

    url_bytes: int = 8 * KB
    head_bytes: int = 32 * KB
    head_seconds: float = 10.0
    body_bytes: int = 4 * MB
    upload_bytes: int = 8000 * MB
    """How large a body may be that goes to a file as it arrives."""
    body_seconds: float = 30.0
    all_bodies_bytes: int = 64 * MB
    """How much of all requests together is held in memory."""
    linger_seconds: float = 2.0
    """How long a refused body is still read, so that the client gets to our response."""
    stalled_seconds: float = 30.0
    """How long a response may wait for a client that reads nothing of it."""
    idle_seconds: int = 5
    connections: int = 256


class Gone(Exception):
    """The client disconnected before it had sent everything."""


class BodyRoom:
    """The bytes that the bodies of all requests share; used on the event loop only."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes

    @contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that takes bytes for a request, and return them in the end."""
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if count > self._left:
                detail = "the server is receiving too much at once; try again in a moment"
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "1"})
            self._left -= count
            taken += count

        try:
            yield take
        finally:
            self._left += taken


def check_head(scope: Scope, limits: RequestLimits) -> None:
    """Refuse other protocols, headers or addresses that are too long, and proxy requests."""
    if scope["http_version"] not in VERSIONS:
        detail = "this server speaks HTTP/1.1; use that version"
        raise Refused(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, detail)
    # The parser stops reading a head only while it is incomplete; one that comes at once is whole.
    if sum(len(name) + len(value) for name, value in scope["headers"]) > limits.head_bytes:
        detail = f"the headers exceed {limits.head_bytes} bytes; shorten them"
        raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, detail)
    if len(scope["raw_path"]) + len(scope["query_string"]) > limits.url_bytes:
        detail = f"the address exceeds {limits.url_bytes} bytes; shorten it"
        raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, detail)
    if not scope["raw_path"].startswith(b"/"):
        detail = "the address must be a path that begins with /; this server is not a proxy"
        raise Refused(HTTPStatus.BAD_REQUEST, detail)


async def with_whole_body(
    scope: Scope, receive: Receive, limits: RequestLimits, take: Callable[[int], None]
) -> Receive:
    """Read the whole body within the limits, and return a `Receive` that has it at once."""
    headers = Headers(scope=scope)
    if not _has_body(headers):
        return receive
    if "content-length" in headers and "transfer-encoding" in headers:
        detail = "the request has both Content-Length and Transfer-Encoding; send only one of them"
        raise Refused(HTTPStatus.BAD_REQUEST, detail)
    if (scope["method"], scope["path"]) in UPLOADS:
        return with_upload(scope, receive, limits)
    if int(headers.get("content-length", "0")) > limits.body_bytes:
        raise _make_too_large(limits.body_bytes)
    body = bytearray()

    def keep(part: bytes) -> None:
        take(len(part))
        body.extend(part)

    try:
        await asyncio.wait_for(_read(receive, limits, keep), limits.body_seconds)
    except TimeoutError:
        detail = (
            f"the request was not complete after {limits.body_seconds:g} seconds; send it again"
        )
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, detail) from None
    return _replay(bytes(body), receive)


def with_upload(scope: Scope, receive: Receive, limits: RequestLimits) -> Receive:
    """Return a `Receive` that passes a large body on as it arrives, within the limits."""
    if int(Headers(scope=scope).get("content-length", "0")) > limits.upload_bytes:
        raise _make_too_large(limits.upload_bytes)
    size = 0

    async def receive_part() -> Message:
        nonlocal size
        try:
            message = await asyncio.wait_for(receive(), limits.body_seconds)
        except TimeoutError:
            detail = f"nothing arrived for {limits.body_seconds:g} seconds; send the file again"
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, detail, CLOSE) from None
        size += len(message.get("body", b""))
        if size > limits.upload_bytes:
            raise _make_too_large(limits.upload_bytes)
        return message

    return receive_part


async def drain(scope: Scope, receive: Receive, limits: RequestLimits) -> None:
    """Read some of a refused body: a client that is still sending would miss our response."""
    headers = Headers(scope=scope)
    if _has_body(headers) and "expect" not in headers:
        with suppress(TimeoutError, Gone, Refused):
            await asyncio.wait_for(_read(receive, limits, lambda _: None), limits.linger_seconds)


async def _read(receive: Receive, limits: RequestLimits, keep: Callable[[bytes], None]) -> None:
    """Pass a body on as it arrives, up to its limit."""
    size, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        size += len(part)
        if size > limits.body_bytes:
            raise _make_too_large(limits.body_bytes)
        keep(part)
        is_more = message.get("more_body", False)


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _make_too_large(most_bytes: int) -> Refused:
    detail = f"the request exceeds {most_bytes} bytes; send less at once"
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, CLOSE)
