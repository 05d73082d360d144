from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import pytest

from tests.faces.conftest import Cli
from turnleaf.core.messages import Message

pytestmark = pytest.mark.usefixtures("at_noon")


def local_day() -> str:
    return datetime.now().astimezone().date().isoformat()


# log and today


def test_what_is_logged_is_shown_today(cli: Cli) -> None:
    assert cli("log", "今天", "澆花了").code == 0
    assert cli("log", stdin="one\ntwo\n").code == 0
    shown = cli("today")
    assert shown.code == 0
    assert "今天 澆花了" in shown.out
    assert "one\n  two" in shown.out
    assert cli("today", "--json").json == {
        "date": local_day(),
        "text": cli.daily.read(local_day()),
    }


def test_an_empty_day_says_how_to_begin(cli: Cli) -> None:
    shown = cli("today")
    assert (shown.code, shown.out) == (0, "")
    assert "turnleaf log" in shown.err
    assert cli("today", "--json").json["text"] == ""
    assert not cli.data.exists()


def test_another_day_is_shown_by_its_date(cli: Cli) -> None:
    cli.daily.init()
    (cli.folder.daily / "2026-01-02.md").write_text("# 2026-01-02\n\n- 08:00 早\n", "utf-8")
    assert "08:00 早" in cli("today", "--date", "2026-01-02").out
    missing = cli("today", "--date", "2026-01-03")
    assert (missing.code, missing.out) == (3, "")


def test_the_day_is_the_local_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two zones that are never on the same date at the same moment.
    days = []
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        cli("log", zone)
        days.append(cli("today", "--json").json)
    monkeypatch.delenv("TZ")
    time.tzset()
    assert days[0]["date"] != days[1]["date"]
    assert "GMT-14" in days[0]["text"]
    assert "GMT-14" not in days[1]["text"]


@pytest.mark.parametrize("text", ["", " \n", "a\0b"])
def test_what_cannot_be_logged_is_refused(cli: Cli, text: str) -> None:
    result = cli("log", stdin=text)
    assert (result.code, result.out) == (2, "")
    assert not cli.daily.dates()


def test_escape_codes_in_a_log_are_written_out(cli: Cli) -> None:
    cli("log", "a \x1b[2J b")
    assert "a \\x1b[2J b" in cli("today").out


# history


def test_no_conversations_yet(cli: Cli) -> None:
    listed = cli("history")
    assert (listed.code, listed.out) == (0, "")
    assert "no conversations" in listed.err
    assert cli("history", "--json").json == []


def test_conversations_are_listed_newest_first(cli: Cli) -> None:
    store = cli.conversations
    store.add_exchange("slack:1", "hello", "hi")
    store.add_exchange("排程:二", "早安", "早")
    rows = cli("history").out.splitlines()[1:]
    assert [row.split()[-1] for row in rows] == ["排程:二", "slack:1"]
    assert [(one["key"], one["turns"]) for one in cli("history", "--json").json] == [
        ("排程:二", 2),
        ("slack:1", 2),
    ]


def test_a_conversation_is_shown_with_tools_and_pictures(cli: Cli) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "台北"}'},
    }
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "看"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]
    refusal: list[dict[str, Any]] = [{"type": "refusal", "refusal": "這我不能說"}]
    cli.conversations.add_messages(
        "cli:session-1",
        [
            Message("user", parts),
            Message("assistant", None, tool_calls=[call]),
            Message("tool", "72°F\x1b[0m", tool_call_id="c1"),
            Message("assistant", "多雲\nand warm"),
            Message("assistant", refusal),
        ],
    )
    shown = cli("history", "cli:session-1")
    assert shown.code == 0
    for piece in ("看", "[image_url]", "weather", "台北", "72°F\\x1b[0m", "  多雲\n  and warm"):
        assert piece in shown.out
    assert "  這我不能說\n" in shown.out
    messages = cli("history", "cli:session-1", "--json").json
    assert [one["role"] for one in messages[:4]] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["toolCalls"] == [call]


@pytest.mark.parametrize("key", ["nobody", "../../etc/passwd", "/etc/passwd", "' OR 1=1 --"])
def test_an_unknown_conversation_matches_nothing(cli: Cli, key: str) -> None:
    result = cli("history", "--", key)
    assert (result.code, result.out) == (3, "")
    assert "no conversation" in result.err


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 600])
def test_what_cannot_name_a_conversation_is_refused(cli: Cli, key: str) -> None:
    assert cli("history", key).code == 2


def test_a_broken_file_of_conversations_is_kept_and_named(cli: Cli) -> None:
    cli.conversations.init()
    location = cli.conversations.location
    location.write_text(json.dumps({"version": 1, "conversations": []}), "utf-8")
    result = cli("history")
    assert result.code == 0
    (aside,) = location.parent.glob("*.corrupt-*")
    assert aside.name in result.err


def test_conversations_in_a_database_are_shown_too(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(cli.data / "conversations.db"))
    assert cli("history").code == 0
    assert (cli.data / "conversations.db").exists()
