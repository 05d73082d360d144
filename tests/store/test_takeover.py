"""What an older version kept is taken over whole, once, and leaves a copy behind."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.store.older import START, archive, make_messages, write_conversations
from turnleaf.core.messages import Message
from turnleaf.settings import Settings
from turnleaf.store.contracts import Stores
from turnleaf.store.erasure import erase, erase_conversation
from turnleaf.store.files import atomic
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.conversations.takeover import (
    OlderFiles,
    TakenOver,
    erase_from_backups,
    expire_backups,
    list_older,
    take_over_older,
)
from turnleaf.store.files.index.index import Index

COPY = re.compile(r"(conversations\.json|\d{4}-\d\d\.jsonl)\.taken-over-\d{8}T\d{6}Z")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "conversations"


@pytest.fixture
def store(folder: Path) -> Iterator[ConversationStore]:
    store = ConversationStore(folder / "conversations.db", settings=Settings())
    yield store
    store.close()


def take(store: ConversationStore) -> TakenOver | None:
    return take_over_older(store.location, store)


def list_texts(store: ConversationStore, key: str) -> list[object]:
    return [one.message.content for one in store.messages(key)]


def copies(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if COPY.fullmatch(path.name))


# What is taken


def test_every_message_is_taken_over_with_its_time_and_role(
    folder: Path, store: ConversationStore
) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    some = [
        Message("user", "「名字」 \0 \u2028\n", START),
        Message("assistant", None, START, tool_calls=[call]),
        Message("tool", "72°F", START, tool_call_id="a", name="w"),
        Message("assistant", [{"type": "text", "text": "warm"}], START + timedelta(minutes=1)),
    ]
    write_conversations(folder, {"cli:1": some, "slack:C1:2": make_messages("早安", "hello")})
    taken = take(store)
    assert taken is not None
    assert (taken.conversations, taken.messages) == (2, 6)
    assert [one.message for one in store.messages("cli:1")] == some
    assert list_texts(store, "slack:C1:2") == ["早安", "hello"]


def test_the_archive_comes_before_what_was_kept_and_nothing_comes_twice(
    folder: Path, store: ConversationStore
) -> None:
    archive(folder, "a", make_messages("one", "two", "three", "four"))
    archive(
        folder, "a", make_messages("one", "two")
    )  # as a kill between archiving and trimming leaves it
    archive(folder, "b", make_messages("only archived"), month="2026-02")
    write_conversations(folder, {"a": make_messages("three", "four", "five", "six", after=2)})
    taken = take(store)
    assert list_texts(store, "a") == ["one", "two", "three", "four", "five", "six"]
    assert list_texts(store, "b") == ["only archived"]
    assert taken is not None
    assert (taken.conversations, taken.messages) == (2, 7)


def test_a_conversation_that_was_taken_over_is_as_old_as_its_last_message(
    folder: Path, store: ConversationStore
) -> None:
    write_conversations(
        folder, {"a": make_messages("one", "two"), "b": make_messages("three", "four", after=9)}
    )
    take(store)
    newest, older = store.summaries()
    assert (newest.key, newest.title, newest.turns) == ("b", "three", 2)
    assert (older.key, older.updated_at) == ("a", START + timedelta(minutes=1))


def test_a_slack_conversation_is_found_by_nobody_else(
    folder: Path, store: ConversationStore
) -> None:
    write_conversations(
        folder, {"slack:D1:2": make_messages("secret"), "cli:1": make_messages("open")}
    )
    take(store)
    audiences = {one.key: one.audience for one in store.summaries()}
    assert audiences == {"slack:D1:2": "only:slack:D1:2", "cli:1": ""}


def test_what_an_older_program_writes_later_is_taken_over_too(
    folder: Path, store: ConversationStore
) -> None:
    write_conversations(folder, {"a": make_messages("one", "two")})
    take(store)
    write_conversations(
        folder, {"a": make_messages("one", "two", "three", "four"), "b": make_messages("new")}
    )
    archive(folder, "a", make_messages("zero", after=-1))
    taken = take(store)
    assert taken is not None
    assert (taken.conversations, taken.messages) == (2, 4)
    assert sorted(map(str, list_texts(store, "a"))) == ["four", "one", "three", "two", "zero"]
    assert list_texts(store, "b") == ["new"]


def test_messages_that_the_database_has_already_stay_as_they_are(
    folder: Path, store: ConversationStore
) -> None:
    store.add_messages("a", make_messages("one", "two"))
    before = [one.id for one in store.messages("a")]
    write_conversations(folder, {"a": make_messages("one", "two", "three")})
    take(store)
    assert list_texts(store, "a") == ["one", "two", "three"]
    assert [one.id for one in store.messages("a")][:2] == before


def test_ten_thousand_messages_of_one_character_are_taken_over(
    folder: Path, store: ConversationStore
) -> None:
    archive(folder, "a", make_messages(*("字" for _ in range(10_000))))
    taken = take(store)
    assert taken is not None
    assert taken.messages == 10_000
    assert len(store.messages("a")) == 10_000


def test_without_older_files_nothing_is_made(folder: Path, store: ConversationStore) -> None:
    assert take(store) is None
    assert OlderFiles(store).take_over() is None
    assert not folder.exists()


def test_a_location_that_ends_in_json_stays_as_it_is(folder: Path) -> None:
    path = write_conversations(folder, {"a": make_messages("one", "two")})
    month = archive(folder, "a", make_messages("zero"))
    before = path.read_bytes(), month.read_bytes()
    store = ConversationStore(path, settings=Settings(conversation_max_age_days=36500))
    assert take(store) is None
    assert (path.read_bytes(), month.read_bytes()) == before


# What is left


def test_the_older_files_are_replaced_by_equal_copies(
    folder: Path, store: ConversationStore
) -> None:
    path = write_conversations(folder, {"a": make_messages("one", "two")})
    month = archive(folder, "a", make_messages("zero", after=-1))
    before = {path.name: path.read_bytes(), month.name: month.read_bytes()}
    taken = take(store)
    assert list_older(folder) == []
    assert taken is not None
    assert sorted(taken.backups) == copies(folder)
    assert {copy.name.split(".taken")[0]: copy.read_bytes() for copy in copies(folder)} == before
    assert take(store) is None


def test_a_file_without_a_message_leaves_no_copy(folder: Path, store: ConversationStore) -> None:
    path = write_conversations(folder, {})
    taken = take(store)
    assert taken == TakenOver(0, 0, ())
    assert not path.exists()
    assert copies(folder) == []


def test_a_copy_that_a_kill_left_is_not_made_again(folder: Path, store: ConversationStore) -> None:
    path = write_conversations(folder, {"a": make_messages("one")})
    copy = path.with_name("conversations.json.taken-over-20260301T080000Z")
    copy.write_bytes(path.read_bytes())
    take(store)
    assert copies(folder) == [copy]


def test_two_takeovers_within_a_second_have_two_copies(
    folder: Path, store: ConversationStore
) -> None:
    for text in ("one", "two", "three"):
        write_conversations(folder, {"a": make_messages(text)})
        take(store)
    found = [path for path in folder.iterdir() if ".taken-over-" in path.name]
    assert len(found) == 3


def test_a_link_is_followed_and_its_copy_is_beside_the_database(
    tmp_path: Path, folder: Path, store: ConversationStore
) -> None:
    real = write_conversations(tmp_path / "elsewhere", {"a": make_messages("one")})
    folder.mkdir()
    (folder / "conversations.json").symlink_to(real)
    take(store)
    assert list_texts(store, "a") == ["one"]
    assert not real.exists()
    assert [copy.parent for copy in copies(tmp_path)] == [folder]


# Damage


def test_what_cannot_be_read_is_kept_in_the_copy_and_named(
    folder: Path, store: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_conversations(
        folder, {"a": make_messages("one", "two"), "b": make_messages("three")}
    )
    path.write_bytes(path.read_bytes().replace(b'"three"', b'"thr'))
    month = archive(folder, "a", make_messages("zero", after=-1))
    with month.open("ab") as file:
        file.write(b'{"conversation": "a", "role": "us')
    before = path.read_bytes(), month.read_bytes()
    take(store)
    assert list_texts(store, "a") == ["zero", "one", "two"]
    kept = copies(folder)
    assert {copy.read_bytes() for copy in kept} == set(before)
    for copy in kept:
        assert f"could not be read and migrated; the whole file is kept as {copy}" in caplog.text


@pytest.mark.parametrize("data", [b"", b"{broken", b"\xff\xfe", b"[]"])
def test_a_file_that_is_none_is_set_aside(
    folder: Path, store: ConversationStore, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir()
    (folder / "conversations.json").write_bytes(data)
    archive(folder, "a", make_messages("zero"))
    take(store)
    assert list_texts(store, "a") == ["zero"]
    (aside,) = folder.glob("conversations.json.corrupt-*")
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text
    assert list_older(folder) == []


def test_a_key_that_the_store_refuses_stays_in_the_copy(
    folder: Path, store: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    archive(folder, "", make_messages("whose?"))
    archive(folder, "a", make_messages("mine"))
    take(store)
    assert list_texts(store, "a") == ["mine"]
    (copy,) = copies(folder)
    assert "whose?" in copy.read_text("utf-8")
    assert str(copy) in caplog.text


def test_a_copy_that_cannot_be_made_keeps_the_original(
    folder: Path, store: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_conversations(folder, {"a": make_messages("one", "two")})
    in_the_way = folder / ".conversations.json.tmp"
    in_the_way.mkdir()
    assert OlderFiles(store).take_over() is None
    assert "older conversations are not taken over yet: cannot write" in caplog.text
    assert path.exists()
    in_the_way.rmdir()
    assert OlderFiles(store).take_over() is not None
    assert list_texts(store, "a") == ["one", "two"]
    assert not path.exists()


# Others at work

TAKER = """
import sys
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.conversations.takeover import take_over_older
store = ConversationStore(sys.argv[1], settings=Settings())
sys.stdin.readline()
take_over_older(store.location, store)
"""


def test_it_waits_for_a_program_that_is_writing(folder: Path, store: ConversationStore) -> None:
    path = write_conversations(folder, {"a": make_messages("one")})
    held, done = threading.Event(), threading.Event()

    def write() -> None:
        with atomic.lock(path) as file:
            held.set()
            waited = done.wait(0.3)
            assert not waited, "it did not wait for the lock"
            data = file.read()
            assert data is not None
            file.replace(data.replace(b"one", b"two"))

    writer = threading.Thread(target=write)
    writer.start()
    held.wait()
    take(store)
    done.set()
    writer.join()
    assert list_texts(store, "a") == ["two"]


def test_several_processes_at_once_take_everything_over_once(folder: Path) -> None:
    write_conversations(folder, {f"k{n}": make_messages("one", "two", after=2) for n in range(20)})
    archive(folder, "k1", make_messages("a", "b"))
    command = [sys.executable, "-c", TAKER, str(folder / "conversations.db")]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    with ThreadPoolExecutor(len(processes)) as pool:
        list(pool.map(lambda process: process.communicate(b"\n", timeout=60), processes))
    assert [process.returncode for process in processes] == [0] * 4
    store = ConversationStore(folder / "conversations.db", settings=Settings())
    assert list_texts(store, "k1") == ["a", "b", "one", "two"]
    assert sum(len(store.messages(f"k{n}")) for n in range(20)) == 42
    assert len(copies(folder)) == 2
    store.close()


# A look before every turn


def test_a_later_look_takes_over_what_has_come_since(
    folder: Path, store: ConversationStore
) -> None:
    older = OlderFiles(store)
    assert older.take_over() is None
    write_conversations(folder, {"a": make_messages("one")})
    assert older.take_over() is not None
    assert older.take_over() is None
    archive(folder, "a", make_messages("zero"), month="2026-01")
    assert older.take_over() is not None
    assert older.take_over() is None
    write_conversations(folder, {"b": make_messages("two")})
    assert older.take_over() is not None


def test_a_look_at_nothing_costs_two_calls(folder: Path, store: ConversationStore) -> None:
    write_conversations(folder, {"a": make_messages("one")})
    archive(folder, "a", make_messages("zero"))
    older = OlderFiles(store)
    older.take_over()
    asked: list[object] = []
    sys.addaudithook(lambda event, _: asked.append(event) if event == "os.listdir" else None)
    older.take_over()
    assert asked == []


READING: list[Callable[[ConversationStore], object]] = [
    lambda store: store.get_history("a"),
    lambda store: store.window("a", resumed=True),
    lambda store: store.messages("a"),
    lambda store: store.summaries(),
    lambda store: store.changes_since(None).found,
]


@pytest.mark.parametrize("read", READING)
def test_a_store_that_takes_over_shows_what_an_older_program_wrote_meanwhile(
    folder: Path, read: Callable[[ConversationStore], object]
) -> None:
    path = folder / "conversations.db"
    store = ConversationStore(path, now=lambda: START, takes_over=True)
    assert not read(store)
    write_conversations(folder, {"a": make_messages("one")})
    assert read(store)
    assert list_older(folder) == []
    store.close()


def test_what_expired_is_not_kept_when_it_is_taken_over_at_the_start(folder: Path) -> None:
    write_conversations(folder, {"a": make_messages("one")})
    settings = Settings(conversation_keep_days=3)
    store = ConversationStore(folder / "conversations.db", settings=settings, takes_over=True)
    assert store.summaries() == []
    store.close()


def test_an_index_searches_what_is_taken_over_where_no_database_was(tmp_path: Path) -> None:
    folder = tmp_path / "conversations"
    write_conversations(folder, {"a": make_messages("護照在抽屜")})
    store = ConversationStore(folder / "conversations.db", takes_over=True)
    index = Index(tmp_path / "index.db", [store])
    assert [hit.text for hit in index.search("護照")] == ["護照在抽屜"]
    index.close()
    store.close()


# Erasing


def test_an_erased_conversation_is_in_no_copy_and_in_no_older_file(
    folder: Path, store: ConversationStore
) -> None:
    secret, other = make_messages("secret", "答"), make_messages("other")
    write_conversations(folder, {"a": secret, "b": other})
    archive(folder, "a", secret)
    archive(folder, "b", other)
    take(store)
    write_conversations(folder, {"a": secret, "b": other})
    archive(folder, "a", secret, month="2026-04")
    assert erase_from_backups(folder, "a") == 8
    left = b"".join(path.read_bytes() for path in folder.rglob("*.json*") if path.is_file())
    assert b"secret" not in left
    assert left.count(b"other") == 3
    assert erase_from_backups(folder, "a") == 0


def test_a_copy_of_which_nothing_is_left_goes(folder: Path, store: ConversationStore) -> None:
    write_conversations(folder, {"a": make_messages("one")})
    archive(folder, "a", make_messages("zero"))
    take(store)
    assert erase_from_backups(folder, "a") == 2
    assert copies(folder) == []


def test_clear_and_forget_erase_it_everywhere(
    tmp_path: Path, folder: Path, store: ConversationStore
) -> None:
    archive(folder, "a", make_messages("secret one"))
    archive(folder, "b", make_messages("secret two"))
    write_conversations(folder, {"c": make_messages("other")})
    take(store)
    store.close()
    stores = Stores.open(tmp_path)
    stores.conversations = store
    assert erase(stores, "a").messages == 1
    assert erase_conversation(stores, "b")
    stores.close()
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret" not in left
    assert b"other" in left


def test_what_a_kill_left_of_a_copy_is_erased_too(folder: Path, store: ConversationStore) -> None:
    write_conversations(folder, {"a": make_messages("one"), "b": make_messages("two")})
    take(store)
    (copy,) = copies(folder)
    (folder / "archive").mkdir()
    unfinished = [
        folder / ".conversations.json.tmp",
        folder / f".{copy.name}.tmp",
        folder / "archive" / ".2026-03.jsonl.tmp",
    ]
    for path in unfinished:
        path.write_text("secret", "utf-8")
    (folder / ".mine.tmp").touch()
    erase_from_backups(folder, "a")
    assert not any(path.exists() for path in unfinished)
    assert (folder / ".mine.tmp").exists()


def test_erasing_where_nothing_was_taken_over_makes_nothing(folder: Path) -> None:
    assert erase_from_backups(folder, "a") == 0
    assert not folder.exists()


def test_a_takeover_after_an_erasure_brings_nothing_back(
    folder: Path, store: ConversationStore
) -> None:
    write_conversations(folder, {"a": make_messages("secret"), "b": make_messages("other")})
    erase_from_backups(folder, "a")
    take(store)
    assert (list_texts(store, "a"), list_texts(store, "b")) == ([], ["other"])


# Copies do not outlive what they hold


@pytest.mark.parametrize(
    ("keep_days", "age", "is_kept"),
    [(None, 10_000, True), (30, 29, True), (30, 31, False), (0, 0, True), (0, 2, False)],
)
def test_a_copy_goes_when_its_messages_are_older_than_they_may_be(
    folder: Path,
    store: ConversationStore,
    keep_days: int | None,
    age: int,
    is_kept: bool,  # noqa: FBT001
) -> None:
    write_conversations(folder, {"a": make_messages("one")})
    archive(folder, "a", make_messages("zero"))
    take(store)
    later = datetime.now(UTC) + timedelta(days=age)
    OlderFiles(store, now=lambda: later).take_over(keep_days)
    assert bool(copies(folder)) is is_kept


def test_a_file_that_was_set_aside_is_never_deleted(folder: Path, store: ConversationStore) -> None:
    folder.mkdir()
    (folder / "conversations.json").write_bytes(b"{broken")
    take(store)
    assert expire_backups(folder, 1, datetime.now(UTC) + timedelta(days=400)) == 0
    assert list(folder.glob("conversations.json.corrupt-*"))
