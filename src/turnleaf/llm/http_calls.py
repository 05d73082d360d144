"""HTTP requests to a server of models, that can be stopped from outside, and why one failed.

Nothing is sent to where a server redirects, and no proxy stands before loopback. Failures are of a
few kinds, each with what to do about it. What a server answers may hold the key that it was sent,
so a detail is shown without it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from turnleaf.core.model_providers import is_on_loopback

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from urllib.request import BaseHandler

    from turnleaf.llm.wire import Endpoint


FailureKind: TypeAlias = Literal[
    "no-key", "key-refused", "unreachable", "model-unknown", "rate-limit", "no-credit",
    "context-too-small", "too-slow", "broken-off", "server-fault", "unexpected",
]  # fmt: skip

_MAX_DETAIL_CHARS = 200
_FORMAT_STATUSES = frozenset({400, 404, 422, 500, 501})
"""How servers refuse a request for JSON: some call the unknown field a fault of their own."""
_NOT_ABOUT_FORMAT = frozenset({"key-refused", "context-too-small", "no-credit"})
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long"
    r"|exceeds? the (?:available |model'?s? )?context|context (?:size|window|length) exceeded"
    r"|input is too long",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|billing_error|credit balance is too low", re.IGNORECASE
)
_BAD_KEY = re.compile(
    r"invalid_api_key|authentication_error|permission_error"
    r"|(?:invalid|incorrect) api key|api key (?:not valid|is invalid|not found)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model_not_found|not_found_error", re.IGNORECASE)
_BY_WORDS: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (_TOO_LONG, "context-too-small"),
    (_NO_CREDIT, "no-credit"),
    (_BAD_KEY, "key-refused"),
    (_NO_MODEL, "model-unknown"),
)
_BY_STATUS: dict[int, FailureKind] = {
    HTTPStatus.UNAUTHORIZED: "key-refused",
    HTTPStatus.PAYMENT_REQUIRED: "no-credit",
    HTTPStatus.FORBIDDEN: "key-refused",
    HTTPStatus.NOT_FOUND: "model-unknown",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "context-too-small",
    HTTPStatus.TOO_MANY_REQUESTS: "rate-limit",
}
_EXPLANATIONS: dict[FailureKind, tuple[str, str]] = {
    "no-key": ("needs a key", "set {variable}"),
    "key-refused": ("rejects the key ({detail})", "check {variable}"),
    "unreachable": ("cannot be reached ({detail})", "{reach}"),
    "model-unknown": ("has no model {model!r} ({detail})", "{other_model}"),
    "no-credit": ("reports no credit left ({detail})", "check your account there"),
    "rate-limit": ("accepts no more requests at the moment (429){wait}", "try again later"),
    "context-too-small": (
        "cannot fit the prompt into its context ({detail})",
        "start a new conversation, or lower PROMPT_MAX_TOKENS",
    ),
    "too-slow": ("sent nothing for {seconds}", "try again, or raise CLAUDE_TIMEOUT_MS"),
    "broken-off": ("cut off its answer ({detail})", "try again"),
    "server-fault": ("has a server problem ({detail})", "try again in a few minutes"),
    "unexpected": (
        "sent an unexpected answer ({detail})",
        "try again; if this happens again, check TURNLEAF_MODEL and TURNLEAF_MODEL_URL",
    ),
}


@dataclass(eq=False)
class CallFailure(Exception):
    """A call did not succeed; what is caught here becomes a ModelError."""

    kind: FailureKind
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None

    @property
    def may_refuse_format(self) -> bool:
        """Whether it may be due to the format that JSON was asked for in.

        Only a request without it can tell whether it is.
        """
        return self.status in _FORMAT_STATUSES and self.kind not in _NOT_ABOUT_FORMAT

    @property
    def is_busy(self) -> bool:
        """Whether asking again in a moment may help: nothing of an answer had come."""
        return self.status is not None and self.kind in {"rate-limit", "server-fault"}


def classify_refusal(status: int, body: object, retry_after: float | None = None) -> CallFailure:
    """Return the failure that a status and what came with it stand for."""
    said = _find_error(body)
    codes = [str(said[name]) for name in ("type", "code", "status") if said.get(name)]
    text = str(said.get("message") or "")
    words = " ".join([*codes, text])
    return CallFailure(_classify(status, words), text or "no details", status, retry_after)


def _classify(status: int, words: str) -> FailureKind:
    # Some servers call a prompt that is too long a fault of their own.
    if status < HTTPStatus.INTERNAL_SERVER_ERROR or _TOO_LONG.search(words):
        for pattern, kind in _BY_WORDS:
            if pattern.search(words):
                return kind
    is_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return "server-fault" if is_fault else _BY_STATUS.get(status, "unexpected")


def _find_error(body: object) -> dict[str, Any]:
    """Return what a server says of an error, in whichever of the usual forms it does."""
    # Gemini wraps its error in a list.
    found = body[0] if isinstance(body, list) and body else body
    inner = found.get("error", found) if isinstance(found, dict) else found
    return inner if isinstance(inner, dict) else {"message": inner or ""}


def explain(failure: CallFailure, endpoint: Endpoint) -> str:
    """Return what happened, and what to do."""
    asked, key = failure.retry_after, endpoint.api_key
    # A server may repeat the key that it was sent.
    said = failure.detail.replace(key, "…") if key else failure.detail
    status = f"{failure.status}: " if failure.status else ""
    happened = "; ".join(_EXPLANATIONS[failure.kind]).format(
        detail=status + shorten_to_line(said),
        model=endpoint.model,
        variable=endpoint.variable,
        seconds=f"{endpoint.timeout_seconds:g} s",
        wait=f", and asks to wait {asked:.0f} s" if asked else "",
        other_model=_suggest_model(endpoint),
        reach=_explain_how_to_reach(endpoint),
    )
    return f"{endpoint.url} {happened}"


def _suggest_model(endpoint: Endpoint) -> str:
    if endpoint.provider.name == "ollama":
        return (
            f"run `ollama pull {endpoint.model}`, or set TURNLEAF_MODEL to a model that exists "
            "there"
        )
    return (
        "set TURNLEAF_MODEL to a model that exists there, and TURNLEAF_MODEL_URL, if you use "
        "it, to an address such as http://localhost:11434/v1"
    )


def _explain_how_to_reach(endpoint: Endpoint) -> str:
    if endpoint.provider.name == "ollama":
        return "start Ollama with `ollama serve`, or set TURNLEAF_MODEL to another model"
    return "check the network, and TURNLEAF_MODEL_URL if you use it"


def find_reason(error: BaseException) -> str:
    """Return why nothing came back, in the words of the system where it has some."""
    cause = getattr(error, "reason", None)
    seen = cause if isinstance(cause, BaseException) else error
    if isinstance(seen, ssl.SSLError):
        return str(getattr(seen, "verify_message", "") or seen.reason or seen)
    if isinstance(seen, OSError) and seen.errno:
        return os.strerror(seen.errno) if seen.errno > 0 else str(seen.strerror)
    return shorten_to_line(str(seen)) or type(seen).__name__


def shorten_to_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:_MAX_DETAIL_CHARS]


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
        # Stopped while the connection was being made.
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
        # A server that is not there should not take as long as one that thinks.
        seconds = min(self._seconds, _CONNECT_SECONDS)
        response: HTTPResponse = opener.open(request, timeout=seconds)
        return response

    def _explain(self, error: Exception) -> CallFailure:
        reason = getattr(error, "reason", error)
        # Without a connection nothing was sent, which is another kind of failure.
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
    # A line without an end must not fill the memory.
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
    # Put together by hand: the usual opener follows redirects, with the key and the user's words.
    opener = OpenerDirector()
    proxies = ProxyHandler({}) if is_on_loopback(url) else ProxyHandler()
    for handler in (proxies, *(handlers or (HTTPHandler(), HTTPSHandler()))):
        opener.add_handler(handler)
    return opener
