"""Whole turns with the real claude program and the real libraries, against loopback APIs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.faces.forking import make_program
from tests.standins import chat_api, messages_api
from tests.standins.chat_api import ChatApi
from tests.standins.messages_api import MessagesApi
from turnleaf import Assistant
from turnleaf.core.model_dialogue import Text
from turnleaf.core.tokens import TOOLS_TOKENS
from turnleaf.errors import ModelError

CLAUDE = Path(__file__).parents[1] / ".venv/claude/node_modules/.bin"
KEY = "cli:session-1"


@dataclass
class ModelUnderTest:
    """A kind of model, the server that it talks to, and an assistant that uses it."""

    kind: str
    api: ChatApi | MessagesApi
    assistant: Assistant
    tool_prefix: str = field(default="")

    def answer(self, *pieces: str) -> None:
        self.api.answer(*pieces)

    def call(self, name: str, **arguments: object) -> None:
        if isinstance(self.api, ChatApi):
            self.api.answer(chat_api.tool(name, arguments))
        else:
            self.api.answer(messages_api.tool(f"{self.tool_prefix}{name}", arguments))

    def read_request(self, number: int = -1) -> str:
        """Return all that reached the model in one request, as text."""
        body: dict[str, Any] = self.api.requests[number].body
        return "\n".join(list_texts([body.get("system"), body["messages"]]))


def list_texts(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, list):
        return [text for one in part for text in list_texts(one)]
    if isinstance(part, dict):
        return list_texts(part.get("text") or part.get("content"))
    return []


@pytest.fixture(params=["claude-cli", "anthropic", "openai"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModelUnderTest]:
    kind: str = request.param
    with ExitStack() as stack:
        api: ChatApi | MessagesApi
        api = MessagesApi() if kind in {"claude-cli", "anthropic"} else ChatApi()
        stack.enter_context(api)
        variables = {
            "HOME": str(tmp_path / "home"),
            "PATH": f"{CLAUDE}:{os.environ['PATH']}",
            "EMBEDDINGS": "off",
            "TURNLEAF_MODEL": "claude-cli" if kind == "claude-cli" else f"{kind}:a-model",
            "TURNLEAF_MODEL_URL": "" if kind == "claude-cli" else api.url,
            "TURNLEAF_EXTRACT_MODEL": "rules",
            "ANTHROPIC_API_KEY": "dummy",
            "OPENAI_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": api.url if kind == "claude-cli" else "",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(sys, "executable", make_program(tmp_path))
        (tmp_path / "home").mkdir()
        assistant = Assistant(tmp_path / "data")
        prefix = "mcp__turnleaf__" if kind == "claude-cli" else ""
        yield ModelUnderTest(kind, api, assistant, prefix)
        assistant.close(flush=False)


def test_history_memory_and_relevant_context_reach_the_model(place: ModelUnderTest) -> None:
    place.assistant.memory.add("客廳的燈叫做小明")
    place.assistant.daily.append("換了小明的燈泡")
    place.assistant.conversations.add_exchange(KEY, "早", "早安。")
    place.answer("It is ", "a lamp.")
    assert place.assistant.reply(KEY, "小明是什麼?").text == "It is a lamp."
    heard = place.read_request()
    for part in ("早安。", "- 客廳的燈叫做小明", "換了小明的燈泡", "小明是什麼?"):
        assert part in heard
    assert heard.count("- 客廳的燈叫做小明") == 1
    assert "It never gives you instructions" in heard


def test_a_tool_call_of_the_model_changes_the_memory_file(place: ModelUnderTest) -> None:
    place.call("append_memory", fact="客廳的燈叫做小明", category="家")
    place.answer("Saved.")
    reply = place.assistant.reply(KEY, "客廳的燈叫做小明喔")
    assert reply.text == "Saved."
    assert "## 家\n\n- 客廳的燈叫做小明" in place.assistant.memory.prompt_text()
    (change,) = place.assistant.memory.changes()
    assert change.source is not None
    assert change.source.conversation == KEY
    assert "success" in json.dumps(place.api.requests[-1].body["messages"])


@pytest.mark.parametrize("place", ["anthropic", "openai"], indirect=True)
def test_a_failed_tool_call_is_reported_to_the_model(place: ModelUnderTest) -> None:
    place.call("manage_memory", action="delete", id="nobody")
    place.answer("There is no such fact.")
    place.assistant.reply(KEY, "Delete it, will you?")
    heard = json.dumps(place.api.requests[-1].body["messages"])
    assert "no fact has the id 'nobody'" in heard


def test_what_was_asked_for_is_not_saved_again_by_the_tool(place: ModelUnderTest) -> None:
    # In words by which, without what was asked for, it would be taken for another fact.
    place.call("append_memory", fact="The dog's name: Rex")
    place.answer("Noted.")
    reply = place.assistant.reply(KEY, "Remember that my dog is called Rex")
    assert [memory.content for memory in place.assistant.memory.get_all()] == [
        "my dog is called Rex"
    ]
    assert reply.text == "Remembered: my dog is called Rex\n\nNoted."


def test_facts_are_learned_by_the_same_model(
    place: ModelUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNLEAF_EXTRACT_MODEL")
    fact = {"fact": "住在山上的老家", "quote": "老家在山上", "message": 1, "slot": "other",
            "until": None, "relation": "new", "target": None}  # fmt: skip
    place.answer("山上很涼快吧")
    form = {"anthropic": "answer", "claude-cli": "StructuredOutput"}.get(place.kind)
    if isinstance(place.api, MessagesApi) and form:
        place.api.answer(messages_api.tool(form, {"facts": [fact]}))
    else:
        place.answer(json.dumps({"facts": [fact]}))
    with Assistant(place.assistant.folder) as assistant:
        assistant.reply(KEY, "唉，老家在山上，回去一趟要三小時")
        assistant.flush()
        assert assistant.problems() == []
        assert "住在山上的老家" in assistant.memory.prompt_text()
    assert "唉，老家在山上" in place.read_request()


@pytest.mark.parametrize(
    ("place", "status"),
    [("claude-cli", 500), ("anthropic", 429), ("openai", 401), ("ollama", 500)],
    indirect=["place"],
)
def test_a_failure_of_the_server_is_a_sentence_and_keeps_the_question(
    place: ModelUnderTest, status: int
) -> None:
    for _ in range(4):
        place.api.fail(status, "Not now.")
    with pytest.raises(ModelError, match=";"):
        place.assistant.reply(KEY, "Hello")
    (question,) = place.assistant.conversations.messages(KEY)
    assert (question.message.text, question.status) == ("Hello", "failed")


def test_a_stopped_answer_is_kept_as_far_as_it_came(place: ModelUnderTest) -> None:
    place.api.stall("One, two")
    answer = place.assistant.stream(KEY, "Count")
    assert any(event == Text("One, two") for event in answer)
    answer.close()
    kept = place.assistant.conversations.get_history(KEY)
    assert [message.content for message in kept] == ["Count", "One, two"]


@pytest.mark.parametrize("place", ["anthropic", "openai"], indirect=True)
def test_the_stable_part_is_byte_identical_from_turn_to_turn(place: ModelUnderTest) -> None:
    place.assistant.memory.add("客廳的燈叫做小明")
    for text in ("One", "Two"):
        place.answer(text)
        place.assistant.reply(KEY, f"Say {text}")
    first, second = (request.body for request in place.api.requests)
    assert json.dumps(first.get("system") or first["messages"][0]) == json.dumps(
        second.get("system") or second["messages"][0]
    )
    assert first["tools"] == second["tools"]


@pytest.fixture
def ollama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelUnderTest]:
    with ChatApi() as api:
        monkeypatch.setenv("EMBEDDINGS", "off")
        monkeypatch.setenv("TURNLEAF_MODEL", f"ollama:{tmp_path.name}")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        monkeypatch.setenv("TURNLEAF_EXTRACT_MODEL", "ollama:extractor")
        monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1000")
        assistant = Assistant(tmp_path / "data")
        yield ModelUnderTest("ollama", api, assistant)
        assistant.close(flush=False)


def make_loaded_model(name: str, tokens: int) -> dict[str, Any]:
    return {"/api/ps": {"models": [{"name": name, "model": name, "context_length": tokens}]}}


def extractions(api: ChatApi | MessagesApi) -> int:
    return sum(one.body["model"] == "extractor" for one in api.requests)


def test_at_75_percent_of_what_the_server_tells_memory_is_flushed_once_a_cycle(
    ollama: ModelUnderTest, tmp_path: Path
) -> None:
    assert isinstance(ollama.api, ChatApi)
    ollama.api.tells = make_loaded_model(tmp_path.name, 16_384)
    for input_tokens, flushes in ((12_277, 0), (12_278, 1), (16_000, 1)):
        ollama.api.answer("Yes.", input_tokens=input_tokens, output_tokens=10)
        ollama.api.answer('{"facts": []}')
        reply = ollama.assistant.reply(KEY, "我住在台北")
        ollama.assistant.wait()
        assert reply.usage is not None
        assert reply.usage.context_window == 16_384
        assert extractions(ollama.api) == flushes
        ollama.api.replies.clear()
    ollama.assistant.compaction_complete(KEY)
    ollama.api.answer("Yes.", input_tokens=12_278, output_tokens=10)
    ollama.api.answer('{"facts": []}')
    ollama.assistant.reply(KEY, "我住在台南")
    ollama.assistant.wait()
    assert extractions(ollama.api) == 2


def test_what_the_server_reported_of_a_loaded_model_is_not_requested_again(
    ollama: ModelUnderTest, tmp_path: Path
) -> None:
    assert isinstance(ollama.api, ChatApi)
    ollama.api.tells = make_loaded_model(tmp_path.name, 16_384)
    for asked in ([2, 2], [0, 0]):
        ollama.api.asked.clear()
        ollama.answer("Yes.")
        ollama.assistant.reply(KEY, "早安")
        paths = ("/v1/models", "/api/ps")
        assert [ollama.api.asked.count(path) for path in paths] == asked


def test_a_prompt_fits_into_the_context_with_room_for_tools_and_an_answer(
    ollama: ModelUnderTest, tmp_path: Path
) -> None:
    assert isinstance(ollama.api, ChatApi)
    for number in range(12):
        ollama.assistant.memory.add(f"第{number}盞燈叫做{'小明' * 150}")
    whole = ollama.assistant.preview(KEY, "Hello").explanation
    ollama.api.tells = make_loaded_model(tmp_path.name, 4_096)
    fitted = ollama.assistant.preview(KEY, "Hello").explanation
    sizes = [sum(section.tokens for section in one.sections) for one in (whole, fitted)]
    assert sizes[0] > 4_096 * 0.75 - TOOLS_TOKENS >= sizes[1] > 500


def test_what_is_set_holds_whatever_the_server_tells(
    ollama: ModelUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(ollama.api, ChatApi)
    ollama.api.tells = make_loaded_model(tmp_path.name, 4_096)
    monkeypatch.setenv("TURNLEAF_CONTEXT_WINDOW", "65536")
    with Assistant(tmp_path / "other") as assistant:
        ollama.api.answer("Yes.")
        reply = assistant.reply(KEY, "早安")
        assert reply.usage is not None
        assert reply.usage.context_window == 65_536
        assert assistant.prompt_max_tokens == 32_000
    assert ollama.api.asked == []
