"""Attacks on files and servers that are not the memory's: traversal, locations, addresses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from tests.faces.http.attacking import (
    CANARY,
    LAMP,
    Target,
    assert_guarded,
    expect_problem,
    run_target,
)

CONFIG = "/api/memory/config"
UP = "../../../../../../../../../../"


@pytest.fixture(scope="module")
def one_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_target(tmp_path_factory.mktemp("paths")) as target:
        yield target


@pytest.fixture
def target(one_target: Target) -> Iterator[Target]:
    before = one_target.files()
    assert CANARY in one_target.canary.read_text("utf-8")
    yield one_target
    assert one_target.files() == before


def place(target: Target, text: str) -> str:
    """Fill in where the canary is."""
    path = str(target.canary)
    return (
        text.replace("CANARY", path)
        .replace("%2FCANARY", path.replace("/", "%2F"))
        .replace("ENCODED", path.replace("/", "%2F").lstrip("%2F"))
        .replace("DOUBLED", path.replace("/", "%252F"))
        .replace("BACK", path.replace("/", "\\"))
    )


WAYS = [
    "../CANARY",
    "..%2f..%2f..%2f..%2f..%2f..%2f..%2f..%2f..%2fENCODED",
    "%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/ENCODED",
    "..%252f..%252f..%252f..%252fDOUBLED",
    "%252e%252e%252fDOUBLED",
    "..\\..\\..\\..\\..\\..\\BACK",
    "..%5c..%5c..%5c..%5cENCODED",
    "%2FENCODED",
    "/CANARY",
    "//CANARY",
    "%c0%ae%c0%ae%c0%afENCODED",
    "%e0%80%ae%e0%80%ae/ENCODED",
    "..%c0%afENCODED",
    "..;/CANARY",
    ".%00./CANARY",
    "../CANARY%00.js",
    "..%2f..%2fpage.py",
    "../page.py",
    "....//....//CANARY",
    "~root/.profile",
    "file:%2F%2FCANARY",
    "%uff0e%uff0e%u2215CANARY",
    "．．/CANARY",
    "con",
    ".",
    "..",
    "%2e",
]


def escape(path: str) -> str:
    return path.encode("ascii", "backslashreplace").decode().replace("\\u", "%u")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("folder", ["/assets/", "/docs/"])
def test_no_path_leads_out_of_the_pages_folder(target: Target, folder: str, way: str) -> None:
    path = folder + escape(place(target, way))
    for method in ("GET", "HEAD"):
        answer = target.ask(method, path)
        assert answer.status == 404
        assert_guarded(answer)


@pytest.mark.parametrize("way", WAYS)
def test_no_key_of_a_conversation_leads_to_a_file(target: Target, way: str) -> None:
    path = "/api/conversations/" + escape(place(target, way))
    for method in ("GET", "DELETE"):
        answer = target.ask(method, path)
        assert answer.status in {404, 422}
        expect_problem(answer, answer.status)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("method", "body"), [("GET", b""), ("DELETE", b""), ("PATCH", {"content": "changed"})]
)
def test_no_id_of_a_fact_leads_to_a_file(
    target: Target, way: str, method: str, body: object
) -> None:
    answer = target.ask(method, "/api/memory/facts/" + escape(place(target, way)), body)
    assert answer.status in {404, 405, 422}
    expect_problem(answer, answer.status)


@pytest.mark.parametrize(
    "day",
    [
        *WAYS,
        "MEMORY",
        "../MEMORY",
        "2026-11-15/../../MEMORY",
        "2026-11-15%2f..%2f..%2fMEMORY",
        "2026-11-15%00",
        "2026-11-15.md",
        "2026-13-45",
        "0000-00-00",
        "99999-01-01",
        "-1",
        "１２３４-１１-１５",
        "2026-11-15T00:00:00",
    ],
)
def test_no_date_leads_to_a_file(target: Target, day: str) -> None:
    path = "/api/memory/daily/" + escape(place(target, day))
    for method, body in (("GET", b""), ("POST", {"entry": "forged"})):
        answer = target.ask(method, path, body)
        assert answer.status in {404, 405, 422}
        expect_problem(answer, answer.status)


def test_only_today_takes_a_note(target: Target) -> None:
    for day in (date(1, 1, 1), date(9999, 12, 31)):
        answer = target.ask("POST", f"/api/memory/daily/{day:%Y-%m-%d}", {"entry": "forged"})
        expect_problem(answer, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/CANARY",
        "//CANARY",
        "/..%2fCANARY",
        "/.git/config",
        "/.env",
        "/http-token",
        "/data/http-token",
        "/index.html",
        "/memory-config.json",
        "/api/memory/main/../../../CANARY",
        "/api/memory/changes.jsonl",
        "/api/../healthz",
        "/healthz%20",
        "/page/index.html",
        "/assets/",
        "/src/main.tsx",
        "/redoc",
        "/docs/oauth2-redirect",
    ],
)
def test_what_is_not_offered_is_not_found(target: Target, path: str) -> None:
    answer = target.ask("GET", place(target, path))
    expect_problem(answer, 404)


@pytest.mark.parametrize(
    "path", ["//evil.example/docs", "/\\evil.example/docs/", "//evil.example/healthz/", "/docs//"]
)
def test_no_address_leads_to_another_server(target: Target, path: str) -> None:
    answer = target.ask("GET", path)
    assert_guarded(answer)
    assert answer.status in {307, 404}
    assert "location" not in answer.headers


def test_the_description_is_found_below_any_prefix(target: Target) -> None:
    answer = target.ask("GET", "/docs")
    assert (answer.status, answer.headers["location"]) == (308, "docs/")


# Settings that name files


@pytest.mark.parametrize("key", ["memoryLocation", "conversationsLocation"])
@pytest.mark.parametrize(
    "value",
    [
        "CANARY",
        "../canary.md",
        "~/canary.md",
        "/etc/passwd",
        "/dev/stdin",
        "//server/share/memory.md",
        "file:///etc/passwd",
        "prompts/../../canary.md",
        "memories.json",
    ],
)
def test_which_files_are_used_is_not_decided_over_http(
    target: Target, key: str, value: str
) -> None:
    answer = target.ask("PUT", CONFIG, {key: place(target, value)})
    assert "turnleaf config" in expect_problem(answer, 403)
    assert target.ask("GET", CONFIG).json[key] is None


def test_a_path_hidden_among_other_settings_changes_none_of_them(target: Target) -> None:
    body = {"autoExtract": False, "memoryLocation": str(target.canary), "locked": []}
    expect_problem(target.ask("PUT", CONFIG, body), 403)
    assert target.ask("GET", CONFIG).json["autoExtract"] is True


@pytest.mark.parametrize(
    "body",
    [
        {"dataDir": "/"},
        {"TURNLEAF_MEMORY": "/etc/passwd"},
        {"memory_location": "/etc/passwd"},
        {"openaiApiKey": "sk-stolen"},
        {"openai_api_key": "sk-stolen"},
        {"__class__": "x"},
        {"__proto__": {"enabled": False}},
        {"": True},
        {"sources": {}},
        {"enabled\u0000": False},
        {"ENABLED": False},
    ],
    ids=str,
)
def test_a_setting_that_is_none_is_refused(target: Target, body: object) -> None:
    expect_problem(target.ask("PUT", CONFIG, body), 422)


# Settings that name servers (SSRF)


@pytest.mark.parametrize("key", ["modelUrl", "embeddingsUrl"])
@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/v1",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost:22",
        "http://localhost",
        "http://localhost:11434@evil.example/v1",
        "http://user:secret@localhost:11434/v1",
        "http://localhost:11434.evil.example/v1",
        "http://localhost.:11434/v1",
        "http://LOCALHOST.evil:11434",
        "http://[::1]:11434/v1",
        "http://[::ffff:127.0.0.1]:11434/v1",
        "http://127.1:11434/v1",
        "http://2130706433:11434/v1",
        "http://0177.0.0.1:11434/v1",
        "http://0x7f.0.0.1:11434/v1",
        "http://0.0.0.0:11434/v1",
        "http://127.0.0.2:11434/v1",
        "https://localhost:11434/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://api.openai.com#@evil.example/",
        "https://api.openai.com\\@evil.example/",
        "https://evil.example/https://api.openai.com",
        "https://api.openaı.com/v1",
        "https://api。openai。com/v1",
        "//api.openai.com/v1",
        "file:///etc/passwd",
        "gopher://localhost:11434/_",
        "unix:///var/run/docker.sock",
        "ftp://localhost:11434/",
        "javascript:alert(1)",
        "http://localhost:11434/v1?to=http://evil.example",
        "http://localhost:11434/%0d%0aHost:%20evil.example",
        "http://localhost:011434/v1",
        "http://localhost:77770/v1",
    ],
)
def test_no_other_server_is_asked_because_somebody_says_so_over_http(
    target: Target, key: str, address: str
) -> None:
    answer = target.ask("PUT", CONFIG, {key: address})
    assert "only the operator" in expect_problem(answer, 403)
    assert target.ask("GET", CONFIG).json[key] is None


@pytest.mark.parametrize(
    "address", ["http://localhost:11434/\r\nHost: evil.example", "http://a\u0000b", "", "\t", 1, []]
)
def test_an_address_that_is_none_is_refused(target: Target, address: object) -> None:
    answer = target.ask("PUT", CONFIG, {"modelUrl": address})
    expect_problem(answer, 422)


def test_no_key_is_ever_told(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "EMBEDDINGS_API_KEY", "SUPERVISOR_TOKEN")
    for name in keys[:3]:
        monkeypatch.setenv(name, f"secret-of-{name}")
    for path in (CONFIG, f"{CONFIG}/settings", "/api/status", "/v1/models", "/openapi.json"):
        answer = target.ask("GET", path)
        assert answer.status == 200
        assert "secret-of-" not in answer.text
        assert_guarded(answer)


def test_no_answer_about_memory_names_a_path_outside_the_folder(target: Target) -> None:
    for path in ("/api/memory/main", "/api/memory/search?q=%E5%B0%8F%E6%98%8E&explain=true"):
        answer = target.ask("GET", path)
        assert LAMP in answer.text
        assert str(target.home) not in answer.text
