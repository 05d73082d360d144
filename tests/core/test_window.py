"""The newest part of a conversation within a budget, cut only where it may be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import conversations, thorough
from turnleaf.core.messages import Message
from turnleaf.core.tokens import count_content_chars, count_message_tokens, estimate
from turnleaf.core.window import count_newest_exchange, newest_within, trim_to_limits

Cost = Callable[[Message], int]


def one(_: Message) -> int:
    return 1


def chars(message: Message) -> int:
    return count_content_chars(message.content)


def tokens(message: Message) -> int:
    return count_message_tokens(message, estimate)


COSTS: tuple[Cost, ...] = (one, chars, tokens)
costs = st.sampled_from(COSTS)
budgets = st.integers(0, 12) | st.integers(0, 3000)


def may_begin(messages: Sequence[Message], index: int) -> bool:
    """Whether a conversation may be cut here, said as plainly as possible."""
    if index in {0, len(messages)}:
        return True
    called = {call for message in messages[:index] for call in message.call_ids}
    answered = {message.tool_call_id for message in messages[index:]}
    return messages[index].role not in {"assistant", "tool"} and not called & answered


def best(messages: Sequence[Message], budget: int, cost: Cost, keep: int) -> list[Message]:
    """The longest end that fits, or the shortest that holds the last `keep` messages."""
    cuts = [index for index in range(len(messages) + 1) if may_begin(messages, index)]
    fitting = [cut for cut in cuts if sum(map(cost, messages[cut:])) <= budget]
    forced = [cut for cut in cuts if cut <= len(messages) - keep]
    return list(messages[min([*fitting, forced[-1]]) :])


def make_messages(texts: str) -> list[Message]:
    """u, a: a user and an assistant; c, r: a tool call and its result."""
    makers: dict[str, Callable[[int], Message]] = {
        "u": lambda _: Message("user", "hi"),
        "a": lambda _: Message("assistant", "hello"),
        "s": lambda _: Message("system", "be kind"),
        "c": lambda _: Message("assistant", None, tool_calls=[{"id": "x"}]),
        "r": lambda _: Message("tool", "result", tool_call_id="x"),
    }
    return [makers[letter](index) for index, letter in enumerate(texts)]


def letters(messages: Sequence[Message]) -> str:
    names = {"user": "u", "assistant": "a", "system": "s", "tool": "r"}
    return "".join("c" if message.tool_calls else names[message.role] for message in messages)


@pytest.mark.parametrize(
    ("messages", "budget", "left"),
    [
        ("uaua", 4, "uaua"),
        ("uaua", 3, "ua"),
        ("uaua", 2, "ua"),
        ("uaua", 1, ""),
        ("uaua", 0, ""),
        ("ucrua", 3, "ua"),
        ("ucra", 3, ""),
        ("ucraua", 5, "ua"),
        ("aua", 3, "aua"),
        ("aua", 2, "ua"),
        ("sua", 2, "ua"),
        ("", 5, ""),
    ],
)
def test_whole_exchanges_are_kept_or_dropped(messages: str, budget: int, left: str) -> None:
    assert letters(newest_within(make_messages(messages), budget, one)) == left


@pytest.mark.parametrize(
    ("messages", "keep", "left"),
    [("uaua", 2, "ua"), ("uaua", 1, "ua"), ("ucra", 1, "ucra"), ("uaucr", 1, "ucr"), ("ua", 0, "")],
)
def test_the_newest_stay_whatever_they_cost(messages: str, keep: int, left: str) -> None:
    assert letters(newest_within(make_messages(messages), 0, one, keep=keep)) == left


def test_a_result_that_comes_late_keeps_everything_since_its_call() -> None:
    assert letters(newest_within(make_messages("uacuurua"), 5, one)) == "ua"
    assert letters(newest_within(make_messages("uacuur"), 4, one)) == ""


def test_a_result_whose_call_nobody_made_holds_nothing_back() -> None:
    stray = Message("tool", "x", tool_call_id="nobody")
    kept = newest_within([*make_messages("uaua"), stray, *make_messages("ua")], 3, one)
    assert letters(kept) == "ua"


@thorough
@given(conversations(), budgets, costs, st.integers(0, 4))
def test_what_is_left_is_the_longest_end_that_may_be_left(
    messages: list[Message], budget: int, cost: Cost, keep: int
) -> None:
    keep = min(keep, len(messages))
    assert list(newest_within(messages, budget, cost, keep=keep)) == best(
        messages, budget, cost, keep
    )


@thorough
@given(conversations(), budgets, costs)
def test_what_is_left_fits_and_can_be_sent(
    messages: list[Message], budget: int, cost: Cost
) -> None:
    kept = newest_within(messages, budget, cost)
    assert list(kept) == messages[len(messages) - len(kept) :]
    assert sum(map(cost, kept)) <= budget
    if kept and len(kept) < len(messages):
        assert kept[0].role not in {"assistant", "tool"}
    dropped = {call for message in messages[: -len(kept) or None] for call in message.call_ids}
    if len(kept) < len(messages):
        assert not dropped & {message.tool_call_id for message in kept}


@thorough
@given(conversations(), st.integers(1, 12), st.integers(1, 4000))
def test_a_stored_conversation_keeps_its_newest_exchange_and_its_limits(
    messages: list[Message], max_turns: int, max_chars: int
) -> None:
    kept = list(trim_to_limits(messages, max_turns, max_chars, chars))
    newest = count_newest_exchange(messages)
    by_turns = best(messages, max_turns, one, newest)
    assert kept == best(by_turns, max_chars, chars, count_newest_exchange(by_turns))
    assert kept[len(kept) - newest :] == messages[len(messages) - newest :]
    if len(kept) > max_turns or sum(map(chars, kept)) > max_chars:
        assert kept == best(messages, 0, one, newest)


@thorough
@given(conversations(), st.integers(1, 12), st.integers(1, 4000))
def test_trimming_twice_trims_once(messages: list[Message], max_turns: int, max_chars: int) -> None:
    once = trim_to_limits(messages, max_turns, max_chars, chars)
    assert list(trim_to_limits(once, max_turns, max_chars, chars)) == list(once)


def test_the_newest_exchange_begins_with_the_last_thing_that_a_user_said() -> None:
    assert [
        count_newest_exchange(make_messages(each)) for each in ("uaua", "ucrar", "aa", "", "u")
    ] == [
        2,
        5,
        2,
        0,
        1,
    ]


def test_only_what_is_kept_is_counted() -> None:
    counted: list[Message] = []

    def cost(message: Message) -> int:
        counted.append(message)
        return 1

    newest_within(make_messages("ua" * 500), 4, cost)
    assert len(counted) <= 6
