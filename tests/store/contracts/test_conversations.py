"""The contract of `Conversations`: every message is kept, and a window shows the newest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.contracts.conftest import START, WITH_JSON, Backend
from tests.store.contracts.together import do_at_once
from tests.strategies import brief, conversations
from turnleaf.core.keys import EVERYONE, make_own_audience, make_prompt_audience
from turnleaf.core.messages import Cursor, FeedMessage, Message, NewMessage, TreeNode
from turnleaf.core.tokens import count_content_chars
from turnleaf.core.window import trim_to_limits
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.settings import Settings
from turnleaf.store.contracts import Conversations

DAY = timedelta(days=1)
KEY = "cli:session-1"
in_a_file_too = pytest.mark.parametrize("backend", WITH_JSON, indirect=True)
"""For what holds of a window, too, which is all that a JSON file keeps."""


class LimitedBackend:
    """A backend whose conversations are opened with one limit or another."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def now(self) -> datetime:
        return self._backend.clock.now

    @now.setter
    def now(self, moment: datetime) -> None:
        self._backend.clock.now = moment

    def open(self, space: str = "default", **limits: Any) -> Conversations:  # noqa: ANN401 - as Settings takes them
        store = self._backend.open(space).conversations
        store.use(Settings(**limits))
        store.init()
        return store


@pytest.fixture
def place(backend: Backend) -> LimitedBackend:
    return LimitedBackend(backend)


def list_contents(store: Conversations, key: str = KEY) -> list[object]:
    return [message.content for message in store.get_history(key)]


def list_shown(store: Conversations, key: str = KEY) -> list[str]:
    return [one.message.text for one in store.messages(key)]


def exchange(question: str, answer: str) -> list[Message]:
    return [Message("user", question), Message("assistant", answer)]


def call(name: str) -> dict[str, object]:
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}


# Adding and reading


@in_a_file_too
def test_an_exchange_is_kept_with_its_time(place: LimitedBackend) -> None:
    place.open().add_exchange(KEY, "客廳的燈叫做小明", "好的，我記住了。")
    assert place.open().get_history(KEY) == [
        Message("user", "客廳的燈叫做小明", START),
        Message("assistant", "好的，我記住了。", START),
    ]


@in_a_file_too
def test_conversations_do_not_mix(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange("one", "Q1", "A1")
    store.add_exchange("two", "Q2", "A2")
    store.add_exchange("one", "Q3", "A3")
    assert list_contents(store, "one") == ["Q1", "A1", "Q3", "A3"]
    assert list_contents(store, "two") == ["Q2", "A2"]


@in_a_file_too
def test_summaries_tell_what_there_is_newest_first(place: LimitedBackend) -> None:
    place.open().add_exchange("one", "Q", "A")
    place.now += timedelta(hours=1)
    store = place.open()
    store.add_exchange("two", "Q", "A")
    assert [(one.key, one.turns) for one in store.summaries()] == [("two", 2), ("one", 2)]
    place.now += timedelta(hours=1)
    store.add_exchange("one", "Q", "A")
    first = place.open().summaries()[0]
    assert (first.key, first.turns) == ("one", 4)
    assert (first.created_at, first.updated_at) == (START, START + timedelta(hours=2))


@in_a_file_too
def test_the_newest_is_first_when_all_were_added_to_within_one_millisecond(
    place: LimitedBackend,
) -> None:
    store = place.open()
    for key in ("一", "b", "三", "a", "b", "一"):
        store.add_exchange(key, "hello", "hi")
    assert [one.key for one in store.summaries()] == ["一", "b", "a", "三"]
    assert [one.key for one in place.open().summaries()] == ["一", "b", "a", "三"]


@in_a_file_too
def test_a_conversation_is_titled_by_the_beginning_of_its_first_question(
    place: LimitedBackend,
) -> None:
    store = place.open()
    store.add_exchange("long", "  客廳的燈\n叫做小明 " * 20, "A")
    store.add_exchange("long", "later", "A")
    shown: list[dict[str, object]] = [{"type": "text", "text": "look\tat"}, {"type": "image"}]
    store.add_messages("parts", [Message("system", "be kind"), Message("user", shown)])
    store.add_messages("none", [Message("assistant", "hello")])
    titles = {one.key: one.title for one in place.open().summaries()}
    assert titles == {"long": ("客廳的燈 叫做小明 " * 20)[:80], "parts": "look at", "none": ""}


@in_a_file_too
def test_one_summary_is_the_same_as_in_the_list(place: LimitedBackend) -> None:
    store = place.open()
    for key in ("one", "客廳"):
        store.add_exchange(key, f"about {key}", "A")
    assert [store.summary(one.key) for one in store.summaries()] == store.summaries()
    assert store.summary("nobody") is None


@in_a_file_too
def test_the_list_can_be_cut_and_searched(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange("tea", "Do you like TEA (100%)?", "Ja, Straße.")
    shown: list[dict[str, Any]] = [{"type": "text", "text": 'a "quoted" 燈'}]
    store.add_messages("light", [Message("user", shown), Message("assistant", "é\0after")])
    store.add_exchange("other", "x", "y")

    def find_keys(query: str, limit: int | None = None) -> list[str]:
        return [one.key for one in store.summaries(query, limit)]

    assert [one.key for one in store.summaries(limit=2)] == ["other", "light"]
    assert find_keys("tea (100%)") == find_keys("STRASSE") == ["tea"]
    assert find_keys('A "QUOTED" 燈') == find_keys("É") == find_keys("after") == ["light"]
    assert find_keys("%") == ["tea"]
    assert find_keys("") == ["other", "light", "tea"]
    assert find_keys("", 1) == ["other"]
    assert find_keys("nothing of this") == []


@in_a_file_too
def test_messages_are_given_in_pieces_from_the_end(place: LimitedBackend) -> None:
    store = place.open()
    for number in range(4):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    whole = store.messages(KEY)
    assert [one.message for one in whole] == store.get_history(KEY)
    assert sorted(one.id for one in whole) == [one.id for one in whole]
    newest = store.messages(KEY, limit=3)
    assert [one.message.text for one in newest] == ["A2", "Q3", "A3"]
    before = store.messages(KEY, before=newest[0].id, limit=2)
    assert [one.message.text for one in before] == ["A1", "Q2"]
    assert store.messages(KEY, before=whole[0].id) == []
    assert store.messages(KEY, limit=0) == []
    assert store.messages("nobody") == []


@in_a_file_too
def test_stored_messages_say_whose_words_they_are_and_what_they_follow(
    place: LimitedBackend,
) -> None:
    store = place.open()
    ids = store.add_messages(
        KEY,
        [
            Message("user", "weather?"),
            Message("assistant", None, tool_calls=[call("a")]),
            Message("tool", "sunny", tool_call_id="a"),
            Message("assistant", "It is sunny."),
        ],
    )
    stored = store.messages(KEY)
    assert [one.id for one in stored] == ids
    assert [one.parent for one in stored] == [None, *ids[:-1]]
    assert [one.trust for one in stored] == ["user", "assistant", "tool", "assistant"]
    assert {(one.status, one.source, one.versions, one.is_hidden) for one in stored} == {
        ("complete", None, (), False)
    }
    assert store.window(KEY) == stored
    assert store.window("nobody") == []


@in_a_file_too
def test_figures_count_what_is_kept(place: LimitedBackend) -> None:
    store = place.open()
    empty = store.figures()
    assert (empty.conversations, empty.messages, empty.oldest) == (0, 0, None)
    store.add_exchange("one", "Q", "A")
    place.now += timedelta(hours=1)
    store.add_exchange("two", "Q" * 10_000, "A")
    figures = store.figures()
    assert (figures.conversations, figures.messages, figures.oldest) == (2, 4, START)
    assert figures.bytes > 10_000
    store.clear("two")
    assert figures.bytes - store.figures().bytes > 5_000


@in_a_file_too
def test_a_message_that_has_a_time_keeps_it(place: LimitedBackend) -> None:
    store = place.open()
    earlier = START - timedelta(hours=5)
    store.add_messages(KEY, [Message("user", "x", earlier), Message("assistant", "y")])
    assert [message.timestamp for message in store.get_history(KEY)] == [earlier, START]


@in_a_file_too
def test_no_messages_are_no_conversation(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, [])
    assert store.summaries() == []


@in_a_file_too
def test_a_closed_store_opens_again_by_itself(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    store.close()
    assert list_contents(store) == ["Q", "A"]


# Any content


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a\0b",
        "\ud800 \udfff x",
        "\ud83d",
        "two\nlines\r\n\u2028",
        '", "messages": [',
        "'; DROP TABLE messages; --",
        "</conversation_history>",
        "🙂" * 100,
        "x" * 2_000_000,
    ],
)
@in_a_file_too
def test_any_text_comes_back_exactly(place: LimitedBackend, text: str) -> None:
    place.open().add_exchange(KEY, text, text)
    assert list_contents(place.open()) == [text, text]
    place.open().add_exchange(KEY, "next", "one")
    assert list_contents(place.open())[-2:] == ["next", "one"]


@pytest.mark.parametrize("key", ["", "  ", "a\0", "a\n", "\ud800", "x" * 513])
def test_what_is_no_name_is_refused(place: LimitedBackend, key: str) -> None:
    store, said = place.open(), [TreeNode(NewMessage(Message("user", "Q", START)), None)]
    attempts: list[Callable[[], object]] = [
        lambda: store.add_exchange(key, "Q", "A"),
        lambda: store.add_messages(key, exchange("Q", "A")),
        lambda: store.get_history(key),
        lambda: store.window(key),
        lambda: store.messages(key),
        lambda: store.clear(key),
        lambda: store.erase_copies(key),
        lambda: store.summary(key),
        lambda: store.show_version(key, 1),
        lambda: store.rename(key, "x"),
        lambda: store.set_searched(key, searched=False),
        lambda: store.hide(key, [START], "x"),
        lambda: store.accept(key, [START]),
        lambda: store.audience(key),
        lambda: store.import_tree(key, said),
        lambda: store.count_new(key, said),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="a conversation"):
            attempt()


@pytest.mark.parametrize("content", [None, 5, b"x", ["x"], {"type": "text"}])
@in_a_file_too
def test_what_is_no_content_is_refused_and_nothing_changes(
    place: LimitedBackend,
    content: Any,  # noqa: ANN401 - of any type
) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    with pytest.raises(InvalidInput):
        store.add_exchange(KEY, content, "A")
    with pytest.raises(InvalidInput):
        store.add_exchange(KEY, "Q", content)
    assert list_contents(store) == ["Q", "A"]


@pytest.mark.parametrize("value", [float("nan"), {1}, START, b"x"])
@in_a_file_too
def test_what_json_cannot_hold_is_refused_and_nothing_changes(
    place: LimitedBackend, value: object
) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    with pytest.raises(InvalidInput, match="use plain values"):
        store.add_messages(KEY, [Message("user", [{"type": "data", "value": value}])])
    assert list_contents(place.open()) == ["Q", "A"]


PICTURE: dict[str, Any] = {
    "type": "image_url",
    "image_url": {"url": f"data:image/png;base64,{'A' * 5000}"},
}


@in_a_file_too
def test_parts_are_kept_as_they_are(place: LimitedBackend) -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "what is this?"},
        PICTURE,
        {"type": "x", "y": [None, 1.5]},
    ]
    place.open().add_messages(KEY, [Message("user", parts), Message("assistant", "a cat")])
    assert list_contents(place.open()) == [parts, "a cat"]


@in_a_file_too
def test_parts_are_counted(place: LimitedBackend) -> None:
    store = place.open(conversation_max_chars=4000)
    store.add_exchange(KEY, "old", "old")
    store.add_exchange(KEY, [PICTURE], "a cat")
    size = count_content_chars([PICTURE])
    assert 0 < size < 4000
    assert list_contents(store) == ["old", "old", [PICTURE], "a cat"]
    store.add_exchange(KEY, "x" * (4000 - size), "y")
    assert list_contents(store) == ["x" * (4000 - size), "y"]


@in_a_file_too
def test_tool_calls_and_their_results_come_back(place: LimitedBackend) -> None:
    messages = [
        Message("user", "weather?", START),
        Message("assistant", None, START, tool_calls=[call("a"), call("b")]),
        Message("tool", "72°F", START, tool_call_id="a", name="weather"),
        Message("tool", [{"type": "text", "text": "sunny"}], START, tool_call_id="b"),
        Message("assistant", "72°F and sunny", START, name="helper"),
        Message("developer", "be brief", START),
    ]
    place.open().add_messages(KEY, messages)
    assert place.open().get_history(KEY) == messages


# Limits


@in_a_file_too
def test_the_oldest_turns_go_first(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=4)
    for number in range(5):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert list_contents(store) == ["Q3", "A3", "Q4", "A4"]


@in_a_file_too
def test_the_newest_exchange_stays_however_long_it_is(place: LimitedBackend) -> None:
    store = place.open(conversation_max_chars=10, conversation_max_turns=1)
    store.add_exchange(KEY, "Q", "A")
    store.add_exchange(KEY, "long " * 10, "longer " * 10)
    assert list_contents(store) == ["long " * 10, "longer " * 10]


@in_a_file_too
def test_calls_and_results_are_trimmed_together(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=4)
    store.add_messages(
        KEY, [Message("user", "Q"), Message("assistant", None, tool_calls=[call("a")])]
    )
    store.add_messages(KEY, [Message("tool", "R", tool_call_id="a"), Message("assistant", "A")])
    assert len(store.get_history(KEY)) == 4
    store.add_exchange(KEY, "Q2", "A2")
    assert list_contents(store) == ["Q2", "A2"]


@in_a_file_too
def test_a_result_keeps_the_call_that_it_answers_whatever_the_limit(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=2)
    store.add_messages(
        KEY, [Message("user", "Q"), Message("assistant", None, tool_calls=[call("a")])]
    )
    store.add_messages(KEY, [Message("tool", "R", tool_call_id="a")])
    assert list_contents(store) == ["Q", None, "R"]


# Age


@in_a_file_too
def test_a_silence_of_many_days_ends_a_history(place: LimitedBackend) -> None:
    place.open().add_exchange("old", "Q", "A")
    place.now += timedelta(days=6)
    place.open().add_exchange("young", "Q", "A")
    place.now = START + timedelta(days=7, seconds=1)
    store = place.open()
    assert store.get_history("old") == []
    assert list_contents(store, "young") == ["Q", "A"]


@in_a_file_too
def test_age_counts_from_the_last_addition(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q1", "A1")
    place.now += timedelta(days=6)
    store.add_exchange(KEY, "Q2", "A2")
    place.now += timedelta(days=6)
    assert list_contents(place.open()) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.parametrize("days", [10**6, 10**9, 10**15])
@in_a_file_too
def test_very_many_days_are_for_ever(place: LimitedBackend, days: int) -> None:
    limits: dict[str, Any] = {
        "conversation_max_age_days": days,
        "conversation_keep_days": days,
    }
    place.open(**limits).add_exchange(KEY, "Q", "A")
    place.now += timedelta(days=10_000)
    assert list_contents(place.open(**limits)) == ["Q", "A"]


# Erasing, and several at once


@in_a_file_too
def test_a_cleared_conversation_is_gone(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "secret", "secret")
    store.add_exchange("other", "kept", "A")
    assert store.clear(KEY) is True
    assert store.get_history(KEY) == []
    assert store.messages(KEY) == []
    assert [one.key for one in store.summaries()] == ["other"]
    assert store.clear(KEY) is False


@in_a_file_too
def test_a_second_instance_sees_what_the_first_wrote(place: LimitedBackend) -> None:
    one, other = place.open(), place.open()
    one.add_exchange(KEY, "Q1", "A1")
    assert list_contents(other) == ["Q1", "A1"]
    other.add_exchange(KEY, "Q2", "A2")
    assert list_contents(one) == ["Q1", "A1", "Q2", "A2"]
    one.clear(KEY)
    assert list_contents(other) == []


def test_who_add_at_once_lose_nothing_and_no_exchange_is_torn(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=1000, conversation_max_chars=10**6)
    other = place.open()

    def work(given: tuple[Conversations, str]) -> None:
        opened, name = given
        for number in range(8):
            opened.add_exchange(KEY, f"{name} {number}", f"re {name} {number}")
            opened.get_history(KEY)

    do_at_once(work, [(store, "a"), (store, "b"), (other, "c")])
    found = list_shown(store)
    assert len(found) == 48
    assert found[1::2] == [f"re {text}" for text in found[::2]]
    for name in "abc":
        mine = [text for text in found[::2] if text.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(8)]


@pytest.mark.parametrize(
    "key",
    [
        "../../etc/passwd",
        "/absolute",
        "..",
        "a/b\\c",
        '"quoted"',
        "名字",
        "slack:1.2",
        "x" * 512,
        "a: b",
        "'; --",
        "C:\\x",
    ],
)
@in_a_file_too
def test_any_name_is_just_a_name(place: LimitedBackend, key: str) -> None:
    store = place.open()
    store.add_exchange(key, "Q", "A")
    store.add_exchange("other", "Q2", "A2")
    assert list_contents(place.open(), key) == ["Q", "A"]
    assert {one.key for one in store.summaries()} == {key, "other"}
    assert store.clear(key) is True


# Everything is kept


def test_every_message_is_kept_and_the_window_shows_the_newest(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=4)
    for number in range(50):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert list_contents(store) == ["Q48", "A48", "Q49", "A49"]
    assert list_shown(store) == [text for n in range(50) for text in (f"Q{n}", f"A{n}")]
    assert store.keeps_everything
    summary = store.summary(KEY)
    assert summary is not None
    assert (summary.turns, summary.title) == (100, "Q0")


def test_one_long_answer_pushes_nothing_out_of_what_is_kept(place: LimitedBackend) -> None:
    store = place.open(conversation_max_chars=100)
    store.add_exchange(KEY, "before", "it")
    store.add_exchange(KEY, "long", "x" * 10_000)
    assert list_contents(store) == ["long", "x" * 10_000]
    assert list_shown(store)[:2] == ["before", "it"]


def test_other_limits_show_more_of_what_is_kept(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(3):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert len(list_contents(store)) == 2
    store.use(Settings(conversation_max_turns=100))
    assert len(list_contents(store)) == 6


def test_a_window_that_was_read_before_is_read_again_after_every_write(
    place: LimitedBackend,
) -> None:
    store, other = place.open(), place.open()
    store.add_exchange(KEY, "Q1", "A1")
    assert list_contents(store) == list_contents(store) == ["Q1", "A1"]
    other.add_exchange(KEY, "Q2", "A2")
    assert list_contents(store) == ["Q1", "A1", "Q2", "A2"]
    store.hide(KEY, [place.now], "x")
    assert list_contents(store) == list_contents(other) == []
    store.show_again("x")
    store.get_history(KEY).clear()
    assert len(list_contents(store)) == 4
    store.use(Settings(conversation_max_turns=2))
    assert list_contents(store) == ["Q2", "A2"]
    place.now += 8 * DAY
    assert list_contents(store) == []
    place.now -= 8 * DAY
    assert list_contents(store) == ["Q2", "A2"]
    other.clear(KEY)
    assert list_contents(store) == []


def test_ids_last_and_are_never_used_again(place: LimitedBackend) -> None:
    store = place.open()
    first = store.add_messages("one", exchange("Q", "A"))
    store.clear("one")
    store.close()
    second = place.open().add_messages("two", exchange("Q", "A"))
    assert min(second) > max(first)


def test_what_is_said_of_a_message_comes_back(place: LimitedBackend) -> None:
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


def cite(text: str, *facts: object, **more: object) -> NewMessage:
    shape = {"memories": ["f1", "f2", "f3"], "cited": list(facts), **more}
    return NewMessage(Message("assistant", text), shaped_by=shape)


def test_the_facts_that_answers_rest_on_are_found_on_every_path(place: LimitedBackend) -> None:
    store = place.open()
    assert store.find_cited_facts() == frozenset()
    first, *_ = store.add_messages(KEY, [Message("user", "Q"), cite("A", "f1"), cite("B")])
    store.add_messages(KEY, [cite("C", "f2", "f1", NUL="\0\ud800")], after=first)
    store.add_messages("cli:other", [cite("D", 5, "小明"), cite("E", cited="f3")])
    assert place.open().find_cited_facts() == {"f1", "f2", "小明"}
    assert place.open("another").find_cited_facts() == frozenset()


def test_an_erased_answer_rests_on_nothing_any_more(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, [Message("user", "Q"), cite("A", *(f"f{n}" for n in range(900)))])
    store.add_messages("cli:other", [cite("B", "f1")])
    assert len(store.find_cited_facts()) == 900
    store.clear(KEY)
    assert store.find_cited_facts() == {"f1"}


@in_a_file_too
def test_where_nothing_is_kept_of_what_shaped_an_answer_no_fact_is_cited(
    place: LimitedBackend,
) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    assert store.find_cited_facts() == frozenset()


def test_what_json_cannot_hold_shapes_nothing(place: LimitedBackend) -> None:
    store = place.open()
    with pytest.raises(InvalidInput, match="use plain values"):
        store.add_messages(KEY, [NewMessage(Message("user", "Q"), shaped_by={"x": {1}})])
    assert store.summaries() == []


# Silences


def test_a_new_message_does_not_bring_back_what_was_before_a_silence(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q1", "A1")
    place.now += 8 * DAY
    assert list_contents(store) == []
    store.add_exchange(KEY, "Q2", "A2")
    assert list_contents(store) == ["Q2", "A2"]
    assert list_shown(store) == ["Q1", "A1", "Q2", "A2"]


def test_a_resumed_conversation_has_its_window_whatever_its_age(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q1", "A1")
    place.now += 400 * DAY
    assert [one.message.text for one in store.window(KEY, resumed=True)] == ["Q1", "A1"]
    store.add_messages(KEY, exchange("Q2", "A2"), resumed=True)
    assert list_contents(place.open()) == ["Q1", "A1", "Q2", "A2"]
    place.now += 8 * DAY
    store.add_exchange(KEY, "Q3", "A3")
    assert list_contents(store) == ["Q3", "A3"]


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
    place: LimitedBackend,
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
    cut = list(trim_to_limits(path, turns, chars, lambda one: count_content_chars(one.content)))
    assert store.get_history(KEY) == (cut if later <= 7 else [])
    assert [one.message for one in store.window(KEY)] == store.get_history(KEY)
    assert [one.message for one in store.window(KEY, resumed=True)] == cut
    store.close()


# Versions, and questions that are stored before their answer


def test_a_retried_question_takes_the_place_of_the_last_exchange(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    old = store.add_messages(KEY, exchange("two", "2"))
    new = store.add_messages(KEY, exchange("two", "zwei"), again="two")
    assert list_contents(store) == list_shown(store) == ["one", "1", "two", "zwei"]
    question = store.messages(KEY)[2]
    assert question.versions == (old[0], new[0])
    assert store.find_message(old[1]) is not None
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.turns == 4


def open_exchange(store: Conversations, question: str, **how: str | int) -> int:
    (number,) = store.add_messages(KEY, [NewMessage(Message("user", question), "stopped")], **how)  # type: ignore[arg-type]
    return number


def statuses(store: Conversations) -> list[tuple[str, str]]:
    return [(one.message.text, one.status) for one in store.messages(KEY)]


def turns(store: Conversations) -> int:
    summary = store.summary(KEY)
    assert summary is not None
    return summary.turns


def test_an_answer_completes_the_question_that_was_stored_before_it(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    question = open_exchange(store, "two")
    assert statuses(store)[-1] == ("two", "stopped")
    ids = store.add_messages(KEY, exchange("two", "2"), opened=question)
    assert statuses(store)[2:] == [("two", "complete"), ("2", "complete")]
    assert ids[0] == question
    assert [one.id for one in store.messages(KEY)][2:] == ids
    assert turns(store) == 4


def test_a_question_that_stays_without_an_answer_says_how_it_ended(place: LimitedBackend) -> None:
    store = place.open()
    question = open_exchange(store, "one")
    asked = NewMessage(Message("user", "one"), "failed")
    assert store.add_messages(KEY, [asked], opened=question) == [question]
    assert statuses(store) == [("one", "failed")]
    assert turns(store) == 1


def test_exchanges_at_the_same_time_stay_whole(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    slow, quick = open_exchange(store, "slow"), open_exchange(store, "quick")
    store.add_messages(KEY, exchange("quick", "2"), opened=quick)
    last = store.add_messages(KEY, exchange("slow", "3"), opened=slow)
    assert list_shown(store) == list_contents(store) == ["one", "1", "quick", "2", "slow", "3"]
    assert turns(store) == 6
    assert store.find_message(slow) is None
    assert [one.message.text for one in store.changes_since(None).found] == list_shown(store)
    store.show_version(KEY, last[-1])
    assert list_shown(store) == ["one", "1", "quick", "2", "slow", "3"]


def test_an_exchange_of_a_conversation_that_was_erased_meanwhile_is_whole(
    place: LimitedBackend,
) -> None:
    store = place.open()
    question = open_exchange(store, "one")
    store.clear(KEY)
    store.add_messages(KEY, exchange("one", "1"), opened=question)
    assert statuses(store) == [("one", "complete"), ("1", "complete")]


def test_a_question_that_is_edited_is_a_version_before_it_is_answered(
    place: LimitedBackend,
) -> None:
    store = place.open()
    (first, _) = store.add_messages(KEY, exchange("one", "1"))
    question = open_exchange(store, "other", after=0)
    store.add_messages(KEY, exchange("other", "2"), opened=question)
    assert list_shown(store) == ["other", "2"]
    assert store.messages(KEY)[0].versions == (first, question)
    assert turns(store) == 2


def test_only_the_last_question_is_said_again(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("one", "eins"), again="one")
    assert list_contents(store) == ["one", "1", "two", "2", "one", "eins"]


def test_a_question_whose_answer_failed_is_replaced_too(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, exchange("one", "1"))
    store.add_messages(KEY, [NewMessage(Message("user", "two"), "failed")])
    store.add_messages(KEY, exchange("two", "2"), again="two")
    assert list_contents(store) == ["one", "1", "two", "2"]


def test_an_edited_message_keeps_what_followed_as_another_version(place: LimitedBackend) -> None:
    store = place.open()
    one = store.add_messages(KEY, exchange("one", "1"))
    two = store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("three", "3"))
    edited = store.add_messages(KEY, exchange("zwei", "II"), after=one[1])
    assert list_shown(store) == ["one", "1", "zwei", "II"]
    assert store.messages(KEY)[2].versions == (two[0], edited[0])
    store.show_version(KEY, two[0])
    assert list_shown(store) == list_contents(store) == ["one", "1", "two", "2", "three", "3"]
    assert store.messages(KEY)[2].versions == (two[0], edited[0])
    store.add_exchange(KEY, "four", "4")
    assert list_shown(store)[-3:] == ["3", "four", "4"]
    store.show_version(KEY, edited[1])
    assert list_shown(store) == ["one", "1", "zwei", "II"]


def test_a_regenerated_answer_is_a_version_of_the_first(place: LimitedBackend) -> None:
    store = place.open()
    question, first = store.add_messages(KEY, exchange("Q", "A1"))
    (second,) = store.add_messages(KEY, [Message("assistant", "A2")], after=question)
    (third,) = store.add_messages(KEY, [Message("assistant", "A3")], after=question)
    assert list_shown(store) == ["Q", "A3"]
    assert store.messages(KEY)[1].versions == (first, second, third)
    store.show_version(KEY, first)
    assert list_shown(store) == ["Q", "A1"]


def test_a_conversation_can_begin_anew(place: LimitedBackend) -> None:
    store = place.open()
    first = store.add_messages(KEY, exchange("Q", "A"))
    second = store.add_messages(KEY, exchange("Q'", "A'"), after=0)
    assert list_shown(store) == ["Q'", "A'"]
    assert store.messages(KEY)[0].versions == (first[0], second[0])
    assert store.messages(KEY)[0].parent is None


def test_after_a_message_that_is_not_shown_its_own_path_is_shown(place: LimitedBackend) -> None:
    store = place.open()
    one = store.add_messages(KEY, exchange("one", "1"))
    two = store.add_messages(KEY, exchange("two", "2"))
    store.add_messages(KEY, exchange("eins", "I"), after=0)
    store.add_messages(KEY, exchange("three", "3"), after=two[1])
    assert list_shown(store) == ["one", "1", "two", "2", "three", "3"]
    assert store.messages(KEY)[0].versions[0] == one[0]


def test_a_message_of_another_conversation_is_nobody_s_place(place: LimitedBackend) -> None:
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
    assert list_shown(store) == ["Q", "A"]


@brief
@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=12))
def test_the_shown_path_is_always_one_from_its_beginning_to_its_leaf(
    place: LimitedBackend, steps: list[tuple[int, bool]]
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


# Titles


def test_a_title_stays_whatever_is_said_later(place: LimitedBackend) -> None:
    store = place.open(conversation_max_turns=2)
    for number in range(30):
        store.add_exchange(KEY, f"Q{number}", "A")
    store.add_messages(KEY, exchange("another beginning", "A"), after=0)
    assert [one.title for one in store.summaries()] == ["Q0"]


def test_a_conversation_can_be_renamed_and_named_back(place: LimitedBackend) -> None:
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


# Hiding and accepting


def list_hidden(store: Conversations) -> list[str]:
    return [one.message.text for one in store.messages(KEY) if one.is_hidden]


def test_a_hidden_message_and_its_answer_are_in_no_window(place: LimitedBackend) -> None:
    store = place.open()
    times = []
    for number in range(3):
        times.append(place.now)
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
        place.now += timedelta(minutes=1)
    assert len(store.hide(KEY, [times[1]], "change:17")) == 2
    assert list_contents(place.open()) == ["Q0", "A0", "Q2", "A2"]
    assert [one.message.text for one in store.window(KEY)] == ["Q0", "A0", "Q2", "A2"]
    assert list_hidden(store) == ["Q1", "A1"]
    assert store.show_again("change:16") == 0
    assert store.show_again("change:17") == 2
    assert list_contents(store) == ["Q0", "A0", "Q1", "A1", "Q2", "A2"]


def test_what_is_hidden_for_two_reasons_is_shown_after_both(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.hide(KEY, [START], "change:1")
    store.hide(KEY, [START], "change:2")
    assert store.show_again("change:1") == 0
    assert list_contents(store) == []
    assert store.show_again("change:2") == 2
    assert list_contents(store) == ["Q", "A"]


def test_what_was_hidden_and_stored_anew_with_its_answer_does_not_keep_the_rest_hidden(
    place: LimitedBackend,
) -> None:
    store = place.open()
    (question, _) = store.add_messages(KEY, exchange("Q", "A"))
    store.hide(KEY, [START], "change:1")
    assert list_hidden(store) != []
    place.now += timedelta(minutes=1)
    store.add_messages(KEY, exchange("Q2", "A2"))
    store.add_messages(KEY, exchange("Q", "A3"), opened=question)
    store.show_again("change:1")
    assert list_hidden(store) == []


def test_a_question_that_was_stored_anew_gives_no_title_before_older_ones(
    place: LimitedBackend,
) -> None:
    store = place.open()
    slow = open_exchange(store, "慢的問題")
    store.add_messages(KEY, exchange("a quick one", "A"))
    store.add_messages(KEY, exchange("慢的問題", "A2"), opened=slow)
    assert [one.title for one in store.summaries()] == ["a quick one"]


def test_a_message_whose_other_versions_have_expired_has_none(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=5)
    store.add_messages(KEY, exchange("one", "1"))
    place.now += timedelta(days=3)
    store.add_messages(KEY, exchange("other", "2"), after=0)
    assert len(store.messages(KEY)[0].versions) == 2
    place.now += timedelta(days=3)
    store.cleanup()
    assert [one.versions for one in store.messages(KEY)] == [(), ()]


def test_the_two_halves_of_a_character_are_that_character(place: LimitedBackend) -> None:
    place.open().add_exchange(KEY, "a\ud83d\ude00b", "\ude00\ud83d")
    assert list_contents(place.open()) == ["a\U0001f600b", "\ude00\ud83d"]


def test_what_is_said_to_some_people_only_is_listed_and_not_found_by_its_text(
    place: LimitedBackend,
) -> None:
    store = place.open()
    for key in ("slack:D1:2", "schedule:news", "cli:1"):
        store.add_exchange(key, "the surprise party", "A")
    assert {one.key for one in store.summaries()} == {"slack:D1:2", "schedule:news", "cli:1"}
    for text in ("surprise", "the surprise party", "a"):
        assert {one.key for one in store.summaries(text)} == {"schedule:news", "cli:1"}


def test_a_hidden_question_is_no_title_and_not_found_in_the_list(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "my dog is Rex", "Hello Rex")
    place.now += timedelta(minutes=1)
    store.add_exchange(KEY, "what time is it?", "noon")
    store.hide(KEY, [START], "change:1")
    assert [one.title for one in store.summaries()] == ["what time is it?"]
    assert store.summaries("rex") == []
    store.show_again("change:1")
    assert [one.title for one in store.summaries("rex")] == ["my dog is Rex"]


def test_nothing_is_hidden_where_nothing_was_said(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    assert store.hide(KEY, [START + timedelta(milliseconds=1)], "x") == []
    assert store.hide("nobody", [START], "x") == []
    assert list_contents(store) == ["Q", "A"]


def test_accepted_words_are_the_user_s(place: LimitedBackend) -> None:
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
        ([make_own_audience("a")], make_own_audience("a")),
        ([None, make_own_audience("a"), None], make_own_audience("a")),
        ([EVERYONE, make_prompt_audience("a"), make_own_audience("b")], make_own_audience("b")),
        (
            [make_own_audience("a"), EVERYONE, make_prompt_audience("a"), make_own_audience("b")],
            make_own_audience("a"),
        ),
    ],
)
def test_an_audience_only_becomes_narrower(
    place: LimitedBackend, audiences: Sequence[str | None], expected: str
) -> None:
    store = place.open()
    for audience in audiences:
        store.add_messages(KEY, exchange("Q", "A"), audience=audience)
    summary = store.summary(KEY)
    assert summary is not None
    assert summary.audience == expected


def test_a_key_determines_the_audience_unless_it_is_set(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange("schedule:早安", "Q", "A")
    store.add_exchange("slack:1.2", "Q", "A")
    store.add_messages("slack:3.4", exchange("Q", "A"), audience=EVERYONE)
    assert {one.key: one.audience for one in store.summaries()} == {
        "schedule:早安": make_prompt_audience("schedule:早安"),
        "slack:1.2": make_own_audience("slack:1.2"),
        "slack:3.4": EVERYONE,
    }


# Expiry


def test_without_a_number_of_days_nothing_is_ever_removed(place: LimitedBackend) -> None:
    place.open().add_exchange(KEY, "Q", "A")
    place.now += 10_000 * DAY
    store = place.open()
    assert store.cleanup() == 0
    assert list_shown(store) == ["Q", "A"]


def test_days_are_counted_for_each_message(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange("gone", "Q", "A")
    store.add_exchange(KEY, "old", "A")
    place.now += 20 * DAY
    store.add_exchange(KEY, "new", "A")
    place.now += 11 * DAY
    assert store.cleanup() == 1
    assert store.cleanup() == 0
    assert list_shown(store) == ["new", "A"]
    assert [(one.key, one.turns, one.title) for one in store.summaries()] == [(KEY, 2, "new")]
    assert store.figures().oldest == START + 20 * DAY
    store.add_messages(KEY, exchange("edited", "A"), after=store.messages(KEY)[0].parent)
    assert list_shown(store) == ["edited", "A"]


def test_with_no_days_a_title_is_of_the_window(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=0, conversation_max_turns=2)
    store.add_exchange(KEY, "a secret to be erased", "A")
    store.add_exchange(KEY, "Q", "A")
    assert [one.title for one in store.summaries()] == ["Q"]


def test_of_a_branch_what_is_younger_is_shown_when_its_other_path_expires(
    place: LimitedBackend,
) -> None:
    store = place.open(conversation_keep_days=30)
    first = store.add_messages(KEY, exchange("Q", "A"))
    place.now += 20 * DAY
    store.add_messages(KEY, [Message("assistant", "B")], after=first[0])
    store.show_version(KEY, first[1])
    place.now += 11 * DAY
    store.cleanup()
    assert list_shown(store) == ["B"]


def test_with_no_days_the_window_alone_is_kept(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=0, conversation_max_turns=4)
    for number in range(5):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    store.add_exchange("other", "Q", "A")
    assert list_shown(store) == ["Q3", "A3", "Q4", "A4"]
    store.use(Settings(conversation_keep_days=0, conversation_max_turns=2))
    assert store.cleanup() == 0
    assert list_shown(store) == ["Q4", "A4"]
    place.now += 8 * DAY
    assert store.cleanup() == 2
    assert store.summaries() == []


def test_a_program_that_runs_for_months_removes_what_becomes_too_old(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange("old", "Q", "A")
    place.now += 31 * DAY
    store.add_exchange(KEY, "Q", "A")
    assert [one.key for one in store.summaries()] == [KEY]


def test_a_setting_that_became_shorter_holds_at_the_next_start(place: LimitedBackend) -> None:
    place.open().add_exchange(KEY, "Q", "A")
    place.now += 40 * DAY
    assert place.open(conversation_keep_days=30).summaries() == []


def test_a_title_goes_with_the_question_that_it_was_made_of(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange(KEY, "a secret to be erased", "A")
    store.add_exchange("renamed", "another secret", "A")
    store.rename("renamed", "My own title")
    place.now += 20 * DAY
    store.add_messages(KEY, [Message("assistant", "Good morning")])
    store.add_exchange("renamed", "Q", "A")
    place.now += 11 * DAY
    store.cleanup()
    assert {one.key: one.title for one in store.summaries()} == {KEY: "", "renamed": "My own title"}
    store.add_exchange(KEY, "The next question", "A")
    assert {one.title for one in store.summaries()} == {"The next question", "My own title"}


# The feed


class Follower:
    """All that a reader of the feed knows, built from nothing but the feed."""

    def __init__(self, store: Conversations, limit: int = 1000) -> None:
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


def test_what_is_said_is_fed_once(place: LimitedBackend) -> None:
    store = place.open()
    follower = Follower(store)
    ids = store.add_messages(KEY, exchange("Q", "A"))
    assert follower.follow() == ids
    assert follower.follow() == []
    store.add_exchange("other", "Q2", "A2")
    follower.follow()
    assert follower.texts() == ["Q", "A", "Q2", "A2"]
    assert {one.key for one in follower.known.values()} == {KEY, "other"}


def test_only_what_has_text_and_was_said_is_fed(place: LimitedBackend) -> None:
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


def test_a_message_is_fed_with_what_decides_who_may_find_it(place: LimitedBackend) -> None:
    store = place.open()
    new = [NewMessage(Message("user", "x"), trust="stranger", source="slack:U2")]
    (number,) = store.add_messages("slack:1.2", new, audience=make_own_audience("slack:D1"))
    (fed,) = store.changes_since(None).found
    assert fed == FeedMessage(
        id=number,
        key="slack:1.2",
        message=Message("user", "x", START),
        trust="stranger",
        source="slack:U2",
        parent=None,
        audience=make_own_audience("slack:D1"),
        is_shown=True,
    )


def test_every_change_of_a_message_is_fed_anew(place: LimitedBackend) -> None:
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
    store.add_messages(KEY, exchange("x", "y"), audience=make_own_audience("me"))
    follower.follow()
    assert {one.audience for one in follower.known.values()} == {make_own_audience("me")}


def test_a_version_that_is_no_longer_shown_is_fed_as_such(place: LimitedBackend) -> None:
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


def test_what_is_erased_or_expires_is_gone(place: LimitedBackend) -> None:
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


def test_a_switch_that_changes_nothing_feeds_nothing(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    follower = Follower(store)
    follower.follow()
    store.set_searched(KEY, searched=True)
    store.rename(KEY, "title")
    assert follower.follow() == []


def test_another_place_has_another_name(place: LimitedBackend) -> None:
    name = place.open().changes_since(None).database
    assert place.open().changes_since(None).database == name
    assert place.open("other").changes_since(None).database != name


def switch(store: Conversations, key: str, *, searched: bool) -> None:
    if store.summary(key):
        store.set_searched(key, searched=searched)


STEPS: dict[str, Callable[[Conversations, str], object]] = {
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
    place: LimitedBackend, deeds: list[tuple[str, str]], limit: int
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


def test_a_conversation_begins_and_ends_when_its_messages_were_said(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=400)
    store.add_messages(KEY, [Message("user", "2025", START - 365 * DAY)])
    store.add_messages(KEY, [Message("user", "later", START - DAY)])
    store.add_messages("late", [Message("user", "now")])
    summary = store.summary(KEY)
    assert summary is not None
    assert (summary.created_at, summary.updated_at) == (START - 365 * DAY, START - DAY)
    assert [one.key for one in store.summaries()] == ["late", KEY]
    place.now += 40 * DAY
    store.cleanup()
    left = store.summary(KEY)
    assert left is not None
    assert left.created_at == START - DAY


# What there was before anything


def test_a_new_store_is_empty_and_asking_makes_nothing(backend: Backend) -> None:
    store = backend.open().conversations
    assert not store.exists()
    assert not backend.open().conversations.exists()
    assert store.keeps_everything
    assert store.get_history(KEY) == []
    assert store.window(KEY) == store.messages(KEY) == []
    assert store.summaries() == []
    assert store.summary(KEY) is None
    assert store.find_message(1) is None
    assert not store.clear(KEY)
    assert store.erase_copies(KEY) == 0
    assert store.cleanup() == 0
    assert store.show_again("x") == 0
    store.add_exchange(KEY, "Q", "A")
    assert store.exists()
    assert backend.open().conversations.exists()


def test_a_place_can_be_told_to_people(backend: Backend) -> None:
    assert str(backend.open().conversations.location)


def test_what_is_returned_is_no_door_to_what_is_stored(place: LimitedBackend) -> None:
    store = place.open()
    parts: list[dict[str, Any]] = [{"type": "text", "text": "as it was"}]
    store.add_messages(KEY, [Message("user", parts)])
    for found in (store.get_history(KEY)[0], store.messages(KEY)[0].message):
        assert isinstance(found.content, list)
        found.content[0]["text"] = "changed"
    assert (
        list_contents(store)
        == list_shown_contents(store)
        == [[{"type": "text", "text": "as it was"}]]
    )


def list_shown_contents(store: Conversations) -> list[object]:
    return [one.message.content for one in store.messages(KEY)]


# Ids


def test_ids_grow_over_all_conversations_and_openers(place: LimitedBackend) -> None:
    one, other = place.open(), place.open()
    ids = [
        number
        for store, key in ((one, "a"), (other, "b"), (one, "b"), (other, "a"))
        for number in store.add_messages(key, exchange("Q", "A"))
    ]
    assert ids == sorted(set(ids))
    assert min(ids) > 0


def test_a_message_that_is_not_shown_is_found_by_its_id_with_its_conversation(
    place: LimitedBackend,
) -> None:
    store = place.open()
    old = store.add_messages("客廳", exchange("Q", "old"))
    store.add_messages("客廳", exchange("Q", "new"), again="Q")
    found = place.open().find_message(old[1])
    assert found is not None
    assert (found[0], found[1].id, found[1].message.text) == ("客廳", old[1], "old")
    for unknown in (0, -1, old[-1] + 100, 2**62):
        assert store.find_message(unknown) is None


def test_of_messages_that_cannot_all_be_stored_none_is(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    cursor = store.changes_since(None).cursor
    bad = NewMessage(Message("assistant", "y"), shaped_by={"x": {1}})
    with pytest.raises(InvalidInput, match="use plain values"):
        store.add_messages(
            KEY, [Message("user", "x"), bad], after=0, audience=make_own_audience("me")
        )
    assert list_shown(store) == ["Q", "A"]
    assert store.audience(KEY) == EVERYONE
    assert store.changes_since(cursor).found == ()


# Limits at their edges


def test_a_window_has_as_many_turns_and_characters_as_the_limits_and_no_more(
    place: LimitedBackend,
) -> None:
    store = place.open(conversation_max_turns=4, conversation_max_chars=8)
    for number in range(3):
        store.add_exchange(KEY, f"q{number}", f"a{number}")
    assert list_contents(store) == ["q1", "a1", "q2", "a2"]
    store.use(Settings(conversation_max_turns=5, conversation_max_chars=8))
    assert list_contents(store) == ["q1", "a1", "q2", "a2"]
    store.use(Settings(conversation_max_turns=4, conversation_max_chars=7))
    assert list_contents(store) == ["q2", "a2"]


def test_a_window_ends_when_the_silence_is_longer_than_the_days_and_not_before(
    place: LimitedBackend,
) -> None:
    store = place.open(conversation_max_age_days=7)
    store.add_exchange(KEY, "Q", "A")
    place.now = START + 7 * DAY
    assert list_contents(store) == ["Q", "A"]
    place.now = START + 7 * DAY + timedelta(milliseconds=1)
    assert list_contents(store) == []
    assert store.window(KEY) == []
    assert list_shown(store) == ["Q", "A"]


def test_the_limits_of_one_who_opened_it_are_nobody_else_s(place: LimitedBackend) -> None:
    few, many = place.open(conversation_max_turns=2), place.open(conversation_max_turns=100)
    few.add_exchange(KEY, "Q1", "A1")
    few.add_exchange(KEY, "Q2", "A2")
    assert (len(list_contents(few)), len(list_contents(many))) == (2, 4)


def test_a_message_is_kept_up_to_the_last_moment_of_its_days(place: LimitedBackend) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange(KEY, "Q", "A")
    place.now = START + 30 * DAY
    assert store.cleanup() == 0
    place.now = START + 30 * DAY + timedelta(milliseconds=1)
    assert store.cleanup() == 1
    assert store.summaries() == []
    assert store.figures().messages == 0


# Being answered


def test_a_question_is_being_answered_while_somebody_claims_it(place: LimitedBackend) -> None:
    store, other = place.open(), place.open()
    question = open_exchange(store, "two")
    claim = store.claim(question)
    assert statuses(store) == statuses(other) == [("two", "answering")]
    found = other.find_message(question)
    assert found is not None
    assert found[1].status == "answering"
    claim.end()
    assert statuses(store) == statuses(other) == [("two", "stopped")]


def test_a_claim_says_nothing_of_a_message_that_does_not_wait_for_an_answer(
    place: LimitedBackend,
) -> None:
    store = place.open()
    ids = store.add_messages(KEY, exchange("Q", "A"))
    claims = [store.claim(number) for number in (*ids, ids[-1] + 100)]
    assert statuses(store) == [("Q", "complete"), ("A", "complete")]
    for one in claims:
        one.end()


# Who may find it


def test_an_audience_is_known_before_a_conversation_has_begun(place: LimitedBackend) -> None:
    store = place.open()
    assert store.audience("slack:9.9") == make_own_audience("slack:9.9")
    assert store.audience("schedule:x") == make_prompt_audience("schedule:x")
    assert store.audience("cli:1") == EVERYONE
    assert store.summaries() == []
    store.add_messages("cli:1", exchange("Q", "A"), audience=make_own_audience("me"))
    assert place.open().audience("cli:1") == make_own_audience("me")
    store.clear("cli:1")
    assert store.audience("cli:1") == EVERYONE


def test_a_conversation_that_is_not_searched_says_so_and_is_still_listed(
    place: LimitedBackend,
) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.set_searched(KEY, searched=False)
    summary = place.open().summary(KEY)
    assert summary is not None
    assert not summary.is_searched
    assert list_contents(store) == ["Q", "A"]
    with pytest.raises(NotFound, match="no conversation 'nobody'"):
        store.set_searched("nobody", searched=False)


def test_hiding_finds_what_was_said_on_every_path_and_its_answers_alone(
    place: LimitedBackend,
) -> None:
    store = place.open()
    first = store.add_messages(KEY, [*exchange("Q", "A"), Message("assistant", "and more")])
    place.now += timedelta(minutes=1)
    second = store.add_messages(KEY, exchange("Q2", "A2"))
    store.add_messages(KEY, exchange("other", "path"), after=0)
    assert store.hide(KEY, [START], "x") == first
    assert store.hide(KEY, [START], "x") == first
    assert store.show_again("x") == 3
    assert store.hide(KEY, [START, START + timedelta(minutes=1)], "y")[:5] == [*first, *second]


# A feed in parts


def test_a_feed_says_in_parts_what_is_new_and_what_is_gone(place: LimitedBackend) -> None:
    store = place.open()
    for number in range(3):
        store.add_exchange(f"key {number}", f"Q{number}", f"A{number}")
    first = store.changes_since(None, 4)
    assert (len(first.found), first.gone, first.is_last) == (4, (), False)
    rest = store.changes_since(first.cursor, 4)
    assert (len(rest.found), rest.is_last) == (2, True)
    gone = {one.id for one in first.found if one.key == "key 0"}
    store.clear("key 0")
    told = store.changes_since(rest.cursor, 4)
    assert (told.found, set(told.gone), told.is_last) == ((), gone, True)
    nothing = store.changes_since(told.cursor, 4)
    assert (nothing.found, nothing.gone, nothing.cursor) == ((), (), told.cursor)
    assert nothing.database == first.database


def test_who_begins_to_follow_late_need_not_know_what_is_gone(place: LimitedBackend) -> None:
    store = place.open()
    store.add_exchange("gone", "Q", "A")
    store.clear("gone")
    store.add_exchange(KEY, "Q", "A")
    follower = Follower(store, limit=1)
    follower.follow()
    assert follower.texts() == ["Q", "A"]


def test_a_title_is_of_the_first_question_whose_beginning_says_something(
    place: LimitedBackend,
) -> None:
    store = place.open()
    store.add_exchange(KEY, " " * 1200 + "late", "A")
    store.add_exchange(KEY, "second", "A")
    assert [one.title for one in store.summaries()] == ["second"]


def test_what_json_says_otherwise_comes_back_as_json_says_it(place: LimitedBackend) -> None:
    store = place.open()
    store.add_messages(KEY, [Message("user", [{"type": "x", "y": (1, 2)}])])
    assert list_contents(store) == [[{"type": "x", "y": [1, 2]}]]
