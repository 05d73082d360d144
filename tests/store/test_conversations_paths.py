"""Every version of a message is kept, and one path is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.kept import KEY, Kept, exchange, said, shown
from tests.strategies import brief
from turnleaf.core.messages import Message
from turnleaf.core.stored_messages import NewMessage
from turnleaf.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.store.conversations import ConversationStore


@pytest.fixture
def place(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.db")


def test_a_retried_question_takes_the_place_of_the_last_exchange(place: Kept) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    old = store.add_messages(KEY, exchange("two", "2"))
    new = store.add_messages(KEY, exchange("two", "zwei"), again="two")
    assert said(store) == shown(store) == ["one", "1", "two", "zwei"]
    question = store.messages(KEY)[2]
    assert question.versions == (old[0], new[0])
    assert store.find_message(old[1]) is not None
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.turns == 4


# A question that is stored before its answer


def opened(store: ConversationStore, question: str, **how: str | int) -> int:
    (number,) = store.add_messages(KEY, [NewMessage(Message("user", question), "stopped")], **how)  # type: ignore[arg-type]
    return number


def statuses(store: ConversationStore) -> list[tuple[str, str]]:
    return [(one.message.text, one.status) for one in store.messages(KEY)]


def turns(store: ConversationStore) -> int:
    summary = store.summary(KEY)
    assert summary is not None
    return summary.turns


def test_an_answer_completes_the_question_that_was_stored_before_it(place: Kept) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    question = opened(store, "two")
    assert statuses(store)[-1] == ("two", "stopped")
    ids = store.add_messages(KEY, exchange("two", "2"), opened=question)
    assert statuses(store)[2:] == [("two", "complete"), ("2", "complete")]
    assert ids[0] == question
    assert [one.id for one in store.messages(KEY)][2:] == ids
    assert turns(store) == 4


def test_a_question_that_stays_without_an_answer_says_how_it_ended(place: Kept) -> None:
    store = place.open()
    question = opened(store, "one")
    asked = NewMessage(Message("user", "one"), "failed")
    assert store.add_messages(KEY, [asked], opened=question) == [question]
    assert statuses(store) == [("one", "failed")]
    assert turns(store) == 1


def test_exchanges_at_the_same_time_stay_whole(place: Kept) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    slow, quick = opened(store, "slow"), opened(store, "quick")
    store.add_messages(KEY, exchange("quick", "2"), opened=quick)
    last = store.add_messages(KEY, exchange("slow", "3"), opened=slow)
    assert shown(store) == said(store) == ["one", "1", "quick", "2", "slow", "3"]
    assert turns(store) == 6
    assert store.find_message(slow) is None
    assert [one.message.text for one in store.changes_since(None).found] == shown(store)
    store.show_version(KEY, last[-1])
    assert shown(store) == ["one", "1", "quick", "2", "slow", "3"]


def test_an_exchange_of_a_conversation_that_was_erased_meanwhile_is_whole(place: Kept) -> None:
    store = place.open()
    question = opened(store, "one")
    store.clear(KEY)
    store.add_messages(KEY, exchange("one", "1"), opened=question)
    assert statuses(store) == [("one", "complete"), ("1", "complete")]


def test_a_question_that_is_edited_is_a_version_before_it_is_answered(place: Kept) -> None:
    store = place.open()
    (first, _) = store.add_messages(KEY, exchange("one", "1"))
    question = opened(store, "other", after=0)
    store.add_messages(KEY, exchange("other", "2"), opened=question)
    assert shown(store) == ["other", "2"]
    assert store.messages(KEY)[0].versions == (first, question)
    assert turns(store) == 2


def test_only_the_last_question_is_said_again(place: Kept) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("one", "eins"), again="one")
    assert said(store) == ["one", "1", "two", "2", "one", "eins"]


def test_a_question_whose_answer_failed_is_replaced_too(place: Kept) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    store.add_messages(KEY, [NewMessage(Message("user", "two"), "failed")])
    store.add_messages(KEY, exchange("two", "2"), again="two")
    assert said(store) == ["one", "1", "two", "2"]


def test_an_edited_message_keeps_what_followed_as_another_version(place: Kept) -> None:
    store = place.open()
    one = store.add_messages(KEY, exchange("one", "1"))
    two = store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("three", "3"))
    edited = store.add_messages(KEY, exchange("zwei", "II"), after=one[1])
    assert shown(store) == ["one", "1", "zwei", "II"]
    assert store.messages(KEY)[2].versions == (two[0], edited[0])
    store.show_version(KEY, two[0])
    assert shown(store) == said(store) == ["one", "1", "two", "2", "three", "3"]
    assert store.messages(KEY)[2].versions == (two[0], edited[0])
    store.add_exchange(KEY, "four", "4")
    assert shown(store)[-3:] == ["3", "four", "4"]
    store.show_version(KEY, edited[1])
    assert shown(store) == ["one", "1", "zwei", "II"]


def test_a_regenerated_answer_is_a_version_of_the_first(place: Kept) -> None:
    store = place.open()
    question, first = store.add_messages(KEY, exchange("Q", "A1"))
    (second,) = store.add_messages(KEY, [Message("assistant", "A2")], after=question)
    (third,) = store.add_messages(KEY, [Message("assistant", "A3")], after=question)
    assert shown(store) == ["Q", "A3"]
    assert store.messages(KEY)[1].versions == (first, second, third)
    store.show_version(KEY, first)
    assert shown(store) == ["Q", "A1"]


def test_a_conversation_can_begin_anew(place: Kept) -> None:
    store = place.open()
    first = store.add_messages(KEY, exchange("Q", "A"))
    second = store.add_messages(KEY, exchange("Q'", "A'"), after=0)
    assert shown(store) == ["Q'", "A'"]
    assert store.messages(KEY)[0].versions == (first[0], second[0])
    assert store.messages(KEY)[0].parent is None


def test_after_a_message_that_is_not_shown_its_own_path_is_shown(place: Kept) -> None:
    store = place.open()
    one = store.add_messages(KEY, exchange("one", "1"))
    two = store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("eins", "I"), after=0)
    store.add_messages(KEY, exchange("three", "3"), after=two[1])
    assert shown(store) == ["one", "1", "two", "2", "three", "3"]
    assert store.messages(KEY)[0].versions[0] == one[0]


def test_a_message_of_another_conversation_is_nobody_s_place(place: Kept) -> None:
    store = place.open()
    other = store.add_messages("other", exchange("Q", "A"))
    store.add_exchange(KEY, "Q", "A")
    for attempt in (
        lambda: store.add_messages(KEY, exchange("x", "y"), after=other[0]),
        lambda: store.add_messages(KEY, exchange("x", "y"), after=10**6),
        lambda: store.show_version(KEY, other[0]),
        lambda: store.show_version("nobody", other[0]),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert shown(store) == ["Q", "A"]


@brief
@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=12))
def test_the_shown_path_is_always_one_from_its_beginning_to_its_leaf(
    place: Kept, steps: list[tuple[int, bool]]
) -> None:
    store = place.open(conversation_max_turns=1000)
    store.clear(KEY)
    ids: list[int] = store.add_messages(KEY, exchange("Q", "A"))
    parents: dict[int, int | None] = {ids[0]: None, ids[1]: ids[0]}
    leaf = ids[1]
    for number, is_shown in steps:
        chosen = ids[number % len(ids)]
        if is_shown:
            store.show_version(KEY, chosen)
            below = {chosen}
            for one in ids:
                below |= {one} if parents[one] in below else set()
            leaf = max(below)
        else:
            (leaf,) = store.add_messages(KEY, [Message("user", "x")], after=chosen)
            parents[leaf] = chosen
            ids.append(leaf)
        path = [leaf]
        while (parent := parents[path[-1]]) is not None:
            path.append(parent)
        stored = store.messages(KEY)
        assert [one.id for one in stored] == path[::-1]
        for message in stored:
            same = tuple(n for n in ids if parents[n] == parents[message.id])
            assert message.versions == (same if len(same) > 1 else ())
        summary = store.summary(KEY)
        assert summary is not None
        assert summary.turns == len(path)
    store.close()
