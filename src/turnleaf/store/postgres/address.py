"""The address of a database: what is connected to, and what of it may be shown."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from turnleaf.errors import InvalidInput

SCHEMES = ("postgresql://", "postgres://")
VERIFIED = "verify-full"
_SECRET = (
    "password",
    "sslpassword",
    "passfile",
    "sslkey",
    "sslcert",
    "oauth_client_secret",
)
_LOOPBACK = ("localhost", "127.", "::1", "/", "@")
_log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """A database: how it is connected to, and its address without anything secret."""

    conninfo: str
    shown: str
    is_unverified: bool = False
    """Whether the server's certificate is not checked, though it is another machine's."""


def read_address(given: str) -> DatabaseAddress:
    """Read an address; raise InvalidInput, which names no part of it, for one that is none."""
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(given).items() if value}
    except ProgrammingError:
        message = (
            "the address of the database cannot be read; write it as "
            "postgresql://USER@HOST:PORT/DATABASE"
        )
        raise InvalidInput(message) from None
    is_near = _is_near(parts)
    asked = parts.get("sslmode")
    if not is_near and asked is None:
        parts["sslmode"] = VERIFIED
        parts.setdefault("sslrootcert", "system")
    is_unverified = not is_near and parts["sslmode"] != VERIFIED
    if is_unverified:
        _log.warning(
            "the connection to the database is made with sslmode=%s, as its address says; nobody "
            "checks that it is the right server",
            asked,
        )
    return DatabaseAddress(make_conninfo("", **parts), _show(parts), is_unverified)


def _is_near(parts: dict[str, str]) -> bool:
    """Whether the server is on this machine, as far as the address says."""
    hosts = parts.get("hostaddr") or parts.get("host") or "/"
    if "service" in parts and "host" not in parts:
        return False
    return all(host.startswith(_LOOPBACK) or not host for host in hosts.split(","))


def _show(parts: dict[str, str]) -> str:
    """Return the address without passwords and the names of files that hold them."""
    shown = {key: value for key, value in parts.items() if key not in _SECRET}
    user, name = shown.pop("user", ""), shown.pop("dbname", "")
    host, port = shown.pop("host", ""), shown.pop("port", "")
    if host.startswith("/"):
        shown, host = {"host": host, **shown}, ""
    place = f"{quote(user)}@" * bool(user) + host + f":{port}" * bool(port)
    more = f"?{urlencode(shown, safe='/')}" if shown else ""
    return f"postgresql://{place}/{quote(name)}{more}"
