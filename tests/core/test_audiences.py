"""Who may find what a conversation says."""

from __future__ import annotations

import pytest

from turnleaf.core.keys import (
    EVERYONE,
    Reader,
    can_read,
    default_audience,
    is_narrower,
    only,
    own_prompts,
)

SEARCH = Reader()
PROMPT = Reader(is_prompt=True)


@pytest.mark.parametrize("reader", [SEARCH, PROMPT, Reader(audience=only("slack:D1"))])
def test_what_is_for_everyone_is_read_by_everyone(reader: Reader) -> None:
    assert can_read(EVERYONE, reader)


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (SEARCH, False),
        (PROMPT, False),
        (Reader(audience=only("slack:D1")), True),
        (Reader(audience=only("slack:D1"), is_prompt=True), True),
        (Reader(audience=only("slack:D2")), False),
        (Reader(audience=own_prompts("slack:D1")), False),
    ],
)
def test_what_is_for_one_person_is_read_by_that_person_only(
    reader: Reader, *, expected: bool
) -> None:
    assert can_read(only("slack:D1"), reader) is expected


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (SEARCH, True),
        (PROMPT, False),
        (Reader(audience=only("slack:D1"), is_prompt=True), False),
        (Reader(audience=own_prompts("schedule:a"), is_prompt=True), True),
        (Reader(audience=own_prompts("schedule:b"), is_prompt=True), False),
    ],
)
def test_what_a_schedule_says_is_found_by_everyone_and_used_in_its_own_prompts(
    reader: Reader, *, expected: bool
) -> None:
    assert can_read(own_prompts("schedule:a"), reader) is expected


@pytest.mark.parametrize(
    ("key", "audience"),
    [
        ("cli:session-1", EVERYONE),
        ("web:1", EVERYONE),
        ("schedule:早安", own_prompts("schedule:早安")),
        ("slack:1.2", only("slack:1.2")),
        ("slackers", EVERYONE),
    ],
)
def test_a_key_determines_the_audience_of_a_conversation(key: str, audience: str) -> None:
    assert default_audience(key) == audience


def test_audiences_are_ordered_by_who_is_excluded() -> None:
    steps = [EVERYONE, own_prompts("a"), only("a")]
    for place, audience in enumerate(steps):
        assert all(is_narrower(audience, wider) for wider in steps[:place])
        assert not any(is_narrower(audience, narrower) for narrower in steps[place:])
    assert not is_narrower(only("a"), only("b"))
