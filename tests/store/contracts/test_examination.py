"""The contract of `examine`: every store says how much it holds and what is wrong with it."""

from __future__ import annotations

from tests.clocks import Clock
from tests.store.contracts.conftest import Backend
from turnleaf.core.diagnosis import Examination, Retention
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.store.contracts import Stores

NAMES = [
    "memory", "daily log", "conversations", "schedules", "search index", "settings", "learning",
    "pending", "records",
]  # fmt: skip


def holds(found: Examination) -> dict[str, str]:
    return {row.name: row.holds for row in found.rows}


def test_every_store_has_its_row_and_a_new_space_has_no_problems(space: Stores) -> None:
    found = space.examine()
    assert [row.name for row in found.rows] == NAMES
    assert [store.examine().findings for store in space.list_examined()] == [()] * len(NAMES)
    assert found.retention == Retention(keeps_everything=True, days=None)
    assert found.place is not None
    assert found.place.location == space.location


def test_examining_makes_nothing(space: Stores) -> None:
    space.examine()
    stores = (space.facts, space.pending, space.conversations, space.learning)
    assert [store.exists() for store in stores] == [False] * 4


def test_a_space_that_can_be_read_and_written_is_ready_and_nothing_is_left_of_the_look(
    space: Stores,
) -> None:
    space.init()
    before = holds(space.examine())
    space.check_ready()
    assert holds(space.examine()) == before
    assert space.tidy() == []
    assert set(space.measure_pool()) in (
        set(),
        {
            "connections", "idle_connections", "max_connections", "waiting_requests",
            "requests_total", "failed_requests_total", "lost_connections_total",
        },
    )  # fmt: skip


def test_what_is_there_is_counted_also_by_another_program(backend: Backend, space: Stores) -> None:
    space.facts.add("客廳的燈叫做小明")
    space.pending.add("lamp")
    space.daily.append("a note")
    space.conversations.add_exchange("cli:a", "b", "c")
    space.schedules.pause(space.schedules.add("ask", "every 15m").id)
    space.learning.enqueue("cli:a", [Queued(Message("user", "b"))])
    space.records.put("a", "b", b"c")
    counted = holds(backend.open().examine())
    assert counted["memory"] == "1 fact, 8 characters"
    assert counted["pending"] == "1 fact, 4 characters"
    assert counted["daily log"] == "1 day"
    assert counted["conversations"].startswith("1 conversation, 2 messages, oldest 2026-03-01")
    assert counted["schedules"] == "1 schedule, 1 of them paused"
    assert counted["learning"] == "1 message to learn from"
    assert counted["records"] == "1 record"


def test_a_schedule_that_nobody_runs_is_a_problem(space: Stores, clock: Clock) -> None:
    space.schedules.add("ask", "every 15m", name="每日提問")
    assert space.schedules.examine().findings == ()
    clock.pass_time(minutes=17)
    (problem,) = space.schedules.examine().findings
    assert problem.level == "warning"
    assert problem.message.startswith("the schedule 每日提問 has been due since 2026-03-01T12:15")


def test_what_learning_did_today_and_could_not_do_is_told(space: Stores, clock: Clock) -> None:
    space.learning.enqueue("cli:a", [Queued(Message("user", "b"))])
    space.learning.keep_json_format("http://a", "b", "schema")
    today = clock().astimezone().date()
    space.learning.count_skipped(2, today)
    figures = space.learning.examine().learning
    assert figures is not None
    assert (figures.skipped, figures.last_error) == (2, None)
    assert figures.json_formats == {("http://a", "b"): "schema"}
    clock.pass_time(days=1)
    tomorrow = space.learning.examine().learning
    assert tomorrow is not None
    assert tomorrow.skipped == 0


def test_how_long_messages_are_kept_is_told(space: Stores) -> None:
    space.config.change({"conversationKeepDays": 30})
    assert space.settings.conversation_keep_days == 30
    assert space.conversations.examine().retention == Retention(keeps_everything=True, days=30)
