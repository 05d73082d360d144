"""What one message asks of the memory, however much it asks for."""

from __future__ import annotations

import pytest

from turnleaf.core.requests import Request
from turnleaf.obeying import MAX_REQUESTS, requests_in


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("remember a, b and c, d", ["a, b and c, d"]),
        ("remember a, remember b. And don't forget c", ["a", "b", "c"]),
        ("記住我不吃花生，也記住我對貓過敏", ["我不吃花生", "我對貓過敏"]),
        ("remember " + "a, " * 1000 + "b", ["a, " * 1000 + "b"]),
    ],
)
def test_each_request_of_a_message_is_found(text: str, contents: list[str]) -> None:
    assert requests_in(text) == [Request("remember", content) for content in contents]


@pytest.mark.parametrize(("wish", "comma"), [("remember ", ", "), ("記住", "，")])
def test_what_is_asked_for_beyond_the_limit_stays_in_the_last_request(
    wish: str, comma: str
) -> None:
    facts = [f"fact {number}" for number in range(1000)]
    *first, last = requests_in(comma.join(wish + fact for fact in facts))
    assert [one.content for one in first] == facts[: MAX_REQUESTS - 1]
    rest = facts[MAX_REQUESTS - 1 :]
    assert last == Request("remember", comma.join([rest[0], *(wish + fact for fact in rest[1:])]))


def test_words_that_only_look_like_requests_do_not_hide_what_is_told() -> None:
    told = "remember milk" + ", remember it" * 1000
    assert requests_in(told) == [Request("remember", told.removeprefix("remember "))]
