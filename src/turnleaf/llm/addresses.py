"""The addresses and keys of servers, checked before they are used or shown."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from turnleaf.errors import SettingsError


def checked_url(url: str, variable: str) -> str:
    """Check an address; what may hold a secret is refused, as it would be shown."""
    try:
        parts = urlsplit(url)
        is_good = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    else:
        is_good &= parts.scheme in {"http", "https"} and not {"@", "?", "#"} & set(url)
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingsError(
            f"{variable} must be an address such as http://localhost:11434/v1, without a name,"
            " a password or a question mark in it; correct it or remove it"
        )
    return url.rstrip("/")


def checked_key(key: str | None, variable: str) -> str | None:
    """Refuse a key that no header can hold, before an error of a library shows it."""
    if key and not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"{variable} has a character that no key has, such as a line break; copy it anew"
        )
    return key


def is_on_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
