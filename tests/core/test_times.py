"""Times are aware in Python and ISO 8601 with a Z on disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import thorough
from turnleaf.core.serialization import check_aware, from_iso, to_iso, to_millisecond
from turnleaf.errors import InvalidInput

zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(2, 1, 2), datetime(9998, 12, 30), timezones=zones)  # noqa: DTZ001


def test_a_time_is_written_in_utc_to_the_millisecond() -> None:
    taipei = timezone(timedelta(hours=8))
    moment = datetime(2026, 3, 1, 7, 4, 5, 678_999, tzinfo=taipei)
    assert to_iso(moment) == "2026-02-28T23:04:05.678Z"


@thorough
@given(moments)
def test_a_time_comes_back_to_the_millisecond(moment: datetime) -> None:
    text = to_iso(moment)
    assert text.endswith("Z")
    assert len(text) == len("2026-03-01T08:30:00.000Z")
    assert from_iso(text) == to_millisecond(moment)
    assert timedelta() <= moment - from_iso(text) < timedelta(milliseconds=1)


@thorough
@given(moments, moments)
def test_written_times_sort_as_times_do(one: datetime, other: datetime) -> None:
    if to_millisecond(one) < to_millisecond(other):
        assert to_iso(one) < to_iso(other)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T08:30:00Z", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01T08:30:00.123456+00:00", datetime(2026, 3, 1, 8, 30, 0, 123456, tzinfo=UTC)),
        ("2026-03-01T16:30:00+08:00", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01T08:30:00", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_a_time_that_somebody_else_wrote_is_read(text: str, moment: datetime) -> None:
    assert from_iso(text) == moment


@pytest.mark.parametrize("text", ["0002-01-01T00:00:00.000Z", "9998-12-31T23:59:59.999Z"])
@pytest.mark.parametrize("hours", [-12, 14])
def test_a_time_that_is_read_has_a_name_in_every_zone(text: str, hours: int) -> None:
    assert from_iso(text).astimezone(timezone(timedelta(hours=hours))) == from_iso(text)


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+14:00",
        "0001-12-31T23:59:59.999Z",
        "0002-01-01T00:00:00+00:01",
        "9999-01-01T00:00:00Z",
        "9998-12-31T23:59:59-00:01",
        "9999-12-31T23:59:59.999Z",
    ],
)
def test_a_time_at_the_edge_of_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="outside the supported range"):
        from_iso(text)


@pytest.mark.parametrize("text", ["", "yesterday", "昨天", "2026-02-30"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time; write it as 2026-"):
        from_iso(text)


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 3, 1)  # noqa: DTZ001 - that is what is refused
    with pytest.raises(InvalidInput, match="no time zone"):
        check_aware(naive)
    with pytest.raises(InvalidInput, match="aware datetime"):
        to_iso(naive)
