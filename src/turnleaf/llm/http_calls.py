"""HTTP requests to a server of models, one at a time, that can be stopped from outside.

Nothing is sent to where a server redirects, and no proxy stands before loopback.
"""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from turnleaf.llm.addresses import is_on_loopback
from turnleaf.llm.failures import CallFailure, classify_refusal, find_reason

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from urllib.request import BaseHandler

_CONNECT_SECONDS = 10.0
_MAX_ERROR_BYTES = 64 * 1024
_MAX_JSON_BYTES = 8 * 1024**2
_MAX_LINE_BYTES = 16 * 1024**2
_DATA = b"data:"
_DONE = b"[DONE]"


class Line:
    """A line to a server; stopped from another thread, whoever waits at it goes on at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._stopped = Event()

    def post(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> Generator[dict[str, Any]]:
        """Send JSON, and yield the events that come back one by one."""
        data = json.dumps(body).encode()
        usual = {"Content-Type": "application/json", "User-Agent": "turnleaf"}
        request = Request(url, data, {**usual, **headers})  # noqa: S310 - checked_url let it pass
        with self._answer(request) as response:
            yield from _read_events(response)

    def get(self, url: str, headers: Mapping[str, str]) -> object:
        """Return the JSON at an address."""
        request = Request(url, headers={"User-Agent": "turnleaf", **headers})  # noqa: S310 - as above
        with self._answer(request) as response:
            data = response.read(_MAX_JSON_BYTES)
        with suppress(ValueError, RecursionError):
            return json.loads(data)
        raise CallFailure("unexpected", "what it sent is no JSON")

    def wait(self, seconds: float = 0.0) -> None:
        """Wait before what comes next; end it where nobody waits for it any more."""
        if self._stopped.wait(seconds):
            raise CallFailure("broken-off")

    def stop(self) -> bool:
        """End what is under way; False where that is a connection which is not made yet."""
        self._stopped.set()
        if self._socket is None:
            return False
        with suppress(OSError):
            # Not the method of a TLS socket, which would say goodbye in the other thread's place.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        return True

    def take(self, connected: socket.socket) -> None:
        """Take what was connected, to be able to end it."""
        self._socket = connected
        connected.settimeout(self._seconds)
        if self._stopped.is_set():
            raise ConnectionAbortedError

    @contextmanager
    def _answer(self, request: Request) -> Iterator[HTTPResponse]:
        self._socket = None
        try:
            with self._open(request) as response:
                if response.status != HTTPStatus.OK:
                    raise _read_refusal(response)
                yield response
        except (OSError, HTTPException) as error:
            raise self._explain(error) from None

    def _open(self, request: Request) -> HTTPResponse:
        opener = make_opener(request.full_url, (_Http(self), _Https(self)))
        seconds = min(self._seconds, _CONNECT_SECONDS)
        response: HTTPResponse = opener.open(request, timeout=seconds)
        return response

    def _explain(self, error: Exception) -> CallFailure:
        reason = getattr(error, "reason", error)
        if self._socket is None:
            return CallFailure("unreachable", find_reason(error))
        kind = "too-slow" if isinstance(reason, TimeoutError) else "broken-off"
        return CallFailure(kind, find_reason(error))  # type: ignore[arg-type]


class _Plain(HTTPConnection):
    def __init__(self, line: Line, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the library's
        super().__init__(*args, **options)
        self._line = line

    def connect(self) -> None:
        super().connect()
        self._line.take(self.sock)


class _Secure(HTTPSConnection):
    def __init__(self, line: Line, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the library's
        super().__init__(*args, **options)
        self._line = line

    def connect(self) -> None:
        super().connect()
        self._line.take(self.sock)


class _Http(HTTPHandler):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Plain, self._line), req)


class _Https(HTTPSHandler):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Secure, self._line), req)


def _read_refusal(response: HTTPResponse) -> CallFailure:
    data = response.read(_MAX_ERROR_BYTES)
    body: object = data.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        body = json.loads(data)
    return classify_refusal(response.status, body, _read_seconds(response))


def _read_seconds(response: HTTPResponse) -> float | None:
    try:
        return float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None


def _read_events(response: HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream of events."""
    has_any = False
    while line := response.readline(_MAX_LINE_BYTES):
        data = line.strip().removeprefix(_DATA).strip() if line.startswith(_DATA) else b""
        if data == _DONE:
            return
        if data:
            has_any = True
            yield _read_event(data)
    if not has_any:
        raise CallFailure("unexpected", "no answer was in what it sent")


def _read_event(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise CallFailure("unexpected", "what it sent is no JSON object")
    return event


def make_opener(url: str, handlers: Sequence[BaseHandler] | None = None) -> OpenerDirector:
    """Return what asks a server: it follows no redirect, and no proxy stands before loopback."""
    opener = OpenerDirector()
    proxies = ProxyHandler({}) if is_on_loopback(url) else ProxyHandler()
    for handler in (proxies, *(handlers or (HTTPHandler(), HTTPSHandler()))):
        opener.add_handler(handler)
    return opener
