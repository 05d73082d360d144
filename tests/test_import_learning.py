"""A model reads an import only as far as was agreed, once, and what it finds waits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from turnleaf import Assistant, Message
from turnleaf.core.messages import NewMessage, TreeNode
from turnleaf.errors import ModelError
from turnleaf.importing import ImportLearning

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
SAID = datetime(2025, 3, 1, 8, tzinfo=UTC)


@dataclass
class HomeModel:
    """A model that finds a home in each message that names one."""

    name: str = "reader"
    asked: list[str] = field(default_factory=list)
    fails: bool = False

    def generate_json(self, system: str, prompt: str, schema: Mapping[str, Any]) -> str:
        assert system
        assert schema
        if self.fails:
            message = "the model does not answer"
            raise ModelError(message)
        self.asked.append(prompt)
        town = next(town for town in ("Hualien", "Tainan", "Taipei") if town in prompt)
        fact = {
            "fact": f"Has a garden in {town}", "quote": f"my garden in {town}", "message": 1,
            "slot": "other", "until": None, "relation": "new", "target": None,
        }  # fmt: skip
        return json.dumps({"facts": [fact]})


@pytest.fixture
def assistant(tmp_path: Path) -> Assistant:
    assistant = Assistant(tmp_path / "data", now=lambda: NOW)
    for town in ("Hualien", "Tainan", "Taipei"):
        said = Message("user", f"I was in my garden in {town} all day.", SAID)
        nodes = [TreeNode(NewMessage(said), None)]
        assistant.conversations.import_tree(f"import:chatgpt:{town}", nodes, leaf=-1, title=town)
    assistant.conversations.add_exchange("web:1", "I was in my garden in Tainan.", "Nice.")
    return assistant


def make_learning(assistant: Assistant, model: HomeModel) -> ImportLearning:
    return ImportLearning(assistant.stores, lambda: NOW, model)  # type: ignore[arg-type]


def test_what_it_takes_is_said_before_anybody_is_asked(assistant: Assistant) -> None:
    model = HomeModel()
    plan = make_learning(assistant, model).plan()
    assert (plan.conversations, plan.calls, model.asked) == (3, 3, [])
    assert make_learning(assistant, model).run(plan.calls).calls == plan.calls
    sent = sum(len(text) for text in model.asked)
    assert 0 < sent // 8 < plan.tokens


def test_it_stops_at_the_limit_and_goes_on_where_it_was(assistant: Assistant) -> None:
    model = HomeModel()
    learning = make_learning(assistant, model)
    assert (learning.run(2).calls, learning.plan().calls) == (2, 1)
    rest = learning.run(10)
    assert (rest.calls, rest.found, learning.plan().calls) == (1, 1, 0)
    assert len(set(model.asked)) == 3
    assert learning.run(10).calls == 0


def test_what_is_found_waits_with_its_words_and_does_not_come_back(assistant: Assistant) -> None:
    learning = make_learning(assistant, HomeModel())
    assert learning.run(10).found == 3
    waiting = assistant.pending.get_all()
    assert {one.content for one in waiting} == {
        f"Has a garden in {town}" for town in ("Hualien", "Tainan", "Taipei")
    }
    assert assistant.memory.get_all() == []
    (change,) = assistant.pending.changes(waiting[0].id)
    assert change.source
    assert "my garden in" in (change.source.quote or "")
    assert (change.source.conversation or "").startswith("import:chatgpt:")
    for one in waiting:
        assistant.pending.reject(one.id)
    assistant.stores.records.erase("import-learning")
    assert learning.run(10).found == 0


def test_a_model_that_fails_loses_nothing_and_is_asked_again_later(assistant: Assistant) -> None:
    with pytest.raises(ModelError):
        make_learning(assistant, HomeModel(fails=True)).run(10)
    assert make_learning(assistant, HomeModel()).run(10).found == 3
