"""What handlers read from a request, and limits on its size and duration."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import Headers

from turnleaf.assistant import Assistant
from turnleaf.core.serialization import has_half_character
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.schemas import Body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import Message as AsgiMessage
    from starlette.types import Receive, Scope


MAX_FILE_BYTES = 2_000_000
PLAIN = ("text/markdown", "text/plain")
UTF8 = (None, "utf-8", "us-ascii")
ANY = "*"
"""What stands for any version."""

CONVERSATION_HEADER = "X-Turnleaf-Conversation"
OPEN_WEBUI_HEADER = "X-OpenWebUI-Chat-Id"

SPACE = "turnleaf.space"
"""Where a request's scope names the space that it is about; None is the server's own."""
SERVED = "turnleaf.served"
"""Where a request's scope has the parts that serve its space."""

_TAG = re.compile(r'(W/)?"([^"]*)"')


def from_app(name: str) -> Any:  # noqa: ANN401 - FastAPI's own
    """Return the dependency on a part of what serves the request's space."""

    def get(request: Request) -> Any:  # noqa: ANN401 - whatever it is
        return getattr(request.scope[SERVED], name)

    return Depends(get)


def _get_current(request: Request) -> Assistant:
    assistant: Assistant = request.scope[SERVED].assistant
    assistant.follow_settings()
    return assistant


Given = Annotated[Assistant, from_app("assistant")]
"""The assistant whose memory is served."""

Current = Annotated[Assistant, Depends(_get_current)]
"""The same, with the limits and weights of the settings that hold now."""


class Whole(Body):
    """The whole text of a file."""

    content: str


async def _check_json(request: Request) -> None:
    data = await request.body()
    if data and not _is_json(_read_type(request).get_content_type()):
        message = "send the body as JSON, with the header Content-Type: application/json"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
    if has_half_character(data):
        message = "the body contains half a character (a lone surrogate such as \\ud800); remove it"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, message, code="unreadable-body")


JSON_ONLY = Depends(_check_json)
"""Refuse bodies other than JSON, which a form on another website cannot send.

JSON can also escape half a character, which no file, database or response can hold.
"""


async def _read_file(request: Request) -> str:
    kind_sent = _read_type(request)
    kind = kind_sent.get_content_type()
    data = await request.body()
    if _is_json(kind):
        text = _read_json(data)
    elif kind in PLAIN and kind_sent.get_content_charset() in UTF8:
        text = _decode(data)
    else:
        message = (
            "send the text in UTF-8 with the header Content-Type: text/markdown, "
            'or as JSON: {"content": "..."}'
        )
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        message = f"the memory file is limited to {MAX_FILE_BYTES:,} bytes; shorten it"
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    return text


Received = Annotated[str, Depends(_read_file)]
"""The text of a file that was sent."""

_FILE = {"schema": {"type": "string"}, "example": "# Memory\n\n- 客廳的燈叫做小明\n"}
FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": Whole.model_json_schema()},
            **dict.fromkeys(PLAIN, _FILE),
        },
    }
}
"""How the API describes such a request."""


def _read_type(request: Request) -> Message:
    kind_sent = Message()
    kind_sent["Content-Type"] = request.headers.get("content-type", "application/octet-stream")
    return kind_sent


def _is_json(kind: str) -> bool:
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _read_json(data: bytes) -> str:
    try:
        return Whole.model_validate_json(data).content
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in wrong]
        ) from None


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"the text is not UTF-8 (at byte {error.start}); convert it and send it again"
        raise InvalidInput(message) from None


def make_etag(version: str) -> str:
    """Return the strong ETag of a version."""
    return f'"{version}"'


def is_matched(version: str, if_match: str) -> bool:
    """Whether a version is one that If-Match names; a weak tag never is."""
    tags = _TAG.findall(if_match)
    return if_match.strip() == ANY or any(not weak and tag == version for weak, tag in tags)


def is_known(version: str, if_none_match: str) -> bool:
    """Whether a version is one that If-None-Match names, weak or not."""
    tags = _TAG.findall(if_none_match)
    return if_none_match.strip() == ANY or any(tag == version for _, tag in tags)


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
    # A proxy in front may go by the other one, and take a part of the body for the next request.
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
    return replay_body(bytes(body), receive)


def with_upload(scope: Scope, receive: Receive, limits: RequestLimits) -> Receive:
    """Return a `Receive` that passes a large body on as it arrives, within the limits."""
    if int(Headers(scope=scope).get("content-length", "0")) > limits.upload_bytes:
        raise _make_too_large(limits.upload_bytes)
    size = 0

    async def receive_part() -> AsgiMessage:
        nonlocal size
        try:
            # For each part: a large file may take its time, as long as something arrives.
            message = await asyncio.wait_for(receive(), limits.body_seconds)
        except TimeoutError:
            detail = f"no data arrived for {limits.body_seconds:g} seconds; send the file again"
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, detail, CLOSE) from None
        size += len(message.get("body", b""))
        if size > limits.upload_bytes:
            raise _make_too_large(limits.upload_bytes)
        return message

    return receive_part


async def drain(scope: Scope, receive: Receive, limits: RequestLimits) -> None:
    """Read some of a refused body: a client that is still sending would miss our response."""
    headers = Headers(scope=scope)
    # Whoever waits for 100 Continue sends nothing after a refusal.
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


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `Receive` that has a whole body at once, and then what comes after it."""
    messages: list[AsgiMessage] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> AsgiMessage:
        return messages.pop() if messages else await receive()

    return again


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _make_too_large(most_bytes: int) -> Refused:
    detail = f"the request exceeds {most_bytes} bytes; send less at once"
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, CLOSE)
