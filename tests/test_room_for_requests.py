"""A full memory has room for what a user asks for, and learning waits without costing anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.decisions import decide
from turnleaf.assistant import Assistant
from turnleaf.context_search import find_context
from turnleaf.core.changes import Source
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.learning import DecisionWriter
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.learning_queue import LearningStore
from turnleaf.tools import MemoryTools

KEY = "cli:session-1"
NOW = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
CHAT = Source(quote="q", conversation=KEY, message_time=NOW, trust="user")
PLACES = 5


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Assistant]:
    folder = tmp_path / "data"
    folder.mkdir()
    ConfigFile(folder / "memory-config.json").update({"memoryMaxItems": str(PLACES)})
    with Assistant(folder) as assistant:
        yield assistant


def fill(assistant: Assistant, learned: int = 0) -> None:
    for number in range(learned):
        assistant.memory.add(f"第 {number} 件事", origin="learnt", source=CHAT)
    for number in range(learned, PLACES):
        assistant.memory.add(f"我自己寫的第 {number} 件事")


def test_a_request_moves_the_weakest_learned_fact_and_says_so(small: Assistant) -> None:
    fill(small, learned=2)
    told = small.reply(KEY, "請記住：我對青黴素過敏").text
    assert "並把「第 0 件事」移到較舊的記憶" in told
    assert [one.content for one in small.memory.older()] == ["第 0 件事"]
    told = small.reply(KEY, "remember that I am allergic to walnuts").text
    assert "(to make room, “第 1 件事” moved to the older facts)" in told


@pytest.mark.parametrize(
    ("said", "told"),
    [("I live in Porto.", "this is not kept"), ("我住在高雄", "這些沒有記住")],
)
def test_a_statement_that_has_no_room_is_not_said_to_be_worth_remembering(
    small: Assistant, said: str, told: str
) -> None:
    fill(small)
    assert told in small.reply(KEY, said).text
    small.flush()
    assert len(small.memory.get_all()) == PLACES


def test_a_memory_full_of_own_facts_names_the_command_in_the_users_language(
    small: Assistant,
) -> None:
    fill(small)
    told = small.reply(KEY, "請記住：我對青黴素過敏").text
    assert "記憶已滿" in told
    assert "`turnleaf config memoryMaxItems 10`" in told


def test_a_request_brings_an_older_fact_back(small: Assistant) -> None:
    cat = small.memory.add("I have a cat named Tom")
    small.memory.retire([cat.id])
    small.reply(KEY, "remember that I have a cat named Tom")
    assert [one.id for one in small.memory.get_all()] == [cat.id]
    assert small.memory.older() == []


def test_a_request_to_forget_means_older_facts_too(small: Assistant) -> None:
    cat = small.memory.add("I have a cat named Tom")
    small.memory.retire([cat.id])
    told = small.reply(KEY, "forget that I have a cat named Tom").text
    assert "Forgotten: I have a cat named Tom" in told
    assert small.memory.older() == []


def test_older_facts_are_found_and_marked_but_in_no_prompt(small: Assistant) -> None:
    zoo = small.memory.add("The zoo visit was on Friday")
    ended = small.memory.add("The zoo exam is on 2020-01-15", until=date(2020, 1, 15))
    small.memory.retire([zoo.id])
    small.index.sync()
    hits = small.index.search("zoo")
    assert {(hit.source, hit.id) for hit in hits} == {("older", zoo.id), ("older", ended.id)}
    assert find_context("When was the zoo visit?", small.index, NOW.date()) == ()
    tools = MemoryTools(small.stores)
    found = json.loads(tools.call("manage_memory", {"action": "search", "search": "visit"}))
    assert [(one["id"], one["older"]) for one in found["memories"]] == [(zoo.id, True)]


def test_a_fact_that_ended_is_in_no_prompt_although_its_line_is_there(small: Assistant) -> None:
    small.memory.add("The zoo exam is on 2020-01-15", until=date(2020, 1, 15))
    assert "zoo exam" in small.memory.text()
    prompt = small.preview(KEY, "When is the zoo exam?").prompt
    assert "2020-01-15" not in prompt.system + "".join(str(one.content) for one in prompt.messages)


class CountingQueue(LearningStore):
    """A queue that counts how often something is postponed."""

    postponed = 0

    def postpone(self, outgoing_id: str, problem: str) -> None:
        self.postponed += 1
        super().postpone(outgoing_id, problem)


def test_what_does_not_fit_is_tried_again_only_when_there_is_room(
    small: Assistant, tmp_path: Path
) -> None:
    fill(small)
    now = NOW + timedelta(days=1)
    learning = CountingQueue(tmp_path / "learning.db", now=lambda: now)
    learning.enqueue(KEY, [Queued(Message("user", "x"))])
    batch = learning.claim(KEY)
    assert batch is not None
    learning.complete(batch, [decide(f"fact number {number}", KEY) for number in range(3)])
    small.stores.learning = learning
    writer = DecisionWriter(small.stores)
    assert len(writer.settle().problems) == 3
    assert learning.postponed == 3
    before = small.memory.changes()
    for _ in range(3):
        assert writer.settle().problems == ()
    assert learning.postponed == 3
    assert small.memory.changes() == before
    for memory in small.memory.get_all()[:2]:
        small.memory.delete(memory.id)
    assert [one.memory.content for one in writer.settle().learned] == ["fact number 0"]
    assert [one.decision.content for one in learning.outbox()] == [
        "fact number 1",
        "fact number 2",
    ]
    learning.close()
