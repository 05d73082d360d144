from __future__ import annotations

import json

import pytest

from tests.faces.conftest import Cli
from turnleaf.settings import SETTINGS, Settings


def read_settings(cli: Cli) -> dict[str, object]:
    found: dict[str, object] = json.loads(cli.folder.config.read_text("utf-8"))
    return found


def test_every_setting_is_shown_with_its_value_where_it_comes_from_and_its_meaning(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "7")
    cli("config", "autoExtract", "off")
    shown = {line.split()[0]: line for line in cli("config").out.splitlines()[1:]}
    assert list(shown) == [setting.key for setting in SETTINGS]
    assert shown["memoryMaxItems"].split()[1:3] == ["7", "environment"]
    assert shown["autoExtract"].split()[1:3] == ["off", "file"]
    assert shown["conversationMaxTurns"].split()[1:3] == ["20", "default"]
    assert all(setting.meaning in shown[setting.key] for setting in SETTINGS)


def test_one_setting_is_shown_by_its_key_or_its_variable(cli: Cli) -> None:
    result = cli("config", "MEMORY_MIN_NEW_MESSAGES")
    assert result.code == 0
    assert result.out.splitlines()[0] == "minNewMessages = 4"
    assert "minimum new messages" in result.out
    assert result.out == cli("config", "minNewMessages").out
    assert not cli.data.exists()


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("minNewMessages", "6", 6),
        ("enabled", "off", False),
        ("flushThreshold", "0.5", 0.5),
        ("extractModel", "ollama:qwen3", "ollama:qwen3"),
        ("memoryLocation", "記憶/MEMORY.md", "記憶/MEMORY.md"),
        ("instructions", "Always: 用一句話回答。", "Always: 用一句話回答。"),
    ],
)
def test_a_change_is_written_with_its_type_and_holds_at_once(
    cli: Cli, key: str, value: str, kept: object
) -> None:
    result = cli("config", key, value)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{key} = {value}\n  from      file\n")
    assert read_settings(cli) == {key: kept}
    (setting,) = [setting for setting in SETTINGS if setting.key == key]
    assert getattr(Settings.load(cli.data), setting.field) == kept


def test_instructions_that_are_too_long_change_nothing(cli: Cli) -> None:
    result = cli("config", "instructions", "a" * 2001)
    assert result.code == 1
    assert "instructions must be a text of at most 2000 characters, not 'aaa" in result.err
    assert not cli.data.exists()


def test_a_change_leaves_the_rest_of_the_file_alone(cli: Cli) -> None:
    cli.data.mkdir()
    cli.folder.config.write_text('{"somebodyElse": {"備註": 1}, "enabled": false}', "utf-8")
    cli("config", "enabled", "on")
    assert read_settings(cli) == {"somebodyElse": {"備註": 1}, "enabled": True}


def test_unset_brings_the_default_back(cli: Cli) -> None:
    cli("config", "minNewMessages", "6")
    result = cli("config", "--unset", "minNewMessages")
    assert result.out.startswith("minNewMessages = 4\n  from      default\n")
    assert read_settings(cli) == {}


def test_what_the_environment_sets_is_written_and_said_to_be_locked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_ENABLED", "off")
    result = cli("config", "enabled", "on")
    assert result.code == 0
    assert "the environment variable MEMORY_ENABLED overrides the file" in result.err
    assert result.out.startswith("enabled = off")
    assert read_settings(cli) == {"enabled": True}
    assert cli("config", "enabled", "--json").json["locked"] is True
    assert cli("config", "enabled").err == ""


def test_what_was_said_of_the_archive_is_shown_as_the_days_to_keep(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVERSATION_ARCHIVE", "on")
    shown = cli("config", "conversationKeepDays").out
    assert shown.startswith(
        "conversationKeepDays = 365\n  from      environment (CONVERSATION_ARCHIVE)\n"
    )
    unset = cli("config", "--unset", "conversationKeepDays")
    assert "the environment variable CONVERSATION_ARCHIVE overrides the file" in unset.err
    changed = cli("config", "conversationKeepDays", "90")
    assert changed.out.startswith("conversationKeepDays = 90\n  from      file\n")
    assert changed.err == ""


def test_a_bad_value_is_refused_and_nothing_is_written(cli: Cli) -> None:
    cli("config", "minNewMessages", "6")
    result = cli("config", "minNewMessages", "many")
    assert (result.code, result.out) == (1, "")
    assert "minNewMessages must be a whole number of at least 1, not 'many'" in result.err
    assert read_settings(cli) == {"minNewMessages": 6}


@pytest.mark.parametrize("arguments", [["minNewMesages"], ["minNewMesages", "6"]])
def test_an_unknown_setting_is_refused_with_the_nearest_name(
    cli: Cli, arguments: list[str]
) -> None:
    result = cli("config", *arguments)
    assert (result.code, result.out) == (1, "")
    assert 'did you mean "minNewMessages"?' in result.err
    assert not cli.data.exists()


def test_a_bad_value_in_the_file_can_be_corrected(cli: Cli) -> None:
    cli.data.mkdir()
    cli.folder.config.write_text('{"minNewMessages": "many"}', "utf-8")
    assert cli("config").code == 1
    assert cli("config", "minNewMessages", "5").code == 0
    assert cli("config").code == 0


def test_a_file_that_is_no_json_is_never_overwritten(cli: Cli) -> None:
    cli.data.mkdir()
    cli.folder.config.write_text('{"enabled": ', "utf-8")
    result = cli("config", "enabled", "on")
    assert result.code == 1
    assert "not valid JSON" in result.err
    assert cli.folder.config.read_text("utf-8") == '{"enabled": '


def test_the_settings_are_given_to_scripts_as_json(cli: Cli) -> None:
    everything = cli("config", "--json").json
    assert [one["key"] for one in everything] == [setting.key for setting in SETTINGS]
    assert cli("config", "flushThreshold", "0.9", "--json").json == {
        "key": "flushThreshold",
        "value": 0.9,
        "from": "file",
        "locked": False,
        "default": 0.75,
        "variable": "MEMORY_FLUSH_THRESHOLD",
        "meaning": "share of the context in use at which facts are extracted immediately",
    }


def test_keys_of_providers_are_never_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "EMBEDDINGS_API_KEY"):
        monkeypatch.setenv(name, "sk-hidden")
    assert "sk-hidden" not in cli("config").out + cli("config", "--json").out
    assert cli("config", "OPENAI_API_KEY").code == 1


def test_unset_and_a_value_exclude_each_other(cli: Cli) -> None:
    assert cli("config", "enabled", "on", "--unset", "enabled").code == 2
    assert not cli.data.exists()


def test_an_escape_code_in_a_value_does_not_act(cli: Cli) -> None:
    cli("config", "memoryLocation", "a\x1b[31m.md")
    assert "\x1b" not in cli("config").out + cli("config", "memoryLocation").out


@pytest.mark.parametrize(
    ("key", "value"), [("memoryMaxItems", "-1"), ("memoryMaxItems", "x"), ("model", "foo")]
)
def test_a_value_that_is_refused_changes_nothing_and_says_so(
    cli: Cli, key: str, value: str
) -> None:
    result = cli("config", key, value)
    assert result.code == 1
    assert result.err.startswith(f"error: {key} must be ")
    assert result.err.endswith(f", not '{value}'; nothing was changed\n")
