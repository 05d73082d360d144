"""001 and 003: memory goes into every prompt, and forms by itself after each turn."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.standins.scripted_model import ScriptedModel, make_fact
from turnleaf import Assistant, Message, cli_key, schedule_key, slack_key

KEY = "cli:session-1"
LAMP = "客廳的燈叫做小明"
TOMATOES = "陽台的番茄是阿嬤種的"
"""What no rule reads, so that a model has to."""
MEMORY = Path("data/prompts/memory/MEMORY.md")
STAMP = re.compile(r" \[20\d\d-\d\d-\d\d \w+\]")
"""The day and id after a fact."""


class Moment:
    """A clock that is set by hand."""

    now = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def clock() -> Moment:
    return Moment()


@pytest.fixture
def assistant(
    model: ScriptedModel, clock: Moment, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Assistant]:
    monkeypatch.setenv("EMBEDDINGS", "off")
    assistant = Assistant("data", model=model, now=clock)
    yield assistant
    assistant.close(flush=False)


def page() -> str:
    return MEMORY.read_text("utf-8") if MEMORY.exists() else ""


@pytest.mark.scenario("001.goal-user-asks")
@pytest.mark.parametrize("wish", ["請記得{}", "記住{}", "Please remember that {}"])
def test_a_wish_to_remember_and_to_forget_acts_inside_the_turn(
    assistant: Assistant, wish: str
) -> None:
    assert LAMP in assistant.reply(KEY, wish.format(LAMP)).text
    assert LAMP in page()
    assert LAMP in assistant.reply(KEY, f"忘掉{LAMP}").text
    assert LAMP not in page()


@pytest.mark.scenario("001.goal-injected-every-time")
@pytest.mark.parametrize("key", [cli_key(1), slack_key("1.5"), schedule_key("morning")])
def test_every_reply_is_made_with_all_memories(
    assistant: Assistant, model: ScriptedModel, key: str
) -> None:
    for number in range(100):
        assistant.memory.add(f"事實{number}")
    assistant.reply(key, "Hi")
    assert all(f"- 事實{number} [2026-" in model.prompts[0].text for number in range(100))
    assert all(f"- 事實{number} [2026-" in model.prompts[0].system for number in range(100))


@pytest.mark.scenario("001.decision-3-inject-in-full")
def test_all_memories_stand_before_the_message_in_their_tag(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.memory.add(LAMP)
    assistant.memory.add("I am vegetarian")
    assistant.reply(KEY, "打開小明")
    block = f"<long_term_memory>\n- {LAMP}\n- I am vegetarian\n</long_term_memory>\n\n"
    assert block in STAMP.sub("", model.prompts[0].text)
    assert model.prompts[0].text.endswith("打開小明")


@pytest.mark.scenario("003.inject-memory-file")
def test_the_system_prompt_holds_the_memory_file_in_full(
    assistant: Assistant, model: ScriptedModel
) -> None:
    MEMORY.parent.mkdir(parents=True)
    text = f"# 我的記憶\n\nThe fuse box is in the cellar.\n\n## 家\n\n- {LAMP}\n- I am vegetarian"
    MEMORY.write_text(text, "utf-8")
    assistant.reply(KEY, "Hi")
    shown = STAMP.sub("", model.prompts[0].system)
    assert f"## Long-term Memory\n<long_term_memory>\n{text}\n" in shown


@pytest.mark.scenario("003.inject-search-results")
def test_what_the_search_finds_for_a_message_is_in_the_prompt(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.daily.append("鍋爐師傅來修過，換了閥門")
    assistant.daily.append("Bought bread")
    assistant.reply(KEY, "鍋爐修好了嗎?")
    said = model.prompts[0].messages[-1].text
    section = said[said.index("## Relevant Past Context") : said.index("</relevant_past_context>")]
    assert "(2026-11-16, daily log) 09:30 鍋爐師傅來修過，換了閥門" in section
    assert "bread" not in section


class SlowModel(ScriptedModel):
    """Gives no facts before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.may_go_on = threading.Event()

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        self.begun.set()
        assert self.may_go_on.wait(60)
        return super().generate_json(system, text, schema)


@pytest.mark.scenario("003.extract-after-turn")
def test_extraction_runs_in_the_background_when_a_turn_is_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMBEDDINGS", "off")
    slow = SlowModel()
    slow.facts = [[make_fact(TOMATOES)]]
    assistant = Assistant("data", model=slow)
    for text in (TOMATOES, "今天好冷"):
        assert assistant.reply(KEY, text).text == "Fine."
    assert slow.begun.wait(60)
    assert TOMATOES not in page()
    slow.may_go_on.set()
    assistant.close()
    assert TOMATOES in page()


@pytest.mark.scenario("003.extract-after-turn")
def test_with_learning_switched_off_nothing_is_extracted(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_AUTO_EXTRACT", "off")
    with Assistant("data", model=model) as assistant:
        for _ in range(4):
            assistant.reply(KEY, LAMP)
    assert model.extractions == []


@pytest.mark.scenario("003.extraction-throttle")
@pytest.mark.parametrize(("seconds", "exchanges", "times"), [(59, 2, 1), (60, 1, 1), (60, 2, 2)])
def test_within_a_minute_or_with_fewer_than_four_new_messages_it_is_skipped(
    assistant: Assistant,
    model: ScriptedModel,
    clock: Moment,
    seconds: int,
    exchanges: int,
    times: int,
) -> None:
    for _ in range(2):
        assistant.reply(KEY, "Hi")
    assistant.wait()
    clock.now += timedelta(seconds=seconds)
    for _ in range(exchanges):
        assistant.reply(KEY, "Hi")
    assistant.wait()
    assert len(model.extractions) == times


@pytest.mark.scenario("003.extraction-result")
def test_what_is_found_is_in_the_file_and_in_the_index(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.facts = [[make_fact(TOMATOES, category="家")]]
    for text in (TOMATOES, "今天好冷"):
        assistant.reply(KEY, text)
    assistant.wait()
    assert f"## 家\n\n- {TOMATOES}" in page()
    assert [hit.text for hit in assistant.index.search("番茄", source="memory")] == [TOMATOES]


def make_usage(tokens: int) -> dict[str, object]:
    return {"conversation": KEY, "currentTokens": tokens, "tokenLimit": 100_000}


@pytest.mark.scenario("003.flush-at-threshold")
def test_at_75_percent_of_the_context_memory_is_flushed_once(
    assistant: Assistant, model: ScriptedModel
) -> None:
    for tokens, flushes in ((74_999, 0), (75_000, 1), (99_000, 1)):
        assistant.record(KEY, [Message("user", LAMP)])
        assistant.handle_event("session.usage_info", make_usage(tokens))
        assistant.wait()
        assert len(model.extractions) == flushes
    assistant.handle_event("session.compaction_complete", {"conversation": KEY})
    assistant.handle_event("session.usage_info", make_usage(75_000))
    assistant.wait()
    assert len(model.extractions) == 2


@pytest.mark.scenario("003.flush-at-compaction")
@pytest.mark.parametrize(("before", "flushes"), [(0, 1), (80_000, 1)])
def test_the_start_of_a_compaction_flushes_unless_that_was_done(
    assistant: Assistant, model: ScriptedModel, before: int, flushes: int
) -> None:
    assistant.record(KEY, [Message("user", LAMP)])
    assistant.handle_event("session.usage_info", make_usage(before))
    assistant.wait()
    assistant.record(KEY, [Message("user", "Hi")])
    assistant.handle_event("session.compaction_start", {"conversation": KEY})
    assistant.wait()
    assert len(model.extractions) == flushes
    assert LAMP in page()
