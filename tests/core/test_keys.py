"""A conversation has the same name in every interface."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from turnleaf.core.keys import MAX_KEY_CHARS, check_key, cli_key, schedule_key, slack_key
from turnleaf.errors import InvalidInput


def test_a_slack_thread_is_named_by_its_first_message() -> None:
    assert slack_key("1700000001.000200", "1700000000.000100") == "slack:1700000000.000100"


def test_a_slack_message_outside_a_thread_is_named_by_itself() -> None:
    assert slack_key("1700000001.000200") == "slack:1700000001.000200"
    assert slack_key("1700000001.000200", "") == "slack:1700000001.000200"


def test_a_command_line_session_is_named_by_its_start_in_milliseconds() -> None:
    started = datetime(2026, 3, 1, 8, 30, 0, 123_900, tzinfo=UTC)
    assert cli_key(started) == "cli:session-1772353800123"
    assert cli_key(started.astimezone(timezone(timedelta(hours=8)))) == cli_key(started)
    assert cli_key(1772353800123) == cli_key("1772353800123") == cli_key(started)


def test_a_schedule_is_named_by_its_id() -> None:
    assert schedule_key("morning") == "schedule:morning"


@pytest.mark.parametrize("key", ["../../etc/passwd", "a/b\\c", "名字", "x" * MAX_KEY_CHARS, "a b"])
def test_whatever_is_text_is_just_a_name(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "needs a key"),
        (" \t", "needs a key"),
        ("x" * (MAX_KEY_CHARS + 1), "is limited to 512 characters, and this one has 513"),
        ("a\0b", "not text"),
        ("a\nb", "not text"),
        ("a\ud800", "not text"),
    ],
)
def test_what_is_no_name_is_refused(key: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        check_key(key)


def test_a_slack_time_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidInput):
        slack_key("1\n2")
