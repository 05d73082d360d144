"""The feed by which an index follows a database of conversations."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store import others
from tests.store.kept import KEY, START, Kept, exchange
from tests.strategies import brief
from turnleaf.core.audiences import only
from turnleaf.core.messages import Message
from turnleaf.core.stored_messages import Cursor, FeedMessage, NewMessage
from turnleaf.settings import Settings
from turnleaf.store.conversations import ConversationStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.db")


class Follower:
    """All that a reader of the feed knows, built from nothing but the feed."""

    def __init__(self, store: ConversationStore, limit: int = 1000) -> None:
        self._store = store
        self._limit = limit
        self.cursor: Cursor | None = None
        self.known: dict[int, FeedMessage] = {}

    def follow(self) -> list[int]:
        """Take in what is new; return the ids of what was reported."""
        reported: list[int] = []
        while True:
            feed = self._store.changes_since(self.cursor, self._limit)
            self.cursor = feed.cursor
            self.known |= {one.id: one for one in feed.found}
            for gone in feed.gone:
                self.known.pop(gone, None)
            reported += [*(one.id for one in feed.found), *feed.gone]
            if feed.is_last:
                return reported

    def texts(self, *, is_shown: bool = True) -> list[str]:
        found = sorted(self.known.items())
        return [one.message.text for _, one in found if one.is_shown is is_shown]


def test_what_is_said_is_fed_once(place: Kept) -> None:
    store = place.open()
    follower = Follower(store)
    ids = store.add_messages(KEY, exchange("Q", "A"))
    assert follower.follow() == ids
    assert follower.follow() == []
    store.add_exchange("other", "Q2", "A2")
    follower.follow()
    assert follower.texts() == ["Q", "A", "Q2", "A2"]
    assert {one.key for one in follower.known.values()} == {KEY, "other"}


def test_only_what_has_text_and_was_said_is_fed(place: Kept) -> None:
    store = place.open()
    store.add_messages(
        KEY,
        [
            Message("system", "be kind"),
            Message("user", ""),
            Message("assistant", None, tool_calls=[{"id": "a", "type": "function"}]),
            Message("tool", "sunny", tool_call_id="a"),
            Message("user", [{"type": "image_url", "image_url": {"url": "x"}}]),
            Message("user", [{"type": "text", "text": "看"}], name="Ann"),
        ],
    )
    follower = Follower(store)
    follower.follow()
    assert follower.texts() == ["sunny", "看"]
    assert [one.message.name for one in follower.known.values()] == [None, "Ann"]
    assert [one.trust for one in follower.known.values()] == ["tool", "user"]


def test_a_message_is_fed_with_what_decides_who_may_find_it(place: Kept) -> None:
    store = place.open()
    new = [NewMessage(Message("user", "x"), trust="stranger", source="slack:U2")]
    (number,) = store.add_messages("slack:1.2", new, audience=only("slack:D1"))
    (fed,) = store.changes_since(None).found
    assert fed == FeedMessage(
        id=number,
        key="slack:1.2",
        message=Message("user", "x", START),
        trust="stranger",
        source="slack:U2",
        parent=None,
        audience=only("slack:D1"),
        is_shown=True,
    )


def test_every_change_of_a_message_is_fed_anew(place: Kept) -> None:
    store = place.open()
    follower = Follower(store)
    ids = store.add_messages(KEY, [NewMessage(Message("user", "Q"), trust="stranger")])
    follower.follow()
    store.accept(KEY, [START])
    assert follower.follow() == ids
    assert follower.known[ids[0]].trust == "user"
    store.hide(KEY, [START], "change:1")
    assert follower.follow() == ids
    assert follower.known == {}
    store.show_again("change:1")
    assert follower.follow() == ids
    store.set_searched(KEY, searched=False)
    assert follower.follow() == ids
    assert follower.known == {}
    store.add_exchange(KEY, "more", "A")
    follower.follow()
    assert follower.known == {}
    store.set_searched(KEY, searched=True)
    follower.follow()
    assert follower.texts() == ["Q", "more", "A"]
    store.add_messages(KEY, exchange("x", "y"), audience=only("me"))
    follower.follow()
    assert {one.audience for one in follower.known.values()} == {only("me")}


def test_a_version_that_is_no_longer_shown_is_fed_as_such(place: Kept) -> None:
    store = place.open()
    follower = Follower(store)
    store.add_messages(KEY, exchange("one", "1"))
    old = store.add_messages(KEY, exchange("two", "2"))
    follower.follow()
    store.add_messages(KEY, exchange("two", "zwei"), again="two")
    follower.follow()
    assert follower.texts() == ["one", "1", "two", "zwei"]
    assert follower.texts(is_shown=False) == ["two", "2"]
    store.show_version(KEY, old[0])
    follower.follow()
    assert follower.texts() == ["one", "1", "two", "2"]
    assert follower.texts(is_shown=False) == ["two", "zwei"]


def test_what_is_erased_or_expires_is_gone(place: Kept) -> None:
    store = place.open(conversation_keep_days=30)
    follower = Follower(store)
    store.add_exchange("old", "Q", "A")
    place.now += timedelta(days=31)
    store.add_exchange(KEY, "Q2", "A2")
    follower.follow()
    store.cleanup()
    follower.follow()
    assert follower.texts() == ["Q2", "A2"]
    store.clear(KEY)
    follower.follow()
    assert follower.known == {}


def test_a_switch_that_changes_nothing_feeds_nothing(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    follower = Follower(store)
    follower.follow()
    store.set_searched(KEY, searched=True)
    store.rename(KEY, "title")
    assert follower.follow() == []


def test_another_database_has_another_name(place: Kept, tmp_path: Path) -> None:
    store = place.open()
    name = store.changes_since(None).database
    assert place.open().changes_since(None).database == name
    other = ConversationStore(tmp_path / "other.db", settings=Settings())
    assert other.changes_since(None).database != name


def test_what_another_process_says_is_fed(place: Kept) -> None:
    store = place.open()
    follower = Follower(store)
    others.run("add_exchanges", place.path, KEY, "there", "3")
    follower.follow()
    assert follower.texts()[::2] == ["there 0", "there 1", "there 2"]


def switch(store: ConversationStore, key: str, *, searched: bool) -> None:
    if store.summary(key):
        store.set_searched(key, searched=searched)


STEPS: dict[str, Callable[[ConversationStore, str], object]] = {
    "add": lambda store, key: store.add_exchange(key, "Q", "A"),
    "retry": lambda store, key: store.add_messages(key, exchange("Q", "again"), again="Q"),
    "begin": lambda store, key: store.add_messages(key, exchange("Q", "anew"), after=0),
    "hide": lambda store, key: store.hide(key, [START], key),
    "show": lambda store, key: store.show_again(key),
    "off": lambda store, key: switch(store, key, searched=False),
    "on": lambda store, key: switch(store, key, searched=True),
    "clear": lambda store, key: store.clear(key),
}
DEEDS = st.tuples(st.sampled_from([*STEPS, "follow"]), st.sampled_from(["a", "b"]))


@brief
@given(st.lists(DEEDS, max_size=25), st.integers(1, 4))
def test_whoever_follows_knows_the_same_as_whoever_begins_anew(
    place: Kept, deeds: list[tuple[str, str]], limit: int
) -> None:
    store = place.open()
    for key in ("a", "b"):
        store.clear(key)
    follower = Follower(store, limit)
    follower.follow()
    for step, key in deeds:
        if step == "follow":
            follower.follow()
        else:
            STEPS[step](store, key)
    follower.follow()
    anew = Follower(store)
    anew.follow()
    assert follower.known == anew.known
    store.close()
