"""Requests that a client sends again because it lost the answer: carried out once, by their key.

The first request with an `Idempotency-Key` leaves its answer in the records of its space, where
every server over the same store finds it, and runs to completion even if its client disconnects.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from anyio import to_thread
from fastapi import Depends, Header
from starlette.datastructures import Headers
from starlette.responses import Response

from turnleaf.errors import Conflict, TurnleafError
from turnleaf.faces.http import problems
from turnleaf.faces.http.problems import Refused
from turnleaf.faces.http.request_reading import (
    CONVERSATION_HEADER,
    OPEN_WEBUI_HEADER,
    SERVED,
    replay_body,
)
from turnleaf.store.erasure import ANSWERED_REQUESTS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from turnleaf.store.contracts import Records

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
MAX_KEY_CHARS = 255
KEPT_FOR = timedelta(days=1)
MAX_ANSWER_BYTES = 64_000
"""A longer answer is not kept: a client could otherwise fill the disk with them."""
CONVERSATION_HEADERS = (CONVERSATION_HEADER, OPEN_WEBUI_HEADER)
ROUTES = re.compile(r"/api/(?:memory/facts|memory/daily/[^/]+|schedules|chat)|/v1/chat/completions")
KEY_OF_ANOTHER_REQUEST = (
    "this Idempotency-Key was used for a different request; use a new one for each request"
)
UNANSWERED = (
    "a request with this Idempotency-Key is still in progress; wait a moment and send it "
    "again, or check whether it was carried out"
)
NOT_KEPT = (
    "the request with this Idempotency-Key was carried out, but its answer was too large to "
    "store; check what it changed, and use a new key for other requests"
)
log = logging.getLogger("turnleaf")


async def _declare(
    key: Annotated[
        str | None,
        Header(
            alias=HEADER,
            max_length=MAX_KEY_CHARS,
            description="Made by the client, new for each request. Sent again within a day, the"
            " request is not carried out again but gets the first answer.",
        ),
    ] = None,
) -> None:
    """Declare the header in the description of a route; `RepeatGate` reads it."""


REPEATABLE = Depends(_declare)


class RepeatGate:
    """Carries out a request with a key once; behind it every request has its space."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer as the first with its key was answered."""
        key = _find_key(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive)
        # A kept answer would repeat what must not be stored.
        if scope["path"] == "/api/chat" and _is_private(body):
            await self._app(scope, replay_body(body, receive), send)
            return
        request = OnceRequest(scope[SERVED].assistant.stores.records, key, _identify(scope), body)
        try:
            answer = await to_thread.run_sync(request.begin)
        except Refused as refused:
            answer = problems.answer_refused(scope["path"], refused)
        except TurnleafError as error:
            answer = problems.answer_error(scope["path"], error)
        if answer:
            await answer(scope, receive, send)
        else:
            await self._carry_out(request, body, scope, send)

    async def _carry_out(self, request: OnceRequest, body: bytes, scope: Scope, send: Send) -> None:
        """Answer for the first time, and settle what a repetition gets before the end is sent.

        A client that has the whole answer may send the request again at once.
        """

        async def keep(sent: Message) -> None:
            if request.note(sent):
                await to_thread.run_sync(request.settle)
            await send(sent)

        await self._app(scope, replay_body(body, _wait_forever), keep)


class OnceRequest:
    """A request with a key, and its answer as far as it is known."""

    def __init__(self, records: Records, key: str, identity: str, body: bytes) -> None:
        self._records = records
        self._name = hashlib.sha256(key.encode()).hexdigest()
        self._request = hashlib.sha256(identity.encode() + b"\n" + body).hexdigest()
        self._version = 0
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()
        self._is_too_large = False

    def begin(self) -> Response | None:
        """Return the first answer again; None if this is the first request, which is recorded."""
        with suppress(Conflict):
            # Of several who send it at once, one can store this.
            self._put({"request": self._request})
            return None
        record = self._records.get(ANSWERED_REQUESTS, self._name)
        known: dict[str, Any] = json.loads(record.value) if record else {}
        if known.get("request", self._request) != self._request:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, KEY_OF_ANOTHER_REQUEST, code="invalid")
        # After a kill nobody knows how far it came, and to carry it out again could double it.
        if "status" not in known:
            raise Refused(HTTPStatus.CONFLICT, UNANSWERED, {"Retry-After": "1"})
        if "body" not in known:
            raise Refused(HTTPStatus.CONFLICT, NOT_KEPT)
        headers = {**dict(known["headers"]), REPLAYED: "true"}
        return Response(base64.b64decode(known["body"]), known["status"], headers)

    def note(self, sent: Message) -> bool:
        """Collect a part of the answer; whether it is the last."""
        if sent["type"] == "http.response.start":
            self._status = sent["status"]
            self._headers = [
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in sent["headers"]
            ]
        self._collect(sent.get("body", b""))
        return sent["type"] == "http.response.body" and not sent.get("more_body")

    def _collect(self, part: bytes) -> None:
        self._is_too_large |= len(self._body) + len(part) > MAX_ANSWER_BYTES
        if self._is_too_large:
            self._body.clear()
        else:
            self._body += part

    def settle(self) -> None:
        """Keep the answer, or let a request that was refused be tried again.

        Where that fails, the request is not carried out again either.
        """
        try:
            if self._was_refused:
                self._release()
            else:
                self._put(self._describe())
        except Conflict:
            # The answer was erased while it was being given, and must not come back.
            return
        except TurnleafError as error:
            log.warning("the answer to a request with an Idempotency-Key was not stored: %s", error)

    @property
    def _was_refused(self) -> bool:
        """Whether nothing was done; after any other error nobody knows, so it is not repeated."""
        can_wait = any(name.lower() == "retry-after" for name, _ in self._headers)
        is_wrong = HTTPStatus.BAD_REQUEST <= self._status < HTTPStatus.INTERNAL_SERVER_ERROR
        return can_wait or is_wrong

    def _describe(self) -> dict[str, Any]:
        answer = {"request": self._request, "status": self._status, "headers": self._headers}
        if self._is_too_large:
            return answer
        return {**answer, "body": base64.b64encode(self._body).decode()}

    def _put(self, value: dict[str, Any]) -> None:
        """Store what is known, if nobody else has stored or erased it since."""
        stored = self._records.put(
            ANSWERED_REQUESTS,
            self._name,
            json.dumps(value).encode(),
            expected=self._version,
            ttl=KEPT_FOR,
        )
        self._version = stored.version

    def _release(self) -> None:
        record = self._records.get(ANSWERED_REQUESTS, self._name)
        if record and record.version == self._version:
            self._records.pop(ANSWERED_REQUESTS, self._name)


def _find_key(scope: Scope) -> str | None:
    if scope["type"] != "http" or scope["method"] != "POST" or not ROUTES.fullmatch(scope["path"]):
        return None
    return Headers(scope=scope).get(HEADER) or None


def _identify(scope: Scope) -> str:
    """Return what else makes a request the same: its path, and the conversation that it names."""
    headers = Headers(scope=scope)
    return "\n".join([scope["path"], *(headers.get(name, "") for name in CONVERSATION_HEADERS)])


async def _read_body(receive: Receive) -> bytes:
    body, is_more = bytearray(), True
    while is_more:
        part = await receive()
        body += part.get("body", b"")
        is_more = part.get("more_body", False)
    return bytes(body)


def _is_private(body: bytes) -> bool:
    """Whether nothing of a request may be stored."""
    with suppress(ValueError, RecursionError):
        sent = json.loads(body)
        return isinstance(sent, dict) and bool(sent.get("private"))
    return False


async def _wait_forever() -> Message:
    """Never report that the client is gone."""
    await anyio.sleep_forever()
    raise AssertionError  # pragma: no cover - it is cancelled with the request
