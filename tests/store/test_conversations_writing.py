"""Messages of other files are taken over into a database, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.store.timed_place import DAY, KEY, START, TimedPlace, list_shown
from turnleaf.core.messages import Message

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.db")


def test_messages_of_another_file_are_taken_over_in_order_of_time_and_once(
    place: TimedPlace,
) -> None:
    store = place.open()
    messages = [
        Message("assistant", "A2", START - DAY),
        Message("user", "Q1", START - 9 * DAY),
        Message("user", "Q1", START - 9 * DAY),
        Message("assistant", "A1", START - 9 * DAY),
        Message("user", "Q2", START - DAY),
    ]
    assert store.take_over(KEY, messages) == 4
    assert store.take_over(KEY, messages) == 0
    assert list_shown(store) == ["Q1", "A1", "A2", "Q2"]
    summary = store.summary(KEY)
    assert summary is not None
    assert (summary.title, summary.turns) == ("Q1", 4)
    assert (summary.created_at, summary.updated_at) == (START - 9 * DAY, START - DAY)
    assert store.figures().oldest == START - 9 * DAY


def test_what_is_taken_over_later_is_appended(place: TimedPlace) -> None:
    store = place.open()
    store.add_exchange(KEY, "new", "A")
    assert store.take_over(KEY, [Message("user", "older", START - DAY)], title="x") == 1
    assert list_shown(store) == ["new", "A", "older"]
    summary = store.summary(KEY)
    assert summary is not None
    assert (summary.created_at, summary.updated_at) == (START - DAY, START)
    assert summary.title == "new"


def test_what_is_not_plain_text_is_taken_over_once_and_none_is_lost(
    place: TimedPlace,
) -> None:
    store = place.open()
    calls = [
        Message("assistant", None, START, tool_calls=[{"id": name, "type": "function"}])
        for name in "ab"
    ]
    strange = [Message("user", "\ud800", START), Message("user", "\0", START), Message("user", "")]
    assert store.take_over(KEY, [*calls, *strange]) == 5
    assert store.take_over(KEY, [*calls, *strange]) == 0
    assert [one.message.call_ids for one in store.messages(KEY)][:2] == [["a"], ["b"]]


def test_a_title_is_taken_over_with_a_new_conversation(place: TimedPlace) -> None:
    store = place.open()
    store.take_over(KEY, [Message("user", "later question", START)], title="first question")
    assert [one.title for one in store.summaries()] == ["first question"]
