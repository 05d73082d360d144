"""When a burst of changes is over, for every sequence of changes and looks."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from turnleaf.store.index_upkeep import Debounce

QUIET, LONGEST = 1.5, 15.0

# Quarters are exact, so that a sum is never a hair beside the limit.
# Never at one instant: then it could not be told which came first.
gaps = st.integers(1, 80).map(lambda quarters: quarters / 4)
steps = st.lists(st.tuples(gaps, st.booleans()), max_size=60)


def list_actions(steps: list[tuple[float, bool]]) -> list[float]:
    """Go through the steps as the watcher does and return when it acts."""
    debounce = Debounce(QUIET, LONGEST)
    now, acts = 0.0, []
    for gap, has_changed in steps:
        now += gap
        if has_changed:
            debounce.note_change(now)
        if now >= debounce.due_at:
            debounce.reset()
            acts.append(now)
    return acts


def times(steps: list[tuple[float, bool]], *, only_changes: bool) -> list[float]:
    now, found = 0.0, []
    for gap, has_changed in steps:
        now += gap
        if has_changed or not only_changes:
            found.append(now)
    return found


def test_nothing_is_due_before_a_change() -> None:
    debounce = Debounce(QUIET, LONGEST)
    assert debounce.due_at == math.inf


def test_a_change_is_due_when_it_has_been_quiet_for_long_enough() -> None:
    debounce = Debounce(QUIET, LONGEST)
    debounce.note_change(10.0)
    assert debounce.due_at == 11.5


def test_the_time_counts_from_the_last_change() -> None:
    debounce = Debounce(QUIET, LONGEST)
    for now in (0.0, 1.4, 2.8):
        debounce.note_change(now)
    assert debounce.due_at == 2.8 + QUIET


def test_changes_that_never_end_are_acted_on_all_the_same() -> None:
    assert list_actions([(1.0, True)] * 40) == [16.0, 32.0]


def test_what_was_acted_on_is_not_due_again() -> None:
    debounce = Debounce(QUIET, LONGEST)
    debounce.note_change(0.0)
    debounce.reset()
    assert debounce.due_at == math.inf


@given(steps)
def test_it_acts_once_for_each_burst_and_never_without_one(steps: list[tuple[float, bool]]) -> None:
    acts, changes = list_actions(steps), times(steps, only_changes=True)
    for before, after in pairwise([-1.0, *acts]):
        assert any(before <= change <= after for change in changes)


@given(steps)
def test_it_acts_only_after_quiet_or_when_it_is_late(steps: list[tuple[float, bool]]) -> None:
    acts, changes = list_actions(steps), times(steps, only_changes=True)
    for before, act in zip([-1.0, *acts], acts, strict=False):
        burst = [change for change in changes if before <= change <= act]
        assert act - burst[-1] >= QUIET or act - burst[0] >= LONGEST - QUIET


@given(steps)
def test_no_change_is_forgotten(steps: list[tuple[float, bool]]) -> None:
    steps = [*steps, (LONGEST, False)]
    changes, acts = times(steps, only_changes=True), list_actions(steps)
    assert not changes or acts[-1] >= changes[-1]


@given(steps)
def test_each_change_is_acted_on_at_the_first_look_at_which_it_is_due(
    steps: list[tuple[float, bool]],
) -> None:
    acts = list_actions(steps)
    pending: list[float] = []
    now = 0.0
    for gap, has_changed in steps:
        now += gap
        pending += [now] if has_changed else []
        is_time = pending and (now - pending[-1] >= QUIET or now - pending[0] >= LONGEST)
        if is_time:
            assert acts.pop(0) == now
            pending = []
    assert acts == []
