"""What may matter for a message: by its words, and by the time that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from turnleaf import Assistant, DailyLog, Index, MemoryStore
from turnleaf.llm.recall import RecallModel
from turnleaf.looking import found

MONDAY = date(2026, 11, 16)
NOTES = {
    date(2026, 10, 20): ["boiler pressure is low", "鍋爐壓力太低"],
    date(2026, 11, 10): ["boiler serviced, new valve", "鍋爐修好了，換了閥門", "Bought bread"],
    date(2026, 11, 15): ["boiler hums again", "鍋爐又在響"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for day, notes in NOTES.items():
        moment = datetime(day.year, day.month, day.day, 9, 30, tzinfo=UTC)
        log = DailyLog(tmp_path / "prompts/memory/daily", now=partial(moment.astimezone, UTC))
        for note in notes:
            log.append(note)
    return tmp_path


@pytest.fixture
def daily(folder: Path) -> DailyLog:
    return DailyLog(folder / "prompts/memory/daily")


@pytest.fixture
def index(folder: Path, daily: DailyLog) -> Iterator[Index]:
    index = Index(folder / "index.db", [MemoryStore(folder / "MEMORY.md"), daily])
    yield index
    index.close()


def days(text: str, index: Index, daily: DailyLog) -> list[str | None]:
    return sorted({hit.date for hit in found(text, index, daily, MONDAY)}, key=str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what about the boiler?", ["2026-10-20", "2026-11-10", "2026-11-15"]),
        ("what did I note last week about the boiler?", ["2026-11-10", "2026-11-15"]),
        ("上週我記了什麼關於鍋爐的事?", ["2026-11-10", "2026-11-15"]),
        ("昨天鍋爐怎麼了?", ["2026-11-15"]),
        ("how was the boiler in October?", ["2026-10-20"]),
        ("十月的鍋爐", ["2026-10-20"]),
    ],
)
def test_a_time_in_the_message_narrows_what_is_found(
    index: Index, daily: DailyLog, text: str, expected: list[str]
) -> None:
    assert days(text, index, daily) == expected


@pytest.mark.parametrize(
    "text", ["What did I note last week?", "上週我記了什麼?", "上週發生了什麼事？"]
)
def test_a_question_about_a_time_alone_gives_its_notes_in_order(
    index: Index, daily: DailyLog, text: str
) -> None:
    said = [hit.text for hit in found(text, index, daily, MONDAY)]
    assert said == [f"09:30 {note}" for day in list(NOTES)[1:] for note in NOTES[day]]


def test_a_thing_that_those_days_do_not_name_is_looked_for_in_all(
    index: Index, daily: DailyLog
) -> None:
    assert days("did I buy bread in October?", index, daily) == ["2026-11-10"]


def test_nothing_is_found_for_what_nobody_noted(index: Index, daily: DailyLog) -> None:
    assert found("What is quantum physics?", index, daily, MONDAY) == []


def test_without_a_model_the_notes_of_that_time_are_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS", "off")
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    with Assistant(folder, model=RecallModel(), now=lambda: noon) as assistant:
        told = assistant.reply("cli:session-1", "what did I note last week about the boiler?").text
        assert "- 09:30 boiler serviced, new valve (daily log, 2026-11-10, 2026-11-10.md:3)" in told
        assert "- 09:30 boiler hums again (daily log, 2026-11-15, 2026-11-15.md:3)" in told
        assert "pressure is low" not in told
        assert "bread" not in told
        later = noon + timedelta(days=30)
    with Assistant(folder, model=RecallModel(), now=lambda: later) as assistant:
        told = assistant.reply("cli:session-2", "what did I note last week?").text
        assert "Nothing is remembered about that." in told


@pytest.mark.parametrize("lines", ["{0}\n{1}", "{1}\n{0}"], ids=["asked last", "asked first"])
def test_of_a_pasted_text_the_first_or_last_line_is_looked_for(
    index: Index, daily: DailyLog, lines: str
) -> None:
    pasted = "".join(f"line {number} of the file\n" for number in range(900))
    asked = lines.format(pasted, "what about the boiler?")
    assert days(asked, index, daily) == ["2026-10-20", "2026-11-10", "2026-11-15"]
