"""The address of a database, connections to it, and what it reports as errors of our own."""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlencode

import psycopg
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo
from psycopg_pool import PoolTimeout

from turnleaf.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator


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
# They begin the name of a socket, which is always on this machine.
_SOCKET = ("/", "@")
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
    parts = _split(given)
    known = _read_defaults() | parts
    is_near = _is_near(known, parts)
    asked = parts.get("sslmode")
    # By default libpq would neither insist on encryption nor check who the server is.
    if not is_near and asked is None:
        parts["sslmode"] = VERIFIED
        parts["sslrootcert"] = known.get("sslrootcert", "system")
    is_unverified = not is_near and parts["sslmode"] != VERIFIED
    if is_unverified:
        _log.warning(
            "the connection to the database uses sslmode=%s, as its address says, so the server's "
            "identity is not verified",
            asked,
        )
    return DatabaseAddress(make_conninfo("", **parts), _show(parts), is_unverified)


def _split(given: str) -> dict[str, str]:
    # A password with a slash would be taken for a host, a port and a name, and be shown.
    is_torn = "@" in given.partition("://")[2].partition("/")[2].partition("?")[0]
    with suppress(ProgrammingError):
        if not is_torn:
            return {key: str(value) for key, value in conninfo_to_dict(given).items() if value}
    message = (
        "the database address is not valid; write it as "
        "postgresql://USER@HOST:PORT/DATABASE, with / and @ inside a part as %2F and %40"
    )
    raise InvalidInput(message)


def _read_defaults() -> dict[str, str]:
    """Return what libpq takes from variables, such as PGHOST, where an address says nothing."""
    found = Conninfo.get_defaults()
    return {one.keyword.decode(): one.val.decode() for one in found if one.val}


def _is_near(known: dict[str, str], parts: dict[str, str]) -> bool:
    """Whether the server is on this machine, as far as the address and the variables say."""
    # The file of services names the host, and it is not read here.
    if "service" in parts and "host" not in parts:
        return False
    hosts = known.get("hostaddr") or known.get("host") or ""
    return all(_is_loopback(host) for host in hosts.split(","))


def _is_loopback(host: str) -> bool:
    if host in {"", "localhost"} or host.startswith(_SOCKET):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _show(parts: dict[str, str]) -> str:
    """Return the address without passwords and the names of files that hold them."""
    shown = {key: value for key, value in parts.items() if key not in _SECRET}
    user, name = shown.pop("user", ""), shown.pop("dbname", "")
    host, port = shown.pop("host", ""), shown.pop("port", "")
    if host.startswith(_SOCKET):
        shown, host = {"host": host, **shown}, ""
    place = f"{quote(user)}@" * bool(user) + _join_hosts(host.split(","), port.split(","))
    more = f"?{urlencode(shown, safe='/')}" if shown else ""
    return f"postgresql://{place}/{quote(name)}{more}"


def _join_hosts(hosts: list[str], ports: list[str]) -> str:
    """Return hosts with their ports; one port is that of all."""
    each = ports * len(hosts) if len(ports) == 1 else ports
    named = [f"[{host}]" if ":" in host else host for host in hosts]
    return ",".join(
        f"{host}:{port}" if port else host for host, port in zip(named, each, strict=False)
    )


CONNECT_SECONDS = 10
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


def connect(conninfo: str, *, autocommit: bool = True) -> Connection:
    """Connect once, and wait for it only a little."""
    return psycopg.connect(conninfo, autocommit=autocommit, connect_timeout=CONNECT_SECONDS)


def describe(error: Exception) -> str:
    """Return what is wrong on one line; libpq names no password in it."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise StorageError for what PostgreSQL raises."""
    try:
        yield
    except PoolTimeout as error:
        message = f"the database cannot be reached ({describe(error)}); check that it is running"
        raise StorageError(message) from None
    except psycopg.OperationalError as error:
        message = f"the connection to the database failed ({describe(error)}); try again"
        raise StorageError(message) from None
    except psycopg.Error as error:
        message = f"the database refused: {describe(error)}"
        raise StorageError(message) from error
