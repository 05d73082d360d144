"""Many spaces in one process: each has its own memory, and few are open at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from tests.postgres import empty_database
from turnleaf.assistant import Assistant
from turnleaf.core.messages import Message
from turnleaf.core.opaque_records import Record
from turnleaf.settings import DataFolder
from turnleaf.space_limits import SpaceLimits, read_limits, set_limits
from turnleaf.spaces import RUN_AGAIN, Spaces, Worker
from turnleaf.store.contracts import Records, Stores


def count_open(folder: Path) -> int:
    """Count the files of a folder that this process has open."""
    count = 0
    for one in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # Another thread has closed it meanwhile.
            count += one.readlink().is_relative_to(folder)
    return count


class MeddledRecords:
    """Records that somebody else changes right after they were read for the first time."""

    def __init__(self, records: Records, meddle: Callable[[], object]) -> None:
        self._records = records
        self._meddles = [meddle]

    def __getattr__(self, name: str) -> object:
        return getattr(self._records, name)

    def get(self, collection: str, key: str) -> Record | None:
        found = self._records.get(collection, key)
        while self._meddles:
            self._meddles.pop()()
        return found


@pytest.mark.parametrize("had_limits", [True, False])
def test_two_who_set_limits_at_once_lose_none(tmp_path: Path, *, had_limits: bool) -> None:
    with Stores.open(tmp_path) as stores:
        records = stores.operator_records
        if had_limits:
            set_limits(records, "bob", bytes=5)
        meddled = MeddledRecords(records, lambda: set_limits(records, "bob", messages=7))
        set_limits(cast("Records", meddled), "bob", turns_at_once=2)
        wanted = SpaceLimits(bytes=5 if had_limits else 0, messages=7, turns_at_once=2)
        assert read_limits(records, "bob") == wanted


def test_many_spaces_keep_few_files_open(tmp_path: Path) -> None:
    spaces = Spaces(DataFolder(tmp_path, "a test"), most_open=4)
    most = 0
    for number in range(100):
        with spaces.use(f"s{number}") as assistant:
            assistant.memory.add(f"I am number {number}")
            most = max(most, count_open(tmp_path))
    assert most <= 4 * 12
    with spaces.use("s7") as assistant:
        assert [one.content for one in assistant.memory.get_all()] == ["I am number 7"]
    spaces.close()
    assert count_open(tmp_path) == 0


def test_an_assistant_that_is_used_is_not_closed(tmp_path: Path) -> None:
    spaces = Spaces(DataFolder(tmp_path, "a test"), most_open=1)
    with spaces.use("anna") as anna:
        for name in ("bob", "carl"):
            with spaces.use(name) as other:
                other.reply("cli:session-1", "記住我喜歡茶")
        with spaces.use("anna") as again:
            assert again is anna
        assert anna.reply("cli:session-1", "remember I like tea").saved
    spaces.close()


def test_two_who_ask_for_a_space_at_once_get_the_same_assistant(tmp_path: Path) -> None:
    spaces = Spaces(DataFolder(tmp_path, "a test"))
    both = Event()

    def use(_: int) -> int:
        with spaces.use("anna") as anna:
            both.wait(60)
            return id(anna)

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(use, number) for number in range(4)]
        both.set()
    assert len({one.result() for one in found}) == 1
    spaces.close()


def test_what_is_not_learned_yet_when_a_space_rests_is_learned_later(tmp_path: Path) -> None:
    spaces = Spaces(DataFolder(tmp_path, "a test"), most_open=1)
    with spaces.use("anna") as anna:
        anna.reply("cli:session-1", "My dog is called Rex")
    with spaces.use("bob") as bob:
        bob.reply("cli:session-1", "hello")
    with spaces.use("anna") as anna:
        anna.flush()
        assert ["Rex" in one.content for one in anna.memory.get_all()] == [True]
    spaces.close()


def test_a_schedule_of_a_space_that_cannot_be_opened_is_tried_again_soon() -> None:
    moments = [datetime(2026, 3, 1, 12, 0, tzinfo=UTC)]
    database = empty_database()
    spaces = Spaces(database, now=lambda: moments[-1])
    with spaces.use("anna") as anna:
        anna.schedules.add("早安", "every 15m", zone="UTC", deliver="log")
    stores = Stores.open(database, now=lambda: moments[-1])
    moments.append(moments[-1] + timedelta(minutes=16))

    def refuse(_space: str) -> AbstractContextManager[Assistant]:
        raise OSError("no connection is left")

    with Assistant(stores, now=lambda: moments[-1]) as own:
        with pytest.raises(OSError, match="no connection"):
            Worker(own, refuse).work_once()
        assert not Worker(own, spaces.use).work_once()
        moments.append(moments[-1] + RUN_AGAIN)
        assert Worker(own, spaces.use).work_once()
    with spaces.use("anna") as anna:
        (schedule,) = anna.schedules.get_all()
        assert [run.state for run in schedule.runs] == ["done"]
    spaces.close()


@pytest.mark.parametrize("kind", ["files", "database"])
def test_what_is_due_in_any_space_is_done_once_by_one_of_several_servers(
    tmp_path: Path, kind: str
) -> None:
    folder = DataFolder(tmp_path, "a test") if kind == "files" else empty_database()
    moments = [datetime(2026, 3, 1, 12, 0, tzinfo=UTC)]
    spaces = Spaces(folder, now=lambda: moments[-1])
    for name in ("anna", "小美"):
        with spaces.use(name) as assistant:
            assistant.schedules.add("早安", "every 15m", zone="UTC", deliver="log")
            assistant.record("cli:1", [Message("user", "I live in Taipei", moments[-1])])
    moments.append(moments[-1] + timedelta(minutes=16))
    opened = [Stores.open(folder, now=lambda: moments[-1]) for _ in range(2)]
    servers = [Assistant(stores, now=lambda: moments[-1]) for stores in opened]
    workers = [Worker(server, spaces.use) for server in servers]
    for server in servers:  # files find what is queued when they first look
        server.stores.work.claim(0)
    moments.append(moments[-1] + timedelta(minutes=61))
    done = 0
    while any(done_now := [worker.work_once() for worker in workers]):
        done += sum(done_now)
        assert done <= 12, "in files each server looks for itself"
    for name in ("anna", "小美"):
        with spaces.use(name) as assistant:
            (schedule,) = assistant.schedules.get_all()
            assert [run.state for run in schedule.runs] == ["done"]
            assert [one.content for one in assistant.memory.get_all()] == ["I live in Taipei"]
    for server in servers:
        server.close(flush=False)
    spaces.close()
