"""The queue of learning: nothing is lost, nothing is learnt from twice, and erased is erased."""

from __future__ import annotations

import json
import logging
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import apsw
import pytest

from tests.store import others
from turnleaf.core.messages import Message
from turnleaf.core.throttle import LEASE_SECONDS
from turnleaf.core.times import to_iso
from turnleaf.errors import InvalidInput, StorageError
from turnleaf.store.backup import backup, restore
from turnleaf.store.learning import FORMAT_DAYS, Batch, LearningStore, Outgoing, Problem, Queued

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
DAY = date(2026, 3, 1)
KEY = "cli:session-1"
OTHER = "slack:1.2"


class Place:
    """A location, and stores opened there at one moment after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START

    def open(self) -> LearningStore:
        return LearningStore(self.path, now=lambda: self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def bytes(self) -> bytes:
        """All that lies in the folder."""
        return b"".join(path.read_bytes() for path in self.path.parent.iterdir())

    def damage(self, query: str) -> None:
        connection = apsw.Connection(str(self.path))
        connection.execute(query)
        connection.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "deep" / "learning.db")


@pytest.fixture
def store(place: Place) -> LearningStore:
    return place.open()


def said(*texts: str) -> list[Queued]:
    return [Queued(Message("user", text, START)) for text in texts]


def claimed(store: LearningStore, key: str = KEY) -> Batch:
    batch = store.claim(key)
    assert batch is not None
    return batch


def texts(batch: Batch) -> list[str]:
    return [one.message.text for one in batch.messages]


def complete(store: LearningStore, *decisions: dict[str, Any], key: str = KEY) -> None:
    assert store.complete(claimed(store, key), decisions)


# The queue


def test_what_comes_in_while_rules_read_is_not_taken_before_they_have_read_it(
    store: LearningStore,
) -> None:
    store.enqueue(KEY, said("first"))
    read = store.claim(KEY, read=False)
    assert read is not None
    store.enqueue(KEY, said("second"))
    store.complete_reading(read, [])
    taken = store.claim(KEY, read=True)
    assert taken is not None
    assert texts(taken) == ["first"]
    store.complete(taken, [])
    assert [one.message.text for one in store.queued(KEY)] == ["second"]


def test_nobody_is_due_while_a_model_is_still_answering(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("a", "b", "c", "d"))
    assert store.is_due(KEY, interval_seconds=60, min_messages=4)
    assert store.claim(KEY) is not None
    assert not store.is_due(KEY, interval_seconds=60, min_messages=4)


def test_a_new_store_is_empty(store: LearningStore) -> None:
    assert store.waiting(KEY) == 0
    assert store.backlog() == {}
    assert store.claim(KEY) is None
    assert store.outbox() == []
    assert store.last_error() is None
    assert store.spent(DAY) == {}


def test_messages_wait_in_their_order_also_after_a_restart(place: Place) -> None:
    place.open().enqueue(KEY, said("客廳的燈叫做小明", "and the hall?"))
    place.open().enqueue(KEY, said("third"))
    assert place.open().waiting(KEY) == 3
    assert texts(claimed(place.open())) == ["客廳的燈叫做小明", "and the hall?", "third"]


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
def test_all_that_is_known_of_a_message_comes_back(place: Place, queued: Queued) -> None:
    place.open().enqueue(KEY, [queued])
    assert claimed(place.open()).messages == (queued,)


def test_conversations_wait_each_for_itself(store: LearningStore) -> None:
    store.enqueue(OTHER, said("first"))
    store.enqueue(KEY, said("second", "third"))
    assert store.backlog() == {OTHER: 1, KEY: 2}
    complete(store)
    assert store.backlog() == {OTHER: 1}


def test_no_messages_are_nothing_that_waits(store: LearningStore) -> None:
    store.enqueue(KEY, [])
    assert store.backlog() == {}


@pytest.mark.parametrize("key", ["", "  ", "a\n", "\ud800", "x" * 513])
def test_what_is_no_name_is_refused(store: LearningStore, key: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: store.enqueue(key, said("x")),
        lambda: store.waiting(key),
        lambda: store.is_due(key, interval_seconds=0, min_messages=0),
        lambda: store.claim(key),
        lambda: store.begin_flush(key),
        lambda: store.flushed(key, succeeded=True),
        lambda: store.end_cycle(key),
        lambda: store.unqueue(key, [START]),
        lambda: store.erase(key),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="a conversation"):
            attempt()


def test_an_unknown_trust_is_refused_and_nothing_is_queued(store: LearningStore) -> None:
    mixed = [*said("good"), Queued(Message("user", "bad"), trust="friend")]
    with pytest.raises(InvalidInput, match="one of user, tool, document, stranger, assistant"):
        store.enqueue(KEY, mixed)
    assert store.waiting(KEY) == 0


def test_what_json_cannot_hold_is_refused_and_nothing_changes(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    batch = claimed(store)
    with pytest.raises(InvalidInput, match="use plain values"):
        store.complete(batch, [{"add": "fine"}, {"add": {1}}])
    assert store.outbox() == []
    assert store.complete(batch, [{"add": "fine"}])


# When it is due


def is_due(store: LearningStore, key: str = KEY) -> bool:
    return store.is_due(key, interval_seconds=60, min_messages=4)


def test_an_extraction_is_due_by_messages_and_time_since_the_last_of_its_conversation(
    place: Place,
) -> None:
    place.open().enqueue(KEY, said("1", "2", "3"))
    assert not is_due(place.open())
    place.open().enqueue(KEY, said("4"))
    assert is_due(place.open())
    complete(place.open())
    place.open().enqueue(KEY, said("5", "6", "7", "8"))
    place.open().enqueue(OTHER, said("1", "2", "3", "4"))
    place.pass_time(59)
    assert not is_due(place.open())
    assert is_due(place.open(), OTHER)
    place.pass_time(1)
    assert is_due(place.open())
    complete(place.open())
    place.open().enqueue(KEY, said("9", "10", "11", "12"))
    assert not is_due(place.open())


# Claiming and completing


def test_what_one_holds_no_other_gets_until_the_lease_is_over(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    store.enqueue(OTHER, said("another"))
    claimed(store)
    assert place.open().claim(KEY) is None
    assert texts(claimed(place.open(), OTHER)) == ["another"]
    place.pass_time(LEASE_SECONDS - 1)
    assert place.open().claim(KEY) is None
    place.pass_time(1)
    assert texts(claimed(place.open())) == ["one"]


def test_what_is_held_still_waits(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    claimed(store)
    assert store.waiting(KEY) == 1


def test_what_came_after_the_claim_is_not_completed_with_it(store: LearningStore) -> None:
    store.enqueue(KEY, said("before"))
    batch = claimed(store)
    store.enqueue(KEY, said("after"))
    assert store.claim(KEY) is None
    assert store.complete(batch, [])
    assert texts(claimed(store)) == ["after"]


def test_who_lost_the_lease_completes_nothing(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    late = claimed(store)
    place.pass_time(LEASE_SECONDS)
    now = claimed(store)
    assert not store.complete(late, [{"add": "late"}])
    store.release(late, "late")
    assert store.last_error() is None
    assert store.claim(KEY) is None
    assert store.complete(now, [{"add": "now"}])
    assert not store.complete(late, [{"add": "late"}])
    assert [one.decision for one in store.outbox()] == [{"add": "now"}]


def test_who_is_late_but_was_not_replaced_completes_all_the_same(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    batch = claimed(store)
    place.pass_time(LEASE_SECONDS * 10)
    assert store.complete(batch, [{"add": "one"}])


def test_a_batch_is_completed_once(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    batch = claimed(store)
    assert store.complete(batch, [{"add": "one"}])
    assert not store.complete(batch, [{"add": "one"}])
    assert len(store.outbox()) == 1


def test_what_is_released_waits_again_and_the_error_is_kept(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    store.release(claimed(store), "the model gave no JSON \ud800")
    assert place.open().last_error() == Problem(START, KEY, "the model gave no JSON \ud800")
    place.pass_time(5)
    store.release(claimed(store), "again")
    assert store.last_error() == Problem(place.now, KEY, "again")
    assert texts(claimed(store)) == ["one"]


def test_after_a_failure_the_next_extraction_waits_its_time(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one", "two"))
    store.release(claimed(store), "no answer")
    assert not store.is_due(KEY, interval_seconds=60, min_messages=1)
    place.pass_time(60)
    assert store.is_due(KEY, interval_seconds=60, min_messages=1)


def test_a_completed_extraction_of_any_conversation_clears_the_error(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    store.enqueue(OTHER, said("two"))
    store.release(claimed(store), "no answer")
    complete(store, key=OTHER)
    assert store.last_error() is None


# What was cut off


def cut_off(place: Place, key: str = KEY) -> list[str]:
    """Take what waits and come to no end with it; give what that was."""
    taken = texts(claimed(place.open(), key))
    place.pass_time(LEASE_SECONDS)
    return taken


def test_after_a_cut_messages_are_taken_one_by_one_and_later_ones_together(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("一", "二"))
    assert cut_off(place) == ["一", "二"]
    store.enqueue(KEY, said("三", "四"))
    taken = []
    for _ in range(3):
        batch = claimed(store)
        taken.append((texts(batch), batch.has_more))
        assert store.complete(batch, [])
    assert taken == [(["一"], True), (["二"], True), (["三", "四"], False)]
    assert store.set_aside() == []


def test_a_message_that_was_cut_off_twice_is_set_aside_and_the_others_go_on(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.enqueue(KEY, said("一", "二", "三"))
    assert cut_off(place) == ["一", "二", "三"]
    complete(store)
    assert cut_off(place) == ["二"]
    # The guard looks after stores that tests before this one have left open.
    assert [one for one in caplog.records if one.threadName != "turnleaf-guard"] == []
    assert texts(claimed(store)) == ["三"]
    assert f"a message of {KEY} was set aside" in caplog.text
    assert "二" not in caplog.text
    assert [(one.key, one.queued) for one in place.open().set_aside()] == [(KEY, said("二")[0])]
    assert (store.waiting(KEY), store.backlog(), len(store.queued(KEY))) == (1, {KEY: 1}, 1)
    assert store.erase(KEY) == 2
    assert store.set_aside() == []


def test_a_single_message_is_tried_again_after_one_cut_and_not_after_two(place: Place) -> None:
    place.open().enqueue(KEY, said("一"))
    assert [cut_off(place), cut_off(place)] == [["一"], ["一"]]
    assert place.open().claim(KEY) is None
    assert len(place.open().set_aside()) == 1


def test_what_the_user_asked_to_forget_is_known_to_each_attempt(place: Place) -> None:
    store = place.open()
    wish = Queued(Message("user", "forget that", START), is_settled=True)
    store.enqueue(KEY, [*said("一", "二"), wish])
    cut_off(place)
    for text in ("一", "二"):
        batch = claimed(store)
        assert texts(batch) == [text, "forget that"]
        assert store.complete(batch, [])
    cut_off(place)
    assert texts(claimed(store)) == ["forget that"]


def test_a_failure_that_was_told_and_an_end_in_order_do_not_count(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("一", "二"))
    for _ in range(3):
        store.release(claimed(store), "no answer")
        assert texts(claimed(store)) == ["一", "二"]
        store.close()


def test_a_program_that_hung_counts_although_it_ends_in_order(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("一", "二"))
    claimed(store)
    place.pass_time(LEASE_SECONDS)
    store.close()
    assert texts(claimed(store)) == ["一"]


# The outbox


def test_decisions_are_given_until_they_are_settled(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    complete(store, {"add": "貓叫咪咪"}, {"add": "dog"})
    first, second = place.open().outbox()
    assert first == Outgoing(first.id, KEY, {"add": "貓叫咪咪"}, None)
    assert first.id != second.id
    store.postpone(first.id, "memory is full")
    store.settle(second.id)
    assert place.open().outbox() == [Outgoing(first.id, KEY, {"add": "貓叫咪咪"}, "memory is full")]
    store.settle(first.id)
    store.settle(first.id)
    assert place.open().outbox() == []


def test_ids_in_the_outbox_are_never_used_again(store: LearningStore) -> None:
    seen = set()
    for _ in range(3):
        store.enqueue(KEY, said("one"))
        complete(store, {"add": "x"})
        (only,) = store.outbox()
        seen.add(only.id)
        store.settle(only.id)
    assert len(seen) == 3


# Flushing


def test_a_cycle_is_flushed_once_and_again_when_it_ended(place: Place) -> None:
    assert place.open().begin_flush(KEY)
    assert not place.open().begin_flush(KEY)
    assert place.open().begin_flush(OTHER)
    place.open().flushed(KEY, succeeded=True)
    place.pass_time(LEASE_SECONDS * 10)
    assert not place.open().begin_flush(KEY)
    place.open().end_cycle(KEY)
    assert place.open().begin_flush(KEY)


def test_a_failed_flush_is_tried_again(place: Place) -> None:
    assert place.open().begin_flush(KEY)
    place.open().flushed(KEY, succeeded=False)
    assert place.open().begin_flush(KEY)


def test_a_flush_of_a_process_that_died_is_tried_again(place: Place) -> None:
    assert place.open().begin_flush(KEY)
    place.pass_time(LEASE_SECONDS)
    assert place.open().begin_flush(KEY)


def test_flushing_does_not_change_when_the_last_extraction_was(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("1", "2", "3", "4"))
    complete(store)
    store.enqueue(KEY, said("1", "2", "3", "4"))
    store.begin_flush(KEY)
    store.flushed(KEY, succeeded=True)
    store.end_cycle(KEY)
    assert not is_due(store)


# Spending


def test_calls_are_counted_by_day_and_model_up_to_the_cap_of_all(place: Place) -> None:
    tomorrow = DAY + timedelta(days=1)
    assert place.open().spend("claude-cli:haiku", cap=3, day=DAY)
    assert place.open().spend("claude-cli:haiku", cap=3, day=DAY)
    assert place.open().spend("ollama:模型", cap=3, day=DAY)
    assert not place.open().spend("ollama:模型", cap=3, day=DAY)
    assert place.open().spent(DAY) == {"claude-cli:haiku": 2, "ollama:模型": 1}
    assert place.open().spend("ollama:模型", cap=3, day=tomorrow)
    assert place.open().spent(tomorrow) == {"ollama:模型": 1}


def test_a_cap_of_nothing_allows_nothing(store: LearningStore) -> None:
    assert not store.spend("x", cap=0, day=DAY)
    assert store.spent(DAY) == {}


# Erasing


def filled(store: LearningStore, key: str, text: str, source: str | None = None) -> None:
    """Put a text into every place that can hold one, in each state."""
    queued = [Queued(Message("user", f"{text} {number}" * 9), source=source) for number in range(9)]
    whence = {"source": source} if source else {}
    store.enqueue(key, queued)
    complete(store, {"add": {"content": f"{text} settled", **whence}}, key=key)
    store.settle(store.outbox()[-1].id)
    store.enqueue(key, queued)
    complete(store, {"add": {"content": f"{text} decided", **whence}}, key=key)
    store.postpone(store.outbox()[-1].id, f"{text} postponed")
    store.enqueue(key, queued)
    store.release(claimed(store, key), f"{text} released")
    store.begin_flush(key)


@pytest.mark.parametrize("is_held_open", [True, False])
def test_of_an_erased_conversation_no_byte_stays(place: Place, *, is_held_open: bool) -> None:
    store, another = place.open(), place.open()
    filled(store, OTHER, "kept")
    filled(store, KEY, "祕密")
    assert another.waiting(KEY) == 9
    if not is_held_open:
        another.close()
    assert "祕密".encode() in place.bytes()
    assert store.erase(KEY) == 9 + 1 + 1
    assert "祕密".encode() not in place.bytes()
    assert KEY.encode() not in place.bytes()
    assert store.backlog() == {OTHER: 9}
    assert [one.decision for one in store.outbox()] == [{"add": {"content": "kept decided"}}]
    assert another.waiting(OTHER) == 9
    assert store.erase(KEY) == 0


@pytest.mark.parametrize("source", ["document:筆記.md", "tool:fetch"])
def test_of_an_erased_source_no_byte_stays(place: Place, source: str) -> None:
    store = place.open()
    filled(store, KEY, "kept")
    filled(store, KEY, "kept", "document:other.md")
    filled(store, OTHER, "祕密", source)
    store.enqueue(OTHER, said("typed by the user"))
    assert store.erase(source=source) == 9 + 1 + 1
    assert "祕密".encode() not in place.bytes()
    assert source.encode() not in place.bytes()
    assert store.backlog() == {KEY: 9, OTHER: 1}
    assert len(store.outbox()) == 2


@pytest.mark.parametrize("seed", [1, 9, 16, 19])
def test_nothing_erased_stays_where_sqlite_moved_it_from(place: Place, seed: int) -> None:
    store, choice = place.open(), random.Random(seed)
    for number in range(40):
        key, text = f"key {number % 5}", f"祕密-{number % 5}-"
        store.enqueue(key, said("…"))
        decisions = [{"add": text + "x" * choice.randrange(900)} for _ in range(5)]
        complete(store, *decisions, key=key)
        for one in choice.sample(store.outbox(), 4):
            store.postpone(one.id, "y" * choice.randrange(300))
    for number in range(5):
        assert f"祕密-{number}-".encode() in place.bytes()
        store.erase(f"key {number}")
        assert f"祕密-{number}-".encode() not in place.bytes()


def test_what_another_conversation_took_from_an_erased_one_goes_too(store: LearningStore) -> None:
    store.enqueue(OTHER, said("…"))
    taken = {"from": [{"text": "x", "conversation": KEY}]}
    named = {"from": [{"text": KEY, "conversation": OTHER}]}
    complete(store, taken, named, key=OTHER)
    assert store.erase(KEY) == 1
    assert [one.decision for one in store.outbox()] == [named]


# Withdrawing


def test_nothing_is_learnt_any_more_from_a_message_that_was_replaced(store: LearningStore) -> None:
    later = START + timedelta(minutes=1)
    store.enqueue(
        KEY, [Queued(Message("user", "old", START)), Queued(Message("user", "new", later))]
    )
    store.enqueue(OTHER, [Queued(Message("user", "other", START))])
    batch = claimed(store, KEY)
    assert store.unqueue(KEY, [START]) == 1
    assert not store.complete(batch, [])
    assert [one.message.text for one in store.queued(KEY)] == ["new"]
    assert store.waiting(OTHER) == 1


def test_what_was_found_in_a_replaced_message_is_not_written(store: LearningStore) -> None:
    store.enqueue(KEY, said("…"))
    later = to_iso(START + timedelta(minutes=1))
    complete(store, {"messageTime": to_iso(START)}, {"messageTime": later})
    assert store.unqueue(KEY, [START]) == 1
    assert [one.decision["messageTime"] for one in store.outbox()] == [later]


def test_who_holds_what_is_erased_completes_nothing(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    batch = claimed(store)
    store.erase(KEY)
    assert not store.complete(batch, [{"add": "one"}])
    store.release(batch, "one")
    assert store.outbox() == []
    assert store.last_error() is None


def test_what_was_held_with_an_erased_message_waits_again(store: LearningStore) -> None:
    page = Queued(Message("user", "page"), "document", "document:a.md")
    store.enqueue(KEY, [*said("typed"), page])
    batch = claimed(store)
    assert store.erase(source="document:a.md") == 1
    assert not store.complete(batch, [{"add": "page"}])
    assert texts(claimed(store)) == ["typed"]


def test_erasing_nothing_in_particular_is_refused(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    with pytest.raises(InvalidInput, match="name a conversation or a source"):
        store.erase()
    assert store.waiting(KEY) == 1


# Several at once

CLAIMER = """
import sys
from turnleaf.store.learning import LearningStore

store = LearningStore(sys.argv[1])
store.waiting("key")
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(store.claim(f"key {number}") is not None, flush=True)
"""


def test_of_two_processes_that_claim_at_once_exactly_one_gets_it(place: Place) -> None:
    store = LearningStore(place.path)
    for number in range(20):
        store.enqueue(f"key {number}", said("one"))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, str(place.path)],
            cwd=others.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    got = [process.communicate("go\n", timeout=60)[0].split() for process in running]
    assert all(sorted(pair) == ["False", "True"] for pair in zip(*got, strict=True))
    assert len(got[0]) == 20


def test_threads_with_one_store_lose_nothing_and_learn_nothing_twice(place: Place) -> None:
    store = place.open()
    together = Barrier(4)
    learnt: list[str] = []

    def work(name: str) -> None:
        together.wait()
        for number in range(10):
            store.enqueue(KEY, said(f"{name} {number}"))
            batch = store.claim(KEY)
            if batch and store.complete(batch, [{"add": one} for one in texts(batch)]):
                learnt.extend(texts(batch))

    threads = [Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rest = store.claim(KEY)
    everything = learnt + (texts(rest) if rest else [])
    assert sorted(everything) == sorted(f"{name} {n}" for name in "abcd" for n in range(10))
    assert [one.decision["add"] for one in store.outbox()] == learnt


# Files


def test_new_files_are_private(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    assert store.location == place.path
    for path in [place.path.parent, *place.path.parent.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_closed_store_opens_again_by_itself(store: LearningStore) -> None:
    store.enqueue(KEY, said("one"))
    store.close()
    store.close()
    assert store.waiting(KEY) == 1


def test_a_file_that_is_gone_is_not_silently_begun_anew(place: Place) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    place.path.unlink()
    with pytest.raises(StorageError, match="is gone since it was opened"):
        store.enqueue(KEY, said("two"))


@pytest.mark.parametrize("data", [b"garbage" * 300, b"short"])
def test_a_damaged_file_goes_aside_and_is_named(
    place: Place, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "turnleaf"):
        place.open().enqueue(KEY, said("one"))
    (aside,) = place.path.parent.glob("learning.db.corrupt-*")
    assert aside.read_bytes() == data
    assert str(aside) in caplog.text
    assert place.open().waiting(KEY) == 1


def test_a_database_of_something_else_goes_aside(place: Place) -> None:
    place.path.parent.mkdir()
    place.damage("CREATE TABLE queue (lamp TEXT)")
    place.open().enqueue(KEY, said("one"))
    assert len(list(place.path.parent.glob("learning.db.corrupt-*Z"))) == 1


def test_a_file_of_a_newer_version_is_refused(place: Place) -> None:
    place.open().enqueue(KEY, said("one"))
    place.damage("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="newer version of Turnleaf; update this one"):
        place.open().waiting(KEY)


@pytest.mark.parametrize("damaged", ["'{'", "x'ff'", "'[]'", "'{}'"])
def test_a_record_that_cannot_be_read_costs_none_of_the_others(
    place: Place, damaged: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = place.open()
    store.enqueue(KEY, said("gone"))
    complete(store, {"add": "gone"}, {"add": "good"})
    store.enqueue(KEY, said("gone", "good"))
    store.close()
    for table in ("queue", "outbox"):
        place.damage(f"UPDATE {table} SET record = {damaged} WHERE n = 1")  # noqa: S608
    assert texts(claimed(place.open())) == ["good"]
    assert {"add": "good"} in [one.decision for one in place.open().outbox()]
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE conversations SET extracted_at = CAST(x'32ff' AS TEXT)",
        "UPDATE conversations SET cycle = 'x', cycle_since = CAST(x'32ff' AS TEXT)",
        "UPDATE queue SET token = 'x', leased_at = CAST(x'32ff' AS TEXT)",
    ],
)
def test_a_damaged_time_keeps_nothing_from_being_learnt(place: Place, damage: str) -> None:
    store = place.open()
    store.enqueue(KEY, said("one"))
    complete(store)
    store.enqueue(KEY, said("two"))
    store.close()
    place.damage(damage)
    place.pass_time(3600)
    assert store.is_due(KEY, interval_seconds=60, min_messages=1)
    assert store.begin_flush(KEY)
    assert texts(claimed(store)) == ["two"]


def test_a_backup_brings_back_what_waited(place: Place, tmp_path: Path) -> None:
    store = place.open()
    store.enqueue(KEY, said("一", "二"))
    backup(place.path.parent, tmp_path / "saved.tar.gz")
    complete(store)
    restore(place.path.parent, tmp_path / "saved.tar.gz")
    assert texts(claimed(store)) == ["一", "二"]


def test_what_is_stored_is_json_that_can_be_read(place: Place) -> None:
    place.open().enqueue(KEY, said("客廳的燈叫做小明"))
    connection = apsw.Connection(str(place.path))
    record = json.loads(connection.execute("SELECT record FROM queue").get)
    connection.close()
    assert record["message"]["content"] == "客廳的燈叫做小明"
    assert (record["trust"], record["isSettled"]) == ("user", False)


def test_the_format_that_a_server_takes_is_known_after_a_restart_for_a_month(place: Place) -> None:
    store = place.open()
    store.keep_json_format("http://a/v1", "openai:tiny", "json_schema")
    store.keep_json_format("http://a/v1", "openai:tiny", "prompt")
    store.close()
    store = place.open()
    assert store.json_format("http://a/v1", "openai:tiny") == "prompt"
    assert store.json_format("http://b/v1", "openai:tiny") is None
    assert store.json_format("http://a/v1", "openai:large") is None
    place.pass_time(FORMAT_DAYS * 24 * 3600)
    assert store.json_format("http://a/v1", "openai:tiny") is None
