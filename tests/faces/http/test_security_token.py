"""Attacks on the token of a server that others can reach."""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.http.attacking import (
    LAMP,
    TOKEN,
    Target,
    assert_guarded,
    expect_problem,
    run_target,
)
from turnleaf.errors import CorruptFile
from turnleaf.faces.http import access
from turnleaf.faces.http.access import Access, WrongTokens, check, load_token
from turnleaf.faces.http.problems import Refused

MAIN = "/api/memory/main"
CLOSED = [
    MAIN,
    "/api/memory/search?q=a",
    "/api/memory/config",
    "/api/memory/facts",
    "/api/conversations",
    "/api/schedules",
    "/api/schedules/x",
    "/api/events",
    "/api/status",
    "/v1/models",
    "/openapi.json",
    "/api",
    "/nothing",
    "//api/memory/main",
    "/API/memory/main",
    "/%61pi/memory/main",
    "/./api/memory/main",
]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    with run_target(tmp_path, token=TOKEN) as target:
        before = target.files()
        yield target
        assert target.files() == before


@pytest.fixture(scope="module")
def shared_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("token"), token=TOKEN) as target:
        target.token = None
        before = target.files()
        yield target
        assert target.files() == before


@pytest.mark.parametrize("path", CLOSED)
def test_without_the_token_nothing_is_told(shared_target: Target, path: str) -> None:
    answer = shared_target.ask("GET", path)
    assert "http-token" in expect_problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", MAIN, {"content": "gone"}),
        ("POST", "/api/memory/facts", {"content": "forged"}),
        ("DELETE", "/api/memory/facts/x", b""),
        ("PUT", "/api/memory/config", {"enabled": False}),
        ("POST", "/api/chat", {"message": "forget everything"}),
        ("POST", "/api/memory/undo", {}),
        ("DELETE", "/api/conversations/cli:session-1", b""),
        ("POST", "/api/schedules", {"prompt": "forget everything", "timing": "every 1m"}),
        ("POST", "/api/schedules/preview", {"timing": "every 1m"}),
        ("POST", "/api/schedules/x/run", b""),
        ("PATCH", "/api/schedules/x", {"paused": True}),
        ("DELETE", "/api/schedules/x", b""),
        ("HEAD", MAIN, b""),
        ("BREW", MAIN, b""),
    ],
)
def test_without_the_token_nothing_is_done(
    shared_target: Target, method: str, path: str, body: object
) -> None:
    answer = shared_target.ask(method, path, body)
    assert answer.status == 401
    assert_guarded(answer)


def test_a_path_that_begins_like_the_pages_own_files_leads_nowhere_else(
    shared_target: Target,
) -> None:
    for path in ("/assets/../api/memory/main", "/assets/..%2fapi%2fmemory%2fmain", "/docs/../api"):
        expect_problem(shared_target.ask("GET", path), 404)


def test_where_the_token_does_not_belong_it_is_not_looked_for(shared_target: Target) -> None:
    for name in ("token", "access_token", "api_key", "authorization"):
        expect_problem(shared_target.ask("GET", f"{MAIN}?{name}={TOKEN}"), 401)
        expect_problem(shared_target.ask("GET", MAIN, Cookie=f"{name}={TOKEN}"), 401)
    expect_problem(shared_target.ask("GET", MAIN, X_Api_Key=TOKEN), 401)


def test_the_token_opens_everything(target: Target) -> None:
    assert LAMP in target.ask("GET", MAIN).json["content"]
    assert target.ask("GET", MAIN, Authorization=f"bearer {TOKEN}").status == 200
    assert target.ask("GET", "/openapi.json").status == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/docs/"])
def test_the_page_and_a_sign_of_life_need_no_token(shared_target: Target, path: str) -> None:
    answer = shared_target.ask("GET", path)
    assert answer.status == 200
    assert_guarded(answer)


@pytest.mark.parametrize(
    "given",
    [
        TOKEN,
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer x {TOKEN}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN},",
        f'Bearer "{TOKEN}"',
        f"Basic {TOKEN}",
        "Bearer 客廳",
        "Bearer null",
    ],
)
def test_a_token_that_is_nearly_right_is_wrong(given: str) -> None:
    scope = {
        "type": "http", "method": "GET", "path": MAIN, "client": ("10.0.0.1", 1),
        "headers": [(b"host", b"10.0.0.2"), (b"authorization", given.encode())],
    }  # fmt: skip
    with pytest.raises(Refused, match="token") as error:
        check(scope, Access("10.0.0.2", 8793, TOKEN), WrongTokens())
    assert error.value.status == 401


def test_two_tokens_are_no_token(target: Target) -> None:
    head = (
        f"GET {MAIN} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    expect_problem(target.send(head.encode()), 401)


def test_who_guesses_has_to_wait_and_is_not_even_heard(target: Target) -> None:
    for number in range(access.WRONG_TOKENS):
        expect_problem(target.ask("GET", MAIN, Authorization=f"Bearer guess-{number}"), 401)
    for given in ("Bearer guess", f"Bearer {TOKEN}"):
        answer = target.ask("GET", MAIN, Authorization=given)
        assert "try again in" in expect_problem(answer, 429)
        assert 0 < int(answer.headers["retry-after"]) <= access.WRONG_SECONDS + 1
    assert target.ask("GET", "/healthz").status == 200


def test_pages_that_were_left_open_with_an_old_token_lock_nobody_out(target: Target) -> None:
    for _ in range(2 * access.WRONG_TOKENS):
        expect_problem(target.ask("GET", MAIN, Authorization="Bearer the-token-of-last-week"), 401)
    assert target.ask("GET", MAIN).status == 200


def test_an_old_token_in_between_gives_nobody_more_guesses() -> None:
    seconds = [0.0]
    wrong = WrongTokens(lambda: seconds[0])
    for number in range(access.WRONG_TOKENS):
        seconds[0] = float(number)
        wrong.add("10.0.0.1", f"guess-{number}")
        wrong.add("10.0.0.1", "guess-0")
    assert wrong.wait_seconds("10.0.0.1") == access.WRONG_SECONDS - access.WRONG_TOKENS + 2


def test_an_address_may_try_again_after_a_minute_and_others_at_once() -> None:
    seconds = [0.0]
    wrong = WrongTokens(lambda: seconds[0])
    for number in range(access.WRONG_TOKENS):
        assert wrong.wait_seconds("10.0.0.1") == 0
        wrong.add("10.0.0.1", f"guess-{number}")
    assert wrong.wait_seconds("10.0.0.1") == access.WRONG_SECONDS + 1
    assert wrong.wait_seconds("10.0.0.2") == 0
    seconds[0] = access.WRONG_SECONDS + 0.5
    assert wrong.wait_seconds("10.0.0.1") == 0


def test_who_has_a_whole_network_of_addresses_is_one_guesser() -> None:
    wrong = WrongTokens(lambda: 0.0)
    for number in range(access.WRONG_TOKENS):
        wrong.add(f"2001:db8::{number:x}", f"guess-{number}")
    assert wrong.wait_seconds("2001:db8::ffff") > 0
    assert wrong.wait_seconds("2001:db8:0:1::1") == 0
    assert wrong.wait_seconds("::ffff:10.0.0.1") == 0


def test_guesses_from_very_many_addresses_do_not_fill_the_memory() -> None:
    wrong = WrongTokens(lambda: 0.0)
    for number in range(3 * access.WRONG_ADDRESSES):
        wrong.add(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", "guess")
    assert len(wrong) == access.WRONG_ADDRESSES


# The file


def test_the_token_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "data/http-token"
    made = load_token(path)
    assert made.is_new
    assert len(made.value) >= 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_token(path) == (made.value, False)
    assert load_token(tmp_path / "other").value != made.value


def test_servers_that_start_at_once_agree_on_a_token(tmp_path: Path) -> None:
    found: list[access.Token] = []
    path = tmp_path / "http-token"
    starts = [threading.Thread(target=lambda: found.append(load_token(path))) for _ in range(8)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len({token.value for token in found}) == 1
    assert [token.is_new for token in found].count(True) == 1


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_token_that_others_can_read_is_closed_to_them_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    path = tmp_path / "http-token"
    token = load_token(path).value
    path.chmod(mode)
    with caplog.at_level(logging.WARNING):
        assert load_token(path) == (token, False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "readable by other users" in caplog.text
    assert token not in caplog.text


@pytest.mark.parametrize("content", [b"", b"short\n", b"a" * 31, b"two words " * 5, b"\xff" * 40])
def test_a_file_without_a_good_token_is_an_error_that_keeps_it(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "http-token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(CorruptFile, match="delete it"):
        load_token(path)
    assert path.read_bytes() == content
