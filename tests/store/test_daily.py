"""Notes of the day, one Markdown file for each local date."""

from __future__ import annotations

import os
import stat
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from turnleaf.core.search.passages import cut_day
from turnleaf.errors import StorageError
from turnleaf.store.files.daily import DailyLog

TAIPEI = timezone(timedelta(hours=8))
EVENING = datetime(2026, 11, 15, 23, 59, tzinfo=TAIPEI)
DAY = EVENING.date()


@pytest.fixture
def log(tmp_path: Path) -> DailyLog:
    return DailyLog(tmp_path / "deep" / "daily", now=lambda: EVENING)


def test_the_first_note_of_a_day_makes_its_file(log: DailyLog) -> None:
    log.append("met Ann")
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 met Ann\n"
    assert (log.location / "2026-11-15.md").is_file()


def test_to_read_a_day_without_notes_makes_no_folder(log: DailyLog) -> None:
    assert log.read("2026-01-01") == ""
    assert not log.location.exists()


def test_days_are_listed_oldest_first_and_nothing_else_is(log: DailyLog) -> None:
    log.init()
    for name in ("2026-11-15.md", "2025-01-02.md", "notes.md", "2026-13-01.md", "2026-1-1.md"):
        (log.location / name).write_text("x")
    assert log.dates() == [date(2025, 1, 2), date(2026, 11, 15)]


def test_what_a_person_wrote_stays_byte_for_byte(log: DailyLog) -> None:
    log.init()
    path = log.location / "2026-11-15.md"
    mine = "# My day\r\n\r\n- typed\r\nno newline at the end"
    path.write_bytes(mine.encode())
    log.append("noted")
    assert path.read_bytes() == f"{mine}\n- 23:59 noted\n".encode()


def test_a_byte_order_mark_is_not_part_of_the_notes(log: DailyLog) -> None:
    log.init()
    (log.location / "2026-11-15.md").write_bytes(b"\xef\xbb\xbf# x\n")
    assert log.read(DAY) == "# x\n"


def test_what_is_not_utf_8_is_read_as_far_as_it_can_be_and_stays(
    log: DailyLog, caplog: pytest.LogCaptureFixture
) -> None:
    log.init()
    path = log.location / "2026-11-15.md"
    path.write_bytes(b"- caf\xe9\n- tea\n")
    assert log.read(DAY) == "- caf\ufffd\n- tea\n"
    assert "2026-11-15.md is not valid UTF-8 everywhere" in caplog.text
    log.append("noted")
    assert path.read_bytes() == b"- caf\xe9\n- tea\n- 23:59 noted\n"


def test_new_files_are_private(log: DailyLog) -> None:
    old = os.umask(0)
    try:
        log.append("x")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in log.location.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(log.location.stat().st_mode) == 0o700


def test_a_file_in_the_folder_s_place_is_an_error_that_says_so(log: DailyLog) -> None:
    log.location.parent.mkdir()
    log.location.write_text("not a folder")
    with pytest.raises(StorageError, match="a file, not a folder; choose another path"):
        log.append("x")


def test_the_default_folder_is_the_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUPERVISOR_TOKEN", raising=False)
    assert DailyLog().location == (tmp_path / "data/prompts/memory/daily").resolve()
    monkeypatch.setenv("SUPERVISOR_TOKEN", "t")
    assert DailyLog().location == Path("/data/prompts/memory/daily").resolve()


# Where a note came from


def test_a_note_s_source_stands_in_the_file_and_is_not_read(log: DailyLog) -> None:
    log.append("met Ann", source="cli:session-1")
    log.append("two\nlines", source="document:我的 筆記--1.md")
    path = log.location / "2026-11-15.md"
    assert path.read_text("utf-8") == (
        "# 2026-11-15\n\n- 23:59 met Ann <!-- turnleaf source=cli:session-1 -->\n"
        "- 23:59 two\n  lines\n  <!-- turnleaf source=document:%E6%88%91%E7%9A%84%20"
        "%E7%AD%86%E8%A8%98-%2D1.md -->\n"
    )
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 met Ann\n- 23:59 two\n  lines\n"


def test_a_note_s_source_is_not_searched(log: DailyLog) -> None:
    log.append("met Ann", source="cli:session-1")
    log.append("two\nlines", source="cli:session-1")
    text = (log.location / "2026-11-15.md").read_text("utf-8")
    assert [one.text for one in cut_day(text, DAY)] == [
        "23:59 met Ann",
        "23:59 two\nlines",
    ]


def test_what_stands_around_an_erased_note_stays_byte_for_byte(log: DailyLog) -> None:
    log.init()
    path = log.location / "2026-11-15.md"
    above, below = b"# My day\r\n\r\n```\nnot closed\n  caf\xe9\n", b"  below\n\nlast"
    path.write_bytes(above)
    log.append("theirs\nin two lines", source="tool:fetch")
    path.write_bytes(path.read_bytes() + below)
    assert log.erase("tool:fetch") == 1
    assert path.read_bytes() == above + below


def test_a_note_that_a_person_moved_below_another_goes_alone(log: DailyLog) -> None:
    log.init()
    path = log.location / "2026-11-15.md"
    path.write_text("- topic\n  - 12:00 theirs <!-- turnleaf source=tool:fetch -->\n  - mine\n")
    assert log.erase("tool:fetch") == 1
    assert path.read_text() == "- topic\n  - mine\n"


def test_a_day_that_is_too_large_is_refused_unread(log: DailyLog) -> None:
    log.append("tea", source="tool:kettle")
    path = log.location / f"{DAY}.md"
    os.truncate(path, 200_000_000)
    for call in (
        lambda: log.read(DAY),
        lambda: log.append("coffee"),
        lambda: log.erase("tool:kettle"),
    ):
        with pytest.raises(StorageError, match="the limit is 8,000,000"):
            call()
    assert path.stat().st_size == 200_000_000


def test_a_note_that_would_make_a_day_too_large_is_refused(log: DailyLog) -> None:
    log.append("tea")
    with pytest.raises(StorageError, match="the limit is 8,000,000"):
        log.append("x" * 8_000_000)
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 tea\n"
