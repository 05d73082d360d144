from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from turnleaf.core import conversation_formats as transcripts
from turnleaf.core.messages import Message, NewMessage
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

NOW = datetime.now(UTC)
LAMP, CAT, TEA = "客廳的燈叫什麼？", "What is my cat called?", "What do I drink?"


def say(cli: Cli, key: str, *texts: str, days: float = 0) -> None:
    then = NOW - timedelta(days=days)
    store = ConversationStore(cli.folder.conversations(Settings()), now=lambda: then)
    for text in texts:
        store.add_exchange(key, text, f"Answer to {text}")
    store.close()


@pytest.fixture
def three(cli: Cli) -> Cli:
    """Three conversations; in the list their numbers are 1, 2 and 3."""
    say(cli, "web:3", TEA, days=30)
    say(cli, "cli:session-2", CAT, days=20)
    say(cli, "web:1", LAMP, "And the other one?", days=1)
    return cli


# The list


def test_conversations_are_listed_with_number_time_title_and_key(three: Cli) -> None:
    heading, *rows = three("history").out.splitlines()
    assert heading.split() == ["No", "Last", "message", "Messages", "Key", "Title"]
    assert [(row.split()[0], row.split()[3:5]) for row in rows] == [
        ("1", ["4", "web:1"]),
        ("2", ["2", "cli:session-2"]),
        ("3", ["2", "web:3"]),
    ]
    assert [row.split("  ")[-1] for row in rows] == [LAMP, CAT, TEA]
    assert f"{NOW - timedelta(days=30):%Y-%m-%d}" in rows[2]


def test_json_tells_all_about_each(three: Cli) -> None:
    first = three("history", "--json").json[0]
    assert first["updatedAt"].endswith("Z")
    assert {name: first[name] for name in first if not name.endswith("At")} == {
        "number": 1, "key": "web:1", "title": LAMP, "turns": 4, "audience": "",
        "searched": True, "renamed": False,
    }  # fmt: skip


def test_a_long_list_says_how_much_of_it_is_left_out(cli: Cli) -> None:
    for number in range(52):
        say(cli, f"web:{number}", f"Question {number}")
    listed = cli("history")
    assert len(listed.out.splitlines()) == 51
    assert "2 older conversations not listed" in listed.err
    assert len(cli("history", "-n", "52").out.splitlines()) == 53
    assert len(cli("history", "--json").json) == 52
    assert len(cli("history", "--limit", "3", "--json").json) == 3
    assert cli("history", "52").out.startswith("Question 0")


def test_no_conversations_yet(cli: Cli) -> None:
    listed = cli("history")
    assert (listed.code, listed.out) == (0, "")
    assert "no conversations" in listed.err
    assert cli("history", "--json").json == []


# Which one


@pytest.mark.parametrize(
    "which", [["1"], ["web:1"], [LAMP], ["客廳的燈"], ["--", "web:1"], ["show", "1"]]
)
def test_a_conversation_is_meant_by_number_key_or_title(three: Cli, which: list[str]) -> None:
    shown = three("history", *which)
    assert shown.code == 0, shown.err
    assert shown.out.startswith(f"{LAMP}  (web:1)\n")


def test_a_title_needs_no_quotes_and_no_capitals(three: Cli) -> None:
    assert three("history", "what", "is", "MY").out.startswith(CAT)


def test_what_begins_several_is_refused_and_they_are_named(three: Cli) -> None:
    result = three("history", "what")
    assert (result.code, result.out) == (2, "")
    first, *candidates = result.err.splitlines()
    assert '2 conversations begin with "what"' in first
    assert [line.split()[0] for line in candidates] == ["2", "3"]
    assert CAT in candidates[0]
    assert "(web:3)" in candidates[1]


def test_a_whole_title_wins_over_the_beginning_of_another(cli: Cli) -> None:
    say(cli, "web:1", "Tea and coffee")
    say(cli, "web:2", "Tea")
    assert cli("history", "tea").out.startswith("Tea  (web:2)")


def test_a_key_wins_over_a_number_and_a_number_over_a_beginning(cli: Cli) -> None:
    say(cli, "2", "by its key", days=3)
    say(cli, "cli:session-15", "by number", days=2)
    say(cli, "web:9", "15 lamps", days=1)
    assert cli("history", "2").out.startswith("by its key")
    assert cli("history", "1").out.startswith("15 lamps")
    assert cli("history", "15 ").out.startswith("15 lamps")


@pytest.mark.parametrize("which", ["4", "0", "9" * 400, "zebra", "../../etc/passwd", "' OR 1=1 --"])
def test_what_means_no_conversation_matches_nothing(three: Cli, which: str) -> None:
    result = three("history", "--", which)
    assert (result.code, result.out) == (3, "")
    assert "there is no conversation" in result.err


@pytest.mark.parametrize("which", ["", "a\nb", "x" * 600])
def test_what_cannot_name_a_conversation_is_refused(three: Cli, which: str) -> None:
    assert three("history", which).code == 2


# Showing


def test_a_conversation_is_shown_whole_or_its_end(cli: Cli) -> None:
    say(cli, "web:1", *(f"question {number}" for number in range(30)))
    whole = cli("history", "1").out
    assert whole.count("Answer to question") == 30
    end = cli("history", "1", "--last", "2").out
    assert "… 58 earlier messages" in end
    assert "question 28" not in end
    assert end.count("question 29") == 2
    assert len(cli("history", "1", "--last", "2", "--json").json) == 2


def test_each_message_says_when_by_whom_and_what_became_of_it(cli: Cli) -> None:
    store = cli.conversations
    asked = Message("user", "多雲嗎？\nor sunny?", NOW, name="小安")
    store.add_messages("web:1", [asked, NewMessage(Message("assistant", "It is"), "stopped")])
    store.add_messages("web:1", [asked, Message("assistant", "Sunny\x1b[2J")], again=asked.text)
    store.hide("web:1", [NOW], "change:1")
    store.close()
    lines = cli("history", "1").out.splitlines()
    assert lines[2].endswith("user 小安  (forgotten)  (version 2 of 2)")
    assert lines[3:5] == ["  多雲嗎？", "  or sunny?"]
    assert "Sunny\\x1b[2J" in lines[-1]
    first, *_ = cli("history", "1", "--json").json
    assert (first["hidden"], len(first["versions"]), first["name"]) == (True, 2, "小安")


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


def test_a_broken_off_answer_says_so(cli: Cli) -> None:
    broken = NewMessage(Message("assistant", "It"), "failed")
    cli.conversations.add_messages("web:1", [Message("user", "燈？"), broken])
    assert "assistant  (interrupted by an error)" in cli("history", "1").out


# Renaming, searching, keeping out


def test_a_conversation_is_renamed_and_gets_its_first_title_back(three: Cli) -> None:
    renamed = three("history", "rename", "1", "小明", "與", "小美")
    assert renamed.out == f"renamed {LAMP} to 小明 與 小美\n"
    assert three("history", "--json").json[0]["renamed"] is True
    say(three, "web:1", "More")
    assert three("history", "小明").code == 0
    assert three("history", "rename", "小明", "").out.endswith(f" to {LAMP}\n")


def test_conversations_are_searched_by_title_and_text(three: Cli) -> None:
    assert [one["number"] for one in three("history", "search", "answer", "to", "--json").json] == [
        1, 2, 3,
    ]  # fmt: skip
    rows = three("history", "search", "其他", "燈")
    assert (rows.code, rows.out) == (3, "")
    assert [row.split()[0] for row in three("history", "search", "DRINK").out.splitlines()[1:]] == [
        "3"
    ]
    three("history", "rename", "2", "Mimi")
    assert three("history", "search", "mimi", "--json").json[0]["key"] == "cli:session-2"


def test_a_conversation_is_kept_out_of_the_search_and_let_in_again(three: Cli) -> None:
    assert three("search", "drink").code == 0
    said = three("history", "exclude", "3").out
    assert said == f"{TEA} is excluded from search and from the prompts of other conversations\n"
    heading, *rows = three("history").out.splitlines()
    assert "Search" in heading
    assert [" off " in row for row in rows] == [False, False, True]
    assert three("search", "drink").code == 3
    assert three("history", "include", "3").code == 0
    assert "Search" not in three("history").out
    assert three("search", "drink").code == 0


# Export


def test_an_export_goes_to_stdout_as_markdown_in_local_time(
    three: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = three.process("history", "export", "2", environ={"TZ": "Asia/Taipei"})
    local = NOW - timedelta(days=20) + timedelta(hours=8)
    assert done.out.startswith(f"# {CAT}\n\nConversation: cli:session-2")
    assert f"## User · {local:%Y-%m-%d %H:%M}\n\n> {CAT}\n" in done.out
    assert f"> Answer to {CAT}\n" in done.out
    assert done.err == ""
    monkeypatch.setenv("LC_ALL", "C")
    assert three.process("history", "export", "1").out.startswith(f"# {LAMP}")


@pytest.mark.parametrize("arguments", [["-o", "talk.json"], ["--format", "json", "-o", "talk.txt"]])
def test_an_export_as_json_can_be_read_back(three: Cli, arguments: list[str]) -> None:
    done = three("history", "export", "1", *arguments)
    assert (done.out, done.err) == ("", f"wrote 4 messages to {arguments[-1]}\n")
    read = transcripts.from_json(json.loads(Path(arguments[-1]).read_text("utf-8")))
    assert (read.key, read.title) == ("web:1", LAMP)
    assert list(read.messages) == three.conversations.messages("web:1")


def test_an_export_replaces_no_file_unless_told_to(three: Cli) -> None:
    assert three("history", "export", "1", "-o", "talk.md").code == 0
    again = three("history", "export", "2", "-o", "talk.md")
    assert again.code == 2
    assert "--force" in again.err
    assert three("history", "export", "2", "-o", "talk.md", "--force").code == 0
    assert Path("talk.md").read_text("utf-8").startswith(f"# {CAT}")
    assert three("history", "export", "2", "-o", ".").code == 2


def test_an_export_on_a_terminal_shows_escape_codes_and_does_not_send_them(cli: Cli) -> None:
    say(cli, "web:1", "Red \x1b[31m")
    with terminal("history", "export", "1") as screen:
        assert screen.end() == 0
        assert "Red \\x1b[31m" in screen.output
        assert "\x1b[31m" not in screen.output


# Erasing


def test_an_erased_conversation_is_gone_to_the_last_byte(three: Cli) -> None:
    assert three("search", "drink").code == 0
    asked = three("history", "erase", "3")
    assert asked.code == 2
    assert "--yes" in asked.err
    done = three("history", "erase", "what", "do", "--yes")
    assert done.out == f"erased {TEA}: its messages and their search entries\n"
    assert [one["key"] for one in three("history", "--json").json] == ["web:1", "cli:session-2"]
    everything = b"".join(path.read_bytes() for path in three.data.rglob("*") if path.is_file())
    assert b"drink" not in everything
    assert LAMP.encode() in everything


def test_on_a_terminal_the_title_is_named_before_it_is_erased(three: Cli) -> None:
    with terminal("history", "erase", "3") as screen:
        screen.wait_for(f'Permanently erase the conversation "{TEA}"? [y/N]')
        screen.type("n\r")
        assert screen.end() == 1
    assert len(three("history", "--json").json) == 3


# Where only the newest messages are kept


def test_a_json_file_is_listed_and_exported_and_says_what_only_a_database_can(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = cli.data / "conversations.json"
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(location))
    ConversationStore(location).add_exchange("web:1", LAMP, "小明")
    assert LAMP in cli("history").out
    assert "小明" in cli("history", "1").out
    assert cli("history", "export", "1").out.startswith(f"# {LAMP}")
    for arguments in (["rename", "1", "x"], ["exclude", "1"]):
        result = cli("history", *arguments)
        assert result.code == 2
        assert ".db" in result.err


def test_a_broken_file_of_conversations_is_kept_and_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = cli.data / "conversations.json"
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(location))
    ConversationStore(location).init()
    location.write_text(json.dumps({"version": 1, "conversations": []}), "utf-8")
    result = cli("history")
    assert result.code == 0
    (aside,) = location.parent.glob("*.corrupt-*")
    assert aside.name in result.err


def test_the_help_names_the_commands(cli: Cli) -> None:
    told = cli("history", "--help").out
    for name in ("show", "rename", "export", "erase", "search", "exclude", "include"):
        assert f"  {name} " in told
    assert cli("history", "erase", "--help").code == 0
