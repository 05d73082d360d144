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
from tests.store.timed_place import KEY, START, TimedPlace
from tests.strategies import brief, conversations
from turnleaf.core.messages import Message
from turnleaf.core.tokens import count_content_chars
from turnleaf.core.window import trim_to_limits
from turnleaf.errors import InvalidInput, SettingsError, StorageError
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

KINDS = (".json", ".db")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "deep" / f"conversations{request.param}")


@pytest.fixture
def file(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.json")


@pytest.fixture
def database(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.db")


def list_contents(store: ConversationStore, key: str = KEY) -> list[object]:
    return [message.content for message in store.get_history(key)]


# Adding and reading


def test_a_new_store_is_empty_and_in_a_new_folder(place: TimedPlace) -> None:
    store = place.open()
    assert store.get_history(KEY) == []
    assert store.summaries() == []
    assert place.path.is_file()
    assert store.location == place.path


def test_a_store_makes_itself_ready_at_the_first_call(place: TimedPlace) -> None:
    store = ConversationStore(place.path, settings=Settings(), now=lambda: START)
    store.add_exchange(KEY, "Q", "A")
    assert list_contents(store) == ["Q", "A"]


def test_a_title_is_of_the_first_question_that_a_file_still_has(file: TimedPlace) -> None:
    store = file.open(conversation_max_turns=2)
    store.add_exchange(KEY, "dropped", "A")
    store.add_exchange(KEY, "kept", "A")
    assert [one.title for one in store.summaries()] == ["kept"]


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
        with pytest.raises(InvalidInput, match=r"this needs a location ending in \.db"):
            attempt()
    assert store.find_message(1) is None


# Any content


@pytest.mark.parametrize("key", ["", "  ", "a\0", "a\n", "\ud800", "x" * 513])
def test_what_is_no_name_is_refused_by_a_json_file(file: TimedPlace, key: str) -> None:
    store = file.open()
    for attempt in (
        lambda: store.add_exchange(key, "Q", "A"),
        lambda: store.get_history(key),
        lambda: store.clear(key),
    ):
        with pytest.raises(InvalidInput, match="a conversation"):
            attempt()


PICTURE: dict[str, Any] = {
    "type": "image_url",
    "image_url": {"url": f"data:image/png;base64,{'A' * 5000}"},
}


def stamp_messages(messages: list[Message]) -> list[Message]:
    return [
        Message(one.role, one.content, START, one.tool_calls, one.tool_call_id) for one in messages
    ]


def cut(messages: list[Message], turns: int, chars: int) -> list[Message]:
    return list(
        trim_to_limits(messages, turns, chars, lambda one: count_content_chars(one.content))
    )


ROUNDS = st.lists(conversations(), min_size=1, max_size=4)


@brief
@given(ROUNDS, st.integers(1, 12), st.integers(1, 3000), st.booleans())
def test_a_file_holds_what_trimming_leaves_of_a_conversation(
    file: TimedPlace,
    rounds: list[list[Message]],
    turns: int,
    chars: int,
    reopens: bool,  # noqa: FBT001
) -> None:
    file.path.unlink(missing_ok=True)
    store = file.open(conversation_max_turns=turns, conversation_max_chars=chars)
    expected: list[Message] = []
    for messages in map(stamp_messages, rounds):
        store.add_messages(KEY, messages)
        expected = cut([*expected, *messages], turns, chars) if messages else expected
        if reopens:
            store.close()
    assert store.get_history(KEY) == expected
    store.close()


# Limits


def test_in_a_file_a_limit_that_became_smaller_holds_at_the_next_addition(
    file: TimedPlace,
) -> None:
    store = file.open()
    for number in range(5):
        store.add_exchange(KEY, f"Q{number}", f"A{number}")
    assert len(list_contents(file.open(conversation_max_turns=2))) == 10
    smaller = file.open(conversation_max_turns=2)
    smaller.add_exchange(KEY, "Q", "A")
    assert list_contents(smaller) == ["Q", "A"]


def test_what_a_file_trims_or_expires_is_gone(file: TimedPlace) -> None:
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


def test_what_is_too_old_leaves_a_file_at_the_next_start(file: TimedPlace) -> None:
    file.open().add_exchange("old", "Q", "A")
    file.now += timedelta(days=6)
    file.open().add_exchange("young", "Q", "A")
    file.now = START + timedelta(days=7, seconds=1)
    assert [one.key for one in file.open().summaries()] == ["young"]


def test_cleaning_up_a_file_says_how_many_conversations_went(file: TimedPlace) -> None:
    store = file.open(conversation_max_age_days=1)
    for key in ("one", "two"):
        store.add_exchange(key, "Q", "A")
    assert store.cleanup() == 0
    file.now += timedelta(days=1, seconds=1)
    store.add_exchange("three", "Q", "A")
    assert store.cleanup() == 2
    assert store.cleanup() == 0
    assert [one.key for one in store.summaries()] == ["three"]


# Erasing


def test_what_is_cleared_leaves_no_byte(place: TimedPlace) -> None:
    store = place.open()
    store.add_exchange(KEY, "a secret to be erased", "A")
    store.clear(KEY)
    left = [path for path in place.path.parent.rglob("*") if path.is_file()]
    assert not any(b"a secret to be erased" in path.read_bytes() for path in left)


# Several at once


def test_two_processes_lose_nothing(place: TimedPlace) -> None:
    running = [others.start("add_exchanges", place.path, KEY, name, "25") for name in ("a", "b")]
    for process in running:
        others.finish(process)
    found = [one.message.text for one in place.open().messages(KEY)]
    assert len(found) == 100
    assert found[1::2] == [f"re {text}" for text in found[::2]]
    for name in ("a", "b"):
        mine = [text for text in found[::2] if text.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(25)]


def test_threads_with_one_store_lose_nothing(file: TimedPlace) -> None:
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
    assert len(list_contents(store)) == 80


# Files


def test_new_files_are_private(place: TimedPlace) -> None:
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


def test_a_file_that_is_gone_is_not_silently_begun_anew(place: TimedPlace) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    place.path.unlink()
    for attempt in (
        lambda: store.add_exchange(KEY, "Q2", "A2"),
        lambda: store.get_history(KEY),
        lambda: store.clear(KEY),
    ):
        with pytest.raises(StorageError, match="has been removed since it was opened"):
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
    with pytest.raises(InvalidInput, match=r"use a name ending in \.json or \.db"):
        ConversationStore(tmp_path / name)


@pytest.mark.parametrize(
    "url", ["postgresql://me@host/db", "postgres://x/y.db", "https://x/y.json"]
)
def test_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"use a path ending in|ending in"):
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
    place: TimedPlace, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
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


def find_corrupt_copies(place: TimedPlace) -> list[Path]:
    return sorted(
        path
        for path in place.path.parent.glob(f"{place.path.name}.corrupt-*")
        if not path.name.endswith(("-wal", "-shm"))
    )


@pytest.mark.parametrize("data", [b"garbage" * 300, b"\xff\xfe" * 200, b'{"version"', b"[]"])
def test_a_file_that_cannot_be_read_goes_aside_and_is_named(
    place: TimedPlace, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        store = place.open()
    assert store.summaries() == []
    store.add_exchange(KEY, "Q", "A")
    assert list_contents(place.open()) == ["Q", "A"]
    (aside,) = find_corrupt_copies(place)
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text


def test_a_file_damaged_while_a_store_is_open_goes_aside(place: TimedPlace) -> None:
    store = place.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    place.path.write_bytes(b"damaged " * 1000)
    store.add_exchange(KEY, "after", "it")
    assert list_contents(store) == ["after", "it"]
    assert [aside.read_bytes() for aside in find_corrupt_copies(place)] == [b"damaged " * 1000]


def test_of_a_damaged_file_what_can_be_read_stays(file: TimedPlace) -> None:
    store = file.open()
    store.add_exchange("good", "Q", "A")
    store.add_exchange("bad", "Q", "A")
    text = file.path.read_text()
    file.path.write_text(text.replace('"bad": {"createdAt"', '"bad": {"created"'))
    store = file.open()
    assert [one.key for one in store.summaries()] == ["good"]
    assert list_contents(store, "good") == ["Q", "A"]
    assert '"bad"' in find_corrupt_copies(file)[0].read_text()


def test_a_file_of_a_newer_version_goes_aside_and_is_kept(file: TimedPlace) -> None:
    file.path.write_text('{"version": 2, "conversations": {}, "new": true}')
    assert file.open().summaries() == []
    assert [json.loads(aside.read_text())["new"] for aside in find_corrupt_copies(file)] == [True]


def test_a_database_of_a_newer_version_is_refused(database: TimedPlace) -> None:
    database.open().close()
    connection = apsw.Connection(str(database.path))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(StorageError, match="newer version of Turnleaf; update this one"):
        database.open()


def test_a_message_that_cannot_be_read_costs_none_of_the_others(
    database: TimedPlace, caplog: pytest.LogCaptureFixture
) -> None:
    store = database.open()
    store.add_messages(KEY, [Message("user", [PICTURE]), Message("assistant", "A")])
    store.close()
    connection = apsw.Connection(str(database.path))
    connection.execute("UPDATE messages SET json = '{damaged' WHERE json IS NOT NULL")
    connection.close()
    assert list_contents(database.open()) == ["A"]
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
def test_a_damaged_character_anywhere_costs_none_of_the_others(
    database: TimedPlace, damage: str
) -> None:
    store = database.open()
    store.add_exchange(KEY, "Q", "A")
    store.close()
    connection = apsw.Connection(str(database.path))
    connection.execute(damage)
    connection.close()
    store = database.open()
    store.add_exchange(KEY, "Q2", "A2")
    assert list_contents(store)[-3:] == ["A", "Q2", "A2"]
    assert KEY in {one.key for one in store.summaries()}
    store.cleanup()
    assert list_contents(store)[-2:] == ["Q2", "A2"]


def test_a_file_in_any_layout_is_read_and_written_on(file: TimedPlace) -> None:
    store = file.open()
    store.add_exchange(KEY, "Q", "A")
    pretty = json.dumps(json.loads(file.path.read_text()), indent=4)
    file.path.write_text("\ufeff" + pretty, encoding="utf-8")
    store.add_exchange("other", "Q2", "A2")
    assert list_contents(store) == ["Q", "A"]
    assert list_contents(file.open(), "other") == ["Q2", "A2"]


def test_the_file_is_the_json_that_the_requirements_name(file: TimedPlace) -> None:
    file.open().add_exchange(KEY, "Q", "A")
    stored = json.loads(file.path.read_text())["conversations"][KEY]
    assert stored["createdAt"] == stored["updatedAt"] == "2026-03-01T08:30:00.000Z"
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]


def test_thousands_of_conversations_fit_in_a_database(database: TimedPlace) -> None:
    store = database.open()
    for number in range(300):
        store.add_exchange(f"key-{number}", "Q", "A")
    assert len(store.summaries()) == 300
    assert list_contents(store, "key-150") == ["Q", "A"]
