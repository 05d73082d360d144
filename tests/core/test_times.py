"""Times are aware in Python and ISO 8601 with a Z on disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import thorough
from turnleaf.core.times import aware, from_iso, to_iso, to_millisecond
from turnleaf.errors import InvalidInput

zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)  # noqa: DTZ001


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


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 3, 1)  # noqa: DTZ001 - that is what is refused
    with pytest.raises(InvalidInput, match="no time zone"):
        aware(naive)
    with pytest.raises(InvalidInput, match="aware datetime"):
        to_iso(naive)
