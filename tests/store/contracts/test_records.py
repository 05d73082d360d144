"""The contract of `Records`: bytes by collection and key, with versions and an end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.clocks import Clock
from tests.store.contracts.conftest import START, Backend
from tests.store.contracts.together import do_at_once
from turnleaf.core.opaque_records import MAX_NAME_CHARS, MAX_VALUE_BYTES, Record
from turnleaf.errors import Conflict, InvalidInput
from turnleaf.store.contracts import Records, Stores

MINUTE = timedelta(minutes=1)
NOT_NAMES = ["a\0b", "\ud800", "a\nb", "\x7f", "x" * (MAX_NAME_CHARS + 1)]


@pytest.fixture
def records(space: Stores) -> Records:
    return space.records


def keys(records: Records, collection: str = "c", prefix: str = "", **more: object) -> list[str]:
    return [one.key for one in records.list_records(collection, prefix, **more)]  # type: ignore[arg-type]


# Putting and getting


def test_a_record_comes_back_with_its_version_here_and_for_who_opens_it_later(
    backend: Backend, records: Records
) -> None:
    stored = records.put("sessions", "小明", b"\x00\xff")
    assert stored == Record("sessions", "小明", b"\x00\xff", stored.version)
    assert stored.version > 0
    assert (
        records.get("sessions", "小明") == backend.open().records.get("sessions", "小明") == stored
    )


def test_what_was_never_stored_is_not_there(records: Records) -> None:
    assert records.get("c", "k") is None
    assert records.pop("c", "k") is None
    assert records.list_records("c") == []
    assert records.erase("c") == 0


def test_a_second_value_replaces_the_first_for_everybody(
    backend: Backend, records: Records
) -> None:
    other = backend.open().records
    records.put("c", "k", b"1")
    newer = other.put("c", "k", b"2")
    assert records.get("c", "k") == newer
    assert keys(records) == ["k"]


def test_collections_do_not_mix(records: Records) -> None:
    records.put("one", "k", b"1")
    records.put("two", "k", b"2")
    assert records.erase("one") == 1
    assert records.get("one", "k") is None
    assert records.list_records("one") == []
    assert [one.value for one in records.list_records("two")] == [b"2"]


@pytest.mark.parametrize("value", [b"", b"\0", b"x" * 2_000_000, "中文".encode()])
def test_any_bytes_come_back_exactly(records: Records, value: bytes) -> None:
    records.put("c", "k", value)
    found = records.get("c", "k")
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize("name", ["../x", "a/b", "'; --", "%", "_", " ", "名字", "🙂", "x" * 512])
def test_any_name_is_just_a_name(records: Records, name: str) -> None:
    records.put(name, name, b"1")
    records.put(name, "other", b"2")
    found = records.get(name, name)
    assert found is not None
    assert (found.collection, found.key) == (name, name)
    assert [one.key for one in records.list_records(name, name)] == [name]
    assert records.pop(name, name) == found


@pytest.mark.parametrize("name", ["", *NOT_NAMES])
def test_what_is_no_name_is_refused_and_nothing_is_stored(records: Records, name: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: records.put(name, "k", b"1"),
        lambda: records.put("c", name, b"1"),
        lambda: records.append(name, "k", b"1"),
        lambda: records.get(name, "k"),
        lambda: records.get("c", name),
        lambda: records.pop(name, "k"),
        lambda: records.pop("c", name),
        lambda: records.list_records(name),
        lambda: records.erase(name),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match=r"1 to 512 characters|not text"):
            attempt()
    assert records.list_records("c") == []


@pytest.mark.parametrize("prefix", NOT_NAMES)
def test_what_can_begin_no_name_is_refused_as_a_prefix(records: Records, prefix: str) -> None:
    for attempt in (
        lambda: records.append("c", prefix, b"1"),
        lambda: records.list_records("c", prefix),
        lambda: records.list_records("c", after=prefix),
        lambda: records.erase("c", prefix),
    ):
        with pytest.raises(InvalidInput, match=r"1 to 512 characters|not text"):
            attempt()


def test_a_value_that_is_too_large_is_refused_and_nothing_is_stored(records: Records) -> None:
    large = b"x" * (MAX_VALUE_BYTES + 1)
    with pytest.raises(InvalidInput, match="limited to 16,000,000 bytes"):
        records.put("c", "k", large)
    with pytest.raises(InvalidInput, match="limited to 16,000,000 bytes"):
        records.append("c", "k", large)
    assert records.list_records("c") == []


# Versions


def test_a_version_grows_with_each_change_and_is_never_used_again(
    backend: Backend, records: Records
) -> None:
    versions = [
        records.put("c", "k", b"1").version,
        backend.open().records.put("c", "k", b"1").version,
    ]
    records.pop("c", "k")
    versions.append(records.put("c", "k", b"1").version)
    records.erase("c")
    versions.append(backend.open().records.put("c", "k", b"1").version)
    assert versions == sorted(set(versions))


def test_a_value_is_put_over_the_version_that_was_read_and_over_no_other(
    backend: Backend, records: Records
) -> None:
    first = records.put("c", "k", b"1", expected=0)
    second = records.put("c", "k", b"2", expected=first.version)
    for expected in (0, first.version, second.version + 1):
        with pytest.raises(Conflict, match="changed meanwhile; read it again"):
            backend.open().records.put("c", "k", b"3", expected=expected)
    assert records.get("c", "k") == second


def test_of_a_record_that_is_gone_no_version_is_there_to_be_replaced(records: Records) -> None:
    gone = records.put("c", "k", b"1")
    records.pop("c", "k")
    with pytest.raises(Conflict):
        records.put("c", "k", b"2", expected=gone.version)
    assert records.put("c", "k", b"2", expected=0).version > gone.version


def test_of_several_who_put_over_one_version_one_does(backend: Backend, records: Records) -> None:
    first = records.put("c", "k", b"0")

    def put(name: bytes) -> bytes | None:
        opened = backend.open().records
        try:
            return opened.put("c", "k", name, expected=first.version).value
        except Conflict:
            return None

    done = [one for one in do_at_once(put, (b"a", b"b", b"c")) if one]
    found = records.get("c", "k")
    assert found is not None
    assert done == [found.value]


# Listing


def test_records_are_listed_by_key_in_the_order_of_their_characters(records: Records) -> None:
    for key in ("b", "B", "a/2", "a/10", "é", "名", "🙂", "\uffff", "a"):
        records.put("c", key, key.encode())
    listed = records.list_records("c")
    assert [one.key for one in listed] == ["B", "a", "a/10", "a/2", "b", "é", "名", "\uffff", "🙂"]
    assert [one.value.decode() for one in listed] == [one.key for one in listed]


def test_a_list_has_the_keys_that_begin_with_a_prefix_and_no_others(records: Records) -> None:
    for key in ("a", "a%", "a%b", "ab", "a_", "A%", "b", "a%🙂", "a%\U0010ffff"):
        records.put("c", key, b"")
    assert keys(records, prefix="a%") == ["a%", "a%b", "a%🙂", "a%\U0010ffff"]
    assert keys(records, prefix="a_") == ["a_"]
    assert keys(records, prefix="nothing") == []


def test_a_list_is_read_in_parts_each_after_the_last_key_of_the_one_before(
    records: Records,
) -> None:
    for number in range(7):
        records.put("c", f"k{number}", b"")
    records.put("c", "other", b"")
    read: list[str] = []
    while part := keys(records, prefix="k", after=read[-1] if read else None, limit=3):
        assert len(part) <= 3
        read += part
    assert read == [f"k{number}" for number in range(7)]
    assert keys(records, after="k5") == ["k6", "other"]
    assert keys(records, after="k55", limit=1) == ["k6"]
    assert keys(records, limit=0) == keys(records, limit=-1) == []


# Appending


def test_what_is_appended_comes_after_all_that_was_appended_there_before(
    backend: Backend, records: Records
) -> None:
    other = backend.open().records
    made = [
        store.append("c", "log:", b"%d" % number)
        for number, store in enumerate([records, other] * 9)
    ]
    assert [one.key for one in made] == sorted({one.key for one in made})
    assert all(one.key.startswith("log:") for one in made)
    assert records.list_records("c", "log:") == made


def test_what_is_appended_comes_last_also_when_earlier_ones_are_gone(records: Records) -> None:
    first = records.append("c", "", b"1")
    records.pop("c", first.key)
    second = records.append("c", "", b"2")
    records.erase("c")
    third = records.append("c", "", b"3")
    assert first.key < second.key < third.key


def test_of_several_who_append_each_gets_a_key_of_its_own(backend: Backend) -> None:
    stores = [backend.open().records for _ in range(3)]
    made = do_at_once(lambda store: [store.append("c", "k", b"x").key for _ in range(8)], stores)
    assert len({key for several in made for key in several}) == 24
    assert all(several == sorted(several) for several in made)
    assert keys(stores[0]) == sorted(key for several in made for key in several)


def test_a_prefix_that_leaves_no_room_for_a_number_is_refused(records: Records) -> None:
    longest = "x" * (MAX_NAME_CHARS - 16)
    assert records.get("c", records.append("c", longest, b"1").key)
    with pytest.raises(InvalidInput, match="1 to 512 characters"):
        records.append("c", longest + "x", b"1")
    assert len(records.list_records("c")) == 1


# Removing


def test_what_is_popped_is_returned_and_gone(backend: Backend, records: Records) -> None:
    stored = records.put("c", "k", b"1")
    assert backend.open().records.pop("c", "k") == stored
    assert records.get("c", "k") is None
    assert records.pop("c", "k") is None


def test_of_several_who_pop_one_gets_it(backend: Backend, records: Records) -> None:
    for _ in range(5):
        records.put("c", "k", b"1")
        stores = [backend.open().records for _ in range(3)]
        got = do_at_once(lambda store: store.pop("c", "k"), stores)
        assert len([one for one in got if one]) == 1


def test_erasing_takes_the_keys_of_a_prefix_and_says_how_many(records: Records) -> None:
    for key in ("a", "a%", "ab", "b", "a\U0010ffff"):
        records.put("c", key, b"")
    assert records.erase("c", "a%") == 1
    assert records.erase("c", "a") == 3
    assert keys(records) == ["b"]
    assert records.erase("c") == 1
    assert records.erase("c") == 0


# An end


def test_a_record_is_there_until_its_time_is_over_and_not_at_that_moment(
    backend: Backend, records: Records, clock: Clock
) -> None:
    stored = records.put("c", "k", b"1", ttl=MINUTE)
    appended = records.append("c", "log", b"2", ttl=2 * MINUTE)
    assert (stored.expires_at, appended.expires_at) == (START + MINUTE, START + 2 * MINUTE)
    clock.pass_time(seconds=59)
    assert records.get("c", "k") == stored
    clock.pass_time(seconds=1)
    assert records.get("c", "k") is None
    assert backend.open().records.list_records("c") == [appended]
    assert records.pop("c", "k") is None
    clock.pass_time(minutes=1)
    assert records.list_records("c") == []


def test_where_a_record_has_ended_there_is_none_to_be_put_over(
    records: Records, clock: Clock
) -> None:
    ended = records.put("c", "k", b"1", ttl=MINUTE)
    clock.pass_time(minutes=1)
    with pytest.raises(Conflict):
        records.put("c", "k", b"2", expected=ended.version)
    assert records.put("c", "k", b"2", expected=0).version > ended.version


def test_a_value_put_later_has_only_the_end_that_it_is_given(
    records: Records, clock: Clock
) -> None:
    records.put("c", "k", b"1", ttl=MINUTE)
    lasting = records.put("c", "k", b"2")
    clock.pass_time(days=10_000)
    assert records.get("c", "k") == lasting
    assert lasting.expires_at is None


def test_records_that_have_ended_are_not_counted_among_those_erased(
    records: Records, clock: Clock
) -> None:
    records.put("c", "a", b"1", ttl=MINUTE)
    records.put("c", "b", b"2")
    clock.pass_time(minutes=1)
    assert records.erase("c") == 1


@pytest.mark.parametrize("put", ["put", "append"])
def test_records_that_have_ended_are_removed_by_the_next_that_is_stored(
    records: Records, clock: Clock, put: str
) -> None:
    records.put("c", "a", b"1", ttl=MINUTE)
    records.put("c", "b", b"2", ttl=2 * MINUTE)
    clock.pass_time(minutes=1)
    assert records.examine().rows[0].holds == "2 records"
    getattr(records, put)("d", "c", b"3")
    assert records.examine().rows[0].holds == "2 records"
    assert [one.key for one in records.list_records("c")] == ["b"]


# Opening again


def test_a_closed_store_opens_again_by_itself(records: Records) -> None:
    stored = records.put("c", "k", b"1")
    records.close()
    records.close()
    assert records.get("c", "k") == stored
