"""Models behind an address, against servers on loopback that speak as Anthropic's and OpenAI's."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.standins import chat_api, messages_api
from tests.standins.chat_api import ChatApi
from tests.standins.messages_api import MessagesApi
from tests.standins.scripted_model import list_events, next_event
from tests.standins.wire import RawResponse
from tests.torture.editors import wait_until
from turnleaf.core.messages import Message
from turnleaf.core.model_dialogue import (
    Event,
    Model,
    Prompt,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from turnleaf.errors import ModelError, SettingsError
from turnleaf.llm.api import ApiModel

KEY = "sk-very-secret"
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
DEADLINE_SECONDS = 60

FAILURES = [
    (401, "rejects the key (401: No.)", "check {variable}"),
    (403, "rejects the key (403: No.)", "check {variable}"),
    (404, "has no model {model!r} (404: No.)", "set TURNLEAF_MODEL to a model that exists there"),
    (400, "sent an unexpected answer (400: No.)", "check TURNLEAF_MODEL"),
]
BUSY = [
    (429, "accepts no more requests at the moment (429)", "try again later"),
    (500, "has a server problem (500: No.)", "try again in a few minutes"),
    (529, "has a server problem (529: No.)", "try again in a few minutes"),
]


@dataclass
class Box:
    """Tools that keep what they are called with."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    command: Sequence[str] = ()
    specs: Sequence[ToolSpec] = (
        ToolSpec(
            "append_memory",
            "Keep a fact.",
            {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]},
        ),
        ToolSpec("read_memory", "Read it all.", {"type": "object", "properties": {}}),
    )

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        self.calls.append((name, dict(arguments)))
        return '{"success": true, "已存": 1}'


@dataclass
class Side:
    """One of the two servers, and how to ask for a tool there."""

    api: ChatApi | MessagesApi
    model: ApiModel
    tool: Callable[[str, dict[str, Any]], Any]
    variable: str

    def answer(
        self,
        *pieces: Any,  # noqa: ANN401 - of either server
        input_tokens: int = 100,
        output_tokens: int = 10,
    ) -> None:
        self.api.answer(*pieces, input_tokens=input_tokens, output_tokens=output_tokens)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the last request, the system prompt not among them."""
        messages = self.api.requests[-1].body["messages"]
        return [each for each in messages if each["role"] != "system"]


def openai_at(api: ChatApi, *, seconds: float = DEADLINE_SECONDS) -> ApiModel:
    return ApiModel("openai", "gpt-5.4-mini", api_key=KEY, url=api.url, timeout_seconds=seconds)


def anthropic_at(api: MessagesApi, *, seconds: float = DEADLINE_SECONDS) -> ApiModel:
    name = "claude-haiku-4-5"
    return ApiModel("anthropic", name, api_key=KEY, url=api.url, timeout_seconds=seconds)


@pytest.fixture
def chat() -> Iterator[ChatApi]:
    with ChatApi() as api:
        yield api


@pytest.fixture
def messages() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.fixture(params=["openai", "anthropic"])
def side(request: pytest.FixtureRequest, chat: ChatApi, messages: MessagesApi) -> Side:
    if request.param == "openai":
        return Side(chat, openai_at(chat), chat_api.tool, "OPENAI_API_KEY")
    return Side(messages, anthropic_at(messages), messages_api.tool, "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    running = [each for each in threading.enumerate() if each.name == "turnleaf-model"]
    for each in running:
        # A call that has just answered may still be on its way out.
        each.join(DEADLINE_SECONDS)
    assert [each for each in running if each.is_alive()] == []


def asking(text: str = "你好", *history: Message, system: str = "You are 小明.") -> Prompt:
    return Prompt(system, (*history, Message("user", text)), text=text, question=text)


def join_text(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(ModelError) as caught:
        call()
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert KEY not in str(caught.value)
    return str(caught.value)


def list_texts(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


def test_an_answer_comes_piece_by_piece(side: Side) -> None:
    side.answer("客廳", "的燈", "叫小明。")
    model: Model = side.model
    events = list_events(model.stream(asking()))
    assert events[:-1] == [Text("客廳"), Text("的燈"), Text("叫小明。")]
    assert isinstance(events[-1], Usage)


def test_the_history_and_the_message_are_sent_in_order(side: Side) -> None:
    side.answer("Yes.")
    history = (Message("user", "one"), Message("assistant", "two"))
    list(side.model.stream(asking("三", *history)))
    assert [(each["role"], list_texts(each)) for each in side.messages] == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", "三"),
    ]


def test_the_system_prompt_comes_first_for_openai(chat: ChatApi) -> None:
    chat.answer("Yes.")
    list(openai_at(chat).stream(asking(system="You are 小明.")))
    first = chat.requests[0].body["messages"][0]
    assert first == {"role": "system", "content": "You are 小明."}


def test_anthropic_is_told_to_keep_the_system_prompt_in_its_cache(messages: MessagesApi) -> None:
    for text in ("one", "two"):
        messages.answer("Yes.")
        history = (Message("system", f"It is {text} o'clock."), Message("user", "hm"))
        list(anthropic_at(messages).stream(asking(text, *history), Box()))
    one, two = (request.body for request in messages.requests)
    [block] = one["system"]
    assert block["text"] == "You are 小明."
    assert block["cache_control"]["type"] == "ephemeral"
    assert json.dumps([one["tools"], one["system"]]) == json.dumps([two["tools"], two["system"]])
    assert "It is one o'clock." in json.dumps(one["messages"])


def test_a_tool_is_used_and_its_result_goes_back_to_the_model(side: Side) -> None:
    fact = {"fact": "客廳的燈叫小明"}
    side.answer("I will. ", side.tool("append_memory", fact))
    side.answer("Done.")
    box = Box()
    events = list_events(side.model.stream(asking(), box))
    assert box.calls == [("append_memory", fact)]
    first, call, result, last, usage = events
    assert isinstance(call, ToolCall)
    assert (first, last) == (Text("I will. "), Text("Done."))
    assert (call.name, call.arguments) == ("append_memory", fact)
    assert result == ToolResult(call.id, "append_memory", '{"success": true, "已存": 1}')
    assert isinstance(usage, Usage)
    assert call.id in json.dumps(side.messages[-1])
    assert "已存" in json.dumps(side.messages[-1], ensure_ascii=False)


def test_the_tools_are_described_with_their_schemas(chat: ChatApi, messages: MessagesApi) -> None:
    chat.answer("Yes.")
    messages.answer("Yes.")
    list(openai_at(chat).stream(asking(), Box()))
    list(anthropic_at(messages).stream(asking(), Box()))
    function = chat.requests[0].body["tools"][0]["function"]
    tool = messages.requests[0].body["tools"][0]
    assert (function["name"], function["description"]) == ("append_memory", "Keep a fact.")
    assert (tool["name"], tool["description"]) == ("append_memory", "Keep a fact.")
    assert function["parameters"]["properties"] == {"fact": {"type": "string"}}
    assert tool["input_schema"]["properties"] == {"fact": {"type": "string"}}


def test_several_tools_are_used_in_the_order_they_were_asked_for(side: Side) -> None:
    asked = [side.tool("append_memory", {"fact": str(number)}) for number in range(3)]
    side.answer(*asked)
    side.answer("Done.")
    box = Box()
    events = list_events(side.model.stream(asking(), box))
    assert [arguments["fact"] for _, arguments in box.calls] == ["0", "1", "2"]
    assert [type(event) for event in events[:6]] == [ToolCall, ToolResult] * 3


def test_a_tool_that_is_not_there_is_not_called_and_the_model_is_told(side: Side) -> None:
    side.answer(side.tool("delete_everything", {}))
    side.answer("Sorry.")
    box = Box()
    events = list_events(side.model.stream(asking(), box))
    assert box.calls == []
    result = next(event for event in events if isinstance(event, ToolResult))
    told = json.loads(result.result)
    assert told["success"] is False
    assert "append_memory, read_memory" in told["error"]
    assert join_text(events) == "Sorry."


@pytest.mark.parametrize("arguments", ['{"fact": ', "[1]", '"fact"'])
def test_arguments_that_are_no_object_are_not_used(chat: ChatApi, arguments: str) -> None:
    chat.answer(chat_api.tool("append_memory", arguments))
    chat.answer("Sorry.")
    box = Box()
    events = list_events(openai_at(chat).stream(asking(), box))
    assert box.calls == []
    assert "not a JSON object" in json.dumps(chat.requests[-1].body)
    assert join_text(events) == "Sorry."


def test_no_arguments_at_all_are_an_empty_object(chat: ChatApi) -> None:
    chat.answer(chat_api.tool("read_memory", ""))
    chat.answer("Done.")
    box = Box()
    list(openai_at(chat).stream(asking(), box))
    assert box.calls == [("read_memory", {})]


def test_a_model_that_never_stops_asking_for_tools_is_stopped(side: Side) -> None:
    for _ in range(20):
        side.answer(side.tool("read_memory", {}))
    box = Box()
    message = error_of(lambda: list(side.model.stream(asking(), box)))
    assert "called tools 12 times" in message
    assert len(side.api.requests) == len(box.calls) == 12


def test_what_a_tool_raises_reaches_whoever_asked(chat: ChatApi) -> None:
    class BrokenBox(Box):
        def call(self, name: str, arguments: Mapping[str, Any]) -> str:
            raise ZeroDivisionError(name, arguments)

    chat.answer(chat_api.tool("read_memory", {}))
    with pytest.raises(ZeroDivisionError, match="read_memory"):
        list(openai_at(chat).stream(asking(), BrokenBox()))


def test_the_usage_is_the_context_of_the_last_round_and_all_that_was_said(side: Side) -> None:
    side.answer(side.tool("read_memory", {}), input_tokens=100, output_tokens=7)
    side.answer("Done.", input_tokens=150, output_tokens=5)
    usage = list(side.model.stream(asking(), Box()))[-1]
    assert isinstance(usage, Usage)
    assert (usage.input_tokens, usage.output_tokens) == (150, 12)


def test_the_room_of_a_known_model_is_told(messages: MessagesApi) -> None:
    messages.answer("Yes.")
    usage = list(anthropic_at(messages).stream(asking()))[-1]
    assert isinstance(usage, Usage)
    assert usage.context_window == 200_000


def test_a_history_that_begins_with_the_assistant_is_taken(side: Side) -> None:
    side.answer("Yes.")
    list(side.model.stream(asking("hm", Message("assistant", "早安"))))
    assert [each["role"] for each in side.messages] == ["user", "assistant", "user"]
    assert list_texts(side.messages[1]) == "早安"


def make_tool_call(call_id: str, text: str | None = None) -> Message:
    function = {"name": "read_memory", "arguments": '{"of": "燈"}'}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return Message("assistant", text, tool_calls=calls)


def test_tools_that_were_used_before_are_part_of_the_history(side: Side) -> None:
    side.answer("Yes.")
    result = Message("tool", "燈叫小明", tool_call_id="call_1")
    history = (
        Message("user", "?"),
        make_tool_call("call_1"),
        result,
        Message("assistant", "小明。"),
    )
    list(side.model.stream(asking("ok", *history), Box()))
    text = json.dumps(side.messages, ensure_ascii=False)
    assert text.count("call_1") == 2
    assert "燈叫小明" in text
    assert "read_memory" in text


def test_a_call_without_its_result_and_the_reverse_are_left_out(side: Side) -> None:
    side.answer("Yes.")
    orphan = Message("tool", "what?", tool_call_id="call_9")
    history = (orphan, Message("user", "?"), make_tool_call("call_1", "Let me see."))
    list(side.model.stream(asking("ok", *history), Box()))
    text = json.dumps(side.messages)
    assert "call_" not in text
    assert [each["role"] for each in side.messages] == ["user", "assistant", "user"]


def test_what_no_server_takes_is_left_out(side: Side) -> None:
    side.answer("Yes.")
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    parts = Message("user", [{"type": "text", "text": "看"}, image])
    history = (Message("user", "a\ud800b"), Message("assistant", " "), parts)
    list(side.model.stream(asking("ok", *history, system="x\udfffy")))
    body = json.dumps(side.api.requests[0].body, ensure_ascii=False)
    assert '"ab"' in body
    assert '"xy"' in body
    assert "看" in body
    assert [each["role"] for each in side.messages].count("assistant") == 0


@pytest.mark.parametrize(("status", "happened", "advice"), FAILURES)
def test_a_refusal_is_explained_and_not_repeated(
    side: Side, status: int, happened: str, advice: str
) -> None:
    side.api.fail(status)
    side.answer("Too late.")
    message = error_of(lambda: list(side.model.stream(asking())))
    name = side.model.name.partition(":")[2]
    assert happened.format(model=name) in message
    assert advice.format(variable=side.variable) in message
    assert message.startswith(side.model.url)
    assert len(side.api.requests) == 1


@pytest.mark.parametrize(("status", "happened", "advice"), BUSY)
def test_a_busy_server_is_asked_three_times(
    side: Side, status: int, happened: str, advice: str
) -> None:
    for _ in range(4):
        side.api.fail(status, retry_after=0)
    message = error_of(lambda: list(side.model.stream(asking())))
    assert happened in message
    assert advice in message
    assert len(side.api.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_busy_server_may_answer_in_the_end(side: Side, status: int) -> None:
    side.api.fail(status, retry_after=0)
    side.api.fail(status, retry_after=0)
    side.answer("Now.")
    assert join_text(list(side.model.stream(asking()))) == "Now."


def test_a_server_that_asks_for_a_long_wait_is_not_waited_for(side: Side) -> None:
    side.api.fail(429, retry_after=60)
    message = error_of(lambda: list(side.model.stream(asking())))
    assert "asks to wait 60 s" in message
    assert len(side.api.requests) == 1


def test_a_key_is_not_shown_even_if_the_server_repeats_it(side: Side) -> None:
    side.api.fail(401, f"{'x' * 190} {KEY} is no key")
    assert "sk-" not in error_of(lambda: list(side.model.stream(asking())))
    assert KEY not in repr(vars(side.model))


def test_a_prompt_that_is_too_long_is_explained(chat: ChatApi, messages: MessagesApi) -> None:
    chat.fail(400, "Too many.", code="context_length_exceeded")
    messages.fail(400, "prompt is too long: 300000 tokens > 200000 maximum")
    for model in (openai_at(chat), anthropic_at(messages)):
        message = error_of(lambda model=model: list(model.stream(asking())))  # type: ignore[misc]
        assert "cannot fit the prompt into its context" in message
        assert "PROMPT_MAX_TOKENS" in message


def test_an_account_without_credit_is_not_asked_again(chat: ChatApi) -> None:
    chat.fail(429, "You exceeded your quota.", code="insufficient_quota")
    message = error_of(lambda: list(openai_at(chat).stream(asking())))
    assert "check your account" in message
    assert len(chat.requests) == 1


def test_an_answer_that_stops_coming_is_an_error_after_a_while(
    chat: ChatApi, messages: MessagesApi
) -> None:
    def hear_half(api: ChatApi | MessagesApi, model: ApiModel) -> tuple[list[Event], str]:
        api.stall("Half")
        heard: list[Event] = []
        message = error_of(lambda: heard.extend(model.stream(asking())))
        return heard, message

    # A busy machine may not have said anything in so short a time.
    for tries in (
        (hear_half(chat, openai_at(chat, seconds=each)) for each in (0.5, 8, 60)),
        (hear_half(messages, anthropic_at(messages, seconds=each)) for each in (0.5, 8, 60)),
    ):
        message = next(message for heard, message in tries if Text("Half") in heard)
        assert re.search(r"sent nothing for [\d.]+ s", message)
        assert "CLAUDE_TIMEOUT_MS" in message


def test_an_answer_that_is_cut_off_is_an_error(side: Side) -> None:
    side.api.cut("Half")
    events = side.model.stream(asking())
    assert next_event(events) == Text("Half")
    assert "cut off" in error_of(lambda: list(events))


def test_an_answer_without_an_end_is_an_error(chat: ChatApi, messages: MessagesApi) -> None:
    chat.leave_unfinished("Half")
    begun = {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }
    text = {"type": "text", "text": "Half"}
    block = {"type": "content_block_start", "index": 0, "content_block": text}
    lines = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in (begun, block)]
    messages.garbage("".join(lines).encode())
    error_of(lambda: list(openai_at(chat).stream(asking())))
    message = error_of(lambda: list(anthropic_at(messages).stream(asking())))
    assert "cut off" in message


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"data: {nonsense\n\n", b""])
def test_what_is_no_answer_at_all_is_an_error(chat: ChatApi, body: bytes) -> None:
    chat.garbage(body)
    message = error_of(lambda: list(openai_at(chat).stream(asking())))
    assert "TURNLEAF_MODEL_URL" in message


def test_a_server_that_speaks_something_else_is_an_error(chat: ChatApi) -> None:
    chat.replies.append(RawResponse(0, b"SSH-2.0-dropbear\r\n"))
    message = error_of(lambda: list(openai_at(chat).stream(asking())))
    assert message.startswith(chat.url)


def test_an_empty_answer_is_an_error(side: Side) -> None:
    side.answer()
    assert "gave an empty answer" in error_of(lambda: list(side.model.stream(asking())))


def test_a_model_that_is_silent_after_its_tools_has_not_failed_if_it_spoke_before(
    side: Side,
) -> None:
    side.answer("Saved it.", side.tool("read_memory", {}))
    side.answer(" ")
    assert join_text(list(side.model.stream(asking(), Box()))).strip() == "Saved it."


def test_a_model_that_refuses_is_an_error(chat: ChatApi, messages: MessagesApi) -> None:
    chat.refuse("I cannot help with that.")
    messages.answer("", stop_reason="refusal")
    message = error_of(lambda: list(openai_at(chat).stream(asking())))
    assert "refused to answer (I cannot help with that.)" in message
    message = error_of(lambda: list(anthropic_at(messages).stream(asking())))
    assert "refused to answer" in message


def test_a_filtered_answer_is_an_error(chat: ChatApi) -> None:
    chat.answer("Well", finish_reason="content_filter")
    assert "refused to answer" in error_of(lambda: list(openai_at(chat).stream(asking())))


def test_a_model_that_only_thinks_until_its_tokens_are_used_up_is_an_error(chat: ChatApi) -> None:
    chat.answer(finish_reason="length")
    assert "used up its tokens" in error_of(lambda: list(openai_at(chat).stream(asking())))


def test_a_server_that_is_not_there_is_explained() -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ollama = ApiModel("ollama", "llama3", url=url)
        other = ApiModel("openai", "x", url=url)
        message = error_of(lambda: list(ollama.stream(asking())))
        assert message.startswith(f"{url} cannot be reached (Connection refused); start Ollama")
        message = error_of(lambda: list(other.stream(asking())))
        assert "TURNLEAF_MODEL_URL" in message


def test_a_model_that_ollama_lacks_is_to_be_pulled(chat: ChatApi) -> None:
    chat.fail(404, 'model "llama3" not found, try pulling it first')
    model = ApiModel("ollama", "llama3", url=chat.url)
    assert "`ollama pull llama3`" in error_of(lambda: list(model.stream(asking())))


def test_ollama_answers_and_uses_tools(chat: ChatApi) -> None:
    chat.answer(chat_api.tool("append_memory", {"fact": "燈叫小明"}))
    chat.answer("<think>", "嗯", "</think>", "好。")
    box = Box()
    events = list_events(ApiModel("ollama", "qwen3", url=chat.url).stream(asking(), box))
    assert box.calls == [("append_memory", {"fact": "燈叫小明"})]
    assert join_text(events).strip() == "好。"


def test_closing_the_answer_ends_the_request_at_once(chat: ChatApi) -> None:
    chat.stall("Half")
    events = openai_at(chat).stream(asking())
    assert next_event(events) == Text("Half")
    assert chat.stalled.wait(DEADLINE_SECONDS)
    events.close()
    assert chat.left.wait(DEADLINE_SECONDS)


def test_an_answer_that_nobody_reads_asks_nobody(chat: ChatApi) -> None:
    openai_at(chat).stream(asking()).close()
    assert chat.requests == []


def test_several_threads_ask_one_model_at_once(chat: ChatApi) -> None:
    model = openai_at(chat)
    for _ in range(8):
        chat.answer("Yes.")
    heard: list[str] = []
    threads = [
        threading.Thread(target=lambda: heard.append(join_text(list(model.stream(asking())))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == ["Yes."] * 8


def test_no_proxy_stands_before_loopback(chat: ChatApi, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    chat.answer("Yes.")
    assert join_text(list(openai_at(chat).stream(asking()))) == "Yes."


def test_no_redirect_is_followed(chat: ChatApi) -> None:
    with ChatApi() as elsewhere:
        location = {"Location": f"{elsewhere.url}/chat/completions"}
        chat.replies.append(RawResponse(307, b"{}", location))
        elsewhere.answer("Gotcha.")
        error_of(lambda: list(openai_at(chat).stream(asking())))
        assert elsewhere.requests == []


def test_the_environment_of_another_program_changes_nothing(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-secret")
    side.answer("Yes.")
    assert join_text(list(side.model.stream(asking()))) == "Yes."
    assert "another-secret" not in str(side.api.requests[0].headers)


def test_openais_key_is_sent_to_the_server_that_was_named(chat: ChatApi) -> None:
    chat.answer("Yes.")
    list(openai_at(chat).stream(asking()))
    assert chat.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("url", ["{}", "{}/", "{}/v1", "{}/v1/"])
def test_anthropics_address_may_have_its_version(messages: MessagesApi, url: str) -> None:
    messages.answer("Yes.")
    address = url.format(messages.url)
    model = ApiModel("anthropic", "claude-haiku-4-5", api_key=KEY, url=address)
    assert join_text(list(model.stream(asking()))) == "Yes."
    assert KEY in str(messages.requests[0].headers)


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
def test_without_a_key_nobody_is_asked(provider: Any, variable: str) -> None:  # noqa: ANN401
    model = ApiModel(provider, "x")
    for sentence in (
        error_of(lambda: list(model.stream(asking()))),
        error_of(lambda: model.generate_json("", "a", SCHEMA)),
    ):
        assert variable in sentence
        assert "turnleaf setup" in sentence


def test_a_key_that_no_header_can_hold_is_refused() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY") as caught:
        ApiModel("openai", "x", api_key=f"{KEY}\n")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "ftp://a/v1", "http://", "http://me:pw@a/v1", "http://a/?k=pw"]
)
def test_an_address_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingsError, match="TURNLEAF_MODEL_URL") as caught:
        ApiModel("openai", "x", url=url)
    assert "pw" not in str(caught.value).replace("password", "")


def test_json_is_enforced_by_the_server(side: Side) -> None:
    side.answer('{"facts": ["客廳的燈', '叫小明"]}')
    found = side.model.generate_json("Find facts.", "客廳的燈叫做小明", SCHEMA)
    assert json.loads(found) == {"facts": ["客廳的燈叫小明"]}
    body = side.api.requests[0].body
    wanted = body.get("response_format") or body["output_config"]["format"]
    assert wanted["type"] == "json_schema"
    assert "facts" in json.dumps(wanted)
    assert list_texts(side.messages[0]) == "客廳的燈叫做小明"


def test_an_older_anthropic_model_gives_json_as_a_tool(messages: MessagesApi) -> None:
    messages.answer(messages_api.tool("answer", {"facts": ["燈"]}))
    model = ApiModel("anthropic", "claude-3-haiku-20240307", api_key=KEY, url=messages.url)
    assert json.loads(model.generate_json("Find facts.", "燈", SCHEMA)) == {"facts": ["燈"]}
    assert messages.requests[0].body["tools"][0]["input_schema"]["required"] == ["facts"]


@pytest.mark.parametrize(
    "refusal",
    [
        "This model's maximum context length is 2048 tokens, however you requested 3000 tokens",
        "the request exceeds the available context size (2048 tokens), try increasing it",
    ],
)
def test_a_window_is_known_once_a_server_has_refused_a_long_prompt(
    chat: ChatApi, refusal: str
) -> None:
    chat.fail(400, refusal, code="context_length_exceeded")
    error_of(lambda: openai_at(chat).generate_json("", "hm", SCHEMA))
    assert openai_at(chat).context_window == 2048


def list_formats(api: ChatApi) -> list[str]:
    asked = [received.body.get("response_format") for received in api.requests]
    return [one["type"] if one else "prompt" for one in asked]


def system_of(api: ChatApi) -> str:
    return list_texts(api.requests[-1].body["messages"][0])


@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
def test_a_server_that_refuses_a_schema_is_asked_for_a_json_object(
    chat: ChatApi, status: int
) -> None:
    for _ in range(2 if status >= 500 else 1):
        chat.fail(status, "json_schema is not supported")
    chat.answer('{"facts": []}')
    assert openai_at(chat).generate_json("Find facts.", "hm", SCHEMA) == '{"facts": []}'
    assert list_formats(chat)[-1] == "json_object"
    assert chat.requests[-1].body["response_format"]["schema"] == SCHEMA
    assert '{"facts": [string, …]}' in system_of(chat)


def test_a_server_that_enforces_nothing_is_asked_in_words(side: Side) -> None:
    for _ in range(2 if isinstance(side.api, ChatApi) else 1):
        side.api.fail(400, "unknown field response_format")
    side.answer('Here you are:\n```json\n{"facts": []}\n```')
    assert '{"facts": []}' in side.model.generate_json("Find facts.", "hm", SCHEMA)
    again = side.api.requests[-1].body
    assert "response_format" not in again
    assert "output_config" not in again
    told = again.get("system") or again["messages"]
    words = list_texts({"content": told} if "system" in again else told[0])
    assert words.startswith("Find facts.")
    assert '{"facts": [string, …]}' in words


def test_a_server_that_passes_the_format_over_is_asked_in_words(chat: ChatApi) -> None:
    chat.answer("I found nothing.")
    chat.answer("Nothing at all.")
    chat.answer('{"facts": []}')
    assert openai_at(chat).generate_json("Find facts.", "hm", SCHEMA) == '{"facts": []}'
    assert list_formats(chat) == ["json_schema", "json_object", "prompt"]


def test_what_a_server_takes_is_remembered_by_address_and_model(chat: ChatApi) -> None:
    chat.fail(400)
    for _ in range(3):
        chat.answer('{"facts": []}')
    for _ in range(2):
        openai_at(chat).generate_json("Find facts.", "hm", SCHEMA)
    other = ApiModel("openai", "another", api_key=KEY, url=chat.url)
    other.generate_json("Find facts.", "hm", SCHEMA)
    assert list_formats(chat) == ["json_schema", "json_object", "json_object", "json_schema"]


def test_an_answer_without_json_proves_no_format(chat: ChatApi) -> None:
    for _ in range(2):
        for _ in range(3):
            chat.answer("No.")
        assert openai_at(chat).generate_json("Find facts.", "hm", SCHEMA) == "No."
    assert list_formats(chat) == ["json_schema", "json_object", "prompt"] * 2


def test_json_that_was_cut_off_is_returned_as_it_came(chat: ChatApi) -> None:
    chat.answer('{"facts": ["tea", "cof', finish_reason="length")
    assert openai_at(chat).generate_json("", "hm", SCHEMA) == '{"facts": ["tea", "cof'


def test_no_json_is_an_error(chat: ChatApi) -> None:
    model = openai_at(chat)
    chat.answer()
    assert "gave an empty answer" in error_of(lambda: model.generate_json("", "hm", SCHEMA))
    chat.refuse("No.")
    assert "refused to answer (No.)" in error_of(lambda: model.generate_json("", "hm", SCHEMA))


@pytest.mark.parametrize(
    ("status", "times", "said"),
    [
        (401, 1, "rejects the key"),
        (429, 2, "accepts no more requests"),
        (503, 2, "has a server problem"),
    ],
)
def test_trouble_that_has_nothing_to_do_with_the_format_is_reported(
    chat: ChatApi, status: int, times: int, said: str
) -> None:
    for _ in range(times):
        chat.fail(status)
    assert said in error_of(lambda: openai_at(chat).generate_json("Find facts.", "hm", SCHEMA))
    assert list_formats(chat) == ["json_schema"] * times


def test_a_server_that_fails_without_a_format_too_is_in_trouble(chat: ChatApi) -> None:
    for _ in range(7):
        chat.fail(500, "Out of memory.")
    chat.answer('{"facts": []}')
    model = openai_at(chat)
    message = error_of(lambda: model.generate_json("Find facts.", "hm", SCHEMA))
    assert "has a server problem (500: Out of memory.)" in message
    assert list_formats(chat)[-3:] == ["prompt"] * 3
    model.generate_json("Find facts.", "hm", SCHEMA)
    assert list_formats(chat)[-1] == "json_schema"


def test_asking_loads_no_library_of_a_provider(chat: ChatApi) -> None:
    chat.answer("Yes.")
    program = f"""
import sys
from turnleaf.core.model_dialogue import Prompt
from turnleaf.core.messages import Message
from turnleaf.llm.api import ApiModel
model = ApiModel("openai", "x", url={chat.url!r}, context_window=9)
list(model.stream(Prompt("", (Message("user", "hm"),), text="", question="")))
heavy = {{"pydantic_ai", "pydantic", "openai", "anthropic", "httpx2", "asyncio"}}
print(sorted(heavy & set(sys.modules)))
"""
    assert run(program) == "[]"
    assert len(chat.requests) == 1


def send_events(chat: ChatApi, *deltas: dict[str, Any], finish: str = "stop") -> None:
    """Queue an answer of which each delta is one event."""
    choices: list[dict[str, Any]] = [{"delta": delta} for delta in deltas]
    choices.append({"delta": {}, "finish_reason": finish})
    lines = [f"data: {json.dumps({'choices': [each]})}\n\n" for each in choices]
    chat.garbage("".join(lines).encode())


def test_calls_that_a_server_does_not_number_are_told_apart_and_keep_what_else_they_have(
    chat: ChatApi,
) -> None:
    signed = {"extra_content": {"google": {"thought_signature": "s1"}}}
    calls = [
        {"index": 0, "id": f"c{number}", "function": {"name": "read_memory", "arguments": "{}"}}
        for number in range(2)
    ]
    send_events(chat, {"tool_calls": [calls[0] | signed]}, {"tool_calls": [calls[1]]})
    chat.answer("Done.")
    box = Box()
    list(openai_at(chat).stream(asking(), box))
    assert len(box.calls) == 2
    returned = chat.requests[-1].body["messages"][-3]["tool_calls"]
    assert [call["id"] for call in returned] == ["c0", "c1"]
    assert returned[0]["extra_content"] == signed["extra_content"]


def test_reasoning_is_not_shown_and_goes_back_with_the_results_of_tools(chat: ChatApi) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "read_memory", "arguments": ""}}
    send_events(
        chat, {"reasoning_content": "嗯，"}, {"reasoning_content": "看看。"}, {"tool_calls": [call]}
    )
    chat.answer("Done.")
    assert join_text(list(openai_at(chat).stream(asking(), Box()))) == "Done."
    assert chat.requests[-1].body["messages"][-2]["reasoning_content"] == "嗯，看看。"


def test_content_in_parts_is_read_without_the_thoughts(chat: ChatApi) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    send_events(chat, {"content": [thought, {"type": "text", "text": "好"}]}, {"content": "。"})
    assert join_text(list(openai_at(chat).stream(asking()))) == "好。"


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("<th", "ink>hm</thi", "nk>\n好"), "好"),
        (("<", "b>好"), "<b>好"),
        (("好 <think>hm</think>",), "好 <think>hm</think>"),
        (("<thi",), "<thi"),
    ],
)
def test_thoughts_before_an_answer_are_left_out(
    chat: ChatApi, pieces: tuple[str, ...], shown: str
) -> None:
    chat.answer(*pieces)
    assert join_text(list(openai_at(chat).stream(asking()))) == shown


def test_an_error_in_the_middle_of_an_answer_is_explained(
    chat: ChatApi, messages: MessagesApi
) -> None:
    fault = {"error": {"message": "Overloaded.", "type": "overloaded_error"}}
    chat.garbage(f"data: {json.dumps(fault)}\n\n".encode())
    messages.garbage(f"data: {json.dumps({'type': 'error', **fault})}\n\n".encode())
    for model in (openai_at(chat), anthropic_at(messages)):
        message = error_of(lambda model=model: list(model.stream(asking())))  # type: ignore[misc]
        assert "has a server problem (Overloaded.)" in message
    assert len(chat.requests) == len(messages.requests) == 1


def test_an_error_in_the_middle_of_an_answer_leaves_no_connection_open(chat: ChatApi) -> None:
    before = count_sockets()
    chat.garbage(b'data: {"error": {"message": "Overloaded."}}\n\n')
    with pytest.raises(ModelError) as caught:
        list(openai_at(chat).stream(asking()))
    assert wait_until(lambda: count_sockets() <= before, DEADLINE_SECONDS) is not None, caught


def count_sockets() -> int:
    """Return how many sockets this process has open."""
    count = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # It may have been closed meanwhile.
            count += str(each.readlink()).startswith("socket:")
    return count


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, [{"error": {"message": "API key not valid.", "code": 400}}], "key-refused"),
        (400, {"error": "Incorrect API key provided: sk"}, "key-refused"),
        (402, {"error": {"message": "Insufficient Balance"}}, "no-credit"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "no-credit"),
        (400, {"error": {"code": "model_not_found", "message": "?"}}, "model-unknown"),
        (413, {}, "context-too-small"),
        (503, "busy", "server-fault"),
        (302, "", "unexpected"),
    ],
)
def test_refusals_of_many_servers_are_told_apart(
    chat: ChatApi, status: int, body: object, kind: str
) -> None:
    reply = RawResponse(status, json.dumps(body).encode(), {"Retry-After": "60"})
    chat.replies.append(reply)
    with pytest.raises(ModelError) as caught:
        list(openai_at(chat).stream(asking()))
    assert caught.value.kind == kind


def test_what_claude_thought_goes_back_with_the_results_of_tools(messages: MessagesApi) -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    use = {"type": "tool_use", "id": "t", "name": "read_memory", "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": thinking},
        {"type": "content_block_delta", "index": 0, "delta": {"thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"signature": "sig"}},
        {"type": "content_block_start", "index": 1, "content_block": use},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    messages.garbage("".join(f"data: {json.dumps(each)}\n\n" for each in events).encode())
    messages.answer("Done.")
    assert join_text(list(anthropic_at(messages).stream(asking(), Box()))) == "Done."
    first = messages.requests[-1].body["messages"][-2]["content"][0]
    assert first == {"type": "thinking", "thinking": "hm", "signature": "sig"}


def run(program: str) -> str:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return done.stdout.strip()
