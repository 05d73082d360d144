"""Attacks by what a request costs: huge, slow, many, malformed, two in one."""

from __future__ import annotations

import asyncio
import json
import re
import select
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from http.client import BadStatusLine
from io import BufferedReader
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.faces.http.attacking import (
    LAMP,
    SECONDS,
    HttpAnswer,
    Target,
    assert_guarded,
    expect_problem,
    is_closed,
    read,
    run_target,
)
from turnleaf.faces.http.access import Access, guard_app
from turnleaf.faces.http.request_reading import RequestLimits

MAIN = "/api/memory/main"
FACTS = "/api/memory/facts"
SMALL = RequestLimits(url_bytes=1024, head_bytes=4096, body_bytes=10_000)
HASTY = RequestLimits(head_seconds=0.7)
IMPATIENT = RequestLimits(body_seconds=0.3, idle_seconds=1)
CROWDED = RequestLimits(body_bytes=10_000, all_bodies_bytes=15_000)
FEW = RequestLimits(connections=8, linger_seconds=60)


@pytest.fixture(scope="module")
def usual_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("usual")) as target:
        yield target


@pytest.fixture(scope="module")
def small_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("small"), limits=SMALL) as target:
        yield target


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Yield a server that waits only a moment for the head of a request."""
    with run_target(tmp_path_factory.mktemp("hasty"), limits=HASTY) as target:
        yield from check_unchanged(target)


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Yield a server that waits only a moment for the body of a request."""
    with run_target(tmp_path_factory.mktemp("impatient"), limits=IMPATIENT) as target:
        yield from check_unchanged(target)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Target]:
    """Yield a server that has as many connections as it takes."""
    with run_target(tmp_path, limits=FEW) as target, ExitStack() as stack:
        for _ in range(FEW.connections):
            connection = stack.enter_context(closing(target.connect()))
            connection.sendall(head("GET", "/api/events"))
            assert connection.recv(12) == b"HTTP/1.1 200"
        yield from check_unchanged(target)


@pytest.fixture
def target(usual_target: Target) -> Iterator[Target]:
    """Yield a server with the default limits."""
    yield from check_unchanged(usual_target)
    assert usual_target.ask("GET", "/healthz").json == {"status": "ok"}


@pytest.fixture
def small(small_target: Target) -> Iterator[Target]:
    """Yield a server that takes only small requests."""
    yield from check_unchanged(small_target)
    assert small_target.ask("GET", "/healthz").json == {"status": "ok"}


def check_unchanged(target: Target) -> Iterator[Target]:
    before = target.files()
    yield target
    assert target.files() == before


def head(method: str, path: str, *lines: str, version: str = "1.1") -> bytes:
    return "\r\n".join(
        [f"{method} {path} HTTP/{version}", "Host: localhost", *lines, "", ""]
    ).encode()


# Huge


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", MAIN), ("POST", FACTS), ("POST", "/api/chat"), ("GET", MAIN), ("POST", "/nothing")],
)
def test_a_body_that_says_it_is_huge_is_refused_before_it_is_read(
    target: Target, method: str, path: str
) -> None:
    lines = ("Content-Type: application/json", "Expect: 100-continue", f"Content-Length: {10**12}")
    answer = target.send(head(method, path, *lines))
    assert "bytes" in expect_problem(answer, 413)
    assert answer.headers["connection"] == "close"


def test_a_body_that_is_too_large_is_refused_so_that_the_client_hears_it(small: Target) -> None:
    answer = small.ask("PUT", MAIN, b"a" * (SMALL.body_bytes + 1), Content_Type="text/markdown")
    expect_problem(answer, 413)


def test_a_body_in_pieces_is_counted_while_it_comes(small: Target) -> None:
    with closing(small.connect()) as connection:
        connection.sendall(
            head("PUT", MAIN, "Content-Type: text/markdown", "Transfer-Encoding: chunked")
        )
        for _ in range(11):
            connection.sendall(b"3e8\r\n" + b"a" * 1000 + b"\r\n")
        expect_problem(read(connection), 413)
        assert is_closed(connection)


def test_pieces_of_nothing_are_not_read_for_ever(impatient: Target) -> None:
    """One byte in each piece, and a comment of a thousand beside it."""
    with closing(impatient.connect()) as connection:
        connection.sendall(
            head("PUT", MAIN, "Content-Type: text/markdown", "Transfer-Encoding: chunked")
        )
        answer = flood(connection, b"1;" + b"c" * 1000 + b"\r\na\r\n")
    assert answer is None or answer.status in {400, 408, 413}


def flood(connection: socket.socket, data: bytes) -> HttpAnswer | None:
    """Send until the server answers or hangs up."""
    answers = select.poll()
    answers.register(connection, select.POLLIN)
    for _ in range(10_000_000):  # A fast machine takes many before its time is over.
        try:
            connection.sendall(data)
            if answers.poll(0):
                return read(connection)
        except OSError:
            return None
    raise AssertionError("nobody stopped it")


def test_a_piece_that_says_it_is_endless_is_refused(small: Target) -> None:
    lines = ("Content-Type: text/markdown", "Transfer-Encoding: chunked")
    expect_problem(small.send(head("PUT", MAIN, *lines) + b"f" * 30 + b"\r\n"), 400)


def test_an_address_that_is_too_long_is_refused(small: Target) -> None:
    expect_problem(small.ask("GET", f"/api/memory/search?q={'a' * SMALL.url_bytes}"), 414)
    expect_problem(small.ask("GET", f"/{'a' * SMALL.url_bytes}"), 414)


def test_a_question_of_many_kilobytes_is_refused_by_the_usual_limit(target: Target) -> None:
    expect_problem(target.ask("GET", f"/api/memory/search?q={'a' * 10_000}"), 414)


@pytest.mark.parametrize(
    "lines",
    [
        [f"X-A: {'a' * 5000}"],
        [f"X-{number}: {'a' * 90}" for number in range(60)],
        [f"Cookie: {'a' * 5000}"],
        [f"{'X' * 5000}: a"],
        [f"Authorization: Bearer {'a' * 5000}"],
    ],
    ids=["long", "many", "cookie", "name", "token"],
)
def test_headers_that_are_too_long_are_refused(small: Target, lines: list[str]) -> None:
    expect_problem(small.send(head("GET", MAIN, *lines)[:-2]), 431)


def test_whole_headers_that_are_too_long_are_refused_by_the_usual_limit(target: Target) -> None:
    many = [f"X-{number}: {'a' * 1000}" for number in range(40)]
    for lines in ([f"X-A: {'a' * 33_000}"], many):
        expect_problem(target.send(head("GET", "/healthz", *lines)), 431)
    assert target.send(head("GET", "/healthz", f"X-A: {'a' * 30_000}")).status == 200


def test_an_endless_request_line_is_refused(small: Target) -> None:
    expect_problem(small.send(b"GET /" + b"a" * 5000), 431)


# Slow


@pytest.mark.parametrize(
    "begun",
    [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "],
)
def test_a_head_that_does_not_end_is_not_waited_for(hasty: Target, begun: bytes) -> None:
    with closing(hasty.connect()) as connection:
        connection.sendall(begun)
        assert is_closed(connection)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(hasty: Target) -> None:
    with closing(hasty.connect()) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert flood_slowly(connection)


def flood_slowly(connection: socket.socket) -> bool:
    """Send a byte whenever the server has been silent for a moment, until it hangs up."""
    connection.settimeout(0.02)
    for _ in range(10_000):
        try:
            connection.sendall(b"X")
            return connection.recv(1) == b""
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_a_second_head_that_does_not_end_is_not_waited_for_either(hasty: Target) -> None:
    with ask_in_time(hasty) as connection:
        connection.sendall(b"GET /heal")
        assert is_closed(connection)


@contextmanager
def ask_in_time(hasty: Target) -> Iterator[socket.socket]:
    """Ask, and again where a busy machine sends the head too late; yield the connection."""
    for _ in range(100):
        with closing(hasty.connect()) as connection:
            try:
                connection.sendall(head("GET", "/healthz"))
                answer = read(connection)
            except (ConnectionError, BadStatusLine):
                continue
            assert answer.status == 200
            yield connection
            return
    raise AssertionError("it never waited for the head of a request")


def test_a_connection_on_which_nothing_more_is_asked_is_closed(impatient: Target) -> None:
    with closing(impatient.connect()) as connection:
        connection.sendall(head("GET", "/healthz"))
        assert read(connection).status == 200
        assert is_closed(connection)


@pytest.mark.parametrize("line", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_is_not_waited_for(impatient: Target, line: str) -> None:
    answer = impatient.send(head("PUT", MAIN, "Content-Type: text/markdown", line))
    assert "seconds" in expect_problem(answer, 408)
    assert answer.headers["connection"] == "close"


def test_pieces_that_end_their_lines_in_another_way_are_not_guessed_at(impatient: Target) -> None:
    lines = ("Content-Type: text/markdown", "Transfer-Encoding: chunked")
    expect_problem(impatient.send(head("PUT", MAIN, *lines) + b"5\nhello\n0\n\n"), 408)


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(impatient: Target) -> None:
    with closing(impatient.connect()) as connection:
        lines = ("Content-Type: text/markdown", "Content-Length: 9000")
        connection.sendall(head("PUT", MAIN, *lines))
        assert trickle(connection).status == 408


def trickle(connection: socket.socket) -> HttpAnswer:
    connection.settimeout(0.02)
    for _ in range(10_000):
        connection.sendall(b"a")
        try:
            connection.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            continue
        connection.settimeout(SECONDS)
        return read(connection)
    raise AssertionError("nobody stopped it")


def test_a_client_that_leaves_in_the_middle_of_its_body_changes_nothing(impatient: Target) -> None:
    lines = ("Content-Type: text/markdown", "Content-Length: 9000")
    with closing(impatient.connect()) as connection:
        connection.sendall(head("PUT", MAIN, *lines) + b"- gone")
        connection.shutdown(socket.SHUT_WR)
        assert is_closed(connection) or connection.recv(1) == b""


def test_a_client_that_reads_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with (
        run_target(tmp_path, limits=RequestLimits(stalled_seconds=0.3)) as target,
        closing(socket.socket()) as connection,
    ):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", target.port))
        connection.sendall(head("GET", "/openapi.json") * 300)
        assert is_cut_off(connection)


def is_cut_off(connection: socket.socket) -> bool:
    """Whether the server hangs up on us, without reading anything that it sent."""
    watching = select.poll()
    watching.register(connection, 0)
    return watching.poll(SECONDS * 1000) != []


# Many


def test_more_connections_than_there_may_be_are_turned_away(full: Target) -> None:
    answer = full.ask("GET", "/healthz")
    assert "connections" in expect_problem(answer, 503)
    assert answer.headers["retry-after"] == "1"


def test_a_flood_of_connections_is_cut_off(full: Target) -> None:
    with ExitStack() as stack:
        said = [read_beginning(full, stack) for _ in range(3 * FEW.connections)]
    assert set(said) == {b"HTTP/1.1 503", b""}


def test_bodies_that_are_too_much_together_are_refused_until_one_is_answered() -> None:
    async def attack() -> list[tuple[int, bytes]]:
        is_held, may_end = asyncio.Event(), asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            if scope["path"] == "/slow":
                is_held.set()
                await may_end.wait()
            await Response(status_code=204)(scope, receive, send)

        ask = asking(guard_app(app, Access("127.0.0.1", 8793), CROWDED), b"a" * 8000)
        slow = asyncio.create_task(ask("/slow"))
        await is_held.wait()
        refusal = await ask("/")
        may_end.set()
        return [refusal, await slow, await ask("/")]

    refusal, *others = asyncio.run(asyncio.wait_for(attack(), SECONDS))
    assert refusal[0] == 503
    assert json.loads(refusal[1])["code"] == "busy"
    assert [status for status, _ in others] == [204, 204]


def asking(app: ASGIApp, body: bytes) -> Callable[[str], Coroutine[None, None, tuple[int, bytes]]]:
    """Send a body to a path; return the status and the answer."""

    async def ask(path: str) -> tuple[int, bytes]:
        sent: list[Message] = []
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "path": path,
            "raw_path": path.encode(), "query_string": b"", "client": ("127.0.0.1", 1),
            "headers": [(b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
        }  # fmt: skip

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await app(scope, receive, send)
        return sent[0]["status"], sent[1].get("body", b"")

    return ask


def read_beginning(target: Target, stack: ExitStack) -> bytes:
    """Connect, stay, and return how the answer begins; nothing when there is none."""
    try:
        return stack.enter_context(closing(target.connect())).recv(12)
    except ConnectionResetError:
        return b""


# Malformed, and two in one


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1 extra\r\nHost: localhost\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\r\n\r\n",
        b"G\x00T / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xe5\xae\xa2 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n: no name\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rOrigin: http://evil.example\r\n\r\n",
    ],
    ids=[
        "tls", "extra", "spaces", "http0.9", "nul-method", "nul-path",
        "utf8-path", "space-colon", "folded-first", "nul-value", "no-colon", "no-name", "bare-cr",
    ],
)  # fmt: skip
def test_what_is_no_http_is_refused(target: Target, data: bytes) -> None:
    expect_problem(target.send(data), 400)


@pytest.mark.parametrize("version", ["2.0", "3.0", "9.9", "0.9", "1.2"])
def test_another_version_of_http_is_refused(target: Target, version: str) -> None:
    expect_problem(target.send(head("GET", "/", version=version)), 505)


EVIL = f"DELETE {FACTS}/x HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 5"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5, 6"],
        ["Content-Length: -5"],
        ["Content-Length: +5"],
        ["Content-Length: 0x5"],
        ["Content-Length: 5 5"],
        ["Content-Length: ５"],
        [f"Content-Length: {'9' * 30}"],
        ["Content-Length:"],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: chunked, gzip"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding : chunked"],
        ["Transfer-Encoding:\x0bchunked"],
    ],
    ids=lambda lines: (
        "+".join(lines).replace(" ", "_").encode("ascii", "backslashreplace").decode()
    ),
)
def test_a_body_whose_end_can_be_understood_in_two_ways_is_refused(
    target: Target, lines: list[str]
) -> None:
    data = head("PUT", MAIN, "Content-Type: text/markdown", *lines) + b"0\r\n\r\n" + EVIL.encode()
    with closing(target.connect()) as connection:
        connection.sendall(data)
        answer = read(connection, "PUT")
        assert answer.status in {400, 413, 501}
        assert_guarded(answer)
        assert is_closed(connection)


@pytest.mark.parametrize(
    "chunks",
    [b"5\r\nhello\r\nZZ\r\n", b"-1\r\na\r\n", b"5\r\nhelloX0\r\n\r\n", b"\r\n"],
    ids=["bad-size", "negative", "overrun", "no-size"],
)
def test_pieces_that_are_no_pieces_are_refused(target: Target, chunks: bytes) -> None:
    lines = ("Content-Type: text/markdown", "Transfer-Encoding: chunked")
    expect_problem(target.send(head("PUT", MAIN, *lines) + chunks), 400)


def test_requests_behind_each_other_are_answered_one_by_one_in_order(target: Target) -> None:
    with closing(target.connect()) as connection:
        connection.sendall(head("GET", "/healthz") + head("GET", "/nothing") + head("GET", MAIN))
        with connection.makefile("rb") as reader:
            found = [read_from(reader) for _ in range(3)]
    assert [status for status, _ in found] == [200, 404, 200]
    assert LAMP in found[2][1]


def read_from(reader: BufferedReader) -> tuple[int, str]:
    """Read one of several answers on one connection."""
    line = reader.readline()
    length = 0
    while (header := reader.readline().strip().lower()) != b"":
        if header.startswith(b"content-length:"):
            length = int(header.partition(b":")[2])
    return int(line.split()[1]), reader.read(length).decode()


def test_what_follows_a_refused_request_is_not_taken_for_another(target: Target) -> None:
    """The body of the first holds a request; its own head is refused before the body is read."""
    body = head("GET", MAIN)
    lines = ("Origin: http://evil.example", f"Content-Length: {len(body)}")
    with closing(target.connect()) as connection:
        connection.sendall(head("POST", FACTS, *lines) + body)
        expect_problem(read(connection, "POST"), 403)
        assert is_closed(connection)


def test_a_wish_for_another_protocol_is_not_granted(target: Target) -> None:
    lines = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")  # fmt: skip
    answer = target.send(head("GET", "/api/nothing", *lines))
    expect_problem(answer, 404)


# JSON that is more than it seems


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"content":' * 50_000,
        b'{"content": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"content": NaN}',
        b'{"content": Infinity}',
        b'{"content": -1e999}',
        b'{"content": ' + b"9" * 5000 + b"}",
        b'{"content": "\\ud800"}',
        b'{"content": "\\u0000"}',
        b'{"content": "a\x00b"}',
        b'{"content": "\xff\xfe"}',
        b'\xef\xbb\xbf{"content": 1}',
        '{"content": "客廳'.encode(),
        b"{'content': 'a'}",
        b'{"content": "a"} trailing',
        b'["content"]',
        b'"content"',
        b"null",
        b"{}",
        b'{"content": {"content": "a"}}',
        b'{"content": ["a"]}',
        b'{"content": true}',
        b'{"content": ""}',
        b'{"content": "a", "id": "chosen", "__proto__": {}}{',
    ],
    ids=lambda body: body[:24].decode("ascii", "backslashreplace"),
)
def test_json_that_cannot_be_taken_is_refused(target: Target, body: bytes) -> None:
    answer = target.ask("POST", FACTS, body)
    expect_problem(answer, 422)


@pytest.mark.parametrize("body", [b'{"id": "\\ud800", "action": "accept"}', b'{"\\uDC00": 1}'])
def test_half_a_character_is_refused_wherever_json_is_taken(target: Target, body: bytes) -> None:
    paths = target.ask("GET", "/openapi.json").json["paths"]
    taking = [
        (method.upper(), path)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    assert ("POST", "/api/memory/pending") in taking
    before = target.files()
    for method, path in taking:
        # Who is not the operator is refused whatever they send.
        status = 403 if path.startswith(("/api/tokens", "/api/spaces")) else 422
        expect_problem(target.ask(method, re.sub("{.*?}", "2026-11-15", path), body), status)
    assert target.files() == before


def test_of_a_key_that_is_given_twice_the_last_one_counts_or_none(target: Target) -> None:
    answer = target.ask("POST", FACTS, b'{"content": "a", "content": ""}')
    expect_problem(answer, 422)


def test_a_million_facts_are_not_asked_for_at_once(target: Target) -> None:
    expect_problem(target.ask("GET", "/api/memory/search?q=a&limit=1000000"), 422)
    expect_problem(target.ask("GET", "/api/memory/changes?limit=1000000000"), 422)
    expect_problem(target.ask("GET", f"/api/memory/changes?limit={'9' * 4000}"), 422)


@pytest.mark.parametrize(
    "query",
    [
        "(a%2B)%2B" * 200 + "%24",
        "%22" * 2000,
        "*" * 5000,
        "NEAR(" * 1000,
        "a%20OR%20" * 700,
        "%E5%A4%A7" * 800,
        "a%00b",
        "%00",
        "%F0%9F%8F%B4%F3%A0%81%A7" * 200,
        "col:a%20AND%20(",
        "'%3B%20DROP%20TABLE%20chunks%3B--",
        "%EF%BF%BE",
        "%ED%A0%80",
    ],
    ids=lambda query: query[:24],
)
def test_a_question_made_to_hurt_is_answered_or_refused_like_any_other(
    target: Target, query: str
) -> None:
    answer = target.ask("GET", f"/api/memory/search?q={query}")
    assert_guarded(answer)
    assert answer.status in {200, 422}
    if answer.status == 200:
        assert isinstance(answer.json["results"], list)


def test_the_usual_limits_are_those_that_are_documented() -> None:
    limits = RequestLimits()
    assert (limits.body_bytes, limits.url_bytes, limits.head_bytes) == (4 << 20, 8 << 10, 32 << 10)
    assert (limits.head_seconds, limits.body_seconds, limits.connections) == (10, 30, 256)
    assert limits.all_bodies_bytes == 64 << 20
    assert replace(limits, connections=1) != limits


def test_a_body_below_the_limit_is_taken(target: Target) -> None:
    text = "x" * 1_000_000
    answer = target.ask("POST", "/api/prompt/preview", {"message": text})
    assert answer.status in {200, 422}
    assert json.loads(answer.body)
