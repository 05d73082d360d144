"""Home Assistant around the app: its network, its `/data`, and its ingress.

The app runs as in its container, by its own run script, in a network and a tree of its own, where
the supervisor's address exists. Whoever asks it from here is sent there from a chosen address:

    unshare --map-root-user --net --mount python -m tests.standins.home_assistant DATA ADDRESS=FD …
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from turnleaf.faces.home_assistant import PORT
from turnleaf.settings import KEYS, SETTINGS

SECONDS = 60.0
RUN = Path(__file__).parents[2] / "homeassistant/turnleaf/run.sh"
LAST_LINE = "Press Ctrl-C to stop."

APP = "172.30.33.5"
SUPERVISOR = "172.30.32.2"
CORE = "172.30.32.1"
OTHER_APP = "172.30.33.7"
LAN = "192.168.1.20"
ADDRESSES = (SUPERVISOR, CORE, OTHER_APP, LAN)

INGRESS = "/api/hassio_ingress/9a8b7c6d"
SESSION = "ingress_session=0123456789abcdef"
USER = {
    "X-Remote-User-Id": "d2c1b0",
    "X-Remote-User-Name": "ming",
    "X-Remote-User-Display-Name": "Ming",
}
NOT_ASKED = {"content-length", "transfer-encoding", "accept-encoding", "content-encoding", *USER}
NOT_ANSWERED = {"content-length", "transfer-encoding", "content-type", "content-encoding", "date"}
SOME_BYTES = 65536


class App:
    """The app as it runs, what was heard of it, and a port here for each address there."""

    def __init__(self, process: subprocess.Popen[str], data: Path, ports: dict[str, int]) -> None:
        self.process = process
        self.data = data
        self.ports = ports
        self.said = ""
        self.hear(LAST_LINE)

    @property
    def token(self) -> str:
        """What whoever is not the supervisor needs."""
        return (self.data / "http-token").read_text("utf-8").strip()

    def end(self) -> int:
        """Stop it as the supervisor does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=SECONDS)
        return self.process.returncode

    def hear(self, words: str) -> None:
        """Wait until it has said something."""
        assert self.process.stdout is not None
        guard = threading.Timer(SECONDS, self.process.terminate)
        guard.start()
        while words not in self.said and (line := self.process.stdout.readline()):
            self.said += line
        guard.cancel()
        assert words in self.said, self.said


@contextmanager
def app_running(data: Path, **options: object) -> Iterator[App]:
    """Run the app over a folder that it sees as /data, with these options."""
    data.mkdir(exist_ok=True)
    (data / "options.json").write_text(json.dumps(options), "utf-8")
    with ExitStack() as opened:
        doors = {one: opened.enter_context(_door()) for one in ADDRESSES}
        listed = [f"{address}={door.fileno()}" for address, door in doors.items()]
        there = ["unshare", "--map-root-user", "--net", "--mount"]
        process = opened.enter_context(
            subprocess.Popen(
                [*there, sys.executable, "-m", __spec__.name, str(data), *listed],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environ(),
                pass_fds=[door.fileno() for door in doors.values()],
                text=True,
            )
        )
        opened.callback(_end, process)
        ports = {address: door.getsockname()[1] for address, door in doors.items()}
        yield App(process, data, ports)


def _door() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def _end(process: subprocess.Popen[str]) -> None:
    """Stop the app too; killing what started it would leave it behind."""
    process.terminate()
    try:
        process.communicate(timeout=SECONDS)
    finally:
        process.kill()


def _environ() -> dict[str, str]:
    """Return what the supervisor would, and a path to the same Python."""
    ours = {*(one.variable for one in SETTINGS), *map(str.upper, KEYS)}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("TURNLEAF_")
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    return {**kept, "PATH": path, "SUPERVISOR_TOKEN": "given by the supervisor"}


# Ingress


class Ingress(ThreadingHTTPServer):
    """Home Assistant as a browser sees it: its page with the app in a frame."""

    daemon_threads = True

    def __init__(self, app: App) -> None:
        super().__init__(("127.0.0.1", 0), _IngressHandler)
        self.behind = app.ports[SUPERVISOR]

    @property
    def address(self) -> str:
        """Where Home Assistant is."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def ingress_to(app: App) -> Iterator[Ingress]:
    """Serve Home Assistant's page, which shows the app."""
    with Ingress(app) as ingress:
        threading.Thread(target=ingress.serve_forever, args=(0.01,), daemon=True).start()
        yield ingress
        ingress.shutdown()


class _IngressHandler(BaseHTTPRequestHandler):
    server: Ingress
    protocol_version = "HTTP/1.1"

    def pass_on(self) -> None:
        if self.path == "/":
            self.show_panel()
        elif not self.path.startswith(f"{INGRESS}/") or SESSION not in str(self.headers["Cookie"]):
            self.send_error(401)
        else:
            self.ask()

    def show_panel(self) -> None:
        page = f'<!doctype html><link rel="icon" href="data:,"><iframe src="{INGRESS}/"></iframe>'
        self.send_response(200)
        self.send_header("Set-Cookie", f"{SESSION}; Path=/api/hassio_ingress/; SameSite=Strict")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode())

    def ask(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        behind = HTTPConnection("127.0.0.1", self.server.behind, timeout=SECONDS)
        behind.putrequest(
            self.command, self.path.removeprefix(INGRESS), skip_host=True, skip_accept_encoding=True
        )
        for name, value in self.make_headers(body).items():
            behind.putheader(name, value)
        behind.endheaders(body or None)
        try:
            self.answer(behind.getresponse())
        except (ConnectionError, HTTPException, TimeoutError):
            self.close_connection = True
        finally:
            behind.close()

    def make_headers(self, body: bytes) -> dict[str, str]:
        ours = {name.lower() for name in NOT_ASKED}
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ours}
        return {
            **kept,
            **USER,
            "X-Ingress-Path": INGRESS,
            "X-Forwarded-Host": self.headers["Host"],
            "X-Forwarded-Proto": "http",
            "X-Forwarded-For": "127.0.0.1, 172.30.32.1",
            "Accept-Encoding": "identity",
            **({"Content-Length": str(len(body))} if body else {}),
        }

    def answer(self, answer: HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_ANSWERED:
                self.send_header(name, value)
        kind = answer.headers.get("Content-Type", "application/octet-stream")
        self.send_header("Content-Type", kind.partition(";")[0])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while some := answer.read1(SOME_BYTES):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(some), some))
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Log nothing."""


# There


def main() -> int:
    """Run the app where the addresses are, and relay what comes for it."""
    _make_network()
    _make_tree(Path(sys.argv[1]))
    with subprocess.Popen([str(RUN)]) as app:
        signal.signal(signal.SIGTERM, lambda *_: app.terminate())
        for one in sys.argv[2:]:
            address, _, descriptor = one.partition("=")
            door = socket.socket(fileno=int(descriptor))
            threading.Thread(target=_relay, args=[door, address], daemon=True).start()
        return app.wait()


def _make_network() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in (APP, *ADDRESSES):
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)


def _make_tree(data: Path) -> None:
    """Make a root that is this machine's, but for /data."""
    root = data.parent / "root"
    root.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", root], check=True)
    for one in [path for path in Path("/").iterdir() if path.name != "data"]:
        place = root / one.name
        if one.is_symlink():
            place.symlink_to(one.readlink())
        elif one.is_dir():
            place.mkdir()
            subprocess.run(["mount", "--rbind", one, place], check=True)
    (root / "data").mkdir()
    subprocess.run(["mount", "--bind", data, root / "data"], check=True)
    here = Path.cwd()
    os.chroot(root)
    os.chdir(here)


def _relay(door: socket.socket, address: str) -> None:
    while True:
        here, _ = door.accept()
        there = socket.create_connection((APP, PORT), source_address=(address, 0))
        for source, target in ((here, there), (there, here)):
            threading.Thread(target=_pump, args=[source, target], daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while some := source.recv(SOME_BYTES):
            target.sendall(some)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
