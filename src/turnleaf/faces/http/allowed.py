"""The servers that may be named over HTTP.

Whoever sets an address makes this machine send requests there, with the user's words and keys.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN = {
    "anthropic": ("https://api.anthropic.com",),
    "openai": ("https://api.openai.com",),
    "ollama": ("http://localhost:11434", "http://127.0.0.1:11434"),
}
"""The servers of each provider of models; no other may be shown its key."""
KEYLESS = "ollama"
USUAL = tuple(address for own in OWN.values() for address in own)
PORTS = {"http": 80, "https": 443}
HIGHEST_PORT = 65_535

# Narrower than any library's reading, so that none can take an address for another one.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?:/[a-z0-9._~/-]*)?",
    re.ASCII | re.IGNORECASE,
)


class Origin(NamedTuple):
    """A server: all of an address that decides who answers."""

    scheme: str
    host: str
    port: int


def origin(address: str) -> Origin | None:
    """Read an address as plain as the usual ones; None for any other."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"] or PORTS[scheme])
    return Origin(scheme, found["host"].lower(), port) if port <= HIGHEST_PORT else None


def is_allowed(
    address: str,
    present: str | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    usual: Sequence[str] = USUAL,
) -> bool:
    """Tell whether an address may be set: a usual one, one allowed here, or the present server."""
    known = {origin(one) for one in (*usual, *allowed_here(environ), *filter(None, [present]))}
    wanted = origin(address)
    return wanted is not None and wanted in known


def allowed_here(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Give the addresses that whoever runs the server allows."""
    given = environ.get("TURNLEAF_ALLOWED_URLS", "").split(",")
    addresses = [one.strip() for one in given if one.strip()]
    for one in addresses:
        if origin(one) is None:
            message = (
                "TURNLEAF_ALLOWED_URLS must hold addresses such as http://192.168.1.5:11434, with "
                f"commas between them; {one!r} is none; correct it or remove it"
            )
            raise SettingsError(message)
    return addresses
