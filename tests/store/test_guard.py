"""One thread for a whole process mends memory files after an editor's save."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from turnleaf.core.memories import Memory
from turnleaf.errors import StorageError
from turnleaf.store.files import guard

BOUND_SECONDS = 60


class Store:
    """Something that can be mended, and says when it was looked at."""

    def __init__(self, *, is_saved: bool = False, is_broken: bool = False) -> None:
        self.is_saved = is_saved
        self.is_broken = is_broken
        self.looks = threading.Semaphore(0)
        self.mended = threading.Event()

    def needs_mending(self) -> bool:
        self.looks.release()
        if self.is_broken:
            raise StorageError("the disk went away")
        return self.is_saved

    def reconcile(self) -> list[Memory]:
        self.is_saved = False
        self.mended.set()
        return []


def test_a_store_that_needs_it_is_mended_without_any_call() -> None:
    store = Store(is_saved=True)
    guard.watch(store)
    assert store.mended.wait(BOUND_SECONDS)


def test_a_store_is_looked_at_again_and_again_and_mended_only_when_it_needs_it() -> None:
    store = Store()
    guard.watch(store)
    assert all(store.looks.acquire(timeout=BOUND_SECONDS) for _ in range(2))
    assert not store.mended.is_set()
    store.is_saved = True
    assert store.mended.wait(BOUND_SECONDS)


def test_a_store_whose_disk_is_gone_is_named_and_keeps_no_other_from_being_mended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, sound = Store(is_broken=True), Store()
    guard.watch(broken)
    guard.watch(sound)
    assert all(broken.looks.acquire(timeout=BOUND_SECONDS) for _ in range(2))
    sound.is_saved = True
    assert sound.mended.wait(BOUND_SECONDS)
    assert "the disk went away" in caplog.text


def test_many_stores_have_one_thread_which_ends_with_the_program() -> None:
    stores = [Store() for _ in range(5)]
    for store in stores:
        guard.watch(store)
        guard.watch(store)
    guards = [thread for thread in threading.enumerate() if thread.name == "turnleaf-guard"]
    assert len(guards) == 1
    assert guards[0].daemon


def test_a_store_that_nobody_uses_any_more_is_forgotten() -> None:
    store = Store()
    guard.watch(store)
    left = weakref.ref(store)
    other = Store()
    guard.watch(other)
    del store
    assert all(other.looks.acquire(timeout=BOUND_SECONDS) for _ in range(2))
    gc.collect()
    assert left() is None
