"""The contract of `Schedules`: each run that is due is made by one, and none is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.clocks import Clock
from tests.store.contracts.conftest import Backend
from tests.store.contracts.together import do_at_once
from turnleaf.core.schedules import GRACE, KEPT_RUNS, LEASE, MOST_ATTEMPTS, RESULT_CHARS
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.store.contracts import Schedules

START = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PROMPT = "早安，今天有什麼事？"
MAX_SCHEDULES = 200


@pytest.fixture(autouse=True)
def morning(clock: Clock) -> None:
    clock.now = START


@pytest.fixture
def open_schedules(backend: Backend) -> Callable[[], Schedules]:
    return lambda: backend.open().schedules


@pytest.fixture
def store(open_schedules: Callable[[], Schedules]) -> Schedules:
    return open_schedules()


def states(store: Schedules, schedule_id: str) -> list[str]:
    return [run.state for run in store.get(schedule_id).runs]


def test_a_schedule_is_kept_with_the_time_that_it_is_due(
    open_schedules: Callable[[], Schedules], store: Schedules
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="Asia/Taipei", name="早安")
    assert store.get_all() == open_schedules().get_all() == [made]
    assert open_schedules().get(made.id) == made
    assert made.next_due == datetime(2026, 11, 17, 1, tzinfo=UTC)
    assert (made.prompt, made.timing, made.zone) == (PROMPT, "0 9 * * *", "Asia/Taipei")
    assert (made.created_at, made.updated_at) == (START, START)
    assert (made.deliver, made.is_paused, made.runs) == ("log", False, ())


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "  "},
        {"prompt": "a\0b"},
        {"prompt": "\ud800"},
        {"name": "a\0b"},
        {"deliver": "slack:\ud800"},
        {"timing": "\ud800"},
        {"timing": "soon"},
        {"zone": "Mars/Olympus"},
        {"deliver": "mail"},
        {"deliver": "slack:"},
        {"deliver": "file:../x.md"},
        {"deliver": "file:.x.md"},
        {"deliver": f"file:{'字' * 90}.md"},
        {"timing": "2020-01-01 09:00"},
        {"timing": ""},
        {"zone": ""},
        {"prompt": "長" * 20_001},
        {"name": "長" * 101},
    ],
)
def test_what_cannot_be_taken_is_refused_and_changes_nothing(
    store: Schedules, change: dict[str, Any]
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    with pytest.raises(InvalidInput):
        store.update(made.id, **change)
    with pytest.raises(InvalidInput):
        store.add(**({"prompt": PROMPT, "timing": "every 1h", "zone": "UTC"} | change))
    assert store.get_all() == [made]


def test_there_is_room_for_so_many_and_no_more(store: Schedules) -> None:
    made = [store.add(PROMPT, "every 1h", zone="UTC") for _ in range(MAX_SCHEDULES)]
    with pytest.raises(InvalidInput, match="remove some first"):
        store.add(PROMPT, "every 1h", zone="UTC")
    assert store.get_all() == made
    store.remove(made[0].id)
    assert store.add(PROMPT, "every 1h", zone="UTC").id not in {one.id for one in made}


def test_what_runs_said_can_be_erased_and_that_they_were_made_stays(store: Schedules) -> None:
    first, second = (store.add(PROMPT, "every 1h", zone="UTC").id for _ in range(2))
    for one in (first, second):
        for said in ({"result": "燈叫做小明"}, {"error": "小明壞了"}):
            store.finish(one, store.begin(one)[1], **said)
    assert store.erase(f"schedule:{second}") == 1
    other, erased = (one.runs for one in store.get_all())
    assert [(run.state, run.result, run.error) for run in erased] == [
        ("done", None, None),
        ("failed", None, None),
    ]
    assert [run.result or run.error for run in other] == ["燈叫做小明", "小明壞了"]
    before = store.get_all()
    assert store.erase(f"schedule:{second}") == store.erase("cli:session-1") == 0
    assert store.get_all() == before


def test_a_run_that_is_under_way_when_it_is_erased_leaves_no_result(store: Schedules) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    _, run = store.begin(made.id)
    store.erase(f"schedule:{made.id}")
    assert not store.hold(made.id, run)
    assert not store.finish(made.id, run, result="燈叫做小明")
    (kept,) = store.get(made.id).runs
    assert (kept.state, kept.result, kept.error) == (
        "interrupted",
        None,
        "its conversation was erased",
    )


def test_there_is_nothing_before_the_first(store: Schedules) -> None:
    assert store.get_all() == []
    assert store.claim() == []
    assert store.erase("schedule:s") == 0
    store.init()
    assert store.get_all() == []
    assert str(store.location)


def test_what_is_not_there_is_not_found(store: Schedules) -> None:
    _, run = store.begin(store.add(PROMPT, "every 1h", zone="UTC").id)
    attempts: list[Callable[[], object]] = [
        lambda: store.get("nobody"),
        lambda: store.update("nobody", name="x"),
        lambda: store.pause("nobody"),
        lambda: store.resume("nobody"),
        lambda: store.remove("nobody"),
        lambda: store.begin("nobody"),
    ]
    for attempt in attempts:
        with pytest.raises(NotFound, match="there is no schedule 'nobody'"):
            attempt()
    assert not store.hold("nobody", run)
    assert not store.give_back("nobody", run)
    assert not store.finish("nobody", run)


def test_schedules_stand_in_the_order_in_which_they_were_made_whatever_is_done_to_them(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    made = []
    for number in range(4):
        made.append(open_schedules().add(f"ask {number}", "every 1h", zone="UTC").id)
        clock.pass_time(seconds=-1)
    open_schedules().update(made[1], prompt="ask something else")
    open_schedules().begin(made[0])
    assert [one.id for one in open_schedules().get_all()] == made
    assert len(set(made)) == 4


def test_of_several_who_claim_at_once_each_run_is_one_s(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    stores = [open_schedules() for _ in range(3)]
    made = {stores[0].add(PROMPT, "every 1h", zone="UTC").id for _ in range(4)}
    clock.pass_time(hours=1)
    got = do_at_once(lambda store: [one.id for one, _ in store.claim()], stores)
    taken = [one for several in got for one in several]
    assert len(taken) == 4
    assert set(taken) == made


def test_of_several_who_begin_one_at_once_one_does(open_schedules: Callable[[], Schedules]) -> None:
    stores = [open_schedules() for _ in range(3)]
    made = stores[0].add(PROMPT, "every 1h", zone="UTC")

    def begin(store: Schedules) -> bool:
        try:
            store.begin(made.id)
        except Conflict:
            return False
        return True

    assert do_at_once(begin, stores).count(True) == 1
    assert len(stores[0].get(made.id).runs) == 1


def test_a_run_is_held_for_its_lease_and_every_sign_of_life_renews_it(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    first, second = open_schedules(), open_schedules()
    made = first.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = first.claim()
    assert run.held_until == clock.now + LEASE
    clock.pass_time(seconds=LEASE.total_seconds() - 1)
    assert second.claim() == []
    assert first.hold(made.id, run)
    clock.pass_time(seconds=LEASE.total_seconds() - 1)
    assert second.claim() == []
    clock.pass_time(seconds=1)
    assert len(second.claim()) == 1


def test_who_lost_the_lease_and_was_not_replaced_finishes_all_the_same(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    _, run = store.begin(made.id)
    clock.pass_time(seconds=2 * LEASE.total_seconds())
    assert store.finish(made.id, run, result="late")
    assert not store.finish(made.id, run, result="twice")
    assert [one.result for one in store.get(made.id).runs] == ["late"]


def test_of_a_long_result_the_beginning_is_kept(store: Schedules) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    store.finish(made.id, store.begin(made.id)[1], result="長" * (RESULT_CHARS + 1))
    store.finish(made.id, store.begin(made.id)[1], error="x" * (RESULT_CHARS + 1))
    results = [run.result or run.error for run in store.get(made.id).runs]
    assert results == ["長" * RESULT_CHARS, "x" * RESULT_CHARS]


def test_an_address_for_results_is_kept_and_decides_who_claims(
    store: Schedules, clock: Clock
) -> None:
    for deliver in ("log", "slack:C012AB3CD", "file:每日 新聞.md"):
        assert store.add(PROMPT, "every 1h", zone="UTC", deliver=deliver).deliver == deliver
    clock.pass_time(hours=1)
    assert [one.deliver for one, _ in store.claim(["file"])] == ["file:每日 新聞.md"]
    assert [one.deliver for one, _ in store.claim(["slack", "log"], most=1)] == ["log"]
    assert [one.deliver for one, _ in store.claim()] == ["slack:C012AB3CD"]


def test_nothing_is_due_before_its_time_and_one_run_at_it(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=14, seconds=59)
    assert store.claim() == []
    clock.pass_time(seconds=1)
    ((schedule, run),) = store.claim()
    assert (schedule.id, run.due) == (made.id, clock.now)
    assert store.claim() == []
    assert store.finish(made.id, run, result="沒事")
    (kept,) = store.get(made.id).runs
    assert (kept.state, kept.result, kept.id) == ("done", "沒事", run.id)


def test_a_run_that_is_under_way_is_not_overtaken_by_the_next(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 1m", zone="UTC")
    clock.pass_time(minutes=1)
    ((_, run),) = store.claim()
    for _ in range(5):
        clock.pass_time(minutes=1)
        assert store.hold(made.id, run)
        assert store.claim() == []
    store.finish(made.id, run)
    ((_, following),) = store.claim()
    assert following.due == clock.now


def test_of_several_missed_runs_the_last_is_made_up_for(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(hours=30, minutes=7)
    ((_, run),) = store.claim()
    assert run.due == START + timedelta(hours=30)
    store.finish(made.id, run)
    assert store.claim() == []
    assert store.get(made.id).next_due == START + timedelta(hours=30, minutes=15)


def test_what_was_missed_too_long_ago_is_marked_and_left(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.now = datetime(2026, 11, 16, 9, tzinfo=UTC) + GRACE + timedelta(seconds=1)
    assert store.claim() == []
    assert states(store, made.id) == ["missed"]
    assert store.get(made.id).next_due == datetime(2026, 11, 17, 9, tzinfo=UTC)


def test_a_missed_run_within_the_grace_is_made_once(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.now = datetime(2026, 11, 16, 9, tzinfo=UTC) + GRACE
    ((_, run),) = store.claim()
    store.finish(made.id, run)
    assert store.claim() == []
    assert states(store, made.id) == ["done"]


def test_one_moment_is_run_once_and_stays_on_record(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="Asia/Taipei")
    clock.pass_time(hours=4)
    ((_, run),) = store.claim()
    store.finish(made.id, run, result="ok")
    clock.pass_time(days=400)
    assert store.claim() == []
    assert store.get(made.id).next_due is None
    assert states(store, made.id) == ["done"]


def test_a_run_without_a_sign_of_life_is_tried_again_under_its_id(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    first, second = open_schedules(), open_schedules()
    made = first.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = first.claim()
    clock.pass_time(seconds=LEASE.total_seconds())
    ((_, again),) = second.claim()
    assert (again.id, again.attempts, again.error) == (run.id, 2, "interrupted")
    assert not first.hold(made.id, run)
    assert not first.finish(made.id, run, result="too late")
    assert second.finish(made.id, again, result="好")
    assert [one.result for one in second.get(made.id).runs] == ["好"]


def test_a_run_that_is_interrupted_again_and_again_is_given_up(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    made = open_schedules().add(PROMPT, "every 1d", zone="UTC")
    clock.pass_time(days=1)
    for _ in range(MOST_ATTEMPTS):
        assert len(open_schedules().claim()) == 1
        clock.pass_time(seconds=LEASE.total_seconds())
    assert open_schedules().claim() == []
    (run,) = open_schedules().get(made.id).runs
    assert run.state == "interrupted"
    assert "3 times" in (run.error or "")


def test_who_waited_longest_is_first_where_there_is_no_room_for_all(
    store: Schedules, clock: Clock
) -> None:
    made = [store.add(PROMPT, "every 1m", zone="UTC").id for _ in range(3)]
    order = []
    for _ in range(6):
        clock.pass_time(minutes=1)
        ((schedule, run),) = store.claim(most=1)
        store.finish(schedule.id, run)
        order.append(schedule.id)
    assert order == made * 2


def test_none_is_always_first_of_those_that_wait_equally_long(
    store: Schedules, clock: Clock
) -> None:
    made = [store.add(PROMPT, "every 1m", zone="UTC").id for _ in range(2)]
    first = []
    for _ in range(30):
        clock.pass_time(minutes=1)
        runs = store.claim()
        first.append(runs[0][0].id)
        for schedule, run in runs:
            store.finish(schedule.id, run)
    assert set(first) == set(made)


def test_what_was_missed_is_marked_although_there_is_no_room(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.pass_time(hours=1)
    assert store.claim(most=0) == []
    assert states(store, made.id) == []
    clock.pass_time(seconds=GRACE.total_seconds() + 1)
    assert store.claim(most=0) == []
    assert states(store, made.id) == ["missed"]


def test_whoever_read_the_clock_a_little_earlier_takes_no_run_from_its_holder(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    open_schedules().add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1, seconds=1)
    assert len(open_schedules().claim()) == 1
    clock.pass_time(seconds=-1)
    assert open_schedules().claim() == []


def test_a_run_that_failed_says_why(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = store.claim()
    store.finish(made.id, run, error="the model did not answer")
    (kept,) = store.get(made.id).runs
    assert (kept.state, kept.error) == ("failed", "the model did not answer")


def test_a_paused_schedule_rests_and_makes_up_for_nothing(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    store.pause(made.id)
    clock.pass_time(hours=1)
    assert store.claim() == []
    store.resume(made.id)
    assert store.claim() == []
    clock.pass_time(minutes=15)
    assert len(store.claim()) == 1


def test_a_paused_schedule_tries_nothing_again(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    made = open_schedules().add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=15)
    ((_, run),) = open_schedules().claim()
    open_schedules().pause(made.id)
    clock.pass_time(seconds=LEASE.total_seconds())
    assert open_schedules().claim() == []
    open_schedules().resume(made.id)
    ((_, again),) = open_schedules().claim()
    assert again.id == run.id


def test_to_resume_what_does_not_rest_skips_nothing(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 15m", zone="UTC")
    clock.pass_time(minutes=16)
    store.resume(made.id)
    assert len(store.claim()) == 1


def test_a_moment_that_passed_meanwhile_cannot_be_resumed(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    store.pause(made.id)
    clock.pass_time(days=1)
    with pytest.raises(InvalidInput, match="choose another time"):
        store.resume(made.id)
    store.update(made.id, timing="2026-11-18 20:00")
    assert not store.resume(made.id).is_paused


def test_a_moment_that_is_over_cannot_be_resumed(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    clock.pass_time(hours=12)
    ((_, run),) = store.claim()
    store.finish(made.id, run)
    with pytest.raises(InvalidInput, match="choose another time"):
        store.resume(made.id)
    assert store.update(made.id, name="晚安").name == "晚安"


def test_a_moment_moves_with_its_zone(store: Schedules) -> None:
    made = store.add(PROMPT, "2026-12-24 18:00", zone="Asia/Taipei")
    assert made.next_due == datetime(2026, 12, 24, 10, tzinfo=UTC)
    moved = store.update(made.id, zone="Europe/Vienna")
    assert moved.next_due == datetime(2026, 12, 24, 17, tzinfo=UTC)


def test_a_schedule_can_be_run_at_once_and_not_twice_at_a_time(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    due = made.next_due
    _, run = store.begin(made.id)
    with pytest.raises(Conflict, match="already running"):
        store.begin(made.id)
    store.finish(made.id, run, result="now")
    assert store.get(made.id).next_due == due


def test_to_run_at_once_ends_what_was_interrupted_before(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    made = open_schedules().add(PROMPT, "every 1h", zone="UTC")
    open_schedules().begin(made.id)
    clock.pass_time(seconds=LEASE.total_seconds())
    store = open_schedules()
    _, run = store.begin(made.id)
    store.finish(made.id, run)
    assert states(store, made.id) == ["interrupted", "done"]
    assert store.claim() == []


def test_a_run_that_is_given_back_is_tried_by_another_at_once(
    open_schedules: Callable[[], Schedules], clock: Clock
) -> None:
    first, second = open_schedules(), open_schedules()
    made = first.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, run),) = first.claim()
    assert first.give_back(made.id, run)
    assert states(first, made.id) == ["interrupted"]
    ((_, again),) = second.claim()
    assert (again.id, again.attempts, again.started_at) == (run.id, 2, run.started_at)
    assert not first.give_back(made.id, run)
    assert not first.finish(made.id, run, result="too late")


def test_the_same_process_is_not_taken_for_its_own_later_attempt(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    clock.pass_time(hours=1)
    ((_, slept),) = store.claim()
    clock.pass_time(seconds=LEASE.total_seconds())
    ((_, again),) = store.claim()
    assert not store.hold(made.id, slept)
    assert not store.finish(made.id, slept, result="late")
    assert store.finish(made.id, again, result="好")


def test_a_run_of_a_removed_schedule_has_no_holder(store: Schedules) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    _, run = store.begin(made.id)
    store.remove(made.id)
    assert not store.hold(made.id, run)
    assert not store.finish(made.id, run, result="ok")
    assert store.get_all() == []


def test_what_cannot_be_delivered_here_is_left_to_others_until_it_is_too_late(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC", deliver="slack:C012AB3CD")
    clock.pass_time(hours=1)
    assert store.claim(["log", "file"]) == []
    assert store.get(made.id).next_due == clock.now
    clock.pass_time(seconds=GRACE.total_seconds() + 1)
    assert store.claim(["log", "file"]) == []
    (run,) = store.get(made.id).runs
    assert (run.state, run.due) == ("missed", START + timedelta(hours=1))
    assert "no program" in (run.error or "")
    assert store.get(made.id).next_due == datetime(2026, 11, 17, 9, tzinfo=UTC)


def test_an_edit_that_cannot_be_made_whole_is_not_made_in_part(
    store: Schedules, clock: Clock
) -> None:
    made = store.add(PROMPT, "2026-11-16 20:00", zone="UTC")
    resting = store.pause(made.id)
    clock.pass_time(days=1)
    with pytest.raises(InvalidInput):
        store.update(made.id, name="晚安", is_paused=False)
    assert store.get(made.id) == resting


def test_an_empty_name_takes_the_name_away(store: Schedules) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC", name=" 早  安\n")
    assert made.name == "早 安"
    assert store.update(made.id, prompt="吃什麼？").name == "早 安"
    assert store.update(made.id, name="").name is None


def test_an_edit_changes_what_is_given_and_times_it_anew(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "0 9 * * *", zone="UTC")
    clock.pass_time(minutes=1)
    edited = store.update(made.id, timing="0 12 * * *", prompt="吃什麼？", deliver="file:lunch.md")
    assert edited.next_due == datetime(2026, 11, 16, 12, tzinfo=UTC)
    assert (edited.prompt, edited.deliver, edited.name) == ("吃什麼？", "file:lunch.md", None)
    assert edited.updated_at == clock.now
    assert store.update(made.id, name="午餐").next_due == edited.next_due
    moved = store.update(made.id, zone="Asia/Taipei")
    assert moved.next_due == datetime(2026, 11, 17, 4, tzinfo=UTC)


def test_a_removed_schedule_is_gone(store: Schedules) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    assert store.remove(made.id) == made
    assert store.get_all() == []
    with pytest.raises(NotFound, match="schedule list"):
        store.remove(made.id)


def test_only_the_newest_runs_are_kept(store: Schedules, clock: Clock) -> None:
    made = store.add(PROMPT, "every 1m", zone="UTC")
    for number in range(KEPT_RUNS + 5):
        clock.pass_time(minutes=1)
        ((_, run),) = store.claim()
        store.finish(made.id, run, result=str(number))
    runs = store.get(made.id).runs
    assert [run.result for run in runs] == [str(number) for number in range(5, KEPT_RUNS + 5)]


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of a character", "兩行\n\u2028🙂"])
def test_any_text_that_a_run_leaves_can_be_read_again(
    open_schedules: Callable[[], Schedules], store: Schedules, text: str
) -> None:
    made = store.add(PROMPT, "every 1h", zone="UTC")
    assert store.finish(made.id, store.begin(made.id)[1], result=text)
    assert store.finish(made.id, store.begin(made.id)[1], error=text)
    kept = [run.result or run.error for run in open_schedules().get(made.id).runs]
    assert kept == [text.replace("\ud83d", "?")] * 2


def test_a_prompt_and_a_timing_are_kept_without_needless_space(store: Schedules) -> None:
    made = store.add(" 早安\n", " every  1h ", zone="UTC")
    assert (made.prompt, made.timing) == ("早安", "every 1h")


def test_what_a_run_brought_is_added_to_the_results_of_a_name_once(
    open_schedules: Callable[[], Schedules], store: Schedules
) -> None:
    assert store.read_results("燈.md") == ""
    made = store.add(PROMPT, "every 15m", deliver="file:燈.md")
    _, first = store.begin(made.id)
    for each in (store, open_schedules()):
        each.add_result("燈.md", first, f"{first.id}: 小明。")
    assert store.finish(made.id, first)
    _, second = open_schedules().begin(made.id)
    store.add_result("燈.md", second, f"{second.id}: Ming.")
    assert open_schedules().read_results("燈.md") == f"{first.id}: 小明。\n\n{second.id}: Ming.\n\n"
    assert store.read_results("other.md") == ""
