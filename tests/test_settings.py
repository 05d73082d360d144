"""One place reads the environment and the config file: environment over file over default."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from turnleaf.errors import SettingsError
from turnleaf.settings import (
    CONFIG_NAME,
    KEYS,
    SETTINGS,
    DataFolder,
    Setting,
    Settings,
    find_data_dir,
    find_data_folder,
    find_terminal_language,
)

NUMBERS = [setting for setting in SETTINGS if type(setting.default) is int and setting.least]


def write(folder: Path, config: object) -> None:
    text = config if isinstance(config, str) else json.dumps(config)
    (folder / CONFIG_NAME).write_text(text)


def test_without_anything_the_requirements_defaults_hold(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {})
    assert settings == Settings()
    assert (settings.conversation_max_turns, settings.conversation_max_chars) == (20, 8000)
    assert (settings.conversation_max_age_days, settings.conversation_keep_days) == (7, None)
    assert (settings.memory_max_items, settings.memory_max_chars) == (100, 10000)
    assert settings.sources == {}


def test_the_table_has_every_setting_once() -> None:
    fields = set(Settings.__dataclass_fields__) - {"sources", "older_names", *KEYS}
    assert {setting.field for setting in SETTINGS} == fields
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)
    assert len({setting.key for setting in SETTINGS}) == len(SETTINGS)
    assert all(setting.meaning for setting in SETTINGS)


KINDS: dict[type, tuple[object, str, object]] = {
    int: (7, "8", 8),
    bool: (False, "on", True),
    float: (0.25, "0.5", 0.5),
    type(None): ("a.json", "b.json", "b.json"),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.variable)
def test_each_setting_comes_from_the_environment_before_the_file(
    tmp_path: Path, setting: Setting
) -> None:
    in_file, written, meant = KINDS[int if setting.kind == "number" else type(setting.default)]
    if setting.field in {"model", "extract_model"}:
        in_file, written, meant = "recall", "openai:gpt", "openai:gpt"
    if setting.field.startswith("slack_"):
        in_file, written, meant = "U012", "U01, U02", "U01,U02"
    if setting.field == "slack_spaces":
        in_file, written, meant = "U012=anna", "U01=anna, U02=小明", "U01=anna,U02=小明"
    write(tmp_path, {setting.key: in_file})
    from_file = Settings.load(tmp_path, {})
    assert getattr(from_file, setting.field) == in_file
    assert from_file.sources == {setting.field: "file"}
    both = Settings.load(tmp_path, {setting.variable: written})
    assert getattr(both, setting.field) == meant
    assert both.sources == {setting.field: "environment"}


@pytest.mark.parametrize("key", KEYS)
def test_an_api_key_comes_from_the_environment_only_and_is_not_shown(
    tmp_path: Path, key: str
) -> None:
    camel = "".join(part.capitalize() for part in key.split("_"))
    write(tmp_path, {camel[0].lower() + camel[1:]: "from-file"})
    settings = Settings.load(tmp_path, {key.upper(): "very-secret"})
    assert getattr(settings, key) == "very-secret"
    assert "very-secret" not in repr(settings)
    assert getattr(Settings.load(tmp_path, {}), key) is None


@pytest.mark.parametrize(
    "name", ["", "gpt", "openai:", "openai:a b", "claude-cli:", "Recall", "\0"]
)
def test_a_bad_model_name_is_refused_with_the_choices(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"model": name})
    with pytest.raises(SettingsError, match=r"recall, claude-cli, .*anthropic, openai"):
        Settings.load(tmp_path, {})


@pytest.mark.parametrize("variable", ["SEARCH_VECTOR_WEIGHT", "SEARCH_BM25_WEIGHT"])
@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "inf", "much"])
def test_a_bad_weight_names_its_variable(tmp_path: Path, variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{variable} must be a number from 0 to 1, not "):
        Settings.load(tmp_path, {variable: value})


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.variable)
@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "1e3", "ten", "9" * 5000, "0x10"])
def test_a_bad_number_in_the_environment_names_its_variable(
    tmp_path: Path, setting: Setting, value: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings.load(tmp_path, {setting.variable: value})
    message = str(raised.value)
    assert message.startswith(f"{setting.variable} must be a whole number of at least 1, not ")
    assert message.endswith("; change it or remove it")


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.variable)
def test_a_number_may_be_as_large_as_json_can_tell(tmp_path: Path, setting: Setting) -> None:
    largest = Settings.load(tmp_path, {setting.variable: "9007199254740991"})
    assert getattr(largest, setting.field) == 2**53 - 1
    with pytest.raises(
        SettingsError, match=f"^{setting.variable} must be at most 9007199254740991"
    ):
        Settings.load(tmp_path, {setting.variable: "9007199254740992"})


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None, True, [], {}])
def test_a_bad_number_in_the_file_names_its_key_and_the_file(tmp_path: Path, value: object) -> None:
    write(tmp_path, {"memoryMaxItems": value})
    with pytest.raises(SettingsError, match=r'"memoryMaxItems" in .*memory-config\.json must be'):
        Settings.load(tmp_path, {})


@pytest.mark.parametrize(
    ("word", "is_on"),
    [("on", True), ("TRUE", True), (" yes ", True), ("1", True), ("off", False), ("No", False)],
)
def test_a_switch_is_on_or_off(tmp_path: Path, word: str, is_on: bool) -> None:  # noqa: FBT001
    assert Settings.load(tmp_path, {"MEMORY_ENABLED": word}).enabled is is_on


@pytest.mark.parametrize("word", ["maybe", "2", "onn", "-"])
def test_what_is_neither_on_nor_off_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(SettingsError, match="MEMORY_ENABLED must be on or off"):
        Settings.load(tmp_path, {"MEMORY_ENABLED": word})


def test_messages_may_be_kept_for_no_day_at_all(tmp_path: Path) -> None:
    assert Settings.load(tmp_path, {"CONVERSATION_KEEP_DAYS": "0"}).conversation_keep_days == 0
    write(tmp_path, {"conversationKeepDays": 0})
    assert Settings.load(tmp_path, {}).conversation_keep_days == 0


def test_a_prompt_may_have_no_room_for_what_was_found(tmp_path: Path) -> None:
    assert Settings.load(tmp_path, {"CONTEXT_MAX_TOKENS": "0"}).context_max_tokens == 0


@pytest.mark.parametrize("value", ["-1", "1.5", "forever", "9" * 5000])
def test_days_that_are_no_number_are_refused(tmp_path: Path, value: str) -> None:
    expected = "^CONVERSATION_KEEP_DAYS must be a whole number of at least 0, not "
    with pytest.raises(SettingsError, match=expected):
        Settings.load(tmp_path, {"CONVERSATION_KEEP_DAYS": value})


@pytest.mark.parametrize(
    ("older", "days", "name"),
    [
        ({"conversationArchive": False}, 0, "conversationArchive"),
        ({"conversationArchive": True}, 365, "conversationArchive"),
        ({"conversationArchiveMaxAgeDays": 30}, 30, "conversationArchiveMaxAgeDays"),
        (
            {"conversationArchive": True, "conversationArchiveMaxAgeDays": 30},
            30,
            "conversationArchiveMaxAgeDays",
        ),
        (
            {"conversationArchive": False, "conversationArchiveMaxAgeDays": 30},
            0,
            "conversationArchive",
        ),
    ],
)
def test_what_was_said_of_the_archive_goes_on_holding(
    tmp_path: Path, older: dict[str, object], days: int, name: str
) -> None:
    write(tmp_path, older)
    in_file = Settings.load(tmp_path, {})
    assert in_file.conversation_keep_days == days
    assert in_file.sources == {"conversation_keep_days": "file"}
    assert in_file.older_names == {"conversation_keep_days": name}
    write(tmp_path, {})
    variables = {by_key(key): write_value(value) for key, value in older.items()}
    in_environment = Settings.load(tmp_path, variables)
    assert in_environment.conversation_keep_days == days
    assert in_environment.sources == {"conversation_keep_days": "environment"}
    assert in_environment.older_names == {"conversation_keep_days": by_key(name)}


def by_key(key: str) -> str:
    return re.sub("([A-Z])", r"_\1", key).upper()


def write_value(value: object) -> str:
    return str(value).lower()


def test_the_archive_s_environment_comes_before_its_file(tmp_path: Path) -> None:
    write(tmp_path, {"conversationArchive": True, "conversationArchiveMaxAgeDays": 30})
    settings = Settings.load(tmp_path, {"CONVERSATION_ARCHIVE": "off"})
    assert settings.conversation_keep_days == 0
    assert settings.sources == {"conversation_keep_days": "environment"}


def test_the_days_to_keep_come_before_what_was_said_of_the_archive(tmp_path: Path) -> None:
    write(tmp_path, {"conversationKeepDays": 90, "conversationArchive": False})
    settings = Settings.load(tmp_path, {"CONVERSATION_ARCHIVE": "off"})
    assert settings.conversation_keep_days == 90
    assert settings.sources == {"conversation_keep_days": "file"}
    assert settings.older_names == {}


def test_only_a_name_of_today_locks_a_setting(tmp_path: Path) -> None:
    keep = next(one for one in SETTINGS if one.field == "conversation_keep_days")
    assert Settings.load(tmp_path, {"CONVERSATION_KEEP_DAYS": "5"}).is_locked(keep)
    assert not Settings.load(tmp_path, {"CONVERSATION_ARCHIVE": "on"}).is_locked(keep)
    assert not Settings.load(tmp_path, {}).is_locked(keep)


def test_a_bad_word_about_the_archive_names_its_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^CONVERSATION_ARCHIVE must be on or off"):
        Settings.load(tmp_path, {"CONVERSATION_ARCHIVE": "maybe"})


def test_a_variable_without_a_value_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"memoryMaxItems": 5})
    assert Settings.load(tmp_path, {"MEMORY_MAX_ITEMS": ""}).memory_max_items == 5


def test_a_location_that_is_no_path_is_refused(tmp_path: Path) -> None:
    for value in ("", "  ", 5, None, "a\0b"):
        write(tmp_path, {"memoryLocation": value})
        with pytest.raises(SettingsError, match="must be a path"):
            Settings.load(tmp_path, {})


def test_keys_that_we_do_not_know_are_left_to_others(tmp_path: Path) -> None:
    write(tmp_path, {"memoryMaxItems": 5, "ofALaterVersion": {"x": 1}})
    assert Settings.load(tmp_path, {}).memory_max_items == 5


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_bytes(b'\xef\xbb\xbf{"memoryMaxItems": 5}')
    assert Settings.load(tmp_path, {}).memory_max_items == 5


@pytest.mark.parametrize("text", ["", "{", "not json", "{'a': 1}", "[" * 100_000])
def test_a_file_that_is_not_json_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=r"memory-config\.json is not valid JSON .*correct it"):
        Settings.load(tmp_path, {})


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"memory-config\.json is not valid JSON"):
        Settings.load(tmp_path, {})


@pytest.mark.parametrize("text", ["[]", "5", "null", '"x"'])
def test_a_file_that_is_no_object_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match="must contain one JSON object with settings"):
        Settings.load(tmp_path, {})


def test_a_folder_in_the_file_s_place_is_named(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).mkdir()
    with pytest.raises(SettingsError, match=r"memory-config\.json cannot be read"):
        Settings.load(tmp_path, {})


def test_a_folder_that_is_not_there_has_no_settings(tmp_path: Path) -> None:
    assert Settings.load(tmp_path / "missing", {}) == Settings()
    (tmp_path / "file").write_text("x")
    assert Settings.load(tmp_path / "file", {}) == Settings()


# The data folder


def test_the_option_comes_before_the_environment(tmp_path: Path) -> None:
    environ = {"TURNLEAF_DATA_DIR": str(tmp_path / "b"), "SUPERVISOR_TOKEN": "t"}
    (tmp_path / "data").mkdir()
    found = find_data_folder(tmp_path / "a", environ, tmp_path)
    assert (found.path, found.why) == (tmp_path / "a", "set by --data-dir")
    assert tmp_path / "data" in found.others


def test_the_environment_comes_before_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    environ = {"TURNLEAF_DATA_DIR": str(tmp_path / "b"), "SUPERVISOR_TOKEN": "t"}
    assert find_data_folder(None, environ, tmp_path).path == tmp_path / "b"
    assert find_data_folder(None, {"SUPERVISOR_TOKEN": "t"}, tmp_path).path == Path("/data")


def test_a_folder_named_data_comes_before_the_user_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    user = tmp_path / "home" / "turnleaf"
    assert find_data_folder(None, {}, tmp_path).path == user
    (tmp_path / "data").mkdir()
    user.mkdir(parents=True)
    found = find_data_folder(None, {}, tmp_path)
    assert (found.path, found.others) == (tmp_path / "data", (user,))


def test_a_folder_named_data_with_other_files_alone_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    here = tmp_path / "data"
    here.mkdir()
    (here / "my.csv").write_text("1,2")
    assert find_data_folder(None, {}, tmp_path).path == tmp_path / "home" / "turnleaf"
    (here / "memory-config.json").write_text("{}")
    assert find_data_folder(None, {}, tmp_path).path == here


def test_a_tilde_is_the_user_s_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_data_folder("~/memory", {}, tmp_path).path == tmp_path / "memory"


def test_everything_has_its_place_in_the_data_folder(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path, "why")
    assert folder.memory(Settings()) == tmp_path / "prompts/memory/MEMORY.md"
    assert folder.conversations(Settings()) == tmp_path / "conversations/conversations.db"
    assert folder.daily == tmp_path / "prompts/memory/daily"


def test_a_location_in_the_file_is_relative_to_its_folder(tmp_path: Path) -> None:
    write(tmp_path, {"memoryLocation": "mine.md", "conversationsLocation": "/abs/x.db"})
    settings = Settings.load(tmp_path, {})
    folder = DataFolder(tmp_path, "why")
    assert folder.memory(settings) == tmp_path / "mine.md"
    assert folder.conversations(settings) == Path("/abs/x.db")


def test_a_location_in_the_environment_is_as_it_says(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {"TURNLEAF_MEMORY": "here/mine.md"})
    assert DataFolder(tmp_path, "why").memory(settings) == Path("here/mine.md")


def test_a_tilde_in_a_location_is_the_user_s_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path, {"conversationsLocation": "~/talk.db"})
    settings = Settings.load(tmp_path, {"TURNLEAF_MEMORY": "~/mem.md"})
    folder = DataFolder(tmp_path, "why")
    assert folder.memory(settings) == tmp_path / "home/mem.md"
    assert folder.conversations(settings) == tmp_path / "home/talk.db"


def test_the_home_of_nobody_is_refused(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {"TURNLEAF_MEMORY": "~nobody-of-that-name/mem.md"})
    for find in (
        lambda: DataFolder(tmp_path, "why").memory(settings),
        lambda: find_data_folder("~nobody-of-that-name/x", {}, tmp_path),
    ):
        with pytest.raises(SettingsError, match=r"nobody-of-that-name.*write the full path"):
            find()


def test_a_store_without_an_argument_uses_the_requirements_folder() -> None:
    assert find_data_dir({}) == Path("data")
    assert find_data_dir({"SUPERVISOR_TOKEN": ""}) == Path("data")
    assert find_data_dir({"SUPERVISOR_TOKEN": "t"}) == Path("/data")


# The terminal


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, ""),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_language_is_the_one_of_the_terminal(environ: dict[str, str], language: str) -> None:
    assert find_terminal_language(environ) == language
