"""What changed is announced to whoever subscribed, whoever changed it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.store.contracts.conftest import Backend
from turnleaf.errors import StorageError
from turnleaf.store.contracts import Stores

DEADLINE_SECONDS = 60.0


class AnnouncementListener:
    """Somebody who subscribed, and waits for announcements."""

    def __init__(self) -> None:
        self.heard: list[frozenset[str]] = []
        self.all: set[str] = set()
        self.threads: set[threading.Thread] = set()
        self._hearing = threading.Condition()

    def __call__(self, kinds: frozenset[str]) -> None:
        with self._hearing:
            self.heard.append(kinds)
            self.all |= kinds
            self.threads.add(threading.current_thread())
            self._hearing.notify_all()

    def wait_for(self, *kinds: str) -> None:
        """Wait until each of the kinds has been announced, and forget what was."""
        with self._hearing:
            wanted = frozenset(kinds)
            has_come = lambda: wanted <= frozenset().union(*self.heard)  # noqa: E731
            assert self._hearing.wait_for(has_come, DEADLINE_SECONDS), (wanted, self.heard)
            self.heard.clear()


CHANGES: dict[str, Callable[[Stores], object]] = {
    "config": lambda space: space.config.change({"memoryMaxItems": 7}),
    "conversations": lambda space: space.conversations.add_exchange("cli:1", "我的貓叫米米", "好"),
    "daily": lambda space: space.daily.append("換了燈泡"),
    "facts": lambda space: space.facts.add("我的貓叫米米"),
    "pending": lambda space: space.pending.add("我的貓叫米米"),
    "records": lambda space: space.records.put("a", "b", b"c"),
    "schedules": lambda space: space.schedules.add("what is new?", "every 15m"),
}
every_kind = pytest.mark.parametrize("kind", CHANGES)


@every_kind
def test_a_change_of_each_kind_is_announced(space: Stores, kind: str) -> None:
    listener = AnnouncementListener()
    space.announcements.subscribe(listener)
    CHANGES[kind](space)
    listener.wait_for(kind)


@every_kind
def test_a_change_by_somebody_else_is_announced(backend: Backend, kind: str) -> None:
    listener = AnnouncementListener()
    backend.open().announcements.subscribe(listener)
    CHANGES[kind](backend.open())
    listener.wait_for(kind)


def test_what_is_changed_again_is_announced_again(space: Stores) -> None:
    listener = AnnouncementListener()
    space.announcements.subscribe(listener)
    for word in ("tea", "coffee"):
        space.facts.add(word)
        listener.wait_for("facts")
    space.facts.delete(space.facts.get_all()[0].id)
    listener.wait_for("facts")


def test_conversations_that_are_renamed_and_erased_are_announced(space: Stores) -> None:
    space.conversations.add_exchange("cli:1", "a", "b")
    listener = AnnouncementListener()
    space.announcements.subscribe(listener)
    space.conversations.rename("cli:1", "標題")
    listener.wait_for("conversations")
    space.conversations.clear("cli:1")
    listener.wait_for("conversations")


def test_many_changes_are_announced_in_no_more_announcements(space: Stores) -> None:
    listener = AnnouncementListener()
    space.announcements.subscribe(listener)
    for number in range(20):
        space.daily.append(f"note {number}")
    space.facts.add("the last")
    listener.wait_for("daily", "facts")


def test_a_callback_finds_what_was_announced(space: Stores) -> None:
    found: list[str] = []
    done = threading.Event()

    def look(kinds: frozenset[str]) -> None:
        found.extend(one.content for one in space.facts.get_all() if "facts" in kinds)
        if found:
            done.set()

    space.announcements.subscribe(look)
    space.facts.add("我喜歡茶")
    assert done.wait(DEADLINE_SECONDS)
    assert set(found) == {"我喜歡茶"}


def test_a_space_hears_nothing_of_another(backend: Backend) -> None:
    anna, ben = backend.open("anna"), backend.open("ben")
    anna.init()
    listener = AnnouncementListener()
    anna.announcements.subscribe(listener)
    anna.schedules.add("a first change", "every 15m")
    listener.wait_for("schedules")
    listener.all.clear()
    for kind in CHANGES.keys() - {"config", "records"}:
        CHANGES[kind](ben)
    anna.records.put("a", "b", b"c")
    listener.wait_for("records")
    assert listener.all <= {"records", "schedules"}


def test_settings_are_announced_to_every_space(backend: Backend) -> None:
    listener = AnnouncementListener()
    backend.open("anna").announcements.subscribe(listener)
    backend.open("ben").config.change({"memoryMaxItems": 7})
    listener.wait_for("config")


def test_callbacks_are_called_on_one_thread_which_is_nobody_elses(space: Stores) -> None:
    one, other = AnnouncementListener(), AnnouncementListener()
    space.announcements.subscribe(one)
    space.announcements.subscribe(other)
    space.facts.add("tea")
    one.wait_for("facts")
    other.wait_for("facts")
    space.daily.append("tea")
    one.wait_for("daily")
    assert len(one.threads) == 1
    assert one.threads == other.threads != {threading.current_thread()}


def test_what_a_subscriber_raises_is_logged_once_and_keeps_nobody_from_hearing(
    space: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: frozenset[str]) -> None:
        raise StorageError("the disk went away")

    listener = AnnouncementListener()
    space.announcements.subscribe(fail)
    space.announcements.subscribe(listener)
    for word in ("tea", "coffee"):
        space.facts.add(word)
        listener.wait_for("facts")
    assert caplog.text.count("the disk went away") == 1


def test_who_unsubscribed_hears_nothing_more(space: Stores) -> None:
    gone, here = AnnouncementListener(), AnnouncementListener()
    unsubscribe = space.announcements.subscribe(gone)
    space.announcements.subscribe(here)
    unsubscribe()
    unsubscribe()
    gone.heard.clear()
    space.facts.add("tea")
    here.wait_for("facts")
    assert gone.heard == []


def test_a_callback_may_unsubscribe_itself(space: Stores) -> None:
    calls = 0

    def hear_once(_: frozenset[str]) -> None:
        nonlocal calls
        calls += 1
        unsubscribe()

    unsubscribe = space.announcements.subscribe(hear_once)
    listener = AnnouncementListener()
    space.announcements.subscribe(listener)
    for word in ("tea", "coffee"):
        space.facts.add(word)
        listener.wait_for("facts")
    assert calls == 1


def test_who_subscribes_again_hears_again(space: Stores) -> None:
    for word in ("tea", "coffee"):
        listener = AnnouncementListener()
        unsubscribe = space.announcements.subscribe(listener)
        space.facts.add(word)
        listener.wait_for("facts")
        unsubscribe()


def test_a_space_that_is_closed_announces_nothing_until_somebody_subscribes_again(
    backend: Backend,
) -> None:
    closed, other = backend.open(), backend.open()
    gone, here = AnnouncementListener(), AnnouncementListener()
    closed.announcements.subscribe(gone)
    other.announcements.subscribe(here)
    closed.close()
    gone.heard.clear()
    other.facts.add("tea")
    here.wait_for("facts")
    assert gone.heard == []
    closed.announcements.subscribe(gone)
    other.facts.add("coffee")
    gone.wait_for("facts")
