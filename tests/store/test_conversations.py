"""`ConversationStore` in a JSON file and in a database: files, limits of the file, damage."""

from __future__ import annotations

import json
import logging
import os
import stat
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, cast

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store import others
from tests.store.kept import KEY, START, Kept
from tests.strategies import brief, conversations
from turnleaf.core.messages import Message
from turnleaf.core.tokens import content_chars
from turnleaf.core.window import within_limits
from turnleaf.errors import InvalidInput, SettingsError, StorageError
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

KINDS = (".json", ".db")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(tmp_path / "deep" / f"conversations{request.param}")


@pytest.fixture
def file(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.json")


@pytest.fixture
def database(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "conversations.db")


def said(store: ConversationStore, key: str = KEY) -> list[object]:
    return [message.content for message in store.get_history(key)]


def call(name: str) -> dict[str, object]:
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}


# Adding and reading


def test_a_new_store_is_empty_and_in_a_new_folder(place: Kept) -> None:
    store = place.open()
    assert store.get_history(KEY) == []
    assert store.summaries() == []
    assert place.path.is_file()
    assert store.location == place.path


def test_an_exchange_is_kept_with_its_time(file: Kept) -> None:
    file.open().add_exchange(KEY, "客廳的燈叫做小明", "好的，我記住了。")
    assert file.open().get_history(KEY) == [
        Message("user", "客廳的燈叫做小明", START),
        Message("assistant", "好的，我記住了。", START),
    ]


def test_a_store_makes_itself_ready_at_the_first_call(place: Kept) -> None:
    store = ConversationStore(place.path, settings=Settings(), now=lambda: START)
    store.add_exchange(KEY, "Q", "A")
    assert said(store) == ["Q", "A"]


def test_conversations_do_not_mix(file: Kept) -> None:
    store = file.open()
    store.add_exchange("one", "Q1", "A1")
    store.add_exchange("two", "Q2", "A2")
    store.add_exchange("one", "Q3", "A3")
    assert said(store, "one") == ["Q1", "A1", "Q3", "A3"]
    assert said(store, "two") == ["Q2", "A2"]


def test_summaries_tell_what_there_is_newest_first(file: Kept) -> None:
    file.open().add_exchange("one", "Q", "A")
    file.now += timedelta(hours=1)
    store = file.open()
    store.add_exchange("two", "Q", "A")
    assert [(one.key, one.turns) for one in store.summaries()] == [("two", 2), ("one", 2)]
    file.now += timedelta(hours=1)
    store.add_exchange("one", "Q", "A")
    first = file.open().summaries()[0]
    assert (first.key, first.turns) == ("one", 4)
    assert (first.created_at, first.updated_at) == (START, START + timedelta(hours=2))


def test_the_newest_is_first_when_all_were_added_to_within_one_millisecond(file: Kept) -> None:
    store = file.open()
    for key in ("一", "b", "三", "a", "b", "一"):
        store.add_exchange(key, "hello", "hi")
    assert [one.key for one in store.summaries()] == ["一", "b", "a", "三"]
    assert [one.key for one in file.open().summaries()] == ["一", "b", "a", "三"]


def test_a_conversation_is_titled_by_the_beginning_of_its_first_question(file: Kept) -> None:
    store = file.open()
    store.add_exchange("long", "  客廳的燈\n叫做小明 " * 20, "A")
    store.add_exchange("long", "later", "A")
    shown: list[dict[str, object]] = [{"type": "text", "text": "look\tat"}, {"type": "image"}]
    store.add_messages("parts", [Message("system", "be kind"), Message("user", shown)])
    store.add_messages("none", [Message("assistant", "hello")])
    titles = {one.key: one.title for one in file.open().summaries()}
    assert titles == {"long": ("客廳的燈 叫做小明 " * 20)[:80], "parts": "look at", "none": ""}


def test_a_title_is_of_the_first_question_that_a_file_still_has(file: Kept) -> None:
    store = file.open(conversation_max_turns=2)
    store.add_exchange(KEY, "dropped", "A")
    store.add_exchange(KEY, "kept", "A")
    assert [one.title for one in store.summaries()] == ["kept"]


def test_one_summary_is_the_same_as_in_the_list(file: Kept) -> None:
    store = file.open()
    for key in ("one", "客廳"):
        store.add_exchange(key, f"about {key}", "A")
    assert [store.summary(one.key) for one in store.summaries()] == store.summaries()
    assert store.summary("nobody") is None


def test_the_list_can_be_cut_and_searched(file: Kept) -> None:
    store = file.open()
    store.add_exchange("tea", "Do you like TEA (100%)?", "Ja, Straße.")
    shown: list[dict[str, Any]] = [{"type": "text", "text": 'a "quoted" 燈'}]
    store.add_messages("light", [Message("user", shown), Message("assistant", "é\0after")])
    store.add_exchange("other", "x", "y")

    def found(query: str, limit: int | None = None) -> list[str]:
        return [one.key for one in store.summaries(query, limit)]

    assert [one.key for one in store.summaries(limit=2)] == ["other", "light"]
    assert found("tea (100%)") == found("STRASSE") == ["tea"]
    assert found('A "QUOTED" 燈') == found("É") == found("after") == ["light"]
    assert found("%") == ["tea"]
    assert found("") == ["other", "light", "tea"]
    assert found("", 1) == ["other"]
    assert found("nothing of this") == []


def test_messages_are_given_in_pieces_from_the_end(file: Kept) -> None:
    store = file.open()
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


def test_stored_messages_say_whose_words_they_are_and_what_they_follow(file: Kept) -> None:
    store = file.open()
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


def test_figures_count_what_is_kept(file: Kept) -> None:
    store = file.open()
    empty = store.figures()
    assert (empty.conversations, empty.messages, empty.oldest) == (0, 0, None)
    store.add_exchange("one", "Q", "A")
    file.now += timedelta(hours=1)
    store.add_exchange("two", "Q" * 10_000, "A")
    figures = store.figures()
    assert (figures.conversations, figures.messages, figures.oldest) == (2, 4, START)
    assert figures.bytes > 10_000


def test_a_message_that_has_a_time_keeps_it(file: Kept) -> None:
    store = file.open()
    earlier = START - timedelta(hours=5)
    store.add_messages(KEY, [Message("user", "x", earlier), Message("assistant", "y")])
    assert [message.timestamp for message in store.get_history(KEY)] == [earlier, START]


def test_no_messages_are_no_conversation(file: Kept) -> None:
    store = file.open()
    store.add_messages(KEY, [])
    assert store.summaries() == []


def test_a_closed_store_opens_again_by_itself(file: Kept) -> None:
    store = file.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    store.close()
    assert said(store) == ["Q", "A"]


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
def test_any_text_comes_back_exactly(file: Kept, text: str) -> None:
    file.open().add_exchange(KEY, text, text)
    assert said(file.open()) == [text, text]
    file.open().add_exchange(KEY, "next", "one")
    assert said(file.open())[-2:] == ["next", "one"]


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
def test_any_name_is_just_a_name(place: Kept, key: str) -> None:
    before = sorted(place.path.parent.parent.rglob("*"))
    store = place.open()
    store.add_exchange(key, "Q", "A")
    assert said(place.open(), key) == ["Q", "A"]
    assert [one.key for one in store.summaries()] == [key]
    made = {path.parent for path in place.path.parent.parent.rglob("*")} - set(before)
    assert made <= {place.path.parent, place.path.parent.parent}
    assert store.clear(key) is True


@pytest.mark.parametrize("key", ["", "  ", "a\0", "a\n", "\ud800", "x" * 513])
def test_what_is_no_name_is_refused(file: Kept, key: str) -> None:
    store = file.open()
    for attempt in (
        lambda: store.add_exchange(key, "Q", "A"),
        lambda: store.get_history(key),
        lambda: store.clear(key),
    ):
        with pytest.raises(InvalidInput, match="a conversation"):
            attempt()


@pytest.mark.parametrize("content", [None, 5, b"x", ["x"], {"type": "text"}])
def test_what_is_no_content_is_refused_and_nothing_changes(file: Kept, content: Any) -> None:  # noqa: ANN401 - of any type
    store = file.open()
    store.add_exchange(KEY, "Q", "A")
    with pytest.raises(InvalidInput):
        store.add_exchange(KEY, content, "A")
    with pytest.raises(InvalidInput):
        store.add_exchange(KEY, "Q", content)
    assert said(store) == ["Q", "A"]


@pytest.mark.parametrize("value", [float("nan"), {1}, START, b"x"])
def test_what_json_cannot_hold_is_refused_and_nothing_changes(file: Kept, value: object) -> None:
    store = file.open()
    store.add_exchange(KEY, "Q", "A")
    with pytest.raises(InvalidInput, match="use plain values"):
        store.add_messages(KEY, [Message("user", [{"type": "data", "value": value}])])
    assert said(file.open()) == ["Q", "A"]


PICTURE: dict[str, Any] = {
    "type": "image_url",
    "image_url": {"url": f"data:image/png;base64,{'A' * 5000}"},
}


def test_parts_are_kept_as_they_are(file: Kept) -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "what is this?"},
        PICTURE,
        {"type": "x", "y": [None, 1.5]},
    ]
    file.open().add_messages(KEY, [Message("user", parts), Message("assistant", "a cat")])
    assert said(file.open()) == [parts, "a cat"]


def test_parts_are_counted(file: Kept) -> None:
    store = file.open(conversation_max_chars=4000)
    store.add_exchange(KEY, "old", "old")
    store.add_exchange(KEY, [PICTURE], "a cat")
    size = content_chars([PICTURE])
    assert 0 < size < 4000
    assert said(store) == ["old", "old", [PICTURE], "a cat"]
    store.add_exchange(KEY, "x" * (4000 - size), "y")
    assert said(store) == ["x" * (4000 - size), "y"]


def test_tool_calls_and_their_results_come_back(file: Kept) -> None:
    messages = [
        Message("user", "weather?", START),
        Message("assistant", None, START, tool_calls=[call("a"), call("b")]),
        Message("tool", "72°F", START, tool_call_id="a", name="weather"),
        Message("tool", [{"type": "text", "text": "sunny"}], START, tool_call_id="b"),
        Message("assistant", "72°F and sunny", START, name="helper"),
        Message("developer", "be brief", START),
    ]
    file.open().add_messages(KEY, messages)
    assert file.open().get_history(KEY) == messages


def stamped(messages: list[Message]) -> list[Message]:
    return [
        Message(one.role, one.content, START, one.tool_calls, one.tool_call_id) for one in messages
    ]


def cut(messages: list[Message], turns: int, chars: int) -> list[Message]:
    return list(within_limits(messages, turns, chars, lambda one: content_chars(one.content)))


ROUNDS = st.lists(conversations(), min_size=1, max_size=4)


@brief
@given(ROUNDS, st.integers(1, 12), st.integers(1, 3000), st.booleans())
def test_a_file_holds_what_trimming_leaves_of_a_conversation(
    file: Kept,
    rounds: list[list[Message]],
    turns: int,
    chars: int,
    reopens: bool,  # noqa: FBT001
) -> None:
    file.path.unlink(missing_ok=True)
    store = file.open(conversation_max_turns=turns, conversation_max_chars=chars)
    expected: list[Message] = []
    for messages in map(stamped, rounds):
        store.add_messages(KEY, messages)
        expected = cut([*expected, *messages], turns, chars) if messages else expected
        if reopens:
            store.close()
    assert store.get_history(KEY) == expected
    store.close()


# Limits


def test_the_oldest_turns_go_first(file: Kept) -> None:
    store = file.open(conversation_max_turns=4)
    for number in range(5):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert said(store) == ["Q3", "A3", "Q4", "A4"]


def test_the_newest_exchange_stays_however_long_it_is(file: Kept) -> None:
    store = file.open(conversation_max_chars=10, conversation_max_turns=1)
    store.add_exchange(KEY, "Q", "A")
    store.add_exchange(KEY, "long " * 10, "longer " * 10)
    assert said(store) == ["long " * 10, "longer " * 10]


def test_calls_and_results_are_trimmed_together(file: Kept) -> None:
    store = file.open(conversation_max_turns=4)
    store.add_messages(
        KEY, [Message("user", "Q"), Message("assistant", None, tool_calls=[call("a")])]
    )
    store.add_messages(KEY, [Message("tool", "R", tool_call_id="a"), Message("assistant", "A")])
    assert len(store.get_history(KEY)) == 4
    store.add_exchange(KEY, "Q2", "A2")
    assert said(store) == ["Q2", "A2"]


def test_a_result_keeps_the_call_that_it_answers_whatever_the_limit(file: Kept) -> None:
    store = file.open(conversation_max_turns=2)
    store.add_messages(
        KEY, [Message("user", "Q"), Message("assistant", None, tool_calls=[call("a")])]
    )
    store.add_messages(KEY, [Message("tool", "R", tool_call_id="a")])
    assert said(store) == ["Q", None, "R"]


def test_in_a_file_a_limit_that_became_smaller_holds_at_the_next_addition(file: Kept) -> None:
    store = file.open()
    for number in range(5):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert len(said(file.open(conversation_max_turns=2))) == 10
    smaller = file.open(conversation_max_turns=2)
    smaller.add_exchange(KEY, "Q", "A")
    assert said(smaller) == ["Q", "A"]


def test_what_a_file_trims_or_expires_is_gone(file: Kept) -> None:
    store = file.open(conversation_max_turns=2)
    store.add_exchange(KEY, "Q1", "A1")
    store.add_exchange(KEY, "Q2", "A2")
    assert [one.message.text for one in store.messages(KEY)] == ["Q2", "A2"]
    assert b"Q1" not in file.path.read_bytes()
    file.now += timedelta(days=8)
    assert file.open().summaries() == []
    assert b"Q2" not in file.path.read_bytes()
    assert sorted(path.name for path in file.path.parent.iterdir()) == [
        ".conversations.json.lock",
        "conversations.json",
    ]


# Age


def test_a_silence_of_many_days_ends_a_history(file: Kept) -> None:
    file.open().add_exchange("old", "Q", "A")
    file.now += timedelta(days=6)
    file.open().add_exchange("young", "Q", "A")
    file.now = START + timedelta(days=7, seconds=1)
    store = file.open()
    assert store.get_history("old") == []
    assert said(store, "young") == ["Q", "A"]


def test_what_is_too_old_leaves_a_file_at_the_next_start(file: Kept) -> None:
    file.open().add_exchange("old", "Q", "A")
    file.now += timedelta(days=6)
    file.open().add_exchange("young", "Q", "A")
    file.now = START + timedelta(days=7, seconds=1)
    assert [one.key for one in file.open().summaries()] == ["young"]


def test_cleaning_up_a_file_says_how_many_conversations_went(file: Kept) -> None:
    store = file.open(conversation_max_age_days=1)
    for key in ("one", "two"):
        store.add_exchange(key, "Q", "A")
    assert store.cleanup() == 0
    file.now += timedelta(days=1, seconds=1)
    store.add_exchange("three", "Q", "A")
    assert store.cleanup() == 2
    assert store.cleanup() == 0
    assert [one.key for one in store.summaries()] == ["three"]


def test_age_counts_from_the_last_addition(file: Kept) -> None:
    store = file.open()
    store.add_exchange(KEY, "Q1", "A1")
    file.now += timedelta(days=6)
    store.add_exchange(KEY, "Q2", "A2")
    file.now += timedelta(days=6)
    assert said(file.open()) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.parametrize("days", [10**6, 10**9, 10**15])
def test_very_many_days_are_for_ever(file: Kept, days: int) -> None:
    limits = {"conversation_max_age_days": days, "conversation_keep_days": days}
    file.open(**limits).add_exchange(KEY, "Q", "A")
    file.now += timedelta(days=10_000)
    assert said(file.open(**limits)) == ["Q", "A"]


# Erasing


def test_a_cleared_conversation_is_gone(file: Kept) -> None:
    store = file.open()
    store.add_exchange(KEY, "secret", "secret")
    store.add_exchange("other", "kept", "A")
    assert store.clear(KEY) is True
    assert store.get_history(KEY) == []
    assert store.messages(KEY) == []
    assert [one.key for one in store.summaries()] == ["other"]
    assert store.clear(KEY) is False


def test_what_is_cleared_leaves_no_byte(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "a secret to be erased", "A")
    store.clear(KEY)
    left = [path for path in place.path.parent.rglob("*") if path.is_file()]
    assert not any(b"a secret to be erased" in path.read_bytes() for path in left)


# Several at once


def test_a_second_instance_sees_what_the_first_wrote(file: Kept) -> None:
    one, other = file.open(), file.open()
    one.add_exchange(KEY, "Q1", "A1")
    assert said(other) == ["Q1", "A1"]
    other.add_exchange(KEY, "Q2", "A2")
    assert said(one) == ["Q1", "A1", "Q2", "A2"]
    one.clear(KEY)
    assert said(other) == []


def test_two_processes_lose_nothing(place: Kept) -> None:
    running = [others.start("add_exchanges", place.path, KEY, name, "25") for name in ("a", "b")]
    for process in running:
        others.finish(process)
    found = [one.message.text for one in place.open().messages(KEY)]
    assert len(found) == 100
    assert found[1::2] == [f"re {text}" for text in found[::2]]
    for name in ("a", "b"):
        mine = [text for text in found[::2] if text.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(25)]


def test_another_process_sees_what_this_one_wrote(place: Kept) -> None:
    store = ConversationStore(place.path, settings=Settings())
    store.add_exchange(KEY, "written here", "A")
    assert others.run("history", place.path, KEY) == ["written here", "A"]


def test_threads_with_one_store_lose_nothing(file: Kept) -> None:
    store = file.open(conversation_max_turns=1000, conversation_max_chars=10**6)
    together = Barrier(4)

    def work(name: str) -> None:
        together.wait()
        for number in range(10):
            store.add_exchange(KEY, f"{name} {number}", "A")
            store.get_history(KEY)

    threads = [Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said(store)) == 80


# Files


def test_new_files_are_private(place: Kept) -> None:
    old = os.umask(0)
    try:
        place.open().add_exchange(KEY, "Q", "A")
    finally:
        os.umask(old)
    modes = {
        path: path.stat().st_mode for path in [place.path.parent, *place.path.parent.rglob("*")]
    }
    for path, mode in modes.items():
        assert stat.S_IMODE(mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_file_that_is_gone_is_not_silently_begun_anew(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    place.path.unlink()
    for attempt in (
        lambda: store.add_exchange(KEY, "Q2", "A2"),
        lambda: store.get_history(KEY),
        lambda: store.clear(KEY),
    ):
        with pytest.raises(StorageError, match="is gone since it was opened"):
            attempt()
        assert not place.path.exists()


@pytest.mark.parametrize("suffix", KINDS)
def test_a_read_only_folder_refuses_writing_and_allows_reading(suffix: str, ground: Path) -> None:
    folder = ground / "conversations"
    path = folder / f"conversations{suffix}"
    store = ConversationStore(path, settings=Settings())
    store.add_exchange("key", "Q", "A")
    store.close()
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    tried, found = cast("list[list[str]]", others.run("read_only_conversations", path))
    folder.chmod(0o755)
    for said_of_it in tried:
        assert said_of_it.startswith("StorageError: cannot ")
        assert "check who owns" in said_of_it
    assert found == ["Q", "A"]


@pytest.mark.parametrize("name", ["x", "x.txt", "x.md", "x.sqlite", ".json"])
def test_a_name_that_does_not_tell_the_kind_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"end it in \.json or \.db"):
        ConversationStore(tmp_path / name)


@pytest.mark.parametrize(
    "url", ["postgresql://me@host/db", "postgres://x/y.db", "https://x/y.json"]
)
def test_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"pass a path in \.json or \.db|ending in"):
        ConversationStore(url)


def test_a_path_that_no_system_has_is_refused() -> None:
    with pytest.raises((InvalidInput, StorageError), match="path"):
        ConversationStore("a\0b.json").init()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CONVERSATION_MAX_TURNS", "0"),
        ("CONVERSATION_MAX_CHARS", "-1"),
        ("CONVERSATION_MAX_AGE_DAYS", "a week"),
        ("CONVERSATION_KEEP_DAYS", "-1"),
    ],
)
def test_a_bad_setting_is_an_error_that_names_it(
    place: Kept, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=f"{variable} must be .*, not '{value}'"):
        ConversationStore(place.path).init()


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("", "data/conversations/conversations.json"),
        ("t", "/data/conversations/conversations.json"),
    ],
)
def test_the_default_location_is_the_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPERVISOR_TOKEN", token)
    assert ConversationStore().location == (tmp_path / expected).resolve()


# Damage


def damaged(place: Kept) -> list[Path]:
    return sorted(
        path
        for path in place.path.parent.glob(f"{place.path.name}.corrupt-*")
        if not path.name.endswith(("-wal", "-shm"))
    )


@pytest.mark.parametrize("data", [b"garbage" * 300, b"\xff\xfe" * 200, b'{"version"', b"[]"])
def test_a_file_that_cannot_be_read_goes_aside_and_is_named(
    place: Kept, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        store = place.open()
    assert store.summaries() == []
    store.add_exchange(KEY, "Q", "A")
    assert said(place.open()) == ["Q", "A"]
    (aside,) = damaged(place)
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text


def test_a_file_damaged_while_a_store_is_open_goes_aside(place: Kept) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    place.path.write_bytes(b"damaged " * 1000)
    store.add_exchange(KEY, "after", "it")
    assert said(store) == ["after", "it"]
    assert [aside.read_bytes() for aside in damaged(place)] == [b"damaged " * 1000]


def test_of_a_damaged_file_what_can_be_read_stays(file: Kept) -> None:
    store = file.open()
    store.add_exchange("good", "Q", "A")
    store.add_exchange("bad", "Q", "A")
    text = file.path.read_text()
    file.path.write_text(text.replace('"bad": {"createdAt"', '"bad": {"created"'))
    store = file.open()
    assert [one.key for one in store.summaries()] == ["good"]
    assert said(store, "good") == ["Q", "A"]
    assert '"bad"' in damaged(file)[0].read_text()


def test_a_file_of_a_newer_version_goes_aside_and_is_kept(file: Kept) -> None:
    file.path.write_text('{"version": 2, "conversations": {}, "new": true}')
    assert file.open().summaries() == []
    assert [json.loads(aside.read_text())["new"] for aside in damaged(file)] == [True]


def test_a_database_of_a_newer_version_is_refused(database: Kept) -> None:
    database.open().close()
    connection = apsw.Connection(str(database.path))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(StorageError, match="newer version of Turnleaf; update this one"):
        database.open()


def test_a_message_that_cannot_be_read_costs_none_of_the_others(
    database: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    store = database.open()
    store.add_messages(KEY, [Message("user", [PICTURE]), Message("assistant", "A")])
    store.close()
    connection = apsw.Connection(str(database.path))
    connection.execute("UPDATE messages SET json = '{damaged' WHERE json IS NOT NULL")
    connection.close()
    assert said(database.open()) == ["A"]
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET role = CAST(x'75ff' AS TEXT) WHERE n = 1",
        "UPDATE messages SET timestamp = CAST(x'32ff' AS TEXT) WHERE n = 1",
        "UPDATE messages SET text = CAST(x'75ff' AS TEXT) WHERE n = 1",
        "UPDATE messages SET shaped_by = CAST(x'5bff' AS TEXT) WHERE n = 2",
        "UPDATE conversations SET created_at = CAST(x'32ff' AS TEXT)",
        "UPDATE conversations SET updated_at = CAST(x'32ff' AS TEXT)",
        "UPDATE conversations SET title = CAST(x'32ff' AS TEXT)",
        "INSERT INTO conversations (key, created_at, updated_at) VALUES (x'6bff', '2026', '2000')",
    ],
)
def test_a_damaged_character_anywhere_costs_none_of_the_others(database: Kept, damage: str) -> None:
    store = database.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    connection = apsw.Connection(str(database.path))
    connection.execute(damage)
    connection.close()
    store = database.open()
    store.add_exchange(KEY, "Q2", "A2")
    assert said(store)[-3:] == ["A", "Q2", "A2"]
    assert KEY in {one.key for one in store.summaries()}
    store.cleanup()
    assert said(store)[-2:] == ["Q2", "A2"]


def test_a_file_in_any_layout_is_read_and_written_on(file: Kept) -> None:
    store = file.open()
    store.add_exchange(KEY, "Q", "A")
    pretty = json.dumps(json.loads(file.path.read_text()), indent=4)
    file.path.write_text("\ufeff" + pretty, encoding="utf-8")
    store.add_exchange("other", "Q2", "A2")
    assert said(store) == ["Q", "A"]
    assert said(file.open(), "other") == ["Q2", "A2"]


def test_the_file_is_the_json_that_the_requirements_name(file: Kept) -> None:
    file.open().add_exchange(KEY, "Q", "A")
    stored = json.loads(file.path.read_text())["conversations"][KEY]
    assert stored["createdAt"] == stored["updatedAt"] == "2026-03-01T08:30:00.000Z"
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]


def test_thousands_of_conversations_fit_in_a_database(database: Kept) -> None:
    store = database.open()
    for number in range(300):
        store.add_exchange(f"key-{number}", "Q", "A")
    assert len(store.summaries()) == 300
    assert said(store, "key-150") == ["Q", "A"]
