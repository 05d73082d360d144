"""Who may find what a conversation says."""

from __future__ import annotations

import pytest

from turnleaf.core.keys import (
    EVERYONE,
    Reader,
    can_read,
    choose_audience,
    is_narrower,
    make_own_audience,
    make_prompt_audience,
)

SEARCH = Reader()
PROMPT = Reader(is_prompt=True)


@pytest.mark.parametrize("reader", [SEARCH, PROMPT, Reader(audience=make_own_audience("slack:D1"))])
def test_what_is_for_everyone_is_read_by_everyone(reader: Reader) -> None:
    assert can_read(EVERYONE, reader)


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (SEARCH, False),
        (PROMPT, False),
        (Reader(audience=make_own_audience("slack:D1")), True),
        (Reader(audience=make_own_audience("slack:D1"), is_prompt=True), True),
        (Reader(audience=make_own_audience("slack:D2")), False),
        (Reader(audience=make_prompt_audience("slack:D1")), False),
    ],
)
def test_what_is_for_one_person_is_read_by_that_person_only(
    reader: Reader, *, expected: bool
) -> None:
    assert can_read(make_own_audience("slack:D1"), reader) is expected


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (SEARCH, True),
        (PROMPT, False),
        (Reader(audience=make_own_audience("slack:D1"), is_prompt=True), False),
        (Reader(audience=make_prompt_audience("schedule:a"), is_prompt=True), True),
        (Reader(audience=make_prompt_audience("schedule:b"), is_prompt=True), False),
    ],
)
def test_what_a_schedule_says_is_found_by_everyone_and_used_in_its_own_prompts(
    reader: Reader, *, expected: bool
) -> None:
    assert can_read(make_prompt_audience("schedule:a"), reader) is expected


@pytest.mark.parametrize(
    ("key", "audience"),
    [
        ("cli:session-1", EVERYONE),
        ("web:1", EVERYONE),
        ("schedule:早安", make_prompt_audience("schedule:早安")),
        ("slack:1.2", make_own_audience("slack:1.2")),
        ("slackers", EVERYONE),
    ],
)
def test_a_key_determines_the_audience_of_a_conversation(key: str, audience: str) -> None:
    assert choose_audience(key) == audience


def test_audiences_are_ordered_by_who_is_excluded() -> None:
    steps = [EVERYONE, make_prompt_audience("a"), make_own_audience("a")]
    for place, audience in enumerate(steps):
        assert all(is_narrower(audience, wider) for wider in steps[:place])
        assert not any(is_narrower(audience, narrower) for narrower in steps[place:])
    assert not is_narrower(make_own_audience("a"), make_own_audience("b"))
