"""Messages that the SDK cannot read: mended where that is possible, answered where it is not.

What JavaScript makes of half an emoji is JSON that Python's readers refuse. Nobody would answer
such a request, and its client would wait for ever.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.abc import ObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from starlette.types import Message, Receive

    Heard = SessionMessage | Exception

log = logging.getLogger("turnleaf")

_HALVES = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
REPLACEMENT = rb"\ufffd"


def mended(text: bytes) -> bytes:
    """Put U+FFFD in the place of every half character that is written as an escape."""
    return _HALVES.sub(lambda found: REPLACEMENT if found["half"] else found[0], text)


def receiving(receive: Receive) -> Receive:
    """Mend what a request brings; its body comes in one part, as the server has read it whole."""

    async def mending() -> Message:
        message = await receive()
        return {**message, "body": mended(message["body"])} if message.get("body") else message

    return mending


async def hear(
    read: ReadStream[Heard], heard: ObjectSendStream[Heard], write: WriteStream[SessionMessage]
) -> None:
    """Pass on what comes in; what is no message is answered, and said on stderr."""
    async with heard:
        async for one in read:
            again = _read_again(one) if isinstance(one, ValidationError) else one
            if isinstance(again, SessionMessage):
                await heard.send(again)
            elif again is not None:
                log.warning("the client sent a line that is no message of MCP")
                await write.send(SessionMessage(_refusal(again)))


def _read_again(problem: ValidationError) -> Heard | None:
    """Read a line that was refused, mended; None when there is nothing in it."""
    if _is_json(problem):
        return problem
    line: str = problem.errors()[0]["input"]
    if not line.strip():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(mended(line.encode()), by_name=False)
    except ValidationError as error:
        return error
    return SessionMessage(message)


def _is_json(problem: Exception) -> bool:
    return isinstance(problem, ValidationError) and problem.errors()[0]["type"] != "json_invalid"


def _refusal(problem: Exception) -> types.JSONRPCError:
    error = types.ErrorData(
        code=types.INVALID_REQUEST if _is_json(problem) else types.PARSE_ERROR,
        message="this line is no message of MCP; send JSON-RPC 2.0, each message on a line",
    )
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
