"""A database of conversations keeps every message and shows the newest."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.kept import DAY, KEY, START, Kept, exchange, said, shown
from tests.strategies import brief, conversations
from turnleaf.core.messages import Message
from turnleaf.core.stored_messages import NewMessage
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.errors import InvalidInput
from turnleaf.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.db")


OPENED = """
import sys
from turnleaf import ConversationStore
store = ConversationStore(sys.argv[1])
store.add_exchange("k", "Q", "A")
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(args[0]))
for number in range(10):
    store.add_exchange("k", f"Q{number}", "A")
print(opened)
"""


def test_an_exchange_added_to_an_open_database_opens_no_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path / "conversations.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Everything is kept


def test_every_message_is_kept_and_the_window_shows_the_newest(place: Kept) -> None:
    store = place.open(conversation_max_turns=4)
    for number in range(50):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert said(store) == ["Q48", "A48", "Q49", "A49"]
    assert shown(store) == [text for n in range(50) for text in (f"Q{n}", f"A{n}")]
    assert store.keeps_everything
    summary = store.summary(KEY)
    assert summary is not None
    assert (summary.turns, summary.title) == (100, "Q0")


def test_one_long_answer_pushes_nothing_out_of_what_is_kept(place: Kept) -> None:
    store = place.open(conversation_max_chars=100)
    store.add_exchange(KEY, "before", "it")
    store.add_exchange(KEY, "long", "x" * 10_000)
    assert said(store) == ["long", "x" * 10_000]
    assert shown(store)[:2] == ["before", "it"]


def test_other_limits_show_more_of_what_is_kept(place: Kept) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(3):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert len(said(store)) == 2
    store.use(Settings(conversation_max_turns=100))
    assert len(said(store)) == 6


def test_reading_changes_nothing(place: Kept) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(3):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    watcher = apsw.Connection(str(place.path))
    before = watcher.pragma("data_version")
    store.get_history(KEY)
    store.window(KEY)
    store.messages(KEY)
    store.summaries("q")
    store.changes_since(None)
    assert watcher.pragma("data_version") == before


def test_a_window_that_was_read_before_is_read_again_after_every_write(place: Kept) -> None:
    store, other = place.open(), place.open()
    store.add_exchange(KEY, "Q1", "A1")
    assert said(store) == said(store) == ["Q1", "A1"]
    other.add_exchange(KEY, "Q2", "A2")
    assert said(store) == ["Q1", "A1", "Q2", "A2"]
    store.hide(KEY, [place.now], "x")
    assert said(store) == said(other) == []
    store.show_again("x")
    store.get_history(KEY).clear()
    assert len(said(store)) == 4
    store.use(Settings(conversation_max_turns=2))
    assert said(store) == ["Q2", "A2"]
    place.now += 8 * DAY
    assert said(store) == []
    place.now -= 8 * DAY
    assert said(store) == ["Q2", "A2"]
    other.clear(KEY)
    assert said(store) == []


def test_ids_last_and_are_never_used_again(place: Kept) -> None:
    store = place.open()
    first = store.add_messages("one", exchange("Q", "A"))
    store.clear("one")
    store.close()
    second = place.open().add_messages("two", exchange("Q", "A"))
    assert min(second) > max(first)


def test_what_is_said_of_a_message_comes_back(place: Kept) -> None:
    shape = {"memories": [{"id": "a", "content": "喜歡\ud800咖啡"}], "hits": []}
    new: list[Message | NewMessage] = [
        NewMessage(Message("user", "Q\0"), trust="stranger", source="slack:U1\udcff"),
        NewMessage(Message("assistant", "A"), "stopped", "document", "document:a.pdf", shape),
        NewMessage(Message("assistant", ""), "failed"),
        Message("user", "plain"),
    ]
    ids = place.open().add_messages(KEY, new)
    store = place.open()
    stored = store.messages(KEY)
    assert [one.id for one in stored] == ids
    assert [one.status for one in stored] == ["complete", "stopped", "failed", "complete"]
    assert [one.trust for one in stored] == ["stranger", "document", "assistant", "user"]
    assert [one.source for one in stored] == ["slack:U1?", "document:a.pdf", None, None]
    assert [one.shaped_by for one in stored] == [None, shape, None, None]
    assert store.find_message(ids[1]) == (KEY, stored[1])
    assert store.find_message(ids[-1] + 1) is None


def test_what_json_cannot_hold_shapes_nothing(place: Kept) -> None:
    store = place.open()
    with pytest.raises(InvalidInput, match="use plain values"):
        store.add_messages(KEY, [NewMessage(Message("user", "Q"), shaped_by={"x": {1}})])
    assert store.summaries() == []


# Silences


def test_a_new_message_does_not_bring_back_what_was_before_a_silence(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q1", "A1")
    place.now += 8 * DAY
    assert said(store) == []
    store.add_exchange(KEY, "Q2", "A2")
    assert said(store) == ["Q2", "A2"]
    assert shown(store) == ["Q1", "A1", "Q2", "A2"]


def test_a_resumed_conversation_has_its_window_whatever_its_age(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q1", "A1")
    place.now += 400 * DAY
    assert [one.message.text for one in store.window(KEY, resumed=True)] == ["Q1", "A1"]
    store.add_messages(KEY, exchange("Q2", "A2"), resumed=True)
    assert said(place.open()) == ["Q1", "A1", "Q2", "A2"]
    place.now += 8 * DAY
    store.add_exchange(KEY, "Q3", "A3")
    assert said(store) == ["Q3", "A3"]


MOMENTS = st.lists(st.sampled_from([0, 0, 0, 1, 6, 7, 8, 30]), min_size=1, max_size=6)


@brief
@given(
    st.lists(conversations(), min_size=1, max_size=6),
    MOMENTS,
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.integers(1, 14),
    st.integers(1, 300),
    st.sampled_from([0, 3, 9]),
)
def test_a_window_read_backwards_is_the_whole_path_cut_at_silences_and_limits(
    place: Kept,
    rounds: list[list[Message]],
    days: list[int],
    resumed: list[bool],
    turns: int,
    chars: int,
    later: int,
) -> None:
    place.now = START
    store = place.open(conversation_max_turns=turns, conversation_max_chars=chars)
    store.clear(KEY)
    path: list[Message] = []
    for messages, pause, is_resumed in zip(rounds, itertools.cycle(days), resumed, strict=False):
        if not messages:
            continue
        place.now += pause * DAY
        if pause > 7 and not is_resumed:
            path = []
        store.add_messages(KEY, messages, resumed=is_resumed)
        path += [
            Message(one.role, one.content, place.now, one.tool_calls, one.tool_call_id)
            for one in messages
        ]
    place.now += later * DAY
    cut = list(within_limits(path, turns, chars, lambda one: content_chars(one.content)))
    assert store.get_history(KEY) == (cut if later <= 7 else [])
    assert [one.message for one in store.window(KEY)] == store.get_history(KEY)
    assert [one.message for one in store.window(KEY, resumed=True)] == cut
    store.close()


def test_a_long_conversation_is_read_no_further_than_its_window(place: Kept) -> None:
    store = place.open()
    for _ in range(10):
        batch = [one for n in range(5000) for one in exchange(f"Q{n}", f"A{n}")]
        store.add_messages(KEY, batch)
    database = apsw.Connection(str(place.path))
    database.execute("UPDATE messages SET text = x'ff' WHERE n < 99000")
    database.close()
    assert len(said(store)) == 20
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.turns == 100_000
    assert [one.message.text for one in store.messages(KEY, limit=2)] == ["Q4999", "A4999"]
