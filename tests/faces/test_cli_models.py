"""Keys, models and setup in the terminal."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from tests.standins.chat_api import ChatApi
from turnleaf.settings import find_keys_path

KEY = "sk-very-secret-key"


@pytest.fixture
def chat() -> Iterator[ChatApi]:
    with ChatApi() as api:
        api.tells["/v1/models"] = {"data": [{"id": "qwen3"}, {"id": "small"}]}
        yield api


def use(patch: pytest.MonkeyPatch, url: str) -> None:
    """Answer as a model at an address."""
    patch.setenv("TURNLEAF_MODEL", "compatible:qwen3")
    patch.setenv("TURNLEAF_MODEL_URL", url)


def test_a_key_is_piped_in_kept_for_its_owner_alone_and_never_shown(cli: Cli) -> None:
    done = cli("keys", "set", "openai", stdin=f"{KEY}\n")
    assert (done.code, done.out) == (0, "")
    path = find_keys_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["openai"]["key"] == KEY
    listed = cli("keys", "list", "--json")
    assert listed.json == [
        {"provider": "openai", "from": "file", "address": "https://api.openai.com/v1"}
    ]
    shown = [done, listed, cli("keys", "list"), cli("models"), cli("doctor"), cli("config")]
    assert not any(KEY in one.out + one.err for one in shown)
    assert cli("keys", "remove", "openai").code == 0
    assert cli("keys", "list", "--json").json == []
    assert cli("keys", "remove", "openai").code == 3


def test_a_command_is_stored_and_not_what_it_prints(
    cli: Cli, chat: ChatApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{KEY}\nsecond line\n")
    command = f"{sys.executable} -c 'print(open(\"{secret}\").read())'"
    stored = cli("keys", "set", "compatible", "--url", chat.url, "--from-command", command)
    assert stored.code == 0
    assert stored.err.startswith("Stored for ")
    assert KEY not in find_keys_path().read_text()
    assert cli("keys", "list", "--json").json[0]["from"] == "command"
    use(monkeypatch, chat.url)
    chat.answer("Yes.")
    assert cli("ask", "hello").out == "Yes.\n"
    assert chat.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_command_that_prints_no_key_is_named(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("keys", "set", "compatible", "--url", chat.url, "--from-command", "false --loudly")
    use(monkeypatch, chat.url)
    failed = cli("ask", "hello")
    assert failed.code == 1
    assert "printed no key; run it yourself to see why: false --loudly" in failed.err
    assert chat.requests == []


def test_a_key_that_is_given_as_an_argument_is_refused_and_not_repeated(cli: Cli) -> None:
    failed = cli("keys", "set", "openai", KEY)
    assert (failed.code, failed.out) == (2, "")
    assert "run turnleaf keys set openai without the key" in failed.err
    assert KEY not in failed.err
    assert not find_keys_path().exists()


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (("set", "nobody"), KEY, "there is no provider nobody"),
        (("set", "openai"), "", "no key was given"),
        (("set", "openai"), "schlüssel", "contains a character that no key has"),
        (("set", "compatible"), KEY, "compatible needs an address; add --url"),
        (("set", "openai", "--url", "nowhere"), KEY, "must be an address"),
    ],
)
def test_a_bad_key_is_refused_and_nothing_is_stored(
    cli: Cli, arguments: tuple[str, ...], stdin: str, said: str
) -> None:
    failed = cli("keys", *arguments, stdin=stdin)
    assert failed.code != 0
    assert said in failed.err
    assert not find_keys_path().exists()


def test_the_environment_comes_before_the_file(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("keys", "set", "compatible", "--url", chat.url, stdin=KEY)
    monkeypatch.setenv("COMPATIBLE_API_KEY", "of-the-environment")
    use(monkeypatch, chat.url)
    chat.answer("Yes.")
    assert cli("ask", "hello").code == 0
    assert chat.requests[0].headers["authorization"] == "Bearer of-the-environment"
    assert cli("keys", "list", "--json").json[0]["from"] == "COMPATIBLE_API_KEY"


def test_a_key_is_not_sent_to_another_address(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("keys", "set", "compatible", "--url", chat.url, stdin=KEY)
    with ChatApi() as other:
        use(monkeypatch, other.url)
        other.answer("Yes.")
        assert cli("ask", "hello").code == 0
        assert "authorization" not in other.requests[0].headers


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ("{", 0o600, "is not a file of keys"),
        ('{"openai": {"key": "a"}}', 0o600, "is not a file of keys"),
        ("{}", 0o644, "chmod 600"),
    ],
)
def test_a_bad_file_of_keys_is_a_clear_error(cli: Cli, content: str, mode: int, said: str) -> None:
    path = find_keys_path()
    path.parent.mkdir(parents=True)
    path.write_text(content)
    path.chmod(mode)
    failed = cli("keys", "list")
    assert failed.code == 1
    assert said in failed.err
    assert cli("keys", "set", "openai", stdin=KEY).code == 1
    assert path.read_text() == content


def test_models_shows_what_was_found_and_where_words_go(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    shown = cli("models")
    assert "Ollama: ollama:qwen3, ollama:small" in shown.out
    assert "your words stay on this computer" in shown.out
    assert cli("models", "ollama").out == "ollama:qwen3\nollama:small\n"
    assert cli("models", "ollama", "--json").json == ["ollama:qwen3", "ollama:small"]
    failed = cli("models", "groq")
    assert failed.code == 1
    assert "there is no key for Groq" in failed.err


def test_setup_in_a_pipe_says_what_to_do_instead(cli: Cli) -> None:
    failed = cli("setup", stdin="1\n")
    assert failed.code == 2
    assert "turnleaf keys set NAME" in failed.err


def test_a_link_is_printed_for_the_server_that_was_started_last(cli: Cli) -> None:
    failed = cli("link")
    assert failed.code == 3
    assert "turnleaf serve" in failed.err


def test_setup_shows_what_was_found_and_saves_a_model_that_answers(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNLEAF_MODEL")
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    chat.answer("ready")
    with terminal("setup") as screen:
        screen.wait_for("Which one should answer?")
        assert f"1  Ollama ({chat.url})" in screen.output
        screen.type("ninety\n")
        screen.wait_for("Type one of the numbers")
        screen.type("1\n")
        screen.wait_for("Which model?")
        screen.type("small\n")
        assert screen.end() == 0
    assert "ollama:small has answered" in screen.output
    assert "your words stay on this computer" in screen.output
    assert chat.requests[0].body["model"] == "small"
    assert cli("config", "model", "--json").json["value"] == "ollama:small"


def test_setup_keeps_nothing_where_the_test_fails_and_shows_no_key(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNLEAF_MODEL")
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    chat.fail(404)
    with terminal("setup") as screen:
        screen.wait_for("Which one should answer?")
        screen.type("1\n")
        screen.wait_for("Which model?")
        screen.type("1\n")
        assert screen.end() == 1
    assert "does not have this model" in screen.output
    assert cli("config", "model", "--json").json["value"] is None


def test_setup_says_what_it_is_for_and_ends_with_q(cli: Cli) -> None:
    with terminal("setup") as screen:
        screen.wait_for("Which one should answer?")
        assert screen.output.index("Choose the model that answers") < screen.output.index("1  ")
        screen.type("q\n")
        assert screen.end() == 1
    assert "Nothing was changed." in screen.output


def test_setup_can_stay_without_a_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TURNLEAF_MODEL")
    with terminal("setup") as screen:
        screen.wait_for("Which one should answer?")
        screen.type("Stay without a model\n")
        assert screen.end() == 0
    assert "quotes what it remembers" in screen.output
    assert cli("config", "model", "--json").json["value"] == "recall"


def test_setup_takes_another_address(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNLEAF_MODEL")
    chat.answer("ready")
    with terminal("setup") as screen:
        screen.wait_for("Which one should answer?")
        screen.type("Another address (OpenAI-compatible)\n")
        screen.wait_for("Its address")
        screen.type(f"{chat.url}\n")
        screen.wait_for("Its key")
        screen.type("\n")
        screen.wait_for("Which model?")
        screen.type("small\n")
        assert screen.end() == 0
    assert cli("config", "model", "--json").json["value"] == "compatible:small"
    assert cli("config", "modelUrl", "--json").json["value"] == chat.url


def test_a_question_may_name_the_model_which_then_stays(
    cli: Cli, chat: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", chat.url)
    for arguments in (("--model", "ollama:small", "hello"), ("and now?",)):
        chat.answer("Yes.")
        assert cli("ask", *arguments).out == "Yes.\n"
    assert [one.body["model"] for one in chat.requests] == ["small", "small"]
    failed = cli("ask", "--model", "nonsense", "hello")
    assert failed.code == 2
    assert "is not a model name" in failed.err
    assert "remember" in cli("ask", "--model", "default", "what is it?").out
    assert len(chat.requests) == 2
