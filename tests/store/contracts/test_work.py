"""The contract of work: any space that has something to do is found, by one who asks."""

from __future__ import annotations

from datetime import timedelta

from tests.clocks import Clock
from tests.store.contracts.conftest import START, Backend
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.store.contracts import Stores

KEY = "cli:1"


def list_claimed(space: Stores, most: int = 10) -> list[tuple[str, str]]:
    return [(one.space, one.kind) for one in space.work.claim(most)]


def queue(space: Stores, text: str = "我的貓叫米米") -> None:
    space.learning.enqueue(KEY, [Queued(Message("user", text, START))])


def test_nothing_is_due_where_nothing_was_ever_stored(space: Stores) -> None:
    assert list_claimed(space) == []


def test_a_schedule_of_any_space_is_found_when_it_is_due(backend: Backend, clock: Clock) -> None:
    backend.open("小美").schedules.add("ask", "every 15m", zone="UTC")
    backend.open("anna").schedules.add("ask", "every 1h", zone="UTC")
    space = backend.open()
    assert list_claimed(space) == []
    clock.pass_time(minutes=14)
    assert list_claimed(space) == []
    clock.pass_time(minutes=1)
    assert list_claimed(space) == [("小美", "schedules")]


def test_what_is_queued_in_any_space_is_found_after_a_minute(
    backend: Backend, clock: Clock
) -> None:
    queue(backend.open("anna"))
    space = backend.open()
    assert list_claimed(space) == []
    clock.pass_time(seconds=61)
    assert list_claimed(space) == [("anna", "learning")]


def test_what_is_due_in_all_spaces_is_counted_also_while_somebody_is_at_it(
    backend: Backend, clock: Clock
) -> None:
    anna, space = backend.open("anna"), backend.open()
    assert space.work.count_due() == 0
    queue(anna)
    anna.schedules.add("ask", "every 1h", zone="UTC")
    backend.open("bob").schedules.add("ask", "every 2h", zone="UTC")
    assert space.work.count_due() == 0
    clock.pass_time(minutes=61)
    assert space.work.count_due() == 2
    clock.pass_time(hours=1)
    held = space.work.claim(3)
    assert space.work.count_due() == 3
    for one in held:
        space.work.finish(one, clock() + timedelta(minutes=5))
    assert space.work.count_due() == 0


def test_of_several_who_ask_each_gets_something_else_and_the_longest_due_first(
    backend: Backend, clock: Clock
) -> None:
    for name, minutes in (("anna", 30), ("bob", 20), ("carl", 25)):
        backend.open(name).schedules.add("ask", f"every {minutes}m", zone="UTC")
    clock.pass_time(hours=1)
    openers = [backend.open() for _ in range(4)]
    found = [[one.space for one in opener.work.claim()] for opener in openers]
    assert found == [["bob"], ["carl"], ["anna"], []]
    assert openers[0].work.claim() == []


def test_work_that_is_finished_is_due_again_when_it_was_said_and_not_before(
    backend: Backend, clock: Clock
) -> None:
    queue(backend.open("anna"))
    space = backend.open()
    space.work.claim()
    clock.pass_time(seconds=61)
    (work,) = space.work.claim()
    space.work.finish(work, clock() + timedelta(minutes=5))
    clock.pass_time(minutes=4)
    assert list_claimed(space) == []
    clock.pass_time(minutes=1)
    assert list_claimed(space) == [("anna", "learning")]


def test_work_of_which_nothing_is_left_comes_back_when_there_is_more(
    backend: Backend, clock: Clock
) -> None:
    anna, space = backend.open("anna"), backend.open()
    queue(anna)
    space.work.claim()
    clock.pass_time(seconds=61)
    (work,) = space.work.claim()
    batch = anna.learning.claim(KEY)
    assert batch
    anna.learning.complete(batch, [])
    space.work.finish(work)
    clock.pass_time(hours=5)
    assert list_claimed(space) == []
    queue(anna)
    space.work.claim()
    clock.pass_time(seconds=61)
    assert list_claimed(space) == [("anna", "learning")]


def test_what_is_added_while_somebody_is_at_it_is_not_overlooked(
    backend: Backend, clock: Clock
) -> None:
    anna, space = backend.open("anna"), backend.open()
    queue(anna)
    space.work.claim()
    clock.pass_time(seconds=61)
    (work,) = space.work.claim()
    queue(anna, "她喜歡魚")
    space.work.finish(work)
    space.work.claim()
    clock.pass_time(seconds=61)
    assert list_claimed(space) == [("anna", "learning")]


def test_a_run_that_was_made_makes_the_schedule_due_at_its_next_time(
    backend: Backend, clock: Clock
) -> None:
    anna, space = backend.open("anna"), backend.open()
    anna.schedules.add("ask", "every 15m", zone="UTC")
    clock.pass_time(minutes=15)
    (work,) = space.work.claim()
    ((schedule, run),) = anna.schedules.claim()
    anna.schedules.finish(schedule.id, run, result="好")
    space.work.finish(work, clock() + timedelta(seconds=30))
    clock.pass_time(minutes=14)
    assert list_claimed(space) == []
    clock.pass_time(minutes=1)
    assert list_claimed(space) == [("anna", "schedules")]


def test_whoever_closes_lets_go_of_what_it_held(backend: Backend, clock: Clock) -> None:
    backend.open("anna").schedules.add("ask", "every 15m", zone="UTC")
    clock.pass_time(minutes=15)
    first, second = backend.open(), backend.open()
    assert list_claimed(first) == [("anna", "schedules")]
    assert list_claimed(second) == []
    first.close()
    assert list_claimed(second) == [("anna", "schedules")]
