"""`turnleaf serve`: a real process, asked over real sockets, ended by real signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any, Protocol, TextIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.faces.conftest import Cli
from tests.faces.forking import fork
from turnleaf.errors import TurnleafError
from turnleaf.faces.http.server import address_of, listen

SECONDS = 120
LAST_LINE = "Press Ctrl-C to stop."


class ServerProcess:
    """A server in a process of its own, and what it said at its start."""

    def __init__(self, process: Process, out: TextIO, errors: TextIO) -> None:
        self.process = process
        self.out = out
        self._errors = errors
        self.said = greeting(out)
        found = re.search(r"^Turnleaf is running at (http://\S+)$", self.said, re.MULTILINE)
        assert found, self.said
        self.address = found[1]
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def ask(self, path: str, body: object = None, **headers: str) -> Any:  # noqa: ANN401 - JSON
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data else {}
        url = f"http://127.0.0.1:{self.port}/{path}"
        with urlopen(Request(url, data, sent | headers), timeout=SECONDS) as answer:
            return answer.read().decode()

    def expect_refusal(self, path: str, body: object = None, **headers: str) -> tuple[int, str]:
        """Ask for what is refused, and return the status and the text of that."""
        with pytest.raises(HTTPError) as caught:
            self.ask(path, body, **headers)
        # Left open, the connection is closed by the garbage collection in some other test.
        with caught.value as refusal:
            return refusal.code, refusal.read().decode()

    def end(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """End it, and give its exit code and all that it said after the start."""
        self.process.send_signal(by)
        code = self.process.wait(SECONDS)
        self._errors.seek(0)
        return code, self.out.read(), self._errors.read()


class Process(Protocol):
    """What is asked of a server's process, whoever started it."""

    def send_signal(self, number: int, /) -> None: ...
    def kill(self) -> None: ...
    def wait(self, seconds: float, /) -> int: ...


@contextmanager
def run_server(*options: str, is_new: bool = False, **environ: str) -> Iterator[ServerProcess]:
    """Run a server on a free port, in a new interpreter if its start matters."""
    arguments = ["serve", "--port", "0", *options]
    variables = {**os.environ, **environ}
    ours, its = os.pipe()
    with os.fdopen(ours, encoding="utf-8") as out, TemporaryFile("w+", encoding="utf-8") as errors:
        streams = [0, its, errors.fileno()]
        if is_new:
            command = [sys.executable, "-m", "turnleaf", *arguments]
            process: Process = subprocess.Popen(
                command, stdout=its, stderr=errors, env=variables, text=True
            )
        else:
            process = fork(arguments, streams, variables)
        os.close(its)
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        try:
            yield ServerProcess(process, out, errors)
        finally:
            guard.cancel()
            process.kill()
            process.wait(SECONDS)


def greeting(out: TextIO) -> str:
    said = ""
    while LAST_LINE not in said and (line := out.readline()):
        said += line
    return said


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_in_peace_with_a_stream_open(
    cli: Cli, by: signal.Signals
) -> None:
    with run_server(is_new=by == signal.SIGINT) as server:
        assert server.address == f"http://127.0.0.1:{server.port}/"
        assert "token" not in server.said
        assert f"data folder  {cli.data}" in server.said
        assert "model        recall" in server.said
        assert json.loads(server.ask("healthz")) == {"status": "ok"}
        with closing(socket.create_connection(("127.0.0.1", server.port), SECONDS)) as stream:
            stream.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert stream.recv(12) == b"HTTP/1.1 200"
            assert server.end(by) == (0, "", "")
            while stream.recv(4096):
                pass
    assert not (cli.data / "http-token").exists()


def test_a_memory_that_is_too_large_is_a_clear_problem_and_the_server_lives(cli: Cli) -> None:
    cli.remember("我吃素")
    page = cli.memory.location
    text = page.read_bytes()
    with run_server() as server:
        os.truncate(page, 200_000_000)
        for path, body in (("api/memory/main", None), ("api/chat", {"message": "hello"})):
            status, refusal = server.expect_refusal(path, body)
            problem = json.loads(refusal)
            assert (status, problem["status"], problem["code"]) == (503, 503, "storage")
            assert "200,000,000 bytes; the limit is 8,000,000" in problem["detail"]
        assert json.loads(server.ask("healthz")) == {"status": "ok"}
        assert "too large" in server.ask("api/status")
        page.write_bytes(text)
        assert json.loads(server.ask("api/memory/main"))["content"] == text.decode()
        server.ask("api/chat", {"message": "hello"})


def test_what_was_said_is_learned_before_it_ends(cli: Cli) -> None:
    with run_server() as server:
        server.ask("api/chat", {"message": "我住在台北"})
        assert server.end()[0] == 0
    assert any("台北" in content for content in cli.contents())


def test_a_model_that_never_answers_does_not_keep_it_from_ending(cli: Cli) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with run_server(TURNLEAF_EXTRACT_MODEL="ollama:none", TURNLEAF_MODEL_URL=url) as server:
            server.ask("api/chat", {"message": "我住在台北"})
            code, _, err = server.end()
    assert code == 0
    assert "continues at the next start" in err


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("api/chat", {"message": "我住在台北"}),
        (
            "v1/chat/completions",
            {"model": "turnleaf", "messages": [{"role": "user", "content": "我住在台北"}]},
        ),
    ],
)
def test_a_turn_whose_model_is_silent_does_not_keep_it_from_ending(
    path: str, body: dict[str, object]
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with run_server(TURNLEAF_MODEL="ollama:none", TURNLEAF_MODEL_URL=url) as server:
            data = json.dumps(body).encode()
            head = f"POST /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
            with closing(socket.create_connection(("127.0.0.1", server.port), SECONDS)) as asking:
                asking.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + data)
                with silent.accept()[0]:
                    assert server.end()[0] == 0


HOLDING = """
import re, sys, threading

def hold():
    open({!r}).read()
    sys.setswitchinterval(1e6)
    print("holding", flush=True)
    re.match("(a+)+$", "a" * 64 + "b")

threading.Thread(target=hold, daemon=True).start()
"""
IDLE = """
import signal, sys
from turnleaf.faces.processes import watch_end

signal.signal(signal.SIGTERM, lambda *_: print("stopping", flush=True))
with watch_end():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_call_in_c_that_never_ends_does_not_keep_it_from_ending(cli: Cli, tmp_path: Path) -> None:
    """The interpreter runs this module at its start, so the server itself needs no such door."""
    door = tmp_path / "door"
    os.mkfifo(door)
    (tmp_path / "sitecustomize.py").write_text(HOLDING.format(str(door)), "utf-8")
    with run_server(is_new=True, PYTHONPATH=str(tmp_path)) as server:
        server.ask("api/memory/facts", {"content": "客廳的燈叫做小明"})
        door.write_text("now", "utf-8")
        assert server.out.readline() == "holding\n"
        # Beside it, one that got no time to end, as on a machine that is busy with other programs.
        with Popen([sys.executable, "-c", IDLE], stdin=PIPE, stdout=PIPE, text=True) as idle:
            assert idle.stdout is not None
            assert idle.stdout.readline() == "ready\n"
            idle.terminate()
            assert idle.stdout.readline() == "stopping\n"
            assert server.end()[0] == -signal.SIGKILL
            assert cli.contents() == ["客廳的燈叫做小明"]
            assert idle.poll() is None
    assert idle.returncode == 0


def test_two_servers_share_one_folder(cli: Cli) -> None:
    with run_server() as one, run_server() as other:
        one.ask("api/memory/facts", {"content": "客廳的燈叫做小明"})
        assert "小明" in other.ask("api/memory/facts")
        assert (one.end()[0], other.end()[0]) == (0, 0)
    assert cli.contents() == ["客廳的燈叫做小明"]


def test_elsewhere_it_needs_a_token_that_comes_into_no_log(cli: Cli) -> None:
    path = cli.data / "http-token"
    with run_server("--host", "0.0.0.0") as server:  # noqa: S104 - that is what is tested
        token = path.read_text("utf-8").strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert f"token        in {path}\n" in server.said
        assert token not in server.said
        assert server.expect_refusal("api/memory/facts")[0] == 401
        assert json.loads(server.ask("api/memory/facts", Authorization=f"Bearer {token}"))
        _, out, err = server.end()
        assert "not encrypted" in err
        assert token not in out + err
    assert path.read_text("utf-8").strip() == token


def test_in_a_terminal_the_token_is_shown_once(cli: Cli) -> None:
    path = cli.data / "http-token"
    first, later = read_greeting_in_a_terminal(), read_greeting_in_a_terminal()
    token = path.read_text("utf-8").strip()
    assert f"#token={token} " in first
    assert token not in later
    assert str(path) in first
    assert str(path) in later


def read_greeting_in_a_terminal() -> str:
    """Run a server that needs its token until it has greeted and return what it showed."""
    ours, its = pty.openpty()
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        arguments = ["serve", "--port", "0", "--host", "0.0.0.0"]  # noqa: S104
        process = fork(arguments, [its, its, nothing.fileno()], os.environ)
    os.close(its)
    guard = threading.Timer(SECONDS, process.kill)
    guard.start()
    shown = b""
    while LAST_LINE.encode() not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGTERM)
    process.wait(SECONDS)
    guard.cancel()
    os.close(ours)
    return shown.decode()


def test_names_are_allowed_by_option_and_by_the_environment(cli: Cli) -> None:
    names = "one.example, two.example:9000"
    options = ("--allow-host", "memory.example.org", "--verbose")
    with run_server(*options, TURNLEAF_ALLOWED_HOSTS=names) as server:
        for name in ("memory.example.org", "one.example:1", "two.example:9000"):
            assert server.ask("healthz?q=secret", Host=name)
        assert server.expect_refusal("healthz", Host="two.example")[0] == 421
        _, out, err = server.end()
    assert out == ""
    assert (
        len(re.findall(r"^\S+ \S+ GET /healthz 200 \d+ ms [0-9a-f]{16}$", err, re.MULTILINE)) == 3
    )
    assert "secret" not in err


def test_the_page_is_opened_in_the_browser(cli: Cli, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n', "utf-8")
    browser.chmod(0o700)
    with run_server("--open", BROWSER=f"{browser} %s") as server:
        opened = told.read_text("utf-8").strip()
        assert opened.startswith(f"{server.address}operator/")
        server.end()


def test_no_part_of_an_answer_waits_for_the_one_before_to_be_confirmed() -> None:
    with (
        closing(listen("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
        closing(listener.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_usual_port_gives_way_to_a_free_one_when_it_is_taken() -> None:
    with closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with closing(listen("127.0.0.1", port, or_any=True)) as second:
            assert second.getsockname()[1] not in {0, port}


def test_a_port_that_is_taken_is_told_with_what_to_do(cli: Cli) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        result = cli("serve", "--port", port)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"error: cannot listen on 127.0.0.1, port {port}: another program uses that port; "
        "choose another with --port, or 0 for any\n"
    )
    assert not cli.data.exists()


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--port", "65536"], 2, "--port"),
        (["--port", "-1"], 2, "--port"),
        (["--port", "http"], 2, "--port"),
        (["--host", "no such host"], 1, "check --host"),
        (["--host", "a" * 300], 1, "check --host"),
        (["--host", "203.0.113.7"], 1, "choose another with --host"),
        (["--allow-host", "http://memory.example"], 2, "is not a hostname"),
        (["--allow-host", "*"], 2, "is not a hostname"),
    ],
)
def test_what_cannot_be_served_is_told(cli: Cli, options: list[str], code: int, told: str) -> None:
    result = cli("serve", *options)
    assert (result.code, result.out) == (code, "")
    assert told in result.err
    assert "Traceback" not in result.err


def test_without_its_packages_it_says_which_extra_brings_them(cli: Cli) -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from turnleaf.faces.cli import main; sys.exit(main(['serve']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: the package uvicorn is missing; run pip install 'turnleaf[server]'\n"
    )


def test_an_address_of_ipv6_is_shown_as_browsers_take_it() -> None:
    try:
        listener = listen("::1", 0)
    except TurnleafError as error:
        assert "::1" in str(error)  # noqa: PT017 - a machine without IPv6 says so
        return
    with closing(listener):
        assert address_of(listener) == f"http://[::1]:{listener.getsockname()[1]}/"


def test_an_address_for_all_is_shown_as_one_that_others_can_open() -> None:
    with closing(listen("0.0.0.0", 0)) as listener:  # noqa: S104 - that is what is tested
        shown = address_of(listener)
    assert re.fullmatch(r"http://[\w.-]+:\d+/", shown)
    assert "0.0.0.0" not in shown  # noqa: S104


def test_the_log_for_machines_has_a_line_of_json_for_each_request_and_warning(
    cli: Cli, tmp_path: Path
) -> None:
    token = "swordfish" * 4
    place = tmp_path / "secret"
    place.write_text(f"{token}\n", "utf-8")
    options = ("--host", "0.0.0.0", "--token-file", str(place), "--log-format", "json")  # noqa: S104
    with run_server(*options) as server:
        assert f"token        in {place}" in server.said
        asked = {"Authorization": f"Bearer {token}", "X-Request-ID": "trace-1"}
        assert "# TYPE" in server.ask("metrics", **asked)
        assert json.loads(server.ask("readyz")) == {"status": "ready"}
        assert server.expect_refusal("api/memory/main")[0] == 401
        code, _, err = server.end()
    assert code == 0
    warning, *lines = [json.loads(line) for line in err.splitlines()]
    assert "every machine on your network" in warning["message"]
    assert [(one["method"], one["route"], one["status"]) for one in lines] == [
        ("GET", "/metrics", 200),
        ("GET", "/readyz", 200),
        ("GET", "-", 401),
    ]
    assert lines[0]["requestId"] == "trace-1"
    assert len({one["requestId"] for one in lines}) == 3
    assert token not in err
    assert not (cli.data / "http-token").exists()


def test_a_token_file_without_a_token_is_refused(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "secret"
    for text in (None, "", "short", "swordfish " * 9):
        if text is not None:
            place.write_text(text, "utf-8")
        refused = cli("serve", "--token-file", str(place))
        assert refused.code == 2
        assert "write one there" in refused.err
