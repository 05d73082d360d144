"""What one message asks of the memory, however much it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from turnleaf import Assistant
from turnleaf.core.learning.requests import Request
from turnleaf.core.messages import Message
from turnleaf.memory_commands import MAX_REQUESTS, carry_out_commands, find_requests

NOW = datetime(2026, 11, 16, 23, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with Assistant(tmp_path, now=lambda: NOW) as one:
        yield one


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("remember a, b and c, d", ["a, b and c, d"]),
        ("remember a, remember b. And don't forget c", ["a", "b", "c"]),
        ("記住我不吃花生，也記住我對貓過敏", ["我不吃花生", "我對貓過敏"]),
        ("remember " + "a, " * 1000 + "b", ["a, " * 1000 + "b"]),
    ],
)
def test_each_request_of_a_message_is_found(text: str, contents: list[str]) -> None:
    assert find_requests(text) == [Request("remember", content) for content in contents]


@pytest.mark.parametrize(("wish", "comma"), [("remember ", ", "), ("記住", "，")])
def test_what_is_asked_for_beyond_the_limit_stays_in_the_last_request(
    wish: str, comma: str
) -> None:
    facts = [f"fact {number}" for number in range(1000)]
    *first, last = find_requests(comma.join(wish + fact for fact in facts))
    assert [one.content for one in first] == facts[: MAX_REQUESTS - 1]
    rest = facts[MAX_REQUESTS - 1 :]
    assert last == Request("remember", comma.join([rest[0], *(wish + fact for fact in rest[1:])]))


def test_words_that_only_look_like_requests_do_not_hide_what_is_told() -> None:
    told = "remember milk" + ", remember it" * 1000
    assert find_requests(told) == [Request("remember", told.removeprefix("remember "))]


@pytest.mark.parametrize(
    ("text", "fact", "confirmed"),
    [
        (
            "remember I have an exam tomorrow",
            "I have an exam on 2026-11-17",
            "Remembered: I have an exam on 2026-11-17",
        ),
        ("記住我下週三要看牙醫", "我2026-11-25要看牙醫", "已記住：我2026-11-25要看牙醫"),
        ("记住我下周三要看牙医", "我2026-11-25要看牙医", "已记住：我2026-11-25要看牙医"),
    ],
)
def test_a_date_in_a_request_is_kept_absolutely_and_quoted_as_it_was_said(
    assistant: Assistant, text: str, fact: str, confirmed: str
) -> None:
    done = carry_out_commands(text, assistant.memory, assistant.learning, key="cli:a", now=NOW)
    assert done.confirmation == confirmed
    assert [one.content for one in assistant.memory.get_all()] == [fact]
    source = assistant.memory.changes(done.saved[0].id)[-1].source
    assert source is not None
    assert source.quote == text


def test_a_fact_is_forgotten_by_the_date_as_it_was_said(assistant: Assistant) -> None:
    stores = assistant.memory, assistant.learning
    carry_out_commands("remember I have an exam tomorrow", *stores, key="cli:a", now=NOW)
    done = carry_out_commands("forget that I have an exam tomorrow", *stores, key="cli:a", now=NOW)
    assert done.confirmation == "Forgotten: I have an exam on 2026-11-17"
    assert assistant.memory.get_all() == []


def test_the_same_date_said_the_day_after_is_known(assistant: Assistant) -> None:
    stores = assistant.memory, assistant.learning
    carry_out_commands("記住我明天要考試", *stores, key="cli:a", now=NOW)
    done = carry_out_commands("記住我今天要考試", *stores, key="cli:a", now=NOW + timedelta(days=1))
    assert done.confirmation == "我已經記得：我2026-11-17要考試"
    assert len(assistant.memory.get_all()) == 1


def test_a_recorded_request_counts_from_its_own_day_in_the_users_time_zone(
    assistant: Assistant,
) -> None:
    said = datetime(2026, 11, 9, 20, 0, tzinfo=UTC)
    assistant.record("host:a", [Message("user", "remember I have an exam tomorrow", said)])
    (exam,) = assistant.memory.view().ended
    assert exam.content == "I have an exam on 2026-11-11"
    assert assistant.memory.get_all() == []
