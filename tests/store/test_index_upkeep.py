"""When the search is brought up to date, by the kinds that are announced and the time."""

from __future__ import annotations

import logging
import math
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Weights
from turnleaf.core.search.vectors import SENTENCES, pack
from turnleaf.errors import EmbeddingError
from turnleaf.settings import DataFolder
from turnleaf.store.contracts import Stores
from turnleaf.store.index_upkeep import (
    LONGEST_SECONDS,
    MESSAGE_QUIET_SECONDS,
    QUIET_SECONDS,
    RETRY_SECONDS,
    IndexUpkeep,
)

DEADLINE_SECONDS = 60.0
FACTS, NOTHING = frozenset({"facts"}), frozenset[str]()


class Toy:
    """Gives counterparts the same vector, and any other text one of its own."""

    name = "toy"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> bytes:
        key = str(SENTENCES.index(text) // 2) if text in SENTENCES else text
        chance = random.Random(key)
        return pack([chance.gauss(0, 1) for _ in range(16)])


class BrokenEmbedder(Toy):
    """Fails until it is mended."""

    def __init__(self, error: Exception) -> None:
        self.asked = 0
        self.error: Exception | None = error

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += 1
        if self.error:
            raise self.error
        return super().embed(texts)


class SlowEmbedder(Toy):
    """Is waited for until it may go on."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.may_go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.is_asked.set()
        assert self.may_go_on.wait(DEADLINE_SECONDS)
        return super().embed(texts)


class Announcements:
    """Announcements that a test makes."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[frozenset[str]], None]] = []

    def subscribe(self, callback: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        self.callbacks.append(callback)
        return self.close

    def close(self) -> None:
        self.callbacks.clear()


class CountedPassages:
    """What is searched, which counts how often it was brought up to date."""

    def __init__(self, stores: Stores) -> None:
        self.syncs = 0
        self.synced = threading.Event()
        self.has_taken_in = threading.Event()
        self._passages = stores.passages

    def sync(self, progress: Callable[[int, int], None]) -> int:
        taken_in = self._passages.sync(progress)
        self.syncs += 1
        self.synced.set()
        if taken_in:
            self.has_taken_in.set()
        return taken_in

    def __getattr__(self, name: str) -> object:
        return getattr(self._passages, name)


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores.open(DataFolder(tmp_path, "a test"))


@pytest.fixture
def counted_passages(stores: Stores) -> CountedPassages:
    return CountedPassages(stores)


@pytest.fixture
def upkeep(counted_passages: CountedPassages) -> IndexUpkeep:
    return IndexUpkeep(counted_passages, Announcements())  # type: ignore[arg-type]  # it has what is used


@pytest.mark.parametrize("kind", ["facts", "daily"])
def test_a_burst_of_changes_is_one_sync_after_the_last_of_them(
    upkeep: IndexUpkeep, counted_passages: CountedPassages, kind: str
) -> None:
    for now in (0.0, 1.0, 2.0):
        assert upkeep.work({kind}, now) == now + QUIET_SECONDS
    assert counted_passages.syncs == 0
    assert upkeep.work(NOTHING, 2.0 + QUIET_SECONDS) == math.inf
    assert counted_passages.syncs == 1
    upkeep.work(NOTHING, 1000.0)
    assert counted_passages.syncs == 1


def test_changes_that_never_end_are_taken_in_all_the_same(
    upkeep: IndexUpkeep, counted_passages: CountedPassages
) -> None:
    for now in range(int(LONGEST_SECONDS) + 1):
        upkeep.work(FACTS, float(now))
    assert counted_passages.syncs == 1


@pytest.mark.parametrize("kind", ["config", "schedules", "pending", "records"])
def test_what_is_not_searched_gives_it_nothing_to_do(
    upkeep: IndexUpkeep, counted_passages: CountedPassages, kind: str
) -> None:
    assert upkeep.work({kind}, 0.0) == math.inf
    assert counted_passages.syncs == 0


def test_messages_are_taken_in_sooner_and_a_file_that_is_being_written_once_more(
    upkeep: IndexUpkeep, counted_passages: CountedPassages
) -> None:
    upkeep.work(FACTS, 0.0)
    upkeep.work({"conversations"}, 1.0)
    assert upkeep.work(NOTHING, 1.0 + MESSAGE_QUIET_SECONDS) == QUIET_SECONDS
    assert counted_passages.syncs == 1
    upkeep.work(NOTHING, QUIET_SECONDS)
    assert counted_passages.syncs == 2


def test_what_changed_is_taken_in_and_gets_its_vectors(stores: Stores, upkeep: IndexUpkeep) -> None:
    stores.passages.use_embedder(Toy(), Weights())
    stores.conversations.add_messages("cli:1", [Message("user", "第 299 件事")])
    upkeep.work({"conversations"}, 0.0)
    upkeep.work(NOTHING, MESSAGE_QUIET_SECONDS)
    assert stores.passages.sync() == 0
    assert stores.passages.missing_vectors() == 0
    assert [hit.text for hit in stores.passages.search("299")] == ["第 299 件事"]


@pytest.mark.parametrize("error", [EmbeddingError("it is off"), ValueError("it is off")])
def test_an_embedder_that_fails_is_logged_once_and_asked_again_later(
    stores: Stores, upkeep: IndexUpkeep, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    embedder = BrokenEmbedder(error)
    stores.passages.use_embedder(embedder, Weights())
    stores.facts.add("我喜歡茶")
    upkeep.work(FACTS, 0.0)
    due = upkeep.work(NOTHING, 10.0)
    assert (due, embedder.asked) == (10.0 + RETRY_SECONDS, 1)
    upkeep.work(FACTS, 20.0)
    upkeep.work(NOTHING, 30.0)
    assert embedder.asked == 2, "a change is a reason to ask again"
    assert [one.getMessage() for one in caplog.records] == ["no vectors could be made: it is off"]
    embedder.error = None
    upkeep.work(NOTHING, 30.0 + RETRY_SECONDS)
    assert stores.passages.missing_vectors() == 0


def test_starting_counts_as_a_change_and_announcements_are_heeded(
    counted_passages: CountedPassages,
) -> None:
    announced = Announcements()
    with IndexUpkeep(counted_passages, announced):  # type: ignore[arg-type]  # it has what is used
        assert counted_passages.synced.wait(DEADLINE_SECONDS)
        counted_passages.synced.clear()
        announced.callbacks[0](frozenset({"conversations"}))
        assert counted_passages.synced.wait(DEADLINE_SECONDS)
    assert announced.callbacks == []


def test_stop_does_not_wait_until_an_embedder_has_answered(stores: Stores) -> None:
    embedder = SlowEmbedder()
    stores.passages.use_embedder(embedder, Weights())
    stores.facts.add("我喜歡茶")
    with IndexUpkeep(stores.passages, stores.announcements):
        assert embedder.is_asked.wait(DEADLINE_SECONDS)
        working = [one for one in threading.enumerate() if one.name == "turnleaf-index"]
    assert any(one.is_alive() for one in working)
    embedder.may_go_on.set()
    for one in working:
        one.join(DEADLINE_SECONDS)
        assert not one.is_alive()
    stores.close()
