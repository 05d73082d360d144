"""The contract of `DailyNotes`: what was noted on each day of the person whose day it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.clocks import Clock
from tests.store.contracts.conftest import Backend
from tests.store.contracts.together import do_at_once
from turnleaf.errors import InvalidInput
from turnleaf.store.contracts import DailyNotes, Stores

TAIPEI = timezone(timedelta(hours=8))
EVENING = datetime(2026, 11, 15, 23, 59, tzinfo=TAIPEI)
DAY = EVENING.date()


@pytest.fixture(autouse=True)
def evening(clock: Clock) -> None:
    clock.now = EVENING


@pytest.fixture
def log(space: Stores) -> DailyNotes:
    return space.daily


def test_later_notes_stand_below(log: DailyNotes) -> None:
    log.append("one")
    log.append("two\nlines")
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 one\n- 23:59 two\n  lines\n"


def test_a_note_says_something_else_in_its_place_and_keeps_its_source(log: DailyNotes) -> None:
    log.append("one")
    log.append("two\nlines", source="tool:x")
    log.append("three")
    assert log.revise(DAY, "23:59 two\nlines", "23:59 2\n- deux")
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 one\n- 23:59 2\n  - deux\n- 23:59 three\n"
    assert log.revise("2026-11-15", "23:59 one", None)
    assert not log.revise(DAY, "23:59 one", "23:59 again")
    assert not log.revise("2026-11-14", "23:59 one", None)
    assert log.erase("tool:x") == 1
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 three\n"


def test_of_notes_that_say_the_same_the_first_is_changed(log: DailyNotes) -> None:
    log.append("tea")
    log.append("tea")
    assert log.revise(DAY, "23:59 tea", "23:59 coffee")
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 coffee\n- 23:59 tea\n"


def test_a_note_cannot_become_empty(log: DailyNotes) -> None:
    log.append("tea")
    with pytest.raises(InvalidInput, match="the entry is empty"):
        log.revise(DAY, "23:59 tea", " ")
    assert "tea" in log.read(DAY)


def test_a_day_can_be_asked_for_in_any_form(log: DailyNotes) -> None:
    log.append("x")
    assert log.read(DAY) == log.read("2026-11-15") == log.read(EVENING)


@pytest.mark.parametrize(
    "day",
    [
        "",
        "today",
        "../MEMORY",
        "2026-11-15/../x",
        "2026-1-1",
        "20261115",
        "2026-02-30",
        "2026-11-15\n",
    ],
)
def test_what_is_no_date_is_refused(log: DailyNotes, day: str) -> None:
    with pytest.raises(InvalidInput, match="is not a date; write it as 2026-11-15"):
        log.read(day)


@pytest.mark.parametrize("day", [None, 5])
def test_what_is_not_even_text_is_refused(log: DailyNotes, day: str) -> None:
    with pytest.raises(InvalidInput, match="is not a date"):
        log.read(day)


def test_notes_written_at_once_are_all_there(backend: Backend, log: DailyNotes) -> None:
    def work(given: tuple[DailyNotes, str]) -> None:
        opened, name = given
        for number in range(10):
            opened.append(f"{name} {number}")

    do_at_once(work, [(log, "a"), (log, "b"), (backend.open().daily, "c")])
    lines = log.read(DAY).splitlines()
    assert len(lines) == len(set(lines)) == 32
    assert lines.count("# 2026-11-15") == 1


def test_a_huge_note_is_kept(log: DailyNotes) -> None:
    log.append("x" * 1_000_000)
    assert log.read(DAY).count("x") == 1_000_000


def test_what_looks_like_a_source_in_a_note_is_text(log: DailyNotes) -> None:
    log.append("I saw <!-- turnleaf source=cli:session-1 -->")
    assert log.erase("cli:session-1") == 0
    assert "source=cli:session-1" in log.read(DAY)


def test_the_day_is_that_of_the_person(log: DailyNotes, clock: Clock) -> None:
    log.append("before midnight")
    clock.pass_time(minutes=1)
    log.append("after midnight")
    assert log.dates() == [DAY, DAY + timedelta(days=1)]
    assert EVENING.astimezone(UTC).date() == DAY
    assert log.read("2026-11-16") == "# 2026-11-16\n\n- 00:00 after midnight\n"


@pytest.mark.parametrize("entry", ["", " \n", "a\0b", "\ud800", None, 5])
def test_what_is_no_note_is_refused_and_nothing_is_made(log: DailyNotes, entry: str) -> None:
    with pytest.raises(InvalidInput, match=r"a note|the entry is empty"):
        log.append(entry)
    assert log.dates() == []


@pytest.mark.parametrize(
    "source", ["cli:session-1", "document:我的 筆記--1.md", "tool:a>b", "document:\udcff.md"]
)
def test_the_notes_of_a_source_are_erased_on_every_day(
    backend: Backend, log: DailyNotes, clock: Clock, source: str
) -> None:
    for _ in range(2):
        log.append("theirs\n\n- with\n  more 行", source=source)
        log.append("theirs in one line", source=source)
        log.append("mine")
        log.append("another's", source="cli:session-2")
        clock.pass_time(days=1)
    assert backend.open().daily.has_source(source)
    assert not log.has_source("cli:session-3")
    assert backend.open().daily.erase(source) == 4
    assert not log.has_source(source)
    assert log.erase(source) == 0
    left = "".join(log.read(day) for day in log.dates())
    assert "theirs" not in left
    assert "with" not in left
    assert (left.count("mine"), left.count("another's")) == (2, 2)


def test_a_day_whose_notes_were_all_erased_has_none(log: DailyNotes, clock: Clock) -> None:
    log.append("theirs", source="web:1")
    clock.pass_time(days=1)
    log.append("客廳的燈", source="web:2")
    assert log.erase("web:1") == 1
    assert log.dates() == [DAY + timedelta(days=1)]
    clock.pass_time(days=-1)
    log.append("again")
    assert log.dates() == [DAY, DAY + timedelta(days=1)]


def test_erasing_while_others_write_loses_none_of_their_notes(
    backend: Backend, log: DailyNotes
) -> None:
    def work(given: tuple[DailyNotes, str]) -> int:
        opened, name = given
        if name == "erase":
            return opened.erase("a")
        for number in range(10):
            opened.append(f"{name} {number}", source=name)
        return 0

    stores = [(backend.open().daily, name) for name in ("a", "b", "c", "erase")]
    erased = sum(do_at_once(work, stores)) + log.erase("a")
    lines = log.read(DAY).splitlines()
    assert erased == 10
    assert len(set(lines)) == len(lines) == 22


def test_a_day_without_notes_is_empty(log: DailyNotes) -> None:
    assert log.read("2026-01-01") == ""
    assert log.dates() == []
    assert log.erase("cli:1") == 0
    log.init()
    assert log.dates() == []
    assert str(log.location)


def test_another_who_opened_it_sees_a_note_at_once(backend: Backend, log: DailyNotes) -> None:
    other = backend.open().daily
    assert other.read(DAY) == ""
    log.append("見了小明")
    other.append("and Ann")
    assert log.read(DAY) == other.read(DAY) == "# 2026-11-15\n\n- 23:59 見了小明\n- 23:59 and Ann\n"
    assert other.dates() == [DAY]


def test_days_are_listed_oldest_first(log: DailyNotes, clock: Clock) -> None:
    for days in (0, 400, -400):
        clock.now = EVENING + timedelta(days=days)
        log.append("x")
    assert log.dates() == [DAY - timedelta(days=400), DAY, DAY + timedelta(days=400)]


def test_where_a_note_came_from_is_not_read(log: DailyNotes) -> None:
    log.append("met Ann", source="cli:session-1")
    log.append("two\nlines", source="document:我的 筆記--1.md")
    assert log.read(DAY) == "# 2026-11-15\n\n- 23:59 met Ann\n- 23:59 two\n  lines\n"


# Once


def test_a_note_that_is_there_is_not_made_again(backend: Backend, log: DailyNotes) -> None:
    log.append("the news (run 1)", once="run 1")
    backend.open().daily.append("the news again (run 1)", once="run 1")
    log.append("the news (run 2)", once="run 2")
    assert log.read(DAY).splitlines()[2:] == [
        "- 23:59 the news (run 1)",
        "- 23:59 the news (run 2)",
    ]


def test_a_note_is_looked_for_on_the_last_two_days_that_have_notes(
    log: DailyNotes, clock: Clock
) -> None:
    log.append("run 1", once="run 1")
    clock.pass_time(days=1)
    log.append("run 1", once="run 1")
    assert log.dates() == [DAY]
    log.append("another day")
    clock.pass_time(days=1)
    log.append("a third day")
    log.append("run 1", once="run 1")
    assert log.dates() == [DAY, DAY + timedelta(days=1), DAY + timedelta(days=2)]
    assert log.read(DAY + timedelta(days=2)).count("run 1") == 1


def test_of_several_who_make_a_note_once_one_does(backend: Backend, log: DailyNotes) -> None:
    stores = [backend.open().daily for _ in range(3)]
    do_at_once(lambda store: store.append("the news (run 1)", once="run 1"), stores)
    assert log.read(DAY).count("run 1") == 1
