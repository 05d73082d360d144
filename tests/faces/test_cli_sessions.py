"""What a person is told when a data folder is used for the first time."""

from __future__ import annotations

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal

ENGLISH = "Every message is kept forever in "
CHINESE = "每則訊息都會永久保留，存放在 "


def ask(*options: str) -> str:
    """Ask something on a terminal, and return all that is seen."""
    with terminal("ask", *options, "Hello", columns=400) as seen:
        assert seen.end() == 0
        return seen.output


@pytest.fixture(autouse=True)
def without_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    monkeypatch.setenv("EMBEDDINGS", "off")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert not cli.data.exists()


def test_the_first_start_says_once_what_is_kept_and_how_to_change_that(cli: Cli) -> None:
    first = ask()
    assert f"{ENGLISH}{cli.data / 'conversations' / 'conversations.db'}. To change that: " in first
    assert first.count("turnleaf config conversationKeepDays DAYS") == 1
    assert ENGLISH not in ask()


def test_it_says_so_in_chinese_where_the_terminal_speaks_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_TW.UTF-8")
    seen = ask()
    assert f"{CHINESE}{cli.data / 'conversations' / 'conversations.db'}。要更改請用 " in seen
    assert "kept" not in seen


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ("30", "Every message is kept for 30 days in "),
        ("0", "Only the latest messages are kept in "),
    ],
)
def test_it_says_what_was_set(monkeypatch: pytest.MonkeyPatch, days: str, said: str) -> None:
    monkeypatch.setenv("CONVERSATION_KEEP_DAYS", days)
    assert said in ask()


def test_nothing_is_said_where_nothing_is_kept() -> None:
    assert "kept" not in ask("--no-memory")


def test_nothing_is_said_to_a_pipe(cli: Cli) -> None:
    asked = cli.fork("ask", "Hello")
    assert (asked.code, asked.err) == (0, "")
