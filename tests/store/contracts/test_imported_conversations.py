"""The contract of `Conversations.import_tree`: whole conversations, however often they come."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.store.contracts.conftest import START, Backend
from turnleaf.core.messages import Message, NewMessage, TreeNode
from turnleaf.store.contracts import Conversations

KEY = "import:chatgpt:1"


@pytest.fixture
def store(backend: Backend) -> Conversations:
    return backend.open("default").conversations


def node(place: int, text: str, parent: int | None, trust: str | None = None) -> TreeNode:
    role = "assistant" if text.startswith("re:") else "user"
    said_at = START - timedelta(days=400) + timedelta(minutes=place)
    return TreeNode(NewMessage(Message(role, text, said_at), trust=trust), parent)


TALK = [
    node(0, "燈叫什麼？", None),
    node(1, "re: no idea", 0),
    node(2, "re: 小明", 0),
    node(3, "謝謝", 2),
]


def list_texts(store: Conversations) -> list[str]:
    return [stored.message.text for stored in store.messages(KEY)]


def test_the_path_to_the_leaf_is_shown_and_other_branches_are_versions(
    store: Conversations,
) -> None:
    assert store.import_tree(KEY, TALK, leaf=3) == 4
    assert list_texts(store) == ["燈叫什麼？", "re: 小明", "謝謝"]
    answer = store.messages(KEY)[1]
    other = [store.find_message(number) for number in answer.versions if number != answer.id]
    assert [found[1].message.text for found in other if found] == ["re: no idea"]


def test_times_and_the_title_are_those_of_the_import(store: Conversations) -> None:
    store.import_tree(KEY, TALK, leaf=3, title="Lamps 客廳")
    summary = store.summary(KEY)
    assert summary
    assert summary.title == "Lamps 客廳"
    assert summary.created_at == START - timedelta(days=400)
    assert summary.updated_at == summary.created_at + timedelta(minutes=3)
    assert summary.turns == 3


def test_a_title_that_somebody_chose_stays(store: Conversations) -> None:
    store.import_tree(KEY, TALK[:2], title="theirs")
    store.rename(KEY, "mine")
    store.import_tree(KEY, TALK, title="theirs, later")
    summary = store.summary(KEY)
    assert summary
    assert summary.title == "mine"


def test_an_import_that_is_repeated_adds_nothing(store: Conversations) -> None:
    store.import_tree(KEY, TALK, leaf=3)
    before = store.messages(KEY)
    assert store.import_tree(KEY, TALK, leaf=3) == 0
    assert store.messages(KEY) == before
    assert store.figures().messages == 4


def test_a_longer_export_adds_what_it_has_more(store: Conversations) -> None:
    store.import_tree(KEY, TALK[:3], leaf=2)
    assert store.import_tree(KEY, TALK, leaf=3) == 1
    assert list_texts(store) == ["燈叫什麼？", "re: 小明", "謝謝"]


def test_what_was_said_here_since_goes_on_being_shown(store: Conversations) -> None:
    store.import_tree(KEY, TALK[:2], leaf=1)
    store.add_exchange(KEY, "here", "re: here")
    store.import_tree(KEY, TALK, leaf=3)
    assert list_texts(store) == ["燈叫什麼？", "re: no idea", "here", "re: here"]


def test_the_same_words_in_two_places_are_two_messages(store: Conversations) -> None:
    twice = [node(0, "hello", None), node(1, "re: hi", 0), node(0, "hello", 1)]
    assert store.import_tree(KEY, twice) == 3
    assert store.import_tree(KEY, twice) == 0


def test_trust_and_source_are_kept(store: Conversations) -> None:
    page = NewMessage(Message("user", "a page", START), trust="document", source="note:a.md")
    store.import_tree(KEY, [TreeNode(page)])
    (stored,) = store.messages(KEY)
    assert (stored.trust, stored.source) == ("document", "note:a.md")


def test_every_message_is_in_the_feed_and_branches_are_not_shown(store: Conversations) -> None:
    store.import_tree(KEY, TALK, leaf=3)
    found = store.changes_since(None).found
    assert {one.message.text: one.is_shown for one in found} == {
        "燈叫什麼？": True,
        "re: no idea": False,
        "re: 小明": True,
        "謝謝": True,
    }


def test_no_messages_are_no_conversation(store: Conversations) -> None:
    assert store.import_tree(KEY, []) == 0
    assert store.summary(KEY) is None


def test_what_an_import_would_add_is_counted_and_nothing_is_added(store: Conversations) -> None:
    assert store.count_new(KEY, TALK) == 4
    assert store.summaries() == []
    store.import_tree(KEY, TALK[:3], leaf=2)
    # Once more in the same place is the same message; after another one it is not.
    longer = [*TALK, TALK[3], node(3, "謝謝", 1)]
    assert store.count_new(KEY, longer) == 2
    assert list_texts(store) == ["燈叫什麼？", "re: 小明"]
    assert store.import_tree(KEY, longer) == 2
    assert store.count_new(KEY, longer) == 0
