"""`Tokens`: who may use a server, and as whom: the operator's tokens, and those of spaces.

A token is `tl_ID_SECRET`. Only its hash is kept, in the operator's records, so that every server
over one store knows the same ones, and no space can list them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.core.setting_kinds import is_space_name
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.store.announcements import ProblemLog
from turnleaf.store.clock_and_ids import make_id, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from turnleaf.core.opaque_records import Record
    from turnleaf.store.contracts import Records

PREFIX = "tl_"
COLLECTION = "tokens"
USES = "token-uses"
"""Apart from the tokens: to note a use must not bring back what was revoked meanwhile."""
SECRET_BYTES = 32
MAX_NAME_CHARS = 100
KNOWN_SECONDS = 2.0
"""For how long a server relies on what it read, and so how late it hears of a revocation."""
USE_SECONDS = 60.0
"""How exactly the last use is known."""
_PAGE = 500
_FORM = re.compile(rf"{PREFIX}([a-z0-9]{{1,32}})_([\w-]{{20,128}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a token; `space` is None for the operator's."""

    id: str
    space: str | None
    name: str
    created_at: datetime
    ends_at: datetime | None
    digest: str
    last_used_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether its end has come."""
        return self.ends_at is not None and self.ends_at <= now


class Tokens:
    """The tokens of a place, for all servers and programs over it."""

    def __init__(
        self,
        records: Records,
        *,
        now: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._records = records
        self._now = now
        self._clock = clock
        self._guard = Lock()
        self._known: dict[str, tuple[float, AccessToken | None]] = {}
        self._any: tuple[float, bool] | None = None
        self._noted: dict[str, float] = {}
        self._writer: ThreadPoolExecutor | None = None
        self._problems = ProblemLog()

    def add(
        self, space: str | None, *, name: str = "", ends: date | None = None
    ) -> tuple[AccessToken, str]:
        """Make a token for a space, or with None for the operator; return it and its text.

        The text cannot be found out later. It works to the end of the day `ends`.
        """
        made_at, secret = self._now(), secrets.token_urlsafe(SECRET_BYTES)
        token_id = make_id()
        text = f"{PREFIX}{token_id}_{secret}"
        ends_at = _find_end(ends, made_at)
        token = AccessToken(
            token_id, _check_space(space), _check_name(name), made_at, ends_at, _hash(text)
        )
        # Only if there is none: an id that is given twice would replace somebody's token.
        self._records.put(COLLECTION, token_id, _to_json(token), expected=0)
        self._forget()
        return token, text

    def list_all(self) -> list[AccessToken]:
        """Return all that were not revoked, the oldest first, with their last use."""
        used = {one.key: from_iso(one.value.decode()) for one in self._read_all(USES)}
        tokens = [_from_json(one) for one in self._read_all(COLLECTION)]
        found = [replace(one, last_used_at=used.get(one.id)) for one in tokens]
        return sorted(found, key=lambda one: (one.created_at, one.id))

    def revoke(self, token_id: str) -> AccessToken:
        """End a token now; raise NotFound for one that does not exist."""
        # What no id looks like could not even be the name of a record.
        is_id = _FORM.fullmatch(f"{PREFIX}{token_id}_{'x' * 20}")
        found = self._records.pop(COLLECTION, token_id) if is_id else None
        if found is None:
            message = f"no token has the ID {token_id[:40]}; list them with turnleaf token list"
            raise NotFound(message)
        self._records.erase(USES, token_id)
        self._forget()
        return _from_json(found)

    def revoke_all(self, space: str) -> int:
        """End every token of a space now; return how many."""
        found = [one.id for one in self.list_all() if one.space == space]
        for token_id in found:
            with suppress(NotFound):  # Somebody else has revoked it meanwhile.
                self.revoke(token_id)
        return len(found)

    def exist(self) -> bool:
        """Whether there is any token, also one that is over."""
        known = self._any
        if known is None or self._clock() >= known[0]:
            is_any = bool(self._records.list_records(COLLECTION, limit=1))
            known = self._any = (self._clock() + KNOWN_SECONDS, is_any)
        return known[1]

    def is_fresh(self, text: str) -> bool:
        """Whether `exist` and `find` would answer without reading anything."""
        parts = _FORM.fullmatch(text)
        is_known = not parts or self._clock() < self._known.get(parts[1], (-1.0, None))[0]
        return is_known and self._any is not None and self._clock() < self._any[0]

    def find(self, text: str) -> AccessToken | None:
        """Return the token that somebody shows; None where it is wrong, over or revoked."""
        parts = _FORM.fullmatch(text)
        token = self._read(parts[1]) if parts else None
        # A comparison that ends at the first difference would tell by its time how much was right.
        if token is None or not hmac.compare_digest(token.digest, _hash(text)):
            return None
        return None if token.is_over(self._now()) else token

    def note_use(self, token: AccessToken) -> None:
        """Take note that a token was used, in the background and at most once a minute."""
        with self._guard:
            if self._clock() < self._noted.get(token.id, -USE_SECONDS) + USE_SECONDS:
                return
            self._noted[token.id] = self._clock()
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, "turnleaf-tokens")
            # On a thread of its own, so that no request waits for a note.
            self._writer.submit(self._write_use, token.id)

    def close(self) -> None:
        """Write what is noted."""
        with self._guard:
            writer, self._writer = self._writer, None
        if writer:
            writer.shutdown()

    def _write_use(self, token_id: str) -> None:
        now = to_iso(self._now()).encode()
        self._problems.attempt(
            "the last use of a token was not noted",
            lambda: self._records.put(USES, token_id, now),
        )

    def _read(self, token_id: str) -> AccessToken | None:
        until, token = self._known.get(token_id, (0.0, None))
        if token is None or self._clock() >= until:
            found = self._records.get(COLLECTION, token_id)
            token = _from_json(found) if found else None
            with self._guard:
                self._known.pop(token_id, None)
                if token:  # Whoever guesses must not fill the memory.
                    self._known[token_id] = self._clock() + KNOWN_SECONDS, token
        return token

    def _read_all(self, collection: str) -> list[Record]:
        records: list[Record] = []
        while page := self._records.list_records(
            collection, after=records[-1].key if records else None, limit=_PAGE
        ):
            records += page
        return records

    def _forget(self) -> None:
        with self._guard:
            self._known.clear()
            self._any = None


def _hash(text: str) -> str:
    # No salt and no slow hash: nobody guesses 256 random bits.
    return hashlib.sha256(text.encode()).hexdigest()


def _find_end(ends: date | None, now: datetime) -> datetime | None:
    if ends is None:
        return None
    midnight = datetime(ends.year, ends.month, ends.day).astimezone()
    # The last moment of that day, so that a list shows the day and not the next one.
    end = (midnight + timedelta(days=1, milliseconds=-1)).astimezone(UTC)
    if end <= now:
        message = f"{ends.isoformat()} is in the past; choose a last day that has not ended yet"
        raise InvalidInput(message)
    return end


def _check_space(space: str | None) -> str | None:
    if space is not None and not is_space_name(space):
        message = (
            f"{space!r:.80} cannot be the name of a space: use lower-case letters, digits, - "
            "and _, at most 64 characters, beginning with a letter or digit"
        )
        raise InvalidInput(message)
    return space


def _check_name(name: str) -> str:
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        message = (
            f"a token's name must be one line of at most {MAX_NAME_CHARS} characters; shorten it"
        )
        raise InvalidInput(message)
    return name.strip()


def _to_json(token: AccessToken) -> bytes:
    record = {
        "space": token.space,
        "name": token.name,
        "createdAt": to_iso(token.created_at),
        "endsAt": to_iso(token.ends_at) if token.ends_at else None,
        "hash": token.digest,
    }
    return json.dumps(record).encode()


def _from_json(record: Record) -> AccessToken:
    found: dict[str, Any] = json.loads(record.value)
    ends_at = from_iso(found["endsAt"]) if found["endsAt"] else None
    created_at = from_iso(found["createdAt"])
    return AccessToken(
        record.key, found["space"], found["name"], created_at, ends_at, found["hash"]
    )
