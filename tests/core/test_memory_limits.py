"""Who may take how much of the memory's room, and which facts leave first."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from tests.strategies import MOMENT
from turnleaf.core.changes import Change, Source
from turnleaf.core.memories import Memory
from turnleaf.core.memory_limits import (
    LEARNED,
    Room,
    check_capacity,
    check_reserve,
    find_room,
    find_weakest,
)
from turnleaf.errors import MemoryFull


def fact(memory_id: str, *, minutes: int = 0, said: int = 1, origin: str = LEARNED) -> Memory:
    time = MOMENT + timedelta(minutes=minutes)
    return Memory(memory_id, f"about {memory_id}", time, time, None, origin, said_count=said)


def make_addition(memory: Memory, n: int = 1, origin: str = LEARNED, trust: str = "user") -> Change:
    source = Source(conversation="web:1", trust=trust)
    return Change(
        n=n, time=MOMENT, op="add", id=memory.id, after=memory,
        origin=origin, source=source,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "room"),
    [
        ((100, 10_000), (80, 8000)),
        ((1000, 10_000), (980, 9800)),
        ((6, 60), (5, 50)),
        ((0, 9), (0, 9)),
    ],
)
def test_learning_may_take_all_but_twenty_places_or_a_fifth(
    limits: tuple[int, int], room: tuple[int, int]
) -> None:
    assert find_room(LEARNED, Room(*limits)) == Room(*room)
    assert find_room("user", Room(*limits)) == Room(*limits)


def test_what_would_take_the_free_room_is_refused() -> None:
    check_reserve(Room(1, 2), Room(1, 2))
    for taken in (Room(2, 2), Room(1, 3)):
        with pytest.raises(MemoryFull):
            check_reserve(taken, Room(1, 2))


def test_capacity_counts_facts_and_characters() -> None:
    check_capacity(Room(2, 4), Room(2, 4))
    with pytest.raises(MemoryFull, match=r"contains 1 facts \(MEMORY_MAX_ITEMS\); forget some"):
        check_capacity(Room(2, 4), Room(1, 4))
    with pytest.raises(
        MemoryFull, match=r"4 characters, and the limit is 3 \(MEMORY_MAX_CHARS\); forget"
    ):
        check_capacity(Room(2, 4), Room(2, 3))


def test_facts_take_a_place_each_and_their_characters() -> None:
    chinese = dataclasses.replace(fact("a"), content="喜歡")
    assert Room.of([chinese, chinese]) == Room(2, 4)
    assert Room(3, 9) - Room.of([chinese]) == Room(2, 7)


def test_a_fact_has_a_place_where_one_is_left_and_it_is_short_enough() -> None:
    assert Room(1, 2).has_place_for("ab")
    assert not Room(1, 1).has_place_for("ab")
    assert not Room(0, 9).has_place_for("ab")


def test_the_weakest_is_said_least_and_then_oldest() -> None:
    facts = [fact("twice", said=2), fact("new", minutes=2), fact("old", minutes=1)]
    weak = find_weakest(facts, [make_addition(one) for one in facts])
    assert [one.id for one in weak] == ["old", "new", "twice"]


def test_what_a_person_asked_for_accepted_or_changed_is_not_weak() -> None:
    asked, foreign, edited = fact("a", origin="request"), fact("b"), fact("c")
    history = [
        make_addition(asked, origin="request"),
        make_addition(foreign, trust="document"),
        make_addition(edited),
    ]
    typed = Memory("c", "typed over", MOMENT, MOMENT, None, LEARNED)
    unrecorded = fact("d")
    assert find_weakest([asked, foreign, typed, unrecorded], history) == []
    assert find_weakest([edited], [*history, make_addition(edited, 4, "user")]) == []
