"""What handlers read from a request: the assistant, a body of JSON or text, versions."""

from __future__ import annotations

import re
from email.message import Message
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from turnleaf.assistant import Assistant
from turnleaf.core.jsontext import has_half_character
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.schemas import Body

MAX_FILE_BYTES = 2_000_000
PLAIN = ("text/markdown", "text/plain")
UTF8 = (None, "utf-8", "us-ascii")
ANY = "*"
"""What stands for any version."""

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
