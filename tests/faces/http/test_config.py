"""Settings are read and changed over HTTP, and nothing reaches out by them."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from itertools import permutations

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import RunningServer, Serve, calling, operating
from tests.tables import each
from turnleaf.core.model_providers import PROVIDERS
from turnleaf.errors import SettingsError
from turnleaf.faces.http.models import USUAL, is_allowed, parse_origin
from turnleaf.llm.api import ApiModel
from turnleaf.llm.models import find_extractor, find_model
from turnleaf.settings import CONFIG_NAME, KEYS, SETTINGS, Settings

CONFIG = "/api/memory/config"
ALLOWED = "TURNLEAF_ALLOWED_URLS"


def read_settings(server: RunningServer) -> dict[str, object]:
    found: dict[str, object] = json.loads((server.folder / CONFIG_NAME).read_text("utf-8"))
    return found


def test_every_setting_is_given_by_its_key(visitor: httpx2.Client) -> None:
    config = visitor.get(CONFIG).json()
    assert set(config) == {setting.key for setting in SETTINGS} | {"locked"}
    assert (config["enabled"], config["autoExtract"], config["flushThreshold"]) == (
        True,
        True,
        0.75,
    )
    assert (config["model"], config["embeddings"], config["locked"]) == ("recall", False, [])


def test_no_key_is_given(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name.upper(), "sk-very-secret")
    with calling(serve()) as client:
        answers = [client.get(CONFIG), client.get(f"{CONFIG}/settings")]
        refused = client.put(CONFIG, json={"openaiApiKey": "sk-another"})
    assert refused.status_code == 422
    assert not any("secret" in answer.text for answer in answers)


def test_a_setting_is_described(visitor: httpx2.Client) -> None:
    described = {one["key"]: one for one in visitor.get(f"{CONFIG}/settings").json()["settings"]}
    assert list(described) == [setting.key for setting in SETTINGS]
    assert described["autoExtract"] == {
        "key": "autoExtract",
        "value": True,
        "default": True,
        "from": "default",
        "locked": False,
        "variable": "MEMORY_AUTO_EXTRACT",
        "meaning": "whether facts are learned from conversations automatically",
        "kind": "switch",
        "least": None,
        "remote": True,
    }
    assert described["model"]["from"] == "file"
    kinds = {key: one["kind"] for key, one in described.items()}
    assert kinds["memoryMaxItems"] == "number"
    assert (kinds["flushThreshold"], kinds["modelUrl"]) == ("share", "text")
    assert {key for key, one in described.items() if not one["remote"]} == {
        "memoryLocation",
        "conversationsLocation",
    }


def test_some_settings_are_changed_and_the_others_stay(
    server: RunningServer, client: httpx2.Client
) -> None:
    change = {"autoExtract": False, "flushThreshold": 0.5, "memoryMaxItems": 7}
    answer = client.put(CONFIG, json=change)
    assert answer.status_code == 200
    assert answer.json() == client.get(CONFIG).json()
    assert {key: answer.json()[key] for key in change} == change
    assert read_settings(server) == {"model": "recall", "embeddings": False, **change}


def test_a_change_holds_at_once(server: RunningServer, client: httpx2.Client) -> None:
    client.put(CONFIG, json={"memoryMaxItems": 1, "autoExtract": False})
    assert client.post("/api/memory/facts", json={"content": "茶"}).status_code == 201
    assert client.post("/api/memory/facts", json={"content": "咖啡"}).status_code == 409
    assert server.assistant.settings.learns is False


def test_null_lets_a_setting_have_its_default_again(
    server: RunningServer, client: httpx2.Client
) -> None:
    client.put(CONFIG, json={"memoryMaxItems": 7, "minNewMessages": 9})
    answer = client.put(CONFIG, json={"memoryMaxItems": None, "minNewMessages": 8}).json()
    assert (answer["memoryMaxItems"], answer["minNewMessages"]) == (100, 8)
    assert "memoryMaxItems" not in read_settings(server)


def test_an_answer_can_be_sent_back_and_changes_nothing(
    shared_server: RunningServer, visitor: httpx2.Client
) -> None:
    before = read_settings(shared_server)
    config = visitor.get(CONFIG).json()
    assert visitor.put(CONFIG, json=config).json() == config
    assert read_settings(shared_server) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flushTreshold": 0.5}, 'did you mean "flushThreshold"?'),
        ({"bogus": 1}, 'there is no setting "bogus"'),
        ({"MEMORY_ENABLED": False}, 'did you mean "enabled"?'),
        ({"minNewMessages": 0}, "minNewMessages must be a whole number of at least 1"),
        ({"minNewMessages": True}, "minNewMessages must be a whole number"),
        ({"minNewMessages": 1.5}, "minNewMessages must be a whole number"),
        ({"claudeTimeoutMs": 2**53}, "claudeTimeoutMs must be at most 9007199254740991"),
        ({"claudeTimeoutMs": 10**400}, "claudeTimeoutMs must be at most"),
        ({"flushThreshold": 10**400}, "flushThreshold must be a number from 0 to 1"),
        ({"flushThreshold": 1.01}, "flushThreshold must be a number from 0 to 1"),
        ({"enabled": "perhaps"}, "enabled must be on or off"),
        ({"enabled": ["on"]}, "enabled must be on or off"),
        ({"model": "evil"}, "model must be"),
        ({"model": {"a": 1}}, "model must be"),
        ({"embeddingsModel": "a\nb"}, "embeddingsModel must be"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_changed(
    shared_server: RunningServer, visitor: httpx2.Client, change: dict[str, object], said: str
) -> None:
    before = read_settings(shared_server)
    answer = visitor.put(CONFIG, json={"memoryMaxItems": 5, **change})
    assert (answer.status_code, answer.json()["code"]) == (422, "settings")
    assert said in answer.json()["detail"]
    assert read_settings(shared_server) == before


@pytest.mark.parametrize("body", [b"[]", b'"on"', b"null", b"{", b'{"flushThreshold": NaN}'])
def test_what_is_no_object_of_settings_is_refused(
    shared_server: RunningServer, visitor: httpx2.Client, body: bytes
) -> None:
    before = read_settings(shared_server)
    answer = visitor.put(CONFIG, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert read_settings(shared_server) == before


def test_what_the_environment_fixes_is_locked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "50")
    server = serve()
    with calling(server) as client:
        assert client.get(CONFIG).json()["locked"] == ["memoryMaxItems"]
        refused = client.put(CONFIG, json={"memoryMaxItems": 60, "minNewMessages": 9})
        assert (refused.status_code, refused.json()["code"]) == (409, "locked-setting")
        assert "MEMORY_MAX_ITEMS" in refused.json()["detail"]
        assert client.put(CONFIG, json={"memoryMaxItems": None}).status_code == 409
        assert "minNewMessages" not in read_settings(server)
        same = client.put(CONFIG, json={"memoryMaxItems": 50, "minNewMessages": 9})
        assert same.status_code == 200
        assert same.json()["minNewMessages"] == 9


@pytest.mark.parametrize("key", ["memoryLocation", "conversationsLocation"])
def test_no_path_is_changed_over_http(
    shared_server: RunningServer, visitor: httpx2.Client, key: str
) -> None:
    before = read_settings(shared_server)
    answer = visitor.put(CONFIG, json={key: "/etc/passwd", "minNewMessages": 9})
    assert (answer.status_code, answer.json()["code"]) == (403, "fixed-setting")
    assert "cannot be changed here" in answer.json()["detail"]
    assert read_settings(shared_server) == before
    assert visitor.put(CONFIG, json={key: None}).status_code == 200


WORDS_GO: list[dict[str, object]] = [
    {"model": "ollama:m"},
    {"extractModel": "rules"},
    {"modelUrl": "http://localhost:11434/v1"},
    {"embeddingsUrl": "http://localhost:11434/v1"},
    {"embeddingsModel": "m"},
]


@pytest.mark.parametrize("change", WORDS_GO)
def test_where_words_go_is_changed_by_the_operator_only(
    server: RunningServer, client: httpx2.Client, operator: httpx2.Client, change: dict[str, object]
) -> None:
    before = read_settings(server)
    answer = client.put(CONFIG, json={**change, "minNewMessages": 9})
    assert (answer.status_code, answer.json()["code"]) == (403, "operator-only")
    assert "turnleaf link" in answer.json()["detail"]
    assert read_settings(server) == before
    assert operator.put(CONFIG, json=change).status_code == 200


@pytest.mark.parametrize("key", ["modelUrl", "embeddingsUrl"])
def test_a_server_elsewhere_is_confirmed_once(
    server: RunningServer, operator: httpx2.Client, key: str
) -> None:
    before = read_settings(server)
    change = {key: "http://10.0.0.9:8000/v1", "minNewMessages": 9}
    answer = operator.put(CONFIG, json=change)
    assert (answer.status_code, answer.json()["code"]) == (409, "unconfirmed-address")
    assert "your words would be sent to" in answer.json()["detail"]
    assert read_settings(server) == before
    assert operator.put(CONFIG, json={**change, "confirm": True}).status_code == 200
    again = {key: "http://10.0.0.9:8000/v2"}
    assert operator.put(CONFIG, json=again).status_code == 200


@pytest.mark.parametrize("port", [1234, 8080, 9999])
def test_a_server_on_this_machine_needs_no_question(operator: httpx2.Client, port: int) -> None:
    change = {"model": "compatible:m", "modelUrl": f"http://localhost:{port}/v1"}
    assert operator.put(CONFIG, json=change).status_code == 200


def test_what_is_no_address_is_refused(server: RunningServer, operator: httpx2.Client) -> None:
    before = read_settings(server)
    answer = operator.put(CONFIG, json={"modelUrl": "http://a@b/v1", "confirm": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "settings")
    assert read_settings(server) == before


def test_a_server_may_be_named_that_is_usual_allowed_or_set(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOWED, "http://192.168.1.5:11434, https://models.example")
    monkeypatch.setenv("EMBEDDINGS_URL", "http://10.0.0.7:8080/v1")
    with operating(serve()) as client:
        for url in ("http://localhost:11434/v1", "https://models.example/v1"):
            assert client.put(CONFIG, json={"modelUrl": url}).json()["modelUrl"] == url
        same = {"embeddingsUrl": "http://10.0.0.7:8080/v1"}
        assert client.put(CONFIG, json=same).status_code == 200
        assert client.put(CONFIG, json={"modelUrl": "http://10.0.0.7:8080"}).status_code == 409
        assert client.put(CONFIG, json={"modelUrl": None}).json()["modelUrl"] is None


CHOICES: list[dict[str, object]] = [
    {"model": "openai:o"},
    {"model": "ollama:m"},
    {"extractModel": "anthropic:a"},
    {"modelUrl": "http://localhost:11434/v1"},
    {"modelUrl": "https://api.openai.com/v1"},
]


def find_misdirected_keys(settings: Settings) -> set[tuple[str, str]]:
    """Return which provider's key would go to which server of another."""
    with_url = settings if settings.model else replace(settings, model="recall")
    asked = [find_model(with_url, environ={}), find_extractor(with_url, environ={})]
    pairs = {(one.name.partition(":")[0], one.url) for one in asked if isinstance(one, ApiModel)}
    return {
        (kind, url)
        for kind, url in pairs
        if PROVIDERS[kind].needs_key
        and not is_allowed(url, environ={}, own=(PROVIDERS[kind].url or "",))
    }


def test_no_provider_is_asked_at_the_server_of_another_in_whichever_order_both_are_set(
    server: RunningServer, operator: httpx2.Client
) -> None:
    refusals = 0
    for first, second in permutations(CHOICES, 2):
        operator.put(CONFIG, json={"model": None, "extractModel": None, "modelUrl": None})
        for choice in (first, second, {**first, **second}):
            before = read_settings(server)
            answer = operator.put(CONFIG, json=choice)
            assert find_misdirected_keys(server.assistant.settings) == set(), (first, second)
            if answer.status_code != 200:
                refusals += 1
                assert (answer.status_code, answer.json()["code"]) == (409, "unconfirmed-address")
                assert "your words and a key" in answer.json()["detail"]
                assert read_settings(server) == before
    assert refusals


def test_a_providers_own_server_and_an_allowed_one_may_be_named(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOWED, "http://192.168.1.5:8000")
    pairs = [
        ("ollama:qwen3", "http://localhost:11434/v1"),
        ("openai:gpt", "https://api.openai.com/v1"),
        ("anthropic:claude", "https://api.anthropic.com"),
        ("openai:local", "http://192.168.1.5:8000/v1"),
    ]
    with operating(serve()) as client:
        for model, url in pairs:
            answer = client.put(CONFIG, json={"model": model, "modelUrl": url})
            assert (answer.json()["model"], answer.json()["modelUrl"]) == (model, url)


def test_a_server_that_its_owner_set_goes_on_with_other_models_of_the_same_provider_only(
    server: RunningServer, operator: httpx2.Client
) -> None:
    own = {"model": "openai:a", "modelUrl": "http://10.0.0.7:8000/v1"}
    server.assistant.folder.config.write_text(json.dumps(own), "utf-8")
    assert operator.put(CONFIG, json={"model": "openai:b"}).status_code == 200
    assert operator.put(CONFIG, json={"modelUrl": "http://10.0.0.7:8000/v2"}).status_code == 200
    assert operator.put(CONFIG, json={"model": "anthropic:c"}).status_code == 409
    assert operator.put(CONFIG, json={"model": "ollama:d"}).status_code == 200
    assert operator.put(CONFIG, json={"model": "openai:b"}).status_code == 409
    assert operator.put(CONFIG, json={"model": "openai:b", "modelUrl": None}).status_code == 200


def test_a_key_for_embeddings_is_not_sent_to_whoever_has_ollamas_port(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = {"embeddingsUrl": "http://localhost:11434/v1"}
    server = serve()
    with operating(server) as client:
        assert client.put(CONFIG, json=local).status_code == 200
        assert client.put(CONFIG, json={"embeddingsUrl": None}).status_code == 200
    monkeypatch.setenv("EMBEDDINGS_API_KEY", "sk-of-a-test")
    with operating(serve()) as client:
        assert client.put(CONFIG, json=local).json()["code"] == "unconfirmed-address"
        openai = {"embeddingsUrl": "https://api.openai.com/v1"}
        assert client.put(CONFIG, json=openai).status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        *USUAL,
        "https://api.openai.com/v1",
        "https://API.OpenAI.com:443/v1/",
        "http://localhost:11434/",
        "http://localhost",
        "http://127.0.0.1:1234/v1",
        "https://[::1]:9999",
    ],
)
def test_a_usual_server_is_allowed(url: str) -> None:
    assert is_allowed(url, environ={})


@each(
    "url",
    [
        "http://localhost:11434@evil.example",
        "http://localhost:11434@evil.example/v1",
        "http://user:secret@localhost:11434",
        "http://evil.example#http://localhost:11434",
        "http://evil.example/http://localhost:11434",
        "http://localhost:11434#@evil.example",
        "http://localhost:11434?@evil.example",
        "http://localhost:11434\\@evil.example",
        "http://localhost:11434.evil.example",
        "http://localhost.:11434",
        "http://localhost.evil.example:11434",
        "http://evil-localhost:11434",
        "http://localhost:011434",
        "http://localhost:1143４",
        "http://localhost:65536",
        "http://localhost:",
        "http://api.openai.com",
        "https://api.openai.com:80",
        "https://api.openai.com.",
        "https://api%2eopenai.com",
        "https://api.openai.com%2f@evil.example",
        "https://api.openai.com/%2e%2e/",
        "https://api。openai.com",
        "https://api.openаi.com",
        "http://127.1:11434",
        "http://2130706433:11434",
        "http://0x7f.0.0.1:11434",
        "http://0177.0.0.1:11434",
        "http://[::ffff:127.0.0.1]:11434",
        "http://[fe80::1%25eth0]:11434",
        "http://0.0.0.0:11434",
        "http:/localhost:11434",
        "http:localhost:11434",
        "//localhost:11434",
        "localhost:11434",
        "file:///etc/passwd",
        "gopher://localhost:11434",
        "javascript:alert(1)",
        " http://localhost:11434",
        "http://localhost:11434 ",
        "http://local\thost:11434",
        "http://localhost:11434/\r\nX-Evil: 1",
        "http://localhost:11434/a b",
        "",
        "http://",
    ],
)
def test_an_address_that_may_lead_elsewhere_is_not_allowed(url: str) -> None:
    assert not is_allowed(url, environ={})


def test_what_is_allowed_here_is_allowed_with_its_port_and_scheme_only() -> None:
    environ = {ALLOWED: "http://192.168.1.5:8080/ignored, http://[::1]:11434,,"}
    assert is_allowed("http://192.168.1.5:8080/v1", environ=environ)
    assert is_allowed("http://[::1]:11434/v1", environ=environ)
    assert not is_allowed("http://192.168.1.5/v1", environ=environ)
    assert not is_allowed("https://192.168.1.5:8080/v1", environ=environ)


def test_a_bad_address_among_the_allowed_is_named() -> None:
    with pytest.raises(SettingsError, match=r"TURNLEAF_ALLOWED_URLS must be .*, not 'everything'"):
        is_allowed("http://localhost:11434", environ={ALLOWED: "everything"})


def test_a_present_address_that_cannot_be_read_allows_nothing() -> None:
    assert parse_origin("not an address") is None
    assert not is_allowed("also none", "not an address", environ={})


def test_two_changes_at_once_are_both_kept(server: RunningServer, client: httpx2.Client) -> None:
    numbers = [setting for setting in SETTINGS if setting.kind == "number"]

    def put(key: str) -> None:
        client.put(CONFIG, json={key: 3}).raise_for_status()

    threads = [threading.Thread(target=put, args=[setting.key]) for setting in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settings = Settings.load(server.folder, {})
    assert [getattr(settings, setting.field) for setting in numbers] == [3] * len(numbers)


def test_a_damaged_file_is_no_fault_of_the_request_and_stays(
    server: RunningServer, client: httpx2.Client
) -> None:
    (server.folder / CONFIG_NAME).write_text("{", "utf-8")
    for answer in (client.get(CONFIG), client.put(CONFIG, json={"enabled": False})):
        assert answer.status_code == 503
        assert "correct it or remove it" in answer.json()["detail"]
    assert (server.folder / CONFIG_NAME).read_text("utf-8") == "{"


def test_the_command_line_and_the_server_change_the_same_settings(
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    client.put(CONFIG, json={"minNewMessages": 9})
    assert cli.fork("config", "minNewMessages", "--json").json["value"] == 9
    assert cli.fork("config", "minNewMessages", "11").code == 0
    assert client.get(CONFIG).json()["minNewMessages"] == 11
