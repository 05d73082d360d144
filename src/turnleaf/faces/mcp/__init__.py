"""The memory over MCP: its tools, and its files to read.

The protocol's SDK takes longer to import than everything else together, and is an extra: so it is
imported when somebody is served, and by nobody else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnleaf.faces.mcp.server import Served
    from turnleaf.tools import MemoryTools

__all__ = ["MissingPackage", "offer"]


class MissingPackage(TurnleafError):
    """The SDK is not installed."""


def offer(open_tools: Callable[[], MemoryTools]) -> Served:
    """Offer the table's tools and the files behind them, which are opened for the first call.

    Without the SDK, raise MissingPackage.
    """
    try:
        server = import_module("turnleaf.faces.mcp.server")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "turnleaf":
            raise
        message = f"the package {package} is missing; pip install 'turnleaf[mcp]' brings it"
        raise MissingPackage(message) from error
    served: Served = server.Served(open_tools)
    return served
