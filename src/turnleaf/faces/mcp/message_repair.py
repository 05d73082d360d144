"""Messages that the SDK cannot parse: repaired if possible, else answered with an error.

JavaScript writes half an emoji as JSON that Python's parsers refuse, and a request with an invalid
ID is taken for a notification. Neither would be answered, and the client would wait for ever.
"""

from __future__ import annotations

import logging
import os
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import BaseModel, StrictInt, StrictStr, ValidationError
from starlette.responses import Response

from turnleaf.core.jsontext import replace_half_characters

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable

    from anyio.abc import ObjectSendStream
    from starlette.types import Message, Receive

log = logging.getLogger("turnleaf")

NO_MESSAGE = "{}"
"""A line that the SDK refuses."""
ADVICE = (
    "this is not a valid MCP message; send JSON-RPC 2.0 with one message per line on stdio, and"
    " a text or a whole number as the id of each request"
)


class _Request(BaseModel):
    """The fields of a request; without an ID it is a notification."""

    method: object
    id: StrictInt | StrictStr = 0


def has_wrong_id(message: str | bytes) -> bool:
    """Whether a request has an ID that the protocol does not allow, such as null or 1.5."""
    try:
        _Request.model_validate_json(message)
    except ValidationError as error:
        wrong = {one["loc"][0] for one in error.errors(include_input=False) if one["loc"]}
        return wrong == {"id"}
    return False


class StandardInput:
    """The lines of standard input, which nothing else in the process can read any more."""

    def __init__(self) -> None:
        wire = os.dup(sys.stdin.fileno())
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device
            os.dup2(nothing.fileno(), sys.stdin.fileno())
        # At the end a thread may still wait for a line, so the descriptor must stay.
        self._lines = open(wire, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line, repaired; for a request with a wrong ID, one that is refused."""
        async for line in anyio.wrap_file(self._lines):
            if line.strip():
                mended = replace_half_characters(line.encode()).decode()
                yield NO_MESSAGE if has_wrong_id(mended) else mended


async def read_body(receive: Receive) -> tuple[bytes, Receive]:
    """Return the repaired body of a request, and a `Receive` for the next reader.

    It comes in one part, because the server has read it whole.
    """
    first = await receive()
    body = replace_half_characters(first.get("body", b""))
    messages: list[Message] = [{**first, "body": body}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return body, receive_again


def make_refusal() -> Response:
    """Return the HTTP response to an invalid request."""
    body = _make_error(types.INVALID_REQUEST).model_dump_json(by_alias=True)
    return Response(body, HTTPStatus.BAD_REQUEST, media_type="application/json")


async def hear(
    read: AsyncIterable[SessionMessage | Exception],
    heard: ObjectSendStream[SessionMessage | Exception],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Pass messages on; invalid ones are answered with an error and logged."""
    async with heard:
        async for one in read:
            if isinstance(one, SessionMessage):
                await heard.send(one)
            else:
                log.warning("the client sent a line that is not a valid MCP message")
                code = types.INVALID_REQUEST if _is_json(one) else types.PARSE_ERROR
                await answer(SessionMessage(_make_error(code)))


def _is_json(problem: Exception) -> bool:
    return isinstance(problem, ValidationError) and problem.errors()[0]["type"] != "json_invalid"


def _make_error(code: int) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=ADVICE)
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
