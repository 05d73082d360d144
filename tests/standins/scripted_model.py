"""A model that says what it was told to say, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnleaf.core.model_dialogue import (
    Event,
    Prompt,
    Silence,
    Text,
    Toolbox,
    ToolCall,
    ToolResult,
    Usage,
)

Step = str | Usage | Exception | tuple[str, dict[str, Any]]
"""A piece of text, the use of the context, a failure, or a tool with its arguments."""

MARKED = ("It is late [#p", "1]. ", "小明 [#bcdfg2hjk3", "] glows [#", "p2, #p3].")
"""Right, wrong and cut marks of what an answer uses."""
WITHOUT_MARKS = "It is late. 小明 glows."


def next_event(events: Iterator[Event]) -> Event:
    """Return the next thing that a model says, however long it took."""
    return next(event for event in events if not isinstance(event, Silence))


def list_events(events: Iterator[Event]) -> list[Event]:
    """Return all that a model says."""
    return [event for event in events if not isinstance(event, Silence)]


@dataclass
class ScriptedModel:
    """Each turn takes the next script; without one it says "Fine."."""

    name: str = "scripted"
    turns: list[Sequence[Step]] = field(default_factory=list)
    facts: list[object] = field(default_factory=list)
    """For each extraction the list of facts, the answer as text, or what to raise."""
    prompts: list[Prompt] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    extractions: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    """Those of the extractions that it answered."""

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Event]:
        """Go through the script of this turn."""
        self.prompts.append(prompt)
        for step in self.turns.pop(0) if self.turns else ["Fine."]:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                yield Text(step)
            elif isinstance(step, Usage):
                yield step
            else:
                yield from self._call(step[0], step[1], tools)

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return the facts of this extraction."""
        assert system
        assert schema["type"] == "object"
        self.extractions.append(text)
        answer = self.facts.pop(0) if self.facts else []
        if isinstance(answer, Exception):
            raise answer
        self.completed.append(text)
        if isinstance(answer, str):
            return answer
        return json.dumps({"facts": answer}, ensure_ascii=False)

    def _call(self, name: str, arguments: dict[str, Any], tools: Toolbox | None) -> Iterator[Event]:
        assert tools is not None
        yield ToolCall("call_1", name, arguments)
        result = tools.call(name, arguments)
        self.results.append(json.loads(result))
        yield ToolResult("call_1", name, result)


def make_fact(fact: str, quote: str | None = None, **fields: object) -> dict[str, object]:
    """Return a fact in the form in which a model returns it."""
    plain = {"category": None, "message": 1, "relation": "new", "target": None}
    return {"fact": fact, "quote": quote or fact, **plain, **fields}
