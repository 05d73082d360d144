"""Access control: which hostnames, pages and tokens a request may come with.

A foreign page in the user's browser must not read or change the memory. It can make the browser
send requests here under a name of its own (then `Host` is foreign) or under ours (then `Origin` or
`Sec-Fetch-Site` is). Other machines need a token, except users of Home Assistant: its supervisor
forwards their requests ("ingress"). As soon as there are tokens of spaces, everybody needs one: a
request without would be nobody's. The token says whose memory a request is about.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import socket
import stat
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Self

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser

from turnleaf.core.languages.replies import choose_language_of
from turnleaf.core.setting_kinds import is_space_name
from turnleaf.errors import CorruptFile, InvalidInput, TurnleafError
from turnleaf.faces.http import problems
from turnleaf.faces.http.monitoring import note_request
from turnleaf.faces.http.operator_sessions import HAS_SPACE_TOKEN, ONLY_OPERATOR, OPERATOR, SESSIONS
from turnleaf.faces.http.problems import Refused, log_failure, request_id, request_language
from turnleaf.faces.http.request_reading import (
    CLOSE,
    SPACE,
    BodyRoom,
    Gone,
    RequestLimits,
    check_head,
    drain,
    with_whole_body,
)
from turnleaf.settings import ENVIRONMENT, is_in_home_assistant
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from turnleaf.access_tokens import AccessToken, Tokens
    from turnleaf.faces.http.operator_sessions import OperatorSessions

log = logging.getLogger("turnleaf.http")

FRAMES = "frame-ancestors 'none'"
"""Which pages may embed ours."""
FRAMES_IN_INGRESS = "frame-ancestors 'self'"
"""Home Assistant embeds our page in its own, and both have its origin."""
NOTHING = f"default-src 'none'; base-uri 'none'; form-action 'none'; {FRAMES}"
"""What a response that is not a page may load and do."""
HEADERS = {
    "Content-Security-Policy": NOTHING,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), usb=()",
    "Cache-Control": "no-store",
}
"""Headers of every response that does not set them itself."""

OPEN = re.compile(
    r"/|/healthz|/readyz|/(?:early\.js|favicon\.svg)|/docs|/(?:assets|docs|operator)/.*", re.DOTALL
)
"""Public paths: the probes and the page's own files."""
PAGES = ("/", "/docs", "/docs/")
"""Where a link on a foreign page may lead."""
FOREIGN = "requests from other websites are not allowed; open the server's own page"
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
SUPERVISOR = "172.30.32.2"
"""The address of Home Assistant's supervisor, in every installation."""
INGRESS_PATH = "x-ingress-path"
"""A header of requests that the supervisor forwards, but not of its own."""

_HOST = re.compile(r"([a-z0-9_][a-z0-9_.-]*|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?", re.IGNORECASE)
_ORIGIN = re.compile(r"(https?)://([^/]+)")
_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!-~]{32,}")
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
TOKEN_BYTES = 32
MOST_TOKEN_BYTES = 4096
WRONG_TOKENS = 10
"""After so many different ones in `WRONG_SECONDS` an address has to wait."""
WRONG_SECONDS = 60
WRONG_ADDRESSES = 1024
SPACE_HEADER = "Turnleaf-Space"
"""Names the space that a request of the operator is about."""
OF_SPACES = re.compile(
    r"/api/(?:memory|conversations|schedules|import|events|status|models|operator|chat|prompt)"
    r"(?:/.*)?|/v1/.*|/mcp|/openapi\.json",
    re.DOTALL,
)
"""What a space's token is good for; all else is the operator's."""
CHECK_SECONDS = 2.0
"""How often it is checked during a long response that its token was not revoked."""


class Caller(NamedTuple):
    """Who makes a request, about which space (None: the server's own), and by which token."""

    is_operator: bool
    space: str | None = None
    token: AccessToken | None = None

    @property
    def has_space_token(self) -> bool:
        """Whether it is somebody with a token of a space."""
        return self.token is not None and self.token.space is not None


class ServerName(NamedTuple):
    """A server as a client names it."""

    host: str
    port: int | None


def parse_host(text: str) -> ServerName | None:
    """Parse `name`, `name:port`, an IPv4 address or an IPv6 one in brackets; else return None."""
    found = _HOST.fullmatch(text)
    if found is None:
        return None
    host = found[1].lower().strip("[]")
    address = _parse_address(host)
    if address is None and found[1].startswith("["):
        return None
    return ServerName(
        host if address is None else str(address), int(found[2]) if found[2] else None
    )


def check_host(text: str) -> str:
    """Return a hostname to allow, with a port or without; refuse what is none."""
    if parse_host(text.strip()) is None:
        message = f"{text!r} is not a hostname; write one such as memory.example.org"
        raise InvalidInput(message)
    return text.strip()


@dataclass(frozen=True, slots=True)
class Access:
    """Where the server listens, and which requests it accepts there."""

    host: str
    port: int
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    supervisor: str | None = None
    """The address that may forward requests of users logged in to Home Assistant."""
    sessions: OperatorSessions | None = None
    """The browsers of the operator, where no token is needed."""
    tokens: Tokens | None = None
    """The tokens that were made, of the operator and of spaces."""
    space: str = "default"
    """The server's own space."""

    def __post_init__(self) -> None:
        if self.token is None and not is_local(self.host):
            message = f"other computers can reach {self.host}, so a token is needed; set one"
            raise InvalidInput(message)

    def answers_to(self, name: ServerName) -> bool:
        """Whether a client may use this name for the server."""
        allowed = {parse_host(one) for one in self.allowed_hosts}
        if name in allowed or name._replace(port=None) in allowed:
            return True
        if is_local(self.host):
            return name.host in (*LOCAL_NAMES, self.host) and name.port in (None, self.port)
        return _parse_address(name.host) is not None or name.host in ("localhost", *list_names())

    def is_operator(self, scope: Scope) -> bool:
        """Whether a request is the operator's: by the token, by a session, or by Home Assistant.

        That it comes from this machine proves nothing: so does another account's, or a proxy's.
        """
        if self.is_ingress(scope):
            return True
        headers = Headers(scope=scope)
        if self.token is not None:
            return _is_token(_find_bearer(headers), self.token)
        if self.sessions is None or is_forwarded(headers):
            return False
        return self.sessions.is_known(
            cookie_parser(headers.get("cookie", "")).get(self.sessions.cookie)
        )

    def find_token(self, headers: Headers) -> AccessToken | None:
        """Return the token that a request came with, if it was made and is good."""
        return self.tokens.find(_find_bearer(headers)) if self.tokens else None

    def is_ingress(self, scope: Scope) -> bool:
        """Whether Home Assistant forwards the request of a user who is logged in there."""
        address = scope["client"][0] if scope["client"] else None
        is_supervisor = self.supervisor is not None and address == self.supervisor
        return is_supervisor and INGRESS_PATH in Headers(scope=scope)


def is_forwarded(headers: Headers) -> bool:
    """Whether a request came through a proxy, so that it is from nobody on this machine."""
    names = headers.keys()
    return any(name in {"forwarded", "via"} or name.startswith("x-forwarded-") for name in names)


def find_supervisor(environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return the supervisor's address in Home Assistant, else None."""
    return SUPERVISOR if is_in_home_assistant(environ) else None


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    address = _parse_address(host)
    return address is not None and address.is_loopback


def list_names() -> tuple[str, ...]:
    """Return the names of this machine, as others on its network may know it."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return name, short, f"{short}.local"


class WrongTokens:
    """Counts wrong tokens by address, and how long an address has to wait for its next try.

    A repeated token is not counted: a page that was left open keeps sending its old one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._salt = secrets.token_bytes(TOKEN_BYTES)
        self._times: dict[str, dict[bytes, float]] = {}

    def __len__(self) -> int:
        return len(self._times)

    def wait_seconds(self, address: str) -> int:
        """Return the seconds until this address may try again; 0 is now."""
        times = sorted(self._find_recent(address).values())
        if len(times) < WRONG_TOKENS:
            return 0
        return int(times[-WRONG_TOKENS] + WRONG_SECONDS - self._clock()) + 1

    def add(self, address: str, token: str) -> None:
        """Count one more, unless that one is counted already."""
        # A mistyped token is nearly a good one, so only a trace of it is kept.
        trace = hashlib.blake2b(token.encode(), key=self._salt).digest()
        recent = {trace: self._clock(), **self._find_recent(address)}
        self._times.pop(_find_group(address), None)
        self._times[_find_group(address)] = recent
        # Whoever has many addresses must not fill the memory.
        if len(self._times) > WRONG_ADDRESSES:
            del self._times[next(iter(self._times))]

    def _find_recent(self, address: str) -> dict[bytes, float]:
        since = self._clock() - WRONG_SECONDS
        times = self._times.get(_find_group(address), {})
        return {trace: one for trace, one in times.items() if one > since}


def guard_app(app: ASGIApp, access: Access, limits: RequestLimits | None = None) -> ASGIApp:
    """Return an app that accepts only allowed requests within the limits."""
    kept = limits or RequestLimits()
    state = getattr(app, "state", None)
    access = replace(
        access,
        tokens=getattr(state, "tokens", access.tokens),
        space=getattr(state, "space", access.space),
    )
    wrong, room = WrongTokens(), BodyRoom(kept.all_bodies_bytes)

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            with _log_failure("the server failed to start or stop"):
                await app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id.set(_choose_request_id(headers))
        request_language.set(choose_language_of(headers.get("accept-language", "")))
        with _LogLine(scope) as line, room.share() as take:
            frames = FRAMES_IN_INGRESS if access.is_ingress(scope) else FRAMES
            answer = line.note_status(_protect(send, frames))
            try:
                # In this order: of a body nothing is read before it is known who sends it.
                check_head(scope, kept)
                caller = await _find_caller(scope, access, wrong)
                scope[OPERATOR], scope[SESSIONS] = caller.is_operator, access.sessions
                scope[SPACE], scope[HAS_SPACE_TOKEN] = caller.space, caller.has_space_token
                answer = _end_when_revoked(answer, access, headers) if caller.token else answer
                whole = await with_whole_body(scope, receive, kept, take)
            except Refused as refused:
                # Whoever was too slow is not waited for a second time.
                if refused.status != HTTPStatus.REQUEST_TIMEOUT:
                    await drain(scope, receive, kept)
                await _refuse(scope, receive, answer, refused)
            except Gone:
                return
            else:
                await app(scope, whole, answer)

    return call


def _choose_request_id(headers: Headers) -> str:
    """Return the client's ID of a request, if it is short and plain, or else a new one."""
    given = headers.getlist("x-request-id")
    is_plain = len(given) == 1 and _PLAIN_ID.fullmatch(given[0])
    return given[0] if is_plain else secrets.token_hex(8)


async def _find_caller(scope: Scope, access: Access, wrong: WrongTokens) -> Caller:
    """Check a request; on a thread where tokens may have to be read."""
    tokens = access.tokens
    if tokens is None or tokens.is_fresh(_find_bearer(Headers(scope=scope))):
        return check(scope, access, wrong)
    try:
        return await to_thread.run_sync(check, scope, access, wrong)
    except TurnleafError as error:
        # Nobody is let in where it cannot be known who it is.
        log_failure(error)
        detail = "the tokens of this server cannot be read at the moment; try again shortly"
        raise Refused(
            HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "5"}, code="storage"
        ) from None


def check(scope: Scope, access: Access, wrong: WrongTokens) -> Caller:
    """Return who makes a request; raise `Refused` where it is not allowed."""
    headers = Headers(scope=scope)
    is_ingress = access.is_ingress(scope)
    name = _find_host_before(headers) if is_ingress else _find_host(headers)
    # Another website could point a name of its own at this
    # address, and its page would have the same origin.
    if not is_ingress and not access.answers_to(name):
        detail = (
            "this hostname is not allowed; allow it with"
            " turnleaf serve --allow-host NAME or in TURNLEAF_ALLOWED_HOSTS"
        )
        raise Refused(HTTPStatus.MISDIRECTED_REQUEST, detail)
    _check_origin(headers, name)
    _check_site(scope, headers)
    if OPEN.fullmatch(scope["path"]):
        return Caller(access.is_operator(scope))
    caller = _identify(scope, headers, access, wrong)
    # A list of what is allowed: an entry that is forgotten is a refusal and not a leak.
    if caller.has_space_token and not OF_SPACES.fullmatch(scope["path"]):
        raise Refused(HTTPStatus.FORBIDDEN, ONLY_OPERATOR, code="operator-only")
    return caller._replace(space=_find_space(headers, caller, access))


def _identify(scope: Scope, headers: Headers, access: Access, wrong: WrongTokens) -> Caller:
    address = scope["client"][0] if scope["client"] else ""
    # From the first token on nobody is anonymous: behind a proxy everybody comes
    # from loopback, and who left the token out would get the owner's memory.
    is_needed = access.token is not None or (access.tokens is not None and access.tokens.exist())
    if is_needed and not access.is_ingress(scope):
        _check_pace(headers, address, wrong)
    token, is_operator = access.find_token(headers), access.is_operator(scope)
    if token is not None and access.tokens is not None:
        access.tokens.note_use(token)
        return Caller(token.space is None, token.space, token)
    if is_needed and not is_operator:
        _refuse_token(headers, access, address, wrong)
    return Caller(is_operator)


def _find_space(headers: Headers, caller: Caller, access: Access) -> str | None:
    """Return the space that a request is about; only the operator may choose one."""
    named = headers.getlist(SPACE_HEADER)
    if not named:
        return caller.space
    name = _decode(named[0])
    if len(named) > 1 or not is_space_name(name):
        detail = "the header Turnleaf-Space must be the name of one space; correct it"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, detail, code="invalid")
    if name != (caller.space or access.space) and not caller.is_operator:
        detail = "your token is not for that space; leave out the header Turnleaf-Space"
        raise Refused(HTTPStatus.FORBIDDEN, detail, code="other-space")
    return None if name == access.space and not caller.has_space_token else name


def _decode(header: str) -> str:
    """Decode a header as UTF-8, which HTTP itself decodes as Latin-1; "" where it is not."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return ""


def _find_host(headers: Headers) -> ServerName:
    given = headers.getlist("host")
    name = parse_host(given[0]) if len(given) == 1 else None
    if name is None:
        detail = "the request needs exactly one valid Host header, such as localhost"
        raise Refused(HTTPStatus.BAD_REQUEST, detail)
    return name


def _find_host_before(headers: Headers) -> ServerName:
    """Return the name that the browser used for Home Assistant, before any proxy."""
    given = headers.getlist("x-forwarded-host")
    return (parse_host(given[0]) if len(given) == 1 else None) or _find_host(headers)


def _check_origin(headers: Headers, host: ServerName) -> None:
    """Refuse requests of pages with another origin."""
    origins = headers.getlist("origin")
    if origins and not (len(origins) == 1 and _is_same_origin(origins[0], host)):
        raise Refused(HTTPStatus.FORBIDDEN, FOREIGN)


def _is_same_origin(origin: str, host: ServerName) -> bool:
    found = _ORIGIN.fullmatch(origin)
    other = parse_host(found[2]) if found else None
    if found is None or other is None:
        return False
    usual = _PORTS[found[1]]
    return (other.host, other.port or usual) == (host.host, host.port or usual)


def _check_site(scope: Scope, headers: Headers) -> None:
    """Refuse cross-site requests of a browser, except following a link to a page."""
    if headers.get("sec-fetch-site", "none") in {"none", "same-origin"}:
        return
    is_link = headers.get("sec-fetch-mode") == "navigate"
    is_whole = headers.get("sec-fetch-dest") == "document"
    if not (scope["method"] == "GET" and is_link and is_whole and scope["path"] in PAGES):
        raise Refused(HTTPStatus.FORBIDDEN, FOREIGN)


def _refuse_token(headers: Headers, access: Access, address: str, wrong: WrongTokens) -> NoReturn:
    """Refuse a request without a good token; count a wrong one."""
    given = headers.getlist("authorization")
    if given:
        wrong.add(address, "\n".join(given))
    detail = (
        "this server needs a token; send the header Authorization: Bearer TOKEN with the token"
        " from the file http-token in the data folder"
    )
    if access.token is None:
        detail = (
            "this server needs a token; send the header Authorization: Bearer TOKEN with the one"
            " that its operator gave you; as the operator, run turnleaf link"
        )
    raise Refused(HTTPStatus.UNAUTHORIZED, detail, {"WWW-Authenticate": "Bearer"})


def _check_pace(headers: Headers, address: str, wrong: WrongTokens) -> None:
    """Refuse whoever has tried too many wrong tokens."""
    seconds = wrong.wait_seconds(address) if "authorization" in headers else 0
    if seconds:
        detail = f"too many wrong tokens from your address; try again in {seconds} seconds"
        raise Refused(HTTPStatus.TOO_MANY_REQUESTS, detail, {"Retry-After": str(seconds)})


def _find_bearer(headers: Headers) -> str:
    """Return the one token that a request came with, or ""."""
    given = headers.getlist("authorization")
    scheme, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return value.strip() if scheme.lower() == "bearer" else ""


def _is_token(given: str, token: str) -> bool:
    # It takes as long however much of a guess is right.
    return hmac.compare_digest(given.encode(), token.encode())


def _end_when_revoked(send: Send, access: Access, headers: Headers) -> Send:
    """End a response that goes on and on, such as a stream of events, when its token is revoked."""
    next_check = time.monotonic() + CHECK_SECONDS
    is_over = False

    async def send_while_good(message: Message) -> None:
        nonlocal next_check, is_over
        if is_over:
            return
        if message.get("more_body") and time.monotonic() >= next_check:
            next_check = time.monotonic() + CHECK_SECONDS
            is_over = await to_thread.run_sync(access.find_token, headers) is None
            if is_over:
                message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_while_good


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
    # What is left of the request must not be taken for the next one.
    answer = problems.answer_refused(scope["path"], refused, CLOSE)
    await answer(scope, receive, send)


def _protect(send: Send, frames: str) -> Send:
    """Add the headers of every response."""

    async def send_protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            policy = headers["Content-Security-Policy"]
            headers["Content-Security-Policy"] = policy.replace(FRAMES, frames)
            headers["X-Request-ID"] = request_id.get() or ""
        await send(message)

    return send_protected


@contextmanager
def _log_failure(what: str) -> Iterator[None]:
    try:
        yield
    except Exception:
        log.exception(what)
        raise


class _LogLine:
    """One request's line in the log; the client chooses only the method and a plain ID."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._status = 0
        self._began = time.perf_counter()
        self._streams_since: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        # The app has logged already what it answered with 500.
        if isinstance(error, Exception) and self._status != HTTPStatus.INTERNAL_SERVER_ERROR:
            log_failure(error)
        route = getattr(self._scope.get("route"), "path", "-")
        ended = time.perf_counter()
        took = (ended - self._began) * 1000
        method = self._scope["method"]
        # An event stream lasts as long as somebody listens, which says nothing of the server.
        seconds = (self._streams_since or ended) - self._began
        note_request(method, route, self._status, seconds)
        fields = {"method": method, "route": route, "status": self._status, "ms": round(took)}
        shown = method, route, self._status, took, request_id.get()
        log.info("%s %s %d %.0f ms %s", *shown, extra={"request": fields})

    def note_status(self, send: Send) -> Send:
        """Note the status that is sent."""

        async def send_noted(message: Message) -> None:
            self._status = message.get("status", self._status)
            if _begins_stream(message):
                self._streams_since = time.perf_counter()
            await send(message)

        return send_noted


def _begins_stream(message: Message) -> bool:
    is_start = message["type"] == "http.response.start"
    kind = Headers(raw=message["headers"]).get("content-type", "") if is_start else ""
    return kind.startswith("text/event-stream")


# The token


class Token(NamedTuple):
    """A token, and whether it was created just now."""

    value: str
    is_new: bool


def load_token(path: Path) -> Token:
    """Return the token in a file, which is created for its owner alone if it does not exist."""
    atomic.make_folder(path.parent)
    with atomic.lock(path) as file:
        data = file.read()
        if data is None:
            value = secrets.token_urlsafe(TOKEN_BYTES)
            file.replace(f"{value}\n".encode())
            return Token(value, is_new=True)
        if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            _make_private(file, data)
    value = data.decode("utf-8", "replace").strip()
    if not _TOKEN.fullmatch(value):
        message = (
            f"{path} contains no token of at least 32 letters and digits; delete it,"
            " and the next start creates one"
        )
        raise CorruptFile(message)
    return Token(value, is_new=False)


def read_token(path: Path) -> Token:
    """Return the token in a file that somebody else keeps, such as a container's secret."""
    data = atomic.read_raw(path, MOST_TOKEN_BYTES)
    value = (data or b"").decode("utf-8", "replace").strip()
    if not _TOKEN.fullmatch(value):
        message = (
            f"{path} contains no token of at least 32 letters and digits; write one to the file"
        )
        raise InvalidInput(message)
    return Token(value, is_new=False)


def _make_private(file: atomic.Held, data: bytes) -> None:
    # Replacing a file keeps its mode, so the old one goes first.
    file.remove()
    file.replace(data)
    log.warning(
        "%s was readable by other users of this computer, which has been fixed; if somebody "
        "may have read it, delete it, and the next start creates a new token",
        file.path,
    )


# Addresses


def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _find_group(address: str) -> str:
    """Return what stands for everyone at one connection: for IPv6 the network."""
    found = _parse_address(address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((int(found), 64), strict=False))
    return address
