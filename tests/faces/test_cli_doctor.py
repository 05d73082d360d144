from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from tests.faces.conftest import Cli
from tests.faces.test_cli_program import made_read_only, run_as_ordinary_user
from turnleaf import __version__
from turnleaf.settings import SETTINGS

MING = "客廳的燈叫做小明"


def everything(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def messages(report: dict[str, Any], level: str) -> list[str]:
    return [one["message"] for one in report["problems"] if one["level"] == level]


def test_a_new_user_sees_where_everything_will_be(cli: Cli) -> None:
    result = cli("doctor")
    assert (result.code, result.err) == (0, "")
    for piece in (
        f"turnleaf {__version__}",
        platform.python_version(),
        str(cli.data),
        "TURNLEAF_DATA_DIR names it",
        "the first remember makes it",
        "MEMORY.md",
        "conversations.json",
        "literal",
        "Problems\n  none",
    ):
        assert piece in result.out
    assert not cli.data.exists()


def test_what_is_there_is_counted(cli: Cli) -> None:
    cli.remember(MING, "lamp")
    cli.conversations.add_exchange("a", "b", "c")
    cli.daily.append("x")
    report = cli("doctor", "--json").json
    holds = {one["name"]: one["holds"] for one in report["files"]}
    assert holds["memory"] == "2 facts, 12 characters"
    assert holds["conversations"] == "1 conversation"
    assert holds["daily log"] == "1 day"
    assert report["dataFolder"]["exists"] is True
    assert report["problems"] == []
    assert report["lastError"] is None


def test_looking_changes_nothing(cli: Cli) -> None:
    cli.remember(MING)
    cli.conversations.add_exchange("a", "b", "c")
    (cli.data / "prompts" / "memory" / "MEMORY.md").write_text("- by hand\n", "utf-8")
    (cli.data / "conversations" / "conversations.json").write_text("{broken", "utf-8")
    before = everything(cli.data)
    assert cli("doctor").code == 1
    assert everything(cli.data) == before


def test_each_limit_says_where_it_comes_from(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.data.mkdir()
    (cli.data / "memory-config.json").write_text('{"memoryMaxItems": 7}', "utf-8")
    monkeypatch.setenv("CONVERSATION_MAX_TURNS", "30")
    limits = {one["name"]: one for one in cli("doctor", "--json").json["limits"]}
    assert set(limits) == {setting.variable for setting in SETTINGS}
    assert (limits["MEMORY_MAX_ITEMS"]["value"], limits["MEMORY_MAX_ITEMS"]["from"]) == (7, "file")
    assert limits["CONVERSATION_MAX_TURNS"]["value"] == 30
    assert limits["CONVERSATION_MAX_TURNS"]["from"] == "environment"
    assert limits["MEMORY_MAX_CHARS"]["from"] == "default"


def test_broken_settings_are_a_problem_and_the_rest_is_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(MING)
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "many")
    result = cli("doctor", "--json")
    assert result.code == 1
    (problem,) = messages(result.json, "error")
    assert "MEMORY_MAX_ITEMS" in problem
    assert result.json["files"][0]["holds"] == "1 fact, 8 characters"
    assert "error: MEMORY_MAX_ITEMS" in cli("doctor").out


@pytest.mark.parametrize("content", ["{", "[]", '{"memoryMaxItems": true}', "\udcff"])
def test_a_broken_config_file_is_a_problem(cli: Cli, content: str) -> None:
    cli.data.mkdir()
    file = cli.data / "memory-config.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    result = cli("doctor", "--json")
    assert result.code == 1
    assert str(file) in messages(result.json, "error")[0]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[1", b'{"version": 9, "conversations": {}}'])
def test_a_broken_file_is_a_problem(cli: Cli, data: bytes) -> None:
    file = cli.data / "conversations" / "conversations.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    result = cli("doctor", "--json")
    assert result.code == 1
    assert str(file) in messages(result.json, "error")[0]
    assert file.read_bytes() == data


def test_a_location_of_no_known_kind_is_a_problem(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_MEMORY", "facts.txt")
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", "talk.txt")
    result = cli("doctor", "--json")
    assert result.code == 1
    assert len(messages(result.json, "error")) == 2


def test_a_file_set_aside_is_a_warning(cli: Cli) -> None:
    cli.remember(MING)
    aside = cli.memory.location.with_name("MEMORY.md.corrupt-20260102T030405Z")
    aside.write_bytes(b"\xff")
    result = cli("doctor", "--json")
    assert result.code == 0
    assert str(aside) in messages(result.json, "warning")[0]


def test_a_second_data_folder_is_a_warning_only_if_it_holds_something(
    cli: Cli, tmp_path: Path
) -> None:
    other = tmp_path / "share" / "turnleaf"
    other.mkdir(parents=True)
    assert cli("doctor", "--json").json["problems"] == []
    cli("--data-dir", str(other), "remember", MING)
    result = cli("doctor", "--json")
    assert result.code == 0
    assert str(other) in messages(result.json, "warning")[0]


def test_a_file_in_the_place_of_the_folder_is_a_problem(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", "utf-8")
    for path in (file, file / "data"):
        result = cli("--data-dir", str(path), "doctor", "--json")
        assert result.code == 1
        assert f"{file} is a file" in messages(result.json, "error")[0]


def test_a_read_only_folder_is_a_problem(cli: Cli) -> None:
    cli.remember(MING)
    with made_read_only(cli.data):
        done = run_as_ordinary_user("doctor", "--json")
    assert done.returncode == 1
    assert "cannot be written to" in messages(json.loads(done.stdout), "error")[0]


def test_an_unreadable_folder_is_a_problem(cli: Cli) -> None:
    cli.remember(MING)
    cli.data.chmod(0o000)
    try:
        done = run_as_ordinary_user("doctor", "--json")
    finally:
        cli.data.chmod(0o700)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "cannot be read" in messages(json.loads(done.stdout), "error")[0]


def test_the_last_background_error_is_shown(cli: Cli) -> None:
    cli.data.mkdir()
    last = {"time": "2026-01-02T03:04:05.000Z", "message": "模型沒有回答"}
    (cli.data / "last-error.json").write_text(json.dumps(last), "utf-8")
    assert cli("doctor", "--json").json["lastError"] == last
    assert "模型沒有回答" in cli("doctor").out


def test_a_broken_last_error_is_a_warning(cli: Cli) -> None:
    cli.data.mkdir()
    (cli.data / "last-error.json").write_text("{", "utf-8")
    result = cli("doctor", "--json")
    assert result.code == 0
    assert "last-error.json" in messages(result.json, "warning")[0]


def test_a_database_is_not_opened(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    location = cli.data / "talk.db"
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(location))
    cli("history")
    before = everything(cli.data)
    assert cli("doctor").code == 0
    assert everything(cli.data) == before
