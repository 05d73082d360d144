"""Facts that rules read right after a turn, from the message to the files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnleaf import Assistant, Message
from turnleaf.core.memories import Memory

MORNING = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


class DayClock:
    """A clock that stands until a day passes."""

    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> DayClock:
    return DayClock()


@pytest.fixture
def assistant(tmp_path: Path, clock: DayClock) -> Iterator[Assistant]:
    with Assistant(tmp_path, now=clock) as one:
        yield one


def say(assistant: Assistant, text: str, key: str = "cli:session-1") -> None:
    assistant.record(key, [Message("user", text), Message("assistant", "I see.")])
    assistant.wait()


def facts(assistant: Assistant) -> list[str]:
    return [memory.content for memory in assistant.memory.get_all()]


def list_older(assistant: Assistant) -> list[str]:
    return [memory.content for memory in assistant.memory.older()]


def take_only_fact(assistant: Assistant) -> Memory:
    (memory,) = assistant.memory.get_all()
    return memory


def test_a_fact_carries_its_slot_its_heading_and_the_words_that_it_rests_on(
    assistant: Assistant,
) -> None:
    say(assistant, "hello there, I live in Leeds by the way")
    memory = take_only_fact(assistant)
    assert (memory.content, memory.slot, memory.category) == ("I live in Leeds", "home", "Places")
    (change,) = assistant.memory.changes()
    assert change.source is not None
    assert change.source.quote == "I live in Leeds"


def test_the_newest_value_takes_the_place_of_the_older_and_undo_brings_it_back(
    assistant: Assistant,
) -> None:
    say(assistant, "I live in Leeds")
    say(assistant, "我搬到高雄了", "cli:session-2")
    assert facts(assistant) == ["我住在高雄"]
    assistant.memory.undo()
    assert facts(assistant) == ["I live in Leeds"]


def test_what_is_said_again_counts_once_a_day(assistant: Assistant, clock: DayClock) -> None:
    for _ in range(3):
        say(assistant, "I'm allergic to peanuts")
    assert take_only_fact(assistant).said_count == 1
    clock.pass_days(1)
    say(assistant, "我對花生過敏")
    say(assistant, "I am allergic to peanuts")
    assert (take_only_fact(assistant).content, take_only_fact(assistant).said_count) == (
        "I am allergic to peanuts",
        2,
    )


def test_what_no_longer_holds_moves_to_the_older_facts_and_comes_back_when_said_again(
    assistant: Assistant, clock: DayClock
) -> None:
    say(assistant, "I'm allergic to peanuts")
    clock.pass_days(1)
    say(assistant, "I'm not allergic to peanuts after all")
    assert (facts(assistant), list_older(assistant)) == ([], ["I am allergic to peanuts"])
    clock.pass_days(1)
    say(assistant, "I'm allergic to peanuts")
    assert (facts(assistant), list_older(assistant)) == (["I am allergic to peanuts"], [])


def test_an_event_ends_what_it_ends_and_is_a_fact_with_its_date(assistant: Assistant) -> None:
    say(assistant, "I work as a nurse")
    say(assistant, "I live in Leeds")
    say(assistant, "I got laid off", "cli:session-2")
    assert sorted(facts(assistant)) == ["I live in Leeds", "I lost my job (2026-11)"]
    assert list_older(assistant) == ["I work as a nurse"]


@pytest.mark.parametrize(
    ("said", "corrected", "left"),
    [
        ("my dog is called Rex", "no wait, it's Max, not Rex", ["My dog is called Max"]),
        ("客廳的燈叫做小明", "不是小明，是小華", ["客廳的燈叫做小華"]),
        ("my dog is called Rex", "just kidding", []),
    ],
)
def test_a_correction_means_what_was_said_last_in_the_same_conversation(
    assistant: Assistant, said: str, corrected: str, left: list[str]
) -> None:
    say(assistant, said)
    say(assistant, corrected)
    assert facts(assistant) == left


def test_a_correction_without_a_name_means_nothing_in_another_conversation(
    assistant: Assistant,
) -> None:
    say(assistant, "my dog is called Rex")
    say(assistant, "no, it's Max", "cli:session-2")
    assert facts(assistant) == ["My dog is called Rex"]


def test_what_is_less_sure_is_kept_when_it_is_said_on_another_day(
    assistant: Assistant, clock: DayClock
) -> None:
    for _ in range(2):
        say(assistant, "I'm using Figma")
    assert facts(assistant) == []
    clock.pass_days(1)
    say(assistant, "I'm using Figma")
    assert len(facts(assistant)) == 1
    assert "Figma" in facts(assistant)[0]


def test_what_ends_leaves_the_prompt_after_its_last_day(
    assistant: Assistant, clock: DayClock
) -> None:
    say(assistant, "I have an exam tomorrow")
    assert facts(assistant) == ["I have an exam on 2026-11-17"]
    assert "exam" in assistant.preview("cli:session-2", "hi").prompt.system
    clock.pass_days(2)
    assert facts(assistant) == []
    assert "exam" not in assistant.preview("cli:session-2", "hi").prompt.system


def test_a_heading_that_the_page_has_in_another_language_is_used(assistant: Assistant) -> None:
    say(assistant, "I'm allergic to peanuts")
    say(assistant, "我對蝦子過敏")
    assert {memory.category for memory in assistant.memory.get_all()} == {"Health"}


def test_erasing_a_conversation_erases_what_was_noted_of_it(
    assistant: Assistant, clock: DayClock
) -> None:
    say(assistant, "I'm using Figma")
    assert assistant.learning.sightings() != []
    assistant.erase_conversation("cli:session-1")
    assert assistant.learning.sightings() == []
    clock.pass_days(1)
    say(assistant, "I'm using Figma", "cli:session-2")
    assert facts(assistant) == []
