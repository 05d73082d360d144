"""When an extraction is due, who still holds what it took, and how a cycle is flushed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnleaf.core.learning.queue import LEASE_SECONDS, Cycle, is_due, is_held

NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
YEAR = 365 * 24 * 3600


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "waiting", "expected"),
    [
        (None, 3, False),
        (None, 4, True),
        (59.999, 4, False),
        (60, 4, True),
        (60, 3, False),
        (YEAR, 0, False),
        (0, 400, False),
    ],
)
def test_both_enough_time_and_enough_messages_are_needed(
    *, seconds: float | None, waiting: int, expected: bool
) -> None:
    last = None if seconds is None else ago(seconds)
    assert is_due(last, NOW, waiting, interval_seconds=60, min_messages=4) == expected


def test_a_clock_that_was_set_back_does_not_stop_the_learning_for_a_year() -> None:
    assert is_due(ago(-YEAR), NOW, 4, interval_seconds=60, min_messages=4)
    assert not is_held(ago(-YEAR), NOW)


def test_without_messages_nothing_is_due_whatever_the_settings() -> None:
    assert not is_due(None, NOW, 0, interval_seconds=0, min_messages=0)
    assert is_due(None, NOW, 1, interval_seconds=0, min_messages=0)


def test_a_lease_is_held_until_its_time_is_over() -> None:
    assert not is_held(None, NOW)
    assert is_held(ago(0), NOW)
    assert is_held(ago(LEASE_SECONDS - 0.001), NOW)
    assert not is_held(ago(LEASE_SECONDS), NOW)


def test_a_clock_that_was_set_back_a_little_takes_no_lease_away() -> None:
    assert is_held(ago(-1), NOW)


def test_a_cycle_is_flushed_once() -> None:
    cycle = Cycle()
    assert cycle.may_begin(NOW)
    cycle = cycle.begin(NOW)
    assert not cycle.may_begin(NOW)
    cycle = cycle.finish(succeeded=True)
    assert cycle == Cycle("flushed")
    assert not cycle.may_begin(NOW + timedelta(days=1))


def test_a_failed_flush_may_begin_again() -> None:
    assert Cycle().begin(NOW).finish(succeeded=False) == Cycle()


def test_a_flush_of_somebody_who_died_may_begin_again() -> None:
    cycle = Cycle().begin(NOW)
    assert not cycle.may_begin(NOW + timedelta(seconds=LEASE_SECONDS - 1))
    assert cycle.may_begin(NOW + timedelta(seconds=LEASE_SECONDS))


@pytest.mark.parametrize("succeeded", [True, False])
@pytest.mark.parametrize("cycle", [Cycle(), Cycle("flushed")])
def test_the_end_of_a_flush_that_is_not_under_way_changes_nothing(
    cycle: Cycle, *, succeeded: bool
) -> None:
    assert cycle.finish(succeeded=succeeded) == cycle


@given(st.lists(st.sampled_from(["begin", "succeed", "fail", "end"]), max_size=30))
def test_in_any_order_of_events_a_cycle_succeeds_at_most_once(events: list[str]) -> None:
    cycle, successes = Cycle(), 0
    for event in events:
        if event == "begin" and cycle.may_begin(NOW):
            cycle = cycle.begin(NOW)
        elif event == "succeed":
            successes += cycle.state == "flushing"
            cycle = cycle.finish(succeeded=True)
        elif event == "fail":
            cycle = cycle.finish(succeeded=False)
        elif event == "end":
            cycle, successes = Cycle(), 0
        assert successes <= 1
        assert cycle.may_begin(NOW) == (cycle.state == "idle")
