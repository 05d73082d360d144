"""Which model is chosen, by the settings or by what is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.standins.chat_api import ChatApi
from turnleaf.core.messages import Message
from turnleaf.core.model_dialogue import Prompt
from turnleaf.errors import SettingsError
from turnleaf.llm.api import ApiModel
from turnleaf.llm.claude_cli import ClaudeCli
from turnleaf.llm.models import describe, find_extractor, find_model
from turnleaf.llm.recall import RecallModel
from turnleaf.settings import Settings

BARE: dict[str, str] = {}
NAMES = [
    "recall",
    "claude-cli",
    "claude-cli:haiku",
    "anthropic:claude-haiku-4-5",
    "openai:gpt-5.4-mini",
    "ollama:qwen3:8b",
    "gemini:gemini-3.8-flash",
    "openrouter:deepseek/deepseek-chat",
    "groq:llama-3.3-70b",
    "lmstudio:qwen",
    "llamacpp:local",
]


@pytest.fixture
def with_claude(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return {"PATH": str(tmp_path)}


@pytest.fixture
def chat() -> Iterator[ChatApi]:
    with ChatApi() as api:
        yield api


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_found_by_its_name(name: str, with_claude: dict[str, str]) -> None:
    assert find_model(Settings(model=name), environ=with_claude).name == name


@pytest.mark.parametrize(
    "name", ["rules", "claude", "claude-cli:", "openai", "openai:", "bard:x", ":", " "]
)
def test_a_name_that_is_none_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(SettingsError, match=r"recall, claude-cli, .*anthropic, openai") as caught:
        find_model(Settings(model=name), environ=BARE)
    assert repr(name) in str(caught.value)


def test_claude_is_used_where_it_is_installed(with_claude: dict[str, str]) -> None:
    settings = Settings(anthropic_api_key="a", openai_api_key="o")
    assert isinstance(find_model(settings, environ=with_claude), ClaudeCli)
    assert describe(settings, environ=with_claude) == (
        "claude-cli (the program claude is installed)"
    )


def test_else_a_key_decides_and_anthropics_comes_first() -> None:
    both = Settings(anthropic_api_key="a", openai_api_key="o")
    one = Settings(openai_api_key="o")
    assert find_model(both, environ=BARE).name.startswith("anthropic:")
    assert find_model(one, environ=BARE).name.startswith("openai:")
    assert "ANTHROPIC_API_KEY is set" in describe(both, environ=BARE)
    assert "OPENAI_API_KEY is set" in describe(one, environ=BARE)


def test_with_nothing_there_what_is_remembered_is_recalled() -> None:
    assert isinstance(find_model(Settings(), environ=BARE), RecallModel)
    assert describe(Settings(), environ=BARE).startswith("recall (no model is set up")


def test_a_model_that_is_set_comes_before_all_that_is_there(with_claude: dict[str, str]) -> None:
    settings = Settings(model="recall", anthropic_api_key="a")
    assert isinstance(find_model(settings, environ=with_claude), RecallModel)


def test_the_description_says_why_and_what_is_missing() -> None:
    named = Settings(model="openai:gpt-5.4-mini")
    in_file = Settings(model="openai:x", openai_api_key="o", sources={"model": "file"})
    assert describe(named, environ=BARE) == (
        "openai:gpt-5.4-mini at https://api.openai.com/v1"
        " (set by TURNLEAF_MODEL; OPENAI_API_KEY is not set)"
    )
    assert describe(in_file, environ=BARE) == (
        "openai:x at https://api.openai.com/v1 (set in the settings file)"
    )
    assert describe(Settings(model="ollama:qwen3"), environ=BARE) == (
        "ollama:qwen3 at http://localhost:11434/v1 (set by TURNLEAF_MODEL)"
    )


@pytest.mark.parametrize(
    "settings",
    [
        Settings(model="nonsense"),
        Settings(model="openai:x", model_url="http://me:secret@host/v1"),
        Settings(model="openai:x", openai_api_key="secret\n"),
        Settings(model_url="http://localhost:1/v1"),
    ],
)
def test_a_bad_setting_is_described_and_no_secret_is_shown(settings: Settings) -> None:
    line = describe(settings, environ=BARE)
    assert line.startswith("none (")
    assert "secret" not in line
    assert "\n" not in line
    with pytest.raises(SettingsError):
        find_model(settings, environ=BARE)


def test_a_description_shows_no_key() -> None:
    settings = Settings(anthropic_api_key="very-secret", openai_api_key="very-secret")
    assert "very-secret" not in describe(settings, environ=BARE)


def test_an_address_without_a_model_is_no_reason_to_send_a_key_there() -> None:
    settings = Settings(model_url="http://localhost:1/v1", anthropic_api_key="a")
    with pytest.raises(SettingsError, match="TURNLEAF_MODEL is not; set TURNLEAF_MODEL"):
        find_model(settings, environ=BARE)


def test_the_model_is_asked_at_the_address_that_is_set(chat: ChatApi) -> None:
    chat.answer("好。")
    settings = Settings(model="openai:local", model_url=chat.url, openai_api_key="o")
    prompt = Prompt("", (Message("user", "hm"),), text="hm", question="hm")
    list(find_model(settings, environ=BARE).stream(prompt))
    assert chat.requests[0].body["model"] == "local"
    assert chat.requests[0].headers["authorization"] == "Bearer o"


def test_ollama_gets_nobodys_key(chat: ChatApi) -> None:
    chat.answer("好。")
    settings = Settings(
        model="ollama:qwen3", model_url=chat.url, openai_api_key="o-key", anthropic_api_key="a-key"
    )
    prompt = Prompt("", (Message("user", "hm"),), text="hm", question="hm")
    list(find_model(settings, environ=BARE).stream(prompt))
    assert "-key" not in json.dumps(chat.requests[0].headers)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_providers_own_variable_for_its_address_counts(provider: str) -> None:
    environ = {f"{provider.upper()}_BASE_URL": "http://localhost:4000"}
    model = find_model(Settings(model=f"{provider}:x"), environ=environ)
    assert isinstance(model, ApiModel)
    assert model.url == "http://localhost:4000"
    ours = Settings(model=f"{provider}:x", model_url="http://localhost:5000")
    model = find_model(ours, environ=environ)
    assert isinstance(model, ApiModel)
    assert model.url == "http://localhost:5000"


def test_facts_are_found_by_the_same_model_unless_another_is_set() -> None:
    same = find_extractor(Settings(model="openai:big", openai_api_key="o"), environ=BARE)
    other = find_extractor(Settings(model="openai:big", extract_model="openai:small"), environ=BARE)
    assert same is not None
    assert other is not None
    assert (same.name, other.name) == ("openai:big", "openai:small")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(model="recall"),
        Settings(model="openai:big", extract_model="rules"),
        Settings(model="openai:big", extract_model="recall"),
    ],
)
def test_facts_are_found_by_rules_where_no_model_does(settings: Settings) -> None:
    assert find_extractor(settings, environ=BARE) is None


def test_the_address_is_that_of_the_provider_that_answers() -> None:
    settings = Settings(
        model="ollama:qwen3", model_url="http://localhost:5000/v1", extract_model="openai:small"
    )
    extractor = find_extractor(settings, environ=BARE)
    assert isinstance(extractor, ApiModel)
    assert extractor.url == "https://api.openai.com/v1"


def test_the_address_is_the_extractors_where_the_answering_model_has_none() -> None:
    settings = Settings(
        model="claude-cli", model_url="http://localhost:5000/v1", extract_model="openai:small"
    )
    extractor = find_extractor(settings, environ=BARE)
    assert isinstance(extractor, ApiModel)
    assert extractor.url == "http://localhost:5000/v1"


def test_choosing_and_describing_load_no_library() -> None:
    program = """
import sys
from turnleaf.llm.models import describe, find_extractor, find_model
from turnleaf.settings import Settings
settings = Settings(model="openai:x", openai_api_key="k")
find_model(settings).name, find_extractor(settings).name
print(describe(settings))
print(sorted({"pydantic_ai", "pydantic", "openai", "anthropic", "httpx2"} & set(sys.modules)))
"""
    assert run(program).splitlines()[1] == "[]"


def run(program: str) -> str:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return done.stdout.strip()
