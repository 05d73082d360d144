"""The server: a socket, uvicorn on it, and a shutdown within seconds."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import struct
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from turnleaf.errors import TurnleafError
from turnleaf.faces.http.access import HEADERS
from turnleaf.faces.http.problems import MEDIA_TYPE, make_record
from turnleaf.faces.http.request_reading import RequestLimits
from turnleaf.faces.processes import end_soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

GRACE_SECONDS = 2
"""How long requests that are being answered have when the server stops."""

ADVICE = {
    errno.EADDRINUSE: "another program uses that port; choose another with --port, or 0 for any",
    errno.EACCES: "ports below 1024 need special rights; choose a higher one with --port",
    errno.EADDRNOTAVAIL: "this computer does not have that address; choose another with --host",
}


def listen(host: str, port: int, *, or_any: bool = False) -> socket.socket:
    """Open the socket to listen on; with `or_any` on any port if that one is taken."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        is_dual = host == "::" and socket.has_dualstack_ipv6()
        listener = socket.create_server(address, family=family, dualstack_ipv6=is_dual)
    except (OSError, OverflowError, UnicodeError) as error:
        number = getattr(error, "errno", None)
        if or_any and number == errno.EADDRINUSE:
            return listen(host, 0)
        advice = ADVICE.get(number or 0, f"{error}; check --host and --port")
        message = f"cannot listen on {host}, port {port}: {advice}"
        raise TurnleafError(message) from error
    # Otherwise the end of each response waits 40 ms for the client to confirm its beginning.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address of the page for a browser."""
    host, port = listener.getsockname()[:2]
    shown = _find_outward(listener.family) if host in {"0.0.0.0", "::"} else host  # noqa: S104 - asked
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _find_outward(family: socket.AddressFamily) -> str:
    """Return the address by which others reach this machine; nothing is sent to find it."""
    elsewhere = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((elsewhere, 9))
            return str(asked.getsockname()[0])
    except OSError:
        return socket.gethostname()


class Server(uvicorn.Server):
    """Serves until it is stopped; then streams end at once, and other responses soon."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        limits: RequestLimits | None = None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        kept = limits or RequestLimits()
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=cast("type[asyncio.Protocol]", partial(Connection, kept)),
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="critical",
            # Requests are logged elsewhere, without the paths that clients choose.
            access_log=False,
            # A client could claim any address, also the one that is trusted in Home Assistant.
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=kept.idle_seconds,
            timeout_graceful_shutdown=GRACE_SECONDS,
            h11_max_incomplete_event_size=kept.head_bytes,
        )
        super().__init__(config)
        self._listener = listener
        self._ready = ready

    def serve_forever(self) -> None:
        """Serve on this thread until `stop`, or a signal to the main thread."""
        try:
            self.run([self._listener])
        except SystemExit:
            message = "the server could not start; the lines above show why"
            raise TurnleafError(message) from None

    def stop(self) -> None:
        """Stop serving, soon."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on Ctrl-C and SIGTERM without raising the signal again afterwards."""
        with super().capture_signals():
            yield
            # To be stopped is no failure: the exit code stays 0.
            self._captured_signals.clear()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, and exit soon even if something hangs."""
        if not self.should_exit:
            end_soon()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `ready`."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the streams, which would never end by themselves, and then the rest."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.end_stream()
        await super().shutdown(sockets)


class Connection(H11Protocol):
    """One connection, which is closed on a client that sends or reads nothing."""

    def __init__(self, limits: RequestLimits, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._limits = limits
        self._is_turned_away = False
        self._head = _Timer(self.loop)
        self._reading = _Timer(self.loop)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, or refuse the connection if there are too many."""
        super().connection_made(transport)
        # Even a refusal holds a socket until the client has read it.
        if len(self.connections) > 2 * self._limits.connections:
            self._cut_off()
        elif len(self.connections) > self._limits.connections:
            self._turn_away()
        else:
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._head.stop()
        self._reading.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take data, and time the head of a request."""
        if self._is_turned_away:
            return
        super().data_received(data)
        self._watch_head()

    def pause_writing(self) -> None:
        """Pause for a client that reads slowly, but not for one that has stopped reading."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """Stop the timer and continue."""
        self._reading.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer a malformed request or a head that is too long, and close the connection."""
        # In the middle of a response a problem document would become a part of it.
        if not self._is_answering:
            is_long = len(self.conn.trailing_data[0]) > self._limits.head_bytes
            self.transport.write(_TOO_LONG if is_long else _MALFORMED)
        self.transport.close()

    def end_stream(self) -> None:
        """Close the connection if a response has begun and is not complete."""
        if self._is_answering:
            self.transport.close()

    @property
    def _is_answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and cycle.response_started and not cycle.response_complete

    def _watch_head(self) -> None:
        is_waiting = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not is_waiting:
            self._head.stop()
        elif not self._head.is_set:
            self._head.start(self._limits.head_seconds, self.transport.close)

    def _watch_reading(self) -> None:
        """Close the connection when the client has read nothing for long."""
        unread = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < unread:
                self._watch_reading()
            else:
                self._cut_off()

        self._reading.start(self._limits.stalled_seconds, look)

    def _cut_off(self) -> None:
        """Reset the connection, and drop what the system still wants to send."""
        at_once = struct.pack("ii", 1, 0)
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.transport.abort()

    def _turn_away(self) -> None:
        self._is_turned_away = True
        self.transport.write(_BUSY)
        # Not closed at once: with unread data the system would reset
        # the connection, and the client would miss the answer.
        self.transport.write_eof()
        self._head.start(self._limits.linger_seconds, self.transport.close)


class _Timer:
    """Calls something later, unless it is stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        return self._handle is not None

    def start(self, seconds: float, act: Callable[[], None]) -> None:
        self.stop()
        self._handle = self._loop.call_later(seconds, act)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None


def _write_answer(status: HTTPStatus, detail: str, **headers: str) -> bytes:
    """Return a response as bytes, for where no request was understood."""
    body = json.dumps(make_record(status, detail)).encode()
    lines = {
        **HEADERS,
        **headers,
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{head}\r\n".encode() + body


_MALFORMED = _write_answer(
    HTTPStatus.BAD_REQUEST, "this is not a valid HTTP/1.1 request; send a well-formed one"
)
_TOO_LONG = _write_answer(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too long; shorten them"
)
_BUSY = _write_answer(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "too many connections are open; close some, or try again in a moment",
    **{"Retry-After": "1"},
)
