"""Attacks through a browser: foreign names, foreign pages, forms, scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faces.http.attacking import LAMP, Target, assert_guarded, expect_problem, run_target
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.access import Access, check_host, list_names, parse_host

MAIN = "/api/memory/main"


@pytest.fixture(scope="module")
def one_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("names")) as target:
        yield target


@pytest.fixture
def target(one_target: Target) -> Iterator[Target]:
    before = one_target.files()
    yield one_target
    assert one_target.files() == before


def origin(target: Target, text: str) -> str:
    return text.replace("PORT", str(target.port))


# Host: a name that somebody else lets point here (DNS rebinding)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:PORT",
        "localhost.evil.example:PORT",
        "127.0.0.1.evil.example:PORT",
        "evil-localhost:PORT",
        "localhost.:PORT",
        "localhost:1",
        "127.0.0.1:80",
        "127.0.0.2:PORT",
        "0.0.0.0:PORT",
        "[::]:PORT",
        "192.168.1.5:PORT",
        "[fe80::1]:PORT",
        "127.1:PORT",
        "2130706433:PORT",
        "0x7f000001:PORT",
        "xn--lcalhost-yba:PORT",
    ],
)
def test_a_name_that_is_not_the_servers_is_not_answered(target: Target, host: str) -> None:
    for method, path, body in (("GET", MAIN, b""), ("PUT", MAIN, b'{"content": "gone"}')):
        answer = target.ask(method, path, body, host=origin(target, host))
        assert "--allow-host" in expect_problem(answer, 421)
        assert host.partition(":")[0] not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "user@localhost:PORT",
        "localhost:PORT/api",
        "localhost:PORT#evil.example",
        "localhost:PORT, evil.example",
        "localhost evil.example",
        "localhost:port",
        "localhost:999999",
        "[localhost]:PORT",
        "[::1:PORT",
        "::1",
        "http://localhost:PORT",
        "客廳",
        "*",
        "%6cocalhost",
        " ",
    ],
)
def test_a_host_that_is_no_name_is_refused(target: Target, host: str) -> None:
    answer = target.ask("GET", MAIN, host=origin(target, host))
    expect_problem(answer, 400)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /api/memory/main HTTP/1.1\r\n\r\n",
        b"GET /api/memory/main HTTP/1.0\r\n\r\n",
        b"GET /api/memory/main HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /api/memory/main HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /api/memory/main HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/api/memory/main HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://localhost/api/memory/main HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["none", "none-1.0", "empty", "two", "two-1.0", "proxy", "absolute", "connect", "star"],
)
def test_a_request_that_does_not_name_the_server_once_is_refused(
    target: Target, head: bytes
) -> None:
    expect_problem(target.send(head), 400)


@pytest.mark.parametrize(
    "host", ["localhost:PORT", "LOCALHOST:PORT", "127.0.0.1", "[::1]:PORT", "[0:0:0:0:0:0:0:1]"]
)
def test_the_names_of_this_machine_are_answered(target: Target, host: str) -> None:
    answer = target.ask("GET", MAIN, host=origin(target, host))
    assert answer.status == 200
    assert LAMP in answer.json["content"]
    assert_guarded(answer)


@pytest.mark.parametrize(
    "header",
    ["X-Forwarded-Host", "X-Host", "Forwarded", "X-Original-URL", "X-HTTP-Method-Override"],
)
def test_a_header_for_proxies_changes_nothing(target: Target, header: str) -> None:
    answer = target.ask("GET", "/healthz", **{header: "DELETE"})
    assert answer.json == {"status": "ok"}
    answer = target.ask("GET", MAIN, host="evil.example", **{header: "localhost"})
    expect_problem(answer, 421)


# Origin: a page from elsewhere that a browser shows


@pytest.mark.parametrize(
    "page",
    [
        "http://evil.example",
        "https://evil.example",
        "null",
        "",
        "http://localhost:PORT",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:PORT.evil.example",
        "http://127.0.0.1:PORT@evil.example",
        "http://evil.example#127.0.0.1:PORT",
        "http://evil.example/127.0.0.1:PORT",
        "http://127.0.0.1:PORT http://evil.example",
        "http://127.0.0.1:PORT/",
        "https://127.0.0.1",
        "file://",
        "chrome-extension://abcdefgh",
        "ftp://127.0.0.1:PORT",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_page_from_elsewhere_is_refused(target: Target, page: str, method: str) -> None:
    body = b'{"content": "gone"}' if method == "PUT" else b""
    answer = target.ask(method, MAIN, body, Origin=origin(target, page))
    assert "own page" in expect_problem(answer, 403)


def test_one_good_origin_beside_a_bad_one_is_refused(target: Target) -> None:
    own = f"127.0.0.1:{target.port}"
    head = (
        f"GET {MAIN} HTTP/1.1\r\nHost: {own}\r\n"
        f"Origin: http://{own}\r\nOrigin: http://evil.example\r\n\r\n"
    )
    expect_problem(target.send(head.encode()), 403)


@pytest.mark.parametrize("page", ["http://127.0.0.1:PORT", "https://127.0.0.1:PORT"])
def test_the_servers_own_page_is_answered(target: Target, page: str) -> None:
    answer = target.ask("GET", MAIN, Origin=origin(target, page), Sec_Fetch_Site="same-origin")
    assert answer.status == 200


# CORS: nobody is ever told that a script from elsewhere may read an answer


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "GET"])
@pytest.mark.parametrize("path", [MAIN, "/v1/chat/completions", "/api/memory/config"])
def test_a_browser_that_asks_in_advance_is_told_no(target: Target, method: str, path: str) -> None:
    answer = target.ask(
        "OPTIONS",
        path,
        Origin="http://evil.example",
        Access_Control_Request_Method=method,
        Access_Control_Request_Headers="authorization, content-type, if-match",
        Access_Control_Request_Private_Network="true",
    )
    expect_problem(answer, 403)


def test_options_of_our_own_page_grant_nothing_either(target: Target) -> None:
    expect_problem(target.ask("OPTIONS", MAIN, Origin=f"http://127.0.0.1:{target.port}"), 405)


# CSRF: what a browser sends without asking first


@pytest.mark.parametrize(
    ("method", "path", "kind", "body"),
    [
        ("POST", "/api/memory/facts", "text/plain", b'{"content": "forged"}'),
        ("POST", "/api/memory/facts", "application/x-www-form-urlencoded", b"content=forged"),
        ("POST", "/api/memory/facts", "multipart/form-data; boundary=b", b"--b--"),
        ("POST", "/api/memory/undo", "text/plain", b"{}"),
        ("POST", "/api/memory/undo", "text/plain", b""),
        ("POST", "/api/memory/pending", "text/plain", b'{"id": "x", "action": "accept"}'),
        ("POST", "/api/chat", "text/plain", b'{"message": "forget everything"}'),
        ("POST", "/api/schedules", "text/plain", b'{"prompt": "a", "timing": "every 1m"}'),
        ("POST", "/api/schedules/x/run", "text/plain", b""),
        ("POST", "/v1/chat/completions", "text/plain", b'{"messages": []}'),
        ("PUT", MAIN, "text/plain", b"gone"),
        ("DELETE", "/api/memory/facts/x", "text/plain", b""),
    ],
)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_on_a_page_from_elsewhere_changes_nothing(
    target: Target, method: str, path: str, kind: str, body: bytes, site: str
) -> None:
    by_origin = target.ask(method, path, body, Content_Type=kind, Origin="http://evil.example")
    expect_problem(by_origin, 403)
    by_site = target.ask(method, path, body, Content_Type=kind, Sec_Fetch_Site=site)
    expect_problem(by_site, 403)
    hidden = target.ask(
        method, path, body, Content_Type=kind, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate",
        Sec_Fetch_Dest="document",
    )  # fmt: skip
    expect_problem(hidden, 403)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_form_does_not_pass_even_in_a_browser_that_says_nothing_of_its_page(
    target: Target, kind: str
) -> None:
    answer = target.ask("POST", "/api/memory/facts", b'{"content": "a"}', Content_Type=kind)
    expect_problem(answer, 415)


@pytest.mark.parametrize(
    ("path", "mode", "dest"),
    [
        (MAIN, "no-cors", "image"),
        (MAIN, "no-cors", "script"),
        (MAIN, "navigate", "document"),
        (MAIN, "navigate", "iframe"),
        ("/", "navigate", "iframe"),
        ("/", "navigate", "object"),
        ("/", "no-cors", "empty"),
        ("/healthz", "no-cors", "image"),
        ("/api/events", "cors", "empty"),
        ("/openapi.json", "navigate", "document"),
    ],
)
def test_a_page_from_elsewhere_embeds_nothing_of_ours(
    target: Target, path: str, mode: str, dest: str
) -> None:
    answer = target.ask(
        "GET", path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode=mode, Sec_Fetch_Dest=dest
    )
    expect_problem(answer, 403)


def test_a_link_from_elsewhere_leads_to_the_page(target: Target) -> None:
    answer = target.ask(
        "GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate",
        Sec_Fetch_Dest="document",
    )  # fmt: skip
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


# Names that are allowed, and servers that others can reach


def test_a_name_that_is_allowed_is_answered_with_any_port_or_with_its_own() -> None:
    access = Access("127.0.0.1", 8793, None, ("Memory.example.org", "tunnel.example:9000"))
    yes = ("memory.example.org", "memory.example.org:444", "tunnel.example:9000", "localhost:8793")
    no = ("tunnel.example", "tunnel.example:9001", "sub.memory.example.org", "example.org")
    assert [name for name in yes if not answers(access, name)] == []
    assert [name for name in no if answers(access, name)] == []


def test_a_server_that_others_reach_answers_to_addresses_and_to_the_machines_own_names() -> None:
    access = Access("192.168.1.5", 8793, "t" * 32)
    yes = ("192.168.1.5:8793", "10.0.0.9", "[fe80::1]:80", "localhost", *list_names())
    no = ("evil.example", "192.168.1.5.evil.example", "2130706433", "localhost.evil.example")
    assert [name for name in yes if not answers(access, name)] == []
    assert [name for name in no if answers(access, name)] == []


def answers(access: Access, text: str) -> bool:
    name = parse_host(text)
    return name is not None and access.answers_to(name)


def test_a_server_that_others_reach_is_not_made_without_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "fe80::1", "memory.example.org"):  # noqa: S104
        with pytest.raises(InvalidInput, match="token"):
            Access(host, 8793)


@pytest.mark.parametrize("text", ["*", "", "http://memory.example", "a/b", "a b", "客廳", "a:b"])
def test_a_name_that_none_can_have_is_not_allowed(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a hostname"):
        check_host(text)
