"""Each lane in its order, some at the same time, and never too much of anything."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Barrier, BrokenBarrierError, Event, Thread

import pytest

from tests.standins.slack_api import SECONDS
from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.lanes import MOST_AT_ONCE, MOST_OF_ONE, MOST_WAITING, Lanes, attempt
from turnleaf.faces.slack.recent import Recent

KEY = "sk-proj-" + "a1B2" * 8


def held(gate: Event) -> Callable[[], None]:
    """Give something to do that lasts until it is let go."""

    def wait() -> None:
        gate.wait(SECONDS)

    return wait


def raised(error: Exception) -> None:
    raise error


def test_so_many_lanes_go_at_the_same_time_and_no_more() -> None:
    lanes = Lanes()
    enough, too_many = Barrier(MOST_AT_ONCE), Barrier(MOST_AT_ONCE + 1)
    met: list[int] = []

    def work() -> None:
        enough.wait(SECONDS)
        with suppress(BrokenBarrierError):
            met.append(too_many.wait(0.2))

    for number in range(2 * MOST_AT_ONCE):
        lanes.do(str(number), work)
    assert lanes.wait(SECONDS)
    assert not enough.broken
    assert met == []


def test_so_much_waits_and_no_more() -> None:
    lanes, gate = Lanes(), Event()
    took = [lanes.do("one", held(gate)) for _ in range(250)]
    assert took.count(True) == MOST_WAITING
    gate.set()
    assert lanes.wait(SECONDS)
    assert lanes.do("one", gate.set)
    assert lanes.wait(SECONDS)


def test_of_one_person_less_waits_so_that_there_is_room_for_others() -> None:
    lanes, gate = Lanes(), Event()
    took = [lanes.do("one", held(gate), "U09") for _ in range(30)]
    assert took.count(True) == MOST_OF_ONE
    assert lanes.do("two", gate.set, "U01")
    assert lanes.wait(SECONDS)


def test_what_cannot_be_begun_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lanes, done = Lanes(), Event()
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", lambda _: raised(RuntimeError("can't start new thread")))
        assert not lanes.do("one", done.set)
    assert "can't start new thread" in caplog.text
    assert lanes.wait(0)
    assert lanes.do("one", done.set)
    assert done.wait(SECONDS)


@pytest.mark.parametrize("kind", [TurnleafError, RuntimeError])
def test_what_goes_wrong_is_logged_without_secrets(
    kind: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    attempt(lambda: raised(kind(f"no door for {KEY}")))
    assert "no door for" in caplog.text
    assert KEY not in caplog.text


def test_our_own_files_are_not_slacks_trouble(caplog: pytest.LogCaptureFixture) -> None:
    attempt(lambda: raised(PermissionError(30, "Read-only file system")))
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "Read-only file system" in caplog.text
    assert "Slack did not take" not in caplog.text


def test_the_oldest_of_very_many_is_forgotten() -> None:
    recent = Recent[str](2)
    assert recent.add("a", "1")
    assert recent.add("b", "2")
    assert not recent.add("a", "3")
    assert recent.add("c", "4")
    assert [recent.get(name) for name in "abc"] == ["3", None, "4"]
    recent.remove("a")
    assert recent.add("a", "5")
