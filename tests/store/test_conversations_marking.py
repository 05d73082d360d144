"""Titles, audiences, and messages that are hidden or accepted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.store.kept import DAY, KEY, START, Kept, exchange, said
from turnleaf.core.audiences import EVERYONE, only, own_prompts
from turnleaf.core.messages import Message
from turnleaf.core.stored_messages import NewMessage
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.settings import Settings
from turnleaf.store.conversations import ConversationStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.db")


# Titles


def test_a_title_stays_whatever_is_said_later(place: Kept) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(30):
        store.add_exchange(KEY, f"Q{number}", "A")
    store.add_messages(KEY, exchange("another beginning", "A"), after=0)
    assert [one.title for one in store.summaries()] == ["Q0"]


def test_a_conversation_can_be_renamed_and_named_back(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "first question", "A")
    store.rename(KEY, "  客廳\n的燈 \ud800" + "x" * 100)
    renamed = place.open().summary(KEY)
    assert renamed is not None
    assert renamed.is_renamed
    assert renamed.title == ("客廳 的燈 ?" + "x" * 100)[:80]
    assert [one.key for one in store.summaries("客廳 的")] == [KEY]
    store.rename(KEY, " ")
    named_back = store.summary(KEY)
    assert named_back is not None
    assert (named_back.title, named_back.is_renamed) == ("first question", False)
    with pytest.raises(NotFound, match="no conversation 'nobody'"):
        store.rename("nobody", "x")


def test_a_file_can_do_none_of_this(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations.json", settings=Settings())
    store.add_exchange(KEY, "Q", "A")
    assert not store.keeps_everything
    for attempt in (
        lambda: store.rename(KEY, "x"),
        lambda: store.set_searched(KEY, searched=False),
        lambda: store.hide(KEY, [START], "change:1"),
        lambda: store.show_again("change:1"),
        lambda: store.accept(KEY, [START]),
        lambda: store.show_version(KEY, 1),
        lambda: store.take_over(KEY, []),
        lambda: store.changes_since(None),
    ):
        with pytest.raises(InvalidInput, match=r"only a location ending in \.db can"):
            attempt()
    assert store.find_message(1) is None


# Hiding


def hidden(store: ConversationStore) -> list[str]:
    return [one.message.text for one in store.messages(KEY) if one.is_hidden]


def test_a_hidden_message_and_its_answer_are_in_no_window(place: Kept) -> None:
    store = place.open()
    times = []
    for number in range(3):
        times.append(place.now)
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
        place.now += timedelta(minutes=1)
    assert len(store.hide(KEY, [times[1]], "change:17")) == 2
    assert said(place.open()) == ["Q0", "A0", "Q2", "A2"]
    assert [one.message.text for one in store.window(KEY)] == ["Q0", "A0", "Q2", "A2"]
    assert hidden(store) == ["Q1", "A1"]
    assert store.show_again("change:16") == 0
    assert store.show_again("change:17") == 2
    assert said(store) == ["Q0", "A0", "Q1", "A1", "Q2", "A2"]


def test_what_is_hidden_for_two_reasons_is_shown_after_both(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.hide(KEY, [START], "change:1")
    store.hide(KEY, [START], "change:2")
    assert store.show_again("change:1") == 0
    assert said(store) == []
    assert store.show_again("change:2") == 2
    assert said(store) == ["Q", "A"]


def test_what_is_said_to_some_people_only_is_listed_and_not_found_by_its_text(place: Kept) -> None:
    store = place.open()
    for key in ("slack:D1:2", "schedule:news", "cli:1"):
        store.add_exchange(key, "the surprise party", "A")
    assert {one.key for one in store.summaries()} == {"slack:D1:2", "schedule:news", "cli:1"}
    for text in ("surprise", "the surprise party", "a"):
        assert {one.key for one in store.summaries(text)} == {"schedule:news", "cli:1"}


def test_a_hidden_question_is_no_title_and_not_found_in_the_list(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "my dog is Rex", "Hello Rex")
    place.now += timedelta(minutes=1)
    store.add_exchange(KEY, "what time is it?", "noon")
    store.hide(KEY, [START], "change:1")
    assert [one.title for one in store.summaries()] == ["what time is it?"]
    assert store.summaries("rex") == []
    store.show_again("change:1")
    assert [one.title for one in store.summaries("rex")] == ["my dog is Rex"]


def test_nothing_is_hidden_where_nothing_was_said(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    assert store.hide(KEY, [START + timedelta(milliseconds=1)], "x") == []
    assert store.hide("nobody", [START], "x") == []
    assert said(store) == ["Q", "A"]


def test_accepted_words_are_the_user_s(place: Kept) -> None:
    store = place.open()
    store.add_messages(
        KEY,
        [
            NewMessage(Message("user", "a stranger's"), trust="stranger"),
            NewMessage(Message("assistant", "beside a document"), trust="document"),
            Message("user", "mine"),
        ],
    )
    assert store.accept(KEY, [START + DAY]) == 0
    assert store.accept("nobody", [START]) == 0
    assert store.accept(KEY, [START]) == 2
    assert store.accept(KEY, [START]) == 0
    assert [one.trust for one in store.messages(KEY)] == ["user", "user", "user"]


# Audiences


@pytest.mark.parametrize(
    ("audiences", "expected"),
    [
        ([None], EVERYONE),
        ([only("a")], only("a")),
        ([None, only("a"), None], only("a")),
        ([EVERYONE, own_prompts("a"), only("b")], only("b")),
        ([only("a"), EVERYONE, own_prompts("a"), only("b")], only("a")),
    ],
)
def test_an_audience_only_becomes_narrower(
    place: Kept, audiences: Sequence[str | None], expected: str
) -> None:
    store = place.open()
    for audience in audiences:
        store.add_messages(KEY, exchange("Q", "A"), audience=audience)
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.audience == expected


def test_a_key_says_for_whom_a_conversation_is_unless_somebody_else_does(place: Kept) -> None:
    store = place.open()
    store.add_exchange("schedule:早安", "Q", "A")
    store.add_exchange("slack:1.2", "Q", "A")
    store.add_messages("slack:3.4", exchange("Q", "A"), audience=EVERYONE)
    assert {one.key: one.audience for one in store.summaries()} == {
        "schedule:早安": own_prompts("schedule:早安"),
        "slack:1.2": only("slack:1.2"),
        "slack:3.4": EVERYONE,
    }
