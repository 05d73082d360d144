"""What a request may send: JSON, and where a file is sent its text."""

from __future__ import annotations

from email.message import Message
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from turnleaf.core.jsontext import has_half_character
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.shapes import Body

MAX_FILE_BYTES = 2_000_000
PLAIN = ("text/markdown", "text/plain")
UTF8 = (None, "utf-8", "us-ascii")


class Whole(Body):
    """The whole text of a file."""

    content: str


async def _json_only(request: Request) -> None:
    data = await request.body()
    if data and not _is_json(_described(request).get_content_type()):
        message = "send the body as JSON, with the header Content-Type: application/json"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
    if has_half_character(data):
        message = "the body holds half a character (a lone surrogate such as \\ud800); remove it"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, message, code="unreadable-body")


JSON_ONLY = Depends(_json_only)
"""Refuse any other body: a form of another site can send one, and JSON it cannot.

JSON can also escape half a character, which no file, database or answer can hold.
"""


async def _received(request: Request) -> str:
    described = _described(request)
    kind = described.get_content_type()
    data = await request.body()
    if _is_json(kind):
        text = _whole(data)
    elif kind in PLAIN and described.get_content_charset() in UTF8:
        text = _decoded(data)
    else:
        message = (
            "send the text as it is, with the header Content-Type: text/markdown and in UTF-8, "
            'or as JSON: {"content": "..."}'
        )
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        message = f"a memory file may have {MAX_FILE_BYTES:,} bytes; shorten it"
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    return text


Received = Annotated[str, Depends(_received)]
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


def _described(request: Request) -> Message:
    described = Message()
    described["Content-Type"] = request.headers.get("content-type", "application/octet-stream")
    return described


def _is_json(kind: str) -> bool:
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _whole(data: bytes) -> str:
    try:
        return Whole.model_validate_json(data).content
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in wrong]
        ) from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"the text is not UTF-8 (at byte {error.start}); convert it and send it again"
        raise InvalidInput(message) from None
