"""001: the goals, decisions, risks and binding non-goals of long-term memory."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from turnleaf import (
    ConversationStore,
    ConversationTurn,
    DailyLog,
    Memory,
    MemoryFull,
    MemoryStore,
    TurnleafError,
    build_prompt_with_history,
    build_prompt_with_memory,
)

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
FILE = Path("memories.json")
FORMATS = pytest.mark.parametrize("name", ["memories.json", "MEMORY.md"])


def store_at(name: str | Path = FILE, moment: datetime = START) -> MemoryStore:
    """Open the memory as a process would that was started at that moment."""
    store = MemoryStore(name, now=lambda: moment)
    store.init()
    return store


def contents(store: MemoryStore) -> list[str]:
    return [memory.content for memory in store.get_all()]


def records() -> list[dict[str, Any]]:
    array = json.loads(FILE.read_text("utf-8"))
    assert isinstance(array, list)
    return array


ADD_IN_A_PROCESS = """
import sys
from turnleaf import MemoryStore
store = MemoryStore(sys.argv[1])
store.init()
for content in sys.argv[2:]:
    store.add(content)
"""


def start_adding(name: str, *facts: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ADD_IN_A_PROCESS, name, *facts])


@pytest.mark.scenario("001.goal-remember-across-conversations")
@FORMATS
def test_a_fact_from_one_conversation_is_in_the_prompt_of_a_new_one(name: str) -> None:
    with start_adding(name, "客廳的燈叫做小明") as other_session:
        assert other_session.wait(60) == 0
    prompt = build_prompt_with_memory(store_at(name).get_all(), "打開小明")
    assert prompt == "<long_term_memory>\n- 客廳的燈叫做小明\n</long_term_memory>\n\n打開小明"


@pytest.mark.scenario("001.goal-remember-across-conversations")
@FORMATS
def test_a_running_assistant_learns_what_another_session_saved(name: str) -> None:
    running = store_at(name)
    assert running.get_all() == []
    with start_adding(name, "Prefers tea to coffee") as other_session:
        assert other_session.wait(60) == 0
    assert contents(running) == ["Prefers tea to coffee"]


@pytest.mark.scenario("001.goal-remember-across-conversations")
def test_memory_outlives_the_conversation_that_it_came_from() -> None:
    conversations = ConversationStore("conversations.json")
    conversations.init()
    conversations.add_exchange("cli:session-1", "I prefer tea", "Noted.")
    store_at().add("Prefers tea")
    conversations.clear("cli:session-1")
    assert contents(store_at()) == ["Prefers tea"]


@pytest.mark.scenario("001.non-goal-semantic-search")
def test_search_needs_the_one_file_and_nothing_else() -> None:
    FILE.write_text(
        '[{"id": "a", "content": "喜歡咖啡", "createdAt": "2026-03-01T08:30:00.000Z",'
        ' "updatedAt": "2026-03-01T08:30:00.000Z"}]',
        "utf-8",
    )
    found = MemoryStore(FILE).search("咖啡")
    assert [memory.content for memory in found] == ["喜歡咖啡"]
    assert not list(Path().rglob("*.db"))


@pytest.mark.scenario("001.non-goal-categories")
@FORMATS
def test_a_memory_needs_no_category_and_gets_none(name: str) -> None:
    store_at(name).add("Prefers tea")
    assert [memory.category for memory in store_at(name).get_all()] == [None]


@pytest.mark.scenario("001.non-goal-categories")
def test_a_memory_without_a_category_is_stored_without_one() -> None:
    store_at().add("Prefers tea")
    assert "category" not in records()[0]


@pytest.mark.scenario("001.non-goal-priorities")
@FORMATS
def test_every_memory_is_injected_in_stored_order(name: str) -> None:
    facts = [f"Fact {n} of a hundred" for n in range(100, 0, -1)]
    store = store_at(name)
    for fact in facts:
        store.add(fact)
    prompt = build_prompt_with_memory(store.get_all(), "Go on")
    listed = "".join(f"- {fact}\n" for fact in facts)
    assert prompt == f"<long_term_memory>\n{listed}</long_term_memory>\n\nGo on"


@pytest.mark.scenario("001.non-goal-forgetting")
@FORMATS
def test_a_memory_does_not_expire(name: str) -> None:
    added = store_at(name).add("Prefers tea")
    much_later = store_at(name, START + timedelta(days=20 * 365))
    assert much_later.get_all() == [added]
    assert much_later.delete(added.id) is True
    assert much_later.get_all() == []


@pytest.mark.scenario("001.non-goal-isolation")
def test_all_who_open_the_memory_here_open_the_same() -> None:
    one, other = MemoryStore(), MemoryStore()
    one.init()
    added = one.add("Prefers tea")
    assert other.location == one.location
    assert other.get_all() == [added]


@pytest.mark.scenario("001.decision-1-json-array")
def test_memories_are_one_json_array_in_one_file() -> None:
    store = store_at()
    assert records() == []
    first, second = store.add("Prefers tea"), store.add("住在台北")
    assert [record["id"] for record in records()] == [first.id, second.id]
    store.delete(first.id)
    assert [record["content"] for record in records()] == ["住在台北"]


@pytest.mark.scenario("001.decision-1-json-array")
def test_the_file_can_be_read_by_its_user() -> None:
    store_at().add("客廳的燈叫做小明")
    assert "客廳的燈叫做小明" in FILE.read_text("utf-8")


@pytest.mark.scenario("001.decision-2-plain-content")
def test_a_stored_memory_has_the_four_fields() -> None:
    memory = store_at().add("Prefers tea")
    (record,) = records()
    assert record["id"] == memory.id
    assert record["content"] == "Prefers tea"
    assert record["createdAt"] == "2026-03-01T08:30:00.000Z"
    assert record["updatedAt"] == "2026-03-01T08:30:00.000Z"
    assert set(record) <= {"id", "content", "createdAt", "updatedAt", "origin"}


@pytest.mark.scenario("001.decision-2-plain-content")
def test_a_file_with_the_four_fields_only_is_understood() -> None:
    FILE.write_text(
        '[{"id":"m1","content":"住在台北","createdAt":"2025-12-31T23:59:59.123Z",'
        '"updatedAt":"2026-01-01T00:00:00Z"}]',
        "utf-8",
    )
    (memory,) = store_at().get_all()
    assert (memory.id, memory.content, memory.category) == ("m1", "住在台北", None)
    assert memory.created_at == datetime(2025, 12, 31, 23, 59, 59, 123000, tzinfo=UTC)
    assert memory.updated_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.scenario("001.decision-2-plain-content")
@FORMATS
@pytest.mark.parametrize(
    "content",
    [
        "兩行\n的記憶",
        "- a list\n- in a fact",
        "# Heading",
        "```\ncode\n```",
        '{"json": true}',
        "<!-- a comment -->",
        "ends with a backslash \\",
        "1. first\n\n   then",
    ],
)
def test_content_of_any_form_comes_back_exactly(name: str, content: str) -> None:
    store = store_at(name)
    store.add("before")
    store.add(content)
    store.add("after")
    assert contents(store_at(name)) == ["before", content, "after"]


@pytest.mark.scenario("001.decision-4-capacity")
@FORMATS
def test_a_hundred_memories_fit_by_default_and_not_one_more(name: str) -> None:
    store = store_at(name)
    for n in range(100):
        store.add(f"Fact {n}")
    with pytest.raises(MemoryFull, match="100"):
        store.add("One too many")
    assert contents(store_at(name)) == [f"Fact {n}" for n in range(100)]


@pytest.mark.scenario("001.decision-4-capacity")
@FORMATS
def test_ten_thousand_characters_fit_by_default_and_not_one_more(name: str) -> None:
    store = store_at(name)
    store.add("茶" * 9_000)
    with pytest.raises(MemoryFull, match="10000"):
        store.add("x" * 1_001)
    assert contents(store) == ["茶" * 9_000]
    store.add("x" * 1_000)
    with pytest.raises(MemoryFull):
        store.add("y")
    assert contents(store_at(name)) == ["茶" * 9_000, "x" * 1_000]


@pytest.mark.scenario("001.decision-4-capacity")
@FORMATS
def test_both_limits_are_set_by_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "2")
    monkeypatch.setenv("MEMORY_MAX_CHARS", "10")
    store = store_at(name)
    with pytest.raises(MemoryFull):
        store.add("12345678901")
    store.add("12345")
    store.add("678")
    with pytest.raises(MemoryFull):
        store.add("9")
    assert contents(store) == ["12345", "678"]


@pytest.mark.scenario("001.decision-4-capacity")
@FORMATS
def test_an_update_may_not_grow_over_the_limit_and_may_always_shrink(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = store_at(name).add("1234567890")
    monkeypatch.setenv("MEMORY_MAX_CHARS", "5")
    store = store_at(name)
    with pytest.raises(MemoryFull):
        store.update(fact.id, "12345678901")
    assert contents(store) == ["1234567890"]
    store.update(fact.id, "12345678")
    assert contents(store) == ["12345678"]


@pytest.mark.scenario("001.decision-4-capacity")
@pytest.mark.parametrize("variable", ["MEMORY_MAX_ITEMS", "MEMORY_MAX_CHARS"])
@pytest.mark.parametrize("value", ["many", "-1", "1.5", "一百"])
def test_a_bad_limit_is_an_error_that_names_the_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(TurnleafError, match=variable):
        store_at()


@pytest.mark.scenario("001.decision-5-prompt-helper")
def test_history_then_memory_then_message_make_the_prompt() -> None:
    memories = [Memory("m1", "客廳的燈叫做小明", START, START)]
    history = [ConversationTurn("user", "早安", START), ConversationTurn("assistant", "早", START)]
    prompt = build_prompt_with_history(history, build_prompt_with_memory(memories, "打開小明"))
    assert prompt == (
        "<conversation_history>\n"
        "[User]: 早安\n"
        "[Assistant]: 早\n"
        "</conversation_history>\n"
        "\n"
        "<long_term_memory>\n"
        "- 客廳的燈叫做小明\n"
        "</long_term_memory>\n"
        "\n"
        "打開小明"
    )


@pytest.mark.scenario("001.decision-5-prompt-helper")
def test_with_neither_memory_nor_history_the_message_is_the_prompt() -> None:
    assert build_prompt_with_history([], build_prompt_with_memory([], "打開小明")) == "打開小明"


@pytest.mark.scenario("001.risk-prompt-growth")
@FORMATS
def test_a_full_memory_drops_nothing_and_takes_facts_again_when_room_is_made(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "2")
    store = store_at(name)
    oldest = store.add("one")
    store.add("two")
    before = Path(name).read_bytes()
    with pytest.raises(MemoryFull):
        store.add("three")
    assert Path(name).read_bytes() == before
    store.delete(oldest.id)
    store.add("three")
    assert contents(store) == ["two", "three"]


@pytest.mark.scenario("001.risk-concurrent-writers")
@FORMATS
def test_processes_that_write_at_once_lose_nothing(name: str) -> None:
    wanted = [[f"fact {n} of writer {writer}" for n in range(8)] for writer in range(4)]
    writers = [start_adding(name, *facts) for facts in wanted]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    stored = contents(store_at(name))
    assert sorted(stored) == sorted(fact for facts in wanted for fact in facts)
    for facts in wanted:
        assert [fact for fact in stored if fact in facts] == facts


@pytest.mark.scenario("001.risk-concurrent-writers")
@FORMATS
def test_stores_that_are_open_at_once_see_each_others_changes(name: str) -> None:
    bot, server = store_at(name), store_at(name)
    first = bot.add("one")
    second = server.add("two")
    bot.update(second.id, "two, corrected")
    server.delete(first.id)
    assert contents(bot) == contents(server) == ["two, corrected"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.scenario("001.risk-privacy")
@FORMATS
def test_memories_conversations_and_logs_are_for_their_owner_only(name: str) -> None:
    store_at(Path("new/memory") / name).add("The alarm code is 1234")
    conversations = ConversationStore("new/conversations/conversations.json")
    conversations.init()
    conversations.add_exchange("cli:session-1", "Q", "A")
    DailyLog("new/memory/daily").append("Changed the alarm code")
    paths = list(Path("new").rglob("*"))
    assert {mode(path) for path in paths if path.is_file()} == {0o600}
    assert {mode(path) for path in [Path("new"), *paths] if path.is_dir()} == {0o700}


@pytest.mark.scenario("001.risk-privacy")
@FORMATS
def test_a_file_that_its_owner_has_shared_keeps_its_mode(name: str) -> None:
    store_at(name).add("one")
    Path(name).chmod(0o640)
    store_at(name).add("two")
    assert mode(Path(name)) == 0o640
