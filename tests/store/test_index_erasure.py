"""Erasing from the index: no byte is left, nothing else is made anew, a kill changes nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.meanings import Meanings
from turnleaf.core.messages import Message
from turnleaf.settings import Settings
from turnleaf.store.files import atomic
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.index import vectors as index_vectors
from turnleaf.store.files.index.database import CHECKSUM_BYTES, connect
from turnleaf.store.files.index.index import Index

FORK = multiprocessing.get_context("fork")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRETS = ("zebraqq", "斑馬", "斑马", "cli:secret")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ConversationStore]:
    store = ConversationStore(tmp_path / "c" / "conversations.db")
    for number in range(20):
        said = [Message("user", f"tea {number} {at} in the office", NOON) for at in range(20)]
        store.add_messages(f"cli:{number}", said)
        secret = [Message("user", f"my zebraqq {number} 斑馬 cat {at}", NOON) for at in range(3)]
        store.add_messages("cli:secret", secret)
    yield store
    store.close()


def open_index(store: ConversationStore, model: Meanings | None = None) -> Index:
    return Index(store.location.parents[1] / "index.db", [store], model or Meanings())


def find_secrets(folder: Path) -> list[str]:
    return [
        f"{path.name}: {secret}"
        for path in folder.rglob("*")
        if path.is_file()
        for secret in SECRETS
        if secret.encode() in path.read_bytes()
    ]


def vectors_of(texts: list[str]) -> list[bytes]:
    """The bytes that stand for some texts in the file of vectors."""
    return [index_vectors.quantise(one)[:-4] for one in Meanings().embed(texts)]


def test_no_byte_is_left_and_no_other_vector_is_made_again(
    tmp_path: Path, store: ConversationStore
) -> None:
    model = Meanings()
    index = open_index(store, model)
    index.embed()
    secret = [text for text in model.asked if "zebraqq" in text]
    held = (tmp_path / "vectors.db").read_bytes() + (tmp_path / "vectors.db-wal").read_bytes()
    assert all(one in held for one in vectors_of(secret))
    before = index.search("office tea 7", 30, floor=False)
    model.asked.clear()
    with index.erasing():
        store.clear("cli:secret")
    assert find_secrets(tmp_path) == []
    held = b"".join(path.read_bytes() for path in tmp_path.glob("vectors.db*"))
    assert not any(one in held for one in vectors_of(secret))
    assert index.embed() == 0
    assert index.search("zebraqq", floor=False, mode="lexical") == []
    after = index.search("office tea 7", 30, floor=False)
    assert {hit.text for hit in after} == {hit.text for hit in before if "zebraqq" not in hit.text}
    assert not any("tea" in text for text in model.asked if text != "office tea 7")


def test_what_stays_is_found_as_in_a_new_index(tmp_path: Path, store: ConversationStore) -> None:
    index = open_index(store)
    index.embed()
    with index.erasing():
        store.clear("cli:secret")
    new = Index(tmp_path / "new.db", [store], Meanings())
    new.embed()
    for query in ("tea 7", "office", "cat"):
        assert index.search(query, 50, floor=False) == new.search(query, 50, floor=False)


def test_vectors_without_an_index_are_erased_too(tmp_path: Path, store: ConversationStore) -> None:
    index = open_index(store)
    index.embed()
    index.close()
    for path in tmp_path.glob("index.db*"):
        path.unlink()
    again = open_index(store)
    with again.erasing():
        store.clear("cli:secret")
    again.close()
    database = connect(tmp_path / "index.db")
    stray = "SELECT count(*) FROM slots WHERE meaning NOT IN (SELECT meaning FROM passages)"
    assert database.execute(stray).get == 0
    database.close()
    assert find_secrets(tmp_path) == []


def test_other_threads_search_while_something_is_erased(store: ConversationStore) -> None:
    index = open_index(store)
    index.embed()
    reached = threading.Event()

    def erase() -> None:
        with index.erasing():
            store.clear("cli:secret")
            index.sync()
            reached.set()

    with ThreadPoolExecutor(2) as threads:
        with atomic.lock(index.location.with_name("index.db-anew")):
            erasing = threads.submit(erase)
            assert reached.wait(60)
            assert threads.submit(index.search, "tea 7").result(60)
            assert not erasing.done()
        erasing.result(60)
    assert find_secrets(index.location.parent) == []


def test_what_another_program_says_meanwhile_is_found_at_once(store: ConversationStore) -> None:
    index, other = open_index(store), open_index(store)
    index.embed()

    def erase() -> None:
        for number in range(5):
            with index.erasing():
                store.clear(f"cli:{number}")

    with ThreadPoolExecutor(1) as thread, closing(ConversationStore(store.location)) as again:
        erasing = thread.submit(erase)
        number = 0
        while not erasing.done():
            number += 1
            again.add_messages("cli:other", [Message("user", f"xylo{number}", NOON)])
            assert other.search(f"xylo{number}")[0].text == f"xylo{number}"
        erasing.result()
    found = {hit.text for hit in index.search("tea", 100, floor=False, mode="lexical")}
    assert found
    assert not any(text.startswith(f"tea {gone} ") for text in found for gone in range(5))


def test_an_index_that_was_erased_from_still_notices_damage(
    tmp_path: Path, store: ConversationStore
) -> None:
    index = open_index(store)
    index.sync()
    with index.erasing():
        store.clear("cli:secret")
    reserved = (tmp_path / "index.db").read_bytes()[20]
    assert reserved == CHECKSUM_BYTES
    assert (tmp_path / "index.db").stat().st_mode & 0o077 == 0


def test_messages_that_expired_leave_no_word(tmp_path: Path, store: ConversationStore) -> None:
    index = open_index(store)
    index.embed()
    index.close()
    settings = Settings(conversation_keep_days=30)
    late = NOON + timedelta(days=31)
    store.add_messages("cli:new", [Message("user", "coffee", late)])
    with closing(ConversationStore(store.location, settings=settings, now=lambda: late)) as kept:
        kept.init()
    index = open_index(store)
    assert index.search("zebraqq") == []
    assert find_secrets(tmp_path) == []
    assert index.search("coffee")


def test_a_folder_is_scrubbed_once_a_day(tmp_path: Path, store: ConversationStore) -> None:
    index = open_index(store)
    index.sync()

    def clear_and_scrub(key: str) -> int:
        store.clear(key)
        index.sync()
        index.scrub()
        return (tmp_path / "index.db").stat().st_ino

    first = clear_and_scrub("cli:1")
    assert clear_and_scrub("cli:secret") == first
    index.close()
    database = connect(tmp_path / "index.db")
    database.execute("UPDATE totals SET scrubbed_at = scrubbed_at - 100000")
    database.close()
    assert clear_and_scrub("cli:2") != first
    assert find_secrets(tmp_path) == []


def erase_and_die(folder: Path, calls: int) -> None:
    store = ConversationStore(folder / "c" / "conversations.db")
    index = open_index(store)
    index.sync()
    left = iter(range(calls))
    sys.setprofile(
        lambda *_: os.kill(os.getpid(), signal.SIGKILL) if next(left, None) is None else None
    )
    with index.erasing():
        store.clear("cli:secret")
    sys.setprofile(None)


def test_what_a_kill_left_is_finished_by_the_next_program(
    tmp_path: Path, store: ConversationStore
) -> None:
    index = open_index(store)
    index.embed()
    index.close()
    store.close()
    for calls in range(50, 40_000, 500):
        with closing(ConversationStore(store.location)) as again:
            if not again.messages("cli:secret"):
                said = [Message("user", f"my zebraqq 斑馬 {at}", NOON) for at in range(9)]
                again.add_messages("cli:secret", said)
        process = FORK.Process(target=erase_and_die, args=(tmp_path, calls))
        process.start()
        process.join(60)
        with closing(ConversationStore(store.location)) as again:
            is_gone = not again.messages("cli:secret")
            following = open_index(again)
            following.search("tea")
            following.close()
        if is_gone:
            left = [one for one in find_secrets(tmp_path) if not one.startswith("conversations")]
            assert left == [], calls
        if process.exitcode == 0:
            return
    pytest.fail("it was always killed")
