"""The operator's one-time link: whoever has it may set keys, addresses and models in the page.

Only the hash of its secret is kept, in a file of the data folder: whoever can write there is the
operator anyway, so `turnleaf link` can make a new one for a server that runs.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from typing import TYPE_CHECKING, Any

from turnleaf.errors import NotFound
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIFE_SECONDS = 15 * 60
SECRET_BYTES = 32


def make_link(
    path: Path, address: str | None = None, clock: Callable[[], float] = time.time
) -> str:
    """Return a new link in the place of any other; `address` is where the server listens.

    Without one, it is that of the server that was started last; NotFound if none was.
    """
    secret = secrets.token_urlsafe(SECRET_BYTES)
    atomic.make_folder(path.parent)
    with atomic.lock(path) as file:
        where = (address or "").rstrip("/") or _parse(file.read()).get("address")
        if not isinstance(where, str):
            raise NotFound(
                "no server has been started on this data folder; start one with turnleaf serve"
            )
        # Only the hash: whoever can read the file cannot use the link.
        link = {"address": where, "hash": _hash(secret), "until": clock() + LIFE_SECONDS}
        file.replace(json.dumps(link).encode())
    return f"{where}/operator/{secret}"


def redeem_link(path: Path, secret: str, clock: Callable[[], float] = time.time) -> bool:
    """Whether a secret is that of a link which is still good; from now on it is not."""
    with atomic.lock(path) as file:
        link = _parse(file.read())
        known, until = link.get("hash"), link.get("until")
        if not isinstance(known, str) or not isinstance(until, int | float):
            return False
        if not hmac.compare_digest(known, _hash(secret)) or clock() > until:
            return False
        # Within the lock: of two who come with the same link, one gets in.
        file.replace(json.dumps({"address": link.get("address")}).encode())
    return True


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _parse(data: bytes | None) -> dict[str, Any]:
    """Return what a file says; one that is damaged says nothing, and is made anew."""
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
