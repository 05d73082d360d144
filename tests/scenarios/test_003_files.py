"""003: Markdown files are where memory lives."""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.faces.forking import run
from turnleaf import DailyLog, MemoryStore, TurnleafError

FOLDER = Path("data/prompts/memory")
MEMORY = FOLDER / "MEMORY.md"
DAILY = FOLDER / "daily"
TAIPEI = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 1, 12, tzinfo=TAIPEI)


def open_store() -> MemoryStore:
    store = MemoryStore(MEMORY)
    store.init()
    return store


def contents() -> list[str]:
    return [memory.content for memory in open_store().get_all()]


def write_memory(text: str) -> None:
    """Put the user's own text into MEMORY.md."""
    FOLDER.mkdir(parents=True)
    MEMORY.write_bytes(text.encode())


def run_turnleaf(*arguments: str) -> None:
    code, _, errors = run(arguments, b"", os.environ)
    assert code == 0, errors


@pytest.mark.scenario("003.memory-file")
def test_a_fact_that_the_program_is_told_is_in_memory_md() -> None:
    Path("data").mkdir()
    run_turnleaf("remember", "客廳的燈叫做小明")
    assert "- 客廳的燈叫做小明" in MEMORY.read_text("utf-8")
    assert contents() == ["客廳的燈叫做小明"]


@pytest.mark.scenario("003.memory-file")
def test_each_fact_is_a_bullet_after_the_ones_before() -> None:
    store = open_store()
    store.add("住在台北")
    before = MEMORY.read_text("utf-8")
    store.add("Prefers tea")
    after = MEMORY.read_text("utf-8")
    assert after.startswith(before)
    assert after[len(before) :].startswith("- Prefers tea")
    assert contents() == ["住在台北", "Prefers tea"]


@pytest.mark.scenario("003.memory-file")
@pytest.mark.parametrize(
    "text",
    [
        "# About me\n\nI live in 台北.\n",
        "# About me\n\nNo newline at the end",
        "\ufeff# With a byte order mark\n",
        "# Windows\r\n\r\nTwo lines.\r\n",
        "- typed by hand\n- and so is this\n",
        "Some prose\n\n",
        "",
    ],
)
def test_a_fact_is_appended_to_what_the_user_wrote(text: str) -> None:
    write_memory(text)
    open_store().add("Prefers tea")
    after = MEMORY.read_bytes().decode()
    assert after.startswith(text)
    assert "\n- Prefers tea" in f"\n{after[len(text) :]}"
    assert contents()[-1] == "Prefers tea"


@pytest.mark.scenario("003.memory-file")
def test_what_the_user_wrote_survives_every_change() -> None:
    prose = "# Me\n\nprose\n\n- by hand\n  - nested\n\n```\n- code\n```\n\n1. first\n2. second\n"
    write_memory(prose)
    store = open_store()
    memory = store.add("Prefers tea")
    store.update(memory.id, "Prefers\ncoffee")
    store.delete(memory.id)
    assert MEMORY.read_text("utf-8").rstrip("\n") == prose.rstrip("\n")


@pytest.mark.scenario("003.memory-file")
def test_bullets_typed_by_hand_are_facts_and_nothing_else_is() -> None:
    write_memory(
        "# Memory\n\nprose\n\n- 住在台北\n* Prefers tea\n\n```\n- code\n```\n\n"
        "1. numbered\n\n> - quoted\n"
    )
    assert contents() == ["住在台北", "Prefers tea"]


@pytest.mark.scenario("003.memory-file")
def test_a_category_is_a_heading() -> None:
    store = open_store()
    store.add("住在台北")
    store.add("客廳的燈叫做小明", "設備")
    store.add("Prefers tea")
    store.add("臥室的燈叫做小華", "設備")
    assert MEMORY.read_text("utf-8").splitlines().count("## 設備") == 1
    assert [(memory.content, memory.category) for memory in open_store().get_all()] == [
        ("住在台北", None),
        ("Prefers tea", None),
        ("客廳的燈叫做小明", "設備"),
        ("臥室的燈叫做小華", "設備"),
    ]


@pytest.mark.scenario("003.memory-file")
def test_the_file_is_the_truth_for_a_store_that_is_open() -> None:
    store = open_store()
    tea, tram = store.add("Prefers tea"), store.add("Takes the tram")
    text = MEMORY.read_text("utf-8").replace("Prefers tea", "Prefers coffee")
    MEMORY.write_text(text + "- 住在台北\n", "utf-8")
    memories = store.get_all()
    assert [memory.content for memory in memories] == [
        "Prefers coffee",
        "Takes the tram",
        "住在台北",
    ]
    assert [memory.id for memory in memories[:2]] == [tea.id, tram.id]


@pytest.mark.scenario("003.memory-file")
def test_a_fact_that_the_user_takes_out_of_the_file_is_forgotten() -> None:
    store = open_store()
    store.add("Prefers tea")
    store.add("Takes the tram")
    lines = MEMORY.read_text("utf-8").splitlines(keepends=True)
    MEMORY.write_text("".join(line for line in lines if "tea" not in line), "utf-8")
    assert [memory.content for memory in store.get_all()] == ["Takes the tram"]
    assert contents() == ["Takes the tram"]
    assert "tea" not in MEMORY.read_text("utf-8")


def log_at(moment: datetime) -> DailyLog:
    return DailyLog(DAILY, now=lambda: moment)


@pytest.mark.scenario("003.daily-log")
def test_a_note_that_the_program_is_given_is_in_todays_log() -> None:
    Path("data").mkdir()
    run_turnleaf("log", "鍋爐保養了")
    (file,) = DAILY.glob("*.md")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d\.md", file.name)
    assert "鍋爐保養了" in file.read_text("utf-8")


@pytest.mark.scenario("003.daily-log")
def test_a_note_is_appended_to_the_file_of_its_day() -> None:
    log_at(NOON).append("鍋爐保養了")
    before = (DAILY / "2026-03-01.md").read_text("utf-8")
    log_at(NOON + timedelta(hours=1)).append("Bought tea")
    after = (DAILY / "2026-03-01.md").read_text("utf-8")
    assert "鍋爐保養了" in before
    assert after.startswith(before)
    assert "Bought tea" in after[len(before) :]


@pytest.mark.scenario("003.daily-log")
def test_each_day_has_its_own_file() -> None:
    for days, entry in enumerate(["first", "second", "third"]):
        log_at(NOON + timedelta(days=days)).append(entry)
    log = log_at(NOON)
    assert log.dates() == [date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 3)]
    assert "second" in log.read(date(2026, 3, 2))
    assert "second" in log.read("2026-03-02")
    assert "first" not in log.read("2026-03-02")
    assert "third" not in log.read("2026-03-02")


@pytest.mark.scenario("003.daily-log")
@pytest.mark.parametrize(
    ("moment", "name"),
    [
        (datetime(2026, 3, 1, 0, 30, tzinfo=TAIPEI), "2026-03-01.md"),
        (datetime(2026, 2, 28, 23, 59, tzinfo=TAIPEI), "2026-02-28.md"),
        (datetime(2026, 3, 1, 20, tzinfo=timezone(-timedelta(hours=7))), "2026-03-01.md"),
        (datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC), "2026-12-31.md"),
    ],
)
def test_the_day_is_the_users_own_day(moment: datetime, name: str) -> None:
    log_at(moment).append("a note")
    assert [file.name for file in DAILY.glob("*.md")] == [name]


@pytest.mark.scenario("003.daily-log")
@pytest.mark.parametrize("text", ["# Sunday\n\nBy hand.\n", "no newline at the end", "x\r\n"])
def test_a_note_leaves_what_the_user_wrote_that_day(text: str) -> None:
    DAILY.mkdir(parents=True)
    (DAILY / "2026-03-01.md").write_bytes(text.encode())
    log_at(NOON).append("Bought tea")
    after = (DAILY / "2026-03-01.md").read_bytes().decode()
    assert after.startswith(text)
    assert "Bought tea" in after[len(text) :].splitlines()[-1]


@pytest.mark.scenario("003.daily-log")
def test_a_day_without_notes_reads_as_nothing() -> None:
    log = log_at(NOON)
    assert log.read(date(2026, 3, 1)) == ""
    assert log.dates() == []


@pytest.mark.scenario("003.daily-log")
@pytest.mark.parametrize("day", ["../MEMORY", "2026-3-1", "2026-02-30", "today.md", "", "/etc"])
def test_what_is_no_date_is_refused(day: str) -> None:
    open_store().add("Prefers tea")
    with pytest.raises(TurnleafError):
        log_at(NOON).read(day)


@pytest.mark.scenario("003.daily-log")
@pytest.mark.parametrize("entry", ["", "  \n", "a\0b", "\ud83c"])
def test_a_note_that_is_empty_or_no_text_is_refused(entry: str) -> None:
    log_at(NOON).append("one")
    before = (DAILY / "2026-03-01.md").read_bytes()
    with pytest.raises(TurnleafError):
        log_at(NOON).append(entry)
    assert (DAILY / "2026-03-01.md").read_bytes() == before


@pytest.mark.scenario("003.daily-log")
def test_without_a_folder_the_log_is_where_the_requirements_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert DailyLog().location.absolute() == DAILY.absolute()
    monkeypatch.setenv("SUPERVISOR_TOKEN", "a-token")
    assert DailyLog().location == Path("/data/prompts/memory/daily")


@pytest.mark.scenario("003.folders")
def test_init_makes_both_folders() -> None:
    MemoryStore(MEMORY).init()
    DailyLog(DAILY).init()
    assert FOLDER.is_dir()
    assert DAILY.is_dir()


@pytest.mark.scenario("003.folders")
def test_the_programs_first_start_makes_both_folders() -> None:
    Path("data").mkdir()
    run_turnleaf("remember", "客廳的燈叫做小明")
    assert FOLDER.is_dir()
    assert DAILY.is_dir()


@pytest.mark.scenario("003.folders")
def test_the_first_start_makes_a_file_with_a_title_and_nothing_else() -> None:
    open_store()
    assert MEMORY.read_text("utf-8") == "# Memory\n"
    assert contents() == []


@pytest.mark.scenario("003.folders")
def test_the_first_note_makes_the_folders() -> None:
    log_at(NOON).append("鍋爐保養了")
    assert DAILY.is_dir()


@pytest.mark.scenario("003.folders")
def test_folders_that_are_there_are_left_as_they_are() -> None:
    DAILY.mkdir(parents=True)
    (DAILY / "2026-03-01.md").write_text("by hand\n", "utf-8")
    open_store()
    open_store()
    assert (DAILY / "2026-03-01.md").read_text("utf-8") == "by hand\n"
    assert [path.name for path in DAILY.iterdir()] == ["2026-03-01.md"]
