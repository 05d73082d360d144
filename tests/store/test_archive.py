"""Messages that left their conversation, one file a month."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnleaf.core.messages import Message
from turnleaf.store.archive import Archive

MARCH = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, tzinfo=UTC)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")


def months(archive: Archive) -> list[str]:
    return sorted(path.name for path in archive.folder.glob("*.jsonl"))


def test_each_message_stands_in_its_month(archive: Archive) -> None:
    one, two = Message("user", "one", MARCH), Message("user", "two", APRIL)
    archive.append("key", [two, one], APRIL)
    assert months(archive) == ["2026-03.jsonl", "2026-04.jsonl"]
    assert list(archive.read()) == [("key", one), ("key", two)]


def test_a_message_without_a_time_stands_in_the_month_in_which_it_came(archive: Archive) -> None:
    archive.append("key", [Message("user", "x")], APRIL)
    assert months(archive) == ["2026-04.jsonl"]


def test_any_message_comes_back(archive: Archive) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        Message("user", "\ud800 \0 \u2028\n", MARCH),
        Message("user", [{"type": "image_url", "image_url": {"url": "x"}}], MARCH),
        Message("assistant", None, MARCH, tool_calls=[call]),
        Message("tool", "72°F", MARCH, tool_call_id="a", name="w"),
    ]
    archive.append("名字: 「x」", messages, MARCH)
    assert list(archive.read()) == [("名字: 「x」", message) for message in messages]


def test_what_was_archived_twice_is_read_once(archive: Archive) -> None:
    message = Message("user", "x", MARCH)
    archive.append("key", [message], MARCH)
    archive.append("key", [message], MARCH)
    archive.append("other", [message], MARCH)
    assert list(archive.read()) == [("key", message), ("other", message)]


def test_nothing_archived_is_nothing_to_read(archive: Archive) -> None:
    assert list(archive.read()) == []
    archive.append("key", [], MARCH)
    archive.expire(MARCH)
    archive.erase("key")
    assert not archive.folder.exists()


def test_what_is_too_old_goes_and_the_rest_stays(archive: Archive) -> None:
    young = Message("user", "young", MARCH + timedelta(hours=1))
    archive.append("key", [Message("user", "old", MARCH), young], MARCH)
    archive.expire(MARCH + timedelta(minutes=30))
    assert list(archive.read()) == [("key", young)]


def test_a_month_of_which_nothing_is_left_has_no_file(archive: Archive) -> None:
    archive.append("key", [Message("user", "x", MARCH), Message("user", "y", APRIL)], APRIL)
    archive.expire(APRIL)
    assert months(archive) == ["2026-04.jsonl"]
    archive.erase("key")
    assert months(archive) == []


def test_erasing_leaves_no_byte_of_a_conversation_and_all_of_the_others(archive: Archive) -> None:
    kept = Message("user", "kept", MARCH)
    for moment in (MARCH, APRIL):
        archive.append("key", [Message("user", "secret", moment)], moment)
    archive.append("other", [kept], MARCH)
    archive.erase("key")
    assert list(archive.read()) == [("other", kept)]
    assert not any(b"secret" in path.read_bytes() for path in archive.folder.iterdir())


@pytest.mark.parametrize("damage", ["{damaged", "[]", "null", '{"conversation": "key"}', "\ufffd"])
def test_a_line_that_cannot_be_read_is_left_alone(archive: Archive, damage: str) -> None:
    message = Message("user", "x", MARCH)
    archive.append("key", [message], MARCH)
    path = archive.folder / "2026-03.jsonl"
    path.write_text(f"{damage}\n{path.read_text()}")
    assert list(archive.read()) == [("key", message)]
    archive.erase("key")
    assert path.read_text() == f"{damage}\n"


def test_a_line_that_a_kill_tore_does_not_spoil_the_next(archive: Archive) -> None:
    message = Message("user", "x", MARCH)
    archive.append("key", [message], MARCH)
    path = archive.folder / "2026-03.jsonl"
    path.write_text(f'{path.read_text()}{{"conversation": "key", "ro')
    archive.append("key", [Message("user", "y", MARCH)], MARCH)
    assert [one.content for _, one in archive.read()] == ["x", "y"]


def test_other_files_in_the_folder_are_nobody_s_business(archive: Archive) -> None:
    archive.append("key", [Message("user", "x", MARCH)], MARCH)
    (archive.folder / "notes.txt").write_text("mine")
    (archive.folder / "2026-03.jsonl.bak").write_text("mine too")
    archive.expire(APRIL + timedelta(days=99))
    assert (archive.folder / "notes.txt").read_text() == "mine"
    assert (archive.folder / "2026-03.jsonl.bak").read_text() == "mine too"


def test_files_are_private(archive: Archive) -> None:
    archive.append("key", [Message("user", "x", MARCH)], MARCH)
    assert stat.S_IMODE(archive.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in archive.folder.iterdir()} == {0o600}
