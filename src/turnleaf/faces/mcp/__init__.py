"""The memory over MCP: its tools, and its files to read.

The protocol's SDK takes longer to import than everything else together, and is an extra: so it is
imported when somebody is served, and by nobody else.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from turnleaf.faces.processes import require_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnleaf.faces.mcp.server import Served
    from turnleaf.tools import MemoryTools

__all__ = ["check_installed", "offer"]


def offer(open_tools: Callable[[], MemoryTools]) -> Served:
    """Offer the table's tools and the files behind them, which are opened for the first call.

    Without the SDK, raise MissingPackage.
    """
    with require_extra("mcp"):
        server = import_module("turnleaf.faces.mcp.server")
    served: Served = server.Served(open_tools)
    return served


def check_installed() -> None:
    """Raise MissingPackage without the SDK; to look for it takes no time."""
    with require_extra("mcp"):
        if find_spec("mcp") is None:
            raise ModuleNotFoundError(name="mcp")
