"""What is erased or too old leaves a database to the last byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from tests.store import others
from tests.store.timed_place import DAY, KEY, START, TimedPlace, list_shown, read_all_bytes
from turnleaf.core.messages import Message

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> TimedPlace:
    return TimedPlace(tmp_path / "conversations.db")


# Expiry


def test_what_expires_leaves_no_byte(place: TimedPlace) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange(KEY, "a secret to be erased", "A")
    place.now += 31 * DAY
    place.open(conversation_keep_days=30)
    assert b"a secret to be erased" not in read_all_bytes(place)


def test_no_byte_stays_of_a_question_in_the_title_that_was_made_of_it(place: TimedPlace) -> None:
    store = place.open(conversation_keep_days=30)
    store.add_exchange(KEY, "a secret to be erased", "A")
    place.now += 20 * DAY
    store.add_messages(KEY, [Message("assistant", "Good morning")])
    place.now += 11 * DAY
    store.cleanup()
    assert b"Good morning" in read_all_bytes(place)
    assert b"secret" not in read_all_bytes(place)


# Erasing


def test_clearing_leaves_no_byte_of_rows_that_were_moved(place: TimedPlace) -> None:
    """Rows that SQLite moved when others were deleted leave copies that it does not know."""
    store = place.open()
    for number in range(40):
        for name in "abcdefgh":
            store.add_exchange(name, f"secret-{name}-{number}" * (1 + number % 9), f"{name}" * 90)
    store.add_exchange("long", "secret-long" * 5000, "A")
    for name in ("b", "d", "long", "f", "a", "c"):
        store.rename(name, f"secret-{name} title")
        assert store.clear(name)
        assert f"secret-{name}".encode() not in read_all_bytes(place)
        assert apsw.Connection(str(place.path)).pragma("integrity_check") == "ok"
    assert len(store.messages("e")) == len(store.messages("h")) == 80
    assert list_shown(place.open(), "g")[-2] == "secret-g-39" * (1 + 39 % 9)


def test_another_store_that_has_it_open_brings_nothing_back(place: TimedPlace) -> None:
    one, other = place.open(), place.open()
    for number in range(60):
        for name in "abc":
            one.add_exchange(name, f"secret-{name}-{number}" * 5, "A" * 50)
            other.messages(name)
    one.clear("b")
    one.clear("a")
    for number in range(30):
        other.add_exchange("c", f"more {number}", "A")
        other.hide("c", [START], f"{number}")
    other.close()
    one.close()
    assert b"secret-a" not in read_all_bytes(place)
    assert b"secret-b" not in read_all_bytes(place)
    assert len(place.open().messages("c")) == 180


def test_erasing_that_a_reader_hindered_is_finished_at_the_next_start(
    place: TimedPlace, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.add_exchange(KEY, "a secret to be erased", "A")
    reader = apsw.Connection(str(place.path))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM messages").get == 2
    store.clear(KEY)
    assert "another program keeps reading" in caplog.text
    reader.close()
    store.close()
    place.open()
    assert b"a secret to be erased" not in read_all_bytes(place)


@pytest.mark.parametrize("number", [0, 2, 5])
def test_what_a_killed_program_was_erasing_is_gone_after_the_next_start(
    place: TimedPlace, number: int
) -> None:
    keys = [f"key-{letter}" for letter in "abcdefgh"]
    store = place.open()
    for count in range(25):
        for key in keys:
            store.add_exchange(key, f"secret-{key}-{count}" * (1 + count % 5), "A" * 60)
    store.close()
    program = others.start("clear_all", place.path, *keys)
    assert program.stdout is not None
    for _ in range(number + 1):
        program.stdout.readline()
    program.kill()
    program.communicate()
    left = {one.key for one in place.open().summaries()}
    assert len(left) <= len(keys) - number
    for key in keys:
        assert (f"secret-{key}-".encode() in read_all_bytes(place)) is (key in left)
        assert len(place.open().messages(key)) == (50 if key in left else 0)
