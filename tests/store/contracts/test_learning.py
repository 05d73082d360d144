"""The contract of `LearningQueue`: nothing is lost, nothing is learned from twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from tests.decisions import decide
from tests.store.contracts.conftest import START, Backend
from tests.store.contracts.together import do_at_once
from turnleaf.core.learning.queue import (
    LEASE_SECONDS,
    Batch,
    Decision,
    LearningProblem,
    Outgoing,
    Queued,
    Sighting,
    Unread,
)
from turnleaf.core.messages import Message
from turnleaf.errors import InvalidInput
from turnleaf.store.contracts import LearningQueue

DAY = date(2026, 3, 1)
KEY = "cli:session-1"
OTHER = "slack:1.2"
MONTH_SECONDS = 30 * 24 * 3600


class QueueBackend:
    """A backend whose queue is opened at one moment after another."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.clock = backend.clock

    def open(self) -> LearningQueue:
        return self._backend.open().learning

    def pass_time(self, seconds: float) -> None:
        self.clock.pass_time(seconds=seconds)


@pytest.fixture
def place(backend: Backend) -> QueueBackend:
    return QueueBackend(backend)


@pytest.fixture
def store(place: QueueBackend) -> LearningQueue:
    return place.open()


# The queue


def make_queued(*texts: str) -> list[Queued]:
    return [Queued(Message("user", text, START)) for text in texts]


def claim_batch(store: LearningQueue, key: str = KEY) -> Batch:
    batch = store.claim(key)
    assert batch is not None
    return batch


def list_texts(batch: Batch) -> list[str]:
    return [one.message.text for one in batch.messages]


def complete(store: LearningQueue, *decisions: Decision, key: str = KEY) -> None:
    assert store.complete(claim_batch(store, key), decisions)


def test_what_comes_in_while_rules_read_is_not_taken_before_they_have_read_it(
    store: LearningQueue,
) -> None:
    store.enqueue(KEY, make_queued("first"))
    read = store.claim(KEY, read=False)
    assert read is not None
    store.enqueue(KEY, make_queued("second"))
    store.complete_reading(read, [])
    taken = store.claim(KEY, read=True)
    assert taken is not None
    assert list_texts(taken) == ["first"]
    store.complete(taken, [])
    assert [one.message.text for one in store.list_queued(KEY)] == ["second"]


def test_nobody_is_due_while_a_model_is_still_answering(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("a", "b", "c", "d"))
    assert store.is_due(KEY, interval_seconds=60, min_messages=4)
    assert store.claim(KEY) is not None
    assert not store.is_due(KEY, interval_seconds=60, min_messages=4)


def test_a_new_store_is_empty(store: LearningQueue) -> None:
    assert store.count_queued(KEY) == 0
    assert store.backlog() == {}
    assert store.claim(KEY) is None
    assert store.outbox() == []
    assert store.last_error() is None
    assert store.count_calls(DAY) == {}


def test_messages_wait_in_their_order_also_after_a_restart(place: QueueBackend) -> None:
    place.open().enqueue(KEY, make_queued("客廳的燈叫做小明", "and the hall?"))
    place.open().enqueue(KEY, make_queued("third"))
    assert place.open().count_queued(KEY) == 3
    assert list_texts(claim_batch(place.open())) == ["客廳的燈叫做小明", "and the hall?", "third"]


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    "queued",
    [
        Queued(Message("user", "記住：貓叫咪咪", START), saved=("a", "b"), is_settled=True),
        Queued(Message("tool", "72°F", START, tool_call_id="a"), "tool", "tool:fetch"),
        Queued(Message("user", "…", START), "document", "document:筆記.md"),
        Queued(Message("user", [{"type": "text", "text": "x"}]), "stranger"),
        Queued(Message("assistant", None, START, tool_calls=[CALL]), "assistant"),
        Queued(Message("user", "a\0b \ud800"), source="document:\udcff.md"),
    ],
)
def test_all_that_is_known_of_a_message_comes_back(place: QueueBackend, queued: Queued) -> None:
    place.open().enqueue(KEY, [queued])
    assert claim_batch(place.open()).messages == (queued,)


def test_conversations_wait_each_for_itself(store: LearningQueue) -> None:
    store.enqueue(OTHER, make_queued("first"))
    store.enqueue(KEY, make_queued("second", "third"))
    assert store.backlog() == {OTHER: 1, KEY: 2}
    complete(store)
    assert store.backlog() == {OTHER: 1}


def test_no_messages_are_nothing_that_waits(store: LearningQueue) -> None:
    store.enqueue(KEY, [])
    assert store.backlog() == {}


@pytest.mark.parametrize("key", ["", "  ", "a\n", "\ud800", "x" * 513])
def test_what_is_no_name_is_refused(store: LearningQueue, key: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: store.enqueue(key, make_queued("x")),
        lambda: store.count_queued(key),
        lambda: store.is_due(key, interval_seconds=0, min_messages=0),
        lambda: store.claim(key),
        lambda: store.begin_flush(key),
        lambda: store.end_flush(key, succeeded=True),
        lambda: store.end_cycle(key),
        lambda: store.unqueue(key, [START]),
        lambda: store.erase(key),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="a conversation"):
            attempt()


def test_an_unknown_trust_is_refused_and_nothing_is_queued(store: LearningQueue) -> None:
    mixed = [*make_queued("good"), Queued(Message("user", "bad"), trust="friend")]
    with pytest.raises(InvalidInput, match="one of user, tool, document, stranger, assistant"):
        store.enqueue(KEY, mixed)
    assert store.count_queued(KEY) == 0


def test_what_json_cannot_hold_is_refused_and_nothing_changes(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    batch = claim_batch(store)
    with pytest.raises(InvalidInput, match="use plain values"):
        store.complete(batch, [decide("fine"), decide("odd", source={1})])
    assert store.outbox() == []
    assert store.complete(batch, [decide("fine")])


# When it is due


def is_due(store: LearningQueue, key: str = KEY) -> bool:
    return store.is_due(key, interval_seconds=60, min_messages=4)


def test_an_extraction_is_due_by_messages_and_time_since_the_last_of_its_conversation(
    place: QueueBackend,
) -> None:
    place.open().enqueue(KEY, make_queued("1", "2", "3"))
    assert not is_due(place.open())
    place.open().enqueue(KEY, make_queued("4"))
    assert is_due(place.open())
    complete(place.open())
    place.open().enqueue(KEY, make_queued("5", "6", "7", "8"))
    place.open().enqueue(OTHER, make_queued("1", "2", "3", "4"))
    place.pass_time(59)
    assert not is_due(place.open())
    assert is_due(place.open(), OTHER)
    place.pass_time(1)
    assert is_due(place.open())
    complete(place.open())
    place.open().enqueue(KEY, make_queued("9", "10", "11", "12"))
    assert not is_due(place.open())


# Claiming and completing


def test_what_one_holds_no_other_gets_until_the_lease_is_over(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    store.enqueue(OTHER, make_queued("another"))
    claim_batch(store)
    assert place.open().claim(KEY) is None
    assert list_texts(claim_batch(place.open(), OTHER)) == ["another"]
    place.pass_time(LEASE_SECONDS - 1)
    assert place.open().claim(KEY) is None
    place.pass_time(1)
    assert list_texts(claim_batch(place.open())) == ["one"]


def test_what_is_held_still_waits(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    claim_batch(store)
    assert store.count_queued(KEY) == 1


def test_what_came_after_the_claim_is_not_completed_with_it(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("before"))
    batch = claim_batch(store)
    store.enqueue(KEY, make_queued("after"))
    assert store.claim(KEY) is None
    assert store.complete(batch, [])
    assert list_texts(claim_batch(store)) == ["after"]


def test_who_lost_the_lease_completes_nothing(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    late = claim_batch(store)
    place.pass_time(LEASE_SECONDS)
    now = claim_batch(store)
    assert not store.complete(late, [decide("late")])
    store.release(late, "late")
    assert store.last_error() is None
    assert store.claim(KEY) is None
    assert store.complete(now, [decide("now")])
    assert not store.complete(late, [decide("late")])
    assert [one.decision for one in store.outbox()] == [decide("now")]


def test_who_is_late_but_was_not_replaced_completes_all_the_same(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    batch = claim_batch(store)
    place.pass_time(LEASE_SECONDS * 10)
    assert store.complete(batch, [decide("one")])


def test_a_batch_is_completed_once(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    batch = claim_batch(store)
    assert store.complete(batch, [decide("one")])
    assert not store.complete(batch, [decide("one")])
    assert len(store.outbox()) == 1


def test_what_is_released_waits_again_and_the_error_is_kept(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    store.release(claim_batch(store), "the model gave no JSON \ud800")
    assert place.open().last_error() == LearningProblem(START, KEY, "the model gave no JSON \ud800")
    place.pass_time(5)
    store.release(claim_batch(store), "again")
    assert store.last_error() == LearningProblem(place.clock.now, KEY, "again")
    assert list_texts(claim_batch(store)) == ["one"]


def test_after_a_failure_the_next_extraction_waits_its_time(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one", "two"))
    store.release(claim_batch(store), "no answer")
    assert not store.is_due(KEY, interval_seconds=60, min_messages=1)
    place.pass_time(60)
    assert store.is_due(KEY, interval_seconds=60, min_messages=1)


def test_a_completed_extraction_of_any_conversation_clears_the_error(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    store.enqueue(OTHER, make_queued("two"))
    store.release(claim_batch(store), "no answer")
    complete(store, key=OTHER)
    assert store.last_error() is None


# What was cut off


def cut_off(place: QueueBackend, key: str = KEY) -> list[str]:
    """Take what waits and come to no end with it; return what that was."""
    taken = list_texts(claim_batch(place.open(), key))
    place.pass_time(LEASE_SECONDS)
    return taken


def test_after_a_cut_messages_are_taken_one_by_one_and_later_ones_together(
    place: QueueBackend,
) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    assert cut_off(place) == ["一", "二"]
    store.enqueue(KEY, make_queued("三", "四"))
    taken = []
    for _ in range(3):
        batch = claim_batch(store)
        taken.append((list_texts(batch), batch.has_more))
        assert store.complete(batch, [])
    assert taken == [(["一"], True), (["二"], True), (["三", "四"], False)]
    assert store.set_aside() == []


def test_a_single_message_is_tried_again_after_one_cut_and_not_after_two(
    place: QueueBackend,
) -> None:
    place.open().enqueue(KEY, make_queued("一"))
    assert [cut_off(place), cut_off(place)] == [["一"], ["一"]]
    assert place.open().claim(KEY) is None
    assert len(place.open().set_aside()) == 1


def test_what_the_user_asked_to_forget_is_known_to_each_attempt(place: QueueBackend) -> None:
    store = place.open()
    wish = Queued(Message("user", "forget that", START), is_settled=True)
    store.enqueue(KEY, [*make_queued("一", "二"), wish])
    cut_off(place)
    for text in ("一", "二"):
        batch = claim_batch(store)
        assert list_texts(batch) == [text, "forget that"]
        assert store.complete(batch, [])
    cut_off(place)
    assert list_texts(claim_batch(store)) == ["forget that"]


def test_a_failure_that_was_told_and_an_end_in_order_do_not_count(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    for _ in range(3):
        store.release(claim_batch(store), "no answer")
        assert list_texts(claim_batch(store)) == ["一", "二"]
        store.close()


def test_a_program_that_hung_counts_although_it_ends_in_order(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    claim_batch(store)
    place.pass_time(LEASE_SECONDS)
    store.close()
    assert list_texts(claim_batch(store)) == ["一"]


# The outbox


def test_decisions_are_given_until_they_are_settled(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    complete(store, decide("貓叫咪咪"), decide("dog"))
    first, second = place.open().outbox()
    assert first == Outgoing(first.id, KEY, decide("貓叫咪咪"), None)
    assert first.id != second.id
    store.postpone(first.id, "memory is full")
    store.settle(second.id)
    assert place.open().outbox() == [Outgoing(first.id, KEY, decide("貓叫咪咪"), "memory is full")]
    store.settle(first.id)
    store.settle(first.id)
    assert place.open().outbox() == []


def test_ids_in_the_outbox_are_never_used_again(store: LearningQueue) -> None:
    seen = set()
    for _ in range(3):
        store.enqueue(KEY, make_queued("one"))
        complete(store, decide("x"))
        (only,) = store.outbox()
        seen.add(only.id)
        store.settle(only.id)
    assert len(seen) == 3


# Flushing


def test_a_cycle_is_flushed_once_and_again_when_it_ended(place: QueueBackend) -> None:
    assert place.open().begin_flush(KEY)
    assert not place.open().begin_flush(KEY)
    assert place.open().begin_flush(OTHER)
    place.open().end_flush(KEY, succeeded=True)
    place.pass_time(LEASE_SECONDS * 10)
    assert not place.open().begin_flush(KEY)
    place.open().end_cycle(KEY)
    assert place.open().begin_flush(KEY)


def test_a_failed_flush_is_tried_again(place: QueueBackend) -> None:
    assert place.open().begin_flush(KEY)
    place.open().end_flush(KEY, succeeded=False)
    assert place.open().begin_flush(KEY)


def test_a_flush_of_a_process_that_died_is_tried_again(place: QueueBackend) -> None:
    assert place.open().begin_flush(KEY)
    place.pass_time(LEASE_SECONDS)
    assert place.open().begin_flush(KEY)


def test_flushing_does_not_change_when_the_last_extraction_was(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("1", "2", "3", "4"))
    complete(store)
    store.enqueue(KEY, make_queued("1", "2", "3", "4"))
    store.begin_flush(KEY)
    store.end_flush(KEY, succeeded=True)
    store.end_cycle(KEY)
    assert not is_due(store)


# Spending


def test_calls_are_counted_by_day_and_model_up_to_the_cap_of_all(place: QueueBackend) -> None:
    tomorrow = DAY + timedelta(days=1)
    assert place.open().spend("claude-cli:haiku", cap=3, day=DAY)
    assert place.open().spend("claude-cli:haiku", cap=3, day=DAY)
    assert place.open().spend("ollama:模型", cap=3, day=DAY)
    assert not place.open().spend("ollama:模型", cap=3, day=DAY)
    assert place.open().count_calls(DAY) == {"claude-cli:haiku": 2, "ollama:模型": 1}
    assert place.open().spend("ollama:模型", cap=3, day=tomorrow)
    assert place.open().count_calls(tomorrow) == {"ollama:模型": 1}


def test_a_cap_of_nothing_allows_nothing(store: LearningQueue) -> None:
    assert not store.spend("x", cap=0, day=DAY)
    assert store.count_calls(DAY) == {}


# Erasing and withdrawing


def test_what_another_conversation_took_from_an_erased_one_goes_too(store: LearningQueue) -> None:
    store.enqueue(OTHER, make_queued("…"))
    taken = decide("x", KEY)
    named = decide(KEY, OTHER)
    complete(store, taken, named, key=OTHER)
    assert store.erase(KEY) == 1
    assert [one.decision for one in store.outbox()] == [named]


def test_nothing_is_learned_any_more_from_a_message_that_was_replaced(store: LearningQueue) -> None:
    later = START + timedelta(minutes=1)
    store.enqueue(
        KEY, [Queued(Message("user", "old", START)), Queued(Message("user", "new", later))]
    )
    store.enqueue(OTHER, [Queued(Message("user", "other", START))])
    batch = claim_batch(store, KEY)
    assert store.unqueue(KEY, [START]) == 1
    assert not store.complete(batch, [])
    assert [one.message.text for one in store.list_queued(KEY)] == ["new"]
    assert store.count_queued(OTHER) == 1


def test_what_was_found_in_a_replaced_message_is_not_written(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("…"))
    later = START + timedelta(minutes=1)
    complete(store, decide("old", message_time=START), decide("new", message_time=later))
    assert store.unqueue(KEY, [START]) == 1
    assert [one.decision.message_time for one in store.outbox()] == [later]


def test_who_holds_what_is_erased_completes_nothing(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    batch = claim_batch(store)
    store.erase(KEY)
    assert not store.complete(batch, [decide("one")])
    store.release(batch, "one")
    assert store.outbox() == []
    assert store.last_error() is None


def test_what_was_held_with_an_erased_message_waits_again(store: LearningQueue) -> None:
    page = Queued(Message("user", "page"), "document", "document:a.md")
    store.enqueue(KEY, [*make_queued("typed"), page])
    batch = claim_batch(store)
    assert store.erase(source="document:a.md") == 1
    assert not store.complete(batch, [decide("page")])
    assert list_texts(claim_batch(store)) == ["typed"]


def test_erasing_nothing_in_particular_is_refused(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    with pytest.raises(InvalidInput, match="give a conversation or a source"):
        store.erase()
    assert store.count_queued(KEY) == 1


def test_who_learn_at_once_lose_nothing_and_learn_nothing_twice(place: QueueBackend) -> None:
    store = place.open()

    def work(given: tuple[LearningQueue, str]) -> list[str]:
        opened, name = given
        learned: list[str] = []
        for number in range(8):
            opened.enqueue(KEY, make_queued(f"{name} {number}"))
            batch = opened.claim(KEY)
            if batch and opened.complete(batch, [decide(one) for one in list_texts(batch)]):
                learned += list_texts(batch)
        return learned

    done = do_at_once(work, [(store, "a"), (store, "b"), (place.open(), "c")])
    rest = store.claim(KEY)
    learned = [text for several in done for text in several]
    everything = learned + (list_texts(rest) if rest else [])
    assert sorted(everything) == sorted(f"{name} {n}" for name in "abc" for n in range(8))
    assert sorted(one.decision.content for one in store.outbox()) == sorted(learned)


def test_a_closed_store_opens_again_by_itself(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("one"))
    store.close()
    store.close()
    assert store.count_queued(KEY) == 1


def test_the_format_that_a_server_takes_is_known_after_a_restart_for_a_month(
    place: QueueBackend,
) -> None:
    store = place.open()
    store.keep_json_format("http://a/v1", "openai:tiny", "json_schema")
    store.keep_json_format("http://a/v1", "openai:tiny", "prompt")
    store.close()
    store = place.open()
    assert store.json_format("http://a/v1", "openai:tiny") == "prompt"
    assert store.json_format("http://b/v1", "openai:tiny") is None
    assert store.json_format("http://a/v1", "openai:large") is None
    place.pass_time(MONTH_SECONDS)
    assert store.json_format("http://a/v1", "openai:tiny") is None


def test_a_message_that_was_cut_off_twice_is_set_aside_and_the_others_go_on(
    place: QueueBackend,
) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二", "三"))
    assert cut_off(place) == ["一", "二", "三"]
    complete(store)
    assert cut_off(place) == ["二"]
    assert list_texts(claim_batch(store)) == ["三"]
    assert [(one.key, one.queued) for one in place.open().set_aside()] == [
        (KEY, make_queued("二")[0])
    ]
    assert (store.count_queued(KEY), len(store.list_queued(KEY))) == (1, 1)
    assert store.backlog() == {KEY: 1}
    assert store.erase(KEY) == 2
    assert store.set_aside() == []


def fill_store(store: LearningQueue, key: str, text: str, source: str | None = None) -> None:
    """Put a text into every place that can hold one, in each state."""
    queued = [Queued(Message("user", f"{text} {number}" * 9), source=source) for number in range(9)]
    store.enqueue(key, queued)
    complete(store, decide(f"{text} settled", key, source=source), key=key)
    store.settle(store.outbox()[-1].id)
    store.enqueue(key, queued)
    complete(store, decide(f"{text} decided", key, source=source), key=key)
    store.postpone(store.outbox()[-1].id, f"{text} postponed")
    store.enqueue(key, queued)
    store.release(claim_batch(store, key), f"{text} released")
    store.begin_flush(key)


def test_all_of_an_erased_conversation_goes_and_that_is_counted(place: QueueBackend) -> None:
    store, another = place.open(), place.open()
    fill_store(store, OTHER, "kept")
    fill_store(store, KEY, "祕密")
    assert another.count_queued(KEY) == 9
    assert store.erase(KEY) == 9 + 1 + 1
    assert store.backlog() == {OTHER: 9}
    assert [one.decision for one in store.outbox()] == [decide("kept decided", OTHER)]
    assert store.last_error() is None
    assert another.begin_flush(KEY)
    assert another.count_queued(OTHER) == 9
    assert store.erase(KEY) == 0


@pytest.mark.parametrize("source", ["document:筆記.md", "tool:fetch"])
def test_all_of_an_erased_source_goes_and_nothing_of_others(
    place: QueueBackend, source: str
) -> None:
    store = place.open()
    fill_store(store, KEY, "kept")
    fill_store(store, KEY, "kept", "document:other.md")
    fill_store(store, OTHER, "祕密", source)
    store.enqueue(OTHER, make_queued("typed by the user"))
    assert store.erase(source=source) == 9 + 1 + 1
    assert store.backlog() == {KEY: 9, OTHER: 1}
    assert len(store.outbox()) == 2


# Of several


def test_of_several_who_claim_at_once_one_gets_it(place: QueueBackend) -> None:
    stores = [place.open() for _ in range(3)]
    for number in range(5):
        key = f"key {number}"
        stores[0].enqueue(key, make_queued("one"))
        got = do_at_once(lambda store, key=key: store.claim(key), stores)  # type: ignore[misc]
        assert len([one for one in got if one]) == 1


def test_of_several_who_spend_at_once_no_more_than_the_cap_may(place: QueueBackend) -> None:
    stores = [place.open() for _ in range(3)]
    done = do_at_once(lambda store: [store.spend("m", cap=5, day=DAY) for _ in range(3)], stores)
    assert [is_spent for several in done for is_spent in several].count(True) == 5
    assert stores[0].count_calls(DAY) == {"m": 5}


def test_of_several_who_flush_or_settle_at_once_one_does(place: QueueBackend) -> None:
    stores = [place.open() for _ in range(3)]
    assert do_at_once(lambda store: store.begin_flush(KEY), stores).count(True) == 1
    stores[0].enqueue(KEY, make_queued("one"))
    complete(stores[0], decide("x"))
    (outgoing,) = stores[1].outbox()
    assert do_at_once(lambda store: store.settle(outgoing.id), stores).count(True) == 1
    assert stores[0].outbox() == []


# Before anything


def test_whether_there_is_anything_is_asked_without_making_it(place: QueueBackend) -> None:
    store = place.open()
    assert not store.exists()
    assert not place.open().exists()
    store.enqueue(KEY, make_queued("one"))
    assert store.exists()
    assert place.open().exists()
    assert str(store.location)


def test_what_was_never_there_is_neither_settled_nor_postponed(store: LearningQueue) -> None:
    assert not store.settle("nobody")
    store.postpone("nobody", "x")
    assert store.outbox() == []
    assert store.set_aside() == []
    assert store.sightings() == []
    assert store.unqueue(KEY, [START]) == 0
    assert store.erase(KEY) == store.erase(source="tool:x") == 0
    assert not store.has_unread(KEY)
    store.end_flush(KEY, succeeded=True)
    store.end_cycle(KEY)
    assert store.begin_flush(KEY)


def test_a_decision_comes_back_with_all_that_it_says(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one"))
    whole = Decision(
        id="客廳",
        action="replace",
        conversation=KEY,
        content="a\0b \ud800 中文",
        quote="q" * 100_000,
        category="家",
        slot="home",
        until=DAY,
        target="x",
        expected="y",
        message_time=START,
        trust="stranger",
        source="tool:fetch",
    )
    complete(store, whole, decide("second"))
    assert [one.decision for one in place.open().outbox()] == [whole, decide("second")]


# Rules before a model


def test_what_rules_have_read_waits_for_a_model_with_what_they_decided(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("one", "two"))
    assert store.has_unread(KEY)
    assert store.claim(KEY, read=True) is None
    batch = store.claim(KEY, read=False)
    assert batch is not None
    assert store.complete_reading(batch, [decide("by a rule")], [Sighting("drinks tea", DAY)])
    again = place.open()
    assert not again.has_unread(KEY)
    assert again.count_queued(KEY) == 2
    assert [one.is_read_by_rules for one in again.list_queued(KEY)] == [True, True]
    assert [one.decision for one in again.outbox()] == [decide("by a rule")]
    assert again.sightings() == [Sighting("drinks tea", DAY)]
    assert again.claim(KEY, read=False) is None
    assert not again.complete_reading(batch, [decide("twice")], [Sighting("twice", DAY)])
    assert len(again.outbox()) == len(again.sightings()) == 1


def test_rules_that_read_do_not_put_off_a_model(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("1", "2", "3", "4"))
    batch = store.claim(KEY, read=False)
    assert batch is not None
    assert store.complete_reading(batch, [])
    assert is_due(store)


def test_sightings_are_kept_oldest_first_up_to_five_hundred(store: LearningQueue) -> None:
    for part in range(2):
        store.enqueue(KEY, make_queued("one"))
        batch = store.claim(KEY, read=False)
        assert batch is not None
        seen = [Sighting(f"{part} {number}", DAY) for number in range(300)]
        assert store.complete_reading(batch, [], seen)
    kept = store.sightings()
    assert len(kept) == 500
    assert (kept[0].statement, kept[-1].statement) == ("0 100", "1 299")
    assert store.erase(KEY) == 2 + 500
    assert store.sightings() == []


# What a model has not read


def test_what_a_model_has_not_read_waits_again_and_why_is_kept(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二", "三"))
    batch = claim_batch(store)
    assert store.complete(batch, [decide("from the first")], Unread(1, "no room"))
    assert [one.message.text for one in place.open().list_queued(KEY)] == ["二", "三"]
    assert all(one.is_read_by_rules for one in store.list_queued(KEY))
    assert store.last_error() == LearningProblem(START, KEY, "no room")
    assert [one.decision for one in store.outbox()] == [decide("from the first")]
    assert store.tallies(DAY) == {}


def test_what_is_answered_unreadably_twice_is_given_up_and_counted(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    assert store.complete(claim_batch(store), [], Unread(0, "no JSON", unreadable=1))
    assert [one.message.text for one in store.list_queued(KEY)] == ["一", "二"]
    assert store.complete(claim_batch(store), [], Unread(0, "no JSON", unreadable=1))
    assert [one.message.text for one in store.list_queued(KEY)] == ["二"]
    assert place.open().tallies(DAY) == {"given up": 1}
    assert store.complete(claim_batch(store), [])
    assert store.last_error() is None


def test_where_all_that_was_unread_is_given_up_nothing_is_wrong_any_more(
    store: LearningQueue,
) -> None:
    store.enqueue(KEY, make_queued("一"))
    for _ in range(2):
        assert store.complete(claim_batch(store), [], Unread(0, "no JSON", unreadable=1))
    assert (store.count_queued(KEY), store.last_error()) == (0, None)


def test_what_was_skipped_is_counted_by_day(place: QueueBackend) -> None:
    place.open().count_skipped(2, DAY)
    place.open().count_skipped(1, DAY)
    place.open().count_skipped(0, DAY + timedelta(days=1))
    assert place.open().tallies(DAY) == {"skipped": 3}
    assert place.open().tallies(DAY + timedelta(days=1)) == {}


# Clocks that are set back


def test_a_clock_that_is_set_back_holds_nothing_for_ever(place: QueueBackend) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("1", "2", "3", "4"))
    complete(store)
    store.enqueue(KEY, make_queued("1", "2", "3", "4"))
    claim_batch(store)
    place.pass_time(-LEASE_SECONDS + 1)
    assert store.claim(KEY) is None
    place.pass_time(-1)
    assert store.is_due(KEY, interval_seconds=60, min_messages=4)
    assert store.claim(KEY) is not None


def test_closing_gives_back_only_what_was_claimed_here(place: QueueBackend) -> None:
    one, other = place.open(), place.open()
    one.enqueue(KEY, make_queued("mine"))
    one.enqueue(OTHER, make_queued("theirs"))
    mine = claim_batch(one)
    claim_batch(other, OTHER)
    one.close()
    assert list_texts(claim_batch(other)) == ["mine"]
    assert one.claim(OTHER) is None
    assert not one.complete(mine, [])


def test_while_some_of_a_conversation_is_held_nothing_of_it_is_claimed(
    store: LearningQueue,
) -> None:
    store.enqueue(KEY, make_queued("read"))
    batch = store.claim(KEY, read=False)
    assert batch is not None
    assert store.complete_reading(batch, [])
    store.enqueue(KEY, make_queued("unread"))
    batch = store.claim(KEY, read=True)
    assert batch is not None
    assert store.claim(KEY, read=False) is None
    store.release(batch, "no answer")
    batch = store.claim(KEY, read=False)
    assert batch is not None
    assert store.claim(KEY, read=True) is None


def test_what_a_model_has_not_read_was_not_cut_off(store: LearningQueue) -> None:
    store.enqueue(KEY, make_queued("一", "二"))
    assert store.complete(claim_batch(store), [], Unread(0, "no room"))
    assert list_texts(claim_batch(store)) == ["一", "二"]


def test_after_a_failure_that_was_told_a_message_was_not_cut_off_any_more(
    place: QueueBackend,
) -> None:
    store = place.open()
    store.enqueue(KEY, make_queued("一", "二"))
    cut_off(place)
    batch = claim_batch(store)
    assert list_texts(batch) == ["一"]
    store.release(batch, "no answer")
    assert list_texts(claim_batch(store)) == ["二"]
