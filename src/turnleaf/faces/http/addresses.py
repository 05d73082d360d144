"""Which servers of models the operator may name over HTTP, and which only after a question.

Whoever names an address makes this machine send requests there, with the user's words and keys.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.model_providers import PROVIDERS
from turnleaf.errors import SettingsError
from turnleaf.faces.http.problems import Refused
from turnleaf.settings import ENVIRONMENT, list_allowed_urls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USUAL = tuple(one.url for one in PROVIDERS.values() if one.url)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PORTS = {"http": 80, "https": 443}
HIGHEST_PORT = 65_535

# Stricter than any library's parser, so that none can take an address for another one.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?:/[a-z0-9._~/-]*)?",
    re.ASCII | re.IGNORECASE,
)


class Origin(NamedTuple):
    """A server: the part of an address that decides who answers."""

    scheme: str
    host: str
    port: int


def parse_origin(address: str) -> Origin | None:
    """Parse a plain address; return None for any other."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"] or PORTS[scheme])
    return Origin(scheme, found["host"].lower(), port) if port <= HIGHEST_PORT else None


def check_address(
    address: str,
    present: str | None = None,
    *,
    own: Sequence[str] | None = None,
    is_confirmed: bool,
) -> None:
    """Refuse what is no address, and one that the operator has yet to confirm.

    `own` are the servers that a key belongs to; without one, those of all providers and every
    server on this machine need no question.
    """
    wanted = parse_origin(address)
    if wanted is None:
        message = f"{address!r:.80} is no address; write one such as http://localhost:1234/v1"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, message, code="settings")
    is_known = is_allowed(address, present, own=own)
    if not is_known and not is_confirmed:
        message = f"{wanted.host} would be sent your words; confirm that this is what you want"
        if own:
            message = (
                f"{wanted.host} would be sent your words and a key; confirm that this is what you"
                " want"
            )
        raise Refused(HTTPStatus.CONFLICT, message, code="unconfirmed-address")


def is_allowed(
    address: str,
    present: str | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
    *,
    own: Sequence[str] | None = None,
) -> bool:
    """Whether an address needs no question: a usual one, one allowed here, or the present one."""
    usual = USUAL if own is None else own
    known = {
        parse_origin(one) for one in (*usual, *list_allowed(environ), *filter(None, [present]))
    }
    wanted = parse_origin(address)
    is_local = own is None and wanted is not None and wanted.host in LOOPBACK
    return wanted is not None and (wanted in known or is_local)


def list_allowed(environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return the addresses that whoever started the server allows."""
    addresses = list_allowed_urls(environ)
    for one in addresses:
        if parse_origin(one) is None:
            message = (
                "TURNLEAF_ALLOWED_URLS must be addresses such as http://192.168.1.5:11434, with "
                f"commas between them, not {one!r}; correct it or remove it"
            )
            raise SettingsError(message)
    return addresses
