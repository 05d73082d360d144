"""Models and keys over HTTP: what is found and listed, what is tested, and who may set a key."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from tests.faces.http.conftest import RunningServer, calling
from tests.standins.chat_api import ChatApi
from turnleaf.faces.operator_links import LIFE_SECONDS, make_link, redeem_link
from turnleaf.settings import CONFIG_NAME, find_keys_path
from turnleaf.store.conversation_models import read_chosen_model

KEY = "sk-very-secret-key"
TEST = "/api/models/test"


@pytest.fixture
def chat() -> Iterator[ChatApi]:
    with ChatApi() as api:
        api.tells["/v1/models"] = {
            "data": [{"id": "qwen3"}, {"id": "text-embedding-3"}, {"id": "b"}]
        }
        yield api


def by_name(client: httpx2.Client) -> dict[str, dict[str, object]]:
    return {one["name"]: one for one in client.get("/api/models").json()["providers"]}


def test_the_providers_are_listed_with_where_their_keys_come_from(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = client.get("/api/models").json()
    assert {"anthropic", "openai", "gemini", "groq", "ollama", "compatible"} <= set(by_name(client))
    assert found["current"] == {
        "name": "recall",
        "why": "set in the settings file",
        "url": None,
        "lack": None,
    }
    assert found["wordsGo"] == {
        "local": True,
        "to": [],
        "sentence": "your words stay on this computer",
    }
    assert found["operator"] is False
    assert by_name(client)["openai"]["key"] is None


def test_a_server_on_this_machine_is_found_with_its_models(
    serve: object,
    server: RunningServer,
    client: httpx2.Client,
    chat: ChatApi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    found = {one["provider"]: one for one in client.get("/api/models").json()["found"]}
    assert found["ollama"] == {
        "provider": "ollama",
        "label": "Ollama",
        "url": chat.url,
        "models": ["ollama:qwen3", "ollama:b"],
    }
    assert chat.asked == ["/v1/models"]


def test_only_the_operator_sets_and_removes_a_key(
    client: httpx2.Client, operator: httpx2.Client
) -> None:
    for answer in (
        client.put("/api/keys/openai", json={"key": KEY}),
        client.delete("/api/keys/openai"),
        client.post(TEST, json={"model": "recall"}),
        client.get("/api/models/compatible", params={"url": "http://localhost:1/v1"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "operator-only")
    stored = operator.put("/api/keys/openai", json={"key": f" {KEY}\n"})
    assert stored.json() == {
        "provider": "openai",
        "key": "file",
        "url": "https://api.openai.com/v1",
    }
    assert by_name(client)["openai"]["key"] == "file"
    assert operator.delete("/api/keys/openai").status_code == 204
    assert by_name(client)["openai"]["key"] is None
    assert operator.delete("/api/keys/openai").status_code == 404
    assert operator.put("/api/keys/nobody", json={"key": KEY}).status_code == 404


def test_a_key_is_shown_by_no_answer_and_lies_outside_the_data_folder(
    server: RunningServer, operator: httpx2.Client
) -> None:
    answers = [
        operator.put("/api/keys/groq", json={"key": KEY}),
        operator.get("/api/models"),
        operator.get("/api/status"),
        operator.get("/api/memory/config/settings"),
        operator.put("/api/keys/groq", json={"key": f"{KEY}\nX", "url": "no"}),
        operator.put("/api/keys/groq", json={"key": [KEY]}),
    ]
    assert not any(KEY in answer.text for answer in answers)
    path = find_keys_path()
    assert KEY in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert server.folder not in path.parents
    inside = [one for one in server.folder.rglob("*") if one.is_file()]
    assert not any(KEY.encode() in one.read_bytes() for one in inside)


def test_a_key_is_sent_to_the_address_that_it_was_set_for_and_to_no_other(
    server: RunningServer, operator: httpx2.Client, chat: ChatApi
) -> None:
    url = {"url": chat.url}
    assert operator.put("/api/keys/compatible", json={"key": KEY, **url}).json()["url"] == chat.url
    chat.answer("ready")
    test = {"model": "compatible:qwen3", **url}
    assert operator.post(TEST, json=test).json()["ok"] is True
    assert chat.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    with ChatApi() as other:
        other.answer("ready")
        test = {"model": "compatible:qwen3", "url": other.url}
        assert operator.post(TEST, json=test).json()["ok"] is True
        assert KEY not in str(other.requests[-1].headers)
        assert chat.url != other.url


def test_a_key_for_another_address_than_the_providers_is_confirmed(
    operator: httpx2.Client,
) -> None:
    sent = {"key": KEY, "url": "https://proxy.example/v1"}
    answer = operator.put("/api/keys/openai", json=sent)
    assert (answer.status_code, answer.json()["code"]) == (409, "unconfirmed-address")
    assert "your words and a key would be sent to" in answer.json()["detail"]
    assert operator.put("/api/keys/openai", json={**sent, "confirm": True}).status_code == 200


def test_the_models_of_a_provider_are_listed_by_the_names_that_the_setting_takes(
    operator: httpx2.Client, chat: ChatApi
) -> None:
    answer = operator.get("/api/models/lmstudio", params={"url": chat.url})
    assert answer.json() == {
        "provider": "lmstudio",
        "url": chat.url,
        "models": ["lmstudio:qwen3", "lmstudio:b"],
    }
    refused = operator.get("/api/models/openai")
    assert (refused.status_code, refused.json()["code"]) == (502, "model")
    assert "there is no key for OpenAI" in refused.json()["detail"]
    assert operator.get("/api/models/nobody").status_code == 404
    far = operator.get("/api/models/compatible", params={"url": "http://10.0.0.9/v1"})
    assert far.json()["code"] == "unconfirmed-address"


def test_the_models_of_a_provider_without_an_address_need_one(client: httpx2.Client) -> None:
    answer = client.get("/api/models/compatible")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert "needs an address" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("status", "kind", "english", "chinese"),
    [
        (401, "key-refused", "rejects the key", "拒絕"),
        (404, "model-unknown", "does not have this model", "沒有這個模型"),
        (402, "no-credit", "no credit left", "額度"),
        (429, "rate-limit", "wait a minute", "一分鐘"),
        (503, "server-fault", "has a problem", "狀況"),
        (413, "context-too-small", "context of this model is too small", "上下文"),
        (418, "unexpected", "check the address", "網址"),
    ],
)
def test_a_failed_test_names_its_kind_and_never_what_the_server_answered(
    operator: httpx2.Client, chat: ChatApi, status: int, kind: str, english: str, chinese: str
) -> None:
    asked = {"model": "compatible:qwen3", "url": chat.url}
    for language, words in (("en", english), ("zh-TW", chinese)):
        for _ in range(3):
            chat.fail(status, "root:x:0:0 secret of the house", retry_after=0)
        answer = operator.post(TEST, json=asked, headers={"accept-language": language})
        found = answer.json()
        assert (found["ok"], found["kind"]) == (False, kind)
        assert words in found["sentence"]
        assert "house" not in answer.text
        chat.replies.clear()


def test_a_model_without_a_key_and_a_server_that_is_not_there_are_told_apart(
    operator: httpx2.Client,
) -> None:
    no_key = operator.post(TEST, json={"model": "groq:llama"}).json()
    assert (no_key["ok"], no_key["kind"]) == (False, "no-key")
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        nobody = operator.post(TEST, json={"model": "compatible:m", "url": url})
    assert nobody.json()["kind"] == "unreachable"
    assert operator.post(TEST, json={"model": "nonsense"}).status_code == 422
    assert operator.post(TEST, json={"model": "recall"}).json()["ok"] is True


def test_words_go_to_the_provider_that_is_set(operator: httpx2.Client, chat: ChatApi) -> None:
    operator.put("/api/memory/config", json={"model": "groq:llama"})
    found = operator.get("/api/models").json()
    assert found["wordsGo"] == {"local": False, "to": ["Groq"], "sentence": "your words go to Groq"}
    assert found["current"]["lack"] == "GROQ_API_KEY is not set"
    chinese = operator.get("/api/models", headers={"accept-language": "zh-TW"}).json()
    assert "Groq" in chinese["wordsGo"]["sentence"]
    assert chinese["wordsGo"]["sentence"] != found["wordsGo"]["sentence"]
    local = {"model": "lmstudio:m", "modelUrl": chat.url}
    operator.put("/api/memory/config", json=local)
    assert operator.get("/api/models").json()["wordsGo"]["local"] is True


# The operator


def test_a_link_works_once_and_its_cookie_is_for_no_script_and_no_other_site(
    server: RunningServer,
) -> None:
    link = make_link(server.assistant.folder.operator_link, server.url)
    with calling(server) as client, calling(server) as other:
        assert client.get("/api/operator").json() == {"operator": False}
        answer = client.get(link)
        assert (answer.status_code, answer.headers["location"]) == (303, "../")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert client.get("/api/operator").json() == {"operator": True}
        spent = other.get(link)
        assert (spent.status_code, spent.json()["code"]) == (403, "operator-only")
        assert other.get("/api/operator").json() == {"operator": False}
        assert client.delete("/api/operator").status_code == 204
        client.cookies.set("turnleaf-operator", "guess")
        assert client.get("/api/operator").json() == {"operator": False}


def test_a_link_ends_with_its_time_and_when_a_new_one_is_made(tmp_path: Path) -> None:
    path = tmp_path / "link.json"
    first = make_link(path, "http://a", lambda: 0.0).rpartition("/")[2]
    second = make_link(path, clock=lambda: 0.0).rpartition("/")[2]
    assert not redeem_link(path, first, lambda: 1.0)
    assert not redeem_link(path, second, lambda: LIFE_SECONDS + 1.0)
    assert redeem_link(path, second, lambda: 1.0)
    assert not redeem_link(path, second, lambda: 1.0)
    assert second not in path.read_text()


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "Via"])
def test_what_a_proxy_forwards_is_not_the_operators(operator: httpx2.Client, name: str) -> None:
    assert operator.get("/api/operator").json() == {"operator": True}
    answer = operator.get("/api/operator", headers={name: "for=127.0.0.1"})
    assert answer.json() == {"operator": False}
    refused = operator.put("/api/keys/openai", json={"key": KEY}, headers={name: "x"})
    assert refused.json()["code"] == "operator-only"


def test_the_servers_token_is_the_operators(serve: object, tmp_path: Path) -> None:
    token = "t" * 40
    server = serve(token=token)  # type: ignore[operator]
    with calling(server) as client:
        headers = {"authorization": f"Bearer {token}"}
        assert client.get("/api/operator", headers=headers).json() == {"operator": True}
        assert client.put("/api/keys/xai", json={"key": KEY}, headers=headers).status_code == 200
        assert client.put("/api/keys/xai", json={"key": KEY}).status_code == 401


def test_a_damaged_file_of_keys_is_named_and_stays(
    operator: httpx2.Client, client: httpx2.Client
) -> None:
    path = find_keys_path()
    path.parent.mkdir(parents=True)
    path.write_text("{")
    path.chmod(0o600)
    for answer in (operator.put("/api/keys/xai", json={"key": KEY}), client.get("/api/models")):
        assert answer.status_code == 503
        assert str(path) in answer.json()["detail"]
        assert KEY not in answer.text
    assert path.read_text() == "{"


def test_chat_and_memory_need_no_link(client: httpx2.Client, server: RunningServer) -> None:
    assert client.post("/api/memory/facts", json={"content": "茶"}).status_code == 201
    assert client.put("/api/memory/config", json={"minNewMessages": 9}).status_code == 200
    assert json.loads((server.folder / CONFIG_NAME).read_text())["minNewMessages"] == 9


# A model for one conversation


def test_a_conversation_keeps_the_model_that_it_was_given(
    server: RunningServer, operator: httpx2.Client, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    url = f"{server.url}/api/chat"
    for body in ({"model": "ollama:qwen3"}, {}):
        chat.answer("好。")
        answer = operator.post(url, json={"message": "嗨", "key": "web:a", **body})
        assert '"model":"ollama:qwen3"' in answer.text.replace(": ", ":")
        assert "好。" in answer.text
    assert operator.get("/api/conversations/web:a").json()["model"] == "ollama:qwen3"
    assert [one.body["model"] for one in chat.requests] == ["qwen3", "qwen3"]
    other = operator.post(url, json={"message": "hello there", "key": "web:b"})
    assert '"recall"' in other.text
    back = operator.post(url, json={"message": "嗨", "key": "web:a", "model": "default"})
    assert '"recall"' in back.text
    assert operator.get("/api/conversations/web:a").json()["model"] is None


def test_only_the_operator_gives_a_conversation_another_provider(
    server: RunningServer, client: httpx2.Client, operator: httpx2.Client
) -> None:
    asked = {"message": "hello there", "key": "web:c"}
    refused = client.post("/api/chat", json={**asked, "model": "groq:llama"})
    assert (refused.status_code, refused.json()["code"]) == (403, "operator-only")
    assert client.post("/api/chat", json={**asked, "model": "recall"}).status_code == 200
    unknown = operator.post("/api/chat", json={**asked, "model": "nonsense"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "invalid")
    assert operator.get("/api/conversations/web:c").json()["model"] == "recall"
    operator.delete("/api/conversations/web:c")
    assert read_chosen_model(server.assistant.stores.records, "web:c") is None
