"""When a schedule is due, over whole years and changes of the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from turnleaf.core.schedules import Schedule
from turnleaf.errors import InvalidInput
from turnleaf.store.schedules import (
    assume_zone,
    check_timing,
    describe_timing,
    find_local_zone,
    find_next_due,
    list_upcoming,
)

YEAR = 2026
# No summer time; one of the north; one of the south, where the year ends in summer.
ZONES = ("Asia/Taipei", "America/New_York", "Australia/Lord_Howe")
# Days on which clocks are changed.
CHANGES = [
    ("Europe/Vienna", 3, 29),
    ("Europe/Vienna", 10, 25),
    ("Australia/Lord_Howe", 4, 5),
    ("Australia/Lord_Howe", 10, 4),
]


def schedule(timing: str, zone: str = "UTC", created: datetime | None = None) -> Schedule:
    made = created or datetime(YEAR, 1, 1, tzinfo=UTC)
    return Schedule("s", "問候", check_timing(timing, zone), zone, made, made)


def times(timing: str, zone: str, first: datetime, last: datetime) -> Iterator[datetime]:
    wanted = schedule(timing, zone)
    moment: datetime | None = first
    while moment and (moment := find_next_due(wanted, moment)) and moment < last:
        yield moment


def year_of(timing: str, zone: str) -> list[datetime]:
    place = ZoneInfo(zone)
    first = datetime(YEAR, 1, 1, tzinfo=place) - timedelta(seconds=1)
    last = datetime(YEAR + 1, 1, 1, tzinfo=place)
    return [moment.astimezone(place) for moment in times(timing, zone, first, last)]


@pytest.mark.parametrize("zone", ZONES)
def test_a_daily_time_comes_once_on_every_day_of_the_year_at_its_hour(zone: str) -> None:
    found = year_of("30 9 * * *", zone)
    days = [date(YEAR, 1, 1) + timedelta(days=number) for number in range(365)]
    assert [moment.date() for moment in found] == days
    assert {(moment.hour, moment.minute) for moment in found} == {(9, 30)}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hour", range(4))
def test_a_time_in_the_hours_of_change_comes_once_a_day_all_year(zone: str, hour: int) -> None:
    found = year_of(f"15 {hour} * * *", zone)
    assert len(found) == len({moment.date() for moment in found}) == 365
    late = [moment for moment in found if (moment.hour, moment.minute) != (hour, 15)]
    # What falls into the hour that is left out happens right after it.
    assert len(late) <= 1
    assert all((moment.hour, moment.minute) in {(hour + 1, 0), (hour, 30)} for moment in late)


@pytest.mark.parametrize(("zone", "month", "day"), CHANGES)
def test_every_half_hour_by_cron_never_rests_and_never_doubles(
    zone: str, month: int, day: int
) -> None:
    first = datetime(YEAR, month, day, tzinfo=UTC) - timedelta(days=1)
    found = list(times("*/30 * * * *", zone, first, first + timedelta(days=2)))
    steps = {later - earlier for earlier, later in pairwise(found)}
    assert steps == {timedelta(minutes=30)}


@pytest.mark.parametrize("zone", ZONES)
def test_an_interval_goes_by_the_time_that_passed(zone: str) -> None:
    created = datetime(YEAR, 3, 1, 8, 7, tzinfo=UTC)
    wanted = schedule("every 6h", zone, created)
    moment, count = created, 0
    while moment < created + timedelta(days=365):
        due = find_next_due(wanted, moment)
        assert due == moment + timedelta(hours=6)
        moment, count = due, count + 1
    assert count == 365 * 4


@pytest.mark.parametrize("day", ["0", "7", "SUN"])
def test_sunday_has_two_numbers_and_a_name(day: str) -> None:
    found = year_of(f"0 9 * * {day}", "Asia/Taipei")
    assert len(found) == 52
    assert {moment.isoweekday() for moment in found} == {7}


def test_the_days_of_the_week_are_those_of_cron() -> None:
    monday = next(
        times(
            "0 9 * * 1", "UTC", datetime(YEAR, 11, 15, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        )
    )
    assert monday == datetime(YEAR, 11, 16, 9, tzinfo=UTC)


def test_a_day_of_the_month_or_of_the_week_suffices_where_both_are_given() -> None:
    found = year_of("0 0 13 * 5", "UTC")
    assert {moment.day == 13 or moment.isoweekday() == 5 for moment in found} == {True}
    assert any(moment.day == 13 and moment.isoweekday() != 5 for moment in found)


def test_the_end_of_february_comes_in_leap_years() -> None:
    due = find_next_due(schedule("0 0 29 2 *"), datetime(YEAR, 3, 1, tzinfo=UTC))
    assert due == datetime(2028, 2, 29, tzinfo=UTC)


def test_one_moment_comes_once_in_its_zone() -> None:
    wanted = schedule("2026-12-24 18:00", "Asia/Taipei")
    due = find_next_due(wanted, datetime(YEAR, 12, 1, tzinfo=UTC))
    assert due == datetime(YEAR, 12, 24, 10, tzinfo=UTC)
    assert find_next_due(wanted, due) is None


@pytest.mark.parametrize(
    ("timing", "kept"),
    [
        ("  0  9 * * *", "0 9 * * *"),
        ("@daily", "@daily"),
        ("every 15m", "every 15m"),
        ("every 2 hours", "every 2 hours"),
        ("2026-12-24 18:00", "2026-12-24T18:00"),
        ("2026-12-24 6:00", "2026-12-24T06:00"),
        ("2026-12-24T18:00Z", "2026-12-24T18:00+00:00"),
        ("every day", "every day"),
        ("2026-12-24T18:00:00+08:00", "2026-12-24T18:00+08:00"),
    ],
)
def test_a_timing_is_kept_as_it_is_meant(timing: str, kept: str) -> None:
    assert check_timing(timing, "UTC") == kept


@pytest.mark.parametrize(
    "timing",
    ["", "soon", "每天九點", "0 9 * *", "0 0 9 * * *", "61 * * * *", "0 9 31 2 *", "every 0m",
     "every 10s", "every", "every 9999w", "2026-02-30 09:00", "2026-13-01", "\0", "* * * * *; rm"],
)  # fmt: skip
def test_what_is_no_time_is_refused_with_examples_of_one(timing: str) -> None:
    with pytest.raises(InvalidInput, match="write it as"):
        check_timing(timing, "UTC")


@pytest.mark.parametrize("zone", ["", "Taipei", "../etc/passwd", "/etc/localtime", "Asia/臺北"])
def test_what_is_no_zone_is_refused_with_an_example_of_one(zone: str) -> None:
    with pytest.raises(InvalidInput, match="Asia/Taipei"):
        check_timing("0 9 * * *", zone)


@pytest.mark.parametrize(("zone", "month", "day"), CHANGES)
def test_what_comes_every_hour_comes_whenever_the_clock_shows_its_minute(
    zone: str, month: int, day: int
) -> None:
    place = ZoneInfo(zone)
    first = datetime(YEAR, month, day, tzinfo=UTC) - timedelta(days=1)
    minutes = [first + timedelta(minutes=number) for number in range(2 * 24 * 60)]
    for minute in (0, 30, 45):
        shown = [moment for moment in minutes if moment.astimezone(place).minute == minute]
        found = times(f"{minute} * * * *", zone, first - timedelta(minutes=1), minutes[-1])
        assert list(found) == shown[: -1 if shown[-1] == minutes[-1] else None]


@pytest.mark.parametrize("timing", ["every 2 months", "every 5 mice", "every 1 y", "every 3 hello"])
def test_an_interval_in_something_else_is_not_taken_for_minutes(timing: str) -> None:
    with pytest.raises(InvalidInput, match="every 15m"):
        check_timing(timing, "UTC")


@pytest.mark.parametrize("timing", ["9999-12-31 23:59", "0001-01-01", "3000-01-01 09:00"])
def test_a_moment_that_no_file_could_hold_is_refused(timing: str) -> None:
    with pytest.raises(InvalidInput, match="too far in the future"):
        check_timing(timing, "America/New_York")


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        ("0 9 * * 1-5", "at 09:00 on Monday through Friday"),
        ("@daily", "at 00:00 every day"),
        ("every 2 Hours", "every 2 hours"),
        ("2026-12-24T18:00", "once on 2026-12-24 at 18:00"),
        ("2026-12-24T18:00+00:00", "once on 2026-12-25 at 02:00"),
        ("2026-12-24 6:00", "once on 2026-12-24 at 06:00"),
        ("每天", "每天"),
    ],
)
def test_a_timing_is_said_in_words_where_that_is_easy(timing: str, words: str) -> None:
    assert describe_timing(timing, "Asia/Taipei") == words


def test_a_moment_in_a_zone_that_somebody_spoilt_is_given_as_it_is() -> None:
    assert describe_timing("2026-12-24T18:00", "Mars/Olympus") == "2026-12-24T18:00"


@pytest.mark.parametrize(("timing", "hours"), [("every hour", 1), ("Every Day", 24)])
def test_an_interval_of_one_needs_no_number(timing: str, hours: int) -> None:
    created = datetime(YEAR, 3, 1, 8, 7, tzinfo=UTC)
    assert find_next_due(schedule(timing, "UTC", created), created) == created + timedelta(
        hours=hours
    )


def test_a_moment_goes_by_the_clock_on_the_wall_of_its_zone_unless_an_offset_was_typed() -> None:
    now = datetime(YEAR, 12, 1, tzinfo=UTC)
    wall, fixed = schedule("2026-12-24 18:00"), schedule("2026-12-24T18:00+08:00")
    found = [find_next_due(replace(one, zone="Europe/Vienna"), now) for one in (wall, fixed)]
    assert found == [datetime(YEAR, 12, 24, hour, tzinfo=UTC) for hour in (17, 10)]


@pytest.mark.parametrize(
    "timing", ["0 9 * * " + ",".join("1" * 200), "2026-12-24 18:00" + "0" * 200]
)
def test_a_timing_that_goes_on_and_on_is_refused_and_not_repeated(timing: str) -> None:
    with pytest.raises(InvalidInput, match="too long for a time; write it as") as refused:
        check_timing(timing, "UTC")
    assert len(str(refused.value)) < 250


@pytest.fixture
def _posix_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XYZ-5:17")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_posix_clock")
def test_a_machine_whose_clock_goes_by_no_known_zone_is_not_taken_for_another() -> None:
    with pytest.raises(InvalidInput, match="does not use the time zone"):
        assume_zone()


def test_the_zone_of_the_machine_is_meant_where_none_is_given() -> None:
    assert assume_zone() == find_local_zone()


def test_the_next_times_are_told_before_a_schedule_is_made() -> None:
    now = datetime(YEAR, 12, 23, tzinfo=UTC)
    found = list_upcoming("0 18 * * *", "Asia/Taipei", now, 2)
    assert found == [datetime(YEAR, 12, day, 10, tzinfo=UTC) for day in (23, 24)]
    assert len(list_upcoming("2026-12-24 18:00", "Asia/Taipei", now, 5)) == 1
