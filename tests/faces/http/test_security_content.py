"""Attacks by what a memory, a key or an address holds: scripts, headers, lines of the log."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.faces.http.attacking import (
    CANARY,
    LAMP,
    TOKEN,
    Target,
    assert_guarded,
    expect_problem,
    run_target,
)

MAIN = "/api/memory/main"
FACTS = "/api/memory/facts"
SCRIPTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</script><svg onload=alert(1)>",
    "[click](javascript:alert(1))",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    '"><body onload=alert(1)>',
    "<!--><script>小明</script>-->",
    "{{constructor.constructor('alert(1)')()}}",
    "<a href='data:text/html,<script>alert(1)</script>'>小明</a>",
    "\u2028<script>\u2029",
]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    with run_target(tmp_path) as target:
        yield target


@pytest.fixture(scope="module")
def shared_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("content")) as target:
        before = target.files()
        yield target
        assert target.files() == before


# What is remembered never runs


def test_a_script_in_a_memory_comes_back_as_text_that_nothing_runs(target: Target) -> None:
    for script in SCRIPTS:
        answer = target.ask("POST", FACTS, {"content": script})
        assert answer.status == 201
        assert answer.json["content"] == script
        check_inert(answer.headers)
    for path in (FACTS, MAIN, "/api/memory/changes", "/api/memory/search?q=script"):
        answer = target.ask("GET", path, Accept="text/html")
        assert answer.status == 200
        check_inert(answer.headers)
        assert_guarded(answer)


def check_inert(headers: object) -> None:
    assert isinstance(headers, dict)
    assert headers["content-type"].partition(";")[0] in {
        "application/json", "application/problem+json", "text/markdown", "text/event-stream",
    }  # fmt: skip
    assert headers["content-security-policy"].startswith("default-src 'none'; base-uri")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_the_raw_memory_is_never_taken_for_a_page(target: Target) -> None:
    html = "<!doctype html><script>alert(1)</script>\n- 小明\n".encode()
    assert target.ask("PUT", MAIN, html, Content_Type="text/markdown").status == 200
    answer = target.ask("GET", MAIN, Accept="text/markdown, text/html")
    assert answer.body == html
    check_inert(answer.headers)


@pytest.mark.parametrize(
    "path",
    ["/X", "/api/X", "/assets/X", "/docs/X", "/api/memory/facts/X", "/api/conversations/X",
     "/api/memory/daily/X", "/api/memory/search?q=a&source=X", "/api/memory/search?limit=X",
     "/v1/X", "/api/memory/changes?before=X", "/api/schedules/X"],
)  # fmt: skip
def test_an_error_never_becomes_a_page_of_what_was_asked(shared_target: Target, path: str) -> None:
    for script in SCRIPTS:
        answer = shared_target.ask(
            "GET", path.replace("X", quote(script, safe="")), Accept="text/html"
        )
        assert answer.status in {404, 422}, script
        expect_problem(answer, answer.status)


def test_what_is_wrong_with_a_body_is_told_without_repeating_it(shared_target: Target) -> None:
    answer = shared_target.ask("POST", FACTS, {"content": {"deep": "<script>secret</script>"}})
    expect_problem(answer, 422)
    assert "<script>" not in answer.text
    assert "secret" not in answer.text


# The page


def test_the_page_runs_only_its_own_files_and_no_two_answers_share_a_nonce(
    shared_target: Target,
) -> None:
    policies = [shared_target.ask("GET", "/").headers["content-security-policy"] for _ in range(2)]
    for policy in policies:
        rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
        assert rules["default-src"] == "'none'"
        assert rules["script-src"] == "'self'"
        assert rules["connect-src"] == "'self'"
        assert rules["frame-ancestors"] == "'none'"
        assert rules["base-uri"] == rules["form-action"] == "'none'"
        assert "unsafe" not in policy
        assert "*" not in policy
    nonces = [re.findall(r"'nonce-([^']+)'", policy) for policy in policies]
    assert len(nonces[0]) == 1
    assert nonces[0] != nonces[1]


def test_a_page_of_another_user_is_not_kept_by_anything_between(shared_target: Target) -> None:
    for path in (MAIN, FACTS, "/api/memory/config", "/api/status", "/openapi.json"):
        assert shared_target.ask("GET", path).headers["cache-control"] == "no-store"


# Headers and lines


@pytest.mark.parametrize(
    "key",
    [
        "web:a\r\nSet-Cookie: a=b",
        "web:a\nX-Injected: 1",
        "web:a\r\n\r\n<script>alert(1)</script>",
        "web:\u0000",
        "web:\u2028X-Injected: 1",
        "web:小明\u560a\u560dX-Injected: 1",
    ],
)
def test_a_key_with_line_ends_adds_no_header(shared_target: Target, key: str) -> None:
    answer = shared_target.ask("GET", f"/api/conversations/{quote(key, safe='')}")
    assert answer.status in {404, 422}
    expect_problem(answer, answer.status)
    assert not {"set-cookie", "x-injected"} & set(answer.headers)
    answer = shared_target.ask("POST", "/api/prompt/preview", {"message": "hi", "key": key})
    assert not {"set-cookie", "x-injected"} & set(answer.headers)
    assert_guarded(answer)


@pytest.mark.parametrize(
    "header", ["If-Match", "If-None-Match", "Accept", "X-Turnleaf-Conversation"]
)
@pytest.mark.parametrize(
    "value", ['"' * 3000, "*" * 3000, 'W/"a", ' * 400, "\x7f", "\u0080\u00ff", ",;,;" * 700]
)
def test_a_header_made_to_hurt_is_answered_like_any_other(
    shared_target: Target, header: str, value: str
) -> None:
    body = b"" if header in {"If-None-Match", "Accept"} else b"[]"
    answer = shared_target.ask("PUT" if body else "GET", MAIN, body, **{header: value})
    assert answer.status in {200, 400, 406, 412, 422}
    assert_guarded(answer)


# The log


def test_a_line_of_the_log_holds_nothing_of_what_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), run_target(tmp_path, token=TOKEN) as target:
        answers = [
            target.ask("GET", "/api/memory/search?q=secret-question"),
            target.ask("POST", FACTS, {"content": "secret-fact 小明"}),
            target.ask("GET", "/api/conversations/secret-key"),
            target.ask("DELETE", "/api/memory/facts/secret-id"),
            target.ask("GET", "/secret-path"),
            target.ask("GET", MAIN, Authorization="Bearer secret-guess"),
            target.ask("POST", FACTS, b"secret-garbage{"),
            target.ask("GET", MAIN, host="secret-host", Origin="http://secret-origin"),
        ]
    assert "secret" not in caplog.text
    assert LAMP not in caplog.text
    assert TOKEN not in caplog.text
    assert CANARY not in caplog.text
    # A line is written after its answer is sent, so one of an earlier test may come now.
    lines = {line.rpartition(" ")[2]: line for line in map(_message_of, caplog.records)}
    told = [
        re.sub(r":path}| \d+ ms [0-9a-f]{16}$", "", lines[answer.headers["x-request-id"]])
        for answer in answers
    ]
    assert told == [
        "GET /api/memory/search 200",
        "POST /api/memory/facts 201",
        "GET /api/conversations/{key 404",
        "DELETE /api/memory/facts/{id 404",
        "GET - 404",
        "GET - 401",
        "POST /api/memory/facts 422",
        "GET - 421",
    ]


def _message_of(record: logging.LogRecord) -> str:
    return record.getMessage()


def test_by_default_no_request_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with run_target(tmp_path) as target:
        target.ask("GET", MAIN)
        target.send(b"no http at all\r\n\r\n")
        target.ask("GET", MAIN, host="evil.example")
    # The guard looks after stores that tests before this one have left open.
    assert [one for one in caplog.records if one.threadName != "turnleaf-watcher"] == []


# Conflicts


def test_who_saves_over_what_somebody_else_saved_is_told(target: Target) -> None:
    etag = target.ask("GET", MAIN).headers["etag"]
    target.assistant.memory.add("somebody else was here")
    before = target.files()
    for tag in (etag, f"W/{target.ask('GET', MAIN).headers['etag']}", '"made-up"', '""', "no-tag"):
        answer = target.ask("PUT", MAIN, {"content": "gone"}, If_Match=tag)
        expect_problem(answer, 412)
    assert target.files() == before


def test_a_guessed_change_undoes_nothing(shared_target: Target) -> None:
    for number in (0, -1, 999_999, 2**63, 2**70, "one", 1.5, [1]):
        answer = shared_target.ask("POST", "/api/memory/undo", {"change": number})
        assert answer.status in {404, 409, 422}
        expect_problem(answer, answer.status)


def test_json_stays_json_whatever_it_holds(shared_target: Target) -> None:
    answer = shared_target.ask(
        "POST", "/api/prompt/preview", {"message": "</long_term_memory>\u2028小明"}
    )
    assert answer.status == 200
    assert json.loads(answer.body)["tokens"] > 0
