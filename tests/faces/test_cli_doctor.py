from __future__ import annotations

import os
import platform
import socket
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.decisions import decide
from tests.faces.conftest import Cli
from tests.faces.test_cli_program import make_read_only
from tests.store.older import archive, make_messages, write_conversations
from turnleaf import Message, __version__
from turnleaf.core.learning.queue import Queued, Unread
from turnleaf.settings import SETTINGS
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.learning_queue import LearningStore

pytestmark = pytest.mark.usefixtures("at_noon")

MING = "客廳的燈叫做小明"


def read_everything(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def messages(report: dict[str, Any], level: str) -> list[str]:
    return [one["message"] for one in report["problems"] if one["level"] == level]


def test_the_report_is_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(MING)
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    told = cli("doctor").out
    assert "\n資料夾\n" in told
    assert "\n  記憶           1 則記憶，共 8 個字元\n" in told
    assert "\n  模型           recall（由 TURNLEAF_MODEL 指定）\n" in told
    assert cli("doctor", "--json").json["dataFolder"]["why"] == "set by TURNLEAF_DATA_DIR"


def test_a_new_user_sees_where_everything_will_be(cli: Cli) -> None:
    result = cli("doctor")
    assert (result.code, result.err) == (0, "")
    for piece in (
        f"turnleaf {__version__}",
        platform.python_version(),
        str(cli.data),
        "set by TURNLEAF_DATA_DIR",
        "it will be created when needed",
        "MEMORY.md",
        "conversations.db",
        "every message is kept forever",
        "by words only",
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
    today = datetime.now().astimezone().date()
    assert holds["conversations"].startswith(f"1 conversation, 2 messages, oldest {today}, ")
    assert holds["daily log"] == "1 day"
    assert report["dataFolder"]["exists"] is True
    assert report["problems"] == []
    assert report["lastError"] is None


def test_looking_changes_nothing(cli: Cli) -> None:
    cli.remember(MING)
    cli.conversations.add_exchange("a", "b", "c")
    (cli.data / "prompts" / "memory" / "MEMORY.md").write_text("- by hand\n", "utf-8")
    (cli.data / "conversations" / "conversations.db").write_bytes(b"broken" * 200)
    write_conversations(cli.data / "conversations", {"a": make_messages("b")})
    before = read_everything(cli.data)
    assert cli("doctor").code == 1
    assert read_everything(cli.data) == before


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
def test_a_broken_file_is_a_problem(cli: Cli, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cli.data / "conversations" / "conversations.json"
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(file))
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    result = cli("doctor", "--json")
    assert result.code == 1
    assert str(file) in messages(result.json, "error")[0]
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    ("days", "kept"),
    [
        (None, "every message is kept forever"),
        ("30", "every message is kept for 30 days"),
        ("0", "only the latest messages are kept"),
    ],
)
def test_what_is_kept_is_said(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, days: str | None, kept: str
) -> None:
    if days is not None:
        monkeypatch.setenv("CONVERSATION_KEEP_DAYS", days)
    assert cli("doctor", "--json").json["parts"]["kept"] == kept


def test_a_json_file_keeps_a_short_history_and_it_is_said_what_to_do(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_conversations(cli.data / "talk", {"a": make_messages("b")})
    archive(cli.data / "talk", "a", make_messages("older"))
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(file))
    result = cli("doctor", "--json")
    assert result.code == 0
    short, unread = messages(result.json, "warning")
    assert short.startswith(
        f"not every message is kept: in {file}, only the latest messages are kept"
    )
    assert "set conversationsLocation to a .db file" in short
    assert unread.startswith(f"{cli.data / 'talk' / 'archive'} was written by an older version")


def test_what_an_older_version_left_is_named_before_and_after_it_is_taken_over(cli: Cli) -> None:
    file = write_conversations(cli.data / "conversations", {"a": make_messages("b")})
    (warning,) = messages(cli("doctor", "--json").json, "warning")
    assert warning == f"{file} was written by an older version; the next command will migrate it"
    assert cli("history").code == 0
    report = cli("doctor", "--json").json
    assert report["problems"] == []
    (row,) = [row for row in report["files"] if row["name"] == "older files"]
    assert row["holds"] == "1 file of an older version, already migrated; you may delete them"


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
    with make_read_only(cli.data):
        done = cli.fork("doctor", "--json", is_powerless=True)
    assert done.code == 1
    assert "cannot be written to" in messages(done.json, "error")[0]


def test_an_unreadable_folder_is_a_problem(cli: Cli) -> None:
    cli.remember(MING)
    cli.data.chmod(0o000)
    try:
        done = cli.fork("doctor", "--json", is_powerless=True)
    finally:
        cli.data.chmod(0o700)
    assert (done.code, done.err) == (1, "")
    assert "cannot be read" in messages(done.json, "error")[0]


def fail_learning(cli: Cli) -> None:
    store = LearningStore(cli.data / "learning.db")
    store.enqueue("cli:session-1", [Queued(Message("user", MING))])
    batch = store.claim("cli:session-1")
    assert batch is not None
    store.release(batch, "模型沒有回答")
    store.close()


def test_the_last_error_of_learning_and_what_waits_are_shown(cli: Cli) -> None:
    fail_learning(cli)
    report = cli("doctor", "--json").json
    assert report["lastError"]["message"] == "模型沒有回答"
    assert report["lastError"]["conversation"] == "cli:session-1"
    assert "模型沒有回答" in messages(report, "warning")[0]
    (row,) = [row for row in report["files"] if row["name"] == "learning"]
    assert row["holds"] == "1 message to learn from"
    assert "模型沒有回答" in cli("doctor").out


def test_the_calls_of_today_and_the_cap_are_shown(cli: Cli) -> None:
    store = LearningStore(cli.data / "learning.db")
    store.spend("openai:gpt", cap=9, day=local_now().date())
    store.close()
    assert cli("doctor", "--json").json["parts"]["learning"] == (
        "by rules; 1 model call today, 200 at most"
    )


def test_what_could_not_be_used_of_a_models_answers_is_shown(cli: Cli) -> None:
    store = LearningStore(cli.data / "learning.db", now=local_now)
    store.count_skipped(3, local_now().date())
    store.enqueue("cli:session-1", [Queued(Message("user", MING))])
    for _ in range(2):
        batch = store.claim("cli:session-1")
        assert batch is not None
        store.complete(batch, [], Unread(0, "rubbish", 1))
    store.close()
    assert (
        cli("doctor", "--json")
        .json["parts"]["learning"]
        .endswith(
            "200 at most; 3 facts in its answers skipped;"
            " 1 message given up because no answer could be read"
        )
    )


def test_how_the_models_server_is_asked_for_json_is_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LearningStore(cli.data / "learning.db")
    store.keep_json_format("http://127.0.0.1:9/v1", "openai:tiny", "json_object")
    store.close()
    monkeypatch.setenv("TURNLEAF_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    monkeypatch.setenv("TURNLEAF_EXTRACT_MODEL", "openai:tiny")
    assert cli("doctor", "--json").json["parts"]["learning"] == (
        "by rules and by openai:tiny; its server does not support JSON schemas, so it is asked for"
        " a JSON object; 0 model calls today, 200 at most"
    )


def test_what_was_learned_and_has_no_room_is_a_warning(cli: Cli) -> None:
    store = LearningStore(cli.data / "learning.db")
    store.enqueue("cli:session-1", [Queued(Message("user", MING))])
    batch = store.claim("cli:session-1")
    assert batch is not None
    store.complete(batch, [decide(MING)])
    store.postpone(store.outbox()[0].id, "the memory is full")
    store.close()
    assert "the memory is full" in messages(cli("doctor", "--json").json, "warning")[0]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"MEMORY_AUTO_EXTRACT": "off"}, "switched off; nothing learned yet"),
        (
            {"TURNLEAF_EXTRACT_MODEL": "ollama:qwen3"},
            "by rules and by ollama:qwen3; nothing learned yet",
        ),
    ],
)
def test_how_facts_are_learned_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], told: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cli("doctor", "--json").json["parts"]["learning"] == told


def test_the_model_and_why_it_is_that_one_are_told(cli: Cli) -> None:
    assert cli("doctor", "--json").json["parts"]["model"] == "recall (set by TURNLEAF_MODEL)"


@pytest.fixture
def database(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    location = cli.data / "talk.db"
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(location))
    store = ConversationStore(location)
    store.add_exchange("a", "b", "c" * 5000)
    store.close()
    return location


def test_a_database_is_counted_and_not_changed(cli: Cli, database: Path) -> None:
    before = read_everything(cli.data)
    report = cli("doctor", "--json")
    assert report.code == 0
    assert report.json["files"][2]["holds"].startswith("1 conversation, 2 messages, ")
    assert read_everything(cli.data) == before


def test_a_database_in_use_is_counted(cli: Cli, database: Path) -> None:
    store = ConversationStore(database)
    store.add_exchange("second", "b", "c")
    holds = cli("doctor", "--json").json["files"][2]["holds"]
    assert holds.startswith("2 conversations, 4 messages, ")
    store.close()


def test_the_size_of_a_database_counts_what_is_not_in_its_main_file_yet(
    cli: Cli, database: Path
) -> None:
    store = ConversationStore(database)
    store.add_exchange("second", "b" * 100_000, "c")
    row = cli("doctor", "--json").json["files"][2]
    size = store.figures().bytes
    assert size > 100_000 > database.stat().st_size
    assert row["bytes"] == size
    assert row["holds"].endswith(f"{size:,} bytes")
    store.close()


@pytest.mark.parametrize("damage", ["garbage", "half", "short", "another program's"])
def test_a_damaged_database_is_a_problem(cli: Cli, database: Path, damage: str) -> None:
    data = database.read_bytes()
    if damage == "another program's":
        database.unlink()
        connection = apsw.Connection(str(database))
        connection.execute("CREATE TABLE x (y)")
        connection.close()
    else:
        kept = {"garbage": b"garbage" * 999, "half": data[: len(data) // 2], "short": b"short"}
        database.write_bytes(kept[damage])
    before = read_everything(cli.data)
    result = cli("doctor", "--json")
    assert result.code == 1
    assert f"{database} cannot be used" in messages(result.json, "error")[0]
    assert read_everything(cli.data) == before


@pytest.mark.parametrize(
    ("path", "mode", "told"),
    [
        ("prompts/memory/MEMORY.md", 0o400, "MEMORY.md cannot be changed"),
        ("prompts/memory/MEMORY.md", 0o000, "cannot read"),
        ("prompts/memory/changes.jsonl", 0o000, "cannot read"),
        ("prompts/memory", 0o500, "memory cannot be written to"),
        ("prompts/memory/daily", 0o000, "daily cannot be read"),
        ("conversations", 0o500, "conversations cannot be written to"),
        ("conversations/conversations.db", 0o400, "conversations.db cannot be changed"),
    ],
)
def test_what_may_not_be_read_or_changed_is_a_problem(
    cli: Cli, path: str, mode: int, told: str
) -> None:
    cli.remember(MING)
    cli.daily.append(MING)
    cli.conversations.init()
    place = cli.data / path
    usual = place.stat().st_mode
    place.chmod(mode)
    try:
        done = cli.fork("doctor", "--json", is_powerless=True)
    finally:
        place.chmod(usual)
    assert (done.code, done.err) == (1, "")
    assert [one for one in messages(done.json, "error") if told in one]


def test_lines_of_the_record_that_cannot_be_read_are_a_warning(cli: Cli) -> None:
    cli.remember(MING)
    record = cli.memory.location.with_name("changes.jsonl")
    with record.open("ab") as file:
        file.write(b'garbage\n{"n": 1}\n\n[]\n')
    result = cli.fork("doctor", "--json")
    assert (result.code, result.err) == (0, "")
    (told,) = messages(result.json, "warning")
    assert told.startswith(f"3 lines of {record} cannot be read (the first is line 2)")


@pytest.mark.parametrize(
    "name",
    [
        "prompts/memory/MEMORY.md",
        "prompts/memory/changes.jsonl",
        "conversations/conversations.db",
        "memory-config.json",
        "learning.db",
    ],
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(cli: Cli, name: str) -> None:
    pipe = cli.data / name
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    done = cli.fork("doctor", "--json")
    told = [one["message"] for one in done.json["problems"]]
    assert len(told) == 1
    assert f"{pipe} is not a regular file" in told[0]


def test_only_days_are_counted_as_days(cli: Cli) -> None:
    cli.daily.append(MING)
    for name in ("2x.md", "2026-13-01.md", "notes.md"):
        (cli.folder.daily / name).write_text("x", "utf-8")
    assert cli("doctor", "--json").json["files"][1]["holds"] == "1 day"


def test_nobody_is_told_to_delete_what_only_cannot_be_read(cli: Cli) -> None:
    cli.remember(MING)
    cli.data.chmod(0o000)
    try:
        done = cli.fork("doctor", is_powerless=True)
    finally:
        cli.data.chmod(0o700)
    assert "; delete" not in done.out


def test_a_home_folder_of_nobody_is_a_problem(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLEAF_MEMORY", "~nobody-of-that-name/x.md")
    result = cli("doctor", "--json")
    assert result.code == 1
    assert "write the full path" in messages(result.json, "error")[0]


def test_it_says_how_search_works_and_what_is_wrong_with_that(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("doctor", "--json").json["parts"]["embeddings"] == "off (EMBEDDINGS is off)"
    monkeypatch.setenv("EMBEDDINGS", "on")
    assert cli("doctor", "--json").json["parts"]["search"] == "by words and meaning"
    monkeypatch.setenv("EMBEDDINGS_URL", "http://127.0.0.1:9/v1")
    wrong = cli("doctor")
    assert wrong.code == 1
    assert "error: EMBEDDINGS_URL is set, but EMBEDDINGS_MODEL is not" in wrong.out


def test_the_key_of_an_endpoint_is_not_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS_API_KEY", "very-secret")
    assert "very-secret" not in cli("doctor").out + cli("doctor", "--json").out


def test_a_model_that_cannot_answer_is_a_problem_and_where_words_go_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("doctor", "--json").json["parts"]["words"] == "your words stay on this computer"
    monkeypatch.setenv("TURNLEAF_MODEL", "groq:llama")
    found = cli("doctor", "--json")
    assert found.code == 1
    assert found.json["parts"]["words"] == "your words go to Groq"
    assert found.json["problems"] == [
        {
            "level": "error",
            "message": "groq:llama cannot answer: GROQ_API_KEY is not set; run turnleaf setup",
        }
    ]
    monkeypatch.setenv("GROQ_API_KEY", "k")
    assert cli("doctor", "--json").json["problems"] == []


def test_a_server_on_this_machine_that_does_not_run_is_a_problem(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_MODEL", "ollama:m")
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OLLAMA_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        problems = cli("doctor", "--json").json["problems"]
    assert "cannot be reached; check that its server is running" in problems[0]["message"]
