"""The memory over MCP: its tools and resources.

The SDK takes longer to import than everything else together, and is an extra: so it is imported
only to serve a client.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from turnleaf.faces.processes import require_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnleaf.faces.mcp.server import McpServer
    from turnleaf.tools import MemoryTools

__all__ = ["check_installed", "offer"]


def offer(open_tools: Callable[[], MemoryTools]) -> McpServer:
    """Return a server of the memory's tools, which are opened at the first call.

    Without the SDK, raise MissingPackage.
    """
    with require_extra("mcp"):
        server = import_module("turnleaf.faces.mcp.server")
    served: McpServer = server.McpServer(open_tools)
    return served


def check_installed() -> None:
    """Raise MissingPackage without the SDK, which is not imported for that."""
    with require_extra("mcp"):
        if find_spec("mcp") is None:
            raise ModuleNotFoundError(name="mcp")
