"""The keys of providers as a file has them: each with the address that it was set for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key, or the command that prints it, and the address that it may be sent to."""

    address: str
    key: str | None = field(default=None, repr=False)
    command: str | None = None

    def is_for(self, url: str) -> bool:
        """Whether a server may be sent it: the one that it was set for, and no other."""
        return find_server(self.address) == find_server(url)


def find_server(url: str) -> tuple[str, str, int | None]:
    """Return what of an address decides who answers: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def parse_keys(data: bytes) -> dict[str, StoredKey]:
    """Return the keys of a file by provider; raise ValueError for what is no such file."""
    found = json.loads(data.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError
    return {name: _parse_key(entry) for name, entry in found.items()}


def _parse_key(entry: object) -> StoredKey:
    if not isinstance(entry, dict) or set(entry) - {"address", "key", "command"}:
        raise ValueError
    address, key, command = (entry.get(name) for name in ("address", "key", "command"))
    has_one = isinstance(key, str) != isinstance(command, str)
    if not isinstance(address, str) or not has_one:
        raise ValueError
    return StoredKey(address, key, command)


def serialize_keys(keys: Mapping[str, StoredKey]) -> bytes:
    """Return the content of a file of keys."""
    return f"{json.dumps({name: _to_json(key) for name, key in keys.items()}, indent=2)}\n".encode()


def _to_json(stored: StoredKey) -> dict[str, Any]:
    record = {"address": stored.address, "key": stored.key, "command": stored.command}
    return {name: value for name, value in record.items() if value is not None}
