"""What one message asks of the memory, however much it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from turnleaf import Assistant
from turnleaf.core.learning.memory_requests import Request
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.learning import Extraction, MessageReader
from turnleaf.memory_commands import MAX_REQUESTS, carry_out_commands, find_requests

NOW = datetime(2026, 11, 16, 23, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with Assistant(tmp_path, now=lambda: NOW) as one:
        yield one


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
    assert find_requests(text) == [Request("remember", content) for content in contents]


@pytest.mark.parametrize(("wish", "comma"), [("remember ", ", "), ("記住", "，")])
def test_what_is_asked_for_beyond_the_limit_stays_in_the_last_request(
    wish: str, comma: str
) -> None:
    facts = [f"fact {number}" for number in range(1000)]
    *first, last = find_requests(comma.join(wish + fact for fact in facts))
    assert [one.content for one in first] == facts[: MAX_REQUESTS - 1]
    rest = facts[MAX_REQUESTS - 1 :]
    assert last == Request("remember", comma.join([rest[0], *(wish + fact for fact in rest[1:])]))


def test_words_that_only_look_like_requests_do_not_hide_what_is_told() -> None:
    told = "remember milk" + ", remember it" * 1000
    assert find_requests(told) == [Request("remember", told.removeprefix("remember "))]


@pytest.mark.parametrize(
    ("text", "fact", "confirmed"),
    [
        (
            "remember I have an exam tomorrow",
            "I have an exam on 2026-11-17",
            "Remembered: I have an exam on 2026-11-17",
        ),
        ("記住我下週三要看牙醫", "我2026-11-25要看牙醫", "已記住：我2026-11-25要看牙醫"),
        ("记住我下周三要看牙医", "我2026-11-25要看牙医", "已记住：我2026-11-25要看牙医"),
    ],
)
def test_a_date_in_a_request_is_kept_absolutely_and_quoted_as_it_was_said(
    assistant: Assistant, text: str, fact: str, confirmed: str
) -> None:
    done = carry_out_commands(text, assistant.memory, assistant.learning, key="cli:a", now=NOW)
    assert done.confirmation == confirmed
    assert [one.content for one in assistant.memory.get_all()] == [fact]
    source = assistant.memory.changes(done.saved[0].id)[-1].source
    assert source is not None
    assert source.quote == text


def test_a_fact_is_forgotten_by_the_date_as_it_was_said(assistant: Assistant) -> None:
    stores = assistant.memory, assistant.learning
    carry_out_commands("remember I have an exam tomorrow", *stores, key="cli:a", now=NOW)
    done = carry_out_commands("forget that I have an exam tomorrow", *stores, key="cli:a", now=NOW)
    assert done.confirmation == "Forgotten: I have an exam on 2026-11-17"
    assert assistant.memory.get_all() == []


def test_the_same_date_said_the_day_after_is_known(assistant: Assistant) -> None:
    stores = assistant.memory, assistant.learning
    carry_out_commands("記住我明天要考試", *stores, key="cli:a", now=NOW)
    done = carry_out_commands("記住我今天要考試", *stores, key="cli:a", now=NOW + timedelta(days=1))
    assert done.confirmation == "我已經記得：我2026-11-17要考試"
    assert len(assistant.memory.get_all()) == 1


def test_a_recorded_request_counts_from_its_own_day_in_the_users_time_zone(
    assistant: Assistant,
) -> None:
    said = datetime(2026, 11, 9, 20, 0, tzinfo=UTC)
    assistant.record("host:a", [Message("user", "remember I have an exam tomorrow", said)])
    (exam,) = assistant.memory.view().ended
    assert exam.content == "I have an exam on 2026-11-11"
    assert assistant.memory.get_all() == []


@dataclass
class Steps:
    """Counts the calls of stores, and does something else before one of them."""

    at: int
    meanwhile: Callable[[], object]
    calls: Iterator[int] = field(default_factory=count)

    def watch(self, store: object) -> Any:  # noqa: ANN401 - stands in for any store
        return _StepRecorder(store, self)

    def take(self) -> None:
        if next(self.calls) == self.at:
            self.meanwhile()

    @property
    def is_over(self) -> bool:
        """Whether there were fewer calls than that."""
        return next(self.calls) <= self.at


@dataclass
class _StepRecorder:
    store: object
    steps: Steps

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        member = getattr(self.store, name)

        def call(*args: object, **more: object) -> object:
            self.steps.take()
            return member(*args, **more)

        return call if callable(member) else member


@dataclass
class WatchedStores:
    facts: Any
    learning: Any
    stores: Any

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stores have
        return getattr(self.stores, name)


class TestForgettingWhileItIsLearned:
    """One goes on at each step of the other, from its beginning to its end."""

    KEY = "cli:a"

    def forget(self, facts: Any, learning: Any) -> None:  # noqa: ANN401 - watched or not
        now = NOW + timedelta(seconds=1)
        text = "Forget that my dog is called Rex"
        carry_out_commands(text, facts, learning, key=self.KEY, now=now)

    def learn(self, stores: Any) -> None:  # noqa: ANN401 - watched or not
        Extraction(stores, lambda: NOW).read(self.KEY)

    def meet(self, stores: Any, step: int, *, is_forgetting_first: bool) -> Steps:  # noqa: ANN401
        """Do both, the one at a step of the other."""
        if is_forgetting_first:
            steps = Steps(step, partial(self.learn, stores))
            self.forget(steps.watch(stores.facts), steps.watch(stores.learning))
        else:
            steps = Steps(step, partial(self.forget, stores.facts, stores.learning))
            watched = steps.watch(stores.facts), steps.watch(stores.learning)
            self.learn(WatchedStores(*watched, stores))
        return steps

    @pytest.mark.parametrize("is_decided", [False, True])
    @pytest.mark.parametrize("is_forgetting_first", [False, True])
    def test_a_fact_that_is_forgotten_at_any_step_of_learning_it_is_gone(
        self, tmp_path: Path, *, is_decided: bool, is_forgetting_first: bool
    ) -> None:
        for step in count():
            with Assistant(tmp_path / str(step), now=lambda: NOW) as assistant:
                stores = assistant.stores
                said = Queued(Message("user", "My dog is called Rex", NOW), "user")
                stores.learning.enqueue(self.KEY, [said])
                if is_decided:
                    MessageReader(stores.facts, stores.learning, lambda: NOW).read(self.KEY)
                steps = self.meet(stores, step, is_forgetting_first=is_forgetting_first)
                if steps.is_over:
                    break
                self.learn(stores)
                assert stores.facts.get_all() == [], f"step {step}"
                assert stores.learning.outbox() == []
        assert step > 5
