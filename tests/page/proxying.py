"""A tiny reverse proxy that serves another server below a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.page.serving import SECONDS

PREFIX = "/some/prefix"
SOME_BYTES = 65536
NOT_PASSED_ON = {"connection", "keep-alive", "transfer-encoding", "date"}


class Proxy(ThreadingHTTPServer):
    """Passes on what is asked below the prefix, and nothing else."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _ProxyHandler)
        self.behind = port


@contextmanager
def run_proxy(port: int) -> Iterator[Proxy]:
    """Serve what is at a port below the prefix."""
    with Proxy(port) as proxy:
        Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        yield proxy
        proxy.shutdown()


class _ProxyHandler(BaseHTTPRequestHandler):
    server: Proxy

    def pass_on(self) -> None:
        if not self.path.startswith(f"{PREFIX}/"):
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        behind = HTTPConnection("127.0.0.1", self.server.behind, timeout=SECONDS)
        headers = dict(self.headers.items())
        behind.request(self.command, self.path.removeprefix(PREFIX), body, headers)
        try:
            self.answer(behind.getresponse())
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        finally:
            behind.close()

    def answer(self, answer: HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_PASSED_ON:
                self.send_header(name, value)
        self.end_headers()
        while some := answer.read1(SOME_BYTES):
            self.wfile.write(some)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Log nothing."""
