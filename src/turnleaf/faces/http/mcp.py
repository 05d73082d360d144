"""MCP over HTTP, at `/mcp`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import Response

from turnleaf.assistant import Assistant
from turnleaf.faces.extras import MissingPackage
from turnleaf.faces.http.given import Current
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.mcp import offer
from turnleaf.tools import MemoryTools

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from turnleaf.faces.mcp.server import Served

router = APIRouter(include_in_schema=False)


class Exchange(Response):
    """An answer that the protocol's SDK writes, to a request that it reads."""

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the SDK answer."""
        await self._served.on_request(scope, receive, send)


def _offered(request: Request, own: Assistant) -> Served:
    """Give what is offered; for the first who asks, it is made."""
    state = request.app.state
    if not hasattr(state, "mcp"):
        tools = MemoryTools(own.memory, own.pending, own.daily, own.index, own.folder.path)
        state.mcp = offer(lambda: tools)
    served: Served = state.mcp
    return served


@router.post("/mcp")
def talk(request: Request, assistant: Current) -> Exchange:
    """Answer a message of an MCP client; streams and sessions there are none."""
    try:
        return Exchange(_offered(request, assistant))
    except MissingPackage as error:
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, str(error), code="settings") from error
