"""A space is copied from any backend to any other, with everything that can be read of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.clocks import Clock
from tests.postgres import empty_database
from tests.store.contracts.conftest import BACKENDS, START
from tests.store.contracts.contents import KEY, LAMP, fill, read_all, undo_all
from turnleaf.core.memories import Memory
from turnleaf.core.portable import PortablePart
from turnleaf.errors import Conflict
from turnleaf.space_copying import MOST_LOOKS, SpaceCopy
from turnleaf.store.contracts import Portable, PortableSpace, Stores
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores


class CutOffError(Exception):
    """Somebody pulled the plug."""


class _LimitedStore:
    """A store that writes so many times more."""

    def __init__(self, store: Portable, left: list[int]) -> None:
        self.name = store.name
        self.read_parts = store.read_parts
        self._store, self._left = store, left

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise CutOffError
        self._store.write_parts(parts, gone)


class CutOff(MemoryStores):
    """The stores of a space, into which a copy can write so many times."""

    def __init__(self, stores: Stores, writes: int) -> None:
        super().__init__(MemoryPlace(), now=lambda: datetime.now(UTC))
        self._stores, self._left = stores, [writes]
        self.records, self.conversations = stores.records, stores.conversations

    @property
    def location(self) -> str:
        return self._stores.location

    def open_portable(self) -> PortableSpace:
        whole, left = self._stores.open_portable(), self._left

        class Space:
            read_numbers = whole.read_numbers
            finish = whole.finish

            def list_stores(self) -> Sequence[Portable]:
                return [_LimitedStore(one, left) for one in whole.list_stores()]

        return Space()


@pytest.fixture
def moment() -> Clock:
    """Make a clock that is not that of a backend."""
    return Clock(START)


@pytest.fixture(params=BACKENDS)
def target(request: pytest.FixtureRequest, moment: Clock, folder: Path) -> Iterator[Stores]:
    """Open an empty space of each backend."""
    if request.param == "postgres":
        empty_database()
    with BACKENDS[request.param](folder / "target", moment, "default") as opened:
        yield opened


@pytest.fixture
def origin(moment: Clock) -> Stores:
    """Fill a space in memory, to be copied."""
    made = MemoryStores(MemoryPlace(), now=moment)
    fill(made, moment)
    return made


@pytest.mark.parametrize("backend_of_copy", BACKENDS)
def test_a_copy_answers_as_its_source_does(
    space: Stores, clock: Clock, folder: Path, backend_of_copy: str
) -> None:
    if backend_of_copy == "postgres" and not space.location.startswith("postgresql:"):
        empty_database()
    fill(space, clock)
    with BACKENDS[backend_of_copy](folder / "target", clock, "kopie") as target:
        report = SpaceCopy(space, target).run()
        assert not report.is_stale
        assert {one.name for one in report.stores if one.count} == {
            "settings", "facts", "pending", "conversations", "messages", "daily", "schedules",
            "learning", "records",
        }  # fmt: skip
        assert read_all(target) == read_all(space)
        assert target.settings.memory_max_items == 50
        clock.pass_time(minutes=1)
        assert undo_all(target) == undo_all(space)


def test_new_messages_and_records_get_numbers_that_the_source_never_gave(
    origin: Stores, target: Stores
) -> None:
    SpaceCopy(origin, target).run()
    for one in (origin, target):
        one.conversations.add_exchange(KEY, "and now?", "now")
    last = [one.conversations.messages(KEY)[-1].id for one in (origin, target)]
    assert last[0] == last[1]
    keys = [one.records.append("log", "", b"three").key for one in (origin, target)]
    assert keys[1] >= keys[0]


def test_a_copy_that_is_made_twice_is_made_once(origin: Stores, target: Stores) -> None:
    first = SpaceCopy(origin, target).run()
    known = read_all(target)
    again = SpaceCopy(origin, target).run()
    assert (first.written > 0, again.written) == (True, 0)
    assert [one.digest for one in again.stores] == [one.digest for one in first.stores]
    assert read_all(target) == known


def test_a_copy_that_was_cut_off_goes_on_and_ends_the_same(origin: Stores, target: Stores) -> None:
    # Each run may write once more than the one before, until one comes to the end.
    for writes in range(30):
        try:
            report = SpaceCopy(origin, CutOff(target, writes)).run()
        except CutOffError:
            continue
        assert not report.is_stale
        break
    assert writes > 1
    assert SpaceCopy(origin, target).run().written == 0
    assert read_all(target) == read_all(origin)


def test_what_is_written_or_erased_meanwhile_is_copied_too(origin: Stores, target: Stores) -> None:
    origin.conversations.add_exchange("cli:secret", "my PIN is 4711", "I see.")
    changes: Iterator[Callable[[], object]] = iter(
        [
            lambda: origin.facts.add("Said meanwhile"),
            lambda: origin.conversations.clear("cli:secret"),
            lambda: origin.conversations.add_exchange(KEY, "貓呢？", "在睡覺。"),
        ]
    )

    def change(*_: int) -> None:
        next(changes, lambda: None)()

    report = SpaceCopy(origin, target, progress=change).run()
    assert not report.is_stale
    assert read_all(target) == read_all(origin)
    assert "Said meanwhile" in [one.content for one in target.facts.get_all()]
    assert target.conversations.summary("cli:secret") is None
    assert target.conversations.messages(KEY)[-1].message.content == "在睡覺。"


def test_a_source_that_does_not_rest_leaves_a_copy_that_says_so(
    origin: Stores, target: Stores, moment: Clock
) -> None:
    said: list[Memory] = []

    def talk(*_: int) -> None:
        moment.pass_time(seconds=1)
        said.append(origin.facts.add(f"still here, {len(said)}"))

    assert SpaceCopy(origin, target, progress=talk).run().is_stale
    assert len(said) == MOST_LOOKS
    assert not SpaceCopy(origin, target).run().is_stale
    assert read_all(target) == read_all(origin)


def test_a_dry_run_tells_what_differs_and_changes_nothing(origin: Stores, target: Stores) -> None:
    report = SpaceCopy(origin, target).run(dry_run=True)
    assert {one.name: one.written > 0 for one in report.stores}["messages"]
    assert not target.facts.get_all()
    assert not target.conversations.summaries()
    assert not SpaceCopy(origin, target).run().is_stale


def test_two_memories_are_never_merged(origin: Stores, target: Stores) -> None:
    target.facts.add("I was here before")
    with pytest.raises(Conflict, match="never merged"):
        SpaceCopy(origin, target).run()
    assert [one.content for one in target.facts.get_all()] == ["I was here before"]


def test_a_copy_that_somebody_used_or_of_another_memory_is_not_overwritten(
    origin: Stores, target: Stores, moment: Clock
) -> None:
    SpaceCopy(origin, target).run()
    other = MemoryStores(MemoryPlace(), now=moment)
    other.facts.add(LAMP)
    with pytest.raises(Conflict, match="another memory"):
        SpaceCopy(other, target).run()
    target.conversations.add_exchange("cli:new", "I live here now", "Welcome.")
    with pytest.raises(Conflict, match="has been used"):
        SpaceCopy(origin, target).run()
    assert target.conversations.messages("cli:new")


def test_a_copy_that_nobody_used_is_brought_up_to_date(
    origin: Stores, target: Stores, moment: Clock
) -> None:
    SpaceCopy(origin, target).run()
    assert target.passages.search("小明") == []
    moment.pass_time(hours=1)
    origin.facts.undo()
    origin.conversations.add_exchange("cli:new", "小明是誰？", "客廳的燈。")
    origin.daily.append("更新")
    assert SpaceCopy(origin, target).run().written > 0
    assert read_all(target) == read_all(origin)
    assert any("小明是誰" in one.text for one in target.passages.search("小明是誰"))
