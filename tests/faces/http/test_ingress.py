"""The app in Home Assistant, as in its container: where it writes, and whom it believes."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.faces.http.attacking import HttpAnswer, assert_guarded, expect_problem, read
from tests.standins.home_assistant import (
    ADDRESSES,
    CORE,
    INGRESS,
    LAN,
    OTHER_APP,
    SUPERVISOR,
    USER,
    App,
    app_running,
)
from turnleaf import ConversationStore
from turnleaf.faces.http.access import Access, find_supervisor

LAMP = "客廳的燈叫做小明"
FACTS = "/api/memory/facts"
HOME = "home.example.org"
HEADERS = {
    "X-Ingress-Path": INGRESS,
    "X-Forwarded-Host": HOME,
    "X-Forwarded-Proto": "https",
    "X-Hass-Source": "core.ingress",
    **USER,
    "X-Remote-User-Display-Name": "小明",
}
OTHERS = (CORE, OTHER_APP, LAN)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    data = tmp_path_factory.mktemp("ingress") / "data"
    tokens = {"slack_bot_token": "xoxb-1-2-a", "slack_app_token": "xapp-1-A-2-a"}
    with app_running(data, model="recall", embeddings=False, **tokens) as app:
        yield app
        assert app.end() == 0


def ask(
    app: App,
    method: str = "GET",
    path: str = FACTS,
    *,
    since: str = SUPERVISOR,
    host: str = HOME,
    body: object = None,
    **headers: str,
) -> HttpAnswer:
    """Ask from an address, with just these headers; `_` in a header is `-`."""
    data = b"" if body is None else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if data:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in given.items()]
    with closing(socket.create_connection(("127.0.0.1", app.ports[since]), 60)) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        return read(connection, method)


# The app as it runs


def test_everything_lies_below_data(app: App) -> None:
    assert "data folder  /data" in app.said
    assert "sidebar of Home Assistant" in app.said
    said = {"message": f"記住{LAMP}", "key": "web:1"}
    assert ask(app, "POST", "/api/chat", body=said, **HEADERS).status == 200
    asked = {"prompt": "今天有什麼事？", "timing": "0 8 * * *"}
    assert ask(app, "POST", "/api/schedules", body=asked, **HEADERS).status == 201
    kept = ConversationStore(app.data / "conversations/conversations.db").messages("web:1")
    assert LAMP in kept[0].message.text
    assert LAMP in (app.data / "prompts/memory/MEMORY.md").read_text("utf-8")
    assert "今天有什麼事？" in (app.data / "schedules.json").read_text("utf-8")
    assert (app.data / "prompts/memory/daily").is_dir()
    assert (app.data / "http-token").stat().st_mode & 0o777 == 0o600


def test_a_bot_that_cannot_reach_slack_is_started_again_and_keeps_nobody_waiting(app: App) -> None:
    app.hear("turnleaf slack ended (1); restarting in 5 seconds")
    assert "Slack cannot be reached" in app.said
    app.hear("turnleaf slack ended (1); restarting in 10 seconds")
    assert ask(app, **HEADERS).status == 200


# Who is believed


def test_what_the_supervisor_passes_on_needs_no_token_under_any_name_of_home_assistant(
    app: App,
) -> None:
    for host in (HOME, "homeassistant.local:8123", "192.168.1.5:8123", "abc.ui.nabu.casa"):
        headers = {**HEADERS, "X-Forwarded-Host": host}
        page = ask(app, path="/", host=host, **headers)
        assert page.status == 200
        made = ask(app, "POST", host=host, body={"content": f"{LAMP} {host}"}, **headers)
        assert made.status == 201
        assert_guarded(made)
        assert f"{LAMP} {host}" in ask(app, host=host, **headers).text


@pytest.mark.parametrize("since", OTHERS)
@pytest.mark.parametrize("host", [HOME, "172.30.33.5:8099", "localhost"])
def test_whoever_forges_the_supervisors_headers_gets_nothing(
    app: App, since: str, host: str
) -> None:
    forged = {**HEADERS, "X-Forwarded-For": SUPERVISOR, "X-Real-IP": SUPERVISOR}
    for method, body in (("GET", None), ("POST", {"content": "forged"})):
        answer = ask(app, method, since=since, host=host, body=body, **forged)
        expect_problem(answer, 421 if host == HOME else 401)
    assert "forged" not in ask(app, **HEADERS).text


@pytest.mark.parametrize("since", ADDRESSES)
def test_whoever_has_the_token_is_answered_under_the_apps_own_address(app: App, since: str) -> None:
    bearer = {"Authorization": f"Bearer {app.token}"}
    assert ask(app, since=since, host="172.30.33.5:8099", **bearer).status == 200
    expect_problem(
        ask(app, since=since, host="172.30.33.5:8099", Authorization=f"Bearer {'x' * 43}"), 401
    )


def test_what_the_supervisor_asks_by_itself_is_believed_no_more_than_others(app: App) -> None:
    own = "172.30.33.5:8099"
    assert ask(app, path="/healthz", host=own).json == {"status": "ok"}
    expect_problem(ask(app, host=own, **USER), 401)
    expect_problem(ask(app, host=HOME, **USER), 421)


def test_outside_of_home_assistant_nobody_is_believed() -> None:
    assert find_supervisor({"SUPERVISOR_TOKEN": "given"}) == SUPERVISOR
    assert find_supervisor({"SUPERVISOR_TOKEN": ""}) is None
    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {"type": "http", "client": (SUPERVISOR, 1), "headers": headers}
    assert Access("0.0.0.0", 8099, "t" * 32, supervisor=SUPERVISOR).is_ingress(scope)  # noqa: S104
    assert not Access("0.0.0.0", 8099, "t" * 32).is_ingress(scope)  # noqa: S104
    assert not Access("127.0.0.1", 8099).is_ingress({**scope, "client": None})


# Pages from elsewhere, in the browser of somebody who has logged in to Home Assistant


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "https://home.example.org.evil.example",
        "https://home.example.org:8443",
        "https://example.org",
        "https://172.30.33.5:8099",
        f"http://{SUPERVISOR}",
    ],
)
def test_a_page_from_elsewhere_is_refused_through_ingress_too(app: App, origin: str) -> None:
    for method, body in (("GET", None), ("POST", {"content": "forged"}), ("OPTIONS", None)):
        expect_problem(ask(app, method, body=body, Origin=origin, **HEADERS), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(("mode", "dest"), [("cors", "empty"), ("navigate", "iframe")])
def test_a_page_from_elsewhere_that_says_where_it_is_from_is_refused(
    app: App, site: str, mode: str, dest: str
) -> None:
    said = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    expect_problem(ask(app, path="/", **HEADERS, **said), 403)
    expect_problem(ask(app, **HEADERS, **said), 403)


def test_the_page_itself_may_ask_whatever_a_proxy_made_of_the_name(app: App) -> None:
    own = {"Origin": f"https://{HOME}", "Sec-Fetch-Site": "same-origin"}
    assert ask(app, **HEADERS, **own).status == 200
    assert ask(app, host="homeassistant:8123", **HEADERS, **own).status == 200
    chain = {**HEADERS, "X-Forwarded-Host": f"{HOME}, 10.0.0.1"}
    assert ask(app, host=HOME, **chain, **own).status == 200
    expect_problem(ask(app, host="homeassistant:8123", **chain, **own), 403)


def test_only_home_assistant_may_show_the_page_in_a_frame(app: App) -> None:
    framed = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"}
    for path in ("/", "/docs/", FACTS):
        policy = ask(app, path=path, **HEADERS, **framed).headers["content-security-policy"]
        assert policy.count("frame-ancestors") == 1
        assert "frame-ancestors 'self'" in policy
    for since in OTHERS:
        answer = ask(app, path="/", since=since, host="172.30.33.5", **HEADERS)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    alone = ask(app, path="/", host="172.30.33.5")
    assert "frame-ancestors 'none'" in alone.headers["content-security-policy"]
